"""The players of the Dark Hex thesis, made when a section asks for them and kept for the others."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from nebel.core.errors import BadFile
from nebel.core.game import Game
from nebel.core.registry import load
from nebel.dark_hex.pruned import Effect, effect
from nebel.judge.abstract import abstract
from nebel.judge.belief_response import respond
from nebel.papers.paper import Terms
from nebel.policy.io import SHIPPED, load_table
from nebel.policy.simplify import Simplify, simplify
from nebel.policy.strategy import Strategy, read_strategy
from nebel.policy.table import MadePolicy, TablePolicy
from nebel.solve.drive import Result, solve
from nebel.solve.run import Budget, Folder, Job, Progress

BOARD = "dark_hex:4x3"
PLAYERS = ("Black", "White")


class Scale(NamedTuple):
    """How much is computed. A run has fewer iterations than these if its tables are full before."""

    board: int  # iterations of outcome sampling, of players that remember the board
    perfect: int  # of those that remember everything, whose tables grow with every game
    sweeps: int  # iterations of full-width CFR+
    curve: int  # of Fig. 4.1
    games: int  # a pair
    whole: bool  # also what takes minutes: traverse all of 4x3, judge S1
    early: int = 1_000_000  # iterations of the player whose missed wins the thesis counts
    memory: float = 4.0  # GB for the tables of the player that remembers everything
    network: Budget | None = None  # of a network; None: none learns, and no responder
    preset: str = ""  # of the networks' settings


QUICK = Scale(1_000_000, 500_000, 16, 500, 20_000, False)
USUAL = Scale(20_000_000, 4_000_000, 80, 2_000, 100_000, True, network=Budget(seconds=300.0))
FULL = USUAL._replace(board=10**9, perfect=10**9, memory=8.0, network=Budget(iterations=2_000), preset="dark-hex")
"""The thesis's sizes. It does not say how long NFSP learned (half a week each): 2,000 iterations, 8,192,000 decisions, are assumed."""

MILLION = "MCCFR-IR, early"
SWEPT = "CFR+-IR-p"
SIMPLIFIED = "MCCFR-IR-p"
"""Whose policy the thesis simplifies."""
NEEDS = {
    "missed-wins": ("MCCFR-IR", "MCCFR-IR-p"),
    "round-robin": (SWEPT, "MCCFR-PR", "MCCFR-IR", "MCCFR-IR-p"),
}
"""Who learns for which section; others that it asks for learn when it does."""


class Wins(NamedTuple):
    """Winning probabilities of Black and of White, None where they were not computed."""

    black: float | None
    white: float | None

    def as_json(self) -> dict[str, float | None]:
        return self._asdict()


def done_text(policy: MadePolicy) -> str:
    """Return the number of iterations that a policy's run had, which may be fewer than its budget if its tables were full."""
    return f"{policy.facts['iterations']:,}"


class Study:
    def __init__(self, terms: Terms, scale: Scale | None = None) -> None:
        self.terms = terms
        self.scale = scale or terms.choose(QUICK, USUAL, FULL)
        game = load(BOARD)
        assert isinstance(game, Game)
        self.game = game
        self._pool = ThreadPoolExecutor(2)
        self._learning: dict[str, Future[TablePolicy]] = {}
        self._closed = False
        self._simpler: dict[str, TablePolicy] = {}
        self._wins: dict[str, tuple[Wins, Wins]] = {}
        self.learn([])

    def jobs(self) -> dict[str, tuple[Job, int]]:
        """What learns, by the thesis's names, and for how many iterations."""
        sampled = "outcome-sampling"
        seed, scale = self.terms.seed, self.scale
        return {
            "MCCFR-IR-p": (Job(BOARD, sampled, "board", seed, pone=True), scale.board),
            "MCCFR-IR": (Job(BOARD, sampled, "board", seed), scale.board),
            "MCCFR-PR": (Job(BOARD, sampled, "perfect", seed, memory=scale.memory), scale.perfect),
            MILLION: (Job(BOARD, sampled, "board", seed), scale.early),
            SWEPT: (Job(BOARD, "cfr+", "board", seed, pone=True), scale.sweeps),
        }

    def learn(self, names: Sequence[str]) -> list[TablePolicy]:
        """Policies of these names. All that the sections need begin to learn at once, two at a time."""
        for name in (*names, *(name for section in self.terms.sections for name in NEEDS.get(section, ()))):
            if name not in self._learning:
                self._learning[name] = self._pool.submit(self._learn, name)
        return [self._learning[name].result() for name in names]

    def _learn(self, name: str) -> TablePolicy:
        job, iterations = self.jobs()[name]
        with self.terms.timed(f"{name} learns, {iterations:,} iterations"):
            return solve(job, Budget(iterations=iterations), *self.place(name, job), progress=self._go_on).policy

    def place(self, name: str, job: Job) -> tuple[Path | None, bool]:
        """Return the folder in which a job's run is kept, if runs are kept, and whether it is there already and is continued.

        Raises `BadFile` if the folder holds the run of another job.
        """
        if self.terms.runs is None:
            return None, False
        folder = self.terms.runs / "dark_hex" / f"{self.terms.size}-seed-{self.terms.seed}" / name.replace(", ", "-")
        run = Folder(folder)
        if not run.holds_a_run:
            return folder, False
        held = run.asked().job
        settings = {**held.settings, **job.settings}
        if held != replace(job, game=held.game, settings=settings):
            raise BadFile(f"{folder} holds a run of another job than {name}; name another folder with --runs")
        return folder, True

    def _go_on(self, progress: Progress) -> None:
        if self._closed:
            raise InterruptedError("the study was closed")

    def close(self) -> None:
        """Whoever still learns stops."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def player(self, name: str) -> TablePolicy:
        """One that comes with nebel or learns."""
        return self.memoryless[name] if name in self.memoryless else self.learn([name])[0]

    def simpler(self, base: str, settings: Simplify) -> TablePolicy:
        """A policy after SIP or SIP+."""
        name = f"{base} {settings}"
        if name not in self._simpler:
            policy = self.player(base)
            with self.terms.timed(f"{base} is simplified"):
                self._simpler[name] = simplify(policy, settings)
        return self._simpler[name]

    def judge(self, name: str, policy: TablePolicy, sides: Sequence[int] = (0, 1)) -> tuple[Wins, Wins]:
        """What a policy wins against abstract best responses, and what it guarantees, exactly."""
        if name not in self._wins:
            with self.terms.timed(f"{name} is judged"):
                first, second = abstract(self.game, policy).verdict.best_response
                least = [respond(self.game, policy, 1 - player).guarantee if player in sides else None for player in range(2)]
            loose = ((1 - second) / 2, (1 - first) / 2)
            seen = [wins if player in sides else None for player, wins in enumerate(loose)]
            self._wins[name] = Wins(seen[0], seen[1]), Wins(least[0], least[1])
        return self._wins[name]

    @cached_property
    def strategies(self) -> tuple[Strategy, Strategy]:
        """S1 and S2, as repaired."""
        return read_strategy("s1"), read_strategy("s2")

    @cached_property
    def handcrafted(self) -> tuple[TablePolicy, TablePolicy]:
        """S1 as a player that remembers the board (its 52 answers that depend on the order of moves are blended), S2 as it is."""
        with self.terms.timed("S1 and S2 become policies"):
            return self.strategies[0].policy(blend=True), self.strategies[1].policy_with_memory()

    @cached_property
    def solution(self) -> tuple[Result, list[Progress]]:
        """The double oracle, and how its bounds met."""
        steps: list[Progress] = []
        with self.terms.timed(f"{BOARD} is solved exactly by double oracle"):
            return solve(Job(BOARD, "double-oracle", seed=self.terms.seed), progress=steps.append), steps

    @cached_property
    def traversal(self) -> Effect:
        """4x3 traversed with and without sure wins; takes minutes."""
        with self.terms.timed(f"{BOARD} is traversed, whole and pruned"):
            return effect(self.game)

    @cached_property
    def memoryless(self) -> dict[str, TablePolicy]:
        """Policies of 4x3 that come with nebel, by the names of their files."""
        held = {path.stem: load_table(path) for path in sorted(SHIPPED.glob("board-*.nebel"))}
        return {name: policy for name, policy in held.items() if policy.fingerprint == self.game.fingerprint and policy.recall == "board"}
