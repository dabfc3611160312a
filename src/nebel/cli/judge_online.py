"""`nebel judge oos:10k --game GAME`: agents that think at the board."""

from __future__ import annotations

import argparse
import os

from nebel.cli.screen import emit, figure, progress_bar, say
from nebel.core.errors import BadSetting
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.match.agents import load_game, read
from nebel.match.stitch import aggregate, choices, stitch
from nebel.match.thinkers import Thinker


def judge_online(args: argparse.Namespace) -> int:
    agent = read(args.policy)
    if not isinstance(agent, Thinker):
        raise BadSetting(f"{agent.name} cannot be judged: judge takes policies and searches, nebel match any agent")
    if args.by != "exact":
        raise BadSetting(f"--by {args.by} is for policies; {agent.name} is judged exactly")
    if args.aggregate is not None and args.aggregate < 1:
        raise BadSetting(f"--aggregate {args.aggregate} is out of range: it must be at least 1")
    if args.threads is not None and args.threads < 1:
        raise BadSetting(f"--threads {args.threads} is out of range: it must be at least 1")
    game = agent.join(load_game(args.game, [agent]))
    tree = grow(game)
    matches, seed, threads = args.aggregate, 1 if args.seed is None else args.seed, args.threads or os.cpu_count() or 1
    jobs, done = matches or len(choices(tree)), 0
    with progress_bar(args.json) as show:

        def tick(count: int) -> None:
            nonlocal done
            done += count
            show(done / jobs, f"{done:,} of {jobs:,} {'matches' if matches else 'information states'}")

        stitched = aggregate(tree, agent, matches, seed, threads, tick) if matches else stitch(tree, agent, seed, threads, tick)
    verdict = Judge(tree).verdict(stitched.strategies)
    if args.json:
        emit(
            {
                "by": args.by,
                "game": game.string,
                "agent": agent.name,
                "exploitability": verdict.exploitability,
                "nash_conv": verdict.nash_conv,
                "best_response": list(verdict.best_response),
                "value": verdict.value,
                "gains": list(verdict.gains),
                "recall": tree.recall,
                "means": "aggregate" if matches else "stitching",
                "matches": matches,
                "seed": seed,
                "unknown": list(stitched.unknown),
            }
        )
        return 0
    how = (
        f"the aggregate of {matches:,} matches against itself, uniform elsewhere" if matches
        else f"full stitching: it thought afresh in each of {jobs:,} information states"
    )  # fmt: skip
    say(f"{game.string}, {agent.name}, judged exactly by {how} (seed {seed})")
    say(f"exploitability {figure(verdict.exploitability)} (NashConv {figure(verdict.nash_conv)})")
    say(f"value to player 0 {figure(verdict.value)}")
    for p in range(2):
        say(f"best response of player {p} gets {figure(verdict.best_response[p])}, a gain of {figure(verdict.gains[p])}")
    if sum(stitched.unknown):
        say(f"in {sum(stitched.unknown):,} information states no search had ever been")
    return 0
