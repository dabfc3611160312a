"""Compiled matches of policies and bots. Where networks play, many deals go on in step, and a network is asked about all at once.

These are the games that the agents would play through `State`, number by number. (What a network says of many states at once
differs in the last digit from what it says of each alone, so once in some millions of moves another one may be drawn.)
"""

from __future__ import annotations

import math
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadRules
from nebel.core.game import CHANCE, END, Game, Record
from nebel.core.keys import find
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import fold, generator, uniform
from nebel.core.rule import kernel, rule
from nebel.core.unfold import look_away
from nebel.match.agents import Agent, pick_even, pick_share
from nebel.match.deals import DEALER, ROLES, Played, Seats, Tick, play_deal
from nebel.policy.net import NetPolicy
from nebel.policy.table import Policy, Shares, TablePolicy, Uniform

CHUNK = 20_000
"""Games that compiled code plays between two looks at the keyboard."""
LANES = 512
"""Deals that go on in step where a network plays."""

EVEN, FORGIVING, STRICT, BOT, NET = 0, 1, 2, 3, 4
"""A seat plays uniformly; uniformly where its table says nothing; must know every information state; is a bot; or asks a network."""

NOTHING = -1
"""No deal on a board; no row of an answer; no move; no deal that went wrong."""


@rule
def no_bot(s: Record, u: float, depth: int) -> int:
    """In a seat that a policy plays."""
    return NOTHING


@rule
def no_encoding(s: Record, player: int, out: Any) -> None:
    """In a seat without a network."""


@rule
def among(legal: Any, n: int, move: int) -> bool:
    i = 0
    while i < n and legal[i] != move:
        i += 1
    return i < n


@rule
def as_said(s: Record, move: int) -> int:
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


class Boards(NamedTuple):
    """Deals under way."""

    state: Any
    number: Any  # of the deal, or NOTHING
    steps: Any
    memory: Any  # by board and player
    rngs: Any  # by board and role
    luck: Any  # by board: the number that decides what a network's opinion comes to
    row: Any  # by board: where a network was asked, or NOTHING
    legal: Any  # room for one board at a time
    odds: Any
    seen: Any


def boards(game: Game, count: int) -> Boards:
    def longs(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    return Boards(
        game.blank(count), longs(count) + NOTHING, longs(count), longs(count, 2), longs(count, ROLES, 2), np.zeros(count),
        longs(count) + NOTHING, longs(game.width), np.zeros(game.width), longs(2),
    )  # fmt: skip


@lru_cache(maxsize=32)
def player(game: Game, recalls: tuple[str, str], bots: tuple[str, str], nets: tuple[bool, bool]) -> Any:
    """A kernel in which two agents play: policies of these recalls, or the game's bots of these names, in either order of seats."""
    start, turn, moves, play, score, odds = game.rules
    perfect0, look0, mean0, own0 = Eyes.of(game, recalls[0])
    perfect1, look1, mean1, own1 = Eyes.of(game, recalls[1])
    choose0, choose1 = (game.bots[bot].to_depth() if bot else no_bot for bot in bots)
    encode0, encode1 = (game.encodings[recall].write if net else no_encoding for recall, net in zip(recalls, nets, strict=True))
    depth = game.depth

    @rule
    def begin(b: Boards, j: int, luck: int, number: int) -> None:
        for role in range(ROLES):
            b.rngs[j, role, 0], b.rngs[j, role, 1] = fold(luck, np.int64(ROLES * number + role)), 0
        start(b.state[j])
        b.memory[j, 0], b.memory[j, 1] = blank_memory(0), blank_memory(1)
        b.number[j], b.steps[j] = number, 0

    @rule
    def deal(b: Boards, j: int, n: int) -> int:
        odds(b.state[j], b.odds)
        u, c = uniform(b.rngs[j, DEALER]), 0
        while c < n - 1:
            u -= b.odds[c]
            if u < 0.0:
                break
            c += 1
        return b.legal[c]

    @rule
    def by_table(b: Boards, j: int, p: int, a: int, n: int, table: Shares, manner: int, u: float, unknown: Any) -> int:
        key = b.memory[j, p]
        if a == 0 and not perfect0:
            key = np.int64(look0(b.state[j], p))
        if a == 1 and not perfect1:
            key = np.int64(look1(b.state[j], p))
        at = find(table.keys, key)
        if at < 0:
            unknown[p] += 1
            return NOTHING if manner == STRICT else b.legal[pick_even(n, u)]
        place = table.first[at]
        known = table.first[at + 1] - place
        if (own0 if a == 0 else own1) and known != n:
            return NOTHING
        move = table.move[place + pick_share(table.share, place, known, u)]
        return mean0(b.state[j], move) if a == 0 else mean1(b.state[j], move)

    @rule
    def by_net(b: Boards, n: int, logits: Any, u: float) -> int:
        """A legal move in proportion to exp(logit)."""
        top, total = logits[b.legal[0]], 0.0
        for i in range(1, n):
            top = max(top, logits[b.legal[i]])
        for i in range(n):
            b.odds[i] = math.exp(float(logits[b.legal[i]]) - float(top))
            total += b.odds[i]
        for i in range(n):
            b.odds[i] /= total
        return b.legal[pick_share(b.odds, 0, n, u)]

    @rule
    def ask(b: Boards, j: int, p: int, a: int, asks: Any, waiting: Any) -> None:
        """Write down what a network must know; its answer is waited for."""
        b.row[j], b.luck[j] = waiting[a], uniform(b.rngs[j, p])
        row = asks[a][waiting[a]]
        row[:] = 0.0
        if a == 0:
            encode0(b.state[j], p, row)
        else:
            encode1(b.state[j], p, row)
        waiting[a] += 1

    @rule
    def make(b: Boards, j: int, p: int, move: int) -> None:
        b.seen[0] = b.seen[1] = 0
        play(b.state[j], move, b.seen)
        if perfect0 or perfect1:
            if p >= 0:
                b.memory[j, p] = remember_move(b.memory[j, p], move)
            b.memory[j, 0] = remember_sight(b.memory[j, 0], b.seen[0])
            b.memory[j, 1] = remember_sight(b.memory[j, 1], b.seen[1])
        b.steps[j] += 1

    @kernel
    def run(
        b: Boards, swap: int, tables: Any, manner: Any, depths: Any, luck: int, todo: Any, scores: Any, unknown: Any, said: Any, asks: Any,
        waiting: Any,
    ) -> int:  # fmt: skip
        """Play deals todo[0] .. todo[1]-1, until they are over or every board waits for a network; returns a deal that cannot be played.

        swap: 0 if the first agent has the first seat, else 1; waiting: how many rows of `asks`, by agent, are to be answered in `said`.
        """
        waiting[0] = waiting[1] = 0
        for j in range(b.number.size):
            while True:
                if b.number[j] == NOTHING:
                    if todo[0] == todo[1]:
                        break
                    begin(b, j, luck, todo[0])
                    todo[0] += 1
                p = turn(b.state[j])
                if p == END:
                    scores[b.number[j]] = score(b.state[j])
                    b.number[j] = NOTHING
                    continue
                n = moves(b.state[j], b.legal)
                move, a = NOTHING, p ^ swap
                if p == CHANCE:
                    move = deal(b, j, n)
                elif manner[a] == EVEN:
                    move = b.legal[pick_even(n, uniform(b.rngs[j, p]))]
                elif manner[a] == BOT:
                    u = uniform(b.rngs[j, p])
                    move = choose0(b.state[j], u, depths[0]) if a == 0 else choose1(b.state[j], u, depths[1])
                elif manner[a] != NET:
                    move = by_table(b, j, p, a, n, tables[a], manner[a], uniform(b.rngs[j, p]), unknown)
                elif b.row[j] == NOTHING:
                    ask(b, j, p, a, asks, waiting)
                    break
                else:
                    move = by_net(b, n, said[a][b.row[j]], b.luck[j])
                    b.row[j] = NOTHING
                if b.steps[j] == depth or not among(b.legal, n, move):
                    return b.number[j]
                make(b, j, p, move)
        return NOTHING

    return run


def compilable(agent: Agent) -> bool:
    return bool(agent.bot) or isinstance(agent.policy, (TablePolicy, NetPolicy, Uniform))


def play_compiled(game: Game, seats: Seats, deals: int, seed: int, tick: Tick | None = None) -> Played:
    """Deals 0, 1, ... with policies or bots in both seats."""
    known = [agent.policy.recall for agent in seats if isinstance(agent.policy, (TablePolicy, NetPolicy))] or [PERFECT]
    # a uniform agent or a bot needs no recall: it goes along with the other's
    kinds = [(recall, agent.bot, isinstance(agent.policy, NetPolicy)) for recall, agent in zip((known[0], known[-1]), seats, strict=True)]
    swap = int(kinds[0] > kinds[1])  # one kernel serves both orders of seats
    agents, (recalls, bots, asking) = (seats[swap], seats[1 - swap]), zip(*sorted(kinds), strict=True)
    nets = [agent.policy if isinstance(agent.policy, NetPolicy) else None for agent in agents]
    run = player(game, recalls, bots, asking)
    tables = (_table(agents[0].policy, swap), _table(agents[1].policy, 1 - swap))
    manner = np.array([_manner(agent) for agent in agents], np.int64)
    depths = np.array([agent.depth for agent in agents], np.int64)
    lanes = LANES if any(nets) else 1
    sizes = [game.encodings[recall].size if net else 1 for recall, net in zip(recalls, nets, strict=True)]
    asks = tuple(np.zeros((lanes, size), np.float32) for size in sizes)
    said = tuple(np.zeros((lanes, game.actions), np.float32) for _ in seats)
    under_way, todo, waiting = boards(game, lanes), np.zeros(2, np.int64), np.zeros(2, np.int64)
    luck, played = generator(seed)[0], Played(deals)
    while todo[0] < deals or waiting.any():
        todo[1] = max(todo[1], min(todo[0] + CHUNK, deals))
        before = _over(todo, under_way)
        with np.errstate(over="ignore"):
            lost = int(run(under_way, swap, tables, manner, depths, luck, todo, played.scores, played.unknown, said, asks, waiting))
        if lost != NOTHING:
            play_deal(game, seats, seed, lost)  # says in words what is wrong
            raise BadRules(f"{game.string}: deal {lost} of seed {seed} does not go by the game's depth or the policy's moves")
        for a, net in enumerate(nets):
            if net:
                began = perf_counter()
                said[a][: waiting[a]] = net.logits(asks[a][: waiting[a]])
                played.seconds[a ^ swap] += perf_counter() - began
                played.moves[a ^ swap] += waiting[a]
        if tick:
            tick(_over(todo, under_way) - before)
    return played


def _over(todo: NDArray[np.int64], under_way: Boards) -> int:
    """How many deals have been played."""
    return int(todo[0] - np.count_nonzero(under_way.number != NOTHING))


def _table(policy: Policy | None, player: int) -> Shares:
    """What compiled code looks moves up in, always of the same types."""
    if not isinstance(policy, TablePolicy):
        none = np.zeros(0, np.int64)
        return Shares(none, none, none, np.zeros(0))
    keys, first, move, share = policy.shares[player]
    keys, first, move = (np.require(array, np.int64, ["C", "W"]) for array in (keys, first, move))
    return Shares(keys, first, move, np.require(share, np.float64, ["C", "W"]))


def _manner(agent: Agent) -> int:
    if isinstance(agent.policy, NetPolicy):
        return NET
    if not isinstance(agent.policy, TablePolicy):
        return BOT if agent.bot else EVEN
    return STRICT if agent.policy.missing == "error" else FORGIVING
