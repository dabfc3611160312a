"""Maximin: exact responses and slopes found a second way, known values reached, and guarantees that hold."""

from __future__ import annotations

import numpy as np
import pytest

from nebel.core.errors import BadPolicy, BadSetting, Problem
from nebel.core.game import Game
from nebel.core.registry import load
from nebel.core.rng import generator
from nebel.dark_hex.forest import board_of, plant
from nebel.dark_hex.slopes import Slope
from nebel.dark_hex.sure_wins import on_board
from nebel.judge.belief_response import respond
from nebel.judge.board_response import BoardResponder
from nebel.judge.exact import judge
from nebel.policy.io import load_policy
from nebel.policy.strategy import SHIPPED
from nebel.policy.table import TablePolicy
from nebel.solve import Budget, Job, solve
from nebel.solve.board_table import board_table
from nebel.solve.maximin import Climber, Maximin, Reals
from nebel.solve.merged import MergedStates
from nebel.solve.settings import MaximinSettings


def tables(game: Game, iterations: int) -> tuple[TablePolicy, list[Reals]]:
    """A policy from a few iterations of CFR+, and the same as shares by board and cell."""
    start = MergedStates(game, "cfr+")
    start.run(iterations)
    policy = start.policy({})
    nothing_sure = np.full(3**game.actions, -1, np.int8)
    return policy, [board_table(board_of(game), shares, nothing_sure) for shares in policy.shares]


@pytest.mark.parametrize("name", ["dark_hex:3x2", "dark_hex:3x3"])
@pytest.mark.parametrize("me", [0, 1])
def test_responses_and_slopes(name: str, me: int) -> None:
    """The value of a response is that of the judge by beliefs; the tree written down reaches it; slopes are differences."""
    game = load(name)
    assert isinstance(game, Game)
    policy, shares = tables(game, 2)
    board, sure, table = board_of(game), on_board(game.options["rows"], game.options["cols"]).moves, shares[1 - me]
    responder = BoardResponder(board, me, sure[me])
    value = responder.judge(table)
    assert value == pytest.approx((respond(game, policy, me).value + 1) / 2, abs=1e-9)
    start, forest = responder.write_down(table, plant(), seed=1)
    slope = Slope(board, 1 - me, sure[me])
    slopes, forest = slope.against(forest, start, table)
    assert slopes.value == pytest.approx(1 - value, abs=1e-9)
    for at in range(0, len(slopes.place), max(1, len(slopes.place) // 20)):
        moved = table.copy()
        moved.ravel()[slopes.place[at]] += 0.5  # a share occurs in every product at most once, so any difference will do
        assert slope.against(forest, start, moved)[0].value - slopes.value == pytest.approx(slopes.slope[at] / 2, abs=1e-9)


def test_tables_that_are_no_policy_are_refused() -> None:
    """A share, a row, an occupied cell, at the beginning and later in the game."""
    game = load("dark_hex:3x2")
    assert isinstance(game, Game)
    _, shares = tables(game, 2)
    sure = on_board(3, 2).moves
    for me in range(2):
        responder, table = BoardResponder(board_of(game), me, sure[me]), shares[1 - me]
        value = responder.judge(table)
        for row in (0, 1):  # nothing known yet, and a stone in a1
            for cell, share in ((1, table[row, 1] + 2e-6), (2, np.nan), (2, np.inf), (slice(None), 0.0)):
                bad = table.copy()
                bad[row, cell] = share
                with pytest.raises(BadPolicy, match=rf"player {1 - me}'s shares on the board '{'o' if row else '.'}\.\.\.\.\.'"):
                    responder.judge(bad)
        bad = table.copy()
        bad[1] = np.eye(6)[0]  # where the stone is
        with pytest.raises(BadPolicy, match="of free cells only"):
            responder.judge(bad)
        assert responder.judge(table) == value


@pytest.mark.parametrize(("name", "black"), [("dark_hex:3x2", 0.0), ("dark_hex:2x3", 1.0), ("dark_hex:3x3", 1.0)])
def test_reaches_sure_wins(name: str, black: float) -> None:
    game = load(name)
    result = solve(Job(name, "maximin", recall="board"))
    assert result.verdict
    assert result.verdict.exploitability == pytest.approx(0.0, abs=1e-9)
    judged = judge(game, result.policy)
    assert judged.wins == pytest.approx((black, 1 - black), abs=1e-9)
    assert result.policy.facts["guarantees"] == pytest.approx([black, 1 - black], abs=1e-9)


def climbing(game: Game, player: int) -> Climber:
    """A climber on 4x3 whose start is a random choice of two cells on each board."""
    sure = on_board(4, 3).moves
    lottery = np.random.default_rng(int(generator(player)[0] & 0xFFFF))
    free = np.stack([np.arange(3**12) // 3**c % 3 == 0 for c in range(12)], axis=1)
    draws = np.where(free, lottery.random(free.shape), -1.0)
    shares = ((draws >= np.sort(draws, axis=1)[:, -2:-1]) & free).astype(np.float64)
    shares[:-1] /= np.maximum(shares[:-1].sum(axis=1, keepdims=True), 1)
    won = np.flatnonzero(sure[player] >= 0)
    shares[won] = 0.0
    shares[won, sure[player][won]] = 1.0
    climber = Climber(board_of(game), player, (sure[0], sure[1]), seed=1, radius=0.05)
    climber.begin(shares)
    return climber


def test_climbs_on_4x3() -> None:
    """From a random start, White's guarantee grows with the first steps, and the judge by beliefs confirms it."""
    game = load("dark_hex:4x3")
    assert isinstance(game, Game)
    solver = Maximin(game, MaximinSettings(), seed=1)
    solver.climbers[1] = climber = climbing(game, 1)
    before = climber.guarantee
    while climber.steps < 40:
        climber.step()
    assert climber.best_guarantee > before + 0.1
    solver.climbers[0] = climbing(game, 0)
    response = respond(game, solver.policy({}), 0)
    assert response.unknown == 0  # complete: the policy knows every board that it leads to
    assert response.guarantee == pytest.approx(climber.best_guarantee, abs=1e-9)


def test_resumes_to_the_same_policy() -> None:
    """Stopped half-way and saved, restored into a new solver: the same steps follow."""
    game = load("dark_hex:4x3")
    assert isinstance(game, Game)
    whole, half = climbing(game, 1), climbing(game, 1)
    for climber, steps in ((whole, 12), (half, 6)):
        while climber.steps < steps:
            climber.step()
    again = climbing(game, 1)
    again.restore(half.save())
    while again.steps < 12:
        again.step()
    assert (again.guarantee, again.best_guarantee) == (whole.guarantee, whole.best_guarantee)
    assert np.array_equal(again.shares, whole.shares)


@pytest.mark.parametrize(
    ("name", "recall", "words"),
    [
        ("dark_hex(rows=3,cols=2,abrupt=true)", "board", "classic silent Dark Hex"),
        ("dark_hex(rows=3,cols=2,leak=noisy)", "board", "classic silent Dark Hex"),
        ("dark_hex:4x4", "board", "up to 12 cells"),
        ("dark_hex:3x2", "perfect", "--recall board"),
        ("kuhn", "perfect", "not for kuhn"),
    ],
)
def test_refuses_what_it_is_not_for(name: str, recall: str, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        solve(Job(name, "maximin", recall=recall), Budget(iterations=1))


def test_shaking_keeps_the_best() -> None:
    """Where no step promises more, the climb begins again elsewhere; the policy stays the best that was found."""
    solver = Maximin(load("dark_hex:3x3"), MaximinSettings(start=1), seed=1)
    solver.prepare()
    climber = solver.climbers[0]
    seen = []
    for _ in range(40):
        solver.run(1)
        seen.append((climber.best_guarantee, climber.guarantee))
    assert seen[-1][0] == pytest.approx(1.0)
    assert min(now for best, now in seen if best == seen[-1][0]) < 1.0
    assert judge(solver.game, solver.policy({})).wins == pytest.approx((1.0, 0.0))


def test_settings_are_checked() -> None:
    with pytest.raises(Problem, match="--radius"):
        MaximinSettings(radius=2.0)


def test_shipped_policy_holds_what_it_promises() -> None:
    """The policies that come with the library: what their file says they guarantee is what the judge by beliefs finds."""
    policy = load_policy(SHIPPED / "board-4x3.nebel")
    assert isinstance(policy, TablePolicy)
    game = load(policy.game)
    assert isinstance(game, Game)
    responses = [respond(game, policy, 1 - player) for player in range(2)]
    assert [response.guarantee for response in responses] == pytest.approx(policy.facts["guarantees"], abs=1e-9)
    assert [response.unknown for response in responses] == [0, 0]
    value = 14279 / 67484
    assert 0 < value - policy.facts["guarantees"][0] < 0.0005
    assert 0 < 1 - value - policy.facts["guarantees"][1] < 0.0005
