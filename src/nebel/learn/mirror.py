"""Magnetic mirror descent with the step in closed form: the same damped objective as MMD-PPO's, for games of many cards and few moves.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer. A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games. 2023

With gains q, step eta and evenness alpha a step ends at  log pi' = (log pi + eta q) / (1 + eta alpha)  up to a constant. With
eta alpha = (late + 1) / t  this adds up to  log pi = mean of all q so far, counted t^late, over alpha:  so that a network which learns the
mean gains of moves is the policy, whatever the size of single steps, and what is noise in single games is averaged out. Evenness weakens by
the root of time, as in the paper.

Gains are sampled by the policy itself, with a critic that sees both sides as control variate. Means are kept by information state
(`learn/tallies.py`); the mean of all strategies is learned by another network, which is the policy that is kept.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.learn.baseline import Baseline
from nebel.learn.memory import Arrays, Lessons
from nebel.learn.mmd_ppo import MmdPpo, MmdPpoSettings
from nebel.learn.nets import Settled, Values, shares_of_logits
from nebel.learn.spread import Plain, Spread, play_games
from nebel.learn.tallies import Means, Tallies, group
from nebel.learn.traverse import OVER, Decisions, Floats, Reals, pass_back
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy

LEAST = 0.03
"""What was not foreseen of a move counts as if the move were made at least so often."""
LATE = 2.0
"""In the mean of strategies those of iteration t count t to this power."""


class Warm(Plain):
    """Moves by mean gains: the warmer, the more evenly."""

    alike = True

    def __init__(self, gains: Values, warmth: float) -> None:
        self.gains, self.warmth = gains, np.float32(warmth)

    def __call__(self, player: int, rows: Floats, legal: Any) -> Reals:
        return shares_of_logits(self.gains(rows) / self.warmth, legal)


class Mirror:
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: MmdPpoSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s, self.games = settings, Spread(game, recall, seed, workers)
        self._gains = Values.of(game, recall, s.hidden, s.rate, seed)
        self._critic = Baseline.of_both(game, recall, s.critic, s.rate, seed + 1)
        self._kept = Settled.of(game, recall, s.hidden, s.rate, seed + 2)
        self._means = Means(Lessons.blank(s.room, self.games.size, game.actions))
        self._tallies = Tallies(s.room, self.games.size, game.actions)
        self.iterations, self.metrics = 0, dict[str, float]()
        self._unit = 0.0  # the size of outcomes when all moves are equally likely: gains and evenness are measured by it

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_games, self._mind())

    def _mind(self) -> Warm:
        s = self.settings
        return Warm(self._gains, max(1e-6, s.even * (1.0 + self.iterations / s.settling) ** -0.5 if s.settling else s.even))

    def iterate(self) -> None:
        s, begun, mind = self.settings, time.perf_counter(), self._mind()
        rng = np.random.default_rng([self.seed, self.iterations])
        d = self.games.run(s.games, mind, self.iterations, OVER, 0.0)
        played = time.perf_counter()
        ended = d.score[d.then == OVER]
        self._unit = self._unit or max(float(np.sqrt(np.mean(ended**2))), 1e-9)
        d = d._replace(score=d.score / self._unit)
        loss, surprise = self._learn_gains(d, rng)
        kept = self._learn_strategy(d, rng)
        off = self._critic.learn(d, self.iterations > 0, s.steps, rng)
        self.iterations += 1
        self.metrics = {
            "loss": loss, "critic_loss": off, "average_loss": kept, "warmth": float(mind.warmth),
            "entropy": float(-np.sum(d.share * np.log(np.maximum(d.share, 1e-9))) / len(d.move)),
            "surprise": surprise, "information_states": self._means.held,
            "plies_a_game": len(d.move) / max(1, len(ended)), "decisions": len(d.move),
            "nodes_per_second": len(d.move) / (played - begun), "sampling_share": (played - begun) / (time.perf_counter() - begun),
        }  # fmt: skip

    def _learn_gains(self, d: Decisions, rng: np.random.Generator) -> tuple[float, float]:
        """In the mover's own interest, over the mean of the legal moves. Returns the loss, and how far off the critic was."""
        s, at = self.settings, np.arange(len(d.move))
        guess = self._critic.guess(d)
        worth, gains = np.zeros(len(at)), np.zeros(d.legal.shape)
        pass_back(d._replace(odds=np.maximum(d.odds, LEAST)), guess, 1.0, worth, gains)
        surprise = worth - np.sum(d.share * guess, axis=1)
        gains *= np.where(d.player == 0, 1.0, -1.0)[:, None]
        gains = d.legal * (gains - (gains.sum(axis=1) / d.legal.sum(axis=1))[:, None])
        late = np.full(len(at), s.late * np.log(self.iterations + 1.0))
        self._means.add(Lessons(d.rows(at), gains.astype(np.float32), d.legal), late, rng)
        loss = float(np.mean([self._gains.step(self._means.draw(s.batch, rng)) for _ in range(s.steps)]))
        return loss, float(np.sqrt(np.mean(surprise**2)))

    def _learn_strategy(self, d: Decisions, rng: np.random.Generator) -> float:
        """Strategies count as often as they came to an information state, and the more the later."""
        s, groups = self.settings, group(d.key, d.share)
        at = groups.first
        amounts = (self.iterations + 1.0) ** LATE * groups.size[:, None] * groups.mean
        self._tallies.add(groups.key, d.rows(at), d.legal[at], amounts, rng)
        return float(np.mean([self._kept.step(self._tallies.draw(s.batch, rng)) for _ in range(s.steps)]))

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._kept.policy(self.game, self.recall, facts).sharpened(self.settings.sharpen)

    def _parts(self) -> dict[str, Any]:
        return {"gains.": self._gains, "critic.": self._critic, "kept.": self._kept, "means.": self._means, "tallies.": self._tallies}

    def save(self) -> Arrays:
        held: Arrays = {"unit": np.array([self._unit])}
        return {name: array for key, part in self._parts().items() for name, array in part.save(key).items()} | held

    def restore(self, arrays: Arrays, iterations: int) -> None:
        for name, part in self._parts().items():
            part.restore(arrays, name)
        self._unit, self.iterations = float(arrays["unit"][0]), iterations


def by_step(game: Game, recall: str, settings: MmdPpoSettings, seed: int, workers: Workers) -> MmdPpo | Mirror:
    """The learner whose step the settings name."""
    return (Mirror if settings.step == "closed" else MmdPpo)(game, recall, settings, seed, workers)
