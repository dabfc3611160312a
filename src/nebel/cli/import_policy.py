"""`nebel import FILE --game GAME --out POLICY`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import emit, say
from nebel.core.errors import BadFile, BadSetting, Problem, UnknownInformationState

if TYPE_CHECKING:
    from nebel.core.game import BaseGame
    from nebel.policy.table import TablePolicy


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.epilog = (
        "FILE is a table in CSV (columns player, state, move, share) or JSON, an OpenSpiel TabularPolicy in JSON (its state_lookup and "
        "action_probability_array), or a Dark Hex strategy in notation (.dhs). Information states are named as `nebel show` prints them, "
        "or as OpenSpiel does (docs/import.md)."
    )
    parser.add_argument("file", metavar="FILE", help="the table: .csv, .json or .dhs")
    parser.add_argument("--game", help="the game (a strategy in notation knows its own)")
    add_out(parser, "write the policy here", required=True)
    parser.add_argument("--recall", help="how information states are named: perfect (default), or a glance of the game, such as board")
    parser.add_argument("--missing", choices=("error", "uniform"), help="what to do if states have no row (default: error)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.policy.io import holds_policy, save_policy

    check_out(args.out, args.force, holds_policy)
    path = Path(args.file)
    policy = _of_notation(args) if path.suffix.lower() == ".dhs" else _of_table(args, path)
    save_policy(policy, args.out)
    counts = [len(shares.keys) for shares in policy.shares]
    if args.json:
        facts = {"game": policy.game, "recall": policy.recall, "information_states": counts, "missing": policy.missing}
        emit({**facts, "policy": str(args.out)})
        return 0
    say(f"wrote {args.out}: {policy.game}, {policy.recall} recall, {counts[0]:,} + {counts[1]:,} information states")
    if policy.missing == "uniform":
        say("it plays uniformly in information states that have no row")
    return 0


def _of_table(args: argparse.Namespace, path: Path) -> TablePolicy:
    from nebel.core.recall import PERFECT
    from nebel.core.registry import load
    from nebel.core.state import resolve_recall
    from nebel.policy.from_rows import policy_from_rows
    from nebel.policy.row_files import read_rows

    table = read_rows(path)
    if not args.game:
        raise BadSetting(f"{path} does not say which game it is for; name it (--game)")
    game = load(args.game)
    recall = resolve_recall(game, args.recall or PERFECT)
    facts: dict[str, Any] = {"method": "imported", "source": path.name}
    spelling = _spelling(game, recall, table.numbered)
    try:
        return policy_from_rows(game, table.rows, recall, args.missing or "error", spelling, facts)
    except (BadFile, UnknownInformationState) as error:
        raise type(error)(f"{path}: {error}") from error


def _spelling(game: BaseGame, recall: str, numbered: bool) -> Any:
    """OpenSpiel's names as second ones, where the game has them."""
    from nebel.core.recall import PERFECT

    if recall != PERFECT:
        if numbered:
            raise BadSetting(f"a policy of OpenSpiel goes by information states of perfect recall, not by {recall}; leave --recall out")
        return None
    from nebel.bridge.openspiel_policy import openspiel_spelling

    return openspiel_spelling(game, numbered)


def _of_notation(args: argparse.Namespace) -> TablePolicy:
    from nebel.core.registry import load
    from nebel.policy.strategy import read_strategy

    if args.missing == "error":
        raise BadSetting("a strategy in notation describes one player, and the other plays uniformly in its policy; leave --missing out")
    strategy = read_strategy(args.file)
    game = strategy.game
    if args.game and load(args.game).fingerprint != game.fingerprint:
        raise Problem(f"{args.file} is a strategy for {game.string}, not for {args.game}")
    recall = args.recall or ("perfect" if strategy.disputed else "board")
    if recall not in ("perfect", "board"):
        raise BadSetting(f"--recall {recall} is not understood: of a strategy in notation it is perfect or board")
    before = args.missing or ""
    return strategy.policy_with_memory(before) if recall == "perfect" else strategy.policy(before=before)
