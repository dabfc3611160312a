"""Simplified MCCFR: SIP inside of learning, so that what is learned fits the few moves that are kept.

Tapkan. Dark Hex: A Large Scale Imperfect Information Game. 2022 (SIP in section 4.6; putting it into MCCFR is its future work)

The thesis leaves open how. Here there are two learners, one for each player, and an iteration is one iteration of both. In
the learner of a player SIP simplifies that player's strategy every `sip_every` iterations: moves that it drops are never played again, and
have no part in the average. The opponent in that learner stays free, and so learns to answer the simple strategy with all
moves; if both players were simplified together, each would learn to beat an opponent that is too simple.

A move is dropped only where there is evidence against it: SIP drops a move of small probability, and here its regret must not be positive
either; information states without a move above the threshold are left alone. The average strategy that is judged and written is
simplified once more, so it always is as simple as was asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel
from nebel.core.tree import Tree
from nebel.policy.simplify import Simplify, simplify
from nebel.policy.table import Reals, TablePolicy
from nebel.solve.pool import width_at
from nebel.solve.run import Steady
from nebel.solve.sampled import Sampled
from nebel.solve.settings import SIP_ACTIONS, SIP_THRESHOLD, Sampling

DROPPED = -1e-300
"""Stands for the sum of a dropped move: less than 0, and nothing where sums are added up."""


@kernel
def drop(pool: Any, starts: Any, mine: Any, actions: int, threshold: float) -> None:
    """Drop moves for good in the rows that begin where `mine` says so.

    The likeliest move of the average strategy stays, and others stay if they are among the likeliest `actions` and either above the
    threshold or played now: their regret is positive. Rows without a move above the threshold stay as they are.
    """
    half = 0
    while half < starts.size - 1:
        if not starts[half]:  # before the first row
            half += 1
            continue
        n = width_at(starts, half)
        sums = 2 * half + n
        total, best = 0.0, 0.0
        for i in range(n):
            total += max(pool[sums + i], 0.0)
            best = max(best, pool[sums + i])
        if mine[half] and best > threshold * total:
            kept = np.zeros(n, np.bool_)
            for i in range(n):
                rank = 0
                for j in range(n):
                    rank += pool[sums + j] > pool[sums + i] or (pool[sums + j] == pool[sums + i] and j < i)
                kept[i] = rank == 0 or (rank < actions and (pool[sums + i] > threshold * total or pool[sums + i - n] > 0.0))
            for i in range(n):
                if not kept[i]:
                    pool[sums + i] = DROPPED
        half += n


class Simplified(Steady):
    """The solver: a learner for each player."""

    can_be_cut = True

    def __init__(self, game: Any, recall: str, tree: Tree | None, settings: Sampling, seed: int, memory: int, walked: float = 0.0) -> None:
        """Take what `Sampled` takes; each learner has half of the memory, and a seed of its own."""
        assert settings.sip_every is not None
        self.tree, self._every, self._stopped = tree, settings.sip_every, False
        threshold = SIP_THRESHOLD if settings.sip_threshold is None else settings.sip_threshold
        self._keep = Simplify(SIP_ACTIONS if settings.sip_actions is None else settings.sip_actions, threshold)
        self.iterations = 0
        self.learners = [Sampled(game, recall, tree, settings, 2 * seed + p, memory // 2, walked) for p in range(2)]

    @property
    def full(self) -> str:  # type: ignore[override]
        """Return why there is no room for more."""
        return self.learners[0].full or self.learners[1].full

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        for learner in self.learners:
            learner.prepare()

    def stop(self) -> None:
        """End a run that is under way in another thread."""
        self._stopped = True
        for learner in self.learners:
            learner.stop()

    def run(self, iterations: int) -> None:
        """Iterate; fewer times if `stop` is called or the tables are full."""
        self._stopped = self.cut = False
        end = self.iterations + iterations
        for player, learner in enumerate(self.learners):
            while learner.iterations < end and not (self._stopped or self.cut or learner.full):
                before = learner.iterations
                learner.run(min(end, before - before % self._every + self._every) - before)
                self.cut = learner.cut
                if learner.iterations > before and learner.iterations % self._every == 0:
                    drop(*learner.table_of(player), self._keep.actions, self._keep.threshold)
        self.iterations = min(learner.iterations for learner in self.learners)

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        """Return the average strategies, each of its own learner, as simple as was asked for."""
        first, second = (learner.policy(facts) for learner in self.learners)
        shares = [table._replace(share=np.maximum(table.share, 0.0)) for table in (first.shares[0], second.shares[1])]
        both = TablePolicy(first.game, first.fingerprint, first.recall, (shares[0], shares[1]), first.missing, facts)
        return simplify(both, self._keep)

    def strategies(self) -> tuple[Reals, Reals]:
        """Return the same on the tree, by table place."""
        assert self.tree is not None
        return self.policy({}).on_tree(self.tree).strategies

    def save(self) -> dict[str, NDArray[Any]]:
        """Return all that is learned, and how far each learner has come: a signal may stop one before the other."""
        arrays = {f"{p}_{name}": array for p, learner in enumerate(self.learners) for name, array in learner.save().items()}
        return arrays | {"iterations": np.array([learner.iterations for learner in self.learners])}

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        """Bring both learners to where they were."""
        self.iterations, done = iterations, arrays["iterations"].tolist()
        if len(done) != 2 or min(done) != iterations:
            raise ValueError("its learners have done another number of iterations")
        for p, learner in enumerate(self.learners):
            own = {name[2:]: array for name, array in arrays.items() if name.startswith(f"{p}_")}
            learner.restore(own, done[p])
