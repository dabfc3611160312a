"""Reviews of finished games: each move of a seat beside what a strategy plays, what it gave away, and what could be known."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from nebel.core.errors import Problem, UnknownInformationState
from nebel.core.game import Game
from nebel.core.state import State
from nebel.match.agents import THINKING
from nebel.match.losses import Guess, played_on, playouts
from nebel.match.thinkers import Thinker
from nebel.policy.table import Policy
from nebel.search.budget import Budget
from nebel.web import shown, told
from nebel.web.catalogue import AgentEntry, agents_of
from nebel.web.house import Here, House
from nebel.web.inside import Study, Subject, pasts
from nebel.web.look import subject_of
from nebel.web.play import Key
from nebel.web.refusal import Refusal, documented
from nebel.web.session import Access, Session
from nebel.web.shelf import Shelf
from nebel.web.solved import SOLVED, small

router = APIRouter(prefix="/api/review", tags=["review"], responses=documented(404, 409, 410))

PAIRS, SECONDS, SEARCHING = 400, 3.0, 6.0
"""Of playouts, where there are no exact values, and that they may take for one move: those of a policy, and those of searches."""
PLAYED_ON = 100
"""Simulations a move of a search that plays on."""
FEW = 0.05
"""Decisions without an answer, as a share, with which a loss is still told."""
SEARCHES = ("oos:5k", "ismcts:5k")
"""Searches that judge, the first one where there is nothing better."""

NO_ANSWER = "Not known: the strategy has no answer in this position."
NO_ANSWERS = "Not known: the strategy has no answers after this move, so what would follow is random play."
TOO_LONG = "Not known: games of this kind take too long to play on."


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
    made = [{"at": at, "move": state.game.name_of_move(step.option)} for at, step in enumerate(state.steps) if step.turn == access.seat]
    result = told.result(state, access.seat, session.ending)
    return {"game": session.game.string, "seat": access.seat, "players": session.row.players, "result": result, "moves": made}


@router.get("/{id}/judges", summary="Strategies and searches beside which the moves can be put, the best judge first, random play last")
async def judges(id: str, key: Key, house: Here) -> list[AgentEntry]:
    session, access = await _finished(house, id, key)
    return await house.lookers.run(judges_of, house.shelf, session.row.game, session.row.players[1 - access.seat])


def judges_of(shelf: Shelf, string: str, opponent: str) -> list[AgentEntry]:
    """Return whoever says how often it plays what."""
    game = shelf.game(string)
    known = {entry.text: entry for entry in agents_of(shelf, string)}
    held = [entry for entry in known.values() if entry.game is not None]
    found = [AgentEntry(text=SOLVED, about="an equilibrium, solved here")] if small(game) else []
    found += sorted(held, key=lambda entry: (entry.text != opponent, entry.game != game.string))
    if isinstance(game, Game):
        names = dict.fromkeys((*SEARCHES, *([opponent] if THINKING.fullmatch(opponent) and "+" not in opponent else [])))
        found += [AgentEntry(text=name, about="a search") for name in names]
    return [*found, AgentEntry(text="random", about="both players move at random after each move")]


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
    """Against the best move where values are exact, else against the strategy's own choice by games played on, else none."""
    if len(state.options()) == 1:
        return {"kind": "exact", "loss": 0.0, "best": state.name(option), "note": "There was no choice."}
    if worth["moves"]:
        return _exact(state.name(option), worth)
    try:
        if subject.policy is not None:
            return _estimated(subject, subject.policy, state, option, worth["note"])
        if isinstance(subject.agent, Thinker):
            return _searched(subject, subject.agent, state, option)
    except UnknownInformationState as problem:
        return _none(f"No loss: {problem}.")
    except Problem as problem:
        return _none(str(problem))
    return _none(worth["note"])


def _none(note: str) -> dict[str, Any]:
    return {"kind": "none", "note": note}


def _exact(played: str, worth: dict[str, Any]) -> dict[str, Any]:
    values = {move: value for move, value in worth["moves"].items() if worth["blind"].get(move, 0.0) <= FEW}
    if played not in values:
        return _none(NO_ANSWERS)
    best = max(values, key=values.__getitem__)
    return {"kind": "exact", "loss": values[best] - values[played], "best": best, "note": worth["note"]}


def _estimated(subject: Subject, policy: Policy, state: State, option: int, why: str) -> dict[str, Any]:
    """By pairs of games that go on by the policy, if it has answers in them."""
    me, at, shares, reach = state.turn, len(state.steps), subject.shares(state), subject.reach(state)

    def knows(game: State) -> bool:
        """Of states in which every move is played alike: no strategy means that where it never leads itself."""
        lost = reach == 0.0 or (len(game.steps) > at and game.steps[at].option == option and shares[option] == 0.0)
        return subject.knows(game) and not (game.turn == me and lost)

    if len(set(shares.values())) == 1 and not knows(state):
        return _none(NO_ANSWER)
    games = pasts(subject, state)
    guess = playouts(policy, games.games, option, PAIRS, SECONDS, knows=knows)
    if guess is None:
        return _none(TOO_LONG)
    if guess.blind > FEW:
        return _none(NO_ANSWERS)
    drawn = "" if games.exact else ", from hidden states that are drawn, too"
    rare = f" At {100 * guess.blind:.1f} % of the decisions the strategy had no answer, and moved at random." if guess.blind else ""
    return _guessed(guess, f"{why} An estimate by {guess.games} pairs of games played on{drawn}, {_width(guess)}.{rare}")


def _searched(subject: Subject, agent: Thinker, state: State, option: int) -> dict[str, Any]:
    """By pairs of games that shorter searches of the same kind play on."""
    games, quick = pasts(subject, state), agent.within(Budget(simulations=PLAYED_ON))
    guess = played_on(quick, subject.shares(state), games.games, option, PAIRS, SEARCHING)
    if guess is None:
        return _none(TOO_LONG)
    how = f"{guess.games} pairs of games that searches of {PLAYED_ON} simulations a move play on"
    return _guessed(guess, f"An estimate by {how}, {_width(guess)}.")


def _guessed(guess: Guess, note: str) -> dict[str, Any]:
    return {"kind": "estimate", "loss": guess.mean, "error": guess.error, "note": note}


def _width(guess: Guess) -> str:
    return "with its 95 % interval" if guess.error else "all of which ended alike, so how sure that is cannot be said"
