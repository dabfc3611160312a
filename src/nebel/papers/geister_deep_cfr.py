"""Chen, Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep CFR: all of its results.

`nebel paper geister_deep_cfr` trains several networks of each kind, with and without the board before as part of what they see, by outcome
sampling without cut-offs, and lets them and the network that comes with nebel play against everybody.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import CHANCE, BaseGame
from nebel.core.registry import load
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.games.geister import ESCAPED
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
from nebel.learn.workers import Alone, hire
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import Result, play_pair
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
PUBLISHED = {"random-escape": "over 75 %", PURPLE: "about 33 %"}


class Scale(NamedTuple):
    """How much is computed."""

    runs: int  # of each kind
    seconds: float  # that each learns
    marks: int  # times that it is measured on the way
    settings: dict[str, Any]
    games: int  # of each pairing
    deep: int  # of those with opponents who look far ahead
    watched: int  # games whose endings are counted
    opponents: Sequence[str] = OPPONENTS
    far: Sequence[str] = DEEP
    workers: str = str(os.cpu_count() or 1)


NETWORK: dict[str, Any] = {"sampling": "outcome", "hidden": "128-128", "average_steps": 100, "batch": 1024}
FULL = Scale(6, 100.0, 5, {**NETWORK, "traversals": 1000}, 2000, 200, 400)
QUICK = Scale(2, 2.0, 2, {**NETWORK, "traversals": 50, "steps": 10, "average_steps": 10}, 60, 10, 10, workers="1")


class Task(NamedTuple):
    """One run."""

    kind: str
    seed: int
    scale: Scale


class Run(NamedTuple):
    """How it fared: seconds, and the share of games won against Random, at each mark; and the network in the end."""

    kind: str
    seed: int
    iterations: int
    curve: list[tuple[float, float]]
    policy: MadePolicy


def train(task: Task) -> Run:
    """A run from nothing, in this process."""
    scale, game = task.scale, in_rules(load(GAME))
    learner = DeepCfr(game, KINDS[task.kind], DeepCfrSettings(**scale.settings), task.seed, Alone())
    learner.prepare()
    spent, curve = 0.0, list[tuple[float, float]]()
    while len(curve) < scale.marks:
        begun = time.perf_counter()
        learner.iterate()
        spent += time.perf_counter() - begun
        if spent >= scale.seconds * (len(curve) + 1) / scale.marks:
            curve.append((spent, share(play_pair(game, PolicyAgent("network", learner.policy({})), RANDOM, scale.games, 1))))
    return Run(task.kind, task.seed, learner.iterations, curve, learner.policy({}))


RANDOM: Agent = PolicyAgent("random", Uniform())


def share(result: Result) -> float:
    """Of games won, a draw being half of one."""
    return (result.wins + result.draws / 2) / result.games


class Study:
    def __init__(self, terms: Terms, scale: Scale | None = None) -> None:
        self.terms = terms
        self.scale = scale or terms.choose(QUICK, FULL)
        self.runs = lru_cache(maxsize=None)(self._runs)

    def close(self) -> None:
        self.runs.cache_clear()

    def _runs(self) -> list[Run]:
        tasks = [Task(kind, self.terms.seed + k, self.scale) for k in range(self.scale.runs) for kind in KINDS]
        crew = hire(self.scale.workers)
        try:
            with self.terms.timed(f"{len(tasks)} runs of {self.scale.seconds:g} s"):
                return crew.map(train, tasks)
        finally:
            crew.close()

    def of(self, kind: str) -> list[Run]:
        return [run for run in self.runs() if run.kind == kind]


def interval(values: Sequence[float]) -> str:
    """Mean and half a 95 % interval over runs."""
    if len(values) == 1:
        return f"{values[0]:.1%} (one run)"
    return f"{np.mean(values):.1%} ±{1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5:.1%}"


def history(study: Study) -> Section:
    rows, series, data = [], dict[str, list[tuple[float, float]]](), []
    for kind in KINDS:
        runs = study.of(kind)
        ends = [run.curve[-1][1] for run in runs]
        seconds = np.mean([[at for at, _ in run.curve] for run in runs], axis=0)
        series[kind] = list(zip(seconds.tolist(), np.mean([[won for _, won in run.curve] for run in runs], axis=0).tolist(), strict=True))
        spread = f"{min(ends):.1%} to {max(ends):.1%}"
        rows.append((kind, str(len(runs)), f"{np.mean([run.iterations for run in runs]):.0f}", "over 75 %", interval(ends), spread))
        data += [{"kind": run.kind, "seed": run.seed, "iterations": run.iterations, "curve": run.curve} for run in runs]
    pairs = list(zip(*(study.of(kind) for kind in KINDS), strict=True))
    gap = [one.curve[-1][1] - other.curve[-1][1] for one, other in pairs]
    note = (
        f"After {study.scale.seconds:g} s of training each; {study.scale.games:,} games in both seats, draws half; mean with half a 95 % "
        f"interval over runs. Without history minus with it, run by run: {interval(gap)}. The paper has the runs without history above "
        "those with it."
    )
    drawn = lines("Games won against Random", series, Axis("seconds of training"), Axis("share", low=0.4, high=1.0))
    head = ("", "runs", "iterations", "paper", "ours", "spread over runs")
    parts: list[Table | Figure] = [Figure("Fig. 3", [("", drawn)]), Table("At the end", head, rows, note)]
    lead = "Outcome-sampling Deep CFR on the full board with a limit of 100 plies, who sees the board before, and who does not."
    return Section("Figs. 3 and 4: does history help?", lead, parts, {"runs": data})


def opponents(study: Study) -> Section:
    scale, game, rows, data = study.scale, load(GAME), [], list[dict[str, Any]]()
    players = {kind: [run.policy for run in study.of(kind)] for kind in KINDS}
    for name in (*scale.opponents, *scale.far):
        games, met = (scale.deep, 1) if name in scale.far else (scale.games, scale.runs)
        with study.terms.timed(f"against {name}"):
            shares = {
                kind: [share(play_pair(game, PolicyAgent(kind, policy), read(name), games, study.terms.seed)) for policy in policies[:met]]
                for kind, policies in players.items()
            }
            shipped = play_pair(load("geister"), read(SHIPPED), read(name), games, study.terms.seed)
        cells = [interval(found) for found in shares.values()]
        rows.append((name, PUBLISHED.get(name, "-"), *cells, f"{share(shipped):.1%}", f"{games:,}"))
        data.append({"opponent": name, "games": games, **shares, SHIPPED: share(shipped)})
    head = ("against", "paper", *KINDS, SHIPPED, "games each")
    worst = min(data, key=lambda row: row[SHIPPED])
    note = (
        f"Means over runs with half a 95 % interval. {SHIPPED} was learned by MMD-PPO and plays with a limit of 300 plies; the worst of "
        f"its opponents here is {worst['opponent']} ({worst[SHIPPED]:.1%})."
    )
    return Section("Fig. 5: opponents", "Games won in both seats, draws half.", [Table("Games won", head, rows, note)], {"pairs": data})


def escapes(study: Study) -> Section:
    scale, rows, data = study.scale, [], []
    one = study.of("without history")[0].policy
    players: list[tuple[str, str, Agent]] = [
        ("random", GAME, RANDOM), ("network without history", GAME, PolicyAgent("network", one)), (SHIPPED, "geister", read(SHIPPED)),
    ]  # fmt: skip
    for name, string, agent in players:
        game = load(string)
        with study.terms.timed(f"endings of {name}"):
            won, out = endings(game, agent, read(PURPLE), scale.watched, study.terms.seed)
        paper = "399 of 2000, 63 by escape" if name == "random" else "most wins by escape" if "network" in name else "-"
        rows.append((name, paper, f"{won} of {scale.watched:,}", f"{out} ({out / won:.0%})" if won else "0"))
        data.append({"player": name, "games": scale.watched, "won": won, "by escape": out})
    lead = "How games against Purple that looks one ply ahead are won."
    note = "Both seats. The paper's Purple is another program."
    table = Table("Wins against Purple-1", ("player", "paper", "won", "by escape"), rows, note)
    return Section("Fig. 6: wins by escape", lead, [table], {"players": data})


def endings(game: BaseGame, agent: Agent, other: Agent, games: int, seed: int) -> tuple[int, int]:
    """Of games in both seats: how many the agent won, and how many of them by escape."""
    luck, rng, won, out = random.Random(seed), generator(seed), 0, 0
    for each in (agent, other):
        each.join(game)
    for k in range(games):
        me, state = k % 2, game.start()
        while not state.over:
            state.push(_move(state, agent if state.turn == me else other, luck, rng))
        if (state.score() or 0.0) * (1 - 2 * me) > 0:
            won += 1
            out += int(state.position[0].how) == ESCAPED
    return won, out


def _move(state: State, agent: Agent, luck: random.Random, rng: Any) -> int:
    if state.turn == CHANCE:
        return luck.choices(state.options(), state.odds())[0]
    return agent.choose(state, rng)


PAPER = Paper(
    name="geister_deep_cfr",
    title="Geister by outcome-sampling Deep CFR, computed again",
    cite="Chen Chen, Tomoyuki Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep CFR.",
    intro=(
        "The paper learns Geister by Deep CFR with outcome sampling, whose values and weights it has to cut off. Here they are not: "
        "chances of the other player cancel. Several runs of each kind answer the paper's question, whether the board before helps."
    ),
    study=Study,
    sections={"history": history, "opponents": opponents, "escapes": escapes},
)
