"""OpenSpiel's games in nebel, nebel's games and policies in OpenSpiel."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.bridge.openspiel import to_openspiel, to_openspiel_policy
from nebel.core.errors import Problem, UnknownGame
from nebel.core.plain import unfold_plain
from nebel.core.sequence import uniform_strategy
from nebel.core.tree import assemble, grow
from nebel.policy.table import from_tree

pyspiel = pytest.importorskip("pyspiel")

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=4,points_order=ascending,returns_type=win_loss)"


class Uniform:
    def probabilities(self, state):
        options = state.options()
        return dict.fromkeys(options, 1 / len(options))


class Timid:
    """Always the first move."""

    def probabilities(self, state):
        return {move: float(i == 0) for i, move in enumerate(state.options())}


@pytest.mark.parametrize(
    ("string", "histories", "states"),
    [
        ("kuhn_poker", 58, [6, 6]),
        ("python_kuhn_poker", 58, [6, 6]),
        ("leduc_poker", 9457, [468, 468]),
        ("liars_dice(numdice=1)", 294_883, [12_288, 12_288]),
        (GOOFSPIEL, 1077, [81, 81]),
        ("matrix_rps", 13, [1, 1]),
    ],
)
def test_trees_of_openspiel_games(string, histories, states):
    tree = grow(nebel.game(f"openspiel:{string}"))
    assert tree.histories == histories
    assert tree.information_states() == states


@pytest.mark.parametrize("string", ["kuhn_poker", "leduc_poker", GOOFSPIEL])
def test_points_are_openspiel_information_states(string):
    """Not only as many: each point is one string, and each string one point."""
    tree = grow(nebel.game(f"openspiel:{string}"))
    for player, side in enumerate(tree.sides):
        strings = {tree.state_of(player, number).information(player, "string") for number in range(side.states)}
        assert len(strings) == side.states
    assert grow(tree.game, "string").information_states() == tree.information_states()


def test_dark_hex_of_openspiel_is_ours():
    theirs, ours = nebel.game("openspiel:dark_hex_ir(num_rows=2,num_cols=2)"), nebel.game("dark_hex:2x2")
    for mine, other in (("perfect", "perfect"), ("string", "board")):
        tree = assemble(ours, other, 0, *unfold_plain(ours, other))
        assert grow(theirs, mine).histories == tree.histories == 441
        assert grow(theirs, mine).information_states() == tree.information_states()
    assert grow(theirs, "string").information_states() == [17, 25]


def test_states_without_a_text_are_told_apart():
    game = nebel.game("openspiel:tic_tac_toe")
    game.try_out()
    assert game.start().information(0, "string") == "-"


def test_states_of_openspiel_games():
    state = nebel.game("openspiel:leduc_poker").start()
    assert state.legal()[0] == "Chance_outcome:0"
    state.play("Chance_outcome:0 Chance_outcome:3")
    assert state.legal() == ["Call", "Raise"]
    assert "Private: 0" in state.view(0)
    assert "Private: 0" not in state.view(1)
    assert nebel.read_record(state.record()).moves() == state.moves()


@pytest.mark.parametrize(
    ("string", "error", "message"),
    [
        ("kuhn_pokr", UnknownGame, "no game 'kuhn_pokr' (did you mean kuhn_poker"),
        ("kuhn_poker(foo=1)", UnknownGame, "cannot make 'kuhn_poker(foo=1)': Unknown parameter 'foo'"),
        ("kuhn_poker(players=3)", Problem, "has 3 players"),
        ("matrix_pd", Problem, "is not zero-sum (OpenSpiel calls its utility GENERAL_SUM)"),
        ("mfg_crowd_modelling", Problem, "is a mean-field game"),
        ("solitaire", Problem, "has 1 player;"),
        ("dark_chess", Problem, "no information state string"),
    ],
)
def test_games_that_cannot_be_taken(string, error, message):
    with pytest.raises(error, match=re.escape(message)):
        nebel.game(f"openspiel:{string}")


def test_openspiel_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(Problem, match=re.escape("pip install nebel[bridge]")):
        nebel.game("openspiel:kuhn_poker")


def test_figures_in_openspiel():
    game = to_openspiel(nebel.game("kuhn"))
    assert (game.num_distinct_actions(), game.max_chance_outcomes(), game.max_game_length()) == (2, 3, 3)
    assert (game.min_utility(), game.max_utility(), game.max_chance_nodes_in_history()) == (-2, 2, 2)
    assert game.get_type().chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    large = to_openspiel(nebel.game("dark_hex:4x3"))
    assert (large.num_distinct_actions(), large.max_chance_outcomes(), large.max_game_length()) == (12, 0, 23)
    assert large.get_type().chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC


@pytest.mark.parametrize("string", ["kuhn", "dark_hex:2x2", "openspiel:kuhn_poker"])
def test_openspiel_can_play_ours(string):
    game = to_openspiel(nebel.game(string))
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    again = pyspiel.load_game(str(game))
    assert str(again) == str(game)
    state = game.new_initial_state()
    while not state.is_terminal():
        assert state.legal_actions() == sorted(state.legal_actions())
        twin = state.clone()
        state.apply_action(state.legal_actions()[-1])
        assert len(twin.history()) == len(state.history()) - 1
    assert sum(state.returns()) == 0
    _, read = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    for player in range(2):
        assert read.information_state_string(player) == state.information_state_string(player)
        np.testing.assert_array_equal(read.information_state_tensor(player), state.information_state_tensor(player))


def test_information_in_openspiel():
    state = to_openspiel(nebel.game("kuhn")).new_initial_state()
    for action in (2, 0, 1):
        state.apply_action(action)
    assert state.information_state_string(1).startswith("player 1: J (bet) #")
    assert state.information_state_tensor(1) == [4, 8, 0, 0]
    assert str(state) == "K J bet"


@pytest.mark.parametrize("string", ["kuhn", "openspiel:kuhn_poker"])
def test_openspiel_solves_ours(string):
    cfr = pytest.importorskip("open_spiel.python.algorithms.cfr")
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    game = to_openspiel(nebel.game(string))
    solver = cfr.CFRSolver(game)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(game, solver.average_policy()) < 0.02


def test_our_policies_in_openspiel():
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    policy = pytest.importorskip("open_spiel.python.policy")
    game = to_openspiel(nebel.game("kuhn"))
    measured = exploitability.nash_conv(game, to_openspiel_policy(Uniform(), game))
    assert measured == pytest.approx(exploitability.nash_conv(game, policy.UniformRandomPolicy(game)))
    assert measured == pytest.approx(11 / 12)
    assert exploitability.nash_conv(game, to_openspiel_policy(Timid(), game)) == pytest.approx(2.0)
    with pytest.raises(Problem, match="to_openspiel"):
        to_openspiel_policy(Uniform(), pyspiel.load_game("kuhn_poker"))


def test_what_is_no_policy_is_not_handed_to_openspiel():
    tree = nebel.grow(nebel.game("kuhn"))
    policy = from_tree(tree, (uniform_strategy(tree.sides[0]), uniform_strategy(tree.sides[1])))
    game = to_openspiel(nebel.game("kuhn"))
    state = game.new_initial_state()
    for _ in range(2):
        state.apply_action(state.legal_actions()[0])
    assert list(to_openspiel_policy(policy, game).action_probabilities(state).values()) == [0.5, 0.5]
    bad = replace(policy, shares=(policy.shares[0]._replace(share=policy.shares[0].share * 1.2), policy.shares[1]))
    with pytest.raises(Problem, match=r"sum to 1.2"):
        to_openspiel_policy(bad, game)
    with pytest.raises(Problem, match="made for kuhn, not for dark_hex"):
        to_openspiel_policy(policy, to_openspiel(nebel.game("dark_hex:2x2")))

    class Own(Timid):
        def probabilities(self, state):
            return dict.fromkeys(state.options(), 0.7)

    with pytest.raises(Problem, match=r"sum to 1.4"):
        to_openspiel_policy(Own(), game).action_probabilities(state)


def test_the_guide_runs_as_printed(capsys):
    pytest.importorskip("pettingzoo")
    guide = (Path(__file__).parents[2] / "docs" / "bridges.md").read_text()
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", guide, re.DOTALL)
    assert len(examples) == 3
    for code, printed in examples:
        exec(code, {})
        assert capsys.readouterr().out == printed
