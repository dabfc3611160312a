"""Playing: games begun, moves made, positions told, over HTTP and over sockets."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nebel.core.errors import Problem
from nebel.web.house import Here
from nebel.web.outbox import Outbox, Unread, refused
from nebel.web.refusal import Refusal, documented
from nebel.web.session import Access, Session
from nebel.web.store import PERSON

router = APIRouter(prefix="/api/play", tags=["play"], responses=documented(404, 409, 410, 507))

MOST_MESSAGE = 4096
"""Characters of a message on a socket."""

Name = Annotated[str, Field(max_length=300)]
Key = Annotated[str, Query(max_length=100, description="opens a seat: its key to play, or its watch key to look on")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewGame(Strict):
    """Who plays what. Players are `person` or an agent's name; seat 0 begins."""

    game: Name
    players: tuple[Name, Name] = (PERSON, "random")
    practice: bool = Field(False, description="moves can be taken back even where something was learnt since")
    seed: int | None = Field(None, ge=0, lt=2**53, description="of chance and the agent; drawn if it is not given, and between people")


class Load(Strict):
    """A record to go on with, or to look at."""

    record: Annotated[str, Field(max_length=200_000)]
    players: tuple[Name, Name] = (PERSON, "random")
    practice: bool = False


class Move(Strict):
    move: Name
    at: int | None = Field(None, ge=0, description="how many events you have seen: a move meant for an earlier position is then refused")


class Said(Strict):
    """A message of a player on a socket."""

    do: Literal["move", "undo", "resign"]
    move: Name = ""
    at: int | None = Field(None, ge=0)
    ref: int | None = Field(None, ge=0, lt=2**53)


class Seat(BaseModel):
    """A person's seat: `key` plays, `watch` looks on."""

    seat: int
    key: str
    watch: str


class Begun(BaseModel):
    id: str
    game: str
    seats: list[Seat]


def _begun(session: Session) -> Begun:
    seats = [Seat(seat=seat, key=key, watch=watch) for seat, (key, watch) in enumerate(session.row.keys) if key]
    return Begun(id=session.row.id, game=session.game.string, seats=seats)


def _position(session: Session, access: Access) -> Response:
    return Response(session.tell(access), media_type="application/json")


@router.post("", summary="Begin a game")
async def begin(asked: NewGame, house: Here) -> Begun:
    return _begun(await house.hall.begin(asked.game, asked.players, asked.seed, asked.practice))


@router.post("/record", summary="Go on with a record")
async def load(asked: Load, house: Here) -> Begun:
    return _begun(await house.hall.load(asked.record, asked.players, asked.practice))


@router.get("/{id}", summary="What the seat may know of the position")
async def position(id: str, key: Key, house: Here) -> Response:
    session = await house.hall.find(id)
    return _position(session, session.access(key))


@router.post("/{id}/move", summary="Make a move")
async def move(id: str, key: Key, asked: Move, house: Here) -> Response:
    session = await house.hall.find(id)
    access = session.access(key)
    session.move(access, asked.move, asked.at)
    await session.replied()
    return _position(session, access)


@router.post("/{id}/undo", summary="Take the last move back")
async def undo(id: str, key: Key, house: Here) -> Response:
    session = await house.hall.find(id)
    access = session.access(key)
    session.undo(access)
    return _position(session, access)


@router.post("/{id}/resign", summary="Give the game up")
async def resign(id: str, key: Key, house: Here) -> Response:
    session = await house.hall.find(id)
    access = session.access(key)
    session.resign(access)
    return _position(session, access)


@router.get("/{id}/past", summary="What the seat saw earlier")
async def past(id: str, key: Key, events: Annotated[int, Query(ge=0)], house: Here) -> dict[str, Any]:
    session = await house.hall.find(id)
    return session.past(session.access(key), events)


@router.get("/{id}/record", summary="The whole game as text, once it is over", response_class=PlainTextResponse)
async def record(id: str, key: Key, house: Here) -> PlainTextResponse:
    session = await house.hall.find(id)
    session.access(key)
    return PlainTextResponse(session.record())


@router.get("/{id}/reveal", summary="The truth and both views after so many moves, once the game is over")
async def reveal(id: str, key: Key, house: Here, at: Annotated[int, Query(ge=0)] = 0) -> dict[str, Any]:
    session = await house.hall.find(id)
    session.access(key)
    return session.reveal(at)


@router.websocket("/{id}/live")
async def live(socket: WebSocket, id: str, house: Here, key: str = "") -> None:
    """Positions as they change, and moves: see docs/page.md."""
    await socket.accept()
    try:
        with house.sockets.one_more():
            session = await house.hall.find(id)
            await _attend(socket, session, session.access(key))
    except Problem as problem:
        await socket.send_text(refused(str(problem), None))
        await socket.close(4000 + getattr(problem, "status", 400), str(problem)[:120])


async def _attend(socket: WebSocket, session: Session, access: Access) -> None:
    """Tell and hear until one side has enough."""
    outbox = Outbox()
    session.listen(outbox.show, access, outbox.answer)
    both = [asyncio.ensure_future(outbox.deliver(socket.send_text)), asyncio.ensure_future(_listen(socket, session, access, outbox))]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        session.leave(outbox.show)
        for task in both:
            task.cancel()
        for ended in await asyncio.gather(*both, return_exceptions=True):
            if isinstance(ended, Exception) and not isinstance(ended, Unread | WebSocketDisconnect):
                raise ended


async def _listen(socket: WebSocket, session: Session, access: Access, outbox: Outbox) -> None:
    while (message := await socket.receive())["type"] == "websocket.receive":
        outbox.answer(_hear(session, access, message.get("text")))


def _hear(session: Session, access: Access, text: str | None) -> str:
    """Do what a message says; the answer to it."""
    ref = None
    try:
        if text is None:
            raise Refusal("messages are JSON as text, not bytes")
        if len(text) > MOST_MESSAGE:
            raise Refusal(f"a message has at most {MOST_MESSAGE:,} characters")
        said = Said.model_validate_json(text)
        ref = said.ref
        if said.do == "move":
            session.move(access, said.move, said.at)
        elif said.do == "undo":
            session.undo(access)
        else:
            session.resign(access)
    except ValidationError as error:
        found = error.errors()[0]
        return refused(f"not understood: {'.'.join(map(str, found['loc'])) or 'the message'}: {found['msg']}", ref)
    except Problem as problem:
        return refused(str(problem), ref)
    return json.dumps({"type": "done", "ref": ref})
