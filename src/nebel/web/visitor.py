"""Who asks, as far as a server can tell: the address that a request came from. Limits are counted by it."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from nebel.web.refusal import Refusal

VISITOR: ContextVar[str] = ContextVar("visitor", default="")
"""The visitor whose request is being answered; what it starts (tasks, thoughts of agents) is its, too."""


def visitor_of(scope: Mapping[str, Any]) -> str:
    """The address of the client; of IPv6 the network, since one visitor has all the addresses in it."""
    client = scope.get("client")
    host = str(client[0]) if client else ""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return host


class Rate:
    """So many things a minute for each visitor, all of them at once if it likes."""

    def __init__(self, a_minute: int, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._what, self._clock = a_minute, what, clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self) -> None:
        """Count one more, or refuse it."""
        visitor, now = VISITOR.get(), self._clock()
        left, then = self._left.pop(visitor, (float(self._most), now))
        left = min(self._most, left + (now - then) * self._most / 60)
        self._left[visitor] = (left - 1 if left >= 1 else left), now
        for old, (_, when) in list(self._left.items()):  # the longest ago first
            if now - when < 60:
                break
            del self._left[old]
        if left < 1:
            raise Refusal(f"{self._most:,} {self._what} a minute are the most for one visitor; wait a little", 429)


class Counted:
    """So many things at a time for each visitor."""

    def __init__(self, most: int, what: str) -> None:
        self._most, self._what = most, what
        self._now: Counter[str] = Counter()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count one while the block runs, or refuse it."""
        visitor = VISITOR.get()
        if self._now[visitor] >= self._most:
            raise Refusal(f"{self._most:,} {self._what} at a time are the most for one visitor; close one", 429)
        self._now[visitor] += 1
        try:
            yield
        finally:
            self._now[visitor] -= 1
            if not self._now[visitor]:
                del self._now[visitor]
