"""NFSP: who explores, who learns from it, and what the average learns."""

from __future__ import annotations

import numpy as np
import pytest

import nebel
from nebel.dark_hex.sure_wins import sure_wins
from nebel.learn.nfsp import HABIT, LESSON, Nfsp, NfspSettings
from nebel.learn.traverse import OVER, Decisions
from nebel.learn.workers import Alone
from nebel.search.target import in_rules


def some_games(**settings: object) -> tuple[Decisions, np.ndarray, np.ndarray]:
    """Decisions of learners that have learned a little, their notes, and which game each belongs to."""
    it = Nfsp(in_rules(nebel.game("leduc")), "perfect", NfspSettings(boards=64, plies=60, hidden="16", **settings), 3, Alone())  # type: ignore[arg-type]
    for _ in range(3):
        it.iterate()
    it.games._boards = [None] * len(it.games._boards)
    found = it.games.segment(64, 60, it._mind(), 100)
    d, game = found.decisions, np.arange(len(found.notes))
    for r in range(len(game) - 1, -1, -1):
        if d.then[r] >= 0:
            game[r] = game[d.then[r]]
    return d, found.notes, game


def test_one_explores_and_learns_the_other_does_not() -> None:
    d, notes, game = some_games(stray=1.0)
    strayed = d.share.max(axis=1) < 0.99
    for each in np.unique(game):
        own = game == each
        explorers = np.unique(d.player[own & (notes == LESSON)])
        assert len(explorers) <= 1
        for p in explorers:
            assert (notes[own & (d.player == p)] == LESSON).all()
        others = notes[own & ~np.isin(d.player, explorers)]
        assert len(np.unique(others)) <= 1  # a best response, or the average, from beginning to end
    habits = notes == HABIT
    assert 0.3 < habits[notes != LESSON].mean() < 0.5
    assert not strayed[habits].any()
    assert strayed[notes == LESSON].mean() > 0.5
    first = [d.player[(game == each) & (notes == LESSON)] for each in np.unique(game)]
    assert 0.4 < np.mean([who[0] for who in first if len(who)]) < 0.6


def test_in_the_papers_best_responses_stray_and_all_learn() -> None:
    d, notes, _ = some_games(exploring="along", memory="samples", anticipate=0.25, stray=0.2)
    assert (notes & LESSON).all()
    responds = (notes & HABIT) > 0
    assert 0.18 < responds.mean() < 0.32
    count = d.legal.sum(axis=1)
    assert d.share.max(axis=1)[responds] == pytest.approx(0.8 + 0.2 / count[responds])
    assert (d.then == OVER).any()



def test_pruned_games_end_in_sure_wins() -> None:
    """With `pone` no decision is made in a sure win; without it some are."""
    game = in_rules(nebel.game("dark_hex:3x2"))
    wins = sure_wins(game)
    met = dict[bool, int]()
    for pone in (False, True):
        it = Nfsp(game, "board", NfspSettings(boards=64, hidden="8", pone=pone), 3, Alone())
        d = it.games.segment(64, 40, it._mind(), 1).decisions
        sure = [wins.move(int(p), int(key) >> 6, int(key) & 63) is not None for p, key in zip(d.player, d.key, strict=True)]
        met[pone] = sum(sure)
        it.iterate()
        assert it.policy({}).fingerprint == game.fingerprint
    assert met[True] == 0 < met[False]


@pytest.mark.parametrize(("string", "complaint"), [("dark_hex:2x2", "Black wins for sure from the start"), ("leduc", "classic Dark Hex")])
def test_what_cannot_be_pruned_is_refused(string: str, complaint: str) -> None:
    game = in_rules(nebel.game(string))
    with pytest.raises(nebel.Problem, match=complaint):
        Nfsp(game, next(iter(game.encodings)), NfspSettings(pone=True), 1, Alone())
