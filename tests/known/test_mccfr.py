"""Sampling: unbiased, convergent, the same by tree and by rules, on one thread and on two."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import nebel
from nebel.core.state import State
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.policy.table import TablePolicy
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
            tables = (solver._worlds[0], solver._pool, solver._extra, solver._rngs[0])
            solver._run(*tables, solver._shape, 1, 1.0, (settings.epsilon, 0.0, 0.0))
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


def check_policy(policy: TablePolicy) -> int:
    """Both tables are well-formed; returns how many information states they have."""
    for table in policy.shares:
        assert np.all(np.diff(table.keys) > 0)
        assert np.allclose(np.add.reduceat(table.share, table.first[:-1]), 1.0)
        assert table.share.min() >= 0.0
    return sum(len(table.keys) for table in policy.shares)


@pytest.mark.parametrize("settings", [ExternalSampling(), ExternalSampling(threads=2), OutcomeSampling()], ids=str)
def test_a_full_table_keeps_what_was_learned(settings: Sampling) -> None:
    memory = 1 << 22
    solver = Sampled(nebel.game("dark_hex:4x3"), "perfect", None, settings, seed=1, memory=memory)
    solver.run(100_000)
    assert "give more --memory" in solver.full
    assert not solver.cut
    assert solver.iterations < 100_000
    policy = solver.policy({})
    assert check_policy(policy) > 5_000
    width = [np.repeat(np.diff(table.first), np.diff(table.first)) for table in policy.shares]
    assert any(np.any(table.share[n > 1] == 1.0) for table, n in zip(policy.shares, width, strict=True))  # something was learned
    saved = solver.save()
    made = [array for table in policy.shares for array in table]
    assert sum(array.nbytes for array in [*saved.values(), *made]) <= memory
    again = Sampled(solver.game, "perfect", None, settings, seed=1, memory=memory)
    again.restore({name: array.copy() for name, array in saved.items()}, solver.iterations)
    assert all(np.array_equal(array, other) for array, other in zip(made, [a for t in again.policy({}).shares for a in t], strict=True))
    with pytest.raises(nebel.Problem, match="full"):
        solver.run(1)


def test_a_run_keeps_to_its_memory() -> None:
    """Growing tables, the checkpoint and the policy, measured in a process of its own, beside what a tiny run takes there."""
    script = """
import resource, sys
from pathlib import Path
import nebel
from nebel.policy.io import save_policy, write_arrays
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ExternalSampling
def peak(memory):
    solver = Sampled(nebel.game("dark_hex:4x3"), "perfect", None, ExternalSampling(), 1, memory)
    solver.run(1000)
    assert solver.full
    write_arrays(Path(sys.argv[1]), solver.save(), {})
    policy = solver.policy({})
    save_policy(policy, sys.argv[1])
    assert sum(len(table.keys) for table in policy.shares) > memory / 600  # most of it was put to use
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tiny = peak(1 << 20)
assert peak(100 << 20) - tiny <= 100 << 20
"""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, "-c", script, f"{folder}/arrays"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@contextmanager
def stopping(solver: Sampled) -> Iterator[None]:
    """Tell a solver to stop, from another thread, until it does."""
    done = threading.Event()

    def tell() -> None:
        while not done.wait(0.1):
            solver.stop()

    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_another_thread_can_cut_off_a_long_traversal() -> None:
    """It would take minutes, or fill the memory."""
    solver = Sampled(nebel.game("dark_hex:4x3"), "perfect", None, ExternalSampling(), seed=1, memory=1 << 33, walked=1e6)
    solver.prepare()
    for _ in range(2):
        with stopping(solver):
            solver.run(1)
        assert solver.cut
        assert (solver.iterations, solver.full) == (0, "")
        assert check_policy(solver.policy({})) > 0


def test_stopping_between_iterations_changes_no_bits(leduc: Tree) -> None:
    stopped, whole = (Sampled(leduc.game, "perfect", leduc, OutcomeSampling(), seed=1, memory=MEMORY) for _ in range(2))
    stopped.prepare()
    with stopping(stopped):
        stopped.run(1 << 40)
    assert 0 < stopped.iterations < 1 << 40
    assert not stopped.cut
    stopped.run(10)
    whole.run(stopped.iterations)
    assert all(np.array_equal(array, whole.save()[name]) for name, array in stopped.save().items())


def test_outcome_sampling_grows_its_table() -> None:
    game = nebel.game("dark_hex:4x3")
    solver = Sampled(game, "board", None, OutcomeSampling(), seed=1, memory=1 << 30)
    solver.run(60_000)
    assert check_policy(solver.policy({})) > 80_000
