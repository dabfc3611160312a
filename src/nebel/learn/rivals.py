"""Agents that do not learn, in games in step: policies, networks and bots, asked about many boards at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadPolicy, BadSetting
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel
from nebel.learn.memory import Arrays
from nebel.learn.spread import Segment
from nebel.learn.traverse import Longs, Rival, Tables, Traverser
from nebel.match.agents import Agent
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, TablePolicy, Uniform


class Frozen(NamedTuple):
    """How an agent moves, and what recall it goes by."""

    moves: Rival
    recall: str


def frozen(game: Game, agent: Agent, seat: int) -> Frozen:
    """An agent that has joined the game, in a seat of games in step."""
    policy = agent.policy
    if isinstance(policy, MadePolicy):
        policy.check_game(game)
    if isinstance(policy, NetPolicy):
        return Frozen(_network(policy, seat), policy.recall)
    if isinstance(policy, TablePolicy):
        if game.glances.get(policy.recall) and game.glances[policy.recall].mean:
            raise BadSetting(f"{agent.name} was made for a smaller game; games in step take policies of {game.string} itself")
        return Frozen(_table(game, policy, seat), policy.recall)
    if isinstance(policy, Uniform):
        return Frozen(lambda t, asked, legal, rng: legal / legal.sum(axis=1, keepdims=True), PERFECT)
    if agent.bot:
        return Frozen(_bot(game, agent.bot, agent.depth), PERFECT)
    raise BadSetting(f"{agent.name} cannot play thousands of games in step: policies, networks and bots that look ahead a set depth can")


def in_step(game: Game, recall: str, boards: int, rivals: Mapping[int, Frozen]) -> Traverser:
    """Games of learners of this recall, with rivals in some seats."""
    moves = {seat: rival.moves for seat, rival in rivals.items()}
    return Traverser(game, recall, boards, moves, {seat: rival.recall for seat, rival in rivals.items()})


class Among:
    """Games with rivals in some seats, in this process; called as `Spread` is."""

    def __init__(self, game: Game, recall: str, boards: int, rivals: Mapping[int, Frozen], seed: int) -> None:
        self._made, self._seed = (game, recall, rivals), seed
        self._games = in_step(game, recall, boards, rivals)
        self.size = self._games.size

    def prepare(self, work: Any, mind: Any, plies: int) -> None:
        """Compile, or load what was compiled."""
        game, recall, rivals = self._made
        in_step(game, recall, 1, rivals).segment(plies, mind, generator(0))

    def segment(self, count: int, plies: int, mind: Any, stream: int) -> Segment:
        d, ahead = self._games.segment(plies, mind, generator(self._seed, stream))
        return Segment(d, ahead, self._games.tables.legal, mind.notes(len(d.move)), {})

    def save(self) -> Arrays:
        return self._games.save()

    def restore(self, arrays: Arrays) -> None:
        self._games.restore(arrays)


def _network(policy: NetPolicy, seat: int) -> Rival:
    size = policy.layers[0].weights.shape[0]

    def moves(t: Tables, asked: Longs, legal: Any, rng: Longs) -> Any:
        logits = np.where(legal, policy.logits(t.both[asked, seat, :size]), -np.inf).astype(np.float64)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    return moves


def _table(game: Game, policy: TablePolicy, seat: int) -> Rival:
    keys, first, move, share = policy.shares[seat]
    if len(move) and move.max() >= game.actions:
        raise BadPolicy(f"the policy's moves are not those of {game.string}: player {seat}'s table has the move {move.max()}")
    rows = np.zeros((len(keys), game.actions), np.float32)
    rows[np.repeat(np.arange(len(keys)), np.diff(first)), move] = share

    def moves(t: Tables, asked: Longs, legal: Any, rng: Longs) -> Any:
        at = np.searchsorted(keys, t.key[asked])
        at[at == len(keys)] = 0
        known = keys[at] == t.key[asked] if len(keys) else np.zeros(len(asked), bool)
        if policy.missing == "error" and not known.all():
            raise BadSetting("the policy does not know an information state that came up; solve the game again, or longer")
        if np.any((rows[at] > 0.0) & ~legal & known[:, None]) if len(keys) else False:
            raise BadPolicy(f"the policy of player {seat} has shares for moves that are not legal in {game.string}")
        return np.where(known[:, None], rows[at], legal / legal.sum(axis=1, keepdims=True))

    return moves


@lru_cache(maxsize=16)
def _choosing(game: Game, name: str) -> Any:
    choose = game.bots[name].to_depth()

    @kernel
    def run(t: Tables, asked: Any, depth: int, rng: Any, shares: Any) -> None:
        for i in range(asked.size):
            shares[i, choose(t.state[asked[i]], uniform(rng), depth)] = 1.0

    return run


def _bot(game: Game, name: str, depth: int) -> Rival:
    run = _choosing(game, name)

    def moves(t: Tables, asked: Longs, legal: Any, rng: Longs) -> Any:
        shares = np.zeros(legal.shape)
        run(t, asked, depth, rng, shares)
        return shares

    return moves
