"""Trees of play as inline SVG: from left to right, a stone for each move, a row for each way the game can end."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from nebel.report.boards import share_text

ACROSS, DOWN, RADIUS = 58.0, 26.0, 11.0
END = 92.0
"""Room for what is written at the end of a line."""
STONES = (("#1c1c1c", "#ffffff"), ("#ffffff", "#1c1c1c"))
"""By player: the colour of a stone and of what is written on it."""


class Branch(NamedTuple):
    """A move and what can follow it.

    player    who tries the move
    move      its name
    taken     whether the cell was taken, so that the same player moves again
    share     how likely the player tries it
    end       what is written if the game is over here, "" otherwise
    branches  what can follow
    """

    player: int
    move: str
    taken: bool
    share: float
    end: str
    branches: Sequence[Branch]


def count_ends(branches: Sequence[Branch]) -> int:
    """Return the number of rows that a drawing of these branches takes."""
    return sum(count_ends(branch.branches) or 1 for branch in branches)


def tree(title: str, branches: Sequence[Branch]) -> str:
    """Draw a tree of play. Tries of taken cells are dashed; a move that is not certain has its probability before it."""
    parts: list[str] = []
    depth = max(map(_depth, branches), default=0)
    _draw(branches, 0, 0.0, None, parts)
    width, height = ACROSS * depth + END, DOWN * count_ends(branches) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="sans-serif">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _depth(branch: Branch) -> int:
    return 1 + max(map(_depth, branch.branches), default=0)


def _draw(branches: Sequence[Branch], column: int, top: float, parent: tuple[float, float] | None, parts: list[str]) -> None:
    """Draw branches below each other, from `top` on, and lines to them from their parent."""
    for branch in branches:
        rows = count_ends([branch])
        x, y = ACROSS * column + 40.0, DOWN * (top + rows / 2) + 4
        if parent:
            line = ' stroke-dasharray="3 3"' if branch.taken else ""
            parts.insert(0, f'<path d="M{parent[0]:.0f} {parent[1]:.0f}L{x:.0f} {y:.0f}" stroke="#8a8f98" fill="none"{line}/>')
        fill, ink = STONES[branch.player]
        dashed = ' stroke-dasharray="3 2" fill-opacity="0.55"' if branch.taken else ""
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS:.0f}" fill="{fill}" stroke="#8a8f98"{dashed}/>')
        parts.append(_text(x, y + 3.5, branch.move, ink, "middle"))
        if branch.share < 0.9995:
            parts.append(_text(x - RADIUS - 3, y - 3, share_text(branch.share), "#d9622b", "end"))
        if branch.end:
            parts.append(_text(x + RADIUS + 5, y + 3.5, branch.end, "currentColor", "start"))
        _draw(branch.branches, column + 1, top, (x, y), parts)
        top += rows


def _text(x: float, y: float, text: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="10">{escape(text)}</text>'
