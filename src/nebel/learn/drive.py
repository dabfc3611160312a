"""Learning from end to end: iterate within a budget, measure on the way, checkpoint, resume."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.registry import load, load_named
from nebel.core.settings import Settings
from nebel.core.state import resolve_recall
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
from nebel.solve.run import Budget, Folder, Job, enter
from nebel.solve.settings import as_dict

DEFAULT_SECONDS = 600.0
GAMES = 2000
"""Played against a random player and each of the game's bots to measure a network whose exploitability cannot be computed."""


class Learner(Protocol):
    """What a method offers: `iterations` so far, and `metrics` of the last one."""

    iterations: int
    metrics: dict[str, float]

    def prepare(self) -> None: ...
    def iterate(self) -> None: ...
    def policy(self, facts: dict[str, Any]) -> MadePolicy: ...
    def save(self) -> Arrays: ...
    def restore(self, arrays: Arrays, iterations: int) -> None: ...


class News(NamedTuple):
    """How a run stands."""

    iterations: int
    seconds: float
    share: float  # of the budget
    metrics: dict[str, float]


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


def method_named(name: str) -> str:
    if name not in METHODS:
        raise BadSetting(f"no method {name!r}; methods that learn: {', '.join(METHODS)}")
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
) -> Learned:
    """Learn to play a game. With a folder the run can be killed at any moment and resumed to the same result."""
    budget = budget or Budget(seconds=DEFAULT_SECONDS)
    entry = enter(job, folder, resume)
    job, run = entry.job, entry.run
    game = in_rules(load_named(job.game, f"the run in {folder}", f"nebel learn {{}} --resume {folder}") if resume else load(job.game))
    entry.check(game)
    recall = resolve_recall(game, job.recall)
    if recall == PERFECT and recall not in game.encodings:
        recall = next(iter(game.encodings), recall)
    job = replace(job, game=game.string, method=method_named(job.method), recall=recall)
    settings = METHODS[job.method](**usual(job.method, bool(encoding_of(game, recall).board), job.settings))
    job = replace(job, settings=as_dict(settings))
    crew = hire(workers)
    try:
        learner = LEARNERS[job.method](game, job.recall, settings, job.seed, crew)
        yardstick = Yardstick(game)
        if budget.until is not None and "exploitability" not in yardstick.measure(learner.policy({})):
            raise TooLarge(f"{job.game} is too large to judge exactly, so --until cannot be met; give --iterations or --seconds")
        loop = _Loop(learner, yardstick, budget, run, progress, entry.begin(job, game, learner), checkpoint_every)
        loop.run()
    finally:
        crew.close()
    facts: dict[str, Any] = {"method": job.method, "settings": job.settings, "seed": job.seed, "iterations": learner.iterations}
    policy = learner.policy(facts)
    if run:
        save_policy(policy, run.path / "policy.nebel")
    return Learned(job, learner.iterations, loop.seconds, loop.measured, policy)


class _Loop:
    """Measures at iteration counts that grow by a tenth, wherever a run was interrupted."""

    def __init__(
        self, learner: Learner, yardstick: Yardstick, budget: Budget, run: Folder | None, progress: Callable[[News], None],
        seconds: float, checkpoint_every: float,
    ) -> None:  # fmt: skip
        self.learner, self.yardstick, self.budget, self.folder, self.progress = learner, yardstick, budget, run, progress
        self.seconds, self.checkpoint_every = seconds, checkpoint_every
        self.measured: dict[str, float] = {}

    def run(self) -> None:
        self.learner.prepare()
        saved = time.monotonic()
        while not self._done():
            begun = time.perf_counter()
            self.learner.iterate()
            self.seconds += time.perf_counter() - begun
            self._check()
            due = self._due()
            if due:
                self.measured = self.yardstick.measure(self.learner.policy({}))
            self._report(due)
            if self.folder and time.monotonic() - saved > self.checkpoint_every:
                self.folder.save(self.learner, self.seconds)
                saved = time.monotonic()
        self.measured = self.yardstick.measure(self.learner.policy({}))
        if self.folder:
            self.folder.save(self.learner, self.seconds)

    def _check(self) -> None:
        """Numbers that are none must not reach a checkpoint."""
        for name, value in self.learner.metrics.items():
            if not math.isfinite(value):
                kept = f" (the last checkpoint in {self.folder.path} is as it was)" if self.folder else ""
                raise BadSetting(f"{name} is {value} after {self.learner.iterations:,} iterations{kept}; try a smaller --rate")

    def _due(self) -> bool:
        at = 1
        while at < self.learner.iterations:
            at = max(at + 5, math.ceil(1.1 * at))
        return at == self.learner.iterations

    def _report(self, measured: bool) -> None:
        done, budget = self.learner.iterations, self.budget
        shares = [done / budget.iterations if budget.iterations else 0.0, self.seconds / budget.seconds if budget.seconds else 0.0]
        metrics = {**self.learner.metrics, **self.measured}
        self.progress(News(done, self.seconds, min(1.0, max(shares)), metrics))
        if self.folder:
            row = {**self.learner.metrics, **(self.measured if measured else {})}
            self.folder.metric({"iterations": done, "seconds": round(self.seconds, 3), **row})

    def _done(self) -> bool:
        budget, reached = self.budget, self.measured.get("exploitability", math.inf)
        if budget.iterations is not None and self.learner.iterations >= budget.iterations:
            return True
        if budget.until is not None and reached <= budget.until:
            return True
        return budget.seconds is not None and self.seconds >= budget.seconds
