"""Small numbers for what happens in a game, as libraries of fixed array sizes want them."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

from nebel.core.errors import TooLarge
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.plain import measure_plain
from nebel.core.state import State

RULES_LIMIT, PLAIN_LIMIT = 20_000, 1_000_000
"""Histories up to which a game is walked through, to know its figures exactly."""


class Figures(NamedTuple):
    """Bounds over all histories; exact when the game was walked through."""

    decisions: int
    chances: int
    words: int  # the longest transcript
    low: float = -inf
    high: float = inf


class Alphabet:
    """Moves, outcomes and sights as 0, 1, 2, ...

    A game in rules keeps its own numbers. Other games are walked through, and things are numbered as they first come up.
    """

    def __init__(self, game: BaseGame) -> None:
        limit = RULES_LIMIT if isinstance(game, Game) else PLAIN_LIMIT
        self.moves: Mapping[int, int] = {}
        self.outcomes: Mapping[int, int] = {}
        self.sights: Mapping[int, int] | None = None
        if measure_plain(game, limit).complete:
            self._walk(game)
        elif isinstance(game, Game):
            self.figures = Figures(game.depth, game.depth if game.outcomes else 0, 2 * game.depth)
        else:
            raise TooLarge(f"{game.string} has more than {limit:,} histories, too many to number its moves; take a smaller variant")
        if isinstance(game, Game):
            self.moves = {move: move for move in range(game.actions)}
            self.outcomes = {outcome: outcome for outcome in range(game.outcomes)}
            self.sights = None
        self.move_of = {number: move for move, number in self.moves.items()}
        self.outcome_of = {number: outcome for outcome, number in self.outcomes.items()}

    def words(self, state: State, player: int) -> list[int]:
        """The transcript of `player` as positive numbers: own moves first in the alphabet, then sights."""
        out = []
        for step in state.steps:
            if step.turn == player:
                out.append(1 + self.moves[step.option])
            if token := step.seen[player]:
                out.append(1 + len(self.moves) + (token if self.sights is None else self.sights[token]))
        return out

    @property
    def letters(self) -> int | None:
        """The largest number of a word, where it is known."""
        return None if self.sights is None else len(self.moves) + len(self.sights)

    def _walk(self, game: BaseGame) -> None:
        moves: dict[int, int] = {}
        outcomes: dict[int, int] = {}
        sights: dict[int, int] = {}
        longest, scores = (0, 0, 0), (inf, -inf)
        stack = [(game.begin(), 0, 0, 0, 0)]
        while stack:
            position, decisions, chances, words0, words1 = stack.pop()
            turn = game.turn_at(position)
            if turn == END:
                score = game.score_at(position)
                scores = (min(scores[0], score), max(scores[1], score))
                longest = (max(longest[0], decisions), max(longest[1], chances), max(longest[2], words0, words1))
                continue
            options = game.options_at(position)
            met = outcomes if turn == CHANCE else moves
            for option in options:
                met.setdefault(option, len(met))
                to, seen = game.after(position, option)
                for token in seen:
                    if token:
                        sights.setdefault(token, len(sights))
                words = (words0 + (turn == 0) + (seen[0] != 0), words1 + (turn == 1) + (seen[1] != 0))
                stack.append((to, decisions + (turn != CHANCE), chances + (turn == CHANCE), *words))
        self.moves, self.outcomes, self.sights = moves, outcomes, sights
        largest = max(-scores[0], scores[1])
        self.figures = Figures(*longest, -largest, largest)
