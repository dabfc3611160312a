"""Reviews of finished games: each move of a seat beside what a strategy plays, what it gave away, and what could be known."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from nebel.core.errors import Problem, UnknownInformationState
from nebel.core.state import State
from nebel.match.losses import playouts
from nebel.web import shown, told
from nebel.web.house import Here, House
from nebel.web.inside import Study, Subject, pasts
from nebel.web.look import subject_of
from nebel.web.play import Key
from nebel.web.refusal import Refusal, documented
from nebel.web.session import Access, Session

router = APIRouter(prefix="/api/review", tags=["review"], responses=documented(404, 409, 410))

PAIRS, SECONDS = 400, 3.0
"""Of playouts, where there are no exact values, and that they may take for one move."""


async def _finished(house: House, id: str, key: str) -> tuple[Session, Access]:
    """The game, once it is over: whoever still plays it is told nothing but that."""
    session = await house.hall.find(id)
    access = session.access(key)
    if not session.over:
        raise Refusal("a review shows what was hidden: finish the game, or resign", 409)
    return session, access


@router.get("/{id}", summary="The moves that the seat made, once the game is over")
async def moves(id: str, key: Key, house: Here) -> dict[str, Any]:
    session, access = await _finished(house, id, key)
    state = session.state
    made = [
        {"at": at, "move": state.game.name_of_move(step.option)} for at, step in enumerate(state.steps) if step.turn == access.seat
    ]
    result = told.result(state, access.seat, session.ending)
    return {"game": session.game.string, "seat": access.seat, "players": session.row.players, "result": result, "moves": made}


@router.get("/{id}/move", summary="One of these moves beside a strategy: its loss, and what could be known then")
async def move(
    id: str,
    key: Key,
    house: Here,
    agent: Annotated[str, Query(max_length=300)],
    at: Annotated[int, Query(ge=0, description="which of all moves")],
) -> dict[str, Any]:
    session, access = await _finished(house, id, key)
    steps = list(session.state.steps)
    if at >= len(steps) or steps[at].turn != access.seat:
        raise Refusal(f"move {at} is not one of yours; the review lists them")

    def work() -> dict[str, Any]:
        subject = subject_of(house, agent, session.game.string)
        state = subject.game.start()
        for step in steps[:at]:
            state.push(step.option)
        return judged(house.study, subject, state, steps[at].option)

    return await house.lookers.run(work)


def judged(study: Study, subject: Subject, state: State, option: int) -> dict[str, Any]:
    """A move that was made in this state."""
    found = shown.decision(subject, state)
    worth = shown.worth(study, subject, state)
    known = shown.belief(subject, state, truth=state)
    return {**found, "played": state.name(option), "loss": _loss(subject, state, option, worth), "worth": worth, "belief": known}


def _loss(subject: Subject, state: State, option: int, worth: dict[str, Any]) -> dict[str, Any]:
    """Against the best move where values are exact, else against the strategy's own choice by playouts, else none."""
    if worth["moves"]:
        values = worth["moves"]
        best = max(values, key=values.__getitem__)
        return {"kind": "exact", "loss": values[best] - values[state.name(option)], "best": best, "note": worth["note"]}
    if len(state.options()) == 1:
        return {"kind": "exact", "loss": 0.0, "best": state.name(option), "note": "There was no choice."}
    try:
        if subject.policy is None:
            raise Refusal(worth["note"])
        games = pasts(subject, state)
        guess = playouts(subject.policy, games.games, option, PAIRS, SECONDS)
    except UnknownInformationState as problem:
        return {"kind": "none", "note": f"No loss: {problem}."}
    except Problem as problem:
        return {"kind": "none", "note": str(problem)}
    if guess is None:
        return {"kind": "none", "note": "No loss: games of this kind take too long to play on."}
    drawn = "" if games.exact else ", from hidden states that are drawn, too"
    width = "with its 95 % interval" if guess.error else "all of which ended alike, so how sure that is cannot be said"
    note = f"{worth['note']} An estimate by {guess.games} pairs of games played on{drawn}, {width}."
    return {"kind": "estimate", "loss": guess.mean, "error": guess.error, "note": note}
