"""How large a job is, before the first iteration: what fits is enumerated, what cannot fit is refused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.tree import MOST_ESTIMATED, Size, Tree, estimate, grow, measure
from nebel.dark_hex.merged import BOARD, count_states, merge, mergeable, merged_kind
from nebel.solve.merged import merged_bytes
from nebel.solve.settings import METHODS, DoubleOracleSettings, MaximinSettings, Sampling

GIGABYTE = 1 << 30
PLAIN_LIMIT = 3_000_000
"""Histories that a game in plain Python may have: it is enumerated by the interpreter."""

MOST_BOARD_CELLS = 12
"""Of boards for which maximin holds tables: 51 MB each."""

MOST_WALKED = 1e9
"""Histories that one iteration may meet: minutes."""


class Sizing(NamedTuple):
    """What is known of a job before the first iteration."""

    size: Size
    histories: float  # exact if the game was enumerated, else an estimate
    information_states: list[int] | None
    bytes: int
    tree: Tree | None
    walked: float = 1.0  # histories that an iteration meets, where the rules are sampled
    merged: int = 0  # states that an iteration sweeps over, where histories are merged


def size_up(game: BaseGame, method: str, recall: str, memory: float) -> Sizing:
    """Enumerate what fits; refuse what cannot fit, and say what would."""
    if issubclass(METHODS[method], DoubleOracleSettings):
        return _size_strategies(game, recall)
    if issubclass(METHODS[method], MaximinSettings):
        return _size_boards(game, recall, memory)
    room = int(memory * GIGABYTE)
    limit = min(room // 60, 2**31 - 1) if isinstance(game, Game) else PLAIN_LIMIT
    size = measure(game, limit)
    if size.complete and size.bytes <= room:
        tree = grow(game, recall, limit)
        return Sizing(size, size.histories, tree.information_states(), size.bytes, tree)
    histories = float(size.histories) if size.complete else estimate(game)
    need = size.bytes / size.histories * histories
    if not isinstance(game, Game):
        raise _too_large_in_python(game, histories)
    if not issubclass(METHODS[method], Sampling):
        if mergeable(game, recall):
            return _size_merged(game, size, histories, memory)
        raise TooLarge(
            f"{method} needs the whole tree of {game.string}: {_histories(histories)}, {_need(need, memory)}; take --with "
            f"outcome-sampling{_glance_advice(game, recall)} or a smaller variant"
        )
    walked, kind = 1.0, METHODS[method].kind  # type: ignore[attr-defined]
    if kind != "outcome":
        walked = max(estimate(game, (0,)), estimate(game, (1,))) if kind == "external" else estimate(game, (0, 1))
        if walked > MOST_WALKED:
            raise TooLarge(
                f"one traversal of {game.string} with {method} meets about {walked:.2g} histories; take --with outcome-sampling, which "
                "meets one, or a smaller variant"
            )
    return Sizing(size, histories, None, 0, None, walked)


def _size_strategies(game: BaseGame, recall: str) -> Sizing:
    """The double oracle holds strategies, not the game."""
    if game.name != "dark_hex":
        raise BadSetting(f"the double oracle is for Dark Hex, for example dark_hex:4x3; for {game.string} take --with pdcfr+")
    if recall != PERFECT:
        raise BadSetting("the double oracle's strategies remember everything; leave out --recall, or take --with cfr+ for board recall")
    size = measure(game, 1000)
    return Sizing(size, estimate(game), None, 0, None)


def _size_boards(game: BaseGame, recall: str, memory: float) -> Sizing:
    """Maximin holds tables by board, and to begin with the merged states."""
    plain = game.name == "dark_hex" and not game.options["abrupt"] and game.options["leak"] == "silent"
    if not plain or game.options["rows"] * game.options["cols"] > MOST_BOARD_CELLS:
        raise BadSetting(
            f"maximin is for classic silent Dark Hex of up to {MOST_BOARD_CELLS} cells, for example dark_hex:4x3, not for {game.string}"
        )
    if recall != BOARD:
        raise BadSetting("maximin finds policies that remember the board only; add --recall board, or take --with double-oracle")
    return _size_merged(game, measure(game, 1000), estimate(game), memory)


def _size_merged(game: BaseGame, size: Size, histories: float, memory: float) -> Sizing:
    kind = merged_kind(game)
    need, states = merged_bytes(game), count_states(*kind)
    if need > memory * GIGABYTE:
        raise TooLarge(
            f"{game.string} has {states:,} states after merging, {_bytes(need)}, and --memory is {memory:g} GB; take --with "
            "outcome-sampling or a smaller variant"
        )
    return Sizing(size, histories, np.diff(merge(*kind).views.start).tolist(), need, None, merged=states)


def _glance_advice(game: BaseGame, recall: str) -> str:
    return f" (and perhaps --recall {next(iter(game.glances))})" if game.glances and recall == "perfect" else ""


def _too_large_in_python(game: BaseGame, histories: float) -> TooLarge:
    return TooLarge(
        f"{game.string} is written in plain Python and has {_histories(histories)}, more than the {PLAIN_LIMIT:,} that can be enumerated; "
        "write it in rules (nebel new-game) to sample it, or take a smaller variant"
    )


def _histories(count: float) -> str:
    return f"about {count:.2g} histories" if count < MOST_ESTIMATED else "more than 10^100 histories"


def _need(count: float, memory: float) -> str:
    """The memory for a tree, where it can be imagined."""
    return f"{_bytes(count)}, and --memory is {memory:g} GB" if count < 1e15 else "more than any memory holds"


def _bytes(count: float) -> str:
    return f"{count / GIGABYTE:,.3g} GB"
