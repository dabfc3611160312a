"""Damped MMD-PPO: proximal policy optimisation of both players against each other, held back by a magnet so that the last iterate settles.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown, Kroer. A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games. 2023, for magnetic mirror descent
Schulman, Wolski, Dhariwal, Radford, Klimov. Proximal Policy Optimization Algorithms. 2017
Rudolph and others. Reevaluating Policy Gradient Methods for Imperfect-Information Games. 2025, for how well this does

Where it departs: decisions in the same information state are one, with the mean of their gains; the critic sees what both players know;
advantages are measured in units of the largest size that they had, so that one strength of the magnets serves all games (in units of what
they are now, play that is settled would be drawn to nothing); there are two of them, even play and the mean of one's own past weights,
which is the policy that is kept; rate and evenness weaken, and damping grows, by the root of time, without an end that has to be known.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import Game
from nebel.core.rule import kernel
from nebel.core.settings import Settings, setting
from nebel.learn.memory import Arrays
from nebel.learn.nets import Dense, Net, log_shares, read_shape, shares_of_logits, torch
from nebel.learn.rivals import Among, Frozen
from nebel.learn.spread import Plain, Segment, Spread, play_on
from nebel.learn.tallies import Tallies, group, row_keys
from nebel.learn.traverse import NOBODY, OVER, Decisions, Floats, Longs, Reals
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy, encoding_of

LEAST = 0.2
"""What was not foreseen of a move counts as if the move were made at least so often."""


@dataclass(frozen=True)
class MmdPpoSettings(Settings):
    """How games are played, and how the policy follows what they teach."""

    boards: int = setting(1024, "games that go on side by side", low=1)
    plies: int = setting(32, "decisions on each of them, in an iteration", low=1)
    hidden: str = setting("128-128", "the policy: sizes of hidden layers, or such as conv:16-32/64-64")
    critic: str = setting("128-128", "sizes of the critic's hidden layers")
    rates: str = setting("positions", "what the critic rates: positions (policy gradient), or moves, so that all of them are learned"
                         " from, and those alike that are seldom made (replicator dynamics)", choices=("positions", "moves"))  # fmt: skip
    rate: float = setting(1e-3, "of Adam at the beginning", low=1e-8, high=1.0)
    batch: int = setting(2048, "decisions in a step of gradient descent", low=1)
    epochs: int = setting(1, "times that an iteration's decisions are gone through", low=1)
    clip: float = setting(0.2, "the odds of a move may change by this share in an iteration before it stops counting", low=0.0)
    damp: float = setting(0.05, "how strongly the policy is held to that of the iteration before (Kullback-Leibler), at first", low=0.0)
    magnet: float = setting(0.2, "how strongly it is drawn to the mean of its past, at the beginning", low=0.0)
    even: float = setting(0.05, "how strongly it is drawn to even play, at the beginning", low=0.0)
    settling: float = setting(50.0, "rate and evenness weaken, and damping grows: after so many iterations by a factor of 1.4,"
                              " after k times as many by the root of k + 1 (0: they do not)", low=0.0)  # fmt: skip
    trace: float = setting(0.95, "lambda: how far an outcome is passed back by itself, before the critic's word counts", low=0.0, high=1.0)
    mean: float = setting(0.98, "how much of the mean of weights stays from iteration to iteration", low=0.0, high=0.99999)
    keep: str = setting("weights", "the policy that is kept: the mean of weights (weights), or a network that learns the mean of all"
                        " strategies, later ones counting more (strategies)", choices=("weights", "strategies"))  # fmt: skip
    keep_steps: int = setting(10, "of gradient descent for the mean of strategies, in an iteration", low=1)
    room: int = setting(500_000, "information states that the mean of strategies is summed up for", low=1)
    limit: float = setting(1.0, "gradients are no longer than this", low=0.0)
    sharpen: float = setting(1.0, "odds of moves of the policy that is kept are raised to this power", low=0.0)


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


def centred(gains: Reals, legal: Any) -> Reals:
    """Over the mean of the legal moves; 0 of the others. Then all moves learn alike, however seldom they are made (replicator dynamics)."""
    gains = gains * legal
    found: Reals = legal * (gains - (gains.sum(axis=1) / legal.sum(axis=1))[:, None])
    return found


class Logits(Plain):
    """Moves as a network for policies has them."""

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
    keys: Longs
    rows: Floats
    legal: Any
    share: Floats
    gains: Floats
    weight: Floats


class MmdPpo:
    """`iterations` so far; `metrics` of the last one. Seats of rivals do not learn."""

    def __init__(
        self, game: Game, recall: str, settings: MmdPpoSettings, seed: int, workers: Workers, rivals: Mapping[int, Frozen] = NOBODY
    ) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s = settings
        self.games = Among(game, recall, s.boards, rivals, seed) if rivals else Spread(game, recall, seed, workers)
        self.rivals, self._told = rivals, encoding_of(game, recall).size
        self._policy, self._mean = (Dense.of(game, recall, s.hidden, s.rate, seed) for _ in range(2))
        outputs = game.actions if s.rates == "moves" else 1
        self._critic = Net(2 * self.games.size + 1, read_shape(s.critic), outputs, s.rate, seed + 1)
        self._kept, self._tallies = self._mean, None
        if s.keep == "strategies":
            self._kept, self._tallies = Dense.of(game, recall, s.hidden, 1e-3, seed + 2), Tallies(s.room, self._told, game.actions)
        self.iterations, self.metrics = 0, dict[str, float]()
        self._scale, self._size = game.most if np.isfinite(game.most) else 0.0, 0.0

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
        self._scale = self._scale or float(np.abs(d.score[d.then == OVER]).max(initial=1e-9))
        own = np.flatnonzero(~np.isin(d.player, list(self.rivals)))
        lesson = self._lesson(found, own, weaker)
        for net in (self._policy, self._critic):
            net.pace(s.rate * weaker)
        steps = s.epochs * max(1, len(own) // s.batch)
        policies, critics = (batch(count, steps, s.batch, rng) for count in (len(lesson.rows), len(own)))
        losses = [self._learn(d.move[own], lesson, *at, weaker=weaker) for at in zip(policies, critics, strict=True)]
        if self._tallies:
            self._keep(self._tallies, lesson, rng)
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

    def _lesson(self, found: Segment, own: Longs, weaker: float) -> Lesson:
        d, ahead, size, s = found.decisions, found.ahead, self.games.size, self.settings
        table, at = d.table(), np.arange(len(d.move))
        rated, after = self._critic(table), self._critic(ahead)[:, 0].astype(float)
        if s.rates == "moves":
            worth, turn = np.sum(d.share * rated, axis=1).astype(float), ahead[:, -1:] == 1
            mover = np.where(turn, ahead[:, size : size + self._told], ahead[:, : self._told])
            after = np.sum(shares_of_logits(self._policy(mover), found.legal) * self._critic(ahead), axis=1)
            gains, odds = rated.astype(float), np.maximum(d.share[at, d.move], LEAST)
        else:
            worth, gains, odds = rated[:, 0].astype(float), np.zeros(d.legal.shape), np.ones(len(at))
        target, surprise = np.zeros(len(worth)), np.zeros(len(worth))
        look_back(d._replace(score=d.score / self._scale), worth, after, s.trace, target, surprise)
        gains[at, d.move] += (target - gains[at, d.move] if s.rates == "moves" else surprise) / odds  # what the critic did not say of it
        gains *= np.where(d.player == 0, 1.0, -1.0)[:, None]
        off = float(np.sqrt(np.mean(surprise[own] ** 2))) if len(own) else 0.0
        self._size = max(self._size, off)
        rows = d.rows(own, self._told)
        groups = group(row_keys(rows), gains[own] / max(self._size, 1e-9))
        one = own[groups.first]
        legal, share, mean = d.legal[one], d.share[one], groups.mean
        if s.rates == "moves":
            mean = centred(mean - s.even * weaker * np.log(np.maximum(share, 1e-9)), legal)
        return Lesson(
            table[own], target[own].astype(np.float32), off, groups.key, rows[groups.first], legal, share,
            mean.astype(np.float32), (groups.size / groups.size.mean()).astype(np.float32),
        )  # fmt: skip

    def _learn(self, moves: Longs, lesson: Lesson, at: Any, critics: Any, *, weaker: float) -> tuple[float, ...]:
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
        even = s.even * weaker * spread if s.rates == "positions" else 0.0  # of moves it is part of their gains
        loss = torch.mean(weight * (s.damp / weaker * drift + s.magnet * pulled - even - better))
        lost = self._policy.descend(loss, s.limit)
        said = self._critic.net(torch.from_numpy(lesson.table[critics]))
        which = torch.from_numpy(moves[critics])[:, None] if s.rates == "moves" else torch.zeros((len(critics), 1), dtype=torch.int64)
        off = torch.mean((said.gather(1, which)[:, 0] - torch.from_numpy(lesson.target[critics])) ** 2)
        return lost, self._critic.descend(off, s.limit), float(spread.mean().detach()), float(drift.mean().detach())

    def _keep(self, tallies: Tallies, lesson: Lesson, rng: np.random.Generator) -> None:
        """Strategies count as often as they came to an information state, and the more the later."""
        late = (self.iterations + 1.0) ** 2
        tallies.add(lesson.keys, lesson.rows, lesson.legal, late * lesson.weight[:, None] * lesson.share, rng)
        for _ in range(self.settings.keep_steps):
            self._kept.step(tallies.draw(self.settings.batch, rng))

    def shares(self, player: int, rows: Floats, legal: Any) -> Reals:
        """How the policy that is kept plays, in step."""
        return shares_of_logits(self._kept(rows), legal)

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._kept.policy(self.game, self.recall, facts).sharpened(self.settings.sharpen)

    def save(self) -> Arrays:
        held: Arrays = {"sizes": np.array([self._size, self._scale]), **self.games.save()}
        if self._tallies:
            held |= self._tallies.save("tallies.")
        return {name: array for key, net in self._nets().items() for name, array in net.save(key).items()} | held

    def _nets(self) -> dict[str, Net]:
        nets: dict[str, Net] = {"policy.": self._policy, "mean.": self._mean, "critic.": self._critic}
        return nets | ({"kept.": self._kept} if self._tallies else {})

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self.games.restore(arrays)
        for name, net in self._nets().items():
            net.restore(arrays, name)
        if self._tallies:
            self._tallies.restore(arrays, "tallies.")
        self._size, self._scale = arrays["sizes"].tolist()
        self.iterations = iterations
