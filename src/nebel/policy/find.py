"""From the text of an information state back to a game in which the player is there."""

from __future__ import annotations

from nebel.core.errors import UnknownInformationState
from nebel.core.game import END, BaseGame
from nebel.core.interrupt import check
from nebel.core.state import State

SEARCHED = 300_000
"""Positions that a search may look at before it gives up."""


def find(game: BaseGame, player: int, words: list[str]) -> State | None:
    """A game in which `player` is to move and has this transcript: depth first over whatever else is hidden."""
    state = game.start()
    searched = 0

    def search(matched: int) -> bool:
        nonlocal searched
        check()
        searched += 1
        if searched > SEARCHED:
            raise UnknownInformationState(f"no game was found in which player {player} saw '{' '.join(words)}': the search gave up")
        turn = state.turn
        if turn == player and matched == len(words):
            return True
        if turn == END:
            return False
        options = state.options()
        if turn == player:
            options = [option for option in options if state.name(option) == words[matched]]
        for option in options:
            state.push(option)
            new = _words_of_last_step(state, player)
            if words[matched : matched + len(new)] == new and search(matched + len(new)):
                return True
            state.undo()
        return False

    return state if search(0) else None


def _words_of_last_step(state: State, player: int) -> list[str]:
    step = state.steps[-1]
    words = [state.game.name_of_move(step.option)] if step.turn == player else []
    return words + ([state.game.name_of_sight(step.seen[player])] if step.seen[player] else [])
