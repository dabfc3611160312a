"""Files from strangers are data: a Python file that a policy, a record or a run names is run only if the user named it, unchanged."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import VERBS, main
from nebel.core import trust
from nebel.core.errors import BadFile
from nebel.core.registry import load, load_named
from nebel.core.tree import grow
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.table import from_tree
from nebel.web.setup import Setup
from nebel.web.shelf import Shelf

BOOM = "evil.py:boom"
EVIL = '''
from pathlib import Path

Path("canary").touch()


def boom():
    from nebel.games.leduc import leduc

    return leduc()
'''


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a game file, and a table, a network, a record, runs and a strategy in the making that name it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(trust.FOLDER, str(tmp_path / "state"))
    monkeypatch.setattr(trust, "_named", set())
    (tmp_path / "evil.py").write_text(EVIL)
    leduc = nebel.game("leduc")
    tree = grow(leduc)
    table = from_tree(tree, tuple(np.repeat(1 / np.diff(side.row), np.diff(side.row)) for side in tree.sides))  # type: ignore[arg-type]
    nebel.save_policy(dataclasses.replace(table, game=BOOM), tmp_path / "table.nebel")
    size, moves = leduc.encodings["perfect"].size, leduc.actions  # type: ignore[attr-defined]
    layer = Layer(np.zeros((size, moves), np.float32), np.zeros(moves, np.float32), "")
    nebel.save_policy(NetPolicy(BOOM, leduc.fingerprint, "perfect", (layer,)), tmp_path / "net.nebel")
    (tmp_path / "game.record").write_text(f'[Game "{BOOM}"]\n[Result "*"]\n\nJs Qs\n')
    work = {"format": 1, "kind": "strategy in the making", "game": BOOM, "player": "black", "recall": "board", "isomorphic": False}
    (tmp_path / "work.build.json").write_text(json.dumps({**work, "steps": []}))
    job = {"game": BOOM, "recall": "perfect", "seed": 1, "memory": 4.0, "pone": False, "curriculum": None, "fingerprint": leduc.fingerprint}
    (tmp_path / "learned").mkdir()
    (tmp_path / "learned" / "run.json").write_text(json.dumps({**job, "method": "nfsp", "settings": {}}))
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "judge table.nebel",
        "judge net.nebel",
        "judge table.nebel --game kuhn",
        "judge table.nebel --by abstract",
        "judge net.nebel --by learned",
        "judge table.nebel+oos:10",
        "match table.nebel uniform",
        "match net.nebel uniform",
        "match table.nebel uniform --game kuhn",
        "match table.nebel+oos:10 uniform",
        "show table.nebel",
        "simplify table.nebel --out simple.nebel",
        "play kuhn --against table.nebel",
        "play kuhn --against net.nebel+oos:10",
        "geister-replay game.record",
        "build --resume --out work.nebel",
        "learn --resume learned",
        "solve --resume learned",
        "geister-join --agent table.nebel localhost 1",
        "geister-server --between table.nebel random-escape --games 1",
    ],
)
def test_no_verb_runs_a_game_file_that_only_a_file_names(words: str, evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "evil.py" in said
    assert not (evil / "canary").exists()


@pytest.mark.parametrize(
    "words",
    [
        "judge table.nebel+proof:2",
        "verify table.nebel",
        "strategy table.nebel",
        "geister-replay table.nebel",
        "import table.nebel --game kuhn --out other.nebel",
    ],
)
def test_what_takes_other_files_runs_nothing(words: str, evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (evil / "canary").exists()


READ_NOTHING = {"games", "check", "new-game", "sure-wins", "geister-solve", "geister-puzzles", "paper", "bench", "serve"}
"""Verbs that read no file but one that the user names as a game; what `serve` reads is tested below."""


def test_no_verb_is_forgotten() -> None:
    tried = [mark.args[1] for test in (test_no_verb_runs_a_game_file_that_only_a_file_names, test_what_takes_other_files_runs_nothing)
             for mark in test.pytestmark]  # fmt: skip
    assert {words.split()[0] for listed in tried for words in listed} | READ_NOTHING == set(VERBS)


ACCEPTED = ["judge table.nebel", "match table.nebel uniform", "show table.nebel", "simplify table.nebel --out simple.nebel"]


@pytest.mark.parametrize("words", ACCEPTED)
def test_the_refusal_says_what_then_works(words: str, evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(words.split())
    hint = capsys.readouterr().err.strip().rpartition("name it: ")[2]
    assert hint == f"--game {BOOM}"
    assert main([*words.split(), *hint.split()]) == 0
    assert (evil / "canary").exists()


def test_what_the_user_named_before_is_run_until_it_changes(evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(BOOM)
    monkeypatch.setattr(trust, "_named", set())  # another process
    assert main(["judge", "table.nebel"]) == 0
    with (evil / "evil.py").open("a") as file:
        file.write("\n# changed\n")
    assert main(["judge", "table.nebel"]) == 2
    assert main(["judge", "table.nebel", "--game", BOOM]) == 0
    assert main(["judge", "table.nebel"]) == 0


def test_the_same_content_elsewhere_is_another_file(evil: Path) -> None:
    load(BOOM)
    (evil / "other").mkdir()
    (evil / "other" / "evil.py").write_text(EVIL)
    with pytest.raises(BadFile, match=r"x is about other/evil\.py:boom, a Python file that you have not named"):
        load_named("other/evil.py:boom", "x")


def test_what_is_run_is_what_was_looked_at(evil: Path) -> None:
    """Compiled code beside the file is not taken for it."""
    source = evil / "evil.py"
    import py_compile

    (evil / "bad.py").write_text(EVIL.replace("canary", "worse"))
    compiled = Path(py_compile.compile(str(evil / "bad.py"), doraise=True)).read_bytes()
    stamp = source.stat()
    cached = Path(str(evil / "__pycache__" / Path(py_compile.compile(str(source), doraise=True)).name))
    cached.write_bytes(compiled[:8] + int(stamp.st_mtime).to_bytes(4, "little") + stamp.st_size.to_bytes(4, "little") + compiled[16:])
    load(BOOM)
    assert (evil / "canary").exists()
    assert not (evil / "worse").exists()


@pytest.mark.parametrize("spoil", ["folder", "mark", "owner"])
def test_marks_that_others_could_have_made_do_not_count(spoil: str, evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(BOOM)
    monkeypatch.setattr(trust, "_named", set())
    marks = evil / "state" / "games"
    assert marks.stat().st_mode & 0o777 == 0o700
    [mark] = marks.iterdir()
    assert mark.stat().st_mode & 0o777 == 0o600
    if spoil == "owner":
        monkeypatch.setattr("os.geteuid", lambda: 12345)
    else:
        (marks if spoil == "folder" else mark).chmod(0o777)
    with pytest.raises(BadFile, match="not named"):
        load_named(BOOM, "x")


def test_a_place_that_cannot_be_written_is_no_error(evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (evil / "state").write_text("not a folder")
    load(BOOM)
    assert main(["judge", "table.nebel"]) == 0  # it holds for this process
    monkeypatch.setattr(trust, "_named", set())
    assert main(["judge", "table.nebel"]) == 2


@pytest.mark.parametrize("string", ["openspiel:nebel(game=evil.py:boom)", "openspiel:efg_game(filename=/etc/passwd)"])
def test_openspiel_is_no_way_round(string: str, evil: Path) -> None:
    with pytest.raises(BadFile, match="which reads another file; if you trust it, name it: --game openspiel:"):
        load_named(string, "x")
    assert not (evil / "canary").exists()


@pytest.mark.parametrize("string", ["evil.py:boom\n", "dark_hex(rows=" + "9" * 5000 + ")", "a" * 5000 + ".py:b", "\0.py:b", "no.py:game"])
def test_strange_game_strings_are_one_line(string: str, evil: Path) -> None:
    with pytest.raises(nebel.Problem) as caught:
        load_named(string, "x")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert not (evil / "canary").exists()


def test_a_record_in_the_library(evil: Path) -> None:
    text = (evil / "game.record").read_text()
    with pytest.raises(BadFile, match=r"the record is about evil\.py:boom.*nebel\.game\('evil\.py:boom'\)"):
        nebel.read_record(text)
    assert not (evil / "canary").exists()
    load(BOOM)
    assert nebel.read_record(text).moves_text() == "Js Qs"


@pytest.mark.parametrize("move", ["\033[2J", "\0", "x" * 100_000], ids=["escape", "nul", "long"])
def test_errors_repeat_nothing_that_harms_a_terminal(move: str, evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (evil / "geister.record").write_text(f'[Game "geister"]\n[Result "*"]\n\nABCD {move}')
    assert main(["geister-replay", "geister.record"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.strip().isprintable()
    assert len(said) < 2100


def test_the_shelf_runs_nothing(evil: Path) -> None:
    shelf = Shelf(Setup(runs=evil))
    mine = [held for held in shelf.policies() if not held.name.startswith("shipped/")]
    assert {held.game for held in mine} == {BOOM}
    kuhn: Any = shelf.game("kuhn")
    for held in mine:
        for text in (held.name, f"{held.name}+oos:10", f"{held.name}+belief:10", f"{held.name}+proof:2"):
            with pytest.raises(nebel.Problem):
                shelf.agent(text, kuhn)
        with pytest.raises(nebel.Problem):
            shelf.game(held.game)
    assert not (evil / "canary").exists()
