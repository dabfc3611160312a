"""Outputs of networks by pieces and directions, such as 32 for 8 ghosts, and the moves that they mean for a row of an encoding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame, Game, Pieces
from nebel.core.rule import kernel

OUTPUTS = ("moves", "pieces")
"""What the outputs of a network may be named by."""
MOST = 1_000_000
"""The largest number that a file may say of pieces."""


@kernel
def _number(rows: Any, cells: int, ways: int, counts: Any, more: int, out: Any) -> None:
    for r in range(rows.shape[0]):
        first = 0
        for kind in range(counts.size):
            piece = first
            for cell in range(cells):
                if rows[r, kind * cells + cell] > 0.0:
                    for way in range(ways):
                        out[r, ways * cell + way] = ways * piece + way
                    piece += 1
            first += counts[kind]
        for i in range(more):
            out[r, ways * cells + i] = ways * first + i


def outputs_by_move(pieces: Pieces, rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return by row of an encoding and by move the number of the output that means it; 0 for moves from cells without an own piece.

    >>> row = np.array([[0, 1, 0, 1, 0, 0]], np.float32)  # of three cells: one kind, the other
    >>> outputs_by_move(Pieces(cells=3, ways=2, counts=(2, 1)), row).tolist()
    [[4, 5, 0, 1, 0, 0]]
    """
    out = np.zeros((len(rows), pieces.actions), np.int64)
    _number(rows, pieces.cells, pieces.ways, np.array(pieces.counts, np.int64), pieces.more, out)
    return out


def by_move(pieces: Pieces | None, made: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a network's numbers by move, from those by output; without pieces these are the same. `made` may have more dimensions before
    those of rows and outputs."""
    if pieces is None:
        return made
    numbers = outputs_by_move(pieces, rows)
    return np.take_along_axis(made, np.broadcast_to(numbers, (*made.shape[:-1], numbers.shape[-1])), axis=-1)


def pieces_of(game: BaseGame, outputs: str) -> Pieces | None:
    """Return how a game's networks with these outputs name moves; None where each move has an output. Raises `BadSetting` where a game has
    no pieces."""
    if outputs == "moves":
        return None
    if not isinstance(game, Game) or game.pieces is None:
        raise BadSetting(f"{game.string} does not number the pieces of a player, so networks have an output for each move: --outputs moves")
    return game.pieces


def check_pieces(pieces: Pieces | None, inputs: int, outputs: int) -> None:
    """Raise `BadFile` unless a network takes the planes of its pieces, and has as many outputs as they need."""
    if pieces is None:
        return
    if pieces.cells * len(pieces.counts) > inputs:
        raise BadFile(f"the first layer takes {inputs:,} numbers, and planes of {pieces.cells:,} cells are needed for its pieces")
    if pieces.outputs != outputs:
        raise BadFile(f"the last layer makes {outputs:,} numbers, and {pieces.outputs:,} are needed for its pieces")


def pieces_in(header: dict[str, Any]) -> Pieces | None:
    """Return what the header of a file says of pieces, if it does; raises `BadFile` where that makes no sense."""
    if "pieces" not in header:
        return None
    said = header["pieces"]
    whole = isinstance(said, list) and len(said) >= 4 and all(type(number) is int and 0 <= number <= MOST for number in said)
    if not whole or min(said[0], said[1], *said[3:]) < 1:
        raise BadFile("its header has pieces that are not whole numbers: cells, ways, other moves, and the pieces of each kind")
    cells, ways, more, *counts = said
    return Pieces(cells, ways, tuple(counts), more)


def header_of(pieces: Pieces | None) -> dict[str, Any]:
    """Return what a file says of pieces."""
    return {} if pieces is None else {"pieces": [pieces.cells, pieces.ways, pieces.more, *pieces.counts]}
