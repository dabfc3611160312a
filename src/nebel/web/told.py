"""What a seat is told: a function of what it did and saw, of whether it is to move, and of nothing else.

Two games that a player cannot tell apart give the same bytes here. So no number may count what was hidden (moves of the other that
left no trace, draws of chance), and no reason may name it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nebel.core.errors import IllegalMove
from nebel.core.game import BaseGame
from nebel.core.state import MOST_NAMED, State

DID, SAW = "did", "saw"
FRANK = ("kuhn", "leduc", "liars_dice", "goofspiel", "cheat", "geister")
"""Games in which a move after which nothing is seen has told nothing. In Dark Hex it has: the cell was free. Of others nobody knows."""

TIMED = (*FRANK, "dark_hex")
"""Games in which a player can tell whether what it saw came with its own move or after it."""


class Ending(NamedTuple):
    """How a game ended before its rules ended it: by resignation, or because an agent could not go on."""

    resigned: int | None = None
    broken: str = ""

    def __bool__(self) -> bool:
        return self.resigned is not None or bool(self.broken)


class Terms(NamedTuple):
    """What was agreed on: whether moves are taken back freely, and whether both players are people."""

    practice: bool
    people: bool


def events(state: State, seat: int) -> list[dict[str, str]]:
    """What the seat did and saw, in order."""
    found = []
    for step in state.steps:
        if step.turn == seat:
            found.append({"kind": DID, "text": state.game.name_of_move(step.option)})
        if step.seen[seat]:
            found.append({"kind": SAW, "text": state.game.name_of_sight(step.seen[seat])})
    return found


def position(state: State, seat: int, ending: Ending, terms: Terms) -> dict[str, Any]:
    """All that the seat is told of where the game is."""
    over = state.over or bool(ending)
    yours = not over and state.turn == seat
    return {
        "seat": seat,
        "yours": yours,
        "over": over,
        "result": result(state, seat, ending) if over else None,
        "view": state.view(seat),
        "svg": state.svg(seat),
        "events": events(state, seat),
        "stops": stops(state, seat),
        "legal": state.legal() if yours else [],
        "placing": placing(state.game, state, seat) if yours else None,
        "undo": undo(state, seat, over, terms),
    }


def result(state: State, seat: int, ending: Ending) -> dict[str, Any]:
    """The end, as the seat sees it: `score` is its own, None where the game was not played out."""
    if ending.broken:
        return {"by": "broken", "score": None, "text": ending.broken}
    if ending.resigned is not None:
        text = "You resigned." if ending.resigned == seat else "The other player resigned: you win."
        return {"by": "resigned", "score": None, "text": text, "who": ending.resigned}
    score = state.score() or 0.0
    mine = score if seat == 0 else 0.0 - score
    word = "You win" if mine > 0 else "You lose" if mine < 0 else "A draw"
    return {"by": "rules", "score": mine, "text": f"{word}: {mine:+g}." if mine else "A draw."}


def undo(state: State, seat: int, over: bool, terms: Terms) -> dict[str, Any]:
    """Whether the seat's last move can be taken back, and why not."""
    if not any(step.turn == seat for step in state.steps):
        return {"allowed": False, "why": "You have not moved yet."}
    if terms.people:
        return {"allowed": False, "why": "The other player is a person: moves are not taken back."}
    if terms.practice:
        return {"allowed": over or state.turn == seat, "why": "" if over or state.turn == seat else "Wait for the other's move."}
    if over:
        return {"allowed": False, "why": "The game is over, and you have seen how it ends."}
    if learnt := _learnt(state, seat):
        return {"allowed": False, "why": f"You have learnt something since: {' '.join(learnt)}. A practice game would allow it."}
    if state.game.name not in FRANK:
        return {"allowed": False, "why": "You have learnt that your move went through. A practice game would allow it."}
    if state.turn != seat:
        return {"allowed": False, "why": "Wait for the other's move."}
    return {"allowed": True, "why": ""}


def _learnt(state: State, seat: int) -> list[str]:
    """What the seat has seen from its last move on."""
    seen = []
    for step in reversed(state.steps):
        if step.seen[seat]:
            seen.append(state.game.name_of_sight(step.seen[seat]))
        if step.turn == seat:
            break
    return seen[::-1]


def number(state: State, seat: int, move: str) -> int:
    """The legal move of this name; the refusal speaks only of what the seat knows."""
    for option in state.options():
        if state.name(option) == move:
            return option
    legal = state.legal()
    more = f" and {len(legal) - MOST_NAMED:,} more" if len(legal) > MOST_NAMED else ""
    after = " ".join(event["text"] for event in events(state, seat))
    where = f"after {after}" if after else "at the start"
    raise IllegalMove(f"{move[:80]} is not legal {where}; legal: {' '.join(legal[:MOST_NAMED])}{more}")


def placing(game: BaseGame, state: State, seat: int) -> dict[str, Any] | None:
    """Where the seat has to choose the colours of its ghosts: which letter stands where, and how many are red."""
    if game.name != "geister" or game.options.get("setup") != "chosen" or state.position[0].placed > seat:
        return None
    from nebel.games.geister_board import Board

    width, height, ghosts, reds, buffer = (game.options[name] for name in ("width", "height", "ghosts", "reds", "buffer"))
    board = Board(width, height, ghosts, ghosts // 2 if reds is None else reds, buffer)
    homes = [{"letter": board.letter(i), "cell": board.cell_name(cell)} for i, cell in enumerate(board.homes)]
    return {"homes": homes, "reds": board.reds}


def stops(state: State, seat: int) -> list[int]:
    """Return how many events the seat had done and seen at each point that can be looked back at, in ascending order.

    What a move shows at once is one step with the move. Whether a sight came with the move or after it is known of the games that come
    with nebel. Of other games it may depend on what is hidden, so a sight that follows a move always belongs to it.
    """
    found, known, after_move, fine = {0}, 0, False, state.game.name in TIMED
    for step in state.steps:
        did, saw = step.turn == seat, bool(step.seen[seat])
        if saw and not did and not fine and after_move:
            found.discard(known)
        known += did + saw
        found.add(known)
        after_move = (did and not saw) or (after_move and not saw)
    return sorted(found)


def past(state: State, seat: int, count: int) -> dict[str, Any]:
    """Return the seat's view at the last point (see `stops`) at which it had done and seen at most `count` things."""
    aim = max(known for known in stops(state, seat) if known <= count)
    moves, known = 0, 0
    while known < aim:
        step = state.steps[moves]
        known += (step.turn == seat) + bool(step.seen[seat])
        moves += 1
    return _seen(_after(state, moves), seat)


def reveal(state: State, at: int) -> dict[str, Any]:
    """The whole truth after `at` moves, chance's among them: for whoever has finished the game."""
    names = state.moves()
    moves = [{"by": step.turn, "text": name} for step, name in zip(state.steps, names, strict=True)]
    now = _after(state, at)
    truth = {"view": now.view("truth"), "svg": now.svg("truth")}
    return {"moves": moves, "at": len(now.steps), "truth": truth, "seats": [_seen(now, seat) for seat in (0, 1)]}


def _after(state: State, moves: int) -> State:
    """Return the game as it was after this number of moves. To play it again would take a time that tells of hidden moves."""
    then = state.copy()
    while len(then.steps) > moves:
        then.undo()
    return then


def _seen(state: State, seat: int) -> dict[str, Any]:
    return {"view": state.view(seat), "svg": state.svg(seat), "events": events(state, seat)}
