"""Simplified MCCFR: what SIP drops stays dropped, the same bits however a run is cut, and better than SIP at the end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting, Problem
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.policy.io import load_policy
from nebel.policy.simplify import Simplify, simplify
from nebel.policy.table import TablePolicy
from nebel.solve import Budget, Job, solve
from nebel.solve.curriculum import solve_family
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ExternalSampling, OutcomeSampling, Sampling, as_dict
from nebel.solve.simplified import DROPPED, Simplified, drop

SIP = ExternalSampling(sip_every=300, sip_actions=2, sip_threshold=0.05)


@pytest.fixture(scope="module")
def leduc() -> Tree:
    return grow(nebel.game("leduc"))


def test_drop_by_hand() -> None:
    """Rows of 3, 3, 2 and 3 moves: regrets, then sums."""
    rows = [
        ([-1.0, -1.0, -1.0], [6.0, 3.0, 1.0]),  # the last is at the threshold
        ([-1.0, -1.0, 2.0], [6.0, 3.0, 1.0]),  # but here it is played now
        ([-1.0, 5.0], [9.0, 1.0]),  # of the other player
        ([-1.0, -1.0, -1.0], [4.0, 4.0, 4.0]),  # of equals the earlier stay
        ([-1.0, -1.0, -1.0], [0.0, 0.0, 0.0]),  # nothing is known
    ]
    pool = np.array([x for row in rows for part in row for x in part])
    widths = [len(regrets) for regrets, _ in rows]
    starts = np.zeros(len(pool) // 2 + 1, np.bool_)
    starts[np.cumsum([0, *widths])] = True
    mine = np.ones(len(starts), np.bool_)
    mine[6] = False

    def sums(actions: int) -> list[list[float]]:
        held = pool.copy()
        drop(held, starts, mine, actions, 0.1)
        ends = 2 * np.cumsum(widths)
        assert all(np.array_equal(held[e - 2 * n : e - n], pool[e - 2 * n : e - n]) for e, n in zip(ends, widths, strict=True))
        return [held[e - n : e].tolist() for e, n in zip(ends, widths, strict=True)]

    assert sums(3) == [[6, 3, DROPPED], [6, 3, 1], [9, 1], [4, 4, 4], [0, 0, 0]]
    assert sums(2) == [[6, 3, DROPPED], [6, 3, DROPPED], [9, 1], [4, 4, DROPPED], [0, 0, 0]]
    assert sums(1) == [[6, DROPPED, DROPPED], [6, DROPPED, DROPPED], [9, 1], [4, DROPPED, DROPPED], [0, 0, 0]]


@pytest.mark.parametrize("by_rules", [False, True])
def test_dropped_moves_stay_dropped(by_rules: bool) -> None:
    """In a player's learner only that player's moves are dropped, for good; the policy plays at most two of them."""
    tree = grow(nebel.game("leduc")) if not by_rules else None
    solver = Simplified(nebel.game("leduc"), "perfect", tree, SIP, 1, 1 << 28)
    dropped = [np.zeros(0, np.int64)] * 2
    for _ in range(4):
        solver.run(300)
        for p, learner in enumerate(solver.learners):
            pool, starts, mine = learner.table_of(p)
            now, rows = np.flatnonzero(pool == DROPPED), np.flatnonzero(starts)
            assert np.all(mine[rows[np.searchsorted(rows, now // 2, "right") - 1]])
            assert set(dropped[p]) <= set(now.tolist())
            dropped[p] = now
    assert min(len(now) for now in dropped) > 50
    for table in solver.policy({}).shares:
        held = np.add.reduceat(table.share > 0, table.first[:-1], dtype=np.int64)
        assert held.max() == 2
        assert np.all((table.share == 0) | (table.share > 0.05) | (np.repeat(held, np.diff(table.first)) == 1))


def test_same_bits_however_it_is_cut(leduc: Tree) -> None:
    def made() -> Simplified:
        return Simplified(leduc.game, "perfect", leduc, SIP, 7, 0)

    whole, parted = made(), made()
    whole.run(1000)
    for count in (1, 298, 2, 399):
        parted.run(count)
    resumed = made()
    resumed.restore({name: array.copy() for name, array in parted.save().items()}, parted.iterations)
    resumed.run(300)
    assert resumed.iterations == whole.iterations == 1000
    wanted = whole.save()
    assert all(np.array_equal(array, wanted[name]) for name, array in resumed.save().items())
    other = Simplified(leduc.game, "perfect", leduc, SIP, 8, 0)
    other.run(1000)
    assert not np.array_equal(other.strategies()[0], whole.strategies()[0])


def test_better_than_simplifying_at_the_end(leduc: Tree) -> None:
    """Two seeds, as many iterations; the two learners take twice the time."""
    judge, keep = Judge(leduc), Simplify(2, 0.1)

    def exploitability(policy: TablePolicy) -> float:
        return judge.verdict(policy.on_tree(leduc).strategies).exploitability

    gains = []
    for seed in (1, 2):
        plain = Sampled(leduc.game, "perfect", leduc, ExternalSampling(weights="linear"), seed, 0)
        inside = Simplified(
            leduc.game, "perfect", leduc, ExternalSampling(weights="linear", sip_every=30_000, sip_actions=2, sip_threshold=0.1), seed, 0
        )
        for solver in (plain, inside):
            solver.run(60_000)
        gains.append(exploitability(simplify(plain.policy({}), keep)) - exploitability(inside.policy({})))
    assert np.mean(gains) > 0.01


def test_a_run_by_command_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--with", "external-sampling", "--sip-every", "50", "--sip-actions", "1", "--seed", "3"]
    files = [tmp_path / "whole.nebel", tmp_path / "parted.nebel"]
    assert main(["solve", "leduc", *words, "--iterations", "200", "--out", str(files[0])]) == 0
    assert main(["solve", "leduc", *words, "--iterations", "120", "--run", str(tmp_path / "run")]) == 0
    assert main(["solve", "--resume", str(tmp_path / "run"), "--iterations", "200", "--out", str(files[1])]) == 0
    whole, parted = (load_policy(file) for file in files)
    assert isinstance(whole, TablePolicy)
    assert isinstance(parted, TablePolicy)
    assert all(np.array_equal(a.share, b.share) for a, b in zip(whole.shares, parted.shares, strict=True))
    assert all(set(table.share.tolist()) == {0.0, 1.0} for table in whole.shares)
    assert whole.facts["settings"]["sip_every"] == 50
    assert whole.facts["simplified"]["actions"] == 1
    capsys.readouterr()
    assert main(["judge", str(files[0]), "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    result = solve(Job("leduc", "external-sampling", seed=3, settings={"sip_every": 50, "sip_actions": 1}), Budget(iterations=200))
    assert result.verdict
    assert result.verdict.exploitability == pytest.approx(judged["exploitability"])


def test_settings_of_earlier_runs_are_the_same() -> None:
    """What is not given is not written, so checkpoints of earlier versions still belong to their runs."""
    assert set(as_dict(OutcomeSampling())) == {"threads", "weights", "period", "epsilon", "baseline", "rate"}
    assert as_dict(SIP)["sip_threshold"] == 0.05


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"sip_every": 0}, "--sip-every 0 is out of range"),
        ({"sip_every": 10, "sip_actions": 0}, "--sip-actions 0 is out of range"),
        ({"sip_every": 10, "sip_threshold": 1.0}, "at least 0 and below 1"),
        ({"sip_actions": 2}, "give --sip-every too"),
        ({"sip_threshold": 0.1}, "give --sip-every too"),
    ],
)
def test_settings_are_checked(choices: dict[str, float], words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        Sampling(**choices)  # type: ignore[arg-type]


def test_refusals() -> None:
    job = Job("goofspiel:3", "chance-sampled", settings={"sip_every": 5}, curriculum={"curriculum": "turns=2,3"})
    with pytest.raises(Problem, match="not for a --curriculum"):
        solve_family(job, Budget(iterations=1))
