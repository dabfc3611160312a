"""Building a strategy: the work goes back and forth, and the server keeps nothing of it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

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
from nebel.web.house import Here
from nebel.web.shelf import Shelf

router = APIRouter(prefix="/api/build", tags=["build"])

MOST_CELLS = 30
MOST_ANSWERS = 3_000
"""That are drawn, read or written at once: the work must fit into a request."""
MOST_ROWS = 200_000
"""Of a policy."""
MOST_BELIEFS = 200_000
QUICKLY = 4_000
"""Beliefs that are looked at without being asked for."""
LISTED = 60
FILE = {"description": "A policy file.", "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
MOST_TEXT = 50_000

Text = Annotated[str, Field(max_length=MOST_TEXT)]
Short = Annotated[str, Field(max_length=2_000)]
Recall = Literal["board", "perfect"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class New(Strict):
    """A strategy to begin. `recall`: whether the order of moves counts; `isomorphic`: the turned board is answered along."""

    rows: int = Field(ge=1, le=MOST_CELLS)
    cols: int = Field(ge=1, le=MOST_CELLS)
    player: Literal["black", "white"] = "black"
    abrupt: bool = False
    recall: Recall = "board"
    isomorphic: bool = False


class Work(Strict):
    """A strategy in the making, as `nebel build` saves it, and the information state to look at ("": the next open one)."""

    work: dict[str, Any]
    at: Short = ""


class Answer(Work):
    """`shares` are written `b2`, `b2 c1` or `b2:1/3 c1:2/3`; "?" takes the answer away."""

    shares: Short


class Complete(Work):
    """Random completion of the state at `at`, or of all that is open; with a seed, one move a state is drawn beforehand."""

    seed: int | None = Field(None, ge=0, lt=2**53)
    everything: bool = False


class Notation(Work):
    text: Text


class Mirror(Work):
    isomorphic: bool


class Search(Work):
    text: Annotated[str, Field(max_length=200)]


class Judge(Work):
    quickly: bool = Field(False, description="give up soon if it takes long")


class Read(Strict):
    """A strategy in notation to begin with: its text, or the name of one that comes with nebel."""

    text: Text = ""
    shipped: Annotated[str, Field(max_length=100)] = ""
    recall: Recall = "board"


class Line(BaseModel):
    name: str
    text: str


class State(BaseModel):
    """An information state: how it was come to, its picture, what may be played, and its answer."""

    name: str
    way: str
    hidden: tuple[int, int]
    svg: str
    free: list[str]
    shares: dict[str, str]
    answer: str | None


class View(BaseModel):
    """`state` is None when all is answered; `notation` is None where there is none, and `why` then says why."""

    work: dict[str, Any]
    title: str
    player: str
    recall: str
    isomorphic: bool
    answered: int
    open: int
    steps: int
    waiting: list[Line]
    state: State | None
    notation: str | None
    why: str = ""


class Wins(BaseModel):
    """How often the strategy wins at least, what is open counting as lost; None, and why, if that takes too long to find."""

    wins: float | None
    open: int
    why: str = ""


class Reading(BaseModel):
    """The strategy that a text tells of; or what is wrong with the text, and where."""

    view: View | None
    error: str = ""
    line: int | None = None
    column: int | None = None


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
    return Builder(game, PLAYERS[given.player], given.recall, given.isomorphic)


def _begin(given: New) -> View:
    return _view(_made(given))


def _opened(given: Read) -> View:
    if given.shipped and given.shipped not in shipped():
        raise BadSetting(f"no strategy {given.shipped!r} comes with nebel; there are {', '.join(shipped())}")
    text = (SHIPPED / f"{given.shipped}.dhs").read_text(encoding="utf-8") if given.shipped else given.text
    return _view(_with_text(None, text, given.recall))


def _with_text(builder: Builder | None, text: str, recall: str) -> Builder:
    """The strategy that the text tells of: another one if its header tells of another board or player."""
    parsed = _parsed(text)
    if builder is None or (parsed.rows, parsed.cols, parsed.player) != (builder.states.rows, builder.states.cols, builder.states.player):
        player = list(PLAYERS)[parsed.player]
        if max(parsed.rows, parsed.cols) > MOST_CELLS:
            raise TooLarge(f"the page builds strategies for boards of at most {MOST_CELLS} cells")
        builder = _made(New.model_validate({"rows": parsed.rows, "cols": parsed.cols, "player": player, "recall": recall}))
    try:
        builder.replace(read_answers(parsed, builder.states, MOST_ANSWERS))
    except RecursionError:
        raise BadStrategy("definitions are nested too deeply") from None
    return builder


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


def _policy(shelf: Shelf, asked: Work) -> bytes:
    policy = _builder(shelf, asked.work).to_policy(MOST_ROWS)
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
async def policy(asked: Work, house: Here) -> Response:
    made = await house.judges.run(_policy, house.shelf, asked)
    return Response(made, media_type="application/octet-stream", headers={"Content-Disposition": 'attachment; filename="built.nebel"'})
