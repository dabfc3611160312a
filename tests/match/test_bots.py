"""Bots that come with a game: compiled and by hand, of built-in games and of one's own, and how strong they are."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.conform import conform
from nebel.core.errors import BadSetting, IllegalMove
from nebel.core.game import Bot
from nebel.core.rng import generator
from nebel.core.rule import rule
from nebel.match.agents import Agent, PolicyAgent, bots, read
from nebel.match.arena import play_deals, play_pair
from nebel.match.bots import BotAgent
from nebel.match.deals import play_by_hand
from nebel.solve import Budget, Job, solve

PEBBLES = """
import numpy as np
from numpy import int64

from nebel.core.game import END, Bot, Game, Rules, record
from nebel.core.rule import rule


def pebbles(pebbles: int = 7, take: int = 3) -> Game:
    \"\"\"Take pebbles in turn; whoever takes the last wins.\"\"\"

    @rule
    def start(s):
        s.left, s.turn = pebbles, 0

    @rule
    def turn(s):
        return s.turn if s.left else END

    @rule
    def moves(s, out):
        for i in range(min(take, s.left)):
            out[i] = i
        return min(take, s.left)

    @rule
    def play(s, move, seen):
        seen[0] = seen[1] = move + 1
        s.left -= move + 1
        s.turn = 1 - s.turn

    @rule
    def score(s):
        return 1.0 if s.turn == 1 else -1.0

    @rule
    def expert(s, u):
        return max(s.left % (take + 1), 1) - 1

    return Game(
        state=record(left=int64, turn=int64), rules=Rules(start, turn, moves, play, score), actions=take, depth=pebbles,
        move_name=lambda move: str(move + 1), bots={"expert": Bot(expert, "leaves a multiple")},
    )
"""


@pytest.fixture
def pebbles(tmp_path: Path) -> str:
    (tmp_path / "pebbles.py").write_text(PEBBLES)
    return f"{tmp_path / 'pebbles.py'}:pebbles"


def test_bots_by_name() -> None:
    assert bots() == ["heuristic", "purple", "random-escape", "rush"]
    for text in ("heuristic", "bot:heuristic"):
        agent = read(text)
        assert isinstance(agent, BotAgent)
        assert (agent.name, agent.bot, agent.game) == (text, "heuristic", None)
    with pytest.raises(BadSetting, match="agents are: uniform, random, heuristic, purple, random-escape, rush, purple:4"):
        read("heuristics")


def test_compiled_and_by_hand_the_same_games() -> None:
    game = nebel.game("cheat:3")
    bot, even = read("heuristic"), read("random")
    table = PolicyAgent("table", solve(Job("cheat:3", "chance-sampled", "memoryless"), Budget(iterations=3)).policy)
    for seats in ((bot, even), (even, bot), (bot, bot), (table, bot)):
        compiled, by_hand = play_deals(game, seats, 150, 5), play_by_hand(game, seats, 150, 5)
        assert compiled.scores.tolist() == by_hand.scores.tolist()
        assert compiled.unknown.tolist() == by_hand.unknown.tolist()
        assert set(compiled.scores) == {-1.0, 1.0}
    assert play_deals(game, (bot, even), 150, 6).scores.tolist() != play_deals(game, (bot, even), 150, 5).scores.tolist()


def test_a_match_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "heuristic", "random", "--game", "cheat:3", "--games", "200", "--seed", "3", "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    game = nebel.game("cheat:3")
    there, back = (
        play_by_hand(game, seats, 100, 3).scores for seats in ((read("heuristic"), read("random")), (read("random"), read("heuristic")))
    )
    scores = np.concatenate([there, -back])
    assert (pair["wins"], pair["losses"]) == (np.count_nonzero(scores > 0), np.count_nonzero(scores < 0))
    assert (pair["score"], pair["exact"]) == (scores.mean(), None)


def test_a_bot_of_ones_own_game(pebbles: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "bot:expert", "random", "--game", pebbles, "--games", "200", "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    assert pair["wins"] > 170
    result = play_pair(nebel.game(pebbles), read("bot:expert"), read("bot:expert"), 10, 1)
    assert result.wins == result.losses == 5  # with 7 pebbles the first player wins for sure


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["match", "heuristic", "random", "--game", "leduc"], "leduc has no bot 'heuristic', which is a bot of cheat; it has no bots"),
        (["match", "bot:clever", "random", "--game", "cheat:3"], "cheat has no bot 'clever'; it has: heuristic"),
        (["play", "leduc", "--against", "heuristic"], "leduc has no bot 'heuristic', which is a bot of cheat; it has no bots"),
        (["match", "heuristic", "random"], "heuristic and random fit any game; say which with --game"),
    ],
)
def test_a_game_without_the_bot_is_refused(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("play", [play_by_hand, play_deals])
def test_a_bot_that_makes_no_legal_move_is_found_out(tmp_path: Path, play: Any) -> None:
    """By hand and compiled, in the same words; and `nebel check` says so before."""
    (tmp_path / "bad.py").write_text(PEBBLES.replace("return max(s.left % (take + 1), 1) - 1", "return take - 1"))
    game = nebel.game(f"{tmp_path / 'bad.py'}:pebbles")
    with pytest.raises(IllegalMove, match=r"the bot 'expert' of .*bad.py:pebbles plays 2 after 3 3; legal: \[0\]"):
        play(game, (read("bot:expert"), read("bot:expert")), 50, 1)
    findings = conform(game).findings
    assert findings[0] == "after 1 1 1 1 1: the bot 'expert' plays 2, which is not legal; legal: 0 1"
    assert "\n" not in "".join(findings)


def test_check_looks_at_bots(pebbles: str) -> None:
    kuhn, one = nebel.game("kuhn"), 1

    @rule
    def peek(s: Any, u: float) -> int:
        return 1 if s.card[s.turn] > s.card[1 - s.turn] else 0

    def odd(s: Any, u: float) -> int:
        return 0

    @rule
    def wide(s: Any, u: float) -> int:
        return 1 if one << (70 + int(s.turn)) > one << 62 else 0  # machine integers are not as wide

    assert conform(nebel.game(pebbles)).ok
    assert conform(nebel.game("cheat:1"), steps=3000).ok
    told = {
        peek: "player 0 cannot tell the two states apart, yet the bot 'it' plays differently: it goes by more than was seen",
        odd: "is not marked with @rule",
        wide: "the bot 'it' is 1 in plain Python and 0 compiled",
    }
    for choose, sentence in told.items():
        findings = conform(replace(kuhn, bots={"it": Bot(choose)})).findings
        assert len(findings) >= 1
        assert all(sentence in finding or "cannot tell" in finding for finding in findings), findings


def test_play_against_a_bot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From piped input: always the first legal move."""
    script, state = [], nebel.game("cheat:3").start()
    rng, bot = generator(2), read("heuristic")
    while not state.over:
        if state.turn == nebel.CHANCE:
            state.deal(rng)
        elif state.turn == 1:
            state.push(bot.choose(state, rng))
        else:
            script.append(state.legal()[0])
            state.push(script[-1])
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*script, ""])))
    assert main(["play", "cheat:3", "--against", "heuristic", "--seed", "2"]) == 0
    said = capsys.readouterr().out
    assert f"All moves: {state.moves_text()}" in said
    assert f"You {'win' if state.score() == 1 else 'lose'}" in said


def share(a: Agent, b: Agent, games: int) -> float:
    """How many of the games a wins, half of them in each seat."""
    game = nebel.game("cheat:3")
    there, back = play_deals(game, (a, b), games // 2, 1).scores, play_deals(game, (b, a), games // 2, 1).scores
    return float(np.mean(np.concatenate([there, -back]) > 0))


def test_the_heuristic_bot_beats_random_play_in_four_of_five_games() -> None:
    assert 0.76 < share(read("heuristic"), read("random"), 20_000) < 0.86


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_memoryless_3_after_a_hundred_iterations(seed: int) -> None:
    policy = solve(Job("cheat:3", "chance-sampled", "memoryless", seed=seed), Budget(iterations=100)).policy
    learner = PolicyAgent("memoryless-3", policy)
    assert share(learner, read("random"), 10_000) >= 0.85
    assert share(learner, read("heuristic"), 10_000) >= 0.70
