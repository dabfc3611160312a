"""Solving from end to end: size up, iterate within a budget, judge on the way, checkpoint, resume."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.core.state import resolve_recall
from nebel.dark_hex import pruned
from nebel.judge.best_response import Judge, Verdict
from nebel.judge.certificate import Certificate, write_certificate
from nebel.policy.io import save_policy
from nebel.policy.table import TablePolicy, sorted_shares
from nebel.solve.cfr import FullWidth
from nebel.solve.double_oracle import MET, DoubleOracle
from nebel.solve.heritage import Heritage
from nebel.solve.maximin import Maximin
from nebel.solve.merged import MergedStates
from nebel.solve.run import Budget, Folder, Job, Progress, Solver, enter
from nebel.solve.sampled import Sampled
from nebel.solve.settings import METHODS, DoubleOracleSettings, MaximinSettings, Sampling, as_dict, method_named
from nebel.solve.size import GIGABYTE, Sizing, size_up


@dataclass(frozen=True)
class Result:
    job: Job
    sizing: Sizing
    iterations: int
    seconds: float
    verdict: Verdict | None
    policy: TablePolicy
    solver: Solver
    certificate: Certificate | None = None


def make_solver(game: BaseGame, played: BaseGame, job: Job, sizing: Sizing) -> Solver:
    """`played`: the game, perhaps pruned."""
    settings = METHODS[job.method](**job.settings)
    if isinstance(settings, Sampling):
        return Sampled(played, job.recall, sizing.tree, settings, job.seed, int(job.memory * GIGABYTE), sizing.walked)
    if isinstance(settings, DoubleOracleSettings):
        return DoubleOracle(game, settings, job.seed)
    if isinstance(settings, MaximinSettings):
        return Maximin(game, settings, job.seed)
    if sizing.merged:
        return MergedStates(game, job.method, settings.threads, job.pone)  # type: ignore[attr-defined]
    assert sizing.tree is not None
    return FullWidth(sizing.tree, job.method, settings.threads)  # type: ignore[attr-defined]


def complete(game: BaseGame, policy: TablePolicy, memory: float) -> TablePolicy:
    """A policy of the pruned game as one of the game itself, with the winning moves in sure wins."""
    shares, left_out = [], 0
    for p, held in enumerate(policy.shares):
        added = pruned.answers(game, p, policy, int(memory * GIGABYTE))
        lines = zip((held.keys, np.diff(held.first), held.move, held.share), added[:4], strict=True)
        shares.append(sorted_shares(*(np.concatenate(line) for line in lines)))
        left_out += added.left_out
    facts = {**policy.facts, "sure_wins_left_out": left_out}
    return replace(policy, fingerprint=game.fingerprint, shares=(shares[0], shares[1]), missing="uniform", facts=facts)


def make_judge(game: BaseGame, job: Job, sizing: Sizing, solver: Solver) -> Callable[[], Verdict] | None:
    """Judges what the solver has so far in the game itself, where that can be enumerated."""
    if isinstance(solver, (DoubleOracle, Maximin)):
        return solver.verdict
    tree = sizing.tree
    if tree is not None and job.pone:
        tree = size_up(game, "outcome-sampling", job.recall, job.memory).tree
    if tree is None:
        return None
    judge = Judge(tree)
    if job.pone:
        return lambda: judge.verdict(complete(game, solver.policy({}), job.memory).on_tree(tree).strategies)
    return lambda: judge.verdict(solver.strategies())


def solve(
    job: Job,
    budget: Budget | None = None,
    folder: Path | None = None,
    resume: bool = False,
    sized: Callable[[Sizing, float], None] = lambda sizing, pace: None,
    progress: Callable[[Progress], None] = lambda progress: None,
    checkpoint_every: float = 10.0,
    heritage: Heritage | None = None,
) -> Result:
    """Solve a game, perhaps from what was learned in a smaller one. With a folder the run can be killed at any moment and resumed
    to the same result."""
    budget = budget or Budget()
    entry = enter(job, folder, resume)
    job, run = entry.job, entry.run
    game = load(job.game)
    entry.check(game)
    job = replace(job, game=game.string, method=method_named(job.method), recall=resolve_recall(game, job.recall))
    job = replace(job, settings=as_dict(METHODS[job.method](**job.settings)))
    if job.pone:
        pruned.check(game, job.recall, job.memory)
    played = pruned.pruned(game) if job.pone else game
    sizing = size_up(played, job.method, job.recall, job.memory)
    solver = make_solver(game, played, job, sizing)
    if heritage:
        if not isinstance(solver, (FullWidth, Sampled)) or job.pone:
            raise BadSetting(f"a curriculum is for tabular methods without --pone, not for {job.method} on {job.game}")
        solver.inherit(heritage)
    judge = make_judge(game, job, sizing, solver)
    if budget == Budget():
        hour = Budget(seconds=3600.0, until=MET)
        budget = hour if isinstance(solver, (DoubleOracle, Maximin)) else Budget(seconds=10.0, until=1e-6 if judge else None)
    if budget.until is not None and judge is None:
        raise TooLarge(f"{job.game} is too large to judge exactly, so --until cannot be met; give --iterations or --seconds")
    clock = _Loop(solver, judge, budget, run, progress, entry.begin(job, game, solver), checkpoint_every)
    verdict = clock.run(lambda pace: sized(sizing, pace))
    facts = {"method": job.method, "settings": job.settings, "seed": job.seed, "iterations": solver.iterations}
    policy = solver.policy({**facts, "pone": job.pone})
    if job.pone and not isinstance(solver, MergedStates | DoubleOracle | Maximin):  # those know sure wins themselves
        policy = complete(game, policy, job.memory)
    if run:
        save_policy(policy, run.path / "policy.nebel")
    certificate = solver.certificate() if isinstance(solver, DoubleOracle) else None
    if run and certificate:
        write_certificate(certificate, run.path / "certificate.json")
    return Result(job, sizing, solver.iterations, clock.seconds, verdict, policy, solver, certificate)


class _Loop:
    """Iterates in chunks; judges at iteration counts that grow by a tenth, so that the stopping point depends on no clock."""

    def __init__(
        self, solver: Solver, judge: Callable[[], Verdict] | None, budget: Budget, run: Folder | None, progress: Callable[[Progress], None],
        seconds: float, checkpoint_every: float,
    ) -> None:  # fmt: skip
        self.solver, self.judge, self.budget, self.folder, self.progress = solver, judge, budget, run, progress
        self.seconds, self.checkpoint_every = seconds, checkpoint_every
        self._pace = 1.0  # iterations that take about a tenth of a second
        self._verdict: Verdict | None = None

    def run(self, first: Callable[[float], None]) -> Verdict | None:
        """Iterate until the budget is spent; `first` hears how long the first iterations took, each."""
        self.solver.prepare()
        saved = time.monotonic()
        first(self._warm_up())
        while not self._done():
            stop = self._next_judgement()
            while self.solver.iterations < stop and not self._out_of_time():
                self._chunk(stop)
                if self.folder and time.monotonic() - saved > self.checkpoint_every:
                    self.folder.save(self.solver, self.seconds)
                    saved = time.monotonic()
                self._report(None)
            self._judge()
        if self._verdict is None:
            self._judge()
        if self.folder:
            self.folder.save(self.solver, self.seconds)
        return self._verdict

    def _warm_up(self) -> float:
        """A few milliseconds of iterations, up to the first judgement; returns the pace of the last of them."""
        begin, pace, stop = self.seconds, 0.0, self._next_judgement()
        while self.seconds - begin < 0.005 and self.solver.iterations < stop and not self._done():
            before, done = self.seconds, self.solver.iterations
            self._chunk(stop)
            pace = (self.seconds - before) / (self.solver.iterations - done)
        return pace

    def _chunk(self, stop: int) -> None:
        count = min(stop - self.solver.iterations, max(1, int(self._pace)))
        if self.budget.seconds is not None and self._pace > 1:
            left = (self.budget.seconds - self.seconds) / 0.1
            count = max(1, min(count, int(left * self._pace)))
        start = time.perf_counter()
        self.solver.run(count)
        took = time.perf_counter() - start
        self.seconds += took
        self._pace = min(max(1.0, 0.1 * count / max(took, 1e-9)), 4 * max(self._pace, count))

    def _next_judgement(self) -> int:
        """The next of a fixed series of iteration counts, wherever a run was interrupted."""
        if isinstance(self.solver, (DoubleOracle, Maximin)):  # its bounds cost nothing
            return self.solver.iterations + 1
        step = 100 if isinstance(self.solver, Sampled) else 10  # a sampled iteration is much cheaper than a judgement
        stop = step
        while stop <= self.solver.iterations:
            stop = max(stop + step, math.ceil(stop * 1.1))
        return min(stop, self.budget.iterations) if self.budget.iterations else stop

    def _out_of_time(self) -> bool:
        return self.budget.seconds is not None and self.seconds >= self.budget.seconds

    def _done(self) -> bool:
        if self.budget.iterations is not None and self.solver.iterations >= self.budget.iterations:
            return True
        if self.budget.until is not None and self._verdict and self._verdict.exploitability <= self.budget.until:
            return True
        return self._out_of_time()

    def _judge(self) -> None:
        if self.judge:
            self._verdict = self.judge()
        self._report(self._verdict)

    def _report(self, verdict: Verdict | None) -> None:
        shares = [0.0]
        if self.budget.iterations:
            shares.append(self.solver.iterations / self.budget.iterations)
        if self.budget.seconds:
            shares.append(self.seconds / self.budget.seconds)
        news = Progress(self.solver.iterations, self.seconds, verdict or self._verdict, min(1.0, max(shares)))
        self.progress(news)
        if self.folder and verdict:
            self.folder.metric(news.as_json())
