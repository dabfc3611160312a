"""What the agents of the Cheat paper see: two readings of its Memoryless and HP-Aware, by their numbers of information sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any

from nebel.core.game import Game, Record
from nebel.core.reach import explore
from nebel.core.registry import load
from nebel.core.rule import rule
from nebel.core.tree import grow
from nebel.papers.cheat_study import BY_PAPER, ITERATIONS, Study, Wanted, over, with_interval
from nebel.report.parts import Section, Table

SPACE = {"Memoryless": {3: 535, 4: 535, 5: 535}, "HP-Aware": {3: 2013, 4: 4148, 5: 7126}}
"""Information sets of Table 1, by agent and health points."""

READINGS = {"moment": {"Memoryless": "memoryless", "HP-Aware": "hp-aware"},
            "moment and pile": {"Memoryless": "memoryless-pile", "HP-Aware": "hp-aware-pile"}}  # fmt: skip
"""Recalls of nebel, by reading and agent."""

MOST_LISTED = 3
"""Health points of the largest game that is unfolded to list the information sets of those who know its history."""


@cache
def information_sets(hp: int, recall: str) -> int | None:
    """The number of information sets of a glance in Cheat-hp, which both seats share; None where there are too many histories to list."""
    game = load(f"cheat:{hp}")
    assert isinstance(game, Game)
    if any(recall in seen.values() for seen in READINGS.values()):
        found = explore(without_past(game), recall)
        assert found is not None
        assert found.information_states is not None
        return found.information_states[0]
    return len(grow(game, recall).sides[0].keys) if hp <= MOST_LISTED else None


def without_past(game: Game) -> Game:
    """The game with states that hold no history: nothing but what its rules and the glances of a moment need."""
    play = game.rules.play

    @rule
    def play_and_forget(s: Record, move: int, seen: Any) -> None:
        play(s, move, seen)
        s.past = s.turns = 0
        s.theirs[:] = 0

    return replace(game, rules=game.rules._replace(play=play_and_forget))


def readings(study: Study) -> Section:
    """Both readings beside the paper."""
    seeds, sizes = study.seeds, study.scale.table
    wanted = [Wanted(hp, recall, seed, by_paper=True) for recall in _recalls() for hp in reversed(sizes) for seed in seeds]
    study.learn_all(wanted)
    rows: list[tuple[str, ...]] = []
    won: list[tuple[str, ...]] = []
    data: dict[str, Any] = {}
    for agent, spaces in SPACE.items():
        for hp in sizes:
            for reading, recalls in READINGS.items():
                recall = recalls[agent]
                runs = [study.learn(hp, recall, seed, by_paper=True) for seed in seeds]
                met, played = [run.met for run in runs], [run.played for run in runs]
                listed = information_sets(hp, recall)
                rows.append(
                    (f"{agent}-{hp}", f"{spaces[hp]:,}", reading, f"{fmean(met):,.0f}", f"{fmean(played):,.0f}", f"{listed:,}",
                     f"{fmean(played) - spaces[hp]:+,.0f}")
                )  # fmt: skip
                data[f"{recall}, Cheat-{hp}"] = {"paper": spaces[hp], "met": met, "played": played, "all": listed}
                if hp == min(sizes):
                    ends = [run.curve[-1] for run in runs]
                    shares = [point.random for point in ends], [point.heuristic for point in ends]
                    won.append((f"{agent}-{hp}", reading, *map(with_interval, shares)))
                    data[f"{recall}, Cheat-{hp}"]["wins"] = shares
    nearer = _nearer(data, sizes)
    lead = (
        "The paper does not list what its agents see. Moment: the hand, the phase, the rank that is on, the opponent's number of cards and "
        "the claim to be answered (recalls memoryless and hp-aware, by which all other sections go). Moment and pile: that, the number of "
        "own cards in the pile and, while choosing what to put down, the last answer (recalls memoryless-pile and hp-aware-pile). By what "
        f"is played, the second is nearer to the paper in {nearer} of {len(SPACE) * len(sizes)} numbers."
    )
    note = (
        f"{over(study)}, {ITERATIONS} iterations {BY_PAPER}: single deals, plain weights. Met: reached by any moves. Played: reached by "
        "the average strategy of the player to move. In all: counted over all states. The last column is played less the paper's number."
    )
    head = ("agent", "paper", "reading", "met", "played", "in all", "difference")
    tables = [
        Table("Information sets by two readings", head, rows, note),
        Table(
            "Games won by two readings", ("agent", "reading", "against Random", "against Heuristic"), won, "± is half of a 95 % interval."
        ),
    ]
    return Section("What the agents see", lead, tables, data)


def _recalls() -> Iterable[str]:
    return (recall for recalls in READINGS.values() for recall in recalls.values())


def _nearer(data: dict[str, Any], sizes: Iterable[int]) -> int:
    """In how many numbers of the paper the second reading's played sets are nearer than the first's."""
    first, second = READINGS.values()

    def off(recall: str, hp: int) -> float:
        held = data[f"{recall}, Cheat-{hp}"]
        return abs(fmean(held["played"]) - held["paper"])

    return sum(off(second[agent], hp) < off(first[agent], hp) for agent in SPACE for hp in sizes)
