"""OpenSpiel, both ways: `from_openspiel` takes its games in, `to_openspiel` gives ours (and their policies) to its algorithms."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from nebel.bridge.alphabet import Alphabet
from nebel.core.errors import Problem, UnknownGame
from nebel.core.game import CHANCE, BaseGame, key_text
from nebel.core.plain import PlainGame, Position, written
from nebel.core.registry import load
from nebel.core.state import State
from nebel.core.suggest import did_you_mean
from nebel.policy.checked import check_probabilities
from nebel.policy.table import MadePolicy


def _pyspiel() -> Any:
    try:
        return importlib.import_module("pyspiel")
    except ImportError as error:
        raise Problem("OpenSpiel is not installed; it comes with: pip install nebel[bridge]") from error


def from_openspiel(string: str) -> BaseGame:
    """A two-player zero-sum game of OpenSpiel, by its OpenSpiel string, for example `liars_dice(numdice=1)`.

    What a player sees is OpenSpiel's information state string, whenever it is the player's turn; nothing seen is
    forgotten. The recall "string" is that string alone. Simultaneous moves become moves in turn, the first one hidden.
    """
    return _Foreign(OpenSpielRules(_load(string)), f"openspiel:{string}")


class _Foreign(PlainGame):
    """The same, without asking OpenSpiel again whose turn it is."""

    def sights(self, position: Position, move: Any, to: Position) -> tuple[int, int]:
        if to.turn < 0:
            return 0, 0
        text = self.rules.seen(to.state, to.turn)
        token = self._sights.get(text) or self.learn(self._sights, text, "information_state_string", to)
        return (0, token) if to.turn else (token, 0)


def _load(string: str) -> Any:
    pyspiel = _pyspiel()
    name = string.partition("(")[0].strip()
    if name not in pyspiel.registered_names():
        importlib.import_module("open_spiel.python.games")  # registers those that are written in Python
    if name not in pyspiel.registered_names():
        raise UnknownGame(f"OpenSpiel has no game {name!r}{did_you_mean(name, pyspiel.registered_names())}")
    try:
        game = pyspiel.load_game(string)
    except Exception as error:  # not all of its complaints are SpielErrors
        raise UnknownGame(f"OpenSpiel cannot make {string!r}: {' '.join(str(error).split())}") from error
    kind, types = game.get_type(), pyspiel.GameType
    if kind.dynamics == types.Dynamics.MEAN_FIELD:
        raise Problem(f"{name} is a mean-field game; nebel takes two-player zero-sum games")
    if game.num_players() != 2:
        players = f"{game.num_players()} player{'s' if game.num_players() > 1 else ''}"
        raise Problem(f"{string} has {players}; nebel takes two-player zero-sum games")
    if kind.utility != types.Utility.ZERO_SUM:
        raise Problem(f"{string} is not zero-sum (OpenSpiel calls its utility {kind.utility.name}); nebel takes two-player zero-sum games")
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        raise Problem(f"{string} only samples its chance and does not list the outcomes; nebel needs the list")
    if not kind.provides_information_state_string and (
        kind.information != types.Information.PERFECT_INFORMATION or not kind.provides_observation_string
    ):
        raise Problem(f"{string} does not say what its players know: it has no information state string")
    return pyspiel.convert_to_turn_based(game) if kind.dynamics == types.Dynamics.SIMULTANEOUS else game


class OpenSpielRules:
    """An OpenSpiel game as a plain game; states are OpenSpiel's."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.strings = bool(game.get_type().provides_information_state_string)
        self.glances = {"string": self.seen}

    def start(self) -> Any:
        return self.game.new_initial_state()

    def turn(self, state: Any) -> int:
        return int(state.current_player())

    def legal(self, state: Any) -> list[int]:
        return state.legal_actions()

    def odds(self, state: Any) -> list[tuple[int, float]]:
        return state.chance_outcomes()

    def apply(self, state: Any, action: int) -> Any:
        return state.child(action)

    def score(self, state: Any) -> float:
        return state.player_return(0)

    def names(self, state: Any, actions: list[int]) -> list[str]:
        """OpenSpiel's names; those that stand for several of `actions` get the action's number, too."""
        turn, name = state.current_player(), state.action_to_string
        names = [name(turn, action) for action in actions]
        if len(set(names)) < len(names):
            plain = [written(name) for name in names]
            names = [f"{name}#{action}" if plain.count(name) > 1 else name for name, action in zip(plain, actions, strict=True)]
        return names

    def observe(self, before: Any, action: int, after: Any, player: int) -> str | None:
        return self.seen(after, player) if after.current_player() == player else None

    def seen(self, state: Any, player: int) -> str:
        """OpenSpiel's information state string, or "-" where it is empty, as it is before the first move of some games."""
        return (state.information_state_string(player) if self.strings else state.observation_string(player)) or "-"

    def view(self, state: Any, player: int | None) -> str:
        return str(state) if player is None else self.seen(state, player)


def to_openspiel(game: BaseGame) -> Any:
    """A nebel game as an OpenSpiel Python game: sequential, with explicit chance, zero-sum.

    The information state string is the player's transcript and its number. Both tensors are the transcript as numbers,
    padded with zeros: an own move is 1 + its number, a sight comes after all moves. Bounds (length, utility) are exact for
    games of up to 20,000 histories (in plain Python: 1,000,000, and no more); beyond, the utility is unbounded.
    """
    return _game_class()(game=game)


def to_openspiel_policy(policy: Any, game: Any) -> Any:
    """A nebel policy as an OpenSpiel policy on `game`, which `to_openspiel` made."""
    spiel = importlib.import_module("open_spiel.python.policy")

    class NebelPolicy(spiel.Policy):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(game, [0, 1])

        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            numbers = state.get_game().alphabet.moves
            shares = policy.probabilities(state.state)
            check_probabilities(state.state, shares)
            return {numbers[move]: float(p) for move, p in shares.items()}

    if not hasattr(game, "alphabet"):
        raise Problem("the game of a policy is what to_openspiel returned, not a game of OpenSpiel's own")
    if isinstance(policy, MadePolicy):
        policy.check_game(game.nebel)
    return NebelPolicy()


_OPEN, _CLOSED = "(),=", "[];~"


def openspiel_string(string: str) -> str:
    """A nebel game's string inside an OpenSpiel string, where brackets, commas and equals signs are taken."""
    head, bracket, rest = string.partition("(")
    return head + (bracket + rest).translate(str.maketrans(_OPEN, _CLOSED))


def _nebel_string(string: str) -> str:
    head, bracket, rest = string.partition("[")
    return head + (bracket + rest).translate(str.maketrans(_CLOSED, _OPEN))


class _Course(State):
    """A state that OpenSpiel may copy deeply: the game itself is shared."""

    def __deepcopy__(self, memo: Any) -> _Course:
        twin = _Course.__new__(_Course)
        twin.game, twin.steps, twin._positions = self.game, list(self.steps), list(self._positions)
        return twin

    def __reduce__(self) -> Any:
        """Written down as nothing: OpenSpiel writes the history, and the state is played again from it."""
        return type(None), ()


@functools.cache
def _game_class() -> Any:
    """OpenSpiel's classes can be derived from only once it is there; registered as `nebel(game=...)`."""
    pyspiel = _pyspiel()
    kinds = pyspiel.GameType

    def kind(chance: bool) -> Any:
        return kinds(
            short_name="nebel",
            long_name="A game of nebel",
            dynamics=kinds.Dynamics.SEQUENTIAL,
            chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if chance else kinds.ChanceMode.DETERMINISTIC,
            information=kinds.Information.IMPERFECT_INFORMATION,
            utility=kinds.Utility.ZERO_SUM,
            reward_model=kinds.RewardModel.TERMINAL,
            max_num_players=2,
            min_num_players=2,
            provides_information_state_string=True,
            provides_information_state_tensor=True,
            provides_observation_string=True,
            provides_observation_tensor=True,
            parameter_specification={"game": "kuhn"},
        )

    class NebelGame(pyspiel.Game):  # type: ignore[misc, name-defined]
        def __init__(self, params: dict[str, Any] | None = None, game: BaseGame | None = None) -> None:
            self.nebel = game or load(_nebel_string((params or {}).get("game", "kuhn")))
            self.alphabet = Alphabet(self.nebel)
            figures = self.alphabet.figures
            info = pyspiel.GameInfo(
                num_distinct_actions=len(self.alphabet.moves),
                max_chance_outcomes=len(self.alphabet.outcomes),
                num_players=2,
                min_utility=figures.low,
                max_utility=figures.high,
                utility_sum=0.0,
                max_game_length=figures.decisions,
            )
            super().__init__(kind(figures.chances > 0), info, {"game": openspiel_string(self.nebel.string)})

        def new_initial_state(self) -> Any:
            return NebelState(self)

        def max_chance_nodes_in_history(self) -> int:
            return self.alphabet.figures.chances

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            if params:
                raise Problem(f"observers of nebel's games have no parameters; got {params}")
            return _Observer(self.alphabet.figures.words)

    class NebelState(pyspiel.State):  # type: ignore[misc, name-defined]
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.course: _Course | None = _Course(game.nebel)

        @property
        def state(self) -> State:
            if self.course is None:
                self.course = _Course(self.get_game().nebel)
                for action in self.history():
                    self.course.push(self._option(self.course.turn, action))
            return self.course

        @property
        def alphabet(self) -> Alphabet:
            return self.get_game().alphabet

        def current_player(self) -> int:
            return self.state.turn

        def is_terminal(self) -> bool:
            return self.state.over

        def returns(self) -> list[float]:
            score = self.state.score() or 0.0
            return [score, -score]

        def chance_outcomes(self) -> list[tuple[int, float]]:
            numbers = self.alphabet.outcomes
            return sorted(zip([numbers[o] for o in self.state.options()], self.state.odds(), strict=True))

        def _legal_actions(self, player: int) -> list[int]:
            numbers = self.alphabet.moves
            return sorted(numbers[move] for move in self.state.options())

        def _apply_action(self, action: int) -> None:
            self.state.push(self._option(self.current_player(), action))

        def _action_to_string(self, player: int, action: int) -> str:
            game, option = self.state.game, self._option(player, action)
            return game.name_of_outcome(option) if player == CHANCE else game.name_of_move(option)

        def _option(self, player: int, action: int) -> int:
            return (self.alphabet.outcome_of if player == CHANCE else self.alphabet.move_of)[action]

        def __str__(self) -> str:
            return self.state.moves_text() or "-"

    pyspiel.register_game(kind(True), NebelGame)
    return NebelGame


class _Observer:
    """What OpenSpiel calls an observer: fills an array with a player's transcript, or writes it out."""

    def __init__(self, words: int) -> None:
        self.tensor = np.zeros(words, np.float32)
        self.dict = {"transcript": self.tensor}

    def set_from(self, state: Any, player: int) -> None:
        words = state.alphabet.words(state.state, player)
        self.tensor[: len(words)] = words
        self.tensor[len(words) :] = 0

    def string_from(self, state: Any, player: int) -> str:
        # the number keeps apart what is only spelled alike
        return f"player {player}: {state.state.information(player)} {key_text(state.state.key(player))}"
