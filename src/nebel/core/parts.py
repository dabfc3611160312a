"""The parts of a game in rules: what its author writes, each a `@rule` or a few of them with a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from nebel.core.rule import rule

CHANCE, END = -1, -4
"""Who is to move when no player is; the numbers are OpenSpiel's."""

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


class MoreRecalls(NamedTuple):
    """Recalls that a game has only if an option makes its states hold more of the past; the rules are the same whatever it is.

    option  the name of the option
    least   by recall, the smallest value of the option with which the game has it
    """

    option: str = ""
    least: Mapping[str, int] = MappingProxyType({})

    def __str__(self) -> str:
        """Name the recalls; those that differ in a last number only are one.

        >>> print(MoreRecalls("history", {"boards-2": 2, "boards-3": 3}))
        boards-N (with history=N, N = 2 to 3)
        """
        stems: dict[str, list[int]] = {}
        for name, value in self.least.items():
            stems.setdefault(f"{name.removesuffix(str(value))}N" if name.endswith(str(value)) else name, []).append(value)
        option, found = self.option, list[str]()
        for stem, values in stems.items():
            how = f"N, N = {min(values)} to {max(values)}" if len(values) > 1 else f"{values[0]}"
            found.append(f"{stem} (with {option}={how})")
        return ", ".join(found)


class Pieces(NamedTuple):
    """How networks may name the moves of a board game: by pieces and directions instead of cells and directions.

    A player's pieces are numbered kind by kind, those of a kind in the order of their cells; encodings begin with a plane of each kind.
    The number of a move is ways * cell + way; an output's is ways * piece + way. Other moves follow, in both numberings.

    >>> Pieces(cells=36, ways=4, counts=(4, 4)).outputs
    32
    """

    cells: int
    ways: int
    counts: tuple[int, ...]
    """The most pieces of each kind."""
    more: int = 0
    """Moves that are not of a piece on a cell."""

    @property
    def actions(self) -> int:
        return self.ways * self.cells + self.more

    @property
    def outputs(self) -> int:
        return self.ways * sum(self.counts) + self.more


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
