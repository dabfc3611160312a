"""Curriculum: what is carried, by tree and by rules; runs that are killed; families that are refused."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting, UnknownGame
from nebel.core.game import BaseGame
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.policy.io import load_policy
from nebel.policy.table import TablePolicy
from nebel.solve import Budget, Job
from nebel.solve.cfr import FullWidth
from nebel.solve.curriculum import solve_family, stages
from nebel.solve.drive import solve
from nebel.solve.heritage import Held, Heritage
from nebel.solve.run import Progress
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling, Sampling

MEMORY = 1 << 26
RECALLS = ("memoryless", "hp-aware", "history-aware", "perfect")
SHORT = "goofspiel(cards=4,order=descending,turns=2)"
LONG = "goofspiel(cards=4,order=descending,turns=3)"


@cache
def tree(string: str, recall: str = "perfect") -> Tree:
    return grow(nebel.game(string), recall)


@cache
def learned(recall: str) -> Heritage:
    """What a hundred iterations in Cheat-1 teach."""
    solver = FullWidth(tree("cheat:1", recall), "cfr")
    solver.run(100)
    return Heritage(solver.tree.game, recall, solver.held())


def sampled(recall: str, on_tree: bool, settings: Sampling, heritage: Heritage | None, iterations: int) -> Sampled:
    solver = Sampled(nebel.game("cheat:2"), recall, tree("cheat:2", recall) if on_tree else None, settings, 3, MEMORY)
    if heritage:
        solver.inherit(heritage)
    solver.run(iterations)
    return solver


def rows(held: Held) -> dict[int, dict[int, tuple[float, float]]]:
    """By key and move: regret and sum."""
    return {
        int(key): {int(held.move[j]): (held.regret[j], held.total[j]) for j in range(held.first[i], held.first[i + 1])}
        for i, key in enumerate(held.keys)
    }


def same_bits(one: TablePolicy, other: TablePolicy) -> bool:
    return all(np.array_equal(a, b) for p in range(2) for a, b in zip(one.shares[p], other.shares[p], strict=True))


@pytest.mark.parametrize("weights", ["plain", "discounted"])
@pytest.mark.parametrize("recall", RECALLS)
def test_by_tree_and_by_rules_the_same_is_inherited(recall: str, weights: str) -> None:
    settings, heritage = ChanceSampling(weights=weights), learned(recall)
    whole, stepped = (sampled(recall, on_tree, settings, heritage, 20) for on_tree in (True, False))
    scratch = sampled(recall, True, settings, None, 20)
    for mine, met, without in zip(whole.held(), stepped.held(), scratch.held(), strict=True):
        here, there, nothing = rows(mine), rows(met), rows(without)
        assert len(there) > 400
        assert sum(here[key] != there[key] for key in there) == 0
        assert sum(nothing[key] != there[key] for key in there) > 300


def test_what_is_carried_is_counted_as_memory() -> None:
    """Where the rules are sampled, it lies beside the tables for as long as the solver works."""
    heritage = learned("perfect")
    solver = sampled("perfect", False, ChanceSampling(), heritage, 0)
    assert heritage.bytes > 24 * sum(len(held.move) for held in heritage.held)
    assert solver.memory == MEMORY - heritage.bytes
    little = Sampled(nebel.game("cheat:2"), "perfect", None, ChanceSampling(), 3, heritage.bytes)
    little.inherit(heritage)
    little.run(1)
    assert little.full


@pytest.mark.parametrize("recall", RECALLS)
def test_a_full_width_solver_begins_with_the_numbers_of_the_smaller_game(recall: str) -> None:
    """Looked up state by state: in the larger game's state, by what the smaller game's player would see there."""
    heritage, solver = learned(recall), FullWidth(tree("cheat:2", recall), "cfr")
    solver.inherit(heritage)
    small = nebel.game("cheat:1")
    known = 0
    for player, (held, old) in enumerate(zip(solver.held(), heritage.held, strict=True)):
        now, before = rows(held), rows(old)
        for number in range(0, solver.tree.sides[player].states, 1 if recall != "perfect" else 101):
            state = solver.tree.state_of(player, number)
            key = state.key(player) if recall == "perfect" else small.glance_at(recall, state.position, player)
            carried = before.get(key, {})
            assert now[state.key(player, recall)] == {move: carried.get(move, (0.0, 0.0)) for move in state.options()}
            known += bool(carried)
    assert known > 100 if recall != "perfect" else known > 2


def test_the_first_strategy_follows_from_the_carried_regrets() -> None:
    solver = FullWidth(tree("cheat:2", "hp-aware"), "cfr")
    solver.inherit(learned("hp-aware"))
    saved, moved = solver.save(), 0
    for p, side in enumerate(solver.tree.sides):
        for first, last in zip(side.row[:-1], side.row[1:], strict=True):
            gains = np.maximum(saved[f"regret{p}"][first:last], 0)
            share = gains / gains.sum() if gains.sum() else np.full(last - first, 1 / (last - first))
            assert np.array_equal(saved[f"strategy{p}"][first:last], share)
            moved += share.max() > share.min()
    assert moved > 100


def test_what_is_carried_is_scaled() -> None:
    heritage = learned("hp-aware")
    scaled = heritage.scaled(0.5, 3)
    for plain, times in zip(heritage.held, scaled.held, strict=True):
        assert np.array_equal(times.regret, plain.regret * 0.5)
        assert np.array_equal(times.total, plain.total * 3)
    laid = []
    for each in (heritage, scaled):
        solver = FullWidth(tree("cheat:2", "hp-aware"), "cfr")
        solver.inherit(each)
        laid.append(solver.held())
    for plain, times in zip(*laid, strict=True):
        assert np.abs(plain.regret).max() > 0 < plain.total.max()
        assert np.array_equal(times.regret, plain.regret * 0.5)
        assert np.array_equal(times.total, plain.total * 3)


def family(method: str = "cfr+", recall: str = "perfect", game: str = LONG, curriculum: str = "turns=1..3", **carry: float) -> Job:
    return Job(game, method, recall, settings={}, curriculum={"curriculum": curriculum, **carry})


@pytest.mark.parametrize("method", ["cfr+", "chance-sampled", "outcome-sampling"])
def test_carrying_nothing_is_beginning_anew(method: str) -> None:
    budget = Budget(iterations=50)
    scratch = solve(Job(LONG, method), budget).policy
    assert same_bits(solve_family(family(method, carry_regrets=0), budget).policy, scratch)
    both = solve_family(family(method, carry_average=1), budget).policy
    regrets = solve_family(family(method), budget).policy
    average = solve_family(family(method, carry_regrets=0, carry_average=1), budget).policy
    for i, one in enumerate((scratch, both, regrets, average)):
        assert not any(same_bits(one, other) for other in (scratch, both, regrets, average)[i + 1 :])


@pytest.mark.parametrize("method", ["linear", "dcfr", "dcfr+", "pdcfr+"])
def test_discounting_methods_do_not_forget_what_is_carried(method: str) -> None:
    """From itself, of the same age, a game goes on as if it had never stopped."""
    whole, first, second = (FullWidth(tree(LONG), method) for _ in range(3))
    whole.run(40)
    first.run(25)
    second.inherit(Heritage(first.tree.game, "perfect", first.held(), (25, 25)))
    second.run(15)
    for one, other in zip(whole.held(), second.held(), strict=True):
        assert np.allclose(one.total, other.total, rtol=0.02)
        assert np.allclose(one.regret, other.regret, atol=0.02)
    alone = FullWidth(tree(LONG), method)
    alone.run(15)
    assert not np.allclose(alone.held()[0].total, second.held()[0].total, rtol=0.1)


def test_a_stage_goes_on_from_the_stage_before() -> None:
    """By hand: solve the shorter game, lay its numbers down in the longer one, go on."""
    first, second = FullWidth(tree(SHORT), "cfr+"), FullWidth(tree(LONG), "cfr+")
    first.run(30)
    second.inherit(Heritage(first.tree.game, "perfect", first.held(), (30, 30)))
    second.run(30)
    result = solve_family(family(curriculum="turns=2,3", carry_average=1), Budget(iterations=30))
    assert same_bits(result.policy, second.policy({}))
    assert (result.job.game, result.iterations) == (nebel.game(LONG).string, 30)
    assert result.policy.facts["curriculum"] == "turns=2,3"
    assert result.verdict is not None
    assert result.verdict.exploitability == Judge(second.tree).verdict(second.strategies()).exploitability


def test_a_survey_shows_what_was_inherited() -> None:
    """Rows of all information states that are met, as they were taken over: nothing is learned."""
    by_rules, by_tree = (sampled("hp-aware", on_tree, ChanceSampling(), learned("hp-aware"), 0) for on_tree in (False, True))
    laid = by_tree.held()
    for pupil in (by_rules, by_tree):
        pupil.survey(200)
    for expected, met, kept in zip(laid, by_rules.held(), by_tree.held(), strict=True):
        assert rows(met) == rows(kept) == rows(expected)
        assert np.count_nonzero(met.total) > 100


class Killed(Exception):
    pass


@pytest.mark.parametrize(("method", "recall", "game", "curriculum"), [
    ("cfr+", "perfect", LONG, "turns=1..3"),
    ("chance-sampled", "hp-aware", "cheat:2", "hp=1..2"),
])  # fmt: skip
def test_killed_and_resumed(tmp_path: Path, method: str, recall: str, game: str, curriculum: str) -> None:
    job, budget = family(method, recall, game, curriculum, carry_average=1), Budget(iterations=400)
    whole = solve_family(job, budget, tmp_path / "whole").policy
    begun: list[str] = []

    def kill_in_the_second(news: Progress) -> None:
        if len(begun) == 1 and news.iterations > 150:
            raise Killed

    with pytest.raises(Killed):
        solve_family(
            job, budget, tmp_path / "run", progress=kill_in_the_second, checkpoint_every=1e-9, done=lambda s, r: begun.append(s.name)
        )
    assert begun == [curriculum.replace("..", ",").split(",")[0]]
    assert not (tmp_path / "run" / "policy.nebel").exists()
    for _ in range(2):  # the second time all is finished already
        again = solve_family(job, budget, tmp_path / "run", resume=True)
        assert again.iterations == 400
        assert same_bits(again.policy, whole)
        assert same_bits(load_policy(tmp_path / "run" / "policy.nebel"), whole)
    further = solve_family(job, Budget(iterations=500), tmp_path / "run", resume=True)
    assert further.iterations == 500
    assert not same_bits(further.policy, whole)


def test_resume_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--with", "cfr+", "--curriculum", "turns=1..3", "--iterations", "40", "--json"]
    folder = str(tmp_path / "run")
    assert main(["solve", LONG, *words, "--run", folder]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [(stage["stage"], stage["iterations"]) for stage in first["stages"]] == [("turns=1", 40), ("turns=2", 40), ("turns=3", 40)]
    assert first["curriculum"]["curriculum"] == "turns=1..3"
    assert first["settings"] == {"threads": 1}
    assert main(["solve", *words, "--threads", "1", "--resume", folder]) == 0
    assert json.loads(capsys.readouterr().out)["exploitability"] == first["exploitability"]
    for changed, before in ((["--curriculum", "turns=2..3"], "turns=1..3"), (["--carry-regrets", "0.5"], "1.0")):
        assert main(["solve", "--resume", folder, *changed]) == 2
        error = capsys.readouterr().err
        assert before in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("game", "text", "reason"),
    [
        ("cheat:3", "hp", r"hp is not understood; write option=first..last or option=a,b,c, for example hp=1..5"),
        ("cheat:3", "hp=1..", r"not understood; write option=first..last"),
        ("cheat:3", "hp=5..3", r"hp=5..3 is empty: 5 is more than 3"),
        ("cheat:3", "hp=1..2", r"ends at hp=2, but the game to solve, cheat, has hp=3; end it there"),
        ("cheat:7", "hp=1..6", r"ends at hp=6, but .* has hp=7; end it there"),
        ("cheat:3", "health=1..3", r"has no option 'health' that could be varied; its options: ranks, .*hp"),
        ("openspiel:kuhn_poker", "cards=1..3", r"no option 'cards' that could be varied; its options: none"),
    ],
)
def test_families_that_are_none(game: str, text: str, reason: str) -> None:
    if game.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    with pytest.raises(BadSetting, match=reason):
        stages(nebel.game(game), text)


def test_a_stage_must_be_a_game() -> None:
    with pytest.raises(UnknownGame, match="hp=0 is not possible; health points are 1 to 1000"):
        stages(nebel.game("cheat:2"), "hp=0..2")


def test_stages_are_games_of_the_family() -> None:
    listed = stages(nebel.game("goofspiel(cards=4,order=descending)"), "turns=1,2,4")
    assert [stage.name for stage in listed] == ["turns=1", "turns=2", "turns=4"]
    assert [stage.game.options["order"] for stage in listed] == ["descending"] * 3
    assert [stage.game.options["turns"] for stage in listed] == [1, 2, 4]  # all four turns are the game as it is


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["cheat:2", "--carry-regrets", "0.5"], "--carry-average and --first-strategy are for a --curriculum, for example"),
        (["cheat:2", "--curriculum", "hp=1..2", "--carry-average", "-1"], "-1"),
        (["dark_hex:2x2", "--with", "double-oracle", "--curriculum", "rows=1..2"], "for example --with cfr+, not for double-oracle"),
        (["dark_hex:2x2", "--recall", "board", "--with", "maximin", "--curriculum", "rows=1..2"], "not for maximin"),
        (["dark_hex:2x2", "--with", "cfr+", "--pone", "--curriculum", "rows=1..2"], "without --pone, for example"),
        (["cheat(ranks=3,hp=1)", "--curriculum", "ranks=2..3"], "moves of the same number are not called the same"),
        (["goofspiel:3", "--curriculum", "cards=2..3", "--recall", "none"], "recall"),
    ],
)  # fmt: skip
def test_refused_in_one_line_before_anything_is_computed(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", *words, "--run", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("game", "curriculum"),
    [
        ("goofspiel(cards=4,first_prize=1)", "turns=1..4"),
        ("goofspiel(cards=4,order=descending)", "turns=1..4"),
        ("goofspiel(cards=4,first_prize=1)", "cards=2..4"),
    ],
)
def test_families_of_goofspiel(game: str, curriculum: str) -> None:
    begun: list[BaseGame] = []
    job, budget = family("cfr+", game=game, curriculum=curriculum), Budget(iterations=100)
    result = solve_family(job, budget, done=lambda stage, _: begun.append(stage.game))
    assert len(begun) == len({each.string for each in begun}) == int(curriculum[-1]) - int(curriculum[-4]) + 1
    assert result.verdict is not None
    assert result.verdict.exploitability < 0.05
    assert not same_bits(result.policy, solve(dataclasses.replace(job, curriculum=None), budget).policy)


def test_more_cards_have_the_fewer_cards_moves() -> None:
    """By perfect recall the same observations are the same state; a new card begins with nothing."""
    few, many = FullWidth(tree("goofspiel(cards=3,first_prize=1)"), "cfr"), FullWidth(tree("goofspiel(cards=4,first_prize=1)"), "cfr")
    few.run(50)
    many.inherit(Heritage(few.tree.game, "perfect", few.held()))
    for before, now in zip(few.held(), many.held(), strict=True):
        old, new = rows(before), rows(now)
        shared = old.keys() & new.keys()
        assert len(shared) > 10
        for key, moves in new.items():
            assert moves == {move: old.get(key, {}).get(move, (0.0, 0.0)) for move in moves}
