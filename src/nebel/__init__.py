"""nebel learns, solves, measures and plays two-player games with hidden information.

>>> import nebel
>>> state = nebel.game("dark_hex:3x3").start()
>>> state.push("b2").legal()
['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nebel.core.errors import Problem
    from nebel.core.game import CHANCE, END, Bot, Encoding, Game, Glance, Likeness, Rules, record
    from nebel.core.plain import PlainGame
    from nebel.core.registry import GAMES
    from nebel.core.registry import load as game
    from nebel.core.remember import keeping_diaries
    from nebel.core.rule import rule
    from nebel.core.state import State, read_record
    from nebel.core.tree import grow
    from nebel.policy.io import load_policy, save_policy

__version__ = "0.1.0"
__all__ = [
    "CHANCE", "END", "GAMES", "Bot", "Encoding", "Game", "Glance", "Likeness", "PlainGame", "Problem", "Rules", "State", "game", "grow",
    "keeping_diaries", "load_policy", "read_record", "record", "rule", "save_policy",
]  # fmt: skip

_HOMES = {
    "core.errors": ("Problem",),
    "core.game": ("CHANCE", "END", "Bot", "Encoding", "Game", "Glance", "Likeness", "Rules", "record"),
    "core.plain": ("PlainGame",),
    "core.registry": ("GAMES", "game"),
    "core.remember": ("keeping_diaries",),
    "core.rule": ("rule",),
    "core.state": ("State", "read_record"),
    "core.tree": ("grow",),
    "policy.io": ("load_policy", "save_policy"),
}


def __getattr__(name: str) -> Any:
    """Names are imported when first used, so that `nebel --help` need not wait for NumPy and Numba."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"nebel.{home}"), "load" if name == "game" else name)
    raise AttributeError(f"module 'nebel' has no attribute {name!r}")
