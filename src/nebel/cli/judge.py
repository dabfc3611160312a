"""`nebel judge POLICY`."""

from __future__ import annotations

import argparse

from nebel.cli.screen import emit, figure, say
from nebel.core.errors import BadSetting


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("policy", metavar="POLICY", help="a policy file, or uniform")
    parser.add_argument("--game", help="the game (a policy file knows its own)")
    parser.add_argument("--by", default="exact", choices=("exact",), help="how to judge (default: exact)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.judge.exact import judge
    from nebel.policy.io import read_policy
    from nebel.policy.table import TablePolicy

    policy = read_policy(args.policy)
    name = args.game or (policy.game if isinstance(policy, TablePolicy) else None)
    if name is None:
        raise BadSetting(f"{args.policy} fits any game; say which with --game")
    game = load(name)
    verdict, means, unknown = judge(game, policy)
    value = None if means == "beliefs" else verdict.value
    if args.json:
        emit(
            {
                "by": args.by,
                "game": game.string,
                "exploitability": verdict.exploitability,
                "nash_conv": verdict.nash_conv,
                "best_response": list(verdict.best_response),
                "value": value,
                "gains": None if value is None else list(verdict.gains),
                "recall": policy.recall,
                "means": means,
                "unknown": list(unknown),
            }
        )
        return 0
    say(f"{game.string}, {policy.recall} recall, judged exactly against responders with perfect recall (by {means})")
    say(f"exploitability {figure(verdict.exploitability)} (NashConv {figure(verdict.nash_conv)})")
    say(f"value to player 0 {'not computed' if value is None else figure(value)}")
    for p in range(2):
        gain = "" if value is None else f", a gain of {figure(verdict.gains[p])}"
        say(f"best response of player {p} gets {figure(verdict.best_response[p])}{gain}")
    if sum(unknown):
        where = "information states" if means == "tree" else "decisions"
        say(f"the policy knew nothing, and played uniformly, at {sum(unknown):,} {where}")
    return 0
