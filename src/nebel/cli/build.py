"""`nebel build GAME --player COLOUR --out FILE`: a Dark Hex strategy by questions and answers."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import figure, say
from nebel.core.errors import BadSetting, Problem, TooLarge
from nebel.core.output import write_text

if TYPE_CHECKING:
    from nebel.policy.builder import Builder
    from nebel.policy.states import Seen

COLOURS = ("Black", "White")
LISTED = 20
AT_THE_END = 20_000
"""Beliefs to look at for the guarantee that is told without being asked for."""
HELP = """\
b2                 play b2
b2 c1              one of them, equally likely
b2:0.3 c1:0.7      with these probabilities: decimals, or fractions such as 1/3, exactly 1 in all
!                  any move, equally likely, here and until the game is over
! 7                one move, drawn with seed 7, here and in every open state after it
!!  or  !! 7       the same for all that is open
undo, undo 3       take the last answers back
skip               leave this one for later
open               list what is open
history            list the answers, the last one last
/x.o  or  /b2      list the answered states whose board, way there or answer contains this
go 3               ask for number 3 of the last list: answer it now, or change its answer
iso                answer the same on the board turned by 180 degrees along with this one: on or off
guarantee          how often the strategy wins at least; what is not answered counts as lost
show, save, help, quit"""


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.epilog = "Every answer is saved at once. Answers may come from a pipe, one a line; 'help' lists what can be said."
    parser.add_argument("game", nargs="?", metavar="GAME", help="classic or abrupt Dark Hex, for example dark_hex:4x3")
    parser.add_argument("--player", choices=("black", "white"), help="whose strategy it is")
    add_out(parser, "the policy; its notation and the answers so far are written beside it", required=True)
    parser.add_argument("--recall", choices=("board", "perfect"), help="whether the order of moves counts (default: board)")
    how = "initial board: own stones x, discovered ones o, the number of hidden ones, such as 'x./o. hidden 1' (default: empty)"
    parser.add_argument("--board", type=str.strip, metavar="BOARD", help=how)
    parser.add_argument("--before", choices=("uniform",), help="what the policy plays where --board does not lead (default: nothing)")
    parser.add_argument("--isomorphic", action="store_true", help="answer the state on the turned board along with each one")
    parser.add_argument("--resume", action="store_true", help="go on with what was saved")


def run(args: argparse.Namespace) -> int:
    from nebel.policy.io import holds_policy
    from nebel.policy.strategy import holds_strategy

    saved = _saved(args.out)
    check_out(args.out, args.force, holds_policy)
    check_out(args.out.with_suffix(".dhs"), args.force, holds_strategy)
    check_out(saved, args.force, lambda path: True)  # refused below unless it is to be continued
    builder = _begin(args, saved)
    if args.before and not builder.states.initial_text:
        raise BadSetting("--before is for a strategy from an initial board; give --board, or leave --before out")
    return _Dialogue(builder, args.out, args.before or "").talk()


def _saved(out: Path) -> Path:
    """Where the answers are kept."""
    if out.suffix in (".dhs", ".json"):
        raise BadSetting(f"--out {out} names the policy; the notation (.dhs) and the answers (.build.json) are written beside it")
    return out.with_suffix(".build.json")


def _begin(args: argparse.Namespace, saved: Path) -> Builder:
    from nebel.core.registry import load
    from nebel.policy.builder import Builder

    if not args.resume:
        if saved.exists():
            raise BadSetting(f"{saved} holds answers already; go on with --resume, or give another --out")
        if args.game is None or args.player is None:
            raise BadSetting("a new strategy wants GAME and --player; write for example nebel build dark_hex:4x3 --player black --out FILE")
        return Builder(args.game, ("black", "white").index(args.player), args.recall or "board", args.isomorphic, args.board or "")
    builder = Builder.load(saved)
    states = builder.states
    board = states.initial_text or states.boards.text(states.initial)
    found = {"GAME": states.game.string, "--player": COLOURS[states.player].lower(), "--recall": states.recall, "--board": board}
    asked = {"GAME": args.game and load(args.game).string, "--player": args.player, "--recall": args.recall}
    asked["--board"] = args.board and states.boards.text(states.boards.read(args.board))
    for flag, value in asked.items():
        if value is not None and value != found[flag]:
            raise BadSetting(f"{saved} was begun with {flag} {found[flag]}, not {value}; leave {flag} out, or give another --out")
    builder.isomorphic |= args.isomorphic
    return builder


class _Dialogue:
    def __init__(self, builder: Builder, out: Path, before: str) -> None:
        self.builder, self.states, self.out, self.before = builder, builder.states, out, before
        self.listed: list[Seen] = []
        self.unsaved = False  # because the disk was full, for example
        self.verbs: dict[str, Callable[[str], None]] = {
            "!": self.complete,
            "!!": self.complete_all,
            "undo": self.undo,
            "skip": self.skip,
            "open": self.list_open,
            "history": self.list_history,
            "go": self.go,
            "iso": self.toggle,
            "guarantee": self.tell_guarantee,
            "show": lambda _: self.present(),
            "save": self.save,
            "help": lambda _: say(HELP),
        }

    def talk(self) -> int:
        me, other = COLOURS[self.states.player], COLOURS[1 - self.states.player]
        start = f", from {self.states.initial_text}" if self.states.initial_text else ""
        say(
            f"{self.states.game.string}{start}: a strategy for {me} against any {other}. Say what to play; 'help' lists what else there is."
        )
        self.ask_or_finish()
        while (line := _line()) is not None and line not in ("quit", "exit"):
            try:
                self.obey(line)
            except Problem as problem:
                say(str(problem))
            except KeyboardInterrupt:
                say("stopped")
        self.part()
        return 2 if self.unsaved else 0

    def part(self) -> None:
        left = len(self.builder.open_states())
        if left and self.builder.history():
            say(f"{left:,} open; to go on: nebel build --resume --out {self.out}")
        if left and self.out.exists():
            say(f"{self.out} is not of these answers: it is written when all are given")
        say("bye")

    def obey(self, line: str) -> None:
        """One line. What cannot be done raises a Problem and changes nothing."""
        word, rest = re.fullmatch(r"(!+|\S*)\s*(.*)", line).groups()  # type: ignore[union-attr]
        if line.startswith("/"):
            self.search(line[1:].strip())
        elif word in self.verbs:
            self.verbs[word](rest)
        elif line:
            self.builder.answer(self.wanted(), line)
            self.changed()

    def wanted(self) -> Seen:
        state = self.builder.current
        if state is None:
            raise BadSetting("all is answered; to change an answer, find it with /b2 or history and say go N, or say undo")
        return state

    def changed(self) -> None:
        self.save()
        self.ask_or_finish()

    def complete(self, seed: str) -> None:
        self.builder.complete(self.wanted(), _number(seed, "! 7"))
        self.changed()

    def complete_all(self, seed: str) -> None:
        self.builder.complete(seed=_number(seed, "!! 7"))
        self.changed()

    def undo(self, times: str) -> None:
        for done in range(_number(times, "undo 3") or 1):
            if not self.builder.undo():
                say("there is no answer to take back" if not done else f"all {done} answers are taken back")
                break
        self.changed()

    def skip(self, _: str) -> None:
        self.builder.skip()
        self.ask_or_finish()

    def toggle(self, _: str) -> None:
        self.builder.isomorphic = not self.builder.isomorphic
        self.save()
        say("the turned board is answered along" if self.builder.isomorphic else "each board is answered on its own")

    def list_open(self, _: str) -> None:
        self.number(self.builder.open_states(), "open", last=False)

    def list_history(self, _: str) -> None:
        self.number([state for step in self.builder.history() for state in step], "answered", last=True)

    def search(self, text: str) -> None:
        self.number(self.builder.find(text), f"with {text!r}", last=False)

    def number(self, states: list[Seen], what: str, last: bool) -> None:
        """The states by number, some of them if there are many."""
        self.listed = list(dict.fromkeys(states))
        say(f"{len(self.listed):,} {what}")
        numbered = [*enumerate(self.listed, 1)]
        for number, state in numbered[-LISTED:] if last else numbered[:LISTED]:
            say(f"{number:4}  {self.builder.line(state)}")

    def go(self, number: str) -> None:
        n = _number(number, "go 3")
        if not n or n > len(self.listed):
            numbers = f"1 to {len(self.listed)}" if self.listed else "there is none yet"
            raise BadSetting(f"go wants a number of the last list ({numbers}); open, history and /text list states")
        self.builder.choose(self.listed[n - 1])
        self.present()

    def save(self, said: str | None = None) -> None:
        """After every change, and when asked to."""
        path, self.unsaved = _saved(self.out), True
        self.builder.save(path)
        self.unsaved = False
        if said is not None:
            say(f"{len(self.builder.history()):,} answers are in {path}")

    def ask_or_finish(self) -> None:
        if self.builder.current is None:
            self.finish()
        else:
            self.present()

    def present(self) -> None:
        """The current information state: how it was reached, what is seen, what is hidden."""
        state, open_ = self.wanted(), len(self.builder.open_states())
        way = self.states.path_text(self.builder.way(state))
        say(f"\n{len(self.builder.answered()):,} answered, {open_:,} open. {'At the start' if way == '-' else 'After ' + way}:")
        say(self.states.draw(state))
        low, high = self.states.hidden(state)
        count = str(low) if low == high else f"{low} to {high}"
        free = " ".join(self.states.names[c] for c in self.states.free(state))
        say(f"hidden {COLOURS[1 - self.states.player]} stones: {count}   free: {free}")
        if (answer := self.builder.answered().get(state)) is not None:
            say(f"the answer is {self.builder.answer_text(answer)}; a new one takes its place")

    def finish(self) -> None:
        """All is answered: write the policy and the notation."""
        from nebel.policy.io import save_policy

        self.unsaved = True
        say("\ncomplete: every information state that it can come to is answered")
        if self.states.abrupt:
            say("no notation is written: it describes the classic game alone")
        else:
            notation = self.out.with_suffix(".dhs")
            write_text(notation, self.builder.to_notation())
            say(f"wrote {notation} (nebel strategy {notation} --check)")
        policy = self.builder.to_policy(before=self.before)
        save_policy(policy, self.out)
        self.unsaved = False
        say(f"wrote {self.out}: {len(policy.shares[self.states.player].keys):,} information states (nebel judge {self.out})")
        if self.states.initial_text:
            says = "plays any move, equally likely," if self.before else "has no answer (--before uniform: any move)"
            say(f"where {self.states.initial_text} does not lead, the policy {says} and no guarantee holds")
        try:
            self.tell_guarantee("", AT_THE_END)
        except TooLarge:
            say("how often it wins at least takes a while to find; say guarantee")

    def tell_guarantee(self, _: str, limit: int | None = None) -> None:
        from nebel.judge.guarantee import MOST_BELIEFS
        from nebel.judge.unfinished import guarantee_so_far

        wins = guarantee_so_far(self.builder, limit or MOST_BELIEFS).wins
        left = len(self.builder.open_states())
        lost = f" ({left:,} open information states count as lost)" if left else ""
        start = f"from {self.states.initial_text} it " if self.states.initial_text else ""
        say(f"{start}wins with probability {figure(wins)} or more, whatever {COLOURS[1 - self.states.player]} does{lost}")


def _line() -> str | None:
    """The next line, None at the end. From a pipe it is repeated, so that what is printed reads like a conversation."""
    if sys.stdin.isatty():
        try:
            return input("> ").strip()
        except EOFError:
            say()
            return None
    line = sys.stdin.readline()
    if not line:
        return None
    say(f"> {line.strip()}")
    return line.strip()


def _number(text: str, example: str) -> int | None:
    if text and not text.isdecimal():
        raise BadSetting(f"{text!r} is not a number; write for example {example}")
    return int(text) if text else None
