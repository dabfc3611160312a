"""`nebel serve`: the page on which everything can be played and understood."""

from __future__ import annotations

import argparse
import ipaddress
import secrets
import socket
from pathlib import Path

from nebel.cli.screen import say
from nebel.core.errors import BadSetting
from nebel.web.setup import LOCAL, PORT, Setup


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("--port", type=_port, default=PORT, help=f"(default: {PORT}; 0: any free one)")
    hosts = "the address to listen at (default: 127.0.0.1, for this machine only; 0.0.0.0: all). Others than this machine need the token"
    parser.add_argument("--host", default="127.0.0.1", help=hosts)
    parser.add_argument("--token", default="", help="what visitors must bring; made up and printed with --host if it is not given")
    parser.add_argument("--db", metavar="FILE", help="where games are kept (default: page.sqlite in the folder of runs)")
    files = "folders whose policy files can be played, besides those of the runs"
    parser.add_argument("--policies", type=Path, nargs="+", action="extend", default=[], metavar="FOLDER", help=files)
    own = "a game besides the built-in ones: path/to/file.py:factory, or openspiel:NAME; may be given again"
    parser.add_argument("--game", action="append", default=[], metavar="GAME", help=own)
    proxy = "the address of a reverse proxy in front of the server, whose X-Forwarded-For says who a visitor is (default: none)"
    parser.add_argument("--proxy", default="", metavar="ADDRESS", help=proxy)
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="FOLDER", help="of runs, whose curves are shown (default: runs)")


def _port(text: str) -> int:
    if text.isdecimal() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; write a number from 0 to 65535")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.web.serving import listen, serve

    for folder in args.policies:
        if not folder.is_dir():
            raise BadSetting(f"--policies {folder}: no such folder")
    for game in args.game:
        load(game).try_out()
    if args.proxy and not _is_address(args.proxy):
        raise BadSetting(f"--proxy {args.proxy}: not an address such as 127.0.0.1")
    token = args.token or ("" if args.host in LOCAL else secrets.token_urlsafe(16))
    if token and not token.isascii():
        raise BadSetting("--token is made of ASCII characters")
    db = args.db or str(args.runs / "page.sqlite")
    with listen(args.host, args.port) as listening:
        setup = Setup(args.host, listening.getsockname()[1], token, db, args.runs, tuple(args.policies), tuple(args.game), args.proxy)
        server = serve(setup)
        say(f"Open the page: {address(setup)}")
        say(f"Games are kept in {db}. Stop with Ctrl-C.")
        server.run(sockets=[listening])
    return 0


def _is_address(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def address(setup: Setup) -> str:
    """What to open in a browser."""
    host = socket.gethostname() if setup.host in ("0.0.0.0", "::") else setup.host
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{setup.port}/" + (f"?token={setup.token}" if setup.token else "")
