"""Curriculum against learning from nothing, by exact exploitability at equal cost, which the Cheat paper did not have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from nebel.core.recall import PERFECT
from nebel.papers.cheat_kept import kept
from nebel.papers.cheat_study import AGENTS, BY_PAPER, ITERATIONS, Study, over
from nebel.policy.table import Longs
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.solve.cfr import FullWidth
from nebel.solve.heritage import Heritage, left_by, lifted, origins
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling

ALL = {**AGENTS, "Perfect recall": PERFECT}
STOPS = (5, 10, 20, 50, 100, 200, 500, 1000)

Curve = list[tuple[float, float]]
"""Histories met, all games together, and exploitability in the last."""


class Way(NamedTuple):
    """How an agent comes to the last game: through the smaller ones, or not; what it takes along, and how iterations are weighted."""

    name: str
    through: bool = True
    regrets: float = 1.0
    average: float = 1.0
    weights: str = "discounted"
    before: int = ITERATIONS  # iterations in each smaller game
    aged: bool = True  # whether weights go on from those iterations, or begin anew
    deals: int = 2  # of an iteration
    average_first: bool = False  # whether the carried average is the first strategy


SCRATCH, CARRIED, REGRETS = Way("from nothing", through=False), Way("carried on"), Way("regrets, no average", average=0)
SHOWN = (SCRATCH, CARRIED, REGRETS)
WAYS = (
    *SHOWN,
    Way("carried on, weights begin anew", aged=False),
    Way("a tenth of the regrets", regrets=0.1),
    Way("a tenth of the regrets, no average", regrets=0.1, average=0),
    Way("average, no regrets", regrets=0),
    Way("1,000 iterations in each smaller game", before=1000),
    Way("from nothing, plain weights", through=False, weights="plain"),
    Way("carried on, plain weights", weights="plain"),
    Way("regrets, no average, plain weights", average=0, weights="plain"),
)

PAPERS = (
    Way(f"from nothing, {BY_PAPER}", through=False, weights="plain", deals=1),
    Way(f"carried on, {BY_PAPER}", average=0, weights="plain", deals=1, average_first=True),
)
"""Plain weights, one deal an iteration; regrets are carried, and the first strategy is the carried average."""


def ways_of(study: Study) -> tuple[Way, ...]:
    return (*PAPERS, *WAYS) if study.scale.by_paper else WAYS


class Ladder:
    """Chance-sampled CFR on whole games of up to so many health points, judged exactly."""

    def __init__(self, study: Study, recall: str) -> None:
        self.study, self.recall = study, recall
        self._steps: dict[int, list[Longs]] = {}

    def climb(self, top: int, way: Way, seed: int, stops: Sequence[int]) -> Curve:
        """Exploitability in Cheat-top at these iterations, and at the start if anything was brought along."""
        heritage, nodes = None, 0
        for hp in range(1 if way.through else top, top + 1):
            tree = self.study.tree(hp, self.recall)
            solver = Sampled(tree.game, self.recall, tree, ChanceSampling(weights=way.weights, deals=way.deals), seed, 0)
            if heritage:
                solver.inherit(self._lift(heritage, hp))
            if hp < top:
                solver.run(way.before)
                nodes += solver.nodes
                heritage = left_by(solver, tree.game, self.recall)
                heritage = heritage.average_first() if way.average_first else heritage
                heritage = heritage.scaled(way.regrets, way.average)
                heritage = heritage if way.aged else heritage._replace(ages=(0, 0))
        judge = self.study.judge(f"cheat:{top}", self.recall)
        curve = [(float(nodes), judge.verdict(solver.strategies()).exploitability)] if way.through and way.average else []
        for stop in stops:
            solver.run(stop - solver.iterations)
            curve.append((float(nodes + solver.nodes), judge.verdict(solver.strategies()).exploitability))
        return curve

    def _lift(self, heritage: Heritage, hp: int) -> Heritage:
        """What was learned in the game with one point less as rows of Cheat-hp. Where each comes from is looked up once."""
        tree = self.study.tree(hp, self.recall)
        if hp not in self._steps:
            self._steps[hp] = origins(heritage, tree)
        first, second = (lifted(held, source, side) for side, held, source in zip(tree.sides, heritage.held, self._steps[hp], strict=True))
        return heritage._replace(game=tree.game, held=(first, second))


def mean_curve(ladder: Ladder, top: int, way: Way, stops: Sequence[int]) -> Curve:
    runs = [_kept_curve(ladder, top, way, seed, stops) for seed in ladder.study.seeds]
    return [(float(np.mean([p[0] for p in points])), float(np.mean([p[1] for p in points]))) for points in zip(*runs, strict=True)]


def _kept_curve(ladder: Ladder, top: int, way: Way, seed: int, stops: Sequence[int]) -> Curve:
    name = f"Cheat-{top}, {ladder.recall}, {way}, judged at {list(stops)}, seed {seed}"
    held = kept(ladder.study.terms.runs, name, lambda: ladder.climb(top, way, seed, stops))
    return [(cost, gap) for cost, gap in held]


def curriculum(study: Study) -> Section:
    parts: list[Table | Figure] = []
    data: dict[str, Any] = {}
    verdicts = []
    for top in study.scale.tops:
        more, found = _judged(study, top)
        parts += more
        data[f"Cheat-{top}"] = found
        verdicts.append(_verdict(top, found))
    lead = "The question of Fig. 3 in games that can be judged exactly, at equal cost in histories met. " + " ".join(verdicts)
    return Section("Curriculum, judged exactly", lead, parts, data)


def _judged(study: Study, top: int) -> tuple[list[Table | Figure], dict[str, Any]]:
    """Exploitability over cost, and what becomes of it if other things are carried."""
    stops = [stop for stop in STOPS if stop <= study.scale.longest]
    parts: list[Table | Figure] = []
    rows: list[tuple[str, ...]] = []
    found: dict[str, Any] = {}
    with ThreadPoolExecutor(2) as pool:
        climbed = list(pool.map(lambda recall: _climbed(study, top, recall, stops), ALL.values()))
    for name, (curves, _) in zip(ALL, climbed, strict=True):
        least = 10.0 ** math.floor(math.log10(min(gap for curve in curves.values() for _, gap in curve)))
        axes = Axis("histories met, all games together", log=True), Axis("exploitability", log=True, low=least, high=1.0)
        parts.append(Figure(f"{name} in Cheat-{top}: exploitability over cost", [("", lines(name, curves, *axes))]))
        fresh = curves[SCRATCH.name]
        costs = [cost for cost, _ in fresh if cost >= curves[CARRIED.name][0][0]]
        equal = [(cost, *(at_cost(curve, cost) for curve in curves.values())) for cost in costs]
        rows += [
            (name, f"{cost:,.0f}", f"{base:.4f}", *(text for gap in others for text in _beside(gap, base))) for cost, base, *others in equal
        ]
        found[name] = {"curves": curves, "at_equal_cost": equal}
    note = (
        f"{over(study)}. What the curriculum spends in smaller games, {ITERATIONS} iterations in each, is counted; "
        "between its points exploitability is interpolated. A ratio below 1: the curriculum is better at the same cost."
    )
    head = ("agent", "histories met", SCRATCH.name, CARRIED.name, "ratio", REGRETS.name, "ratio")
    parts.append(Table(f"Exploitability in Cheat-{top} at equal cost", head, rows, note))
    parts.append(
        Table(
            f"What is carried: exploitability in Cheat-{top} after {ITERATIONS} iterations there",
            ("way", *ALL),
            [(way.name, *(f"{ends[i]:.4f}" for _, ends in climbed)) for i, way in enumerate(ways_of(study))],
            "Discounted weights (every 5 iterations, as DCFR) unless it says plain. They go on where the smaller game left off; if they "
            "begin anew, the first few discounts forget most of what was carried.",
        )
    )
    found["ways"] = {
        way.name: {name: ends[i] for name, (_, ends) in zip(ALL, climbed, strict=True)} for i, way in enumerate(ways_of(study))
    }
    return parts, found


def _climbed(study: Study, top: int, recall: str, stops: Sequence[int]) -> tuple[dict[str, Curve], list[float]]:
    """Curves of the ways that are shown, and every way after 100 iterations."""
    ladder = Ladder(study, recall)
    with study.terms.timed(f"{recall}: curriculum against nothing in Cheat-{top}"):
        curves = {way.name: mean_curve(ladder, top, way, stops) for way in SHOWN}
        return curves, [mean_curve(ladder, top, way, [ITERATIONS])[-1][1] for way in ways_of(study)]


def _beside(gap: float | None, base: float | None) -> tuple[str, str]:
    return (f"{gap:.4f}", f"{gap / base:.2f}") if gap and base else ("-", "-")


def at_cost(curve: Curve, cost: float) -> float | None:
    """Exploitability at a cost between two points, straight on logarithmic axes; None before the first point."""
    if cost < curve[0][0]:
        return None
    costs, values = np.log(np.array(curve)).T
    return float(np.exp(np.interp(np.log(cost), costs, values)))


def _verdict(top: int, found: dict[str, Any]) -> str:
    """By how much, in sentences."""
    told = []
    for place, what in ((2, "everything is carried"), (3, "only the regrets are")):
        ratios = [[line[place] / line[1] for line in found[name]["at_equal_cost"] if line[place]] for name in ALL]
        early, late = ([line[at] for line in ratios] for at in (0, -1))
        spans = [f"{min(span):.2f} to {max(span):.2f}" for span in (early, late)]
        told.append(f"{spans[0]} times at the lowest cost and {spans[1]} times at the highest if {what}")
    return f"In Cheat-{top} exploitability with the curriculum is, by agent, a multiple of that without it: {', '.join(told)}."


def exact(study: Study) -> Section:
    """How far each agent is from unbeatable, and how far its memory lets it come."""
    rows, data = [], {}
    for hp in range(1, study.scale.exact + 1):
        for name, recall in ALL.items():
            with study.terms.timed(f"{name} in Cheat-{hp}"):
                sampled = mean_curve(Ladder(study, recall), hp, SCRATCH, [ITERATIONS])[-1][1]
                tree = study.tree(hp, recall)
                solver = FullWidth(tree, "cfr+", 1)
                solver.run(study.scale.limit)
                limit = study.judge(f"cheat:{hp}", recall).verdict(solver.strategies()).exploitability
            sets = tree.information_states()[0]
            rows.append((f"Cheat-{hp}", name, f"{sets:,}", f"{sampled:.4f}", f"{limit:.6f}"))
            data[f"{name}-{hp}"] = {"information_sets": sets, "chance_sampled": sampled, "cfr+": limit}
    note = (
        f"{over(study)}: {ITERATIONS} iterations of chance-sampled CFR, and {study.scale.limit} iterations of "
        "full-width CFR+, which shows what the agent's memory allows: as good a strategy exists. Sets of perfect recall are player 0's."
    )
    head = ("game", "agent", "information sets", f"after {ITERATIONS} iterations", f"CFR+, {study.scale.limit}")
    lead = (
        "What an opponent who remembers everything wins from each agent at most. By games won against bots Memoryless is the best agent; "
        "this tells how much of that is fast learning and how much memory. Full-width CFR+ comes about as low with each, so forgetting "
        "costs nothing that shows here: whoever has fewer information sets only learns faster from few deals."
    )
    return Section("Exact exploitability", lead, [Table("In the full game", head, rows, note)], data)
