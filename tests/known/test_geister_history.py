"""Earlier boards of Geister: what players of k boards see, computed from the list of moves; learning by it, matches, and files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.conform import conform
from nebel.core.errors import BadFile, BadSetting, UnknownGame
from nebel.core.game import Game
from nebel.core.kin import providing
from nebel.learn import drive
from nebel.learn.flock import Flock
from nebel.match.agents import PolicyAgent, read
from nebel.match.arena import play_pair
from nebel.policy.io import load_policy
from nebel.policy.net import Layer, NetPolicy, encode
from nebel.search.target import in_rules

SMALL = "geister:x3y3g3Rb0(limit=30)"


class Board:
    """A board as a player sees it, kept by hand from moves by name: own ghosts by cell with their colours, the opponent's cells."""

    def __init__(self, game: Game, player: int, reds: tuple[str, str]) -> None:
        self.width, self.height, self.player = game.options["width"], game.options["height"], player
        start = game.start().play(" ".join(reds)) if game.options["setup"] == "random" else game.start()
        rows = start.view(player).splitlines()[1 : self.height + 1]
        marks = {(x, y): row.split()[1:][x] for y, row in zip(reversed(range(self.height)), rows, strict=True) for x in range(self.width)}
        self.own = {cell: mark for cell, mark in marks.items() if mark in "RB"}
        self.theirs = {cell for cell, mark in marks.items() if mark == "?"}
        self.took = {"red": 0, "blue": 0}

    def cell(self, name: str, turned: bool) -> tuple[int, int]:
        x, y = ord(name[0]) - ord("a"), int(name[1]) - 1
        return (self.width - 1 - x, self.height - 1 - y) if turned else (x, y)

    def move(self, mover: int, name: str, took: str) -> None:
        mine = mover == self.player
        origin, to = name.split("-")
        here = self.cell(origin, not mine)
        there = None if to == "out" else self.cell(to, not mine)
        if mine:
            mark = self.own.pop(here)
            if there:
                self.own[there] = mark
                self.theirs.discard(there)
            if took:
                self.took[took] += 1
        else:
            self.theirs.remove(here)
            if there:
                self.theirs.add(there)
                self.own.pop(there, None)

    def planes(self, most_blue: int, most_red: int) -> Any:
        made = np.zeros((5, self.height, self.width), np.float32)
        for (x, y), mark in self.own.items():
            made["BR".index(mark), y, x] = 1.0
        for x, y in self.theirs:
            made[2, y, x] = 1.0
        made[3], made[4] = self.took["blue"] / most_blue, self.took["red"] / most_red
        return made


def boards_of(state: nebel.State, player: int, over: tuple[int, int]) -> list[Any]:
    """The planes of the board and of what was captured after each ply, from the start on, by the moves and sights of the game alone."""
    game = in_rules(state.game)
    names = state.moves()
    board = Board(game, player, (names[0], names[1]))
    found = [board.planes(*over)]
    for step, name in zip(state.steps[2:], names[2:], strict=True):
        sight = game.name_of_sight(step.seen[step.turn]) if step.seen[step.turn] else ""
        board.move(step.turn, name, sight.removeprefix("(took:").removesuffix(")"))
        found.append(board.planes(*over))
    return found


def random_games(game: Game, count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        state = game.start()
        while not state.over:
            state.push(int(rng.choice(state.options())))
            if len(state.steps) >= 2:
                yield state


@pytest.mark.parametrize("string", [SMALL, "geister:x5y4g3Bb1(limit=30)"])
def test_planes_are_those_of_the_boards_before(string: str) -> None:
    """For every number of boards and both players, wherever games at random come, their ends too."""
    game = in_rules(nebel.game(string.replace(")", ",history=8)")))
    options, most = game.options, game.options["limit"]
    reds = options["ghosts"] // 2 if options["reds"] is None else options["reds"]
    blues, cells, captures, deep = options["ghosts"] - reds, options["width"] * options["height"], 0, 0
    for state in random_games(game, 20, seed=3):
        for player in (0, 1):
            all_but_one = boards_of(state, player, (max(blues - 1, 1), max(reds - 1, 1)))
            shares = boards_of(state, player, (blues, reds))
            ply = len(all_but_one) - 1
            clock, turn = np.full(cells, ply / most, np.float32), np.array([state.turn == player], np.float32)
            captures += bool(all_but_one[-1][3:].any() and not all_but_one[max(0, ply - 5)][3:].any())
            deep += ply > 8
            for k in range(1, 9):
                six, whole = told_by(game, state, player, k)
                earlier = [all_but_one[max(0, ply - back)].ravel() for back in range(1, k + 1)]
                assert np.array_equal(six, np.concatenate([all_but_one[-1].ravel(), clock, *earlier]))
                earlier = [shares[max(0, ply - back)].ravel() for back in range(1, k + 1)]
                assert np.array_equal(whole, np.concatenate([shares[-1].ravel(), *earlier, clock, turn]))
    assert captures > 30
    assert deep > 30


def told_by(game: Game, state: nebel.State, player: int, boards: int) -> tuple[Any, Any]:
    names = ("eleven-channels", "clock-and-previous")
    if boards > 1:
        names = (f"six-channels-and-previous-{boards}", f"clock-and-previous-{boards}")
    rows = [np.zeros(game.encodings[name].size, np.float32) for name in names]
    for name, row in zip(names, rows, strict=True):
        game.encodings[name].write(state.position[0], player, row)
    return rows[0], rows[1]


def test_a_glance_is_equal_where_the_boards_are() -> None:
    """The board, those before it and the ply, and nothing else: neither the opponent's colours nor older boards."""
    game, met = in_rules(nebel.game("geister:x3y3g2b0(limit=12,history=3)")), dict[int, dict[Any, int]]()
    for state in random_games(game, 100, seed=5):
        for player in (0, 1):
            boards = boards_of(state, player, (1, 1))
            for k in (2, 3):
                ply = len(boards) - 1
                seen = (player, ply, *(boards[max(0, ply - back)].tobytes() for back in range(k + 1)))
                key = state.key(player, f"clock-and-previous-{k}")
                assert met.setdefault(k, {}).setdefault(seen, key) == key
                assert state.key(player, f"six-channels-and-previous-{k}") == key
    for keys in met.values():
        assert len(set(keys.values())) == len({seen[1:] for seen in keys})
    assert len(met[3]) >= len(met[2]) > 300


def test_in_step_as_states_play() -> None:
    """Compiled code writes the same numbers, on the whole board, too, whose 36 cells take the other kind of glance."""
    game, recall = nebel.game("geister(history=8)"), "clock-and-previous-8"
    flock, rng = Flock(game, 8, recall, seed=2), np.random.default_rng(1)
    for _ in range(30):
        for j in (0, 5):
            state = game.start()
            state._positions = [flock.boards.state[j : j + 1].copy()]
            assert np.array_equal(encode(state, recall), flock.rows[j])
        flock.step(np.array([rng.choice(np.flatnonzero(row)) for row in flock.legal]))


def test_the_rules_are_the_same() -> None:
    plain, longer = nebel.game("geister"), nebel.game("geister(history=8)")
    assert (plain.fingerprint, plain.string) == (longer.fingerprint, "geister")
    assert in_rules(plain).state.itemsize == 168  # those who do not ask pay nothing
    assert in_rules(longer).state.itemsize == 184
    assert nebel.game("geister(history=1)").glances.keys() == plain.glances.keys()


def test_the_game_conforms() -> None:
    report = conform(nebel.game("geister(width=2,height=3,ghosts=2,buffer=0,limit=5,setup=chosen,history=2)"), steps=500)
    assert report.findings == []


def test_names_and_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (0, 9):
        with pytest.raises(UnknownGame, match=f"history={wrong} is not possible; states hold 1 to 8 earlier boards"):
            nebel.game(f"geister(history={wrong})")
        learn = ["learn", SMALL, "--with", "deep-cfr", "--recall", f"clock-and-previous-{wrong}", "--iterations", "1"]
        assert main(learn) == 2
        told = capsys.readouterr().err
        assert f"no recall 'clock-and-previous-{wrong}'" in told
        assert "clock-and-previous-N (with history=N, N = 2 to 8)" in told
        assert len(told.splitlines()) == 1
    assert main(["games", "geister:x2y3g2b0(limit=3)"]) == 0
    assert "more recalls        six-channels-and-previous-N (with history=N, N = 2 to 8), clock-and-previous-N (" in capsys.readouterr().out
    game = providing(nebel.game(SMALL), "clock-and-previous-4")
    assert game.options["history"] == 4
    assert providing(game, "clock-and-previous-3") is game
    assert providing(game, "clock") is game
    with pytest.raises(BadSetting, match="has no recall 'clock-and-previous-5'"):
        game.start().key(0, "clock-and-previous-5")


def network(string: str, recall: str, seed: int = 4) -> PolicyAgent:
    """A network of one layer, made for this game."""
    game = in_rules(nebel.game(string))
    weights = np.random.default_rng(seed).normal(size=(game.encodings[recall].size, game.actions)).astype(np.float32)
    layer = Layer(weights, np.zeros(game.actions, np.float32), "")
    return PolicyAgent(f"{recall} network", NetPolicy(game.string, game.fingerprint, recall, (layer,)))


def test_networks_of_more_boards_play_the_plain_game() -> None:
    """Against networks of fewer boards, with other limits, and not with other rules."""
    own, longer = "geister:x2y3g2b0(limit=20,history=3)", "geister:x2y3g2b0(limit=60)"
    there = play_pair(nebel.game("geister:x2y3g2b0(limit=20)"), network(own, "clock-and-previous-3"), read("random"), 200, 3)
    same = play_pair(nebel.game(own), network(own, "clock-and-previous-3"), read("random"), 200, 3)
    assert replace(there, seconds=same.seconds) == same
    fewer = network("geister:x2y3g2b0(limit=20,history=2)", "clock-and-previous-2")
    for pair in ((network(own, "clock-and-previous-3"), fewer), (fewer, network(own, "clock-and-previous-3"))):
        assert play_pair(nebel.game(longer), *pair, 40, 3).games == 40
    for other in ("geister:x2y3g2b0(limit=60,assist=true)", "geister:x3y3g2b0(limit=60)", "leduc"):
        with pytest.raises(BadFile, match="was made for geister"):
            play_pair(nebel.game(other), network(own, "clock-and-previous-3"), read("random"), 10, 3)


def test_learning_by_boards(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The preset of the paper, in the plain game: the file says what it needs, plays, and is judged."""
    monkeypatch.setattr(drive, "GAMES", 20)
    string, recall = "geister:x2y3g2b0(limit=5)", "six-channels-and-previous-2"
    few = ["--traversals", "20", "--steps", "2", "--batch", "64", "--room", "2000", "--average-steps", "2"]
    learn = ["learn", string, "--with", "deep-cfr", "--preset", "geister", *few, "--recall", recall]
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert main([*learn, "--iterations", "2", "--run", str(whole), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recall"] == recall
    assert told["game"] == nebel.game("geister:x2y3g2b0(limit=5,history=2)").string
    assert main([*learn, "--iterations", "1", "--run", str(part)]) == 0
    assert main(["learn", "--resume", str(part), "--iterations", "2"]) == 0
    file = whole / "policy.nebel"
    assert file.read_bytes() == (part / "policy.nebel").read_bytes()
    assert load_policy(file).recall == recall
    assert main(["match", str(file), "random", "--game", string, "--games", "20"]) == 0
    capsys.readouterr()
    judged = []
    for named in ([], ["--game", string]):
        assert main(["judge", str(file), *named, "--json"]) == 0
        judged.append(json.loads(capsys.readouterr().out)["exploitability"])
    assert judged[0] == judged[1] > 0.0
