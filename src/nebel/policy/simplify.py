"""Simpler policies: fewer moves (SIP) with plainer probabilities (SIP+).

Tapkan, "Dark Hex: A Large Scale Imperfect Information Game", 2022, sections 4.6 and 4.7; b, epsilon, N and eta there are
`actions`, `threshold`, `denominator` and `eta` here. docs/algorithms/simplify.md says where this departs and why.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadSetting
from nebel.core.settings import Settings, setting
from nebel.policy.table import Longs, Reals, Shares, TablePolicy

Flags = NDArray[np.bool_]

ETA = 0.005
ROUNDING = 1e-12
"""A difference up to this is rounding, not a change."""


@dataclass(frozen=True)
class Simplify(Settings):
    """What to keep of a policy, and how to round it."""

    actions: int = setting(8, "moves to keep at most in an information state", 1)
    threshold: float = setting(0.1, "drop moves whose probability is not above this")
    denominator: int | None = setting(None, "snap probabilities to fractions k/n with n at most this (default: no snapping)")
    eta: float | None = setting(None, f"how far a probability may move when it snaps (default: {ETA})")
    rescale: str = setting("sum", "how kept probabilities become whole: divided by their sum, or softmax", choices=("sum", "softmax"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold < 1:
            raise BadSetting(f"--threshold {self.threshold:g} is out of range: it must be at least 0 and below 1")
        if self.denominator is None:
            if self.eta is not None:
                raise BadSetting("--eta says how far probabilities may snap; give --denominator too, which says to what")
            return
        if not 1 <= self.denominator <= 1000:
            raise BadSetting(f"--denominator {self.denominator} is out of range: it must be between 1 and 1000")
        if self.eta is None:
            object.__setattr__(self, "eta", ETA)
        elif not 0 <= self.eta <= 1:
            raise BadSetting(f"--eta {self.eta:g} is out of range: it must be between 0 and 1")


@dataclass
class Counts:
    """Information states whose probabilities changed; of those with several moves left, how many were snapped and how many not."""

    changed: int = 0
    snapped: int = 0
    left: int = 0


def simplify(policy: TablePolicy, settings: Simplify | None = None) -> TablePolicy:
    """The same policy with fewer moves and, if a denominator is given, with simple fractions. Dropped moves stay as zeros."""
    settings, counts = settings or Simplify(), Counts()
    shares = (_simple(policy.shares[0], settings, counts), _simple(policy.shares[1], settings, counts))
    entry = {**dataclasses.asdict(settings), **dataclasses.asdict(counts)}
    if "simplified" in policy.facts:
        entry["earlier"] = policy.facts["simplified"]
    return dataclasses.replace(policy, shares=shares, facts={**policy.facts, "simplified": entry})


def _simple(table: Shares, settings: Simplify, counts: Counts) -> Shares:
    kept = _keep(table, settings)
    width = np.diff(table.first)
    weights = np.where(kept, table.share if settings.rescale == "sum" else np.exp(table.share), 0.0)
    new = weights / np.repeat(np.add.reduceat(weights, table.first[:-1]), width)
    if settings.denominator is not None and settings.eta is not None:
        _snap(new, kept, table.first, settings.denominator, settings.eta, counts)
    moved = (np.abs(new - table.share) > ROUNDING) | ((table.share > 0) & (new == 0))
    counts.changed += int(np.count_nonzero(np.logical_or.reduceat(moved, table.first[:-1])))
    return table._replace(share=new)


def _snap(share: Reals, kept: Flags, first: Longs, denominator: int, eta: float, counts: Counts) -> None:
    """Rows of several moves go to simple fractions, in place, if those are near enough."""
    for row in np.flatnonzero(np.add.reduceat(kept, first[:-1], dtype=np.int64) > 1).tolist():
        places = first[row] + np.flatnonzero(kept[first[row] : first[row + 1]])
        fractions, error = nearest_fractions(tuple(share[places].tolist()), denominator)
        if error <= eta:
            share[places] = [float(f) for f in fractions]
            counts.snapped += 1
        else:
            counts.left += 1


def _keep(table: Shares, settings: Simplify) -> Flags:
    """By place in the table: is the move kept? Of equally likely moves the earlier goes first; the likeliest always stays."""
    share: Reals = table.share
    width = np.diff(table.first)
    row = np.repeat(np.arange(len(table.keys)), width)
    order = np.lexsort((-share, row))  # stable
    best = share[order[table.first[:-1]]]
    if not (np.all(share >= 0) and np.all(best > 0) and np.all(np.isfinite(best))):
        raise BadFile("the policy has an information state whose probabilities are negative, not numbers, or all zero")
    rank = np.arange(len(share)) - np.repeat(table.first[:-1], width)
    kept = np.zeros(len(share), np.bool_)
    kept[order] = (rank == 0) | ((rank < settings.actions) & (share[order] > settings.threshold))
    return kept


@lru_cache(1 << 16)  # uniform rows, above all, come again and again
def nearest_fractions(row: tuple[float, ...], largest: int) -> tuple[tuple[Fraction, ...], Fraction]:
    """Fractions with one denominator n <= `largest` that sum to exactly 1 and whose largest distance from the row is smallest; and that
    distance. For each n, rounding by largest remainders is the best there is; of equally good n the smallest is taken.
    """
    ratios = [p.as_integer_ratio() for p in row]
    common = max(bottom for _, bottom in ratios)  # powers of two all
    weights = [top * (common // bottom) for top, bottom in ratios]
    total = sum(weights)
    best: tuple[Fraction, int, list[int]] | None = None
    for n in range(1, largest + 1):
        parts = [divmod(w * n, total) for w in weights]
        spare = n - sum(k for k, _ in parts)
        up = sorted(range(len(row)), key=lambda i: (-parts[i][1], -weights[i], i))[:spare]
        tops = [k + (i in up) for i, (k, _) in enumerate(parts)]
        error = Fraction(max(abs(k * total - w * n) for k, w in zip(tops, weights, strict=True)), n * total)
        if best is None or error < best[0]:
            best = error, n, tops
        if not error:
            break
    assert best is not None
    return tuple(Fraction(k, best[1]) for k in best[2]), best[0]
