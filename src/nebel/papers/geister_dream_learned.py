"""Small variants of Geister learned by networks: Table IV and Figs. 5 to 14 of the paper, and exact exploitability on the way.

By DREAM, as in the paper, and by MMD-PPO a network learns each variant with the paper's limit of 100 plies, and plays against Random; by
these and by VR-DeepDCFR+ others learn it with the largest limit at which the game can be enumerated, and are judged exactly.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.geister.endings import NAMES, watch_both
from nebel.learn.drive import LEARNERS, METHODS, Yardstick
from nebel.learn.workers import Alone, hire
from nebel.match.agents import Agent, PolicyAgent
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Uniform
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.search.target import in_rules

RECALL = "clock-and-previous"
SEATS = ("Sente", "Gote")
LOSSES = {"baseline_loss_0": " (Sente)", "baseline_loss_1": " (Gote)", "critic_loss": ""}
"""What networks that guess values miss, by name among the metrics; a critic has but one."""


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


class Seen(NamedTuple):
    """Games against Random: shares won as first and as second player, in all and by how, and of first moves of a blue ghost."""

    won: tuple[float, float]
    won_by: tuple[dict[str, float], dict[str, float]]
    blue_first: float

    @property
    def won_of_100(self) -> tuple[float, float]:
        return 100 * self.won[0], 100 * self.won[1]


class Mark(NamedTuple):
    """A network on the way: how it fares against Random, or what it loses to somebody who knows it."""

    seconds: float
    seen: Seen | None
    exploitability: float | None
    losses: dict[str, float]


class Learned(NamedTuple):
    method: str
    variant: str
    limit: int
    iterations: int
    curve: list[Mark]

    @property
    def seen(self) -> list[tuple[float, Seen]]:
        """By seconds."""
        return [(mark.seconds, mark.seen) for mark in self.curve if mark.seen]

    def as_json(self) -> dict[str, Any]:
        curve = [{**mark._asdict(), "seen": mark.seen and mark.seen._asdict()} for mark in self.curve]
        return {**self._asdict(), "curve": curve}


def learn(task: Task) -> Learned:
    """One network from nothing, in this process."""
    game, plan = in_rules(load(f"geister:{task.variant}(limit={task.limit})")), task.plan
    learner = LEARNERS[task.method](game, RECALL, METHODS[task.method](**{**plan.settings, **plan.judged}[task.method]), task.seed, Alone())
    learner.prepare()
    yardstick = Yardstick(game, task.histories) if task.histories else None
    spent, curve = 0.0, list[Mark]()
    while len(curve) < plan.marks:
        begun = time.perf_counter()
        learner.iterate()
        spent += time.perf_counter() - begun
        if spent >= plan.seconds * (len(curve) + 1) / plan.marks:
            policy = learner.policy({})
            lost = yardstick.measure(policy)["exploitability"] if yardstick else None
            seen = None if yardstick else against_random(game, _sharp(policy, plan.sharpen), plan.games, task.seed)
            curve.append(Mark(spent, seen, lost, {name: learner.metrics[name] for name in LOSSES if name in learner.metrics}))
    return Learned(task.method, task.variant, task.limit, learner.iterations, curve)


def _sharp(policy: MadePolicy, power: float) -> Agent:
    assert isinstance(policy, NetPolicy)
    return PolicyAgent("network", policy.sharpened(power))


def against_random(game: BaseGame, ours: Agent, games: int, seed: int) -> Seen:
    """With so many games in each seat."""
    first, second = watch_both(game, ours, PolicyAgent("random", Uniform()), games, seed)
    return Seen((first.won(0), second.won(1)), (first.won_by(0), second.won_by(1)), first.blue_first())


def learned(study: Any, published: dict[str, Any]) -> Section:
    """`study` is that of the paper: its terms and scale, and variants with the largest limits."""
    plan, terms = study.terms.choose(QUICK, USUAL, FULL), study.terms
    variants = [variant for variant in study.scale.variants if published[variant]]
    solved = {variant: found for variant in variants if (found := study.solve(variant))}
    methods = [*plan.settings, *plan.judged]
    tasks = [Task(method, variant, 100, 0, plan, terms.seed) for method in plan.settings for variant in variants]
    most = study.scale.histories
    tasks += [Task(method, variant, known.limit, most, plan, terms.seed) for method in methods for variant, known in solved.items()]
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
            won, blue = _end(played[method, variant]) if method in plan.settings else ("-", "-")
            if variant in solved:
                curve = judged[method, variant].curve
                lost = [f"{curve[k].exploitability:.3f}" for k in (0, len(curve) // 2 - 1, -1)]
                exact = [str(solved[variant].limit), f"{solved[variant].verdict.value:+z.4f}", *lost]
            else:
                exact = ["-"] * 5
            rows.append((
                variant, f"{paper[0]:.1f} + {paper[1]:.1f} = {paper[0] + paper[1]:.1f}", method, won, f"{100 * paper[2]:.0f} %", blue,
                *exact,
            ))  # fmt: skip
    note = (
        f"{plan.seconds:g} s of training each, seed {terms.seed}; {plan.games:,} games in each seat after it, odds of moves raised to the "
        f"power of {plan.sharpen:g}. Exploitability, exact, after the first mark, half of the time, and all of it, is of another network, "
        "with odds as they were learned, that learned the variant with so many plies; the value is that of the same game."
    )
    head = (
        "variant", "won of 200: paper", "method", "ours", "blue first: paper", "ours", "plies", "value",
        "exploitability: first", "half", "end",
    )  # fmt: skip
    parts: list[Table | Figure] = [Table("Table IV", head, rows, note)]
    for method in methods:
        knowns, runs = ({variant: each for (by, variant), each in of.items() if by == method} for of in (judged, played))
        falls = {variant: [(mark.seconds, mark.exploitability or 0.0) for mark in each.curve] for variant, each in knowns.items()}
        first = ("Exploitability at the largest limit that can be enumerated", lines("Exploitability", falls, SECONDS, Axis("")))
        parts.append(Figure(f"{method}: on the way", [first, *pictures(runs)]))
    data = {"played": [each.as_json() for each in played.values()], "judged": [each.as_json() for each in judged.values()]}
    lead = "Networks learn each variant; they see the board now and one ply before, what was captured, and the ply."
    return Section("Learned by networks", lead, parts, data)


def _end(run: Learned) -> tuple[str, str]:
    _, seen = run.seen[-1]
    first, second = seen.won_of_100
    return f"{first:.1f} + {second:.1f} = {first + second:.1f}", f"{100 * seen.blue_first:.0f} %"


SECONDS = Axis("seconds of training")
SHARE, OF_100, OF_200, LOSS = Axis("share", low=0.0, high=1.0), Axis("of 100", low=0.0, high=100.0), Axis("of 200"), Axis("", log=True)
LOSS_FIGURES = {
    "Fig. 5: loss of the baseline or critic, two ghosts": ("x2y3g2b0", "x2y4g2b0", "x4y3g2b1", "x4y4g2b1"),
    "Fig. 6: the same, two and four ghosts": ("x4y3g2b1", "x4y3g4b0"),
}
COLOUR_FIGURES = {"Fig. 7": "x2y3g2b0", "Fig. 8": "x4y4g4b0"}
WINS_FIGURE = "x2y3g2b0"
WAY_FIGURES = {
    "Fig. 10": ("x2y3g2b0", 0), "Fig. 11": ("x2y3g2b0", 1), "Fig. 12": ("x4y3g4b0", 0), "Fig. 13": ("x3y3g3Rb0", 0),
    "Fig. 14": ("x3y3g3Bb0", 0),
}  # fmt: skip
"""By figure: variant, and seat of the network."""


def pictures(runs: dict[str, Learned]) -> list[tuple[str, str]]:
    """Games won of all variants, and the paper's figures, as far as their variants are among the runs."""
    drawn = list[tuple[str, str]]()

    def draw(caption: str, series: dict[str, list[tuple[float, float]]], axis: Axis) -> None:
        if series:
            drawn.append((caption, lines(caption.partition(":")[0], series, SECONDS, axis)))

    draw("Games won against Random", {v: [(at, sum(seen.won_of_100)) for at, seen in run.seen] for v, run in runs.items()}, OF_200)
    for caption, variants in LOSS_FIGURES.items():
        each = [(v, name, seat) for v in variants if v in runs for name, seat in LOSSES.items() if name in runs[v].curve[0].losses]
        draw(caption, {v + seat: [(mark.seconds, mark.losses[name]) for mark in runs[v].curve] for v, name, seat in each}, LOSS)
    for figure, v in COLOUR_FIGURES.items():
        shares = [(at, seen.blue_first) for at, seen in runs[v].seen] if v in runs else []
        both = {"blue": shares, "red": [(at, 1 - blue) for at, blue in shares]} if shares else {}
        draw(f"{figure}: colour of the ghost that Sente moves first in {v}", both, SHARE)
    if WINS_FIGURE in runs:
        seen_there = runs[WINS_FIGURE].seen
        wins = {seat: [(at, seen.won_of_100[p]) for at, seen in seen_there] for p, seat in enumerate(SEATS)}
        draw(f"Fig. 9: games won against Random in {WINS_FIGURE}", wins, OF_100)
    for figure, (v, p) in WAY_FIGURES.items():
        ways = {name: [(at, 100 * seen.won_by[p][name]) for at, seen in runs[v].seen] for name in NAMES.values()} if v in runs else {}
        draw(f"{figure}: how games are won as {SEATS[p]} in {v}", ways, OF_100)
    return drawn
