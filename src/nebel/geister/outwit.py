"""How much Purple loses to somebody who knows it. It leaves nothing to chance, so that moves can be planned which win for certain.

The responder keeps the worlds, that is the colourings of Purple's ghosts, in which Purple would have moved as it did. It looks for moves
that win in one of them and makes these until it sees something else than there; then it looks again in the worlds that are left. Where
it finds nothing the game counts as lost. What that wins over all worlds is exact: the best response wins at least as much.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import END, BaseGame, Game
from nebel.core.rng import fold
from nebel.core.rule import kernel, rule
from nebel.games.geister_ways import ways_of
from nebel.geister.belief import board_of

LOOKER = "purple"
FAR = 400
"""More than any plan is rated."""

Worlds = list[Any]


class Room(NamedTuple):
    """Of a search: positions, how each came about, lists of those that are rated alike, and which were met."""

    states: Any
    parent: Any
    move: Any
    plies: Any
    later: Any
    rated: Any
    met: Any


@lru_cache(maxsize=16)
def _searcher(game: Game) -> tuple[Any, Any]:
    _, turn, moves, play, score, _ = game.rules
    choose, width = game.bots[LOOKER].choose, game.width
    board = board_of(game)
    to_exit, cells = ways_of(board).to_exit, board.cells

    @rule
    def rating(s: Any, me: int, plies: int) -> int:
        """Moves made and, six times, the steps that the foremost blue ghost has to go."""
        rate = FAR - 1
        for cell in range(cells):
            if (s.ghosts[me] & ~s.reds[me]) >> cell & 1:
                rate = min(rate, plies + 6 * to_exit[cell])
        return rate

    @rule
    def is_new(met: Any, s: Any) -> bool:
        key = np.int64(1)
        for p in range(2):
            key = fold(fold(key, s.ghosts[p]), s.reds[p])
        slot = key & (met.size - 1)
        while met[slot] != 0:
            if met[slot] == key:
                return False
            slot = (slot + 1) & (met.size - 1)
        met[slot] = key
        return True

    @kernel
    def search(room: Room, me: int, depth: int, out: Any) -> int:
        """From states[0] on, the best rated first: how many moves win, which are written backwards, or 0 if none were found."""
        room.met[:] = 0
        room.rated[:] = -1
        room.rated[0], room.later[0], room.parent[0], room.plies[0] = 0, -1, -1, 0
        seen, legal = np.zeros(2, np.int64), np.zeros(width, np.int64)
        used, best = 1, 0
        while best < FAR:
            at = room.rated[best]
            if at < 0:
                best += 1
                continue
            room.rated[best] = room.later[at]
            for i in range(moves(room.states[at], legal)):
                if used == room.parent.size:
                    return 0
                s = room.states[used]
                room.states[used] = room.states[at]
                play(s, legal[i], seen)
                if turn(s) != END:
                    play(s, choose(s, 0.0, depth), seen)
                if turn(s) == END:
                    if score(s) == 1.0 - 2.0 * me:
                        out[0], n, back = legal[i], 1, at
                        while room.parent[back] >= 0:
                            out[n] = room.move[back]
                            n += 1
                            back = room.parent[back]
                        return n
                elif is_new(room.met, s):
                    room.parent[used], room.move[used], room.plies[used] = at, legal[i], room.plies[at] + 1
                    rate = rating(s, me, room.plies[used])
                    room.later[used], room.rated[rate] = room.rated[rate], used
                    best = min(best, rate)
                    used += 1
        return 0

    @kernel
    def reply(states: Any, depth: int) -> int:
        return choose(states[0], 0.0, depth)

    return search, reply


class Outwitter:
    """Against Purple at a depth. `nodes`: of a search for moves that win; `tries`: worlds in which they are looked for at a time."""

    def __init__(self, game: BaseGame, depth: int, nodes: int = 100_000, tries: int = 3) -> None:
        if not isinstance(game, Game) or game.name != "geister" or game.options["setup"] != "random":
            raise BadSetting(f"{game.string}: who knows Purple is asked about Geister with setup=random")
        self.game, self.depth, self.tries, self.ways = game, depth, tries, board_of(game).ways
        self._search, self._reply = _searcher(game)
        parent, move, plies, later = np.zeros((4, nodes), np.int64)
        met = np.zeros(1 << (2 * nodes).bit_length(), np.int64)
        self._room = Room(game.blank(nodes), parent, move, plies, later, np.zeros(FAR, np.int64), met)
        self._found = np.zeros(game.depth, np.int64)

    def gain(self, seat: int, colouring: int) -> float:
        """What the responder of this seat gets, its own ghosts having these colours, over all colourings of Purple's."""
        worlds = []
        for theirs in range(self.ways):
            state = self.game.start().push(colouring if seat == 0 else theirs).push(theirs if seat == 0 else colouring)
            worlds.append(state.position)
        if seat == 0:
            return self._worth(worlds, seat) / len(worlds)
        ended, groups = self._answered([(world, 0) for world in worlds], seat)
        return (ended + sum(self._worth(group, seat) for group in groups.values())) / len(worlds)

    def gains(self, seat: int, most: int) -> float:
        """The same over all of its own colourings, or so many that are spread evenly if there are more."""
        tried = min(self.ways, most)
        return float(np.mean([self.gain(seat, k * self.ways // tried) for k in range(tried)]))

    def plan(self, world: Any, seat: int) -> list[int]:
        """Moves that win in a world; none if they were not found."""
        self._room.states[0] = world[0]
        with np.errstate(over="ignore"):
            n = self._search(self._room, seat, self.depth, self._found)
        return self._found[:n][::-1].tolist()

    def _worth(self, worlds: Worlds, seat: int) -> float:
        """The sum over worlds that look the same, the responder to move."""
        best, tries = -float(len(worlds)), min(len(worlds), self.tries)
        for k in range(tries):
            world = worlds[k * len(worlds) // tries]
            if plan := self.plan(world, seat):
                best = max(best, self._follow(worlds, world, plan, seat))
            if best == len(worlds):
                break
        return best

    def _follow(self, worlds: Worlds, world: Any, plan: list[int], seat: int) -> float:
        """Make the moves of a plan for one world; wherever something else is seen than there, think again."""
        total = 0.0
        for move in plan:
            ended, groups = self._moved(worlds, move, seat)
            total += ended
            _, expected = self._moved([world], move, seat)
            for seen, group in groups.items():
                if seen in expected:
                    worlds = group
                else:
                    total += self._worth(group, seat)
            if expected:
                ((world,),) = expected.values()
        return total

    def _moved(self, worlds: Worlds, move: int, seat: int) -> tuple[float, dict[tuple[int, int], Worlds]]:
        """What the responder gets where the game ends with its move or the reply; the other worlds by what it saw of both."""
        ended, going = 0.0, []
        for world in worlds:
            after, sights = self.game.after(world, move)
            if self.game.turn_at(after) == END:
                ended += self.game.score_at(after) * (1 - 2 * seat)
            else:
                going.append((after, sights[seat]))
        more, groups = self._answered(going, seat)
        return ended + more, groups

    def _answered(self, worlds: list[tuple[Any, int]], seat: int) -> tuple[float, dict[tuple[int, int], Worlds]]:
        """The same after Purple's reply; with each world comes what was seen before."""
        ended, groups = 0.0, dict[tuple[int, int], Worlds]()
        for world, saw in worlds:
            after, sights = self.game.after(world, int(self._reply(world, self.depth)))
            if self.game.turn_at(after) == END:
                ended += self.game.score_at(after) * (1 - 2 * seat)
            else:
                groups.setdefault((saw, sights[seat]), []).append(after)
        return ended, groups
