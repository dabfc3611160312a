"""What Cheat is played with: a deck, and the ways to put cards of it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from nebel.core.errors import UnknownGame
from nebel.core.keys import find
from nebel.core.rule import rule
from nebel.games.packed import RANKS, SUITS, Arithmetic, Deck

MOST_CARDS = 52


@dataclass(frozen=True)
class Box:
    """The deck, how many of its cards are dealt, how many can be put down in a turn, and whether players choose cards or numbers."""

    deck: Deck
    in_play: int
    most: int
    by_card: bool

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Box:
        """That of a game with these options; refuses impossible ones."""
        ranks, suits, hand, most = (options[name] for name in ("ranks", "suits", "hand", "max_discard"))
        limits = f"there are 1 to {len(RANKS)} ranks, 1 to {len(SUITS)} suits, and at most {MOST_CARDS} cards"
        most = suits if most is None else most
        wrong = {
            f"{ranks} ranks in {suits} suits are not possible; {limits}": not 1 <= ranks <= len(RANKS)
            or not 1 <= suits <= len(SUITS)
            or ranks * suits > MOST_CARDS,
            f"hand={hand} deals nothing; each player gets at least 1 card": hand < 1,
            f"hand={hand} deals {2 * hand} cards, and {ranks} ranks in {suits} suits are only {ranks * suits}": 2 * hand > ranks * suits,
            f"max_discard={most} would discard nothing; at least 1 card is put down in a turn": most < 1,
        }
        for why, so in wrong.items():
            if so:
                raise UnknownGame(f"cheat: {why}")
        return cls(Deck(ranks, suits, options["alike"]), 2 * hand, min(most, 2 * hand), options["put"] == "cards")

    @cached_property
    def packs(self) -> list[int]:
        """What can be put down, by move; none where players say numbers."""
        return self.deck.packs(self.most) if self.by_card else []

    @cached_property
    def numbers(self) -> list[tuple[int, int]]:
        """How many cards of the rank that is on and how many others can be put down."""
        return [(true, size - true) for size in range(1, self.most + 1) for true in range(size, -1, -1)]

    @property
    def believe(self) -> int:
        """The number of the move after all that put down cards; the next is to challenge."""
        return len(self.packs) or len(self.numbers)

    def asked(self, first: int) -> list[int]:
        """How far ahead other ranks are, in the order in which a player is asked for them whose turn comes `first` turns from now; ranks
        that do not come at all are last."""
        ranks = self.deck.ranks
        turns = {(first + 2 * n) % ranks: n for n in reversed(range(ranks))}
        return sorted(range(ranks - 1, 0, -1), key=lambda ahead: turns.get(ahead, ranks))


class Putting(NamedTuple):
    """Rules of putting cards down from a hand, when a rank is on.

    can_put(held, rank, move)
    pack_of(held, rank, move)              the cards that go; where players say numbers, others go of the ranks that are asked for last
    move_of(held, rank, true, others)      the move that puts down so many cards of the rank, and so many of those
    """

    can_put: Callable[[Any, Any, Any], bool]
    pack_of: Callable[[Any, Any, Any], int]
    move_of: Callable[[Any, Any, Any, Any], int]


def putting(box: Box, cards: Arithmetic) -> Putting:
    count, holds, of_rank, _, _, take = cards
    by_card, ranks = box.by_card, box.deck.ranks
    late = np.array(box.asked(0)[::-1], int64)
    discards = np.array(box.packs, int64)
    order = np.argsort(discards)
    ascending = discards[order]
    trues, others_put = np.array(box.numbers, int64).T.copy()
    places = np.zeros((box.most + 1, box.most + 1), int64)
    places[trues, others_put] = np.arange(len(trues))

    @rule
    def can_put(held: int, rank: int, move: int) -> bool:
        if by_card:
            return holds(held, discards[move])
        fit = of_rank(held, rank)
        return trues[move] <= fit and others_put[move] <= count(held) - fit

    @rule
    def choose(held: int, rank: int, true: int, others: int) -> int:
        pack = take(held, rank, true)
        for i in range(len(late)):
            other = (rank + late[i]) % ranks
            n = min(others, of_rank(held, other))
            pack += take(held, other, n)
            others -= n
        return pack

    @rule
    def pack_of(held: int, rank: int, move: int) -> int:
        return discards[move] if by_card else choose(held, rank, trues[move], others_put[move])

    @rule
    def move_of(held: int, rank: int, true: int, others: int) -> int:
        return order[find(ascending, choose(held, rank, true, others))] if by_card else places[true, others]

    return Putting(can_put, pack_of, move_of)
