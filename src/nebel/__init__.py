"""nebel learns, solves, measures and plays two-player games with hidden information.

>>> import nebel
>>> state = nebel.game("dark_hex:3x3").start()
>>> state.push("b2").legal()
['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']
"""

from nebel.core.errors import Problem
from nebel.core.game import CHANCE, END, Game, Glance, Rules, record
from nebel.core.registry import GAMES
from nebel.core.registry import load as game
from nebel.core.rule import rule
from nebel.core.state import State, read_record

__version__ = "0.1.0"
__all__ = ["CHANCE", "END", "GAMES", "Game", "Glance", "Problem", "Rules", "State", "game", "read_record", "record", "rule"]
