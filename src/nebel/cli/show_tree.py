"""`nebel show POLICY --against-best-response`: a strategy and its best response as a tree of play."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.cli.outputs import check_out
from nebel.cli.screen import emit, figure, say, stages
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.judge.replies import Replies
    from nebel.judge.tree_of_play import LeftOut, Node

LEAST = 0.01
"""Branches that are reached less often are left out unless the user says otherwise."""
MOST_PLIES = 200
PICTURES = (".svg", ".html")


def show_tree(args: argparse.Namespace) -> int:
    """Print, draw or emit the tree of play of `nebel show`."""
    from nebel.core.output import write_text
    from nebel.core.registry import load, load_named
    from nebel.judge.replies import best_replies
    from nebel.judge.tree_of_play import tree_of_play
    from nebel.policy.io import read_policy
    from nebel.policy.table import MadePolicy
    from nebel.report.play_tree import foot_of, page_of_play, picture_of_play
    from nebel.report.tree_picture import LEGEND

    _check(args)
    policy = read_policy(args.file.removeprefix("policy:"))
    if args.game:
        game = load(args.game)
    elif isinstance(policy, MadePolicy):
        game = load_named(policy.game, args.file)
    else:
        raise BadSetting(f"{args.file} fits any game; say which with --game")
    player = args.player
    if player is None and isinstance(policy, MadePolicy):
        player = policy.facts.get("player")
    if player not in (0, 1):
        raise BadSetting(f"{args.file} has a strategy for each player; say whose is to be answered: --player 0 or --player 1")
    with stages() as news:
        replies = best_replies(game, policy, 1 - player, news=news)
    least = LEAST if args.least_probability is None else args.least_probability
    start = tree_of_play(game, policy, player, replies, args.plies or MOST_PLIES, least)
    if args.out:
        title = _head(player, replies, game.string)
        drawn = page_of_play(start, player, title) if args.out.suffix == ".html" else picture_of_play(start, player, title, *LEGEND)
        write_text(args.out, drawn)
    if args.json:
        emit(_facts(start, player, replies, game.string, args.out))
        return 0
    say(_head(player, replies, game.string))
    if args.out:
        say(f"wrote {args.out}: {sum(1 for _ in start.all()):,} boards")
    else:
        _tell(start)
    say(foot_of(start))
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.state or args.after is not None or args.csv or args.limit is not None:
        raise BadSetting("--against-best-response shows the whole game; leave the information state, --after, --csv and --limit out")
    if args.plies is not None and not 1 <= args.plies <= MOST_PLIES:
        raise BadSetting(f"--plies {args.plies} is out of range: it must be at least 1 and at most {MOST_PLIES}")
    if args.least_probability is not None and not 0 <= args.least_probability <= 1:
        raise BadSetting(f"--least-probability {args.least_probability:g} is out of range: it must be at least 0 and at most 1")
    if args.out and args.out.suffix not in PICTURES:
        raise BadSetting(f"--out {args.out} must end in .svg or .html: the picture of the tree")
    check_out(args.out, args.force, _holds_tree)


def _holds_tree(path: Path) -> bool:
    """Return whether a file is a picture of a tree, which may be replaced by another one unasked."""
    from nebel.report.tree_picture import MADE

    try:
        return MADE in path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def _head(player: int, replies: Replies, game: str) -> str:
    wins = "" if replies.wins is None else f" and wins with probability {figure(replies.wins)}"
    return f"{game}: the strategy of player {player} gets {figure(-replies.value)}{wins} against player {1 - player}'s best response"





def _tell(start: Node) -> None:
    from nebel.report.play_tree import left_out_text, move_text, result_of

    todo = [(start, 0)]
    while todo:
        node, depth = todo.pop()
        if depth:
            share = f" {figure(node.probability)}" if node.probability < 1 else ""
            end = f"  -> strategy {result_of(node)}, reached with probability {figure(node.reach)}" if node.score is not None else ""
            say(f"{'  ' * (depth - 1)}{node.by} {move_text(node)}{share}{end}")
        if node.left_out.branches:
            say(f"{'  ' * depth}... {left_out_text(node.left_out)}")
        todo += [(then, depth + 1) for then in node.next[::-1]]



def _facts(start: Node, player: int, replies: Replies, game: str, out: Path | None) -> dict[str, Any]:
    return {
        "game": game,
        "player": player,
        "means": replies.means,
        "value": -replies.value,
        "wins": replies.wins,
        "sum_of_games": start.gain if start.all_left_out().counted else None,
        "left_out": _left_out_facts(start.all_left_out()),
        "picture": str(out) if out else None,
        "tree": _node_facts(start, player),
    }


def _left_out_facts(out: LeftOut) -> dict[str, Any]:
    return {"branches": out.branches, "games": out.games, "all_counted": out.counted, "probability": out.reach}


def _node_facts(start: Node, player: int) -> dict[str, Any]:
    """The tree as data: each node with its branches in `next`."""
    facts: dict[int, dict[str, Any]] = {}
    counted: dict[int, bool] = {}
    for node in reversed(list(start.all())):
        counted[id(node)] = node.left_out.counted and all(counted[id(then)] for then in node.next)
        facts[id(node)] = {
            "by": node.by or None,
            "move": node.move or None,
            "probability": node.probability,
            "reach": node.reach,
            "value": node.value if counted[id(node)] else None,
            "score": node.score,
            "seen": node.state.view(player),
            "truth": node.state.view("truth"),
            "left_out": _left_out_facts(node.left_out) if node.left_out.branches else None,
            "next": [facts.pop(id(then)) for then in node.next],
        }
    return facts[id(start)]
