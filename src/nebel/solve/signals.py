"""Ctrl-C and SIGTERM: the first one ends a run after the iteration that is under way, the second one at once."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 5.0
"""Seconds that an iteration may take to end after a signal, before it is cut off."""


class Stopped(KeyboardInterrupt):
    """A run was stopped by a signal.

    signal      its number
    iterations  how many the last checkpoint holds; None: nothing was kept
    """

    def __init__(self, signal: int, iterations: int | None = None) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal, self.iterations = signal, iterations


class Signals:
    """The signal that has been received, if any; unless somebody watches for it, it interrupts what is under way."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._cut: Callable[[], None] | None = None

    @contextlib.contextmanager
    def watched(self, cut: Callable[[], None]) -> Iterator[None]:
        """Note the first signal in this block, which looks at `received`; call `cut`, from another thread, if it goes on for seconds."""
        self._cut = cut
        try:
            yield
        finally:
            self._cut = None

    def _handle(self, number: int, frame: Any) -> None:
        again, self.received = self.received is not None, number
        if again or self._cut is None:
            raise Stopped(number)

    def _hear(self, inbox: socket.socket) -> None:
        """Cut off a long iteration; compiled code keeps the handler above from running until it returns."""
        while inbox.recv(1):
            timer = threading.Timer(PATIENCE, self._cut_off)
            timer.daemon = True
            timer.start()

    def _cut_off(self) -> None:
        if (cut := self._cut) is not None:
            cut()


@contextlib.contextmanager
def heard() -> Iterator[Signals]:
    """Hear Ctrl-C and SIGTERM for as long as the block lasts; in other threads than the main one they stay as they are."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    inbox, outbox = socket.socketpair()
    outbox.setblocking(False)
    listener = threading.Thread(target=signals._hear, args=(inbox,), daemon=True)
    listener.start()
    before = {number: signal.signal(number, signals._handle) for number in SIGNALS}
    woken = signal.set_wakeup_fd(outbox.fileno(), warn_on_full_buffer=False)
    try:
        yield signals
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        outbox.close()  # which ends the listener
        listener.join()
        inbox.close()
