"""Families: which games refine each other, which do not, and what is said of those."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting
from nebel.core.kin import variant
from nebel.core.refinement import refine
from nebel.solve.curriculum import check_family, stages

ALIKE = "cheat(hp=2,starter=0,alike=true)"
GLANCES = tuple(nebel.game(ALIKE).glances)

BUILT_IN = [
    *((ALIKE, "hp=1..2", recall) for recall in ("perfect", *GLANCES)),
    (ALIKE, "limit=1,2,none", "history-aware"),
    ("goofspiel(cards=3,order=descending)", "turns=1..3", "perfect"),
    ("goofspiel(cards=3,order=random)", "turns=1..3", "perfect"),
    ("goofspiel(cards=3,first_prize=1)", "cards=2..3", "perfect"),
    ("dark_hex:3x2", "rows=2..3", "perfect"),
    ("geister(width=4,height=4,ghosts=2,limit=12)", "limit=10,12", "board"),
]

FAMILY = '''
from typing import Any
from nebel.core.game import CHANCE, END, Game, Glance, Record, Rules, record
from nebel.core.rule import rule
from numpy import int64


def guess(rounds: int = 1, starter: int = 0, sharp: int = 0, offers: int = 2) -> Game:
    """Player 0 is dealt a card of four and says in each round whether it is high; player 1 guesses in the end."""

    @rule
    def start(s: Record) -> None:
        s.card, s.said, s.turn = -1, 0, CHANCE

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        n = 4 if s.turn == CHANCE else offers
        for i in range(n):
            out[i] = i
        return n

    @rule
    def odds(s: Record, out: Any) -> None:
        out[:4] = 0.25

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        if s.turn == CHANCE:
            s.card = move
            seen[starter] = 1 + move
            s.turn = starter
            return
        seen[1 - s.turn] = 5 + move
        s.said += 1
        s.turn = END if s.said == rounds else starter

    @rule
    def score(s: Record) -> float:
        return float(s.card)

    @rule
    def look(s: Record, player: int) -> int:
        return (s.card if sharp == rounds else s.card // 2) * 8 + s.said

    return Game(
        state=record(card=int64, said=int64, turn=int64), rules=Rules(start, turn, moves, play, score, odds), actions=3, outcomes=4,
        depth=6, glances={"half": Glance(look)},
    )
'''


@pytest.fixture
def guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("guess.py").write_text(FAMILY)
    return "guess.py:guess"


@pytest.mark.parametrize(("game", "family", "recall"), BUILT_IN)
def test_built_in_families(game: str, family: str, recall: str) -> None:
    for refinement in check_family(stages(nebel.game(game), family), recall, histories=400):
        looked = [refinement.of_smaller, *filter(None, [refinement.of_larger])]
        assert len(looked) == (1 if recall == "perfect" else 2)
        assert all(part.whole or part.histories == 400 for part in looked)


def test_what_was_checked_is_told() -> None:
    family = [stage.game for stage in stages(nebel.game(ALIKE), "hp=1..2")]
    smaller, larger = family
    whole = refine(larger, smaller, "hp-aware", most=11_000)
    assert (whole.of_smaller.whole, whole.of_larger and whole.of_larger.histories) == (True, 10_948)
    assert str(whole).endswith("all 10,948 histories of the larger")
    assert str(refine(larger, smaller, "hp-aware", most=300)).endswith("300 histories of random play of the larger")


@pytest.mark.parametrize("recall", ["perfect", "half"])
def test_a_family_that_ends_earlier_passes(guess: str, recall: str) -> None:
    for smaller, larger in pairwise(stages(nebel.game(f"{guess}(rounds=3)"), "rounds=1..3")):
        assert refine(larger.game, smaller.game, recall).of_smaller.whole


@pytest.mark.parametrize(
    ("options", "family", "recall", "reason"),
    [
        # the glance with one round tells apart 0 and 1, that with two rounds does not
        (
            "rounds=2,sharp=1",
            "rounds=1..2",
            "half",
            "after 0 and after 1 player 0 is in one information state of the larger game and in two of",
        ),
        ("rounds=2,starter=1", "starter=0..1", "half", "after 0 player 0 is to move in .* and player 1 is to move in"),
        ("rounds=2,starter=1", "starter=0..1", "perfect", "after 0 player 0 sees 1 in .* and nothing in"),
        ("rounds=2,offers=2", "offers=3,2", "perfect", "after 0 2 is possible in .* and not in"),
        ("rounds=1", "rounds=2,1", "perfect", "after 0 0 player 0 is to move in .* and the game is over in"),
    ],
)
def test_a_family_that_breaks_the_assumption_is_refused(
    guess: str, options: str, family: str, recall: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    game = f"{guess}({options})"
    with pytest.raises(BadSetting, match=reason):
        check_family(stages(nebel.game(game), family), recall)
    assert main(["solve", game, "--curriculum", family, "--recall", recall, "--iterations", "5", "--run", "run"]) == 2
    said = capsys.readouterr().err
    assert "does not refine" in said
    assert said.count("\n") == 1
    assert not Path("run").exists()


def test_who_starts_makes_no_family_and_scores_are_not_compared() -> None:
    """Moves of the same number are called the same, and still histories with another starter have nothing to do with each other. Where
    only prizes differ players are in the same information states."""
    one = nebel.game(ALIKE)
    with pytest.raises(BadSetting, match="does not refine"):
        refine(variant(one, "starter", "1"), one, "perfect", most=400)
    prizes = nebel.game("goofspiel(cards=3,order=descending)")
    assert refine(variant(prizes, "order", "ascending"), prizes, "perfect").of_smaller.whole


def test_outcomes_of_chance_are_matched_by_name() -> None:
    """With a random starter there are twice as many deals, by other numbers; those with player 0 first are among them."""
    one = nebel.game(ALIKE)
    assert refine(variant(one, "starter", "random"), one, "perfect", most=400).recall == "perfect"


def test_check_of_a_family(guess: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{guess}(rounds=2)", "--curriculum", "rounds=1..2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(check["recall"], check["passed"]) for check in found["checks"]] == [("perfect", True), ("half", True)]
    assert main(["check", f"{guess}(rounds=2,sharp=1)", "--curriculum", "rounds=1..2"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line[:5] for line in lines] == ["ok   ", "WRONG"]
    assert "in two of the smaller" in lines[1]
    assert main(["check", guess, "--recall", "half"]) == 2
    assert "--recall is for a family" in capsys.readouterr().err
