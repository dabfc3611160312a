"""`nebel geister-solve VARIANT`: CFR+ on merged positions up to any limit, judged against an opponent who remembers everything."""

from __future__ import annotations

import argparse
import time
from typing import Any

from nebel.cli.flags import whole
from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import emit, progress_bar, say
from nebel.core.errors import BadSetting


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.epilog = "example: nebel geister-solve geister:x3y3g2b0 --iterations 200 --out ghosts.nebel"
    parser.add_argument("game", metavar="GAME", help="a small variant, such as geister:x3y3g2b0 or geister:x3y3g2b0(limit=20)")
    parser.add_argument("--iterations", type=whole, default=200, help="of CFR+ (default: 200)")
    add_out(parser, "write the policy here")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.geister.variants import judged, layers_of, policy_of
    from nebel.policy.io import holds_policy, save_policy

    check_out(args.out, args.force, holds_policy)
    game = load(args.game)
    if args.iterations < 1:
        raise BadSetting(f"--iterations {args.iterations}: there is at least 1")
    layers = layers_of(game)
    p = layers.positions
    say(f"{game.string}: {len(p.positions):,} positions, {len(p.place) - 1:,} views, {layers.limit} plies", to_error=True)
    begun = time.perf_counter()
    with progress_bar(args.json) as tick:
        for i in range(args.iterations):
            layers.iterate()
            tick((i + 1) / args.iterations, f"{i + 1:,} iterations")
    seconds = time.perf_counter() - begun
    found = judged(layers)
    low, high = found.exploitability
    facts: dict[str, Any] = {"method": "cfr+ on merged positions", "iterations": args.iterations}
    if args.out:
        save_policy(policy_of(game, layers, found.share, facts), args.out)
    endings = {name: shares.tolist() for name, shares in found.endings.items()}
    if args.json:
        emit(
            {
                "game": game.string, "method": "cfr+", "recall": "clock", "iterations": args.iterations, "seconds": seconds,
                "positions": len(p.positions), "value": found.value, "exploitability": low, "exploitability_at_most": high,
                "best_response": [list(bounds) for bounds in found.responses], "endings": endings, "policy": args.out and str(args.out),
            }
        )  # fmt: skip
        return 0
    say(f"{args.iterations:,} iterations in {seconds:.1f} s; the value of the strategy to player 0 is {found.value:+.5f}")
    say(f"exploitability {low:.5f} to {high:.5f}, against responders who remember everything")
    for seat, bounds in enumerate(found.responses):
        say(f"best response of player {seat} gets {bounds.low:.5f} to {bounds.high:.5f}")
    say("games end by " + "; ".join(f"{name} {' and '.join(f'{100 * x:.1f} %' for x in shares)}" for name, shares in endings.items()))
    say("(of wins: by player 0 and by player 1; blue first: how often player 0 first moves a blue ghost)")
    if args.out:
        say(f"policy written to {args.out}")
    return 0
