"""Who works on tasks: this process, processes of this machine, or a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NoReturn, Protocol, TypeVar

from nebel.core.errors import BadSetting, LostWorker

MOST_A_CORE = 4
"""Workers for each core; more would only wait for each other."""

T = TypeVar("T")
R = TypeVar("R")
LOST = "a worker has ended before its work was done (killed, or out of memory); the last checkpoint of a run is as it was: --resume goes on"


class Workers(Protocol):
    """`map` has tasks done side by side, `count` at a time, and gives what comes of them in their order."""

    count: int

    def map(self, work: Callable[[T], R], tasks: Sequence[T]) -> list[R]: ...
    def close(self) -> None: ...


class Alone:
    """All in this process."""

    count = 1

    def map(self, work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        return [work(task) for task in tasks]

    def close(self) -> None:
        """Nothing is held."""


class Processes:
    """Processes of this machine, started anew so that nothing of this one's threads is carried over."""

    def __init__(self, count: int) -> None:
        self.count, self._pool = count, ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _quiet)

    def map(self, work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        try:
            return list(self._pool.map(work, tasks))
        except BrokenProcessPool:
            raise LostWorker(LOST) from None

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


PARTING = 15.0
"""Seconds that a worker stays after SIGTERM: a batch system sends it to all processes of a job at once, and the iteration is to end."""


def _quiet() -> None:
    """Leave signals to the process that gives the tasks; products of small matrices gain nothing from threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave_later)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _leave_later(number: int, frame: Any) -> None:
    timer = threading.Timer(PARTING, os._exit, (1,))
    timer.daemon = True
    timer.start()


class Ray:
    """A Ray cluster: the one this machine belongs to, or else one that is started here for as long as the run takes."""

    def __init__(self, count: int) -> None:
        try:
            import ray
        except ImportError as error:
            raise BadSetting("--workers ray:N takes Ray; install it with: pip install ray") from error
        self._ray, self.count = ray, count
        joined = "RAY_ADDRESS" in os.environ
        options: dict[str, Any] = {} if joined else {"num_cpus": count, "include_dashboard": False}
        handler = signal.getsignal(signal.SIGTERM)
        ray.init(log_to_driver=False, logging_level="ERROR", **options)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray sets one of its own, which leaves without a checkpoint
        cores = int(ray.cluster_resources().get("CPU", 1))
        if count > MOST_A_CORE * cores:
            ray.shutdown()
            _refuse(f"ray:{count}", f"the cluster has {cores}", cores)

    def map(self, work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        remote = self._ray.remote(num_cpus=1)(work)
        try:
            found: list[R] = self._ray.get([remote.remote(task) for task in tasks])
        except (self._ray.exceptions.WorkerCrashedError, self._ray.exceptions.OutOfMemoryError, self._ray.exceptions.NodeDiedError):
            raise LostWorker(LOST) from None
        return found

    def close(self) -> None:
        self._ray.shutdown()


def _refuse(text: str, where: str, cores: int) -> NoReturn:
    raise BadSetting(f"--workers {text} is too many: {where} core{'s' if cores > 1 else ''}, so give at most {MOST_A_CORE * cores}")


def hire(text: str) -> Workers:
    """Workers as people name them: a number of processes (1: this one), or ray:N. Raises `BadSetting` above four times the cores."""
    kind, sign, number = text.rpartition(":")
    if not number.isdecimal() or int(number) < 1 or (sign and kind != "ray"):
        raise BadSetting(f"--workers {text} is not understood; write a number of processes such as 2, or ray:2")
    count = int(number)
    joined = sign and "RAY_ADDRESS" in os.environ
    if not joined and count > MOST_A_CORE * (cores := os.cpu_count() or 1):
        _refuse(text, f"this machine has {cores}", cores)
    return Ray(count) if sign else Alone() if count == 1 else Processes(count)
