"""Reviews: who judges by default, and what is said where a strategy has no answers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.core.state import State
from nebel.judge.exact import judge
from nebel.match.agents import PolicyAgent, read
from nebel.policy.table import Shares, TablePolicy, sorted_shares
from nebel.web import inside, review
from nebel.web.inside import Study, Subject
from nebel.web.solved import solve

from .conftest import Local

HEX = "dark_hex:2x2"


def without(policy: TablePolicy, player: int, keys: set[int]) -> TablePolicy:
    """The policy without some of a player's information states: it plays at random there."""
    rows = [(key, moves) for key, moves in policy.rows(player) if key not in keys]
    width = np.array([len(moves) for _, moves in rows])
    move, share = (np.array([pair[i] for _, moves in rows for pair in moves.items()]) for i in (0, 1))
    table = sorted_shares(np.array([key for key, _ in rows]), width, move.astype(np.int64), share.astype(np.float64))
    shares: list[Shares] = list(policy.shares)
    shares[player] = table
    return dataclasses.replace(policy, shares=(shares[0], shares[1]), missing="uniform")


def after(state: State, player: int) -> set[int]:
    """The information states in which the player may decide from here on."""
    found = {state.key(player)} if state.turn == player else set()
    return found.union(*(after(state.copy().push(option), player) for option in state.options()))


@pytest.fixture(scope="module")
def partial() -> Subject:
    """A solution of Dark Hex 2x2 that has no answers once Black has begun with b2."""
    game = nebel.game(HEX)
    policy = solve(game).policy
    assert isinstance(policy, TablePolicy)
    made = without(policy, 0, after(game.start().play("b2"), 0))
    return Subject(PolicyAgent("partial", made), game)


def loss(subject: Subject, moves: str, move: str) -> dict[str, Any]:
    state = subject.game.start().play(moves)
    judged = review.judged(Study(), subject, state, state.options()[state.legal().index(move)])
    return dict(judged["loss"], known=judged["known"])


def test_no_loss_where_exact_values_suppose_random_play(partial: Subject) -> None:
    lost = loss(partial, "", "b2")
    assert (lost["kind"], lost["note"]) == ("none", review.NO_ANSWERS)
    assert loss(partial, "", "a2")["kind"] == "exact"
    assert loss(partial, "", "a2")["best"] != "b2"
    worth = review.judged(Study(), partial, partial.game.start(), 0)["worth"]
    assert "After b2 the strategy has no answers" in worth["note"]


def test_no_loss_where_games_are_played_on_at_random(partial: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "TREE", 5)
    lost = loss(partial, "", "b2")
    assert (lost["kind"], lost["note"], lost["known"]) == ("none", review.NO_ANSWERS, True)
    fine = loss(partial, "", "a2")
    assert fine["kind"] == "estimate"
    assert "no answer" not in fine["note"]


def test_later_moves_are_not_judged_by_random_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """White begins 4x3 with a2: the strategy that comes with nebel never does, and says nothing of what follows."""
    monkeypatch.setattr(review, "SECONDS", 20.0)
    monkeypatch.setattr(review, "PAIRS", 30)
    game = nebel.game("dark_hex:4x3")
    agent = read("shipped:board-4x3")
    subject = Subject(agent, agent.join(game))
    first = loss(subject, "b2", "a2")
    assert (first["kind"], first["note"], first["known"]) == ("none", review.NO_ANSWERS, True)
    second = loss(subject, "b2 a2 b3", "c1")
    assert (second["kind"], second["note"], second["known"]) == ("none", review.NO_ANSWER, False)


def test_solutions_found_on_the_spot_have_answers_everywhere() -> None:
    """After mistakes, too: there they are best responses, not the play at random that an average strategy is."""
    for name in ("kuhn", HEX):
        game = nebel.game(name)
        agent = solve(game)
        assert isinstance(agent.policy, TablePolicy)
        span = {"kuhn": 4.0, HEX: 2.0}[name]
        assert judge(game, agent.policy).verdict.exploitability < 1e-3 * span
        values = Study().values(Subject(agent, game))
        assert float(values._blind[0]) == 0.0
        assert float(values._blind.max()) == 0.0
    study = Study()
    king = nebel.game("kuhn").start().play("Q K bet")
    judged = review.judged(study, study.solution(nebel.game("kuhn")), king, king.options()[king.legal().index("pass")])
    assert judged["loss"]["loss"] == pytest.approx(3.0)
    assert judged["loss"]["best"] == "bet"


def test_searches_judge_moves() -> None:
    """And mark only what they are sure of."""
    game = nebel.game("kuhn")
    agent = read("oos:300")
    folded = loss(Subject(agent.sit(), agent.join(game)), "Q K bet", "pass")
    assert (folded["kind"], folded["loss"]) == ("estimate", pytest.approx(3.0, abs=0.5))
    assert "searches of 100 simulations" in folded["note"]
    called = loss(Subject(agent.sit(), agent.join(game)), "Q K bet", "bet")
    assert called["loss"] <= called["error"]


def test_nobody_is_judged_by_random_play_unless_asked(local: Local) -> None:
    def judges(game: str, opponent: str) -> list[str]:
        begun = local.begin(game, "person", opponent)
        id, key = begun["id"], begun["seats"][0]["key"]
        assert local.get(f"/api/review/{id}/judges", key=key).status_code == 409  # the game goes on
        local.post(f"/api/play/{id}/resign", {}, key=key)
        return [one["text"] for one in local.get(f"/api/review/{id}/judges", key=key).json()]

    small = judges("kuhn", "random")
    assert (small[0], small[-1]) == ("solved", "random")
    large = judges("dark_hex:4x3", "random")
    assert (large[0], large[-1]) == ("shipped/board-4x3.nebel", "random")
    unknown = judges("dark_hex:3x3", "random")
    assert (unknown[0], unknown[-1]) == ("oos:5k", "random")


def test_the_review_begins_with_the_best_judge(page: Any) -> None:
    begun = page.request.post("/api/play", data={"game": "kuhn", "players": ["person", "random"], "seed": 1}).json()
    id, key = begun["id"], begun["seats"][0]["key"]
    page.request.post(f"/api/play/{id}/move?key={key}", data={"move": "bet"})
    page.goto(f"/#/play/{id}/{key}")
    page.get_by_role("button", name="Review").click()
    page.get_by_text("lost, exactly").wait_for()
    choice = page.get_by_label("Beside the strategy")
    assert choice.input_value() == "solved"
    choice.select_option("random")
    page.get_by_text("lost, exactly").wait_for()
    assert "at random" in choice.locator("option").last.inner_text()
    assert key not in page.url
