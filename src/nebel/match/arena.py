"""Matches: two agents play the same deals in both seats.

Every deal has three generators of its own, for seat 0, seat 1 and chance, that depend on the seed and the deal's number
alone. So both seat orders and all pairs of agents meet the same luck, an agent against itself scores exactly 0 over both
orders, and tables play the same games compiled and through `State`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadRules, TooLarge, UnknownInformationState
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.keys import find
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import fold, generator, uniform
from nebel.core.rule import kernel, rule
from nebel.core.settings import Settings, setting
from nebel.core.tree import Side, grow
from nebel.core.unfold import look_away
from nebel.judge.best_response import Judge
from nebel.match.agents import Agent, pick_even, pick_share
from nebel.policy.table import Policy, Shares, TablePolicy, Uniform

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]
Seats = tuple[Agent, Agent]
Tick = Callable[[int], None]
"""Told how many games more have been played."""

ROLES = 3
DEALER = 2
Z95 = 1.959963984540054
CHUNK = 20_000
"""Games that compiled code plays between two looks at the keyboard."""
EXACT_LIMIT, EXACT_LIMIT_PLAIN = 5_000_000, 100_000
"""Histories of games in rules, and in plain Python, up to which a pairing is also enumerated."""

EVEN, FORGIVING, STRICT, BOT = 0, 1, 2, 3
"""A seat plays uniformly; uniformly where its table says nothing; must know every information state; or is a bot of the game."""


@dataclass(frozen=True)
class Terms(Settings):
    """What a match is played for."""

    games: int = setting(1000, "games of each pair, half of them in each seat order", low=1)
    seed: int = setting(1, "of chance and of the agents")


@dataclass(frozen=True)
class Result:
    """How `a` fared against `b`."""

    a: str
    b: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float  # the mean of what a got, in the game's own utilities
    interval: tuple[float, float] | None  # 95 %, by normal approximation over deals; None of a single deal
    exact: float | None  # the expected score, half of the games in each seat; None where it cannot be enumerated
    unknown: tuple[int, int]  # how often a and b played uniformly because their tables said nothing

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@rule
def no_bot(s: Any, u: float) -> int:
    """In a seat that a table plays."""
    return -1


@rule
def among(legal: Any, n: int, move: int) -> bool:
    i = 0
    while i < n and legal[i] != move:
        i += 1
    return i < n


@rule
def as_said(s: Any, move: int) -> int:
    """Of players who speak of this game's own moves."""
    return move


class Eyes(NamedTuple):
    """How the seats see a game: by perfect recall, or else by a glance, of which the moves may be another game's."""

    perfect: bool
    look: Any = look_away
    mean: Any = as_said
    own: bool = True  # whether the table has a row's moves as the rules give them

    @classmethod
    def of(cls, game: Game, recall: str) -> Eyes:
        if recall == PERFECT:
            return cls(True)
        glance = game.glances[recall]
        return cls(False, glance.look, glance.mean or as_said, glance.mean is None)


@lru_cache(maxsize=32)
def table_player(game: Game, recalls: tuple[str, str], bots: tuple[str, str] = ("", "")) -> Any:
    """A kernel in which tables of these recalls, or the game's bots of these names, play in seats 0 and 1."""
    start, turn, moves, play, score, odds = game.rules
    perfect0, look0, mean0, own0 = Eyes.of(game, recalls[0])
    perfect1, look1, mean1, own1 = Eyes.of(game, recalls[1])
    choose0 = game.bots[bots[0]].choose if bots[0] else no_bot
    choose1 = game.bots[bots[1]].choose if bots[1] else no_bot
    depth, width = game.depth, game.width

    @kernel
    def run(states: Any, tables: Any, manner: Any, luck: int, first: int, scores: Any, unknown: Any) -> int:
        """Play deals first, first+1, ...; returns how many could be played."""
        legal = np.zeros(width, np.int64)
        chances = np.zeros(width)
        seen = np.zeros(2, np.int64)
        memory = np.zeros(2, np.int64)
        rngs = np.zeros((ROLES, 2), np.int64)
        for g in range(scores.size):
            for role in range(ROLES):
                rngs[role, 0], rngs[role, 1] = fold(luck, np.int64(ROLES * (first + g) + role)), 0
            start(states[0])
            memory[0], memory[1] = blank_memory(0), blank_memory(1)
            steps = 0
            p = turn(states[0])
            while p != END:
                n = moves(states[0], legal)
                steps += 1
                if steps > depth:
                    return g
                if p == CHANCE:
                    odds(states[0], chances)
                    u = uniform(rngs[DEALER])
                    c = 0
                    while c < n - 1:
                        u -= chances[c]
                        if u < 0.0:
                            break
                        c += 1
                    move = legal[c]
                else:
                    u = uniform(rngs[p])
                    at = -1
                    if manner[p] == BOT:
                        move = choose0(states[0], u) if p == 0 else choose1(states[0], u)
                    elif manner[p] != EVEN:
                        key = memory[p]
                        if p == 0 and not perfect0:
                            key = np.int64(look0(states[0], 0))
                        if p == 1 and not perfect1:
                            key = np.int64(look1(states[0], 1))
                        at = find(tables[p].keys, key)
                        if at < 0:
                            if manner[p] == STRICT:
                                return g
                            unknown[p] += 1
                    if at < 0 and manner[p] != BOT:
                        move = legal[pick_even(n, u)]
                    elif at >= 0:
                        place = tables[p].first[at]
                        known = tables[p].first[at + 1] - place
                        if (own0 if p == 0 else own1) and known != n:
                            return g
                        move = tables[p].move[place + pick_share(tables[p].share, place, known, u)]
                        move = mean0(states[0], move) if p == 0 else mean1(states[0], move)
                    if not among(legal, n, move):
                        return g
                seen[0] = seen[1] = 0
                play(states[0], move, seen)
                if perfect0 or perfect1:
                    if p >= 0:
                        memory[p] = remember_move(memory[p], move)
                    memory[0] = remember_sight(memory[0], seen[0])
                    memory[1] = remember_sight(memory[1], seen[1])
                p = turn(states[0])
            scores[g] = score(states[0])
        return scores.size

    return run


class Played:
    """Scores of player 0 by deal, and how often each seat did not know what to do."""

    def __init__(self, deals: int) -> None:
        self.scores: Reals = np.zeros(deals)
        self.unknown: Longs = np.zeros(2, np.int64)


def play_deals(game: BaseGame, seats: Seats, deals: int, seed: int, tick: Tick | None = None) -> Played:
    """Deals 0, 1, ... with these agents in seats 0 and 1: compiled if both are tables or bots, else through `State`."""
    if isinstance(game, Game) and all(agent.bot or isinstance(agent.policy, (TablePolicy, Uniform)) for agent in seats):
        return _play_compiled(game, seats, deals, seed, tick)
    return play_by_hand(game, seats, deals, seed, tick)


def _play_compiled(game: Game, seats: Seats, deals: int, seed: int, tick: Tick | None) -> Played:
    known = [agent.policy.recall for agent in seats if isinstance(agent.policy, TablePolicy)] or [PERFECT]
    # a uniform agent or a bot needs no recall: it goes along with the other's
    run = table_player(game, (known[0], known[-1]), (seats[0].bot, seats[1].bot))
    tables = (_table(seats[0].policy, 0), _table(seats[1].policy, 1))
    manner = np.array([_manner(agent) for agent in seats], np.int64)
    states, luck, played = game.blank(1), generator(seed)[0], Played(deals)
    for first in range(0, deals, CHUNK):
        part = played.scores[first : first + CHUNK]
        with np.errstate(over="ignore"):
            done = int(run(states, tables, manner, luck, first, part, played.unknown))
        if done < len(part):
            play_deal(game, seats, seed, first + done)  # says in words what is wrong
            raise BadRules(f"{game.string}: deal {first + done} of seed {seed} does not go by the game's depth or the policy's moves")
        if tick:
            tick(len(part))
    return played


def _table(policy: Policy | None, player: int) -> Shares:
    """What compiled code looks moves up in, always of the same types."""
    if not isinstance(policy, TablePolicy):
        none = np.zeros(0, np.int64)
        return Shares(none, none, none, np.zeros(0))
    keys, first, move, share = policy.shares[player]
    keys, first, move = (np.require(array, np.int64, ["C", "W"]) for array in (keys, first, move))
    return Shares(keys, first, move, np.require(share, np.float64, ["C", "W"]))


def _manner(agent: Agent) -> int:
    if not isinstance(agent.policy, TablePolicy):
        return BOT if agent.bot else EVEN
    return STRICT if agent.policy.missing == "error" else FORGIVING


def play_by_hand(game: BaseGame, seats: Seats, deals: int, seed: int, tick: Tick | None = None) -> Played:
    """The same games through `State`, for agents that think and games in plain Python."""
    played = Played(deals)
    for number in range(deals):
        score, unknown = play_deal(game, seats, seed, number)
        played.scores[number] = score
        played.unknown += unknown
        if tick:
            tick(1)
    return played


def play_deal(game: BaseGame, seats: Seats, seed: int, number: int) -> tuple[float, list[int]]:
    """One game: what player 0 gets, and how often each seat did not know what to do."""
    luck = generator(seed)[0]
    unknown = [0, 0]
    with np.errstate(over="ignore"):
        rngs = [np.array([fold(luck, np.int64(ROLES * number + role)), 0], np.int64) for role in range(ROLES)]
        state = game.start().deal(rngs[DEALER])
        while not state.over:
            p = state.turn
            unknown[p] += not seats[p].knows(state)
            state.push(int(seats[p].choose(state, rngs[p]))).deal(rngs[DEALER])
    return state.score() or 0.0, unknown


class Arena:
    """Where agents of one game meet; keeps the game's trees between matches."""

    def __init__(self, game: BaseGame) -> None:
        self.game = game
        self._judges: dict[str, Judge | None] = {}

    def play(self, a: Agent, b: Agent, terms: Terms, tick: Tick | None = None) -> Result:
        for agent in (a, b):
            agent.join(self.game)
        there = play_deals(self.game, (a, b), (terms.games + 1) // 2, terms.seed, tick)
        back = play_deals(self.game, (b, a), terms.games // 2, terms.seed, tick)
        scores = np.concatenate([there.scores, -back.scores])
        unknown = there.unknown + back.unknown[::-1]
        return Result(
            a=a.name,
            b=b.name,
            games=terms.games,
            wins=int(np.count_nonzero(scores > 0)),
            draws=int(np.count_nonzero(scores == 0)),
            losses=int(np.count_nonzero(scores < 0)),
            score=float(scores.mean()),
            interval=_interval(there.scores, -back.scores),
            exact=self.expected(a, b),
            unknown=(int(unknown[0]), int(unknown[1])),
        )

    def expected(self, a: Agent, b: Agent) -> float | None:
        """What a gets on average against b over both seats, exactly; None where that cannot be enumerated."""
        if a.policy is None or b.policy is None or any(self._strange(agent) for agent in (a, b)):
            return None
        recalls = {policy.recall for policy in (a.policy, b.policy) if not isinstance(policy, Uniform)} or {PERFECT}
        shared = next(iter(recalls)) if len(recalls) == 1 else PERFECT
        judge = self._judge(shared)
        if judge is None:
            return None
        try:
            mine, theirs = self._lay(a.policy, shared), self._lay(b.policy, shared)
        except UnknownInformationState:  # a table need only know what it meets
            return None
        return (judge.verdict((mine[0], theirs[1])).value - judge.verdict((theirs[0], mine[1])).value) / 2

    def _strange(self, agent: Agent) -> bool:
        """Whether it plays by likeness to another game: then its information states are none of this game's."""
        glance = self.game.glances.get(agent.policy.recall) if isinstance(agent.policy, TablePolicy) else None
        return getattr(glance, "mean", None) is not None

    def _judge(self, recall: str) -> Judge | None:
        if recall not in self._judges:
            limit = EXACT_LIMIT if isinstance(self.game, Game) else EXACT_LIMIT_PLAIN
            try:
                self._judges[recall] = Judge(grow(self.game, recall, limit))
            except TooLarge:
                self._judges[recall] = None
        return self._judges[recall]

    def _lay(self, policy: Policy, recall: str) -> tuple[Reals, Reals]:
        """A policy on the tree of a recall: its own, or perfect recall."""
        own = self._judge(recall if isinstance(policy, Uniform) else policy.recall)
        assert own is not None  # trees of all recalls have the same histories
        laid = policy.on_tree(own.tree).strategies
        if own.tree.recall == recall:
            return laid
        return _by_point(own.tree.sides[0], laid[0]), _by_point(own.tree.sides[1], laid[1])


def _by_point(side: Side, strategy: Reals) -> Reals:
    """A forgetful strategy as one of perfect recall, whose information states are the decision points in their order."""
    first = side.points.first
    return strategy[np.repeat(side.spot - (first[:-1] - first[0]), np.diff(first)) + np.arange(first[-1] - first[0])]


def _interval(there: Reals, back: Reals) -> tuple[float, float] | None:
    """95 % around the mean of all games. Deals are independent, the two games of a deal are not: their errors add up first."""
    if len(there) < 2:
        return None
    games = len(there) + len(back)
    mean = (there.sum() + back.sum()) / games
    errors = there - mean
    errors[: len(back)] += back - mean
    spread = Z95 * math.sqrt(len(there) / (len(there) - 1) * float(errors @ errors)) / games
    return float(mean - spread), float(mean + spread)


def play_pair(game: BaseGame, a: Agent, b: Agent, games: int, seed: int) -> Result:
    """How a fares against b in `games` games, half of them in each seat order (an odd one: a in seat 0)."""
    return Arena(game).play(a, b, Terms(games, seed))
