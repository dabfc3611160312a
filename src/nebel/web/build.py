"""Building a strategy: the work goes back and forth, and the server keeps nothing of it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response

from nebel.core.errors import BadSetting, Problem, TooLarge
from nebel.core.recall import PERFECT
from nebel.judge.guarantee import guarantee
from nebel.judge.unfinished import guarantee_so_far
from nebel.policy.builder import Builder
from nebel.policy.io import SHIPPED, save_policy
from nebel.policy.notation import parse
from nebel.policy.reading import read_answers
from nebel.policy.states import Seen
from nebel.policy.strategy import follow, shipped
from nebel.policy.syntax import PLAYERS, BadStrategy, StrategyText
from nebel.web.build_models import (
    MOST_CELLS,
    Answer,
    Complete,
    Judge,
    Line,
    Mirror,
    New,
    Notation,
    Read,
    Reading,
    Save,
    Search,
    State,
    View,
    Wins,
    Work,
)
from nebel.web.house import Here
from nebel.web.shelf import Shelf

router = APIRouter(prefix="/api/build", tags=["build"])

MOST_ANSWERS = 3_000
"""That are drawn, read or written at once: the work must fit into a request."""
MOST_ROWS = 200_000
"""Of a policy."""
MOST_BELIEFS = 200_000
QUICKLY = 4_000
"""Beliefs that are looked at without being asked for."""
LISTED = 60
FILE = {"description": "A policy file.", "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


def _builder(shelf: Shelf, work: dict[str, Any]) -> Builder:
    game = work.get("game")
    if not isinstance(game, str):
        raise BadSetting("the work has no game: it is what an earlier answer of this server had as its work")
    shelf.game(game)
    return _of_page_size(Builder.from_json(work))


def _of_page_size(builder: Builder) -> Builder:
    if builder.states.cells > MOST_CELLS:
        raise TooLarge(f"the page builds strategies for boards of at most {MOST_CELLS} cells, not {builder.states.cells}")
    return builder


def _view(builder: Builder, at: str = "") -> View:
    states = builder.states
    state = _named(builder, at) if at else builder.current
    open_ = builder.open_states()
    notation, why = None, ""
    try:
        notation = builder.to_notation(MOST_ANSWERS)
    except Problem as problem:
        why = str(problem)
    return View(
        work=builder.to_json(),
        title=states.game.string,
        player=list(PLAYERS)[states.player],
        board=states.initial_text,
        recall=states.recall,
        isomorphic=builder.isomorphic,
        answered=len(builder.answered()),
        open=len(open_),
        steps=len(builder.history()),
        waiting=[Line(name=states.name(one), text=_way(builder, one)) for one in open_[:LISTED]],
        state=None if state is None else _state(builder, state),
        notation=notation,
        why=why,
    )


def _named(builder: Builder, name: str) -> Seen | None:
    """The state of this name while the strategy comes to it, else the current one."""
    state = builder.states.read(name)
    return state if state in builder.reached() else builder.current


def _way(builder: Builder, state: Seen) -> str:
    way = builder.way(state)
    return f"after {builder.states.path_text(way)}" if way else "at the start"


def _state(builder: Builder, state: Seen) -> State:
    states, answer = builder.states, builder.answered().get(state)
    shares = (builder.plays(state) or {}) if answer is not None else {}
    return State(
        name=states.name(state),
        way=_way(builder, state),
        hidden=states.hidden(state),
        svg=states.svg(state),
        free=[states.names[cell] for cell in states.free(state)],
        shares={states.names[cell]: str(share) for cell, share in shares.items()},
        answer=None if answer is None else builder.answer_text(answer),
    )


def _parsed(text: str) -> StrategyText:
    if number := re.search(r"\d{21,}", text):
        raise BadStrategy(f"{number[0][:12]}... is too long for a number")
    try:
        return parse(text)
    except RecursionError:
        raise BadStrategy("parentheses and definitions are nested too deeply") from None


def _made(given: New) -> Builder:
    if given.rows * given.cols > MOST_CELLS:
        raise TooLarge(f"a board of {given.rows}x{given.cols} has {given.rows * given.cols} cells; the page builds on at most {MOST_CELLS}")
    game = f"dark_hex(rows={given.rows},cols={given.cols}{',abrupt=true' if given.abrupt else ''})"
    return Builder(game, PLAYERS[given.player], given.recall, given.isomorphic, given.board.strip())


def _begin(given: New) -> View:
    return _view(_made(given))


def _opened(given: Read) -> View:
    if given.shipped and given.shipped not in shipped():
        raise BadSetting(f"no strategy {given.shipped!r} comes with nebel; there are {', '.join(shipped())}")
    text = (SHIPPED / f"{given.shipped}.dhs").read_text(encoding="utf-8") if given.shipped else given.text
    return _view(_with_text(None, text, given.recall))


def _with_text(builder: Builder | None, text: str, recall: str) -> Builder:
    """The strategy that the text tells of: another one if its header tells of another board, initial board or player."""
    parsed = _parsed(text)
    if builder is None or not _tells_of(parsed, builder):
        player = list(PLAYERS)[parsed.player]
        if max(parsed.rows, parsed.cols) > MOST_CELLS:
            raise TooLarge(f"the page builds strategies for boards of at most {MOST_CELLS} cells")
        sizes = {"rows": parsed.rows, "cols": parsed.cols}
        builder = _made(New.model_validate(sizes | {"player": player, "recall": recall, "board": parsed.board}))
    try:
        builder.replace(read_answers(parsed, builder.states, MOST_ANSWERS))
    except RecursionError:
        raise BadStrategy("definitions are nested too deeply") from None
    return builder


def _tells_of(text: StrategyText, builder: Builder) -> bool:
    states = builder.states
    return (text.rows, text.cols, text.player, text.start) == (states.rows, states.cols, states.player, states.initial)


def _reading(shelf: Shelf, asked: Notation) -> Reading:
    builder = _builder(shelf, asked.work)
    try:
        return Reading(view=_view(_with_text(builder, asked.text, builder.states.recall)))
    except BadStrategy as wrong:
        line, column = wrong.at or (None, None)
        return Reading(view=None, error=str(wrong), line=line, column=column)


def _do(shelf: Shelf, asked: Work) -> View:
    builder = _builder(shelf, asked.work)
    at = asked.at
    state = _named(builder, at) if at else builder.current
    if isinstance(asked, Mirror):
        builder.isomorphic = asked.isomorphic
        return _view(builder, at)
    if isinstance(asked, Complete) and asked.everything:
        builder.complete(seed=asked.seed, most=MOST_ANSWERS)
        return _view(builder)
    if not isinstance(asked, Answer | Complete):
        return _view(builder, at)
    if state is None:
        raise BadSetting("all is answered; choose a state whose answer is to be changed")
    if isinstance(asked, Complete):
        builder.complete(state, asked.seed, MOST_ANSWERS)
    elif asked.shares.strip() == "?":
        builder.reopen(state)
    else:
        builder.answer(state, asked.shares)
    return _view(builder)


def _undone(shelf: Shelf, asked: Work) -> View:
    builder = _builder(shelf, asked.work)
    if not builder.undo():
        raise BadSetting("there is no answer to take back")
    return _view(builder)


def _found(shelf: Shelf, asked: Search) -> list[Line]:
    builder = _builder(shelf, asked.work)
    found = [state for state in builder.reached() if asked.text in builder.line(state)]
    return [Line(name=builder.states.name(state), text=builder.line(state)) for state in found[:LISTED]]


def _wins(shelf: Shelf, asked: Judge) -> Wins:
    builder = _builder(shelf, asked.work)
    most, open_ = QUICKLY if asked.quickly else MOST_BELIEFS, len(builder.open_states())
    try:
        if builder.is_complete and builder.states.recall == PERFECT and not builder.states.abrupt:
            found = guarantee(follow(parse(builder.to_notation(MOST_ANSWERS))), most)  # ways on that are alike are searched once there
        else:
            found = guarantee_so_far(builder, most)
    except TooLarge as problem:
        return Wins(wins=None, open=open_, why=str(problem))
    return Wins(wins=found.wins, open=open_)


def _policy(shelf: Shelf, asked: Save) -> bytes:
    builder = _builder(shelf, asked.work)
    if asked.before and not builder.states.initial_text:
        raise BadSetting("'before' is for a strategy from an initial board; this one starts from the empty board")
    policy = builder.to_policy(MOST_ROWS, asked.before)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "built.nebel"
        save_policy(policy, file)
        return file.read_bytes()


@router.post("/new", summary="Begin a strategy")
async def new(asked: New, house: Here) -> View:
    return await house.builders.run(_begin, asked)


@router.post("/read", summary="Begin with a strategy in notation")
async def read(asked: Read, house: Here) -> View:
    return await house.builders.run(_opened, asked)


@router.get("/shipped", summary="Strategies in notation that come with nebel")
async def names() -> list[str]:
    return shipped()


@router.post("/show", summary="Look at a strategy in the making")
async def show(asked: Work, house: Here) -> View:
    return await house.builders.run(_do, house.shelf, asked)


@router.post("/answer", summary="Answer a state, or change its answer")
async def answer(asked: Answer, house: Here) -> View:
    return await house.builders.run(_do, house.shelf, asked)


@router.post("/complete", summary="Random completion")
async def complete(asked: Complete, house: Here) -> View:
    return await house.builders.run(_do, house.shelf, asked)


@router.post("/notation", summary="Let a text in notation be the whole strategy")
async def notation(asked: Notation, house: Here) -> Reading:
    return await house.builders.run(_reading, house.shelf, asked)


@router.post("/mirror", summary="Answer the turned board along, or not")
async def mirror(asked: Mirror, house: Here) -> View:
    return await house.builders.run(_do, house.shelf, asked)


@router.post("/undo", summary="Take the last step back")
async def undo(asked: Work, house: Here) -> View:
    return await house.builders.run(_undone, house.shelf, asked)


@router.post("/find", summary="Find information states by board, way or answer")
async def find(asked: Search, house: Here) -> list[Line]:
    return await house.builders.run(_found, house.shelf, asked)


@router.post("/guarantee", summary="How often the strategy wins at least, exactly")
async def wins(asked: Judge, house: Here) -> Wins:
    return await (house.builders if asked.quickly else house.judges).run(_wins, house.shelf, asked)


@router.post("/policy", summary="The strategy as a policy file", response_class=Response, responses={200: FILE})
async def policy(asked: Save, house: Here) -> Response:
    made = await house.judges.run(_policy, house.shelf, asked)
    return Response(made, media_type="application/octet-stream", headers={"Content-Disposition": 'attachment; filename="built.nebel"'})
