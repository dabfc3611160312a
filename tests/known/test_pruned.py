"""Pruning at sure wins: the pruned game, policies that were completed, and what they miss."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.game import END
from nebel.core.tree import measure
from nebel.dark_hex.pruned import answers, effect, missed_wins, pruned
from nebel.dark_hex.sure_wins import distance, sure_wins
from nebel.policy.io import load_policy
from nebel.policy.table import Shares, TablePolicy
from nebel.solve import Budget, Job, solve
from nebel.solve.sampled import Sampled
from nebel.solve.settings import OutcomeSampling


def stones(position: Any, player: int) -> tuple[int, int]:
    return int(position[0].stones[player]), int(position[0].met[player])


def test_where_somebody_wins_for_sure_nothing_is_left_to_solve() -> None:
    assert measure(pruned(nebel.game("dark_hex:3x3"))).histories == 1
    assert pruned(nebel.game("dark_hex:3x3")).start().score() == 1
    assert measure(pruned(nebel.game("dark_hex:3x2"))).histories == 7  # White wins whatever Black begins with
    assert pruned(nebel.game("dark_hex:3x2")).start().push("a1").score() == -1


def test_the_pruned_game_is_the_game_up_to_the_first_sure_win() -> None:
    game = nebel.game("dark_hex:4x3")
    wins, short = sure_wins(game), pruned(game)
    rng = np.random.default_rng(1)
    ends = [0, 0]
    for _ in range(60):
        state, twin = game.start(), short.start()
        while not twin.over:
            assert wins.move(state.turn, *stones(state.position, state.turn)) is None
            assert (state.turn, state.options()) == (twin.turn, twin.options())
            move = int(rng.choice(state.options()))
            state.push(move)
            twin.push(move)
            assert state.steps == twin.steps
            assert all(state.key(p, recall) == twin.key(p, recall) for p in range(2) for recall in ("perfect", "board"))
        winner = 0 if twin.score() == 1 else 1
        ends[state.over] += 1
        if state.over:
            assert state.score() == twin.score()
        else:
            assert state.turn == winner
            assert wins.move(winner, *stones(state.position, winner)) is not None
    assert ends[0] > 0


def test_compiled_solvers_stop_at_sure_wins() -> None:
    game = nebel.game("dark_hex:4x3")
    solver = Sampled(pruned(game), "board", None, OutcomeSampling(), seed=1, memory=1 << 28)
    solver.run(20_000)
    wins = sure_wins(game)
    for player, table in enumerate(solver.policy({}).shares):
        assert len(table.keys) > 5000
        assert all(wins.move(player, key >> 12, key & 4095) is None for key in table.keys.tolist())


@pytest.mark.parametrize(("string", "every_cell"), [("dark_hex:3x2", True), ("dark_hex:2x3", True), ("dark_hex:3x3", False)])
def test_winning_cells_by_stepping_the_rules(string: str, every_cell: bool) -> None:
    """Wherever hidden stones are and whatever the reply, a winning cell wins or leads to a sure win again; others need not."""
    game = nebel.game(string)
    wins = sure_wins(game)
    cells, board = wins.cells, wins.board

    def safe(player: int, own: int, met: int, hidden: int, cell: int) -> bool:
        position = game.begin()
        position[0].stones[player], position[0].stones[1 - player] = own, met | hidden
        position[0].met[player], position[0].turn = met, player
        position, _ = game.after(position, cell)
        open_positions = [position]
        if game.turn_at(position) == 1 - player:
            open_positions = [game.after(position, reply)[0] for reply in game.options_at(position)]
        for after in open_positions:
            if game.turn_at(after) == END:
                if game.score_at(after) != 1 - 2 * player:
                    return False
            elif game.turn_at(after) == player and wins.move(player, *stones(after, player)) is None:
                return False
        return True

    def placements(player: int, own: int, met: int) -> list[int]:
        """Sets of hidden stones with which the game is not over."""
        count = own.bit_count() + player - met.bit_count()
        source, target = (int(side) for side in board.sides[1 - player])
        unknown = [1 << c for c in range(cells) if not (own | met) >> c & 1]
        sets = [sum(chosen) for chosen in itertools.combinations(unknown, count)]
        return [s for s in sets if distance(met | s, 0, source, target, board.cols, board.left, board.right) > 0]

    tested = 0
    for player in range(2):
        indices = np.flatnonzero(wins.moves[player] >= 0)
        for index, winning in zip(indices.tolist(), wins.winning(player, indices).tolist(), strict=True):
            digits = [index // 3**c % 3 for c in range(cells)]
            own, met = (sum(1 << c for c in range(cells) if digits[c] == kind) for kind in (1, 2))
            hidden = placements(player, own, met)
            assert winning >> int(wins.moves[player][index]) & 1
            for cell in [c for c in range(cells) if digits[c] == 0] if every_cell else [int(wins.moves[player][index])]:
                assert all(safe(player, own, met, h, cell) for h in hidden) == bool(winning >> cell & 1)
                tested += len(hidden)
    assert tested > 500


@pytest.mark.parametrize("recall", ["perfect", "board"])
def test_values_are_those_of_the_whole_game(recall: str) -> None:
    cut = solve(Job("dark_hex:3x2", "cfr+", recall, pone=True), Budget(iterations=20))
    whole = solve(Job("dark_hex:3x2", "pdcfr+", recall), Budget(iterations=5000, until=1e-8))
    assert cut.verdict is not None
    assert whole.verdict is not None
    assert cut.sizing.histories < whole.sizing.histories
    assert cut.verdict.value == pytest.approx(whole.verdict.value, abs=1e-6)
    assert cut.verdict.exploitability == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("recall", ["perfect", "board"])
def test_completed_policies_miss_no_win(recall: str) -> None:
    game = nebel.game("dark_hex:4x3")
    plain = solve(Job(game.string, "outcome-sampling", recall), Budget(iterations=3000)).policy
    policy = solve(Job(game.string, "outcome-sampling", recall, pone=True), Budget(iterations=3000)).policy
    policy.check_game(game)
    assert policy.game == game.string
    assert policy.facts["pone"] is True
    assert policy.facts["sure_wins_left_out"] == 0
    before, after = missed_wins(game, plain, 5000), missed_wins(game, policy, 5000)
    assert sum(before.lost) > 500
    if recall == "board":
        assert after.lost == (0, 0)
        assert after.unsure == (0, 0)
        assert after.chance == (0.0, 0.0)
        assert before.unsure is not None
        assert min(before.unsure) > 10_000
    else:  # a memory that the sampler never met is answered uniformly, and so are the sure wins behind it
        assert sum(after.lost) < sum(before.lost) / 5


def test_views_behind_what_a_policy_plays_are_answered() -> None:
    """With perfect recall: Black's whole winning strategy on 3x3, every view that can come about and no other."""
    game = nebel.game("dark_hex:3x3")
    policy = solve(Job("dark_hex:3x3", "cfr+", pone=True), Budget(iterations=1)).policy
    met: set[int] = set()
    open_states = [game.start()]
    while open_states:
        state = open_states.pop()
        if state.over:
            assert state.score() == 1
        elif state.turn == 0:
            shares = policy.lookup(0, state.key(0))
            assert shares is not None
            met.add(state.key(0))
            [move] = [move for move, share in shares.items() if share == 1]
            open_states.append(state.copy().push(move))
        else:  # what White has bumped into before does not matter to Black
            truth = state.position[0].stones[0]
            open_states += [state.copy().push(move) for move in state.options() if not truth >> move & 1]
    assert met == set(policy.shares[0].keys.tolist())


def test_no_room() -> None:
    game = nebel.game("dark_hex:3x3")
    none = Shares(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    policy = TablePolicy(game.string, game.fingerprint, "perfect", (none, none))
    everything, some = answers(game, 0, policy, 1 << 20), answers(game, 0, policy, 1000)
    assert everything.left_out == 0
    assert len(some.keys) == 10
    assert some.left_out == len(everything.keys) - 10


def test_effect() -> None:
    saved = effect(nebel.game("dark_hex:3x2"))
    assert saved.plain.information_states == [172, 238]
    assert saved.pruned.information_states == [1, 0]
    assert (saved.pruned.states, saved.pruned.histories) == (1, 7)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["solve", "dark_hex:4x3", "--with", "outcome-sampling", "--recall", "board", "--iterations", "200", "--json"]
    assert main([*words, "--pone", "--run", str(tmp_path / "cut")]) == 0
    assert json.loads(capsys.readouterr().out)["pone"] is True
    assert load_policy(tmp_path / "cut" / "policy.nebel").facts["pone"] is True
    assert main(["solve", "--resume", str(tmp_path / "cut"), "--with", "outcome-sampling", "--iterations", "300", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["pone"], again["iterations"]) == (True, 300)
    assert main([*words, "--run", str(tmp_path / "whole")]) == 0
    capsys.readouterr()
    for problem, said in [
        (["solve", "--resume", str(tmp_path / "whole"), "--pone"], "has pone False, not True"),
        ([*words, "--pone", "--memory", "0.01"], "206,228 sure wins"),
        (["solve", "leduc", "--pone"], "classic Dark Hex"),
        (["solve", "dark_hex(abrupt=true)", "--pone"], "classic Dark Hex"),
        (["solve", "dark_hex(rows=3,cols=2,leak=noisy)", "--pone"], "take --recall board"),
        (["solve", "dark_hex:3x3", "--pone", "--until", "0.1"], "too large to judge exactly"),
    ]:
        assert main(problem) == 2
        assert said in capsys.readouterr().err
