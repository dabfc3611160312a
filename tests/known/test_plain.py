"""Games in plain Python: the same trees as games in rules, and errors that say what is wrong and where."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.core.errors import BadRules, TooLarge
from nebel.core.game import CHANCE, END
from nebel.core.plain import PlainGame, measure_plain, unfold_plain
from nebel.core.tree import Tree, grow, measure
from nebel.core.unfold import measure_rules, unfold_rules

HEX = [f"dark_hex(rows=2,cols=2,abrupt={abrupt},leak={leak})" for abrupt in ("true", "false") for leak in ("silent", "noisy", "flash")]


class Kuhn:
    """A state is (cards, moves)."""

    def __init__(self):
        self.glances = {"card": lambda state, player: state[0][player]}

    def start(self):
        return "", ""

    def turn(self, state):
        cards, moves = state
        if len(cards) < 2:
            return CHANCE
        return END if moves in ("pp", "bp", "bb", "pbp", "pbb") else len(moves) % 2

    def legal(self, state):
        return ["pass", "bet"]

    def odds(self, state):
        left = [card for card in "JQK" if card not in state[0]]
        return [(card, 1 / len(left)) for card in left]

    def apply(self, state, move):
        cards, moves = state
        return (cards + move, moves) if len(cards) < 2 else (cards, moves + move[0])

    def observe(self, before, move, after, player):
        if len(before[0]) < 2:
            return move if len(before[0]) == player else None
        return move if self.turn(before) != player else None

    def score(self, state):
        cards, moves = state
        if moves.endswith("bp"):
            return 1 if len(moves) == 2 else -1
        stake = 2 if moves.endswith("bb") else 1
        return stake if "JQK".index(cards[0]) > "JQK".index(cards[1]) else -stake


def uniform_value(tree: Tree) -> float:
    nodes = tree.nodes
    value = nodes.score.copy()
    for node in range(len(value) - 1, 0, -1):
        parent = nodes.parent[node]
        value[parent] += value[node] * (nodes.odds[node] if nodes.turn[parent] == CHANCE else 1 / nodes.breadth[parent])
    return float(value[0])


def flat(grown):
    nodes, points, ends = grown
    return [*nodes, *points[0], *points[1], *ends.last, ends.value]


def same_arrays(one, other):
    for mine, theirs in zip(flat(one), flat(other), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def test_kuhn_is_the_built_in_kuhn():
    plain, rules = grow(PlainGame(Kuhn())), grow(nebel.game("kuhn"))
    for compiled, walked in zip(rules.nodes, unfold_plain(rules.game, "perfect")[0], strict=True):
        np.testing.assert_array_equal(compiled, walked)
    assert measure(plain.game) == measure(rules.game)
    assert plain.information_states() == rules.information_states() == [6, 6]
    np.testing.assert_array_equal(plain.nodes.turn, rules.nodes.turn)
    np.testing.assert_array_equal(plain.nodes.point, rules.nodes.point)
    for mine, theirs in zip(plain.sides, rules.sides, strict=True):
        np.testing.assert_array_equal(mine.points.parent, theirs.points.parent)
        np.testing.assert_array_equal(mine.payoffs.value, theirs.payoffs.value)
    assert uniform_value(plain) == uniform_value(rules) == pytest.approx(1 / 8)


@pytest.mark.parametrize("string", ["kuhn", *HEX])
def test_both_ways_to_unfold_agree(string, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    game = nebel.game(string)
    size = measure_rules(game, 10_000)
    assert measure_plain(game, 10_000) == size
    assert measure_plain(game, 30) == measure_rules(game, 30)
    for recall in ("perfect", *game.glances):
        same_arrays(unfold_plain(game, recall), unfold_rules(game, recall, size))


def test_states_and_trees_have_the_same_keys():
    tree = grow(PlainGame(Kuhn()))
    for player, side in enumerate(tree.sides):
        for number, key in enumerate(side.keys):
            assert tree.state_of(player, number).key(player) == key


def test_keys_do_not_depend_on_the_order_of_discovery():
    code = "from test_plain import Kuhn, PlainGame; g = PlainGame(Kuhn()); print(g.start().play('{}').push('Q').push('bet').key(1))"
    keys = set()
    for first in ("K", "J"):
        run = subprocess.run(
            [sys.executable, "-c", code.format(first)], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
        keys.add(run.stdout)
    assert len(keys) == 1


def test_names_and_transcripts():
    state = PlainGame(Kuhn()).start().play("K J bet")
    assert state.legal() == ["pass", "bet"]
    assert state.transcript(1) == ["J", "bet"]
    assert state.view(1) == "J bet"
    assert state.push("pass").score() == 1.0


def test_glances_are_recalls():
    tree = grow(PlainGame(Kuhn()), "card")
    assert tree.information_states() == [3, 3]
    assert tree.state_of(0, 0).information(0, "card") == "J"


def test_moves_of_any_kind():
    class Tuples(Kuhn):
        def legal(self, state):
            return [("pass", 0), ("bet", 1)]

        def apply(self, state, move):
            return super().apply(state, move if isinstance(move, str) else move[0])

        def observe(self, before, move, after, player):
            return super().observe(before, move, after, player)

    game = PlainGame(Tuples())
    assert game.start().play("K J").legal() == ["('pass',_0)", "('bet',_1)"]
    assert grow(game).information_states() == [6, 6]


def test_limits():
    game = PlainGame(Kuhn())
    with pytest.raises(TooLarge, match="more than 20 histories"):
        grow(game, limit=20)

    class Endless(Kuhn):
        def turn(self, state):
            return CHANCE if len(state[0]) < 2 else 0

    with pytest.raises(BadRules, match="a game must end"):
        measure(PlainGame(Endless()))


def changed(**methods):
    return PlainGame(type("Kuhn", (Kuhn,), methods)())


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"turn": lambda self, state: 7}, r"Kuhn: at the start, turn\(\) returned 7; it must return 0, 1, CHANCE \(-1\) or END \(-4\)"),
        ({"odds": lambda self, state: [("J", 0.5)]}, r"at the start, odds\(\) returned probabilities that do not sum to 1, or .*: \[0.5\]"),
        ({"odds": lambda self, state: ["J"]}, r"odds\(\) raised ValueError"),
        ({"legal": lambda self, state: []}, r"after 'J Q', legal\(\) returned no moves"),
        ({"legal": lambda self, state: ["a b", "a_b"]}, r"after 'J Q', legal\(\) returned two moves with the text 'a_b'"),
        ({"legal": lambda self, state: [object()]}, r"legal\(\) returned .* no text of its own"),
        ({"legal": lambda self, state: 1 / 0}, r"after 'J Q', legal\(\) raised ZeroDivisionError: division by zero"),
        ({"apply": lambda self, state, move: state}, r"apply\(state, 'J'\) returned the very state it was given"),
        ({"apply": lambda self, state, move: None}, r"apply\(state, 'J'\) returned None"),
        ({"score": lambda self, state: "won"}, r"after 'J Q pass pass', score\(\) returned 'won', which is not a number"),
        ({"score": lambda self, state: float("nan")}, r"score\(\) returned nan"),
        ({"observe": lambda self, *given: {"a", "b"}}, r"observe\(\) returned the set"),
        ({"observe": lambda self, *given: given[9]}, r"observe\(\) for the move 'J' raised IndexError"),
    ],
)
def test_wrong_returns_are_named(methods, message):
    with pytest.raises(BadRules, match=message):
        grow(changed(**methods))


def test_missing_methods_are_named():
    with pytest.raises(BadRules, match=r"Kuhn has no method score\(state\)"):
        changed(score=None)
    with pytest.raises(BadRules, match="Kuhn is a class"):
        PlainGame(Kuhn)
    with pytest.raises(BadRules, match=r"chance is to move, and there is no method odds"):
        grow(PlainGame(type("Dice", (), {k: v for k, v in vars(Kuhn).items() if k != "odds"})()))


def test_states_that_cannot_be_told_apart_must_agree():
    with pytest.raises(BadRules, match=r"after 'J Q' and after 'J K', player 0 cannot tell .* apart, yet the legal moves differ"):
        grow(changed(legal=lambda self, state: ["pass", "bet"] if "Q" in state[0] else ["pass"]))
    leaky = Kuhn()
    leaky.glances = {"cards": lambda state, player: state[0]}
    with pytest.raises(BadRules, match="the glance 'cards' differs"):
        grow(PlainGame(leaky), "cards")


def test_a_plain_class_is_loaded_from_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from test_plain import Kuhn\n\ndef poker():\n    return Kuhn()\n")
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        game = nebel.game(f"{path}:poker")
    finally:
        sys.path.pop(0)
    assert game.string == f"{path}:poker"
    assert grow(game).information_states() == [6, 6]


def test_the_guide_runs_as_printed(capsys):
    guide = (Path(__file__).parents[2] / "docs" / "plain-games.md").read_text()
    code, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", guide, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == printed
