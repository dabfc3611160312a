"""Games in plain Python: any object with the methods below is a game, and no base class or decorator is needed.

    start()                               the first state; any object
    turn(state)                           0, 1, CHANCE (-1) or END (-4)
    legal(state)                          the moves of the player to move, a list
    odds(state)                           on CHANCE's turn, a list of (outcome, probability)
    apply(state, move)                    the next state, a new one: the old one must not change
    observe(before, move, after, player)  what `player` just saw, or None for nothing
    score(state)                          at the END, what player 0 gets (player 1 gets the opposite)

Optional: `view(state, player)` and `svg(state, player)` draw the state as `player` sees it (None: the truth);
`names(state, moves)` says how these moves or outcomes are written, in place of their `str()`; `glances` is a dictionary from a
name to a function of (state, player) that returns what the player sees without remembering. A game without chance needs
no `odds`.

Moves, outcomes, observations and glances can be any values: what counts is their text (`str()`), so equal texts are equal
things. The player who moves always remembers the move itself; `observe` is for what else there is to see. The library
works with numbers, which are digests of those texts: they are the same in every process, whatever is met first.
"""

from __future__ import annotations

import hashlib
import inspect
from array import array
from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from nebel.core.calls import after, endless, shown
from nebel.core.errors import BadRules, FailedRule
from nebel.core.faults import GLANCE_DIFFERS, MOVES_DIFFER, complaint
from nebel.core.findings import reason, where
from nebel.core.game import CHANCE, DEEPEST, END, TURNS, BaseGame, Glance, key_text
from nebel.core.layout import uneven
from nebel.core.recall import PERFECT, blank_memory
from nebel.core.rng import fold_all
from nebel.core.tree import Ends, Longs, Nodes, Points, Size

METHODS = {"start": "start()", "turn": "turn(state)", "legal": "legal(state)", "apply": "apply(state, move)"}
METHODS |= {"observe": "observe(before, move, after, player)", "score": "score(state)"}


def digest(text: str) -> int:
    """61 bits of SHA-256, never 0: twice the number still fits in 63 bits, and 0 means that nothing was seen."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 3 or 1


def written(text: str) -> str:
    """A name without white space, so that names can stand in a line."""
    return "_".join(text.split())


Way = tuple[Any, int] | None
"""The options so far, last first: (those before, option)."""


class Position:
    """A state of the user's class, with what is needed again and again, and the way that led here."""

    __slots__ = ("moves", "odds", "options", "state", "turn", "way")

    def __init__(self, state: Any, turn: int, way: Way) -> None:
        self.state, self.turn, self.way = state, turn, way
        self.options: list[int] | None = None
        self.moves: list[Any] = []
        self.odds: list[float] = []


class PlainGame(BaseGame):
    """A game whose rules are an object of a plain Python class."""

    def __init__(self, rules: Any, string: str = "") -> None:
        kind = rules if isinstance(rules, type) else type(rules)
        if isinstance(rules, type):
            raise BadRules(f"{kind.__name__} is a class; a plain game is an object of it: {kind.__name__}(...)")
        for method, call in METHODS.items():
            if not callable(getattr(rules, method, None)):
                raise BadRules(f"{kind.__name__} has no method {call}; a plain game has {', '.join(METHODS.values())}")
        self.rules = rules
        self.string = string or kind.__name__
        self._names: Callable[[Any, list[Any]], list[str]] | None = getattr(rules, "names", None)
        self._texts: dict[int, str] = {}
        self._moves: dict[str, int] = {}  # by text, as the class writes it
        self._sights: dict[str, int] = {}
        looks: dict[str, Callable[[Any, int], Any]] = getattr(rules, "glances", {})
        self.glances = {name: Glance(look, self._text, (inspect.getdoc(look) or "").partition("\n")[0]) for name, look in looks.items()}

    def begin(self) -> Position:
        try:
            state = self.rules.start()
        except Exception as error:
            raise self._raised("start", error, None) from error
        return self._enter(state, None)

    def turn_at(self, position: Position) -> int:
        return position.turn

    def options_at(self, position: Position) -> list[int]:
        return self._offer(position) if position.options is None else position.options

    def odds_at(self, position: Position) -> list[float]:
        self.options_at(position)
        return position.odds

    def score_at(self, position: Position) -> float:
        try:
            score = self.rules.score(position.state)
        except Exception as error:
            raise self._raised("score", error, position) from error
        if not (type(score) is float or isinstance(score, Real)) or not isfinite(score):
            raise self._fault(f"score() returned {score!r}, which is not a number", position)
        return float(score)

    def step(self, position: Position, option: int) -> Position:
        """The next position, whatever is seen."""
        return self._play(position, option, position.moves[self.options_at(position).index(option)])

    def after(self, position: Position, option: int) -> tuple[Position, tuple[int, int]]:
        move = position.moves[self.options_at(position).index(option)]
        to = self._play(position, option, move)
        return to, self.sights(position, move, to)

    def sights(self, position: Position, move: Any, to: Position) -> tuple[int, int]:
        """What each player saw of a move."""
        observe, before, after, known = self.rules.observe, position.state, to.state, self._sights
        try:
            first, second = observe(before, move, after, 0), observe(before, move, after, 1)
        except Exception as error:
            raise self._raised("observe", error, position, move) from error
        return (
            0 if first is None else known.get(str(first)) or self.learn(known, first, "observe", position),
            0 if second is None else known.get(str(second)) or self.learn(known, second, "observe", position),
        )

    def glance_at(self, glance: str, position: Position, player: int) -> int:
        try:
            seen = self.glances[glance].look(position.state, player)
        except Exception as error:
            raise self._raised(f"glances[{glance!r}]", error, position) from error
        return self._sights.get(str(seen)) or self.learn(self._sights, seen, f"glances[{glance!r}]", position)

    def glance_text(self, glance: str, key: int) -> str:
        return self._text(key)

    def name_of_move(self, move: int) -> str:
        return written(self._text(move))

    def name_of_outcome(self, outcome: int) -> str:
        return written(self._text(outcome))

    def name_of_sight(self, token: int) -> str:
        return written(self._text(token))

    def view_at(self, position: Position, player: int | None) -> str | None:
        return self._drawn("view", position, player)

    def svg_at(self, position: Position, player: int | None) -> str | None:
        return self._drawn("svg", position, player)

    def _drawn(self, method: str, position: Position, player: int | None) -> str | None:
        draw = getattr(self.rules, method, None)
        try:
            return None if draw is None else str(draw(position.state, player))
        except Exception as error:
            raise self._raised(method, error, position) from error

    def _text(self, number: int) -> str:
        return self._texts.get(number) or key_text(number)

    def _play(self, position: Position, option: int, move: Any) -> Position:
        try:
            state = self.rules.apply(position.state, move)
        except Exception as error:
            raise self._raised("apply", error, position, move) from error
        if state is None or state is position.state:
            what = "None" if state is None else "the very state it was given"
            raise self._fault(f"apply(state, {move!r}) returned {what}; it must return a new state", position)
        return self._enter(state, (position.way, option))

    def _enter(self, state: Any, way: Way) -> Position:
        try:
            turn = self.rules.turn(state)
            known = turn in (0, 1, CHANCE, END)
        except Exception as error:
            raise self._raised("turn", error, Position(state, END, way)) from error
        if not known:
            here = Position(state, END, way)
            raise self._fault(f"turn() returned {turn!r}; it must return {TURNS}", here)
        return Position(state, int(turn), way)

    def _offer(self, position: Position) -> list[int]:
        state, chance = position.state, position.turn == CHANCE
        method = "odds" if chance else "legal"
        if position.turn == END:
            raise self._fault("the game is over, so there are no moves", position)
        if chance and not hasattr(self.rules, "odds"):
            raise self._fault("chance is to move, and there is no method odds(state)", position)
        try:
            moves = list(self.rules.odds(state) if chance else self.rules.legal(state))
            if chance:
                position.odds = [float(p) for _, p in moves]
                moves = [outcome for outcome, _ in moves]
            names = moves if self._names is None else self._names(state, moves)
        except Exception as error:
            raise self._raised(method, error, position) from error
        if not moves:
            raise self._fault(f"{method}() returned no moves, and the game is not over", position)
        if chance and uneven(position.odds, len(moves)):
            raise self._fault(f"odds() returned probabilities that do not sum to 1, or are negative: {shown(position.odds)}", position)
        known = self._moves
        options = [known.get(str(name)) or self.learn(known, name, method, position) for name in names]
        if len(set(options)) < len(options):
            twice = next(name for name, option in zip(names, options, strict=True) if options.count(option) > 1)
            raise self._fault(f"{method}() returned two moves with the text {written(str(twice))!r}; every move needs its own", position)
        position.moves, position.options = moves, options
        return options

    def learn(self, known: dict[str, int], value: Any, method: str, position: Position) -> int:
        """The number of a text that was not met before."""
        text = str(value)
        if isinstance(value, (set, frozenset)):
            raise self._fault(f"{method}() returned the set {text}, whose text has no fixed order; return tuple(sorted(...))", position)
        if (not isinstance(value, str) and " at 0x" in text) or not text.strip():
            raise self._fault(f"{method}() returned {value!r}, which has no text of its own; give its class a __str__", position)
        name = written(text) if known is self._moves else text
        number = digest(name)
        if self._texts.setdefault(number, name) != name:
            raise self._fault(f"the texts {name!r} and {self._texts[number]!r} have the same digest; change one of them", position)
        known[text] = number
        return number

    def _fault(self, what: str, position: Position | None) -> BadRules:
        names: list[str] = []
        way = position.way if position else None
        while way is not None:
            way, option = way
            names.append(self.name_of_move(option))
        words = after(names[::-1]).removeprefix("after ")
        return BadRules(f"{self.string}: {f'after {words!r}' if names else words}, {what}")

    def _raised(self, method: str, error: Exception, position: Position | None, move: Any = None) -> FailedRule:
        given = "" if move is None else f" for the move {shown(move)}"
        what = f"{method}(){given} raised {reason(error)}" + (f" ({place})" if (place := where(error)) else "")
        return FailedRule(str(self._fault(what, position)))


def measure_plain(game: BaseGame, limit: int) -> Size:
    """Count the histories of any game, up to `limit`."""
    turn_at, options_at, after = game.turn_at, game.options_at, game.after
    step = game.step if isinstance(game, PlainGame) else lambda position, option: after(position, option)[0]
    chance = decisions = terminals = deepest = 0
    stack: list[tuple[Any, int, int]] = [(None, -1, 0)]  # from where, by which option, how deep
    while stack and chance + decisions + terminals <= limit:
        before, option, depth = stack.pop()
        position = game.begin() if before is None else step(before, option)
        turn = turn_at(position)
        deepest = max(deepest, depth)
        if turn == END:
            terminals += 1
            continue
        if turn == CHANCE:
            chance += 1
        else:
            decisions += 1
        depth += 1
        if depth > DEEPEST:
            raise BadRules(f"{game.string}: {endless(DEEPEST, declared=False)}")
        stack.extend([(position, option, depth) for option in reversed(options_at(position))])
    return Size(chance, decisions, terminals, deepest, chance + decisions + terminals <= limit)


class _Trie:
    """Everything that players can remember: each memory is its parent and one thing more."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int], int] = {}
        self.parent, self.token, self.depth = array("q", [0, 0, 0]), array("q", [0, 0, 0]), array("i", [0, 0, 0])

    def add(self, mind: int, token: int) -> int:
        place = self.places[mind, token] = len(self.parent)
        self.parent.append(mind)
        self.token.append(token)
        self.depth.append(self.depth[mind] + 1)
        return place

    def memories(self) -> Longs:
        """All places as the numbers that `remember_move` and `remember_sight` would fold them to."""
        parent, token, depth = (np.array(x, np.int64) for x in (self.parent, self.token, self.depth))
        memory = np.zeros(len(parent), np.int64)
        memory[1], memory[2] = blank_memory(0), blank_memory(1)
        order = np.argsort(depth, kind="stable")
        for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]:
            memory[level] = fold_all(memory[parent[level]], token[level])
        return memory


class _Seat:
    """One player's points while they are being found."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}  # by place in the trie
        self.parent, self.mind, self.node, self.visits = array("i"), array("q"), array("i"), array("q")
        self.first, self.glance, self.move = array("i", [1]), array("q"), array("q", [-1])

    def points(self, memory: Longs, glancing: bool) -> Points:
        key = memory[np.array(self.mind, np.int64)]
        parent, first, node = (np.array(x, np.int32) for x in (self.parent, self.first, self.node))
        glance, move, visits = (np.array(x, np.int64) for x in (self.glance, self.move, self.visits))
        return Points(parent, first, key, glance if glancing else key.copy(), node, move, visits)


def unfold_plain(game: BaseGame, recall: str) -> tuple[Nodes, tuple[Points, Points], Ends]:
    """The arrays of any game's tree, numbered as `unfold_rules` numbers them."""
    turn_at, options_at, after, glancing = game.turn_at, game.options_at, game.after, recall != PERFECT
    order, turn, count, spot = array("i"), array("b"), array("i"), array("i")  # in the order of visits
    option, odds, used = array("q", [-1]), array("d", [1.0]), 1  # by node, as all below
    ends, paid, last = array("i"), array("d"), (array("i"), array("i"))
    value = array("d")
    seats, trie = (_Seat(), _Seat()), _Trie()
    places, add = trie.places, trie.add

    def nodes() -> Nodes:
        width, visit = np.array(count, np.int32), np.array(order, np.int32)
        turns, parents = np.zeros(used, np.int8), np.full(used, -1, np.int32)
        firsts, counts, spots, scores = np.zeros(used, np.int32), np.zeros(used, np.int32), np.full(used, -1, np.int32), np.zeros(used)
        turns[visit], counts[visit], spots[visit], scores[ends] = turn, width, spot, paid
        firsts[visit] = 1 + np.cumsum(width) - width
        parents[1:] = np.repeat(visit, width)
        return Nodes(turns, parents, np.array(option, np.int64), np.array(odds, np.float64), firsts, counts, spots, scores)

    # a position before, what is played there, by whom, and what was remembered there; the position itself is made when its
    # turn comes, so that few exist at a time
    stack: list[tuple[int, Any, int, int, int, int, int, int, float]] = [(0, None, -1, CHANCE, 1, 2, 0, 0, 1.0)]
    while stack:
        here, before, move, mover, mind0, mind1, last0, last1, reach = stack.pop()
        if before is None:
            position = game.begin()
        else:
            position, (seen0, seen1) = after(before, move)
            if mover == 0:
                mind0 = places.get((mind0, 2 * move + 1)) or add(mind0, 2 * move + 1)
            elif mover == 1:
                mind1 = places.get((mind1, 2 * move + 1)) or add(mind1, 2 * move + 1)
            if seen0:
                mind0 = places.get((mind0, 2 * seen0)) or add(mind0, 2 * seen0)
            if seen1:
                mind1 = places.get((mind1, 2 * seen1)) or add(mind1, 2 * seen1)
        who = turn_at(position)
        order.append(here)
        turn.append(who)
        if who == END:
            score = game.score_at(position)
            count.append(0)
            spot.append(-1)
            ends.append(here)
            paid.append(score)
            last[0].append(last0)
            last[1].append(last1)
            value.append(reach * score)
            continue
        options = options_at(position)
        n = len(options)
        luck = game.odds_at(position) if who == CHANCE else [1.0] * n
        count.append(n)
        option.extend(options)
        odds.extend(luck)
        used += n
        at = -1
        if who == CHANCE:
            spot.append(-1)
        else:
            seat, mind = seats[who], mind1 if who else mind0
            point = seat.of.get(mind, -1)
            seen = game.glance_at(recall, position, who) if glancing else 0
            if point < 0:
                point = seat.of[mind] = len(seat.node)
                seat.parent.append(last1 if who else last0)
                seat.mind.append(mind)
                seat.node.append(here)
                seat.visits.append(0)
                seat.glance.append(seen)
                seat.move.extend(options)
                seat.first.append(len(seat.move))
            spot.append(point)
            at = seat.first[point]
            if seat.move[at : seat.first[point + 1]].tolist() != options:
                raise BadRules(complaint(game, recall, nodes(), MOVES_DIFFER, here, seat.node[point]))
            if seen != seat.glance[point]:
                raise BadRules(complaint(game, recall, nodes(), GLANCE_DIFFERS, here, seat.node[point]))
            seat.visits[point] += 1
        for i in range(n - 1, -1, -1):
            l0, l1 = at + i if who == 0 else last0, at + i if who == 1 else last1
            stack.append((used - n + i, position, options[i], who, mind0, mind1, l0, l1, reach * luck[i]))
    memory = trie.memories()
    points = (seats[0].points(memory, glancing), seats[1].points(memory, glancing))
    return nodes(), points, Ends((np.array(last[0], np.int32), np.array(last[1], np.int32)), np.array(value, np.float64))
