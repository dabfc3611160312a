"""Cards, dice and chips on a table, as SVG: each piece draws itself in a box of its own width, and rows of pieces make a table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

HEIGHT, GAP = 64, 8
INK, RED, PAPER, FELT, RAIL, PALE, GOLD = "#22262b", "#b3261e", "#fffdf7", "#2f6b4f", "#234f3b", "#dcebe2", "#e8b93c"

SUITS = {
    "spade": (INK, "M0-8C3-4 8-1 8 3A4 4 0 0 1 1 5L3 9H-3L-1 5A4 4 0 0 1-8 3C-8-1-3-4 0-8Z"),
    "heart": (RED, "M0 8C-3 4-8 1-8-3A4 4 0 0 1 0-5A4 4 0 0 1 8-3C8 1 3 4 0 8Z"),
    "diamond": (RED, "M0-9L7 0L0 9L-7 0Z"),
    "club": (INK, "M0-8A4 4 0 0 1 3-1A4 4 0 1 1 1 4L3 9H-3L-1 4A4 4 0 1 1-3-1A4 4 0 0 1 0-8Z"),
}
PIPS = {
    1: ("c",),
    2: ("nw", "se"),
    3: ("nw", "c", "se"),
    4: ("nw", "ne", "sw", "se"),
    5: ("nw", "ne", "c", "sw", "se"),
    6: ("nw", "ne", "w", "e", "sw", "se"),
}


class Piece(NamedTuple):
    """A drawing in a box `width` wide and HEIGHT high, its corner at the origin."""

    width: float
    drawing: str
    mark: str = ""

    def marked(self, kind: str, name: str) -> Piece:
        """The piece as something to click: a "cell" whose name is a move, or a "part" of moves that are made of several."""
        return self._replace(mark=f' data-{kind}="{escape(name)}"')


def _text(x: float, y: float, text: str, size: int, fill: str, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}">{escape(text)}</text>'


def _sheet(fill: str, figure: str) -> str:
    return f'<rect x="1" y="1" width="44" height="62" rx="5" fill="{fill}" stroke="{INK}"/>{figure}'


def card(text: str, suit: str = "") -> Piece:
    """A card face up; without a suit only its rank is on it."""
    if not suit:
        return Piece(46, _sheet(PAPER, _text(23, 40, text, 24, INK)))
    colour, path = SUITS[suit]
    return Piece(46, _sheet(PAPER, _text(23, 28, text, 22, colour) + f'<path transform="translate(23 45)" d="{path}" fill="{colour}"/>'))


def prize(text: str, gone: str = "") -> Piece:
    """A prize card; once it is `gone`, an arrow "up" or "down" to whom, or "nobody"."""
    arrows = {"up": "M17 14L23 5L29 14Z", "down": "M17 50L23 59L29 50Z", "nobody": "M17 50H29V53H17ZM17 56H29V59H17Z"}
    return Piece(46, _sheet(GOLD, _text(23, 40, text, 24, INK) + (f'<path d="{arrows[gone]}" fill="{RED}"/>' if gone else "")))


def back() -> Piece:
    """A card face down."""
    pattern = '<rect x="6" y="6" width="34" height="52" rx="3" fill="none" stroke="#c6d2ee" stroke-dasharray="3 3"/>'
    return Piece(46, _sheet("#35508c", pattern))


def slot() -> Piece:
    """A place where no card lies yet."""
    return Piece(46, f'<rect x="1" y="1" width="44" height="62" rx="5" fill="none" stroke="{PALE}" stroke-dasharray="4 4"/>')


def die(face: int, wild: bool = False) -> Piece:
    """A die with pips (a number above six); a wild face is golden."""
    box = f'<rect x="1" y="10" width="44" height="44" rx="8" fill="{GOLD if wild else PAPER}" stroke="{INK}"/>'
    if face not in PIPS:
        return Piece(46, box + _text(23, 40, str(face), 22, INK))
    across, down = {"w": 12, "e": 34}, {"n": 21, "s": 43}
    spots = "".join(f'<circle cx="{across.get(at[-1], 23)}" cy="{down.get(at[0], 32)}" r="4.5" fill="{INK}"/>' for at in PIPS[face])
    return Piece(46, box + spots)


def cup() -> Piece:
    """A die under its cup."""
    shape = f'<path d="M8 54L12 14Q23 6 34 14L38 54Z" fill="#7a4a2b" stroke="{INK}"/>'
    return Piece(46, shape + _text(23, 42, "?", 22, PALE))


def chips(amount: int) -> Piece:
    """A stack of chips (at most six are drawn) and their number."""
    stack = "".join(
        f'<ellipse cx="22" cy="{52 - 6 * i}" rx="17" ry="7" fill="{RED}" stroke="{PAPER}" stroke-dasharray="5 4"/>'
        for i in range(min(amount, 6))
    )
    return Piece(72, stack + _text(46, 56, str(amount), 18, PAPER, "start"))


def words(text: str) -> Piece:
    return Piece(10 + 9.5 * len(text), _text(4, 39, text, 18, PAPER, "start"))


def seats(viewer: int | None) -> tuple[int, int]:
    """The players from top to bottom: whoever looks sits at the bottom."""
    return (0, 1) if viewer == 1 else (1, 0)


def table(rows: Sequence[tuple[str, Sequence[Piece]]]) -> str:
    """Rows of pieces on green cloth, each with a label at its left."""
    indent = 20 + 8.5 * max(len(label) for label, _ in rows)
    width = indent + max(sum(piece.width + GAP for piece in pieces) for _, pieces in rows) + 12
    height = 20 + len(rows) * (HEIGHT + GAP)
    parts = []
    for i, (label, pieces) in enumerate(rows):
        x, y = indent, 14 + i * (HEIGHT + GAP)
        parts.append(_text(16, y + 37, label, 15, PALE, "start"))
        for piece in pieces:
            parts.append(f'<g transform="translate({x:g} {y})"{piece.mark}>{piece.drawing}</g>')
            x += piece.width + GAP
    cloth = f'<rect x="3" y="3" width="{width - 6:g}" height="{height - 6}" rx="14" fill="{FELT}" stroke="{RAIL}" stroke-width="6"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" '
        f'font-family="sans-serif">{cloth}{"".join(parts)}</svg>'
    )
