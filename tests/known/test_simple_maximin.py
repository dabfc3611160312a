"""The best simple policies: by brute force on Kuhn, with proofs, and never less simple than was asked for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting, TooLarge
from nebel.core.game import Game
from nebel.core.state import State
from nebel.core.tree import Side, grow
from nebel.dark_hex.forest import board_of
from nebel.dark_hex.sure_wins import on_board
from nebel.judge.best_response import Judge
from nebel.judge.exact import judge
from nebel.judge.row_certificate import certify_rows, read_rows, verify_rows, write_rows
from nebel.policy.io import load_policy, save_policy
from nebel.policy.simple_rows import count_rows, near_rows, simple_rows, simplicity
from nebel.policy.simplify import Simplify, simplify
from nebel.policy.strategy import SHIPPED
from nebel.policy.table import TablePolicy
from nebel.solve import Budget, Job, solve
from nebel.solve.board_table import board_table, reachable
from nebel.solve.simple_arena import BoardArena, TreeArena
from nebel.solve.simple_climb import Climb
from nebel.solve.simple_maximin import simplest


def ends_of(string: str) -> list[tuple[dict[int, dict[int, int]], float]]:
    """By recursion over histories: each player's move in each information state on the way to an end, and chance times score."""
    found = []

    def visit(state: State, moves: dict[int, dict[int, int]], chance: float) -> None:
        score = state.score()
        if score is not None:
            found.append((moves, chance * score))
            return
        for i, move in enumerate(state.options()):
            after = {p: dict(row) for p, row in moves.items()}
            share = 1.0
            if state.turn in after:
                after[state.turn][state.key(state.turn)] = move
            else:
                share = state.odds()[i]
            visit(state.push(move), after, chance * share)
            state.undo()

    visit(nebel.game(string).start(), {0: {}, 1: {}}, 1.0)
    return found


def best_by_force(string: str, player: int, actions: int, denominator: int) -> float:
    """Every simple policy against every pure one."""
    ends = ends_of(string)
    legal: dict[int, dict[int, set[int]]] = {0: {}, 1: {}}
    for moves, _ in ends:
        for p in range(2):
            for key, move in moves[p].items():
                legal[p].setdefault(key, set()).add(move)
    options = {key: sorted(found) for key, found in legal[player].items()}
    rows = [
        np.array([[float(x) for x in row] for row in itertools.product(fractions(denominator), repeat=len(found))])
        for found in options.values()
    ]
    rows = [row[(np.abs(row.sum(axis=1) - 1) < 1e-9) & ((row > 0).sum(axis=1) <= actions)] for row in rows]
    rows = [row[[is_simple(line, denominator) for line in row]] for row in rows]
    policies = np.array([*itertools.product(*(range(len(row)) for row in rows))])
    place = {key: i for i, key in enumerate(options)}
    reach = np.ones((len(policies), len(ends)))
    for e, (moves, _) in enumerate(ends):
        for key, move in moves[player].items():
            reach[:, e] *= rows[place[key]][policies[:, place[key]], options[key].index(move)]
    worst = np.full(len(policies), np.inf)
    for answer in itertools.product(*(sorted(found) for found in legal[1 - player].values())):
        plan = dict(zip(legal[1 - player], answer, strict=True))
        paid = np.array([(1 - 2 * player) * value * all(plan[k] == m for k, m in moves[1 - player].items()) for moves, value in ends])
        worst = np.minimum(worst, reach @ paid)
    return float(worst.max())


def fractions(denominator: int) -> list[Fraction]:
    return sorted({Fraction(k, n) for n in range(1, denominator + 1) for k in range(n + 1)})


def is_simple(row: np.ndarray, denominator: int) -> bool:
    return any(np.all(np.abs(row * n - np.round(row * n)) < 1e-9) for n in range(1, denominator + 1))


@pytest.fixture(scope="module")
def kuhn() -> TablePolicy:
    return solve(Job("kuhn"), Budget(iterations=200)).policy


@pytest.mark.parametrize(("actions", "denominator"), [(1, 5), (2, 2), (2, 3)])
def test_best_on_kuhn_by_force(kuhn: TablePolicy, actions: int, denominator: int) -> None:
    found = simplest(nebel.game("kuhn"), kuhn, actions, denominator)
    wanted = [best_by_force("kuhn", p, actions, denominator) for p in range(2)]
    assert found.guarantees == pytest.approx(wanted, abs=1e-9)
    assert found.proved == (True, True)
    assert found.bounds == pytest.approx(wanted, abs=1e-6)
    for simple in simplicity(found.policy):
        assert simple.actions <= actions
        assert simple.denominator
        assert simple.denominator <= denominator


def test_a_guide_that_knows_nothing_does_no_harm() -> None:
    """Proofs do not depend on the policy that the search begins with."""
    start = solve(Job("kuhn", "cfr"), Budget(iterations=1)).policy
    assert simplest(nebel.game("kuhn"), start, 2, 3).guarantees == pytest.approx((-1 / 18, 1 / 18), abs=1e-9)


def pure_tables(side: Side) -> Iterator[np.ndarray]:
    """Yield the pure tables of a side, once for each choice in the information states that they come by."""
    points, widths = side.points, np.diff(side.row)

    def visit(picks: dict[int, int]) -> Iterator[np.ndarray]:
        reached = {0}
        for i, (parent, state) in enumerate(zip(points.parent.tolist(), side.state.tolist(), strict=True)):
            if parent not in reached:
                continue
            if state not in picks:
                for pick in range(widths[state]):
                    yield from visit({**picks, state: pick})
                return
            reached.add(int(points.first[i]) + picks[state])
        table = np.zeros(len(side.move))
        table[side.row[:-1] + np.array([picks.get(state, 0) for state in range(side.states)])] = 1.0
        yield table

    return visit({})


def test_forgetful_policies_are_optimal_too() -> None:
    """Abrupt Dark Hex on 2x2 by the board: points that look alike share their row; pure tables by force."""
    string = "dark_hex(rows=2,cols=2,abrupt=true)"
    tree = grow(nebel.game(string), "board")
    assert any(side.states < len(side.points.key) for side in tree.sides)
    found = simplest(nebel.game(string), solve(Job(string, recall="board"), Budget(iterations=50)).policy, 1, 1)
    assert found.proved == (True, True)
    for p, side in enumerate(tree.sides):
        arena = TreeArena(tree, p)
        best = max(arena.respond(table)[0] for table in pure_tables(side))
        assert found.guarantees[p] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("recall", ["perfect", "board"])
def test_responses_and_slopes_on_a_tree(recall: str) -> None:
    """The guarantee is that of the judge; a slope is a difference, where a share occurs once in each product."""
    tree = grow(nebel.game("dark_hex(rows=2,cols=2,abrupt=true)"), recall)
    lottery = np.random.default_rng(1)
    tables = []
    for side in tree.sides:
        table = lottery.random(len(side.move))
        tables.append(table / np.repeat(np.add.reduceat(table, side.row[:-1]), np.diff(side.row)))
    verdict = Judge(tree).verdict((tables[0], tables[1]))
    for p in range(2):
        arena = TreeArena(tree, p)
        guarantee, response = arena.respond(tables[p])
        assert guarantee == pytest.approx(-verdict.best_response[1 - p], abs=1e-12)
        slopes = arena.slopes(response, tables[p])
        assert slopes.value == pytest.approx(guarantee, abs=1e-12)
        for place, slope in zip(slopes.place, slopes.slope, strict=True):
            moved = tables[p].copy()
            moved[place] += 0.25
            assert arena.slopes(response, moved).value - slopes.value == pytest.approx(slope / 4, abs=1e-12)


@pytest.mark.parametrize(("moves", "actions", "denominator"), [(1, 1, 3), (2, 2, 6), (3, 2, 5), (3, 3, 6), (4, 3, 4)])
def test_simple_rows_are_all_there(moves: int, actions: int, denominator: int) -> None:
    rows = [*simple_rows(moves, actions, denominator)]
    wanted = {
        tuple(Fraction(k, n) for k in tops)
        for n in range(1, denominator + 1)
        for tops in itertools.product(range(n + 1), repeat=moves)
        if sum(tops) == n and sum(k > 0 for k in tops) <= actions
    }
    assert len(rows) == len(set(rows)) == count_rows(moves, actions, denominator)
    assert set(rows) == wanted


@pytest.mark.parametrize("width", [3, 11])
def test_near_rows_are_simple(width: int) -> None:
    """All are compared where they are few; else the row is rounded."""
    row = np.random.default_rng(width).random(width)
    row /= row.sum()
    near = near_rows(row, np.arange(width), 4, 9, 10)
    assert np.allclose(near.sum(axis=1), 1.0)
    assert (near > 0).sum(axis=1).max() <= 4
    assert all(is_simple(line, 9) for line in near)
    if width == 3:
        every = np.array([[float(p) for p in each] for each in simple_rows(3, 3, 9)])
        assert np.abs(near[0] - row).sum() == pytest.approx(np.abs(every - row).sum(axis=1).min())


def test_climbs_on_4x3() -> None:
    """White with two moves and denominators up to 20: more than the nearest rounding, as the judge by beliefs confirms."""
    game, policy = nebel.game("dark_hex:4x3"), load_policy(SHIPPED / "board-4x3.nebel")
    assert isinstance(game, Game)
    assert isinstance(policy, TablePolicy)
    board, sure = board_of(game), on_board(4, 3).moves
    table = board_table(board, policy.shares[1], sure[1])
    free = np.stack([np.arange(3**12) // 3**c % 3 == 0 for c in range(12)], axis=1)
    unknown = np.flatnonzero(~table.any(axis=1) & free.any(axis=1))
    table[unknown, np.argmax(free[unknown], axis=1)] = 1.0
    climb = Climb(BoardArena(board, 1, (sure[0], sure[1])), table.ravel(), 2, 20)
    climb.run(0)
    rounded = climb.guarantee
    climb.run(20)
    assert climb.guarantee > rounded + 0.02
    found = TablePolicy(
        game.string, game.fingerprint, "board", (policy.shares[0], reachable(board, climb.best.reshape(table.shape), sure[1])), "uniform"
    )
    judged = judge(game, found)
    assert judged.wins
    assert judged.wins[1] == pytest.approx(climb.guarantee, abs=1e-9)
    simple = simplicity(found)[1]
    assert simple.actions <= 2
    assert simple.denominator
    assert simple.denominator <= 20


class TestCertificate:
    @pytest.fixture(scope="class", params=["board", "perfect"])
    def policy(self, request: pytest.FixtureRequest) -> TablePolicy:
        rough = solve(Job("dark_hex:3x2", "cfr", recall=request.param), Budget(iterations=2)).policy
        return simplify(rough, Simplify(actions=2, threshold=0.0, denominator=2, eta=1.0))

    @pytest.fixture(scope="class")
    def file(self, policy: TablePolicy, tmp_path_factory: pytest.TempPathFactory) -> Path:
        path = tmp_path_factory.mktemp("rows") / "rows.json"
        write_rows(certify_rows(nebel.game("dark_hex:3x2"), policy, 2, 3), path)
        return path

    def test_it_finds_what_the_judge_finds(self, policy: TablePolicy, file: Path) -> None:
        wins = judge(nebel.game("dark_hex:3x2"), policy).wins
        assert wins
        found = verify_rows(file)
        assert [float(promised) for promised in found.guarantees] == pytest.approx(wins, abs=1e-12)
        assert found == read_rows(file)
        assert found.guarantees[1] not in (0, 1)  # a figure that could be wrong

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda data: data.update(actions=1), "moves, and the file claims at most 1"),
            (lambda data: data.update(denominator=1), "and the file claims at most 1"),
            (lambda data: data["white"].update(guarantee="1/1"), "white guarantees 1; the checker finds only"),
            (lambda data: next(iter(data["white"]["rows"].values())).update(a="1/7"), "with a sum of 1"),
            (lambda data: data["white"]["rows"].update({"": {"z": "1"}}), "not a cell of the board"),
            (lambda data: data["white"]["rows"].clear(), "the checker finds only 0"),
            (lambda data: data["white"].pop("rows"), "'rows' is missing"),
            (lambda data: data["black"]["rows"].update(x=3), "damaged"),
            (lambda data: data.update(recall="none"), "recall is not perfect or board"),
            (lambda data: data.update(actions=0), "at least 1"),
            (lambda data: data.update(leak="noisy"), "classic silent Dark Hex only"),
            (lambda data: data.update(format=1), "not a certificate of simple strategies"),
        ],
    )
    def test_what_does_not_hold_is_refused(self, file: Path, tmp_path: Path, change: Any, words: str) -> None:
        data = json.loads(file.read_text())
        change(data)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(data))
        with pytest.raises(BadFile, match=words):
            verify_rows(path)

    def test_a_policy_that_is_not_simple_gets_none(self, policy: TablePolicy) -> None:
        with pytest.raises(BadSetting, match="moves, and the file claims at most 1"):
            certify_rows(nebel.game("dark_hex:3x2"), policy, 1, 3)


def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, out, proof = (str(tmp_path / name) for name in ("start.nebel", "out.nebel", "proof.json"))
    assert main(["solve", "dark_hex:2x2", "--recall", "board", "--iterations", "20", "--out", start]) == 0
    capsys.readouterr()
    words = ["simplify", start, "--guarantee", "--actions", "1", "--denominator", "1", "--out", out, "--certificate", proof]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["guarantees"], told["proved"], told["certified"]) == ([1.0, -1.0], [True, True], ["1", "0"])
    assert told["largest_actions"] == [1, 1]
    assert load_policy(out).facts["simplest"]["proved"] == [True, True]
    assert main(words) == 0
    assert "optimal, proved" in capsys.readouterr().out
    assert main(["verify", proof]) == 0
    assert "no row has more than 1 moves" in capsys.readouterr().out
    assert main(["verify", proof, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guarantees"] == ["1", "0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--guarantee"], "--guarantee needs --denominator"),
        (["--guarantee", "--denominator", "0"], "--denominator 0 is out of range"),
        (["--guarantee", "--denominator", "5", "--actions", "0"], "--actions 0 is out of range"),
        (["--guarantee", "--denominator", "5", "--threshold", "0.1"], "--threshold is not for --guarantee"),
        (["--guarantee", "--denominator", "5", "--eta", "0.1"], "--eta is not for --guarantee"),
        (["--guarantee", "--denominator", "5", "--steps", "0"], "--steps 0 is out of range"),
        (["--guarantee", "--denominator", "5", "--certificate", "x.json"], "--certificate is for classic silent Dark Hex"),
        (["--steps", "5"], "add --guarantee"),
        (["--certificate", "x.json"], "add --guarantee"),
    ],
)
def test_bad_input_gets_one_line(
    kuhn: TablePolicy, words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "kuhn.nebel")
    save_policy(kuhn, file)
    assert main(["simplify", file, "--out", str(tmp_path / "x.nebel"), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_games_that_are_too_large_are_refused() -> None:
    policy = load_policy(SHIPPED / "board-4x3.nebel")
    assert isinstance(policy, TablePolicy)
    perfect = TablePolicy(policy.game, policy.fingerprint, "perfect", policy.shares, "uniform")
    with pytest.raises(TooLarge, match="a policy that goes by the board"):
        simplest(nebel.game("dark_hex:4x3"), perfect, 2, 20)
