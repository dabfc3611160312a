"""What an agent brings along from a smaller game that is too large to enumerate: its policy where it has not learned anything new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nebel.core.game import Game
from nebel.policy.table import Shares, TablePolicy, sorted_shares
from nebel.solve.heritage import Heritage
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling


def brought(game: Game, heritage: Heritage, iterations: int, memory: int, walked: float) -> TablePolicy:
    """The policy of a smaller game as a table of a larger one, for the information sets that so many iterations meet."""
    survey = Sampled(game, heritage.recall, None, ChanceSampling(), 0, memory, walked)
    survey.inherit(heritage)
    survey.survey(iterations)
    return survey.policy({})


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
