"""Agents that think, judged: by stitching and in the aggregate."""

from __future__ import annotations

import json

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.rng import generator
from nebel.core.sequence import uniform_strategy
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.match.agents import read
from nebel.match.stitch import aggregate, choices, stitch
from nebel.match.thinkers import Thinker

KUHN = grow(nebel.game("kuhn"))


def thinker(text: str) -> Thinker:
    agent = read(text)
    assert isinstance(agent, Thinker)
    return agent


def exploitability(text: str, seed: int = 1) -> float:
    return Judge(KUHN).verdict(stitch(KUHN, thinker(text), seed, 2).strategies).exploitability


def test_stitched_oos_gets_better_with_thought_and_ismcts_does_not() -> None:
    few, many = (np.mean([exploitability(f"oos:{n}", seed) for seed in range(4)]) for n in (100, 10_000))
    assert many < 0.08
    assert many < few / 2
    assert exploitability("ismcts:10k") > 0.15


def test_stitching_asks_the_agent_in_every_information_state() -> None:
    agent = thinker("oos:300")
    one, two = stitch(KUHN, agent, 3, 1), stitch(KUHN, agent, 3, 3)
    assert all(np.array_equal(a, b) for a, b in zip(one.strategies, two.strategies, strict=True))
    assert one.unknown == (0, 0)
    assert len(choices(KUHN)) == 12
    for player, at in choices(KUHN):
        shares = agent.sit().think(KUHN.state_of(player, at), generator(3, 2 * at + player))
        row = KUHN.sides[player].row
        assert one.strategies[player][row[at] : row[at + 1]].tolist() == list(shares.values())


def test_the_aggregate_holds_decisions_then_thoughts_then_nothing() -> None:
    agent = thinker("oos:20")
    one, two = aggregate(KUHN, agent, 1, 2, 1), aggregate(KUHN, agent, 400, 2, 2)
    assert sum(one.unknown) > 0
    assert two.unknown == (0, 0)
    assert np.array_equal(two.strategies[0], aggregate(KUHN, agent, 400, 2, 1).strategies[0])
    assert any(not np.array_equal(one.strategies[p], uniform_strategy(KUHN.sides[p])) for p in range(2))
    for strategy, side in zip(two.strategies, KUHN.sides, strict=True):
        assert np.add.reduceat(strategy, side.row[:-1]) == pytest.approx(1)
    many = aggregate(KUHN, thinker("oos:3k"), 200, 1, 2)
    assert Judge(KUHN).verdict(many.strategies).exploitability < 0.08


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["judge", "oos:100", "--game", "kuhn", "--threads", "1"]
    assert main([*words, "--json"]) == 0
    stitched = json.loads(capsys.readouterr().out)
    assert (stitched["means"], stitched["matches"], stitched["agent"]) == ("stitching", None, "oos:100")
    assert stitched["exploitability"] == pytest.approx(exploitability("oos:100"))
    assert main([*words, "--aggregate", "1e1"]) == 0
    assert "the aggregate of 10 matches against itself, uniform elsewhere" in capsys.readouterr().out
    assert main(words) == 0
    assert "full stitching: it thought afresh in each of 12 information states" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["oos:100"], "say which with --game"),
        (["oos:100", "--game", "goofspiel:13"], "too many to enumerate"),
        (["oos:100", "--game", "kuhn", "--aggregate", "0"], "--aggregate 0 is out of range"),
        (["oos:100", "--game", "kuhn", "--by", "abstract"], "judged exactly"),
        (["uniform", "--game", "kuhn", "--aggregate", "5"], "agents that think"),
        (["oos:fast", "--game", "kuhn"], "'fast' is no budget"),
        (["uniform", "--game", "kuhn", "--patience", "long"], "'long' is not a whole number; write it as 2000"),
    ],
)
def test_mistakes_get_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", *words]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert err.count("\n") == 1
    assert out == ""
