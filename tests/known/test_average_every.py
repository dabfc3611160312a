"""The network of the average strategy may be trained in every few iterations only; policies asked for in between are up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nebel.core.registry import load
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
from nebel.learn.drive import learn
from nebel.learn.workers import Alone
from nebel.policy.net import NetPolicy
from nebel.search.target import in_rules
from nebel.solve.run import Budget, Job

SETTINGS: dict[str, Any] = {
    "sampling": "outcome", "traversals": 20, "steps": 2, "average_steps": 3, "batch": 32, "hidden": "8", "memory": "reservoir", "room": 500,
}  # fmt: skip


def learner(every: int) -> DeepCfr:
    it = DeepCfr(in_rules(load("kuhn")), "perfect", DeepCfrSettings(**SETTINGS, average_every=every), 1, Alone())
    it.prepare()
    return it


def weights(it: DeepCfr) -> list[Any]:
    policy = it.policy({})
    assert isinstance(policy, NetPolicy)
    return [layer.weights for layer in policy.layers]


def test_the_average_is_trained_at_checkpoints_only() -> None:
    it, losses = learner(3), []
    for _ in range(6):
        it.iterate()
        losses.append("average_loss" in it.metrics)
    assert losses == [False, False, True, False, False, True]
    assert it.cadence == 3


def test_a_policy_between_checkpoints_is_trained_on_what_is_remembered_and_changes_nothing() -> None:
    asked, silent = learner(3), learner(3)
    asked.iterate()
    silent.iterate()
    blank = learner(3)
    assert any((mine != theirs).any() for mine, theirs in zip(weights(asked), weights(blank), strict=True))
    np.testing.assert_array_equal(weights(asked)[0], weights(asked)[0])
    for _ in range(2):
        asked.iterate()
        asked.policy({})
        silent.iterate()
    for mine, theirs in zip(weights(asked), weights(silent), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_run_that_is_resumed_between_checkpoints_has_the_same_bits(tmp_path: Path) -> None:
    job = Job("kuhn", "deep-cfr", settings={**SETTINGS, "average_every": 4})
    whole = learn(job, Budget(iterations=8), tmp_path / "whole")
    half = learn(job, Budget(iterations=5), tmp_path / "half")
    assert half.iterations == 5
    learn(job, Budget(iterations=8), tmp_path / "half", resume=True)
    assert whole.iterations == 8
    assert (tmp_path / "whole" / "policy.nebel").read_bytes() == (tmp_path / "half" / "policy.nebel").read_bytes()
