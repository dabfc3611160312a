"""As the paper on ordered abstraction has it: a stage begins with the carried average strategy, and an iteration is one deal."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting
from nebel.core.tree import Tree, grow
from nebel.solve.cfr import FullWidth
from nebel.solve.curriculum import solve_family
from nebel.solve.drive import solve
from nebel.solve.heritage import Held, Heritage
from nebel.solve.run import Budget, Job
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling

MEMORY = 1 << 26
RECALL = "hp-aware"


@cache
def tree(string: str) -> Tree:
    return grow(nebel.game(string), RECALL)


@cache
def learned() -> Heritage:
    """What a hundred iterations in Cheat-1 teach, and its average as the first strategy."""
    solver = FullWidth(tree("cheat:1"), "cfr")
    solver.run(100)
    return Heritage(solver.tree.game, RECALL, solver.held()).average_first()


def columns(held: Held) -> dict[tuple[int, int], tuple[float, float]]:
    """By key and move: regret and sum."""
    keys = np.repeat(held.keys, np.diff(held.first))
    return {(int(k), int(m)): (r, t) for k, m, r, t in zip(keys, held.move, held.regret, held.total, strict=True)}


def pupil(on_tree: bool, heritage: Heritage, weights: str = "plain") -> Sampled:
    made = Sampled(nebel.game("cheat:2"), RECALL, tree("cheat:2") if on_tree else None, ChanceSampling(weights=weights, deals=1), 3, MEMORY)
    made.inherit(heritage)
    return made


def shares(held: Held) -> dict[tuple[int, int], float]:
    """By key and move: the share of the sums, where there are any."""
    row = np.repeat(np.arange(len(held.keys)), np.diff(held.first))
    sums = np.bincount(row, held.total, len(held.keys))[row]
    found = zip(held.keys[row], held.move, held.total, sums, strict=True)
    return {(int(k), int(m)): t / s for k, m, t, s in found if s > 0}


def test_full_width_methods_begin_with_the_carried_average() -> None:
    """What an information state with a carried average plays in the first iteration is that average; regrets are carried as before."""
    solver = FullWidth(tree("cheat:2"), "cfr")
    solver.inherit(learned().scaled(1.0, 0.0))
    before = {player: columns(held) for player, held in enumerate(learned().held)}
    followed = 0
    for p, side in enumerate(tree("cheat:2").sides):
        laid = FullWidth(tree("cheat:2"), "cfr")
        laid.inherit(learned())
        carried = shares(laid.held()[p])
        strategy, regrets = solver.save()[f"strategy{p}"], solver.save()[f"regret{p}"]
        for i, key in enumerate(side.keys):
            for at in range(side.row[i], side.row[i + 1]):
                if (int(key), int(side.move[at])) in carried:
                    assert strategy[at] == pytest.approx(carried[int(key), int(side.move[at])], abs=1e-12)
                    followed += 1
        assert {*regrets[regrets != 0].tolist()} <= {regret for regret, _ in before[p].values()}
    assert followed > 300


@pytest.mark.parametrize("on_tree", [True, False])
def test_the_first_traversal_plays_the_carried_average_and_keeps_the_regrets(on_tree: bool) -> None:
    """After one deal the sums of the states on the way of the first player are shares of the carried average; a survey, which learns
    nothing, leaves regrets as they were carried."""
    solver = pupil(on_tree, learned().scaled(1.0, 0.0))
    solver.run(1)
    carried = [shares(held) for held in pupil_sums()]
    seen = 0
    for held, average in zip(solver.held(), carried, strict=True):
        for at, share in shares(held).items():
            if at in average:
                assert share == pytest.approx(average[at], abs=1e-9)
                seen += 1
    assert seen > 20
    survey = pupil(on_tree, learned())
    survey.survey(100)
    plain = Sampled(nebel.game("cheat:2"), RECALL, tree("cheat:2"), ChanceSampling(), 3, MEMORY)
    plain.inherit(learned())
    for met, laid in zip(survey.held(), plain.held(), strict=True):
        known = columns(laid)
        for at, (regret, total) in columns(met).items():
            assert regret == pytest.approx(known[at][0], abs=1e-9)
            assert total == known[at][1]


def pupil_sums() -> tuple[Held, Held]:
    """The carried sums as rows of Cheat-2."""
    solver = FullWidth(tree("cheat:2"), "cfr")
    solver.inherit(learned())
    return solver.held()


@pytest.mark.parametrize(("weights", "iterations"), [("plain", 40), ("discounted", 12)])
def test_by_tree_and_by_rules_the_same_is_learned(weights: str, iterations: int) -> None:
    """With discounted weights to rounding, which grows in time where regrets are equal."""
    whole, stepped = (pupil(on_tree, learned(), weights) for on_tree in (True, False))
    for solver in (whole, stepped):
        solver.run(iterations)
    for mine, met in zip(whole.held(), stepped.held(), strict=True):
        here, there = columns(mine), columns(met)
        assert len(there) > 150
        for at, numbers in there.items():
            assert here[at] == pytest.approx(numbers, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("on_tree", [True, False])
def test_a_checkpoint_holds_what_is_pending(on_tree: bool) -> None:
    whole, half, rest = (pupil(on_tree, learned(), "discounted") for _ in range(3))
    whole.run(20)
    half.run(8)
    rest.restore({name: array.copy() for name, array in half.save().items()}, 8)
    rest.run(12)
    for mine, other in zip(whole.held(), rest.held(), strict=True):
        assert columns(mine) == columns(other)


def family(first: str, method: str = "chance-sampled") -> Job:
    return Job("cheat:2", method, RECALL, curriculum={"curriculum": "hp=1..2", "first_strategy": first})


@pytest.mark.parametrize("method", ["chance-sampled", "cfr+"])
def test_the_first_strategy_changes_what_is_learned(method: str, tmp_path: Path) -> None:
    average, regrets = (solve_family(family(first, method), Budget(iterations=30)).policy for first in ("average", "regrets"))
    assert not np.array_equal(average.shares[0].share, regrets.shares[0].share)
    solve_family(family("average", method), Budget(iterations=10), tmp_path / "run")
    again = solve_family(family("average", method), Budget(iterations=30), tmp_path / "run", resume=True)
    short = solve_family(family("average", method), Budget(iterations=10)).policy
    assert again.iterations == 30
    assert not np.array_equal(again.policy.shares[0].share, short.shares[0].share)


def test_sampled_moves_have_no_first_strategy(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadSetting, match="--first-strategy average is for chance-sampled and for full-width methods such as cfr"):
        solve_family(family("average", "outcome-sampling"), Budget(iterations=1))
    assert main(["solve", "cheat:2", "--curriculum", "hp=1..2", "--first-strategy", "averages"]) == 2
    assert "--first-strategy" in capsys.readouterr().err
    assert main(["solve", "cheat:2", "--first-strategy", "average"]) == 2
    assert "are for a --curriculum, for example --curriculum hp=1..5" in capsys.readouterr().err


@pytest.mark.parametrize("on_tree", [True, False])
def test_an_iteration_has_as_many_deals_as_it_is_told(on_tree: bool) -> None:
    """With plain weights an iteration of two deals is two iterations of one."""
    found = []
    for deals, iterations in ((1, 40), (2, 20), (4, 10)):
        solver = Sampled(
            nebel.game("cheat:2"), RECALL, tree("cheat:2") if on_tree else None, ChanceSampling(weights="plain", deals=deals), 3, MEMORY
        )
        solver.run(iterations)
        assert solver.iterations == iterations
        found.append((solver.nodes, [columns(held) for held in solver.held()]))
    assert found[0] == found[1] == found[2]


def test_deals_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = (Job("leduc", "chance-sampled", settings={"weights": "plain", "deals": deals}) for deals in (1, 2))
    one, two = (solve(job, Budget(iterations=20)).policy for job in jobs)
    assert not np.array_equal(one.shares[0].share, two.shares[0].share)
    assert main(["solve", "kuhn", "--with", "chance-sampled", "--deals", "0"]) == 2
    assert "--deals 0 is out of range: it must be between 1 and 1000" in capsys.readouterr().err
