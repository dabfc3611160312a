"""A Dark Hex strategy in notation as instructions: what may be played next, what is left after that, and what of it matters.

What is still to be played is a linked list of instructions. A guard in it marks where an answer to collisions stands.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from nebel.core.interrupt import check
from nebel.policy.limits import MIXING, Effort
from nebel.policy.syntax import (
    MAIN,
    Either,
    Mixture,
    Move,
    Name,
    Node,
    Open,
    Random,
    Sequence,
    StrategyText,
    Try,
    Turned,
    nodes,
)
from nebel.policy.terrain import Terrain

ONE, NONE = Fraction(1), Fraction(0)

Rest = tuple[int, Any] | None
"""The next instruction (a guard: the answer's complement, below 0), and the rest."""
Next = tuple[Fraction, int | None, Rest]


class Program:
    """A strategy as numbered instructions: a node, and whether the board is turned."""

    def __init__(self, text: StrategyText) -> None:
        self.text = text
        self.code: list[tuple[Node, bool]] = []
        self._numbers: dict[tuple[int, bool], int] = {}
        self._equal: dict[tuple[Node, bool], int] = {}
        self._plain: dict[int, Node] = {}
        self.main = self.number(text.definitions[MAIN], False)
        self.cells = text.rows * text.cols
        self.effort = Effort()

    def number(self, node: Node, turned: bool) -> int:
        """Nodes that mean the same have the same number."""
        key = (id(node), turned)
        if key not in self._numbers:
            meant = (node, turned and not isinstance(node, Random | Open))
            if meant not in self._equal:
                self._equal[meant] = len(self.code)
                self.code.append(meant)
            self._numbers[key] = self._equal[meant]
        return self._numbers[key]

    def cell(self, move: Move, turned: bool) -> int:
        n = (int(move.cell[1:]) - 1) * self.text.cols + ord(move.cell[0]) - ord("a")
        return self.cells - 1 - n if turned else n

    def name(self, cell: int) -> str:
        return f"{chr(ord('a') + cell % self.text.cols)}{cell // self.text.cols + 1}"

    def plain(self, node: Either) -> Node:
        """{s | t} as {s ~ (t), t ~ (s)}."""
        if id(node) not in self._plain:
            self.effort.spend(len(node.options) * sum(1 for _ in nodes(node)))
            tries = []
            for i, option in enumerate(node.options):
                others = node.options[:i] + node.options[i + 1 :]
                otherwise = others[0] if len(others) == 1 else Either(others, at=node.at)
                tries.append(Try(option, otherwise, at=node.at))
            self._plain[id(node)] = Mixture(tuple(tries), at=node.at)
        return self._plain[id(node)]

    def collide(self, rest: Rest) -> Rest:
        """What is left to play after a collision: the nearest answer around the move, else simply what comes next."""
        ahead = rest
        while ahead is not None:
            first, ahead = ahead
            if first < 0:
                return self.settle((~first, ahead))
        return rest

    def settle(self, rest: Rest) -> Rest:
        """The same in fewer words, so that equal continuations are found equal: no guard in front, nothing after `!` or `?`."""
        while rest is not None and rest[0] < 0:
            rest = rest[1]
        return (rest[0], None) if rest is not None and isinstance(self.code[rest[0]][0], Random | Open) else rest

    def roams(self, rest: Rest) -> bool:
        """Whether `!` is all that is left."""
        return rest is not None and rest[0] >= 0 and isinstance(self.code[rest[0]][0], Random)

    def moves(self, rest: Rest, own: int, met: int, known: dict[Rest, list[Next]] | None = None) -> list[Next]:
        """(probability, cell, what is left) for each next move; any cell with `!` (cell -1); no move at all (cell None).

        `known` are those of alternatives that were followed before: what is named twice in a mixture is followed once.
        """
        while rest is not None:
            check()
            self.effort.spend(1)
            first, after = rest
            if first < 0:  # all went well up to here: the guard is not needed
                rest = after
                continue
            node, turned = self.code[first]
            match node:
                case Random():
                    return [(ONE, -1, (~first, (first, None)))]  # after a collision or not: at random again
                case Open():
                    rest = None
                case Move():
                    cell = self.cell(node, turned)
                    if own >> cell & 1:
                        rest = after
                    elif met >> cell & 1:
                        rest = self.collide(after)
                    else:
                        return [(ONE, cell, after)]
                case Name(name):
                    rest = (self.number(self.text.definitions[name], turned), after)
                case Turned(body):
                    rest = (self.number(body, not turned), after)
                case Sequence(items):
                    rest = after
                    self.effort.spend(len(items))
                    for item in reversed(items):
                        rest = (self.number(item, turned), rest)
                case Try(body, otherwise):
                    rest = (self.number(body, turned), (~self.number(otherwise, turned), after))
                case Either():
                    rest = (self.number(self.plain(node), turned), after)
                case Mixture(options, odds):
                    known = {} if known is None else known
                    found: dict[tuple[int | None, Rest], Fraction] = {}
                    for i, option in enumerate(options):
                        share = Fraction(1, len(options)) if odds is None else odds[i]
                        onward = (self.number(option, turned), after)
                        if share and onward not in known:
                            known[onward] = self.moves(onward, own, met, known)
                        for p, cell_, left in known[onward] if share else ():
                            found[cell_, left] = self.effort.weigh(found.get((cell_, left), NONE) + share * p, MIXING)
                    return [(p, cell_, left) for (cell_, left), p in found.items()]
        return [(ONE, None, None)]


class Trimmer:
    """Drops what will never be played, so that equal continuations are found equal, whatever they are a part of."""

    def __init__(self, program: Program, terrain: Terrain) -> None:
        self.program, self.terrain = program, terrain
        self.known: dict[tuple[Rest, int, int], bool] = {}

    def trim(self, rest: Rest, own: int, met: int) -> Rest:
        """The shortest beginning that needs nothing after it."""
        items: list[int] = []
        ahead = rest
        while ahead is not None and ahead[1] is not None:
            items.append(ahead[0])
            self.program.effort.spend(len(items))
            ahead = ahead[1]
            front: Rest = None
            for item in reversed(items):
                front = (item, front)
            if self.ends(front, own, met):
                return front
        return rest

    def ends(self, rest: Rest, own: int, met: int) -> bool:
        """Whether this plays every game to its end, with an answer of its own to each collision."""
        if (rest, own, met) not in self.known:
            self.known[rest, own, met] = all(self._ends(cell, left, own, met) for _, cell, left in self.program.moves(rest, own, met))
        return self.known[rest, own, met]

    def _ends(self, cell: int | None, left: Rest, own: int, met: int) -> bool:
        if cell is None or cell < 0:
            return cell is not None
        for hit, mine, theirs in self.terrain.after(own, met, cell):
            then = self.program.collide(left) if hit else self.program.settle(left)
            if (hit and then is left) or not self.ends(self.trim(then, mine, theirs), mine, theirs):
                return False
        return True
