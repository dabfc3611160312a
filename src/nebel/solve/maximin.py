"""Maximin: the best policies of classic Dark Hex that remember the board only, each with its exact guarantee.

For a player who forgets, averages of strategies are no strategies, so what regret minimisation promises does not hold. But what
a table of shares wins against one pure response is a polynomial in the shares, and its slopes are exact and cheap
(`dark_hex/slopes.py`). So each player climbs: a linear programme (`solve/best_step.py`) finds the step of limited length that
raises most what is won at least against the responses known so far, as their slopes promise it. The exact best response to the
new table (`judge/board_response.py`) says what it guarantees, and joins the responses. A step that guarantees more is taken; one
that the slopes promised too much for makes the radius smaller. Conn, Gould, Toint. Trust-Region Methods. 2000 (chapter 11).

The start is the average strategy of a few iterations of CFR+ over merged states, without its small shares, and with the sure
wins. Where no step promises more, the best table is shaken and the climb begins again. The guarantee holds whatever the other
player remembers, and cannot exceed the value of the game.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame
from nebel.core.rng import generator, mix
from nebel.dark_hex.forest import Board, Forest, board_of, check_forest, plant
from nebel.dark_hex.slopes import Slope, Slopes
from nebel.dark_hex.sure_wins import on_board
from nebel.judge.best_response import Verdict
from nebel.judge.board_response import BoardResponder
from nebel.policy.hex_table import BOARD
from nebel.policy.table import TablePolicy
from nebel.solve.best_step import LEAST_GAIN, Reals, Step, best_step, flow_of
from nebel.solve.board_table import board_table, reachable
from nebel.solve.merged import MergedStates
from nebel.solve.run import Steady
from nebel.solve.settings import MaximinSettings

LEAST_SHARE = 1e-5
SHAKE, SHAKEN = 0.02, 100
"""The share of a move that a shaken table tries, and on how many boards it does."""

SMALL = 1e-12
LARGEST = 0.5
"""The largest radius."""

NEWEST = 0.2
"""The weight of a response that is new; those of the others sum to 1."""

PATIENCE = 50
"""Steps after which a response is dropped that did not bind in any of them."""


class Climber:
    """One player's table of shares, the responses that bound it, and the best table so far."""

    def __init__(self, board: Board, player: int, sure: tuple[Any, Any], seed: int, radius: float) -> None:
        self.shares = self.best = np.zeros((3**board.cells, board.cells))
        self.guarantee = self.best_guarantee = 0.0
        self.radius, self._first_radius, self.steps = radius, radius, 0
        self._board, self._responder = board, BoardResponder(board, 1 - player, sure[1 - player])
        self._slope = Slope(board, player, sure[1 - player])
        self._seed = generator(seed + player)[0]
        self._sure, self._flow = sure[player], np.zeros(len(self.shares))
        self._forest = plant()
        self._roots, self._used = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._slopes: list[Slopes] = []
        self._weight = np.zeros(0)

    def begin(self, shares: Reals) -> None:
        self.shares = self.best = shares
        self.guarantee = self.best_guarantee = self._respond(shares)
        self._measure(0)

    def _fresh_seed(self) -> int:
        with np.errstate(over="ignore"):
            return int(mix(self._seed ^ self.steps))

    def _respond(self, shares: Reals) -> float:
        """What a table guarantees; the response to it joins the others."""
        guarantee = 1.0 - self._responder.judge(shares)
        start, self._forest = self._responder.write_down(shares, self._forest, self._fresh_seed())
        self._roots, self._used = np.append(self._roots, start), np.append(self._used, self.steps)
        self._weight = np.append(self._weight, NEWEST)
        return guarantee

    def _measure(self, known: int) -> None:
        """Slopes of all responses but the first `known`."""
        flow_of(self.shares, self._sure, self._flow)
        del self._slopes[known:]
        for start in self._roots[known:]:
            slopes, self._forest = self._slope.against(self._forest, int(start), self.shares)
            self._slopes.append(slopes)

    def step(self) -> None:
        self.steps += 1
        step = best_step(self.shares, self._flow, self._slopes, self._weight, self.radius)
        self._weight = step.weight
        self._used[step.weight > 0] = self.steps
        hoped = step.promised - self.guarantee
        if hoped < LEAST_GAIN:
            self._rest()
            return
        shares = self._after(step)
        guarantee = self._respond(shares)
        if guarantee > self.guarantee:
            if guarantee - self.guarantee > hoped / 2:
                self.radius = min(LARGEST, 1.5 * self.radius)
            self.shares, self.guarantee = shares, guarantee
            if guarantee > self.best_guarantee:
                self.best, self.best_guarantee = shares, guarantee
            self._drop()
            self._measure(0)
        else:
            self._measure(len(self._slopes))
            if _promise(self._slopes[-1], step) > self.guarantee:  # so it was the radius: this response's slopes had not prevented it
                self.radius *= 0.7

    def _rest(self) -> None:
        """No step of this length promises more: allow longer ones, and if there are none, go on from a shaken table."""
        if self.radius < LARGEST:
            self.radius = min(LARGEST, 2 * self.radius)
            return
        self.radius = self._first_radius
        self.shares = self._shaken()
        self.guarantee = self._respond(self.shares)
        self._measure(0)

    def _shaken(self) -> Reals:
        """The best table, tidied, with a small share for another move on some boards that matter, so that what follows is learned."""
        shares = self.tidy()
        cells = shares.shape[1]
        flow_of(shares, self._sure, self._flow)
        rows = np.unique(np.concatenate([known.place for known in self._slopes]) // cells)
        draw = np.random.default_rng(abs(self._fresh_seed()))
        rows = draw.permutation(rows[self._flow[rows] > 0])
        free = (rows[:, None] // 3 ** np.arange(cells) % 3 == 0) & (shares[rows] == 0)
        rows, free = rows[free.any(axis=1)][:SHAKEN], free[free.any(axis=1)][:SHAKEN]
        other = np.argmax(draw.random(free.shape) * free, axis=1)
        shares[rows] *= 1 - SHAKE
        shares[rows, other] = SHAKE
        return shares

    def _after(self, step: Step) -> Reals:
        shares = self.shares.copy()
        shares.ravel()[step.place] += step.change
        rows = np.unique(step.place // shares.shape[1])
        changed = np.where(shares[rows] < LEAST_SHARE, 0.0, shares[rows])
        shares[rows] = changed / changed.sum(axis=1, keepdims=True)
        return shares

    def _drop(self) -> None:
        keep = self._used > self.steps - PATIENCE
        self._roots, self._used, self._weight = self._roots[keep], self._used[keep], self._weight[keep]

    def tidy(self) -> Reals:
        """The best table made pure on as many boards as that costs nothing: a smaller table, which guarantees the same."""
        cells, forest = self.best.shape[1], plant()
        mixed = np.zeros(len(self.best), np.bool_)
        pure = np.zeros_like(self.best)
        there = np.flatnonzero(self.best.any(axis=1))
        pure[there, np.argmax(self.best[there], axis=1)] = 1.0
        while True:
            table = np.where(mixed[:, None], self.best, pure)
            if 1.0 - self._responder.judge(table) > self.best_guarantee - SMALL:
                return table
            start, forest = self._responder.write_down(table, forest, 0)
            found, forest = self._slope.against(forest, start, table)
            rows = found.place // cells
            if mixed[rows].all():
                return self.best
            mixed[rows] = True

    def save(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"roots": self._roots, "used": self._used, "weight": self._weight}
        for name, shares in (("now", self.shares), ("best", self.best)):
            place = np.flatnonzero(shares)
            arrays |= {f"{name}_place": place, f"{name}_share": shares.ravel()[place]}
        arrays["state"] = np.array([self.guarantee, self.best_guarantee, self.radius, self.steps])
        return arrays | {f"forest_{name}": column for name, column in self._forest._asdict().items()}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        tables = [np.zeros_like(self.shares) for _ in range(2)]
        for name, table in zip(("now", "best"), tables, strict=True):
            table.ravel()[arrays[f"{name}_place"]] = arrays[f"{name}_share"]
        self.shares, self.best = tables
        self._roots, self._used, self._weight = arrays["roots"], arrays["used"], arrays["weight"]
        self.guarantee, self.best_guarantee, self.radius = (float(figure) for figure in arrays["state"][:3])
        self.steps = int(arrays["state"][3])
        self._forest = Forest(*(arrays[f"forest_{name}"] for name in Forest._fields))
        check_forest(self._forest, self._roots, self._board)
        if not len(self._roots) == len(self._used) == len(self._weight):
            raise ValueError("strategies and weights of different numbers")
        self._measure(0)


def _promise(slopes: Slopes, step: Step) -> float:
    """What a response's slopes say of a step."""
    at = np.minimum(np.searchsorted(slopes.place, step.place), len(slopes.place) - 1)
    return slopes.value + float(np.sum(np.where(slopes.place[at] == step.place, slopes.slope[at] * step.pull, 0.0)))


class Maximin(Steady):
    """The solver: a climber for each player."""

    def __init__(self, game: BaseGame, settings: MaximinSettings, seed: int) -> None:
        self.game, self.settings, self.iterations = game, settings, 0
        self.board = board_of(game)
        self.sure = on_board(game.options["rows"], game.options["cols"]).moves[:2]
        sure = self.sure[0], self.sure[1]
        self.climbers = [Climber(self.board, p, sure, seed, settings.radius) for p in range(2)]

    def prepare(self) -> None:
        """The start, unless a run was restored."""
        if self.iterations:
            return
        start = MergedStates(self.game, "cfr+")
        start.run(self.settings.start)
        policy = start.policy({})
        for p, climber in enumerate(self.climbers):
            climber.begin(_trimmed(board_table(self.board, policy.shares[p], self.sure[p]), self.settings.least))

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            for climber in self.climbers:
                climber.step()
            self.iterations += 1

    def verdict(self) -> Verdict:
        """In utilities: what best responses win; and the middle between these bounds of the game's value."""
        black, white = (climber.best_guarantee for climber in self.climbers)
        return Verdict(black - white, (1 - 2 * white, 1 - 2 * black))

    def strategies(self) -> tuple[Reals, Reals]:
        raise BadSetting("maximin has tables by board, no strategies on a tree")

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        """Both tables, on all boards that they can lead to."""
        first, second = (reachable(self.board, climber.tidy(), sure) for climber, sure in zip(self.climbers, self.sure, strict=True))
        facts = {**facts, "guarantees": [climber.best_guarantee for climber in self.climbers]}
        return TablePolicy(self.game.string, self.game.fingerprint, BOARD, (first, second), missing="uniform", facts=facts)

    def save(self) -> dict[str, NDArray[Any]]:
        return {f"{p}_{name}": array for p, climber in enumerate(self.climbers) for name, array in climber.save().items()}

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        self.iterations = iterations
        for p, climber in enumerate(self.climbers):
            climber.restore({name[2:]: array for name, array in arrays.items() if name.startswith(f"{p}_")})


def _trimmed(table: Reals, least: float) -> Reals:
    """Without small shares; the largest of a board stays."""
    kept = np.where((table < least) & (table < table.max(axis=1, keepdims=True)), 0.0, table)
    total = kept.sum(axis=1, keepdims=True)
    return np.divide(kept, total, out=kept, where=total > 0)
