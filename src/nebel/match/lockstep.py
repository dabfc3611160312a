"""Compiled matches of policies and bots. Where networks play, many deals go on in step, and a network is asked about all at once.

These are the games that the agents would play through `State`, number by number. (What a network says of many states at once
differs in the last digit from what it says of each alone, so once in some millions of moves another one may be drawn.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.calls import endless
from nebel.core.errors import BadRules
from nebel.core.game import CHANCE, END, Game, Record
from nebel.core.keys import find
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import fold, generator, uniform
from nebel.core.rule import kernel, rule
from nebel.core.unfold import SPARE, look_away
from nebel.match.agents import Agent, pick_even, pick_share
from nebel.match.deals import DEALER, ROLES, Played, Seats, Tick, play_deal
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Policy, Shares, TablePolicy, Uniform

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
def the_same(move: Any, place: int, legal: Any, n: int) -> bool:
    """Whether the moves of a row are the legal ones."""
    i = 0
    while i < n and move[place + i] == legal[i]:
        i += 1
    return i == n


@rule
def as_said(s: Record, move: int) -> int:
    """Of players who speak of this game's own moves."""
    return move


def one_of(rules: Sequence[Any], otherwise: Any) -> Any:
    """A rule that calls one of these, by its number, or else another."""

    @rule
    def found(number: int, *args: Any) -> Any:
        return otherwise(*args)

    for number, each in enumerate(rules):
        found = _or_else(number, each, found)
    return found


def _or_else(at: int, this: Any, others: Any) -> Any:
    @rule
    def found(number: int, *args: Any) -> Any:
        return this(*args) if number == at else others(number, *args)

    return found


class Sides(NamedTuple):
    """By agent: how it plays."""

    manner: Any
    glance: Any  # which of the game's it sees the game by, or NOTHING: it remembers everything
    own: Any  # whether its table has a row's moves as the rules give them
    bot: Any  # which of those that were compiled it is
    net: Any  # which of the recalls of networks that were compiled it has
    depth: Any


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
        longs(count) + NOTHING, longs(game.width + SPARE), np.zeros(game.width), longs(2),
    )  # fmt: skip


@lru_cache(maxsize=32)
def player(game: Game, bots: tuple[str, ...], nets: tuple[str, ...]) -> Any:
    """A kernel in which two agents play: policies of any recall, the game's bots of these names, networks of these recalls."""
    start, turn, moves, play, score, odds = game.rules
    look = one_of([glance.look for glance in game.glances.values()], look_away)
    mean = one_of([glance.mean or as_said for glance in game.glances.values()], as_said)
    choose = one_of([game.bots[name].to_depth() for name in bots], no_bot)
    encode = one_of([game.encodings[recall].write for recall in nets], no_encoding)
    depth, width = game.depth, game.width

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
    def by_table(b: Boards, j: int, p: int, n: int, by: Sides, table: Shares, u: float, unknown: Any) -> int:
        key = b.memory[j, p]
        if by.glance[p] != NOTHING:
            key = np.int64(look(by.glance[p], b.state[j], p))
        at = find(table.keys, key)
        if at < 0:
            unknown[p] += 1
            return NOTHING if by.manner[p] == STRICT else b.legal[pick_even(n, u)]
        place = table.first[at]
        known = table.first[at + 1] - place
        if by.own[p] and not (known == n and the_same(table.move, place, b.legal, n)):
            return NOTHING
        return mean(by.glance[p], b.state[j], table.move[place + pick_share(table.share, place, known, u)])

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
    def ask(b: Boards, j: int, p: int, by: Sides, asks: Any, waiting: Any) -> None:
        """Write down what a network must know; its answer is waited for."""
        b.row[j], b.luck[j] = waiting[p], uniform(b.rngs[j, p])
        row = asks[p][waiting[p]]
        row[:] = 0.0
        encode(by.net[p], b.state[j], p, row)
        waiting[p] += 1

    @rule
    def make(b: Boards, j: int, p: int, move: int) -> None:
        b.seen[0] = b.seen[1] = 0
        play(b.state[j], move, b.seen)
        if p >= 0:
            b.memory[j, p] = remember_move(b.memory[j, p], move)
        b.memory[j, 0] = remember_sight(b.memory[j, 0], b.seen[0])
        b.memory[j, 1] = remember_sight(b.memory[j, 1], b.seen[1])
        b.steps[j] += 1

    @kernel
    def run(
        b: Boards, by: Sides, tables: Any, luck: int, todo: Any, scores: Any, unknown: Any, said: Any, asks: Any, waiting: Any
    ) -> int:
        """Play deals todo[0] .. todo[1]-1, until they are over or every board waits for a network; returns a deal that cannot be played.

        waiting: how many rows of `asks`, by agent, are to be answered in `said`.
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
                if p != CHANCE and p != 0 and p != 1:
                    return b.number[j]
                n = moves(b.state[j], b.legal)
                if n < 1 or n > width:
                    return b.number[j]
                move = NOTHING
                if p == CHANCE:
                    move = deal(b, j, n)
                elif by.manner[p] == EVEN:
                    move = b.legal[pick_even(n, uniform(b.rngs[j, p]))]
                elif by.manner[p] == BOT:
                    move = choose(by.bot[p], b.state[j], uniform(b.rngs[j, p]), by.depth[p])
                elif by.manner[p] != NET:
                    move = by_table(b, j, p, n, by, tables[p], uniform(b.rngs[j, p]), unknown)
                elif b.row[j] == NOTHING:
                    ask(b, j, p, by, asks, waiting)
                    break
                else:
                    move = by_net(b, n, said[p][b.row[j]], b.luck[j])
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
    for agent in seats:
        if isinstance(agent.policy, MadePolicy):
            agent.policy.check_game(game)
    nets = [agent.policy if isinstance(agent.policy, NetPolicy) else None for agent in seats]
    bots, asking = tuple(sorted({agent.bot for agent in seats} - {""})), tuple(sorted({net.recall for net in nets if net}))
    run, by = player(game, bots, asking), _sides(game, seats, bots, asking)
    tables = (_table(seats[0].policy, 0), _table(seats[1].policy, 1))
    lanes = LANES if any(nets) else 1
    asks = tuple(np.zeros((lanes, game.encodings[net.recall].size if net else 1), np.float32) for net in nets)
    said = tuple(np.zeros((lanes, game.actions), np.float32) for _ in seats)
    under_way, todo, waiting = boards(game, lanes), np.zeros(2, np.int64), np.zeros(2, np.int64)
    luck, played = generator(seed)[0], Played(deals)
    while todo[0] < deals or waiting.any():
        todo[1] = max(todo[1], min(todo[0] + CHUNK, deals))
        before = _over(todo, under_way)
        with np.errstate(over="ignore"):
            lost = int(run(under_way, by, tables, luck, todo, played.scores, played.unknown, said, asks, waiting))
        if lost == NOTHING and not np.isfinite(played.scores).all():
            lost = int(np.argmin(np.isfinite(played.scores)))
        if lost != NOTHING:
            if (under_way.steps[under_way.number == lost] >= game.depth).any():
                raise BadRules(f"{game.string}: {endless(game.depth, declared=True)}")
            play_deal(game, seats, seed, lost)  # says in words what is wrong
            raise BadRules(f"{game.string}: deal {lost} of seed {seed} does not go by the game's depth or the policy's moves")
        for p, net in enumerate(nets):
            if net:
                began = perf_counter()
                said[p][: waiting[p]] = net.logits(asks[p][: waiting[p]])
                played.seconds[p] += perf_counter() - began
                played.moves[p] += waiting[p]
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


def _sides(game: Game, seats: Seats, bots: tuple[str, ...], nets: tuple[str, ...]) -> Sides:
    glances = list(game.glances)
    recalls = [agent.policy.recall if isinstance(agent.policy, (TablePolicy, NetPolicy)) else PERFECT for agent in seats]

    def numbers(*both: int) -> NDArray[np.int64]:
        return np.array(both, np.int64)

    return Sides(
        numbers(*(_manner(agent) for agent in seats)),
        numbers(*(NOTHING if recall == PERFECT else glances.index(recall) for recall in recalls)),
        numbers(*(recall == PERFECT or game.glances[recall].mean is None for recall in recalls)),
        numbers(*(bots.index(agent.bot) if agent.bot else NOTHING for agent in seats)),
        numbers(*(nets.index(recall) if recall in nets else NOTHING for recall in recalls)),
        numbers(*(agent.depth for agent in seats)),
    )


def _manner(agent: Agent) -> int:
    if isinstance(agent.policy, NetPolicy):
        return NET
    if not isinstance(agent.policy, TablePolicy):
        return BOT if agent.bot else EVEN
    return STRICT if agent.policy.missing == "error" else FORGIVING
