"""The command line as a stranger would use it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main

JSON_KEYS = {"game", "method", "recall", "iterations", "seconds", "exploitability", "nash_conv", "value", "policy"}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_solve_judge_show(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "kuhn.nebel")
    solved = run(capsys, "solve", "kuhn", "--with", "cfr+", "--iterations", "1000", "--out", file)
    assert solved.keys() >= JSON_KEYS
    assert solved["iterations"] == 1000
    assert solved["policy"] == file
    assert solved["exploitability"] == pytest.approx(8.7365e-5, rel=1e-3)
    judged = run(capsys, "judge", file)
    assert judged.keys() >= {"by", "exploitability", "nash_conv", "best_response", "value"}
    assert judged["exploitability"] == pytest.approx(solved["exploitability"], abs=1e-15)
    shown = run(capsys, "show", file, "K", "(bet)")
    assert shown["shown"][0]["moves"]["bet"] == pytest.approx(1, abs=1e-3)  # type: ignore[index]
    assert main(["show", file]) == 0
    assert "J pass (bet)" in capsys.readouterr().out
    assert not list(tmp_path.glob("*.run"))


def test_forgetful_policies_are_judged_in_the_full_game(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "hex.nebel")
    game = "dark_hex(rows=3,cols=2,abrupt=true)"
    solved = run(capsys, "solve", game, "--recall", "board", "--with", "pdcfr+", "--iterations", "100", "--out", file)
    judged = run(capsys, "judge", file)
    assert solved["recall"] == judged["recall"] == "board"
    assert judged["exploitability"] == pytest.approx(solved["exploitability"], abs=1e-14)
    assert main(["show", file, "x./../.."]) == 0
    assert "player 0" in capsys.readouterr().out
    assert main(["show", file, "xx/xx/xx"]) == 2
    assert "no player of" in capsys.readouterr().err


def test_games_and_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    listed = run(capsys, "games")
    assert [g["name"] for g in listed["games"]] == list(nebel.GAMES)  # type: ignore[index, attr-defined]
    sizes = run(capsys, "games", "dark_hex:3x3", "--recall", "board")
    assert (sizes["histories"], sizes["information_states"], sizes["states"]) == (19_119_486_979, [6293, 6263], 283_859)
    huge = run(capsys, "games", "geister:x4y4g4b1")
    assert (huge["exact"], huge["histories"] > 1e60) == (False, True)  # type: ignore[operator]
    sizes = run(capsys, "games", "goofspiel:4")
    assert (sizes["information_states"], sizes["choices"]) == ([369, 369], [81, 81])


def test_until_stops_at_the_goal(capsys: pytest.CaptureFixture[str]) -> None:
    solved = run(capsys, "solve", "leduc", "--with", "dcfr", "--until", "0.001")
    assert 0 < solved["exploitability"] <= 0.001  # type: ignore[operator]
    again = run(capsys, "solve", "leduc", "--with", "dcfr", "--until", "0.001")
    assert again["iterations"] == solved["iterations"]


def test_seconds_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    solved = run(capsys, "solve", "leduc", "--with", "outcome-sampling", "--seconds", "0.5")
    assert 0.4 < solved["seconds"] < 1.5  # type: ignore[operator]


BAD = [
    (["solve", "nonsense"], "no game 'nonsense'; games: kuhn"),
    (["solve"], "which game?"),
    (["solve", "dark_hex(rowz=3)"], "no option 'rowz' (did you mean rows?); its options: rows, cols"),
    (["solve", "dark_hex(rows=three)"], "rows=three is not a whole number"),
    (["solve", "dark_hex:4"], "ROWSxCOLUMNS"),
    (["solve", "dark_hex(rows=0)"], "not possible"),
    (["solve", "leduc", "--with", "magic"], "no method 'magic'; methods: cfr, cfr+"),
    (["solve", "leduc", "--iterations", "-5"], "--iterations -5 is out of range"),
    (["solve", "leduc", "--iterations", "0"], "--iterations 0 is out of range"),
    (["solve", "leduc", "--iterations", "1.5"], "--iterations"),
    (["solve", "leduc", "--iterations", "inf"], "--iterations"),
    (["solve", "leduc", "--seconds", "-1"], "--seconds -1.0 is out of range"),
    (["solve", "leduc", "--seconds", "nan"], "--seconds nan is out of range"),
    (["solve", "leduc", "--until", "0"], "--until 0.0 is out of range"),
    (["solve", "leduc", "--recall", "board"], "no recall 'board'; it has: perfect"),
    (["solve", "leduc", "--epsilon", "0.5"], "--epsilon is a setting of outcome-sampling; add --with outcome-sampling"),
    (["solve", "leduc", "--with", "outcome-sampling", "--epsilon", "2"], "--epsilon 2.0 is out of range: it must be between"),
    (["solve", "leduc", "--with", "outcome-sampling", "--weights", "heavy"], "--weights heavy is not one of: plain, linear, discounted"),
    (["solve", "leduc", "--with", "chance-sampled", "--baseline"], "of external-sampling, outcome-sampling, not of chance-sampled"),
    (["solve", "leduc", "--threads", "0"], "--threads 0 is out of range"),
    (["solve", "leduc", "--memory", "-1"], "--memory -1 is out of range"),
    (["solve", "dark_hex:4x3", "--with", "cfr"], "outcome-sampling"),
    (["solve", "dark_hex:5x5", "--with", "outcome-sampling", "--until", "0.1"], "too large to judge exactly"),
    (["solve", "dark_hex:4x3", "--with", "chance-sampled"], "one traversal of dark_hex(rows=4,cols=3) with chance-sampled meets about"),
    (["solve", "dark_hex:5x5", "--with", "external-sampling"], "take --with outcome-sampling"),
    (["solve", "leduc", "--resume"], "--resume needs"),
    (["solve", "--resume", "nowhere"], "holds no run to resume"),
    (["solve", "missing.py:game"], "no file missing.py"),
    (["judge", "missing.nebel"], "no file missing.nebel"),
    (["judge", "uniform"], "--game"),
    (["judge", "uniform", "--game", "goofspiel:13"], "too many to enumerate"),
    (["judge", "uniform", "--game", "leduc", "--by", "magic"], "--by"),
    (["show", "missing.nebel"], "no file missing.nebel"),
    (["check", "nonsense"], "no game 'nonsense'"),
    (["new-game", "1st"], "cannot name a game"),
    (["play", "nonsense"], "no game 'nonsense'"),
    (["play", "leduc", "--against", "missing.nebel"], "no agent 'missing.nebel', and no file of that name"),
    (["bench", "--only", "nothing-like-it"], "rows:"),
    (["dance"], "no verb 'dance'; verbs: games"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_mistakes_get_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    *progress, complaint = err.splitlines()
    assert complaint.startswith("nebel: ")
    assert said in complaint
    assert not any(line.startswith("nebel: ") for line in progress)  # on a slow machine, what takes long is announced
    assert out == ""


def test_files_of_other_kinds_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "junk.nebel").write_bytes(b"\x00" * 100)
    assert main(["judge", str(tmp_path / "junk.nebel")]) == 2
    assert "damaged" in capsys.readouterr().err
    run(capsys, "solve", "kuhn", "--iterations", "10", "--out", str(tmp_path / "kuhn.nebel"))
    assert main(["judge", str(tmp_path / "kuhn.nebel"), "--game", "leduc"]) == 2
    assert "made for kuhn, not for leduc" in capsys.readouterr().err
    assert main(["play", "leduc", "--against", str(tmp_path / "kuhn.nebel")]) == 2
    run(capsys, "solve", "kuhn", "--iterations", "10", "--run", str(tmp_path / "run"))
    assert main(["judge", str(tmp_path / "run" / "checkpoint" / "state.safetensors")]) == 2
    assert "is a checkpoint, not a policy" in capsys.readouterr().err
    assert main(["solve", "kuhn", "--iterations", "10", "--run", str(tmp_path / "run")]) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert main(["solve", "leduc", "--resume", str(tmp_path / "run")]) == 2
    assert "is about kuhn, not leduc" in capsys.readouterr().err
    assert main(["solve", "--resume", str(tmp_path / "run"), "--seed", "9"]) == 2
    assert "has seed 1, not 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "game", "extra", "iterations"),
    [
        ("dcfr", "leduc", [], 150_000),
        ("outcome-sampling", "leduc", ["--weights", "discounted"], 6_000_000),
        ("outcome-sampling", "dark_hex:4x3", ["--recall", "board"], 500_000),
    ],
)
def test_killed_and_resumed_is_the_same_as_never_killed(method: str, game: str, extra: list[str], iterations: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nebel", "solve", game, "--with", method, *extra, "--checkpoint-every", "0.2"]
    budget = ["--iterations", str(iterations)]
    whole = subprocess.run([*command, *budget, "--run", str(tmp_path / "whole")], capture_output=True, text=True, check=False)
    assert whole.returncode == 0, whole.stderr
    killed = subprocess.Popen([*command, *budget, "--run", str(tmp_path / "killed")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    state = tmp_path / "killed" / "checkpoint" / "state.safetensors"
    deadline = time.monotonic() + 60
    while not state.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed" / "policy.nebel").exists(), "the run ended before it could be killed"
    resumed = subprocess.run(
        [sys.executable, "-m", "nebel", "solve", *budget, "--resume", str(tmp_path / "killed")], capture_output=True, text=True, check=False
    )
    assert resumed.returncode == 0, resumed.stderr
    one, two = (nebel.load_policy(tmp_path / name / "policy.nebel") for name in ("whole", "killed"))
    assert one.facts == two.facts
    for p in range(2):
        assert all(np.array_equal(a, b) for a, b in zip(one.shares[p], two.shares[p], strict=True))


def test_out_alone_can_be_resumed_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nebel", "solve", "leduc", "--with", "dcfr", "--iterations", "100000", "--out", "leduc.nebel"]
    killed = subprocess.Popen([*command, "--checkpoint-every", "0.2"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (tmp_path / "leduc.nebel.run" / "checkpoint").exists() and killed.poll() is None:
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert nebel.load_policy(tmp_path / "leduc.nebel").facts["iterations"] == 100_000
    assert os.listdir(tmp_path) == ["leduc.nebel"]


def test_a_game_on_the_terminal(tmp_path: Path) -> None:
    record = tmp_path / "game.txt"
    words = [sys.executable, "-m", "nebel", "play", "dark_hex:2x2", "--seat", "0", "--record", str(record)]
    moves = "legal\nz9\na1\nundo\na1\nb1\na2\nb2\nb1\na2\nb2\n"
    done = subprocess.run(words, input=moves, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "z9 is not legal here" in done.stdout
    assert "You win" in done.stdout or "You lose" in done.stdout
    state = nebel.read_record(record.read_text())
    assert state.over
    assert state.record() == record.read_text()


def test_start_up_is_quick() -> None:
    """Numba takes most of a second to import: what needs it not, imports it not."""
    for words in (["--help"], ["games"], ["solve", "--help"]):
        code = f"import sys; from nebel.cli import main\ntry: main({words!r})\nexcept SystemExit: pass\nassert 'numba' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
