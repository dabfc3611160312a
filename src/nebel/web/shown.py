"""A decision as the page shows it: moves on the board, their values, and what the other may hide as shades."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nebel.core.errors import Problem, TooLarge, UnknownInformationState
from nebel.core.game import CHANCE
from nebel.core.state import State
from nebel.games.geister import SETUP
from nebel.geister.belief import ERROR, believe, board_of
from nebel.match import losses
from nebel.match.secrets import hidden_cells, pieces, secret
from nebel.policy.listing import named, to_move
from nebel.report.boards import with_moves, with_names, with_shades
from nebel.web.inside import CHANCE_ALONE, POLICY, SEARCH, Pasts, Study, Subject, pasts

MOST_SECRETS = 40
"""Listed, the likeliest first."""
MOST_BLIND = 8
"""Moves that a note names."""
PLAYED_ON = 4000
"""Moves that are made for an estimate."""
STONES, RED = "#3d5a80", "#c0392b"

BY = {
    POLICY: "By the strategy that is looked into: chance, and how often it would have moved so in the other seat.",
    SEARCH: f"By the search: chance, and how often it has the other move so, who errs in {100 * ERROR:g} % of all moves.",
    CHANCE_ALONE: "By the odds of chance alone, as if the other moved anyhow",
}


def decision(subject: Subject, state: State) -> dict[str, Any]:
    """What the player to move knows, and what the strategy plays there: the same wherever the player cannot tell the difference."""
    me = to_move(state)
    shares = subject.shares(state)
    knows = subject.knows(state)
    return {
        "player": me,
        "information": state.information(me),
        "path": [text for _, text in decisions(state, me)],
        "view": state.view(me),
        "svg": with_moves(state.svg(me), named(state.game, shares)),
        "moves": [{"move": state.name(move), "share": share} for move, share in shares.items()],
        "reach": subject.reach(state),
        "known": knows,
        "note": "" if knows else "The strategy does not know this state: it plays every move alike.",
    }


def decisions(state: State, me: int) -> list[tuple[str, str]]:
    """The player's decisions on the way, this one last: the moves up to each, and what it did and saw since the one before."""
    found, known, again = list[tuple[str, str]](), 0, state.game.start()
    for step in (*state.steps, None):
        if again.turn == me:
            words = again.transcript(me)
            found.append((again.moves_text(), " ".join(words[known:])))
            known = len(words)
        if step is not None:
            again.push(step.option)
    return found


def worth(study: Study, subject: Subject, state: State) -> dict[str, Any]:
    """What each move is worth, where that can be computed; `blind`: how likely a decision follows at which the strategy has no answer."""
    try:
        found = study.values(subject).at(state)
    except Problem as problem:
        return {"value": None, "moves": {}, "blind": {}, "note": f"No exact values: {problem}."}
    notes = [] if found.met else ["The strategy of the other player never leads here: histories count by chance alone."]
    blind = {move: share for move, share in named(state.game, found.blind).items() if share > 0.0}
    if blind:
        notes.append(f"After {', '.join(list(blind)[:MOST_BLIND])} the strategy has no answers everywhere: random moves take their place.")
    return {"value": found.value, "moves": named(state.game, found.moves), "blind": blind, "note": " ".join(notes)}


def estimate(subject: Subject, state: State) -> dict[str, Any] | None:
    """What the state is worth where that is not known: by games played on, as many for all states that the player cannot tell apart."""
    try:
        guess = None if subject.policy is None else losses.worth(subject.policy, pasts(subject, state).games, PLAYED_ON)
    except Problem:
        return None
    return None if guess is None else guess._asdict()


def belief(subject: Subject, state: State, truth: State | None = None) -> dict[str, Any]:
    """What the other may hide from the player to move; `truth`: what it did hide, once that may be said."""
    if state.game.name == "geister":
        return _colours(subject, state, truth)
    try:
        return stated(pasts(subject, state), state, truth)
    except TooLarge as problem:
        return _listed(f"What may be hidden is not known: {problem}.", False, {}, None, secret(truth, state.turn) if truth else None)


def stated(found: Pasts, state: State, truth: State | None = None) -> dict[str, Any]:
    me, odds, cells, held = state.turn, dict[str, float](), dict[str, float](), dict[str, float]()
    for game, share in found.games:
        text = secret(game, me)
        odds[text] = odds.get(text, 0.0) + share
        for piece in set(pieces(state, text) or []):
            held[piece] = held.get(piece, 0.0) + share
        for cell in hidden_cells(game, me) or []:
            cells[cell] = cells.get(cell, 0.0) + share
    exact = "Exact" if found.exact else f"An estimate from {len(found.games):,} games drawn at random"
    by = BY[found.by] + (f": {found.why}." if found.why else "")
    board = hidden_cells(state, me) is not None
    shades = {name: min(1.0, cells.get(name, 0.0)) for name in state.legal()} if board else {}
    svg = with_shades(state.svg(me), shades, STONES) if board else None
    hand = [{"text": piece, "share": min(1.0, held[piece])} for piece in sorted(held)]
    return _listed(f"{exact}. {by}", found.exact, odds, svg, secret(truth, me) if truth else None) | {"hand": hand}


def _listed(by: str, exact: bool, odds: Mapping[str, float], svg: str | None, truth: str | None) -> dict[str, Any]:
    likely = sorted(((text, share) for text, share in odds.items() if share > 0.0), key=lambda pair: -pair[1])
    secrets = [{"text": text, "share": min(1.0, share)} for text, share in likely[:MOST_SECRETS]]
    more = max(0, len(likely) - MOST_SECRETS)
    return {"by": by, "exact": exact, "secrets": secrets, "more": more, "svg": svg, "truth": truth, "hand": []}


def _colours(subject: Subject, state: State, truth: State | None) -> dict[str, Any]:
    me, board, policy = state.turn, board_of(state.game), subject.policy
    by = f"Exact. {BY[POLICY]} It is taken to err in {100 * ERROR:g} % of its moves."
    try:
        found = believe(state, me, policy=policy)
    except UnknownInformationState:
        policy, found = None, believe(state, me)
    if policy is None:
        by = f"Exact. {BY[CHANCE_ALONE]}: the strategy does not say how the other moved."
    ghosts = {board.cell_name(board.cells - 1 - ghost.cell): ghost for ghost in found.ghosts if ghost.cell is not None}
    svg = with_shades(state.svg(me), {cell: ghost.red for cell, ghost in ghosts.items()}, RED)
    svg = with_names(svg, {cell: ghost.letter for cell, ghost in ghosts.items()})
    odds = {f"red: {letters}": share for letters, share in found.odds.items()}
    colouring = None if truth is None else _colouring(truth, 1 - me, 4 * board.cells)
    return _listed(by, True, odds, svg, None if colouring is None else f"red: {board.letters(colouring)}")


def _colouring(state: State, player: int, placing: int) -> int | None:
    """Which colouring the player began with: dealt, or chosen by a move from `placing` on; None before that move."""
    dealt = [step.seen[player] - SETUP for step in state.steps if step.turn == CHANCE and step.seen[player] >= SETUP]
    return dealt[0] if dealt else next((step.option - placing for step in state.steps if step.turn == player), None)
