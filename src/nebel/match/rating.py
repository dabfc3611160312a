"""Elo ratings of all agents at once, from all their matches.

Bradley, Terry. Rank Analysis of Incomplete Block Designs. 1952. An agent rated d above another is expected to score
1 / (1 + 10^(-d/400)) a game, a draw counting half. The ratings are those of maximum likelihood, their mean is 1500, and the
intervals come from the inverse of the information matrix, games taken as independent.

If some agents never lost a point to the others, the likelihood grows without end; then, and only then, every pair that met
gets one more draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.match.arena import Z95, Result

MEAN = 1500.0
SCALE = 400 / math.log(10)

Reals = NDArray[np.float64]


class Rating(NamedTuple):
    agent: str
    elo: float
    interval: tuple[float, float]


class Ratings(NamedTuple):
    table: list[Rating]  # the best first
    added_draws: int  # to every pair


def rate(results: Sequence[Result]) -> Ratings:
    names = list(dict.fromkeys(name for result in results for name in (result.a, result.b)))
    points = np.zeros((len(names), len(names)))  # what the agent of the row scored against that of the column
    for result in results:
        i, j = names.index(result.a), names.index(result.b)
        points[i, j] += result.wins + result.draws / 2
        points[j, i] += result.losses + result.draws / 2
    added = 0 if _bounded(points) else 1
    points += added * (points + points.T > 0) / 2
    strength, covariance = _most_likely(points)
    reach = Z95 * SCALE * np.sqrt(np.diag(covariance))
    elo = MEAN + SCALE * strength
    table = [Rating(n, float(e), (float(e - r), float(e + r))) for n, e, r in zip(names, elo, reach, strict=True)]
    return Ratings(sorted(table, key=lambda rating: -rating.elo), added)


def _bounded(points: Reals) -> bool:
    """Is there a chain of points from every agent to every other (Ford 1957)?"""
    reached = (points > 0) | np.eye(len(points), dtype=bool)
    for _ in range(len(points).bit_length()):
        reached = reached @ reached
    return bool(reached.all())


def _most_likely(points: Reals) -> tuple[Reals, Reals]:
    """Strengths that sum to 0, and their covariance: Newton's method, with halved steps where whole ones lead downhill."""
    games = points + points.T
    strength = np.zeros(len(points))
    constant = np.full_like(points, 1 / len(points))  # fixes the direction in which the likelihood is flat
    for _ in range(200):
        expected = _expected(strength)
        gradient = (points - games * expected).sum(axis=1)
        step = np.linalg.solve(_information(games, expected) + constant, gradient)
        here = _likelihood(points, strength)
        while _likelihood(points, strength + step) < here and np.abs(step).max() > 1e-12:
            step /= 2
        strength = strength + step - step.mean()
        if np.abs(step).max() < 1e-10:
            break
    return strength, np.linalg.inv(_information(games, _expected(strength)) + constant) - constant


def _expected(strength: Reals) -> Reals:
    return 1 / (1 + np.exp(strength[None, :] - strength[:, None]))


def _likelihood(points: Reals, strength: Reals) -> float:
    return -float((points * np.log1p(np.exp(strength[None, :] - strength[:, None]))).sum())


def _information(games: Reals, expected: Reals) -> Reals:
    weight = games * expected * (1 - expected)
    return np.diag(weight.sum(axis=1)) - weight
