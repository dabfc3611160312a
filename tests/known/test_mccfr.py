"""Sampling: unbiased, convergent, the same by tree and by rules, on one thread and on two."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import nebel
from nebel.core.state import State
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.solve.cfr import FullWidth
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling, ExternalSampling, OutcomeSampling, Sampling

MEMORY = 1 << 28


@pytest.fixture(scope="module")
def leduc() -> Tree:
    return grow(nebel.game("leduc"))


@pytest.mark.parametrize(
    ("settings", "iterations", "goal"),
    [
        (OutcomeSampling(), 2_000_000, 0.14),
        (OutcomeSampling(weights="linear"), 2_000_000, 0.14),
        (OutcomeSampling(weights="discounted"), 2_000_000, 0.14),
        (OutcomeSampling(baseline=True), 2_000_000, 0.09),
        (ExternalSampling(), 300_000, 0.05),
        (ExternalSampling(weights="linear"), 300_000, 0.05),
        (ExternalSampling(weights="discounted"), 300_000, 0.05),
        (ExternalSampling(baseline=True), 300_000, 0.05),
        (ChanceSampling(), 50_000, 0.08),
        (ChanceSampling(weights="linear"), 50_000, 0.09),
        (ChanceSampling(weights="discounted"), 50_000, 0.12),
        (OutcomeSampling(threads=2), 2_000_000, 0.14),
    ],
    ids=str,
)
def test_convergence_on_leduc(leduc: Tree, settings: Sampling, iterations: int, goal: float) -> None:
    solver = Sampled(leduc.game, "perfect", leduc, settings, seed=1, memory=MEMORY)
    solver.run(iterations)
    assert Judge(leduc).verdict(solver.strategies()).exploitability < goal


@pytest.mark.parametrize("threads", [1, 2])
def test_by_rules_alone(leduc: Tree, threads: int) -> None:
    solver = Sampled(leduc.game, "perfect", None, OutcomeSampling(threads=threads), seed=1, memory=MEMORY)
    solver.run(1_000_000)
    policy = solver.policy({})
    laid = policy.on_tree(leduc)
    assert sum(laid.unknown) <= (0 if threads == 1 else 5)  # two threads share the luck in an order that nobody knows
    assert [len(s.keys) for s in policy.shares] == [468 - n for n in laid.unknown]
    assert Judge(leduc).verdict(laid.strategies).exploitability < 0.2


def vanilla_cfr(string: str, iterations: int) -> dict[tuple[int, int], dict[int, float]]:
    """The average strategies of CFR as of 2007, both players at once, by recursion over histories of a game without chance."""
    regrets: dict[tuple[int, int], dict[int, float]] = {}
    sums: dict[tuple[int, int], dict[int, float]] = {}

    def visit(state: State, reach: tuple[float, float], strategy: dict[tuple[int, int], dict[int, float]]) -> float:
        score = state.score()
        if score is not None:
            return score
        p = state.turn
        key = (p, state.key(p))
        if key not in strategy:
            held = regrets.setdefault(key, dict.fromkeys(state.options(), 0.0))
            total = sum(max(r, 0.0) for r in held.values())
            strategy[key] = {m: max(r, 0.0) / total if total else 1 / len(held) for m, r in held.items()}
            sums.setdefault(key, dict.fromkeys(held, 0.0))
        shares, worth = strategy[key], {}
        for move, share in shares.items():
            after = (reach[0] * share, reach[1]) if p == 0 else (reach[0], reach[1] * share)
            worth[move] = visit(state.push(move), after, strategy)
            state.undo()
        value = sum(shares[m] * worth[m] for m in worth)
        for move in worth:
            fresh[key][move] += (1 if p == 0 else -1) * reach[1 - p] * (worth[move] - value)
            sums[key][move] += reach[p] * shares[move]
        return value

    for _ in range(iterations):
        fresh: dict[tuple[int, int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        visit(nebel.game(string).start(), (1.0, 1.0), {})
        for key, row in fresh.items():
            for move, regret in row.items():
                regrets[key][move] += regret
    return {key: {m: s / sum(row.values()) for m, s in row.items()} for key, row in sums.items()}


def test_chance_sampling_without_chance_is_vanilla_cfr() -> None:
    tree = grow(nebel.game("goofspiel:3"))
    sampled = Sampled(tree.game, "perfect", tree, ChanceSampling(weights="plain"), seed=1, memory=MEMORY)
    sampled.run(5)
    policy = sampled.policy({})
    for (player, key), row in vanilla_cfr("goofspiel:3", 10).items():
        assert policy.lookup(player, key) == pytest.approx(row, abs=1e-10)


@pytest.mark.parametrize("string", ["kuhn", "goofspiel:3", "dark_hex:2x2"])
@pytest.mark.parametrize("settings", [OutcomeSampling(), OutcomeSampling(epsilon=0.2), ExternalSampling(), ChanceSampling()], ids=str)
def test_sampled_regrets_are_unbiased(string: str, settings: Sampling) -> None:
    """The mean of many first traversals is the first iteration of player 0 in vanilla CFR, within its own confidence interval."""
    tree = grow(nebel.game(string))
    exact = FullWidth(tree, "cfr")
    exact.run(1)
    wanted = exact.save()["regret0"]
    solver = Sampled(tree.game, "perfect", tree, settings, seed=5, memory=MEMORY)
    row = tree.sides[0].row  # a row of the pool holds regrets, then as many sums
    spots = np.arange(len(wanted)) + np.repeat(row[:-1], np.diff(row))
    samples = []
    for _ in range(4000):
        solver._pool[:] = 0.0
        with np.errstate(over="ignore"):
            solver._run(solver._worlds[0], solver._pool, solver._extra, solver._rngs[0], solver._shape, 1, 1.0, (settings.epsilon, 0.0))
        samples.append(solver._pool[spots].copy())
    mean, error = np.mean(samples, axis=0), np.std(samples, axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(mean - wanted) <= 5 * error + 1e-9)


def test_same_seed_same_result_and_other_seed_another(leduc: Tree) -> None:
    def average(seed: int, chunks: list[int]) -> np.ndarray:
        solver = Sampled(leduc.game, "perfect", leduc, OutcomeSampling(weights="discounted", period=300), seed=seed, memory=MEMORY)
        for chunk in chunks:
            solver.run(chunk)
        return solver.strategies()[0]

    assert np.array_equal(average(1, [2000]), average(1, [1, 999, 700, 300]))
    assert not np.array_equal(average(1, [2000]), average(2, [2000]))


def test_a_full_table_is_an_error_not_a_wrong_answer() -> None:
    game = nebel.game("dark_hex:4x3")
    solver = Sampled(game, "perfect", None, ExternalSampling(), seed=1, memory=1 << 20)
    with pytest.raises(nebel.Problem, match="full"):
        solver.run(1)


def test_outcome_sampling_grows_its_table() -> None:
    game = nebel.game("dark_hex:4x3")
    solver = Sampled(game, "board", None, OutcomeSampling(), seed=1, memory=1 << 30)
    solver.run(60_000)
    policy = solver.policy({})
    assert sum(len(s.keys) for s in policy.shares) > 80_000
    for p in range(2):
        table = policy.shares[p]
        assert np.all(np.diff(table.keys) > 0)
        assert np.allclose(np.add.reduceat(table.share, table.first[:-1]), 1.0)
