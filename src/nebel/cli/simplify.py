"""`nebel simplify POLICY --out FILE`: by SIP and SIP+, or with `--guarantee` by a search for what guarantees the most."""

from __future__ import annotations

import argparse
import contextlib
from math import isnan
from typing import TYPE_CHECKING, Any

from nebel.cli.flags import add_settings, given, whole
from nebel.cli.outputs import add_out, check_out, file_name
from nebel.cli.screen import emit, figure, progress_bar, say, table
from nebel.core.errors import BadSetting, TooLarge

if TYPE_CHECKING:
    from nebel.judge.exact import Judgement
    from nebel.policy.simplify import Simplify

STEPS = 100
"""Of a search by `--guarantee`."""


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    from nebel.policy.simplify import Simplify

    parser.add_argument("policy", metavar="POLICY", help="a policy file")
    parser.add_argument("--game", help="the game (a policy file knows its own)")
    add_out(parser, "write the simplified policy here", required=True)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_settings(parser, Simplify, "what to keep")
    search = parser.add_argument_group("the best simple policy")
    search.add_argument(
        "--guarantee",
        action="store_true",
        help="search for the policy of these --actions and --denominator that guarantees the most",
    )
    search.add_argument("--steps", type=whole, metavar="INT", help=f"steps of each climb of the search, at most (default: {STEPS})")
    search.add_argument("--certificate", type=file_name, metavar="FILE", help="write a certificate, which nebel verify checks (Dark Hex)")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load, load_named
    from nebel.judge.exact import judge
    from nebel.policy.io import holds_policy, load_table, policy_path, save_policy
    from nebel.policy.simplify import Simplify, simplify

    settings = Simplify(**given(args, Simplify))
    check_out(args.out, args.force, holds_policy)
    if args.guarantee:
        return _search(args, settings)
    if args.steps is not None or args.certificate:
        raise BadSetting("--steps and --certificate are for a search: add --guarantee")
    old = load_table(policy_path(args.policy))
    game = load(args.game) if args.game else load_named(old.game, args.policy)
    old.check_game(game)
    new = simplify(old, settings)
    verdicts: list[dict[str, Any] | None] = [None, None]
    with contextlib.suppress(TooLarge):  # no exact guarantee to compare
        verdicts = [_figures(judge(game, policy)) for policy in (old, new)]
    save_policy(new, args.out)
    done = new.facts["simplified"]
    facts: dict[str, Any] = {
        "game": game.string,
        **{name: done[name] for name in ("actions", "threshold", "denominator", "eta", "rescale", "changed", "snapped", "left")},
        "policy": str(args.out),
        "before": verdicts[0],
        "after": verdicts[1],
    }
    if args.json:
        emit(facts)
    else:
        _tell(facts, sum(len(shares.keys) for shares in new.shares))
    return 0


def _search(args: argparse.Namespace, settings: Simplify) -> int:
    """Find, judge and write the best simple policy."""
    from nebel.core.registry import load, load_named
    from nebel.judge.certificate import holds_certificate
    from nebel.judge.row_certificate import can_certify, certify_rows, write_rows
    from nebel.policy.io import load_table, policy_path, save_policy
    from nebel.policy.simple_rows import simplicity
    from nebel.policy.simplify import Simplify
    from nebel.solve.simple_maximin import simplest

    for name in ("threshold", "eta", "rescale"):
        if name in given(args, Simplify):
            raise BadSetting(f"--{name} is not for --guarantee, which searches among all policies of these --actions and --denominator")
    if settings.denominator is None:
        raise BadSetting("--guarantee needs --denominator: the largest denominator of the probabilities, for example --denominator 20")
    steps = STEPS if args.steps is None else args.steps
    if steps < 1:
        raise BadSetting(f"--steps {steps} is out of range: it must be at least 1")
    check_out(args.certificate, args.force, holds_certificate)
    old = load_table(policy_path(args.policy))
    game = load(args.game) if args.game else load_named(old.game, args.policy)
    old.check_game(game)
    if args.certificate and not can_certify(game, old.recall):
        raise BadSetting(
            f"--certificate is for classic silent Dark Hex with perfect or board recall, not for {game.string} by {old.recall}"
        )
    with progress_bar(args.json) as bar:
        found = simplest(game, old, settings.actions, settings.denominator, steps, bar)
    save_policy(found.policy, args.out)
    simple = simplicity(found.policy)
    facts: dict[str, Any] = {
        "game": game.string,
        "actions": settings.actions,
        "denominator": settings.denominator,
        "guarantees": list(found.guarantees),
        "bounds": list(found.bounds),
        "proved": list(found.proved),
        "largest_actions": [each.actions for each in simple],
        "largest_denominator": [each.denominator for each in simple],
        "before": _figures(found.before),
        "after": _figures(found.after),
        "policy": str(args.out),
        "certificate": None,
    }
    if args.certificate:
        certificate = certify_rows(game, found.policy, settings.actions, settings.denominator)
        write_rows(certificate, args.certificate)
        facts |= {"certificate": str(args.certificate), "certified": [str(promised) for promised in certificate.guarantees]}
    if args.json:
        emit(facts)
    else:
        _tell_search(facts)
    return 0


def _tell_search(facts: dict[str, Any]) -> None:
    say(f"{facts['game']}: at most {facts['actions']} moves and denominators up to {facts['denominator']}")
    before = facts["before"]["best_response"]
    rows = []
    for p in range(2):
        kind = "optimal, proved by the solver's bound" if facts["proved"][p] else "best found"
        figures = [figure(x + 0.0) for x in (-before[1 - p], facts["guarantees"][p], facts["bounds"][p])]
        most = f"{facts['largest_actions'][p]} moves, n = {facts['largest_denominator'][p]}"
        rows.append((f"player {p} gets at least", *figures, kind, most))
    table(("", "before", "after", "no more than", "", "largest row"), rows)
    if facts["after"]["wins"]:
        wins = facts["after"]["wins"]
        say(f"player 0 wins with probability {figure(wins[0])} at least, player 1 with {figure(wins[1])}")
    say(f"policy written to {facts['policy']}")
    if facts["certificate"]:
        say(f"certificate written to {facts['certificate']}; nebel verify checks it")


def _figures(judgement: Judgement) -> dict[str, Any]:
    verdict, wins = judgement.verdict, judgement.wins
    return {
        "exploitability": verdict.exploitability,
        "nash_conv": verdict.nash_conv,
        "best_response": list(verdict.best_response),
        "value": None if isnan(verdict.value) else verdict.value,
        "wins": None if wins is None else list(wins),
    }


def _tell(facts: dict[str, Any], states: int) -> None:
    say(f"{facts['game']}: {facts['changed']:,} of {states:,} information states changed")
    if facts["denominator"] is not None:
        say(f"{facts['snapped']:,} snapped to fractions, {facts['left']:,} not: no fractions within {facts['eta']:g}")
    before, after = facts["before"], facts["after"]
    if before is None:
        say("exploitability: not known, the game is too large to judge exactly")
    else:
        rows = [(name.replace("_", " "), before[name], after[name]) for name in ("exploitability", "nash_conv", "value")]
        rows += [(f"best response of player {p}", before["best_response"][p], after["best_response"][p]) for p in range(2)]
        if before["wins"] and after["wins"]:
            rows += [(f"player {p} wins at least", before["wins"][p], after["wins"][p]) for p in range(2)]
        table(("", "before", "after"), [(name, figure(x), figure(y)) for name, x, y in rows])
    say(f"policy written to {facts['policy']}")
