"""What there is to play, and against whom."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel

from nebel.core.errors import Problem
from nebel.core.game import BaseGame, Game
from nebel.core.registry import GAMES
from nebel.policy.adopt import seen_as
from nebel.web.house import Here
from nebel.web.setup import LOCAL
from nebel.web.shelf import Held, Shelf

router = APIRouter(prefix="/api", tags=["catalogue"])


class Option(BaseModel):
    """An option of a game: `choices` is empty where any value of its kind will do."""

    name: str
    kind: str
    default: str
    choices: list[str]


class GameEntry(BaseModel):
    name: str
    about: str
    options: list[Option]


class AgentEntry(BaseModel):
    """`text` is what to give as a player; of a policy, `game` is the one that it was made for."""

    text: str
    about: str
    game: str | None = None


class SkippedEntry(BaseModel):
    name: str
    why: str


class Reach(BaseModel):
    """Whether the server listens to its own machine only, and the token that its addresses need: whoever asks has brought it."""

    local: bool
    token: str


@router.get("/reach", summary="Who can open addresses of this server")
async def reach(house: Here) -> Reach:
    return Reach(local=house.setup.host in LOCAL, token=house.setup.token)


@router.get("/games", summary="The games, with their options")
async def games(house: Here) -> list[GameEntry]:
    return await house.loaders.run(_games, house.shelf)


def _games(shelf: Shelf) -> list[GameEntry]:
    entries = [_entry(name, getattr(import_module(f"nebel.games.{name}"), name)) for name in GAMES]
    return entries + [GameEntry(name=name, about="a game that the server was started with", options=[]) for name in shelf.own_games]


def _entry(name: str, factory: Callable[..., Any]) -> GameEntry:
    hints = typing.get_type_hints(factory)
    options = [_option(p.name, hints[p.name], p.default) for p in inspect.signature(factory).parameters.values()]
    return GameEntry(name=name, about=(inspect.getdoc(factory) or "").splitlines()[0], options=options)


def _option(name: str, hint: Any, default: Any) -> Option:
    choices = [str(choice) for choice in typing.get_args(hint)] if typing.get_origin(hint) is Literal else []
    kind = "bool" if hint is bool else "int" if hint is int or int in typing.get_args(hint) else "text"
    return Option(name=name, kind=kind, default=str(default).lower() if default is None or hint is bool else str(default), choices=choices)


@router.get("/agents", summary="Who can play a game")
async def agents(game: str, house: Here) -> list[AgentEntry]:
    return await house.loaders.run(agents_of, house.shelf, game)


@router.get("/skipped", summary="Policy files that cannot be read, and why")
async def skipped(house: Here) -> list[SkippedEntry]:
    return await house.loaders.run(lambda: [SkippedEntry(name=name, why=why) for name, why in house.shelf.skipped()])


THINKING = {
    "oos:1s": "Online Outcome Sampling: thinks for a second",
    "ismcts:1s": "information-set tree search: thinks for a second",
    "belief:1k": "playouts from what may be hidden",
}


def agents_of(shelf: Shelf, string: str) -> list[AgentEntry]:
    """Return whoever can play the game, those made for it first."""
    game = shelf.game(string)
    held = [held for held in shelf.policies() if _fits(shelf, held, game)]
    found = {one.name: AgentEntry(text=one.name, about=_kind(one.kind), game=one.game) for one in held if one.game == game.string}
    if isinstance(game, Game):
        for name, bot in game.bots.items():
            text = f"bot:{name}" if game.string in shelf.own_games else name
            found[text] = AgentEntry(text=text, about=bot.note or "a bot of the game")
        found |= {text: AgentEntry(text=text, about=about) for text, about in THINKING.items()}
    found["random"] = AgentEntry(text="random", about="plays at random")
    others = (AgentEntry(text=one.name, about=f"{_kind(one.kind)} of {one.game}", game=one.game) for one in held if one.game != game.string)
    return [*found.values(), *others]


def _kind(kind: str) -> str:
    return {"network": "a network", "networks": "networks, one of them drawn for a game"}.get(kind, "a table of moves")


def _fits(shelf: Shelf, held: Held, game: BaseGame) -> bool:
    """Made for this game, or a table of one of the same family that finds its way here."""
    if held.game == game.string or held.kind != "policy" or held.game.partition("(")[0] != game.name:
        return held.game == game.string
    try:
        seen_as(game, shelf.game(held.game), held.recall, by_likeness=True)
    except Problem:
        return False
    return True
