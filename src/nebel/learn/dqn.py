"""Deep Q-learning in step: what moves are worth to one player, learned from transitions between that player's decisions.

Mnih and others. Human-level control through deep reinforcement learning. 2015
van Hasselt, Guez, Silver. Deep Reinforcement Learning with Double Q-learning. 2016
Wang and others. Dueling Network Architectures for Deep Reinforcement Learning. 2016
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import Game
from nebel.learn.memory import Arrays, Floats
from nebel.learn.nets import Net, read_shape, torch
from nebel.learn.traverse import OVER, Decisions, Longs, Reals, Strategy, next_own
from nebel.policy.net import encoding_of


class Transitions(NamedTuple):
    """From a player's decision to its next one, or to the end."""

    rows: Floats
    move: Longs
    reward: Floats  # at the end, else 0
    then: Floats  # what the player knew at the next decision
    legal: Any  # and what was legal there; nothing at the end

    @classmethod
    def blank(cls, count: int, size: int, actions: int) -> Transitions:
        rows, then = np.zeros((count, size), np.float32), np.zeros((count, size), np.float32)
        return cls(rows, np.zeros(count, np.int64), np.zeros(count, np.float32), then, np.zeros((count, actions), np.bool_))


def transitions(d: Decisions, player: int, size: int, scale: float) -> tuple[Longs, Transitions]:
    """Of a player's decisions in the table whose next one, or end, is known; and which they are."""
    after = np.zeros(len(d.move), np.int64)
    score = d.score.copy()
    next_own(d._replace(score=score), np.zeros((len(d.move), 2), np.int64), after)
    own = np.flatnonzero((d.player == player) & (after >= OVER))
    over = after[own] == OVER
    reward = np.where(over, score[own] / scale, 0.0) * (1.0 if player == 0 else -1.0)
    then = np.where(over, own, after[own])
    made = Transitions(
        d.both[own, player, :size], d.move[own], reward.astype(np.float32), d.both[then, player, :size], d.legal[then] & ~over[:, None]
    )  # fmt: skip
    return own, made


class Q:
    """A network for what moves are worth, and the one it learns towards, which follows now and then."""

    def __init__(self, game: Game, recall: str, shape: str, rate: float, seed: int, follow: int) -> None:
        encoding = encoding_of(game, recall)
        made = (encoding.size, read_shape(shape), game.actions + 1, rate, seed, encoding.board)
        self._net, self._target, self.follow, self.steps = Net(*made), Net(*made), follow, 0

    def __call__(self, rows: Floats) -> Floats:
        found: Floats = _duel(torch.from_numpy(self._net(rows))).numpy()
        return found

    def greedy(self, rows: Floats, legal: Any, stray: float = 0.0) -> Reals:
        """Shares: the best move, and with `stray` any."""
        return best_moves(self(rows), legal, stray)

    def snapshot(self) -> Strategy:
        """How it plays now, whatever it learns later."""
        layers = self._net.layers()

        def play(player: int, rows: Floats, legal: Any) -> Reals:
            for layer in layers:
                rows = layer(rows)
            return best_moves(rows[:, :-1], legal)

        return play

    def pace(self, rate: float) -> None:
        self._net.pace(rate)

    def step(self, t: Transitions) -> float:
        """One step of double Q-learning."""
        with torch.inference_mode():
            legal, then = torch.from_numpy(t.legal), torch.from_numpy(t.then)
            choice = _duel(self._net.net(then)).masked_fill(~legal, -torch.inf).argmax(1, keepdim=True)
            worth = _duel(self._target.net(then)).gather(1, choice)[:, 0] * legal.any(1)
        wanted = torch.from_numpy(t.reward) + worth.clone()
        said = _duel(self._net.net(torch.from_numpy(t.rows))).gather(1, torch.from_numpy(t.move)[:, None])[:, 0]
        loss = self._net.descend(torch.mean((said - wanted) ** 2), 10.0)
        self.steps += 1
        if self.steps % self.follow == 0:
            self._target.follow(self._net, 0.0)
        return loss

    def save(self, name: str) -> Arrays:
        return {**self._net.save(f"{name}net."), **self._target.save(f"{name}target."), f"{name}steps": np.array([self.steps])}

    def restore(self, arrays: Arrays, name: str) -> None:
        self._net.restore(arrays, f"{name}net.")
        self._target.restore(arrays, f"{name}target.")
        self.steps = int(arrays[f"{name}steps"][0])


def best_moves(worth: Floats, legal: Any, stray: float = 0.0) -> Reals:
    """Shares: the best of the legal moves, and with `stray` any."""
    best = np.where(legal, worth, -np.inf).argmax(axis=1)
    shares = stray * legal / legal.sum(axis=1, keepdims=True)
    shares[np.arange(len(best)), best] += 1.0 - stray
    return np.asarray(shares, np.float64)


def _duel(made: Any) -> Any:
    """The last number is what the state is worth, the others how much better or worse each move is than the mean."""
    moves = made[:, :-1]
    return made[:, -1:] + moves - moves.mean(1, keepdim=True)
