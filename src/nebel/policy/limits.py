"""Limits of a strategy in notation: how deeply it may be nested, how much may be left to play, and how much work following it may be.

Following a strategy recurses over its nesting and hashes what is left to play, so both are limited before it begins. The work itself is
counted in steps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from nebel.policy.syntax import BadStrategy, Either, Mixture, Name, Node, Random, Sequence, Try, Turned, children

MOST_DEPTH = 60
"""Strategies within strategies, in one definition."""
MOST_LEVELS = 250
"""The same through all names."""
MOST_AHEAD = 250
"""Instructions that may wait at a time to be played."""
MOST_STEPS, STEPS_A_STATE, MIXING = 100_000, 300, 10
"""Steps of following a strategy, those that each information state adds, and those that adding up a probability takes."""
MOST_BITS = 10_000
"""Of the numerator or denominator of a probability."""
TOO_DEEP = "strategies are nested too deeply"


class Effort:
    """The work that may still be done for a strategy."""

    def __init__(self, states: int = 0) -> None:
        self.most = self.left = MOST_STEPS + STEPS_A_STATE * states

    def add(self, states: int) -> None:
        """Allow for information states that were found."""
        self.most += STEPS_A_STATE * states
        self.left += STEPS_A_STATE * states

    def spend(self, steps: int) -> None:
        """Count steps; raises `BadStrategy` when there were too many."""
        self.left -= steps
        if self.left < 0:
            raise BadStrategy(f"the strategy is too much to follow: more than {self.most:,} steps; mix fewer strategies")

    def weigh(self, share: Fraction, steps: int = 0) -> Fraction:
        """Count the work of computing with this number, in `steps` and by its length, and refuse one that is too long."""
        bits = share.denominator.bit_length()
        if bits > MOST_BITS:
            raise BadStrategy(f"the probabilities multiply to fractions of more than {MOST_BITS:,} bits; take simpler ones")
        self.spend(steps + (bits >> 6))
        return share


class Size(NamedTuple):
    """Of a strategy, through all names in it: how deeply it is nested, and how many instructions may wait to be played."""

    levels: int
    ahead: int


def check_depth(node: Node) -> None:
    """Refuse a definition that is nested too deeply."""
    layer, depth = [node], 0
    while layer:
        depth += 1
        if depth > MOST_DEPTH:
            raise BadStrategy(f"{TOO_DEEP}: at most {MOST_DEPTH} within each other; give some of them a name", layer[0].at)
        layer = [child for parent in layer for child in children(parent)]


def size_of(node: Node, known: dict[str, Size]) -> Size:
    """Measure a strategy whose names are `known`; raises `BadStrategy` if it is too large to be followed."""
    below = [size_of(child, known) for child in children(node)]
    levels, ahead = max((size.levels for size in below), default=0), max((size.ahead for size in below), default=1)
    match node:
        case Name(name):
            levels, ahead = known[name]
        case Random():
            ahead = 2
        case Sequence(items):
            ahead = max(len(items) - 1 - i + size.ahead for i, size in enumerate(below))
        case Try():
            ahead += 1
        case Either():
            levels, ahead = levels + 2, ahead + 1
        case Turned() | Mixture():
            pass
    if levels + 1 > MOST_LEVELS:
        raise BadStrategy(f"{TOO_DEEP}, through names: at most {MOST_LEVELS} within each other", node.at)
    if ahead > MOST_AHEAD:
        raise BadStrategy(f"too much is to be played in a row: at most {MOST_AHEAD} moves and strategies", node.at)
    return Size(levels + 1, ahead)
