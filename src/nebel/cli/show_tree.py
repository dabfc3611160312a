"""`nebel show POLICY --against-best-response`: a strategy and its best response as a tree of play."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.cli.outputs import check_out
from nebel.cli.screen import emit, figure, say, stages
from nebel.core.errors import BadSetting, TooLarge

if TYPE_CHECKING:
    from nebel.judge.replies import Replies
    from nebel.judge.tree_of_play import LeftOut, Node
    from nebel.report.tree_picture import Branch

LEAST = 0.01
"""Branches that are reached less often are left out unless the user says otherwise."""
MOST_BOARDS = 3_000
"""Boards of one picture."""
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
        write_text(args.out, _drawn(start, player, args.out.suffix, _head(player, replies, game.string)))
    if args.json:
        emit(_facts(start, player, replies, game.string, args.out))
        return 0
    say(_head(player, replies, game.string))
    if args.out:
        say(f"wrote {args.out}: {sum(1 for _ in start.all()):,} boards")
    else:
        _tell(start)
    say(_foot(start))
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


def _foot(start: Node) -> str:
    out = start.all_left_out()
    if not out.branches:
        return f"nothing is left out; over all games shown the strategy gets {figure(start.gain)}"
    games = f"{out.games:,} games" if out.counted else f"more than {out.games:,} games, not all counted"
    total = f"; with them the strategy gets {figure(start.gain)}" if out.counted else ""
    return f"left out: {out.branches:,} branches with {games}, probability {figure(out.reach)}{total}"


def _move_text(node: Node) -> str:
    """A move by its name, and what its player saw of it; "" at the start."""
    if not node.by:
        return ""
    step = node.state.steps[-1]
    seen = step.seen[step.turn] if step.turn in (0, 1) else 0
    return f"{node.move} {node.state.game.name_of_sight(seen)}" if seen else node.move


def _result(node: Node) -> str:
    """How a game ended for the strategy: it wins, loses or draws, with the payoff where that is not 1."""
    score = node.score or 0.0
    word = "wins" if score > 0 else "loses" if score < 0 else "draws"
    return word if abs(score) in (0, 1) else f"{word} {figure(abs(score))}"


def _tell(start: Node) -> None:
    todo = [(start, 0)]
    while todo:
        node, depth = todo.pop()
        if depth:
            share = f" {figure(node.probability)}" if node.probability < 1 else ""
            end = f"  -> strategy {_result(node)}, reached with probability {figure(node.reach)}" if node.score is not None else ""
            say(f"{'  ' * (depth - 1)}{node.by} {_move_text(node)}{share}{end}")
        if node.left_out.branches:
            say(f"{'  ' * depth}... {_left_out_text(node.left_out)}")
        todo += [(then, depth + 1) for then in node.next[::-1]]


def _left_out_text(out: LeftOut) -> str:
    games = f"{out.games:,}" if out.counted else f"more than {out.games:,}"
    return f"{out.branches:,} left out, games {games}, probability {figure(out.reach)}"


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


def _drawn(start: Node, player: int, suffix: str, title: str) -> str:
    from nebel.report.tree_picture import LEGEND, tree_page, tree_picture

    boards = sum(1 for _ in start.all())
    if boards > MOST_BOARDS:
        limit = f"more than {MOST_BOARDS:,}; take a higher --least-probability or fewer --plies"
        raise TooLarge(f"the picture would have {boards:,} boards, {limit}")
    branch = _branch(start, player)
    return tree_page(branch, title, _foot(start)) if suffix == ".html" else tree_picture(branch, title, _foot(start), *LEGEND)


def _branch(start: Node, player: int) -> Branch:
    """The tree as boards: what the strategy's player sees, and faintly what is hidden."""
    from nebel.judge.tree_of_play import RESPONSE, STRATEGY
    from nebel.report.tree_picture import Branch, with_hidden

    made: dict[int, Branch] = {}
    for node in reversed(list(start.all())):
        label = _move_text(node) + (f" {node.probability:.3g}" if node.probability < 1 else "")
        caption = [f"{_result(node)}, {node.reach:.3g}" if node.score is not None else f"{node.reach:.3g}"]
        if node.left_out.branches:
            caption.append(f"+{node.left_out.branches} left out, {node.left_out.reach:.2g}")
        tone = "" if node.score is None else "good" if node.score > 0 else "bad" if node.score < 0 else "even"
        ink = {STRATEGY: "first", RESPONSE: "second"}.get(node.by, "third")
        picture = with_hidden(node.state.svg(player), node.state.svg("truth"))
        made[id(node)] = Branch(picture, label, ink, caption, tone, [made.pop(id(then)) for then in node.next])
    return made[id(start)]
