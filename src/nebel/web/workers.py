"""Threads for whatever takes longer than an answer may: thinking, loading, judging. Visitors take turns."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, TypeVar

from nebel.core.interrupt import Interrupted, stoppable
from nebel.web.refusal import Refusal
from nebel.web.visitor import VISITOR

T = TypeVar("T")

GRACE = 5.0
"""Seconds in which work that is told to stop should do so; then another thread takes the place of its own."""
MOST_LOST = 8
"""Threads that are replaced at a time: those that compute on and on are not to fill the machine."""


class _Job:
    """Work of one visitor: `run` computes it and tells whoever waits; `stop` says that nobody waits any longer."""

    def __init__(self, visitor: str, run: Callable[[], None]) -> None:
        self.visitor, self.run = visitor, run
        self.stop = threading.Event()
        self.lost = False


class Workers:
    """Some threads, and queues of jobs, one a visitor: the next job is that of the visitor whose turn was the longest ago.

    threads  how many jobs run at a time
    each     how many of them may be of one visitor (default: all but one)
    waiting  how many more of one visitor may wait; None: any number

    The threads end with the process, whatever they are at.
    """

    def __init__(self, threads: int, name: str, each: int | None = None, waiting: int | None = None) -> None:
        self._name, self._each, self._most = name, each or max(1, threads - 1), waiting
        self._ready = threading.Condition()
        self._queues: dict[str, deque[_Job]] = {}
        """By visitor, the next one first."""
        self._running: Counter[str] = Counter()
        self._lost = 0
        for _ in range(threads):
            self._hire()

    def _hire(self) -> None:
        threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._ready:
                while (job := self._next()) is None:
                    self._ready.wait()
                self._running[job.visitor] += 1
            job.run()
            with self._ready:
                self._running -= Counter({job.visitor: 1})
                self._ready.notify_all()
                if job.lost:  # another thread has this one's place
                    self._lost -= 1
                    return

    def _next(self) -> _Job | None:
        for visitor, queue in self._queues.items():
            if self._running[visitor] < self._each:
                job = queue.popleft()
                del self._queues[visitor]
                if queue:
                    self._queues[visitor] = queue  # behind all others
                return job
        return None

    def _add(self, job: _Job) -> None:
        with self._ready:
            queue = self._queues.setdefault(job.visitor, deque())
            if self._most is not None and len(queue) >= self._most:
                raise Refusal(f"{self._most} of your requests are waiting for their turn already; let them be answered first", 429)
            queue.append(job)
            self._ready.notify()

    def _drop(self, job: _Job) -> bool:
        """Stop a job; True if it runs, and so takes until it notices."""
        job.stop.set()
        with self._ready:
            queue = self._queues.get(job.visitor, deque())
            if job not in queue:
                return True
            queue.remove(job)
            if not queue:
                del self._queues[job.visitor]
            return False

    def _replace(self, job: _Job, ended: threading.Event) -> None:
        """Another thread in the place of one that does not stop."""
        with self._ready:
            if ended.is_set() or self._lost >= MOST_LOST:
                return
            job.lost = True
            self._lost += 1
        self._hire()

    async def run(self, function: Callable[..., T], *args: Any, then: Callable[[T], None] | None = None) -> T:
        """Return what `function` returns, or raise what it raises, computed in one of the threads; cancelling the wait stops it.

        then  called in the same thread with the result, after that has been handed on and before the thread takes another job; not if
              the wait was cancelled
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        ended = threading.Event()

        def settle(result: T | None, error: BaseException | None) -> None:
            if future.cancelled():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]

        def compute() -> None:
            outcome: tuple[T | None, BaseException | None]
            visitor = VISITOR.set(job.visitor)
            try:
                with stoppable(job.stop.is_set):
                    outcome = function(*args), None
            except StopIteration as error:  # futures do not take it: whoever waits would wait for ever
                outcome = None, RuntimeError(f"{function} stopped an iteration: {error}")
            except Interrupted:
                outcome = None, Refusal("the server has given this up", 503)
            except BaseException as error:
                outcome = None, error
            finally:
                VISITOR.reset(visitor)
            ended.set()
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, *outcome)
            if then is not None and outcome[1] is None and not job.stop.is_set():
                then(outcome[0])

        job = _Job(VISITOR.get(), compute)
        self._add(job)
        try:
            return await future
        except asyncio.CancelledError:
            if self._drop(job) and not loop.is_closed():
                loop.call_later(GRACE, self._replace, job, ended)
            raise
