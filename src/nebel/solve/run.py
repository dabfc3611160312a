"""A run: what determines it, how far it has come, and how it stands on disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shlex
import typing
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.amounts import MOST
from nebel.core.errors import BadFile, BadSetting, Problem
from nebel.core.game import BaseGame
from nebel.core.input import MEGABYTE, parse_json, read_text
from nebel.core.lock import locked
from nebel.core.output import append_line, write_text
from nebel.core.registry import LONGEST, load, load_named
from nebel.core.settings import Settings, made_of, setting
from nebel.judge.best_response import Verdict
from nebel.policy.io import read_arrays, write_arrays
from nebel.policy.table import TablePolicy


class Resumable(Protocol):
    iterations: int

    def save(self) -> dict[str, NDArray[Any]]: ...
    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None: ...


class Steady:
    """Defaults for solvers whose iterations are short and whose tables do not grow.

    can_be_cut  whether `stop`, called from another thread, ends iterations that are under way
    cut         whether the last iteration was ended so; what it found is in the policy all the same
    full        why there is no room for more, "" as long as there is some
    """

    can_be_cut = False
    cut = False
    full = ""

    def stop(self) -> None:
        """Do nothing: the iteration ends soon."""


class Solver(Resumable, Protocol):
    can_be_cut: bool
    cut: bool

    @property
    def full(self) -> str: ...
    def stop(self) -> None: ...
    def prepare(self) -> None: ...
    def run(self, iterations: int) -> None: ...
    def strategies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def policy(self, facts: dict[str, Any]) -> TablePolicy: ...


@dataclass(frozen=True)
class Budget(Settings):
    """When to stop: whichever comes first."""

    iterations: int | None = setting(None, "stop after this many iterations")
    seconds: float | None = setting(None, "stop after this many seconds of iterating and measuring, those before a --resume included")
    until: float | None = setting(None, "stop when exploitability is at most this")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in vars(self).items():
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise BadSetting(f"--{name} {value} is out of range: it must be greater than 0")


@dataclass(frozen=True)
class Job:
    """All that determines a run, and so what `run.json` holds, beside the budget."""

    game: str
    method: str = "cfr+"
    recall: str = "perfect"
    seed: int = 1
    memory: float = 4.0
    pone: bool = False  # sure wins of Dark Hex are not played out, and their moves are added to the policy at the end
    settings: dict[str, Any] = field(default_factory=dict)
    curriculum: dict[str, Any] | None = None  # of a run through a family of games: which, and what is carried on


class Progress(NamedTuple):
    """How a run stands. `verdict` is that of this very iteration, and None where it was not judged."""

    iterations: int
    seconds: float
    verdict: Verdict | None
    share: float  # of the budget

    def as_json(self) -> dict[str, Any]:
        known = {"exploitability": self.verdict.exploitability, "value": self.verdict.value} if self.verdict else {}
        return {"iterations": self.iterations, "seconds": round(self.seconds, 6), **known}


class Spent(NamedTuple):
    """What a run has cost so far: seconds of iterating, and seconds of all that counts against its budget."""

    iterating: float = 0.0
    in_all: float = 0.0


class Asked(NamedTuple):
    """What `run.json` holds: a job, the fingerprint of the game's rules, the budget, and the file that the policy is written to."""

    job: Job
    fingerprint: str
    budget: Budget
    out: str | None = None

    @property
    def digest(self) -> str:
        """Return a hash of all that decides what the iterations compute: checkpoints belong to a job by it."""
        text = json.dumps({**asdict(self.job), "fingerprint": self.fingerprint}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        budget = {name: value for name, value in vars(self.budget).items() if value is not None}
        return {**asdict(self.job), "fingerprint": self.fingerprint, "budget": budget, "out": self.out}


OWN = ("run.json", "metrics.jsonl", "checkpoint", "policy.nebel", "certificate.json", "kept")
"""What a run writes into its folder."""


class Folder:
    """A run on disk: run.json, metrics.jsonl, checkpoint/state.safetensors, policy.nebel, and perhaps certificate.json and networks of
    earlier iterations: kept/000050.nebel."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_row = -math.inf  # iterations of the last row of metrics.jsonl

    @contextlib.contextmanager
    def owned(self) -> Iterator[None]:
        """Keep other processes out of the run for as long as the block lasts; raises `BadFile` if one is at work in it."""
        made = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(f"{self.path} cannot be a folder for a run: {error.strerror or error}") from error
        try:
            with locked(self.path / ".lock", f"the run in {self.path}"):
                for folder in (self.path, self._state.parent, self.kept(0).parent):
                    for part in folder.glob(".*.part") if self.holds_a_run else ():  # of a process that was killed as it wrote
                        part.unlink(missing_ok=True)
                yield
        finally:
            if made and not (self.path / "run.json").exists():  # nothing came of it
                with contextlib.suppress(OSError):
                    (self.path / ".lock").unlink(missing_ok=True)
                    self.path.rmdir()

    @property
    def holds_a_run(self) -> bool:
        return (self.path / "run.json").exists()

    def refuse_if_taken(self) -> None:
        """Raise `BadFile` if the folder holds a run, or a file where a new run would write its own."""
        if self.holds_a_run:
            raise BadFile(f"{self.path} already holds a run; add --resume to continue it, or choose another folder")
        for name in OWN:
            if os.path.lexists(self.path / name):
                raise BadFile(f"{self.path / name} is there already, and not of a run: run.json is missing; choose another folder")

    def ask(self, asked: Asked) -> None:
        """Write run.json."""
        write_text(self.path / "run.json", json.dumps(asked.as_json(), indent=1) + "\n")

    def withdraw(self) -> None:
        """Remove run.json: the run was refused before its first iteration."""
        (self.path / "run.json").unlink(missing_ok=True)

    def asked(self) -> Asked:
        """Return what run.json holds; raises `BadFile` if it is missing or damaged."""
        file = self.path / "run.json"
        if not file.is_file():
            raise BadFile(f"{self.path} holds no run to resume: {file} is missing")
        try:
            held = parse_json(read_text(file, MOST_ASKED, "what a run was asked"))
            if not isinstance(held, dict):
                raise TypeError("it is not a JSON object")
            for name, value in held.items():
                if not isinstance(value, _KINDS.get(name, object)) or (isinstance(value, str) and len(value) > LONGEST and name != "out"):
                    raise TypeError(f"{name} is {str(value)[:40]!r}")
            fingerprint, budget, out = held.pop("fingerprint"), held.pop("budget", {}), held.pop("out", None)
            return Asked(Job(**held), fingerprint, made_of(Budget, budget), out)
        except (ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{file} is damaged: {error}") from error

    def kept(self, iterations: int) -> Path:
        """Return the file that holds what a run had found after so many iterations, if it was told to keep that."""
        return self.path / "kept" / f"{iterations:06}.nebel"

    @property
    def _state(self) -> Path:
        return self.path / "checkpoint" / "state.safetensors"

    def save(self, solver: Resumable, spent: Spent, digest: str) -> None:
        """Write a checkpoint, which belongs to the job of this digest."""
        header = {"kind": "checkpoint", "iterations": solver.iterations, "seconds": spent.iterating, "spent": spent.in_all, "job": digest}
        write_arrays(self._state, solver.save(), header)

    def restore(self, solver: Resumable, digest: str) -> Spent:
        """Bring the solver to where the run was; rows of metrics.jsonl that were written after the checkpoint are dropped."""
        if not self._state.exists():
            self._keep_rows(-1)
            return Spent()
        arrays, header = read_arrays(self._state, "checkpoint")
        if header.get("job") != digest:
            raise BadFile(f"the checkpoint in {self.path} is not of the run that run.json describes: one was changed; start a new run")
        try:
            iterations, spent = progress_of(header)
            check_arrays(arrays, solver.save())
            solver.restore(arrays, iterations)
        except Problem:
            raise
        except (KeyError, ValueError, IndexError, TypeError, OverflowError, RuntimeError) as error:
            why = f"{error} is not there" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise BadFile(f"the checkpoint in {self.path} is damaged, or of another version: {why}; start a new run") from None
        self._keep_rows(iterations)
        return spent

    def _keep_rows(self, most: int) -> None:
        """Keep one row for each number of iterations up to `most`."""
        metrics = self.path / "metrics.jsonl"
        if not metrics.exists():
            return
        rows: dict[float, str] = {}
        for line in metrics.read_text(encoding="utf-8", errors="replace").splitlines():
            at = _iterations_of(line)
            if at <= most:
                rows.setdefault(at, line)
        write_text(metrics, "".join(line + "\n" for line in rows.values()))
        self._last_row = max(rows, default=-math.inf)

    def metric(self, row: dict[str, Any], replace: bool = False) -> None:
        """Append a row to metrics.jsonl, unless there is one for as many iterations; `replace` puts this one in its place."""
        metrics = self.path / "metrics.jsonl"
        if row["iterations"] <= self._last_row:
            if not replace:
                return
            self._keep_rows(row["iterations"] - 1)
        append_line(metrics, json.dumps(row))
        self._last_row = row["iterations"]


def progress_of(header: dict[str, Any]) -> tuple[int, Spent]:
    """Return how far the checkpoint with this header came; raises `ValueError` if that is not said."""
    iterations, spent = header["iterations"], (header["seconds"], header["spent"])
    fits = type(iterations) is int and 0 <= iterations <= MOST and all(type(x) in (int, float) and 0 <= x < math.inf for x in spent)
    if not fits:
        raise ValueError("its iterations and seconds are not numbers of at least 0")
    return iterations, Spent(*spent)


def check_arrays(arrays: dict[str, NDArray[Any]], own: dict[str, NDArray[Any]]) -> None:
    """Raise `ValueError` unless saved arrays are of the kinds that a new solver has; `own`: its arrays, whose rows may be fewer or more."""
    for name, array in own.items():
        saved = arrays[name]
        if saved.dtype != array.dtype or saved.ndim != array.ndim or (array.size and saved.shape[1:] != array.shape[1:]):
            kind, wanted = (f"{each.dtype} of shape {each.shape}" for each in (saved, array))
            raise ValueError(f"{name} is an array of {kind}, not of {wanted}")


def fill(own: NDArray[Any], saved: NDArray[Any]) -> None:
    """Copy a saved array into one of the same shape; raises `ValueError` if its shape is another one, or a number is not finite."""
    if saved.shape != own.shape or not np.all(np.isfinite(saved)):
        raise ValueError(f"an array of shape {saved.shape} stands where finite numbers of shape {own.shape} are expected")
    own[:] = saved


_KINDS: dict[str, Any] = {name: typing.get_origin(kind) or kind for name, kind in typing.get_type_hints(Job).items()} | {
    "memory": int | float, "curriculum": dict | None, "fingerprint": str, "budget": dict, "out": str | None,
}  # fmt: skip
"""What run.json holds."""
MOST_ASKED = MEGABYTE
"""Of run.json."""


class Entry:
    """How a run is entered: a new one, with or without a folder, or one that is resumed."""

    def __init__(self, job: Job, budget: Budget, folder: Path | None, resume: bool, out: str | None = None) -> None:
        self.run = Folder(folder) if folder else None
        self.resumed: Asked | None = None
        self.asked = Asked(job, "", budget, out)
        if resume:
            if self.run is None:
                raise BadSetting("--resume needs the folder of the run: --run FOLDER (or --resume FOLDER)")
            self.resumed = self.run.asked()
            self.asked = self.resumed if budget == Budget() else self.resumed._replace(budget=budget)

    @contextlib.contextmanager
    def owned(self) -> Iterator[None]:
        """Own the run's folder, if there is one; a new run that is refused leaves nothing behind."""
        if self.run is None:
            yield
            return
        with self.run.owned():
            if not self.resumed:
                self.run.refuse_if_taken()
            try:
                yield
            except Problem:
                if not self.resumed and not self.begun:
                    self.run.withdraw()
                raise

    begun = False

    def game(self, verb: str) -> BaseGame:
        """Return the game of the job. A run that is resumed runs a Python file only if the user has named it."""
        if self.run is None or not self.resumed:
            return load(self.asked.job.game)
        how = f"nebel {verb} {{}} --resume {shlex.quote(str(self.run.path))}"
        return load_named(self.asked.job.game, f"the run in {self.run.path}", how)

    def begin(self, job: Job, game: BaseGame) -> None:
        """Write down what is asked for, before any work is done; refuse rules that are not those of the run that is resumed."""
        if self.resumed and self.resumed.fingerprint != game.fingerprint:
            assert self.run is not None
            raise BadFile(f"the rules of {game.string} have changed since the run in {self.run.path} began; start a new one")
        self.asked = self.asked._replace(job=job, fingerprint=game.fingerprint)
        self._write()

    def limit(self, budget: Budget) -> None:
        """Write down the budget that holds where none was given."""
        self.asked = self.asked._replace(budget=budget)
        self._write()

    def _write(self) -> None:
        if self.run and (self.resumed is None or self.resumed.as_json() != self.asked.as_json()):
            self.run.ask(self.asked)

    def restore(self, solver: Resumable) -> Spent:
        """Bring the solver to where the run was."""
        found = self.run.restore(solver, self.asked.digest) if self.run and self.resumed else Spent()
        self.begun = True
        return found


def _iterations_of(line: str) -> float:
    try:
        return float(json.loads(line)["iterations"])
    except (ValueError, KeyError, TypeError):
        return math.inf  # a line that was cut off
