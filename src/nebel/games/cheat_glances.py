"""What players of Cheat see without remembering: the agents of the paper, in two readings."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from nebel.core.game import Glance, Record
from nebel.core.rng import fold
from nebel.core.rule import rule
from nebel.games.cheat_box import Box
from nebel.games.packed import RANKS, arithmetic

KEY = (1 << 62) - 1

ANSWERS = ("", "after belief", "after a challenge")
"""The last answer, by number: none yet, believed, challenged."""


def glances(box: Box, hp: int | None) -> Mapping[str, Glance]:
    """Return the glances of the game with this deck and these health points (None: without)."""
    cards = arithmetic(box.deck)
    count, of_rank = cards.count, cards.of_rank
    by_card, in_play, most, ranks, bits = box.by_card, box.in_play, box.most, box.deck.ranks, box.deck.bits
    known_hp = hp or 0
    held_spans = 1 << bits * ranks if by_card else (in_play + 1) ** 2
    spans = (2, ranks, in_play + 1, most + 1)
    pile_spans = (in_play + 1, len(ANSWERS))
    hp_spans = (known_hp + 1, known_hp + 1)
    packed = prod((held_spans, *spans, *hp_spans)) <= KEY
    pile_packed = prod((held_spans, *spans, *pile_spans, *hp_spans)) <= KEY

    @rule
    def moment(s: Record, player: int, whole: bool) -> int:
        held, rank, answering = s.hand[player], s.rank, 1 if s.last else 0
        if not by_card:  # which rank is on makes no difference
            held, rank = min(of_rank(held, rank), in_play) * (in_play + 1) + min(count(held), in_play), 0
        others = min(count(s.hand[1 - player]), in_play)  # a game of larger hands has more
        if whole:
            return (((held * 2 + answering) * ranks + rank) * (in_play + 1) + others) * (most + 1) + s.claim
        return fold(fold(fold(fold(held, answering), rank), others), s.claim) & KEY

    @rule
    def health(s: Record, player: int, key: int, whole: bool) -> int:
        own, other = min(s.hp[player], known_hp), min(s.hp[1 - player], known_hp)
        if whole:
            return (key * (known_hp + 1) + own) * (known_hp + 1) + other
        return fold(fold(key, own), other) & KEY

    @rule
    def memoryless(s: Record, player: int) -> int:
        return moment(s, player, packed)

    @rule
    def hp_aware(s: Record, player: int) -> int:
        return health(s, player, moment(s, player, packed), packed)

    @rule
    def memoryless_pile(s: Record, player: int) -> int:
        key = moment(s, player, pile_packed)
        mine, answer = min(count(s.mine[player]), in_play), 0 if s.last else s.answer
        if pile_packed:
            return (key * (in_play + 1) + mine) * 3 + answer
        return fold(fold(key, mine), answer) & KEY

    @rule
    def hp_aware_pile(s: Record, player: int) -> int:
        return health(s, player, memoryless_pile(s, player), pile_packed)

    @rule
    def history_aware(s: Record, player: int) -> int:
        return fold(s.past, s.hand[player]) & KEY

    @rule
    def general(s: Record, player: int) -> int:
        own, other = min(s.hp[player], known_hp), min(s.hp[1 - player], known_hp)
        return fold(fold(fold(s.past, s.hand[player]), own), other) & KEY

    def text(key: int, pile: bool, with_hp: bool) -> str:
        parts: list[int] = []
        for span in reversed((*spans, *(pile_spans if pile else ()), *(hp_spans if with_hp else ()))):
            key, part = divmod(key, span)
            parts.insert(0, part)
        answering, rank, others, claim, *more = parts
        what = RANKS[rank] if by_card else "the rank on"
        doing = f"asked to believe {claim} x {what}" if answering else f"{what} is on" if by_card else "to put down"
        held = box.deck.text(key) if by_card else f"{key % (in_play + 1)} cards, {key // (in_play + 1)} of the rank on"
        told = [held, doing, f"the other has {others}"]
        if pile:
            told += [f"{more[0]} own cards in the pile", *filter(None, [ANSWERS[more[1]]])]
        if with_hp and hp is not None:
            told.append(f"health {more[-2]} against {more[-1]}")
        return ", ".join(told)

    def glance(look: Any, note: str, pile: bool, with_hp: bool) -> Glance:
        whole = pile_packed if pile else packed
        return Glance(look, lambda key: text(key, pile, with_hp), note) if whole else Glance(look, note=note)

    told_of_pile = "memoryless, the number of own cards in the pile and, while choosing, the last answer"
    return {
        "memoryless": glance(memoryless, "hand, phase, rank, the other's number of cards, the claim", False, False),
        "hp-aware": glance(hp_aware, "memoryless, and both players' health points", False, True),
        "memoryless-pile": glance(memoryless_pile, told_of_pile, True, False),
        "hp-aware-pile": glance(hp_aware_pile, "memoryless-pile, and both players' health points", True, True),
        "history-aware": Glance(history_aware, note="hand, and the history of numbers of cards and challenges"),
        "general": Glance(general, note="history-aware, and both players' health points"),
    }
