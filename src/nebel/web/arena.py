"""The arena: matches begun, watched and stopped."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from nebel.web.house import Here
from nebel.web.matches import MOST_GAMES, Match
from nebel.web.refusal import documented

router = APIRouter(prefix="/api/arena", tags=["arena"], responses=documented(404, 507))

Name = Annotated[str, Field(max_length=300)]


class NewMatch(BaseModel):
    """Every agent meets every other in so many games, half of them in each seat."""

    model_config = ConfigDict(extra="forbid")

    game: Name
    agents: list[Name] = Field(max_length=1000)
    games: int = Field(1000, ge=1, le=MOST_GAMES)
    seed: int = Field(1, ge=0, lt=2**53)


class Brief(BaseModel):
    """`share` of the games that are played; `began` in seconds since 1970."""

    id: str
    game: str
    agents: list[str]
    games: int
    seed: int
    stage: str
    reason: str
    share: float
    began: float


class Rated(BaseModel):
    agent: str
    elo: float
    interval: tuple[float, float]


class Told(Brief):
    """`pairs` are finished pairs: a's mean score against b with its 95 % interval, and exactly where that is known.

    `ratings` are by wins, the best first; `added_draws` to every pair where somebody never lost a point.
    """

    now: tuple[str, str] | None
    played: int
    pairs: list[dict[str, Any]]
    ratings: list[Rated]
    added_draws: int


def _brief(match: Match) -> dict[str, Any]:
    done = len(match.results) + (min(1.0, match.played / match.terms.games) if match.now else 0)
    return {
        "id": match.id,
        "game": match.game,
        "agents": match.names,
        "games": match.terms.games,
        "seed": match.terms.seed,
        "stage": match.stage,
        "reason": match.reason,
        "share": min(1.0, done / len(match.pairs)),
        "began": match.began,
    }


def _told(match: Match) -> Told:
    ratings = match.ratings
    return Told(
        **_brief(match),
        now=match.now,
        played=match.played if match.now else 0,
        pairs=[result.as_json() for result in match.results],
        ratings=[Rated(**rating._asdict()) for rating in ratings.table] if ratings else [],
        added_draws=ratings.added_draws if ratings else 0,
    )


@router.get("", summary="All matches, the latest first")
async def matches(house: Here) -> list[Brief]:
    return [Brief(**_brief(match)) for match in house.arena][::-1]


@router.post("", summary="Begin a match")
async def begin(asked: NewMatch, house: Here) -> Told:
    match = await house.loaders.run(house.arena.prepare, asked.game, asked.agents, asked.games, asked.seed)
    house.arena.begin(match)
    return _told(match)


@router.get("/{id}", summary="How a match stands")
async def one(id: str, house: Here) -> Told:
    return _told(house.arena.find(id))


@router.post("/{id}/stop", summary="Stop a match; finished pairs stay")
async def stop(id: str, house: Here) -> Told:
    match = house.arena.find(id)
    house.arena.stop(match)
    return _told(match)


@router.post("/{id}/drop", summary="Stop a match and forget it")
async def drop(id: str, house: Here) -> dict[str, bool]:
    house.arena.drop(house.arena.find(id))
    return {"dropped": True}
