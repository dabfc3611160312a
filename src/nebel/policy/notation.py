"""Strategy notation for Dark Hex, after section 3.4.1 of Tapkan's thesis: text to syntax tree and back.

A file is a header (`rows: 4`, `cols: 3`, `player: white`, perhaps `board: `, the initial board) and definitions (`NAME = strategy`);
`play` is the one that is played.
What a strategy means is told in `strategy.py`; docs/notation.md is for people.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, NoReturn

from nebel.policy.initial_board import WRITTEN, BadBoard, BoardRules, InitialBoard, empty_board
from nebel.policy.limits import MOST_DEPTH, MOST_LEVELS, TOO_DEEP, Size, check_depth, size_of
from nebel.policy.syntax import (
    MAIN,
    PLAYERS,
    BadStrategy,
    Either,
    Mixture,
    Move,
    Name,
    Node,
    Open,
    Place,
    Random,
    Sequence,
    StrategyText,
    Try,
    Turned,
    nodes,
    number_text,
)

HEADER = ("rows", "cols", "player", "board", "version")
MOST_DIGITS, LONGEST_WORD, MOST_CELLS = 20, 100, 62
"""Digits of a number, characters of a name or cell, and cells of a board."""
LISTED = 20
"""Definitions that an error names."""
MOST_BITS = 2_000
"""Of the common denominator of the probabilities in one pair of braces."""


class _Token(NamedTuple):
    kind: str
    text: str
    at: Place


_TOKENS = re.compile(
    r"(?P<space>[ \t\r]+|#[^\n]*)|(?P<newline>\n)|(?P<number>\d+\.\d+|\.\d+|\d+)|(?P<word>[^\W\d]\w*)|(?P<sign>[(){},:|!?~¬=/])|(?P<bad>.)"
)
_BOARD = re.compile(rf"(?P<space>[ \t\r]+)|(?P<board>{WRITTEN})")
"""What stands after `board:` in the header."""
_CELL = re.compile(r"[a-z][0-9]+")
_VALUES = ("word", "number", "board")
_SHOWN = {"word": "a name or cell", "number": "a number", "end": "the end of the text"}


def _tokens(text: str) -> Iterator[_Token]:
    line, begins, place = 1, 0, 0
    header, before = True, ["", ""]
    while place < len(text):
        match = (header and before == ["board", ":"] and _BOARD.match(text, place)) or _TOKENS.match(text, place)
        assert match, "every sign is a token"
        place = match.end()
        kind, at = str(match.lastgroup), Place(line, match.start() - begins + 1)
        if kind not in ("space", "newline"):
            before = [before[1], match[0]]
            header = header and match[0] != "="
        if kind == "newline":
            line, begins = line + 1, match.end()
        elif kind == "bad":
            signs = "( ) { } , : | ! ? ~"
            raise BadStrategy(f"{match[0]!r} has no meaning here; moves are cells such as b2, and the signs are {signs}", at)
        elif kind == "number" and len(match[0]) > MOST_DIGITS + 1:
            raise BadStrategy(f"{match[0][:12]}... is too long for a number: it has at most {MOST_DIGITS} digits", at)
        elif kind == "word" and len(match[0]) > LONGEST_WORD:
            raise BadStrategy(f"{match[0][:12]}... is too long: names have at most {LONGEST_WORD} characters", at)
        elif kind != "space":
            yield _Token(match[0].replace("¬", "~") if kind == "sign" else kind, match[0], at)
    yield _Token("end", "", Place(line, len(text) - begins + 1))


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.next = self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def ahead(self, kind: str) -> bool:
        """Whether the token after this one is of that kind."""
        return self.next + 1 < len(self.tokens) and self.tokens[self.next + 1].kind == kind

    def take(self) -> _Token:
        token = self.token
        self.next += token.kind != "end"
        return token

    def fail(self, message: str, at: Place | None = None) -> NoReturn:
        raise BadStrategy(message, at or self.token.at)

    def found(self) -> str:
        return f"'{self.token.text}'" if self.token.text else _SHOWN["end"]

    def close(self, sign: str, opened: _Token) -> None:
        if self.token.kind != sign:
            self.fail(f"'{sign}' is missing before {self.found()}, to close the '{opened.text}' of {opened.at}")
        self.depth -= 1
        self.take()

    def begins_definition(self) -> bool:
        return self.token.kind == "word" and self.ahead("=")

    def sequence(self) -> Node:
        """s, t, u: with or without commas."""
        at = self.token.at
        items = [*self.run()]
        while self.token.kind == ",":
            self.take()
            items += self.run()
        return items[0] if len(items) == 1 else Sequence(tuple(items), at=at)

    def run(self) -> list[Node]:
        """Strategies side by side, as far as they go without a comma."""
        items = [self.step()]
        while self.token.kind in ("word", "(", "{", "!", "?") and not self.begins_definition():
            items.append(self.step())
        return items

    def step(self) -> Node:
        node = self.primary()
        while self.token.kind == "~":
            sign = self.take()
            if self.token.kind != "(":
                self.fail(f"'~' wants what to play after the collision, in parentheses: b1 ~ (c1); found {self.found()}")
            node = Try(node, self.group(), at=sign.at)
        return node

    def open(self) -> _Token:
        """Take what opens a group; `close` is for its end."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.fail(f"{TOO_DEEP}: at most {MOST_DEPTH} within each other; give some of them a name")
        return self.take()

    def group(self) -> Node:
        opened = self.open()
        node = self.sequence()
        self.close(")", opened)
        return node

    def primary(self) -> Node:
        token = self.token
        if token.kind == "(":
            return self.group()
        if token.kind == "{":
            return self.braces()
        if token.kind == "!":
            self.take()
            return Random(at=token.at)
        if token.kind == "?":
            self.take()
            return Open(at=token.at)
        if token.kind == "word" and not self.begins_definition():
            self.take()
            if token.text == "T":
                if self.token.kind != "(":
                    self.fail(f"T turns the strategy in parentheses: T(s); found {self.found()}")
                return Turned(self.group(), at=token.at)
            return Move(token.text, at=token.at) if _CELL.fullmatch(token.text) else Name(token.text, at=token.at)
        raise BadStrategy(f"a move, a name, '(', '{{', '!' or '?' is missing before {self.found()}", token.at)

    def braces(self) -> Node:
        opened = self.open()
        options: list[Node] = []
        odds: list[Fraction] = []
        total, sign = Fraction(0), ""
        while True:
            at = self.token.at
            items = self.run()
            options.append(items[0] if len(items) == 1 else Sequence(tuple(items), at=at))
            if self.token.kind == ":":
                self.take()
                odds.append(self.probability())
                total += odds[-1]
                if total.denominator.bit_length() > MOST_BITS:
                    self.fail("the probabilities have no common denominator of reasonable length; take simpler ones", opened.at)
            if self.token.kind not in (",", "|"):
                break
            if sign and self.token.kind != sign:
                self.fail("',' and '|' do not mix within one pair of braces; put the inner choice in braces of its own")
            sign = self.take().kind
        self.close("}", opened)
        if sign == "|":
            if odds:
                self.fail("alternatives with '|' are equally likely and take no probabilities; write {s ~ (t): p, t ~ (s): q}", opened.at)
            return Either(tuple(options), at=opened.at)
        if not odds:
            return Mixture(tuple(options), at=opened.at)
        if len(odds) != len(options):
            given = f"{len(odds)} of {len(options)} alternatives have a probability"
            self.fail(f"{given}; give one to all, or to none for equal ones", opened.at)
        if total != 1:
            rest = 1 - total + odds[-1]
            hint = f"; with {number_text(rest)} as the last one it would" if 0 < rest <= 1 else ""
            self.fail(f"the probabilities sum to {number_text(total)}, not to 1{hint} (fractions such as 1/3 are exact)", opened.at)
        return Mixture(tuple(options), tuple(odds), at=opened.at)

    def probability(self) -> Fraction:
        at = self.token.at
        if self.token.kind != "number":
            self.fail(f"a probability such as 0.3 or 1/3 is missing after ':', before {self.found()}")
        value = Fraction(self.take().text)
        if self.token.kind == "/":
            self.take()
            if self.token.kind != "number" or not Fraction(self.token.text):
                self.fail(f"a number above 0 is missing after '/', before {self.found()}")
            value /= Fraction(self.take().text)
        if value > 1:
            self.fail(f"{number_text(value)} is no probability: it is at most 1", at)
        return value

    def header(self) -> dict[str, _Token]:
        known: dict[str, _Token] = {}
        while self.token.kind == "word" and self.ahead(":"):
            key = self.take()
            self.take()
            if key.text not in HEADER:
                self.fail(f"no header line '{key.text}:'; there are {', '.join(HEADER)}", key.at)
            if key.text in known:
                self.fail(f"'{key.text}:' is said twice, first on line {known[key.text].at.line}", key.at)
            if self.token.kind not in _VALUES or (self.token.kind == "board") != (key.text == "board"):
                self.fail(f"a value is missing after '{key.text}:'" + ", such as x./o. hidden 1" * (key.text == "board"))
            known[key.text] = self.take()
        return known

    def definitions(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        while self.token.kind != "end":
            if not self.begins_definition():
                self.fail(f"a definition such as play = b2 ~ (b3) is expected here, not {self.found()}")
            name = self.take()
            if _CELL.fullmatch(name.text) or name.text == "T":
                what = "the rotation" if name.text == "T" else "a cell"
                other = f"{name.text[0]}_{name.text[1:] or '1'}"
                self.fail(f"'{name.text}' is {what} and cannot be a definition's name; call it {other}", name.at)
            if name.text in found:
                self.fail(f"'{name.text}' is defined twice; give one of them another name", name.at)
            self.take()
            found[name.text] = self.sequence()
            if self.token.kind not in ("end", "word"):
                extra = {")": "no '(' is open", "}": "no '{' is open"}.get(self.token.kind, "it does not belong here")
                self.fail(f"{self.found()} after the end of '{name.text}': {extra}")
        return found


def parse_expression(text: str) -> Node:
    """One strategy, without header and definitions."""
    parser = _Parser(text)
    node = parser.sequence()
    if parser.token.kind != "end":
        parser.fail(f"{parser.found()} is left over after the end of the strategy")
    return node


def parse(text: str) -> StrategyText:
    """A strategy file. Names are resolved and cells are on the board."""
    parser = _Parser(text)
    known = parser.header()
    for key in ("rows", "cols", "player"):
        if key not in known:
            parser.fail(f"the header lacks '{key}:'; a file begins with lines such as rows: 4, cols: 3, player: white")
    for key in ("rows", "cols"):
        if not known[key].text.isdecimal() or not 1 <= int(known[key].text) <= MOST_CELLS:
            parser.fail(f"'{key}:' wants a whole number above 0 and at most {MOST_CELLS}, not '{known[key].text}'", known[key].at)
    who = known["player"]
    if who.text not in PLAYERS:
        parser.fail(f"'player:' is black or white, not '{who.text}'", who.at)
    version = known.get("version")
    if version and version.text != "classic":
        parser.fail(
            f"version '{version.text}' cannot be written in this notation: it has no word for passing the turn after a collision or for "
            "hearing one of the other player's; it describes the classic silent game",
            version.at,
        )
    definitions = parser.definitions()
    if MAIN not in definitions:
        example = next(iter(definitions), "b2")
        parser.fail(f"there is no definition of '{MAIN}', the strategy to play; add a line such as {MAIN} = {example}")
    initial = _initial_board(parser, known) if "board" in known else None
    text_ = StrategyText(int(known["rows"].text), int(known["cols"].text), PLAYERS[who.text], definitions, initial)
    for definition in definitions.values():
        check_depth(definition)
    _check_cells(text_)
    _check_names(definitions)
    return text_


def _initial_board(parser: _Parser, known: dict[str, _Token]) -> InitialBoard | None:
    """The initial board of the header, if it is not the empty one at the start of the game."""
    player, written = PLAYERS[known["player"].text], known["board"]
    try:
        board = BoardRules(int(known["rows"].text), int(known["cols"].text), player).read(written.text)
    except BadBoard as problem:
        parser.fail(str(problem), written.at)
    return None if board == empty_board(player) else board


def _check_cells(text: StrategyText) -> None:
    last = f"{chr(ord('a') + text.cols - 1)}{text.rows}"
    for definition in text.definitions.values():
        for node in nodes(definition):
            if isinstance(node, Move) and (ord(node.cell[0]) - ord("a") >= text.cols or not 1 <= int(node.cell[1:]) <= text.rows):
                board = f"the board of {text.rows} rows and {text.cols} columns"
                raise BadStrategy(f"{node.cell} is off {board}; cells are a1 to {last}", node.at)


def _check_names(definitions: dict[str, Node]) -> None:
    """Every name is defined, no definition comes back to itself (a strategy would never end), and none is too large to be followed."""
    sizes: dict[str, Size] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        for node in nodes(definitions[name]):
            if not isinstance(node, Name):
                continue
            if node.name not in definitions:
                near = difflib.get_close_matches(node.name, definitions, 1)
                hint = f"did you mean {near[0]}?" if near else f"defined are {', '.join([*definitions][:LISTED])}"
                raise BadStrategy(f"'{node.name}' is not defined; {hint}", node.at)
            if node.name in (*path, name):
                raise BadStrategy(f"'{node.name}' is defined by itself ({' -> '.join((*path, name, node.name))})", node.at)
            if node.name not in sizes:
                if len(path) > MOST_LEVELS:
                    raise BadStrategy(f"{TOO_DEEP}, through names: at most {MOST_LEVELS} within each other", node.at)
                visit(node.name, (*path, name))
        sizes[name] = size_of(definitions[name], sizes)

    for name in definitions:
        if name not in sizes:
            visit(name, ())
