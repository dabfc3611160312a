"""Leduc poker: six cards, two rounds of betting, one public card."""

from __future__ import annotations

from typing import Any

from numpy import int8, int64

from nebel.core.game import CHANCE, END, Clues, Encoding, Game, Record, Rules, openly, record
from nebel.core.recall import PERFECT
from nebel.core.rule import rule
from nebel.games.table import back, card, chips, seats, slot, table

FOLD, CALL, RAISE = 0, 1, 2
MOVES = ("fold", "call", "raise")
RANKS, SUITS = "JQK", ("spade", "heart")
CARDS = tuple(rank + suit[0] for rank in RANKS for suit in SUITS)
ANTE, MOST_RAISES = 1, 2
SMALL_BET, BIG_BET = 2, 4
LONGEST = MOST_RAISES + 2
"""Moves of a round at most."""

MOST_IN = ANTE + MOST_RAISES * (SMALL_BET + BIG_BET)
SAID = 1 + len(CARDS)
"""What can be seen: a card (1 + its number or rank), or what the other player did (SAID + move)."""


def leduc(suits: bool = True) -> Game:
    """Six cards, two rounds of betting with a public card between them; suits can be hidden, as they never matter."""
    per_sight = 1 if suits else len(SUITS)  # how many cards look the same

    @rule
    def start(s: Record) -> None:
        s.card[:] = -1
        s.public = -1
        s.bets[:] = ANTE
        s.turn = CHANCE
        s.acted = 0
        s.raises = 0
        s.folded = -1
        s.past[:] = -1

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        count = 0
        if s.turn == CHANCE:
            for option in range(6):
                if option != s.card[0] and option != s.card[1]:
                    out[count] = option
                    count += 1
            return count
        if s.bets[s.turn] < s.bets[1 - s.turn]:
            out[count] = FOLD
            count += 1
        out[count] = CALL
        count += 1
        if s.raises < MOST_RAISES:
            out[count] = RAISE
            count += 1
        return count

    @rule
    def odds(s: Record, out: Any) -> None:
        out[:] = 1 / (6 if s.card[0] < 0 else 5 if s.card[1] < 0 else 4)

    @rule
    def deal(s: Record, dealt: int, seen: Any) -> None:
        token = 1 + dealt // per_sight
        if s.card[0] < 0:
            s.card[0] = dealt
            seen[0] = token
        elif s.card[1] < 0:
            s.card[1] = dealt
            seen[1] = token
            s.turn = 0
        else:
            s.public = dealt
            seen[0] = seen[1] = token
            s.turn = 0
            s.acted = 0
            s.raises = 0

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        seen[0] = seen[1] = 0
        if s.turn == CHANCE:
            deal(s, move, seen)
            return
        me = s.turn
        other = 1 - me
        seen[other] = SAID + move
        s.past[0 if s.public < 0 else 1, s.acted] = move
        s.acted += 1
        s.turn = other
        if move == FOLD:
            s.folded = me
            s.turn = END
        elif move == RAISE:
            s.bets[me] = s.bets[other] + (SMALL_BET if s.public < 0 else BIG_BET)
            s.raises += 1
        else:
            s.bets[me] = s.bets[other]
            if s.acted > 1:  # the first call of a round is a check, any other closes it
                s.turn = CHANCE if s.public < 0 else END

    @rule
    def strength(s: Record, player: int) -> int:
        rank = s.card[player] // 2
        return rank + 3 if rank == s.public // 2 else rank

    @rule
    def score(s: Record) -> float:
        if s.folded >= 0:
            return float(s.bets[1]) if s.folded == 1 else -float(s.bets[0])
        mine, theirs = strength(s, 0), strength(s, 1)
        return 0.0 if mine == theirs else float(s.bets[0]) if mine > theirs else -float(s.bets[0])

    faces = len(CARDS) // per_sight

    @rule
    def encode(s: Record, player: int, out: Any) -> None:
        """My card, the public card, what was done (call, raise) in both rounds, the bets, the seat."""
        if s.card[player] >= 0:
            out[s.card[player] // per_sight] = 1.0
        if s.public >= 0:
            out[faces + s.public // per_sight] = 1.0
        rest = 2 * faces
        for i in range(2):
            for j in range(LONGEST):
                if s.past[i, j] > FOLD:
                    out[rest + 2 * (LONGEST * i + j) + s.past[i, j] - CALL] = 1.0
        rest += 4 * LONGEST
        out[rest], out[rest + 1] = s.bets[player] / MOST_IN, s.bets[1 - player] / MOST_IN
        out[rest + 2] = player

    @rule
    def hopeful(s: Record, me: int, events: Any, at: int, end: int) -> bool:
        """All that is done is done openly, so only the cards that I must still see have to be there."""
        taken = int64(0)  # by sight, two bits: how many are gone
        for dealt in (s.card[0], s.card[1], s.public):
            if dealt >= 0:
                taken += int64(1) << 2 * (dealt // per_sight)
        for i in range(at, end):
            if not events[i] & 1 and events[i] >> 1 < SAID:
                looks = 2 * ((events[i] >> 1) - 1)
                if taken >> looks & 3 == per_sight:
                    return False
                taken += int64(1) << looks
        return True

    def sight(token: int) -> str:
        if token >= SAID:
            return f"({MOVES[token - SAID]})"
        return CARDS[token - 1] if suits else RANKS[token - 1]

    def face(dealt: int, player: int | None) -> str:
        return CARDS[dealt] if suits or player is None else CARDS[dealt][0]

    def view(s: Record, player: int | None) -> str:
        shown = [face(c, player) if c >= 0 and player in (None, p) else "?" for p, c in enumerate(s.card)]
        lines = [f"player {p}: {shown[p]:<{max(map(len, shown))}}  put in {s.bets[p]}" for p in range(2)]
        return "\n".join([*lines, f"public: {face(s.public, player) if s.public >= 0 else '-'}"])

    def svg(s: Record, player: int | None) -> str:
        def draw(dealt: int) -> Any:
            return card(CARDS[dealt][0], SUITS[dealt % 2] if suits or player is None else "")

        def row(p: int) -> tuple[str, list[Any]]:
            return f"player {p}", [draw(s.card[p]) if s.card[p] >= 0 and player in (None, p) else back(), chips(int(s.bets[p]))]

        top, bottom = seats(player)
        return table([row(top), ("public", [draw(s.public) if s.public >= 0 else slot()]), row(bottom)])

    return Game(
        state=record(
            card=(int64, 2), public=int64, bets=(int64, 2), turn=int64, acted=int64, raises=int64, folded=int64, past=(int8, (2, LONGEST))
        ),
        rules=Rules(start, turn, moves, play, score, odds),
        actions=3,
        outcomes=6,
        depth=11,
        move_name=MOVES.__getitem__,
        outcome_name=CARDS.__getitem__,
        sight_name=sight,
        clues=Clues(hopeful, public=openly),
        encodings={PERFECT: Encoding(2 * faces + 4 * LONGEST + 3, encode)},
        view=view,
        svg=svg,
    )
