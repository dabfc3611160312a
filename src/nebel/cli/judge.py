"""`nebel judge POLICY`."""

from __future__ import annotations

import argparse
from math import isnan
from typing import TYPE_CHECKING

from nebel.cli.flags import value_of, whole
from nebel.cli.screen import emit, figure, say, stages
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.core.game import BaseGame
    from nebel.policy.table import Policy


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("policy", metavar="POLICY", help="a policy file, uniform, or an agent that thinks, such as oos:10k")
    parser.add_argument("--game", help="the game (a policy file knows its own)")
    how = (
        "exact (default); abstract, which is optimistic; learned: what a responder that learns wins, a lower bound; or thesis: the program "
        "of the Dark Hex thesis, which is not a best response"
    )
    parser.add_argument("--by", default="exact", choices=("exact", "abstract", "learned", "thesis"), help=how)
    how = "states to look at, at most, when histories are counted and when beliefs are searched (default: 1e10)"
    parser.add_argument("--patience", type=whole, metavar="STEPS", help=how)
    online = parser.add_argument_group("agents that think")
    how = "judge what they found in N matches against themselves (default: what they find in every information state)"
    online.add_argument("--aggregate", type=whole, metavar="N", help=how)
    online.add_argument("--seed", type=int, help="of chance, of the agent and of responders that learn (default: 1)")
    online.add_argument("--threads", type=whole, help="searches side by side (default: one a core); the result is the same")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    if value_of("--by", words) == "learned":
        from nebel.cli.judge_learned import add_learned

        add_learned(parser)


def run(args: argparse.Namespace) -> int:
    from nebel.cli.judge_online import judge_online
    from nebel.core.registry import load, load_named
    from nebel.judge.patience import PATIENCE
    from nebel.match.agents import THINKING
    from nebel.policy.adopt import Network, adopt, adopt_network
    from nebel.policy.io import read_policy
    from nebel.policy.table import MadePolicy, TablePolicy

    if args.patience is not None and args.patience < 1:
        raise BadSetting(f"--patience {args.patience} is out of range: it must be at least 1")
    if args.patience is not None and (args.by == "learned" or THINKING.fullmatch(args.policy)):
        raise BadSetting("--patience is for policies that are judged exactly, by the abstract best response or by the thesis's program")
    if args.by == "learned":
        from nebel.cli.judge_learned import judge_learned

        return judge_learned(args)
    if THINKING.fullmatch(args.policy):
        return judge_online(args)
    if any(x is not None for x in (args.aggregate, args.seed, args.threads)):
        raise BadSetting(f"--aggregate, --seed and --threads are for agents that think, such as oos:10k; {args.policy} is a policy")
    policy = read_policy(args.policy)
    if args.game:
        game = load(args.game)
    elif isinstance(policy, MadePolicy):
        game = load_named(policy.game, args.policy)
    else:
        raise BadSetting(f"{args.policy} fits any game; say which with --game")
    if isinstance(policy, TablePolicy):
        game, policy = adopt(game, policy)
    elif isinstance(policy, Network):
        game, policy = adopt_network(game, policy)
    patience = args.patience or PATIENCE
    if args.by == "abstract":
        return _abstract(game, policy, patience, args.json)
    if args.by == "thesis":
        from nebel.cli.judge_thesis import judge_thesis

        return judge_thesis(game, policy, patience, args.json)
    from nebel.judge.exact import judge

    with stages() as news:
        verdict, means, unknown, wins = judge(game, policy, patience=patience, news=news)
    value = None if isnan(verdict.value) else verdict.value
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
                "wins": None if wins is None else list(wins),
            }
        )
        return 0
    say(f"{game.string}, {policy.recall} recall, judged exactly against responders with perfect recall (by {means})")
    say(f"exploitability {figure(verdict.exploitability)} (NashConv {figure(verdict.nash_conv)})")
    say(f"value to player 0 {'not computed' if value is None else figure(value)}")
    for p in range(2):
        gain = "" if value is None else f", a gain of {figure(verdict.gains[p])}"
        say(f"best response of player {p} gets {figure(verdict.best_response[p])}{gain}")
    for p, least in enumerate(wins or ()):
        say(f"player {p} by this policy wins with probability {figure(least)} at least")
    if sum(unknown):
        where = "information states" if means == "tree" else "decisions"
        say(f"the policy knew nothing, and played uniformly, at {sum(unknown):,} {where}")
    return 0


def _abstract(game: BaseGame, policy: Policy, patience: int, as_json: bool) -> int:
    from nebel.judge.abstract import abstract

    with stages() as news:
        verdict, unknown = abstract(game, policy, patience, news)
    if as_json:
        emit(
            {
                "by": "abstract",
                "game": game.string,
                "optimistic": True,
                "exploitability": verdict.exploitability,
                "nash_conv": verdict.nash_conv,
                "best_response": list(verdict.best_response),
                "value": verdict.value,
                "gains": list(verdict.gains),
                "recall": policy.recall,
                "unknown": list(unknown),
            }
        )
        return 0
    say(f"{game.string}, {policy.recall} recall, against responders that remember the board only: optimistic, no guarantee")
    say(f"exploitability at least {figure(verdict.exploitability)} (NashConv {figure(verdict.nash_conv)})")
    say(f"value to player 0 {figure(verdict.value)}")
    for p in range(2):
        say(f"abstract best response of player {p} gets {figure(verdict.best_response[p])}, a gain of {figure(verdict.gains[p])}")
    if sum(unknown):
        say(f"the policy knew nothing, and played uniformly, at {sum(unknown):,} information states")
    return 0
