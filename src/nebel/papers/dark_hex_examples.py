"""The examples of sure wins in Figs. 4.2 and 4.3 of the Dark Hex thesis, and what the complete list says of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nebel.dark_hex.sure_wins import on_board
from nebel.policy.states import States
from nebel.report.boards import with_shares
from nebel.report.parts import Figure, Table


class Example(NamedTuple):
    """A board as Black knows it, with Black to move, and the cells that win by the text of the thesis."""

    figure: str
    story: str
    board: str
    cells: tuple[str, ...]


def deeper(figure: str, top: str, second: str) -> list[Example]:
    """Return Fig. 4.3 step by step; `top`, `second`: the two rows that hold stones to begin with."""
    after = f"{top[0]}x{top[2]}/{second}"
    return [
        Example(figure, "at the beginning", f"{top}/{second}/.../...", ("b1",)),
        Example(figure, "b1 placed, White has moved", f"{after}/.../...", ("c3",)),
        Example(figure, "c3 taken", f"{after}/..o/...", ("b3",)),
        Example(figure, "c3 placed, White has moved", f"{after}/..x/...", ("b4", "c4")),
        Example(figure, "b4 and c4 taken", f"{after}/..x/.oo", ("a4",)),
        Example(figure, "a4 placed, White has moved", f"{after}/..x/xoo", ("a3", "b3")),
    ]


EXAMPLES = [
    Example("4.2a", "no hidden stone", ".o./x.o/x..", ("a1",)),
    Example("4.2b", "one hidden stone", ".../x.o/x..", ("a1", "b1")),
    *deeper("4.3", "o.o", ".xx"),
    *deeper("4.3, the other board", "..o", "oxx"),
]
"""Our copy of the thesis has no pictures. Of all boards these two fit what it says of Fig. 4.3; the boards of Fig. 4.2 are examples."""


def winning_cells(board: str) -> list[str]:
    """Return all cells with which Black wins for sure on a board such as `o.o/.xx/.../...`."""
    states = States(f"dark_hex:{board.count('/') + 1}x{board.index('/')}", 0)
    seen = states.read(board)
    digits = sum(3**c * ((seen.own >> c & 1) + 2 * (seen.met >> c & 1)) for c in range(states.cells))
    won = int(on_board(states.rows, states.cols).winning(0, np.array([digits]))[0])
    return [name for c, name in enumerate(states.names) if won >> c & 1]


def examples() -> list[Table | Figure]:
    """Draw Figs. 4.2 and 4.3, and compare the moves of the text with the complete list."""
    pictures, rows = [], []
    for figure, story, board, cells in EXAMPLES:
        states = States(f"dark_hex:{board.count('/') + 1}x{board.index('/')}", 0)
        seen = states.read(board)
        hidden = states.hidden(seen)[0]
        pictures.append((f"Fig. {figure}: {story}; h = {hidden}", with_shares(states.svg(seen), dict.fromkeys(cells, 1.0))))
        rows.append((figure, story, board, str(hidden), " ".join(cells), " ".join(winning_cells(board))))
    head = ("figure", "step", "own stones x, discovered o", "hidden", "thesis: wins with", "all cells that win for sure")
    note = (
        "Black is to move. The text of the thesis determines the board of Fig. 4.3 up to these two (White threatens b1, and every move of "
        "the text wins); any board fits Fig. 4.2 on which its moves win, and ours are examples."
    )
    return [
        Figure("Figs. 4.2 and 4.3: examples of sure wins", pictures, "Marked: the moves with which the thesis wins."),
        Table("Figs. 4.2 and 4.3: the moves of the thesis in the complete list", head, rows, note),
    ]
