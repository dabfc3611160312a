"""The conformance suite's way through a game: every state visited is checked, and compared with those that look the same."""

from __future__ import annotations

import math
import random
import xml.etree.ElementTree
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import Problem
from nebel.core.findings import BOTS, ENCODINGS, ENDS, GLANCES, MOVES, NAMES, PURE, RANGES, RULES, TEXTS, VIEWS, Findings, reason, where
from nebel.core.game import CHANCE, END, BaseGame, Game

ENDLESS = 10_000
"""A history of a game without a declared depth that is longer than this counts as endless."""
PARSED = 200
"""So many pictures are read as XML."""
PICTURES = 4000
"""Drawing takes longer than all else: of more states than this, pictures are compared for a part of the transcripts."""

LUCK = (0.0, 0.4, 1 - 2**-53)
"""The uniform numbers that bots are given."""

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


class Walk:
    """Visits states of a game; what it finds wrong goes to `findings`."""

    def __init__(self, game: BaseGame, findings: Findings, expected: int) -> None:
        self.game = game
        self.findings = findings
        self.stride = 1 + expected // PICTURES
        self.states = 0
        self.playouts = 0
        self.pictures = 0
        self.trie: dict[tuple[int, int], int] = {}
        self.text: dict[int, str] = {1: "", 2: ""}
        self.read: dict[tuple[int, str], tuple[int, Trail]] = {}
        self.drawn: dict[Any, tuple[Any, Trail]] = {}
        self.decided: dict[int, tuple[list[int], dict[str, int], dict[str, list[int]], Trail]] = {}
        self.encoded: dict[tuple[str, int, int], tuple[bytes, Trail]] = {}
        self.glanced: dict[tuple[str, int, int], tuple[list[int], Trail]] = {}
        self.glance_words: dict[tuple[str, str], int] = {}
        self.checked_names: set[str] = set()

    def whole(self, limit: int) -> bool:
        """Every state of the game, up to `limit`; whether that was all."""
        open_spots = self._begin()
        while open_spots:
            if self.states >= limit:
                return False
            spot = open_spots.pop()
            turn, options = self.visit(spot)
            children = [child for option in options for child in self.step(spot, turn, option)]
            open_spots.extend(reversed(children))
        return True

    def sample(self, steps: int, seed: int) -> None:
        """Random play. Some playouts prefer the first options, so that more states of different histories look the same."""
        rng = random.Random(seed)
        limit = self.states + steps
        while self.states < limit:
            self.playouts += 1
            lean = 1 + self.playouts % 4
            spots = self._begin()
            if not spots:
                return
            while spots and self.states < limit:
                turn, options = self.visit(spots[0])
                spots = self.step(spots[0], turn, options[int(len(options) * rng.random() ** lean)]) if options else []

    def _begin(self) -> list[Spot]:
        try:
            first = Spot(self.ask("start()", None, self.game.begin), None, 0, (1, 2))
        except Broken:
            return []
        if isinstance(self.game, Game):
            self._check_start(self.game, first.position)
        return [first]

    def _check_start(self, game: Game, fresh: Any) -> None:
        """Solvers use one record over and over, so start() must not rely on zeros."""
        used = game.blank(1)
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
        except Problem as error:
            self.findings.add(RANGES, f"{self.after(spot)}: {reason(error)}")
            raise Broken from error
        except Exception as error:
            self.findings.add(RULES, f"{self.after(spot)}: {what} fails: {reason(error)} ({where(error)})")
            raise Broken from error
        if spot and watched and spot.position.tobytes() != before:
            old = np.frombuffer(before, spot.position.dtype)
            field = next((n for n in old.dtype.names or () if old[n].tobytes() != spot.position[n].tobytes()), "the state")
            self.findings.add(PURE, f"{self.after(spot)}: {what} changes {field!r}; only start() and play() may")
            raise Broken
        return answer

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
            if turn not in (0, 1, CHANCE, END):
                self._stop(RANGES, spot, f"turn() returns {turn}; it must be 0, 1, CHANCE ({CHANCE}) or END ({END})")
            score = self._score(spot) if turn == END else None
            options = [] if turn == END else self._options(spot, turn)
            if turn in (0, 1):
                self._compare_decisions(spot, turn, options)
            self._compare_views(spot, turn, score)
            return turn, options
        except Broken:
            return END, []

    def _stop(self, check: str, spot: Spot, sentence: str) -> None:
        self.findings.add(check, f"{self.after(spot)}: {sentence}")
        raise Broken

    def _score(self, spot: Spot) -> float:
        score = self.twice("score()", spot, self.game.score_at, spot.position)
        if not math.isfinite(score):
            self._stop(ENDS, spot, f"score() is {score}; it must be a finite number")
        return float(score)

    def _options(self, spot: Spot, turn: int) -> list[int]:
        depth = getattr(self.game, "depth", None)
        if isinstance(depth, int) and depth > 0:
            if spot.length >= depth:
                self._stop(ENDS, spot, f"the game goes on after {spot.length} moves, yet declares depth={depth}")
        elif spot.length >= ENDLESS:
            self.findings.add(ENDS, f"the game does not end: after {spot.length:,} moves of random play it still goes on")
            raise Broken
        if isinstance(self.game, Game):
            self._count(self.game, spot)
        options: list[int] = self.twice("moves()", spot, self.game.options_at, spot.position)
        if not options:
            self._stop(RANGES, spot, f"{_who(turn)} is to move, yet moves() offers nothing")
        if isinstance(self.game, Game):
            kind, limit = ("outcomes", self.game.outcomes) if turn == CHANCE else ("actions", self.game.actions)
            for option in options:
                if not 0 <= option < limit:
                    self._stop(RANGES, spot, f"moves() offers {option}, yet {kind}={limit} allows 0 to {limit - 1} only")
        if len(set(options)) < len(options):
            double = next(option for option in options if options.count(option) > 1)
            self._stop(RANGES, spot, f"moves() offers {self.word(turn, double)} more than once")
        if turn == CHANCE:
            self._check_odds(spot, options)
        self._check_names(spot, turn, options)
        return options

    def _count(self, game: Game, spot: Spot) -> None:
        """Too many options overrun an array once compiled, so they are counted with room to spare."""
        roomy = np.zeros(game.width + 1000, np.int64)
        count = self.ask("moves()", spot, game.rules.moves, spot.position[0], roomy)
        if not 0 <= count <= game.width:
            self._stop(RANGES, spot, f"moves() offers {count} options, yet width={game.width}")

    def _check_odds(self, spot: Spot, options: list[int]) -> None:
        odds = self.twice("odds()", spot, self.game.odds_at, spot.position)
        if len(odds) != len(options) or not all(p > 0 for p in odds):
            self._stop(RANGES, spot, f"odds() gives {odds} for {len(options)} outcomes; each must be positive")
        if abs(sum(odds) - 1) > 1e-9:
            self._stop(RANGES, spot, f"odds() gives {odds}, which sum to {sum(odds):.6g} instead of 1")

    def _check_names(self, spot: Spot, turn: int, options: list[int]) -> None:
        namer = self.game.name_of_outcome if turn == CHANCE else self.game.name_of_move
        names = [self.ask("the name of a move", spot, namer, option) for option in options]
        if len(set(names)) < len(names):
            double = next(name for name in names if names.count(name) > 1)
            same = [option for option, name in zip(options, names, strict=True) if name == double]
            self.findings.add(NAMES, f"{self.after(spot)}: the options {same[0]} and {same[1]} are both called {double!r}")
        for name in names:
            self._check_word(spot, "a move", name)

    def _check_word(self, spot: Spot, what: str, name: Any) -> None:
        if name in self.checked_names:
            return
        self.checked_names.add(name)
        if not isinstance(name, str) or not name or len(name.split()) != 1 or name != name.strip():
            self.findings.add(NAMES, f"{self.after(spot)}: {what} is called {name!r}; a name is one word without spaces")

    def _compare_decisions(self, spot: Spot, turn: int, options: list[int]) -> None:
        glances = {name: self._glance(spot, turn, name, options) for name in self.game.glances}
        bots = {name: self._bot(spot, self.game, name, options) for name in self.game.bots} if isinstance(self.game, Game) else {}
        known, known_glances, known_bots, path = self.decided.setdefault(spot.minds[turn], (options, glances, bots, spot.path))
        alike = f"{self.pair(path, spot.path)}, player {turn} cannot tell the two states apart, yet"
        if known != options:
            self.findings.add(MOVES, f"{alike} {self._difference(turn, known, options)}")
        for name, glance in glances.items():
            if known_glances[name] != glance:
                self.findings.add(GLANCES, f"{alike} the glance {name!r} differs: it shows more than was seen")
        for name, moves in bots.items():
            if known_bots[name] != moves:
                self.findings.add(BOTS, f"{alike} the bot {name!r} plays differently: it goes by more than was seen")
        if isinstance(self.game, Game):
            for recall in self.game.encodings:
                self._encoding(spot, self.game, turn, recall, glances.get(recall, spot.minds[turn]))

    def _encoding(self, spot: Spot, game: Game, turn: int, recall: str, known: int) -> None:
        """What a network is told depends on what is known, and on nothing else."""
        row = np.zeros(game.encodings[recall].size, np.float32)
        self.ask(f"the encoding {recall!r}", spot, game.encodings[recall].write, spot.position[0], turn, row)
        if not np.isfinite(row).all():
            self.findings.add(ENCODINGS, f"{self.after(spot)}: the encoding {recall!r} holds numbers that are not finite")
        before, path = self.encoded.setdefault((recall, turn, known), (row.tobytes(), spot.path))
        if before != row.tobytes():
            same = f"{self.pair(path, spot.path)}, player {turn} knows the same"
            self.findings.add(ENCODINGS, f"{same}, yet the encoding {recall!r} differs: it shows more than was seen")

    def _bot(self, spot: Spot, game: Game, name: str, options: list[int]) -> list[int]:
        """What a bot plays, by luck."""
        bot = game.bots[name]
        moves = [int(self.twice(f"the bot {name!r}", spot, bot.choose, spot.position[0], u, *bot.shallow)) for u in LUCK]
        illegal = next((move for move in moves if move not in options), None)
        if illegal is not None:
            self._stop(BOTS, spot, f"the bot {name!r} plays {illegal}, which is not legal; legal: {' '.join(map(str, options))}")
        return moves

    def _difference(self, turn: int, one: list[int], other: list[int]) -> str:
        if sorted(one) == sorted(other):
            return "their legal moves come in different orders"
        words = [" ".join(self.word(turn, option) for option in options) for options in (one, other)]
        return f"their legal moves differ: {words[0]} against {words[1]}"

    def _glance(self, spot: Spot, turn: int, name: str, options: list[int]) -> int:
        key = self.twice(f"the glance {name!r}", spot, self.game.glance_at, name, spot.position, turn)
        if not 0 <= key < 2**62:
            self._stop(GLANCES, spot, f"the glance {name!r} is {key}; it must be at least 0 and below 2**62")
        known, path = self.glanced.setdefault((name, turn, key), (options, spot.path))
        if known != options:
            same = f"{self.pair(path, spot.path)}, the glance {name!r} shows player {turn} the same, yet"
            self.findings.add(GLANCES, f"{same} {self._difference(turn, known, options)}")
        text = self.ask(f"the text of the glance {name!r}", spot, self.game.glance_text, name, key)
        if self.glance_words.setdefault((name, text), key) != key:
            self.findings.add(GLANCES, f"{self.after(spot)}: the glance {name!r} reads {text!r}, as does a different one")
        return int(key)

    def _compare_views(self, spot: Spot, turn: int, score: float | None) -> None:
        """Players also know whether it is their turn, whether the game is over, and what they got."""
        for player in (0, 1, None):
            text = self.ask("view", spot, self.game.view_at, spot.position, player)
            picture = self.ask("svg", spot, self.game.svg_at, spot.position, player) if self._draws(spot, player) else None
            self._check_picture(spot, picture)
            if player is None:
                continue
            situation = (spot.minds[player], turn == player, turn == END, score)
            look = (hash(text), hash(picture))
            known, path = self.drawn.setdefault(situation, (look, spot.path))
            if known != look:
                what = "view" if known[0] != look[0] else "picture"
                self.findings.add(
                    VIEWS,
                    f"{self.pair(path, spot.path)}, player {player} cannot tell the two states apart, yet the {what} differs: "
                    f"it shows player {player} more than was seen",
                )

    def _draws(self, spot: Spot, player: int | None) -> bool:
        """The truth is drawn for its own sake, the rest to be compared: all states of a transcript, or none."""
        if player is None:
            return self.pictures < PARSED
        return self.stride == 1 or (spot.minds[player] * 2654435761 >> 16) % self.stride == 0

    def _check_picture(self, spot: Spot, picture: str | None) -> None:
        if picture is None or self.pictures >= PARSED:
            return
        self.pictures += 1
        try:
            xml.etree.ElementTree.fromstring(picture)
        except xml.etree.ElementTree.ParseError as error:
            self.findings.add(VIEWS, f"{self.after(spot)}: the picture is not valid XML: {error}")

    def step(self, spot: Spot, turn: int, option: int) -> list[Spot]:
        """The state after `option`; nothing if the rules break there."""
        ahead = spot._replace(path=(spot.path, turn, option))
        try:
            before = self._outline(ahead)
            position, seen = self.ask("play()", ahead, self.game.after, spot.position, option)
            again, seen_again = self.ask("play()", ahead, self.game.after, spot.position, option)
            child = Spot(position, ahead.path, spot.length + 1, spot.minds)
            if self._outline(ahead) != before:
                self._stop(PURE, child, "making the move changes the position before it, too")
            if seen != seen_again or not self._equal(position, again):
                self._stop(PURE, child, "play() does not give the same twice; it must depend on the state and the move alone")
            if not all(0 <= token < 2**62 for token in seen):
                self._stop(RANGES, child, f"play() reports {list(seen)} as seen; a sight is a positive integer, or 0 for nothing")
            minds = [self._remember(child, player, turn, option, seen[player]) for player in (0, 1)]
            return [child._replace(minds=(minds[0], minds[1]))]
        except Broken:
            return []

    def _outline(self, spot: Spot) -> Any:
        """What can be seen of a position that is no record, and so cannot be compared byte by byte."""
        if isinstance(self.game, Game):
            return None
        position = spot.position
        looks = [self.ask("view", spot, self.game.view_at, position, player) for player in (0, 1, None)]
        return self.ask("turn()", spot, self.game.turn_at, position), self.ask("moves()", spot, self.game.options_at, position), looks

    def _equal(self, one: Any, other: Any) -> bool:
        if not isinstance(self.game, Game):
            return True
        return one.tobytes() == other.tobytes() or all(one[n].tobytes() == other[n].tobytes() for n in one.dtype.names)

    def _remember(self, spot: Spot, player: int, turn: int, option: int, token: int) -> int:
        mind = spot.minds[player]
        if turn == player:
            mind = self._learn(spot, player, mind, 2 * option + 1, self.game.name_of_move, option)
        if token:
            mind = self._learn(spot, player, mind, 2 * token, self.game.name_of_sight, token)
        return mind

    def _learn(self, spot: Spot, player: int, mind: int, fact: int, namer: Callable[[int], str], number: int) -> int:
        child = self.trie.get((mind, fact))
        if child is None:
            name = self.ask("the name of a sight" if fact % 2 == 0 else "the name of a move", spot, namer, number)
            self._check_word(spot, "a sight" if fact % 2 == 0 else "a move", name)
            child = self.trie[mind, fact] = len(self.trie) + 3
            text = self.text[child] = f"{self.text[mind]} {name}".strip()
            other, path = self.read.setdefault((player, text), (child, spot.path))
            if other != child:
                self.findings.add(
                    TEXTS,
                    f"{self.pair(path, spot.path)}, player {player} has seen different things, yet both transcripts read {text!r}",
                )
        return child

    def word(self, turn: int, option: int) -> str:
        try:
            return str(self.game.name_of_outcome(option) if turn == CHANCE else self.game.name_of_move(option))
        except Exception:
            return f"#{option}"

    def line(self, path: Trail) -> str:
        words: list[str] = []
        while path is not None:
            path, turn, option = path
            words.append(self.word(turn, option))
        return f"after {' '.join(reversed(words))}" if words else "at the start"

    def after(self, spot: Spot | None) -> str:
        return self.line(spot.path if spot else None)

    def pair(self, one: Trail, other: Trail) -> str:
        return f"{self.line(one)} and {self.line(other)}"


def count(game: BaseGame, limit: int) -> int:
    """The states of the whole tree, or a number above `limit`. Where the rules fail it stops: a walk will meet the failure."""
    positions, met = [], 0
    try:
        with np.errstate(all="ignore"):
            positions.append(game.begin())
            while positions and met <= limit:
                met += 1
                position = positions.pop()
                if game.turn_at(position) in (0, 1, CHANCE):
                    positions.extend(game.after(position, option)[0] for option in reversed(game.options_at(position)))
    except Exception:
        return met
    return met


def _who(turn: int) -> str:
    return "chance" if turn == CHANCE else f"player {turn}"
