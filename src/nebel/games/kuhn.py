"""Kuhn poker: three cards, one bet, the smallest poker in which bluffing pays."""

from __future__ import annotations

from typing import Any

from numpy import int64

from nebel.core.game import CHANCE, END, Clues, Encoding, Game, Record, Rules, openly, record
from nebel.core.recall import PERFECT
from nebel.core.rule import rule
from nebel.games.table import back, card, chips, seats, table

PASS, BET = 0, 1
CARDS = ("J", "Q", "K")
MOVES = ("pass", "bet")


def kuhn() -> Game:
    """Three cards, one each, one bet: the smallest poker in which bluffing pays."""

    @rule
    def start(s: Record) -> None:
        s.card[:] = -1
        s.bets[:] = 1
        s.dealt = 0
        s.turn = CHANCE
        s.acted = 0

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        count = 0
        for option in range(3 if s.turn == CHANCE else 2):
            if s.turn != CHANCE or option != s.card[0]:
                out[count] = option
                count += 1
        return count

    @rule
    def odds(s: Record, out: Any) -> None:
        out[:] = 1 / (3 - s.dealt)

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        if s.turn == CHANCE:
            s.card[s.dealt] = move
            seen[s.dealt] = 1 + move
            s.dealt += 1
            s.turn = CHANCE if s.dealt < 2 else 0
            return
        seen[1 - s.turn] = 4 + move
        s.bets[s.turn] += move
        s.acted += 1
        closed = s.bets[0] == s.bets[1] or (move == PASS and s.bets[0] != s.bets[1])
        s.turn = END if s.acted >= 2 and closed else 1 - s.turn

    @rule
    def score(s: Record) -> float:
        if s.bets[0] != s.bets[1]:
            return 1.0 if s.bets[0] > s.bets[1] else -1.0
        return float(s.bets[0]) if s.card[0] > s.card[1] else -float(s.bets[0])

    @rule
    def encode(s: Record, player: int, out: Any) -> None:
        """My card, what each has bet, how often somebody acted, the seat."""
        out[s.card[player]] = 1.0
        out[3], out[4] = s.bets[player] - 1, s.bets[1 - player] - 1
        out[5], out[6] = s.acted / 2, player

    def sight(token: int) -> str:
        return CARDS[token - 1] if token < 4 else f"({MOVES[token - 4]})"

    def view(s: Record, player: int | None) -> str:
        shown = [CARDS[c] if c >= 0 and player in (None, p) else "?" for p, c in enumerate(s.card)]
        return "\n".join(f"player {p}: {shown[p]}  put in {s.bets[p]}" for p in range(2))

    def svg(s: Record, player: int | None) -> str:
        shown = [card(CARDS[c]) if c >= 0 and player in (None, p) else back() for p, c in enumerate(s.card)]
        return table([(f"player {p}", [shown[p], chips(int(s.bets[p]))]) for p in seats(player)])

    return Game(
        state=record(card=(int64, 2), bets=(int64, 2), dealt=int64, turn=int64, acted=int64),
        rules=Rules(start, turn, moves, play, score, odds),
        actions=2,
        outcomes=3,
        depth=5,
        move_name=MOVES.__getitem__,
        outcome_name=CARDS.__getitem__,
        sight_name=sight,
        clues=Clues(public=openly),
        encodings={PERFECT: Encoding(7, encode)},
        view=view,
        svg=svg,
    )
