"""Cheat beside a slow version that shares no code with it: every history, what players see, sizes, values, glances, the bot."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, product
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest

import nebel
from nebel.core.errors import UnknownGame
from nebel.core.game import CHANCE, END
from nebel.core.rule import kernel
from nebel.core.tree import Tree, grow, measure
from nebel.games import cheat as module
from nebel.games import packed
from nebel.judge.best_response import Judge
from nebel.solve.cfr import FullWidth

RANKS, SUITS = "A23456789TJQK", "shdc"
GLANCES = ("memoryless", "hp-aware", "history-aware", "general", "memoryless-pile", "hp-aware-pile")
Cards = frozenset[tuple[int, int]]
NONE: Cards = frozenset()
DECK = [(rank, suit) for rank in range(3) for suit in range(2)]


class Rules(NamedTuple):
    ranks: int = 3
    most: int = 2
    alike: bool = False
    limit: float = inf


@cache
def text(rules: Rules, cards: Cards) -> str:
    return "".join(RANKS[rank] + ("" if rules.alike else SUITS[suit]) for rank, suit in sorted(cards)) or "-"


@cache
def packs(rules: Rules, cards: Cards) -> dict[str, Cards]:
    """All that can be put down of these cards."""
    return {text(rules, frozenset(pack)): frozenset(pack) for size in range(1, rules.most + 1) for pack in combinations(cards, size)}


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
    mine: tuple[int, int] = (0, 0)  # how many cards of each player lie in the pile
    winner: int | None = None

    @classmethod
    def dealt(cls, rules: Rules, hands: tuple[Cards, Cards], by: int, health: float) -> Slow:
        return cls(rules, hands, by, (health, health), ((text(rules, hands[0]),), (text(rules, hands[1]),)))

    @property
    def rank(self) -> int:
        return self.turns % self.rules.ranks

    @property
    def turn(self) -> int:
        if self.winner is not None or self.turns >= self.rules.limit:
            return END
        return 1 - self.by if self.last else self.by

    @property
    def score(self) -> int:
        return 0 if self.winner is None else 1 - 2 * self.winner

    @property
    def lie(self) -> bool:
        return any(rank != self.rank for rank, _ in self.last)

    def legal(self) -> dict[str, Cards]:
        return {"believe": NONE, "challenge": NONE} if self.last else packs(self.rules, self.hands[self.by])

    def play(self, move: str) -> Slow:
        if not self.last:
            pack, by = self.legal()[move], self.by
            hands = both(by, self.hands[by] - pack, self.hands[1 - by])
            mine = both(by, self.mine[by] + len(pack), self.mine[1 - by])
            now = self._replace(hands=hands, pile=self.pile | pack, last=pack, told=(*self.told, len(pack)), mine=mine)
            return now.see(by, move).see(1 - by, f"(puts:{len(pack)})")
        now = self.see(1 - self.by, move)
        now = now.challenged() if move == "challenge" else now.see(self.by, "(believes)")
        winner = self.by if not now.hands[self.by] else now.winner
        return now._replace(last=NONE, told=(*self.told, move), winner=winner, turns=self.turns + 1, by=1 - self.by)

    def challenged(self) -> Slow:
        taker = self.by if self.lie else 1 - self.by
        shown, whole = text(self.rules, self.last), text(self.rules, self.pile)
        suits = "" if self.lie or self.rules.alike else "/" + "".join(SUITS[suit] for _, suit in sorted(self.last))
        health = both(taker, self.health[taker] - 1, self.health[1 - taker])
        hands = both(taker, self.hands[taker] | self.pile, self.hands[1 - taker])
        now = self._replace(hands=hands, health=health, pile=NONE, mine=(0, 0), winner=None if health[taker] else 1 - taker)
        return now.see(taker, f"(took:{whole}{suits})").see(1 - taker, f"(shown:{shown})")

    def see(self, player: int, what: str) -> Slow:
        return self._replace(saw=both(player, (*self.saw[player], what), self.saw[1 - player]))

    def view(self, player: int) -> str:
        lines = []
        for p in range(2):
            points = "" if self.health[p] == inf else f", {self.health[p]} health"
            shown = text(self.rules, self.hands[p]) if p == player else "?" * len(self.hands[p]) or "-"
            lines.append(f"player {p}: {shown} ({len(self.hands[p])}{points})")
        return "\n".join([*lines, f"pile: {len(self.pile)} cards", self.news()])

    def news(self) -> str:
        if self.last:
            return f"player {self.by} claims {len(self.last)} x {RANKS[self.rank]}"
        if self.winner is not None:
            return f"player {self.winner} won"
        return "drawn" if self.turn == END else f"{RANKS[self.rank]} is on"

    def glances(self) -> dict[str, Any]:
        """What the player to move goes by, in the words of the paper."""
        me, other = self.turn, 1 - self.turn
        hand, points = text(self.rules, self.hands[me]), (self.health[me], self.health[other])
        memoryless = hand, bool(self.last), self.rank, len(self.hands[other]), len(self.last)
        answer = None if self.last or not self.told else self.told[-1]
        pile = *memoryless, self.mine[me], answer
        keys = memoryless, (memoryless, points), (hand, self.told), (hand, self.told, points), pile, (pile, points)
        return dict(zip(GLANCES, keys, strict=True))


def both(player: int, own: Any, other: Any) -> tuple[Any, Any]:
    return (own, other) if player == 0 else (other, own)


def read_deal(state: nebel.State, rules: Rules, hand: int, health: float) -> Slow:
    """The slow version after what nebel has dealt, at once or card by card; cards that look alike are numbered as they come."""
    names = [move for move in state.moves() if not move.startswith("start-")]
    dealt = "".join(names[0].split("-")[:2]) if len(names) == 1 else "".join(names)
    wide = 1 if rules.alike else 2
    cards = [dealt[i : i + wide] for i in range(0, len(dealt), wide)]
    physical = [(RANKS.index(card[0]), cards[:i].count(card) if rules.alike else SUITS.index(card[1])) for i, card in enumerate(cards)]
    return Slow.dealt(rules, (frozenset(physical[:hand]), frozenset(physical[hand:])), state.turn, health)


LUCK = np.array([0.0, 0.3, 0.6, 0.999])


@cache
def walked(health: int, alike: bool = False) -> tuple[Tree, list[Slow], dict[str, Any], Any]:
    """Both versions along all histories of Mini-Cheat: the same deals, turns, moves and scores everywhere. By history: the slow
    version (before the deal, anything), what is seen at each glance, and what the bot would do."""
    game: Any = nebel.game(f"cheat(hp={health},alike=true,starter=0)" if alike else f"cheat:{health}")
    tree = grow(game)
    nodes = tree.nodes
    turn, parent, option, score = (array.tolist() for array in (nodes.turn, nodes.parent, nodes.option, nodes.score))
    first, breadth = nodes.first.tolist(), nodes.breadth.tolist()
    names = [game.name_of_move(move) for move in range(game.actions)]
    outcomes = [game.name_of_outcome(i) for i in option[1 : 1 + breadth[0]]]
    start, odds = {}, Counter[str]()
    hands = [frozenset(hand) for hand in combinations(DECK, 2)]
    for one, two, by in product(hands, hands, (0,) if alike else (0, 1)):
        if not one & two:
            state = Slow.dealt(Rules(alike=alike), (one, two), by, health)
            name = f"{state.saw[0][0]}-{state.saw[1][0]}-{by}"
            start[name] = state
            odds[name] += 1
    assert dict(zip(outcomes, nodes.odds[1:], strict=False)) == pytest.approx({name: n / odds.total() for name, n in odds.items()})
    slow = [start[outcomes[0]]]
    for node in range(1, tree.histories):
        slow.append(start[outcomes[node - 1]] if parent[node] == 0 else slow[parent[node]].play(names[option[node]]))
        assert slow[node].turn == turn[node]
        if turn[node] == END:
            assert slow[node].score == score[node]
        else:
            assert slow[node].legal().keys() == {names[i] for i in option[first[node] : first[node] + breadth[node]]}
    return tree, slow, *looked_at(tree)


def looked_at(tree: Tree) -> tuple[dict[str, Any], Any]:
    """Every glance, and what the bot chooses, at every history."""
    game: Any = tree.game
    play, choose = game.rules.play, game.bots["heuristic"].choose
    first, second, third, fourth, fifth, sixth = (game.glances[name].look for name in GLANCES)

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
                glance[i, 4], glance[i, 5] = fifth(states[i], turn[i]), sixth(states[i], turn[i])
                for j in range(len(luck)):
                    bot[i, j] = choose(states[i], luck[j])

    states = game.blank(tree.histories)
    game.rules.start(states[0])
    glance, bot = np.zeros((tree.histories, len(GLANCES)), np.int64), np.full((tree.histories, len(LUCK)), -1)
    look(states, (tree.nodes.turn.astype(np.int64), tree.nodes.parent, tree.nodes.option), LUCK, glance, bot)
    return {name: glance[:, i] for i, name in enumerate(GLANCES)}, bot


@pytest.mark.parametrize(
    ("health", "alike", "histories", "glances", "perfect"),
    [
        (1, False, 7201, [84, 84, 84, 84, 84, 84], 2 * 180),
        (2, False, 174_643, [478, 740, 1439, 1439, 529, 782], 2 * 15_648),
        (2, True, 10_948, [195, 302, 590, 590, 219, 323], 1150 + 1277),
    ],
)
def test_every_history_and_information_state(health: int, alike: bool, histories: int, glances: list[int], perfect: int) -> None:
    """What the slow version tells apart, nebel does, and nothing else. By a glance both seats know the same states."""
    tree, slow, looks, _ = walked(health, alike)
    assert tree.histories == histories
    decisions = np.flatnonzero(tree.nodes.turn >= 0).tolist()
    wanted = [slow[i].glances() for i in decisions]
    for name, states in zip(GLANCES, glances, strict=True):
        assert one_to_one([(want[name], looks[name][i]) for i, want in zip(decisions, wanted, strict=True)]) == states
    points = [(slow[i].turn, tree.nodes.point[i]) for i in decisions]
    assert one_to_one([((p, slow[i].saw[p]), (p, point)) for i, (p, point) in zip(decisions, points, strict=True)]) == perfect


def one_to_one(pairs: list[tuple[Any, Any]]) -> int:
    there, back = dict(pairs), {got: want for want, got in pairs}
    assert len(set(pairs)) == len(there) == len(back)
    return len(there)


def test_three_health_points() -> None:
    assert measure(nebel.game("cheat:3")).histories == 3_238_057


@pytest.mark.parametrize(
    ("string", "rules", "hand", "health"),
    [
        ("cheat", Rules(), 2, 3),
        ("cheat(hp=none,limit=7)", Rules(limit=7), 2, inf),
        ("cheat(ranks=4,hand=4,max_discard=1,hp=2,limit=20)", Rules(ranks=4, most=1, limit=20), 4, 2),
        (f"cheat(hand=3,max_discard={10**30},hp=2)", Rules(most=6), 3, 2),
        ("cheat(ranks=5,suits=3,hand=5,hp=4,starter=1)", Rules(ranks=5, most=3), 5, 4),
        ("cheat(ranks=7,suits=4,hand=12,alike=true)", Rules(ranks=7, most=4, alike=True), 12, 3),
    ],
)
def test_random_games_look_the_same(string: str, rules: Rules, hand: int, health: float) -> None:
    """Players see their hand, counts, answers and shown cards, and the pile when they take it; never the other's hand."""
    rng, told = random.Random(1), Counter[str]()
    for seed in range(30):
        state = nebel.game(string).start().deal(seed)
        slow = read_deal(state, rules, hand, health)
        while True:
            assert [state.transcript(player) for player in range(2)] == [list(seen) for seen in slow.saw]
            assert [state.view(player) for player in range(2)] == [slow.view(player) for player in range(2)]
            assert state.turn == slow.turn
            if state.over:
                break
            move = rng.choice(state.legal())
            assert set(state.legal()) == slow.legal().keys()
            slow = slow.play(move)
            state.push(move)
        assert state.score() == slow.score
        told.update(word.partition(":")[0] for player in range(2) for word in slow.saw[player])
    assert min(told[word] for word in ("(puts", "(took", "(shown", "(believes)")) > 10


def check_value(game: Any, value: float) -> None:
    """Between what player 0 can surely get and what player 1 can hold it to, by strategies that PDCFR+ finds."""
    tree = grow(game)
    solver = FullWidth(tree, "pdcfr+")
    solver.run(80)
    first, second = Judge(tree).verdict(solver.strategies()).best_response
    assert first + second < 1e-6
    assert -second - 1e-9 < value < first + 1e-9


@pytest.mark.parametrize(
    ("string", "value"),
    [
        ("cheat:1", 0),
        ("cheat:2", 0),
        ("cheat(hp=1,starter=0)", 1 / 45),
        ("cheat(hp=2,starter=0)", 2 / 15),
        ("cheat(hp=3,starter=0)", 1 / 3),
        ("cheat(hp=1,starter=0,alike=true)", 1 / 45),
        ("cheat(hp=2,starter=0,alike=true)", 2 / 15),
    ],
)
def test_values(string: str, value: float) -> None:
    """Whoever starts is ahead, and more so with more health; whether suits can be told apart makes no difference."""
    check_value(nebel.game(string), value)


def dealt(game: Any) -> dict[Any, float]:
    """How likely each deal is: both hands, and who starts."""
    odds: dict[Any, float] = defaultdict(float)
    open_ = [(game.begin(), 1.0)]
    while open_:
        position, p = open_.pop()
        if game.turn_at(position) == CHANCE:
            options = zip(game.options_at(position), game.odds_at(position), strict=True)
            open_ += [(game.after(position, option)[0], p * q) for option, q in options]
        else:
            odds[(*position[0].hand.tolist(), game.turn_at(position))] += p
    return odds


@pytest.mark.parametrize("alike", [False, True])
def test_a_deal_card_by_card_is_the_same_deal(alike: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = dealt(module.cheat(alike=alike))
    monkeypatch.setattr(packed, "MOST_DEALS", 0)
    assert dealt(module.cheat(alike=alike)) == pytest.approx(at_once)


def test_a_deal_card_by_card_has_the_same_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_DEALS", 0)
    game = module.cheat(hp=1, starter=0)
    assert [game.name_of_outcome(i) for i in game.options_at(game.begin())] == ["As", "Ah", "2s", "2h", "3s", "3h"]
    check_value(game, 1 / 45)


@pytest.mark.parametrize(("string", "turns"), [("cheat(hp=none,limit=6)", 6), ("cheat(hp=none)", 1000), ("cheat(hp=9,limit=5)", 5)])
def test_a_game_that_goes_on_is_drawn_at_the_limit(string: str, turns: int) -> None:
    """Who always lies and is always caught has the same cards for ever."""
    state = nebel.game(string).start().play("As2s-Ah3s-0")
    for turn in range(turns):
        assert not state.over
        state.push(next(name for name in state.legal() if RANKS[turn % 3] not in name)).push("challenge")
    assert state.score() == 0
    assert state.view(0).endswith("drawn")


@pytest.mark.parametrize(
    ("string", "reason"),
    [
        ("cheat(hand=4)", "deals 8 cards, and 3 ranks in 2 suits are only 6"),
        ("cheat:0", "hp=0 is not possible; health points are 1 to 1000, or none"),
        ("cheat(max_discard=0)", "at least 1 card is put down"),
        ("cheat(limit=0)", "1 to 100,000"),
        ("cheat(ranks=0)", "1 to 13 ranks"),
        ("cheat(ranks=13,suits=4,hand=26)", "more than 50,000 ways; put down fewer"),
        ("cheat(starter=2)", "random or 0 or 1"),
        ("cheat:big", "cheat:3, or cheat:large"),
    ],
)
def test_impossible_games_are_refused(string: str, reason: str) -> None:
    with pytest.raises(UnknownGame, match=reason):
        nebel.game(string)


def test_a_smaller_game_sees_as_much_health_as_it_knows() -> None:
    """So that what was learned with 2 health points plays with 4: the same states, looked at by the smaller game."""
    small, large = map(nebel.game, ("cheat:2", "cheat:4"))
    assert small.begin().dtype == large.begin().dtype
    rng, seen = random.Random(1), set()
    for seed in range(30):
        state = large.start().deal(seed)
        while not state.over:
            clamped = state.position.copy()
            clamped.hp[:] = np.minimum(clamped.hp, 2)
            for player, glance in product(range(2), GLANCES):
                key = small.glance_at(glance, state.position, player)
                assert key == small.glance_at(glance, clamped, player)
                if glance in ("memoryless", "history-aware"):
                    assert key == large.glance_at(glance, state.position, player)
                if glance == "hp-aware":
                    own, other = clamped.hp[0, player], clamped.hp[0, 1 - player]
                    assert small.glance_text(glance, key).endswith(f", health {own} against {other}")
            seen.add(tuple(state.position.hp[0].tolist()))
            state.push(rng.choice(state.legal()))
    assert seen >= {(4, 4), (4, 2), (1, 3)}


@pytest.mark.parametrize("alike", [False, True])
def test_the_bot_goes_by_all_that_it_knows_and_nothing_else(alike: bool) -> None:
    """In every information state of Cheat-2 it does the same whatever is hidden: it challenges just those claims that are lies in all
    histories that look like this, and last cards; and it puts down one card, of the rank that is on if it has any."""
    tree, slow, _, bot = walked(2, alike)
    same = defaultdict(list)
    for node in range(1, tree.histories):
        if tree.nodes.turn[node] >= 0:
            same[slow[node].turn, int(tree.nodes.point[node])].append(node)
    for nodes in same.values():
        assert np.all(bot[nodes] == bot[nodes[0]])
        here = slow[nodes[0]]
        choices = {tree.game.name_of_move(int(move)) for move in bot[nodes[0]]}
        if here.last:
            sure = all(slow[node].lie for node in nodes)
            assert choices == {"challenge" if sure or not here.hands[here.by] else "believe"}
            continue
        hand = here.hands[here.by]
        fitting = [card for card in hand if card[0] == here.rank]
        offered = {text(here.rules, frozenset([card])) for card in fitting or hand}
        assert choices <= offered
        assert len(choices) >= min(2, len(offered))
