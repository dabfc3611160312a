"""Chen, Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep CFR: all of its results.

`nebel paper geister_deep_cfr` trains several networks of each kind, with and without the board before as part of what they see, by Deep CFR
with outcome sampling and by MMD-PPO, and lets them and the network that comes with nebel play against everybody. It is learned again, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.games.geister import ESCAPED
from nebel.geister.endings import NAMES, NOBODY, watch_both
from nebel.learn.drive import LEARNERS, METHODS
from nebel.learn.presets import preset_of
from nebel.learn.workers import Alone, hire
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import play_pair
from nebel.papers.geister_deep_cfr_replica import NAME, PAPER_SIZE, replica
from nebel.papers.geister_deep_cfr_replica import QUICK as QUICK_REPLICA
from nebel.papers.geister_deep_cfr_replica import USUAL as USUAL_REPLICA
from nebel.papers.paper import Paper, Terms
from nebel.policy.table import MadePolicy, Uniform
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.search.target import in_rules

GAME = "geister(limit=100,assist=true)"
KINDS = {"without history": "clock", "with history": "clock-and-previous"}
OPPONENTS, DEEP = ("random-escape", "rush", "purple:1", "purple:2"), ("purple:4", "purple:6")
"""All networks meet the first; those who look far ahead meet one of each kind."""
SHIPPED = "shipped:geister"
PURPLE = "purple:1"
ITERATIONS = Axis("iterations")
PUBLISHED = {"random-escape": "over 75 %", PURPLE: "about 33 %"}


class Scale(NamedTuple):
    """How much is computed."""

    runs: int  # of each kind
    iterations: dict[str, int]  # that each learns, by method
    marks: int  # times that it is measured on the way
    settings: dict[str, dict[str, Any]]  # by method
    games: int  # of each pairing with Random on the way, and with the network that comes with nebel
    each: int  # of each run with each opponent, and with Purple-1 on the way
    deep: int  # of those with opponents who look far ahead
    again: int  # iterations of the network that comes with nebel
    opponents: Sequence[str] = OPPONENTS
    far: Sequence[str] = DEEP
    workers: str = str(os.cpu_count() or 1)


DEEP_CFR: dict[str, Any] = {
    "sampling": "outcome", "hidden": "128-128", "memory": "samples", "room": 1_000_000, "temper": 0.0, "traversals": 4000, "steps": 20,
    "average_steps": 60, "batch": 2048,
}  # fmt: skip
MMD_PPO: dict[str, Any] = {"hidden": "128-128", "magnet": 0.3, "mean": 0.98, "settling": 300.0}
USUAL = Scale(6, {"deep-cfr": 10, "mmd-ppo": 50}, 5, {"deep-cfr": DEEP_CFR, "mmd-ppo": MMD_PPO}, 2000, 500, 200, 621)
FULL = USUAL._replace(iterations={"deep-cfr": 200, "mmd-ppo": 1000}, marks=10)
QUICK = Scale(2, {"deep-cfr": 4, "mmd-ppo": 20}, 2, {
    "deep-cfr": {**DEEP_CFR, "room": 20_000, "traversals": 50, "steps": 10, "average_steps": 10},
    "mmd-ppo": {"hidden": "32-32", "critic": "32-32", "boards": 64},
}, 60, 60, 10, 2, workers="1")  # fmt: skip


class Task(NamedTuple):
    """One run."""

    method: str
    kind: str
    seed: int
    scale: Scale


class Met(NamedTuple):
    """Games against Purple-1 in both seats: shares won, drawn, and won by escape."""

    won: float
    drawn: float
    escaped: float

    @property
    def points(self) -> float:
        return self.won + self.drawn / 2

    @property
    def escapes(self) -> float:
        """Of wins, the share by escape."""
        return self.escaped / self.won if self.won else 0.0


class Mark(NamedTuple):
    """A network on the way: points against Random, draws half, and how it fares against Purple-1."""

    iterations: int
    seconds: float
    random: float
    purple: Met


class Run(NamedTuple):
    """How it fared, and the network in the end."""

    method: str
    kind: str
    seed: int
    curve: list[Mark]
    policy: MadePolicy


def train(task: Task) -> Run:
    """A run from nothing, in this process."""
    scale, game = task.scale, in_rules(load(GAME))
    settings = METHODS[task.method](**scale.settings[task.method])
    learner = LEARNERS[task.method](game, KINDS[task.kind], settings, task.seed, Alone())
    learner.prepare()
    spent, curve = 0.0, list[Mark]()
    for k in range(scale.marks):
        begun = time.perf_counter()
        while learner.iterations < scale.iterations[task.method] * (k + 1) // scale.marks:
            learner.iterate()
        spent += time.perf_counter() - begun
        now = PolicyAgent("network", learner.policy({}))
        points = play_pair(game, now, RANDOM, scale.games, 1).points
        curve.append(Mark(learner.iterations, spent, points, meet_purple(game, now, scale.each, 1)))
    return Run(task.method, task.kind, task.seed, curve, learner.policy({}))


RANDOM: Agent = PolicyAgent("random", Uniform())


def meet_purple(game: BaseGame, ours: Agent, games: int, seed: int) -> Met:
    seats = watch_both(game, ours, read(PURPLE), games // 2, seed)
    each = [(seen.won(p), seen.won(NOBODY), seen.won_by(p)[NAMES[ESCAPED]]) for p, seen in enumerate(seats)]
    won, drawn, escaped = np.mean(each, axis=0).tolist()
    return Met(won, drawn, escaped)


class Study:
    def __init__(self, terms: Terms, scale: Scale | None = None) -> None:
        self.terms = terms
        self.scale = scale or terms.choose(QUICK, USUAL, FULL)
        self.runs = lru_cache(maxsize=None)(self._runs)

    def close(self) -> None:
        self.runs.cache_clear()

    def _runs(self) -> list[Run]:
        kinds = [(method, kind) for method in self.scale.settings for kind in KINDS]
        tasks = [Task(method, kind, self.terms.seed + k, self.scale) for k in range(self.scale.runs) for method, kind in kinds]
        crew = hire(self.scale.workers)
        try:
            with self.terms.timed(f"{len(tasks)} runs"):
                return crew.map(train, tasks)
        finally:
            crew.close()

    def of(self, method: str, kind: str) -> list[Run]:
        return [run for run in self.runs() if (run.method, run.kind) == (method, kind)]

    @property
    def players(self) -> dict[str, list[Run]]:
        return {f"{method} {kind}": self.of(method, kind) for method in self.scale.settings for kind in KINDS}


STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Half of a 95 % interval in standard errors, of 2, 3 ... 10 runs: of so few the spread is not known well."""


def interval(values: Sequence[float]) -> str:
    """Mean and half a 95 % interval over runs."""
    if len(values) == 1:
        return f"{values[0]:.1%} (one run)"
    return f"{np.mean(values):.1%} ±{STUDENT[len(values) - 2] * float(np.std(values, ddof=1)) / len(values) ** 0.5:.1%}"


def on_the_way(study: Study, figure: str, what: str, height: Callable[[Mark], float], low: float = 0.0) -> list[tuple[str, str]]:
    """Means over runs, by mark; a picture for each method."""
    drawn = []
    for method in study.scale.settings:
        series = {}
        for kind in KINDS:
            points = np.mean([[(mark.iterations, height(mark)) for mark in run.curve] for run in study.of(method, kind)], axis=0)
            series[kind] = [(at, share) for at, share in points.tolist()]
        drawn.append((f"{figure}: {what}, {method}", lines(figure, series, ITERATIONS, Axis("share", low=low, high=1.0))))
    return drawn


def spread_out(study: Study) -> list[tuple[str, str]]:
    """Run by run, without history."""
    kind, drawn = next(iter(KINDS)), []
    for method in study.scale.settings:
        series = {f"seed {run.seed}": [(mark.iterations, mark.random) for mark in run.curve] for run in study.of(method, kind)}
        drawn.append((f"Fig. 4: run by run, {method} {kind}", lines("Fig. 4", series, ITERATIONS, Axis("share", low=0.4, high=1.0))))
    return drawn


def history(study: Study) -> Section:
    rows, data = [], []
    for name, runs in study.players.items():
        ends, seconds = [run.curve[-1].random for run in runs], np.mean([run.curve[-1].seconds for run in runs])
        spread = f"{min(ends):.1%} to {max(ends):.1%}"
        rows.append((name, str(len(runs)), str(runs[0].curve[-1].iterations), f"{seconds:.0f} s", "over 75 %", interval(ends), spread))
        for run in runs:
            facts = {key: value for key, value in run._asdict().items() if key != "policy"}
            data.append({**facts, "curve": [{**mark._asdict(), "purple": mark.purple._asdict()} for mark in run.curve]})
    gaps = {}
    for method in study.scale.settings:
        pairs = list(zip(*(study.of(method, kind) for kind in KINDS), strict=True))
        gaps[method] = [interval([one.curve[k].random - other.curve[k].random for one, other in pairs]) for k in range(study.scale.marks)]
    note = f"{study.scale.games:,} games in both seats, draws half; mean with half a 95 % interval over runs."
    head = ("", "runs", "iterations", "time of a core", "paper", "ours", "spread over runs")
    answer = (
        "Without history minus with it, run by run, after the same iterations. Above 0 those who do not see the board before are better, "
        "which is what the paper has; below 0 those who do."
    )
    parts: list[Table | Figure] = [
        Figure(
            "Games won against Random", [*on_the_way(study, "Fig. 3", "means over runs", lambda mark: mark.random, 0.4), *spread_out(study)]
        ),
        Table("At the end", head, rows, note),
        Table(
            "Does the board before help?",
            ("learned by", *(f"after {(k + 1) / study.scale.marks:.0%}" for k in range(study.scale.marks))),
            [(method, *each) for method, each in gaps.items()],
            answer,
        ),
    ]
    lead = "Networks learn the full board with a limit of 100 plies; some see the board before, and some do not."
    return Section("Figs. 3 and 4: does history help?", lead, parts, {"runs": data, "gaps": gaps})


def opponents(study: Study) -> Section:
    scale, game, rows, data = study.scale, load(GAME), [], list[dict[str, Any]]()
    for name in (*scale.opponents, *scale.far):
        games, met = (scale.deep, 1) if name in scale.far else (scale.games, scale.runs)
        each = min(games, scale.each)
        with study.terms.timed(f"against {name}"):
            shares = {
                player: [play_pair(game, PolicyAgent(player, run.policy), read(name), each, study.terms.seed).points for run in runs[:met]]
                for player, runs in study.players.items()
            }
            shipped = play_pair(load("geister"), read(SHIPPED), read(name), games, study.terms.seed).points
        rows.append((name, PUBLISHED.get(name, "-"), *map(interval, shares.values()), f"{shipped:.1%}", f"{each:,}, {games:,}"))
        data.append({"opponent": name, "games": games, **shares, SHIPPED: shipped})
    head = ("against", "paper", *study.players, SHIPPED, "games of a run, of the last")
    worst = min(data, key=lambda row: row[SHIPPED])
    note = (
        f"Means over runs with half a 95 % interval. {SHIPPED} was learned by MMD-PPO and plays with a limit of 300 plies; the worst of "
        f"its opponents here is {worst['opponent']} ({worst[SHIPPED]:.1%})."
    )
    drawn = Figure("On the way", on_the_way(study, "Fig. 5", "games won against Purple-1, draws half", lambda mark: mark.purple.points))
    lead = "Games won in both seats, draws half."
    return Section("Fig. 5: opponents", lead, [drawn, Table("In the end", head, rows, note)], {"pairs": data})


RECIPE = "nebel learn geister --with mmd-ppo --preset geister --recall clock --seed 1 --iterations {} --out ghosts.nebel"


def learned_again(iterations: int, seed: int = 1) -> MadePolicy:
    """What the recipe gives."""
    settings = METHODS["mmd-ppo"](**preset_of("mmd-ppo", "geister"))
    learner = LEARNERS["mmd-ppo"](in_rules(load("geister")), "clock", settings, seed, Alone())
    learner.prepare()
    for _ in range(iterations):
        learner.iterate()
    return learner.policy({})


def shipped(study: Study) -> Section:
    scale, game, rows, data = study.scale, load("geister"), [], []
    with study.terms.timed(f"{scale.again} iterations"):
        again = PolicyAgent("learned again", learned_again(scale.again, study.terms.seed))
    for name in scale.opponents:
        one, other = (play_pair(game, agent, read(name), scale.games, study.terms.seed).points for agent in (again, read(SHIPPED)))
        rows.append((name, PUBLISHED.get(name, "-"), f"{one:.1%}", f"{other:.1%}"))
        data.append({"opponent": name, "games": scale.games, again.name: one, SHIPPED: other})
    lead = "A network learned by the recipe of the one that comes with nebel, with the seed of this report."
    note = f"{scale.games:,} games in both seats, draws half. {SHIPPED} was made by: {RECIPE.format(USUAL.again)}"
    table = Table("Games won", ("against", "paper", again.name, SHIPPED), rows, note)
    return Section(f"{SHIPPED}, learned again", lead, [table], {"iterations": scale.again, "pairs": data})


def escapes(study: Study) -> Section:
    scale, rows, data = study.scale, [], []
    for name, string, agent in (("random", GAME, RANDOM), (SHIPPED, "geister", read(SHIPPED))):
        with study.terms.timed(f"endings of {name}"):
            met = meet_purple(load(string), agent, scale.games, study.terms.seed)
        paper = "20.0 %, 15.8 % of them" if name == "random" else "-"
        rows.append((name, paper, f"{scale.games:,}", f"{met.won:.1%}", f"{met.escapes:.1%}"))
        data.append({"player": name, "games": scale.games, **met._asdict()})
    for name, runs in study.players.items():
        ends = [run.curve[-1].purple for run in runs]
        won, out = interval([met.won for met in ends]), interval([met.escapes for met in ends])
        rows.append((name, "most by escape", f"{scale.each:,} a run", won, out))
        data.append({"player": name, "games": scale.each, "runs": [met._asdict() for met in ends]})
    drawn = Figure("On the way", on_the_way(study, "Fig. 6", "of games won against Purple-1, by escape", lambda mark: mark.purple.escapes))
    lead = "How games against Purple that looks one ply ahead are won."
    note = "Both seats. The paper's Purple is another program: Random won 399 of 2,000 games against it, 63 by escape."
    table = Table("In the end", ("player", "paper", "games", "won", "of wins, by escape"), rows, note)
    return Section("Fig. 6: wins by escape", lead, [drawn, table], {"players": data})


def as_in_the_paper(study: Study) -> Section:
    return replica(study.terms, study.terms.choose(QUICK_REPLICA, USUAL_REPLICA, PAPER_SIZE))


PAPER = Paper(
    name=NAME,
    title="Geister by outcome-sampling Deep CFR, computed again",
    cite="Chen Chen, Tomoyuki Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep CFR.",
    intro=(
        "The paper learns Geister by Deep CFR with outcome sampling, whose values and weights it has to cut off. Here they are not: "
        "chances of the other player cancel, and all samples count alike. Several runs of each kind answer the paper's question, "
        "whether the board before helps, also of networks that learn by MMD-PPO, which are much stronger after the same time."
    ),
    study=Study,
    sections={"replica": as_in_the_paper, "history": history, "opponents": opponents, "escapes": escapes, "shipped": shipped},
)
