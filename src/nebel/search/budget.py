"""Thinking for a number of simulations, or by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from nebel.core.amounts import MOST, TooMuch, read_count, read_seconds
from nebel.core.errors import BadSetting
from nebel.core.interrupt import check

FIRST_LOOK = 64
"""Simulations before the first look at the clock."""


class Budget(NamedTuple):
    """What a search may spend on a move: simulations, or seconds."""

    simulations: int | None = None
    seconds: float | None = None

    def part(self, share: float) -> Budget:
        """A share of it, at least one simulation.

        >>> Budget(simulations=1000).part(0.25)
        Budget(simulations=250, seconds=None)
        """
        simulations = None if self.simulations is None else max(1, int(self.simulations * share))
        return Budget(simulations, None if self.seconds is None else self.seconds * share)


def read_budget(text: str) -> Budget:
    """A budget as people write it: `10k`, `1.5M`, `1e6` and `2000` are simulations, `1s`, `500ms` and `2m` are times."""
    try:
        if text.endswith(("s", "m")):
            budget = Budget(seconds=read_seconds(text))
        else:
            budget = Budget(simulations=read_count(text, MOST))
    except TooMuch:
        raise
    except BadSetting as error:
        raise BadSetting(f"{text!r} is no budget; write simulations as 2000, 10k, 1.5M or 1e6, or a time as 1s, 500ms or 2m") from error
    if max(x for x in budget if x is not None) <= 0:
        raise BadSetting(f"{text!r} is no budget: it must be more than nothing")
    return budget


def spend(simulate: Callable[[int], None], simulations: int | None, seconds: float | None) -> int:
    """Simulate this often, or for this long (at least once), or until either is used up; returns how often."""
    if simulations is None and seconds is None:
        raise BadSetting("thinking takes a number of simulations, or seconds")
    if seconds is None:
        simulate(simulations or 0)
        return simulations or 0
    end, done, chunk = time.perf_counter() + seconds, 0, FIRST_LOOK
    while ((now := time.perf_counter()) < end or not done) and done != simulations:
        check()
        chunk = chunk if simulations is None else min(chunk, simulations - done)
        simulate(chunk)
        done += chunk
        pace = (time.perf_counter() - now) / chunk
        chunk = max(1, min(2 * chunk, int(0.5 * (end - time.perf_counter()) / pace)))
    return done
