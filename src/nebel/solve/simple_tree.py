"""The best simple strategy of a game on a tree, as a mixed-integer programme (HiGHS), with the solver's bound.

Simple rows (`policy/simple_rows.py`) are finitely many, so each information state chooses one of them, by a variable z of 0 or 1. How
much play comes by a decision point with each row is a variable w of at most z; flows of sequences are sums of w times the row, and what
the opponent's best response takes is linear in them, as in the sequence form of Koller, Megiddo and von Stengel (1996). Points that look
alike at a glance share their z, so the programme is exact for policies that forget, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.sequence import halves
from nebel.core.tree import Tree
from nebel.policy.simple_rows import count_rows, table_of

Reals = NDArray[np.float64]

MOST_CHOICES = 20_000
"""Pairs of a decision point and a row, at most: half a minute for the root of the search alone."""
GAP = 1e-8
"""How far from the optimum a solution may be that the solver calls optimal."""


class Optimum(NamedTuple):
    """The best strategy that was found, by table place, what it is said to guarantee, and what the solver proved that none exceeds."""

    strategy: Reals
    promised: float
    bound: float


def count_choices(tree: Tree, player: int, actions: int, denominator: int) -> int:
    """Return how many pairs of a decision point and a simple row there are."""
    widths, often = np.unique(np.diff(halves(tree)[player].first), return_counts=True)
    return sum(n * count_rows(width, actions, denominator) for width, n in zip(widths.tolist(), often.tolist(), strict=True))


class _Entries:
    """A sparse matrix as it grows."""

    def __init__(self) -> None:
        self.line: list[NDArray[np.int64]] = []
        self.column: list[NDArray[np.int64]] = []
        self.value: list[Reals] = []

    def add(self, line: Any, column: Any, value: Any) -> None:
        line, column, value = np.broadcast_arrays(line, column, value)
        self.line.append(line.ravel().astype(np.int64))
        self.column.append(column.ravel().astype(np.int64))
        self.value.append(value.ravel().astype(np.float64))


def optimum(tree: Tree, player: int, actions: int, denominator: int, start: Reals, nodes: int) -> Optimum:
    """Return the best simple strategy, or the best that is found by branching at so many nodes.

    The search begins with `start`, a simple strategy by table place.
    """
    import highspy

    mine, theirs = halves(tree)[player], halves(tree)[1 - player]
    spots, state_of = np.unique(mine.spot, return_inverse=True)
    side = tree.sides[player]
    widths = np.diff(side.row)[np.searchsorted(side.row[:-1], spots)]
    rows = [table_of(width, actions, denominator) for width in widths.tolist()]
    many = np.array([len(table) for table in rows], np.int64)
    first_z = np.concatenate([[0], np.cumsum(many)])
    first_w = np.concatenate([[0], np.cumsum(many[state_of])])
    points, others = len(mine.parent), len(theirs.parent)
    z = np.arange(first_z[-1])
    x = first_z[-1] + np.arange(mine.sequences)
    w = x[-1] + 1 + np.arange(first_w[-1])
    v = w[-1] + 1 + np.arange(others + 1) if len(w) else x[-1] + 1 + np.arange(others + 1)  # the last: what the response takes in all
    entries = _Entries()
    low: list[Reals] = []
    high: list[Reals] = []

    def lines(count: int, least: float, most: float) -> NDArray[np.int64]:
        before = sum(len(part) for part in low)
        low.append(np.full(count, least))
        high.append(np.full(count, most))
        return before + np.arange(count)

    one = lines(len(rows), 1.0, 1.0)
    entries.add(np.repeat(one, many), z, 1.0)
    inflow = lines(points, 0.0, 0.0)  # all that comes to a point goes by one of its rows
    entries.add(np.repeat(inflow, many[state_of]), w, 1.0)
    entries.add(inflow, x[mine.parent], -1.0)
    outflow = lines(mine.sequences - 1, 0.0, 0.0)
    entries.add(outflow, x[1:], 1.0)
    chosen = lines(len(w), -np.inf, 0.0)  # w - z
    entries.add(chosen, w, 1.0)
    for i in range(points):
        table, state, here = rows[state_of[i]], state_of[i], slice(first_w[i], first_w[i + 1])
        entries.add(chosen[here], z[first_z[state] : first_z[state + 1]], -1.0)
        entries.add(outflow[mine.first[i] - 1 + np.arange(table.shape[1])][None, :], w[here][:, None], -table)
    best = lines(theirs.sequences, 0.0, np.inf)  # v of a point is at least what each of its moves takes
    at = np.full(theirs.sequences, others)
    at[theirs.first[0] if others else 1 :] = np.repeat(np.arange(others), np.diff(theirs.first))
    entries.add(best, v[at], 1.0)
    entries.add(best[theirs.parent], v[:others], -1.0)
    entries.add(np.repeat(best, np.diff(theirs.pay_first)), x[theirs.pay_other], -theirs.pay_value)

    programme = highspy.HighsLp()
    total = int(v[-1]) + 1
    programme.num_col_, programme.num_row_ = total, sum(len(part) for part in low)
    programme.sense_ = highspy.ObjSense.kMinimize
    cost, least, most = np.zeros(total), np.zeros(total), np.ones(total)
    cost[v[-1]] = 1.0
    least[x[0]] = 1.0
    least[v], most[v] = -np.inf, np.inf
    programme.col_cost_, programme.col_lower_, programme.col_upper_ = cost, least, most
    programme.row_lower_, programme.row_upper_ = np.concatenate(low), np.concatenate(high)
    integral = np.full(total, int(highspy.HighsVarType.kContinuous))
    integral[z] = int(highspy.HighsVarType.kInteger)
    programme.integrality_ = [highspy.HighsVarType(int(kind)) for kind in integral]
    _fill(programme.a_matrix_, entries, programme.num_row_)
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options = {"output_flag": False, "threads": 1, "mip_max_nodes": nodes, "mip_rel_gap": 0.0, "mip_abs_gap": GAP}
    for option, choice in {**options, "mip_feasibility_tolerance": 1e-9, "primal_feasibility_tolerance": 1e-9}.items():
        solver.setOptionValue(option, choice)
    solver.passModel(programme)
    held = [start[spot : spot + width] for spot, width in zip(spots.tolist(), widths.tolist(), strict=True)]
    begun = [
        first + int(np.argmin(np.abs(table - row).sum(axis=1))) for first, table, row in zip(first_z.tolist(), rows, held, strict=False)
    ]
    solver.setSolution(len(z), z.astype(np.int32), np.isin(z, begun).astype(np.float64))
    solver.run()
    found, info = solver.getSolution(), solver.getInfo()
    if not found.value_valid:
        return Optimum(start, -np.inf, -float(info.mip_dual_bound))
    values, strategy = np.array(found.col_value), start.copy()
    for i, (spot, width) in enumerate(zip(spots.tolist(), widths.tolist(), strict=True)):
        strategy[spot : spot + width] = rows[i][int(np.argmax(values[first_z[i] : first_z[i + 1]]))]
    return Optimum(strategy, -float(info.objective_function_value), -float(info.mip_dual_bound))


def _fill(matrix: Any, entries: _Entries, count: int) -> None:
    import highspy

    line, column, value = (np.concatenate(parts) for parts in (entries.line, entries.column, entries.value))
    order = np.lexsort((column, line))
    line, column, value = line[order], column[order], value[order]
    new = np.append(True, (np.diff(line) != 0) | (np.diff(column) != 0))  # entries of the same place are summed
    value = np.add.reduceat(value, np.flatnonzero(new))
    line, column = line[new], column[new]
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))]).astype(np.int32)
    matrix.index_, matrix.value_ = column.astype(np.int32), value
