"""How large a job is: estimates beside counts, and what is refused before it begins."""

from __future__ import annotations

import pytest

import nebel
from nebel.core.errors import TooLarge
from nebel.core.tree import ROUGHLY, estimate
from nebel.solve.size import MOST_WALKED, size_up


@pytest.mark.parametrize(("string", "histories"), [("kuhn", 58), ("leduc", 9457), ("cheat:1", 7201), ("cheat:2", 174_643)])
def test_estimates_are_about_right(string: str, histories: int) -> None:
    game = nebel.game(string)
    assert sum(estimate(game, seed=seed) for seed in range(5)) / 5 == pytest.approx(histories, rel=0.15)


def test_chance_may_be_left_to_itself() -> None:
    """All deals of Cheat-1 are alike in size but for which ranks are dealt: 180, and the history before them."""
    game = nebel.game("cheat:1")
    assert sum(estimate(game, (0, 1), seed=seed) for seed in range(5)) / 5 == pytest.approx(1 + 7200 / 180, rel=0.15)


def test_games_that_may_go_on_and_on_are_seen_to_be_large() -> None:
    """Random play ends them soon, which must not deceive: one traversal would never end."""
    assert estimate(nebel.game("cheat(hp=none)"), (0, 1)) > ROUGHLY > MOST_WALKED
    with pytest.raises(TooLarge, match=r"one traversal of .* with chance-sampled meets about .* take --with outcome-sampling"):
        size_up(nebel.game("cheat(hp=none,limit=100000)"), "chance-sampled", "memoryless", 0.01)
    assert size_up(nebel.game("cheat(hp=none,limit=100000)"), "outcome-sampling", "memoryless", 0.01).walked == 1
