"""`nebel check GAME`."""

from __future__ import annotations

import argparse

from nebel.cli.flags import whole
from nebel.cli.screen import emit, say
from nebel.core.errors import BadSetting


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("game", metavar="GAME", help="a game string, or path/to/file.py:factory")
    parser.add_argument("--steps", type=whole, default=20_000, help="states to look at in a game that is larger (default: 20000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random play in large games (default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.conform import conform
    from nebel.core.registry import load

    if args.steps < 1:
        raise BadSetting(f"--steps {args.steps} is out of range: it must be at least 1")
    report = conform(load(args.game), args.seed, args.steps)
    if args.json:
        checks = [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in report.checks]
        emit({"game": report.game, "ok": report.ok, "coverage": report.coverage, "findings": report.findings, "checks": checks})
        return 0 if report.ok else 1
    for check in report.checks:
        say(f"{'ok   ' if check.passed else 'WRONG'} {check.name}" + (f": {check.detail}" if check.detail else ""))
    say(f"\n{report.game}: {report.coverage}")
    if report.ok:
        say("conforms")
        return 0
    say(f"does not conform, {len(report.findings)} finding{'s' if len(report.findings) > 1 else ''}:")
    for finding in report.findings:
        say(f"- {finding}")
    return 1
