"""OpenSpiel policies as policies of nebel, for `openspiel:` games and for games that `to_openspiel` gives to OpenSpiel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from nebel.bridge.alphabet import Alphabet
from nebel.bridge.openspiel import OpenSpielRules, to_openspiel
from nebel.core.errors import BadPolicy, Problem
from nebel.core.game import CHANCE, BaseGame, key_text
from nebel.core.plain import PlainGame
from nebel.core.state import State
from nebel.core.tree import grow
from nebel.policy.from_rows import policy_from_rows
from nebel.policy.known_states import Spelling
from nebel.policy.listing import LISTED_TREE
from nebel.policy.row_files import Given, read_share, short
from nebel.policy.table import TablePolicy


def openspiel_spelling(game: BaseGame, numbered: bool) -> Spelling:
    """Return how OpenSpiel names the information states of a game; `numbered`: moves are OpenSpiel's actions, else nebel's names."""
    if isinstance(game, PlainGame) and isinstance(game.rules, OpenSpielRules):
        rules = game.rules

        def string(state: State) -> str:
            return rules.seen(state.position.state, state.turn)

        def actions(state: State) -> list[str]:
            state.options()
            return [str(action) for action in state.position.moves]

        return Spelling(string, actions if numbered else State.legal)
    numbers = Alphabet(game).moves if numbered else {}
    return Spelling(_string_of_twin, (lambda state: [str(numbers[move]) for move in state.options()]) if numbered else State.legal)


def _string_of_twin(state: State) -> str:
    """The information state string of the game that `to_openspiel` makes."""
    return f"player {state.turn}: {state.information(state.turn)} {key_text(state.key(state.turn))}"


def policy_from_openspiel(policy: Any, game: BaseGame, missing: str = "error") -> TablePolicy:
    """Return an OpenSpiel policy as a table for `game`, which is an `openspiel:` game or one that `to_openspiel` was given.

    policy: what has `action_probabilities(state)`, such as a TabularPolicy or the average policy of a solver
    missing: what to do where the policy raises KeyError: "error", or "uniform", which plays uniformly there

    Raises `BadPolicy` where its shares are not probabilities, `UnknownInformationState` where it has none.
    """
    if not callable(getattr(policy, "action_probabilities", None)):
        raise Problem(f"a {type(policy).__name__} is not a policy of OpenSpiel: it has no action_probabilities(state)")
    spelling = openspiel_spelling(game, numbered=True)
    facts = {"method": "imported", "source": f"OpenSpiel {type(policy).__name__}"}
    return policy_from_rows(game, _asked(policy, game), missing=missing, spelling=spelling, facts=facts)


def _asked(policy: Any, game: BaseGame) -> Iterator[Given]:
    """Ask the policy in one state of each information state."""
    tree, theirs = grow(game, limit=LISTED_TREE), _openspiel_state(game)
    for player, side in enumerate(tree.sides):
        for node in side.points.node:
            state = tree.state_at(int(node))
            name = state.information(player)
            where = f"player {player}, state '{short(name)}'"
            try:
                shares = dict(policy.action_probabilities(theirs(state)))
            except KeyError:
                continue
            except Exception as error:
                raise BadPolicy(f"{where}: action_probabilities raised {type(error).__name__}: {short(error)}") from error
            yield Given(player, name, {str(a): read_share(float(p), f"{where}, action {a}") for a, p in shares.items() if p})


def _openspiel_state(game: BaseGame) -> Callable[[State], Any]:
    """Return what makes OpenSpiel's state of a state."""
    if isinstance(game, PlainGame) and isinstance(game.rules, OpenSpielRules):
        return lambda state: state.position.state
    twin = to_openspiel(game)

    def played(state: State) -> Any:
        found = twin.new_initial_state()
        for step in state.steps:
            found.apply_action((twin.alphabet.outcomes if step.turn == CHANCE else twin.alphabet.moves)[step.option])
        return found

    return played
