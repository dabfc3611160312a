"""Merged states: recorded counts, the same regrets and averages as on the tree, runs that go on, and what is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.core.reach import explore
from nebel.core.tree import Side, Tree, grow
from nebel.dark_hex.merged import count_states, merge
from nebel.solve.cfr import SCHEDULES, FullWidth
from nebel.solve.drive import Budget, Job, solve
from nebel.solve.merged import MergedStates


def dark_hex(rows: int, cols: int, abrupt: bool = False, leak: str = "silent") -> nebel.Game:
    return nebel.game(f"dark_hex(rows={rows},cols={cols},abrupt={str(abrupt).lower()},leak={leak})")


def test_recorded_counts() -> None:
    assert count_states(3, 3, False) == 283_859
    assert count_states(4, 3, False) == 31_949_417


@pytest.mark.parametrize("abrupt", [False, True])
@pytest.mark.parametrize("board", [(3, 2), (3, 3)])
def test_counts_by_visiting_every_state(board: tuple[int, int], abrupt: bool) -> None:
    reach = explore(dark_hex(*board, abrupt), "board")
    assert reach is not None
    merged = merge(*board, abrupt)
    assert merged.states == reach.states == count_states(*board, abrupt)
    assert np.diff(merged.views.start).tolist() == reach.information_states


def in_order_of_views(side: Side, column: np.ndarray) -> np.ndarray:
    """A column of a tree's table, with information states in the order of their keys."""
    rows = np.argsort(side.keys, kind="stable")
    return np.concatenate([column[side.row[i] : side.row[i + 1]] for i in rows])


def with_choice(side: Side) -> np.ndarray:
    width = np.diff(side.row)
    return in_order_of_views(side, np.repeat(width > 1, width))


def assert_same(tree: Tree, full: FullWidth, merged: MergedStates) -> None:
    for name in ("regret", "strategy"):
        ours = np.split(getattr(merged._table, name), [merged._merged.views.first[merged._merged.views.start[1]]])
        for p, side in enumerate(tree.sides):
            theirs = in_order_of_views(side, getattr(full._tables[p], name))
            choice = with_choice(side)  # the tree leaves out information states with a single move
            assert np.allclose(ours[p][choice], theirs[choice], rtol=0, atol=1e-12), name


@pytest.mark.parametrize("abrupt", [False, True])
@pytest.mark.parametrize("method", SCHEDULES)
def test_the_same_regrets_as_on_the_tree(method: str, abrupt: bool) -> None:
    """Only the first iterations can be compared: then moves of exactly equal worth are told apart by rounding alone."""
    game = dark_hex(3, 2, abrupt)
    tree = grow(game, "board")
    full, merged = FullWidth(tree, method), MergedStates(game, method, kind=np.float64)
    for _ in range(2):
        full.run(1)
        merged.run(1)
        assert_same(tree, full, merged)


@pytest.mark.parametrize("abrupt", [False, True])
@pytest.mark.parametrize("leak", ["noisy", "flash"])
def test_leaks_do_not_matter_to_those_who_forget(leak: str, abrupt: bool) -> None:
    game = dark_hex(3, 2, abrupt, leak)
    tree = grow(game, "board")
    full, merged = FullWidth(tree, "cfr+"), MergedStates(game, "cfr+", kind=np.float64)
    for _ in range(2):
        full.run(1)
        merged.run(1)
        assert_same(tree, full, merged)


@pytest.mark.parametrize("abrupt", [False, True])
def test_average_weighted_by_own_reach(abrupt: bool) -> None:
    """Own reach of a view: the sum over the decision points of perfect recall that look like it."""
    game = dark_hex(3, 2, abrupt)
    tree = grow(game, "board")
    merged = MergedStates(game, "cfr+", kind=np.float64)
    wanted = np.zeros(len(merged._merged.views.move))
    for t in range(1, 4):
        strategy = merged._table.strategy.copy()
        start = 0
        for side in tree.sides:
            reach, points = np.zeros(side.sequences), side.points
            reach[0] = 1.0
            place = np.empty(side.states, np.int64)  # by information state: its first place in the order of keys
            rows = np.argsort(side.keys, kind="stable")
            width = np.diff(side.row)[rows]
            place[rows] = start + np.cumsum(width) - width
            for i, first in enumerate(points.first[:-1]):
                n, at = points.first[i + 1] - first, place[side.state[i]]
                reach[first : first + n] = reach[points.parent[i]] * strategy[at : at + n]
                wanted[at : at + n] += t * reach[first : first + n]
            start += len(side.move)
        merged.run(1)
    assert np.allclose(merged._table.average, wanted, rtol=1e-12, atol=0)


def test_single_precision_is_enough() -> None:
    """Player 0's first regrets; later ones depend on how moves of equal worth are told apart."""
    tables = [MergedStates(dark_hex(3, 3), "cfr", kind=kind) for kind in (np.float32, np.float64)]
    for solver in tables:
        solver.run(1)
    single, double = (solver._table.regret[: solver._merged.views.first[6293]] for solver in tables)
    assert np.abs(double).max() > 1
    assert np.allclose(single, double, rtol=0, atol=1e-5)


def test_policy_knows_every_information_state() -> None:
    solver = MergedStates(dark_hex(3, 3), "cfr+")
    solver.run(5)
    policy = solver.policy({})
    assert [len(shares.keys) for shares in policy.shares] == [6293, 6263]
    for shares in policy.shares:
        assert np.all(np.diff(shares.keys) > 0)
        assert np.allclose(np.add.reduceat(shares.share, shares.first[:-1]), 1.0)


def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    job = Job("dark_hex:3x3", "dcfr+", "board", memory=0.05)
    whole = solve(job, Budget(iterations=7), tmp_path / "whole")
    solve(job, Budget(iterations=3), tmp_path / "parts")
    parts = solve(Job(""), Budget(iterations=7), tmp_path / "parts", resume=True)
    assert whole.sizing.merged == 283_859
    assert parts.iterations == 7
    for a, b in zip(whole.policy.shares, parts.policy.shares, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_solves_what_black_wins_for_sure() -> None:
    from nebel.judge.abstract import value_of

    game = dark_hex(3, 3)
    solver = MergedStates(game, "cfr+")
    solver.run(60)
    assert value_of(game, solver.policy({})) > 0.99


def test_sure_wins_are_played_from_the_first_iteration_on() -> None:
    """3x3 is a sure win for Black, so with them nothing is left to learn, and White's sure wins are all played too."""
    from nebel.dark_hex.pruned import missed_wins
    from nebel.judge.abstract import value_of

    game = dark_hex(3, 3)
    solver = MergedStates(game, "cfr+", pone=True)
    solver.run(2)
    policy = solver.policy({})
    assert value_of(game, policy) == pytest.approx(1.0, abs=1e-12)
    missed = missed_wins(game, policy, samples=100)
    assert list(missed.unsure) == [0, 0]
    without = MergedStates(game, "cfr+")
    without.run(2)
    assert min(missed_wins(game, without.policy({}), samples=100).unsure) > 0


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (Job("dark_hex:4x4", "cfr+", "board", memory=0.05), "18,817,665,761 states after merging, 161 GB"),
        (Job("dark_hex:5x4", "cfr+", "board", memory=0.05), "outcome-sampling"),
        (Job("dark_hex:3x3", "cfr+", "board", memory=0.05, settings={"threads": 2}), "one thread"),
        (Job("dark_hex:4x3", "cfr+", "perfect", memory=0.05), "needs the whole tree"),
    ],
)
def test_refusals(job: Job, said: str) -> None:
    with pytest.raises(nebel.Problem, match=said):
        solve(job, Budget(iterations=1))


def test_an_iteration_can_be_cut_off() -> None:
    solver = MergedStates(dark_hex(3, 3), "cfr+")
    solver.prepare()
    done = threading.Event()

    def tell() -> None:
        while not done.wait(0.1):
            solver.stop()

    thread = threading.Thread(target=tell)
    thread.start()
    solver.run(1_000_000)
    done.set()
    thread.join()
    assert solver.cut
    assert solver.iterations < 1_000_000
    assert all(np.all(np.isfinite(shares)) and shares.min() >= 0 for shares in solver.strategies())
    before = solver.iterations
    solver.run(1)
    assert (solver.iterations, solver.cut) == (before + 1, False)
