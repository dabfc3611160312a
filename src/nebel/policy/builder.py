"""A Dark Hex strategy made by answering its information states one by one, until none that it can come to is open.

After DSaGe, the strategy generator of section 3.2 of Tapkan's thesis. A `Builder` neither prints nor asks; the console
(`nebel build`) and other faces do. All it holds is the list of steps that were taken: what is answered, what is open and what
comes next follow from them, so undoing is dropping the last step, and a file of the steps is the whole work.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadFile, BadSetting, Problem, TooLarge
from nebel.core.game import BaseGame
from nebel.core.input import MEGABYTE, parse_json, read_text
from nebel.core.interrupt import check
from nebel.core.output import write_text
from nebel.core.registry import load_named
from nebel.core.rng import generator, uniform
from nebel.policy.hex_table import BOARD, Path_, table_policy
from nebel.policy.states import BadAnswer, Seen, Shares, States
from nebel.policy.strategy import MOST_STATES
from nebel.policy.syntax import PLAYERS, StrategyText, file_text
from nebel.policy.table import TablePolicy
from nebel.policy.writing import Writer

FORMAT, WITH_BOARD = 1, 2
"""Of a file; of one with an initial board, which earlier versions would not notice."""
MOST_BYTES = 50 * MEGABYTE
"""Of a strategy in the making."""
ROAM, OPEN = "!", "?"

Answer = Shares | str
"""Probabilities by cell, or ROAM: any move, equally likely, here and wherever that leads. In a step also OPEN: none any more."""
Step = dict[Seen, Answer]


class _Walk(NamedTuple):
    """What the strategy can come to by its answers, each with a way there, depth first; and the open ones among them."""

    ways: dict[Seen, Path_]
    open: dict[Seen, None]


class Builder:
    """A strategy in the making, from the start of the game or from an initial board (`board`, such as `x./o. hidden 1`).

    With `isomorphic`, an answer is given to the state on the turned board as well.

    Answers to states that the strategy no longer comes to are kept, but count only when it comes there again.
    """

    def __init__(self, game: str | BaseGame, player: int, recall: str = BOARD, isomorphic: bool = False, board: str = "") -> None:
        self.states = States(game, player, recall, board)
        self.isomorphic = isomorphic
        self._steps: list[Step] = []
        self._answers: Step = {}
        self._later: dict[Seen, None] = {}
        self._chosen: Seen | None = None
        self._walked: _Walk | None = None

    @property
    def _walk(self) -> _Walk:
        if self._walked is None:
            self._walked = _Walk({}, {})
            todo: list[tuple[Seen, Path_]] = [(self.states.start, ())] if self.states.occurs(self.states.start) else []
            while todo:
                check()
                state, way = todo.pop()
                if state in self._walked.ways:
                    continue
                self._walked.ways[state] = way
                answer = self._answers.get(state)
                if answer is None:
                    self._walked.open[state] = None
                elif isinstance(answer, dict):
                    todo += reversed([(then, (*way, (c, hit))) for c in answer for hit, then in self.states.after(state, c)])
        return self._walked

    @property
    def is_complete(self) -> bool:
        return not self._walk.open

    @property
    def current(self) -> Seen | None:
        """The state to be answered next: the chosen one, else the first that is open. None if all are answered."""
        return self._chosen or next(iter(self.open_states()), None)

    def open_states(self) -> list[Seen]:
        """What the strategy can come to and has no answer for, in the order in which it is asked: skipped ones come last."""
        open_ = self._walk.open
        return [state for state in open_ if state not in self._later] + [state for state in self._later if state in open_]

    def reached(self) -> Collection[Seen]:
        """All that the strategy can come to by its answers."""
        return self._walk.ways.keys()

    def answered(self) -> dict[Seen, Answer]:
        """What the strategy can come to and has an answer for."""
        return {state: self._answers[state] for state in self._walk.ways if state in self._answers}

    def plays(self, state: Seen) -> Shares | None:
        """The probabilities in a state that the strategy can come to, by its answers or by roaming; None if it is open."""
        answer = self._answers.get(state) if state in self._walk.ways else ROAM
        if isinstance(answer, str):
            free = self.states.free(state)
            return dict.fromkeys(free, Fraction(1, len(free)))
        return answer

    def way(self, state: Seen) -> Path_:
        """Own moves that lead to a state, and whether each hit a hidden stone."""
        return self._walk.ways.get(state, state.path)

    def choose(self, state: Seen) -> None:
        """Make a state the current one: an open one, or one whose answer is to be changed."""
        self._require(state)
        self._chosen = state

    def skip(self) -> None:
        """Leave the current state for later."""
        state, self._chosen = self.current, None
        if state is not None:
            self._later.pop(state, None)
            self._later[state] = None

    def answer(self, state: Seen, shares: Shares | str) -> None:
        """Answer a state, or change its answer: shares by cell, or as text (`b2:1/2 c1:1/2`)."""
        self._require(state)
        given = self.states.read_shares(state, shares) if isinstance(shares, str) else self.states.checked(state, shares)
        self._take({state: given})

    def reopen(self, state: Seen) -> None:
        """Take the answer to a state away."""
        self._require(state)
        self._take({state: OPEN})

    def replace(self, answers: Step) -> None:
        """Let these be all answers, in one step."""
        step: Step = {state: OPEN for state in self._answers if state not in answers}
        self._push(step | {state: answer for state, answer in answers.items() if self._answers.get(state) != answer})

    def complete(self, state: Seen | None = None, seed: int | None = None, most: int = MOST_STATES) -> None:
        """Random completion of a state and of what is open after it; without a state, of all that is open.

        As in the thesis: any move, equally likely, until the game is over. With a seed: one move in each state, drawn beforehand.
        """
        if state is not None:
            self._require(state)
        roots = self.open_states() if state is None else [state]
        self._take(dict.fromkeys(roots, ROAM) if seed is None else self._drawn(roots, seed, most))

    def _drawn(self, roots: list[Seen], seed: int, most: int) -> Step:
        rng = generator(seed)
        drawn: Step = {}
        todo = roots[::-1]
        while todo:
            check()
            state = todo.pop()
            answer = self._answers.get(state) if state not in roots else None
            if state in drawn or isinstance(answer, str):
                continue
            if len(drawn) >= most:
                raise TooLarge(f"this completes more than {most:,} information states; draw later, or use '!' without a seed")
            if answer is None:
                free = self.states.free(state)
                with np.errstate(over="ignore"):
                    answer = drawn[state] = {free[int(uniform(rng) * len(free))]: Fraction(1)}
            todo += [then for cell in answer for _, then in self.states.after(state, cell)]
        return drawn

    def _require(self, state: Seen) -> None:
        if state not in self._walk.ways:
            raise BadAnswer(f"the strategy does not come to {self.states.name(state)} by its answers so far")

    def _take(self, step: Step) -> None:
        if self.isomorphic:
            turned = {self.states.turned(state): self._turned(answer) for state, answer in step.items()}
            step = step | {state: answer for state, answer in turned.items() if state not in step and self.states.continues(state)}
        self._push(step)

    def _push(self, step: Step) -> None:
        if step:
            self._steps.append(step)
            self._recount()

    def _recount(self) -> None:
        """The answers after all steps."""
        said = {state: answer for step in self._steps for state, answer in step.items()}
        self._answers = {state: answer for state, answer in said.items() if answer != OPEN}
        self._walked = self._chosen = None

    def _turned(self, answer: Answer) -> Answer:
        return answer if isinstance(answer, str) else {self.states.cells - 1 - cell: share for cell, share in answer.items()}

    def undo(self) -> bool:
        """Take the last step back and ask for it again; False if there is none."""
        if not self._steps:
            return False
        step = self._steps.pop()
        self._recount()
        self._chosen = next((state for state in step if state in self._walk.ways), None)
        return True

    def history(self) -> list[Step]:
        """The steps so far, the last one last, each with all that it answered."""
        return list(self._steps)

    def find(self, text: str) -> list[Seen]:
        """Answered states whose board, way or answer contains the text."""
        return [state for state in self.answered() if text in self.line(state)]

    def line(self, state: Seen) -> str:
        """A state and its answer in one line."""
        answer = self._answers.get(state)
        told = "open" if answer is None else self.answer_text(answer)
        where = f"after {self.states.path_text(self.way(state))}" if state in self._walk.ways else "not come to now"
        return f"{self.states.board(state)}  {where}: {told}"

    def answer_text(self, answer: Answer) -> str:
        return answer if isinstance(answer, str) else self.states.shares_text(answer)

    def all_states(self, most: int = MOST_STATES) -> Iterator[tuple[Seen, Shares]]:
        """Everything that the finished strategy can come to, roaming included, and what it plays there."""
        self._require_complete()
        todo = list(self._walk.ways)
        known = set(todo)
        while todo:
            check()
            state = todo.pop()
            shares = self.plays(state) or {}
            yield state, shares
            fresh = {then for cell in shares for _, then in self.states.after(state, cell)} - known
            known |= fresh
            todo += fresh
            if len(known) > most:
                raise TooLarge(f"the strategy comes to more than {most:,} information states; use '!' later, or a smaller board")

    def to_policy(self, most: int = MOST_STATES, before: str = "") -> TablePolicy:
        """The finished strategy as a policy; `before` is what it plays where the initial board does not lead, as in `table_policy`."""
        s = self.states
        rows = [(key, (state.own, state.met), shares) for state, shares in self.all_states(most) for key in s.keys(state)]
        return table_policy(s.game, s.player, s.recall, rows, "built by hand", s.initial_text, before)

    def to_notation(self, most: int = MOST_STATES) -> str:
        """A strategy file (docs/notation.md) that plays the same; what is open is `?` in it."""
        s = self.states
        if s.abrupt:
            raise BadSetting("the notation describes the classic game alone: a strategy for the abrupt one is kept as a policy")
        initial = s.initial if s.initial_text else None
        return file_text(StrategyText(s.rows, s.cols, s.player, Writer(self, most).definitions(), initial))

    def _require_complete(self) -> None:
        if self._walk.open:
            first = self.states.name(self.open_states()[0])
            raise BadAnswer(f"{len(self._walk.open):,} information states are not answered yet, such as {first}")

    def to_json(self) -> dict[str, Any]:
        s = self.states
        return {
            "format": WITH_BOARD if s.initial_text else FORMAT,
            "kind": "strategy in the making",
            "game": s.game.string,
            "player": list(PLAYERS)[s.player],
            "recall": s.recall,
            "isomorphic": self.isomorphic,
            **({"board": s.initial_text} if s.initial_text else {}),
            "steps": [{s.name(state): self.answer_text(answer) for state, answer in step.items()} for step in self._steps],
        }

    @classmethod
    def from_json(cls, facts: Any) -> Builder:
        if not isinstance(facts, dict) or facts.get("kind") != "strategy in the making":
            raise BadFile("not a strategy in the making")
        if facts.get("format") not in (FORMAT, WITH_BOARD):
            raise BadFile(f"format {facts.get('format')}; this version of nebel reads formats {FORMAT} and {WITH_BOARD}")
        try:
            game = load_named(str(facts["game"]), "the strategy in the making", "GAME {}")
            made = cls(game, PLAYERS[facts["player"]], facts["recall"], bool(facts["isomorphic"]), str(facts.get("board", "")))
            for written in facts["steps"]:
                states = [(made.states.read_on(name), text) for name, text in written.items()]
                signs = (ROAM, OPEN)
                made._steps.append({state: text if text in signs else made.states.read_shares(state, text) for state, text in states})
        except (KeyError, TypeError, AttributeError) as error:
            raise BadFile(f"a strategy in the making, but damaged: {error!r}") from error
        made._recount()
        return made

    def save(self, path: Path) -> None:
        """Write the answers whole or not at all."""
        write_text(path, json.dumps(self.to_json(), indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Builder:
        try:
            facts = parse_json(read_text(path, MOST_BYTES, "a strategy in the making"))
        except BadFile:
            raise
        except ValueError as error:
            raise BadFile(f"{path} is not JSON ({error})") from error
        try:
            return cls.from_json(facts)
        except Problem as problem:
            raise BadFile(f"{path}: {problem}") from problem
