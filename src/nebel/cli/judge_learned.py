"""`nebel judge AGENT --by learned`: what somebody who learns to respond wins at least."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from nebel.cli.flags import add_settings, given
from nebel.cli.screen import emit, figure, progress_bar, say
from nebel.core.errors import BadSetting
from nebel.learn.respond import ResponseSettings

KINDS = {"learned": ResponseSettings}
"""Settings by what judges."""


def add_learned(parser: argparse.ArgumentParser) -> None:
    how = "what responders are told (default: everything, or in large games the most that the game puts into numbers)"
    parser.add_argument("--recall", help=how)
    add_settings(parser, ResponseSettings, "responders that learn")


def judge_learned(args: argparse.Namespace) -> int:
    from nebel.learn.respond import respond
    from nebel.match.agents import load_game, read
    from nebel.search.target import in_rules

    if args.aggregate is not None or args.threads is not None:
        raise BadSetting("--aggregate and --threads are for agents that think, judged exactly")
    settings, seed = ResponseSettings(**given(args, ResponseSettings)), 1 if args.seed is None else args.seed
    agent = read(args.policy)
    game = in_rules(agent.join(load_game(args.game, [agent])))
    with progress_bar(args.json) as bar:
        found = respond(game, agent, settings, seed, args.recall, bar)
    total, half = sum(each.mean for each in found), (found[0].half ** 2 + found[1].half ** 2) ** 0.5
    least = max(0.0, total)
    if args.json:
        emit(
            {
                "by": "learned",
                "game": game.string,
                "agent": agent.name,
                "lower_bound": True,
                "exploitability": least / 2,
                "nash_conv": least,
                "interval": [max(0.0, (total - half) / 2), max(0.0, (total + half) / 2)],
                "best_response": [each.mean for each in found],
                "best_response_intervals": [[each.mean - each.half, each.mean + each.half] for each in found],
                "games": [each.games for each in found],
                "chosen": [each.chosen for each in found],
                "value": None,
                "seed": seed,
                "settings": asdict(settings),
            }
        )
        return 0
    say(f"{game.string}, {agent.name}, against responders that learn: a lower bound, others may win more")
    low, high = (figure(max(0.0, (total + sign * half) / 2)) for sign in (-1, 1))
    say(f"exploitability at least {figure(least / 2)}, 95 % interval {low} to {high}")
    for p, each in enumerate(found):
        say(f"the responder in seat {p} ({each.chosen}) gets {each.mean:+.4f} ± {each.half:.4f} over {each.games:,} games")
    return 0
