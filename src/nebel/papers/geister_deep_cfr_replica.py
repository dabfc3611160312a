"""Figs. 3 to 6 of the paper on Deep CFR for Geister by its own method: its settings, its limits of plies, wins instead of points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.games.geister import ESCAPED
from nebel.geister.endings import NOBODY, watch_both
from nebel.learn.presets import preset_of
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import Z95
from nebel.papers.long_runs import Plan, Record, collect
from nebel.papers.paper import Terms
from nebel.policy.adopt import adopt_network
from nebel.policy.io import load_policy
from nebel.policy.net import NetPolicy
from nebel.policy.table import Uniform
from nebel.report.charts import Axis, lines
from nebel.report.parts import Figure, Section, Table
from nebel.solve.run import Folder, Job

NAME = "geister_deep_cfr"
LEARNED, PLAYED = "geister(limit=100,assist=true)", "geister(limit=300,assist=true)"
"""The paper's agents learn with a limit of 100 plies and play with one of 300; a ghost that can escape has to, for both players."""
KINDS = {"without history": "six-channels", "with history": "eleven-channels"}
RIVALS = {"random": "Random", "purple:1": "Purple-1"}
PUBLISHED = {"random": "over 75 %", "purple:1": "about 33 %"}
THEIRS = 2
"""Iterations of the paper, of one player each, in one of ours."""


class Size(NamedTuple):
    """How much is computed."""

    runs: int  # of each kind
    iterations: int
    every: int  # iterations from one checkpoint to the next
    games: int  # of each checkpoint with each opponent, half of them in each seat
    settings: dict[str, Any]  # in place of the preset's


PAPER_SIZE = Size(6, 500, 50, 2000, {})
USUAL = Size(1, 10, 5, 2000, {"average_every": 5, "average_steps": 500})
QUICK = Size(1, 2, 1, 20, {
    "traversals": 8, "steps": 2, "average_steps": 2, "average_every": 1, "batch": 64, "room": 2_000,
})  # fmt: skip


class Met(NamedTuple):
    """Games of one checkpoint with one opponent in both seats: how many were played, won, drawn, and won by escape."""

    games: int
    won: int
    drawn: int
    escaped: int

    @property
    def wins(self) -> float:
        return self.won / self.games

    @property
    def points(self) -> float:
        return (self.won + self.drawn / 2) / self.games

    @property
    def escapes(self) -> float:
        """The share of wins that are escapes."""
        return self.escaped / max(1, self.won)

    @property
    def interval(self) -> str:
        """Return the share of games won with its 95 % interval (Wilson's)."""
        low, high = wilson(self.won, self.games)
        return f"{self.wins:.1%} ({low:.1%} to {high:.1%})"


def wilson(won: int, games: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of independent games.

    >>> [round(end, 3) for end in wilson(75, 100)]
    [0.657, 0.825]
    """
    share, spread = won / games, Z95**2 / games
    middle, half = share + spread / 2, Z95 * math.sqrt(share * (1 - share) / games + spread / (4 * games))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def meet(game: BaseGame, ours: Agent, rival: Agent, games: int, seed: int) -> Met:
    """Play so many games, half of them in each seat."""
    seats = watch_both(game, ours, rival, games // 2, seed)
    won, drawn, escaped = (
        sum(int(np.sum(test)) for test in tests)
        for tests in zip(
            *((seen.winner == p, seen.winner == NOBODY, (seen.winner == p) & (seen.how == ESCAPED)) for p, seen in enumerate(seats)),
            strict=True,
        )
    )
    return Met(2 * (games // 2), won, drawn, escaped)


def plans(size: Size, first_seed: int) -> list[Plan]:
    """Return the runs, one of each kind before the next seed."""
    made = []
    for seed in range(first_seed, first_seed + size.runs):
        for recall in KINDS.values():
            settings = {**preset_of("deep-cfr", "geister"), **size.settings}
            job = Job(LEARNED, "deep-cfr", recall, seed, settings=settings)
            made.append(Plan(f"{recall}-{seed}", job, size.iterations, size.every))
    return made


def measured_by(games: int) -> Any:
    """Return what measures a run: its network at every checkpoint against each opponent."""

    def measure(plan: Plan, run: Folder) -> dict[str, Any]:
        game, checkpoints = load(PLAYED), []
        for at in range(plan.keep_every or 1, plan.iterations + 1, plan.keep_every or 1):
            policy = load_policy(run.kept(at))
            assert isinstance(policy, NetPolicy)
            told, adopted = adopt_network(game, policy)
            ours = PolicyAgent("network", adopted)
            met = {rival: meet(told, ours, _agent(rival), games, plan.job.seed)._asdict() for rival in RIVALS}
            checkpoints.append({"iterations": at, **met})
        return {"game": PLAYED, "checkpoints": checkpoints}

    return measure


def _agent(name: str) -> Agent:
    return PolicyAgent(name, Uniform()) if name == "random" else read(name)


def replica(terms: Terms, size: Size) -> Section:
    """The paper's figures from all runs that are there."""
    records = collect(terms, NAME, plans(size, terms.seed), measured_by(size.games))
    of = {kind: [record for name, record in records.items() if name.startswith(recall)] for kind, recall in KINDS.items()}
    parts: list[Table | Figure] = [_ends(of, size), _checkpoints(of), _random_against_purple(terms, size)]
    parts += [Figure("On the way", pictures)] if (pictures := _pictures(of)) else []
    lead = (
        f"Deep CFR with the settings of the paper ({size.iterations * THEIRS:,} of its iterations), learned with a limit of 100 plies and "
        f"measured with one of 300, as in the paper. Missing runs are made by the same command: {size.runs} of each kind are the paper's."
    )
    data = {"runs": [record._asdict() for record in records.values()]}
    return Section("Figs. 3 to 6 by the paper's own method", lead, parts, data)


def _marks(record: Record, rival: str) -> list[tuple[int, Met]]:
    return [(mark["iterations"], Met(**mark[rival])) for mark in record.measured["checkpoints"]]


def _ends(of: dict[str, list[Record]], size: Size) -> Table:
    rows = []
    for kind, records in of.items():
        for record in records:
            ends = [_marks(record, rival)[-1][1] for rival in RIVALS]
            cells = [text for met in ends for text in (met.interval, f"{met.points:.1%}")]
            run = (kind, str(record.job["seed"]), f"{record.iterations * THEIRS:,}", f"{record.hours:.2f} h")
            rows.append((*run, *cells, f"{ends[1].escapes:.0%}"))
        if not records:
            rows.append((kind, "not run yet", *["-"] * 7))
    rows.append(("the paper", "6 runs", "1,000", "-", PUBLISHED["random"], "-", PUBLISHED["purple:1"], "-", "most"))
    head = (
        "network", "seed", "iterations of the paper", "learning", "wins against Random", "points", "wins against Purple-1", "points",
        "of these wins, by escape",
    )  # fmt: skip
    note = (
        f"Wins of {size.games:,} games in both seats with the 95 % interval of the games; points count a draw as half a win. Purple-1 is a "
        "program of our own after its description. The progress of play is the ply over the limit of the game that is played."
    )
    return Table("At the last checkpoint", head, rows, note)


def _checkpoints(of: dict[str, list[Record]]) -> Table:
    rows = []
    for kind, records in of.items():
        for rival, name in RIVALS.items():
            curves = [_marks(record, rival) for record in records]
            for marks in zip(*curves, strict=True):
                at, wins = f"{marks[0][0] * THEIRS:,}", [met.wins for _, met in marks]
                rows.append((kind, name, at, f"{np.mean(wins):.1%}", f"{min(wins):.1%} to {max(wins):.1%}", str(len(wins))))
    head = ("network", "opponent", "iterations of the paper", "wins, mean over runs", "over runs", "runs")
    return Table("By checkpoint (Figs. 3, 4 and 5)", head, rows)


def _random_against_purple(terms: Terms, size: Size) -> Table:
    with terms.timed("Random against Purple-1"):
        met = meet(load(PLAYED), _agent("random"), _agent("purple:1"), size.games, terms.seed)
    rows = [("the paper", "2,000", "399", "63"), ("here", f"{met.games:,}", str(met.won), str(met.escaped))]
    return Table("Random against Purple-1", ("", "games", "won", "by escape"), rows, "The paper's Purple is another program.")


def _pictures(of: dict[str, list[Record]]) -> list[tuple[str, str]]:
    axis, share = Axis("iterations of the paper"), Axis("share", low=0.0, high=1.0)

    def mean(records: Sequence[Record], rival: str, escapes: bool = False) -> list[tuple[float, float]]:
        curves = [_marks(record, rival) for record in records]
        return [
            (float(THEIRS * marks[0][0]), float(np.mean([met.escapes if escapes else met.wins for _, met in marks])))
            for marks in zip(*curves, strict=True)
        ]

    there = {kind: records for kind, records in of.items() if records}
    if not there:
        return []
    spread = {
        f"seed {record.job['seed']}": [(float(THEIRS * at), met.wins) for at, met in _marks(record, "random")]
        for record in next(iter(there.values()))
    }
    figures = {
        "Fig. 3: wins against Random": {kind: mean(records, "random") for kind, records in there.items()},
        f"Fig. 4: run by run, {next(iter(there))}": spread,
        "Fig. 5: wins against Purple-1": {kind: mean(records, "purple:1") for kind, records in there.items()},
        "Fig. 6: of wins against Purple-1, by escape": {kind: mean(records, "purple:1", True) for kind, records in there.items()},
    }
    return [(caption, lines(caption.partition(":")[0], series, axis, share)) for caption, series in figures.items()]
