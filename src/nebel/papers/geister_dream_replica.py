"""Table IV and Figs. 5 to 14 of the paper on DREAM for variants of Geister by its own method: its settings, networks and evaluations."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from nebel.core.registry import load
from nebel.learn.presets import preset_of
from nebel.match.agents import PolicyAgent
from nebel.papers.geister_dream_learned import COLOUR_FIGURES, LOSS_FIGURES, SEATS, WAY_FIGURES, WINS_FIGURE, Seen, against_random
from nebel.papers.long_runs import Plan, Record, collect, metrics_of
from nebel.papers.paper import Terms
from nebel.policy.io import load_policy
from nebel.policy.nets import NetsPolicy
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.solve.run import Folder, Job

NAME = "geister_dream"
RECALL = "board-and-numbers"
FULL_BOARD = "x6y6g8b1"
"""Not in the paper, which wished for it."""
TABLE_IV: dict[str, tuple[tuple[float, float, float], ...]] = {
    "x2y3g2b0": ((62, 61.35, 6.33), (52, 52.27, 4.56), (113, 113.63, 7.45), (0.33, 0.33, 0.08)),
    "x3y3g2b0": ((61, 62.03, 4.64), (58, 57.80, 4.76), (119, 119.83, 6.90), (0.40, 0.39, 0.09)),
    "x3y3g3Rb0": ((69, 68.57, 4.71), (65, 64.79, 4.95), (134, 133.35, 7.78), (0.08, 0.09, 0.05)),
    "x3y3g3Bb0": ((66, 65.90, 4.88), (64, 64.00, 4.97), (130, 129.90, 7.14), (0.60, 0.60, 0.07)),
    "x2y4g2b0": ((62, 62.49, 5.30), (59, 58.98, 5.05), (122, 121.47, 7.18), (0.36, 0.36, 0.07)),
    "x4y2g2b1": ((63, 63.00, 5.14), (53, 53.41, 5.27), (116, 116.41, 7.43), (0.62, 0.63, 0.08)),
    "x4y3g2b1": ((66, 65.85, 5.53), (63, 62.89, 4.99), (128, 128.74, 8.10), (0.41, 0.41, 0.08)),
    "x4y3g4b0": ((77, 76.69, 5.00), (76, 75.76, 6.19), (153, 152.44, 9.08), (0.34, 0.34, 0.07)),
    "x4y4g2b1": ((65, 65.19, 5.48), (64, 64.51, 5.35), (131, 129.70, 8.01), (0.45, 0.44, 0.08)),
    "x4y4g4b0": ((73, 72.67, 5.55), (71, 70.34, 6.83), (145, 143.01, 10.16), (0.49, 0.49, 0.05)),
    "x4y4g4b1": ((66, 64.82, 6.97), (62, 61.99, 6.27), (129, 126.81, 10.25), (0.55, 0.55, 0.06)),
}
"""Of the paper, by variant: wins as Sente, as Gote and in all, and the share of first moves by a blue ghost; median, mean, deviation."""
COLUMNS = ("wins as Sente", "wins as Gote", "total wins", "blue first")
THEIRS = 2
"""Iterations of the paper, of one player each, in one of ours."""
LOSSES = ("baseline_loss_0", "baseline_loss_1")


class Size(NamedTuple):
    """How much is computed."""

    variants: Sequence[str]
    iterations: int
    every: int  # iterations from one evaluation to the next
    boards: int  # of an evaluation, each played in both seats
    late: int  # games in each seat at the end of training
    settings: dict[str, Any]  # in place of the preset's


PAPER_SIZE = Size((*TABLE_IV, FULL_BOARD), 500, 5, 100, 5000, {})
USUAL = Size(tuple(TABLE_IV)[:1], 10, 1, 100, 5000, {"traversals": 1000, "steps": 20, "baseline_steps": 10})
QUICK = Size(tuple(TABLE_IV)[:1], 2, 1, 20, 40, {
    "traversals": 20, "steps": 2, "baseline_steps": 2, "batch": 64, "room": 2_000, "baseline_room": 2_000,
})  # fmt: skip


def plans(size: Size, seed: int) -> list[Plan]:
    """Return the runs, one a variant."""
    made = []
    for variant in size.variants:
        settings = {**preset_of("dream", "geister"), **size.settings}
        made.append(
            Plan(f"{variant}-{seed}", Job(f"geister:{variant}(limit=100)", "dream", RECALL, seed, settings=settings), size.iterations)
        )
    return made


def first_networks(policy: NetsPolicy, count: int) -> NetsPolicy:
    """Return what DREAM played after so many iterations: one of its networks until then, later ones likelier."""
    one, two = (
        tuple(layer._replace(weights=layer.weights[:count], biases=layer.biases[:count]) for layer in side) for side in policy.layers
    )
    return replace(policy, layers=(one, two), weights=(policy.weights[0][:count], policy.weights[1][:count]))


def measured_by(size: Size) -> Any:
    """Return what measures a run: games against Random after every few iterations, as in the paper, and more of them at the end."""

    def measure(plan: Plan, run: Folder) -> dict[str, Any]:
        game, policy, rows = load(plan.job.game), load_policy(run.path / "policy.nebel"), metrics_of(run)
        assert isinstance(policy, NetsPolicy)
        evaluations = []
        for at in range(size.every, plan.iterations + 1, size.every):
            ours = PolicyAgent("dream", first_networks(policy, at))
            seen = against_random(game, ours, size.boards, plan.job.seed * 1_000_003 + at)
            losses = {name: rows[at][name] for name in LOSSES}
            evaluations.append({"iterations": at, "losses": losses, **seen._asdict()})
        late = against_random(game, PolicyAgent("dream", policy), size.late, plan.job.seed)
        return {"boards": size.boards, "evaluations": evaluations, "late": {"games": size.late, **late._asdict()}}

    return measure


def replica(terms: Terms, size: Size) -> Section:
    """The paper's table and figures from all runs that are there."""
    records = collect(terms, NAME, plans(size, terms.seed), measured_by(size))
    of = {variant: records[name] for variant in size.variants if (name := f"{variant}-{terms.seed}") in records}
    lead = (
        f"DREAM with the settings of the paper ({size.iterations * THEIRS:,} of its iterations): two advantage networks that play and two "
        f"baselines, the current board alone. After every {size.every * THEIRS} iterations {size.boards} random boards are played against "
        "Random in both seats. Missing runs are made by the same command."
    )
    parts: list[Table | Figure] = [_table(of, size)]
    if pictures := _pictures(of):
        parts.append(Figure("Figs. 5 to 14", pictures))
    data = {"runs": [record._asdict() for record in records.values()]}
    return Section("Table IV and Figs. 5 to 14 by the paper's own method", lead, parts, data)


def evaluations_of(record: Record) -> list[tuple[int, Seen]]:
    """Return what was seen at each evaluation, by iteration."""
    return [(row["iterations"], Seen(tuple(row["won"]), tuple(row["won_by"]), row["blue_first"])) for row in record.measured["evaluations"]]


def statistics_of(record: Record) -> tuple[tuple[float, float, float], ...]:
    """Return median, mean and deviation over all evaluations of the columns of Table IV."""
    seen = [seen for _, seen in evaluations_of(record)]
    columns = ([each.won_of_100[0] for each in seen], [each.won_of_100[1] for each in seen],
               [sum(each.won_of_100) for each in seen], [each.blue_first for each in seen])  # fmt: skip
    return tuple((statistics.median(column), statistics.fmean(column), statistics.pstdev(column)) for column in columns)


def _table(of: dict[str, Record], size: Size) -> Table:
    rows = []
    for variant in size.variants:
        paper = TABLE_IV.get(variant)
        ours = statistics_of(of[variant]) if variant in of else None
        rows.append((variant, "paper", *(["-"] * 4 if paper is None else _cells(paper)), "-", "-"))
        if ours is None:
            rows.append(("", "here", *["not run yet"] * 4, "-", "-"))
            continue
        late = of[variant].measured["late"]
        end = f"{100 * late['won'][0]:.1f} + {100 * late['won'][1]:.1f} = {100 * sum(late['won']):.1f}"
        rows.append(("", "here", *_cells(ours), end, f"{of[variant].hours:.2f} h"))
        if paper is not None:
            gaps = [f"{mine[1] - theirs[1]:+.2f}" for mine, theirs in zip(ours, paper, strict=True)]
            rows.append(("", "difference of means", *gaps, f"{100 * sum(late['won']) - paper[2][1]:+.1f}", "-"))
    head = ("variant", "", *COLUMNS, "wins at the end of training", "learning")
    note = (
        f"Median - mean (deviation) over all evaluations during training, of {size.boards} games in each seat, unsharpened, as in the "
        f"paper. At the end of training {size.late:,} games in each seat."
    )
    return Table("Table IV", head, rows, note)


def _cells(columns: Sequence[tuple[float, float, float]]) -> list[str]:
    wins, blue = columns[:3], columns[3]
    return [f"{a:.0f} - {b:.2f} ({c:.2f})" for a, b, c in wins] + ["{:.2f} - {:.2f} ({:.2f})".format(*blue)]


def _pictures(of: dict[str, Record]) -> list[tuple[str, str]]:
    drawn, axis = list[tuple[str, str]](), Axis("iterations of the paper")
    share, of_100 = Axis("share", low=0.0, high=1.0), Axis("of 100", low=0.0, high=100.0)

    def draw(caption: str, series: dict[str, list[tuple[float, float]]], height: Axis) -> None:
        if series:
            drawn.append((caption, lines(caption.partition(":")[0], series, axis, height)))

    for caption, variants in LOSS_FIGURES.items():
        series = {
            f"{v} ({SEATS[p]})": [(float(THEIRS * row["iterations"]), row["losses"][name]) for row in of[v].measured["evaluations"]]
            for v in variants
            if v in of
            for p, name in enumerate(LOSSES)
        }
        draw(caption, series, Axis("", log=True))
    seen = {v: [(float(THEIRS * at), each) for at, each in evaluations_of(record)] for v, record in of.items()}
    for figure, v in COLOUR_FIGURES.items():
        blue = [(at, each.blue_first) for at, each in seen.get(v, [])]
        draw(
            f"{figure}: colour of Sente's first move in {v}", {"blue": blue, "red": [(at, 1 - x) for at, x in blue]} if blue else {}, share
        )
    wins = {seat: [(at, each.won_of_100[p]) for at, each in seen[WINS_FIGURE]] for p, seat in enumerate(SEATS) if WINS_FIGURE in seen}
    draw(f"Fig. 9: games won against Random in {WINS_FIGURE}", wins, of_100)
    for figure, (v, p) in WAY_FIGURES.items():
        ways = {name: [(at, 100 * each.won_by[p][name]) for at, each in seen[v]] for name in seen[v][0][1].won_by[p]} if v in seen else {}
        draw(f"{figure}: how games are won as {SEATS[p]} in {v}", ways, of_100)
    return drawn
