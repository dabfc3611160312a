"""A nebel game as a PettingZoo environment."""

from __future__ import annotations

import importlib
import secrets
from typing import Any

import numpy as np

from nebel.bridge.alphabet import Alphabet
from nebel.core.errors import BadSetting, IllegalMove, Problem
from nebel.core.game import BaseGame
from nebel.core.rng import generator

RENDER_MODES = ("ansi", "svg")


def to_pettingzoo(game: BaseGame, render_mode: str | None = None) -> Any:
    """A nebel game as an AEC environment with the agents "player_0" and "player_1".

    An observation is a dictionary: "observation" is the agent's transcript as positive integers, padded with zeros (an own
    move is 1 + its number, a sight comes after all moves), "action_mask" has a 1 for each legal action. Chance is played by
    the environment, from the seed given to `reset`. An illegal action is an error, not a penalty. `render()` returns the
    view of the agent to move, and no more: as text ("ansi") or as a picture ("svg").
    """
    try:
        base = importlib.import_module("pettingzoo").AECEnv
        spaces = importlib.import_module("gymnasium.spaces")
    except ImportError as error:
        raise Problem("PettingZoo is not installed; it comes with: pip install nebel[bridge]") from error
    if render_mode not in (None, *RENDER_MODES):
        raise BadSetting(f"no render mode {render_mode!r}; there are: {', '.join(RENDER_MODES)}")
    alphabet = Alphabet(game)
    actions, words = len(alphabet.moves), max(1, alphabet.figures.words)
    largest = alphabet.letters or np.iinfo(np.int64).max

    class NebelEnv(base):  # type: ignore[misc, valid-type]
        metadata = {"render_modes": list(RENDER_MODES), "name": game.string, "is_parallelizable": False}  # noqa: RUF012

        def __init__(self) -> None:
            super().__init__()
            self.render_mode = render_mode
            self.possible_agents = ["player_0", "player_1"]
            self.agents: list[str] = []
            self.rng = generator(secrets.randbits(62))
            self.observation_spaces = {agent: self._space() for agent in self.possible_agents}
            self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}

        def _space(self) -> Any:
            transcript = spaces.Box(0, largest, (words,), np.int64)
            return spaces.Dict({"observation": transcript, "action_mask": spaces.Box(0, 1, (actions,), np.int8)})

        def observation_space(self, agent: str) -> Any:
            return self.observation_spaces[agent]

        def action_space(self, agent: str) -> Any:
            return self.action_spaces[agent]

        def reset(self, seed: int | None = None, options: Any = None) -> None:
            if seed is not None:
                self.rng = generator(seed)
            self.agents = list(self.possible_agents)
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
            self.state_of_play = game.start().deal(self.rng)
            self.agent_selection = self.possible_agents[0]
            self._settle()

        def observe(self, agent: str) -> dict[str, Any]:
            player = self.possible_agents.index(agent)
            transcript, mask = np.zeros(words, np.int64), np.zeros(actions, np.int8)
            spoken = alphabet.words(self.state_of_play, player)
            transcript[: len(spoken)] = spoken
            if self.state_of_play.turn == player:
                mask[[alphabet.moves[move] for move in self.state_of_play.options()]] = 1
            return {"observation": transcript, "action_mask": mask}

        def step(self, action: int | None) -> None:
            if self.terminations[self.agent_selection]:
                self._was_dead_step(action)
                return
            if action is None or int(action) not in alphabet.move_of:
                raise IllegalMove(f"{action} is not an action; actions are 0 to {actions - 1}")
            self._cumulative_rewards[self.agent_selection] = 0.0
            self._clear_rewards()
            self.state_of_play.push(alphabet.move_of[int(action)]).deal(self.rng)
            self._settle()
            self._accumulate_rewards()

        def _settle(self) -> None:
            """Whose turn it is, or what everybody gets."""
            score = self.state_of_play.score()
            if score is None:
                self.agent_selection = self.possible_agents[self.state_of_play.turn]
                return
            self.rewards = {"player_0": score, "player_1": -score}
            self.terminations = dict.fromkeys(self.agents, True)

        def render(self) -> str | None:
            if self.render_mode is None:
                return None
            player = self.possible_agents.index(self.agent_selection)
            return self.state_of_play.view(player) if self.render_mode == "ansi" else self.state_of_play.svg(player)

        def close(self) -> None:
            """Nothing is open."""

    return NebelEnv()
