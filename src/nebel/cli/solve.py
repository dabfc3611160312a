"""`nebel solve GAME --with METHOD`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.cli.flags import add_settings, given, method_in
from nebel.cli.outputs import check_out
from nebel.cli.places import add_places, keep, overdue, places_of, refuse_changes, stoppable
from nebel.cli.screen import emit, figure, progress_bar, say
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.core.refinement import Refinement
    from nebel.judge.certificate import Certificate


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    from nebel.solve.curriculum import Curriculum
    from nebel.solve.run import Budget
    from nebel.solve.settings import METHODS, method_named

    parser.usage = "nebel solve GAME [--with METHOD] [options]"
    parser.add_argument("game", nargs="?", metavar="GAME", help="a game string, for example leduc or dark_hex:3x2")
    parser.add_argument("--with", dest="method", metavar="METHOD", help=f"{', '.join(METHODS)} (default: dcfr+)")
    parser.add_argument("--recall", help="perfect, or one of the game's glances (default: perfect)")
    parser.add_argument("--seed", type=int, help="the same seed gives the same result on one thread (default: 1)")
    parser.add_argument("--memory", type=float, metavar="GB", help="how much memory may be used (default: 4)")
    parser.add_argument("--pone", action="store_true", default=None, help="of classic Dark Hex: do not play out sure wins, only know them")
    add_places(parser, "policy", 10)
    add_settings(parser, Budget, "when to stop (whichever comes first; if no budget is given: 10 seconds, or exploitability 1e-6)")
    add_settings(parser, Curriculum, "from small games to large")
    method = method_named(method_in(words, "dcfr+"))
    add_settings(parser, METHODS[method], f"settings of {method}")


def run(args: argparse.Namespace) -> int:
    from nebel.judge.certificate import holds_certificate
    from nebel.solve.curriculum import Curriculum, Stage, solve_family
    from nebel.solve.drive import Result, solve
    from nebel.solve.run import Budget, Job, Progress
    from nebel.solve.settings import METHODS, DoubleOracleSettings, method_named
    from nebel.solve.size import Sizing

    places = places_of(args)
    folder, resume = places.folder, places.resume
    budget = Budget(**given(args, Budget))
    method = method_named(args.method or "dcfr+")
    choices = {name: value for name, value in _asked(args).items() if value is not None}
    settings, curriculum = given(args, METHODS[method]), given(args, Curriculum)
    METHODS[method](**settings)
    Curriculum(**curriculum)
    if curriculum and "curriculum" not in curriculum and not resume:
        raise BadSetting("--carry-regrets, --carry-average and --first-strategy are for a --curriculum, for example --curriculum hp=1..5")
    if args.memory is not None and not args.memory > 0:
        raise BadSetting(f"--memory {args.memory:g} is out of range: it must be greater than 0")
    if resume:
        job = refuse_changes(args, folder, {**_asked(args), "method": args.method and method, **settings, **curriculum})
    elif not args.game:
        raise BadSetting("which game? for example: nebel solve leduc --with dcfr+ (nebel games lists them)")
    else:
        job = Job(args.game, method, **choices, settings=settings, curriculum=curriculum or None)
    if issubclass(METHODS.get(job.method, object), DoubleOracleSettings):
        check_out(places.certificate, args.force, holds_certificate)
    stages: list[dict[str, Any]] = []

    def sized(sizing: Sizing, pace: float) -> None:
        cut = "with sure wins cut off, " if job.pone else ""
        say(cut + _size_report(job.method, sizing, pace, budget.iterations), to_error=True)

    known = "not judged yet"

    with progress_bar(args.json) as bar, stoppable("solve", places):

        def progress(news: Progress) -> None:
            nonlocal known
            if news.verdict:
                known = f"exploitability {news.verdict.exploitability:.3g} after {news.iterations:,}"
            bar(news.share, f"{news.iterations:,} iterations, {known}")

        def staged(stage: Stage, result: Result) -> None:
            stages.append(_stage_facts(stage.name, result))
            if not args.json:
                say(_stage_text(stages[-1]))

        def checked(refinement: Refinement) -> None:
            say(str(refinement), to_error=True)

        if job.curriculum:
            result = solve_family(job, budget, folder, resume, sized, progress, args.checkpoint_every, staged, places.out_name, checked)
        else:
            result = solve(job, budget, folder, resume, sized, progress, args.checkpoint_every, out=places.out_name, overdue=overdue)
    written = keep(result.policy, places)
    facts: dict[str, Any] = {
        "game": result.job.game,
        "method": result.job.method,
        "recall": result.job.recall,
        "iterations": result.iterations,
        "seconds": round(result.seconds, 6),
        "exploitability": result.verdict.exploitability if result.verdict else None,
        "nash_conv": result.verdict.nash_conv if result.verdict else None,
        "value": result.verdict.value if result.verdict else None,
        "policy": str(written) if written else None,
        "seed": result.job.seed,
        "settings": result.job.settings,
        "pone": result.job.pone,
        "sure_wins_left_out": result.policy.facts.get("sure_wins_left_out", 0),
        "histories": result.sizing.histories,
        "information_states": result.sizing.information_states,
        "bytes": result.sizing.bytes,
        "seconds_an_iteration": result.seconds / max(1, result.iterations),
    }
    if stages:
        facts |= {"curriculum": job.curriculum, "stages": stages}
    if result.certificate:
        facts |= _proof(result.certificate, places.certificate)
    if result.ended:
        facts["ended"] = result.ended
    if args.json:
        emit(facts)
    else:
        _tell(facts)
    return 0


def _proof(certificate: Certificate, path: Path | None) -> dict[str, Any]:
    """Return what a certificate shows, in winning probability, and write it to its file, if there is a place for it."""
    from nebel.judge.certificate import write_certificate

    if path:
        write_certificate(certificate, path)
    black, white = certificate.guarantees
    exact = str(certificate.value) if certificate.value is not None else None
    return {
        "certificate": str(path) if path else None,
        "guarantees": [str(black), str(white)],
        "bounds": [float(black), float(1 - white)],
        "exact": exact,
    }


def _stage_facts(name: str, result: Any) -> dict[str, Any]:
    return {
        "stage": name,
        "game": result.job.game,
        "iterations": result.iterations,
        "seconds": round(result.seconds, 6),
        "histories_met": getattr(result.solver, "nodes", None),
        "exploitability": result.verdict.exploitability if result.verdict else None,
    }


def _stage_text(facts: dict[str, Any]) -> str:
    known = "not judged" if facts["exploitability"] is None else f"exploitability {figure(facts['exploitability'])}"
    return f"{facts['stage']}: {facts['iterations']:,} iterations in {facts['seconds']:.2f} s, {known}"


def _asked(args: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in ("recall", "seed", "memory", "pone")}


def _size_report(method: str, sizing: Any, pace: float, iterations: int | None) -> str:
    time = f"{pace:.2g} s an iteration" + (f", about {pace * iterations:.2g} s in all" if iterations else "")
    if sizing.merged:
        return f"about {sizing.histories:.2g} histories merged into {sizing.merged:,} states, {sizing.bytes / 1e6:,.0f} MB; {time}"
    if method == "double-oracle":
        after = "then the certificate is written and checked, which takes a while on large boards"
        return f"about {sizing.histories:.2g} histories; pure strategies are grown from best responses until the bounds meet; {after}"
    if sizing.tree is None:
        return f"about {sizing.histories:.2g} histories: too large to enumerate or to judge exactly, so the rules are sampled; {time}"
    states = " + ".join(f"{n:,}" for n in sizing.information_states)
    return f"{int(sizing.histories):,} histories, {states} information states, {sizing.bytes / 1e6:,.1f} MB; {time}"


def _tell(facts: dict[str, Any]) -> None:
    pace = facts["seconds_an_iteration"]
    speed = f"{pace:.3g} s each" if pace >= 0.1 else f"{1 / pace:,.0f} a second" if pace else "-"
    say(f"{facts['game']}, {facts['method']}, {facts['recall']} recall")
    if "ended" in facts:
        say(f"the budget was not spent: {facts['ended']}")
    say(f"{facts['iterations']:,} iterations in {facts['seconds']:.2f} s ({speed})")
    if facts["exploitability"] is None:
        say("exploitability: not known while solving, for the tree is too large; nebel judge may find it by beliefs")
    else:
        say(f"exploitability {figure(facts['exploitability'])} (NashConv {figure(facts['nash_conv'])})")
        say(f"value to player 0 {figure(facts['value'])}")
    if facts["sure_wins_left_out"]:
        say(f"{facts['sure_wins_left_out']:,} sure wins found no room in the policy, which plays uniformly there; more --memory helps")
    if "certificate" in facts:
        low, high = facts["bounds"]
        exact = f"exactly {facts['exact']} = {low:.7f}" if facts["exact"] else f"between {low:.7f} and {high:.7f}"
        say(f"Black's winning probability is {exact}")
        if facts["certificate"]:
            say(f"certificate written to {facts['certificate']}; nebel verify checks it")
    if facts["policy"]:
        say(f"policy written to {facts['policy']}")
