"""Ways over the board of Geister, for those who look ahead: where a ghost can go, and how far it is from an exit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from nebel.core.rule import rule
from nebel.games.geister_board import Board


class Ways(NamedTuple):
    """By cell, as the player who looks ahead counts.

    may_go(own, cell, way)  whether a ghost of the side `own` can go there, the way out apart
    to_exit, to_door        steps from a cell to one's own nearest exit, and to the other's
    in_order                cells from the far row to the near one
    steps                   what a direction adds to a cell
    """

    may_go: Any
    to_exit: Any
    to_door: Any
    in_order: Any
    steps: Any


def ways_of(field: Board) -> Ways:
    width, height, cells = field.width, field.height, field.cells
    far = cells - width
    left, right = field.sides
    aside = [min(x, width - 1 - x) for x in range(width)]

    @rule
    def may_go(own: Any, cell: int, way: int) -> bool:
        here = int64(1) << cell
        if way == 0:
            return cell < far and not own >> (cell + width) & 1
        if way == 1:
            return not right & here and not own >> (cell + 1) & 1
        if way == 2:
            return cell >= width and not own >> (cell - width) & 1
        return not left & here and not own >> (cell - 1) & 1

    return Ways(
        may_go,
        np.array([height - 1 - cell // width + aside[cell % width] for cell in range(cells)], int64),
        np.array([cell // width + aside[cell % width] for cell in range(cells)], int64),
        np.array([cell for y in reversed(range(height)) for cell in range(y * width, (y + 1) * width)], int64),
        np.array([width, 1, -width, -1], int64),
    )
