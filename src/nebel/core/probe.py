"""Walking through a game by its plain rules: what compiled code trusts is checked, and what is wrong is said in words.

`probe` does it before anything is solved, learned, searched or matched, in bounded time; the conformance suite does it for
longer, and compares the states that it meets.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nebel.core.calls import LONGEST, after, unended, word
from nebel.core.checksum import behaviour
from nebel.core.errors import BadRules, FailedRule, Problem
from nebel.core.findings import ENCODINGS, ENDS, GLANCES, PURE, RANGES, RULES, Findings, reason, where
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.layout import miscounted, uneven

STEPS = 1000
"""States that a probe visits from the start on, and again as many in random play."""
SECONDS = 1.0
"""Time after which a probe stops; games whose states take a tenth of a millisecond are done sooner."""

Trail = tuple[Any, int, int] | None
"""The moves so far, last first: (those before, whose turn, option)."""


class Spot(NamedTuple):
    """A state on the way: the position, how it came about, and each player's place in the trie of transcripts."""

    position: Any
    path: Trail
    length: int
    minds: tuple[int, int]


class Broken(Exception):
    """The state cannot be looked at any further; why has been noted."""


class RuleWalk:
    """Visits states of a game and checks its rules; what it finds wrong goes to `findings`."""

    def __init__(self, game: BaseGame, findings: Findings) -> None:
        self.game = game
        self.findings = findings
        self.states = 0
        self.playouts = 0
        self.endless = False

    def whole(self, limit: int, until: float = math.inf) -> bool:
        """Every state of the game, up to `limit` or a point in time; whether that was all."""
        open_spots = self._begin()
        while open_spots and not self.endless:
            if self.states >= limit or time.monotonic() > until:
                return False
            spot = open_spots.pop()
            turn, options = self.visit(spot)
            children = [child for option in options for child in self.step(spot, turn, option)]
            open_spots.extend(reversed(children))
        return True

    def sample(self, steps: int, seed: int, until: float = math.inf) -> None:
        """Random play for so many states or up to a point in time; the first playout goes on until the game ends, or should have ended.

        Some playouts prefer the first options, so that more states of different histories look the same.
        """
        rng = random.Random(seed)
        limit = self.states + steps
        while self.states < limit and not self.endless and time.monotonic() < until:
            self.playouts += 1
            lean = 1 + self.playouts % 4
            spots = self._begin()
            if not spots:
                return
            while spots and spots[0].length < LONGEST and (self.states < limit or (self.playouts == 1 and time.monotonic() < until)):
                turn, options = self.visit(spots[0])
                spots = self.step(spots[0], turn, options[int(len(options) * rng.random() ** lean)]) if options else []
            if spots and spots[0].length >= LONGEST:
                self.findings.add(ENDS, f"{self.after(spots[0])}: {unended(LONGEST)}")
                return

    def _begin(self) -> list[Spot]:
        try:
            first = Spot(self.ask("start()", None, self.game.begin), None, 0, (1, 2))
            if isinstance(self.game, Game):
                self._check_start(self.game, first.position)
        except Broken:
            return []
        return [first]

    def _check_start(self, game: Game, fresh: Any) -> None:
        """Solvers use one record over and over, so start() must not rely on zeros."""
        used = game.records(1)
        used.view(np.uint8)[:] = 0x55
        self.ask("start()", None, game.rules.start, used[0])
        left = [name for name in game.state.names or () if used[name].tobytes() != fresh[name].tobytes()]
        if left:
            self.findings.add(PURE, f"start() does not set the field {left[0]!r}: after another game it begins with what was left there")

    def ask(self, what: str, spot: Spot | None, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a part of the game. It must neither fail nor change the state."""
        watched = spot is not None and isinstance(self.game, Game)
        before = spot.position.tobytes() if spot and watched else b""
        try:
            with np.errstate(all="ignore"):
                answer = function(*arguments)
        except FailedRule as error:
            self.findings.add(RULES, self._told(spot, error))
            raise Broken from error
        except Problem as error:
            self.findings.add(RANGES, self._told(spot, error))
            raise Broken from error
        except Exception as error:
            self.findings.add(RULES, f"{self.after(spot)}: {what} fails: {reason(error)} ({where(error) or what})")
            raise Broken from error
        if spot and watched and spot.position.tobytes() != before:
            old = np.frombuffer(before, spot.position.dtype)
            field = next((n for n in old.dtype.names or () if old[n].tobytes() != spot.position[n].tobytes()), "the state")
            self.findings.add(PURE, f"{self.after(spot)}: {what} changes {field!r}; only start() and play() may")
            raise Broken
        return answer

    def _told(self, spot: Spot | None, error: Problem) -> str:
        """With the moves that lead there, which a plain game says itself."""
        own = str(error).removeprefix(f"{self.game.string}: ")
        return own if own != str(error) else f"{self.after(spot)}: {own}"

    def twice(self, what: str, spot: Spot, function: Callable[..., Any], *arguments: Any) -> Any:
        first, second = (self.ask(what, spot, function, *arguments) for _ in range(2))
        if repr(first) != repr(second):
            self.findings.add(PURE, f"{self.after(spot)}: {what} gives {first} and then {second}; it must depend on the state alone")
            raise Broken
        return first

    def visit(self, spot: Spot) -> tuple[int, list[int]]:
        """Check a state; say whose turn it is and the options to go on with (none at the end, or where rules are broken)."""
        self.states += 1
        try:
            turn = self.twice("turn()", spot, self.game.turn_at, spot.position)
            score = self._score(spot) if turn == END else None
            options = [] if turn == END else self._options(spot, turn)
            self.compare(spot, turn, options, score)
            return turn, options
        except Broken:
            return END, []

    def compare(self, spot: Spot, turn: int, options: list[int], score: float | None) -> None:
        """Look at more than the rules: here, at what solvers and networks are given."""
        if turn in (0, 1):
            for name in self.game.glances:
                self.glance(spot, turn, name)
            if isinstance(self.game, Game):
                for recall in self.game.encodings:
                    self.encoding(spot, self.game, turn, recall)

    def glance(self, spot: Spot, turn: int, name: str) -> int:
        """What the player to move sees at a glance."""
        key: int = self.twice(f"the glance {name!r}", spot, self.game.glance_at, name, spot.position, turn)
        if not 0 <= key < 2**62:
            self._stop(GLANCES, spot, f"the glance {name!r} is {key}; it must be at least 0 and below 2**62")
        return key

    def encoding(self, spot: Spot, game: Game, turn: int, recall: str) -> bytes:
        """What a network is told of the player to move."""
        row = np.zeros(game.encodings[recall].size, np.float32)
        self.ask(f"the encoding {recall!r}", spot, game.encodings[recall].write, spot.position[0], turn, row)
        if not np.isfinite(row).all():
            self.findings.add(ENCODINGS, f"{self.after(spot)}: the encoding {recall!r} holds numbers that are not finite")
        return row.tobytes()

    def _stop(self, check: str, spot: Spot, sentence: str) -> None:
        self.findings.add(check, f"{self.after(spot)}: {sentence}")
        raise Broken

    def _score(self, spot: Spot) -> float:
        return float(self.twice("score()", spot, self.game.score_at, spot.position))

    def _options(self, spot: Spot, turn: int) -> list[int]:
        try:
            self.game.check_length(spot.length)
        except BadRules as error:
            self.endless = not isinstance(self.game, Game)
            self._stop(ENDS, spot, str(error))
        if isinstance(self.game, Game):
            self._count(self.game, spot, turn)
        options: list[int] = self.twice("moves()", spot, self.game.options_at, spot.position)
        if isinstance(self.game, Game):
            kind, limit = ("outcomes", self.game.outcomes) if turn == CHANCE else ("actions", self.game.actions)
            for option in options:
                if not 0 <= option < limit:
                    self._stop(RANGES, spot, f"moves() offers {option}, yet {kind}={limit} allows 0 to {limit - 1} only")
        if len(set(options)) < len(options):
            double = next(option for option in options if options.count(option) > 1)
            self._stop(RANGES, spot, f"moves() offers {word(self.game, turn, double)} more than once")
        if turn == CHANCE:
            self.check_odds(spot, options)
        return options

    def _count(self, game: Game, spot: Spot, turn: int) -> None:
        """Too many options overrun an array once compiled, so they are counted with room to spare."""
        roomy = np.zeros(game.width + 1000, np.int64)
        count = self.ask("moves()", spot, game.count_options, spot.position, roomy)
        if not 0 < count <= game.width:
            self._stop(RANGES, spot, miscounted(game, count, turn))

    def check_odds(self, spot: Spot, options: list[int], least: float = 0.0) -> None:
        odds = self.twice("odds()", spot, self.game.odds_at, spot.position)
        if wrong := uneven(odds, len(options), least):
            self._stop(RANGES, spot, wrong)

    def step(self, spot: Spot, turn: int, option: int) -> list[Spot]:
        """The state after `option`; nothing if the rules break there."""
        ahead = spot._replace(path=(spot.path, turn, option))
        try:
            before = self.outline(ahead)
            position, seen = self.ask("play()", ahead, self.game.after, spot.position, option)
            again, seen_again = self.ask("play()", ahead, self.game.after, spot.position, option)
            child = Spot(position, ahead.path, spot.length + 1, spot.minds)
            if self.outline(ahead) != before:
                self._stop(PURE, child, "making the move changes the position before it, too")
            if seen != seen_again or not self._equal(position, again):
                self._stop(PURE, child, "play() does not give the same twice; it must depend on the state and the move alone")
            if not all(0 <= token < 2**62 for token in seen):
                self._stop(RANGES, child, f"play() reports {list(seen)} as seen; a sight is a positive integer, or 0 for nothing")
            return [self.remember(child, turn, option, seen)]
        except Broken:
            return []

    def remember(self, spot: Spot, turn: int, option: int, seen: tuple[int, int]) -> Spot:
        """For walks that look at what players know: the state with what they remember."""
        return spot

    def outline(self, spot: Spot) -> Any:
        """What can be seen of a position that is no record, and so cannot be compared byte by byte."""
        if isinstance(self.game, Game):
            return None
        return repr(getattr(spot.position, "state", None))

    def _equal(self, one: Any, other: Any) -> bool:
        if not isinstance(self.game, Game):
            return True
        return one.tobytes() == other.tobytes() or all(one[n].tobytes() == other[n].tobytes() for n in one.dtype.names)

    def line(self, path: Trail) -> str:
        words: list[str] = []
        while path is not None:
            path, turn, option = path
            words.append(word(self.game, turn, option))
        return after(words[::-1])

    def after(self, spot: Spot | None) -> str:
        return self.line(spot.path if spot else None)


class _FirstFinding(Findings):
    """Whatever is found is raised at once."""

    def __init__(self, game: BaseGame) -> None:
        super().__init__()
        self.game = game

    def add(self, check: str, sentence: str) -> None:
        raise BadRules(f"{self.game.string}: {sentence}")


def probe(game: BaseGame) -> str:
    """Play the rules of a game in plain Python: all of a small game, otherwise its beginning and seeded random play.

    Returns the game's fingerprint, for which games are played to their ends. A probe takes a second at most, and the time of the
    fingerprint. What it does not meet is not checked; `nebel check` looks longer, and at more.

    Raises:
        BadRules: the rules fail, contradict what the game declares, or do not end; with the moves that lead there.
    """
    walk, begun = RuleWalk(game, _FirstFinding(game)), time.monotonic()
    if not walk.whole(STEPS, begun + SECONDS / 3):
        walk.sample(STEPS, 1, begun + SECONDS)
    return behaviour(game)
