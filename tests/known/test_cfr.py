"""The CFR family: published and recorded figures, and an independent slow version over histories."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import nebel
from nebel.core.game import CHANCE, END
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.solve import Budget, Job, solve
from nebel.solve.cfr import SCHEDULES, FullWidth


@pytest.fixture(scope="module")
def leduc() -> Tree:
    return grow(nebel.game("leduc"))


def exploitability(tree: Tree, method: str, iterations: int) -> float:
    solver = FullWidth(tree, method)
    solver.run(iterations)
    return Judge(tree).verdict(solver.strategies()).exploitability


@pytest.mark.parametrize(
    ("method", "iterations", "low", "high"),
    [
        ("cfr", 100, 0.0956, 0.0958),
        ("cfr", 1000, 0.01175, 0.01185),
        ("cfr+", 100, 0.0133, 0.0135),
        ("cfr+", 1000, 2.3e-4, 2.6e-4),
        ("dcfr", 100, 0.0075, 0.0079),
        ("dcfr", 1000, 1.4e-4, 2.2e-4),
    ],
)
def test_recorded_figures_on_leduc(leduc: Tree, method: str, iterations: int, low: float, high: float) -> None:
    assert low <= exploitability(leduc, method, iterations) <= high


@pytest.mark.parametrize("method", SCHEDULES)
def test_every_method_converges_on_leduc(leduc: Tree, method: str) -> None:
    assert exploitability(leduc, method, 2000) < (0.008 if method in ("cfr", "linear") else 4e-4)


def test_dcfr_plus_on_goofspiel() -> None:
    assert exploitability(grow(nebel.game("goofspiel:5")), "dcfr+", 1000) < 1e-8


VALUES = [("kuhn", -1 / 18, 1e-9), ("leduc", -0.0856064, 1e-5), ("liars_dice", -7 / 258, 2e-4)]


@pytest.mark.parametrize(("string", "value", "goal"), VALUES)
def test_values_of_games(string: str, value: float, goal: float) -> None:
    verdict = solve(Job(string, "pdcfr+" if string == "kuhn" else "dcfr+"), Budget(until=goal)).verdict
    assert verdict is not None
    # the value of the game lies between what both best responses get
    assert -verdict.best_response[1] - 1e-7 <= value <= verdict.best_response[0] + 1e-7
    assert verdict.value == pytest.approx(value, abs=2 * goal + 1e-6)


def test_two_threads_give_the_same_bits(leduc: Tree) -> None:
    one, two = FullWidth(leduc, "dcfr", threads=1), FullWidth(leduc, "dcfr", threads=2)
    one.run(50)
    two.run(50)
    assert all(np.array_equal(a, b) for a, b in zip(one.save().values(), two.save().values(), strict=True))


class SlowCFR:
    """One half of an iteration of vanilla CFR by recursion over histories, straight from the paper."""

    def __init__(self, game: nebel.Game, recall: str) -> None:
        self.game, self.recall = game, recall
        self.regret: dict[tuple[int, int, int], float] = defaultdict(float)
        self.average: dict[tuple[int, int, int], float] = defaultdict(float)

    def update(self, player: int, strategies: dict[tuple[int, int, int], float]) -> None:
        self.strategies = strategies
        self.walk(self.game.start(), player, 1.0, 1.0)

    def walk(self, state: nebel.State, traverser: int, own: float, others: float) -> float:
        turn = state.turn
        if turn == END:
            score = state.score() or 0.0
            return score if traverser == 0 else -score
        options = state.options()
        if turn == CHANCE:
            return sum(p * self.child(state, a, traverser, own, others * p) for a, p in zip(options, state.odds(), strict=True))
        key = state.key(turn, self.recall)
        sigma = {a: self.strategies[turn, key, a] for a in options}
        if turn != traverser:
            return sum(sigma[a] * self.child(state, a, traverser, own, others * sigma[a]) for a in options)
        worth = {a: self.child(state, a, traverser, own * sigma[a], others) for a in options}
        mean = sum(sigma[a] * worth[a] for a in options)
        for a in options:
            self.regret[turn, key, a] += others * (worth[a] - mean)
            self.average[turn, key, a] += own * sigma[a]
        return mean

    def child(self, state: nebel.State, option: int, traverser: int, own: float, others: float) -> float:
        state.push(option)
        value = self.walk(state, traverser, own, others)
        state.undo()
        return value


@pytest.mark.parametrize(
    ("string", "recall"),
    [("kuhn", "perfect"), ("goofspiel:3", "perfect"), ("dark_hex:2x2", "perfect"), ("dark_hex:2x2", "board"),
     ("dark_hex(rows=2,cols=2,abrupt=true,leak=noisy)", "board")],
)  # fmt: skip
def test_against_a_slow_version_over_histories(string: str, recall: str) -> None:
    """Half-iterations from the same strategies give the same regrets and averages. (From the same start but on their own,
    two right versions part ways: where all moves are worth the same, rounding decides which regret is the positive one.)"""
    game = nebel.game(string)
    tree = grow(game, recall)
    places = [[(p, int(side.keys[i]), int(side.move[k])) for i in range(side.states) for k in range(side.row[i], side.row[i + 1])]
              for p, side in enumerate(tree.sides)]  # fmt: skip
    fast, slow = FullWidth(tree, "cfr"), SlowCFR(game, recall)
    for _ in range(4):
        before = {place: s for p in range(2) for place, s in zip(places[p], fast.save()[f"strategy{p}"], strict=True)}
        fast.run(1)
        after = fast.save()
        slow.update(0, before)
        slow.update(1, before | dict(zip(places[0], after["strategy0"], strict=True)))
        for p, side in enumerate(tree.sides):
            assert after[f"regret{p}"] == pytest.approx([slow.regret[place] for place in places[p]], abs=1e-12)
            sums = np.array([slow.average[place] for place in places[p]])
            total = np.repeat(np.add.reduceat(sums, side.row[:-1]), np.diff(side.row))
            met = total > 0
            assert fast.strategies()[p][met] == pytest.approx(sums[met] / total[met], abs=1e-12)
            gain = np.maximum(after[f"regret{p}"], 0.0)
            total = np.repeat(np.add.reduceat(gain, side.row[:-1]), np.diff(side.row))
            clear = total > 1e-9  # below rounding there are equal shares
            assert after[f"strategy{p}"][clear] == pytest.approx(gain[clear] / total[clear], abs=1e-5)
