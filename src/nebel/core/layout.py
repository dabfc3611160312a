"""The sizes of a game in rules, as it declares them: what cannot be held in memory is refused when the game is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nebel.core.calls import shown
from nebel.core.errors import BadRules

if TYPE_CHECKING:
    from nebel.core.game import Game

LARGEST_STATE = 1 << 20
"""Bytes of a state: it is copied at every move."""
LARGEST_LINE = 1 << 30
"""Bytes of the states and lists of moves of one game from its start to its end."""
EVEN_SUM = 1e-9
"""By how much the odds of chance may miss 1."""


def record(**fields: Any) -> np.dtype[np.void]:
    """The layout of a state: `record(pot=int64, hand=(int64, 2))`."""
    taken = [name for name in fields if hasattr(np.record, name)]
    if taken:
        raise BadRules(f"a state's field cannot be called {taken[0]!r}: NumPy records have something else by that name")
    if not fields:
        raise BadRules("a state needs at least one field, such as record(turn=int64)")
    _check_sizes({name: _bytes_of(name, kind) for name, kind in fields.items()})
    packed = np.dtype([(name, *(kind if isinstance(kind, tuple) else (kind,))) for name, kind in fields.items()], align=True)
    layout: Any = packed.fields
    return np.dtype(  # a whole number of 64-bit words, so that states can be compared and hashed as such
        {
            "names": list(fields),
            "formats": [layout[name][0] for name in fields],
            "offsets": [layout[name][1] for name in fields],
            "itemsize": -(-packed.itemsize // 8) * 8,
        },
        align=True,
    )


def _bytes_of(name: str, kind: Any) -> int:
    """The size of a field, which NumPy itself cannot compute where it is huge."""
    number, shape = (*kind, ()) if isinstance(kind, tuple) and len(kind) == 1 else kind if isinstance(kind, tuple) else (kind, ())
    sides = shape if isinstance(shape, tuple) else (shape,)
    try:
        each: np.dtype[Any] = np.dtype(number)
    except (TypeError, ValueError):
        each = np.dtype(object)
    if each.kind not in "biuf" or not all(isinstance(side, (int, np.integer)) and side > 0 for side in sides):
        raise BadRules(f"the field {name}={kind!r} of a state is not an array of numbers: write {name}=int64 or {name}=(int64, 3)")
    return each.itemsize * math.prod(int(side) for side in sides)


def _check_sizes(fields: Mapping[str, int]) -> None:
    total, largest = sum(fields.values()), max(fields, key=lambda name: fields[name])
    if total > LARGEST_STATE:
        raise BadRules(
            f"a state takes {total:,} bytes, {fields[largest]:,} of them for its field {largest!r}; at most {LARGEST_STATE:,} are "
            "possible, because it is copied at every move"
        )


def check_declarations(game: Game) -> None:
    """Refuse declarations that are of the wrong type, or that take more memory than there can be."""
    state, rules = game.state, game.rules
    if not isinstance(state, np.dtype) or not state.fields:
        raise BadRules(f"state={shown(state)} is not the layout of a state; write state=record(turn=int64, ...)")
    _check_sizes({name: layout[0].itemsize for name, layout in state.fields.items()})
    wanted = "write rules=Rules(start, turn, moves, play, score, odds)"
    if not hasattr(rules, "_asdict"):
        raise BadRules(f"rules is a {type(rules).__name__}; {wanted}")
    if missing := [name for name, function in rules._asdict().items() if not callable(function)]:
        raise BadRules(f"{missing[0]}={getattr(rules, missing[0])!r} is not a rule; {wanted}")
    for name, least in (("actions", 1), ("depth", 1), ("outcomes", 0), ("width", 0)):
        value = getattr(game, name)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise BadRules(f"{name}={value!r} is out of range: it must be a whole number of at least {least}")
    if game.pieces is not None:
        if game.pieces.actions != game.actions:
            raise BadRules(f"pieces={game.pieces} number {game.pieces.actions:,} moves, and actions={game.actions:,}")
        planes = game.pieces.cells * len(game.pieces.counts)
        if short := [recall for recall, encoding in game.encodings.items() if encoding.size < planes]:
            raise BadRules(f"the encoding {short[0]!r} is shorter than the planes of pieces={game.pieces}, with which it must begin")
    line = (game.depth + 2) * (state.itemsize + 8 * (game.width or max(game.actions, game.outcomes)))
    if line > LARGEST_LINE:
        raise BadRules(
            f"depth={game.depth} takes {line:,} bytes for one game, a state of {state.itemsize:,} bytes and up to "
            f"{game.width or max(game.actions, game.outcomes):,} options at each move; at most {LARGEST_LINE:,} are possible"
        )


def miscounted(game: Game, count: int, turn: int) -> str:
    """What is wrong with so many options."""
    if count < 1:
        return f"{'chance' if turn < 0 else f'player {turn}'} is to move, yet moves() offers nothing"
    declared = "width"
    if game.width == max(game.actions, game.outcomes):  # nobody wrote it
        declared = "outcomes" if turn < 0 else "actions"
    return f"moves() offers {count} options, yet {declared}={getattr(game, declared)}"


def uneven(odds: Sequence[float], options: int, least: float = 0.0) -> str:
    """What is wrong with these odds of chance; empty if nothing is."""
    if len(odds) != options or not all(p >= least for p in odds):
        return f"odds() gives {shown(odds)} for {options} outcomes; each must be positive"
    if abs(sum(odds) - 1) > EVEN_SUM:
        return f"odds() gives {shown(odds)}, which sum to {sum(odds):.6g} instead of 1"
    return ""
