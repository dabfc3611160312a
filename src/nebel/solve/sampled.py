"""A sampling solver with its tables: on a tree where there is one, by stepping the rules where the game is too large."""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.regret import match_kept, match_regrets
from nebel.core.rng import generator
from nebel.core.sequence import shares_of
from nebel.core.tree import Tree
from nebel.policy.table import Reals, Shares, TablePolicy, from_tree
from nebel.solve.heritage import Held, Heritage, lay_down, sorted_held
from nebel.solve.mccfr import deep_sampler, outcome_sampler
from nebel.solve.pool import check_pool, discount, gather, keys_of, mark_starts, rehash, rows_of, scatter, to_shares, widths_of
from nebel.solve.run import Steady, fill
from nebel.solve.settings import Sampling
from nebel.solve.walk import LOST, POOL, TREE_WALKER, USED, RuleWorld, Walker, apart, rule_walker, rule_world, tree_world

BYTES_A_MOVE = 8 + 8 + 1 + 4
"""What a move takes in the tables: regret, sum, owner, the move."""
BYTES_PENDING = 8
"""Of the methods that need it: what is pending for a move, or its baseline."""
BYTES_MADE = 1 + 8 + 8
"""What a move takes while a policy is made: a mark, and the move and its share in the policy."""
BYTES_A_STATE = 8 + 8
"""What an information state takes in a policy."""
BYTES_A_SLOT = 16
FIRST_SLOTS, LEAST_SLOTS = 1 << 16, 1 << 8
SPARE = 64 << 20
"""Bytes, at most, that are left for all that is small."""


def _first_slots(walked: float, memory: int) -> int:
    """A power of two: room for a traversal, but no more than an eighth of the memory."""
    most = memory // (8 * BYTES_A_SLOT)
    return max(LEAST_SLOTS, 1 << int(math.log2(max(1.0, min(max(FIRST_SLOTS, 4 * walked), most)))))


class Sampled(Steady):
    """Common to the three sampling methods; subclasses of `Sampling` say which.

    By the rules, tables and the policy made of them take at most `memory` bytes. When no other information state finds room, `full` says
    so, and what was learned is kept; of a traversal that is cut off, too, which is then not counted as an iteration.
    """

    can_be_cut = True

    def __init__(self, game: Any, recall: str, tree: Tree | None, settings: Sampling, seed: int, memory: int, walked: float = 0.0) -> None:
        """`walked`: about how many histories one traversal by the rules meets, if known; the table begins with room for as many."""
        self.game, self.recall, self.tree, self.settings, self.memory = game, recall, tree, settings, memory
        self.iterations = self.nodes = 0
        self._stopped = False
        self.ages = (0, 0)
        self._rngs = self._set_apart([generator(seed, thread) for thread in range(settings.threads)])
        self._workers = ThreadPoolExecutor(settings.threads)
        if tree is not None:
            places = sum(len(side.move) for side in tree.sides)
            width, depth = int(tree.nodes.breadth.max()), tree.depth
            walker, world = TREE_WALKER, tree_world(tree)
            self._halt = world.halt
            self._worlds: list[Any] = [world._replace(at=apart(world.at.shape)) for _ in self._rngs]
            self._pool = np.zeros(2 * places)
        else:
            assert isinstance(game, Game)
            width, depth = game.width, game.depth
            places = max(memory // BYTES_A_MOVE, 1) + 4 * width  # more than there will be room for; the system gives what is written to
            walker, shared = rule_walker(game, recall), rule_world(game, depth + 2, _first_slots(walked, memory), places)
            self._halt, self._price = shared.halt, shared.price
            self._share(shared)
            self._pool = shared.pool
            self._set_price(shared.table.size >> 1)
        self._shape = (depth, width)
        self._extra = np.zeros(places) if tree is not None else shared.pending
        self._first_strategy = False  # whether rows may hold a carried average in place of regrets, and the difference in `_extra`
        self._make_kernel(walker)

    def _make_kernel(self, walker: Walker) -> None:
        kind, match = self.settings.kind, match_kept if self.settings.sip_every else match_regrets
        self._run = outcome_sampler(walker, match) if kind == "outcome" else deep_sampler(walker, kind == "external", match)

    def inherit(self, heritage: Heritage) -> None:
        """Begin with what was learned in a smaller game: at once on a tree, else whenever a new information state is met."""
        self.ages, self._first_strategy = heritage.ages, heritage.begins_with_average
        if self.tree is None:
            aging = self.settings.weights == "discounted"  # in place
            old = (heritage.scaled(1.0, 1.0) if aging else heritage).held
            self._make_kernel(rule_walker(self.game, self.recall, heritage))
            self._worlds = [w._replace(old=old) for w in self._worlds]
            self.memory -= heritage.bytes
            self._set_price(self._worlds[0].table.size >> 1)
            return
        laid = lay_down(heritage, self.tree)
        regret, total, first = (np.concatenate(column) for column in zip(*laid, strict=True))
        if self._first_strategy:
            rows = np.concatenate([side.row[:-1] + base for side, base in zip(self.tree.sides, (0, len(laid[0][0])), strict=True)])
            known = np.repeat(np.add.reduceat(first, rows) > 0.0, np.diff(np.append(rows, len(first))))
            self._extra[:] = np.where(known, regret - first, 0.0)
            regret = np.where(known, first, regret)
        scatter(self._pool, self._starts(), False, regret)
        scatter(self._pool, self._starts(), True, total)

    def held(self) -> tuple[Held, Held]:
        """Regrets and sums, for a solver of a larger game."""
        if self.tree is None:
            return Held(*self._rows_of(0, regrets=True)), Held(*self._rows_of(1, regrets=True))
        cut = len(self.tree.sides[0].move)
        whole = self._gathered(False) + self._extra if self._first_strategy else self._gathered(False)
        regrets, totals = np.split(whole, [cut]), np.split(self._gathered(True), [cut])
        first, second = (
            sorted_held(side.keys, np.diff(side.row), side.move, regret, total)
            for side, regret, total in zip(self.tree.sides, regrets, totals, strict=True)
        )
        return first, second

    def _rows_of(
        self, player: int, regrets: bool = False, current: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Reals, Reals]:
        """By the rules, what a player's information states hold: keys in ascending order, where their moves begin, and by move the move,
        the regret (if wanted) and the sum (where there is none, what makes the current strategy, if wanted)."""
        world, mixed = self._worlds[0], self.recall != PERFECT
        keys = np.empty(keys_of(world.table, world.owner, player, np.empty(0, np.int64)), np.int64)
        keys_of(world.table, world.owner, player, keys)
        keys.sort()
        first = np.empty(len(keys) + 1, np.int64)
        with np.errstate(over="ignore"):
            widths_of(world.table, mixed, self._starts(), keys, first)
            move, total = np.empty(first[-1], np.int64), np.empty(first[-1])
            regret = np.empty(first[-1] if regrets else 0)
            rows_of(world.table, mixed, world.moves, self._pool, keys, first, move, regret, total, current)
        if mixed:
            keys -= player + 1
            keys >>= 1
        return keys, first, move, regret, total

    def _starts(self) -> NDArray[np.bool_]:
        """Where rows begin, as `solve/pool.py` has it."""
        if self.tree is None:
            starts = np.zeros((int(self._worlds[0].counts[POOL]) >> 1) + 1, np.bool_)
            mark_starts(self._worlds[0].table, starts)
            return starts
        starts = np.zeros((len(self._pool) >> 1) + 1, np.bool_)
        base = 0
        for side in self.tree.sides:
            starts[base + side.row.astype(np.int64)] = True
            base += len(side.move)
        return starts

    def table_of(self, player: int) -> tuple[Reals, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the pool, where its rows begin (by half, as `solve/pool.py` has it), and which of them are the player's."""
        starts = self._starts()
        if self.tree is None:
            return self._pool, starts, self._worlds[0].owner[: len(starts)] == player
        return self._pool, starts, (np.arange(len(starts)) >= len(self.tree.sides[0].move)) == player

    def _gathered(self, sums: bool) -> Reals:
        """On a tree, the regrets or the sums of the average strategy, by table place, the first player's first."""
        out = np.empty(len(self._pool) >> 1)
        gather(self._pool, self._starts(), sums, out)
        return out

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
        common = {name: getattr(shared, name) for name in ("table", "counts", "owner", "moves", "pool", "pending", "old", "halt", "price")}
        self._worlds = [w._replace(**common) for w in own]

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self._spread_over_threads(0, 1.0)

    def stop(self) -> None:
        """End a run that is under way in another thread; a traversal that is cut off so keeps what it has learned."""
        self._stopped = True
        self._halt[0] = 1

    def run(self, iterations: int) -> None:
        """Iterate; fewer times if `stop` is called or the tables are full. Raises `TooLarge` if they were full before."""
        self._begin()
        end = self.iterations + iterations
        while self.iterations < end and not self._stopped and not self.cut:
            count = end - self.iterations
            if self.settings.weights != "plain":
                count = min(count, self.settings.period - self.iterations % self.settings.period)
            if self.tree is None:
                count = min(count, self._room())
            if self.full:
                break
            done, self.cut = self._spread_over_threads(count, self._weight())
            self.iterations += done
            if self.tree is None:
                self._find_room()
            if self.settings.weights == "discounted" and done == count and self.iterations % self.settings.period == 0:
                self._discount(self.iterations // self.settings.period)

    def survey(self, iterations: int) -> None:
        """Meet information states and learn nothing: their rows hold what was inherited. Raises `TooLarge` if they find no room."""
        self._begin()
        while iterations > 0:
            if self.tree is None:
                self._room()
            iterations -= self._spread_over_threads(1, 0.0)[0]
            if self.tree is None:
                self._find_room()
            if self.full:
                raise TooLarge(self.full)

    def _begin(self) -> None:
        if self.full:
            raise TooLarge(self.full)
        self._stopped = self.cut = False
        self._halt[0] = 0

    def _weight(self) -> float:
        """Of the iterations that come."""
        return 1.0 + self.iterations // self.settings.period if self.settings.weights == "linear" else 1.0

    def _spread_over_threads(self, count: int, weight: float) -> tuple[int, bool]:
        """Iterate; return how many iterations were completed, and whether others were cut off."""
        s = self.settings
        knobs = (float(s.epsilon), float(s.rate) if s.baseline else 0.0, float(s.averaging == "stochastically-weighted"))
        threads, deals = len(self._rngs), self.settings.deals
        parts = [count // threads + (i < count % threads) for i in range(threads)]

        def work(i: int) -> Any:
            with np.errstate(over="ignore"):
                tables = (self._worlds[i], self._pool, self._extra, self._rngs[i])
                return self._run(*tables, self._shape, deals * parts[i], weight, knobs)

        found = [work(0)] if threads == 1 else list(self._workers.map(work, range(threads)))
        self.nodes += sum(int(touched) for touched, _, _ in found)
        return sum(int(traversals) // deals for _, traversals, _ in found), any(cut for _, _, cut in found)

    def _room(self) -> int:
        """How many iterations surely find room for new information states, after making room for some; none: the tables are full."""
        world = self._worlds[0]
        slots, used, places = world.table.size >> 1, int(world.counts[USED]), int(world.counts[POOL]) >> 1
        if 10 * used > 7 * slots and self._enlarge():  # small tables stay in the processor's cache
            slots *= 2
        if self.settings.kind != "outcome":  # one traversal may meet any number: go step by step, and notice a full table
            return 1
        width = self.game.width
        a_move, a_state, most = (int(bytes) for bytes in self._price)
        by_price = (most - a_move * places - a_state * used) // (a_move * width + a_state)
        free = min(slots * 7 // 8 - used - 8, (len(self._pool) >> 1) // width - places // width - 2, by_price) // (2 * self._shape[0])
        if free > 0:
            return free
        if self._enlarge():
            return self._room()
        self._say_full()
        return 0

    def _find_room(self) -> None:
        """After a traversal that found none and was cut off: enlarge the table and go on, or be full."""
        world = self._worlds[0]
        if not world.counts[LOST]:
            return
        world.counts[LOST] = 0
        self._pool[: 2 * self.game.width] = 0.0  # what was lost
        self._halt[0] = int(self._stopped)
        self.cut = self._stopped
        if not (8 * int(world.counts[USED]) > 7 * ((world.table.size >> 1) - 1) and self._enlarge()):
            self._say_full()

    def _say_full(self) -> None:
        other = "" if self.settings.kind == "outcome" else ", or --with outcome-sampling"
        self.full = (
            f"the memory is full: {int(self._worlds[0].counts[USED]):,} information states have found room, and what was learned is kept; "
            f"give more --memory or a --recall that remembers less{other}"
        )

    def _set_price(self, slots: int) -> None:
        """What information states may take beside the table."""
        pending = self.settings.baseline or self.settings.kind == "chance"
        self._price[:] = (
            BYTES_A_MOVE + BYTES_PENDING * pending + BYTES_MADE,
            BYTES_A_STATE,
            self.memory - min(SPARE, self.memory // 8) - BYTES_A_SLOT * slots,
        )

    def _enlarge(self) -> bool:
        """Double the table if that makes room for more information states, and the old and the new one fit beside the rest."""
        world = self._worlds[0]
        slots, used, places = world.table.size >> 1, int(world.counts[USED]), int(world.counts[POOL]) >> 1
        a_move, a_state, most = (int(bytes) for bytes in self._price)
        taken = a_move * places + a_state * used
        each = max(1.0, taken / max(1, used))
        after = (most - BYTES_A_SLOT * slots) / each
        if taken - BYTES_MADE * places > most - 2 * BYTES_A_SLOT * slots or after <= min(slots * 7 / 8, most / each):
            return False
        table = np.zeros(2 * world.table.size, np.int64)
        with np.errstate(over="ignore"):
            rehash(world.table, table, self.recall != PERFECT)
        self._worlds = [w._replace(table=table) for w in self._worlds]
        self._set_price(2 * slots)
        return True

    def _discount(self, epoch: int) -> None:
        """DCFR(1.5, 0, 2) at the end of a period."""
        gain, loss, keep = self._factors(epoch)
        if self._first_strategy and self.tree is not None:  # what a row holds and what is pending there are one regret
            late = np.flatnonzero(self._extra)
            whole = self._gathered(False)[late] + self._extra[late]
        discount(self._pool, self._starts(), gain, loss, keep)
        if self._first_strategy and self.tree is not None:
            self._extra[late] = whole * np.where(whole > 0, gain, loss) - self._gathered(False)[late]
        self._discount_heritage(epoch)

    def _factors(self, epoch: int) -> tuple[float, float, float]:
        """What positive regrets, others, and sums are multiplied by."""
        first, second = (epoch + age // self.settings.period for age in self.ages)
        return first**1.5 / (first**1.5 + 1), 0.5, (second / (second + 1)) ** 2

    def _discount_heritage(self, epoch: int) -> None:
        """What is not yet taken over grows old, too."""
        for held in self._worlds[0].old if self.tree is None else ():
            gain, loss, keep = self._factors(epoch)
            held.regret[:] *= np.where(held.regret > 0, gain, loss)
            held.total[:] *= keep

    def strategies(self) -> tuple[Reals, Reals]:
        """The average strategies on the tree, by table place."""
        assert self.tree is not None
        sums, (first, second) = self._gathered(True), self.tree.sides
        return shares_of(first.row, sums[: len(first.move)]), shares_of(second.row, sums[len(first.move) :])

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        if self.tree is not None:
            return from_tree(self.tree, self.strategies(), facts)
        return TablePolicy(self.game.string, self.game.fingerprint, self.recall, (self._shares(0), self._shares(1)), "uniform", facts)

    def _shares(self, player: int) -> Shares:
        """A player's average strategy; as long as no iteration was completed, the current strategy where there is no average."""
        keys, first, move, _, total = self._rows_of(player, current=self.iterations == 0)
        to_shares(first, total)
        return Shares(keys, first, move, total)

    def save(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"rng": np.array(self._rngs), "nodes": np.array([self.nodes])}
        used = len(self._pool)
        if self.tree is None:
            world = self._worlds[0]
            used = int(world.counts[POOL])
            arrays |= {"table": world.table, "counts": world.counts, "owner": world.owner[: used // 2], "moves": world.moves[: used // 2]}
        if self.settings.baseline or self._first_strategy:  # else it holds nothing between two iterations
            arrays["extra"] = self._extra[: used // 2]
        return arrays | {"pool": self._pool[:used]}

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        self.iterations = iterations
        self.nodes = int(arrays["nodes"][0])
        if len(arrays["rng"]) != len(self._rngs):
            raise ValueError("it has random numbers for another number of threads")
        self._rngs = self._set_apart(arrays["rng"])
        used = len(arrays["pool"]) if self.tree is None else len(self._pool)
        if self.tree is None:
            if used + 2 * self._shape[1] > len(self._pool):
                raise TooLarge("the saved tables do not fit into this much memory; give at least the --memory of the first run")
            check_pool(arrays["table"], arrays["counts"], arrays["owner"], used)
        fill(self._pool[:used], arrays.pop("pool"))  # each is dropped when it has been copied
        if self.settings.baseline or self._first_strategy:
            fill(self._extra[: used // 2], arrays.pop("extra"))
        if self.tree is None:
            world = self._worlds[0]
            fill(world.owner[: used // 2], arrays.pop("owner"))
            fill(world.moves[: used // 2], arrays.pop("moves"))
            self._share(world._replace(table=np.require(arrays.pop("table"), requirements="W"), counts=arrays["counts"].copy()))
            self._set_price(self._worlds[0].table.size >> 1)
            if self.settings.weights == "discounted":
                for epoch in range(1, iterations // self.settings.period + 1):
                    self._discount_heritage(epoch)
