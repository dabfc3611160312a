"""The loop of all that solves and learns: iterate within a budget, measure on the way, keep checkpoints, stop when told to."""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from nebel.solve.run import Budget, Entry, Resumable, Spent
from nebel.solve.signals import Signals, Stopped

GRACE = 1.0
"""Seconds over its budget after which a run cuts off the iterations that are under way, if that can be done."""
LONG = 5.0
"""Seconds of iterating after which a checkpoint is kept before its time: so much would be lost if the next iterations were interrupted."""
RARELY = 20.0
"""Such checkpoints come no sooner than so many times what the last one took: those of gigabytes would take longer than iterating."""


class Loop(ABC):
    """Iterate until the budget is spent. Iterations are measured at counts that no clock decides, wherever a run was interrupted.

    Subclasses say how to iterate, when and how to measure, and what to tell.
    """

    exploitability: float | None = None
    """What the last measurement found, if it could be computed."""
    can_be_cut = False
    """Whether `stop` ends iterations that are under way."""

    def __init__(
        self, work: Resumable, budget: Budget, entry: Entry, signals: Signals, checkpoint_every: float, overdue: Callable[[], None]
    ) -> None:
        self.work, self.budget, self.entry, self.signals, self.checkpoint_every = work, budget, entry, signals, checkpoint_every
        self.overdue = overdue
        self.seconds = 0.0  # of iterating
        self._before = 0.0  # seconds of earlier parts of the run, of all that counts
        self._measured_at = self._kept_at = -1
        self._took_to_save = 0.0
        self._pace = 0.0  # seconds that an iteration took lately
        self.idle = True  # whether there was nothing left to do

    @abstractmethod
    def prepare(self) -> None:
        """Compile what is needed."""

    @abstractmethod
    def advance(self, stop: int) -> None:
        """Iterate, at most until `stop` iterations are done."""

    @abstractmethod
    def next_measured(self, iterations: int) -> int:
        """Return the first of a fixed series of iteration counts that is greater than `iterations`."""

    @abstractmethod
    def measure(self) -> None:
        """Measure what has been found so far."""

    @abstractmethod
    def tell(self, measured: bool) -> None:
        """Report how the run stands, and write down what belongs into its metrics."""

    @abstractmethod
    def stop(self) -> None:
        """End the iterations that are under way as soon as possible; called from another thread."""

    @property
    def cut(self) -> bool:
        """Whether the last iteration was ended before it was done; what it found is kept in the policy, and in no checkpoint."""
        return False

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return False

    def run(self) -> None:
        """Iterate until the budget is spent; raises `Stopped` after a signal, with a checkpoint if there is a place for one."""
        spent = self.entry.restore(self.work)
        self.seconds, self._before = spent.iterating, spent.in_all
        self._kept_at = self.work.iterations if spent.in_all else -1
        try:
            self.prepare()
            with self.signals.watched(self.stop):
                self._begun = self._saved = time.monotonic()
                done = self.work.iterations
                if done and self.budget.until is not None and self.next_measured(done - 1) == done:
                    self._measure()  # the run may have ended here
                while not self._done():
                    self._go_on()
                if self._measured_at != self.work.iterations or self.cut:  # a run that is resumed after its end
                    self._measure()
                    self.tell(True)
                if not self.cut:
                    self._save()
        except Stopped as stopped:
            stopped.iterations = self._kept_at if self._kept_at >= 0 else None
            raise

    def _go_on(self) -> None:
        self.idle = False
        before = self.work.iterations
        stop = self.next_measured(before)
        if self.budget.iterations is not None:
            stop = min(stop, self.budget.iterations)
        begun = time.perf_counter()
        with self._cut_off_in_time():
            self.advance(stop)
        took = time.perf_counter() - begun
        self.seconds += took
        self._pace = took / max(1, self.work.iterations - before)
        due = not self.cut and (self.work.iterations >= stop or (self.signals.received is None and self._done()))
        if due:
            self._measure()
        self.tell(due)
        if self.signals.received is not None:
            if not self.cut:
                self._save()
            raise Stopped(self.signals.received)
        since = time.monotonic() - self._saved
        if not self.cut and (since > self.checkpoint_every or (took > LONG and since > RARELY * self._took_to_save)):
            self._save()

    def _measure(self) -> None:
        self.measure()
        self._measured_at = self.work.iterations

    def _save(self) -> None:
        if self.entry.run and self._kept_at != self.work.iterations:
            begun = time.monotonic()
            self.entry.run.save(self.work, Spent(self.seconds, self.spent), self.entry.asked.digest)
            self._kept_at, self._saved = self.work.iterations, time.monotonic()
            self._took_to_save = self._saved - begun

    @contextlib.contextmanager
    def _cut_off_in_time(self) -> Iterator[None]:
        """Cut off iterations that would go far beyond the budget's seconds, or say that they do."""
        if self.budget.seconds is None:
            yield
            return
        timer = threading.Timer(max(0.0, self.budget.seconds - self.spent) + GRACE, self.stop if self.can_be_cut else self.overdue)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @property
    def spent(self) -> float:
        """Seconds that count against the budget: all since the first iteration, measuring included."""
        return self._before + time.monotonic() - self._begun

    @property
    def share(self) -> float:
        """How much of the budget is spent, from 0 to 1."""
        done = self.work.iterations / self.budget.iterations if self.budget.iterations else 0.0
        return min(1.0, max(done, self.spent / self.budget.seconds if self.budget.seconds else 0.0))

    def _done(self) -> bool:
        budget, found = self.budget, self.exploitability
        if self.cut or self.full or (budget.iterations is not None and self.work.iterations >= budget.iterations):
            return True
        if budget.until is not None and found is not None and self._measured_at == self.work.iterations and found <= budget.until:
            return True
        if budget.seconds is None:
            return False
        left = budget.seconds - self.spent
        return left <= 0 or (self._pace > left + GRACE and not self.can_be_cut)
