"""The linear programme of a step of `solve/maximin.py`: how to change a table of shares by board so that it guarantees more.

Its variables are flows. How much play comes by a board is the sum over all orders of own moves, placed or met, that lead there;
a board's flow times the share of a move is that move's flow, and goes on to both boards that may follow. To first order, what a
changed table wins against a response is what it won before plus, for each move, its new flow times its advantage: its slope
less the mean slope of the board, by the board's old flow. Where a board is reached by one order only this is exact, however
large the change, as in the sequence form; so steps in flows can be longer than steps in shares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel
from nebel.dark_hex.slopes import Slopes

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]

LEAST_GAIN = 1e-9
IMPOSSIBLE = -2
"""In tables of sure wins: boards that cannot occur on the own turn."""


class Step(NamedTuple):
    """What a step changes, and what it promises."""

    place: Longs  # in the table: board * cells + cell
    change: Reals  # of the share there
    pull: Reals  # the same, times how much more play comes by: what a slope there is to be multiplied with
    promised: float
    weight: Reals  # how much each response matters


class Columns(NamedTuple):
    """The moves in question."""

    rows: Longs  # their boards
    chosen: NDArray[np.bool_]  # by board and cell
    place: Longs
    board: Longs  # by column: the place of its board in `rows`
    flow: Reals  # by column, before the step


@kernel
def flow_of(shares: Any, sure: Any, flow: Any) -> None:
    """How much play comes by each board. `sure`: the player's table of sure wins."""
    flow[:] = 0.0
    flow[0] = 1.0
    for row in range(flow.size):
        if sure[row] == IMPOSSIBLE:
            flow[row] = 0.0
        power = 1
        for c in range(shares.shape[1]):
            onward = flow[row] * shares[row, c]
            if onward > 0.0:
                flow[row + power] += onward
                flow[row + 2 * power] += onward
            power *= 3


def best_step(shares: Reals, flow: Reals, slopes: list[Slopes], weight: Reals, radius: float) -> Step:
    """The step that promises most, no flow changing by more than the radius. A move that is not played comes into question if
    it gains against the weighted responses."""
    import highspy

    columns = _columns(shares, flow, slopes, weight)
    count, boards = len(columns.place), len(columns.rows)
    if count == 0:
        return Step(columns.place, np.zeros(0), np.zeros(0), min(known.value for known in slopes), weight)
    lines = [_response(shares, flow, columns, known) for known in slopes]
    held, source, target = _conservation(columns)
    order = np.lexsort((source, target))
    endless = highspy.kHighsInf
    programme = highspy.HighsLp()
    programme.num_col_, programme.num_row_ = count + 1, len(slopes) + boards
    programme.sense_ = highspy.ObjSense.kMaximize
    programme.col_cost_ = np.concatenate([[1.0], np.zeros(count)])
    programme.col_lower_ = np.concatenate([[-endless], np.maximum(columns.flow - radius, 0.0)])
    programme.col_upper_ = np.concatenate([[endless], columns.flow + radius])
    programme.row_lower_ = np.concatenate([[-known.value for known in slopes], held])
    programme.row_upper_ = np.concatenate([np.full(len(slopes), endless), held])
    sizes = np.concatenate([[len(at) for at, _ in lines], np.bincount(target, minlength=boards)])
    matrix = programme.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    matrix.index_ = np.concatenate([*(at for at, _ in lines), source[order] + 1]).astype(np.int32)
    matrix.value_ = np.concatenate([*(factor for _, factor in lines), np.where(order < count, 1.0, -1.0)])
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, choice in {"output_flag": False, "threads": 1, "primal_feasibility_tolerance": 1e-9}.items():
        solver.setOptionValue(option, choice)
    solver.passModel(programme)
    solver.run()
    found = solver.getSolution()
    played = np.maximum(np.array(found.col_value)[1:], 0.0)
    total = np.bincount(columns.board, played, boards)
    there = total > LEAST_GAIN  # elsewhere the shares stay
    change = np.where(there[columns.board], played / np.where(there, total, 1.0)[columns.board] - shares.ravel()[columns.place], 0.0)
    pull = change * (total / flow[columns.rows])[columns.board]
    return Step(columns.place, change, pull, float(found.col_value[0]), np.abs(np.array(found.row_dual)[: len(slopes)]))


def _columns(shares: Reals, flow: Reals, slopes: list[Slopes], weight: Reals) -> Columns:
    cells = shares.shape[1]
    places = np.concatenate([known.place for known in slopes])
    slope = np.concatenate([w * known.slope for w, known in zip(weight, slopes, strict=True)])
    rows, at = np.unique(places // cells, return_inverse=True)
    gains = np.bincount(at * cells + places % cells, slope, len(rows) * cells).reshape(-1, cells)
    held = shares[rows]
    chosen = (held > 0) | (gains > (held * gains).sum(axis=1, keepdims=True) + LEAST_GAIN)
    board, cell = np.nonzero(chosen)
    place = rows[board] * cells + cell
    return Columns(rows, chosen, place, board, flow[rows[board]] * shares.ravel()[place])


def _response(shares: Reals, flow: Reals, columns: Columns, known: Slopes) -> tuple[Longs, Reals]:
    """The line of one response: promised is at most what it lets win. Column 0 is the promise."""
    cells = shares.shape[1]
    rows, at = np.unique(known.place // cells, return_inverse=True)
    slope = np.bincount(at * cells + known.place % cells, known.slope, len(rows) * cells).reshape(-1, cells)
    advantage = (slope - (slope * shares[rows]).sum(axis=1, keepdims=True)) / flow[rows][:, None]
    mine = np.searchsorted(columns.rows, rows)
    chosen = columns.chosen[mine]
    number = np.searchsorted(columns.board, mine)[:, None] + np.cumsum(chosen, axis=1)  # 1 for the first column of all
    return np.concatenate([[0], number[chosen]]), np.concatenate([[-1.0], advantage[chosen]])


def _conservation(columns: Columns) -> tuple[Reals, Longs, Longs]:
    """A line for each board: what goes on from it, less what comes to it by moves in question, is what comes otherwise. Returns
    that, and the entries, first those of what goes on: columns, and lines."""
    cells, count = columns.chosen.shape[1], len(columns.place)
    otherwise = np.bincount(columns.board, columns.flow, len(columns.rows)).astype(np.float64)
    sources, targets = [np.arange(count)], [columns.board]
    for c in range(cells):
        digit = columns.rows // 3**c % 3
        boards = np.flatnonzero(digit)
        place = (columns.rows[boards] - digit[boards] * 3**c) * cells + c
        at = np.minimum(np.searchsorted(columns.place, place), count - 1)
        there = columns.place[at] == place
        np.subtract.at(otherwise, boards[there], columns.flow[at[there]])
        sources.append(at[there])
        targets.append(boards[there])
    return otherwise, np.concatenate(sources), np.concatenate(targets)
