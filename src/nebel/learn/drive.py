"""Learning from end to end: iterate within a budget, measure on the way, checkpoint, resume."""

from __future__ import annotations

import _thread
import math
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import Game
from nebel.core.kin import providing
from nebel.core.recall import PERFECT
from nebel.core.settings import Settings, made_of
from nebel.core.state import resolve_recall
from nebel.core.suggest import did_you_mean
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
from nebel.learn.dream import Dream, DreamSettings
from nebel.learn.exit_oos import ExitOos, ExitOosSettings
from nebel.learn.memory import Arrays
from nebel.learn.mirror import by_step
from nebel.learn.mmd_ppo import MmdPpoSettings
from nebel.learn.nfsp import Nfsp, NfspSettings
from nebel.learn.presets import usual
from nebel.learn.vr_deep_dcfr import VrDeepDcfr, VrDeepDcfrSettings
from nebel.learn.workers import hire
from nebel.match.agents import Agent, PolicyAgent
from nebel.match.arena import EXACT_LIMIT, play_pair
from nebel.match.bots import BotAgent
from nebel.policy.io import save_policy
from nebel.policy.net import encoding_of
from nebel.policy.table import MadePolicy, Uniform
from nebel.search.target import in_rules
from nebel.solve.loop import Loop
from nebel.solve.run import Budget, Entry, Job
from nebel.solve.settings import as_dict
from nebel.solve.signals import Signals, heard

DEFAULT_SECONDS = 600.0
GAMES = 2000
"""Played against a random player and each of the game's bots to measure a network whose exploitability cannot be computed."""


class Learner(Protocol):
    """What a method offers: `iterations` so far, and `metrics` of the last one."""

    iterations: int
    metrics: dict[str, float]

    @property
    def cadence(self) -> int:
        """Iterations from one policy that is up to date to the next."""

    def prepare(self) -> None: ...
    def iterate(self) -> None: ...
    def policy(self, facts: dict[str, Any]) -> MadePolicy: ...
    def save(self) -> Arrays: ...
    def restore(self, arrays: Arrays, iterations: int) -> None: ...


class News(NamedTuple):
    """How a run stands. `metrics` are those of this very iteration; the network is measured at some iterations only."""

    iterations: int
    seconds: float
    share: float  # of the budget
    metrics: dict[str, float]


class Telling(NamedTuple):
    """Whom a run tells how it stands, and that it takes longer than it was given."""

    progress: Callable[[News], None]
    overdue: Callable[[], None]


METHODS: dict[str, type[Settings]] = {
    "exit-oos": ExitOosSettings, "deep-cfr": DeepCfrSettings, "dream": DreamSettings, "vr-deep-dcfr+": VrDeepDcfrSettings,
    "nfsp": NfspSettings, "mmd-ppo": MmdPpoSettings,
}  # fmt: skip
LEARNERS: dict[str, Callable[..., Learner]] = {
    "exit-oos": ExitOos, "deep-cfr": DeepCfr, "dream": Dream, "vr-deep-dcfr+": VrDeepDcfr, "nfsp": Nfsp, "mmd-ppo": by_step,
}  # fmt: skip


class Learned(NamedTuple):
    job: Job
    iterations: int
    seconds: float
    metrics: dict[str, float]
    policy: MadePolicy
    ended: str = ""  # why the budget was not spent


def method_named(name: str) -> str:
    if name not in METHODS:
        raise BadSetting(f"no method {name!r}{did_you_mean(name, METHODS)}; methods that learn: {', '.join(METHODS)}")
    return name


class Yardstick:
    """Measures a network: exactly in a game of at most `limit` histories, else by games against a random player and the game's bots."""

    def __init__(self, game: Game, limit: int = EXACT_LIMIT) -> None:
        self.game = game
        looking = {name: ":1" if bot.depth else "" for name, bot in game.bots.items()}
        bots = [BotAgent(name + depth, name, len(depth) // 2) for name, depth in looking.items()]
        self._rivals: list[Agent] = [PolicyAgent("random", Uniform()), *bots]
        try:
            self._judge: Judge | None = Judge(grow(game, limit=limit))
        except TooLarge:
            self._judge = None

    @property
    def exact(self) -> bool:
        """Whether exploitability is computed."""
        return self._judge is not None

    def measure(self, policy: MadePolicy) -> dict[str, float]:
        if self._judge:
            verdict = self._judge.verdict(policy.on_tree(self._judge.tree).strategies)
            return {"exploitability": verdict.exploitability, "value": verdict.value}
        return {f"wins_against_{rival.name}": self._won(policy, rival) for rival in self._rivals}

    def _won(self, policy: MadePolicy, rival: Agent) -> float:
        return play_pair(self.game, PolicyAgent("network", policy), rival, GAMES, 1).points


def learn(
    job: Job,
    budget: Budget | None = None,
    folder: Path | None = None,
    resume: bool = False,
    workers: str = "1",
    progress: Callable[[News], None] = lambda news: None,
    checkpoint_every: float = 60.0,
    out: str | None = None,
    overdue: Callable[[], None] = lambda: None,
    keep_every: int | None = None,
) -> Learned:
    """Learn to play a game. With a folder the run can be killed at any moment and resumed to the same result; `run.json` in it holds what
    was asked for, the budget and the name of the file `out` included. `overdue` is called, from another thread, when the budget's seconds
    are over and an iteration is still under way: it is not cut off. After every `keep_every` iterations the network of that moment is
    written into the folder's `kept`, for those who look at how it came about."""
    if keep_every is not None and keep_every < 1:
        raise BadSetting(f"--keep-every {keep_every} is out of range: it must be at least 1")
    if keep_every is not None and folder is None:
        raise BadSetting("--keep-every needs a folder that stays: add --run FOLDER")
    entry = Entry(job, budget or Budget(), folder, resume, out)
    with heard() as signals, entry.owned():
        return _learn(entry, signals, workers, Telling(progress, overdue), checkpoint_every, keep_every)


def _learn(entry: Entry, signals: Signals, workers: str, telling: Telling, checkpoint_every: float, keep_every: int | None) -> Learned:
    job = entry.asked.job
    game = in_rules(providing(entry.game("learn"), job.recall))
    recall = resolve_recall(game, job.recall)
    if recall == PERFECT and recall not in game.encodings:
        recall = next(iter(game.encodings), recall)
    job = replace(job, game=game.string, method=method_named(job.method), recall=recall)
    settings = made_of(METHODS[job.method], usual(job.method, bool(encoding_of(game, recall).board), job.settings))
    job = replace(job, settings=as_dict(settings))
    entry.begin(job, game)
    if entry.asked.budget == Budget():
        entry.limit(Budget(seconds=DEFAULT_SECONDS))
    budget = entry.asked.budget
    crew = hire(workers)
    try:
        learner = LEARNERS[job.method](game, job.recall, settings, job.seed, crew)
        yardstick = Yardstick(game)
        if budget.until is not None and not yardstick.exact:
            raise TooLarge(f"{job.game} is too large to judge exactly, so --until cannot be met; give --iterations or --seconds")
        loop = _LearnerLoop(learner, yardstick, budget, entry, signals, checkpoint_every, telling, keep_every)
        loop.run()
    finally:
        crew.close()
    policy = loop.policy()
    if entry.run:
        save_policy(policy, entry.run.path / "policy.nebel")
    ended = "it was spent before; a larger one extends the run" if loop.idle else ""
    return Learned(job, learner.iterations, loop.seconds, loop.measured, policy, ended)


class _LearnerLoop(Loop):
    """Measures the network at iteration counts that grow by a tenth."""

    def __init__(
        self, learner: Learner, yardstick: Yardstick, budget: Budget, entry: Entry, signals: Signals, checkpoint_every: float,
        telling: Telling, keep_every: int | None,
    ) -> None:  # fmt: skip
        super().__init__(learner, budget, entry, signals, checkpoint_every, telling.overdue)
        self.learner, self.yardstick, self.progress, self.keep_every = learner, yardstick, telling.progress, keep_every
        self.measured: dict[str, float] = {}

    def policy(self) -> MadePolicy:
        """What has been learned so far, with what made it."""
        job = self.entry.asked.job
        facts = {"method": job.method, "settings": job.settings, "seed": job.seed, "iterations": self.learner.iterations}
        return self.learner.policy(facts)

    def prepare(self) -> None:
        self.learner.prepare()

    def advance(self, stop: int) -> None:
        self.learner.iterate()
        for name, value in self.learner.metrics.items():  # stop at NaN or infinity before it reaches a checkpoint
            if not math.isfinite(value):
                kept = f" (the last checkpoint in {self.entry.run.path} is as it was)" if self.entry.run else ""
                raise BadSetting(f"{name} is {value} after {self.learner.iterations:,} iterations{kept}; try a smaller --rate")
        if self.keep_every and self.entry.run and self.learner.iterations % self.keep_every == 0:
            save_policy(self.policy(), self.entry.run.kept(self.learner.iterations))

    def stop(self) -> None:
        """Interrupt the main thread: what this iteration did is lost, and the checkpoint is that of the one before."""
        _thread.interrupt_main(signal.SIGINT)

    def next_measured(self, iterations: int) -> int:
        at = 1
        while at <= iterations:
            at = max(at + 5, math.ceil(1.1 * at))
        return -(-at // self.learner.cadence) * self.learner.cadence

    def measure(self) -> None:
        self.measured = self.yardstick.measure(self.learner.policy({}))
        self.exploitability = self.measured.get("exploitability")

    def tell(self, measured: bool) -> None:
        metrics = {**self.learner.metrics, **(self.measured if measured else {})}
        self.progress(News(self.learner.iterations, self.seconds, self.share, metrics))
        if self.entry.run:
            row = {"iterations": self.learner.iterations, "seconds": round(self.seconds, 3), **metrics}
            # the clock may end a run after the row of its last iteration was written without a measurement
            self.entry.run.metric(row, replace=measured and not self.idle)
