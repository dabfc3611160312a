"""nebel's games as PettingZoo environments."""

import numpy as np
import pytest

import nebel
from nebel.bridge.pettingzoo import to_pettingzoo
from nebel.core.errors import BadSetting, IllegalMove

pytest.importorskip("pettingzoo")


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")  # it expects bare arrays, while masks come in dictionaries
@pytest.mark.parametrize("string", ["kuhn", "dark_hex:2x2"])
def test_pettingzoo_is_content(string):
    from pettingzoo.test import api_test, seed_test

    game = nebel.game(string)
    api_test(to_pettingzoo(game), num_cycles=100)
    seed_test(lambda: to_pettingzoo(game), num_cycles=50)


def play(env, seed):
    """A game of first legal actions; what was observed, and everybody's reward."""
    env.reset(seed=seed)
    seen, rewards = [], {}
    for agent in env.agent_iter():
        observation, reward, over, _, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        seen.append(observation["observation"].tolist())
        rewards[agent] = reward
        env.step(None if over else int(np.argmax(observation["action_mask"])))
    return seen, rewards


def test_a_game():
    env = to_pettingzoo(nebel.game("kuhn"))
    for seed in range(5):
        seen, rewards = play(env, seed)
        assert abs(rewards["player_0"]) == 1  # both passed
        assert rewards["player_0"] == -rewards["player_1"]
        assert play(env, seed) == (seen, rewards)
    assert len({tuple(play(env, seed)[0][0]) for seed in range(20)}) == 3  # every card is dealt


def test_who_bumps_moves_again():
    env = to_pettingzoo(nebel.game("dark_hex:2x2"))
    env.reset()
    env.step(0)
    assert env.agent_selection == "player_1"
    env.step(0)
    assert env.agent_selection == "player_1"
    assert env.observe("player_1")["action_mask"].tolist() == [0, 1, 1, 1]
    assert not env.observe("player_0")["action_mask"].any()


def test_render_shows_only_what_the_agent_sees():
    game = nebel.game("dark_hex:2x2")
    env = to_pettingzoo(game, "ansi")
    env.reset()
    env.step(0)
    assert env.render() == game.start().push("a1").view(1)
    assert "B" not in env.render()
    env = to_pettingzoo(game, "svg")
    env.reset()
    assert env.render().startswith("<svg")
    with pytest.raises(BadSetting, match="no render mode 'human'"):
        to_pettingzoo(game, "human")


def test_illegal_actions_are_errors():
    env = to_pettingzoo(nebel.game("dark_hex:2x2"))
    env.reset()
    with pytest.raises(IllegalMove, match="actions are 0 to 3"):
        env.step(9)
    env.step(0)
    env.step(0)
    with pytest.raises(IllegalMove, match="is not legal for player 1 after a1 a1; legal: b1 a2 b2"):
        env.step(0)
