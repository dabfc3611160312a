"""Liar's dice: bid on what all dice show together, or call the last bid a lie."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy import int64

from nebel.core.errors import UnknownGame
from nebel.core.game import CHANCE, END, Clues, Encoding, Game, Record, Rules, openly, record
from nebel.core.recall import PERFECT
from nebel.core.rows import copy
from nebel.core.rule import rule
from nebel.games.table import cup, die, seats, table, words

MOST_ROLLS, MOST_BIDS = 10_000, 1_000
WORD = 63
"""Bits that a whole number holds."""


def liars_dice(dice: int = 1, faces: int = 6) -> Game:
    """Each player rolls in secret; bids on all dice together rise until one is called a lie. The highest face is wild."""
    if dice < 1 or faces < 1 or 2 * dice * faces > MOST_BIDS or comb(faces + dice - 1, dice) > MOST_ROLLS:
        raise UnknownGame(
            f"liars_dice: {dice} dice of {faces} faces each are not possible; both are at least 1, there are at most "
            f"{MOST_ROLLS:,} different rolls and at most {MOST_BIDS:,} bids"
        )
    bids = liar = 2 * dice * faces  # bids are numbered from 0, `liar` comes after them
    rolls = list(combinations_with_replacement(range(1, faces + 1), dice))
    # A roll is one chance outcome: which of a player's dice shows what makes no difference.
    chances = np.array([factorial(dice) / prod(map(factorial, Counter(roll).values())) / faces**dice for roll in rolls])
    matching = np.array([[sum(shown in (face, faces) for shown in roll) for face in range(1, faces + 1)] for roll in rolls])
    shows = np.array([[roll.count(face) for face in range(1, faces + 1)] for roll in rolls])
    roll_count = len(rolls)
    said = 1 + roll_count  # what can be seen: the own roll (1 + roll), or what the other player said (said + move)

    @rule
    def start(s: Record) -> None:
        s.roll[:] = -1
        s.made[:] = 0
        s.bid = -1
        s.turn = CHANCE
        s.caller = -1

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        if s.turn == CHANCE:
            first, end = 0, roll_count
        else:
            first, end = s.bid + 1, bids if s.bid < 0 else liar + 1
        for i in range(end - first):
            out[i] = first + i
        return end - first

    @rule
    def odds(s: Record, out: Any) -> None:
        copy(chances, out)

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        seen[0] = seen[1] = 0
        if s.turn == CHANCE:
            player = 0 if s.roll[0] < 0 else 1
            s.roll[player] = move
            seen[player] = 1 + move
            s.turn = CHANCE if player == 0 else 0
            return
        seen[1 - s.turn] = said + move
        if move == liar:
            s.caller = s.turn
            s.turn = END
        else:
            s.bid = move
            s.made[move // WORD] |= 1 << move % WORD
            s.turn = 1 - s.turn

    @rule
    def score(s: Record) -> float:
        face = s.bid % faces
        true = matching[s.roll[0], face] + matching[s.roll[1], face] > s.bid // faces
        return 1.0 if true == (s.caller == 1) else -1.0

    @rule
    def encode(s: Record, player: int, out: Any) -> None:
        """How many dice show each face; the bids that I made, and those of the other (they rise, and player 0 begins); the seat."""
        for face in range(faces):
            out[face] = shows[s.roll[player], face] / dice
        bidder = 0
        for bid in range(s.bid + 1):
            if s.made[bid // WORD] >> (bid % WORD) & 1:
                out[faces + (0 if bidder == player else bids) + bid] = 1.0
                bidder = 1 - bidder
        out[faces + 2 * bids] = player

    @rule
    def hopeful(s: Record, me: int, events: Any, at: int, end: int) -> bool:
        """Dice fall as they like, and all that is said is heard."""
        return True

    def move_name(move: int) -> str:
        return "liar" if move == liar else f"{move // faces + 1}-{move % faces + 1}"

    def roll_name(roll: int) -> str:
        return ("" if faces < 10 else ".").join(map(str, rolls[roll]))

    def sight(token: int) -> str:
        return f"({move_name(token - said)})" if token >= said else roll_name(token - 1)

    def bid_text(s: Record) -> str:
        """The standing bid and, once it is called, by whom. The bidder need not be told: bids alternate."""
        if s.bid < 0:
            return "none"
        return move_name(s.bid) + (f", player {s.caller} calls liar" if s.caller >= 0 else "")

    def view(s: Record, player: int | None) -> str:
        hidden = ("" if faces < 10 else ".").join("?" * dice)
        shown = [roll_name(r) if r >= 0 and player in (None, p) else hidden for p, r in enumerate(s.roll)]
        return f"player 0: {shown[0]}\nplayer 1: {shown[1]}\nbid: {bid_text(s)}"

    def svg(s: Record, player: int | None) -> str:
        def row(p: int) -> tuple[str, list[Any]]:
            if s.roll[p] < 0 or player not in (None, p):
                return f"player {p}", [cup() for _ in range(dice)]
            return f"player {p}", [die(face, wild=face == faces) for face in rolls[s.roll[p]]]

        top, bottom = seats(player)
        quantity, face = s.bid // faces + 1, s.bid % faces + 1
        bid = [words(f"{quantity} ×"), die(face, wild=face == faces)] if s.bid >= 0 else [words("none")]
        called = [words(f"player {s.caller}: liar!")] if s.caller >= 0 else []
        return table([row(top), ("bid", bid + called), row(bottom)])

    return Game(
        state=record(roll=(int64, 2), made=(int64, bids // WORD + 1), bid=int64, turn=int64, caller=int64),
        rules=Rules(start, turn, moves, play, score, odds),
        actions=bids + 1,
        outcomes=roll_count,
        depth=bids + 3,
        move_name=move_name,
        outcome_name=roll_name,
        sight_name=sight,
        clues=Clues(hopeful, public=openly),
        encodings={PERFECT: Encoding(faces + 2 * bids + 1, encode)},
        view=view,
        svg=svg,
    )
