"""`nebel geister-server`: the competition's server; `--between A B`: a series of two agents over it."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from nebel.cli.flags import add_settings, given, whole
from nebel.cli.screen import emit, progress_bar, say, table
from nebel.core.errors import BadSetting
from nebel.core.output import check_folder
from nebel.geister.protocol import DRAW
from nebel.geister.server import Manners, Played, Server

DEFAULT_PORTS = (10000, 10001)
DEFAULT_SERIES = 100


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("--ports", type=_ports, metavar="A,B", help="of the first and the second player (default: 10000,10001)")
    parser.add_argument("--host", help="the address to listen at (default: 127.0.0.1, for this machine only; 0.0.0.0: all)")
    parser.add_argument("--games", type=whole, metavar="N", help="stop after so many (default: never; 100 with --between)")
    parser.add_argument("--between", nargs=2, metavar=("A", "B"), help="let these agents play each other over sockets, on free ports")
    parser.add_argument("--seed", type=int, default=1, help="of the agents (default: 1)")
    parser.add_argument("--log", type=Path, metavar="DIR", help="write each game here, as the competition's log and as a record")
    add_settings(parser, Manners, "time")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output at the end")


def run(args: argparse.Namespace) -> int:
    manners = Manners(**given(args, Manners))
    if args.games is not None and args.games < 1:
        raise BadSetting(f"--games {args.games}: at least 1")
    if args.log:
        check_folder(args.log)
        args.log.mkdir(parents=True, exist_ok=True)
    if args.between:
        if args.ports or args.host:
            raise BadSetting("--between takes free ports of this machine; leave out --ports and --host")
        return _between(args, manners)
    return _serve(args, manners)


def _ports(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) == 2 and all(part.isdecimal() and int(part) < 65536 for part in parts) and (parts[0] != parts[1] or parts[0] == "0"):
        return int(parts[0]), int(parts[1])
    raise argparse.ArgumentTypeError(f"{text!r} is not two ports; write 10000,10001")


def _serve(args: argparse.Namespace, manners: Manners) -> int:
    host, results = args.host or "127.0.0.1", list[Played]()

    def ready(ports: tuple[int, int]) -> None:
        say(f"waiting for the first player at {host}:{ports[0]} and the second at {host}:{ports[1]}", to_error=args.json)

    def tell(game: Played) -> None:
        if args.json:
            results.append(game)
        who = "drawn" if game.winner == DRAW else f"player {game.winner} won"
        say(f"game {server.played}: {who} by {game.by}, {game.plies} plies, {game.seconds:.1f} s", to_error=args.json)

    server = Server(manners, args.log, tell)
    asyncio.run(server.serve(host, args.ports or DEFAULT_PORTS, args.games, ready))
    if args.json:
        emit({"games": [game._asdict() for game in results]})
    return 0


def _between(args: argparse.Namespace, manners: Manners) -> int:
    from nebel.geister.series import play_series
    from nebel.match.agents import read_all

    a, b = read_all(args.between)
    games = args.games or DEFAULT_SERIES
    with progress_bar(args.json) as show:
        tally = play_series((a, b), games, args.seed, manners, args.log, lambda n: show(n / games, f"{n:,} games"))
    found = tally.as_json()
    if args.json:
        emit(found)
        return 0
    say(f"{a.name} against {b.name}: {games:,} games over sockets, seats in turn, seed {args.seed}")
    table(["wins", "draws", "losses"], [[str(found[key]) for key in ("wins", "draws", "losses")]])
    say("won by: " + ", ".join(f"{way} {n:,}" for way, n in tally.by().items()))
    thought = " and ".join(f"{name} {tally.ms_a_move(which):.2f} ms" for which, name in enumerate(tally.names))
    say(f"{tally.plies:,} plies, {tally.ms_a_ply:.2f} ms each; for a move {thought} were thought")
    return 0
