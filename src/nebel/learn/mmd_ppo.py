"""Damped MMD-PPO: proximal policy optimisation of both players against each other, held back by a magnet so that the last iterate settles.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer. A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games. 2023, for magnetic mirror descent
Schulman, Wolski, Dhariwal, Radford, Klimov. Proximal Policy Optimization Algorithms. 2017
Rudolph and others. Reevaluating Policy Gradient Methods for Imperfect-Information Games. 2025, for how well this does

Where it departs: decisions in the same information state are one, with the mean of their gains; the critic sees what both players know;
advantages are measured in units of the largest size that they had, so that one strength of the magnets serves all games (in units of what
they are now, play that is settled would be drawn to nothing); there are two of them, even play and the mean of one's own past weights,
which is the policy that is kept; rate and evenness weaken, and damping grows, by the root of time, without an end that has to be known.
`--step closed` takes the same step in closed form instead (`learn/mirror.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import Game
from nebel.core.rule import kernel
from nebel.core.settings import Settings, flag_of, setting
from nebel.learn.memory import Arrays
from nebel.learn.nets import Dense, Net, log_shares, read_shape, shares_of_logits, torch
from nebel.learn.rivals import Among, Frozen
from nebel.learn.spread import Plain, Segment, Spread, play_on
from nebel.learn.tallies import group, row_keys
from nebel.learn.traverse import NOBODY, OVER, Decisions, Floats, Longs, Reals
from nebel.learn.unit import Unit
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy, encoding_of
from nebel.policy.pieces import OUTPUTS

STEPS = ("gradient", "closed")
"""How the policy follows. Settings of one of them alone say so before a colon."""


@dataclass(frozen=True)
class MmdPpoSettings(Settings):
    """How games are played, and how the policy follows what they teach."""

    step: str = setting("gradient", "how the policy follows: by PPO (gradient), or by the closed form of a step of magnetic mirror descent"
                        " on means by information state (closed)", choices=STEPS)  # fmt: skip
    boards: int = setting(1024, "gradient: games that go on side by side", low=1)
    plies: int = setting(32, "gradient: decisions on each of them, in an iteration", low=1)
    games: int = setting(2500, "closed: games in which a player explores, in an iteration", low=1)
    hidden: str = setting("128-128", "the policy: sizes of hidden layers, or such as conv:16-32/64-64")
    outputs: str = setting("moves", "what the policy has an output for: each move, or each direction of each of the player's pieces"
                           " (pieces)", choices=OUTPUTS)  # fmt: skip
    critic: str = setting("128-128", "sizes of the critic's hidden layers")
    rate: float = setting(1e-3, "of Adam at the beginning", low=1e-8, high=1.0)
    batch: int = setting(2048, "decisions, or information states, in a step of gradient descent", low=1)
    even: float = setting(0.05, "how strongly the policy is drawn to even play, at the beginning", low=0.0)
    settling: float = setting(50.0, "rate and evenness weaken, and damping grows: after so many iterations by a factor of 1.4,"
                              " after k times as many by the root of k + 1 (0: they do not)", low=0.0)  # fmt: skip
    trace: float = setting(0.95, "gradient: lambda, how far an outcome is passed back by itself, before the critic's word counts",
                           low=0.0, high=1.0)  # fmt: skip
    epochs: int = setting(1, "gradient: times that an iteration's decisions are gone through", low=1)
    clip: float = setting(0.2, "gradient: the odds of a move may change by this share in an iteration before it stops counting", low=0.0)
    damp: float = setting(0.05, "gradient: how strongly the policy is held to that of the iteration before (Kullback-Leibler), at first",
                          low=0.0)  # fmt: skip
    magnet: float = setting(0.2, "gradient: how strongly it is drawn to the mean of its past", low=0.0)
    mean: float = setting(0.98, "gradient: how much of the mean of weights stays from iteration to iteration", low=0.0, high=0.99999)
    explore: float = setting(0.5, "closed: how often the player who explores moves at random", low=1e-3, high=1.0)
    late: float = setting(2.0, "closed: what was gained in iteration t counts t to this power", low=0.0)
    steps: int = setting(15, "closed: of gradient descent of each network, after each player's games", low=1)
    room: int = setting(500_000, "closed: information states that means are kept of", low=1)
    limit: float = setting(1.0, "gradient: gradients are no longer than this", low=0.0)
    sharpen: float = setting(1.0, "odds of moves of the policy that is kept are raised to this power", low=0.0)

    def __post_init__(self) -> None:
        """What belongs to the other step would be without effect."""
        super().__post_init__()
        for field in fields(self):
            belongs, colon, _ = field.metadata["help"].partition(": ")
            if colon and belongs in STEPS and belongs != self.step and getattr(self, field.name) != field.default:
                raise BadSetting(f"{flag_of(field.name)} belongs to --step {belongs}, and the step is {self.step}; leave one of them out")


def batch(count: int, steps: int, size: int, rng: np.random.Generator) -> list[Longs]:
    """For so many steps: all of `count` if they are no more than `size`, else as many, until all had their turn and begin anew."""
    if count <= size:
        return [np.arange(count)] * steps
    rounds = np.concatenate([rng.permutation(count) for _ in range(-(-steps * size // count))])
    return [rounds[k * size : (k + 1) * size] for k in range(steps)]


@kernel
def look_back(d: Decisions, worth: Any, ahead: Any, trace: float, target: Any, surprise: Any) -> None:
    """From the last decision to the first: by how much the game went better for player 0 than the critic thought (`surprise`), and what the
    critic should have said (`target`)."""
    for r in range(d.move.size - 1, -1, -1):
        then = d.then[r]
        if then == OVER:
            target[r] = d.score[r]
        elif then < OVER:
            target[r] = ahead[OVER - 1 - then]
        else:
            target[r] = (1.0 - trace) * worth[then] + trace * target[then]
        surprise[r] = target[r] - worth[r]


class Logits(Plain):
    """Moves as a network for policies has them."""

    alike = True

    def __init__(self, net: Dense) -> None:
        self.net = net

    def __call__(self, player: int, rows: Floats, legal: Any) -> Reals:
        return shares_of_logits(self.net(rows), legal)


class Lesson(NamedTuple):
    """What an iteration's decisions teach the critic, by decision, and the policy, by information state: `gains` of moves, those that were
    made as often as they were, in the player's own interest; `weight` is how often the state was met."""

    table: Floats  # what both knew
    target: Floats  # what the critic should have said
    surprise: float  # how far off it was
    rows: Floats
    legal: Any
    share: Floats
    gains: Floats
    weight: Floats


class MmdPpo:
    """`iterations` so far; `metrics` of the last one. Seats of rivals do not learn."""

    cadence = 1

    def __init__(
        self, game: Game, recall: str, settings: MmdPpoSettings, seed: int, workers: Workers, rivals: Mapping[int, Frozen] = NOBODY
    ) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s = settings
        self.games = Among(game, recall, s.boards, rivals, seed) if rivals else Spread(game, recall, seed, workers)
        self.rivals, self._told = rivals, encoding_of(game, recall).size
        self._policy, self._mean = (Dense.of(game, recall, s.hidden, s.rate, seed, s.outputs) for _ in range(2))
        self._critic = Net(2 * self.games.size + 1, read_shape(s.critic), 1, s.rate, seed + 1)
        self.iterations, self.metrics = 0, dict[str, float]()
        self._unit, self._size = Unit(game), 0.0

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_on, Logits(self._policy), plies=2)

    def iterate(self) -> None:
        s, begun = self.settings, time.perf_counter()
        weaker = (1.0 + self.iterations / s.settling) ** -0.5 if s.settling else 1.0
        rng = np.random.default_rng([self.seed, self.iterations])
        found = self.games.segment(s.boards, s.plies, Logits(self._policy), self.iterations)
        d = found.decisions
        played = time.perf_counter()
        own = np.flatnonzero(~np.isin(d.player, list(self.rivals)))
        lesson = self._lesson(found, own)
        for net in (self._policy, self._critic):
            net.pace(s.rate * weaker)
        steps = s.epochs * max(1, len(own) // s.batch)
        policies, critics = (batch(count, steps, s.batch, rng) for count in (len(lesson.rows), len(own)))
        losses = [self._learn(lesson, *at, weaker=weaker) for at in zip(policies, critics, strict=True)]
        self._mean.follow(self._policy, min(s.mean, (1 + self.iterations) / (10 + self.iterations)))
        self.iterations += 1
        loss, off, spread, drift = np.mean(losses, axis=0)
        over = d.then == OVER
        self.metrics = {
            "loss": float(loss), "critic_loss": float(off), "entropy": float(spread), "drift": float(drift),
            "surprise": lesson.surprise, "information_states": len(lesson.rows),
            "plies_a_game": len(d.move) / max(1, int(over.sum())), "decisions": self.iterations * s.boards * s.plies,
            "nodes_per_second": len(d.move) / (played - begun), "sampling_share": (played - begun) / (time.perf_counter() - begun),
        }  # fmt: skip

    def _lesson(self, found: Segment, own: Longs) -> Lesson:
        d, table, at = self._unit.of(found.decisions), found.decisions.table(), np.arange(len(found.decisions.move))
        worth, after = (self._critic(rows)[:, 0].astype(float) for rows in (table, found.ahead))
        target, surprise = np.zeros(len(worth)), np.zeros(len(worth))
        look_back(d, worth, after, self.settings.trace, target, surprise)
        gains = np.zeros(d.legal.shape)
        gains[at, d.move] = surprise * np.where(d.player == 0, 1.0, -1.0)
        off = float(np.sqrt(np.mean(surprise[own] ** 2))) if len(own) else 0.0
        self._size = max(self._size, off)
        rows = d.rows(own, self._told)
        groups = group(row_keys(rows), gains[own] / max(self._size, 1e-9))
        one = own[groups.first]
        return Lesson(
            table[own], target[own].astype(np.float32), off, rows[groups.first], d.legal[one], d.share[one],
            groups.mean.astype(np.float32), (groups.size / groups.size.mean()).astype(np.float32),
        )  # fmt: skip

    def _learn(self, lesson: Lesson, at: Any, critics: Any, *, weaker: float) -> tuple[float, ...]:
        """One step of the policy and of the critic."""
        s, rows = self.settings, lesson.rows[at]
        share, legal, gains, weight = (torch.from_numpy(each[at]) for each in (lesson.share, lesson.legal, lesson.gains, lesson.weight))
        logs = log_shares(self._policy.net(torch.from_numpy(rows)), legal)
        magnet = log_shares(torch.from_numpy(self._mean(rows)), legal)
        now = logs.exp() * legal
        before = torch.log(share.clamp_min(1e-12)) * legal
        ratio = torch.exp(logs - before) * legal
        better = torch.sum(torch.minimum(ratio * gains, ratio.clamp(1 - s.clip, 1 + s.clip) * gains), 1)
        spread = -torch.sum(now * logs, 1)
        drift = torch.sum(now * (logs - before), 1)
        pulled = torch.sum(now * (logs - magnet), 1)
        loss = torch.mean(weight * (s.damp / weaker * drift + s.magnet * pulled - s.even * weaker * spread - better))
        lost = self._policy.descend(loss, s.limit)
        said = self._critic.net(torch.from_numpy(lesson.table[critics]))
        off = torch.mean((said[:, 0] - torch.from_numpy(lesson.target[critics])) ** 2)
        return lost, self._critic.descend(off, s.limit), float(spread.mean().detach()), float(drift.mean().detach())

    def shares(self, player: int, rows: Floats, legal: Any) -> Reals:
        """How the policy that is kept plays, in step."""
        return shares_of_logits(self._mean(rows), legal)

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._mean.policy(self.game, self.recall, facts).sharpened(self.settings.sharpen)

    def save(self) -> Arrays:
        held: Arrays = {"size": np.array([self._size]), **self._unit.save(), **self.games.save()}
        return {name: array for key, net in self._nets().items() for name, array in net.save(key).items()} | held

    def _nets(self) -> dict[str, Net]:
        return {"policy.": self._policy, "mean.": self._mean, "critic.": self._critic}

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self.games.restore(arrays)
        for name, net in self._nets().items():
            net.restore(arrays, name)
        self._unit.restore(arrays)
        self._size, self.iterations = float(arrays["size"][0]), iterations
