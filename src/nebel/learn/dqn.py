"""Deep Q-learning in step: what moves are worth to one player, learned from transitions between that player's decisions.

Mnih and others. Human-level control through deep reinforcement learning. 2015
van Hasselt, Guez, Silver. Deep Reinforcement Learning with Double Q-learning. 2016
Wang and others. Dueling Network Architectures for Deep Reinforcement Learning. 2016
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import Game
from nebel.core.rng import fold_all
from nebel.learn.memory import Arrays, Floats, Ring
from nebel.learn.nets import Net, read_shape, torch
from nebel.learn.traverse import OVER, Decisions, Longs, Reals, Strategy, next_own
from nebel.policy.net import encoding_of

NO_STATE = -1
"""After the end."""
MOST = 64
"""Times as many transitions as information states, at most, that are drawn for a step."""
FAINT = 1e-12
"""What has faded counts so much still: never nothing."""


class Transitions(NamedTuple):
    """From a player's decision to its next one, or to the end."""

    key: Longs  # of the information state
    rows: Floats
    move: Longs
    reward: Floats  # at the end, else 0
    weight: Floats  # how often it was met
    next: Longs  # the information state of the next decision, or NO_STATE
    then: Floats  # what the player knew there
    legal: Any  # and what was legal; nothing at the end

    @classmethod
    def blank(cls, count: int, size: int, actions: int) -> Transitions:
        (key, move, after), (rows, then) = np.zeros((3, count), np.int64), np.zeros((2, count, size), np.float32)
        reward, weight = np.zeros((2, count), np.float32)
        return cls(key, rows, move, reward, weight, after, then, np.zeros((count, actions), np.bool_))


def transitions(d: Decisions, player: int, size: int) -> tuple[Longs, Transitions]:
    """Of a player's decisions in the table whose next one, or end, is known; and which they are."""
    after = np.zeros(len(d.move), np.int64)
    score = d.score.copy()
    next_own(d._replace(score=score), np.zeros((len(d.move), 2), np.int64), after)
    own = np.flatnonzero((d.player == player) & (after >= OVER))
    over = after[own] == OVER
    reward = np.where(over, score[own], 0.0) * (1.0 if player == 0 else -1.0)
    then = np.where(over, own, after[own])
    made = Transitions(
        d.key[own], d.both[own, player, :size], d.move[own], reward.astype(np.float32), np.ones(len(own), np.float32),
        np.where(over, NO_STATE, d.key[then]), d.both[then, player, :size], d.legal[then] & ~over[:, None],
    )  # fmt: skip
    return own, made


class Gathered(Ring[Transitions]):
    """All that was ever met, as long as there is room: what is the same again counts more often, and rewards are means. For players whose
    opponents stay as they are, so that what follows a move stays as likely as it was; or change slowly, where what was met fades."""

    def __init__(self, blank: Transitions) -> None:
        super().__init__(blank)
        self._at: dict[int, int] = {}
        self._names, self._drawn = np.zeros(self.room, np.int64), 0

    def add(self, new: Transitions, kept: float = 1.0) -> None:
        """What was met before counts so much of what it did."""
        if not len(new.key):
            return
        held, names = self._kept, fold_all(fold_all(new.key, new.move), new.next)
        if kept < 1.0:
            held.weight[: self.held] = np.maximum(held.weight[: self.held] * kept, FAINT)
        found, first, group = np.unique(names, return_index=True, return_inverse=True)
        weight = np.bincount(group, new.weight)
        reward = np.bincount(group, new.weight * new.reward) / weight
        at = np.array([self._at.get(name, -1) for name in found.tolist()], np.int64)
        here, new_ones = np.flatnonzero(at >= 0), np.flatnonzero(at < 0)[-self.room :]
        places = at[here]
        total = held.weight[places] + weight[here]
        held.reward[places] += (reward[here] - held.reward[places]) * weight[here] / total
        held.weight[places] = total
        places = (self.seen + np.arange(len(new_ones))) % self.room
        for place, name in zip(places.tolist(), found[new_ones].tolist(), strict=True):
            self._at.pop(int(self._names[place]), None)
            self._at[name] = place
        self._names[places] = found[new_ones]
        self.put(new, first[new_ones], places)
        held.reward[places], held.weight[places] = reward[new_ones], weight[new_ones]
        self.seen += len(new_ones)
        self.held = min(self.room, self.seen)

    def draw(self, count: int, rng: np.random.Generator) -> Transitions:
        """As many as come to about so many information states, each as likely as any other, or all if there are no more. Where there are
        few information states these are many transitions, and noise cancels."""
        drawn = max(self._drawn, count)
        found = self.all() if self.held <= drawn else super().draw(drawn, rng)
        states = len(np.unique(found.key))
        if states < count // 2 and drawn < self.held:
            self._drawn = min(2 * drawn, MOST * count)
        elif states > count:
            self._drawn = drawn // 2
        return found

    def save(self, name: str = "") -> Arrays:
        return super().save(name) | {f"{name}names": self._names[: self.held], f"{name}drawn": np.array([self._drawn])}

    def restore(self, arrays: Arrays, name: str = "") -> None:
        super().restore(arrays, name)
        self._names[: self.held], self._drawn = arrays[f"{name}names"], int(arrays[f"{name}drawn"][0])
        self._at = {each: i for i, each in enumerate(self._names[: self.held].tolist())}


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
        """One step of double Q-learning. The networks are asked once about each information state, which leaves the gradient as it is."""
        first, state = np.unique(t.key, return_index=True, return_inverse=True)[1:]
        ahead, place = np.unique(t.next, return_index=True, return_inverse=True)[1:]
        with torch.inference_mode():
            legal, then = torch.from_numpy(t.legal[ahead]), torch.from_numpy(t.then[ahead])
            choice = _duel(self._net.net(then)).masked_fill(~legal, -torch.inf).argmax(1, keepdim=True)
            worth = (_duel(self._target.net(then)).gather(1, choice)[:, 0] * legal.any(1)).numpy()
        shape, cell = (len(first), t.legal.shape[1]), state * t.legal.shape[1] + t.move
        count = np.bincount(cell, t.weight, shape[0] * shape[1])
        total = np.bincount(cell, t.weight * (t.reward + worth[place]), shape[0] * shape[1])
        means, counts = total / np.where(count > 0.0, count, 1.0), count / count.sum()
        wanted, weight = (torch.from_numpy(x.astype(np.float32)).view(shape) for x in (means, counts))
        said = _duel(self._net.net(torch.from_numpy(t.rows[first])))
        loss = self._net.descend(torch.sum(weight * (said - wanted) ** 2), 10.0)
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
