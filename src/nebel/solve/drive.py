"""Solving from end to end: size up, iterate within a budget, judge on the way, checkpoint, resume."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadSetting, TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.registry import load
from nebel.core.settings import Settings, setting
from nebel.core.state import resolve_recall
from nebel.core.tree import Size, Tree, estimate, grow, measure
from nebel.dark_hex import pruned
from nebel.dark_hex.merged import count_states, merge, merged_kind
from nebel.judge.best_response import Judge, Verdict
from nebel.policy.io import read_arrays, save_policy, write_arrays
from nebel.policy.table import TablePolicy, sorted_shares
from nebel.solve.cfr import FullWidth
from nebel.solve.merged import MergedStates, mergeable, merged_bytes
from nebel.solve.sampled import Sampled
from nebel.solve.settings import METHODS, Sampling, as_dict, method_named

GIGABYTE = 1 << 30
PLAIN_LIMIT = 3_000_000
"""Histories that a game in plain Python may have: it is enumerated by the interpreter."""

MOST_WALKED = 1e9
"""Histories that one iteration may meet: minutes."""


class Solver(Protocol):
    iterations: int

    def prepare(self) -> None: ...
    def run(self, iterations: int) -> None: ...
    def strategies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def policy(self, facts: dict[str, Any]) -> TablePolicy: ...
    def save(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None: ...


@dataclass(frozen=True)
class Budget(Settings):
    """When to stop: whichever comes first."""

    iterations: int | None = setting(None, "stop after this many iterations")
    seconds: float | None = setting(None, "stop after this much solving time (if no budget is given: 10, or exploitability 1e-6)")
    until: float | None = setting(None, "stop when exploitability is at most this")

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise BadSetting(f"--{name} {value} is out of range: it must be greater than 0")


@dataclass(frozen=True)
class Job:
    """All that determines a run, and so what `run.json` holds."""

    game: str
    method: str = "cfr+"
    recall: str = "perfect"
    seed: int = 1
    memory: float = 4.0
    pone: bool = False  # sure wins of Dark Hex are not played out, and their moves are added to the policy at the end
    settings: dict[str, Any] = field(default_factory=dict)


class Sizing(NamedTuple):
    """What is known of a job before the first iteration."""

    size: Size
    histories: float  # exact if the game was enumerated, else an estimate
    information_states: list[int] | None
    bytes: int
    tree: Tree | None
    walked: float = 1.0  # histories that an iteration meets, where the rules are sampled
    merged: int = 0  # states that an iteration sweeps over, where histories are merged


class Progress(NamedTuple):
    iterations: int
    seconds: float
    verdict: Verdict | None
    share: float  # of the budget


@dataclass(frozen=True)
class Result:
    job: Job
    sizing: Sizing
    iterations: int
    seconds: float
    verdict: Verdict | None
    policy: TablePolicy


def size_up(game: BaseGame, method: str, recall: str, memory: float) -> Sizing:
    """Enumerate what fits; refuse what cannot fit, and say what would."""
    room = int(memory * GIGABYTE)
    limit = min(room // 60, 2**31 - 1) if isinstance(game, Game) else PLAIN_LIMIT
    size = measure(game, limit)
    if size.complete and size.bytes <= room:
        tree = grow(game, recall, limit)
        return Sizing(size, size.histories, tree.information_states(), size.bytes, tree)
    histories = float(size.histories) if size.complete else estimate(game)
    need = size.bytes / size.histories * histories
    if not issubclass(METHODS[method], Sampling):
        if mergeable(game, recall):
            return _size_merged(game, size, histories, memory)
        raise TooLarge(
            f"{method} needs the whole tree of {game.string}: about {histories:.2g} histories, {_bytes(need)}, and --memory is "
            f"{memory:g} GB; take --with outcome-sampling{_glance_advice(game, recall)} or a smaller variant"
        )
    if not isinstance(game, Game):
        raise TooLarge(
            f"{game.string} is written in plain Python and has about {histories:.2g} histories, more than the {limit:,} that can be "
            "enumerated; write it in rules (nebel new-game) to sample it, or take a smaller variant"
        )
    walked, kind = 1.0, METHODS[method].kind  # type: ignore[attr-defined]
    if kind != "outcome":
        walked = max(estimate(game, (0,)), estimate(game, (1,))) if kind == "external" else estimate(game, (0, 1))
        if walked > MOST_WALKED:
            raise TooLarge(
                f"one traversal of {game.string} with {method} meets about {walked:.2g} histories; take --with outcome-sampling, which "
                "meets one, or a smaller variant"
            )
    return Sizing(size, histories, None, 0, None, walked)


def _size_merged(game: BaseGame, size: Size, histories: float, memory: float) -> Sizing:
    kind = merged_kind(game)
    need, states = merged_bytes(game), count_states(*kind)
    if need > memory * GIGABYTE:
        raise TooLarge(
            f"{game.string} has {states:,} states after merging, {_bytes(need)}, and --memory is {memory:g} GB; take --with "
            "outcome-sampling or a smaller variant"
        )
    return Sizing(size, histories, np.diff(merge(*kind).views.start).tolist(), need, None, merged=states)


def _glance_advice(game: BaseGame, recall: str) -> str:
    return f" (and perhaps --recall {next(iter(game.glances))})" if game.glances and recall == "perfect" else ""


def _bytes(count: float) -> str:
    return f"{count / GIGABYTE:,.3g} GB" if count < 1e15 else f"{count:.1e} bytes"


def make_solver(game: BaseGame, job: Job, sizing: Sizing) -> Solver:
    settings = METHODS[job.method](**job.settings)
    if isinstance(settings, Sampling):
        return Sampled(game, job.recall, sizing.tree, settings, job.seed, int(job.memory * GIGABYTE), sizing.walked)
    if sizing.merged:
        return MergedStates(game, job.method, settings.threads)  # type: ignore[attr-defined]
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
    tree = sizing.tree
    if tree is not None and job.pone:
        tree = size_up(game, "outcome-sampling", job.recall, job.memory).tree
    if tree is None:
        return None
    judge = Judge(tree)
    if job.pone:
        return lambda: judge.verdict(complete(game, solver.policy({}), job.memory).on_tree(tree).strategies)
    return lambda: judge.verdict(solver.strategies())


class Folder:
    """A run on disk: run.json, metrics.jsonl, checkpoint/state.safetensors, policy.nebel."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, job: Job, fingerprint: str) -> None:
        if (self.path / "run.json").exists():
            raise BadFile(f"{self.path} already holds a run; add --resume to go on with it, or choose another folder")
        self.path.mkdir(parents=True, exist_ok=True)
        _write_text(self.path / "run.json", json.dumps({**vars(job), "fingerprint": fingerprint}, indent=1) + "\n")

    def job(self) -> tuple[Job, str]:
        file = self.path / "run.json"
        if not file.is_file():
            raise BadFile(f"{self.path} holds no run to resume: {file} is missing")
        try:
            held = json.loads(file.read_text())
            fingerprint = held.pop("fingerprint")
            return Job(**held), fingerprint
        except (ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{file} is damaged: {error}") from error

    @property
    def _state(self) -> Path:
        return self.path / "checkpoint" / "state.safetensors"

    def save(self, solver: Solver, seconds: float) -> None:
        write_arrays(self._state, solver.save(), {"kind": "checkpoint", "iterations": solver.iterations, "seconds": seconds})

    def restore(self, solver: Solver) -> float:
        """Bring the solver to where the run was; returns the solving time so far."""
        if not self._state.exists():
            return 0.0
        arrays, header = read_arrays(self._state, "checkpoint")
        solver.restore(arrays, header["iterations"])
        metrics = self.path / "metrics.jsonl"
        if metrics.exists():  # what was written after the checkpoint will be written again
            lines = [line for line in metrics.read_text().splitlines() if _iterations_of(line) <= header["iterations"]]
            _write_text(metrics, "".join(line + "\n" for line in lines))
        return float(header["seconds"])

    def metric(self, progress: Progress) -> None:
        row: dict[str, Any] = {"iterations": progress.iterations, "seconds": round(progress.seconds, 6)}
        if progress.verdict:
            row |= {"exploitability": progress.verdict.exploitability, "value": progress.verdict.value}
        with (self.path / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")


def _iterations_of(line: str) -> float:
    try:
        return float(json.loads(line)["iterations"])
    except (ValueError, KeyError, TypeError):
        return math.inf  # a line that was cut off


def _write_text(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    os.replace(part, path)


def solve(
    job: Job,
    budget: Budget | None = None,
    folder: Path | None = None,
    resume: bool = False,
    sized: Callable[[Sizing, float], None] = lambda sizing, pace: None,
    progress: Callable[[Progress], None] = lambda progress: None,
    checkpoint_every: float = 10.0,
) -> Result:
    """Solve a game. With a folder the run can be killed at any moment and resumed to the same result."""
    budget = budget or Budget()
    run = Folder(folder) if folder else None
    then = ""
    if resume:
        if run is None:
            raise BadSetting("--resume needs the folder of the run: --run FOLDER (or --resume FOLDER)")
        job, then = run.job()
    game = load(job.game)
    job = replace(job, game=game.string, method=method_named(job.method), recall=resolve_recall(game, job.recall))
    job = replace(job, settings=as_dict(METHODS[job.method](**job.settings)))
    if then and then != game.fingerprint:
        raise BadFile(f"the rules of {job.game} have changed since the run in {folder} began; start a new one")
    if job.pone:
        pruned.check(game, job.recall, job.memory)
    played = pruned.pruned(game) if job.pone else game
    sizing = size_up(played, job.method, job.recall, job.memory)
    if sizing.merged and job.pone:
        raise BadSetting("--pone goes with sampling methods and with games whose tree is held, not with merged states; leave it out")
    solver = make_solver(played, job, sizing)
    judge = make_judge(game, job, sizing, solver)
    if budget == Budget():
        budget = Budget(seconds=10.0, until=1e-6 if judge else None)
    if budget.until is not None and judge is None:
        raise TooLarge(f"{job.game} is too large to judge exactly, so --until cannot be met; give --iterations or --seconds")
    before = 0.0
    if run and not resume:
        run.begin(job, game.fingerprint)
    elif run:
        before = run.restore(solver)
    clock = _Loop(solver, judge, budget, run, progress, before, checkpoint_every)
    verdict = clock.run(lambda pace: sized(sizing, pace))
    facts = {"method": job.method, "settings": job.settings, "seed": job.seed, "iterations": solver.iterations}
    policy = solver.policy({**facts, "pone": job.pone})
    if job.pone:
        policy = complete(game, policy, job.memory)
    if run:
        save_policy(policy, run.path / "policy.nebel")
    return Result(job, sizing, solver.iterations, clock.seconds, verdict, policy)


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
            self.folder.metric(news)
