"""Cheat: put cards face down, claim that they are of the rank that is on, or call the other's claim a lie."""

from __future__ import annotations

from math import comb
from typing import Any, Literal

import numpy as np
from numpy import int64

from nebel.core.errors import UnknownGame
from nebel.core.game import CHANCE, END, Bot, Encoding, Game, Record, Rules, record
from nebel.core.rng import fold
from nebel.core.rows import copy
from nebel.core.rule import rule
from nebel.games.cheat_box import Box, putting
from nebel.games.cheat_clues import BELIEVED, COUNT, HAND, KINDS, SHOWN, TOOK, clues
from nebel.games.cheat_decks import likeness
from nebel.games.cheat_glances import glances
from nebel.games.cheat_history import keeping_history
from nebel.games.packed import RANKS, SUITS, arithmetic
from nebel.games.table import Piece, back, seats, slot, table, words

ENDLESS = 1 << 20
"""Health points of those who cannot run out of them."""

LONG_GAME = 1000
"""Turns after which a game without health points is drawn, unless told otherwise."""


def brief(text: str) -> dict[str, str]:
    """`cheat:3` is Mini-Cheat with 3 health points, `cheat:large` the game of 7 ranks in 4 suits, 12 cards each."""
    if text == "large":
        return {"ranks": "7", "suits": "4", "hand": "12", "alike": "true", "put": "counts"}
    if not text.isdecimal():
        raise UnknownGame(f"cheat:{text} is not understood; write cheat:HEALTH, for example cheat:3, or cheat:large")
    return {"hp": text}


def _check(hp: int | None, limit: int | None) -> None:
    if hp is not None and not 1 <= hp <= 1000:
        raise UnknownGame(f"cheat: hp={hp} is not possible; health points are 1 to 1000, or none for a game without them")
    if limit is not None and not 1 <= limit <= 100_000:
        raise UnknownGame(f"cheat: limit={limit} is not possible; turns before a draw are 1 to 100,000, or none")


def cheat(
    ranks: int = 3,
    suits: int = 2,
    hand: int = 2,
    hp: int | None = 3,
    max_discard: int | None = None,
    starter: Literal["random", 0, 1] = "random",
    limit: int | None = None,
    alike: bool = False,
    put: Literal["cards", "counts"] = "cards",
    diary: bool = False,
) -> Game:
    """Put down cards face down as the rank that is on, truly or not; who loses a challenge takes the pile and loses a health point."""
    box = Box.of({"ranks": ranks, "suits": suits, "hand": hand, "max_discard": max_discard, "alike": alike, "put": put})
    _check(hp, limit)
    turns = limit if limit is not None else LONG_GAME if hp is None else 0  # 0: no limit
    deck, packs, numbers, believe = box.deck, box.packs, box.numbers, box.believe
    by_card, in_play, most = box.by_card, box.in_play, box.most
    cards = arithmetic(deck)
    count, holds, of_rank, both, spare, _ = cards
    can_put, pack_of, _ = putting(box, cards)
    whole, bits = deck.all, deck.bits
    rank_mask = (1 << bits) - 1
    challenge = believe + 1
    deal_starter, deal_first, deal_second, deal_odds = deck.deals(hand, [0, 1] if starter == "random" else [starter])
    one_by_one = not len(deal_odds)
    units = np.array(deck.kinds, int64)
    kinds = len(units)
    full = ENDLESS if hp is None else hp

    @rule
    def lie(s: Record) -> bool:
        return s.last & ~(rank_mask << (bits * s.rank)) != 0

    @rule
    def start(s: Record) -> None:
        s.hand[:] = 0
        s.hp[:] = full
        s.mine[:] = 0
        s.theirs[:] = 0
        s.pile = s.last = s.claim = s.rank = s.dealt = s.turns = s.past = s.answer = 0
        s.turn = CHANCE
        s.by = -1 if starter == "random" else starter
        s.winner = -1

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def left(s: Record) -> int:
        return whole - s.hand[0] - s.hand[1]

    @rule
    def moves(s: Record, out: Any) -> int:
        n = 0
        if s.turn == CHANCE:
            if not one_by_one:
                for i in range(len(deal_odds)):
                    out[i] = i
                return len(deal_odds)
            if s.by < 0:
                out[0], out[1] = kinds, kinds + 1
                return 2
            for i in range(kinds):
                if holds(left(s), units[i]):
                    out[n] = i
                    n += 1
            return n
        if s.last:
            out[0], out[1] = believe, challenge
            return 2
        for i in range(believe):
            if can_put(s.hand[s.by], s.rank, i):
                out[n] = i
                n += 1
        return n

    @rule
    def odds(s: Record, out: Any) -> None:
        if not one_by_one:
            copy(deal_odds, out)
        elif s.by < 0:
            out[0] = out[1] = 0.5
        else:
            rest, n = left(s), 0
            total = count(rest)
            for i in range(kinds):
                if holds(rest, units[i]):
                    out[n] = of_rank(rest, i) / total if alike else 1 / total
                    n += 1

    @rule
    def deal(s: Record, outcome: int, seen: Any) -> None:
        if not one_by_one:
            s.by = deal_starter[outcome]
            s.hand[0], s.hand[1] = deal_first[outcome], deal_second[outcome]
        elif outcome >= kinds:
            s.by = outcome - kinds
            return
        else:
            s.hand[s.dealt // hand] += units[outcome]
            s.dealt += 1
            if s.dealt < in_play:
                return
        seen[0], seen[1] = KINDS * s.hand[0] + HAND, KINDS * s.hand[1] + HAND  # hands are taken up when all is dealt
        s.turn = s.by
        s.past = 1

    @rule
    def settle(s: Record, seen: Any) -> None:
        """A challenge: the cards are shown, and somebody takes the pile."""
        lied = lie(s)
        taker = s.by if lied else 1 - s.by
        other = 1 - taker
        shown = 0 if lied or alike else (s.last >> (bits * s.rank)) & rank_mask  # else the taker knows which they are
        seen[taker] = KINDS * ((s.pile << suits) + shown) + TOOK
        seen[other] = KINDS * s.last + SHOWN
        s.theirs[taker] = spare(s.theirs[taker], s.pile - s.mine[taker])
        s.theirs[other] = (both(s.theirs[other], s.last) if lied else s.theirs[other]) + s.mine[other]
        s.mine[:] = 0
        s.hand[taker] += s.pile
        s.pile = 0
        if hp is not None:
            s.hp[taker] -= 1
        if s.hp[taker] == 0:
            s.winner = other

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        seen[0] = seen[1] = 0
        if s.turn == CHANCE:
            deal(s, move, seen)
            return
        if s.last == 0:
            s.last = pack_of(s.hand[s.by], s.rank, move)
            s.claim = count(s.last)
            s.hand[s.by] -= s.last
            s.pile += s.last
            s.mine[s.by] += s.last
            s.past = fold(s.past, s.claim)
            seen[1 - s.by] = KINDS * s.claim + COUNT
            s.turn = 1 - s.by
            return
        if move == challenge:
            settle(s, seen)
        else:
            seen[s.by] = BELIEVED
        s.answer = 1 + move - believe
        s.past = fold(s.past, 1 + most + move - believe)
        if s.hand[s.by] == 0:
            s.winner = s.by
        s.turns += 1
        s.last = s.claim = 0
        s.rank = (s.rank + 1) % ranks
        s.by = 1 - s.by
        s.turn = END if s.winner >= 0 or s.turns == turns else s.by

    @rule
    def score(s: Record) -> float:
        return 0.0 if s.winner < 0 else 1.0 if s.winner == 0 else -1.0

    @rule
    def heuristic(s: Record, u: float) -> int:
        """Remembers every card that it saw: those it put down itself (`mine`), and those that the other must have (`theirs`).

        It challenges what cannot be true or would end the game, and puts down one card at a time, a true one if there is one.
        """
        me, other = s.turn, 1 - s.turn
        if s.last:
            possible = suits - of_rank(s.hand[me], s.rank) - of_rank(s.mine[me], s.rank)
            unknown = count(s.hand[other]) + count(s.pile - s.mine[me]) - count(s.theirs[me])  # cards of the other
            possible = min(possible, of_rank(s.theirs[me], s.rank) + unknown)
            return challenge if s.claim > possible or s.hand[other] == 0 else believe
        fitting = s.hand[me] & (rank_mask << (bits * s.rank))
        if not by_card:
            return 0 if fitting else 1
        choice = fitting or s.hand[me]
        which = int(u * count(choice))
        for i in range(kinds):  # the first discards are single cards
            if holds(choice, units[i]):
                which -= count(choice & (rank_mask << (bits * i))) if alike else 1
                if which < 0:
                    return i
        return -1

    told = kinds + ranks if by_card else 2
    table_size = told + in_play + most + 3

    @rule
    def encode(s: Record, player: int, out: Any) -> None:
        """What memoryless players know. Their cards and the rank on, or how many cards of that rank and in all; whether they are to answer;
        by number: the other's cards, and those of the claim."""
        held = s.hand[player]
        if by_card:
            for i in range(kinds):
                out[i] = of_rank(held, i) / suits if alike else holds(held, units[i])
            out[kinds + s.rank] = 1.0
        else:
            out[0], out[1] = of_rank(held, s.rank) / suits, count(held) / in_play
        out[told] = 1.0 if s.last else 0.0
        out[told + 1 + count(s.hand[1 - player])] = 1.0
        out[told + in_play + 2 + s.claim] = 1.0

    @rule
    def encode_health(s: Record, player: int, out: Any) -> None:
        encode(s, player, out)
        if hp is not None:
            out[table_size], out[table_size + 1] = s.hp[player] / hp, s.hp[1 - player] / hp

    def move_name(move: int) -> str:
        said = deck.text(packs[move]) if move < len(packs) else "+".join(map(str, numbers[move])) if move < believe else ""
        return said or ("believe" if move == believe else "challenge")

    def outcome_name(outcome: int) -> str:
        if not one_by_one:
            return f"{deck.text(deal_first[outcome])}-{deck.text(deal_second[outcome])}-{deal_starter[outcome]}"
        return deck.name(outcome) if outcome < kinds else f"start-{outcome - kinds}"

    def sight(token: int) -> str:
        what, kind = divmod(token, KINDS)
        if kind == TOOK:
            shown = "".join(SUITS[i] for i in range(suits) if what >> i & 1)
            return f"(took:{deck.text(what >> suits)}{'/' + shown if shown else ''})"
        text = {HAND: deck.text(what), COUNT: f"(puts:{what})", BELIEVED: "(believes)", SHOWN: f"(shown:{deck.text(what)})"}
        return text[kind]

    def claim_text(s: Record) -> str:
        if s.last:
            return f"player {s.by} claims {s.claim} x {RANKS[s.rank]}"
        return f"player {s.winner} won" if s.winner >= 0 else "drawn" if s.turn == END else f"{RANKS[s.rank]} is on"

    def health(s: Record, player: int) -> str:
        return "" if hp is None else f", {s.hp[player]} health"

    def lying(s: Record, p: int, player: int | None) -> int:
        """Player p's cards as far as `player` knows that they are there: nobody looks before all are dealt."""
        return 0 if s.turn == CHANCE and player is not None else int(s.hand[p])

    def view(s: Record, player: int | None) -> str:
        lines = []
        for p in range(2):
            held = lying(s, p, player)
            n = count(held)
            shown = deck.text(held) if player in (None, p) else "?" * n or "-"
            lines.append(f"player {p}: {shown} ({n}{health(s, p)})")
        size = count(int(s.pile))
        pile = f"{deck.text(s.pile)} ({size})" if player is None else f"{size} cards"
        return "\n".join([*lines, f"pile: {pile}", claim_text(s)])

    def svg(s: Record, player: int | None) -> str:
        def draw(cards: int, shown: bool) -> list[Piece]:
            return [deck.face(kind).marked("part", deck.name(kind)) if shown else back() for kind in deck.kinds_of(cards)]

        def row(p: int) -> tuple[str, list[Piece]]:
            return f"player {p}{health(s, p)}", draw(lying(s, p, player), player in (None, p)) or [slot()]

        top, bottom = seats(player)
        pile = draw(s.pile, player is None) or [slot()]
        return table([row(top), ("pile", [*pile, words(claim_text(s))]), row(bottom)])

    longest = 2 * full * in_play
    depth = 2 * (min(turns, longest) or longest) + (in_play + 1 if one_by_one else 1)
    fullest = sum(comb(in_play, k) for k in range(1, most + 1))
    outcomes = kinds + 2 if one_by_one else len(deal_odds)
    game = Game(
        state=record(
            hand=(int64, 2), hp=(int64, 2), mine=(int64, 2), theirs=(int64, 2), pile=int64, last=int64, claim=int64, rank=int64, by=int64,
            turn=int64, turns=int64, past=int64, answer=int64, dealt=int64, winner=int64,
        ),
        rules=Rules(start, turn, moves, play, score, odds),
        actions=believe + 2,
        outcomes=outcomes,
        depth=depth,
        width=max(2, outcomes, min(believe, fullest)),
        most=1.0,
        move_name=move_name,
        outcome_name=outcome_name,
        sight_name=sight,
        clues=clues(box),
        glances=glances(box, hp),
        encodings={"memoryless": Encoding(table_size, encode), "hp-aware": Encoding(table_size + 2, encode_health)},
        liken=lambda other: likeness(box, Box.of(other.options)),
        bots={"heuristic": Bot(heuristic, "remembers every card it saw; challenges what cannot be true")},
        view=view,
        svg=svg,
    )  # fmt: skip
    return keeping_history(box, game) if diary else game
