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
from nebel.core.settings import made_of
from nebel.core.state import resolve_recall
from nebel.dark_hex import pruned
from nebel.judge.best_response import Judge, Verdict
from nebel.judge.certificate import Certificate, write_certificate
from nebel.policy.io import save_policy
from nebel.policy.table import TablePolicy, sorted_shares
from nebel.solve.cfr import FullWidth
from nebel.solve.double_oracle import MET, DoubleOracle
from nebel.solve.heritage import Heritage
from nebel.solve.loop import Loop
from nebel.solve.maximin import Maximin
from nebel.solve.merged import MergedStates
from nebel.solve.run import Budget, Entry, Job, Progress, Solver
from nebel.solve.sampled import Sampled
from nebel.solve.settings import METHODS, DoubleOracleSettings, MaximinSettings, Sampling, as_dict, method_named
from nebel.solve.signals import Signals, heard
from nebel.solve.simplified import Simplified
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
    ended: str = ""  # why the budget was not spent


def make_solver(game: BaseGame, played: BaseGame, job: Job, sizing: Sizing) -> Solver:
    """`played`: the game, perhaps pruned."""
    settings = made_of(METHODS[job.method], job.settings)
    if isinstance(settings, Sampling):
        kind = Simplified if settings.sip_every else Sampled
        return kind(played, job.recall, sizing.tree, settings, job.seed, int(job.memory * GIGABYTE), sizing.walked)
    if isinstance(settings, DoubleOracleSettings):
        return DoubleOracle(game, settings, job.seed, int(job.memory * GIGABYTE))
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
    out: str | None = None,
    overdue: Callable[[], None] = lambda: None,
) -> Result:
    """Solve a game, perhaps from what was learned in a smaller one. With a folder the run can be killed at any moment and resumed
    to the same result; `run.json` in it holds what was asked for, the budget and the name of the file `out` included. `overdue` is
    called, from another thread, when the budget's seconds are over and an iteration that cannot be cut off is still under way."""
    entry = Entry(job, budget or Budget(), folder, resume, out)
    with heard() as signals, entry.owned():
        return _solve(entry, signals, sized, progress, checkpoint_every, heritage, overdue)


def _solve(
    entry: Entry,
    signals: Signals,
    sized: Callable[[Sizing, float], None],
    progress: Callable[[Progress], None],
    checkpoint_every: float,
    heritage: Heritage | None,
    overdue: Callable[[], None],
) -> Result:
    job = entry.asked.job
    game = entry.game("solve")
    job = replace(job, game=game.string, method=method_named(job.method), recall=resolve_recall(game, job.recall))
    job = replace(job, settings=as_dict(made_of(METHODS[job.method], job.settings)))
    entry.begin(job, game)
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
    budget = entry.asked.budget
    if budget == Budget():
        hour = Budget(seconds=3600.0, until=MET)
        budget = hour if isinstance(solver, (DoubleOracle, Maximin)) else Budget(seconds=10.0, until=1e-6 if judge else None)
        entry.limit(budget)
    if budget.until is not None and judge is None:
        raise TooLarge(f"{job.game} is too large to judge exactly, so --until cannot be met; give --iterations or --seconds")
    loop = _SolverLoop(solver, judge, budget, entry, signals, checkpoint_every, lambda pace: sized(sizing, pace), progress, overdue)
    loop.run()
    facts = {"method": job.method, "settings": job.settings, "seed": job.seed, "iterations": solver.iterations}
    policy = solver.policy({**facts, "pone": job.pone})
    if job.pone and not isinstance(solver, MergedStates | DoubleOracle | Maximin):  # those know sure wins themselves
        policy = complete(game, policy, job.memory)
    if entry.run:
        save_policy(policy, entry.run.path / "policy.nebel")
    certificate = solver.certificate() if isinstance(solver, DoubleOracle) else None
    if entry.run and certificate:
        write_certificate(certificate, entry.run.path / "certificate.json")
    ended = "it was spent before; a larger one extends the run" if loop.idle else solver.full
    return Result(job, sizing, solver.iterations, loop.seconds, loop.verdict, policy, solver, certificate, ended)


class _SolverLoop(Loop):
    """Iterates in chunks of about a tenth of a second; judges at iteration counts that grow by a tenth."""

    def __init__(
        self, solver: Solver, judge: Callable[[], Verdict] | None, budget: Budget, entry: Entry, signals: Signals, checkpoint_every: float,
        first: Callable[[float], None], progress: Callable[[Progress], None], overdue: Callable[[], None],
    ) -> None:  # fmt: skip
        super().__init__(solver, budget, entry, signals, checkpoint_every, overdue)
        self.solver, self.judge, self.progress = solver, judge, progress
        self.verdict: Verdict | None = None
        self._first: Callable[[float], None] | None = first  # hears how long the first iterations took, each
        self._chunk = 1.0  # iterations that take about a tenth of a second
        self._warm_up = 0.005  # seconds until the pace is told
        self.can_be_cut = solver.can_be_cut

    def prepare(self) -> None:
        self.solver.prepare()

    def stop(self) -> None:
        self.solver.stop()

    @property
    def cut(self) -> bool:
        return self.solver.cut

    @property
    def full(self) -> bool:
        return bool(self.solver.full)

    def advance(self, stop: int) -> None:
        before = self.solver.iterations
        count = min(stop - before, max(1, int(self._chunk)))
        if self.budget.seconds is not None and self._chunk > 1:
            left = (self.budget.seconds - self.spent) / 0.1
            count = max(1, min(count, int(left * self._chunk)))
        start = time.perf_counter()
        self.solver.run(count)
        took = max(time.perf_counter() - start, 1e-9)
        self._chunk = min(max(1.0, 0.1 * count / took), 4 * max(self._chunk, count))
        self._warm_up -= took
        if self._first and (self._warm_up <= 0 or self.solver.iterations == stop):
            self._first(took / max(1, self.solver.iterations - before))
            self._first = None

    def next_measured(self, iterations: int) -> int:
        if isinstance(self.solver, (DoubleOracle, Maximin)):  # its bounds cost nothing
            return iterations + 1
        step = 100 if isinstance(self.solver, (Sampled, Simplified)) else 10  # a sampled iteration is much cheaper than a judgement
        stop = step
        while stop <= iterations:
            stop = max(stop + step, math.ceil(stop * 1.1))
        return stop

    def measure(self) -> None:
        if self.judge:
            self.verdict = self.judge()
            self.exploitability = self.verdict.exploitability

    def tell(self, measured: bool) -> None:
        news = Progress(self.solver.iterations, self.seconds, self.verdict if measured else None, self.share)
        self.progress(news)
        if self.entry.run and news.verdict:
            self.entry.run.metric(news.as_json(), replace=self.cut)
