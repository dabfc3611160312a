"""What the page and the server say to each other while a strategy is built."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_CELLS = 30
MOST_TEXT = 50_000

Text = Annotated[str, Field(max_length=MOST_TEXT)]
Short = Annotated[str, Field(max_length=2_000)]
Recall = Literal["board", "perfect"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class New(Strict):
    """A strategy to begin. `recall`: whether the order of moves counts; `isomorphic`: the turned board is answered along;
    `board`: the initial board, such as `x./o. hidden 1 turn white` ("": the empty one)."""

    rows: int = Field(ge=1, le=MOST_CELLS)
    cols: int = Field(ge=1, le=MOST_CELLS)
    player: Literal["black", "white"] = "black"
    abrupt: bool = False
    recall: Recall = "board"
    isomorphic: bool = False
    board: Annotated[str, Field(max_length=200)] = ""


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


class Save(Work):
    """`before`: what the policy plays where an initial board does not lead ("": nothing)."""

    before: Literal["", "uniform"] = ""


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
    """`board` is the initial one ("": the empty one); `state` is None when all is answered; `notation` is None where there is none, and
    `why` then says why."""

    work: dict[str, Any]
    title: str
    player: str
    board: str
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
