"""Amounts as people write them: whole numbers such as 10k, and times such as 500ms."""

from __future__ import annotations

import re
from fractions import Fraction

from nebel.core.errors import BadSetting

NUMBER = r"([+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?)"
SIZES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
MOST = 10**15
"""The largest number of iterations, games, simulations and the like: no computer is ever done with more."""
UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60)}


class TooMuch(BadSetting):
    """A number that is written well, but too large."""


def read_count(text: str, most: int | None = None) -> int:
    """A whole number: 2000, 10k, 1.5M or 1e6; `TooMuch` is raised above `most`."""
    found = re.fullmatch(f"{NUMBER}({'|'.join(SIZES)})", text)
    number = Fraction(found[1]) * SIZES[found[2]] if found else None
    if number is None or number.denominator != 1:
        raise BadSetting(f"{text!r} is not a whole number; write it as 2000, 10k, 1.5M or 1e6")
    if most is not None and number > most:
        raise TooMuch(f"{text} is out of range: it must be at most {most:g}")
    return int(number)


def read_seconds(text: str) -> float:
    """A time: 1s, 500ms or 2m."""
    found = re.fullmatch(f"{NUMBER}({'|'.join(UNITS)})", text)
    if not found:
        raise BadSetting(f"{text!r} is not a time; write it as 1s, 500ms or 2m")
    return float(Fraction(found[1]) * UNITS[found[2]])
