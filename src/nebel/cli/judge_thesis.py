"""`nebel judge POLICY --by thesis`: the figures of the Dark Hex thesis, which are not those of a best response."""

from __future__ import annotations

from nebel.cli.screen import emit, figure, say, stages
from nebel.core.game import BaseGame
from nebel.policy.table import Policy


def judge_thesis(game: BaseGame, policy: Policy, patience: int, as_json: bool) -> int:
    from nebel.judge.thesis import by_thesis

    with stages() as news:
        found = by_thesis(game, policy, patience, news)
    if as_json:
        judged = [{"player": each.player, "wins": each.wins, "exact": each.exact} for each in found]
        emit({"by": "thesis", "game": game.string, "recall": policy.recall, "best_response": False, "bound": False, "judged": judged})
        return 0
    say(f"{game.string}, {policy.recall} recall, by the thesis's program: its responder is not a best response, its figures are not bounds")
    for each in found:
        exact = "not computed; allow more (--patience)" if each.exact is None else figure(each.exact)
        say(f"player {each.player} wins {each.wins:.6f} against the thesis's responder; what it guarantees (exact): {exact}")
    return 0
