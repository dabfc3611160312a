"""A policy from a table of information states and probabilities by name, as other programs make them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from nebel.core.errors import BadFile, BadPolicy, BadSetting, UnknownInformationState
from nebel.core.game import BaseGame
from nebel.core.recall import PERFECT
from nebel.core.suggest import did_you_mean
from nebel.policy.checked import TOLERANCE
from nebel.policy.known_states import Known, Spelling, known_states
from nebel.policy.row_files import Given, short
from nebel.policy.table import MISSING, Shares, TablePolicy, sorted_shares

COMPARED = 20_000
"""Names that an unknown one is compared with, at most."""
SHOWN, LEGAL = 3, 60
"""Information states and legal moves that an error names."""


def policy_from_rows(
    game: BaseGame,
    rows: Iterable[Given],
    recall: str = PERFECT,
    missing: str = "error",
    spelling: Spelling | None = None,
    facts: dict[str, Any] | None = None,
) -> TablePolicy:
    """Return the policy that a table describes; moves that a row leaves out have the share 0.

    recall: how the table names information states: "perfect", or a glance of the game
    missing: what to do if information states have no row: "error", or "uniform", which plays uniformly there
    spelling: a second name that information states may have, and the names of moves (default: as `nebel show` prints them)

    Raises `UnknownInformationState` for states and moves that the game does not have and for gaps, `BadPolicy` for shares that are not
    probabilities, and `TooLarge` if the game has too many information states to compare.
    """
    if missing not in MISSING:
        raise BadSetting(f"missing={missing!r} is not understood: it is {' or '.join(map(repr, MISSING))}")
    known = [list(known_states(game, player, recall, spelling)) for player in range(2)]
    by_name = [_by_name(states) for states in known]
    found: list[dict[int, list[float]]] = [{}, {}]
    for row in rows:
        players = [p for p in range(2) if row.player in (p, None) and row.state in by_name[p]]
        if not players:
            raise _unknown(game, row, by_name)
        for p in players:
            state = by_name[p][row.state]
            if state is None:
                raise BadFile(
                    f"several information states of player {p} are called '{short(row.state)}'; use the names that `nebel show` prints"
                )
            if state.key in found[p]:
                raise BadFile(f"player {p}'s information state '{short(state.names[0])}' has two rows")
            found[p][state.key] = _shares(p, row, state, numbered=row.player is None)
    gaps = [(p, state) for p in range(2) for state in known[p] if state.key not in found[p]]
    if gaps and missing == "error":
        p, state = gaps[0]
        raise UnknownInformationState(
            f"{len(gaps):,} of {sum(map(len, known)):,} information states of {game.string} have no row, the first is player {p}'s "
            f"'{short(state.names[0])}'; add them, or say how to fill them (--missing uniform)"
        )
    tables = (_table(known[0], found[0]), _table(known[1], found[1]))
    return TablePolicy(game.string, game.fingerprint, recall, tables, "uniform" if gaps else "error", facts or {})


def _by_name(states: list[Known]) -> dict[str, Known | None]:
    """Information states by each of their names; None where a name is that of several."""
    found: dict[str, Known | None] = {}
    for state in states:
        for name in dict.fromkeys(state.names):
            found[name] = state if name not in found else None
    return found


def _unknown(game: BaseGame, row: Given, by_name: list[dict[str, Known | None]]) -> UnknownInformationState:
    players = (0, 1) if row.player is None else (row.player,)
    for p in {0, 1} - set(players):
        if row.state in by_name[p]:
            return UnknownInformationState(f"in the state '{short(row.state)}' it is player {p} who is to move, not player {row.player}")
    names = [short(name) for name in itertools.islice(itertools.chain.from_iterable(by_name[p] for p in players), COMPARED)]
    hint = did_you_mean(short(row.state), names)
    first = dict.fromkeys(short(state.names[0]) for p in players for state in by_name[p].values() if state)
    like = "" if hint else "; states look like " + ", ".join(f"'{name}'" for name in itertools.islice(first, SHOWN))
    who = "no player" if row.player is None else f"player {row.player}"
    return UnknownInformationState(f"{game.string} has no state '{short(row.state)}' in which {who} is to move{hint}{like}")


def _shares(player: int, row: Given, state: Known, numbered: bool) -> list[float]:
    """The shares of a row in the order of the legal moves."""
    for move, share in row.moves.items():
        if move not in state.move_names and (share or not numbered):
            hint = did_you_mean(move, state.move_names)
            where = f"player {player} in the state '{short(row.state)}'"
            legal = " ".join(state.move_names[:LEGAL]) + (" ..." if len(state.move_names) > LEGAL else "")
            raise UnknownInformationState(f"'{short(move)}' is not a legal move of {where}{hint}; legal: {legal}")
    total, least = sum(row.moves.values(), Fraction(0)), min(row.moves.values(), default=Fraction(0))
    if least < 0 or abs(total - 1) > TOLERANCE:
        what = f"hold {float(least):.6g} and sum" if least < 0 else "sum"
        raise BadPolicy(
            f"player {player}'s shares in the information state '{short(row.state)}' {what} to {float(total):.12g}: they "
            "have to be 0 or more and sum to 1 (within 1e-9; fractions such as 1/3 are exact)"
        )
    return [float(row.moves.get(name, 0)) for name in state.move_names]


def _table(known: list[Known], found: dict[int, list[float]]) -> Shares:
    held = [state for state in known if state.key in found]
    keys = np.array([state.key for state in held], np.int64)
    width = np.array([len(state.moves) for state in held], np.int64)
    move = np.array([move for state in held for move in state.moves], np.int64)
    return sorted_shares(keys, width, move, np.array([share for state in held for share in found[state.key]], np.float64))
