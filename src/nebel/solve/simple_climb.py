"""A search for simple strategies that guarantee much: steps among simple tables, each chosen by a small mixed-integer programme.

What a table gets against a fixed response is linear in each of its rows. So for all responses met so far the programme knows exactly what
another row would do, and to first order what several would do together; it chooses rows near to the present ones so that the least over
all responses is largest, within a radius. The exact best response to the new table says what it guarantees, and joins the others. It
is the climb of `solve/maximin.py` with choices in place of shares, and begins with the simple rows that are nearest to those of a guide.
The guarantee of the result is exact; that there is no better one is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.policy.simple_rows import distinct, near_rows
from nebel.solve.simple_arena import Arena, Slopes

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]

LEAST_GAIN = 1e-9
NEAR = 24
"""Rows to choose from in an information state."""
TRIED = 3
"""Moves of an information state that are tried though they are not played, at most."""
NEAREST = 4
"""Rows that are nearest to a mixture of rows, which may take its place."""
LARGEST, FIRST = 4.0, 0.5
"""The largest radius and that of the first step: how much play, by reach, may be moved to other moves."""
PATIENCE = 60
"""Steps after which a response is dropped that did not bind, and steps without a gain after which the search ends."""


class Choice(NamedTuple):
    """An information state in question."""

    row: int
    rows: Reals  # to choose from; the present one comes first if it may stay
    gain: Reals  # by response and row: how much more the table gets
    cost: Reals  # by row: how much play is moved


class Climb:
    """One player's simple table, and the responses that bound it."""

    def __init__(self, arena: Arena, guide: Reals, actions: int, denominator: int, known: Sequence[Any] = ()) -> None:
        """Take the responses known from another climb of this player, if there is one."""
        self.arena, self.guide, self.actions, self.denominator = arena, guide, actions, denominator
        self.best, self.guarantee = guide, -np.inf
        self.responses: list[Any] = [*known]
        self._used = [0] * len(self.responses)
        self._weight = np.zeros(0)
        self._steps = 0

    def run(self, steps: int) -> None:
        """Search until no step gains anything, or so many steps are done."""
        self._begin()
        radius, idle = FIRST, 0
        slopes = self._measured(self.best)
        while self._steps < steps and idle < PATIENCE:
            self._steps += 1
            table, promised = self._step(self.best, slopes, radius)
            if promised - self.guarantee < LEAST_GAIN:
                if radius >= LARGEST:
                    return
                radius = min(LARGEST, 2 * radius)
                continue
            guarantee = self._respond(table)
            if guarantee > self.guarantee + LEAST_GAIN / 10:
                radius = min(LARGEST, 1.5 * radius) if guarantee - self.guarantee > (promised - self.guarantee) / 2 else radius
                self.best, self.guarantee, idle = table, guarantee, 0
                self._drop()
                slopes = self._measured(self.best)
                continue
            idle += 1
            slopes.append(self.arena.slopes(self.responses[-1], self.best))
            if _promise(slopes[-1], table - self.best) > self.guarantee:  # its slopes would not have prevented the step
                radius *= 0.7

    def _begin(self) -> None:
        """Take the nearest simple row in place of each of the guide's."""
        self.best = self.guide.copy()
        rows, moves = np.unique(self.arena.row_of(np.flatnonzero(self.guide)), return_counts=True)
        for row in rows[moves > 1].tolist():
            here = slice(row, row + self.arena.width(row))
            self.best[here] = near_rows(self.guide[here], np.flatnonzero(self.guide[here]), self.actions, self.denominator, 1)[0]
        self.guarantee = self._respond(self.best)

    def _respond(self, table: Reals) -> float:
        guarantee, response = self.arena.respond(table)
        self.responses.append(response)
        self._used.append(self._steps)
        return guarantee

    def _measured(self, table: Reals) -> list[Slopes]:
        return [self.arena.slopes(response, table) for response in self.responses]

    def _drop(self) -> None:
        keep = [i for i, used in enumerate(self._used) if used > self._steps - PATIENCE]
        self.responses, self._used = [self.responses[i] for i in keep], [self._used[i] for i in keep]
        self._weight = self._weight[[i for i in keep if i < len(self._weight)]]

    def _step(self, table: Reals, slopes: list[Slopes], radius: float) -> tuple[Reals, float]:
        """Return the table that promises most, and what it promises."""
        choices = self._choices(table, slopes)
        values = np.array([known.value for known in slopes])
        if not choices:
            return table, float(values.min())
        picked, promised, self._weight = choose(values, choices, radius)
        self._used = [self._steps if w > 0 else used for w, used in zip(self._weight, self._used, strict=False)] + self._used[
            len(self._weight) :
        ]
        new = table.copy()
        for choice, i in zip(choices, picked, strict=True):
            new[choice.row : choice.row + choice.rows.shape[1]] = choice.rows[i]
        return new, promised

    def _choices(self, table: Reals, slopes: list[Slopes]) -> list[Choice]:
        """Return the information states that matter, with simple rows near to the table's and the guide's."""
        weight = np.append(self._weight, np.full(len(slopes) - len(self._weight), 0.2)) if len(self._weight) else np.ones(len(slopes))
        places = np.concatenate([known.place for known in slopes])
        starts = np.unique(self.arena.row_of(places))
        offset = np.concatenate([[0], np.cumsum([self.arena.width(int(row)) for row in starts])])
        gains = np.zeros((len(slopes), offset[-1]))
        for k, known in enumerate(slopes):
            at = np.searchsorted(starts, self.arena.row_of(known.place))
            gains[k, offset[at] + known.place - starts[at]] = known.slope
        mean = weight @ gains
        found = []
        for i, row in enumerate(starts.tolist()):
            width, here = self.arena.width(row), slice(offset[i], offset[i + 1])
            now, guide = table[row : row + width], self.guide[row : row + width]
            legal = self.arena.legal(row)
            played = (now > 0) | (guide > 0)
            better = [m for m in legal.tolist() if not played[m] and mean[here][m] > mean[here] @ now + LEAST_GAIN]
            better.sort(key=lambda m: -mean[here][m])
            allowed = np.sort(np.append(np.flatnonzero(played), better[:TRIED])).astype(np.int64)
            if len(allowed) == 1:
                continue
            near = [near_rows(goal, allowed, self.actions, self.denominator, NEAR) for goal in (now, guide)]
            rows = distinct(np.vstack([now[None], *near]))
            if len(rows) > 1:
                change = rows - now
                found.append(Choice(row, rows, gains[:, here] @ change.T, np.abs(gains[:, here]).max() * np.abs(change).sum(axis=1) / 2))
        return found


def _promise(known: Slopes, change: Reals) -> float:
    return known.value + float(np.sum(known.slope * change[known.place]))


def choose(values: Reals, choices: list[Choice], radius: float) -> tuple[list[int], float, Reals]:
    """Return the place of a row for each choice so that the least over all responses is largest, what that is, and how much each response
    matters. First rows may be mixed; then each choice is made whole: its present row, the parts of its mixture, or the nearest to that."""
    parts, weight = _solve(values, choices, radius, False)
    few = []
    for choice, part in zip(choices, parts, strict=True):
        taken = np.flatnonzero(part > 1e-9)
        away = np.abs(choice.rows - part @ choice.rows).sum(axis=1)
        few.append(np.unique([0, *taken, *(np.argsort(away, kind="stable")[:NEAREST] if len(taken) > 1 else ())]).astype(np.int64))
    open_ = [i for i, keep in enumerate(few) if len(keep) > 1]
    picked = [0] * len(choices)
    if open_:
        left = [Choice(choices[i].row, choices[i].rows[few[i]], choices[i].gain[:, few[i]], choices[i].cost[few[i]]) for i in open_]
        whole, _ = _solve(values, left, radius, True)
        for i, part in zip(open_, whole, strict=True):
            picked[i] = int(few[i][int(np.argmax(part))])
    promised = values + sum((choice.gain[:, i] for choice, i in zip(choices, picked, strict=True)), np.zeros(len(values)))
    return picked, float(promised.min()), weight


def _solve(values: Reals, choices: list[Choice], radius: float, whole: bool) -> tuple[list[Reals], Reals]:
    """Return how much of each row is chosen, and how much each response matters."""
    import highspy

    sizes = np.array([len(choice.rows) for choice in choices])
    first = np.concatenate([[0], np.cumsum(sizes)])
    count, lines, responses = int(first[-1]), len(choices), len(values)
    gain = np.hstack([choice.gain for choice in choices])
    cost = np.concatenate([choice.cost for choice in choices])
    limited = int(np.isfinite(radius))
    endless = highspy.kHighsInf
    programme = highspy.HighsLp()
    programme.num_col_, programme.num_row_ = count + 1, responses + lines + limited
    programme.sense_ = highspy.ObjSense.kMaximize
    programme.col_cost_ = np.concatenate([[1.0], np.zeros(count)])
    programme.col_lower_ = np.concatenate([[-endless], np.zeros(count)])
    programme.col_upper_ = np.concatenate([[endless], np.ones(count)])
    programme.row_lower_ = np.concatenate([-values, np.ones(lines), np.full(limited, -endless)])
    programme.row_upper_ = np.concatenate([np.full(responses, endless), np.ones(lines), np.full(limited, radius)])
    dense = np.hstack([-np.ones((responses, 1)), gain])
    there = dense != 0.0
    index = [np.nonzero(there)[1], 1 + np.arange(count)]
    value = [dense[there], np.ones(count)]
    size = [there.sum(axis=1), sizes]
    if limited:
        index, value, size = [*index, 1 + np.flatnonzero(cost)], [*value, cost[cost != 0]], [*size, [np.count_nonzero(cost)]]
    matrix = programme.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.concatenate([[0], np.cumsum(np.concatenate(size))]).astype(np.int32)
    matrix.index_, matrix.value_ = np.concatenate(index).astype(np.int32), np.concatenate(value)
    if whole:
        kinds = highspy.HighsVarType
        programme.integrality_ = [kinds.kContinuous] + [kinds.kInteger] * count
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options = {"output_flag": False, "threads": 1, "mip_max_nodes": 200, "mip_rel_gap": 1e-6}
    for option, choice in options.items():
        solver.setOptionValue(option, choice)
    solver.passModel(programme)
    solver.run()
    found = solver.getSolution()
    if whole and not found.value_valid:
        parts = np.zeros(count)
        parts[first[:-1]] = 1.0
    else:
        parts = np.array(found.col_value)[1:]
    weight = np.abs(np.array(found.row_dual)[:responses]) if found.dual_valid else np.zeros(responses)
    return [parts[first[i] : first[i + 1]] for i in range(lines)], weight
