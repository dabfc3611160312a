"""Check that a larger game of a family refines a smaller one, which ordered abstraction assumes.

Cheng Yi, Tomoyuki Kaneko. Improving Counterfactual Regret Minimization Agents Training in Card Game Cheat Using Ordered
Abstraction. 2021, section 4. What is checked of the games G' (smaller) and G (larger):

1. Histories of G' are histories of G, and what is not an end in G' is none in G: after each, the same player is to move and has at
   least the moves of G'. By perfect recall, both players have seen the same.
2. Each information state of G lies in exactly one of G'. By a glance: histories that G's glance shows alike, the glance of G' shows
   alike. By perfect recall this follows from 1.
3. What is legal in an information state of G' is legal in each of G that lies in it.

Of a game of up to `most` histories all are checked, of a larger one as many from random play, which can find a family broken and
cannot prove it sound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nebel.core.calls import after, word
from nebel.core.errors import BadSetting
from nebel.core.game import CHANCE, END, BaseGame
from nebel.core.kin import borrow
from nebel.core.recall import PERFECT
from nebel.core.rng import generator, uniform
from nebel.core.tree import measure

HISTORIES = 2000
"""Histories of each game that are checked, unless the caller says otherwise."""

Trail = tuple[Any, ...]
"""How a history came about: (the trail before, whose turn it was, what was played); empty at the start."""
Visit = Callable[[Any, Trail], tuple[int, list[int]]]
Step = Callable[[Any, int, Trail], Any]


class Looked(NamedTuple):
    """How much of a game was checked."""

    histories: int
    whole: bool

    def __str__(self) -> str:
        return f"all {self.histories:,} histories" if self.whole else f"{self.histories:,} histories of random play"


class Refinement(NamedTuple):
    """A pair of games that was checked and found in order."""

    larger: str
    smaller: str
    recall: str
    of_smaller: Looked
    of_larger: Looked | None  # None by perfect recall, where the smaller game's histories tell all

    def __str__(self) -> str:
        of_larger = f", {self.of_larger} of the larger" if self.of_larger else ""
        return f"{self.larger} refines {self.smaller} by {self.recall} recall: checked {self.of_smaller} of the smaller{of_larger}"


@lru_cache(maxsize=64)
def refine(larger: BaseGame, smaller: BaseGame, recall: str, most: int = HISTORIES, seed: int = 1) -> Refinement:
    """Check that `larger` refines `smaller` under a recall.

    Raises:
        BadSetting: the games do not fit together; names the history, or the two histories, that show it.
    """
    borrow(larger, smaller, recall)
    with np.errstate(over="ignore"):  # rules and random numbers fold
        return _Pair(larger, smaller, recall).check(most, seed)


def _doing(turn: int) -> str:
    return "the game is over" if turn == END else "chance is to move" if turn == CHANCE else f"player {turn} is to move"


class _Pair:
    def __init__(self, larger: BaseGame, smaller: BaseGame, recall: str) -> None:
        self.larger, self.smaller, self.recall = larger, smaller, recall
        self.perfect = recall == PERFECT
        self.outcomes: dict[int, int] = {}  # by outcome of the smaller game: that of the larger, -1 if there is none
        self.offered: dict[tuple[int, int], tuple[list[int], Trail]] = {}  # by information state of the smaller game: legal moves
        self.lies_in: dict[tuple[int, int], tuple[int, Trail]] = {}  # by information state of the larger game: that of the smaller

    def check(self, most: int, seed: int) -> Refinement:
        begin = self.smaller.begin(), self.larger.begin()
        shared = walk(self.smaller, begin, self.visit_shared, self.step_shared, most, seed)
        mapped = None
        if not self.perfect:
            mapped = walk(self.larger, self.larger.begin(), self.visit_larger, self.step_larger, most, seed)
        return Refinement(self.larger.string, self.smaller.string, self.recall, shared, mapped)

    def visit_shared(self, both: Any, trail: Trail) -> tuple[int, list[int]]:
        """Check a history of the smaller game in both games; return whose turn it is, and what can be played there in the smaller one."""
        small, large = both
        turn = self.smaller.turn_at(small)
        if turn == END:
            return turn, []
        turns = turn, self.larger.turn_at(large)
        if turns[0] != turns[1]:
            said = [_doing(who) for who in turns]
            raise self._broken(f"{self._after(trail)} {said[0]} in {self.smaller.string} and {said[1]} in {self.larger.string}")
        options, there = self.smaller.options_at(small), self.larger.options_at(large)
        if turn == CHANCE:
            self._match_outcomes(options, there)
        missing = [option for option in options if self._in_larger(turn, option) not in there]
        if missing:
            name = word(self.smaller, turn, missing[0])
            raise self._broken(f"{self._after(trail)} {name} is possible in {self.smaller.string} and not in {self.larger.string}")
        if turn >= 0 and not self.perfect:
            self.offered.setdefault((turn, self.smaller.glance_at(self.recall, small, turn)), (options, trail))
        return turn, options

    def step_shared(self, both: Any, option: int, trail: Trail) -> Any:
        small, seen = self.smaller.after(both[0], option)
        large, seen_there = self.larger.after(both[1], self._in_larger(trail[1], option))
        if self.perfect and seen != seen_there and self.smaller.turn_at(small) != END:
            player = 0 if seen[0] != seen_there[0] else 1
            sights = [
                game.name_of_sight(tokens[player]) if tokens[player] else "nothing"
                for game, tokens in ((self.smaller, seen), (self.larger, seen_there))
            ]
            raise self._broken(
                f"{self._after(trail)} player {player} sees {sights[0]} in {self.smaller.string} and {sights[1]} in {self.larger.string}"
            )
        return small, large

    def _match_outcomes(self, options: list[int], there: list[int]) -> None:
        """Outcomes of chance are matched by their names: players do not see their numbers."""
        if any(option not in self.outcomes for option in options):
            named = {word(self.larger, CHANCE, outcome): outcome for outcome in there}
            self.outcomes.update({option: named.get(word(self.smaller, CHANCE, option), -1) for option in options})

    def _in_larger(self, turn: int, option: int) -> int:
        return self.outcomes[option] if turn == CHANCE else option

    def visit_larger(self, position: Any, trail: Trail) -> tuple[int, list[int]]:
        """Check a history of the larger game; return whose turn it is, and what can be played there."""
        turn = self.larger.turn_at(position)
        if turn == END:
            return turn, []
        options = self.larger.options_at(position)
        if turn == CHANCE:
            return turn, options
        own, lies_in = (game.glance_at(self.recall, position, turn) for game in (self.larger, self.smaller))
        known, before = self.lies_in.setdefault((turn, own), (lies_in, trail))
        if known != lies_in:
            raise self._broken(
                f"{self._after(before, True)} and {self._after(trail, True)} player {turn} is in one information state of the larger game "
                "and in two of the smaller"
            )
        offered, there = self.offered.get((turn, lies_in), ([], ()))
        missing = sorted(set(offered) - set(options))
        if missing:
            raise self._broken(
                f"{self._after(there)} in {self.smaller.string} player {turn} may play {word(self.smaller, turn, missing[0])}, and not "
                f"{self._after(trail, True)} in {self.larger.string}, which lies in the same information state"
            )
        return turn, options

    def step_larger(self, position: Any, option: int, trail: Trail) -> Any:
        return self.larger.after(position, option)[0]

    def _after(self, trail: Trail, of_larger: bool = False) -> str:
        game, words = self.larger if of_larger else self.smaller, list[str]()
        while trail:
            trail, turn, option = trail
            words.append(word(game, turn, option))
        return after(words[::-1])

    def _broken(self, why: str) -> BadSetting:
        return BadSetting(f"{self.larger.string} does not refine {self.smaller.string} by {self.recall} recall: {why}")


def walk(game: BaseGame, begin: Any, visit: Visit, step: Step, most: int, seed: int) -> Looked:
    """Visit all histories of a game, shortest first, if there are at most `most`, otherwise `most` of random play."""
    if measure(game, most).complete:
        queue: deque[tuple[Any, Trail, int]] = deque([(begin, (), 0)])
        met = 0
        while queue:
            position, trail, length = queue.popleft()
            position = step(position, trail[-1], trail) if trail else position
            met += 1
            turn, options = visit(position, trail)
            if options:
                game.check_length(length)
            queue.extend((position, (trail, turn, option), length + 1) for option in options)
        return Looked(met, True)
    rng, met = generator(seed), 0
    while met < most:
        position, trail, length = begin, (), 0
        while True:
            turn, options = visit(position, trail)
            met += 1
            if not options or met == most:
                break
            game.check_length(length)
            trail = trail, turn, options[int(uniform(rng) * len(options))]
            position, length = step(position, trail[-1], trail), length + 1
    return Looked(met, False)
