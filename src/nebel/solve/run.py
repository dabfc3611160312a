"""A run: what determines it, how far it has come, and how it stands on disk."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame
from nebel.core.output import write_text
from nebel.core.settings import Settings, setting
from nebel.judge.best_response import Verdict
from nebel.policy.io import read_arrays, write_arrays
from nebel.policy.table import TablePolicy


class Resumable(Protocol):
    iterations: int

    def save(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None: ...


class Solver(Resumable, Protocol):
    def prepare(self) -> None: ...
    def run(self, iterations: int) -> None: ...
    def strategies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def policy(self, facts: dict[str, Any]) -> TablePolicy: ...


@dataclass(frozen=True)
class Budget(Settings):
    """When to stop: whichever comes first."""

    iterations: int | None = setting(None, "stop after this many iterations")
    seconds: float | None = setting(None, "stop after this much time of solving or learning")
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
    curriculum: dict[str, Any] | None = None  # of a run through a family of games: which, and what is carried on


class Progress(NamedTuple):
    iterations: int
    seconds: float
    verdict: Verdict | None
    share: float  # of the budget

    def as_json(self) -> dict[str, Any]:
        known = {"exploitability": self.verdict.exploitability, "value": self.verdict.value} if self.verdict else {}
        return {"iterations": self.iterations, "seconds": round(self.seconds, 6), **known}


class Folder:
    """A run on disk: run.json, metrics.jsonl, checkpoint/state.safetensors, policy.nebel."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, job: Job, fingerprint: str) -> None:
        if (self.path / "run.json").exists():
            raise BadFile(f"{self.path} already holds a run; add --resume to go on with it, or choose another folder")
        self.path.mkdir(parents=True, exist_ok=True)
        write_text(self.path / "run.json", json.dumps({**vars(job), "fingerprint": fingerprint}, indent=1) + "\n")

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

    def save(self, solver: Resumable, seconds: float) -> None:
        write_arrays(self._state, solver.save(), {"kind": "checkpoint", "iterations": solver.iterations, "seconds": seconds})

    def restore(self, solver: Resumable) -> float:
        """Bring the solver to where the run was; returns the solving time so far."""
        if not self._state.exists():
            return 0.0
        arrays, header = read_arrays(self._state, "checkpoint")
        try:
            solver.restore(arrays, header["iterations"])
        except KeyError as missing:
            raise BadFile(f"the run in {self.path} was begun by another version: {missing} is not there; start a new one") from None
        metrics = self.path / "metrics.jsonl"
        if metrics.exists():  # what was written after the checkpoint will be written again
            lines = [line for line in metrics.read_text().splitlines() if _iterations_of(line) <= header["iterations"]]
            write_text(metrics, "".join(line + "\n" for line in lines))
        return float(header["seconds"])

    def metric(self, row: dict[str, Any]) -> None:
        """A line of metrics.jsonl; it must say after how many iterations."""
        with (self.path / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")


class Entry(NamedTuple):
    """How a run is entered: a new one, with or without a folder, or one that goes on."""

    job: Job
    run: Folder | None
    then: str  # the fingerprint of the rules when it began, if it goes on

    def check(self, game: BaseGame) -> None:
        if self.run and self.then and self.then != game.fingerprint:
            raise BadFile(f"the rules of {game.string} have changed since the run in {self.run.path} began; start a new one")

    def begin(self, job: Job, game: BaseGame, solver: Resumable) -> float:
        """Write the job down, or bring the solver to where the run was; returns the solving time so far."""
        if self.run and self.then:
            return self.run.restore(solver)
        if self.run:
            self.run.begin(job, game.fingerprint)
        return 0.0


def enter(job: Job, folder: Path | None, resume: bool) -> Entry:
    run = Folder(folder) if folder else None
    if not resume:
        return Entry(job, run, "")
    if run is None:
        raise BadSetting("--resume needs the folder of the run: --run FOLDER (or --resume FOLDER)")
    job, then = run.job()
    return Entry(job, run, then)


def _iterations_of(line: str) -> float:
    try:
        return float(json.loads(line)["iterations"])
    except (ValueError, KeyError, TypeError):
        return math.inf  # a line that was cut off
