"""What learning costs (Table 1 of the Cheat paper), and what the games are worth."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean
from typing import Any

from nebel.papers.cheat_readings import information_sets
from nebel.papers.cheat_study import AGENTS, BY_PAPER, ITERATIONS, Study, Wanted
from nebel.report.parts import Section, Table
from nebel.solve.drive import solve
from nebel.solve.run import Budget, Job

TABLE = {
    3: {"Memoryless": (140, 535), "HP-Aware": (138, 2013), "History-Aware": (524, 13915), "General": (621, 14027)},
    4: {"Memoryless": (2047, 535), "HP-Aware": (2166, 4148), "History-Aware": (9092, 144120), "General": (10297, 161883)},
    5: {"Memoryless": (33722, 535), "HP-Aware": (30184, 7126), "History-Aware": (32145, 1473428), "General": (38895, 242801)},
}
"""Table 1: seconds and information sets, by health points and agent."""

PRECISION = 1e-6


def table1(study: Study) -> Section:
    tables, data = _costs(study, by_paper=False)
    if study.scale.by_paper:
        first, data["by_paper"] = _costs(study, by_paper=True)
        tables = [*first, *tables]
    lead = "The cost of chance-sampled CFR, all moves of both players after a sampled deal, for agents that remember more or less."
    return Section("Table 1: cost", lead, tables, data)


def _costs(study: Study, by_paper: bool) -> tuple[list[Table], dict[str, Any]]:
    times, sets = [], []
    data: dict[str, Any] = {}
    sizes, recalls = reversed(study.scale.table), list(reversed(AGENTS.values()))
    seeds = study.seeds if by_paper else [study.terms.seed]
    study.learn_all([Wanted(hp, recall, seed, by_paper=by_paper) for hp in sizes for recall in recalls for seed in seeds])
    for hp in study.scale.table:
        for name, recall in AGENTS.items():
            seconds, space = TABLE[hp][name]
            runs = [study.learn(hp, recall, seed, by_paper=by_paper) for seed in seeds]
            nodes, spent, met, played = (fmean(column) for column in zip(*(run[1:] for run in runs), strict=True))
            listed = information_sets(hp, recall)
            agent = f"{name}-{hp}"
            times.append(
                (agent, f"{seconds:,} s", f"{spent:.3f} s", f"{seconds / spent:,.0f}", f"{nodes:,.0f}", f"{nodes / spent / 1e6:.1f}")
            )
            sets.append(
                (agent, f"{space:,}", f"{met:,.0f}", f"{played:,.0f}", f"{listed:,}" if listed else "-",
                 f"{met / space:.3f}", f"{played / space:.3f}")
            )  # fmt: skip
            data[agent] = {
                "paper": {"seconds": seconds, "information_sets": space},
                "seconds": [run.seconds for run in runs],
                "histories_met": [run.nodes for run in runs],
                "information_sets": {"met": [run.met for run in runs], "played": [run.played for run in runs], "all": listed},
            }
    how, deals = (f", {BY_PAPER}", "An iteration is one deal,") if by_paper else ("", "An iteration of ours is two deals, each")
    means = f"Means of {len(seeds)} seeds. " if len(seeds) > 1 else ""
    tables = [
        Table(
            f"Time of {ITERATIONS} iterations{how}",
            ("agent", "paper", "ours", "times faster", "histories met", "million a second"),
            times,
            f"{means}Processor time of solving alone, one thread, compiled before. {deals} traversed once for both "
            "players; the paper does not say how many its iteration has. Its programs and machine are not described, so the "
            "ratio is one of programs and machines together.",
        ),
        Table(
            f"Information sets{how}",
            ("agent", "paper", "met", "played", "in all", "met / paper", "played / paper"),
            sets,
            f"{means}Both seats share their sets. Met: reached by any moves. Played: reached by the average strategy of the player to "
            "move. In all: counted over all states, or listed from the whole game. The paper's Memoryless (535) and HP-Aware-5 (7,126) "
            "have more sets than ours have in all (483 and 6,962): its agents see something that ours do not (section readings). Its "
            "242,801 sets of General-5 are fewer than the 1,473,428 of History-Aware-5, though General sees more: that run cannot have "
            "met what the other did.",
        ),
    ]
    return tables, data


def values(study: Study) -> Section:
    """What the paper does not have: the games solved."""
    rows, data = [], {}
    for starter in ("0", "random"):
        for hp in range(1, study.scale.exact + 1):
            name = f"cheat(hp={hp},starter={starter})"
            with study.terms.timed(name):
                result = solve(Job(name, "pdcfr+", seed=study.terms.seed), Budget(until=PRECISION))
            verdict, tree = result.verdict, result.sizing.tree
            assert verdict is not None
            assert tree is not None
            low, high = -verdict.best_response[1], verdict.best_response[0]
            fraction = simplest(low, high)
            states = tree.information_states()
            rows.append(
                (f"Cheat-{hp}", "player 0" if starter == "0" else "random", f"{tree.histories:,}", f"{states[0]:,}", f"{states[1]:,}",
                 f"{low:.7f}", f"{high:.7f}", str(fraction), f"{result.iterations}", f"{result.seconds:.2f} s")
            )  # fmt: skip
            data[name] = {
                "histories": tree.histories,
                "information_states": states,
                "value": {"at_least": low, "at_most": high, "simplest": str(fraction)},
                "iterations": result.iterations,
                "seconds": result.seconds,
            }
    head = ("game", "starts", "histories", "sets of 0", "sets of 1", "value at least", "at most", "simplest between", "iterations", "time")
    note = (
        f"PDCFR+ with perfect recall, to an exploitability of {PRECISION:g}. The bounds are what each player's strategy guarantees, "
        "the fraction is the one of smallest denominator between them."
    )
    lead = (
        "To player 0, +1 a win and -1 a loss. Whoever starts has the advantage, the more the longer the game; a random starter makes it "
        "fair. The paper leaves the games unsolved."
    )
    return Section("Values", lead, [Table("Mini-Cheat solved", head, rows, note)], data)


def simplest(low: float, high: float) -> Fraction:
    """The fraction of smallest denominator in an interval."""
    middle, bound = Fraction((low + high) / 2), 1
    while not low <= middle.limit_denominator(bound) <= high:
        bound += 1
    return middle.limit_denominator(bound)
