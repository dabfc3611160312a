"""An independent checker of certificates: plain Python, whole numbers, the standard library, and rules of its own.

It shares no code with the rest of nebel. Given pure strategies of one player of Dark Hex with weights, it finds the largest
probability with which any opponent, remembering everything, can beat the mixture. The format is described in
`judge/certificate.py`. A strategy that has no answer, or an impossible one, loses on the spot.

The opponent knows the own stones, the cells tried, and which strategies may stand where in their trees. `best` searches over
that. Two shortcuts: a strategy which even an opponent that sees everything cannot beat any more is left out; and in classic
silent Dark Hex, where trying a cell costs nothing and is heard by nobody, a cell that would complete the chain is tried first
and a cell that is surely taken is not tried at all.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, partial
from typing import Any, NamedTuple

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PATIENCE = 1_000_000_000
"""Steps of a search before it gives up: some hours."""
MOST_BITS = 10_000
"""Of the common denominator of all weights."""
BLACK, WHITE = 0, 1


class Unproven(Exception):
    """The certificate does not show what it says."""


class Board(NamedTuple):
    rows: int
    cols: int
    abrupt: bool
    leak: str  # silent, noisy, flash

    @property
    def cells(self) -> int:
        return self.rows * self.cols


class Node:
    """What a strategy remembers, and what it does then."""

    __slots__ = ("move", "name", "next", "own", "tried")

    def __init__(self, name: int, own: int, tried: int) -> None:
        self.name, self.own, self.tried = name, own, tried
        self.move: int | None = None
        self.next: dict[str, Node] = {}


class World(NamedTuple):
    """A strategy of the mixture at some place of its tree; `turned`: it plays on the board turned by half a circle."""

    node: Node
    turned: bool
    weight: int


WON, RESIGNED = "won", "resigned"


def guarantee(board: Board, player: int, strategies: list[tuple[Fraction, str]], patience: int = PATIENCE) -> Fraction:
    """The probability with which the mixture wins at least, whatever the opponent does; `patience` limits the steps of the search."""
    unit = 1
    for weight, _ in strategies:
        unit = math.lcm(unit, weight.denominator)
        if unit.bit_length() > MOST_BITS:
            raise Unproven(f"the weights have a common denominator of more than {MOST_BITS:,} bits")
    shares = [weight.numerator * (unit // weight.denominator) for weight, _ in strategies]
    if any(share < 0 for share in shares) or sum(shares) != unit:
        raise Unproven(f"the weights sum to {_shown(Fraction(sum(shares), unit))}, not to 1, or one of them is negative")
    texts = [text for _, text in strategies]
    try:
        most = _Opponent(board, player, patience, list(zip(shares, texts, strict=True))).most()
    except RecursionError as error:
        raise Unproven("a strategy goes deeper than any game") from error
    return 1 - Fraction(most, 2 * unit)


def _shown(x: Fraction) -> str:
    """A number for people: exactly, or as a decimal where that would be long."""
    if max(abs(x.numerator), x.denominator) < 10**30:
        return str(x)
    return f"about {float(x):.6g}" if abs(x) < 10**30 else "a number of more than 30 digits"


class _Opponent:
    """Looks for the best answer to a mixture."""

    def __init__(self, board: Board, player: int, patience: int, strategies: list[tuple[int, str]]) -> None:
        self.board, self.player, self.me = board, player, 1 - player
        self.full = (1 << board.cells) - 1
        self.quiet = board.leak == "silent" and not board.abrupt
        self.nodes = 0
        self.patience = self.left = patience
        self.start = [World(self.read(text), turned, weight) for weight, text in strategies for turned in (False, True)]
        self.known: dict[Any, int] = {}
        self.beatable: dict[tuple[int, int], bool] = {}
        self.joins = cache(partial(joins, board))
        self.turn = cache(self._turn)

    def read(self, text: str) -> Node:
        """The tree that is written as `text`."""
        at = 0

        def node(own: int, tried: int) -> Node:
            nonlocal at
            self.nodes += 1
            made = Node(self.nodes, own, tried)
            letter = text[at : at + 1]
            if letter != ".":
                made.move = LETTERS.find(letter) if letter else -1
                if not 0 <= made.move < self.board.cells:
                    raise Unproven(f"at place {at} of a strategy: {letter!r} is not a cell")
            at += 1
            while text[at : at + 1] != ";":
                event = text[at : at + 1]
                if event not in ("+", "-", "*"):
                    raise Unproven(f"at place {at} of a strategy: {event!r} instead of +, -, * or ;")
                at += 1
                if event == "*" and self.board.leak == "flash":
                    event += text[at : at + 1]
                    at += 1
                if made.move is None and event in ("+", "-"):
                    raise Unproven(f"at place {at} of a strategy: something follows a move that is not made")
                stone = 1 << made.move if made.move is not None and event in ("+", "-") else 0
                made.next[event] = node(own | (stone if event == "+" else 0), tried | stone)
            at += 1
            return made

        root = node(0, 0)
        if at != len(text):
            raise Unproven(f"a strategy goes on after its end, at place {at}")
        return root

    def _turn(self, stones: int) -> int:
        return sum(1 << (self.board.cells - 1 - c) for c in range(self.board.cells) if stones >> c & 1)

    def hear(self, node: Node, cell: int) -> Node | str:
        """The strategy after the opponent bumped into its stone at `cell`."""
        if self.board.leak == "silent":
            return node
        return node.next.get("*" + LETTERS[cell] if self.board.leak == "flash" else "*", RESIGNED)

    def reply(self, node: Node, stones: int) -> tuple[Node | str, tuple[int, ...]]:
        """A turn of a strategy against the opponent's stones: where it stands then, and the cells at which it bumped, in order."""
        bumps: tuple[int, ...] = ()
        while True:
            if node.move is None or node.tried >> node.move & 1:
                return RESIGNED, bumps
            if not stones >> node.move & 1:
                if self.joins(self.player, node.own | 1 << node.move):
                    return WON, bumps
                return node.next.get("+", RESIGNED), bumps
            bumps += (node.move,)
            then = node.next.get("-")
            if then is None:
                return RESIGNED, bumps
            if self.board.abrupt:
                return then, bumps
            node = then

    def can_beat(self, own: int, node: Node) -> bool:
        """Whether an opponent that sees everything, on the move with the stones `own`, beats this one strategy."""
        if not self.board.abrupt and not self.quiet:
            return True  # it could also bump on purpose, to be heard; this is not searched
        held = self.beatable.get((own, node.name))
        if held is not None:
            return held
        self.step()
        free = [cell for cell in range(self.board.cells) if not (own | node.own) >> cell & 1]
        found = any(self.joins(self.me, own | 1 << cell) for cell in free)
        turns: list[tuple[int, Node | str]] = []
        if not found:
            turns = [(own | 1 << cell, node) for cell in free]
            if self.board.abrupt:  # to bump is to pass
                turns += [(own, self.hear(node, cell)) for cell in range(self.board.cells) if node.own >> cell & 1]
        for stones, listener in turns:
            then = RESIGNED if isinstance(listener, str) else self.reply(listener, stones)[0]
            if then == RESIGNED or (isinstance(then, Node) and self.can_beat(stones, then)):
                found = True
                break
        self.beatable[own, node.name] = found
        return found

    def most(self) -> int:
        """The most that the opponent can win, in units of weight."""
        worlds, won = [], 0
        for world in self.start:
            then: Node | str = world.node
            if self.player == BLACK:
                then, _ = self.reply(world.node, 0)
            if isinstance(then, Node):
                worlds.append(world._replace(node=then))
            elif then == RESIGNED:
                won += world.weight
        return won + self.best(0, 0, worlds)

    def step(self) -> None:
        """Count a step of the search, or give up."""
        self.left -= 1
        if self.left < 0:
            raise Unproven(f"the search for the best answer takes more than {self.patience:,} steps")

    def best(self, own: int, tried: int, worlds: list[World]) -> int:
        name = (own, tried, frozenset((world.node.name, world.turned) for world in worlds))
        if name not in self.known:
            self.step()
            self.known[name] = self._best(own, tried, worlds)
        return self.known[name]

    def _best(self, own: int, tried: int, worlds: list[World]) -> int:
        choices = []
        for cell in self._worth_trying(own, tried, worlds):
            won, sights = self._try(own, cell, worlds)
            bounds = [sum(world.weight for world in group) for group in sights.values()]
            choices.append((won + sum(bounds), cell, sights, bounds))
        choices.sort(key=lambda choice: -choice[0])
        found = 0
        for bound, cell, sights, bounds in choices:
            if bound <= found:
                break
            rest = bound
            for (placed, _), group, most in zip(sights, sights.values(), bounds, strict=True):
                rest += self.best(own | 1 << cell if placed else own, tried | 1 << cell, group) - most
                if rest <= found:
                    break
            found = max(found, rest)
        return found

    def _worth_trying(self, own: int, tried: int, worlds: list[World]) -> list[int]:
        free = [cell for cell in range(self.board.cells) if not tried >> cell & 1]
        if not self.quiet:
            return free
        finishing = [cell for cell in free if self.joins(self.me, own | 1 << cell)]
        stones = [self.turn(world.node.own) if world.turned else world.node.own for world in worlds]
        return finishing[:1] or [cell for cell in free if not all(theirs >> cell & 1 for theirs in stones)]

    def _try(self, own: int, cell: int, worlds: list[World]) -> tuple[int, dict[tuple[bool, tuple[int, ...]], list[World]]]:
        """Play a cell: the weight that is won at once, and what is left, by what the opponent sees."""
        won = 0
        sights: dict[tuple[bool, tuple[int, ...]], list[World]] = {}
        for world in worlds:
            there = self.board.cells - 1 - cell if world.turned else cell
            placed = not world.node.own >> there & 1
            stones = own | 1 << cell if placed else own
            if placed and self.joins(self.me, stones):
                won += world.weight
                continue
            if world.turned:
                stones = self.turn(stones)
            then: Node | str = world.node if placed else self.hear(world.node, there)
            bumps: tuple[int, ...] = ()
            if isinstance(then, Node) and (placed or self.board.abrupt):
                then, bumps = self.reply(then, stones)
            if then == RESIGNED:
                won += world.weight
            if not isinstance(then, Node) or not self.can_beat(stones, then):
                continue
            sights.setdefault((placed, self._heard(bumps, world.turned)), []).append(world._replace(node=then))
        return won, sights

    def _heard(self, bumps: tuple[int, ...], turned: bool) -> tuple[int, ...]:
        """What the opponent hears of bumps."""
        if self.board.leak == "silent":
            return ()
        if self.board.leak == "noisy":
            return (0,) * len(bumps)
        return tuple(self.board.cells - 1 - cell if turned else cell for cell in bumps)


def joins(board: Board, player: int, stones: int) -> bool:
    """Return whether stones join the player's sides: top and bottom for Black, left and right for White."""
    rows, cols = board.rows, board.cols
    way, last = (0, rows - 1) if player == BLACK else (1, cols - 1)
    todo = [(r, c) for r in range(rows) for c in range(cols) if stones >> (r * cols + c) & 1 and (r, c)[way] == 0]
    seen = set(todo)
    while todo:
        r, c = todo.pop()
        if (r, c)[way] == last:
            return True
        for near in ((r - 1, c), (r - 1, c + 1), (r, c - 1), (r, c + 1), (r + 1, c - 1), (r + 1, c)):
            inside = 0 <= near[0] < rows and 0 <= near[1] < cols
            if inside and near not in seen and stones >> (near[0] * cols + near[1]) & 1:
                seen.add(near)
                todo.append(near)
    return False
