"""Magnetic mirror descent with the step in closed form: the same damped objective as MMD-PPO's, for games of many cards and few moves.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer. A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games. 2023

With gains q, step eta and evenness alpha a step ends at  log pi' = (log pi + eta q) / (1 + eta alpha)  up to a constant. With
eta alpha = (late + 1) / t  this adds up to  log pi = mean of all q so far, counted t^late, over alpha:  so that a network which learns the
mean gains of moves is the policy, whatever the size of single steps, and what is noise in single games is averaged out. Evenness weakens by
the root of time, as in the paper.

Gains are sampled in games in which one player explores, each in turn, with a critic that sees both sides as control variate: so what is
rarely played is rated, too, and evenness need not be there for that. Means are kept by information state (`learn/tallies.py`); the mean of
the strategies of whoever did not explore is learned by another network, which is the policy that is kept.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.learn.baseline import Baseline
from nebel.learn.memory import Arrays, Experience, Lessons
from nebel.learn.mmd_ppo import MmdPpo, MmdPpoSettings
from nebel.learn.nets import Settled, Values, shares_of_logits
from nebel.learn.spread import Plain, Spread, play_games
from nebel.learn.tallies import Means
from nebel.learn.traverse import OVER, Decisions, Floats, Reals, pass_back
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy

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

    cadence = 1

    def __init__(self, game: Game, recall: str, settings: MmdPpoSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s, self.games = settings, Spread(game, recall, seed, workers)
        self._gains = Values.of(game, recall, s.hidden, s.rate, seed, s.outputs)
        self._critic = Baseline.of_both(game, recall, s.critic, s.rate, seed + 1)
        self._kept = Settled.of(game, recall, s.hidden, s.rate, seed + 2, s.outputs)
        self._means = Means(Lessons.blank(s.room, self.games.size, game.actions))
        self._strategies = Means(Experience.blank(s.room, self.games.size, game.actions))
        self.iterations, self.metrics = 0, dict[str, float]()
        self._unit = 0.0  # the size of outcomes when all moves are equally likely: gains and evenness are measured by it

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_games, self.mind())

    def mind(self) -> Warm:
        """Return how both players move now."""
        s = self.settings
        return Warm(self._gains, max(1e-6, s.even * (1.0 + self.iterations / s.settling) ** -0.5 if s.settling else s.even))

    def iterate(self) -> None:
        s, begun, mind, losses = self.settings, time.perf_counter(), self.mind(), dict[str, float]()
        rng = np.random.default_rng([self.seed, self.iterations])
        nodes, ended, sampling, spread = 0, 0, 0.0, 0.0
        for player in (0, 1):
            start = time.perf_counter()
            d = self.games.run(s.games, mind, 2 * self.iterations + player, player, s.explore)
            sampling += time.perf_counter() - start
            over = d.then == OVER
            self._unit = self._unit or float(np.sqrt(np.mean(d.score[over] ** 2)))
            d = d._replace(score=d.score / (self._unit or 1.0))
            nodes, ended = nodes + len(d.move), ended + int(over.sum())
            spread -= float(np.sum(d.share * np.log(np.maximum(d.share, 1e-9))))
            losses[f"loss_{player}"], losses[f"surprise_{player}"] = self._learn_gains(d, player, rng)
            losses[f"average_loss_{player}"] = self._learn_strategy(d, 1 - player, rng)
            losses[f"critic_loss_{player}"] = self._critic.learn(d, self.iterations > 0, s.steps, rng)
        self.iterations += 1
        self.metrics = {
            "loss": losses["loss_0"] + losses["loss_1"], **losses, "warmth": float(mind.warmth), "entropy": spread / nodes,
            "information_states": self._means.held, "plies_a_game": nodes / max(1, ended), "decisions": nodes,
            "nodes_per_second": nodes / sampling, "sampling_share": sampling / (time.perf_counter() - begun),
        }  # fmt: skip

    def _learn_gains(self, d: Decisions, player: int, rng: np.random.Generator) -> tuple[float, float]:
        """Of the player who explored, over the mean of the legal moves. Returns the loss, and how far off the critic was."""
        s, own, sign = self.settings, np.flatnonzero(d.player == player), 1.0 if player == 0 else -1.0
        guess, worth, gains = self._critic.guess(d), np.zeros(len(d.move)), np.zeros(d.legal.shape)
        pass_back(d, guess, sign, worth, gains)
        surprise = sign * worth - np.sum(d.share * guess, axis=1)
        legal, gains = d.legal[own], gains[own]
        gains = legal * (gains - (gains.sum(axis=1) / legal.sum(axis=1))[:, None])
        late = np.full(len(own), s.late * np.log(self.iterations + 1.0))
        self._means.add(Lessons(d.rows(own), gains.astype(np.float32), legal), late, rng)
        loss = float(np.mean([self._gains.step(self._means.draw(s.batch, rng)) for _ in range(s.steps)]))
        return loss, float(np.sqrt(np.mean(surprise**2)))

    def _learn_strategy(self, d: Decisions, player: int, rng: np.random.Generator) -> float:
        """Learn the average strategy of the player who did not explore, in which later iterations count more."""
        strategies, weights = d.strategies_of(player)
        self._strategies.add(strategies, weights + LATE * np.log(self.iterations + 1.0), rng)
        return float(np.mean([self._kept.step(self._strategies.draw(self.settings.batch, rng)) for _ in range(self.settings.steps)]))

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._kept.policy(self.game, self.recall, facts).sharpened(self.settings.sharpen)

    def _parts(self) -> dict[str, Any]:
        return {"gains.": self._gains, "critic.": self._critic, "kept.": self._kept, "means.": self._means, "strategies.": self._strategies}

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
