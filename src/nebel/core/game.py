"""What a game is: compiled rules, names for people, and a common face for games of every origin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nebel.core.calls import endless, nothing, number, text, whole_number
from nebel.core.errors import BadRules
from nebel.core.layout import check_declarations, miscounted
from nebel.core.layout import record as record
from nebel.core.rule import rule

if TYPE_CHECKING:
    from nebel.core.state import State

CHANCE, END = -1, -4
"""Who is to move when no player is; the numbers are OpenSpiel's."""

TURNS = f"0, 1, CHANCE ({CHANCE}) or END ({END})"
"""What turn() may return, in words."""

DEEPEST = 5_000
"""Moves, chance's included, of one game: in a game that declares no depth, a longer one counts as a game that never ends."""

Record = Any
"""A state of a game in rules: a NumPy record whose fields the game has named."""


@rule
def no_odds(s: Record, out: Any) -> None:
    """For games without chance."""


class Rules(NamedTuple):
    """A game's rules, each a `@rule`. `s` is the state, changed in place.

    start(s)             set the state to the beginning
    turn(s)              0, 1, CHANCE or END
    moves(s, out)        write the legal moves (or possible outcomes) into `out`, return how many
    play(s, move, seen)  make the move; seen[p] = what player p just saw, as a positive integer (0: nothing)
    score(s)             at the END, what player 0 gets (player 1 gets the opposite)
    odds(s, out)         on CHANCE's turn, the probabilities of the outcomes, in the order of `moves`

    The player who moves always remembers the move itself: `seen` is for what else there is to see.
    """

    start: Callable[[Record], None]
    turn: Callable[[Record], int]
    moves: Callable[[Record, Any], int]
    play: Callable[[Record, int, Any], None]
    score: Callable[[Record], float]
    odds: Callable[[Record, Any], None] = no_odds


@rule
def no_sure_move(s: Record) -> int:
    """For games that give no hint."""
    return -1


@rule
def keep_hidden(s: Record, player: int) -> None:
    """For games that give no hint."""


class Hints(NamedTuple):
    """What a game may tell the search for best responses to policies that play by a glance: it gets faster, its results stay.

    sure(s)            for the player to move, and by nothing but what that player knows: a move as good as any other (-1: none)
    reveal(s, player)  turn the state into one at least as good for `player`, who sees everything: the fewer states, the better
    always             both hold against opponents who remember all that they saw, too
    """

    sure: Callable[[Record], int] = no_sure_move
    reveal: Callable[[Record, int], None] = keep_hidden
    always: bool = False


@rule
def all_essential(s: Record) -> None:
    """For games that give no clue."""


@rule
def openly(mover: int, seen0: int, seen1: int) -> int:
    """For games in which players move openly, and what chance shows both alike is open, too."""
    if mover == CHANCE:
        return seen0 if seen0 == seen1 else 0
    return seen1 if mover == 0 else seen0


class Clues(NamedTuple):
    """What a game may tell those who search at the board about what a player knows. Events: an own move m is 2*m + 1, a sight t is 2*t.

    hopeful(s, me, events, at, end)  in s, where player `me` has done and seen events[:at]: may the game go on so that `me` does and
                                     sees events[at:end], nothing else, and is then to move? None: the library searches
    essence(s)                       clear what has no bearing on what can still be done and seen, so that fewer states differ
    public(mover, seen0, seen1)      the token of a step that is common knowledge (0: nothing); None: the game does not say
    exact                            False: hopeful only rules out, and the library searches what it leaves
    """

    hopeful: Callable[[Record, int, Any, int, int], bool] | None = None
    essence: Callable[[Record], None] = all_essential
    public: Callable[[int, int, int], int] | None = None
    exact: bool = True


def key_text(key: int) -> str:
    return f"#{key & 0xFFFFFFFFFFFFFFFF:x}"


class Glance(NamedTuple):
    """What a player sees without remembering, as one integer below 2**62: equal integers, equal sight.

    mean(s, move)  set if this is how a player of another game sees this one: what that game's move comes to here
    """

    look: Callable[[Record, int], int]
    text: Callable[[int], str] = key_text
    note: str = ""
    mean: Callable[[Record, int], int] | None = None


class Likeness(NamedTuple):
    """How a player of another game finds its way in this one, although states or moves are not the same.

    liken(s, player, t)  write into t, a state of the other game, what comes closest there to what `player` knows in s
    mean(s, t, move)     the legal move here that comes closest to the other game's move in t
    glances              those of the other game by which this makes sense: they need nothing that `liken` leaves out
    """

    liken: Callable[[Record, int, Record], None]
    mean: Callable[[Record, Record, int], int]
    glances: Sequence[str]


class Encoding(NamedTuple):
    """What a player knows as numbers, for networks: write(s, player, out) fills `out`, which has `size` zeros, with values of
    about -1 to 1, as that player sees things: mine and the other's, not player 0's and player 1's. Where they begin with planes of
    a board, `board` has its rows and columns."""

    size: int
    write: Callable[[Record, int, Any], None]
    board: tuple[int, int] | None = None


class Bot(NamedTuple):
    """A player that comes with a game: a rule that finds the move for the state `s` and a uniform number, by what the player to
    move may know.

    depth    set for those that look ahead, this many plies unless told otherwise: choose(s, u, depth)
    within   of those, if they can think by the clock: choose(s, u, depth, nodes), -1 where so many nodes are not enough
    deepest  the most plies that they look ahead
    """

    choose: Callable[..., int]
    note: str = ""
    depth: int = 0
    within: Callable[[Record, float, int, int], int] | None = None
    deepest: int = 0

    @property
    def shallow(self) -> tuple[int, ...]:
        """What `choose` takes besides a state and a number, in checks: the least depth."""
        return (1,) if self.depth else ()

    def to_depth(self) -> Callable[[Record, float, int], int]:
        """The rule for any bot, with a depth that those who do not look ahead ignore."""
        choose = self.choose
        if self.depth:
            return choose

        @rule
        def at_any_depth(s: Record, u: float, depth: int) -> int:
            return choose(s, u)

        return at_any_depth


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
