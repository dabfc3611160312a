"""Rates of several contenders, measured in turn within one run.

The clock is the CPU time of this process: other work on the machine hardly counts, and a second thread would gain nobody
anything. Contenders take turns in short slices, in changing order, so that a slow moment meets all of them; a ratio is taken
within each round, and the median over the rounds is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from statistics import median
from time import process_time

from nebel.bench.row import Row

ROUNDS = 7


def looped(step: Callable[[], object]) -> Callable[[int], None]:
    """Many steps from one: for peers that are called once an iteration."""

    def work(count: int) -> None:
        for _ in repeat(None, count):
            step()

    return work


@dataclass
class Contender:
    """`work(n)` does n iterations."""

    name: str
    work: Callable[[int], object]
    pace: float = 1.0

    def spend(self, seconds: float) -> float:
        """Iterations a second, over about this much time."""
        done, spent = 0, 0.0
        while spent < seconds:
            count = max(1, int(min(self.pace * (seconds - spent), 4 * self.pace * seconds)))
            begin = process_time()
            self.work(count)
            took = process_time() - begin
            spent += took
            done += count
            self.pace = min(count / max(took, 1e-9), 8 * max(self.pace, count / seconds))
        return done / spent


@dataclass(frozen=True)
class Outcome:
    """How we did against the peer's best contender."""

    ours: float
    peer: float
    ratio: float
    best: str


def race(ours: Contender, peers: Iterable[Contender], seconds: float, warm_up: int = 1) -> Outcome:
    """Each contender gets `seconds`, after the same number of iterations to warm up."""
    field = [ours, *peers]
    for contender in field:
        contender.work(warm_up)
        contender.spend(seconds / 20)
    rates: list[list[float]] = [[] for _ in field]
    for turn in range(ROUNDS):
        order = range(len(field)) if turn % 2 == 0 else range(len(field) - 1, -1, -1)
        for i in order:
            rates[i].append(field[i].spend(seconds / ROUNDS))
    ratios = [median(a / b for a, b in zip(rates[0], peer, strict=True)) for peer in rates[1:]]
    best = min(range(len(ratios)), key=ratios.__getitem__)
    return Outcome(median(rates[0]), median(rates[best + 1]), ratios[best], field[best + 1].name)


def alone(ours: Contender, seconds: float, warm_up: int = 1) -> float:
    """Our rate, where there is nobody to race."""
    ours.work(warm_up)
    ours.spend(seconds / 20)
    return median(ours.spend(seconds / ROUNDS) for _ in range(ROUNDS))


def against(
    name: str, ours: Contender, peers: Callable[[], list[Contender]], seconds: float, unit: str, package: str, note: str, warm_up: int = 1
) -> Row:
    """The row of a race, or of a lonely run if the peer's package is missing."""
    try:
        field = peers()
    except ImportError as missing:
        rate = alone(ours, seconds, warm_up)
        return Row(name, rate, None, None, unit, package, f"not compared: {missing.name or package} is not installed; {note}")
    end = race(ours, field, seconds, warm_up)
    return Row(name, end.ours, end.peer, end.ratio, unit, end.best, note)
