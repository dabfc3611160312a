"""Policies: what to play in an information state. Tables from solvers, and the uniform policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile, BadPolicy, BadSetting, UnknownInformationState
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.sequence import uniform_strategy
from nebel.core.state import State
from nebel.core.tree import Tree
from nebel.policy.checked import check_probabilities, check_shares, check_strategies, in_words, strange_keys, strange_row

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]

MISSING = ("error", "uniform")
"""What a table may do in an information state that it does not have."""


class OnTree(NamedTuple):
    """A policy laid out on a tree: shares by table place for each player, and how many information states it did not know."""

    strategies: tuple[Reals, Reals]
    unknown: tuple[int, int]


class Policy(ABC):
    """Maps information states to probabilities of moves."""

    recall: str

    @abstractmethod
    def probabilities(self, state: State) -> dict[int, float]:
        """For the player to move: each legal move's probability."""

    @abstractmethod
    def on_tree(self, tree: Tree) -> OnTree:
        """The policy on all information states of a tree that was grown with the same recall."""


def laid_on(tree: Tree, policy: Policy) -> OnTree:
    """Lay any policy on a tree, a user's own too; `BadPolicy` unless its strategies are probabilities of the legal moves."""
    laid = policy.on_tree(tree)
    if not isinstance(laid, tuple) or len(laid) != 2:
        raise BadPolicy(f"{type(policy).__name__}.on_tree has to return OnTree(strategies, unknown); it returned a {type(laid).__name__}")
    return OnTree(check_strategies(tree, laid[0]), laid[1])


class MadePolicy(Policy):
    """A policy that was made for one game, by what is told in `facts`."""

    game: str
    fingerprint: str
    facts: dict[str, Any]

    def check_game(self, game: BaseGame) -> None:
        """Refuse a game that this policy was not made for, and a policy whose shares are not probabilities."""
        check_rules(self.game, self.fingerprint, game)

    def check_state(self, state: State) -> None:
        """Refuse a state of another game, and one in which no player is to move."""
        if state.game.fingerprint != self.fingerprint:  # which a game computes once
            check_rules(self.game, self.fingerprint, state.game)
        check_turn(state)


def check_turn(state: State) -> None:
    """Refuse a state in which no player is to move."""
    if state.turn not in (0, 1):
        after = f"after '{state.moves_text()}'" if state.steps else "at the start"
        raise BadSetting(f"no player is to move {after}, so there is nothing to ask the policy")


class Uniform(Policy):
    """Every legal move with the same probability."""

    recall = PERFECT

    def __init_subclass__(cls) -> None:
        raise _not_a_base("Uniform")

    def probabilities(self, state: State) -> dict[int, float]:
        check_turn(state)
        options = state.options()
        return {option: 1 / len(options) for option in options}

    def on_tree(self, tree: Tree) -> OnTree:
        return OnTree((uniform_strategy(tree.sides[0]), uniform_strategy(tree.sides[1])), (0, 0))


def _not_a_base(name: str) -> BadPolicy:
    """Return what to raise where a class is derived from one whose policy judges and matches know without asking it."""
    return BadPolicy(f"derive a policy of your own from Policy, not from {name}: judges and matches would not ask it what it plays")


class Shares(NamedTuple):
    """One player's table: keys in ascending order; the moves of key i stand at first[i] .. first[i+1]-1."""

    keys: Longs
    first: Longs
    move: Longs
    share: Reals

    def find(self, key: int) -> int:
        i = int(np.searchsorted(self.keys, key))
        return i if i < len(self.keys) and self.keys[i] == key else -1


@dataclass(frozen=True, eq=False)
class TablePolicy(MadePolicy):
    """Probabilities by information state, for both players, of one game.

    `missing` says what to do in an information state that is not in the table: "error", or "uniform" (counted and reported).
    A table that stands for uniform play elsewhere may also hold information states that the game does not have, as may one that was made
    for a smaller game; they are never asked for. With "error" they are a mistake.
    """

    game: str
    fingerprint: str
    recall: str
    shares: tuple[Shares, Shares]
    missing: str = "error"
    facts: dict[str, Any] = field(default_factory=dict)  # method, settings, seed, iterations: how it came to be

    def __init_subclass__(cls) -> None:
        raise _not_a_base("TablePolicy")

    def __post_init__(self) -> None:
        """Raise `BadPolicy` unless there is a table of arrays for each player; what they hold is checked where it is used."""
        tables = self.shares if isinstance(self.shares, tuple) and len(self.shares) == 2 else ()
        if not tables or not all(isinstance(table, Shares) and all(isinstance(column, np.ndarray) for column in table) for table in tables):
            raise BadPolicy("the shares of a table are two tables, one for each player: Shares(keys, first, move, share), all NumPy arrays")
        if self.missing not in MISSING:
            raise BadPolicy(f"missing={self.missing!r} is not understood: it is {' or '.join(map(repr, MISSING))}")

    def check_shares(self, game: BaseGame | None = None) -> None:
        """Raise `BadPolicy` unless both tables are whole and hold probabilities; `game` names information states in words."""
        for player, table in enumerate(self.shares):
            if game is None:
                check_shares(table, player)
            else:
                check_shares(table, player, in_words(game, player, self.recall))

    def check_game(self, game: BaseGame) -> None:
        """Refuse a game that this policy was not made for, and tables that are not of its moves or hold no probabilities."""
        super().check_game(game)
        if self.recall != PERFECT and self.recall not in game.glances:
            raise BadFile(f"this policy goes by {self.recall} recall, which {game.string} does not have")
        most = max((int(table.move.max()) for table in self.shares if len(table.move)), default=-1)
        translated = self.recall in game.glances and game.glances[self.recall].mean is not None
        if isinstance(game, Game) and most >= game.actions and not translated:
            raise BadFile(f"this policy has a move {most:,}, and {game.string} has {game.actions:,} moves")
        self.check_shares(game)

    def probabilities(self, state: State) -> dict[int, float]:
        found = self.at(state)
        if found is None:
            if self.missing == "error":
                text = state.information(state.turn, self.recall)
                raise UnknownInformationState(f"the policy does not know player {state.turn}'s state '{text}'")
            return Uniform().probabilities(state)
        shares = dict.fromkeys(state.options(), 0.0)
        for move, share in found.items():
            meant = state.game.meant_at(self.recall, state.position, move)
            shares[meant] = shares.get(meant, 0.0) + share
        return shares

    def at(self, state: State) -> dict[int, float] | None:
        """Return the shares for the player to move as the table has them, checked; None where it has none."""
        self.check_state(state)
        found = self.lookup(state.turn, state.key(state.turn, self.recall))
        if found is not None and getattr(state.game.glances.get(self.recall), "mean", None) is None:
            if list(found) != state.options():
                raise strange_row(state.turn, state.information(state.turn, self.recall))
            check_probabilities(state, found)
        return found

    def lookup(self, player: int, key: int) -> dict[int, float] | None:
        table = self.shares[player]
        i = table.find(key)
        if i < 0:
            return None
        here = slice(int(table.first[i]), int(table.first[i + 1]))
        return {int(m): float(p) for m, p in zip(table.move[here], table.share[here], strict=True)}

    def rows(self, player: int) -> Iterator[tuple[int, dict[int, float]]]:
        for key in self.shares[player].keys:
            yield int(key), self.lookup(player, int(key)) or {}

    def on_tree(self, tree: Tree) -> OnTree:
        check_rules(self.game, self.fingerprint, tree.game)
        laid = [self._lay(tree, p) for p in range(2)]
        unknown = (laid[0][1], laid[1][1])
        if sum(unknown) and self.missing == "error":
            p = 0 if unknown[0] else 1
            known = np.isin(tree.sides[p].keys, self.shares[p].keys)
            example = tree.state_of(p, int(np.argmin(known))).information(p, self.recall)
            raise UnknownInformationState(f"the policy lacks {sum(unknown):,} information states, such as player {p}'s '{example}'")
        return OnTree((laid[0][0], laid[1][0]), unknown)

    def _lay(self, tree: Tree, player: int) -> tuple[Reals, int]:
        """One player's shares by table place of a tree, and the number of information states that the table does not have."""
        table, side, words = self.shares[player], tree.sides[player], in_words(tree.game, player, self.recall)
        check_shares(table, player, words)
        strategy = uniform_strategy(side)
        if not len(table.keys):
            return strategy, side.states
        at = np.searchsorted(table.keys, side.keys)
        at[at == len(table.keys)] = 0
        known = table.keys[at] == side.keys
        if np.count_nonzero(known) < len(table.keys) and self.missing == "error":
            foreign = np.setdiff1d(table.keys, side.keys)
            raise strange_keys(player, words(int(foreign[0])), len(foreign), tree.game.string)
        width = np.diff(side.row)
        fits = ~known | (np.diff(table.first)[at] == width)
        if fits.all():
            places = np.repeat(known, width)
            source = (np.repeat(table.first[at] - side.row[:-1], width) + np.arange(side.row[-1]))[places]
            strategy[places] = table.share[source]
            fits[np.repeat(np.arange(side.states), width)[places][table.move[source] != side.move[places]]] = False
        if not fits.all():
            state = tree.state_of(player, int(np.argmin(fits)))
            raise strange_row(player, state.information(player, self.recall))
        return strategy, int(side.states - np.count_nonzero(known))


def check_rules(made_for: str, fingerprint: str, game: BaseGame) -> None:
    """Refuse a game with other rules than those that a policy was made for."""
    if game.fingerprint == fingerprint:
        return
    if game.string == made_for:
        raise BadFile(
            f"the rules of {made_for} have changed since this policy was made "
            f"(fingerprint {fingerprint} then, {game.fingerprint} now); solve the game again"
        )
    raise BadFile(f"this policy was made for {made_for}, not for {game.string}")


def sort_rows(keys: Longs, width: NDArray[np.integer]) -> tuple[Longs, Longs, Longs]:
    """Of rows in any order with so many moves each: the keys in ascending order, where their moves begin, and where each move stood."""
    order = np.argsort(keys, kind="stable")
    start = np.cumsum(width) - width
    first = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(width[order], out=first[1:])
    return keys[order], first, np.repeat(start[order] - first[:-1], width[order]) + np.arange(first[-1])


def sorted_shares(keys: Longs, width: NDArray[np.integer], move: Longs, share: Reals) -> Shares:
    """A player's table from rows in any order (`move` and `share` in the order of `keys`)."""
    keys, first, source = sort_rows(keys, width)
    return Shares(keys, first, move[source].astype(np.int64), share[source])


def from_tree(tree: Tree, strategies: tuple[Reals, Reals], facts: dict[str, Any] | None = None) -> TablePolicy:
    """A table of strategies that were computed on a tree."""
    shares = [
        sorted_shares(side.keys, np.diff(side.row).astype(np.int64), side.move, strategy)
        for side, strategy in zip(tree.sides, strategies, strict=True)
    ]
    return TablePolicy(tree.game.string, tree.game.fingerprint, tree.recall, (shares[0], shares[1]), facts=facts or {})
