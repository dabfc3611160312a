"""`nebel strategy FILE`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import emit, figure, say
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.policy.strategy import Answer, Gap, Strategy

LISTED = 10


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.epilog = (
        "FILE is a Dark Hex strategy in notation (docs/notation.md), or the name of one that comes with nebel, such as s2. "
        "The exit code is 1 if it leaves information states unanswered."
    )
    parser.add_argument("file", metavar="FILE", help="a strategy file, or a name")
    parser.add_argument("--check", action="store_true", help="draw the boards that are unanswered or answered in two ways")
    parser.add_argument("--guarantee", action="store_true", help="how often it wins at least: an exact best response, for small strategies")
    add_out(parser, "write the policy here")
    parser.add_argument("--recall", choices=("board", "perfect"), help="what the policy remembers (default: board if that suffices)")
    parser.add_argument("--blend", action="store_true", help="board recall: average answers that differ by the order of moves")
    how = "with an initial board: what the policy plays where that does not lead (default: nothing)"
    parser.add_argument("--before", choices=("uniform",), help=how)
    parser.add_argument("--print", action="store_true", help="print the strategy back, without its comments")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.policy.io import holds_policy, save_policy
    from nebel.policy.strategy import read_strategy
    from nebel.policy.syntax import file_text

    check_out(args.out, args.force, holds_policy)
    strategy = read_strategy(args.file)
    if args.before and not strategy.text.board:
        raise BadSetting(f"--before is for strategies from an initial board; {args.file} has no line 'board:'")
    if args.before and not args.out:
        raise BadSetting("--before is of the policy that --out writes; give --out, or leave --before out")
    if args.out:
        before = args.before or ""
        recall = args.recall or ("perfect" if strategy.disputed and not args.blend else "board")
        policy = strategy.policy_with_memory(before) if recall == "perfect" else strategy.policy(args.blend, before)
        save_policy(policy, args.out)
    wins = None
    if args.guarantee:
        from nebel.judge.guarantee import guarantee

        wins = guarantee(strategy).wins
    if args.json:
        emit(_facts(strategy, args.out) | {"guarantee": wins} | ({"text": file_text(strategy.text)} if args.print else {}))
    elif args.print:
        say(file_text(strategy.text).rstrip())
    else:
        _tell(strategy, args.check)
        if wins is not None:
            start = f"from {strategy.text.board} it " if strategy.text.board else ""
            say(f"{start}wins with probability {figure(wins)} or more, whatever the opponent does")
        if args.out:
            rows = len(policy.shares[strategy.player].keys)
            say(f"wrote {args.out}: {rows:,} information states, {policy.recall} recall")
    return 1 if strategy.gaps else 0


def _facts(strategy: Strategy, out: Path | None) -> dict[str, Any]:
    def listed(gaps: list[Gap]) -> list[dict[str, str]]:
        return [{"board": strategy.board_name(g.own, g.met), "after": strategy.path_text(g.path), "reason": g.reason} for g in gaps]

    disputed = [
        {
            "board": strategy.board_name(*board),
            "answers": [{"after": strategy.path_text(a.path), "moves": _named(strategy, a)} for a in strategy.answers[board]],
        }
        for board in strategy.disputed
    ]
    return {
        "game": strategy.game.string,
        "player": strategy.player,
        "board": strategy.text.board or None,
        "information_states": len(strategy.answers),
        "complete": not strategy.gaps,
        "unanswered": listed(strategy.gaps),
        "disputed": disputed,
        "played_on": listed(strategy.slips),
        "policy": str(out) if out else None,
    }


def _named(strategy: Strategy, answer: Answer) -> dict[str, float]:
    return {strategy.game.name_of_move(cell): float(share) for cell, share in answer.shares.items()}


def _tell(strategy: Strategy, drawn: bool) -> None:
    who = ("Black", "White")[strategy.player]
    start = f", from {strategy.text.board}" if strategy.text.board else ""
    say(f"{strategy.game.string}, {who}{start}: answers {len(strategy.answers):,} information states (own and discovered stones)")
    if not strategy.gaps:
        say("complete: every information state that it can come to is answered")
    else:
        say(f"incomplete: {len(strategy.gaps):,} information states that it can come to are not answered")
        for gap in strategy.gaps[: LISTED if drawn else 1]:
            _show(strategy, gap, drawn)
            say(f"    {_remedy(strategy, gap)}")
    if strategy.disputed:
        say(f"needs the order of moves: {len(strategy.disputed):,} boards are answered in more than one way")
        for board in strategy.disputed[: LISTED if drawn else 1]:
            if drawn:
                say(strategy.draw(*board))
            for answer in strategy.answers[board]:
                moves = "  ".join(f"{name} {share:.4g}" for name, share in _named(strategy, answer).items())
                say(f"  {strategy.board_name(*board)} after {strategy.path_text(answer.path)}: {moves}")
    if strategy.slips:
        say(f"plays on after {len(strategy.slips):,} collisions that have no answer of their own")
        for slip in strategy.slips[: LISTED if drawn else 1]:
            _show(strategy, slip, drawn)


def _show(strategy: Strategy, gap: Gap, drawn: bool) -> None:
    if drawn:
        say(strategy.draw(gap.own, gap.met))
    say(f"  {strategy.board_name(gap.own, gap.met)} after {strategy.path_text(gap.path)}: {gap.reason}")


def _remedy(strategy: Strategy, gap: Gap) -> str:
    """How to answer a gap in the notation."""
    cells = range(strategy.text.rows * strategy.text.cols)
    free = strategy.game.name_of_move(next(c for c in cells if not (gap.own | gap.met) >> c & 1))
    if not gap.path:
        return f"to answer it, begin with a move: {free}"
    last = strategy.game.name_of_move(gap.path[-1][0])
    answer = f"{last} ~ ({free})" if gap.path[-1][1] else f"{last}, {free}"
    return f"to answer it, write for example {answer}; or ! in place of {free} for any move until the end"
