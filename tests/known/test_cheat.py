"""Cheat beside a slow version that shares no code with it: every history, what players see, sizes, values, glances, the bot."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest

import nebel
from nebel.core.errors import UnknownGame
from nebel.core.rule import kernel
from nebel.core.tree import Tree, grow, measure
from nebel.games import cheat as module
from nebel.judge.best_response import Judge
from nebel.solve.cfr import FullWidth

RANKS, SUITS = "A23456789TJQK", "shdc"
GLANCES = ("memoryless", "hp-aware", "history-aware", "general")
Card = tuple[int, int]
Cards = frozenset[Card]
NONE: Cards = frozenset()


class Rules(NamedTuple):
    ranks: int = 3
    suits: int = 2
    most: int = 2
    alike: bool = False
    limit: float = inf

    def text(self, cards: Cards) -> str:
        return "".join(RANKS[rank] + ("" if self.alike else SUITS[suit]) for rank, suit in sorted(cards)) or "-"

    def packs(self, cards: Cards) -> dict[str, Cards]:
        """All that can be put down of these cards."""
        sizes = range(1, min(self.most, len(cards)) + 1)
        return {self.text(frozenset(pack)): frozenset(pack) for size in sizes for pack in combinations(cards, size)}

    def read(self, text: str) -> Cards:
        """The cards of this text; of those that look alike, the first ones."""
        if not self.alike:
            return frozenset((RANKS.index(text[i]), SUITS.index(text[i + 1])) for i in range(0, len(text), 2))
        return frozenset((RANKS.index(rank), text[:i].count(rank)) for i, rank in enumerate(text))


class Slow(NamedTuple):
    """Cheat after the deal, with sets of cards. `told` is what both heard, `saw` what each did and saw."""

    rules: Rules
    hands: tuple[Cards, Cards]
    by: int
    health: tuple[float, float]
    saw: tuple[tuple[str, ...], tuple[str, ...]]
    pile: Cards = NONE
    last: Cards = NONE
    turns: int = 0
    told: tuple[Any, ...] = ()
    winner: int | None = None

    @classmethod
    def dealt(cls, rules: Rules, hands: tuple[Cards, Cards], by: int, health: float) -> Slow:
        return cls(rules, hands, by, (health, health), ((rules.text(hands[0]),), (rules.text(hands[1]),)))

    @property
    def rank(self) -> int:
        return self.turns % self.rules.ranks

    @property
    def turn(self) -> int:
        if self.winner is not None or self.turns >= self.rules.limit:
            return nebel.END
        return 1 - self.by if self.last else self.by

    @property
    def score(self) -> int:
        return 0 if self.winner is None else 1 - 2 * self.winner

    @property
    def lie(self) -> bool:
        return any(rank != self.rank for rank, _ in self.last)

    def legal(self) -> dict[str, Cards]:
        return {"believe": NONE, "challenge": NONE} if self.last else self.rules.packs(self.hands[self.by])

    def play(self, move: str) -> Slow:
        if not self.last:
            pack, by = self.legal()[move], self.by
            hands = both(by, self.hands[by] - pack, self.hands[1 - by])
            now = self._replace(hands=hands, pile=self.pile | pack, last=pack, told=(*self.told, len(pack)))
            return now.see(by, move).see(1 - by, f"(puts:{len(pack)})")
        now = self.see(1 - self.by, move)
        now = now.challenged() if move == "challenge" else now.see(self.by, "(believes)")
        winner = self.by if not now.hands[self.by] else now.winner
        return now._replace(last=NONE, told=(*self.told, move), winner=winner, turns=self.turns + 1, by=1 - self.by)

    def challenged(self) -> Slow:
        taker = self.by if self.lie else 1 - self.by
        shown, whole = self.rules.text(self.last), self.rules.text(self.pile)
        suits = "" if self.lie or self.rules.alike else "/" + "".join(SUITS[suit] for _, suit in sorted(self.last))
        health = both(taker, self.health[taker] - 1, self.health[1 - taker])
        now = self._replace(
            hands=both(taker, self.hands[taker] | self.pile, self.hands[1 - taker]),
            health=health,
            pile=NONE,
            winner=None if health[taker] else 1 - taker,
        )
        return now.see(taker, f"(took:{whole}{suits})").see(1 - taker, f"(shown:{shown})")

    def see(self, player: int, what: str) -> Slow:
        return self._replace(saw=both(player, (*self.saw[player], what), self.saw[1 - player]))

    def view(self, player: int) -> str:
        lines = []
        for p in range(2):
            points = "" if self.health[p] == inf else f", {self.health[p]} health"
            shown = self.rules.text(self.hands[p]) if p == player else "?" * len(self.hands[p]) or "-"
            lines.append(f"player {p}: {shown} ({len(self.hands[p])}{points})")
        return "\n".join([*lines, f"pile: {len(self.pile)} cards"])

    def glances(self) -> dict[str, Any]:
        """What the player to move goes by, in the words of the paper."""
        me, other = self.turn, 1 - self.turn
        points = self.health[me], self.health[other]
        memoryless = self.hands[me], bool(self.last), self.rank, len(self.hands[other]), len(self.last)
        keys = memoryless, (memoryless, points), (self.hands[me], self.told), (self.hands[me], self.told, points)
        return dict(zip(GLANCES, keys, strict=True))


def both(player: int, own: Any, other: Any) -> tuple[Any, Any]:
    return (own, other) if player == 0 else (other, own)


def deals(rules: Rules, hand: int, health: float) -> list[Slow]:
    cards = [(rank, suit) for rank in range(rules.ranks) for suit in range(rules.suits)]
    return [
        Slow.dealt(rules, (frozenset(first), frozenset(second)), by, health)
        for first in combinations(cards, hand)
        for second in combinations([card for card in cards if card not in first], hand)
        for by in range(2)
    ]


def read_deal(state: nebel.State, rules: Rules, hand: int, health: float) -> Slow:
    """The slow version after what nebel has dealt, at once or card by card."""
    if len(state.steps) == 1:
        first, second, by = state.moves()[0].split("-")
    else:
        *start, by = [move.removeprefix("start-") for move in state.moves() if move.startswith("start-")]
        assert not start
        cards = [move for move in state.moves() if not move.startswith("start-")]
        first, second = "".join(cards[:hand]), "".join(cards[hand:])
    return Slow.dealt(rules, (rules.read(first), rules.read(second)), int(by), health)


class Walked(NamedTuple):
    tree: Tree
    slow: list[Slow]  # by history, but for the start
    glance: dict[str, Any]  # by history: what the player to move sees
    bot: Any  # by history and luck: what the bot would do


LUCK = np.array([0.0, 0.3, 0.6, 0.999])


@cache
def walked(health: int) -> Walked:
    """Both versions along all histories of Mini-Cheat: the same turns, moves and scores everywhere."""
    game = nebel.game(f"cheat:{health}")
    tree = grow(game)
    nodes = tree.nodes
    names = [game.name_of_move(move) for move in range(game.actions)]
    start = {f"{s.saw[0][0]}-{s.saw[1][0]}-{s.by}": s for s in deals(Rules(), 2, health)}
    outcomes = [game.name_of_outcome(int(i)) for i in nodes.option[1 : 1 + nodes.breadth[0]]]
    assert sorted(outcomes) == sorted(start)
    assert nodes.odds[1 : 1 + len(outcomes)] == pytest.approx(1 / len(outcomes))
    slow = [next(iter(start.values()))] + [start[name] for name in outcomes]
    for node in range(1, tree.histories):
        state = slow[node] if node <= len(outcomes) else slow[nodes.parent[node]].play(names[nodes.option[node]])
        if node > len(outcomes):
            slow.append(state)
        assert nodes.turn[node] == state.turn
        if state.turn == nebel.END:
            assert nodes.score[node] == state.score
        else:
            first = nodes.first[node]
            assert {names[i] for i in nodes.option[first : first + nodes.breadth[node]]} == set(state.legal())
    return Walked(tree, slow, *looked_at(tree))


def looked_at(tree: Tree) -> tuple[dict[str, Any], Any]:
    """Every glance, and what the bot chooses, at every history."""
    game: Any = tree.game
    play, choose = game.rules.play, game.bots["heuristic"].choose
    first, second, third, fourth = (game.glances[name].look for name in GLANCES)

    @kernel
    def look(states: Any, nodes: Any, luck: Any, glance: Any, bot: Any) -> None:
        turn, parent, option = nodes
        seen = np.zeros(2, np.int64)
        for i in range(1, len(turn)):
            states[i] = states[parent[i]]
            play(states[i], option[i], seen)
            if turn[i] >= 0:
                glance[i, 0], glance[i, 1] = first(states[i], turn[i]), second(states[i], turn[i])
                glance[i, 2], glance[i, 3] = third(states[i], turn[i]), fourth(states[i], turn[i])
                for j in range(len(luck)):
                    bot[i, j] = choose(states[i], luck[j])

    states = game.blank(tree.histories)
    game.rules.start(states[0])
    glance, bot = np.zeros((tree.histories, len(GLANCES)), np.int64), np.full((tree.histories, len(LUCK)), -1)
    look(states, (tree.nodes.turn.astype(np.int64), tree.nodes.parent, tree.nodes.option), LUCK, glance, bot)
    return {name: glance[:, i] for i, name in enumerate(GLANCES)}, bot


@pytest.mark.parametrize(
    ("health", "histories", "glances", "perfect"),
    [(1, 7201, [84, 84, 84, 84], 180), (2, 174_643, [478, 740, 1439, 1439], 15_648)],
)
def test_every_history_and_information_state(health: int, histories: int, glances: list[int], perfect: int) -> None:
    """Whatever the slow version tells apart, nebel does, and nothing else; by a glance, both seats know the same states."""
    tree, slow, looks, _ = walked(health)
    assert tree.histories == len(slow) == histories
    decisions = [i for i in range(1, histories) if tree.nodes.turn[i] >= 0]
    wanted = [slow[i].glances() for i in decisions]
    for name, states in zip(GLANCES, glances, strict=True):
        pairs = {(want[name], int(looks[name][i])) for i, want in zip(decisions, wanted, strict=True)}
        assert len(pairs) == len({want for want, _ in pairs}) == len({got for _, got in pairs}) == states
    for player in range(2):
        mine = [i for i in decisions if tree.nodes.turn[i] == player]
        pairs = {(slow[i].saw[player], int(tree.nodes.point[i])) for i in mine}
        assert len(pairs) == len({want for want, _ in pairs}) == len({got for _, got in pairs}) == perfect


def test_three_health_points() -> None:
    assert measure(nebel.game("cheat:3")).histories == 3_238_057
