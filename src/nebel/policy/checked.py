"""Checks that the shares of a policy are probabilities of the legal moves, before anything is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadPolicy
from nebel.core.game import BaseGame, key_text
from nebel.core.recall import PERFECT
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.core.tree import Tree, grow, measure

if TYPE_CHECKING:
    from nebel.policy.table import Shares

Reals = NDArray[np.float64]
Words = Callable[[int], str]
"""An information state in words, given its key."""

TOLERANCE = 1e-9
"""How far from 1 the shares of an information state may sum."""

SHORT = 64
"""Moves of an information state that are compared one by one with each other."""

NAMED = 200_000
"""Histories of a game in which an information state of perfect recall is looked for, to name it in words."""


@kernel
def _unsound_row(row: Any, share: Any) -> int:
    """The first i for which the shares at row[i] .. row[i+1]-1 are negative, not finite or do not sum to 1, or -1."""
    for i in range(row.size - 1):
        total = 0.0
        for k in range(row[i], row[i + 1]):
            if not share[k] >= 0.0:
                return i
            total += share[k]
        if not abs(total - 1.0) <= TOLERANCE:
            return i
    return -1


@kernel
def _odd_row(first: Any, move: Any, start: int) -> Any:
    """The first row from `start` on with a move that is negative or occurs twice, or -1; long rows that do not ascend are not decided."""
    for i in range(start, first.size - 1):
        ascending = True  # most games list their moves in order
        for k in range(first[i], first[i + 1]):
            if move[k] < 0:
                return i, True
            ascending = ascending and (k == first[i] or move[k] > move[k - 1])
            if not ascending:
                if first[i + 1] - first[i] > SHORT:
                    return i, False
                for j in range(first[i], k):
                    if move[j] == move[k]:
                        return i, True
    return -1, True


def check_strategies(tree: Tree, strategies: Any) -> tuple[Reals, Reals]:
    """Return the strategies of both players as arrays of shares by table place, or raise `BadPolicy` where they are none."""
    made = _as_strategies(tree, strategies)
    for player, (side, shares) in enumerate(zip(tree.sides, made, strict=True)):
        if (bad := int(_unsound_row(side.row, shares))) >= 0:
            words = tree.state_of(player, bad).information(player, tree.recall)
            raise BadPolicy(_complaint(player, words, shares[side.row[bad] : side.row[bad + 1]].tolist()))
    return made


def _as_strategies(tree: Tree, strategies: Any) -> tuple[Reals, Reals]:
    """Return the strategies of both players as arrays of the right size, or raise `BadPolicy`; their numbers are not looked at."""
    if not isinstance(strategies, (tuple, list)) or len(strategies) != 2:
        raise BadPolicy(f"strategies are two arrays of shares, one for each player, not {_kind(strategies)}")
    return _as_strategy(tree, 0, strategies[0]), _as_strategy(tree, 1, strategies[1])


def _as_strategy(tree: Tree, player: int, strategy: Any) -> Reals:
    side = tree.sides[player]
    try:
        made = np.asarray(strategy)
    except ValueError:  # rows of different lengths
        made = np.zeros(0, object)
    if made.dtype.kind not in "fiu" or made.shape != side.move.shape:
        wanted = f"{len(side.move):,} shares, one for each move of each information state of {tree.game.string} ({tree.recall} recall)"
        raise BadPolicy(f"the strategy of player {player} has to be an array of {wanted}; it is {_kind(strategy)}")
    return np.ascontiguousarray(made, np.float64)


def check_shares(shares: Shares, player: int, words: Words = key_text) -> None:
    """Raise `BadPolicy` unless a player's table is whole and the shares of each of its information states are probabilities.

    words: names an information state, given its key
    """
    keys, first, move, share = shares
    for name, column in zip(("keys", "first", "move", "share"), shares, strict=True):
        wanted = np.float64 if name == "share" else np.int64
        if column.ndim != 1 or not np.can_cast(column.dtype, wanted):
            raise BadPolicy(f"the table of player {player}: {name} has to be a row of {wanted.__name__}; it is {_kind(column)}")
    if not len(keys) and len(first) <= 1:
        return
    if len(first) != len(keys) + 1 or len(move) != len(share) or first[0] < 0 or first[-1] > len(move) or np.any(first[1:] <= first[:-1]):
        raise BadPolicy(
            f"the table of player {player} is damaged: its {len(keys):,} information states do not share out its {len(move):,} moves"
        )
    late = keys[1:] <= keys[:-1]
    if late.any():
        twice = int(keys[1:][np.argmax(late)])
        raise BadPolicy(f"the table of player {player}: the information state '{words(twice)}' occurs twice, or keys do not ascend")
    first, move = np.asarray(first, np.int64), np.asarray(move, np.int64)
    odd = _odd_moves(first, move)
    if odd >= 0:
        named = words(int(keys[odd]))
        raise BadPolicy(f"the table of player {player}: a move of the information state '{named}' occurs twice or is negative")
    bad = int(_unsound_row(first, share.astype(np.float64, copy=False)))
    if bad >= 0:
        raise BadPolicy(_complaint(player, words(int(keys[bad])), share[first[bad] : first[bad + 1]].tolist()))


def _odd_moves(first: NDArray[np.int64], move: NDArray[np.int64]) -> int:
    """Return the first information state with a move that is negative or occurs twice, or -1."""
    at, sure = _odd_row(first, move, 0)
    while not sure:
        held = move[first[at] : first[at + 1]]
        if held.min() < 0 or len(np.unique(held)) < len(held):
            break
        at, sure = _odd_row(first, move, at + 1)
    return int(at)


def check_probabilities(state: State, shares: Mapping[int, float], who: str = "the policy") -> None:
    """Raise `BadPolicy` unless these are probabilities of the legal moves of the player to move; those left out count as 0."""
    options = state.options()
    try:
        total, least = sum(shares.values()), min(shares.values(), default=0.0)
        sound = least >= 0.0 and abs(total - 1.0) <= TOLERANCE
        strange = [move for move in shares if move not in options]
    except (AttributeError, TypeError):
        given = shares if isinstance(shares, Mapping) else _kind(shares)
        raise BadPolicy(f"{who} has to give a dictionary of moves and their shares, which are numbers; it gives {given!s:.80}") from None
    if strange:
        where = f"player {state.turn} in the information state '{state.information(state.turn)}'"
        raise BadPolicy(f"{who} has a share for {strange[0]!r}, which is not a legal move of {where}; legal: {options}")
    if not sound:
        raise BadPolicy(_complaint(state.turn, state.information(state.turn), list(shares.values())))


def in_words(game: BaseGame, player: int, recall: str) -> Words:
    """Return a function that names information states in words where the game can find them, and else by their keys."""

    def words(key: int) -> str:
        try:
            if recall in game.glances:
                return game.glance_text(recall, key)
            if recall == PERFECT and measure(game, NAMED).complete:
                tree = grow(game, recall, NAMED)
                at = np.flatnonzero(tree.sides[player].keys == key)
                return tree.state_of(player, int(at[0])).information(player)
        except (IndexError, KeyError, ValueError):  # a key that is none of this game's
            pass
        return key_text(key)

    return words


def strange_row(player: int, words: str) -> BadPolicy:
    """Return what to raise where a table has other moves in an information state than the game."""
    return BadPolicy(
        f"the policy's moves are not those of the game in player {player}'s information state '{words}': it was made for other rules"
    )


def strange_keys(player: int, words: str, count: int, game: str) -> BadPolicy:
    """Return what to raise where a table has information states that the game does not have."""
    return BadPolicy(
        f"the table of player {player} has {count:,} information state{'s' * (count > 1)} that {game} does not have, such as '{words}': "
        "made for another game or other rules"
    )


def _complaint(player: int, words: str, row: list[float]) -> str:
    total = float(sum(row))
    wrong = [share for share in row if not (share >= 0.0 and isfinite(share))]
    what = f"hold {wrong[0]:.6g} and sum to {total:.12g}" if wrong else f"sum to {total:.12g}"
    return f"player {player}'s shares in the information state '{words}' {what}: they have to be 0 or more and sum to 1 (within 1e-9)"


def _kind(given: Any) -> str:
    """Say what an argument is, in a few words."""
    if isinstance(given, np.ndarray):
        return f"an array of shape {given.shape} of {given.dtype}"
    if isinstance(given, (tuple, list)):
        return f"a {type(given).__name__} of {len(given)}"
    return f"{given!r}"[:60] if given is None or isinstance(given, (int, float, str)) else f"a {type(given).__name__}"
