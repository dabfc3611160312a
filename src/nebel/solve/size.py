"""How large a job is, before the first iteration: what fits is enumerated, what cannot fit is refused."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.tree import MOST_ESTIMATED, NODE, PLAIN_HISTORY, Room, Size, Tree, estimate, grow, measure
from nebel.dark_hex.merged import BOARD, count_states, merge, mergeable, merged_kind
from nebel.dark_hex.sure_wins import MOST_CELLS
from nebel.solve.double_oracle import least_bytes
from nebel.solve.merged import merged_bytes
from nebel.solve.settings import METHODS, DoubleOracleSettings, MaximinSettings, Sampling

GIGABYTE = 1 << 30
PLAIN_LIMIT = 3_000_000
"""Histories that a game in plain Python may have: it is enumerated by the interpreter."""

MOST_BOARD_CELLS = 12
"""Of boards for which maximin holds tables: 51 MB each."""
BOARD_TABLES = 8
"""How many it holds at once: shares now and at best of both players, and those of a step."""

LEAST_MEMORY = 0.01
LEAST_A_HISTORY = 57
"""Bytes of a history while a tree grows, at least."""
A_TERMINAL = 76
"""Bytes of an end while a tree is solved, about."""

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
    """Enumerate what fits; refuse what cannot fit, and say what would. What fits is reckoned at its peak: while the tree grows, while it
    is solved and judged, and while the policy is made."""
    if memory < LEAST_MEMORY:
        raise TooLarge(f"--memory {memory:g} is too little to solve anything; give at least {LEAST_MEMORY:g} (GB)")
    if issubclass(METHODS[method], DoubleOracleSettings):
        return _size_strategies(game, recall, memory)
    if issubclass(METHODS[method], MaximinSettings):
        return _size_boards(game, recall, memory)
    room, sampling = int(memory * GIGABYTE), issubclass(METHODS[method], Sampling)
    limit = min(room // LEAST_A_HISTORY, 2**31 - 1) if isinstance(game, Game) else min(PLAIN_LIMIT, room // PLAIN_HISTORY)
    size = measure(game, limit)
    misfit: TooLarge | None = None
    if size.complete:
        try:
            tree = _grown(game, method, recall, size, memory)
            return Sizing(size, size.histories, tree.information_states(), solving_bytes(tree, sampling), tree)
        except Misfit as error:
            misfit = TooLarge(str(error))  # the error itself would hold on to the tree
    histories = float(size.histories) if size.complete else estimate(game)
    if not isinstance(game, Game):
        raise misfit or _too_large_in_python(game, histories, limit)
    if not sampling:
        if mergeable(game, recall):
            return _size_merged(game, size, histories, memory)
        need = (NODE * size.histories + A_TERMINAL * size.terminals) / size.histories * histories
        raise misfit or TooLarge(
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


class Misfit(TooLarge):
    """A tree that can be counted, yet needs more memory than there may be."""


def _grown(game: BaseGame, method: str, recall: str, size: Size, memory: float) -> Tree:
    """The tree, if there is memory to solve it; else `Misfit`."""

    def misfit(need: int, known: bool = False) -> Misfit:
        if not known:  # it was found before all was counted
            need = max(5 * need // 4, NODE * size.histories + A_TERMINAL * size.terminals)
        about, enough = "" if known else "about ", math.ceil(100 * need / GIGABYTE) / 100
        return Misfit(
            f"{method} needs the whole tree of {game.string}: {size.histories:,} histories, {about}{_bytes(need)} at its peak, and "
            f"--memory is {memory:g} GB; give --memory {enough:g}, or take --with outcome-sampling{_glance_advice(game, recall)} or a "
            "smaller variant"
        )

    room = int(memory * GIGABYTE)
    tree = grow(game, recall, size.histories, Room(room, misfit))
    need = solving_bytes(tree, issubclass(METHODS[method], Sampling))
    if need > room:
        raise misfit(need, True)
    return tree


def solving_bytes(tree: Tree, sampling: bool) -> int:
    """What solving takes at its peak, at most, once the tree has been grown: the tree, its halves, tables, judging, the policy."""
    moves, states = [len(side.move) for side in tree.sides], sum(tree.information_states())
    sequences, points = sum(side.sequences for side in tree.sides), sum(len(side.points.key) for side in tree.sides)
    paid = len(tree.sides[0].payoffs.value)
    halves = 2 * 12 * paid + 8 * sequences + 28 * points + 8 * states
    tables = 25 * sum(moves) + 8 * tree.histories if sampling else 32 * sum(moves) + 16 * sequences
    judging = 16 * sequences + 8 * points + 8 * sum(moves)
    policy = 16 * sum(moves) + 16 * states + 32 * max(moves)
    return tree.bytes + halves + tables + max(28 * paid, judging + policy)


def tree_to_judge(game: BaseGame, recall: str, memory: float, held: int) -> Tree | None:
    """The tree of a game, to judge what is solved elsewhere, if it fits beside the bytes that are held there."""
    left = memory - held / GIGABYTE
    return size_up(game, "outcome-sampling", recall, left).tree if left >= LEAST_MEMORY else None


def _size_strategies(game: BaseGame, recall: str, memory: float) -> Sizing:
    """The double oracle holds strategies and what is surely won, not the game."""
    if game.name != "dark_hex":
        raise BadSetting(f"the double oracle is for Dark Hex, for example dark_hex:4x3; for {game.string} take --with pdcfr+")
    if recall != PERFECT:
        raise BadSetting("the double oracle's strategies remember everything; leave out --recall, or take --with cfr+ for board recall")
    if game.options["rows"] * game.options["cols"] > MOST_CELLS:
        raise TooLarge(f"the double oracle is for boards of up to {MOST_CELLS} cells, for example dark_hex:4x3, not for {game.string}")
    need = least_bytes(game)
    if need > memory * GIGABYTE:
        enough = math.ceil(100 * need / GIGABYTE + 1) / 100
        raise TooLarge(
            f"{game.string} takes the double oracle {_bytes(need)} at least, and --memory is {memory:g} GB; give --memory {enough:g}"
        )
    return Sizing(measure(game, 1000), estimate(game), None, need, None)


def _size_boards(game: BaseGame, recall: str, memory: float) -> Sizing:
    """Maximin holds tables by board, and to begin with the merged states."""
    plain = game.name == "dark_hex" and not game.options["abrupt"] and game.options["leak"] == "silent"
    if not plain or game.options["rows"] * game.options["cols"] > MOST_BOARD_CELLS:
        raise BadSetting(
            f"maximin is for classic silent Dark Hex of up to {MOST_BOARD_CELLS} cells, for example dark_hex:4x3, not for {game.string}"
        )
    if recall != BOARD:
        raise BadSetting("maximin finds policies that remember the board only; add --recall board, or take --with double-oracle")
    cells = game.options["rows"] * game.options["cols"]
    return _size_merged(game, measure(game, 1000), estimate(game), memory, BOARD_TABLES * 8 * cells * 3**cells)


def _size_merged(game: BaseGame, size: Size, histories: float, memory: float, more: int = 0) -> Sizing:
    """`more`: bytes beside the merged states."""
    kind = merged_kind(game)
    need, states = merged_bytes(game) + more, count_states(*kind)
    if need > memory * GIGABYTE:
        raise TooLarge(
            f"{game.string} has {states:,} states after merging, {_bytes(need)}, and --memory is {memory:g} GB; take --with "
            "outcome-sampling or a smaller variant"
        )
    return Sizing(size, histories, np.diff(merge(*kind).views.start).tolist(), need, None, merged=states)


def _glance_advice(game: BaseGame, recall: str) -> str:
    return f" (and perhaps --recall {next(iter(game.glances))})" if game.glances and recall == "perfect" else ""


def _too_large_in_python(game: BaseGame, histories: float, limit: int) -> TooLarge:
    return TooLarge(
        f"{game.string} is written in plain Python and has {_histories(histories)}, more than the {limit:,} that can be enumerated; "
        "write it in rules (nebel new-game) to sample it, or take a smaller variant"
    )


def _histories(count: float) -> str:
    return f"about {count:.2g} histories" if count < MOST_ESTIMATED else "more than 10^100 histories"


def _need(count: float, memory: float) -> str:
    """The memory for a tree, where it can be imagined."""
    return f"{_bytes(count)}, and --memory is {memory:g} GB" if count < 1e15 else "more than any memory holds"


def _bytes(count: float) -> str:
    return f"{count / GIGABYTE:,.3g} GB"
