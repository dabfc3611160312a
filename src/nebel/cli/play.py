"""`nebel play GAME --against AGENT`: a game on the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import say
from nebel.core.errors import IllegalMove
from nebel.core.game import CHANCE
from nebel.core.output import write_text
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.core.suggest import did_you_mean

if TYPE_CHECKING:
    from nebel.match.agents import Agent

WORDS = "undo, legal, help, quit"
HELP = """\
MOVE      play a move, by its name as it is listed as legal
undo      take back your last move, and what came after it
legal     show the position again, with the legal moves
help, ?   show this
quit      end the game without a result"""
LISTED = 6
"""Beliefs that an explanation lists."""


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("game", metavar="GAME", help="a game string, for example leduc")
    who = "random, a bot of the game, a policy file, or one that thinks, such as oos:1s, ismcts:10k or FILE+oos:2k (default: random)"
    parser.add_argument("--against", default="random", metavar="AGENT", help=who)
    parser.add_argument("--seat", type=int, default=0, choices=(0, 1), help="yours; player 0 begins (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="of chance and of the agent (default: 1)")
    explain = "with each move of the agent, show what it knows, believes and would play how often: you look into its cards"
    parser.add_argument("--explain", action="store_true", help=explain)
    add_out(parser, "write the game here when it ends", flag="--record")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.match.agents import read

    check_out(args.record, args.force, _holds_record)
    agent = read(args.against)
    game = agent.join(load(args.game))
    game.try_out()
    state, rng = game.start(), generator(args.seed)
    say(f"{game.string}: you are player {args.seat}. Type a move, or: {WORDS}.\n")
    while not state.over:
        if state.turn == CHANCE:
            state.deal(rng)
        elif state.turn != args.seat:
            move = agent.choose(state, rng)
            if args.explain:
                _explain(agent, state)
            state.push(move)
        elif not _ask(state, args.seat):
            return 0
    score = state.score() or 0.0
    mine = score if args.seat == 0 else 0.0 - score
    say(f"\nThe truth was:\n{state.view('truth')}\nAll moves: {state.moves_text()}")
    say(f"You {'win' if mine > 0 else 'lose' if mine < 0 else 'draw'}: {mine:+g}")
    if args.record:
        write_text(args.record, state.record())
        say(f"record written to {args.record}")
    return 0


def _holds_record(path: Path) -> bool:
    """Return whether a file is a record of a game, which may be replaced by another one unasked."""
    with path.open("rb") as file:
        return file.read(7) == b'[Game "'


def _explain(agent: Agent, state: State) -> None:
    """What an agent that is about to move knows, believes and would play how often."""
    from nebel.match.beliefs import believe
    from nebel.match.thinkers import Thinker

    me = state.turn
    say(f"{agent.name} knows: {state.information(me)}")
    shares = agent.shares(state) if len(state.options()) > 1 else {state.options()[0]: 1.0}
    if shares is None:
        say("  it does not say how often it would play what")
        return
    likely = sorted(shares, key=lambda move: -shares[move])
    say("  it would play: " + ", ".join(f"{state.name(move)} {_percent(shares[move])}" for move in likely))
    mind = agent.minds.get(me) if isinstance(agent, Thinker) and len(shares) > 1 else None
    if mind is None:
        return
    say(f"  after {mind.simulations:,} simulations; it remembers {mind.nodes:,} information states")
    belief = believe(state, mind)
    how = "" if belief.exact else " (by histories drawn at random)"
    say(f"  it believes that player {1 - me} did and saw{how}:")
    for text, share in list(belief.odds.items())[:LISTED]:
        say(f"    {_percent(share):>6}  {text}")
    if len(belief.odds) > LISTED:
        rest = 1 - sum(list(belief.odds.values())[:LISTED])
        say(f"    {_percent(rest):>6}  one of {len(belief.odds) - LISTED:,} others")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _ask(state: State, seat: int) -> bool:
    """One line from the player; False when there will be no more."""
    say(state.view(seat))
    say(f"you saw: {state.information(seat)}   legal: {' '.join(state.legal())}")
    try:
        line = input("> ").strip()
    except EOFError:
        line = "quit"
    if line in ("quit", "exit"):
        say("bye")
        return False
    if line in ("help", "?") and line not in state.legal():
        say(HELP)
    elif line == "undo":
        _take_back(state, seat)
    elif line and line != "legal":
        try:
            state.push(line)
        except IllegalMove:
            say(f"{line} is not legal here{did_you_mean(line, [*state.legal(), 'undo', 'legal', 'help', 'quit'])}")
    say()
    return True


def _take_back(state: State, seat: int) -> None:
    """Back to the player's own last decision."""
    if not any(step.turn == seat for step in state.steps):
        say("nothing of yours to take back")
        return
    while state.steps[-1].turn != seat:
        state.undo()
    state.undo()
