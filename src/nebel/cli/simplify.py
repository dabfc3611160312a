"""`nebel simplify POLICY --out FILE`."""

from __future__ import annotations

import argparse
import contextlib
from math import isnan
from typing import TYPE_CHECKING, Any

from nebel.cli.flags import add_settings, given
from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import emit, figure, say, table
from nebel.core.errors import TooLarge

if TYPE_CHECKING:
    from nebel.judge.exact import Judgement


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    from nebel.policy.simplify import Simplify

    parser.add_argument("policy", metavar="POLICY", help="a policy file")
    parser.add_argument("--game", help="the game (a policy file knows its own)")
    add_out(parser, "write the simplified policy here", required=True)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_settings(parser, Simplify, "what to keep")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load, load_named
    from nebel.judge.exact import judge
    from nebel.policy.io import holds_policy, load_table, save_policy
    from nebel.policy.simplify import Simplify, simplify

    settings = Simplify(**given(args, Simplify))
    check_out(args.out, args.force, holds_policy)
    old = load_table(args.policy.removeprefix("policy:"))
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
