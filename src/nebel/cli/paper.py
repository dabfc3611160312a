"""`nebel paper NAME`."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import emit, say, table
from nebel.core.errors import BadSetting
from nebel.core.output import check_folder, write_text
from nebel.core.suggest import did_you_mean

if TYPE_CHECKING:
    from nebel.papers.paper import Paper
    from nebel.report.parts import Section

PAPERS = ("dark_hex", "cheat", "exit_oos", "geister_deep_cfr", "geister_dream")


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("paper", metavar="NAME", help=f"one of: {', '.join(PAPERS)}")
    parser.add_argument("--only", metavar="SECTIONS", help="these sections, with commas between (default: all)")
    parser.add_argument("--quick", action="store_true", help="shorter learning and fewer games; what is exact stays exact")
    parser.add_argument("--full", action="store_true", help="as much as the paper had, where that takes hours")
    add_out(parser, "write the report, a single HTML file, here (default: NAME.html)")
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="folder for runs that take hours; the same command continues them")
    parser.add_argument("--finished", action="store_true", help="report on the finished runs in the folder of --runs; begin none")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.papers.paper import Terms, chosen, compute
    from nebel.report.page import holds_report

    paper = named(args.paper)
    only = [name.strip() for name in args.only.split(",")] if args.only else []
    chosen(paper, only)
    out = args.out or Path(f"{paper.name}.html")
    if args.quick and args.full:
        raise BadSetting("--quick and --full contradict each other; give one of them, or none for the usual size")
    if args.finished and not args.runs:
        raise BadSetting("--finished needs the folder of the runs: add --runs FOLDER")
    if args.runs:
        check_folder(args.runs)
    check_out(out, args.force, holds_report)
    terms = Terms(args.quick, args.seed, lambda line: say(line, to_error=True), full=args.full, runs=args.runs, finished=args.finished)
    report = compute(paper, only, terms, (lambda section: None) if args.json else show)
    write_text(out, report.html())
    if args.json:
        emit({**report.data(), "report": str(out)})
    else:
        say(f"report written to {out}")
    return 0


def named(name: str) -> Paper:
    if name not in PAPERS:
        raise BadSetting(f"no paper {name!r}{did_you_mean(name, PAPERS)}; papers: {', '.join(PAPERS)}")
    paper: Paper = importlib.import_module(f"nebel.papers.{name}").PAPER
    return paper


def show(section: Section) -> None:
    """A section's tables on the terminal."""
    from nebel.report.parts import Table

    say(f"\n{section.title}\n{section.lead}")
    for part in section.parts:
        if isinstance(part, Table):
            say(f"\n{part.title}")
            table(part.head, part.rows)
            if part.note:
                say(part.note)
