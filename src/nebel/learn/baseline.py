"""A baseline: a network that sees what both players know, and guesses what player 0 gets by each move. It steadies sampled values.

Expected SARSA: it learns towards the score, or towards what the strategy gets from the next decision on by its own guess. It is never begun
anew. It learns from the decisions of the last traversals (`Baseline.learn`), or from a buffer of those of all iterations (`Buffered`).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from nebel.core.game import Game
from nebel.learn.memory import Arrays, Lessons, LossWeighted
from nebel.learn.nets import BLOCK, Shape, Values, begin_weights, board_stages, nn, read_shape, torch
from nebel.learn.traverse import OVER, Decisions, Floats
from nebel.policy.net import encoding_of


class Baseline(Values):
    @classmethod
    def of_both(cls, game: Game, recall: str, shape: str, rate: float, seed: int) -> Self:
        """With the dense layers of this shape."""
        return cls(2 * encoding_of(game, recall).size + 1, Shape(read_shape(shape).dense), game.actions, rate, seed)

    def guess(self, d: Decisions) -> Floats:
        """By decision and move."""
        return self(d.table())

    def learn(self, d: Decisions, begun: bool, steps: int, rng: np.random.Generator) -> float:
        """From decisions with scores in the unit of guesses; `begun`: its guesses count. Returns the last loss."""
        then = np.sum(d.share * self.guess(d), axis=1) if begun else np.zeros(len(d.move))
        worth = np.where(d.then == OVER, d.score, then[d.then])
        weight = np.zeros(d.legal.shape, np.float32)
        weight[np.arange(len(worth)), d.move] = 1.0
        return self.fit(d.table(), weight * worth[:, None].astype(np.float32), weight, steps, rng)


class TwoViews(nn.Module):
    """What each player knows, through stages over planes of its own; what these make, side by side with the seat, through dense layers."""

    norm = False

    def __init__(self, inputs: int, board: tuple[int, int] | None, shape: Shape, outputs: int, luck: Any) -> None:
        super().__init__()
        self.inputs, self.board = inputs, board if shape.planes else None
        made = [board_stages(inputs, board, shape) for _ in range(2)]
        self.views, size = nn.ModuleList([nn.ModuleList(stages) for stages, _ in made]), 2 * made[0][1] + 1
        layers: list[nn.Module] = []
        for wide in shape.dense:
            layers += [nn.Linear(size, wide), nn.ReLU()]
            size = wide
        last = nn.Linear(size, outputs)
        self.combined = nn.Sequential(*layers, last)
        begin_weights(self, last, luck)

    def forward(self, rows: Any) -> Any:
        views = [self._flat(stages, rows[:, p * self.inputs : (p + 1) * self.inputs]) for p, stages in enumerate(self.views)]
        return self.combined(torch.cat([*views, rows[:, -1:]], 1))

    def _flat(self, stages: Any, rows: Any) -> Any:
        if not self.board:
            return rows
        size = self.inputs - self.inputs % (self.board[0] * self.board[1])
        planes, rest = rows[:, :size].reshape(len(rows), -1, *self.board), rows[:, size:]
        planes = planes.contiguous(memory_format=torch.channels_last)
        for stage in stages:
            planes, rest = stage(planes, rest)
        return torch.cat([planes.permute(0, 2, 3, 1).flatten(1), rest], 1)

    def answer(self, rows: Floats) -> Any:
        """The same without gradients."""
        return torch.cat([self(torch.from_numpy(rows[at : at + BLOCK])) for at in range(0, max(1, len(rows)), BLOCK)])


class TwoViewBaseline(Baseline):
    """With convolutions for each player's view, as in the paper on variants of Geister."""

    form = TwoViews

    @classmethod
    def of_both(cls, game: Game, recall: str, shape: str, rate: float, seed: int) -> Self:
        """With this shape, whose stages over planes are there once for each view."""
        encoding = encoding_of(game, recall)
        return cls(encoding.size, read_shape(shape), game.actions, rate, seed, encoding.board)


class Transitions(NamedTuple):
    """Decisions and what came next: the score if it was the end, else the next decision and the strategy there; 0 elsewhere."""

    rows: Floats  # what both knew, and the seat
    move: Any
    score: Floats
    ahead: Floats  # rows of the next decision
    share: Floats  # by move, of the strategy there

    @classmethod
    def blank(cls, count: int, size: int, actions: int) -> Transitions:
        rows, ahead = np.zeros((2, count, 2 * size + 1), np.float32)
        return cls(rows, np.zeros(count, np.int64), np.zeros(count, np.float32), ahead, np.zeros((count, actions), np.float32))

    @classmethod
    def of(cls, d: Decisions) -> Transitions:
        rows, goes_on = d.table(), (d.then != OVER).astype(np.float32)
        score = np.where(d.then == OVER, d.score, 0.0).astype(np.float32)
        return cls(rows, d.move, score, rows[d.then] * goes_on[:, None], d.share[d.then] * goes_on[:, None])


class Buffered:
    """A baseline that learns from a uniform reservoir of the decisions of all iterations; later ones count more."""

    def __init__(self, net: Baseline, room: int, size: int, actions: int) -> None:
        self.net = net
        self._memory = LossWeighted(Transitions.blank(room, size, actions))

    def learn(self, d: Decisions, iterations: int, steps: int, batch: int, rng: np.random.Generator) -> float:
        """Add decisions after so many iterations, and learn; returns the mean loss."""
        self._memory.add(Transitions.of(d), np.full(len(d.move), np.log(iterations + 1.0)), rng)
        losses = []
        for _ in range(steps):
            found, weights = self._memory.draw_weighted(batch, rng, 1.0 / (iterations + 1))
            worth = found.score + np.sum(found.share * self.net(found.ahead), axis=1)
            made = np.zeros(found.share.shape, np.float32)
            made[np.arange(len(worth)), found.move] = 1.0
            losses.append(self.net.step(Lessons(found.rows, made * worth[:, None], made), weights=weights))  # type: ignore[arg-type]
        return float(np.mean(losses))

    def save(self, name: str) -> Arrays:
        return self.net.save(name) | self._memory.save(f"{name}buffer.")

    def restore(self, arrays: Arrays, name: str) -> None:
        self.net.restore(arrays, name)
        self._memory.restore(arrays, f"{name}buffer.")
