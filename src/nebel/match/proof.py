"""Certain wins first: `purple:4+proof:7` plays a move that wins within 7 plies whatever is hidden if there is one, and else as purple:4."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame, Game
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.match.agents import Agent, Generator

NODES = 1_000_000
"""That a proof may take."""

MOST_PLIES = 19


@lru_cache(maxsize=16)
def _proving(game: Game) -> Any:
    prove: Any = game.prove

    @kernel
    def look(states: Any, plies: int, nodes: int, after: int) -> int:
        return prove(states[0], plies, nodes, after)

    return look


def proving(game: BaseGame) -> Any:
    """look(states, plies, nodes, after), or a refusal."""
    if not isinstance(game, Game) or game.prove is None:
        raise BadSetting(f"{game.string} has no search for certain wins")
    return _proving(game)


def sure_win(state: State, plies: int, nodes: int = NODES) -> int | None:
    """The quickest certain win of the player to move within so many plies; None if there is none, or it took too long to tell."""
    look = proving(state.game)
    for depth in range(1, plies + 1, 2):
        move = int(look(state.position, depth, nodes, -1))
        if move >= 0:
            return move
        if move < -1:
            return None
    return None


def sure_wins(state: State, plies: int, nodes: int = NODES) -> list[int]:
    """All moves that win for certain within so many plies."""
    look, found = proving(state.game), [-1]
    while (move := int(look(state.position, plies, nodes, found[-1]))) >= 0:
        found.append(move)
    return found[1:]


class Prover(Agent):
    """Looks for a certain win, and leaves the rest to another agent."""

    def __init__(self, name: str, plies: int, other: Agent) -> None:
        self.name, self.plies, self.other = name, plies, other
        self.game, self.thinks, self.digest = other.game, other.thinks, f"{other.digest}+{plies}"

    @property
    def nbytes(self) -> int:
        return self.other.nbytes

    def choose(self, state: State, rng: Generator) -> int:
        return self.choose_within(state, rng, 1.0)

    def choose_within(self, state: State, rng: Generator, share: float) -> int:
        options = state.options()
        found = sure_win(state, self.plies) if len(options) > 1 else None
        return self.other.choose_within(state, rng, share) if found is None or found not in options else found

    def forget(self) -> None:
        self.other.forget()

    def shares(self, state: State) -> dict[int, float] | None:
        return self.other.shares(state)

    def sit(self) -> Agent:
        return Prover(self.name, self.plies, self.other.sit())

    def knows(self, state: State) -> bool:
        return self.other.knows(state)

    def join(self, game: BaseGame) -> BaseGame:
        try:
            proving(game)
        except BadSetting as error:
            raise BadSetting(f"{self.name}: {error}") from error
        return self.other.join(game)


def read_prover(name: str, text: str, other: Agent | None) -> Prover:
    plies = text.removeprefix("proof:")
    if other is None:
        raise BadSetting(f"{name}: who plays where no win is certain? write AGENT+{text}, such as purple:4+{text}")
    if not plies.isdecimal() or not 1 <= int(plies) <= MOST_PLIES:
        raise BadSetting(f"{name}: {plies!r} is no number of plies; write 1 to {MOST_PLIES}, such as proof:7")
    return Prover(name, int(plies), other)
