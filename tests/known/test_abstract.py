"""The abstract best response against a slow plain one, its value against the tree, and that it is optimistic."""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.game import END
from nebel.core.tree import grow
from nebel.judge.abstract import abstract, value_of
from nebel.judge.best_response import Judge
from nebel.policy.table import TablePolicy, Uniform, from_tree

VERSIONS = list(itertools.product(("false", "true"), ("silent", "noisy", "flash")))


def random_policy(game: nebel.Game, seed: int = 1) -> TablePolicy:
    """Weights of all sizes, so that no two moves are equally good."""
    tree, rng = grow(game, "board"), np.random.default_rng(seed)
    strategies = []
    for side in tree.sides:
        weight = rng.exponential(size=len(side.move)) ** 3
        strategies.append(weight / np.repeat(np.add.reduceat(weight, side.row[:-1]), np.diff(side.row)))
    return from_tree(tree, (strategies[0], strategies[1]))


@pytest.mark.parametrize(("abrupt", "leak"), VERSIONS)
def test_value_is_that_of_the_tree(abrupt: str, leak: str) -> None:
    game = nebel.game(f"dark_hex(rows=3,cols=2,abrupt={abrupt},leak={leak})")
    tree = grow(game, "board")
    for policy in (Uniform(), random_policy(game)):
        wanted = Judge(tree).verdict(policy.on_tree(tree).strategies)
        found, unknown = abstract(game, policy)
        assert found.value == pytest.approx(wanted.value, abs=1e-12)
        assert value_of(game, policy) == found.value
        assert unknown == (0, 0)
        assert np.all(np.array(found.best_response) <= np.array(wanted.best_response) + 1e-12), "responders who remember get more"


def plain_response(game: Any, policy: TablePolicy, me: int) -> float:
    """State by state, by the definition."""
    sign = 1 if me == 0 else -1

    def look(position: Any) -> int:
        return int(game.glance_at("board", position, game.turn_at(position)))

    held: dict[bytes, Any] = {}
    order: list[bytes] = []

    def visit(position: Any) -> None:
        name = position.tobytes()
        if name not in held:
            held[name] = position
            if game.turn_at(position) != END:
                for cell in game.options_at(position):
                    visit(game.after(position, cell)[0])
            order.append(name)

    visit(game.begin())
    reach = dict.fromkeys(order, 0.0)
    reach[order[-1]] = 1.0
    members: dict[int, list[Any]] = {}
    for name in reversed(order):
        position = held[name]
        turn = game.turn_at(position)
        if turn == END:
            continue
        if turn == me:
            members.setdefault(look(position), []).append(position)
        for cell in game.options_at(position):
            share = 1.0 if turn == me else policy.lookup(turn, look(position))[cell]  # type: ignore[index]
            reach[game.after(position, cell)[0].tobytes()] += reach[name] * share

    @functools.cache
    def worth(name: bytes) -> float:
        position = held[name]
        turn = game.turn_at(position)
        if turn == END:
            return float(sign * game.score_at(position))
        if turn == me:
            return then(position, best(look(position)))
        return sum(p * then(position, cell) for cell, p in policy.lookup(turn, look(position)).items())  # type: ignore[union-attr]

    def then(position: Any, cell: int) -> float:
        return worth(game.after(position, cell)[0].tobytes())

    @functools.cache
    def best(view: int) -> int:
        same = members[view]
        return int(max(game.options_at(same[0]), key=lambda cell: sum(reach[s.tobytes()] * then(s, cell) for s in same)))

    return worth(order[-1])


@pytest.mark.parametrize("abrupt", ["false", "true"])
@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (3, 2)])
def test_against_the_definition(rows: int, cols: int, abrupt: str) -> None:
    game = nebel.game(f"dark_hex(rows={rows},cols={cols},abrupt={abrupt})")
    policy = random_policy(game)
    wanted = [plain_response(game, policy, me) for me in range(2)]
    assert abstract(game, policy).verdict.best_response == pytest.approx(wanted, abs=1e-12)


def test_it_is_optimistic() -> None:
    """There are policies that a responder who remembers beats by more."""
    game = nebel.game("dark_hex(rows=3,cols=2,abrupt=true)")
    tree = grow(game, "board")
    gaps = []
    for seed in range(3):
        policy = random_policy(game, seed)
        exact = Judge(tree).verdict(policy.on_tree(tree).strategies)
        gaps.append(exact.exploitability - abstract(game, policy).verdict.exploitability)
    assert min(gaps) > -1e-12
    assert max(gaps) > 1e-3


def test_refusals() -> None:
    game = nebel.game("dark_hex:2x2")
    for string, said in [("leduc", "known for Dark Hex"), ("dark_hex:5x4", "up to 16 cells"), ("dark_hex:4x4", "take a smaller board")]:
        with pytest.raises(nebel.Problem, match=said):
            abstract(nebel.game(string), Uniform())
    with pytest.raises(nebel.Problem, match=r"has [\d,]+ merged states, more than the 5 steps allowed; allow more \(--patience\)"):
        abstract(nebel.game("dark_hex:3x2"), Uniform(), patience=5)
    tree = grow(game, "perfect")
    with pytest.raises(nebel.Problem, match="perfect recall"):
        abstract(game, from_tree(tree, Uniform().on_tree(tree).strategies))


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "uniform", "--game", "dark_hex:3x2", "--by", "abstract"]) == 0
    assert "optimistic" in capsys.readouterr().out
    assert main(["judge", "uniform", "--game", "dark_hex:3x2", "--by", "abstract", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["by"] == "abstract"
    assert said["optimistic"] is True
    assert said["nash_conv"] == pytest.approx(sum(said["best_response"]))
    assert said["exploitability"] == pytest.approx(said["nash_conv"] / 2)
    assert said["value"] == pytest.approx(-0.6)
