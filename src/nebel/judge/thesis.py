"""The thesis's own program for judging Dark Hex strategies: neither a best response nor a bound.

Tapkan. Dark Hex: A Large Scale Imperfect Information Game. 2022. Its figures "against the abstract best response" come from this
program, best_response.py of github.com/BedirT/darkhex (27 May 2022), not from the formula for Ab-BR that it prints (`abstract.py`).

The program makes a graph of the responder's boards by walking the game against the strategy. It goes wrong in two places:

- A full state (both players' boards) is expanded once, with the probability of the way that came there first. All other ways that lead
  to it are left out of the probabilities of the ends below it.
- The value of an end is multiplied by its probability each time the end is visited, and it is visited once for each way through the graph.

The responder then plays, on each of its boards, the move of the largest sum of values as they stand at the end. The figure is what the
strategy wins against this responder, computed exactly: more than it guarantees, by an amount that the order of the moves decides. Values
that no visit changes any more (0, or of probability 1) are not visited again here, which gives the same figures in seconds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadSetting, TooLarge, UnknownInformationState
from nebel.core.game import BaseGame, Game
from nebel.core.interrupt import check
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.remember import MEMORY, remembering
from nebel.core.rule import kernel
from nebel.judge.belief_response import respond
from nebel.judge.patience import PATIENCE, News, Patience, quiet
from nebel.policy.hex_table import BOARD, TAKEN, board_key
from nebel.policy.table import Policy, TablePolicy
from nebel.policy.terrain import Terrain

MOST_STATES = 5_000_000
"""Full states that the program may expand: about a minute, and a gigabyte."""
WAITED = -1
"""What stands for the responder's move where it is the strategy's turn."""

Board = tuple[int, int]
"""The responder's own and discovered stones."""
Stage = tuple[int, int, int]
"""Of the strategy: own stones, discovered stones, and what it remembers (0 if it remembers the board)."""


class ByThesis(NamedTuple):
    """How often the policy wins as `player`: by the thesis's program, and at least (None if that was too much to compute)."""

    player: int
    wins: float
    exact: float | None


def by_thesis(game: BaseGame, policy: Policy, patience: int = PATIENCE, news: News = quiet) -> list[ByThesis]:
    """Return what the thesis's program says of each player that a policy has a table for, beside the exact guarantee.

    Raises `BadSetting` for what is not a table of classic silent Dark Hex, `TooLarge` where there are more than `MOST_STATES` full states.
    """
    if not isinstance(game, Game) or game.name != "dark_hex" or game.options["abrupt"] or game.options["leak"] != "silent":
        raise BadSetting(f"the thesis's program judges policies of classic silent Dark Hex, not of {game.string}")
    if not isinstance(policy, TablePolicy) or policy.recall not in (BOARD, PERFECT):
        raise BadSetting("the thesis's program judges tables of Dark Hex that remember the board or everything; this is neither")
    policy.check_game(game)
    allowed, found = Patience(patience, news), []
    for player in range(2):
        if len(policy.shares[player].keys):
            allowed.begin(f"running the thesis's program against player {player} on {game.string}")
            wins = _Program(game, policy, player).wins()
            allowed.begin(f"searching the best response to player {player} on {game.string}")
            found.append(ByThesis(player, wins, _exact(game, policy, player, allowed)))
    return found


def _exact(game: Game, policy: TablePolicy, player: int, allowed: Patience) -> float | None:
    if policy.recall == PERFECT:
        game, policy = remembering(game, (player,)), replace(policy, recall=MEMORY)
    try:
        return respond(game, policy, 1 - player, allowed).guarantee
    except TooLarge:
        return None


class _Node:
    """A board of the responder, or an end: by the responder's move, the nodes where it moves next and where it waits (or the end)."""

    __slots__ = ("children", "number", "reach", "value", "waits")

    def __init__(self, number: int, waits: bool, value: float = 0.0, reach: float = 0.0) -> None:
        self.number, self.waits, self.value, self.reach = number, waits, value, reach
        self.children: dict[int, list[_Node | None]] = {}


class _Program:
    def __init__(self, game: Game, policy: TablePolicy, player: int) -> None:
        self.game, self.table, self.player = game, policy, player
        rows, cols = game.options["rows"], game.options["cols"]
        self.cells, self.ordered = rows * cols, policy.recall == PERFECT
        self.mine, self.theirs = Terrain(rows, cols, player), Terrain(rows, cols, 1 - player)
        self.nodes: list[_Node] = []
        self.boards: dict[tuple[Board, bool], _Node] = {}
        self.expanded: set[tuple[Stage, Board]] = set()
        self.answers: dict[Stage, list[tuple[int, float, Stage, Stage]]] = {}

    def wins(self) -> float:
        """How often the strategy wins against the responder that the program finds."""
        start = (0, 0, int(blank_memory(self.player)) if self.ordered else 0)
        root = self.node((0, 0), waits=self.player == 0)
        self.expand(start, (0, 0), root, 1.0)
        self.weigh()
        self.best = {board: self.choice(node) for (board, waits), node in self.boards.items() if not waits}
        self.known: dict[tuple[Stage, Board], float] = {}
        return self.follow(start, (0, 0), self.player == 0)

    def plays(self, stage: Stage) -> list[tuple[int, float, Stage, Stage]]:
        """The strategy's moves: the cell, its probability, and the stages after a stone is placed, and after a collision."""
        found = self.answers.get(stage)
        if found is None:
            own, met, memory = stage
            key = memory if self.ordered else board_key(self.game, self.player, own, met)
            shares = self.table.lookup(self.player, key)
            free = [cell for cell in range(self.cells) if not (own | met) >> cell & 1]
            if shares is None:
                if self.table.missing == "error":
                    board = self.game.glance_text(BOARD, board_key(self.game, self.player, own, met))
                    raise UnknownInformationState(f"the policy lacks information states that it comes to, such as one at '{board}'")
                shares = dict.fromkeys(free, 1 / len(free))
            found = self.answers[stage] = []
            for cell, share in shares.items():
                if share:
                    placed, hit = self.remember(memory, cell, 0), self.remember(memory, cell, TAKEN)
                    found.append((cell, share, (own | 1 << cell, met, placed), (own, met | 1 << cell, hit)))
        return found

    def remember(self, memory: int, cell: int, seen: int) -> int:
        if not self.ordered:
            return 0
        with np.errstate(over="ignore"):
            return int(remember_sight(remember_move(np.int64(memory), cell), seen))

    def node(self, board: Board, waits: bool) -> _Node:
        found = self.boards.get((board, waits))
        if found is None:
            found = self.boards[board, waits] = _Node(len(self.nodes), waits)
            self.nodes.append(found)
        return found

    def to(self, parent: _Node, move: int, board: Board, waits: bool) -> _Node:
        """The node of a board, as one that the responder comes to from `parent` by its `move`."""
        after = self.node(board, waits)
        if after is not parent:  # after a collision of the strategy the responder waits on
            parent.children.setdefault(WAITED if parent.waits else move, [None, None])[waits] = after
        return after

    def end(self, parent: _Node, move: int, value: float, reach: float) -> None:
        """An end of the game: what came to it before counts, too."""
        pair = parent.children.setdefault(move, [None, None])
        found = pair[1]
        if found is None:
            found = pair[1] = _Node(len(self.nodes), True, value)
            self.nodes.append(found)
        found.reach += reach

    def expand(self, stage: Stage, board: Board, node: _Node, reach: float) -> None:
        """Walk the game from a full state, unless a walk came there before, whatever its probability was."""
        if (stage, board) in self.expanded:
            return
        check()
        self.expanded.add((stage, board))
        if len(self.expanded) > MOST_STATES:
            raise TooLarge(f"the thesis's program would expand more than {MOST_STATES:,} full states; blend the policy to board recall")
        own, met = board
        if node.waits:
            for cell, share, placed, hit in self.plays(stage):
                if own >> cell & 1:
                    self.expand(hit, board, node, reach * share)
                elif not self.mine.lacking(placed[0], placed[1]):
                    self.end(node, cell, -1.0, reach * share)
                else:
                    self.expand(placed, board, self.to(node, cell, board, waits=False), reach * share)
            return
        for cell in range(self.cells):
            if (own | met) >> cell & 1:
                continue
            if stage[0] >> cell & 1:
                found = (own, met | 1 << cell)
                self.expand(stage, found, self.to(node, cell, found, waits=False), reach)
            elif not self.theirs.lacking(own | 1 << cell, met):
                self.end(node, cell, 1.0, reach)
            else:
                found = (own | 1 << cell, met)
                self.expand(stage, found, self.to(node, cell, found, waits=True), reach)

    def weigh(self) -> None:
        """Compute the values of all nodes as the program's visits leave them."""
        first, child, group = [0], [], []
        for node in self.nodes:
            for move, pair in node.children.items():
                for after in pair:
                    if after is not None:
                        child.append(after.number)
                        group.append(move)
            first.append(len(child))
        waits = np.array([node.waits for node in self.nodes])
        value, reach = (np.array([getattr(node, name) for node in self.nodes]) for name in ("value", "reach"))
        links = [np.array(x, np.int64) for x in (first, child, group)]
        _visit(links[0], links[1], links[2], waits, value, reach, np.zeros(len(waits), np.bool_), 3 * self.cells)
        for node, worth in zip(self.nodes, value.tolist(), strict=True):
            node.value = worth

    def choice(self, node: _Node) -> int:
        """The move with the largest sum of values, the first of equals."""
        worth = {move: sum(after.value for after in pair if after) for move, pair in node.children.items()}
        return max(worth, key=lambda move: worth[move])

    def follow(self, stage: Stage, board: Board, waits: bool) -> float:
        """How often the strategy wins from a full state on, if the responder makes its choices."""
        known = self.known.get((stage, board))
        if known is not None:
            return known
        own, met = board
        wins = 0.0
        if waits:
            for cell, share, placed, hit in self.plays(stage):
                if own >> cell & 1:
                    wins += share * self.follow(hit, board, True)
                else:
                    wins += share * (self.follow(placed, board, False) if self.mine.lacking(placed[0], placed[1]) else 1.0)
        else:
            cell = self.best[board]
            if stage[0] >> cell & 1:
                wins = self.follow(stage, (own, met | 1 << cell), False)
            elif self.theirs.lacking(own | 1 << cell, met):
                wins = self.follow(stage, (own | 1 << cell, met), True)
        self.known[stage, board] = wins
        return wins


@kernel
def _visit(first: Any, child: Any, group: Any, waits: Any, value: Any, reach: Any, settled: Any, depth: int) -> None:
    """Visit the graph from node 0 depth first, once for each way through it. An end (without children) multiplies its value by its reach;
    a node that waits sums over all moves, and one that moves takes the largest sum of a move."""
    at, k = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    total, best, part, steady = np.zeros(depth), np.zeros(depth), np.zeros(depth), np.zeros(depth, np.bool_)
    d = 0
    at[0], k[0], total[0], best[0], part[0], steady[0] = 0, first[0], 0.0, -np.inf, 0.0, True
    while True:
        n = at[d]
        if k[d] < first[n + 1]:
            c = child[k[d]]
            if not settled[c]:
                if first[c] < first[c + 1]:
                    d += 1
                    at[d], k[d], total[d], best[d], part[d], steady[d] = c, first[c], 0.0, -np.inf, 0.0, True
                    continue
                before = value[c]
                value[c] = before * reach[c]
                settled[c] = before == value[c]
        else:
            value[n] = total[d] if waits[n] else best[d]
            settled[n] = steady[d]
            if d == 0:
                return
            c = n
            d -= 1
            n = at[d]
        part[d] += value[c]
        steady[d] = steady[d] and settled[c]
        k[d] += 1
        if k[d] == first[n + 1] or group[k[d]] != group[k[d] - 1]:
            total[d] += part[d]
            best[d] = max(best[d], part[d])
            part[d] = 0.0
