"""The command line: `nebel VERB ...`. Bad input gets one line and exit code 2, never a traceback."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Container, Sequence
from functools import partial
from typing import NamedTuple

from nebel.cli.flags import Parser, owners, value_of
from nebel.cli.screen import printable, say
from nebel.core.errors import Problem
from nebel.core.suggest import did_you_mean

# What is multiplied here is small: threads of NumPy's own would cost more than they gain, much more where other work runs
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Verb(NamedTuple):
    """A verb is a module in this room with `add(parser)` and `run(args)`; it is imported only when used.

    `chooser` is the flag that decides which settings are flags, too, and `settings` where they all are, as module:NAME.
    """

    help: str
    module: str
    chooser: str = ""
    settings: str = ""


VERBS = {
    "games": Verb("list the games, or show one: its options, size and first moves", "games"),
    "check": Verb("test a game against the rules that all games keep", "check"),
    "new-game": Verb("write a small working game to start your own from", "new_game"),
    "solve": Verb("compute a strategy", "solve", "--with", "nebel.solve.settings:METHODS"),
    "learn": Verb("train a network", "learn", "--with", "nebel.learn.drive:METHODS"),
    "judge": Verb("say exactly how good a policy is", "judge", "--by", "nebel.cli.judge_learned:KINDS"),
    "simplify": Verb("make a policy simpler: fewer moves, plainer probabilities", "simplify"),
    "show": Verb("look into a policy file", "show"),
    "import": Verb("make a policy of a table of information states and probabilities, in CSV or JSON", "import_policy"),
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
        say(printable(f"nebel: {problem}"), to_error=True)
        return 2
    except KeyboardInterrupt:
        say("nebel: interrupted", to_error=True)
        return 130
    except BrokenPipeError:  # whoever was reading has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        say(f"nebel: {error.filename or 'a file or the network'}: {error.strerror or error}", to_error=True)
        return 2


def _run(words: list[str]) -> int:
    if words[:1] == ["help"]:
        words = [*(word for word in words[1:] if word != "help"), "--help"]
    name = words[0] if words else "--help"
    if name.startswith("-"):
        _overview().parse_args([name])
    if name not in VERBS:
        raise Problem(f"no verb {name!r}{did_you_mean(name, VERBS)}; verbs: {', '.join(VERBS)}")
    verb, rest = VERBS[name], words[1:]
    module = importlib.import_module(f"nebel.cli.{verb.module}")
    own = Parser(f"nebel {name}", verb.help, elsewhere=partial(_whose, verb, rest))
    module.add(own, rest)
    args = own.parse_args(rest)
    try:
        return int(module.run(args) or 0)
    except MemoryError as error:
        raise Problem(_out_of_memory(own.flags())) from error
    except RuntimeError as error:
        if "allocate memory" not in str(error):  # how torch says it
            raise
        raise Problem(_out_of_memory(own.flags())) from error


def _out_of_memory(flags: Container[str]) -> str:
    """Say what takes less memory, by the flags of the verb."""
    less = [flag for flag in ("--memory", "--room", "--boards", "--games") if flag in flags]
    given = f"give less {' or '.join(', '.join(less).rsplit(', ', 1))}, or " if less else ""
    kept = ". The last checkpoint of a run is as it was" if "--run" in flags else ""
    return f"out of memory; {given}take a smaller game{kept}"


def _overview() -> Parser:
    """What is said without a verb."""
    from nebel import __version__

    verbs = "\n".join(f"  {name:14} {verb.help}" for name, verb in VERBS.items())
    about = "Learn, solve, measure and play two-player games with hidden information."
    parser = Parser("nebel", about, f"verbs:\n{verbs}\n\nnebel VERB --help tells more.")
    parser.add_argument("-V", "--version", action="version", version=f"nebel {__version__}")
    parser.add_argument("verb", metavar="VERB", nargs="?", help="one of the verbs below")
    return parser


def _whose(verb: Verb, words: Sequence[str], flag: str) -> str:
    """Say of a flag that is a setting of something else than what was chosen whose it is."""
    if not verb.settings:
        return ""
    module, _, name = verb.settings.partition(":")
    found = owners(flag, getattr(importlib.import_module(module), name))
    if not found:
        return ""
    chosen, front = value_of(verb.chooser, words), "" if verb.chooser == "--with" else f"{verb.chooser} "
    listed = ", ".join(f"{front}{each}" for each in found[:4]) + (" and others" if len(found) > 4 else "")
    return f"{flag} is a setting of {listed}" + (f", not of {front}{chosen}" if chosen else f"; add {verb.chooser} {found[0]}")
