"""What a game is: compiled rules, names for people, and a common face for games of every origin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nebel.core.calls import endless, nothing, number, text, whole_number
from nebel.core.errors import BadRules
from nebel.core.layout import check_declarations, miscounted
from nebel.core.layout import record as record
from nebel.core.parts import CHANCE as CHANCE
from nebel.core.parts import END as END
from nebel.core.parts import Bot as Bot
from nebel.core.parts import Clues as Clues
from nebel.core.parts import Encoding as Encoding
from nebel.core.parts import Glance as Glance
from nebel.core.parts import Hints as Hints
from nebel.core.parts import Likeness as Likeness
from nebel.core.parts import MoreRecalls as MoreRecalls
from nebel.core.parts import Pieces as Pieces
from nebel.core.parts import Record as Record
from nebel.core.parts import Rules as Rules
from nebel.core.parts import all_essential as all_essential
from nebel.core.parts import key_text as key_text
from nebel.core.parts import no_odds as no_odds
from nebel.core.parts import openly as openly

if TYPE_CHECKING:
    from nebel.core.state import State

TURNS = f"0, 1, CHANCE ({CHANCE}) or END ({END})"
"""What turn() may return, in words."""

DEEPEST = 5_000
"""Moves, chance's included, of one game: in a game that declares no depth, a longer one counts as a game that never ends."""


class BaseGame(ABC):
    """A two-player zero-sum game as people and the library's exact parts see it, whatever it is written in."""

    string: str
    name: str = ""
    options: Mapping[str, Any] = MappingProxyType({})
    glances: Mapping[str, Any]
    tried = False

    @abstractmethod
    def begin(self) -> Any:
        """A fresh position."""

    @abstractmethod
    def turn_at(self, position: Any) -> int:
        """0, 1, CHANCE or END."""

    @abstractmethod
    def options_at(self, position: Any) -> list[int]:
        """Legal moves, or outcomes on CHANCE's turn."""

    @abstractmethod
    def odds_at(self, position: Any) -> list[float]:
        """Probabilities of the outcomes."""

    @abstractmethod
    def after(self, position: Any, option: int) -> tuple[Any, tuple[int, int]]:
        """The next position, and what each player saw."""

    @abstractmethod
    def score_at(self, position: Any) -> float:
        """At the end, what player 0 gets."""

    @abstractmethod
    def glance_at(self, glance: str, position: Any, player: int) -> int:
        """What `player` sees at a glance."""

    @abstractmethod
    def name_of_move(self, move: int) -> str: ...

    @abstractmethod
    def name_of_outcome(self, outcome: int) -> str: ...

    @abstractmethod
    def name_of_sight(self, token: int) -> str: ...

    def view_at(self, position: Any, player: int | None) -> str | None:
        """The position as text, as `player` sees it (None: the truth). None when the game draws nothing."""
        return None

    def svg_at(self, position: Any, player: int | None) -> str | None:
        return None

    def start(self) -> State:
        """The beginning of a game, for people: `push`, `legal`, `view` and so on."""
        from nebel.core.state import State

        return State(self)

    def glance_text(self, glance: str, key: int) -> str:
        return key_text(key)

    def meant_at(self, glance: str, position: Any, move: int) -> int:
        """What a move is here that somebody chose who sees the game by this glance."""
        return move

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the game's behaviour in random play: it changes with the rules, and stays when they are only rewritten."""
        from nebel.core.checksum import behaviour

        self.try_out()
        return self.__dict__.get("fingerprint") or behaviour(self)

    def try_out(self) -> None:
        """Probe the rules once, before anything is computed of them; raises BadRules where they break."""
        if not self.tried:
            from nebel.core.probe import probe

            self.__dict__.setdefault("fingerprint", probe(self))  # which is kept like this by the property, too
            object.__setattr__(self, "tried", True)

    def check_length(self, moves: int) -> None:
        """Refuse a history of so many moves that is not at its end."""
        if moves >= DEEPEST:
            raise endless(moves, declared=False)

    def __repr__(self) -> str:
        return f"<game {self.string}>"


@dataclass(frozen=True, eq=False, repr=False)
class Game(BaseGame):
    """A game in rules.

    actions   moves are numbered 0 .. actions-1
    outcomes  chance outcomes are numbered 0 .. outcomes-1
    depth     the longest possible history, moves and chance together
    width     the most options that a turn can have (default: the larger of actions and outcomes)
    most      the most that a player can win, if known: searches stop early where it is certain
    encodings by recall: all that a player of this recall knows, in numbers
    prove     prove(s, plies, nodes, after): a move that wins for certain within so many plies by what the player to move knows; -1: there
              is none, -2: so many nodes did not tell. `after`: a move that was found before, to find another (-1: any)
    liken     how players of another game of the family, which is given, find their way here; raises BadSetting if they cannot
    limited_by  the option that says after how many moves a game is drawn: networks play games that differ in nothing else
    pieces    how networks may name moves by pieces, if all encodings begin with planes of a player's own pieces
    more_recalls  recalls that an option adds: networks of these play the game without it
    """

    state: np.dtype[np.void]
    rules: Rules
    actions: int
    depth: int
    outcomes: int = 0
    width: int = 0
    most: float = float("inf")
    move_name: Callable[[int], str] = str
    outcome_name: Callable[[int], str] = str
    sight_name: Callable[[int], str] = str
    glances: Mapping[str, Glance] = field(default_factory=dict)
    bots: Mapping[str, Bot] = field(default_factory=dict)
    hints: Hints = field(default_factory=Hints)
    clues: Clues = field(default_factory=Clues)
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    prove: Callable[[Record, int, int, int], int] | None = None
    liken: Callable[[Game], Likeness] | None = None
    limited_by: str = ""
    pieces: Pieces | None = None
    more_recalls: MoreRecalls = field(default_factory=MoreRecalls)
    view: Callable[[Record, int | None], str] | None = None
    svg: Callable[[Record, int | None], str] | None = None
    string: str = "game"
    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_declarations(self)
        if not self.width:
            object.__setattr__(self, "width", max(self.actions, self.outcomes))

    def rescored(self, state: np.dtype[np.void], rules: Rules) -> Game:
        """Return a game that differs in its score and in fields that players do not see: policies for this game play that one, too."""
        other = replace(self, state=state, rules=rules)
        other.__dict__["fingerprint"] = self.fingerprint
        return other

    def blank(self, count: int) -> Any:
        """An array of `count` states for compiled code, which trusts the rules: they are tried out before."""
        self.try_out()
        return self.records(count)

    def records(self, count: int) -> Any:
        """An array of `count` states, whatever the rules do with them."""
        return np.zeros(count, self.state).view(np.recarray)

    def begin(self) -> Any:
        states = self.records(1)
        nothing("start()", self.rules.start, "change s", states[0])
        return states

    def check_length(self, moves: int) -> None:
        if moves >= self.depth:
            raise endless(moves, declared=True)

    def turn_at(self, position: Any) -> int:
        turn = whole_number("turn()", self.rules.turn, TURNS, position[0])
        if turn not in (0, 1, CHANCE, END):
            raise BadRules(f"turn() returns {turn}; it must be {TURNS}")
        return turn

    def options_at(self, position: Any) -> list[int]:
        out = np.zeros(self.width, np.int64)
        count = self.count_options(position, out)
        if not 0 < count <= self.width:
            raise BadRules(miscounted(self, count, self.turn_at(position)))
        return [int(move) for move in out[:count]]

    def count_options(self, position: Any, out: Any) -> int:
        """Write the options into `out` and return how many, in or out of range."""
        return whole_number("moves()", self.rules.moves, "how many it wrote into out", position[0], out)

    def odds_at(self, position: Any) -> list[float]:
        out = np.zeros(self.width)
        if self.rules.odds is no_odds:
            raise BadRules("chance is to move, yet the game has no rule odds: Rules(start, turn, moves, play, score, odds)")
        nothing("odds()", self.rules.odds, "write the probabilities into out", position[0], out)
        return [float(p) for p in out[: len(self.options_at(position))]]

    def after(self, position: Any, option: int) -> tuple[Any, tuple[int, int]]:
        states = position.copy()
        seen = np.zeros(2, np.int64)
        with np.errstate(over="ignore"):  # rules may fold
            nothing("play()", self.rules.play, "change s and seen", states[0], option, seen)
        if seen.min() < 0:
            raise BadRules(f"play() reported {seen.tolist()} as seen: what a player sees is a positive integer, or 0 for nothing")
        return states, (int(seen[0]), int(seen[1]))

    def score_at(self, position: Any) -> float:
        return number("score()", self.rules.score, "one number, what player 0 gets; player 1 gets the negative of it", position[0])

    def glance_at(self, glance: str, position: Any, player: int) -> int:
        with np.errstate(over="ignore"):
            return whole_number(f"the glance {glance!r}", self.glances[glance].look, "an integer", position[0], player)

    def glance_text(self, glance: str, key: int) -> str:
        return text(f"the text of the glance {glance!r}", self.glances[glance].text, key)

    def meant_at(self, glance: str, position: Any, move: int) -> int:
        mean = self.glances[glance].mean if glance in self.glances else None
        with np.errstate(over="ignore"):
            return int(mean(position[0], move)) if mean else move

    def name_of_move(self, move: int) -> str:
        return text("the name of a move", self.move_name, move)

    def name_of_outcome(self, outcome: int) -> str:
        return text("the name of an outcome", self.outcome_name, outcome)

    def name_of_sight(self, token: int) -> str:
        return text("the name of a sight", self.sight_name, token)

    def view_at(self, position: Any, player: int | None) -> str | None:
        return text("view()", self.view, position[0], player) if self.view else None

    def svg_at(self, position: Any, player: int | None) -> str | None:
        return text("svg()", self.svg, position[0], player) if self.svg else None
