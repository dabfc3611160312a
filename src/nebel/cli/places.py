"""Where runs are kept: flags of `solve` and `learn`, and what becomes of a run that is finished, stopped or resumed."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import shlex
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import say
from nebel.core.errors import BadFile, BadSetting

if TYPE_CHECKING:
    from nebel.policy.table import MadePolicy
    from nebel.solve.run import Job


def add_places(parser: argparse.ArgumentParser, what: str, seconds: int) -> None:
    """Add the flags of a run that makes a policy or network, and that is written down every so many seconds."""
    add_out(parser, f"write the {what} here")
    parser.add_argument("--run", metavar="FOLDER", type=Path, help=f"keep settings, metrics, checkpoints and the {what} here")
    again = "continue a run that was stopped or killed, to the end of its budget or to a new one"
    parser.add_argument("--resume", metavar="FOLDER", nargs="?", const="", help=again)
    every = f"seconds between checkpoints (default: {seconds})"
    parser.add_argument("--checkpoint-every", type=float, default=float(seconds), metavar="SECONDS", help=every)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


class Places(NamedTuple):
    """Where a run is kept (None: nowhere), whether it is resumed, and the file that its policy is written to."""

    folder: Path | None
    resume: bool
    out: Path | None
    passing: bool  # the folder is there only until the run is finished

    @property
    def out_name(self) -> str | None:
        """The file's full name, which holds wherever the run is resumed."""
        return str(self.out.absolute()) if self.out else None

    @property
    def certificate(self) -> Path | None:
        """The file of the certificate, where the method makes one: beside the policy."""
        if self.out:
            return self.out.with_name(self.out.name + ".certificate.json")
        return self.folder and self.folder / "certificate.json"


def places_of(args: argparse.Namespace) -> Places:
    """Find the run's folder: as given, else beside the policy file, for as long as the run is not finished."""
    from nebel.policy.io import holds_policy

    if not args.checkpoint_every > 0:
        raise BadSetting(f"--checkpoint-every {args.checkpoint_every:g} is out of range: it must be greater than 0")
    if args.resume and args.run and Path(args.resume) != args.run:
        raise BadSetting(f"--run {args.run} and --resume {args.resume} name two folders; give one")
    folder = Path(args.resume) if args.resume else args.run or (_beside(args.out) if args.out else None)
    resume, out = args.resume is not None, args.out
    if resume and folder is None:
        raise BadSetting("--resume needs to know the run: --resume FOLDER, or the --run or --out of the first time")
    if folder is not None and (folder.exists() or folder.is_symlink()) and not folder.is_dir():
        raise BadFile(f"{folder} is not a folder; give the name of a folder for the run")
    if resume and out is None:
        out = _asked_out(folder)
    check_out(out, args.force, holds_policy)
    passing = out is not None and folder is not None and args.run is None and folder.absolute() == _beside(out).absolute()
    return Places(folder, resume, out, passing)


def _beside(out: Path) -> Path:
    return out.with_name(out.name + ".run")


def _asked_out(folder: Path | None) -> Path | None:
    """Return the file that the run's policy was to be written to. Only policy files are named by what a folder says of itself."""
    from nebel.solve.run import Folder

    assert folder is not None
    named = Folder(folder).asked().out
    out = Path(named) if named else None
    return out if out and (out.suffix == ".nebel" or _beside(out) == folder.absolute()) else None


def refuse_changes(args: argparse.Namespace, folder: Path | None, asked: dict[str, Any]) -> Job:
    """Return the job of a run that is resumed. It keeps its settings: saying them again is fine, changing them is not."""
    from nebel.core.registry import load
    from nebel.solve.run import Folder

    assert folder is not None
    held = Folder(folder).asked().job
    if args.game and load(args.game).string != held.game:
        raise BadSetting(f"the run in {folder} is about {held.game}, not {args.game}")
    for name, value in asked.items():
        before = {**dataclasses.asdict(held), **held.settings, **(held.curriculum or {})}.get(name)
        if value is not None and value != before and not (name == "recall" and value == "imperfect"):
            raise BadSetting(f"the run in {folder} has {name} {before}, not {value}; leave it out to continue, or start a new run")
    return held


def overdue() -> None:
    """Say that a run takes longer than it was given, and why."""
    say("the seconds of the budget are over; the iteration under way is finished first", to_error=True)


@contextlib.contextmanager
def stoppable(verb: str, places: Places) -> Iterator[None]:
    """Say what is kept, and how to continue, when a run is stopped by Ctrl-C or SIGTERM."""
    from nebel.solve.run import Folder
    from nebel.solve.signals import Stopped

    try:
        yield
    except KeyboardInterrupt as stop:
        number = stop.signal if isinstance(stop, Stopped) else signal.SIGINT
        done = stop.iterations if isinstance(stop, Stopped) else None
        if places.folder is None:
            say("stopped; nothing is kept, for neither --out nor --run was given", to_error=True)
        elif Folder(places.folder).holds_a_run:
            how = f"nebel {verb} --resume {shlex.quote(str(places.folder))}"
            kept = f"after {done:,} iterations" if done else "before the first checkpoint"
            say(f"stopped {kept}; to continue: {how}", to_error=True)
        else:
            say("stopped before the run had begun", to_error=True)
        raise SystemExit(128 + number) from None


def keep(policy: MadePolicy, places: Places) -> Path | None:
    """Write the policy to the file that was asked for, and drop a folder that was there only in case the run was killed."""
    from nebel.policy.io import save_policy

    if places.out:
        save_policy(policy, places.out)
        if places.passing and places.folder:
            shutil.rmtree(places.folder, ignore_errors=True)
    return places.out or (places.folder / "policy.nebel" if places.folder else None)
