"""`nebel build` as a stranger would use it, through a pipe."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nebel.cli import main


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs `nebel build FLAGS --out mine.nebel` with lines to read, and gives what it printed."""

    def run(flags: str, *lines: str, code: int = 0) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["build", *flags.split(), "--out", "mine.nebel"]) == code
        out, err = capsys.readouterr()
        return str(err if code else out)

    return run


NEW = "dark_hex:2x2 --player black"


def test_from_the_empty_board_to_a_judged_policy(build, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    printed = build(NEW, "a1:0.3 b1:0.7", "a2", "!", "a2 b2", "b2", "a2")
    assert "After a1 a2 taken:\n  a b\n1 B .\n 2 W .\nhidden White stones: 0   free: b1 b2\n> !" in printed
    assert "complete: every information state that it can come to is answered" in printed
    assert "wins with probability 0.7 or more, whatever White does\n" in printed
    assert main(["strategy", "mine.dhs", "--check", "--guarantee", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["complete"], told["information_states"]) == (True, 6)
    assert told["guarantee"] == pytest.approx(0.7)
    assert main(["judge", "mine.nebel", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best_response"][1] == pytest.approx(-0.4)
    assert main(["match", "mine.nebel", "uniform", "--games", "20", "--json"]) == 0


def test_bad_answers_are_asked_again(build) -> None:  # type: ignore[no-untyped-def]
    printed = build(NEW, "b1", "b1", "c3", "a2:0.5", "undo x", "go 1", "nonsense", "a2", "b2")
    for refused in ("b1 holds a stone of your own", "'c3' is not a cell", "the shares sum to 0.5, not to 1", "'x' is not a number"):
        assert refused in printed
    assert "go wants a number of the last list (there is none yet)" in printed
    assert "wins with probability 1 or more" in printed


def test_work_is_kept_and_gone_on_with(build) -> None:  # type: ignore[no-untyped-def]
    assert "1 open; to go on: nebel build --resume --out mine.nebel" in build(NEW, "b1")
    assert "mine.build.json holds answers already; go on with --resume" in build(NEW, code=2)
    assert "was begun with --player black, not white" in build("dark_hex:2x2 --player white --resume", code=2)
    printed = build("--resume", "guarantee", "save", "quit", "a1")
    assert "1 answered, 1 open. After b1:" in printed
    assert "(1 open information states count as lost)" in printed
    assert "1 answers are in mine.build.json" in printed
    assert "> a1" not in printed
    assert "wins with probability 1 or more" in build("--resume", "a2", "b2")
    printed = build("--resume", "undo 2", "quit")
    assert "mine.nebel is not of these answers" in printed


def test_finding_changing_and_choosing(build) -> None:  # type: ignore[no-untyped-def]
    printed = build(NEW, "a1 b1", "skip", "open", "go 2", "a2", "/a2", "go 1", "b2", "history", "undo", "undo", "undo", "undo")
    assert "2 open\n   1  .x/..  after b1: open\n   2  x./..  after a1: open\n" in printed
    assert "1 with 'a2'\n   1  x./..  after a1: a2\n" in printed
    assert "the answer is a2; a new one takes its place" in printed
    assert "   2  x./..  after a1: b2\n" in printed
    assert "there is no answer to take back" in printed


def test_isomorphic_and_random(build, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    printed = build(NEW + " --isomorphic", "b1 a2", "iso", "iso", "b2", "a2")
    assert "each board is answered on its own" in printed
    assert "wins with probability 1 or more" in printed
    for file in tmp_path.iterdir():
        file.unlink()
    build("dark_hex:3x2 --player white", "a2 b2", "!5", "!!")
    first = (tmp_path / "mine.dhs").read_text()
    assert main(["strategy", "mine.dhs"]) == 0
    (tmp_path / "mine.build.json").unlink()
    build("dark_hex:3x2 --player white", "a2 b2", "! 5", "!!")
    assert (tmp_path / "mine.dhs").read_text() == first


def test_the_abrupt_game_is_kept_as_a_policy(build, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    printed = build("dark_hex(rows=2,cols=2,abrupt=true) --player white", "a1", "!!")
    assert "hidden Black stones: 1 to 2" in printed
    assert "no notation is written" in printed
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.build.json", "mine.nebel"]


def test_what_was_asked_for_wrongly(build) -> None:  # type: ignore[no-untyped-def]
    assert "no file mine.build.json" in build("--resume", code=2)
    assert "a new strategy wants GAME and --player" in build("dark_hex:2x2", code=2)
    assert "take leak=silent" in build("dark_hex(leak=flash) --player black", code=2)
    assert main(["build", "dark_hex:2x2", "--player", "black", "--out", "mine.dhs"]) == 2
    assert main(["build", "dark_hex:2x2", "--player", "black", "--out", "/dev/null/mine.nebel"]) == 2


def test_from_an_initial_board(build, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    black = "dark_hex:2x2 --player black"
    printed = build(f"{black} --board x./..", "a2", "b1", "b2", "guarantee")
    assert "from x./.. hidden 1: a strategy for Black against any White" in printed
    assert "0 answered, 1 open. At the start:\n  a b\n1 B .\n 2 . .\nhidden White stones: 1   free: b1 a2 b2\n> a2" in printed
    assert "where x./.. hidden 1 does not lead, the policy has no answer (--before uniform: any move) and no guarantee holds" in printed
    assert "from x./.. hidden 1 it wins with probability 0 or more, whatever White does" in printed
    assert main(["strategy", "mine.dhs", "--check", "--guarantee", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["board"], told["complete"], told["guarantee"]) == ("x./.. hidden 1", True, 0)
    assert main(["judge", "mine.nebel"]) == 2
    assert "the policy lacks" in capsys.readouterr().err
    assert "was begun with --board x./.. hidden 1, not .x/.. hidden 1" in build("--resume --board .x/..", code=2)
    build("--resume --before uniform", "quit")
    assert main(["judge", "mine.nebel", "--json"]) == 0
    capsys.readouterr()
    assert main(["strategy", "mine.dhs", "--out", "other.nebel", "--before", "uniform"]) == 0
    assert main(["match", "other.nebel", "uniform", "--games", "20", "--json"]) == 0
    capsys.readouterr()
    for file in tmp_path.iterdir():
        file.unlink()
    build(f"{black} --board x./.. --recall perfect", "a2", "!!")
    assert main(["show", "mine.nebel", "--json"]) == 0  # what it knows, and not the states before the board
    assert json.loads(capsys.readouterr().out)["shown"][0] == {"player": 0, "information_state": "a1", "moves": {"b1": 0, "a2": 1, "b2": 0}}
    for file in tmp_path.iterdir():
        file.unlink()
    assert "--before is for a strategy from an initial board" in build(f"{black} --before uniform", code=2)
    for board, message in [("x./../..", "is not a board of 2 rows"), ("x./x.", "Black has joined both edges"), ("..", "2 rows of 2 cells")]:
        assert message in build(f"{black} --board {board}", code=2)
    abrupt = build("dark_hex(rows=2,cols=2,abrupt=true) --player black --board x./..", code=2)
    assert "x./.. can hide 0 to 1 White stones; say how many: 'x./.. hidden 1'" in abrupt
    assert list(tmp_path.iterdir()) == []


def test_killed_at_any_moment_nothing_that_was_answered_is_lost(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "nebel", "build", "dark_hex:2x2", "--player", "black", "--out", "mine.nebel"]
    child = subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("a1 b1\na2\n")
    child.stdin.flush()
    while "2 answered" not in child.stdout.readline():
        pass
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert json.loads((tmp_path / "mine.build.json").read_text())["steps"] == [{"../..": "a1:0.5 b1:0.5"}, {"x./..": "a2"}]


def test_errors_in_strategy_files_point_at_the_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "s.dhs"
    head = "rows: 2\ncols: 2\nplayer: black\n"
    for body, place in [
        ("play = a1, c1", "    play = a1, c1\n               ^"),
        ("play = {a1: 0.3,\n  b1: 0.6}", "    play = {a1: 0.3,\n           ^"),
        ("play = a1 ~ (b1\n\n", "    play = a1 ~ (b1\n                   ^"),
        ("play =\talpa", "    play =\talpa\n          \t^"),
    ]:
        file.write_text(head + body + "\n")
        assert main(["strategy", str(file)]) == 2
        printed = capsys.readouterr().err
        assert printed.endswith(place + "\n")
        assert f"{file}: line " in printed.splitlines()[0]
    file.write_text(head + "play = b1, a2\n")
    assert main(["strategy", str(file)]) == 1
    assert "write for example a2 ~ (a1)" in capsys.readouterr().out
