"""Kitchen, Benedetti. ExIt-OOS: Towards Learning from Planning in Imperfect Information Games. 2018: all of its results.

`nebel paper exit_oos` trains the networks anew and shows the figure and the tables beside the published ones.
"""

from __future__ import annotations

import math
from typing import Any

from nebel.core.registry import load
from nebel.learn.drive import Yardstick
from nebel.match.agents import read
from nebel.match.rating import rate
from nebel.papers.exit_oos_replica import LARGE, LEDUC, NAME, PAPER_SIZE, PUBLISHED, PUBLISHED_ELO, SMALL, replica
from nebel.papers.exit_oos_replica import QUICK as QUICK_REPLICA
from nebel.papers.exit_oos_replica import USUAL as USUAL_REPLICA
from nebel.papers.exit_oos_study import OUR_LEDUC, Aged, Plan, Study
from nebel.papers.paper import Paper
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.search.target import in_rules

Curves = dict[str, list[tuple[float, float]]]
"""By name: iterations, and exploitability of the network then."""


def fig1(study: Study) -> Section:
    game = in_rules(load(LEDUC))
    yardstick = Yardstick(game)
    series: Curves = {}
    last: dict[str, Aged] = {}
    for simulations in study.scale.steps:
        name = f"{simulations:,} simulations"
        plan = Plan({**OUR_LEDUC, "simulations": simulations}, math.inf, _marks(), study.scale.leduc)
        with study.terms.timed(f"leduc: training with {name} a move"):
            ages = study.train(game, plan)
        series[name] = [(aged.iterations, yardstick.measure(aged.policy)["exploitability"]) for aged in ages]
        last[name] = ages[-1]
    drawn = lines("Leduc by our settings", series, Axis("iterations", log=True), Axis("exploitability", log=True))
    rows = [(name, f"{last[name].iterations:,}", f"{last[name].seconds:,.0f}", f"{points[-1][1]:.3f}") for name, points in series.items()]
    head = ("search", "iterations", "seconds", "exploitability of the network")
    table = Table("At the end of training by our settings", head, rows, OURS)
    parts: list[Table | Figure] = [Figure("Exploitability by our settings", [("", drawn)]), table]
    lead = (
        "Exploitability of the network in Leduc poker with 288 information states during training, by simulations that the expert makes "
        "before a move. Exact."
    )
    return Section("Fig. 1 by our settings: Leduc poker", lead, parts, {"curves": series})


OURS = (
    "All have learned from equally many games; those of longer searches took longer. One simulation in five is led to what the searcher "
    "knows, samples are corrected by control variates, three moves of ten in self-play are taken at random, and the network has layers of "
    "128 and 64."
)


def _marks() -> list[int]:
    """1, 2, 5, 10, 20, 50 ..."""
    return [digit * 10**power for power in range(5) for digit in (1, 2, 5)]


def goofspiel(study: Study, game: str, title: str) -> Section:
    table, ages = _won(study, game, study.trained(game))
    return Section(title, "Games that the network wins alone, without search.", [table], {"ages": ages})


def _won(study: Study, game: str, ages: list[Aged]) -> tuple[Table, list[dict[str, Any]]]:
    rivals = read("random"), read(f"oos:{study.scale.rival}")
    rows, data = [], []
    for aged in ages:
        games = study.scale.games if aged is ages[-1] else study.scale.younger
        results = [study.match(game, study.network(aged), rival, games) for rival in rivals]
        known = PUBLISHED[game].get(aged.iterations)
        cells = [
            f"{result.points:.1%} ±{(result.interval[1] - result.interval[0]) / 4:.1%}" if result.interval else "-" for result in results
        ]
        paper = [f"{share} %" for share in known] if known else ["-", "-"]
        rows.append((f"{aged.iterations:,}", f"{aged.seconds:,.0f}", paper[0], cells[0], paper[1], cells[1], f"{games:,}"))
        data.append({"iterations": aged.iterations, "seconds": aged.seconds, "results": [result.as_json() for result in results]})
    rows += [
        (f"{at:,}", "-", f"{one} %", "-", f"{two} %", "-", "5,000")
        for at, (one, two) in PUBLISHED[game].items()
        if at > ages[-1].iterations
    ]
    head = ("iterations", "seconds", "Random: paper", "ours", f"OOS({study.scale.rival}): paper (10k)", "ours", "games")
    note = "Both seats, ties half, with half the width of a 95 % interval. In the paper the network always sits in seat one."
    return Table("Games won", head, rows, note), data


def table1(study: Study) -> Section:
    return goofspiel(study, SMALL, "Table 1 by our settings: II Goofspiel(6)")


def table2(study: Study) -> Section:
    return goofspiel(study, LARGE, "Table 2 by our settings: II Goofspiel(13)")


def table3(study: Study) -> Section:
    ages, rival = study.trained(LARGE), study.scale.rival
    plain = dict.fromkeys((f"oos:{study.scale.advised}", f"oos:{rival}"))
    others = [read(text) for text in ("random", *plain, f"ismcts:{rival}", f"ismcts:{rival},selection=rm")]
    agents = [*map(study.network, ages), study.searching(ages[-1]), *others]
    results = study.round_robin(LARGE, agents, study.scale.rated)
    ratings = rate(results)
    pace = {name: seconds for result in results for name, seconds in zip((result.a, result.b), result.seconds, strict=True)}
    rows: list[Any] = []
    for rating in ratings.table:
        move = pace[rating.agent]
        thinking = "-" if move is None else f"{1000 * move:.3g} ms"
        low, high = rating.interval
        rows.append((rating.agent, PUBLISHED_ELO.get(rating.agent, "-"), f"{rating.elo:.0f}", f"{low:.0f} to {high:.0f}", thinking))
    head = ("player", "Elo: paper", "ours", "95 % interval", "time a move")
    note = (
        f"{study.scale.rated:,} games a pair in both seats. Ratings are relative to the players in the table: the paper's has four of them."
    )
    pairs = [(f"{r.a} - {r.b}", f"{r.points:.1%}", f"{r.wins:,}", f"{r.draws:,}", f"{r.losses:,}") for r in results]
    parts = [Table("Ratings", head, rows, note), Table("Pairs", ("pair", "won", "wins", "draws", "losses"), pairs)]
    data = {"ratings": [rating._asdict() for rating in ratings.table], "pairs": [result.as_json() for result in results]}
    lead = "The networks, the last of them as adviser of a search, the teacher, and Information Set MCTS, which the paper did not try."
    return Section("Table 3 by our settings: Elo in II Goofspiel(13)", lead, parts, data)


def as_in_the_paper(study: Study) -> Section:
    return replica(study.terms, study.terms.choose(QUICK_REPLICA, USUAL_REPLICA, PAPER_SIZE))


PAPER = Paper(
    name=NAME,
    title="ExIt-OOS: learning from planning, computed again",
    cite="Andy Kitchen, Michela Benedetti. ExIt-OOS: Towards Learning from Planning in Imperfect Information Games. 2018.",
    intro=(
        "The figure and the tables of the paper beside our own. Networks learn what Online Outcome Sampling plays against itself, "
        "and move in its playouts; first by the settings of the paper, for as many iterations as the paper has at full size and a few "
        "usually; then by ours: 2.5 and 7 minutes for the Goofspiels usually, eight times as long at full size, ten seconds quickly, "
        "which shows that it works and no more."
    ),
    study=Study,
    sections={"replica": as_in_the_paper, "fig1": fig1, "table1": table1, "table2": table2, "table3": table3},
)
