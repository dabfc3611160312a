"""Looking inside: what a strategy plays, what that is worth, what may be hidden, and the way from one information state to the next.

Nothing here knows of games that are played: a visitor says what happened, and gets what follows from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel

from nebel.core.errors import IllegalMove
from nebel.core.state import State
from nebel.policy.find import find as find_state
from nebel.policy.listing import by_glance, to_move, words_of
from nebel.policy.table import TablePolicy
from nebel.web import shown
from nebel.web.house import Here, House
from nebel.web.inside import POLICY, Pasts, Subject, onward, pasts
from nebel.web.solved import SOLVED

router = APIRouter(prefix="/api/look", tags=["look"])
T = TypeVar("T")

MOST_FOUND = 20
"""States that look alike at a glance, listed at a time."""


class HeldPolicy(BaseModel):
    """A policy on the server's shelf; `name` is also that of the agent that plays by it."""

    name: str
    game: str
    kind: str
    recall: str


class Asked(BaseModel):
    """Whose strategy, in which game, after which moves: all of them, chance's too, as `nebel show --after` takes them."""

    agent: str
    game: str
    after: str


def _asked(
    agent: Annotated[str, Query(max_length=300, description="a policy of the shelf, or another agent that says what it plays")],
    game: Annotated[str, Query(max_length=300)],
    after: Annotated[str, Query(max_length=20_000, description="moves from the start, chance's too")] = "",
) -> Asked:
    return Asked(agent=agent, game=game, after=after)


Question = Annotated[Asked, Depends(_asked)]


def subject_of(house: House, agent: str, game: str) -> Subject:
    """Whoever is called so; `solved` is the strategy that is found on the spot. In the thread of `house.lookers`."""
    if agent == SOLVED:
        return house.study.solution(house.shelf.game(game))
    return Subject(*house.shelf.agent(agent, house.shelf.game(game)))


async def _ask(house: House, asked: Asked, function: Callable[[Subject, State], T]) -> T:
    """Answer in the thread for this."""

    def work() -> T:
        subject = subject_of(house, asked.agent, asked.game)
        return function(subject, subject.game.start().play(asked.after))

    return await house.lookers.run(work)


@router.get("/policies", summary="The policies that can be looked into")
async def policies(house: Here) -> list[HeldPolicy]:
    def held() -> list[HeldPolicy]:
        return [HeldPolicy(name=one.name, game=one.game, kind=one.kind, recall=one.recall) for one in house.shelf.policies()]

    return await house.loaders.run(held)


@router.get("/state", summary="An information state: the board, the probability of each move, and own reach")
async def state(asked: Question, house: Here) -> dict[str, Any]:
    return await _ask(house, asked, shown.decision)


@router.get("/way", summary="The moves that were named, up to each decision of the player on the way")
async def way(asked: Question, house: Here) -> list[str]:
    return await _ask(house, asked, lambda subject, now: [after for after, _ in shown.decisions(now, to_move(now))])


@router.get("/values", summary="What each move is worth when both go on by the strategy; where that is not known, an estimate of the state")
async def values(asked: Question, house: Here) -> dict[str, Any]:
    def worth(subject: Subject, now: State) -> dict[str, Any]:
        to_move(now)
        known = shown.worth(house.study, subject, now)
        return known | {"estimate": shown.estimate(subject, now) if known["value"] is None else None}

    return await _ask(house, asked, worth)


@router.get("/belief", summary="What the other player may hide, and how likely it is")
async def belief(asked: Question, house: Here) -> dict[str, Any]:
    def believe(subject: Subject, now: State) -> dict[str, Any]:
        to_move(now)
        if subject.policy is None:
            subject.shares(now)  # who thinks believes nothing before
        return shown.belief(subject, now)

    return await _ask(house, asked, believe)


@router.get("/next", summary="Where the player decides next, after a move")
async def onwards(asked: Question, house: Here, move: Annotated[str, Query(max_length=300)]) -> dict[str, Any]:
    def go(subject: Subject, now: State) -> dict[str, Any]:
        me = to_move(now)
        if move not in now.legal():
            raise IllegalMove(f"{move} is not legal here; legal: {' '.join(now.legal())}")
        return _listed(subject, me, pasts(subject, now), now.options()[now.legal().index(move)])

    return await _ask(house, asked, go)


@router.get("/roots", summary="Where a player decides first")
async def roots(asked: Question, house: Here, player: Annotated[int, Query(ge=0, le=1)]) -> dict[str, Any]:
    def begin(subject: Subject, now: State) -> dict[str, Any]:
        return _listed(subject, player, Pasts([(now, 1.0)], POLICY, True), None)

    return await _ask(house, asked, begin)


def _listed(subject: Subject, player: int, begin: Pasts, move: int | None) -> dict[str, Any]:
    found, complete = onward(subject, player, begin, move)
    rows = [{"text": one.text, "after": one.state.moves_text(), "share": one.share} for one in found]
    return {"complete": complete, "next": rows}


@router.get("/find", summary="Information states by their text: what the player did and saw, or what it sees at a glance")
async def find(asked: Question, house: Here, text: Annotated[str, Query(max_length=4000)]) -> list[dict[str, Any]]:
    def search(subject: Subject, now: State) -> list[dict[str, Any]]:
        wanted, rows = text.strip() or "-", list[dict[str, Any]]()
        for player in (0, 1):
            met = find_state(subject.game, player, words_of(wanted))
            if met is not None:
                rows.append({"player": player, "text": wanted, "after": met.moves_text(), "moves": None})
            elif isinstance(subject.policy, TablePolicy) and subject.policy.recall in subject.game.glances:
                glances = by_glance(subject.policy, subject.game, wanted, player)
                rows += [{"player": player, "text": wanted, "after": None, "moves": row.moves} for row in list(glances)[:MOST_FOUND]]
        return rows

    return await _ask(house, asked, search)
