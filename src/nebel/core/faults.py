"""What is wrong with a tree: the numbers by which compiled code reports it, and the sentences for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebel.core.calls import after, endless, located, shown, word
from nebel.core.errors import BadRules
from nebel.core.game import CHANCE, BaseGame, Game
from nebel.core.layout import miscounted, uneven

if TYPE_CHECKING:
    from nebel.core.tree import Nodes

FINE, TOO_DEEP, MOVES_DIFFER, GLANCE_DIFFERS, BAD_TURN, BAD_COUNT, BAD_OPTION, BAD_ODDS, BAD_SCORE, BAD_SIGHT, NO_ROOM = range(11)


def misplayed(game: Game, fault: int, way: list[int], count: int) -> BadRules:
    """The error of a game in which counting stopped after these options."""
    state, steps = game.start(), list[tuple[int, int]]()
    for option in way:
        steps.append((state.turn, option))
        state.push(option)
    turn = state.turn  # which raises an error in words where it is none of a player, chance or the end
    what = endless(len(way), declared=True) if fault == TOO_DEEP else BadRules(miscounted(game, count, turn))
    return located(game, what, steps)


def misindexed(game: Game, way: list[int]) -> BadRules:
    """The error of a game in which a rule left an array after these options, or after the first of them."""
    state, steps = game.start(), list[tuple[int, int]]()
    try:
        for option in way:
            state.options()
            steps.append((state.turn, option))
            state.push(option)
        _ = state.score(), state.options(), state.odds()
    except BadRules as error:  # plain rules say which one it is
        return located(game, error, steps)
    return located(game, BadRules("a rule reads or writes outside an array"), steps)


def misgrown(game: Game, recall: str, nodes: Nodes, sights: Any, fault: int, here: int, there: int) -> BadRules:
    """The error of a game whose tree has a fault at the history `here`; `there` is another, of the same information state."""
    children = slice(nodes.first[here], nodes.first[here] + nodes.breadth[here])
    options, odds = nodes.option[children].tolist(), nodes.odds[children].tolist()
    if fault == BAD_OPTION:
        kind = "outcomes" if nodes.turn[here] == CHANCE else "actions"
        limit = getattr(game, kind)
        what = f"moves() offers {shown(options)}, yet {kind}={limit} allows 0 to {limit - 1} only, each once"
    elif fault == BAD_ODDS:
        what = uneven(odds, len(options)) or f"odds() gives {shown(odds)}"
    elif fault == BAD_SCORE:
        what = f"score() is {nodes.score[here]}; it must be a finite number"
    elif fault == BAD_SIGHT:
        what = f"play() reports {sights[:, here].tolist()} as seen; a sight is a positive integer, or 0 for nothing"
    else:
        return BadRules(complaint(game, recall, nodes, fault, here, there))
    return BadRules(f"{game.string}: {after(_way(game, nodes, here))}: {what}")


def complaint(game: BaseGame, recall: str, nodes: Nodes, fault: int, here: int, there: int) -> str:
    """What is wrong with two histories of one information state."""

    def line(node: int) -> str:
        return " ".join(_way(game, nodes, node)) or "the start"

    who = int(nodes.turn[here])
    pair = f"after '{line(there)}' and after '{line(here)}', player {who} cannot tell the two states apart, yet"
    if fault == MOVES_DIFFER:
        return f"{pair} the legal moves differ"
    return f"{pair} the glance {recall!r} differs: a glance must not show more than was seen"


def _way(game: BaseGame, nodes: Nodes, node: int) -> list[str]:
    """The names of the moves that lead to a history."""
    names: list[str] = []
    while node > 0:
        parent = int(nodes.parent[node])
        names.append(word(game, int(nodes.turn[parent]), int(nodes.option[node])))
        node = parent
    return names[::-1]
