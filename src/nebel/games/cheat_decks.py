"""Cheat with one deck, as a player sees it who learned with another, usually a smaller one.

Of the own hand it sees how many cards are of the rank that is on, and the others by when they will be asked for; of all numbers as
much as its own game has. What it then does is what it would do there: so many cards of the rank, so many others.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from nebel.core.errors import BadSetting
from nebel.core.game import Likeness, Record
from nebel.core.rule import rule
from nebel.games.cheat_box import Box, putting
from nebel.games.packed import arithmetic

GLANCES = ("memoryless", "hp-aware")
"""Those that see a moment. The other two remember numbers of cards, which other decks do not have."""


def likeness(here: Box, there: Box) -> Likeness:
    """How a player of Cheat with the deck `there` finds its way with the deck `here`."""
    if there.deck.ranks == 1 < here.deck.ranks:
        raise BadSetting("where there is a single rank nobody can lie, so nothing there is like cards of another rank")
    cards, cards_there = arithmetic(here.deck), arithmetic(there.deck)
    count, of_rank, move_of = cards.count, cards.of_rank, putting(here, cards).move_of
    count_there, of_rank_there, take_there = cards_there.count, cards_there.of_rank, cards_there.take
    ranks, suits, most, believe = here.deck.ranks, here.deck.suits, here.most, here.believe
    ranks_there, suits_there, all_there, believe_there = there.deck.ranks, there.deck.suits, there.deck.all, there.believe
    in_play_there, by_card_there = there.in_play, there.by_card
    most_there = min(there.most, in_play_there - 1)  # that the other can have put down while the player still has a card
    packs_there, numbers_there = np.array(there.packs, int64), np.array(there.numbers, int64)
    asked = np.array([here.asked(0), here.asked(1)], int64)  # by whether the player answers now
    asked_there = np.array([there.asked(0), there.asked(1)], int64)

    @rule
    def some(cards: int, n: int) -> int:
        """So many of these cards of the other deck, the first ones."""
        pack = 0
        for rank in range(ranks_there):
            more = min(n, of_rank_there(cards, rank))
            pack += take_there(cards, rank, more)
            n -= more
        return pack

    @rule
    def other_cards(held: int, rank: int, answers: int, n: int, rank_there: int) -> int:
        """The n cards of other ranks that are asked for first, as cards of the other deck that are asked for as soon."""
        pack = 0
        for i in range(ranks - 1):
            left = min(n, of_rank(held, (rank + asked[answers, i]) % ranks))
            n -= left
            for j in range(ranks_there - 1):  # where there is no room among cards as soon, they go among later ones
                like = (rank_there + asked_there[answers, (min(i, ranks_there - 2) + j) % (ranks_there - 1)]) % ranks_there
                fits = min(left, suits_there - of_rank_there(pack, like))
                pack += take_there(all_there - pack, like, fits)
                left -= fits
        return pack

    @rule
    def liken(s: Record, player: int, t: Record) -> None:
        held, answers = s.hand[player], 1 if s.last else 0
        fit = of_rank(held, s.rank)
        rest = count(held) - fit
        true, claim = min(fit, suits_there), 0
        if answers:  # what cannot be true here cannot be true there
            true = 0 if fit == 0 else max(1, fit * suits_there // suits)
            if fit + s.claim <= suits:
                true = min(true, suits_there - 1)
                claim = max(1, min(s.claim, min(most_there, suits_there - true)))
            else:
                claim = min(s.claim, min(most_there, suits_there))
                true = max(true, suits_there - claim + 1)
        mine, theirs = min(fit + rest, in_play_there), min(count(s.hand[1 - player]), in_play_there)
        while mine + theirs + claim > in_play_there:  # who has more than fits there has fewer, down to the last card
            if mine > 1 and (mine > theirs + claim or theirs <= 1):
                mine -= 1
            else:
                theirs -= 1
        true = min(true, mine)
        if rest and not answers:
            true = min(true, max(1, mine - 1))  # it is not the last cards that it puts down
        more = min(min(mine - true, rest), suits_there * (ranks_there - 1))
        true = max(true, 1 if more == 0 else 0)  # nobody who is to move is without cards
        t.rank = s.turns % ranks_there
        t.hand[player] = take_there(all_there, t.rank, true)
        t.hand[player] += other_cards(held, s.rank, answers, more, t.rank)
        t.hand[1 - player] = some(all_there - t.hand[player], theirs)
        t.last = t.pile = some(all_there - t.hand[0] - t.hand[1], claim)
        t.claim = claim
        t.hp[0], t.hp[1] = s.hp[0], s.hp[1]
        t.turns = s.turns
        t.turn = player
        t.by = s.by

    @rule
    def mean(s: Record, t: Record, move: int) -> int:
        if t.last:
            return believe + move - believe_there
        if by_card_there:
            true = of_rank_there(packs_there[move], t.rank)
            others = count_there(packs_there[move]) - true
        else:
            true, others = numbers_there[move, 0], numbers_there[move, 1]
        held = s.hand[s.turn]
        true = min(true, most)
        return move_of(held, s.rank, true, min(others, most - true))

    return Likeness(liken, mean, GLANCES)
