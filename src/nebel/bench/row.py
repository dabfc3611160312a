"""What a measurement gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One comparison; `ratio` is how many times better we are, None where the peer is not installed."""

    name: str
    ours: float
    peer: float | None
    ratio: float | None
    unit: str
    peer_name: str
    note: str


class Claim(NamedTuple):
    """Something to be measured, given about so many seconds a side; `share` is how much of the whole that is."""

    name: str
    measure: Callable[[float], Row]
    share: float = 0.3
