"""The conformance suite's way through a game: every state visited is checked, and compared with those that look the same."""

from __future__ import annotations

import xml.etree.ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

from nebel.core.calls import after, word
from nebel.core.findings import BOTS, ENCODINGS, GLANCES, MOVES, NAMES, TEXTS, VIEWS, Findings
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.probe import RuleWalk, Spot, Trail

PARSED = 200
"""So many pictures are read as XML."""
PICTURES = 4000
"""Drawing takes longer than all else: of more states than this, pictures are compared for a part of the transcripts."""

LUCK = (0.0, 0.4, 1 - 2**-53)
"""The uniform numbers that bots are given."""


class Walk(RuleWalk):
    """Checks the rules, and all that players are shown."""

    def __init__(self, game: BaseGame, findings: Findings, expected: int) -> None:
        super().__init__(game, findings)
        self.stride = 1 + expected // PICTURES
        self.pictures = 0
        self.trie: dict[tuple[int, int], int] = {}
        self.text = {1: 0, 2: 0}  # by place in the trie, the number of the transcript's text
        self.texts: dict[tuple[int, str], int] = {}  # a text is another and one word more: transcripts may be long
        self.read: dict[tuple[int, int], tuple[int, Trail]] = {}
        self.drawn: dict[Any, tuple[Any, Trail]] = {}
        self.decided: dict[int, tuple[list[int], dict[str, int], dict[str, list[int]], Trail]] = {}
        self.encoded: dict[tuple[str, int, int], tuple[bytes, Trail]] = {}
        self.glanced: dict[tuple[str, int, int], tuple[list[int], Trail]] = {}
        self.glance_words: dict[tuple[str, str], int] = {}
        self.checked_names: set[str] = set()

    def compare(self, spot: Spot, turn: int, options: list[int], score: float | None) -> None:
        if options:
            self._check_names(spot, turn, options)
        if turn in (0, 1):
            self._compare_decisions(spot, turn, options)
        self._compare_views(spot, turn, score)

    def check_odds(self, spot: Spot, options: list[int], least: float = np.nextafter(0, 1)) -> None:
        super().check_odds(spot, options, least)  # solvers take outcomes of probability 0, which are mistakes as a rule

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
        wrong = [(MOVES, self._difference(turn, known, options))] if known != options else []
        wrong += [(GLANCES, f"the glance {n!r} differs: it shows more than was seen") for n in glances if known_glances[n] != glances[n]]
        wrong += [(BOTS, f"the bot {n!r} plays differently: it goes by more than was seen") for n in bots if known_bots[n] != bots[n]]
        for check, what in wrong:
            self.findings.add(check, f"{self.pair(path, spot.path)}, player {turn} cannot tell the two states apart, yet {what}")
        if isinstance(self.game, Game):
            for recall in self.game.encodings:
                self._encoding(spot, self.game, turn, recall, glances.get(recall, spot.minds[turn]))

    def _encoding(self, spot: Spot, game: Game, turn: int, recall: str, known: int) -> None:
        """What a network is told depends on what is known, and on nothing else."""
        row = self.encoding(spot, game, turn, recall)
        before, path = self.encoded.setdefault((recall, turn, known), (row, spot.path))
        if before != row:
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
        key = self.glance(spot, turn, name)
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

    def outline(self, spot: Spot) -> Any:
        if isinstance(self.game, Game):
            return None
        looks = [self.ask("view", spot, self.game.view_at, spot.position, player) for player in (0, 1, None)]
        return super().outline(spot), looks

    def remember(self, spot: Spot, turn: int, option: int, seen: tuple[int, int]) -> Spot:
        minds = [self._remember(spot, player, turn, option, seen[player]) for player in (0, 1)]
        return spot._replace(minds=(minds[0], minds[1]))

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
            text = self.text[child] = self.texts.setdefault((self.text[mind], name), len(self.texts) + 1)
            other, path = self.read.setdefault((player, text), (child, spot.path))
            if other != child:
                alike = f"{self.pair(path, spot.path)}, player {player} has seen different things, yet both transcripts read"
                self.findings.add(TEXTS, f"{alike} {self._written(text)!r}")
        return child

    def _written(self, text: int) -> str:
        words, last = [], {number: key for key, number in self.texts.items()}
        while text:
            text, word = last[text]
            words.append(word)
        return after(words[::-1]).removeprefix("after ")

    def word(self, turn: int, option: int) -> str:
        return word(self.game, turn, option)

    def pair(self, one: Trail, other: Trail) -> str:
        return f"{self.line(one)} and {self.line(other)}"


def count(game: BaseGame, limit: int) -> int:
    """The states of the whole tree, or a number above `limit`. Where the rules fail it stops: a walk will meet the failure."""
    positions: list[tuple[Any, int]] = []
    met = 0
    try:
        with np.errstate(all="ignore"):
            positions.append((game.begin(), 0))
            while positions and met <= limit:
                met += 1
                position, length = positions.pop()
                if game.turn_at(position) in (0, 1, CHANCE):
                    game.check_length(length)
                    positions.extend((game.after(position, option)[0], length + 1) for option in reversed(game.options_at(position)))
    except Exception:
        return met
    return met
