"""The command line: `nebel VERB ...`. Bad input gets one line and exit code 2, never a traceback."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import NamedTuple

from nebel.cli.flags import Parser
from nebel.cli.screen import say
from nebel.core.errors import Problem

# What is multiplied here is small: threads of NumPy's own would cost more than they gain, much more where other work runs
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Verb(NamedTuple):
    """A verb is a module in this room with `add(parser)` and `run(args)`; it is imported only when used."""

    help: str
    module: str


VERBS = {
    "games": Verb("list the games, or show one: its options, size and first moves", "games"),
    "check": Verb("test a game against the rules that all games keep", "check"),
    "new-game": Verb("write a small working game to start your own from", "new_game"),
    "solve": Verb("compute a strategy", "solve"),
    "learn": Verb("train a network", "learn"),
    "judge": Verb("say exactly how good a policy is", "judge"),
    "simplify": Verb("make a policy simpler: fewer moves, plainer probabilities", "simplify"),
    "show": Verb("look into a policy file", "show"),
    "strategy": Verb("read a Dark Hex strategy in notation, check that it is complete, write its policy", "strategy"),
    "build": Verb("make a Dark Hex strategy by answering its information states one by one", "build"),
    "sure-wins": Verb("count and show the certain wins of classic Dark Hex", "sure_wins"),
    "verify": Verb("check a certificate: what mixtures of Dark Hex strategies guarantee", "verify"),
    "play": Verb("play a game on the terminal", "play"),
    "serve": Verb("open the page: play, look inside strategies, build them, watch runs", "serve"),
    "match": Verb("let agents play each other, and rate them", "match"),
    "geister-server": Verb("hold Geister competitions: two ports, one game after another", "geister_server"),
    "geister-join": Verb("let an agent play on a Geister competition server", "geister_join"),
    "geister-replay": Verb("show a game of Geister move by move, from a log file or a record", "geister_replay"),
    "geister-solve": Verb("solve a small Geister variant on merged positions, and judge the strategy by beliefs", "geister_solve"),
    "geister-puzzles": Verb("find the move that wins in Geister whatever the colours are", "geister_puzzles"),
    "paper": Verb("compute a paper's tables and figures anew, beside the published ones", "paper"),
    "bench": Verb("measure speed against OpenSpiel and LiteEFG in one run", "bench"),
}


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        return _run(words)
    except Problem as problem:
        say(f"nebel: {problem}", to_error=True)
        return 2
    except KeyboardInterrupt:
        say("nebel: interrupted", to_error=True)
        return 130
    except BrokenPipeError:  # whoever was reading has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        say(f"nebel: {error.filename or 'the system'}: {error.strerror or error}", to_error=True)
        return 2
    except MemoryError:
        return _out_of_memory()
    except RuntimeError as error:
        if "allocate memory" not in str(error):  # how torch says it
            raise
        return _out_of_memory()


def _out_of_memory() -> int:
    less = "give less --memory, --room or --boards, or take a smaller variant or a sampling method"
    say(f"nebel: out of memory; {less}. The last checkpoint of a run is as it was", to_error=True)
    return 2


def _run(words: list[str]) -> int:
    from nebel import __version__

    parser = Parser(
        prog="nebel",
        description="Learn, solve, measure and play two-player games with hidden information.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="verbs:\n" + "\n".join(f"  {name:14} {verb.help}" for name, verb in VERBS.items()) + "\n\nnebel VERB --help tells more.",
    )
    parser.add_argument("--version", action="version", version=f"nebel {__version__}")
    parser.add_argument("verb", metavar="VERB", help="one of the verbs below")
    args = parser.parse_args(words[:1] or ["--help"])
    if args.verb not in VERBS:
        raise Problem(f"no verb {args.verb!r}; verbs: {', '.join(VERBS)}")
    verb = VERBS[args.verb]
    module = importlib.import_module(f"nebel.cli.{verb.module}")
    own = Parser(prog=f"nebel {args.verb}", description=verb.help, formatter_class=argparse.RawDescriptionHelpFormatter)
    module.add(own, words[1:])
    return int(module.run(own.parse_args(words[1:])) or 0)
