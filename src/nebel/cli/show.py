"""`nebel show FILE [INFORMATION STATE]`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nebel.cli.flags import whole
from nebel.cli.outputs import add_out
from nebel.cli.screen import emit, say, table
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.policy.listing import Row


LISTED = 20
"""Information states that are listed unless the user says otherwise."""


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.usage = "nebel show FILE [INFORMATION STATE] [options]"
    parser.epilog = (
        "An information state is what the player did and saw, in words, as `nebel show FILE` lists them (- is the empty one); "
        "with a recall other than perfect, the glance. example: nebel show kuhn.nebel 'K (bet)'"
    )
    parser.add_argument("file", metavar="FILE", help="a policy file")
    parser.add_argument("state", nargs="*", default=[], metavar="INFORMATION STATE", help="what the player did and saw")
    parser.add_argument("--game", help="the game (a policy file knows its own)")
    parser.add_argument("--after", metavar="MOVES", help="instead: all moves from the start, chance's too")
    parser.add_argument("--player", type=int, choices=(0, 1), help="only this player's; the player whose strategy is answered")
    parser.add_argument("--limit", type=whole, help="information states to list (default: 20)")
    parser.add_argument("--csv", action="store_true", help="all information states as CSV on standard output, for `nebel import`")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_out(parser, "with --against-best-response: a picture of the tree, with boards; FILE ends in .svg or .html")
    tree = parser.add_argument_group("a tree of play", "FILE may then be a network, or uniform with --game")
    how = "one player's strategy against its exact best response: every game that can follow, with probabilities"
    tree.add_argument("--against-best-response", action="store_true", help=how)
    tree.add_argument("--plies", type=whole, help="depth of the tree in moves, chance's too (default: whole games)")
    how = "branches that are reached less often are left out, and counted (default: 0.01)"
    tree.add_argument("--least-probability", type=float, metavar="P", help=how)


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load, load_named
    from nebel.policy.io import load_table
    from nebel.policy.listing import at, every, listed, matching

    if args.against_best_response:
        from nebel.cli.show_tree import show_tree

        return show_tree(args)
    if args.out or args.force or args.plies is not None or args.least_probability is not None:
        raise BadSetting("--out, --force, --plies and --least-probability go with --against-best-response")
    if args.limit is not None and args.limit < 1:
        raise BadSetting(f"--limit {args.limit} is out of range: it must be at least 1")
    policy = load_table(args.file.removeprefix("policy:"))
    game = load(args.game) if args.game else load_named(policy.game, args.file)
    policy.check_game(game)
    players = (args.player,) if args.player is not None else (0, 1)
    asked = " ".join(args.state)
    if args.csv:
        if args.json or asked or args.after is not None or args.limit is not None:
            raise BadSetting("--csv writes all information states; leave --json, --after, --limit and the information state out")
        _write_csv(every(policy, game, players))
        return 0
    if args.after is not None:
        rows = [at(policy, game.start().play(args.after))]
    elif asked:
        rows = list(matching(policy, game, asked, players))
    else:
        rows = listed(policy, game, players, args.limit or LISTED)
    if args.json:
        shown = [{"player": r.player, "information_state": r.text, "moves": r.moves} for r in rows]
        counts = [len(policy.shares[p].keys) for p in range(2)]
        emit({"game": policy.game, "recall": policy.recall, **policy.facts, "information_states": counts, "shown": shown})
        return 0
    if asked or args.after is not None:
        for row in rows:
            _draw(row)
        return 0
    facts = ", ".join(f"{k} {v}" for k, v in policy.facts.items() if k != "settings")
    say(f"{policy.game}, {policy.recall} recall, {facts}")
    counts_text = " + ".join(f"{len(policy.shares[p].keys):,}" for p in range(2))
    say(f"{counts_text} information states; the first {len(rows)}:\n")
    table(("player", "information state", "moves"), [(str(r.player), r.text, _moves_text(r.moves)) for r in rows])
    return 0


def _write_csv(rows: Iterable[Row]) -> None:
    """Write a line a move, each share with all its digits."""
    import csv
    import io

    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("player", "state", "move", "share"))
    for row in rows:
        lines.writerows((row.player, row.text, move, repr(share)) for move, share in row.moves.items())
    say(text.getvalue().removesuffix("\n"))


def _moves_text(moves: dict[str, float]) -> str:
    return "  ".join(f"{name} {share:.4f}" for name, share in moves.items())


def _draw(row: Row) -> None:
    say(f"player {row.player}, {row.text}")
    if row.state is not None:
        say(row.state.view(row.player))
    width = max(len(name) for name in row.moves)
    for name, share in row.moves.items():
        say(f"  {name:{width}}  {share:.4f}  {'█' * round(40 * share)}")
    say()
