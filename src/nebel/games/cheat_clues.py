"""What players of Cheat see, and what that tells of the other's cards."""

from __future__ import annotations

from typing import Any

from nebel.core.game import CHANCE, Clues, Record
from nebel.core.rule import rule
from nebel.games.cheat_box import Box, putting
from nebel.games.packed import arithmetic

HAND, COUNT, BELIEVED, SHOWN, TOOK = range(1, 6)
KINDS = 8
"""What can be seen, as KINDS * what + kind: the own hand, how many cards the other claims, that a claim was believed, the cards
that a challenge turned up, and (for who takes the pile, and needs no other words) all that was in it."""


def clues(box: Box) -> Clues:
    cards = arithmetic(box.deck)
    count, holds, _, both, spare, _ = cards
    pack_of = putting(box, cards).pack_of
    ranks, suits, whole, believe, hand = box.deck.ranks, box.deck.suits, box.deck.all, box.believe, box.in_play // 2

    @rule
    def essence(s: Record) -> None:
        """Without what only bots and glances remember."""
        s.mine[:] = 0
        s.theirs[:] = 0
        s.past = s.answer = 0

    @rule
    def public(mover: int, seen0: int, seen1: int) -> int:
        """Numbers of cards, what is believed, and cards that are shown; which of the two sees a token is plain from it."""
        kind = seen0 % KINDS
        return seen0 if kind in (COUNT, BELIEVED, SHOWN) else seen1 if kind != HAND else 0

    @rule
    def dealt_in_time(s: Record, me: int, mine: int, needed: int) -> bool:
        """Can I still be dealt these cards, and the other at least those?"""
        held, left = s.hand[1 - me], whole - s.hand[0] - s.hand[1]
        if not holds(mine, s.hand[me]) or not holds(left, mine - s.hand[me]):
            return False
        more = spare(needed, held)
        return holds(left - (mine - s.hand[me]), more) and count(more) <= hand - count(held)

    @rule
    def plausible(s: Record, me: int, events: Any, at: int, end: int) -> bool:
        """Has the other, or can the other be dealt, all cards that I will see come from there and that did not come there from me?"""
        dealing, i, rank, mine = s.turn == CHANCE, at, s.rank, s.hand[me]
        if dealing:
            i, mine = 1, (events[0] >> 1) // KINDS
            if s.by >= 0 and (s.by == me) != (end == 1 or events[1] & 1 == 1):
                return False
        first = mine
        pile = s.pile  # as far as I know: all that lies there in s, and what I put there
        by_other, pending = s.by == 1 - me, s.last != 0
        needed = out = given = 0  # of the other's cards: all in all, those that come to me, and those that go there
        while i < end:
            token, own = events[i] >> 1, events[i] & 1
            what, kind = token // KINDS, token % KINDS
            i += 1
            if own and token < believe:
                pack = pack_of(mine, rank, token)
                mine -= pack
                pile += pack
                by_other = False
            elif own and token > believe:
                continue  # what a challenge comes to is seen next
            elif not own and kind == COUNT:
                by_other = True
            else:
                if not own and kind == SHOWN:
                    if by_other and not pending:
                        needed = both(needed, out + spare(what, given))
                    elif by_other and what != s.last:
                        return False
                    given += pile
                    pile = 0
                elif not own and kind == TOOK:
                    took = what >> suits
                    if not holds(took, pile):
                        return False
                    theirs = took - pile
                    out += spare(theirs, given)
                    given = spare(given, theirs)
                    needed = both(needed, out)
                    mine += took
                    pile = 0
                rank = (rank + 1) % ranks
                pending = False
        return dealt_in_time(s, me, first, needed) if dealing else holds(s.hand[1 - me], needed)

    return Clues(plausible, essence, public, exact=False)
