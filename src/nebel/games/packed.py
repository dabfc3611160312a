"""Cards packed into one integer, in which packs are joined by + and parted by -.

Where suits can be told apart a card is one bit; where they cannot, a rank is a field of four bits that holds how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import UnknownGame
from nebel.core.rule import rule
from nebel.games.table import Piece, card

RANKS, SUITS = "A23456789TJQK", "shdcxyz"
SUIT_NAMES = {"s": "spade", "h": "heart", "d": "diamond", "c": "club"}
FIELD = 4
MOST_PACKS, MOST_DEALS = 50_000, 10_000


class Arithmetic(NamedTuple):
    """Rules on packed cards.

    count(a)          how many cards there are
    holds(a, b)       are the cards of b among those of a?
    of_rank(a, rank)  how many are of this rank
    both(a, b)        what there is at least if a is there, and b, which may be the same cards
    spare(a, b)       those of a that b does not account for
    take(a, rank, n)  n of a's cards of this rank, the first ones
    """

    count: Callable[[Any], int]
    holds: Callable[[Any, Any], bool]
    of_rank: Callable[[Any, Any], int]
    both: Callable[[Any, Any], int]
    spare: Callable[[Any, Any], int]
    take: Callable[[Any, Any, Any], int]


class Deck(NamedTuple):
    ranks: int
    suits: int
    alike: bool

    @property
    def cards(self) -> int:
        return self.ranks * self.suits

    @property
    def bits(self) -> int:
        """Of one rank in packed cards."""
        return FIELD if self.alike else self.suits

    @property
    def kinds(self) -> list[int]:
        """One card of each kind, packed."""
        return [1 << i for i in range(0, self.bits * self.ranks, FIELD if self.alike else 1)]

    @property
    def all(self) -> int:
        return sum(self.kinds) * (self.suits if self.alike else 1)

    def physical(self) -> list[int]:
        """Every card of the deck, packed."""
        return [kind for kind in self.kinds for _ in range(self.suits if self.alike else 1)]

    def packs(self, most: int) -> list[int]:
        """All different packs of 1 to `most` cards; smaller ones first."""
        pool, copies = range(len(self.kinds)), self.suits if self.alike else 1
        choose = combinations_with_replacement if self.alike else combinations
        kinds = len(pool)
        if sum(comb(kinds + size - 1 if self.alike else kinds, size) for size in range(1, most + 1)) > MOST_PACKS:
            raise UnknownGame(f"{most} of {self.cards} cards can be chosen in more than {MOST_PACKS:,} ways; put down fewer at a time")
        return [
            sum(self.kinds[i] for i in pick)
            for size in range(1, most + 1)
            for pick in choose(pool, size)
            if max(map(pick.count, pick)) <= copies
        ]

    def deals(self, hand: int, starters: list[int]) -> tuple[Any, Any, Any, Any]:
        """All ways to deal two hands: starters, hands and probabilities; empty where they are too many."""
        weight: dict[tuple[int, int, int], int] = {}
        if comb(self.cards, hand) * comb(self.cards - hand, hand) * len(starters) <= MOST_DEALS:
            cards = self.physical()
            for first in combinations(range(len(cards)), hand):
                for second in combinations([i for i in range(len(cards)) if i not in first], hand):
                    for by in starters:
                        key = by, sum(cards[i] for i in first), sum(cards[i] for i in second)
                        weight[key] = weight.get(key, 0) + 1
        rows = np.array(list(weight), np.int64).reshape(-1, 3)
        odds = np.array(list(weight.values()), float) / max(1, sum(weight.values()))
        return rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy(), odds

    def kinds_of(self, cards: int) -> list[int]:
        """The kinds of packed cards, one by one."""
        mask = (1 << FIELD) - 1 if self.alike else 1
        step = FIELD if self.alike else 1
        return [i for i in range(len(self.kinds)) for _ in range(int(cards) >> step * i & mask)]

    def name(self, kind: int) -> str:
        return RANKS[kind] if self.alike else RANKS[kind // self.suits] + SUITS[kind % self.suits]

    def text(self, cards: int) -> str:
        return "".join(map(self.name, self.kinds_of(cards))) or "-"

    def face(self, kind: int) -> Piece:
        if self.alike:
            return card(RANKS[kind])
        rank, suit = RANKS[kind // self.suits], SUITS[kind % self.suits]
        return card(rank, SUIT_NAMES[suit]) if suit in SUIT_NAMES else card(rank + suit)


def arithmetic(deck: Deck) -> Arithmetic:
    alike, ranks, bits = deck.alike, deck.ranks, deck.bits
    rank_mask = (1 << bits) - 1
    guard = sum(1 << FIELD * rank + FIELD - 1 for rank in range(ranks)) if alike else 0

    @rule
    def count(cards: int) -> int:
        n = 0
        while cards:
            n += cards & rank_mask if alike else 1
            cards = cards >> FIELD if alike else cards & (cards - 1)
        return n

    @rule
    def holds(cards: int, part: int) -> bool:
        return ((cards | guard) - part) & guard == guard if alike else part & ~cards == 0

    @rule
    def of_rank(cards: int, rank: int) -> int:
        return count(cards & (rank_mask << (bits * rank)))

    @rule
    def spare(cards: int, others: int) -> int:
        if not alike:
            return cards & ~others
        rest = 0
        for i in range(0, FIELD * ranks, FIELD):
            rest += max(0, ((cards >> i) & rank_mask) - ((others >> i) & rank_mask)) << i
        return rest

    @rule
    def both(cards: int, others: int) -> int:
        return cards + spare(others, cards)

    @rule
    def take(cards: int, rank: int, n: int) -> int:
        if alike:
            return n << (FIELD * rank)
        left, pack = cards & (rank_mask << (bits * rank)), 0
        for _ in range(n):
            pack |= left & -left
            left &= left - 1
        return pack

    return Arithmetic(count, holds, of_rank, both, spare, take)
