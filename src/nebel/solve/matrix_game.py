"""Zero-sum matrix games by linear programming (HiGHS), warm when rows and columns are added, exact in fractions at the end."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


class Equilibrium(NamedTuple):
    """The row player's gain, and a mixture for each player."""

    value: float
    rows: Reals
    cols: Reals


class Basis(NamedTuple):
    """Where the last solution stood: which columns and rows of the programme are basic (1) or at their bound (0)."""

    mixture: NDArray[np.int8]
    slack: NDArray[np.int8]


def first_basis() -> Basis:
    return Basis(np.zeros(0, np.int8), np.zeros(0, np.int8))


def equilibrium(payoffs: Reals, last: Basis) -> tuple[Equilibrium, Basis]:
    """Solve a game whose upper left part was solved before. The result depends on nothing but the arguments.

    The programme: maximise v with a mixture p of rows such that every column pays at least v. Its variables are v and p, its
    rows are the sum of p and one inequality for each column; the dual values of those are the column player's mixture.
    """
    import highspy

    rows, cols = payoffs.shape
    endless = highspy.kHighsInf
    programme = highspy.HighsLp()
    programme.num_col_, programme.num_row_ = rows + 1, cols + 1
    programme.sense_ = highspy.ObjSense.kMaximize
    programme.col_cost_ = np.concatenate([[1.0], np.zeros(rows)])
    programme.col_lower_ = np.concatenate([[-endless], np.zeros(rows)])
    programme.col_upper_ = np.full(rows + 1, endless)
    programme.row_lower_ = np.concatenate([[1.0], np.zeros(cols)])
    programme.row_upper_ = np.concatenate([[1.0], np.full(cols, endless)])
    dense = np.hstack([np.vstack([[0.0], -np.ones((cols, 1))]), np.vstack([np.ones((1, rows)), payoffs.T])])
    there = dense.T != 0.0
    programme.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    programme.a_matrix_.start_ = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
    programme.a_matrix_.index_ = np.nonzero(there)[1].astype(np.int32)
    programme.a_matrix_.value_ = dense.T[there]
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.passModel(programme)
    if len(last.mixture):
        solver.setBasis(_to_highs(last, rows, cols))
    solver.run()
    found = solver.getSolution()
    mixture = np.maximum(np.array(found.col_value)[1:], 0.0)
    other = np.maximum(-np.array(found.row_dual)[1:], 0.0)
    return Equilibrium(float(found.col_value[0]), mixture / mixture.sum(), other / other.sum()), _from_highs(solver.getBasis())


def _to_highs(last: Basis, rows: int, cols: int) -> Any:
    """The old basis: new rows of the game are not played, new columns of the game do not bind."""
    import highspy

    kind = highspy.HighsBasisStatus
    basis = highspy.HighsBasis()
    mixture = np.concatenate([last.mixture, np.zeros(rows - len(last.mixture), np.int8)])
    slack = np.concatenate([last.slack, np.ones(cols - len(last.slack), np.int8)])
    basis.col_status = [kind.kBasic] + [kind.kBasic if basic else kind.kLower for basic in mixture]
    basis.row_status = [kind.kLower] + [kind.kBasic if basic else kind.kLower for basic in slack]
    return basis


def _from_highs(basis: Any) -> Basis:
    import highspy

    basic = highspy.HighsBasisStatus.kBasic
    mixture, slack = ([status == basic for status in statuses[1:]] for statuses in (basis.col_status, basis.row_status))
    return Basis(np.array(mixture, np.int8), np.array(slack, np.int8))


def exact(payoffs: NDArray[np.int64], basis: Basis) -> tuple[Fraction, list[Fraction], list[Fraction]] | None:
    """The basic solution in fractions, for whole payoffs: value and both mixtures; None if it is not an equilibrium after all."""
    payoffs = payoffs[: len(basis.mixture), : len(basis.slack)]
    played, binding = np.flatnonzero(basis.mixture), np.flatnonzero(basis.slack == 0)
    if len(played) != len(binding):
        return None
    system = payoffs[np.ix_(played, binding)].tolist()
    n = len(played)
    # for rows: sum over i of p_i m_ij = v for all j; for columns: sum over j of m_ij q_j = v for all i; both sum to 1
    forward = [[system[i][j] for i in range(n)] + [-1, 0] for j in range(n)] + [[1] * n + [0, 1]]
    backward = [[*system[i], -1, 0] for i in range(n)] + [[1] * n + [0, 1]]
    solutions = [_solve(forward), _solve(backward)]
    if solutions[0] is None or solutions[1] is None or min(min(s[:n]) for s in solutions if s) < 0:
        return None
    rows, cols = [Fraction(0)] * payoffs.shape[0], [Fraction(0)] * payoffs.shape[1]
    for k in range(n):
        rows[played[k]], cols[binding[k]] = solutions[0][k], solutions[1][k]
    return solutions[0][n], rows, cols


def _solve(system: list[list[int]]) -> list[Fraction] | None:
    """A square system of linear equations over whole numbers (the right side is the last column), by fraction-free elimination."""
    n = len(system)
    lines = [list(line) for line in system]
    last = 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if lines[i][k]), None)
        if pivot is None:
            return None
        lines[k], lines[pivot] = lines[pivot], lines[k]
        head = lines[k]
        for i in range(k + 1, n):
            line, factor = lines[i], lines[i][k]
            lines[i] = [(head[k] * line[j] - factor * head[j]) // last if j > k else 0 for j in range(n + 1)]
        last = head[k]
    found = [Fraction(0)] * n
    for k in range(n - 1, -1, -1):
        rest = lines[k][n] - sum(lines[k][j] * found[j] for j in range(k + 1, n))
        found[k] = Fraction(rest) / lines[k][k]
    return found
