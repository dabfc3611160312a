"""Thinking for a number of simulations, or by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable

from nebel.core.errors import BadSetting

FIRST_LOOK = 64
"""Simulations before the first look at the clock."""


def spend(simulate: Callable[[int], None], simulations: int | None, seconds: float | None) -> int:
    """Simulate this often, or for this long (at least once), or until either is used up; returns how often."""
    if simulations is None and seconds is None:
        raise BadSetting("thinking takes a number of simulations, or seconds")
    if seconds is None:
        simulate(simulations or 0)
        return simulations or 0
    end, done, chunk = time.perf_counter() + seconds, 0, FIRST_LOOK
    while ((now := time.perf_counter()) < end or not done) and done != simulations:
        chunk = chunk if simulations is None else min(chunk, simulations - done)
        simulate(chunk)
        done += chunk
        pace = (time.perf_counter() - now) / chunk
        chunk = max(1, min(2 * chunk, int(0.5 * (end - time.perf_counter()) / pace)))
    return done
