"""The information states of a table: one by its text or by a game, or the first of all."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadSetting, UnknownInformationState
from nebel.core.game import BaseGame
from nebel.core.recall import PERFECT
from nebel.core.state import State
from nebel.core.tree import grow, measure
from nebel.policy.find import find
from nebel.policy.table import TablePolicy

LISTED_TREE = 2_000_000
"""Histories of a game whose information states are listed one after the other."""


class Row(NamedTuple):
    """An information state and its moves; `state` is a game that leads there, if one is known."""

    player: int
    text: str
    moves: dict[str, float]
    state: State | None


def at(policy: TablePolicy, state: State) -> Row:
    """What the policy says to the player to move."""
    to_move(state)
    found = policy.at(state)
    text = state.information(state.turn, policy.recall)
    if found is None:
        raise UnknownInformationState(f"the policy does not know player {state.turn}'s state '{text}'")
    return Row(state.turn, text, named(state.game, found), state)


def to_move(state: State) -> int:
    """The player to move, or a refusal where that is nobody."""
    if state.turn not in (0, 1):
        legal = " ".join(state.legal()) or "nothing, the game is over"
        raise BadSetting(f"after '{state.moves_text()}' no player is to move; legal: {legal}")
    return state.turn


def matching(policy: TablePolicy, game: BaseGame, asked: str, players: tuple[int, ...]) -> Iterator[Row]:
    """The information states of this text."""
    found = False
    for p in players:
        if policy.recall == PERFECT:
            state = find(game, p, words_of(asked))
            if state is not None:
                found = True
                yield at(policy, state)
        else:
            for row in by_glance(policy, game, asked, p):
                found = True
                yield row
    if not found:
        known = ", ".join(f"'{row.text}'" for row in listed(policy, game, players, 3))
        raise UnknownInformationState(f"no player of {game.string} is ever to move in the state '{asked}'; states look like {known}")


def words_of(asked: str) -> list[str]:
    """What a player did and saw, in words; - is nothing."""
    return [] if asked == "-" else asked.split()


def by_glance(policy: TablePolicy, game: BaseGame, asked: str, player: int) -> Iterator[Row]:
    """Of a policy that goes by a glance: the states that look so."""
    for key, shares in policy.rows(player):
        if game.glance_text(policy.recall, key) == asked:
            yield Row(player, asked, named(game, shares), None)


def listed(policy: TablePolicy, game: BaseGame, players: tuple[int, ...], limit: int) -> list[Row]:
    """The first information states."""
    if policy.recall != PERFECT:
        rows = ((p, key, shares) for p in players for key, shares in policy.rows(p))
        first = itertools.islice(rows, limit)
        return [Row(p, game.glance_text(policy.recall, key), named(game, shares), None) for p, key, shares in first]
    if not measure(game, LISTED_TREE).complete:
        start = game.start()
        return [at(policy, start)] if start.turn in players and policy.at(start) is not None else []
    return list(itertools.islice(_known(policy, game, players), limit))


def every(policy: TablePolicy, game: BaseGame, players: tuple[int, ...]) -> Iterator[Row]:
    """All information states that the policy has; raises `TooLarge` where they cannot be listed."""
    if policy.recall != PERFECT:
        yield from listed(policy, game, players, sum(len(shares.keys) for shares in policy.shares))
        return
    yield from _known(policy, game, players)


def _known(policy: TablePolicy, game: BaseGame, players: tuple[int, ...]) -> Iterator[Row]:
    """Yield the information states of a tree that the policy has."""
    tree = grow(game, policy.recall, LISTED_TREE)
    for p in players:
        for i in np.flatnonzero(np.isin(tree.sides[p].keys, policy.shares[p].keys)):
            yield at(policy, tree.state_of(p, int(i)))


def named(game: BaseGame, shares: dict[int, float]) -> dict[str, float]:
    return {game.name_of_move(move): share for move, share in shares.items()}
