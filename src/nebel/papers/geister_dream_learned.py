"""Small variants of Geister learned by networks: games won against Random as in the paper's Table IV, and exact exploitability on the way.

By DREAM, as in the paper, and by MMD-PPO a network learns each variant with the paper's limit of 100 plies, and plays against Random; by
these and by VR-DeepDCFR+ others learn it with the largest limit at which the game can be enumerated, and are judged exactly.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.learn.drive import LEARNERS, METHODS, Yardstick
from nebel.learn.workers import Alone, hire
from nebel.match.agents import Agent, PolicyAgent
from nebel.match.arena import play_deals
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Uniform
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.search.target import in_rules

RECALL = "clock-and-previous"
LOSS = {"dream": "baseline_loss", "mmd-ppo": "critic_loss", "vr-deep-dcfr+": "baseline_loss"}


class Plan(NamedTuple):
    """How much is learned."""

    seconds: float  # for each network
    marks: int  # times that it is measured
    games: int  # against Random, in each seat
    settings: dict[str, dict[str, Any]]  # by method
    judged: dict[str, dict[str, Any]]  # of methods that learn only to be judged
    sharpen: float = 3.0  # against Random odds of moves are raised to this power
    workers: str = str(os.cpu_count() or 1)


USUAL = Plan(45.0, 6, 10_000, {
    "dream": {"hidden": "128-128", "traversals": 2000, "average_steps": 100},
    "mmd-ppo": {"hidden": "128-128", "magnet": 0.3, "mean": 0.98, "settling": 300.0},
}, {"vr-deep-dcfr+": {}})  # fmt: skip
FULL = USUAL._replace(seconds=900.0)
QUICK = Plan(1.0, 2, 200, {
    "dream": {"hidden": "32-32", "traversals": 100, "steps": 10, "baseline_steps": 10, "average_steps": 10},
    "mmd-ppo": {"hidden": "32-32", "critic": "32-32", "boards": 64},
}, {
    "vr-deep-dcfr+": {"hidden": "32-32", "traversals": 100, "steps": 10, "baseline_steps": 10, "average_steps": 10},
}, workers="1")  # fmt: skip


class Task(NamedTuple):
    method: str
    variant: str
    limit: int
    histories: int  # that the game may have if it is to be judged exactly; 0: it is not
    plan: Plan
    seed: int


class Learned(NamedTuple):
    """By mark: seconds, games won of 100 as first and as second player, exploitability (0 where it was not asked for), and the loss of the
    baseline or critic."""

    method: str
    variant: str
    limit: int
    iterations: int
    curve: list[tuple[float, float, float, float, float]]


def learn(task: Task) -> Learned:
    """One network from nothing, in this process."""
    game, plan = in_rules(load(f"geister:{task.variant}(limit={task.limit})")), task.plan
    learner = LEARNERS[task.method](game, RECALL, METHODS[task.method](**{**plan.settings, **plan.judged}[task.method]), task.seed, Alone())
    learner.prepare()
    yardstick = Yardstick(game, task.histories) if task.histories else None
    spent, curve = 0.0, list[tuple[float, float, float, float, float]]()
    while len(curve) < plan.marks:
        begun = time.perf_counter()
        learner.iterate()
        spent += time.perf_counter() - begun
        if spent >= plan.seconds * (len(curve) + 1) / plan.marks:
            policy = learner.policy({})
            lost = yardstick.measure(policy)["exploitability"] if yardstick else 0.0
            first, second = (0.0, 0.0) if yardstick else against_random(game, _sharp(policy, plan.sharpen), plan.games, task.seed)
            curve.append((spent, first, second, lost, learner.metrics[LOSS[task.method]]))
    return Learned(task.method, task.variant, task.limit, learner.iterations, curve)


def _sharp(policy: MadePolicy, power: float) -> Agent:
    assert isinstance(policy, NetPolicy)
    return PolicyAgent("network", policy.sharpened(power))


def against_random(game: BaseGame, ours: Agent, games: int, seed: int) -> tuple[float, float]:
    """Games won of 100, as first and as second player."""
    other: Agent = PolicyAgent("random", Uniform())
    first, second = (play_deals(game, seats, games, seed).scores for seats in ((ours, other), (other, ours)))
    return 100 * float(np.mean(first > 0)), 100 * float(np.mean(second < 0))


def learned(study: Any, published: dict[str, Any]) -> Section:
    """`study` is that of the paper: its terms, scale, and the largest limits."""
    plan, terms = study.terms.choose(QUICK, USUAL, FULL), study.terms
    variants = [variant for variant in study.scale.variants if published[variant]]
    limits = {variant: found[1] for variant in variants if (found := study.largest(variant))}
    methods = [*plan.settings, *plan.judged]
    tasks = [Task(method, variant, 100, 0, plan, terms.seed) for method in plan.settings for variant in variants]
    most = study.scale.histories
    tasks += [Task(method, variant, limit, most, plan, terms.seed) for method in methods for variant, limit in limits.items()]
    crew = hire(plan.workers)
    try:
        with terms.timed(f"{len(tasks)} networks of {plan.seconds:g} s"):
            found = crew.map(learn, tasks)
    finally:
        crew.close()
    played = {(each.method, each.variant): each for each in found if each.limit == 100}
    judged = {(each.method, each.variant): each for each in found if each.limit != 100}
    rows = []
    for variant in variants:
        paper = published[variant]
        for method in methods:
            first, second = played[method, variant].curve[-1][1:3] if method in plan.settings else (0.0, 0.0)
            won = f"{first:.1f} + {second:.1f} = {first + second:.1f}" if method in plan.settings else "-"
            exact = judged.get((method, variant))
            marks = [f"{exact.curve[k][3]:.3f}" for k in (0, len(exact.curve) // 2 - 1, -1)] if exact else ["-"] * 3
            rows.append((
                variant, f"{paper[0]:.1f} + {paper[1]:.1f} = {paper[0] + paper[1]:.1f}", method,
                won, str(exact.limit) if exact else "-", *marks,
            ))  # fmt: skip
    note = (
        f"{plan.seconds:g} s of training each, seed {terms.seed}; {plan.games:,} games in each seat after it, odds of moves raised to the "
        f"power of {plan.sharpen:g}. Exploitability, exact, after the first mark, half of the time, and all of it, is of another network, "
        "with odds as they were learned, that learned the variant with so many plies."
    )
    head = ("variant", "won of 200: paper", "method", "ours", "plies", "exploitability: first", "half", "end")
    pictures, seconds = [], Axis("seconds of training")
    for method in methods:
        lost = {variant: [(mark[0], mark[3]) for mark in each.curve] for (by, variant), each in judged.items() if by == method}
        pictures.append(
            (f"{method}: exploitability at the largest limit that can be enumerated", lines("Exploitability", lost, seconds, Axis("")))
        )
        if method in plan.judged:
            continue
        wins = {variant: [(mark[0], mark[1] + mark[2]) for mark in each.curve] for (by, variant), each in played.items() if by == method}
        loss = {variant: [(mark[0], mark[4]) for mark in each.curve] for (by, variant), each in played.items() if by == method}
        pictures += [
            (f"{method}: games won of 200 against Random at 100 plies (Fig. 9)", lines("Wins", wins, seconds, Axis(""))),
            (f"{method}: loss of the baseline or critic (Figs. 5 and 6)", lines("Loss", loss, seconds, Axis("", log=True))),
        ]
    data = {"played": [each._asdict() for each in played.values()], "judged": [each._asdict() for each in judged.values()]}
    lead = "Networks learn each variant; they see the board now and one ply before, what was captured, and the ply."
    return Section("Learned by networks", lead, [Table("Table IV", head, rows, note), Figure("On the way", pictures)], data)
