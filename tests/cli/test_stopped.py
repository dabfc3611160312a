"""Runs that are stopped: by Ctrl-C, by SIGTERM, by kill -9. Resuming alone finishes what was asked for, to the same bits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nebel.cli import main
from nebel.learn.nfsp import Nfsp
from nebel.policy.io import read_arrays, write_arrays
from nebel.solve import drive, loop
from nebel.solve.pool import check_pool
from nebel.solve.run import Budget, Folder, Job

CLOCKS = ("seconds", "nodes_per_second", "sampling_share")
SOLVE = ["solve", "leduc", "--with", "cfr+", "--iterations", "3000", "--checkpoint-every", "0.05"]
SMALL = ["--with", "nfsp", "--boards", "32", "--plies", "8", "--hidden", "16"]
LEARN = ["learn", "kuhn", *SMALL, "--iterations", "60", "--checkpoint-every", "0.05"]


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of metrics.jsonl without what a clock decides."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name not in CLOCKS} for row in lines]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs that nobody stopped, by verb."""
    folders = {words[0]: tmp_path_factory.mktemp("whole") / words[0] for words in (SOLVE, LEARN)}
    for words in (SOLVE, LEARN):
        assert main([*words, "--run", str(folders[words[0]])]) == 0
    return folders


def stopped(words: list[str], folder: Path, number: int, enough: int) -> subprocess.CompletedProcess[str]:
    """Start a run, and send it a signal once its metrics have some rows."""
    started = [sys.executable, "-m", "nebel", *words, "--run", str(folder)]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 120
        metrics = folder / "metrics.jsonl"
        while time.monotonic() < deadline and not (metrics.exists() and metrics.read_text().count("\n") >= enough):
            time.sleep(0.005)
        run.send_signal(number)
        out, err = run.communicate()
    return subprocess.CompletedProcess(started, run.returncode, out, err)


@pytest.mark.parametrize("words", [SOLVE, LEARN], ids=["solve", "learn"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["interrupt", "terminate", "kill"])
def test_resume_alone_finishes_what_was_asked(words: list[str], number: int, whole: dict[str, Path], tmp_path: Path) -> None:
    cut = tmp_path / "a folder"
    ended = stopped(words, cut, number, 8)
    assert ended.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        advice = f"to continue: nebel {words[0]} --resume '{cut}'"
        assert ended.stderr.strip().endswith(advice)
        assert (cut / "checkpoint" / "state.safetensors").exists()
    assert main([words[0], "--resume", str(cut)]) == 0
    assert (cut / "policy.nebel").read_bytes() == (whole[words[0]] / "policy.nebel").read_bytes()
    assert rows(cut) == rows(whole[words[0]])


def test_networks_on_the_way_are_those_of_shorter_runs(tmp_path: Path) -> None:
    kept, short = tmp_path / "kept", tmp_path / "short"
    assert main([*LEARN, "--iterations", "12", "--keep-every", "5", "--run", str(kept)]) == 0
    assert sorted(file.name for file in (kept / "kept").iterdir()) == ["000005.nebel", "000010.nebel"]
    assert main([*LEARN, "--iterations", "5", "--run", str(short)]) == 0
    assert (kept / "kept" / "000005.nebel").read_bytes() == (short / "policy.nebel").read_bytes()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--keep-every", "0", "--run", "there"], "--keep-every 0 is out of range: it must be at least 1"),
        (["--keep-every", "5", "--out", "net.nebel"], "--keep-every needs a folder that stays: add --run FOLDER"),
        (["--keep-every", "5"], "--keep-every needs a folder that stays: add --run FOLDER"),
    ],
)
def test_networks_on_the_way_need_a_place(
    words: list[str], wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*LEARN, *words]) == 2
    assert wrong in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_resuming_a_finished_run_adds_nothing(whole: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for verb, folder in whole.items():
        before = (folder / "metrics.jsonl").read_bytes(), (folder / "policy.nebel").read_bytes()
        assert main([verb, "--resume", str(folder)]) == 0
        assert "the budget was not spent: it was spent before" in capsys.readouterr().out
        assert ((folder / "metrics.jsonl").read_bytes(), (folder / "policy.nebel").read_bytes()) == before


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main(["solve", "kuhn", "--with", "cfr+", "--iterations", "20", "--run", str(run)]) == 0
    parts = [run / ".policy.nebel.123.0.part", run / "checkpoint" / ".state.safetensors.123.4.part"]
    for part in parts:
        part.write_bytes(bytes(100))
    assert main(["solve", "--resume", str(run)]) == 0
    assert not any(part.exists() for part in parts)


def test_a_new_budget_extends_a_run_and_is_kept(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    assert main(["solve", "kuhn", "--with", "cfr+", "--iterations", "20", "--run", run]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["budget"] == {"iterations": 20}
    assert main(["solve", "--resume", run, "--iterations", "50"]) == 0
    assert [row["iterations"] for row in rows(tmp_path / "run")] == [10, 20, 30, 40, 50]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["budget"] == {"iterations": 50}


def test_a_run_that_stopped_at_its_exploitability_is_finished(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main(["solve", "kuhn", "--with", "cfr+", "--until", "0.003", "--run", str(run)]) == 0
    before = rows(run)
    assert main(["solve", "--resume", str(run)]) == 0
    assert rows(run) == before


def test_the_budget_that_holds_where_none_is_given_is_written_down(tmp_path: Path) -> None:
    assert main(["solve", "kuhn", "--with", "cfr+", "--run", str(tmp_path / "run")]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["budget"] == {"seconds": 10.0, "until": 1e-6}


def test_a_policy_that_was_asked_for_is_written_when_the_run_is_resumed(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def give_up(news: Any) -> None:
        if news.iterations >= 20:
            raise Enough

    out = tmp_path / "kuhn.nebel"
    folder = tmp_path / "kuhn.nebel.run"
    with pytest.raises(Enough):
        drive.solve(Job("kuhn"), Budget(iterations=50), folder, progress=give_up, checkpoint_every=0.0, out=str(out))
    assert main(["solve", "--resume", str(folder)]) == 0
    assert out.exists()
    assert not folder.exists()


def test_a_run_folder_does_not_name_other_files_than_policies(tmp_path: Path) -> None:
    assert main(["solve", "kuhn", "--iterations", "20", "--run", str(tmp_path / "run")]) == 0
    held = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**held, "out": str(tmp_path / "startup.sh")}))
    assert main(["solve", "--resume", str(tmp_path / "run")]) == 0
    assert not (tmp_path / "startup.sh").exists()


def test_one_process_at_a_time_works_in_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert main(["solve", "kuhn", "--iterations", "20", "--run", str(folder)]) == 0
    with Folder(folder).owned():
        assert main(["solve", "--resume", str(folder), "--iterations", "40"]) == 2
    assert "is in use by another process" in capsys.readouterr().err
    assert main(["solve", "--resume", str(folder), "--iterations", "40"]) == 0


@pytest.mark.parametrize("change", [{"method": "cfr"}, {"seed": 99}, {"settings": {"threads": 2}}, {"recall": "imperfect"}], ids=str)
def test_a_checkpoint_belongs_to_its_job(change: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run" / "run.json"
    game = "dark_hex:2x2"
    assert main(["solve", game, "--with", "cfr+", "--iterations", "20", "--run", str(tmp_path / "run")]) == 0
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert main(["solve", "--resume", str(tmp_path / "run"), "--iterations", "40"]) == 2
    assert "is not of the run that run.json describes" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"game": 3}', '{"game": "kuhn", "fingerprint": "x", "seed": "1"}', "[" * 100_000, '{"budget": [1]}'], ids=len
)
def test_a_damaged_description_is_refused_in_words(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text(text)
    assert main(["solve", "--resume", str(tmp_path)]) == 2
    assert "run.json is damaged" in capsys.readouterr().err


STRANGE: list[dict[str, Any]] = [
    {"settings": {"threads": "x"}}, {"settings": {"threads": True}}, {"settings": {"y": 1}}, {"settings": {"threads": 10**30}}, {"out": []},
    {"budget": {"iterations": "x"}}, {"budget": {"iterations": 2.5}}, {"budget": {"y": 1}}, {"memory": float("nan")},
    {"curriculum": {"y": 1}}, {"curriculum": {"curriculum": 5}}, {"method": "x" * 5000}, {"game": "x" * 5000},
]  # fmt: skip


@pytest.mark.parametrize("change", STRANGE, ids=lambda change: str(change)[:40])
def test_a_strange_description_is_refused_in_a_line(change: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = {"game": "kuhn", "method": "cfr+", "fingerprint": "x", "settings": {}, "budget": {"iterations": 2}}
    (tmp_path / "run.json").write_text(json.dumps({**job, **change}))
    assert main(["solve", "--resume", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 2500


RUNS = {
    "cfr+": ["solve", "kuhn", "--with", "cfr+", "--iterations", "2"],
    "external-sampling": ["solve", "kuhn", "--with", "external-sampling", "--iterations", "2"],
    "double-oracle": ["solve", "dark_hex:2x2", "--with", "double-oracle", "--iterations", "2"],
    "nfsp": [*LEARN[:-4], "--iterations", "2"],
}
DAMAGED = [
    ("cfr+", "regret0", lambda array: array[:1]), ("cfr+", "regret0", lambda array: array + np.inf), ("cfr+", "average1", np.float32),
    ("external-sampling", "pool", lambda array: array[:4]), ("external-sampling", "rng", lambda array: array[:0]),
    ("double-oracle", "roots_0", lambda array: array + 2**40), ("double-oracle", "forest_0_child", lambda array: array * 0),
    ("double-oracle", "forest_1_move", lambda array: array + 100), ("double-oracle", "blending", lambda array: array[:1]),
    ("nfsp", "replay0.move", lambda array: array[:, None]), ("nfsp", "best0.net.exp_avg0", lambda array: array.T),
    ("nfsp", "part0.boards.live", lambda array: array[:3]), ("nfsp", "best0.net.step0", lambda array: array[:0]),
    ("nfsp", "replay0.move", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Short runs, by method."""
    folder = tmp_path_factory.mktemp("begun")
    for name, words in RUNS.items():
        assert main([*words, "--run", str(folder / name)]) == 0
    return {name: folder / name for name in RUNS}


def damage(run: Path, copy: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> list[str]:
    """Copy a run with a changed checkpoint whose checksum fits, and return the words that resume it."""
    shutil.copytree(run, copy)
    file = copy / "checkpoint" / "state.safetensors"
    arrays, header = read_arrays(file, "checkpoint")
    change(arrays, header)
    write_arrays(file, arrays, header)
    return [RUNS[run.name][0], "--resume", str(copy), "--iterations", "4"]


@pytest.mark.parametrize(("name", "array", "change"), DAMAGED)
def test_arrays_that_make_no_sense_are_refused(
    name: str, array: str, change: Any, begun: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def put(arrays: dict[str, Any], header: dict[str, Any]) -> None:
        held = arrays.pop(array)
        if change:
            arrays[array] = change(held)

    assert main(damage(begun[name], tmp_path / "run", put)) == 2
    assert "is damaged" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("change", [{"iterations": "2"}, {"iterations": -1}, {"seconds": None}, {"spent": float("nan")}], ids=str)
def test_figures_that_make_no_sense_are_refused(
    change: dict[str, Any], begun: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(damage(begun["cfr+"], tmp_path / "run", lambda arrays, header: header.update(change))) == 2
    assert "are not numbers of at least 0" in capsys.readouterr().err


def test_tables_that_point_outside_of_their_pool_are_refused() -> None:
    table, counts, owner = np.array([5, 1, 0, 0, 9, 5, 0, 0]), np.array([2, 8, 0]), np.zeros(4, np.int8)
    check_pool(table, counts, owner, 8)
    for at, value in ((1, 0), (1, 2), (5, 9), (2, 7)):
        bad = table.copy()
        bad[at] = value
        with pytest.raises(ValueError, match="table"):
            check_pool(bad, counts, owner, 8)
    with pytest.raises(ValueError, match="table"):
        check_pool(table[:6], counts, owner, 8)


def test_progress_pairs_each_verdict_with_its_own_iteration() -> None:
    told: list[Any] = []
    drive.solve(Job("kuhn"), Budget(iterations=60), progress=told.append)
    judged = {news.iterations: news.verdict for news in told if news.verdict}
    assert sorted(judged) == [10, 20, 30, 40, 50, 60]
    for iterations, verdict in judged.items():
        assert verdict == drive.solve(Job("kuhn"), Budget(iterations=iterations)).verdict


def test_metrics_end_with_the_figure_of_the_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "kuhn", *SMALL, "--iterations", "9", "--run", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["exploitability"]
    last = rows(tmp_path / "run")[-1]
    assert (last["iterations"], last["exploitability"]) == (9, found)


def test_a_refused_run_leaves_no_folder(tmp_path: Path) -> None:
    assert main(["solve", "dark_hex:5x5", "--with", "cfr+", "--iterations", "5", "--run", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()


def test_a_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    """Another thread sends both: the second one comes while the first iteration still waits for it."""
    code = (
        "import os, signal, threading, time\n"
        "from nebel.cli import main\n"
        "from nebel.learn.nfsp import Nfsp\n"
        "def wait(self):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.2)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(600)\n"
        "Nfsp.iterate = wait\n"
        f"raise SystemExit(main({[*LEARN, '--run', str(tmp_path / 'run')]!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode == 128 + signal.SIGINT
    assert "before the first checkpoint; to continue: nebel learn --resume" in done.stderr


def test_an_interrupt_before_the_first_iteration_ends_at_once(tmp_path: Path) -> None:
    """Compiling may take a minute, and so may the start of some methods."""
    code = (
        "import os, signal, time\n"
        "from nebel.cli import main\n"
        "from nebel.solve.cfr import FullWidth\n"
        "FullWidth.prepare = lambda self: (os.kill(os.getpid(), signal.SIGTERM), time.sleep(600))\n"
        f"raise SystemExit(main({[*SOLVE, '--run', str(tmp_path / 'run')]!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60, env={**os.environ})
    assert done.returncode == 128 + signal.SIGTERM
    assert "stopped before the first checkpoint; to continue: nebel solve --resume" in done.stderr


def test_an_iteration_that_outlasts_the_budget_is_told_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    iterate = Nfsp.iterate
    monkeypatch.setattr(loop, "GRACE", 0.0)
    monkeypatch.setattr(Nfsp, "iterate", lambda self: (time.sleep(0.3), iterate(self)))
    assert main(["learn", "kuhn", *SMALL, "--seconds", "0.1"]) == 0
    out, err = capsys.readouterr()
    assert err == "the seconds of the budget are over; the iteration under way is finished first\n"
    assert "1 iterations" in out
