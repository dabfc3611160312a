"""Matches: true to the exact values, the same games compiled and by hand, fair to both agents, and resumable."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadPolicy, BadSetting, IllegalMove, UnknownInformationState
from nebel.core.game import BaseGame
from nebel.core.plain import PlainGame
from nebel.core.state import State
from nebel.core.tree import grow
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import Z95, Arena, Result, Terms, play_deals, play_pair
from nebel.match.deals import play_by_hand
from nebel.match.rating import rate
from nebel.policy.io import save_policy
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.table import TablePolicy, from_tree, sorted_shares
from nebel.search.target import in_rules
from nebel.solve import Budget, Job, solve


def noisy(game: BaseGame, seed: int, recall: str = "perfect") -> TablePolicy:
    """Random probabilities, some of them 0."""
    rng = np.random.default_rng(seed)
    tree = grow(game, recall)
    strategies = []
    for side in tree.sides:
        share = np.maximum(rng.random(side.row[-1]) - 0.3, 0)
        share[side.row[:-1]] += 0.01
        strategies.append(share / np.repeat(np.add.reduceat(share, side.row[:-1]), np.diff(side.row)))
    return from_tree(tree, (strategies[0], strategies[1]))


def halved(policy: TablePolicy, missing: str) -> TablePolicy:
    """Every second information state forgotten."""
    kept = []
    for table in policy.shares:
        width = np.diff(table.first)
        keep = np.arange(len(table.keys)) % 2 == 0
        places = np.repeat(keep, width)
        kept.append(sorted_shares(table.keys[keep], width[keep], table.move[places], table.share[places]))
    return dataclasses.replace(policy, shares=(kept[0], kept[1]), missing=missing)


def agent(policy: TablePolicy, name: str = "table") -> PolicyAgent:
    return PolicyAgent(name, policy)


@cache
def hex_policy(recall: str, iterations: int) -> TablePolicy:
    return solve(Job("dark_hex:3x3", "outcome-sampling", recall=recall), Budget(iterations=iterations)).policy


@pytest.mark.parametrize("string", ["kuhn", "leduc"])
def test_scores_agree_with_enumeration(string: str) -> None:
    game = nebel.game(string)
    arena, a, b = Arena(game), agent(noisy(game, 1), "a"), agent(noisy(game, 2), "b")
    for other in (b, read("uniform")):
        exact = arena.expected(a, other)
        assert exact is not None
        for seed in range(5):
            result = arena.play(a, other, Terms(20_000, seed))
            assert result.exact == exact
            assert result.interval is not None
            error = (result.interval[1] - result.interval[0]) / 2 / Z95
            assert abs(result.score - exact) < 4 * error
            assert error < 0.1


def test_exact_values_of_agents_that_remember_differently() -> None:
    game = nebel.game("dark_hex(rows=3,cols=2,abrupt=true)")
    arena, a, b = Arena(game), agent(noisy(game, 1, "board"), "a"), agent(noisy(game, 2), "b")
    result = arena.play(a, b, Terms(100_000, 3))
    assert result.exact is not None
    assert result.interval is not None
    assert abs(result.score - result.exact) < 4 * (result.interval[1] - result.interval[0]) / 2 / Z95
    assert arena.expected(b, a) == pytest.approx(-result.exact, abs=1e-14)
    assert arena.expected(a, a) == pytest.approx(0, abs=1e-14)


def pairings() -> list[tuple[str, TablePolicy | None, TablePolicy | None]]:
    kuhn, leduc = nebel.game("kuhn"), nebel.game("leduc")
    return [
        ("kuhn", noisy(kuhn, 1), noisy(kuhn, 2)),
        ("kuhn", halved(noisy(kuhn, 1), "uniform"), None),
        ("leduc", noisy(leduc, 1), halved(noisy(leduc, 2), "uniform")),
        ("dark_hex:3x3", hex_policy("board", 3000), hex_policy("board", 300)),
        ("dark_hex:3x3", hex_policy("perfect", 3000), hex_policy("board", 3000)),
        ("dark_hex:3x3", None, hex_policy("perfect", 3000)),
    ]


@pytest.mark.parametrize("at", range(6))
def test_compiled_games_are_the_games_played_by_hand(at: int) -> None:
    string, *policies = pairings()[at]
    game = nebel.game(string)
    seats = [agent(policy) if policy else read("uniform") for policy in policies]
    for seed in (1, -5):
        fast, slow = (play(game, (seats[0], seats[1]), 60, seed) for play in (play_deals, play_by_hand))
        assert fast.scores.tolist() == slow.scores.tolist()
        assert fast.unknown.tolist() == slow.unknown.tolist()
    forgetful = [policy is not None and policy.missing == "uniform" for policy in policies]
    assert (fast.unknown > 0).tolist() == forgetful


def test_a_match_is_the_same_from_both_sides() -> None:
    game = nebel.game("leduc")
    a, b = agent(noisy(game, 1), "a"), agent(halved(noisy(game, 2), "uniform"), "b")
    one, two = play_pair(game, a, b, 5000, 7), play_pair(game, b, a, 5000, 7)
    assert (one.wins, one.draws, one.losses) == (two.losses, two.draws, two.wins)
    assert one.wins + one.draws + one.losses == 5000
    assert one.score == pytest.approx(-two.score, abs=1e-14)
    assert one.exact == pytest.approx(-two.exact, abs=1e-14)  # type: ignore[operator]
    assert one.interval == pytest.approx([-x for x in reversed(two.interval)])  # type: ignore[arg-type]
    assert one.unknown == two.unknown[::-1]
    assert one.unknown[0] == 0
    itself = play_pair(game, a, a, 1000, 7)
    assert itself.score == 0
    assert itself.wins == itself.losses
    assert play_pair(game, a, b, 5000, 8).score != one.score


def test_odd_numbers_of_games() -> None:
    game = nebel.game("kuhn")
    a, b = agent(noisy(game, 1), "a"), read("uniform")
    assert play_pair(game, a, b, 1, 1).interval is None
    three = play_pair(game, a, b, 3, 1)
    there, back = play_deals(game, (a, b), 2, 1).scores, play_deals(game, (b, a), 1, 1).scores
    assert three.score == pytest.approx((there.sum() - back.sum()) / 3)


def test_intervals_hold_the_exact_value_19_times_in_20() -> None:
    game = nebel.game("kuhn")
    arena, a, b = Arena(game), agent(noisy(game, 1), "a"), agent(noisy(game, 2), "b")
    held = 0
    for seed in range(400):
        result = arena.play(a, b, Terms(400, seed))
        assert result.interval is not None
        assert result.exact is not None
        held += result.interval[0] <= result.exact <= result.interval[1]
    assert 365 <= held <= 394


def test_a_table_that_must_know_says_what_it_does_not_know() -> None:
    game = nebel.game("kuhn")
    strict = agent(halved(noisy(game, 1), "error"))
    with pytest.raises(UnknownInformationState, match="does not know player 0's state"):
        play_pair(game, strict, read("uniform"), 100, 1)
    assert Arena(game).expected(strict, read("uniform")) is None


class Last(Agent):
    """Thinks for itself, after a fashion."""

    name = "last"

    def choose(self, state: State, rng: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        return state.options()[-1]


class Pennies:
    """Both choose a side without seeing the other's; equal sides are player 0's."""

    def start(self) -> tuple[str, ...]:
        return ()

    def turn(self, state: tuple[str, ...]) -> int:
        return nebel.END if len(state) == 2 else len(state)

    def legal(self, state: tuple[str, ...]) -> list[str]:
        return ["heads", "tails"]

    def apply(self, state: tuple[str, ...], move: str) -> tuple[str, ...]:
        return (*state, move)

    def observe(self, *step: object) -> None:
        return None

    def score(self, state: tuple[str, ...]) -> int:
        return 1 if state[0] == state[1] else -1


def test_agents_that_choose_and_games_in_plain_python() -> None:
    result = play_pair(nebel.game("kuhn"), Last(), read("uniform"), 400, 1)
    assert result.exact is None
    assert result.wins + result.losses == 400
    pennies = PlainGame(Pennies(), "pennies")
    assert play_pair(pennies, Last(), Last(), 10, 1).score == 0
    policy = noisy(pennies, 3)
    table = agent(policy)
    result = play_pair(pennies, table, Last(), 400, 1)
    assert result.unknown == (0, 0)
    heads = [shares.share[0] for shares in policy.shares]
    assert result.score == pytest.approx(((1 - 2 * heads[0]) - (1 - 2 * heads[1])) / 2, abs=0.1)
    assert play_pair(pennies, table, read("uniform"), 10, 1).exact == pytest.approx(0)
    stubborn = Last()
    stubborn.choose = lambda state, rng: 9  # type: ignore[method-assign]
    with pytest.raises(IllegalMove, match="chose a move that is not legal: 9 is not legal for player"):
        play_pair(pennies, stubborn, table, 2, 1)


def test_compiled_games_refuse_rows_with_other_moves() -> None:
    """Also one that is as wide as it should be."""
    game = nebel.game("kuhn")
    policy = noisy(game, 1)
    other = policy.shares[0]._replace(move=1 - policy.shares[0].move)
    with pytest.raises(BadPolicy, match=r"moves are not those of the game in player 0's information state"):
        play_deals(game, (agent(dataclasses.replace(policy, shares=(other, policy.shares[1]))), read("uniform")), 20, 1)


def outcome(a: str, b: str, wins: int, draws: int, losses: int) -> Result:
    return Result(a, b, wins + draws + losses, wins, draws, losses, 0.0, None, None, (0, 0))


def test_ratings() -> None:
    two = rate([outcome("a", "b", 700, 100, 200)])
    assert two.added_draws == 0
    assert [rating.agent for rating in two.table] == ["a", "b"]
    gap = two.table[0].elo - two.table[1].elo
    assert gap == pytest.approx(400 * np.log10(0.75 / 0.25))
    assert sum(rating.elo for rating in two.table) == pytest.approx(3000)
    # with two agents the gap's standard error is 400/ln 10 / sqrt(n p q), and each rating moves by half of the gap
    error = 400 / np.log(10) / np.sqrt(1000 * 0.75 * 0.25) / 2
    assert two.table[0].interval[1] - two.table[0].elo == pytest.approx(Z95 * error)
    three = [outcome("a", "b", 60, 0, 40), outcome("b", "c", 99_999, 0, 1), outcome("a", "c", 99_990, 0, 10)]
    assert rate(three) == rate(three)
    rated = {rating.agent: rating.elo for rating in rate(three).table}
    scored = {"a": 100_050, "b": 100_039, "c": 11}
    for name, points in scored.items():  # at the maximum every agent's expected points are those it got
        expected = sum(
            r.games / (1 + 10 ** ((rated[r.b if r.a == name else r.a] - rated[name]) / 400)) for r in three if name in (r.a, r.b)
        )
        assert expected == pytest.approx(points, abs=1e-3)


def test_ratings_of_an_agent_that_never_lost_stay_finite() -> None:
    ratings = rate([outcome("a", "b", 100, 0, 0), outcome("a", "c", 100, 0, 0), outcome("b", "c", 50, 0, 50)])
    assert ratings.added_draws == 1
    assert ratings.table[0].agent == "a"
    assert 400 < ratings.table[0].elo - ratings.table[1].elo < 2000


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    game = nebel.game("kuhn")
    paths = [str(tmp_path / f"{name}.nebel") for name in ("one", "two")]
    for seed, path in enumerate(paths):
        save_policy(noisy(game, seed), path)
    return paths


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["match", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_command(capsys: pytest.CaptureFixture[str], files: list[str]) -> None:
    found = run(capsys, files[0], f"policy:{files[1]}", "uniform", "--games", "1e3", "--seed", "4")
    pairs, ratings = found["pairs"], found["ratings"]
    assert isinstance(pairs, list)
    assert isinstance(ratings, list)
    assert [(p["a"], p["b"]) for p in pairs] == [
        (files[0], f"policy:{files[1]}"),
        (files[0], "uniform"),
        (f"policy:{files[1]}", "uniform"),
    ]
    for pair in pairs:
        assert set(pair) == {"a", "b", "games", "wins", "draws", "losses", "score", "interval", "exact", "unknown", "seconds"}
        assert pair["interval"][0] <= pair["score"] <= pair["interval"][1]
    assert {rating["agent"] for rating in ratings} == {files[0], f"policy:{files[1]}", "uniform"}
    assert set(ratings[0]) == {"agent", "elo", "interval"}
    assert main(["match", "uniform", "uniform", "--game", "leduc", "--games", "10"]) == 0
    out = capsys.readouterr().out
    assert "uniform (2)" in out
    assert "Elo" in out


def test_resume(capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "pairs.jsonl"
    words = (*files, "uniform", "--games", "501", "--out", str(out))
    whole = run(capsys, *words)
    lines = out.read_text().splitlines(keepends=True)
    assert len(lines) == 3
    out.write_text(lines[0] + lines[1][:40])  # killed in the middle of a line
    assert run(capsys, *words, "--resume") == whole
    assert out.read_text().splitlines()[-2:] == [line.strip() for line in lines[1:]]
    played: list[str] = []
    play = Arena.play
    monkeypatch.setattr(Arena, "play", lambda self, a, b, *rest: played.append(f"{a.name} {b.name}") or play(self, a, b, *rest))
    assert run(capsys, *words, "--resume") == whole
    assert played == []
    run(capsys, *words, "--resume", "--seed", "2")
    assert len(played) == 3
    save_policy(noisy(nebel.game("kuhn"), 9), files[1])  # another policy under the same name
    assert run(capsys, *words, "--resume") != whole
    assert len(played) == 5


def test_errors_in_one_line(capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path) -> None:
    leduc = str(tmp_path / "leduc.nebel")
    save_policy(noisy(nebel.game("leduc"), 1), leduc)
    wrong = {
        ("uniform", "--game", "kuhn"): "at least two agents",
        ("--game", "kuhn"): "at least two agents",
        ("uniform", "random"): "say which with --game",
        ("uniform", "random", "--game", "kuhn", "--games", "0"): "--games 0 is out of range",
        ("uniform", "random", "--game", "kuhn", "--games", "few"): "few",
        ("uniform", "policy:nowhere.nebel"): "no file nowhere.nebel",
        ("uniform", "grandmaster:9"): "no agent 'grandmaster:9'",
        ("uniform", ""): "no agent ''",
        (files[0], leduc): "different games",
        (files[0], "uniform", "--game", "leduc"): "made for kuhn, not for leduc",
        (files[0], "uniform", "--resume"): "--out FILE",
        (files[0], "uniform", "--out", files[1]): "exists and holds something else",
        (files[0], "uniform", "--out", files[1] + "/x"): "cannot be written: Not a directory",
        (files[0], "uniform", "--out", str(tmp_path)): "is a folder",
    }
    for words, text in wrong.items():
        assert main(["match", *words]) == 2, words
        captured = capsys.readouterr()
        assert text in captured.err
        assert captured.err.count("\n") == 1
        assert captured.out == ""
    with pytest.raises(BadSetting):
        play_pair(nebel.game("kuhn"), read("uniform"), read("random"), 0, 1)


@pytest.mark.parametrize(
    "change",
    [{"wins": "x"}, {"wins": -1}, {"score": None}, {"score": 1e400}, {"interval": [1]}, {"unknown": None}, {"seconds": 5}, {"exact": {}}],
    ids=str,
)
def test_a_damaged_result_is_refused_in_a_line(change: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "uniform", "random", "--game", "kuhn", "--games", "4", "--out", str(tmp_path / "m.jsonl")]
    assert main(words) == 0
    line = json.loads((tmp_path / "m.jsonl").read_text())
    (tmp_path / "m.jsonl").write_text(json.dumps({**line, **change}) + "\n")
    capsys.readouterr()
    assert main([*words, "--resume"]) == 2
    assert "the line of uniform against random is damaged; delete it" in capsys.readouterr().err


def test_a_network_plays_games_that_differ_only_in_their_limit() -> None:
    game = in_rules(nebel.game("geister:x2y3g2b0(limit=20)"))
    weights = np.random.default_rng(4).normal(size=(game.encodings["clock"].size, game.actions)).astype(np.float32)
    layer = Layer(weights, np.zeros(game.actions, np.float32), "")
    network = PolicyAgent("network", NetPolicy(game.string, game.fingerprint, "clock", (layer,)))
    longer = nebel.game("geister:x2y3g2b0(limit=60)")
    assert play_pair(longer, network, read("random"), games=100, seed=3).games == 100
    for other in ("geister:x2y3g2b0(limit=60,assist=true)", "geister:x3y3g2b0(limit=60)", "leduc"):
        with pytest.raises(BadFile, match="was made for geister"):
            play_pair(nebel.game(other), network, read("random"), games=100, seed=3)


def test_one_network_of_an_ensemble_plays_a_whole_game() -> None:
    """One always bets and one always passes. Who drew one at each decision would get -5/64 against random play, and not -1/8."""
    game = in_rules(nebel.game("kuhn"))
    layer = Layer(np.zeros((2, game.encodings["perfect"].size, 2), np.float32), np.array([[-1, 1], [1, -1]], np.float32), "")
    ensemble = NetsPolicy(game.string, game.fingerprint, "perfect", ((layer,), (layer,)), (np.array([1.0, 3.0]), np.array([2.0, 1.0])))
    for seed in (1, 2):
        met = play_pair(game, PolicyAgent("nets", ensemble), read("random"), games=4000, seed=seed)
        assert met.exact == pytest.approx(-1 / 8)
        assert met.interval is not None
        assert met.interval[0] < -1 / 8 < met.interval[1] < -5 / 64
