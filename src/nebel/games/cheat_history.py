"""The history of numbers of cards and challenges in states of Cheat, for networks of players who know it."""

from __future__ import annotations

from typing import Any

from nebel.core.errors import UnknownGame
from nebel.core.game import Game, Record
from nebel.core.remember import writing_down
from nebel.core.rule import rule
from nebel.games.cheat_box import Box

MOST_PAGES = 400


def keeping_history(box: Box, game: Game) -> Game:
    """The same game with encodings of what history-aware and general players know."""
    pages, most, believe = 2 * (game.depth // 2), box.most, box.believe
    if not box.by_card:
        raise UnknownGame("cheat: diary=true goes with put=cards: what is said of hands by put=counts is not all that these players know")
    if pages > MOST_PAGES:
        raise UnknownGame(f"cheat: a diary of {pages:,} pages is too long, {MOST_PAGES} are the most; take fewer health points, or a limit")

    @rule
    def note(s: Record, who: int, move: int, seen: Any, player: int) -> int:
        """How many cards are claimed, or whether that is believed; after the deal."""
        if who < 0:
            return 0
        return s.claim if s.last else 1 + most + move - believe

    @rule
    def tell(page: int, out: Any) -> None:
        out[page - 1] = 1.0

    return writing_down(game, pages, most + 2, note, tell, {"history-aware": "memoryless", "general": "hp-aware"})
