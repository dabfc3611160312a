"""Double oracle: Dark Hex solved for real, with perfect recall on both sides.

McMahan, Gordon, Blum. Planning in the Presence of Cost Functions Controlled by an Adversary. 2003. Each player has a growing
set of pure strategies. A linear programme solves the game restricted to them; an exact best response to each player's mixture
bounds the value from both sides and joins the set of the other. When the bounds meet, the mixtures are an equilibrium.

Responses are made to a blend of the newest mixture and the best one so far, for linear programmes jump between extremes.
Where a response to a blend is none to the newest mixture, that is taken as it is next time. Every strategy brings its turned
image with it (`dark_hex/forest.py`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame
from nebel.core.recall import PERFECT
from nebel.core.rng import generator, mix
from nebel.dark_hex.forest import Forest, board_of, check_forest, duels, enlarge, grow_out, plant, sow
from nebel.dark_hex.sure_wins import on_board
from nebel.judge.best_response import Verdict
from nebel.judge.certificate import Certificate, certify, tree_text
from nebel.judge.mixture import Responder
from nebel.policy.table import Shares, TablePolicy
from nebel.solve.matrix_game import Basis, equilibrium, exact, first_basis
from nebel.solve.mixture_policy import behaviour
from nebel.solve.run import Steady
from nebel.solve.settings import DoubleOracleSettings

Reals = NDArray[np.float64]
MET = 1e-9
"""Bounds nearer than this have met."""

SMALL = 1e-9
LEAST = 1e-5
"""A blend leaves out strategies that are played less often than this."""

WHOLE = 10**12
"""Denominator of rounded weights."""

SEARCH = 64 << 20
"""Bytes of the tables for best responses, to begin with."""
A_NODE = 6000
"""Bytes of a node, about: what grows out of it, and what is made of that, when the policy and the certificate are written."""


def least_bytes(game: BaseGame) -> int:
    """Return the bytes that the solver takes before its first iteration: sure wins by view, tables by set of stones, and the search."""
    cells = game.options["rows"] * game.options["cols"]
    return (0 if game.options["abrupt"] else 2 * 3**cells) + (8 + 8 + 2) * 2**cells + SEARCH


class DoubleOracle(Steady):
    """The solver: strategies of both players, their payoffs, and the best mixtures so far with what they guarantee."""

    def __init__(self, game: BaseGame, settings: DoubleOracleSettings, seed: int, memory: int = 4 << 30) -> None:
        """`memory`: bytes; when more is needed for what has been found, `full` says so."""
        self.game, self.settings, self.memory = game, settings, memory
        self.iterations = 0
        self.board = board_of(game)
        none = np.zeros(0, np.int8)
        wins = (none, none) if self.board.abrupt else on_board(game.options["rows"], game.options["cols"]).moves
        self.sure = wins[0], wins[1]
        self._responders = [Responder(self.board, me, self.sure) for me in range(2)]
        self._seeds = generator(seed)
        self.forests = [plant(), plant()]
        self.roots = [np.zeros(settings.start, np.int64) for _ in range(2)]
        for p in range(2):
            sow(self.forests[p], np.array([self._seed() for _ in range(settings.start)]), self.roots[p])
        self.payoffs = np.zeros((0, 0))
        self._basis = first_basis()
        self.newest: tuple[Reals, Reals] = (np.zeros(0), np.zeros(0))
        self.best: list[Reals] = [np.zeros(0), np.zeros(0)]
        self._blending = [True, True]
        self.guarantee = [0.0, 0.0]  # winning probabilities, in the game itself
        self.value = 0.5  # to player 0, between the sets of strategies

    @property
    def full(self) -> str:  # type: ignore[override]
        """Why there is no room for more strategies, "" as long as there is some."""
        nodes = sum(int(forest.count[0]) for forest in self.forests)
        tables = sum(column.nbytes for forest in self.forests for column in forest) + sum(each.bytes for each in self._responders)
        need = least_bytes(self.game) - SEARCH + tables + self.payoffs.nbytes + A_NODE * nodes
        if need <= self.memory:
            return ""
        found = " + ".join(f"{len(roots):,}" for roots in self.roots)
        return f"the memory is full: {found} strategies have found room, and are kept; give more --memory"

    def _seed(self) -> int:
        self._seeds[1] += 1
        with np.errstate(over="ignore"):
            return int(mix(self._seeds[0] ^ self._seeds[1]))

    @property
    def gap(self) -> float:
        return 1.0 - sum(self.guarantee)

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self._meet()
        nobody = np.zeros(len(self.roots[0]))
        self._responders[0].judge(self.forests[1], self.roots[1], nobody)
        self._responders[0].write_down(self.forests[1], plant(), 0)

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self._step()
            self.iterations += 1

    def _meet(self) -> None:
        """Let new strategies play all others, and see whether they gain against the newest mixtures."""
        held = self.payoffs
        self.payoffs = np.zeros((len(self.roots[0]), len(self.roots[1])))
        self.payoffs[: held.shape[0], : held.shape[1]] = held
        known = np.array(held.shape)
        while not duels(self.board, self.sure, self.forests[0], self.forests[1], self.roots[0], self.roots[1], self.payoffs, known):
            self.forests = [enlarge(forest) for forest in self.forests]
        rows, cols = len(self.newest[0]), len(self.newest[1])
        if 0 < rows < len(self.roots[0]) and len(held) < len(self.roots[0]):
            gains = self.value - (self.newest[0] @ self.payoffs[:rows, -1]), self.payoffs[-1, :cols] @ self.newest[1] - self.value
            self._blending = [bool(gain > SMALL) or not blending for gain, blending in zip(gains, self._blending, strict=True)]

    def _step(self) -> None:
        self._meet()
        solved, self._basis = equilibrium(self.payoffs, self._basis)
        self.value, self.newest = solved.value, (solved.rows, solved.cols)
        mixtures = [self._blend(p, self.newest[p]) for p in range(2)]
        forests, roots = self.forests, self.roots

        def judge(me: int) -> tuple[float, Forest]:
            return self._responders[me].judge(forests[1 - me], roots[1 - me], mixtures[1 - me])

        if self.settings.threads == 2:
            with ThreadPoolExecutor(2) as pool:
                judged = list(pool.map(judge, range(2)))
        else:
            judged = [judge(me) for me in range(2)]
        self.forests = [judged[1][1], judged[0][1]]
        for me in range(2):
            answer, theirs, mine = self._responders[me].write_down(self.forests[1 - me], self.forests[me], self._seed())
            self.forests[me], self.forests[1 - me] = mine, theirs
            self.roots[me] = np.append(self.roots[me], answer)
            promised = 1.0 - judged[me][0]
            if promised >= self.guarantee[1 - me]:
                self.guarantee[1 - me], self.best[1 - me] = promised, mixtures[1 - me]

    def _blend(self, player: int, newest: Reals) -> Reals:
        held = self.best[player]
        if len(held) == 0 or not self._blending[player]:
            return newest
        blended = (1 - self.settings.blend) * newest
        blended[: len(held)] += self.settings.blend * held
        blended[blended < LEAST] = 0.0
        return blended / blended.sum()

    def verdict(self) -> Verdict:
        """In utilities: what a best response wins against the best mixtures so far."""
        return Verdict(2 * self.value - 1, (1 - 2 * self.guarantee[1], 1 - 2 * self.guarantee[0]))

    def weights(self, spare: float = 0.0) -> tuple[list[Fraction], list[Fraction]]:
        """The mixtures in fractions: an exact equilibrium between the strategies if the bounds meet, else the best so far, rounded."""
        if self.gap < MET:
            found = exact((2 * self.payoffs).astype(np.int64), self._basis)
            if found is not None:
                return found[1:]
        return _rounded(self.best[0], spare), _rounded(self.best[1], spare)

    def certificate(self) -> Certificate:
        """The mixtures, written out: every pure strategy as a tree, and what they guarantee, in fractions. Where the bounds have not
        met, the rarest strategies are left out, which costs a twentieth of the gap at most."""
        mixtures = []
        for p, weights in enumerate(self.weights(spare=self.gap / 20)):
            self._grow_out(p, [i for i, weight in enumerate(weights) if weight])
            leak = self.game.options["leak"]
            played = [(weight, int(start)) for weight, start in zip(weights, self.roots[p], strict=False) if weight]
            mixtures.append([(weight, tree_text(self.forests[p], start, leak)) for weight, start in played])
        return certify(self.game, (mixtures[0], mixtures[1]))

    def _grow_out(self, player: int, strategies: list[int]) -> None:
        while True:
            forest = self.forests[player]
            keep = np.zeros(len(forest.seeds), np.bool_)
            keep[forest.owner[self.roots[player][strategies]]] = True
            if grow_out(self.board, self.sure[player], forest, player, keep):
                return
            self.forests[player] = enlarge(forest)

    def strategies(self) -> tuple[Reals, Reals]:
        raise BadSetting("the double oracle has mixtures of strategies, no strategies on a tree")

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        """The best mixtures as a policy with perfect recall: what to play given the own moves and all that was seen."""
        weights = self.weights()
        shares: list[Shares] = []
        for p in range(2):
            played = [i for i, weight in enumerate(weights[p]) if weight]
            self._grow_out(p, played)
            chances = np.array([float(weights[p][i]) for i in played])
            shares.append(behaviour(self.board, self.forests[p], p, self.roots[p][played], chances))
        return TablePolicy(self.game.string, self.game.fingerprint, PERFECT, (shares[0], shares[1]), missing="uniform", facts=facts)

    def save(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"payoffs": self.payoffs, "seeds": self._seeds, "guarantee": np.array(self.guarantee)}
        arrays["blending"] = np.array(self._blending)
        arrays |= {"basis_mixture": self._basis.mixture, "basis_slack": self._basis.slack, "value": np.array([self.value])}
        for p in range(2):
            arrays |= {f"roots_{p}": self.roots[p], f"best_{p}": self.best[p], f"newest_{p}": self.newest[p]}
            for name, column in self.forests[p]._asdict().items():
                arrays[f"forest_{p}_{name}"] = column
        return arrays

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        self.iterations = iterations
        self.payoffs, self._seeds = arrays["payoffs"], arrays["seeds"]
        self.guarantee = [float(promised) for promised in arrays["guarantee"]]
        self._blending = [bool(blending) for blending in arrays["blending"]]
        self._basis = Basis(arrays["basis_mixture"], arrays["basis_slack"])
        self.roots = [arrays[f"roots_{p}"] for p in range(2)]
        self.best = [arrays[f"best_{p}"] for p in range(2)]
        self.newest, self.value = (arrays["newest_0"], arrays["newest_1"]), float(arrays["value"][0])
        if not len(self.guarantee) == len(self._blending) == len(self._seeds) == 2:
            raise ValueError("figures of other than two players")
        self.forests = [Forest(*(arrays[f"forest_{p}_{name}"] for name in Forest._fields)) for p in range(2)]
        for p in range(2):
            check_forest(self.forests[p], self.roots[p], self.board)
            lengths = len(self.newest[p]), len(self.best[p]), self.payoffs.shape[p], len(self._basis[p])
            if max(lengths) > len(self.roots[p]):
                raise ValueError("mixtures of more strategies than there are")


def _rounded(mixture: Reals, spare: float) -> list[Fraction]:
    """Weights as fractions that sum to 1, without the rarest strategies, up to a chance of `spare` in all."""
    rarest = np.argsort(mixture, kind="stable")
    kept = mixture.copy()
    kept[rarest[np.cumsum(mixture[rarest]) <= spare]] = 0.0
    whole = [round(float(weight) * WHOLE) for weight in kept]
    return [Fraction(weight, sum(whole)) for weight in whole]
