"""The figure and the tables of the paper on ExIt-OOS by its own method: its settings, its iterations, its games."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from nebel.core.registry import load
from nebel.learn.presets import preset_of
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import Arena, Result
from nebel.match.arena import Terms as Match
from nebel.match.rating import rate
from nebel.papers.long_runs import Plan, Record, collect, metrics_of
from nebel.papers.paper import Terms
from nebel.policy.io import load_policy
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.solve.run import Folder, Job

NAME = "exit_oos"
LEDUC, SMALL, LARGE = "leduc(suits=false)", "goofspiel:6", "goofspiel:13"
PRESETS = {LEDUC: "paper-leduc", SMALL: "paper-goofspiel-6", LARGE: "paper-goofspiel-13"}
"""The presets of exit-oos for the paper's games; its Leduc has 288 information states, so suits are not seen."""
PUBLISHED = {
    SMALL: {100: (66, 30), 200: (63, 34), 1000: (69, 26), 2000: (68, 27), 2500: (67, 25)},
    LARGE: {100: (61, 40), 200: (69, 44), 500: (74, 53)},
}
"""By iterations: percent won against Random and against OOS(10k)."""
PUBLISHED_ELO = {"network after 100": "1500 (fixed)", "network after 200": "1531", "network after 500": "1600", "oos:10k": "1572"}
TITLES = {SMALL: "Table 1: II Goofspiel(6)", LARGE: "Table 2: II Goofspiel(13)"}


class Size(NamedTuple):
    """How much is computed."""

    searches: Sequence[int]  # simulations of a move in Leduc
    leduc: int  # iterations there
    marks: dict[str, Sequence[int]]  # iterations at which networks of Goofspiel are measured, by game; the last ends the run
    every: int  # iterations from one kept network to the next
    games: int  # of each of these networks with Random and with OOS
    rated: int  # of each pair of the table of ratings
    rival: str  # OOS as it is met
    settings: dict[str, Any]  # in place of the presets'
    workers: str = str(os.cpu_count() or 1)


PAPER_SIZE = Size((5_000, 10_000, 100_000), 200, {game: tuple(ages) for game, ages in PUBLISHED.items()}, 100, 5000, 5000, "oos:10k", {})
USUAL = Size((5_000,), 5, {SMALL: (5, 10), LARGE: (1, 2)}, 1, 500, 50, "oos:10k", {})
QUICK = Size((5, 10), 2, {SMALL: (1, 2), LARGE: (1,)}, 1, 10, 2, "oos:20", {"games": 2, "steps": 2}, "1")


def plans(size: Size, seed: int) -> list[Plan]:
    """Return the runs, those of Leduc first."""
    made = []
    for simulations in size.searches:
        settings = {**preset_of("exit-oos", PRESETS[LEDUC]), "simulations": simulations, **size.settings}
        job = Job(LEDUC, "exit-oos", "perfect", seed, settings=settings)
        made.append(Plan(f"leduc-{simulations}-{seed}", job, size.leduc, workers=size.workers))
    for game, ages in size.marks.items():
        settings = {**preset_of("exit-oos", PRESETS[game]), **size.settings}
        if size is QUICK:
            settings["simulations"] = size.searches[0]
        job = Job(game, "exit-oos", "perfect", seed, settings=settings)
        made.append(Plan(f"{game.replace(':', '-')}-{seed}", job, ages[-1], size.every, size.workers))
    return made


def measured_by(size: Size) -> Any:
    """Return what measures a run: exploitability on the way in Leduc, games of networks of several ages in Goofspiel."""

    def measure(plan: Plan, run: Folder) -> dict[str, Any]:
        if plan.job.game == LEDUC:
            rows = metrics_of(run)
            return {"curve": [[at, row["exploitability"]] for at, row in rows.items() if "exploitability" in row]}
        arena, seed, ages = Arena(load(plan.job.game)), plan.job.seed, size.marks[plan.job.game]
        networks = [PolicyAgent(f"network after {at}", load_policy(run.kept(at))) for at in ages]
        rivals = [read("random"), read(size.rival)]
        ages_met = [
            {"iterations": at, **{rival.name: arena.play(network, rival, Match(size.games, seed)).as_json() for rival in rivals}}
            for at, network in zip(ages, networks, strict=True)
        ]
        return {"ages": ages_met, "pairs": _round_robin(arena, [*networks, rivals[1]], size.rated, seed) if plan.job.game == LARGE else []}

    return measure


def _round_robin(arena: Arena, agents: Sequence[Agent], games: int, seed: int) -> list[dict[str, Any]]:
    return [arena.play(one, other, Match(games, seed)).as_json() for one, other in combinations(agents, 2)]


def result_of(row: dict[str, Any]) -> Result:
    """Return a result as it was before it was written as JSON."""
    return Result(**{**row, "interval": row["interval"] and tuple(row["interval"]), "unknown": tuple(row["unknown"]),
                     "seconds": tuple(row["seconds"])})  # fmt: skip


def replica(terms: Terms, size: Size) -> Section:
    """The paper's figure and tables from all runs that are there."""
    records = collect(terms, NAME, plans(size, terms.seed), measured_by(size))
    leduc = {f"{n:,} simulations": records[name] for n in size.searches if (name := f"leduc-{n}-{terms.seed}") in records}
    parts: list[Table | Figure] = [_leduc(leduc, size)]
    if leduc:
        curves = {name: [(float(at), lost) for at, lost in record.measured["curve"]] for name, record in leduc.items()}
        drawn = lines("Fig. 1", curves, Axis("iterations", log=True), Axis("exploitability", log=True))
        parts.append(Figure("Fig. 1: exploitability in Leduc poker", [("", drawn)]))
    for game in size.marks:
        record = records.get(f"{game.replace(':', '-')}-{terms.seed}")
        parts.append(_won(game, record, size))
        if record and record.measured["pairs"]:
            parts.append(_rated(record, size))
    lead = (
        "ExIt-OOS with the settings of the paper. Leduc poker has 288 information states; simulations are led to what all know there, and "
        "to what the searcher knows in Goofspiel. Missing runs are made by the same command."
    )
    data = {"runs": [record._asdict() for record in records.values()]}
    return Section("Fig. 1 and Tables 1 to 3 by the paper's own method", lead, parts, data)


def _leduc(leduc: dict[str, Record], size: Size) -> Table:
    rows = []
    for simulations in size.searches:
        name = f"{simulations:,} simulations"
        if record := leduc.get(name):
            curve = dict(record.measured["curve"])
            least = min(curve.values())
            rows.append((name, f"{record.iterations:,}", f"{record.hours:.2f} h", f"{curve[record.iterations]:.3f}", f"{least:.3f}"))
        else:
            rows.append((name, "not run yet", "-", "-", "-"))
    head = ("search", "iterations", "learning", "exploitability at the end", "least on the way")
    return Table("Leduc poker (Fig. 1)", head, rows, "Exact. The paper's figure has no numbers to set beside.")


def _won(game: str, record: Record | None, size: Size) -> Table:
    rows = []
    met = {row["iterations"]: row for row in record.measured["ages"]} if record else {}
    for at in sorted({*PUBLISHED[game], *met}):
        paper = [f"{share} %" for share in PUBLISHED[game].get(at, ())] or ["-", "-"]
        ours = [_share(result_of(met[at][name])) for name in ("random", size.rival)] if at in met else ["not run yet"] * 2
        rows.append((f"{at:,}", paper[0], ours[0], paper[1], ours[1]))
    head = ("iterations", "Random: paper", "here", "OOS(10k): paper", f"here ({size.rival})")
    learned = f" Learned for {record.hours:.2f} h ({size.workers} processes)." if record else ""
    note = f"{size.games:,} games in both seats, ties half, with half a 95 % interval; in the paper the network has seat one.{learned}"
    return Table(TITLES[game], head, rows, note)


def _share(result: Result) -> str:
    half = (result.interval[1] - result.interval[0]) / 4 if result.interval else 0.0
    return f"{result.points:.1%} ±{half:.1%}"


def _rated(record: Record, size: Size) -> Table:
    table = rate([result_of(row) for row in record.measured["pairs"]]).table
    rows = [
        (each.agent, PUBLISHED_ELO.get(each.agent, "-"), f"{each.elo:.0f}", "{:.0f} to {:.0f}".format(*each.interval)) for each in table
    ]
    head = ("player", "Elo: paper", "here", "95 % interval")
    return Table("Table 3: Elo in II Goofspiel(13)", head, rows, f"{size.rated:,} games a pair in both seats; the mean is 1500.")
