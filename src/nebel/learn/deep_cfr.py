"""Deep CFR: networks learn the gains of all iterations from a memory of samples; the average strategy is learned, or drawn from them all.

Brown, Lerer, Gross, Sandholm. Deep Counterfactual Regret Minimization. 2019, with external sampling
Chen, Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep Counterfactual Regret Minimization,
with outcome sampling
Steinberger. Single Deep Counterfactual Regret Minimization. 2019, for `--average nets`

Where it departs, with outcome sampling: chances of chance and of the other cancel and are never formed. What is left of the traverser's own
is a weight (its earlier moves), kept as a logarithm, and the value's factor (its later moves), which is 1 where it explores but once.
`--estimate paper` is the second paper's own: values over the chance of the whole game, weights of what came before and after, both cut off.
Samples are summed up by information state (`learn/tallies.py`), or held and drawn by their weights (`learn/memory.py`), instead of weighing
the loss; `--memory reservoir` weighs the loss.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import Game
from nebel.core.rule import kernel
from nebel.core.settings import Settings, setting
from nebel.learn.memory import Arrays, Experience, Lessons, LossWeighted, Weighted
from nebel.learn.nets import Settled, Values
from nebel.learn.spread import Regrets, Spread, follow_all, play_games
from nebel.learn.tallies import Means
from nebel.learn.traverse import Decisions, Reals, most_decisions, pass_back
from nebel.learn.unit import Unit
from nebel.learn.workers import Workers
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.pieces import OUTPUTS, pieces_of

LOW, HIGH = -6 * math.log(10), 6 * math.log(10)
"""Where the paper on Geister cuts values and weights off, as logarithms; and where weights that multiply the loss are, in all methods."""


@dataclass(frozen=True)
class RegretSettings(Settings):
    """What all methods with memories of gains share."""

    traversals: int = setting(3000, "of each player, in an iteration", low=1)
    hidden: str = setting("64-64-64", "the networks: sizes of hidden layers, such as conv:16-32/64-64, or a paper's: geister-deep-cfr,"
                          " geister-dream")  # fmt: skip
    outputs: str = setting("moves", "what networks have an output for: each move, or each direction of each of the player's pieces, as in"
                           " the paper on Geister (pieces)", choices=OUTPUTS)  # fmt: skip
    steps: int = setting(100, "of gradient descent for a player's gains, in an iteration", low=1)
    batch: int = setting(512, "samples in a step", low=1)
    rate: float = setting(1e-3, "of Adam", low=1e-8, high=1.0)
    fresh: bool = setting(False, "networks for gains begin anew in every iteration")
    memory: str = setting("sums", "remember sums by information state (sums), samples that are held and drawn by their weights (samples),"
                          " or samples that are held and drawn alike, whose weights multiply the loss (reservoir)",
                          choices=("sums", "samples", "reservoir"))  # fmt: skip
    room: int = setting(200_000, "samples, or information states, that each memory holds", low=1)
    average: str = setting("net", "the average strategy: learned by a network (net), or the network of an iteration drawn for a whole game"
                           " (nets)", choices=("net", "nets"))  # fmt: skip
    temper: float = setting(1.0, "samples count by one over the odds of the traverser's earlier moves to this power: 1 is exact; in long"
                            " games a few samples then outweigh all others, and 0 lets all count alike", low=0.0, high=1.0)  # fmt: skip
    average_steps: int = setting(50, "steps of gradient descent for the average strategy, each time that its network is trained", low=1)
    average_every: int = setting(1, "iterations from one training of the average strategy's network to the next", low=1)
    clip: float = setting(1.0, "gradients are no longer than this", low=0.0)


@dataclass(frozen=True)
class DeepCfrSettings(RegretSettings):
    """How gains are sampled and learned."""

    sampling: str = setting("external", "follow every move of the traverser (external), or one (outcome)", choices=("external", "outcome"))
    estimate: str = setting("once", "of outcome sampling: the traverser explores once (once), always (always), or always as in the paper on"
                            " Geister, cut off (paper)", choices=("once", "always", "paper"))  # fmt: skip
    explore: float = setting(0.6, "of outcome sampling: how often the traverser moves at random", low=1e-3, high=1.0)


@kernel
def gains_of_paper(d: Decisions, traverser: int, before: Any, whole: Any, tail: Any, gains: Any, low: float, high: float) -> None:
    """Algorithm 2 of the paper on Geister: `gains` are values over the chance of the whole game as it was sampled, `before` logarithms of
    the weights, reach of the other times that of what came after; cut off."""
    for r in range(d.move.size):  # logarithms of what the other, and of what sampling did before
        if d.then[r] >= 0:
            before[d.then[r]] = before[r] + (np.log(d.share[r, d.move[r]]) if d.player[r] != traverser else 0.0)
            whole[d.then[r]] = whole[r] + np.log(d.odds[r])
    for r in range(d.move.size - 1, -1, -1):
        then = d.then[r]
        if then >= 0:
            whole[r], tail[r] = whole[then], tail[then] + np.log(max(d.share[then, d.move[then]], 1e-300))
            d.score[r] = d.score[then]
        else:
            whole[r] += np.log(d.odds[r])
        sign = 1.0 if traverser == 0 else -1.0
        value = sign * d.score[r] * np.exp(min(-whole[r], high))
        value = min(max(value, -np.exp(high)), np.exp(high))
        a = d.move[r]
        for i in range(d.legal.shape[1]):
            if d.legal[r, i]:
                gains[r, i] = value * ((1.0 if i == a else 0.0) - d.share[r, a])
    for r in range(d.move.size):
        before[r] = min(max(before[r] + tail[r], low), high)


@kernel
def weights_of_paper(d: Decisions, traverser: int, before: Any) -> None:
    """Algorithm 2 of the paper on Geister, for strategies: `before` becomes logarithms of pi_-i / pi_sample. The opponent does not explore,
    so that is one over the odds of the traverser's earlier moves."""
    for r in range(d.move.size):
        if d.then[r] >= 0:
            before[d.then[r]] = before[r] - (np.log(d.odds[r]) if d.player[r] == traverser else 0.0)


class Samples(NamedTuple):
    """What a player's traversals gave: its own gains, and the opponent's strategies, each with the logarithms of their weights."""

    gains: Lessons
    gain_weights: Reals
    strategies: Experience
    strategy_weights: Reals


class Even:
    """Takes the place of a network that has learned nothing: all moves have the same gain."""

    def __init__(self, actions: int) -> None:
        self.actions = actions

    def __call__(self, rows: Any) -> Any:
        return np.ones((len(rows), self.actions), np.float32)


MEMORIES = {"sums": Means, "samples": Weighted, "reservoir": LossWeighted}


class RegretLearner:
    """Networks for the gains of both players, memories, and the average strategy; methods say how samples are made (`sample`)."""

    def __init__(self, game: Game, recall: str, settings: Any, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s, self.games = settings, Spread(game, recall, seed, workers)
        size = self.games.size
        self._gains = [self._net(p) for p in range(2)]
        kind: Any = MEMORIES[s.memory]
        self._memory = [kind(Lessons.blank(s.room, size, game.actions)) for _ in range(2)]
        # with --average nets no strategies are needed; other memories are filled all the same, for they take luck from the same generator
        self._averages = s.average == "net" or s.memory != "reservoir"
        self._strategies = kind(Experience.blank(s.room if self._averages else 1, size, game.actions))
        self._average = self._average_net()
        self._past: tuple[list[tuple[Layer, ...]], list[tuple[Layer, ...]]] = ([], [])
        self.iterations, self.metrics, self.nodes = 0, dict[str, float](), 0
        self.rounds = 0  # of traversals of one player or the other, this one included: what papers call an iteration
        self._unit = Unit(game)
        self._ahead: tuple[int, Settled] | None = None

    @property
    def cadence(self) -> int:
        """Iterations from one policy that is up to date to the next."""
        return self.settings.average_every if self.settings.average == "net" else 1

    def _net(self, player: int, iteration: int = 0) -> Values:
        s = self.settings
        return Values.of(self.game, self.recall, s.hidden, s.rate, self.seed + player + 10 * iteration, s.outputs)

    def _average_net(self) -> Settled:
        s = self.settings
        return Settled.of(self.game, self.recall, s.hidden, s.rate, self.seed + 3, s.outputs)

    def mind(self) -> Regrets:
        """How both players move now. As papers with reservoirs have it, the second player's first samples are against the network that the
        first has just learned; with other memories all moves of the first iteration are even."""
        if not self.iterations and self.rounds == 2 and self.settings.memory == "reservoir":
            return Regrets([self._gains[0], Even(self.game.actions)])
        return Regrets(self._gains if self.iterations else None)

    def sample(self, player: int, stream: int) -> Samples:
        """Traverse the game for `player`."""
        raise NotImplementedError

    def gather(self, player: int, stream: int, rng: np.random.Generator) -> None:
        """Sample, and remember."""
        found = self.sample(player, stream)
        self._remember(self._memory[player], found.gains, found.gain_weights, rng)
        if self._averages:
            self._remember(self._strategies, found.strategies, found.strategy_weights, rng)

    def _remember(self, memory: Any, new: Lessons | Experience, weights: Reals, rng: np.random.Generator) -> None:
        """Add samples with logarithms of their weights; what is later counts more."""
        weights = self.settings.temper * weights
        if isinstance(memory, LossWeighted):
            weights = np.clip(weights, LOW, HIGH)
        memory.add(new, weights + math.log(self.iterations + 1), rng)

    def fit(self, net: Values | Settled, memory: Any, steps: int, clip: float, rng: np.random.Generator) -> float:
        """Return the mean loss of so many steps, with gradients no longer than `clip`, or than the setting where weights multiply the loss:
        those are divided by the number of rounds."""
        s, losses = self.settings, []
        for _ in range(steps):
            if isinstance(memory, LossWeighted):
                rows, weights = memory.draw_weighted(s.batch, rng, 1.0 / self.rounds)
                losses.append(net.step(rows, s.clip, weights))
            else:
                losses.append(net.step(memory.draw(s.batch, rng), clip))
        return float(np.mean(losses))

    def extra(self, player: int, rng: np.random.Generator) -> dict[str, float]:
        """What else a method learns from the player's samples; its losses."""
        return {}

    def iterate(self) -> None:
        s, begun, sampling, losses = self.settings, time.perf_counter(), 0.0, dict[str, float]()
        rng = np.random.default_rng([self.seed, self.iterations])
        self.nodes = 0
        for player in (0, 1):
            start = time.perf_counter()
            self.rounds = 2 * self.iterations + player + 1
            self.gather(player, 2 * self.iterations + player, rng)
            sampling += time.perf_counter() - start
            losses |= self.extra(player, rng)
            net = self._net(player, self.iterations) if s.fresh else self._gains[player]
            losses[f"loss_{player}"] = self.fit(net, self._memory[player], s.steps, s.clip, rng)
            self._gains[player] = net  # the next player samples against it: players alternate
        if s.average == "nets":
            for player in (0, 1):
                self._past[player].append(self._gains[player].layers())
        elif (self.iterations + 1) % s.average_every == 0:
            losses["average_loss"] = self.fit(self._average, self._strategies, s.average_steps, 0.0, rng)
        self.iterations += 1
        spent = time.perf_counter() - begun
        self.metrics = {
            "loss": losses["loss_0"] + losses["loss_1"], **losses, "samples": self._memory[0].held + self._memory[1].held,
            "effective_samples": self._memory[0].effective() + self._memory[1].effective(),
            "nodes_per_second": self.nodes / sampling, "sampling_share": sampling / spent,
        }  # fmt: skip

    def _up_to_date(self) -> Settled:
        """Return the network of the average strategy. Between two trainings that is a copy, trained on what is remembered now."""
        s = self.settings
        if not self.iterations % s.average_every:
            return self._average
        if self._ahead is None or self._ahead[0] != self.iterations:
            ahead = self._average_net()
            ahead.restore(self._average.save())
            self.fit(ahead, self._strategies, s.average_steps, 0.0, np.random.default_rng([self.seed, self.iterations, 1]))
            self._ahead = self.iterations, ahead
        return self._ahead[1]

    def policy(self, facts: dict[str, Any]) -> NetPolicy | NetsPolicy:
        if self.settings.average == "net" or not self.iterations:
            return self._up_to_date().policy(self.game, self.recall, facts)
        stacked = [
            tuple(
                Layer(np.stack([layer.weights for layer in same]), np.stack([layer.biases for layer in same]), *same[0].kind)
                for same in zip(*self._past[p], strict=True)
            )
            for p in range(2)
        ]
        pieces = pieces_of(self.game, self.settings.outputs)
        weights = np.arange(1.0, self.iterations + 1)  # the strategy of network t is that of iteration t + 1
        return NetsPolicy(self.game.string, self.game.fingerprint, self.recall, (stacked[0], stacked[1]), (weights, weights), facts, pieces)

    def save(self) -> Arrays:
        held: Arrays = {**self._unit.save(), **self._average.save("average."), **self._strategies.save("strategies.")}
        for p in range(2):
            held |= self._gains[p].save(f"gains{p}.") | self._memory[p].save(f"memory{p}.")
            for t, layers in enumerate(self._past[p]):
                for i, layer in enumerate(layers):
                    held |= {f"past{p}.{t}.{i}.weights": layer.weights, f"past{p}.{t}.{i}.biases": layer.biases}
        return held

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self._unit.restore(arrays)
        self.iterations, self.rounds = iterations, 2 * iterations
        self._average.restore(arrays, "average.")
        self._strategies.restore(arrays, "strategies.")
        for p in range(2):
            self._gains[p].restore(arrays, f"gains{p}.")
            self._memory[p].restore(arrays, f"memory{p}.")
            kinds = self._gains[p].layers()
            self._past[p][:] = [
                tuple(
                    kind._replace(weights=arrays[f"past{p}.{t}.{i}.weights"], biases=arrays[f"past{p}.{t}.{i}.biases"])
                    for i, kind in enumerate(kinds)
                )
                for t in range(iterations if self.settings.average == "nets" else 0)
            ]


class DeepCfr(RegretLearner):
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: DeepCfrSettings, seed: int, workers: Workers) -> None:
        super().__init__(game, recall, settings, seed, workers)
        self._length = 4

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(follow_all if self.settings.sampling == "external" else play_games, self.mind())

    def sample(self, player: int, stream: int) -> Samples:
        return self._follow_all(player, stream) if self.settings.sampling == "external" else self._follow_one(player, stream)

    def _follow_all(self, player: int, stream: int) -> Samples:
        parts = self.games.follow_all(self.settings.traversals, self.mind(), stream, player)
        who, row, legal, share, gains = (np.concatenate(column) for column in zip(*parts, strict=True))
        self.nodes += len(who)
        own, other = who == player, who != player
        lessons = Lessons(row[own], self._unit.scaled(gains)[own].astype(np.float32), legal[own])
        strategies = Experience(row[other], share[other], legal[other])  # the traverser makes every move: nothing to divide out
        return Samples(lessons, np.zeros(len(lessons.rows)), strategies, np.zeros(len(strategies.rows)))

    def _follow_one(self, player: int, stream: int) -> Samples:
        s = self.settings
        d = self._unit.of(self.games.run(s.traversals, self.mind(), stream, player, s.explore, self._length if s.estimate == "once" else 0))
        self.nodes += len(d.move)
        own = np.flatnonzero(d.player == player)
        gains, weights = np.zeros(d.legal.shape), -d.reach
        if s.estimate == "paper":
            weights = np.zeros(len(d.move))
            gains_of_paper(d, player, weights, np.zeros(len(d.move)), np.zeros(len(d.move)), gains, LOW, HIGH)
        else:
            pass_back(d, np.zeros(d.legal.shape, np.float32), 1.0 if player == 0 else -1.0, np.zeros(len(d.move)), gains)
        if s.estimate == "once":
            self._length = max(self._length, most_decisions(d, player, np.zeros(len(d.move), np.int64)))
            own = own[d.probe[own]]
        lessons = Lessons(d.rows(own), gains[own].astype(np.float32), d.legal[own])
        strategies, strategy_weights = d.strategies_of(1 - player)
        if s.estimate == "paper" and s.memory == "reservoir":
            before = np.zeros(len(d.move))
            weights_of_paper(d, player, before)
            strategy_weights = before[d.player != player]
        return Samples(lessons, weights[own], strategies, strategy_weights)

    def save(self) -> Arrays:
        return {**super().save(), "length": np.array([self._length])}

    def restore(self, arrays: Arrays, iterations: int) -> None:
        super().restore(arrays, iterations)
        self._length = int(arrays["length"][0])
