"""What an agent brings along from a smaller game that is too large to enumerate: its policy where it has not learned anything new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nebel.core.game import Game
from nebel.policy.table import Shares, TablePolicy, sorted_shares
from nebel.solve.cfr import shares_of
from nebel.solve.heritage import Held, Heritage
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling

MARK = 2.0**40
"""Far more than sums of the average come to in a survey."""


def brought(game: Game, heritage: Heritage, iterations: int, memory: int, walked: float) -> TablePolicy:
    """The policy of a smaller game as a table of a larger one, for the information sets that a survey by sampled deals meets.

    Places of the smaller game are numbered in the sums that a solver takes over; the numbers outlast what it adds to them.
    """
    numbered = [MARK * np.arange(1, len(held.move) + 1, dtype=np.float64) for held in heritage.held]
    first, second = (held._replace(total=total, regret=np.zeros(len(total))) for held, total in zip(heritage.held, numbered, strict=True))
    survey = Sampled(game, heritage.recall, None, ChanceSampling(weights="plain"), 0, memory, walked)
    survey.inherit(heritage._replace(held=(first, second)))
    survey.run(iterations)
    mine, theirs = (_filled(found, held) for found, held in zip(survey.held(), heritage.held, strict=True))
    return TablePolicy(game.string, game.fingerprint, heritage.recall, (mine, theirs), "uniform")


def _filled(found: Held, held: Held) -> Shares:
    source = np.rint(found.total / MARK).astype(np.int64)
    return Shares(found.keys, found.first, found.move, shares_of(found.first, np.append(0.0, held.total)[source]))


def completed(policy: TablePolicy, fallback: TablePolicy) -> TablePolicy:
    """The policy, and where it says nothing the other."""
    first, second = (_joined(own, other) for own, other in zip(policy.shares, fallback.shares, strict=True))
    return replace(policy, shares=(first, second))


def _joined(own: Shares, other: Shares) -> Shares:
    width = np.diff(other.first)
    new = ~np.isin(other.keys, own.keys)
    places = np.repeat(new, width)
    return sorted_shares(
        np.concatenate([own.keys, other.keys[new]]),
        np.concatenate([np.diff(own.first), width[new]]),
        np.concatenate([own.move, other.move[places]]),
        np.concatenate([own.share, other.share[places]]),
    )
