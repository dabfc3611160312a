"""Trees of a strategy of Dark Hex against its abstract best response: Figs. 3.10, 3.11, 3.16 to 3.18 and 4.6 to 4.11 of the thesis."""

from __future__ import annotations

from nebel.core.game import Game
from nebel.core.state import State
from nebel.judge.abstract import abstract_responses
from nebel.papers.dark_hex_study import PLAYERS
from nebel.policy.table import Policy
from nebel.report.boards import share_text
from nebel.report.parts import Figure
from nebel.report.trees import Branch, tree

ROWS = 40
"""Ways to end that a picture shows at most: the likeliest."""


def grown(state: State, policy: Policy, least: float, reach: float = 1.0) -> list[Branch]:
    """Return what can happen from here when both sides follow the policy, without what is less likely than `least`."""
    branches = []
    player, shares = state.turn, policy.probabilities(state)
    for cell, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        if share <= 0.0 or share * reach < least:
            continue
        after = state.copy().push(cell)
        end = f"{PLAYERS[0 if (after.score() or 0.0) > 0 else 1]} {share_text(share * reach)}" if after.over else ""
        below = [] if after.over else grown(after, policy, least, share * reach)
        taken = not after.over and after.turn == player
        if end or below:
            branches.append(Branch(player, state.name(cell), taken, share, end, below))
    return branches


def ends(branches: list[Branch], reach: float = 1.0) -> list[tuple[str, float]]:
    """Return who wins and how likely it is, for each way to end."""
    found = []
    for branch in branches:
        here = reach * branch.share
        found += [(branch.end.split()[0], here)] if branch.end else ends(list(branch.branches), here)
    return found


def against_response(game: Game, title: str, policy: Policy, player: int) -> Figure:
    """Draw the side of `player` against the abstract best response of the opponent, as far as there is room."""
    both = abstract_responses(game, policy)[1 - player]
    likely = sorted((share for _, share in ends(grown(game.start(), both, 0.0005))), reverse=True)
    left_out = likely[ROWS] if len(likely) > ROWS else 0.0
    least = min((share for share in likely if share > left_out * (1 + 1e-9)), default=left_out)
    branches = grown(game.start(), both, least * (1 - 1e-9))
    found = ends(branches)
    won = sum(share for winner, share in found if winner == PLAYERS[player])
    note = (
        f"Stones of Black and White as they are tried, dashed where the cell is taken; the probability of a move before it, and of each "
        f"way to end behind it. Shown are {len(found)} ways with a probability of {sum(share for _, share in found):.3f} in all, of which "
        f"{PLAYERS[player]} wins {won:.3f}. {PLAYERS[1 - player]} plays the abstract best response."
    )
    return Figure(title, [("", tree(title, branches))], note)
