"""What learning costs (Table 1 of the Cheat paper), and what the games are worth."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

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

MOST_ENUMERATED = 3
"""Health points of the largest game whose information sets are all listed."""

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
    study.learn_all([Wanted(hp, recall, study.terms.seed, by_paper=by_paper) for hp in sizes for recall in recalls])
    for hp in study.scale.table:
        for name, recall in AGENTS.items():
            seconds, space = TABLE[hp][name]
            learned = study.learn(hp, recall, by_paper=by_paper)
            listed = len(study.tree(hp, recall).sides[0].keys) if hp <= MOST_ENUMERATED else None
            agent = f"{name}-{hp}"
            times.append(
                (agent, f"{seconds:,} s", f"{learned.seconds:.3f} s", f"{seconds / learned.seconds:,.0f}", f"{learned.nodes:,}",
                 f"{learned.nodes / learned.seconds / 1e6:.1f}")
            )  # fmt: skip
            sets.append(
                (agent, f"{space:,}", f"{learned.met:,}", f"{learned.played:,}", f"{listed:,}" if listed else "-",
                 f"{learned.met / space:.3f}", f"{learned.played / space:.3f}")
            )  # fmt: skip
            data[agent] = {
                "paper": {"seconds": seconds, "information_sets": space},
                "seconds": learned.seconds,
                "histories_met": learned.nodes,
                "information_sets": {"met": learned.met, "played": learned.played, "all": listed},
            }
    how, deals = (f", {BY_PAPER}", "An iteration is one deal,") if by_paper else ("", "An iteration of ours is two deals, each")
    tables = [
        Table(
            f"Time of {ITERATIONS} iterations{how}",
            ("agent", "paper", "ours", "times faster", "histories met", "million a second"),
            times,
            f"Processor time of solving alone, one thread, compiled before. {deals} traversed once for both "
            "players; the paper does not say how many its iteration has. Its programs and machine are not described, so the "
            "ratio is one of programs and machines together.",
        ),
        Table(
            f"Information sets{how}",
            ("agent", "paper", "met", "played", "in all", "met / paper", "played / paper"),
            sets,
            "Both seats share their sets. Met: reached by any moves. Played: reached by the average strategy of the player to move. In "
            "all: listed from the whole game. Memoryless sees the hand, the phase, the rank that is on, the other's number of cards and "
            "the claim to be answered: 483 sets. If it also kept the last claim while it chooses what to put down, there would be 589. "
            "The paper's 535 lies between; it does not list what its Memoryless sees. Its 242,801 sets of General-5 are fewer than the "
            "1,473,428 of History-Aware-5, though General sees more: that run cannot have met what the other did.",
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
