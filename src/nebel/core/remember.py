"""Games whose states also hold what players remember: folded into a number, so that perfect recall becomes a glance like any other, or
written down, so that networks can be told all of it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadRules
from nebel.core.game import END, Encoding, Game, Glance, Record, Rules, record
from nebel.core.keys import find
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rule import rule

MEMORY = "memory"
TRIAL = 10_000
"""Steps of games at random by which diaries are measured."""


@functools.lru_cache(maxsize=16)
def remembering(game: Game, players: tuple[int, ...]) -> Game:
    """The same game with the memories of `players` in its states; its only glance shows them.

    The fewer players, the better: histories that differ in what nobody remembers are one state.
    """
    start = game.rules.start
    keeps = (0 in players, 1 in players)

    @rule
    def begin(s: Record) -> None:
        start(s)
        for p in range(2):
            s.memory[p] = blank_memory(p) if keeps[p] else 0

    @rule
    def keep(s: Record, who: int, move: int, seen: Any, p: int) -> None:
        if keeps[p]:
            if p == who:
                s.memory[p] = remember_move(s.memory[p], move)
            s.memory[p] = remember_sight(s.memory[p], seen[p])

    @rule
    def recall(s: Record, player: int) -> Any:
        return s.memory[player]

    rules: Rules = game.rules._replace(start=begin, play=_playing(game, keep))
    made = replace(game, state=with_fields(game, memory=(np.int64, 2)), rules=rules, glances={MEMORY: Glance(recall)})
    game.try_out()
    object.__setattr__(made, "tried", True)  # the rules are those of `game`; memories are digests, and may be negative
    return made


@rule
def say_seat(s: Record, player: int, out: Any) -> None:
    out[0] = player


def keeping_diaries(game: Game, pages: int, tokens: int, also: str = "") -> Game:
    """The same game with diaries in its states, and an encoding of perfect recall: what the encoding `also` says, or else the seat, then
    page by page the own move and the sight, each as one of so many zeros and a one.

    pages   the most steps of a game that a player can notice
    tokens  what is seen is below this
    """

    @rule
    def note(s: Record, who: int, move: int, seen: Any, player: int) -> int:
        if seen[player] >= tokens:
            raise BadRules("keeping_diaries: a player sees a token that is too large")
        return (1 + move if who == player else 0) * tokens + seen[player]

    return _with_pages(game, pages, tokens, note, also)


def diaries_by_trial(game: Game, most: int, also: str = "") -> Game | None:
    """The same game with diaries, of which nobody needs to say how long they are: as games at random need them, and some pages more. Sights
    that were not met there are told as one, and what comes when all pages are full is not told. None if that takes over `most` numbers."""
    found = _trial(game, most)
    if found is None:
        return None
    longest, sights = found
    tokens = len(sights) + 2
    other, pages = tokens - 1, min(game.depth, 2 * longest, most // (game.actions + tokens))

    @rule
    def note(s: Record, who: int, move: int, seen: Any, player: int) -> int:
        if s.pages[player] == pages:
            return 0
        at = find(sights, seen[player]) + 1
        token = at if at > 0 or seen[player] == 0 else other
        return (1 + move if who == player else 0) * tokens + token

    return _with_pages(game, pages, tokens, note, also)


def _trial(game: Game, most: int) -> tuple[int, NDArray[np.int64]] | None:
    """The most steps that a player noticed in a game at random, and all that was seen; None as soon as diaries would be too large."""
    longest, sights = 0, np.zeros(0, np.int64)
    rng, steps = np.random.default_rng(21), 0
    while steps < TRIAL:
        position, met, noticed = game.begin(), [], [0, 0]
        while (turn := game.turn_at(position)) != END:
            options = game.options_at(position)
            position, seen = game.after(position, options[rng.integers(len(options))])
            met += [token for token in seen if token > 0]
            noticed = [count + (p == turn or seen[p] > 0) for p, count in enumerate(noticed)]
            steps += 1
        longest, sights, steps = max(longest, *noticed), np.union1d(sights, np.array(met, np.int64)), steps + 1
        if longest * (game.actions + len(sights) + 2) > most:
            return None
    return longest, sights


def _with_pages(game: Game, pages: int, tokens: int, note: Any, also: str) -> Game:
    """With diaries of pages that hold 1 + the own move, or 0, times `tokens`, plus a token."""
    actions = game.actions

    @rule
    def tell(page: int, out: Any) -> None:
        move, token = page // tokens, page % tokens
        if move > 0:
            out[move - 1] = 1.0
        if token > 0:
            out[actions + token - 1] = 1.0

    return writing_down(game, pages, actions + tokens - 1, note, tell, {PERFECT: also})


def writing_down(game: Game, pages: int, wide: int, note: Any, tell: Any, told: Mapping[str, str]) -> Game:
    """The same game whose states hold what note(s, who, move, seen, player) makes of each step for each player, unless it is 0; and with
    encodings by recall: what another, which is named, says, then page by page `wide` numbers that tell(page, out) makes of these."""
    start, essence = game.rules.start, game.clues.essence

    @rule
    def begin(s: Record) -> None:
        start(s)
        erase(s)

    @rule
    def erase(s: Record) -> None:
        s.pages[:] = 0
        s.diary[:] = 0

    @rule
    def keep(s: Record, who: int, move: int, seen: Any, p: int) -> None:
        page = note(s, who, move, seen, p)
        if page > 0:
            if s.pages[p] == pages:
                raise BadRules("keeping_diaries: a player notices more steps than there are pages")
            s.diary[p * pages + s.pages[p]] = page
            s.pages[p] += 1

    @rule
    def essential(s: Record) -> None:
        """Diaries have no bearing on how the game goes on."""
        essence(s)
        erase(s)

    def encoding(also: str) -> Encoding:
        size, say, board = game.encodings[also] if also else Encoding(1, say_seat)

        @rule
        def write(s: Record, player: int, out: Any) -> None:
            say(s, player, out)
            for i in range(s.pages[player]):
                tell(s.diary[player * pages + i], out[size + i * wide : size + (i + 1) * wide])

        return Encoding(size + pages * wide, write, board)

    return replace(
        game,
        state=with_fields(game, pages=(np.int64, 2), diary=(np.int64, 2 * pages)),
        rules=game.rules._replace(start=begin, play=_playing(game, keep)),
        clues=game.clues._replace(essence=essential),
        encodings={**game.encodings, **{recall: encoding(also) for recall, also in told.items()}},
    )


def _playing(game: Game, keep: Any) -> Any:
    """The rule that makes a move, after which keep(s, who, move, seen, player) is called for each player."""
    turn, play = game.rules.turn, game.rules.play

    @rule
    def go_on(s: Record, move: int, seen: Any) -> None:
        who = turn(s)
        seen[0] = seen[1] = 0
        play(s, move, seen)
        for p in range(2):
            keep(s, who, move, seen, p)

    return go_on


def with_fields(game: Game, **more: Any) -> np.dtype[np.void]:
    """A game's state with more fields. They come first: behind the old ones Numba would take old code for the new layout, and warn."""
    layout: Any = game.state.fields
    fields = {name: layout[name][0] if layout[name][0].subdtype is None else layout[name][0].subdtype for name in game.state.names or ()}
    return record(**more, **fields)
