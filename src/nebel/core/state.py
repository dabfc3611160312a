"""A game in progress, for people: moves by name, views, transcripts, pictures, records."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from nebel.core.calls import located
from nebel.core.errors import BadFile, BadRules, BadSetting, IllegalMove, Problem
from nebel.core.game import CHANCE, END, BaseGame, Game, MoreRecalls
from nebel.core.picture import text_picture
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import generator, uniform
from nebel.core.suggest import did_you_mean

Answer = TypeVar("Answer")
Seat = Literal[0, 1, "truth"] | int

MOST_NAMED = 60
"""Legal moves that an error names."""


class Step(NamedTuple):
    """One move that was made: by whom, which, and what each player saw."""

    turn: int
    option: int
    seen: tuple[int, int]


class State:
    """`state = game.start(); state.push("b2"); state.legal(); state.view(0)`"""

    def __init__(self, game: BaseGame) -> None:
        self.game = game
        self.steps: list[Step] = []
        self._positions: list[Any] = []
        self._positions.append(self._ask(game.begin))

    def _ask(self, part: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call a part of the game; an error in it is told with the moves that lead here."""
        try:
            return part(*arguments)
        except BadRules as error:
            raise located(self.game, error, [(step.turn, step.option) for step in self.steps]) from error

    @property
    def position(self) -> Any:
        return self._positions[-1]

    @property
    def turn(self) -> int:
        """0 or 1, CHANCE (-1), or END (-4)."""
        return self._ask(self.game.turn_at, self.position)

    @property
    def over(self) -> bool:
        return self.turn == END

    def score(self) -> float | None:
        """What player 0 gets, once the game is over."""
        return self._ask(self.game.score_at, self.position) if self.over else None

    def options(self) -> list[int]:
        return [] if self.over else self._ask(self.game.options_at, self.position)

    def odds(self) -> list[float]:
        """The probabilities of the outcomes, on chance's turn."""
        return self._ask(self.game.odds_at, self.position) if self.turn == CHANCE else []

    def legal(self) -> list[str]:
        """What can be pushed now, by name."""
        return [self.name(option) for option in self.options()]

    def name(self, option: int) -> str:
        return self._name(self.turn, option)

    def _name(self, turn: int, option: int) -> str:
        return self._ask(self.game.name_of_outcome if turn == CHANCE else self.game.name_of_move, option)

    def push(self, move: str | int) -> State:
        """Make a move (or say what chance dealt), by name or number."""
        if self.over:
            raise IllegalMove(f"{move!s} cannot be played: the game is over after {self.moves_text() or 'no moves'}")
        self._ask(self.game.check_length, len(self.steps))
        options = self.options()
        matches = [o for o in options if o == move] if isinstance(move, int) else [o for o in options if self.name(o) == move]
        if not matches:
            who = "chance" if self.turn == CHANCE else f"player {self.turn}"
            after = f"after {self.moves_text()}" if self.steps else "at the start"
            legal = self.legal()
            more = f" and {len(legal) - MOST_NAMED:,} more" if len(legal) > MOST_NAMED else ""
            raise IllegalMove(f"{move!s} is not legal for {who} {after}; legal: {' '.join(legal[:MOST_NAMED])}{more}")
        turn = self.turn
        position, seen = self._ask(self.game.after, self.position, matches[0])
        self.steps.append(Step(turn, matches[0], seen))
        self._positions.append(position)
        return self

    def play(self, moves: str | Sequence[str]) -> State:
        """Push several moves: `state.play("K J bet")`."""
        for move in moves.split() if isinstance(moves, str) else moves:
            self.push(move)
        return self

    def deal(self, seed: Any) -> State:
        """Let chance move until a player is to move. `seed` is a number, or a generator from `nebel.core.rng` that goes on."""
        rng = generator(seed, len(self.steps)) if isinstance(seed, int) else seed
        while self.turn == CHANCE:
            options, odds = self.options(), self.odds()
            with np.errstate(over="ignore"):
                x = uniform(rng)
            pick = options[-1]
            for option, p in zip(options, odds, strict=True):
                x -= p
                if x < 0:
                    pick = option
                    break
            self.push(pick)
        return self

    def undo(self) -> State:
        """Take the last move back."""
        if not self.steps:
            raise IllegalMove("nothing to undo: the game is at its start")
        self.steps.pop()
        self._positions.pop()
        return self

    def copy(self) -> State:
        twin = State(self.game)
        twin.steps, twin._positions = list(self.steps), list(self._positions)
        return twin

    def moves(self) -> list[str]:
        """All moves so far, chance's too: the whole truth."""
        return [self._name(step.turn, step.option) for step in self.steps]

    def moves_text(self) -> str:
        return " ".join(self.moves())

    def transcript(self, player: int) -> list[str]:
        """What `player` did and saw so far, in words."""
        words = []
        for step in self.steps:
            if step.turn == player:
                words.append(self._ask(self.game.name_of_move, step.option))
            if step.seen[player]:
                words.append(self._ask(self.game.name_of_sight, step.seen[player]))
        return words

    def key(self, player: int, recall: str = PERFECT) -> int:
        """The number of the information state `player` is in."""
        if recall != PERFECT:
            recall = resolve_recall(self.game, recall)
            return self._ask(self.game.glance_at, recall, self.position, player)
        with np.errstate(over="ignore"):
            memory = blank_memory(player)
            for step in self.steps:
                if step.turn == player:
                    memory = remember_move(memory, step.option)
                memory = remember_sight(memory, step.seen[player])
        return int(memory)

    def information(self, player: int, recall: str = PERFECT) -> str:
        """The information state `player` is in, as text."""
        if recall == PERFECT:
            return " ".join(self.transcript(player)) or "-"
        return self._ask(self.game.glance_text, recall, self.key(player, recall))

    def view(self, seat: Seat) -> str:
        """The position as `seat` may know it ("truth": as it is)."""
        drawn = self._ask(self.game.view_at, self.position, _player(seat))
        if drawn is not None:
            return drawn
        return self.moves_text() or "-" if seat == "truth" else self.information(int(seat))

    def svg(self, seat: Seat) -> str:
        """A picture of what `view` says."""
        return self._ask(self.game.svg_at, self.position, _player(seat)) or text_picture(self.view(seat))

    def record(self) -> str:
        """The game so far as text, to be read back with `read_record`."""
        score = self.score()
        result = "*" if score is None else f"{score:+g}"
        return f'[Game "{self.game.string}"]\n[Result "{result}"]\n\n{self.moves_text()}\n'

    def __repr__(self) -> str:
        return f"<state of {self.game.string}: {self.moves_text() or 'start'}>"


def _player(seat: Seat) -> int | None:
    if seat == "truth":
        return None
    if seat not in (0, 1):
        raise Problem(f"no seat {seat!r}; seats are 0, 1 and 'truth'")
    return int(seat)


def resolve_recall(game: BaseGame, recall: str) -> str:
    """The name of a recall that the game has; "imperfect" stands for its first glance."""
    if recall == "imperfect" and game.glances:
        return next(iter(game.glances))
    offered = (PERFECT, *game.glances)
    if recall not in offered:
        added = game.more_recalls if isinstance(game, Game) else MoreRecalls()
        more = f", {added}" if added.least else ""
        hint = did_you_mean(recall, (*offered, *added.least))
        raise BadSetting(f"{game.string} has no recall {recall!r}{hint}; it has: {', '.join(offered)}{more}")
    return recall


def read_record(text: str, game: BaseGame | None = None) -> State:
    """Return the state that `State.record` wrote down; every move is checked again.

    A Python file that the record names is run only if the user named it before, unchanged; `game` is played instead, if it is given.
    """
    from nebel.core.registry import load_named

    lines = text.splitlines()
    headers = list(itertools.takewhile(lambda line: line.startswith("["), lines))
    named = next((line[7:-2] for line in headers if line.startswith('[Game "') and line.endswith('"]')), None)
    if named is None:
        raise BadFile('not a record: the line [Game "..."] is missing')
    state = (game or load_named(named, "the record", "nebel.game('{}')")).start()
    return state.play([word for line in lines[len(headers) :] for word in line.split()])
