"""A sampling solver with its tables: on a tree where there is one, by stepping the rules where the game is too large."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.rng import generator, mix
from nebel.core.rule import kernel
from nebel.core.sequence import shares_of
from nebel.core.tree import Tree
from nebel.policy.table import Reals, Shares, TablePolicy, from_tree, sorted_shares
from nebel.solve.heritage import Held, Heritage, lay_down, sorted_held
from nebel.solve.mccfr import deep_sampler, outcome_sampler
from nebel.solve.run import Steady
from nebel.solve.settings import Sampling
from nebel.solve.walk import LOST, POOL, TREE_WALKER, USED, RuleWorld, Walker, apart, rule_walker, rule_world, tree_world

BYTES_A_PLACE = 8 * 3 + 1 + 4  # regret, average, pending or baseline; owner; move
FIRST_SLOTS = 1 << 16


@kernel
def _rehash(old: Any, new: Any, mixed: bool) -> None:
    mask = (new.size >> 1) - 1
    for i in range(0, old.size, 2):
        if old[i] != 0:
            slot = (mix(old[i]) if mixed else old[i]) & mask
            while new[2 * slot] != 0:
                slot = (slot + 1) & mask
            new[2 * slot], new[2 * slot + 1] = old[i], old[i + 1]


def _first_slots(walked: float, memory: int) -> int:
    """A power of two: room for a traversal, but no more than a quarter of the memory."""
    return max(FIRST_SLOTS, 1 << int(math.log2(max(1.0, min(4 * walked, memory / 64)))))


class Sampled(Steady):
    """Common to the three sampling methods; subclasses of `Sampling` say which."""

    def __init__(self, game: Any, recall: str, tree: Tree | None, settings: Sampling, seed: int, memory: int, walked: float = 0.0) -> None:
        """`walked`: about how many histories one traversal by the rules meets, if known; the table begins with room for as many."""
        self.game, self.recall, self.tree, self.settings = game, recall, tree, settings
        self.iterations = self.nodes = 0
        self.ages = (0, 0)
        self._rngs = self._set_apart([generator(seed, thread) for thread in range(settings.threads)])
        self._workers = ThreadPoolExecutor(settings.threads)
        if tree is not None:
            places = sum(len(side.move) for side in tree.sides)
            width, depth = int(tree.nodes.breadth.max()), tree.depth
            walker, world = TREE_WALKER, tree_world(tree)
            self._worlds: list[Any] = [world._replace(at=apart(world.at.shape)) for _ in self._rngs]
            self._pool = np.zeros(2 * places)
        else:
            assert isinstance(game, Game)
            places = max(memory // BYTES_A_PLACE, 4 * game.width)
            width, depth = game.width, game.depth
            walker, shared = rule_walker(game, recall), rule_world(game, depth + 2, _first_slots(walked, memory), places)
            self._share(shared)
            self._pool = shared.pool
        self._shape = (depth, width)
        self._extra = np.zeros(places)
        self._make_kernel(walker)

    def _make_kernel(self, walker: Walker) -> None:
        kind = self.settings.kind
        self._run = outcome_sampler(walker) if kind == "outcome" else deep_sampler(walker, kind == "external")

    def inherit(self, heritage: Heritage) -> None:
        """Begin with what was learned in a smaller game: at once on a tree, else whenever a new information state is met."""
        self.ages = heritage.ages
        if self.tree is None:
            old = tuple(held._replace(regret=held.regret.copy(), total=held.total.copy()) for held in heritage.held)
            self._make_kernel(rule_walker(self.game, self.recall, heritage))
            self._worlds = [w._replace(old=old) for w in self._worlds]
            return
        regrets, sums = self._places()
        laid = lay_down(heritage, self.tree)
        self._pool[regrets] = np.concatenate([regret for regret, _ in laid])
        self._pool[sums] = np.concatenate([total for _, total in laid])

    def held(self) -> tuple[Held, Held]:
        """Regrets and sums, for a solver of a larger game."""
        _, width = self._rows()
        regrets, sums = self._places()
        first, second = (
            sorted_held(keys, width[mine], move, self._pool[regrets[spots]], self._pool[sums[spots]])
            for keys, mine, spots, move in self._owned(width)
        )
        return first, second

    def _owned(self, width: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Any, Any, NDArray[np.int64]]]:
        """For each player: keys of information states, which rows of `_rows` and which places in them are theirs, and the moves."""
        row = np.append(0, np.cumsum(width))
        if self.tree is not None:
            first, second = self.tree.sides
            yield first.keys, slice(first.states), slice(len(first.move)), first.move
            yield second.keys, slice(first.states, None), slice(len(first.move), None), second.move
            return
        world = self._worlds[0]
        slots = np.flatnonzero(world.table[::2])
        slots = slots[np.argsort(world.table[2 * slots + 1])]  # in the order of the pool
        key, place = world.table[2 * slots], world.table[2 * slots + 1] - 1
        move = world.moves[np.repeat((place >> 1) - row[:-1], width) + np.arange(row[-1])]
        owner = world.owner[place >> 1]
        for p in range(2):
            mine = owner == p
            spots = np.repeat(mine, width)
            yield key[mine] if self.recall == PERFECT else (key[mine] - p - 1) >> 1, mine, spots, move[spots]

    @staticmethod
    def _set_apart(rows: Iterable[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        rngs = []
        for row in rows:
            rngs.append(apart((2,)))
            rngs[-1][:] = row
        return rngs

    def _share(self, shared: RuleWorld) -> None:
        """A world for each thread: private stacks, one table."""
        own = [rule_world(self.game, len(shared.states), 1, 1) for _ in self._rngs]
        common = {name: getattr(shared, name) for name in ("table", "counts", "owner", "moves", "pool", "old")}
        self._worlds = [w._replace(**common) for w in own]

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self._spread_over_threads(0, 1.0)

    def run(self, iterations: int) -> None:
        end = self.iterations + iterations
        while self.iterations < end:
            count = end - self.iterations
            if self.settings.weights != "plain":
                count = min(count, self.settings.period - self.iterations % self.settings.period)
            if self.tree is None:
                count = min(count, self._room())
            self._spread_over_threads(count, self._weight())
            self.iterations += count
            if self.settings.weights == "discounted" and self.iterations % self.settings.period == 0:
                self._discount(self.iterations // self.settings.period)

    def survey(self, iterations: int) -> None:
        """Meet information states and learn nothing: their rows hold what was inherited."""
        for _ in range(iterations):
            if self.tree is None:
                self._room()
            self._spread_over_threads(1, 0.0)

    def _weight(self) -> float:
        """Of the iterations that come."""
        return 1.0 + self.iterations // self.settings.period if self.settings.weights == "linear" else 1.0

    def _spread_over_threads(self, count: int, weight: float) -> None:
        knobs = (float(self.settings.epsilon), float(self.settings.rate) if self.settings.baseline else 0.0)
        threads = len(self._rngs)
        parts = [count // threads + (i < count % threads) for i in range(threads)]

        def work(i: int) -> int:
            with np.errstate(over="ignore"):
                tables = (self._worlds[i], self._pool, self._extra, self._rngs[i])
                return int(self._run(*tables, self._shape, 2 * parts[i], weight, knobs))

        if threads == 1:
            self.nodes += work(0)
        else:
            self.nodes += sum(self._workers.map(work, range(threads)))
        if self.tree is None and self._worlds[0].counts[LOST]:
            raise TooLarge(
                f"the table of {self._worlds[0].counts[USED]:,} information states is full; give more --memory, "
                "a recall that remembers less, or take outcome-sampling"
            )

    def _room(self) -> int:
        """How many iterations surely find room for new information states, after making room for some."""
        world = self._worlds[0]
        slots = world.table.size >> 1
        used = int(world.counts[USED])
        if 10 * used > 7 * slots:  # small tables stay in the processor's cache
            table = np.zeros(2 * world.table.size, np.int64)
            with np.errstate(over="ignore"):
                _rehash(world.table, table, self.recall != PERFECT)
            self._worlds = [w._replace(table=table) for w in self._worlds]
            slots *= 2
        if self.settings.kind != "outcome":  # one traversal may meet any number: go step by step, and notice a full table
            return 1
        free_places = (len(self._pool) - int(world.counts[POOL])) // (2 * self.game.width)
        return max(1, min(slots * 7 // 8 - used - 8, free_places) // (2 * self._shape[0]))

    def _discount(self, epoch: int) -> None:
        """DCFR(1.5, 0, 2) at the end of a period."""
        regrets, sums = self._places()
        self._pool[regrets], self._pool[sums] = self._discounted(epoch, self._pool[regrets], self._pool[sums])
        self._discount_heritage(epoch)

    def _discounted(self, epoch: int, regrets: Reals, sums: Reals) -> tuple[Reals, Reals]:
        first, second = (epoch + age // self.settings.period for age in self.ages)
        return regrets * np.where(regrets > 0, first**1.5 / (first**1.5 + 1), 0.5), sums * (second / (second + 1)) ** 2

    def _discount_heritage(self, epoch: int) -> None:
        """What is not yet taken over grows old, too."""
        for held in self._worlds[0].old if self.tree is None else ():
            held.regret[:], held.total[:] = self._discounted(epoch, held.regret, held.total)

    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each information state stands in the pool, and how many moves it has."""
        if self.tree is not None:
            width = np.concatenate([np.diff(side.row) for side in self.tree.sides]).astype(np.int64)
            return 2 * (np.cumsum(width) - width), width
        world = self._worlds[0]
        place = np.sort(world.table[1::2][world.table[::2] != 0]) - 1
        return place, np.diff(np.append(place, world.counts[POOL])) >> 1

    def _sums(self) -> Reals:
        """The sums of the average strategy, information state after information state in the order of `_rows`."""
        return self._pool[self._places()[1]]

    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the regrets and where the sums stand in the pool, information state after information state in the order of `_rows`."""
        place, width = self._rows()
        regrets = np.repeat(place - np.cumsum(width) + width, width) + np.arange(width.sum())
        return regrets, regrets + np.repeat(width, width)

    def strategies(self) -> tuple[Reals, Reals]:
        """The average strategies on the tree, by table place."""
        assert self.tree is not None
        sums, (first, second) = self._sums(), self.tree.sides
        return shares_of(first.row, sums[: len(first.move)]), shares_of(second.row, sums[len(first.move) :])

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        if self.tree is not None:
            return from_tree(self.tree, self.strategies(), facts)
        first, second = self._tables()
        return TablePolicy(self.game.string, self.game.fingerprint, self.recall, (first, second), "uniform", facts)

    def _tables(self) -> Iterator[Shares]:
        _, width = self._rows()
        share = shares_of(np.append(0, np.cumsum(width)), self._sums())
        for keys, mine, spots, move in self._owned(width):
            yield sorted_shares(keys, width[mine], move, share[spots])

    def save(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"rng": np.array(self._rngs), "nodes": np.array([self.nodes])}
        used = len(self._pool)
        if self.tree is None:
            world = self._worlds[0]
            used = int(world.counts[POOL])
            arrays |= {"table": world.table, "counts": world.counts, "owner": world.owner[: used // 2], "moves": world.moves[: used // 2]}
        return arrays | {"pool": self._pool[:used], "extra": self._extra[: used // 2]}

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        self.iterations = iterations
        self.nodes = int(arrays["nodes"][0])
        self._rngs = self._set_apart(arrays["rng"])
        used = len(arrays["pool"])
        if used > len(self._pool):
            raise TooLarge("the saved tables do not fit into this much memory; give at least the --memory of the first run")
        self._pool[:used] = arrays["pool"]
        self._extra[: used // 2] = arrays["extra"]
        if self.tree is None:
            world = self._worlds[0]
            world.owner[: used // 2] = arrays["owner"]
            world.moves[: used // 2] = arrays["moves"]
            self._share(world._replace(table=arrays["table"].copy(), counts=arrays["counts"].copy()))
            if self.settings.weights == "discounted":
                for epoch in range(1, iterations // self.settings.period + 1):
                    self._discount_heritage(epoch)
