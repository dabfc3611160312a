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
    parser.add_argument("--curriculum", metavar="OPTION=FIRST..LAST", help="a family to check instead, as in nebel solve, by every recall")
    parser.add_argument("--recall", help="the recall by which a family is checked (default: perfect and all glances)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.conform import conform
    from nebel.core.registry import load

    if args.steps < 1:
        raise BadSetting(f"--steps {args.steps} is out of range: it must be at least 1")
    if args.curriculum:
        return _check_family(args)
    if args.recall:
        raise BadSetting("--recall is for a family, for example --curriculum hp=1..3")
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


def _check_family(args: argparse.Namespace) -> int:
    """Check by each recall that every game of a family refines the one before it."""
    from nebel.core.recall import PERFECT
    from nebel.core.registry import load
    from nebel.core.state import resolve_recall
    from nebel.solve.curriculum import check_family, stages

    game = load(args.game)
    family = stages(game, args.curriculum)
    recalls = [resolve_recall(game, args.recall)] if args.recall else [PERFECT, *game.glances]
    checks: list[dict[str, object]] = []
    for recall in recalls:
        try:
            said = [str(refinement) for refinement in check_family(family, recall, args.steps, args.seed)]
            checks.append({"recall": recall, "passed": True, "detail": "; ".join(said)})
        except BadSetting as error:
            checks.append({"recall": recall, "passed": False, "detail": str(error)})
    ok = all(check["passed"] for check in checks)
    if args.json:
        emit({"game": game.string, "curriculum": args.curriculum, "ok": ok, "checks": checks})
        return 0 if ok else 1
    for check in checks:
        say(f"{'ok   ' if check['passed'] else 'WRONG'} {check['recall']}: {check['detail']}")
    return 0 if ok else 1
