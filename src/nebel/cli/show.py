"""`nebel show FILE [INFORMATION STATE]`."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from nebel.cli.flags import whole
from nebel.cli.screen import emit, say, table
from nebel.core.errors import BadSetting, UnknownInformationState
from nebel.core.game import BaseGame
from nebel.core.recall import PERFECT
from nebel.core.state import State
from nebel.policy.table import TablePolicy

LISTED_TREE = 2_000_000


class Row(NamedTuple):
    player: int
    text: str
    moves: dict[str, float]
    state: State | None


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.usage = "nebel show FILE [INFORMATION STATE] [options]"
    parser.epilog = (
        "An information state is what the player did and saw, in words, as `nebel show FILE` lists them (- is the empty one); "
        "with a recall other than perfect, the glance. example: nebel show kuhn.nebel 'K (bet)'"
    )
    parser.add_argument("file", metavar="FILE", help="a policy file")
    parser.add_argument("state", nargs="*", metavar="INFORMATION STATE", help="what the player did and saw")
    parser.add_argument("--after", metavar="MOVES", help="instead: all moves from the start, chance's too")
    parser.add_argument("--player", type=int, choices=(0, 1), help="only this player's")
    parser.add_argument("--limit", type=whole, default=20, help="information states to list (default: 20)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import load
    from nebel.policy.io import load_table

    if args.limit < 1:
        raise BadSetting(f"--limit {args.limit} is out of range: it must be at least 1")
    policy = load_table(args.file.removeprefix("policy:"))
    game = load(policy.game)
    policy.check_game(game)
    players = (args.player,) if args.player is not None else (0, 1)
    asked = " ".join(args.state)
    if args.after is not None:
        rows = [_at(policy, game.start().play(args.after))]
    elif asked:
        rows = list(_matching(policy, game, asked, players))
    else:
        rows = _listed(policy, game, players, args.limit)
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


def _at(policy: TablePolicy, state: State) -> Row:
    if state.turn not in (0, 1):
        legal = " ".join(state.legal()) or "nothing, the game is over"
        raise BadSetting(f"after '{state.moves_text()}' no player is to move; legal: {legal}")
    found = policy.lookup(state.turn, state.key(state.turn, policy.recall))
    text = state.information(state.turn, policy.recall)
    if found is None:
        raise UnknownInformationState(f"the policy does not know player {state.turn}'s state '{text}'")
    return Row(state.turn, text, _named(state.game, found), state)


def _matching(policy: TablePolicy, game: BaseGame, asked: str, players: tuple[int, ...]) -> Iterator[Row]:
    from nebel.policy.find import find

    found = False
    for p in players:
        if policy.recall == PERFECT:
            state = find(game, p, [] if asked == "-" else asked.split())
            if state is not None:
                found = True
                yield _at(policy, state)
        else:
            for key, shares in policy.rows(p):
                if game.glance_text(policy.recall, key) == asked:
                    found = True
                    yield Row(p, asked, _named(game, shares), None)
    if not found:
        known = ", ".join(f"'{row.text}'" for row in _listed(policy, game, players, 3))
        raise UnknownInformationState(f"no player of {game.string} is ever to move in the state '{asked}'; states look like {known}")


def _listed(policy: TablePolicy, game: BaseGame, players: tuple[int, ...], limit: int) -> list[Row]:
    from nebel.core.tree import grow, measure

    if policy.recall != PERFECT:
        rows = ((p, key, shares) for p in players for key, shares in policy.rows(p))
        first = itertools.islice(rows, limit)
        return [Row(p, game.glance_text(policy.recall, key), _named(game, shares), None) for p, key, shares in first]
    if not measure(game, LISTED_TREE).complete:
        return [_at(policy, game.start())] if game.start().turn in players else []
    tree = grow(game, policy.recall, LISTED_TREE)
    states = ((p, i) for p in players for i in range(tree.sides[p].states))
    return [_at(policy, tree.state_of(p, i)) for p, i in itertools.islice(states, limit)]


def _named(game: BaseGame, shares: dict[int, float]) -> dict[str, float]:
    return {game.name_of_move(move): share for move, share in shares.items()}


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
