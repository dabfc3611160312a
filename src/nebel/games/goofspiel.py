"""Goofspiel with imperfect information: bid cards for prizes, and learn only who won each."""

from __future__ import annotations

from typing import Any, Literal

from numpy import int8, int64

from nebel.core.errors import UnknownGame
from nebel.core.game import CHANCE, END, Clues, Encoding, Game, Record, Rules, record
from nebel.core.recall import PERFECT
from nebel.core.rule import rule
from nebel.games.table import Piece, back, card, prize, seats, slot, table, words

WON, LOST, TIED = 1, 2, 3
BOTH = 4
PRIZE = 16
"""What can be seen: how a bid went; when the last round plays itself, how the last two went (first + BOTH * second); PRIZE + prize."""

RESULTS = ("", "won", "lost", "tied")
MOST_CARDS = 30


def brief(text: str) -> dict[str, str]:
    """`goofspiel:13` has 13 cards."""
    if not text.isdecimal():
        raise UnknownGame(f"goofspiel:{text} is not understood; write goofspiel:CARDS, for example goofspiel:13")
    return {"cards": text}


def goofspiel(
    cards: int = 4,
    order: Literal["ascending", "descending", "random"] = "ascending",
    first_prize: Literal[0, 1] = 0,
    forced_last: bool = True,
    turns: int | None = None,
) -> Game:
    """Bid cards for prizes, both at once; only who won a prize is told, never the bids. The sign of the difference counts."""
    if not 1 <= cards <= MOST_CARDS:
        raise UnknownGame(f"goofspiel: {cards} cards are not possible; there are 1 to {MOST_CARDS}")
    if order not in ("ascending", "descending", "random"):
        raise UnknownGame(f"goofspiel: order={order} is not possible; it is ascending, descending or random")
    if first_prize not in (0, 1):
        raise UnknownGame(f"goofspiel: first_prize={first_prize} is not possible; it is 0 or 1")
    if cards == 1 and not forced_last:
        raise UnknownGame("goofspiel: with forced_last=false one card leaves nothing to play; there are at least 2")
    if turns is not None and not 1 <= turns <= cards:
        raise UnknownGame(f"goofspiel: turns={turns} is not possible; with cards={cards} there are 1 to {cards}, or none for all")
    shuffled, descending = order == "random", order == "descending"
    rounds = cards if turns is None else turns
    plays_itself = rounds == cards and not forced_last  # the last round, where each has one card left
    by_hand = rounds - 1 if plays_itself else rounds
    opening = CHANCE if shuffled else 0
    full = (1 << cards) - 1

    @rule
    def start(s: Record) -> None:
        s.hand[:] = full
        s.left = full
        s.bid[:] = -1
        s.prize[:] = -1
        if not shuffled:
            for i in range(rounds):
                s.prize[i] = cards - 1 - i if descending else i
        s.trick = 0
        s.lead = 0
        s.turn = opening

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        held = s.left if s.turn == CHANCE else s.hand[s.turn]
        count = 0
        for option in range(cards):  # without a branch that nobody could foresee
            out[count] = option
            count += held >> option & 1
        return count

    @rule
    def odds(s: Record, out: Any) -> None:
        out[:] = 1 / (cards - s.trick)

    @rule
    def settle(s: Record) -> int:
        """Give the prize to the higher bid; how it went for player 0."""
        mine, theirs, worth = s.bid[0, s.trick], s.bid[1, s.trick], int64(s.prize[s.trick]) + first_prize
        s.trick += 1
        if mine == theirs:
            return TIED
        s.lead += worth if mine > theirs else -worth
        return WON if mine > theirs else LOST

    @rule
    def seen_by_other(result: int) -> int:
        return TIED if result == TIED else WON + LOST - result

    @rule
    def only(held: int) -> int:
        """The number of the last card."""
        number = 0
        while held >> number != 1:
            number += 1
        return number

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        seen[0] = seen[1] = 0
        if s.turn == CHANCE:
            s.prize[s.trick] = move
            s.left ^= int64(1) << move
            seen[0] = seen[1] = PRIZE + move
            s.turn = 0
            return
        s.bid[s.turn, s.trick] = move
        s.hand[s.turn] ^= int64(1) << move
        if s.turn == 0:
            s.turn = 1
            return
        result = settle(s)
        seen[0], seen[1] = result, seen_by_other(result)
        if s.trick < by_hand:
            s.turn = opening
            return
        s.turn = END
        if plays_itself:
            s.bid[0, s.trick], s.bid[1, s.trick] = only(s.hand[0]), only(s.hand[1])
            if shuffled:
                s.prize[s.trick] = only(s.left)
            s.hand[:] = 0
            result = settle(s)
            seen[0] += BOTH * result
            seen[1] += BOTH * seen_by_other(result)

    @rule
    def score(s: Record) -> float:
        return 1.0 if s.lead > 0 else -1.0 if s.lead < 0 else 0.0

    span = max(1, sum(range(first_prize, cards + first_prize)))

    @rule
    def encode(s: Record, player: int, out: Any) -> None:
        """By card: in hand, won, lost or tied with; by round: won, lost, tied, the bid, and (if shuffled) the prize; the round; who leads;
        the seat."""
        for c in range(cards):
            out[c] = s.hand[player] >> c & 1
        for i in range(s.trick):
            mine, theirs = s.bid[player, i], s.bid[1 - player, i]
            how = 0 if mine > theirs else 1 if mine < theirs else 2
            out[cards * (1 + how) + mine] = 1.0
            out[4 * cards + 4 * i + how] = 1.0
            out[4 * cards + 4 * i + 3] = (mine + 1) / cards
        rest = 4 * cards + 4 * rounds
        for i in range(rounds):
            if shuffled and s.prize[i] >= 0:
                out[rest + i] = (s.prize[i] + 1) / cards
        rest += rounds if shuffled else 0
        if s.trick < rounds:
            out[rest + s.trick] = 1.0
        out[rest + rounds] = s.lead / span if player == 0 else -s.lead / span
        out[rest + rounds + 1] = player

    @rule
    def hopeful(s: Record, me: int, events: Any, at: int, end: int) -> bool:
        """Can the other's cards do what is told of them? Ties take the cards named; then the i-th smallest of my bids that must win needs
        an i-th card below it, and the i-th largest that must lose an i-th card above it (Hall's condition)."""
        held, mine = s.hand[1 - me], int64(s.bid[0, s.trick]) if me == 0 and s.turn == 1 else int64(-1)
        waiting = int64(s.bid[0, s.trick]) if me == 1 and s.turn == 1 else int64(-1)  # the other's bid is on the table
        won = lost = int64(0)
        for i in range(at, end):
            token = events[i] >> 1
            if events[i] & 1:
                mine = token
                continue
            if token >= PRIZE:
                continue
            if waiting >= 0:
                if token != (WON if mine > waiting else LOST if mine < waiting else TIED):
                    return False
                waiting = int64(-1)
            elif token == WON:
                won |= int64(1) << mine
            elif token == LOST:
                lost |= int64(1) << mine
            elif held >> mine & 1:
                held ^= int64(1) << mine
            else:
                return False
        return enough(won, held, False) and enough(lost, held, True)

    @rule
    def enough(bids: Any, held: Any, above: bool) -> bool:
        """Is there a card below (or above) each of these bids, another for each?"""
        wanted = ones(bids) if above else 1
        while bids:
            lowest = bids & -bids
            if ones(held & (~(2 * lowest - 1) if above else lowest - 1)) < wanted:
                return False
            wanted += -1 if above else 1
            bids ^= lowest
        return True

    @rule
    def ones(bits: Any) -> int:
        """How many bits are set."""
        bits -= bits >> 1 & 0x5555555555555555
        bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333)
        bits = bits + (bits >> 4) & 0x0F0F0F0F0F0F0F0F
        bits += bits >> 8
        bits += bits >> 16
        return (bits + (bits >> 32)) & 127

    @rule
    def essence(s: Record) -> None:
        """Hands are enough: what was bid for what is past."""
        for i in range(s.trick):
            s.bid[0, i] = s.bid[1, i] = s.prize[i] = -1

    @rule
    def public(mover: int, seen0: int, seen1: int) -> int:
        return seen0

    def bid_name(bid: int) -> str:
        return str(bid + first_prize)

    def prize_name(outcome: int) -> str:
        return f"prize{outcome + first_prize}"

    def sight(token: int) -> str:
        if token >= PRIZE:
            return prize_name(token - PRIZE)
        return "+".join(RESULTS[part] for part in (token % BOTH, token // BOTH) if part)

    def winner(s: Record, i: int) -> str:
        """Who won round i, known to all once it is over."""
        if i >= s.trick:
            return "."
        mine, theirs = s.bid[0, i], s.bid[1, i]
        return "=" if mine == theirs else "0" if mine > theirs else "1"

    def shown_bid(s: Record, p: int, i: int, player: int | None) -> str:
        """Player p's bid of round i as `player` knows it: tied bids are known, a bid still waiting for its answer is not."""
        if player in (None, p) or winner(s, i) == "=":
            return bid_name(int(s.bid[p, i])) if s.bid[p, i] >= 0 else "."
        return "?" if i < s.trick else "."

    def shown_prize(s: Record, i: int) -> str:
        return bid_name(int(s.prize[i])) if s.prize[i] >= 0 else "."

    def hand(s: Record, p: int) -> list[str]:
        return [bid_name(i) for i in range(cards) if int(s.hand[p]) >> i & 1]

    def points(s: Record) -> list[int]:
        worth = dict.fromkeys("01=", 0)
        for i in range(int(s.trick)):
            worth[winner(s, i)] += int(s.prize[i]) + first_prize
        return [worth["0"], worth["1"]]

    def view(s: Record, player: int | None) -> str:
        rows = [("prize", [shown_prize(s, i) for i in range(rounds)])]
        rows += [(f"player {p}", [shown_bid(s, p, i, player) for i in range(rounds)]) for p in (0, 1)]
        rows.append(("winner", [winner(s, i) for i in range(rounds)]))
        width = len(bid_name(cards - 1))
        lines = [f"{label:<10}" + " ".join(f"{mark:>{width}}" for mark in marks) for label, marks in rows]
        held = [f"player {p} holds {' '.join(hand(s, p)) or 'nothing'}" for p in (0, 1) if player in (None, p)]
        return "\n".join([*lines, "points    {} : {}".format(*points(s)), *held])

    def svg(s: Record, player: int | None) -> str:
        def draw(mark: str) -> Piece:
            return slot() if mark == "." else back() if mark == "?" else card(mark)

        def bids(p: int) -> tuple[str, list[Piece]]:
            taken = words(f"{points(s)[p]} points")
            return f"player {p}", [*(draw(shown_bid(s, p, i, player)) for i in range(rounds)), taken]

        def held(p: int) -> list[tuple[str, list[Piece]]]:
            return [(f"hand {p}", [card(mark).marked("cell", mark) for mark in hand(s, p)])] if player in (None, p) else []

        top, bottom = seats(player)
        gone = {".": "", "=": "nobody", str(top): "up", str(bottom): "down"}
        prizes = [slot() if s.prize[i] < 0 else prize(shown_prize(s, i), gone[winner(s, i)]) for i in range(rounds)]
        return table([*held(top), bids(top), ("prizes", prizes), bids(bottom), *held(bottom)])

    return Game(
        state=record(hand=(int64, 2), left=int64, bid=(int8, (2, rounds)), prize=(int8, (rounds,)), trick=int64, lead=int64, turn=int64),
        rules=Rules(start, turn, moves, play, score, odds),
        actions=cards,
        outcomes=cards if shuffled else 0,
        depth=by_hand * (3 if shuffled else 2),
        move_name=bid_name,
        outcome_name=prize_name,
        sight_name=sight,
        clues=Clues(hopeful, essence, public),
        encodings={PERFECT: Encoding(4 * cards + (6 if shuffled else 5) * rounds + 2, encode)},
        view=view,
        svg=svg,
    )
