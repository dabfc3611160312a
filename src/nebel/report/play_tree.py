"""Trees of play as pictures: a strategy against its best response, board by board."""

from __future__ import annotations

from nebel.core.errors import TooLarge
from nebel.judge.tree_of_play import RESPONSE, STRATEGY, LeftOut, Node
from nebel.report.tree_picture import Branch, tree_page, tree_picture, with_hidden

MOST_BOARDS = 3_000
"""Boards of one picture."""


def number(x: float) -> str:
    """Return a number for people: few digits, and 0 for what rounding leaves of nothing."""
    return f"{0.0 if abs(x) < 1e-15 else x:.6g}"


def picture_of_play(start: Node, player: int, *lines: str) -> str:
    """Draw the tree as an SVG with lines of text above it; raises `TooLarge` if it has too many boards."""
    return tree_picture(_branch(start, player), *lines[:1], foot_of(start), *lines[1:])


def page_of_play(start: Node, player: int, title: str) -> str:
    """Draw the tree as a page; raises `TooLarge` if it has too many boards."""
    return tree_page(_branch(start, player), title, foot_of(start))


def foot_of(start: Node) -> str:
    """Say what is left out of the tree, and what the strategy gets over all games."""
    out = start.all_left_out()
    if not out.branches:
        return f"nothing is left out; over all games shown the strategy gets {number(start.gain)}"
    games = f"{out.games:,} games" if out.counted else f"more than {out.games:,} games, not all counted"
    total = f"; with them the strategy gets {number(start.gain)}" if out.counted else ""
    return f"left out: {out.branches:,} branches with {games}, probability {number(out.reach)}{total}"


def move_text(node: Node) -> str:
    """Name a move and what its player saw of it; "" at the start."""
    if not node.by:
        return ""
    step = node.state.steps[-1]
    seen = step.seen[step.turn] if step.turn in (0, 1) else 0
    return f"{node.move} {node.state.game.name_of_sight(seen)}" if seen else node.move


def result_of(node: Node) -> str:
    """Say how a game ended for the strategy: it wins, loses or draws, with the payoff where that is not 1."""
    score = node.score or 0.0
    word = "wins" if score > 0 else "loses" if score < 0 else "draws"
    return word if abs(score) in (0, 1) else f"{word} {number(abs(score))}"


def left_out_text(out: LeftOut) -> str:
    """Count the branches that are left out here."""
    games = f"{out.games:,}" if out.counted else f"more than {out.games:,}"
    return f"{out.branches:,} left out, games {games}, probability {number(out.reach)}"


def _branch(start: Node, player: int) -> Branch:
    """Return the tree as boards: what the strategy's player sees, and faintly what is hidden."""
    boards = sum(1 for _ in start.all())
    if boards > MOST_BOARDS:
        limit = f"more than {MOST_BOARDS:,}; take a higher --least-probability or fewer --plies"
        raise TooLarge(f"the picture would have {boards:,} boards, {limit}")
    made: dict[int, Branch] = {}
    for node in reversed(list(start.all())):
        label = move_text(node) + (f" {node.probability:.3g}" if node.probability < 1 else "")
        caption = [f"{result_of(node)}, {node.reach:.3g}" if node.score is not None else f"{node.reach:.3g}"]
        if node.left_out.branches:
            caption.append(f"+{node.left_out.branches} left out, {node.left_out.reach:.2g}")
        tone = "" if node.score is None else "good" if node.score > 0 else "bad" if node.score < 0 else "even"
        ink = {STRATEGY: "first", RESPONSE: "second"}.get(node.by, "third")
        picture = with_hidden(node.state.svg(player), node.state.svg("truth"))
        made[id(node)] = Branch(picture, label, ink, caption, tone, [made.pop(id(then)) for then in node.next])
    return made[id(start)]
