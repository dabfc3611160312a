"""`nebel geister-join HOST PORT --agent AGENT`: an agent plays on a competition server."""

from __future__ import annotations

import argparse
import time

from nebel.cli.flags import whole
from nebel.cli.screen import emit, say
from nebel.core.errors import BadSetting
from nebel.core.rng import generator
from nebel.games.geister import LONG

WORDS = {1: "won", 0: "drawn", -1: "lost"}


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("host", metavar="HOST", help="where the server is, for example localhost")
    parser.add_argument("port", metavar="PORT", type=int, help="10000 for the first player, 10001 for the second")
    parser.add_argument("--agent", required=True, help="who plays: purple:4, random-escape, a policy file, ismcts:1s ...")
    parser.add_argument("--games", type=whole, default=1, metavar="N", help="one after another (default: 1)")
    parser.add_argument("--set", metavar="ABCD", help="the red ghosts (default: as the agent chooses)")
    parser.add_argument("--seat", type=int, choices=(0, 1), help="which player the port is for (default: even 0, odd 1)")
    parser.add_argument("--limit", type=whole, default=LONG, help=f"plies before the server calls a draw (default: {LONG})")
    parser.add_argument("--seed", type=int, default=1, help="of the agent (default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output at the end")


def run(args: argparse.Namespace) -> int:
    from nebel.geister.client import PAUSE, Seat, play_at, sit_down
    from nebel.geister.protocol import read_set
    from nebel.match.agents import read

    if args.games < 1 or not 0 < args.port < 65536:
        raise BadSetting(f"--games {args.games} at port {args.port}: at least one game, at a port of 1 to 65535")
    colouring = None if args.set is None else read_set(f"SET:{args.set}")
    agent = read(args.agent)
    game = sit_down(agent, args.limit)
    seat = Seat(args.host, args.port, args.port % 2 if args.seat is None else args.seat)
    outcomes = []
    for number in range(args.games):
        if number:
            time.sleep(PAUSE)
        outcome = play_at(seat, agent, game, generator(args.seed, number), colouring)
        outcomes.append(outcome)
        say(f"game {number + 1}: {WORDS[outcome.score]} ({outcome.by}), {outcome.moves} moves", to_error=args.json)
    scores = [outcome.score for outcome in outcomes]
    wins, draws, losses = (scores.count(score) for score in (1, 0, -1))
    if args.json:
        counts = {"wins": wins, "draws": draws, "losses": losses}
        emit({"agent": agent.name, "game": game.string, **counts, "games": [outcome._asdict() for outcome in outcomes]})
    else:
        say(f"{agent.name}: {wins} won, {draws} drawn, {losses} lost")
    return 0
