"""Exact judging, beside OpenSpiel's for the same random policy and beside brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nebel
from nebel.core.game import CHANCE, END
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.policy.table import Uniform, from_tree


def random_strategies(tree: Tree, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    made = []
    for side in tree.sides:
        raw = rng.exponential(size=len(side.move)) * (rng.random(len(side.move)) < 0.8) + 1e-9
        made.append(raw / np.repeat(np.add.reduceat(raw, side.row[:-1]), np.diff(side.row)))
    return made[0], made[1]


def test_uniform_on_leduc() -> None:
    tree = grow(nebel.game("leduc"))
    verdict = Judge(tree).verdict(Uniform().on_tree(tree).strategies)
    assert verdict.exploitability == pytest.approx(2.373611, abs=1e-6)
    assert verdict.nash_conv == 2 * verdict.exploitability


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("kuhn", "kuhn_poker"),
        ("leduc", "leduc_poker"),
        ("liars_dice(faces=4)", "liars_dice(numdice=1,dice_sides=4)"),
        (
            "goofspiel(cards=4,first_prize=1,forced_last=false)",
            "goofspiel(imp_info=True,num_cards=4,points_order=ascending,returns_type=win_loss)",
        ),
        ("dark_hex(rows=2,cols=2,leak=noisy)", "dark_hex(num_rows=2,num_cols=2,gameversion=cdh)"),
    ],
)
def test_the_same_as_openspiel_for_the_same_policy(ours: str, theirs: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python import policy as spiel_policy
    from open_spiel.python.algorithms import exploitability

    game = nebel.game(ours)
    tree = grow(game)
    strategies = random_strategies(tree, seed=7)
    policy = from_tree(tree, strategies)
    twin = pyspiel.load_game_as_turn_based(theirs)
    shares: dict[str, dict[int, float]] = {}

    def walk(state: nebel.State, other: object) -> None:
        if state.over:
            return
        options = state.options()
        if state.turn in (0, 1):
            name = other.information_state_string()  # type: ignore[attr-defined]
            shares[name] = policy.probabilities(state)
        for option in options:
            walk(state.copy().push(option), other.child(option))  # type: ignore[attr-defined]

    walk(game.start(), twin.new_initial_state())
    table = spiel_policy.TabularPolicy(twin)
    for name, moves in shares.items():
        row = table.policy_for_key(name)
        row[:] = 0.0
        for move, share in moves.items():
            row[move] = share
    assert Judge(tree).verdict(strategies).nash_conv == pytest.approx(exploitability.nash_conv(twin, table), abs=1e-10)


@pytest.mark.parametrize("recall", ["perfect", "board"])
def test_best_response_against_a_plain_search(recall: str) -> None:
    """Abrupt Dark Hex on 2x2: a plain search over what the responder remembers, also against a forgetful policy."""
    tree = grow(nebel.game("dark_hex(rows=2,cols=2,abrupt=true)"), recall)
    policy = from_tree(tree, random_strategies(tree, seed=3))
    verdict = Judge(tree).verdict(policy.on_tree(tree).strategies)
    for player in range(2):
        assert best_by_expectimax(tree, policy, player) == pytest.approx(verdict.best_response[player], abs=1e-12)


def best_by_expectimax(tree: Tree, policy: object, player: int) -> float:
    """Group histories by what the responder remembers, and decide for the whole group at once."""
    sign = 1 if player == 0 else -1

    def best(group: list[tuple[nebel.State, float]]) -> float:
        total, waiting = 0.0, []
        for state, weight in group:
            waiting.extend(advance(state, weight))
        by_memory: dict[int, list[tuple[nebel.State, float]]] = {}
        for state, weight in waiting:
            if state.over:
                total += sign * weight * (state.score() or 0.0)
            else:
                by_memory.setdefault(state.key(player), []).append((state, weight))
        for members in by_memory.values():
            options = members[0][0].options()
            total += max(best([(s.copy().push(a), w) for s, w in members]) for a in options)
        return total

    def advance(state: nebel.State, weight: float) -> list[tuple[nebel.State, float]]:
        """Play on, by the policy and chance, to where the responder moves or the game ends."""
        turn = state.turn
        if turn in (END, player):
            return [(state, weight)]
        if turn == CHANCE:
            shares = dict(zip(state.options(), state.odds(), strict=True))
        else:
            shares = policy.probabilities(state)  # type: ignore[attr-defined]
        return list(itertools.chain.from_iterable(advance(state.copy().push(a), weight * p) for a, p in shares.items() if p > 0))

    return best([(tree.game.start(), 1.0)])
