"""The syntax tree of Dark Hex strategies and its text; `notation.py` reads the text, `strategy.py` follows the tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from nebel.core.errors import Problem
from nebel.policy.initial_board import BoardRules, InitialBoard, empty_board


class Place(NamedTuple):
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"

    def quoted(self, text: str) -> str:
        """The line of `text` in which the place is, and a caret beneath it (at the end of what is written, if the line is empty)."""
        before, line = text.split("\n")[: self.line - 1], text.split("\n")[self.line - 1]
        column = self.column
        while before and not line.strip():
            line = before.pop().rstrip()
            column = len(line) + 1
        blank = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
        return f"    {line}\n    {blank}^"


class BadStrategy(Problem):
    """A strategy that cannot be read or followed; the message begins with the place, if there is one."""

    def __init__(self, message: str, at: Place | None = None) -> None:
        super().__init__(f"{at}: {message}" if at else message)
        self.at = at


@dataclass(frozen=True)
class Placed:
    """What stands at a place in a text; trees are equal wherever they stand."""

    at: Place = field(default=Place(), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Move(Placed):
    """`b2`: try this cell."""

    cell: str


@dataclass(frozen=True)
class Random(Placed):
    """`!`: any legal move, until the game is over."""


@dataclass(frozen=True)
class Open(Placed):
    """`?`: not said yet."""


@dataclass(frozen=True)
class Name(Placed):
    """`alpha`: a definition by its name."""

    name: str


@dataclass(frozen=True)
class Turned(Placed):
    """`T(s)`: s on the board turned by 180 degrees."""

    body: Node


@dataclass(frozen=True)
class Sequence(Placed):
    """`s, t`: one after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Try(Placed):
    """`s ~ (t)`: s, and t as soon as a collision in s is not answered within s."""

    body: Node
    otherwise: Node


@dataclass(frozen=True)
class Mixture(Placed):
    """`{s: 0.3, t: 0.7}`, or `{s, t}` with equal probabilities (`odds` is None)."""

    options: tuple[Node, ...]
    odds: tuple[Fraction, ...] | None = None


@dataclass(frozen=True)
class Either(Placed):
    """`{s | t}`: one of them, and the other one on a collision."""

    options: tuple[Node, ...]


Node = Move | Random | Open | Name | Turned | Sequence | Try | Mixture | Either
PLAYERS = {"black": 0, "white": 1}
MAIN = "play"


@dataclass(frozen=True)
class StrategyText:
    """A strategy file as it is written; `initial` is the board from which the strategy starts (None: the empty board)."""

    rows: int
    cols: int
    player: int
    definitions: dict[str, Node]
    initial: InitialBoard | None = None

    @property
    def start(self) -> InitialBoard:
        """The board from which the strategy starts."""
        return self.initial or empty_board(self.player)

    @property
    def board(self) -> str:
        """The initial board as it is written, "" if it is the empty one."""
        return BoardRules(self.rows, self.cols, self.player).text(self.initial) if self.initial else ""


def nodes(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for child in children(node):
        yield from nodes(child)


def children(node: Node) -> tuple[Node, ...]:
    """Return the strategies that a strategy is made of."""
    if isinstance(node, Sequence):
        return node.items
    if isinstance(node, Mixture | Either):
        return node.options
    if isinstance(node, Try):
        return node.body, node.otherwise
    return (node.body,) if isinstance(node, Turned) else ()


def number_text(value: Fraction) -> str:
    """0.125, or 1/3 where a decimal would not be exact."""
    for digits in range(10):
        if (scaled := value * 10**digits).denominator == 1:
            return f"{float(value):.{digits}f}" if digits else str(scaled)
    return str(value)


def expression_text(node: Node) -> str:
    """The notation of a node: `parse_expression` reads it back as the same tree."""
    match node:
        case Move(cell):
            return cell
        case Name(name):
            return name
        case Random():
            return "!"
        case Open():
            return "?"
        case Turned(body):
            return f"T({expression_text(body)})"
        case Try(body, otherwise):
            return f"{_wrapped(body)} ~ ({expression_text(otherwise)})"
        case Sequence(items):
            return ", ".join(_wrapped(item) for item in items)
        case Either(options):
            return "{" + " | ".join(_wrapped(option) for option in options) + "}"
        case Mixture(options, odds):
            shares = [""] * len(options) if odds is None else [f": {number_text(p)}" for p in odds]
            return "{" + ", ".join(_wrapped(option) + share for option, share in zip(options, shares, strict=True)) + "}"


def _wrapped(node: Node) -> str:
    return f"({expression_text(node)})" if isinstance(node, Sequence) else expression_text(node)


def file_text(text: StrategyText) -> str:
    """A strategy file, without its comments: `parse` reads it back as the same."""
    player = next(name for name, p in PLAYERS.items() if p == text.player)
    board = [f"board: {text.board}"] if text.board else []
    lines = [f"rows: {text.rows}", f"cols: {text.cols}", f"player: {player}", *board, ""]
    return "\n".join([*lines, *(f"{name} = {expression_text(node)}" for name, node in text.definitions.items())]) + "\n"
