"""`nebel paper NAME`."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from nebel.cli.screen import emit, say, table
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.papers.paper import Paper
    from nebel.report.parts import Section

PAPERS = ("dark_hex", "cheat", "exit_oos", "geister_deep_cfr", "geister_dream")


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("paper", metavar="NAME", help=f"one of: {', '.join(PAPERS)}")
    parser.add_argument("--only", metavar="SECTIONS", help="these sections, with commas between (default: all)")
    parser.add_argument("--quick", action="store_true", help="shorter learning and fewer games; what is exact stays exact")
    parser.add_argument("--full", action="store_true", help="as much as the paper had, where that takes hours")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write the report, a single HTML file, here (default: NAME.html)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.papers.paper import Terms, chosen, compute

    paper = named(args.paper)
    only = [name.strip() for name in args.only.split(",")] if args.only else []
    chosen(paper, only)
    out = args.out or Path(f"{paper.name}.html")
    if out.is_dir():
        raise BadSetting(f"--out {out} is a folder; give the name of a file")
    if args.quick and args.full:
        raise BadSetting("--quick and --full contradict each other; give one of them, or none for the usual size")
    terms = Terms(args.quick, args.seed, lambda line: say(line, to_error=True), full=args.full)
    report = compute(paper, only, terms, (lambda section: None) if args.json else show)
    write(report.html(), out)
    if args.json:
        emit({**report.data(), "report": str(out)})
    else:
        say(f"report written to {out}")
    return 0


def named(name: str) -> Paper:
    if name not in PAPERS:
        raise BadSetting(f"no paper {name!r}; papers: {', '.join(PAPERS)}")
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


def write(html: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(html, encoding="utf-8")
    part.replace(path)
