"""Threads for whatever takes longer than an answer may: thinking, loading, judging."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Job = Callable[[], None]


class Workers:
    """So many threads, first come first served. They end with the process, whatever they are at."""

    def __init__(self, threads: int, name: str) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for i in range(threads):
            threading.Thread(target=self._work, name=f"{name}-{i}", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """What `function` returns or raises, computed in one of the threads."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(result: T | None, error: BaseException | None) -> None:
            if future.cancelled():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]

        def job() -> None:
            outcome: tuple[T | None, BaseException | None]
            try:
                outcome = function(*args), None
            except StopIteration as error:  # futures do not take it: whoever waits would wait for ever
                outcome = None, RuntimeError(f"{function} stopped an iteration: {error}")
            except BaseException as error:
                outcome = None, error
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, *outcome)

        self._jobs.put(job)
        return await future
