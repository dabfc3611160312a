"""VR-DeepDCFR+: networks learn discounted positive regrets, sampled with a baseline that sees both sides.

Xu, Li, Liu, Fu, Fu, Xing, Cheng. Deep (Predictive) Discounted Counterfactual Regret Minimization. 2025
Steinberger, Lerer, Brown. DREAM: Deep Regret Minimization with Advantage Baselines and Model-free Learning. 2020, for the baseline

Where it departs: fits are grouped. What is sampled of an information state in an iteration is one row, its mean gains weighted by how often
it was met; and the average strategy is learned from means by information state (`learn/tallies.py`) instead of single samples, in which the
sampling probability of the traverser is divided out. The paper does not divide it out, and neither does `--no-divide-sampling`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.core.settings import Settings, setting
from nebel.learn.baseline import Baseline
from nebel.learn.memory import Arrays, Experience
from nebel.learn.nets import Settled, Values
from nebel.learn.spread import Regrets, Spread, play_games
from nebel.learn.tallies import Means, group
from nebel.learn.traverse import Decisions, Reals, pass_back
from nebel.learn.unit import Unit
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy

BATCH = 1024


@dataclass(frozen=True)
class VrDeepDcfrSettings(Settings):
    """How regrets are sampled and learned."""

    traversals: int = setting(5000, "of each player, in an iteration", low=1)
    explore: float = setting(0.6, "how often the traverser moves at random", low=1e-3, high=1.0)
    hidden: str = setting("64-64-64", "sizes of the hidden layers of the networks for regrets and for the baseline")
    steps: int = setting(50, "of gradient descent for a player's regrets, in an iteration", low=1)
    baseline_steps: int = setting(25, "for the baseline, after each player's traversals (0: there is none)", low=0)
    average_hidden: str = setting("128-64", "sizes of the hidden layers of the network for the average strategy")
    average_steps: int = setting(20, "for the average strategy, in an iteration", low=1)
    rate: float = setting(1e-3, "of Adam", low=1e-8, high=1.0)
    alpha: float = setting(2.0, "old regrets count t^alpha / (t^alpha + 1.5)", low=0.0)
    gamma: float = setting(2.0, "strategies of iteration t count t^gamma in the average", low=0.0)
    divide_sampling: bool = setting(True, "divide the traverser's sampling probability out of the average strategy; otherwise, as in"
                                    " the paper, iterations count by how often the traverser came to an information state")  # fmt: skip
    room: int = setting(1_000_000, "information states that the average is summed up for", low=1)


class VrDeepDcfr:
    """`iterations` so far; `metrics` of the last one."""

    cadence = 1

    def __init__(self, game: Game, recall: str, settings: VrDeepDcfrSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s, self.games = settings, Spread(game, recall, seed, workers)
        self._regrets = [Values.of(game, recall, s.hidden, s.rate, seed + p) for p in range(2)]
        self._baseline = Baseline.of_both(game, recall, s.hidden, s.rate, seed + 2)
        self._average = Settled.of(game, recall, s.average_hidden, s.rate, seed + 3)
        self._strategies = Means(Experience.blank(s.room, self.games.size, game.actions))
        self.iterations, self.metrics, self._unit = 0, dict[str, float](), Unit(game)

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_games, Regrets())

    def mind(self) -> Regrets:
        """Return how both players move now."""
        return Regrets(self._regrets if self.iterations else None)

    def iterate(self) -> None:
        s, begun, nodes, losses = self.settings, time.perf_counter(), 0, {}
        rng = np.random.default_rng([self.seed, self.iterations])
        sampling = 0.0
        for player in (0, 1):
            start = time.perf_counter()
            d = self._unit.of(self.games.run(s.traversals, self.mind(), 2 * self.iterations + player, player, s.explore))
            gains = self._gains(d, player)
            sampling += time.perf_counter() - start
            nodes += len(d.move)
            losses[f"loss_{player}"] = self._learn_regrets(d, gains, player, rng)
            self._remember(d, 1 - player, rng)
            if s.baseline_steps:
                losses[f"baseline_loss_{player}"] = self._baseline.learn(d, self.iterations > 0, s.baseline_steps, rng)
        losses["average_loss"] = float(np.mean([self._average.step(self._strategies.draw(BATCH, rng)) for _ in range(s.average_steps)]))
        self.iterations += 1
        spent = time.perf_counter() - begun
        self.metrics = {
            "loss": losses["loss_0"] + losses["loss_1"], **losses, "information_states": self._strategies.held,
            "nodes_per_second": nodes / sampling, "sampling_share": sampling / spent,
        }  # fmt: skip

    def _gains(self, d: Decisions, player: int) -> Reals:
        guess = self._baseline.guess(d) if self.settings.baseline_steps and self.iterations else np.zeros(d.legal.shape, np.float32)
        values, gains = np.zeros(len(d.move)), np.zeros(d.legal.shape)
        pass_back(d, guess, 1.0 if player == 0 else -1.0, values, gains)
        return gains

    def _learn_regrets(self, d: Decisions, gains: Reals, player: int, rng: np.random.Generator) -> float:
        s, own = self.settings, np.flatnonzero(d.player == player)
        groups = group(d.key[own], gains[own])
        at = own[groups.first]
        old = np.maximum(self._regrets[player](d.rows(at)), 0.0) if self.iterations else 0.0
        kept = self.iterations**s.alpha / (self.iterations**s.alpha + 1.5) if self.iterations else 0.0
        weight = groups.size[:, None] * d.legal[at]
        return self._regrets[player].fit(d.rows(at), (old * kept + groups.mean).astype(np.float32), weight, s.steps, rng)

    def _remember(self, d: Decisions, player: int, rng: np.random.Generator) -> None:
        """Add the strategy of the player who did not explore to its average."""
        s = self.settings
        strategies, weights = d.strategies_of(player, float(s.divide_sampling))
        self._strategies.add(strategies, weights + s.gamma * np.log(self.iterations + 1), rng)

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._average.policy(self.game, self.recall, facts)

    def save(self) -> Arrays:
        parts = [self._regrets[0].save("regrets0."), self._regrets[1].save("regrets1."), self._baseline.save("baseline.")]
        held: Arrays = {**self._unit.save(), **self._average.save("average."), **self._strategies.save("strategies.")}
        for part in parts:
            held |= part
        return held

    def restore(self, arrays: Arrays, iterations: int) -> None:
        for p in range(2):
            self._regrets[p].restore(arrays, f"regrets{p}.")
        self._baseline.restore(arrays, "baseline.")
        self._average.restore(arrays, "average.")
        self._strategies.restore(arrays, "strategies.")
        self._unit.restore(arrays)
        self.iterations = iterations
