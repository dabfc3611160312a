"""Where runs are kept: flags of `solve` and `learn`, and what becomes of a run that is finished or resumed."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.policy.table import MadePolicy
    from nebel.solve.run import Job


def add_places(parser: argparse.ArgumentParser, what: str, seconds: int) -> None:
    """Flags for a run that makes a policy or network, and is written down every so many seconds."""
    parser.add_argument("--out", metavar="FILE", type=Path, help=f"write the {what} here")
    parser.add_argument("--run", metavar="FOLDER", type=Path, help=f"keep settings, metrics, checkpoints and the {what} here")
    parser.add_argument("--resume", metavar="FOLDER", nargs="?", const="", help="go on with a run that was stopped or killed")
    parser.add_argument("--checkpoint-every", type=float, default=float(seconds), metavar="SECONDS", help=f"(default: {seconds})")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def check_places(args: argparse.Namespace) -> None:
    if args.checkpoint_every <= 0:
        raise BadSetting(f"--checkpoint-every {args.checkpoint_every:g} is out of range: it must be greater than 0")
    if args.out and args.out.is_dir():
        raise BadSetting(f"--out {args.out} is a folder; give the name of a file")


def folder_of(args: argparse.Namespace) -> tuple[Path | None, bool]:
    """The run's folder: as given, else beside the policy file, for as long as the run is not finished."""
    if args.resume:
        if args.run and Path(args.resume) != args.run:
            raise BadSetting(f"--run {args.run} and --resume {args.resume} name two folders; give one")
        return Path(args.resume), True
    return args.run or (args.out.with_name(args.out.name + ".run") if args.out else None), args.resume is not None


def refuse_changes(args: argparse.Namespace, folder: Path | None, asked: dict[str, Any]) -> Job:
    """A resumed run keeps its settings; saying them again is fine, changing them is not."""
    from nebel.core.registry import load
    from nebel.solve.run import Folder

    if folder is None:
        raise BadSetting("--resume needs to know the run: --resume FOLDER, or the --run or --out of the first time")
    held, _ = Folder(folder).job()
    if args.game and load(args.game).string != held.game:
        raise BadSetting(f"the run in {folder} is about {held.game}, not {args.game}")
    for name, value in asked.items():
        before = {**dataclasses.asdict(held), **held.settings, **(held.curriculum or {})}.get(name)
        if value is not None and value != before and not (name == "recall" and value == "imperfect"):
            raise BadSetting(f"the run in {folder} has {name} {before}, not {value}; leave it out to go on, or start a new run")
    return held


def keep(policy: MadePolicy, args: argparse.Namespace, folder: Path | None) -> Path | None:
    """Write what --out asks for, and drop a folder that was only there in case the run was killed; returns where the policy is."""
    from nebel.policy.io import save_policy

    if args.out:
        save_policy(policy, args.out)
        if not args.run and not args.resume and folder:
            shutil.rmtree(folder, ignore_errors=True)
    return args.out or (folder / "policy.nebel" if folder else None)
