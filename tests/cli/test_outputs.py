"""Files that commands write: what is refused before the work begins, what is replaced, and what a full disk leaves behind."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import stat
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile
from nebel.core.output import append_line, check_folder, check_target, replacing, write_bytes, write_text
from nebel.judge.certificate import Certificate, holds_certificate, write_certificate
from nebel.judge.verify import Board
from nebel.papers.paper import Report, Terms
from nebel.policy.io import holds_policy, save_policy
from nebel.report.page import holds_report
from nebel.solve.drive import solve
from nebel.solve.run import Budget, Job

STRATEGY = "rows: 2\ncols: 2\nplayer: black\nplay = a1, !\n"
MIXTURE = [(Fraction(1), "a;")]
CERTIFICATE = Certificate(Board(2, 2, False, "silent"), (MIXTURE, MIXTURE), (Fraction(1, 2), Fraction(1, 2)))


@pytest.fixture(scope="module")
def policy() -> Any:
    return solve(Job("kuhn"), Budget(iterations=2)).policy


@pytest.fixture
def folder(tmp_path: Path, policy: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everything that commands below read, and everything that they must not write over."""
    save_policy(policy, tmp_path / "kuhn.nebel")
    (tmp_path / "small.dhs").write_text(STRATEGY)
    (tmp_path / "thesis.tex").write_text("ten years of work")
    (tmp_path / "link").symlink_to("thesis.tex")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = {
    "simplify": ["simplify", "missing.nebel", "--out"],
    "strategy": ["strategy", "missing.dhs", "--out"],
    "build": ["build", "missing", "--player", "black", "--out"],
    "match": ["match", "missing", "missing", "--out"],
    "play": ["play", "missing", "--record"],
    "geister-solve": ["geister-solve", "missing", "--out"],
    "paper": ["paper", "dark_hex", "--only", "sure-wins", "--out"],
}
"""With games, policies and agents that are missing too, which would be said first if the work began first."""
REFUSED = {
    "thesis.tex": "exists and holds something else; give another name, or --force to replace it",
    "link": "is a link",
    "dangling": "is a link",
    "pipe": "is a pipe",
    "folder": "is a folder",
    ".": "is a folder",
    "/dev/null": "is a device",
    "thesis.tex/x": "cannot be written: Not a directory",
    "n" * 256: "cannot be written: File name too long",
    "/proc/nebel": "cannot be written",
}


@pytest.mark.parametrize("target", REFUSED)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_must_not_be_written_is_refused_before_the_work(
    command: str, target: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("nebel.papers.paper.compute", None)
    null = os.stat("/dev/null").st_mode
    assert main([*COMMANDS[command], target]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert target in err
    assert REFUSED[target] in err
    assert (folder / "thesis.tex").read_text() == "ten years of work"
    assert os.stat("/dev/null").st_mode == null


def test_a_socket_and_a_file_that_cannot_be_read_are_no_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        with pytest.raises(BadFile, match="socket is a socket"):
            check_target(Path("socket"), force=True)
    (tmp_path / "held").touch()
    monkeypatch.setattr(os, "access", lambda path, how: False)
    with pytest.raises(BadFile, match="held cannot be written: it is read-only"):
        check_target(Path("held"), force=True)


def test_the_library_never_writes_through_links_or_over_devices(folder: Path, policy: Any) -> None:
    for name in ("link", "dangling", "pipe", "folder", "/dev/null"):
        for write in (lambda path: save_policy(policy, path), lambda path: write_text(path, "x"), lambda path: append_line(path, "x")):
            with pytest.raises(BadFile, match="give the name of a file"):
                write(Path(name))
    assert (folder / "link").is_symlink()
    assert not (folder / "nowhere").exists()
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def quiet_input(monkeypatch: pytest.MonkeyPatch, text: str = "") -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def compute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nebel.papers.paper.compute", lambda paper, only, terms, done: Report(paper, Terms(), {}, {}))


WRITES = {
    "simplify": (["simplify", "kuhn.nebel", "--out", "x"], "", holds_policy),
    "strategy": (["strategy", "small.dhs", "--out", "x"], "", holds_policy),
    "build": (["build", "dark_hex:2x2", "--player", "black", "--out", "x"], "!\n", holds_policy),
    "match": (["match", "random", "uniform", "--game", "kuhn", "--games", "2", "--out", "x"], "", lambda path: path.read_text()[0] == "{"),
    "play": (["play", "kuhn", "--record", "x"], "pass\npass\n", lambda path: path.read_text().startswith('[Game "kuhn"]')),
    "paper": (["paper", "dark_hex", "--only", "sure-wins", "--out", "x"], "", holds_report),
}


@pytest.mark.parametrize("command", WRITES)
def test_the_same_kind_is_replaced_and_other_things_only_by_force(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, said, holds = WRITES[command]
    compute_nothing(monkeypatch)

    def run(*more: str) -> int:
        with contextlib.suppress(FileNotFoundError):
            (folder / "x.build.json").unlink()
        quiet_input(monkeypatch, said)
        return main([*words, *more])

    before = os.umask(0o027)
    try:
        assert run() == 0
    finally:
        os.umask(before)
    assert holds(folder / "x")
    assert stat.S_IMODE((folder / "x").stat().st_mode) == 0o640
    assert run() == 0
    (folder / "x").write_text("something else\n")
    capsys.readouterr()
    assert run() == 2
    assert "x exists and holds something else" in capsys.readouterr().err
    assert (folder / "x").read_text() == "something else\n"
    assert run("--force") == 0
    assert holds(folder / "x")
    assert "something else" not in (folder / "x").read_bytes().decode(errors="replace")
    assert not list(folder.glob(".*"))


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Files of this process cannot grow beyond 16 bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("command", WRITES)
def test_a_full_disk_is_one_line_that_names_the_file(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, said, _ = WRITES[command]
    compute_nothing(monkeypatch)
    held = sorted(os.listdir(folder))
    quiet_input(monkeypatch, said)
    assert main(words) == 0  # what is compiled on the way is kept in files, too
    for name in {*os.listdir(folder)} - {*held}:
        (folder / name).unlink()
    capsys.readouterr()
    quiet_input(monkeypatch, said)
    with full_disk():
        assert main(words) == 2
    out, err = capsys.readouterr()
    told = out if command == "build" else err  # a dialogue says it where it asks
    (line,) = [line for line in told.splitlines() if "cannot be written" in line]
    assert "x cannot be written" in line or "x.build.json cannot be written" in line
    assert line.endswith("cannot be written: File too large")
    assert [name for name in sorted(os.listdir(folder)) if name not in held and (folder / name).stat().st_size] == []


def test_a_full_disk_takes_nothing_away_from_what_is_there(folder: Path, policy: Any) -> None:
    before = (folder / "kuhn.nebel").read_bytes()
    (folder / "lines").write_text("one\ntwo\n")
    writers: dict[str, Callable[[Path], None]] = {
        "kuhn.nebel": lambda path: save_policy(policy, path),
        "thesis.tex": lambda path: write_bytes(path, bytes(100)),
        "lines": lambda path: append_line(path, "a line that is too long"),
        "certificate.json.gz": lambda path: write_certificate(CERTIFICATE, path),
        "log": lambda path: write_text(path, "x" * 17),
    }
    with full_disk():
        for name, write in writers.items():
            with pytest.raises(BadFile, match=f"^{name} cannot be written: .*File too large"):
                write(Path(name))
    assert (folder / "kuhn.nebel").read_bytes() == before
    assert (folder / "thesis.tex").read_text() == "ten years of work"
    assert (folder / "lines").read_text() == "one\ntwo\n"
    assert not list(folder.glob(".*"))


def test_a_full_standard_output_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["games", "--json"]) == 2
        with contextlib.suppress(OSError):
            full.close()
    assert capsys.readouterr().err == "nebel: standard output cannot be written: No space left on device\n"


def test_lines_are_appended_below_what_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "new" / "lines"
    append_line(file, "one")
    with file.open("a") as open_file:
        open_file.write("cut o")
    append_line(file, "two", durable=True)
    assert file.read_text() == "one\ncut o\ntwo\n"


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    for name in ("n" * 255, "é" * 127):
        check_target(tmp_path / name)
        write_text(tmp_path / name, name)
        assert (tmp_path / name).read_text() == name


def test_two_at_once_do_not_mix(tmp_path: Path) -> None:
    with replacing(tmp_path / "x") as one, replacing(tmp_path / "x") as other:
        one.write_text("one")
        other.write_text("other")
    assert (tmp_path / "x").read_text() == "one"
    assert os.listdir(tmp_path) == ["x"]


def test_what_a_file_holds(folder: Path) -> None:
    write_certificate(CERTIFICATE, folder / "c.json")
    assert holds_certificate(folder / "c.json")
    for name in ("kuhn.nebel", "small.dhs", "thesis.tex", "nowhere"):
        assert not holds_certificate(folder / name)
        assert not holds_report(folder / name)
        assert holds_policy(folder / name) == (name == "kuhn.nebel")


def test_folders_to_write_into(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_folder(Path("folder"))
    check_folder(Path("new/and/newer"))
    assert not Path("new").exists()
    for name in ("thesis.tex", "dangling", "pipe", "/dev/null", "thesis.tex/x", "n" * 256, "/proc/nebel"):
        with pytest.raises(BadFile, match=name):
            check_folder(Path(name))
        assert main(["geister-server", "--between", "random", "random", "--games", "1", "--log", name]) == 2
        assert capsys.readouterr().err.startswith(f"nebel: {name} ")


@pytest.mark.parametrize("held", ["link", "dangling", "pipe", "folder", "thesis.tex"])
def test_a_certificate_is_not_written_over_other_things(held: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / held).rename(folder / "x.certificate.json")
    assert main(["solve", "dark_hex:2x2", "--with", "double-oracle", "--out", "x"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("nebel: x.certificate.json ")
    assert not (folder / "x").exists()
    assert not (folder / "x.run").exists()


@pytest.mark.parametrize("name", ["metrics.jsonl", "policy.nebel", "checkpoint", "certificate.json"])
def test_a_new_run_takes_no_folder_that_holds_files_of_its_names(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "folder" / name).symlink_to("nowhere")
    assert main(["solve", "kuhn", "--iterations", "20", "--run", "folder"]) == 2
    assert f"folder/{name} is there already, and not of a run" in capsys.readouterr().err
    assert os.listdir(folder / "folder") in ([name], [".lock", name], [name, ".lock"])


def test_metrics_for_tensorboard_go_to_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    assert main(["learn", "kuhn", "--iterations", "1", "--tensorboard", "thesis.tex"]) == 2
    assert capsys.readouterr().err == "nebel: thesis.tex is not a folder; give the name of a folder, or of a new one\n"


def test_a_new_game_is_written_whole_or_not_at_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with full_disk():
        assert main(["new-game", "ttt"]) == 2
    assert capsys.readouterr().err == "nebel: ttt.py cannot be written: File too large\n"
    assert not (folder / "ttt.py").exists()
    (folder / "ttt.py").symlink_to("nowhere")
    assert main(["new-game", "ttt"]) == 2
    assert "ttt.py exists already" in capsys.readouterr().err


def test_policies_that_are_written_are_policies(folder: Path) -> None:
    assert main(["simplify", "kuhn.nebel", "--out", "kuhn.nebel"]) == 0
    assert nebel.load_policy("kuhn.nebel").game == "kuhn"
