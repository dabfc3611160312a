"""`nebel games [GAME]`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from nebel.cli.screen import emit, figure, say, table
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT

BYTES_A_HISTORY = 80
BEYOND = 1e25
"""About so many histories are not counted: they would not fit into 64 bits, however few states there are."""


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    parser.add_argument("game", nargs="?", metavar="GAME", help="show this one: its size, its recalls, how it begins")
    parser.add_argument("--recall", default=PERFECT, help="count information states under this recall (default: perfect)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.core.registry import GAMES, describe, load

    if args.game:
        return _one(load(args.game), args.recall, args.json)
    found = {name: describe(name) for name in GAMES}
    if args.json:
        emit({"games": [{"name": name, "about": about, "options": options} for name, (about, options) in found.items()]})
        return 0
    table(("game", "about"), [(name, about) for name, (about, _) in found.items()])
    say()
    table(("game", "options and defaults"), [(n, " ".join(f"{k}={v}" for k, v in o.items()) or "none") for n, (_, o) in found.items()])
    say("\nmore of one: nebel games GAME     your own: nebel new-game NAME     OpenSpiel's: openspiel:NAME")
    return 0


def _one(game: BaseGame, recall: str, as_json: bool) -> int:
    from nebel.core.state import resolve_recall

    recall = resolve_recall(game, recall)
    game.try_out()
    facts = _sizes(game, recall)
    if as_json:
        emit(facts)
        return 0
    say(f"{game.string}   (fingerprint {game.fingerprint})")
    about = "" if facts["exact"] else "about "
    ends = f", of them {figure(facts['terminals'])} ends" if facts["terminals"] else ""
    say(f"histories           {about}{figure(facts['histories'])}{ends}")
    if facts["states"]:
        say(f"distinct states     {facts['states']:,} before the end")
    states = facts["information_states"]
    shown = " + ".join(f"{n:,}" for n in states) if states else "too many to enumerate"
    say(f"information states  {shown} ({recall} recall)")
    if facts["choices"] and facts["choices"] != states:
        say(f"with a choice       {' + '.join(f'{n:,}' for n in facts['choices'])}")
    say(f"recalls             {', '.join((PERFECT, *game.glances))}")
    if isinstance(game, Game) and game.more_recalls.least:
        say(f"more recalls        {game.more_recalls}")
    if bots := getattr(game, "bots", {}):
        say(f"bots                {', '.join(f'{name} ({bot.note})' if bot.note else name for name, bot in bots.items())}")
    state = game.start()
    say(f"first options       {' '.join(state.legal()[:20])}\n")
    say(state.view("truth"))
    return 0


def _room() -> int:
    """Half of the memory that is free, in bytes."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):  # not all systems say
        return 2 << 30


def _sizes(game: BaseGame, recall: str) -> dict[str, Any]:
    """Counted on the tree if it is small, else over distinct states, else estimated."""
    from nebel.core.tree import estimate, grow, measure
    from nebel.solve.size import PLAIN_LIMIT

    facts: dict[str, Any] = {"game": game.string, "fingerprint": game.fingerprint, "recall": recall}
    facts["bots"] = list(getattr(game, "bots", ()))
    size = None if isinstance(game, Game) else measure(game, PLAIN_LIMIT)
    about = size.histories if size and size.complete else estimate(game)
    if about < BEYOND and isinstance(game, Game):
        size = measure(game, _room() // BYTES_A_HISTORY)
    if size and size.complete:
        tree = grow(game, recall, size.histories)
        counts = {"histories": size.histories, "terminals": size.terminals, "information_states": tree.information_states()}
        more = {"choices": tree.choices(), "chance": size.chance, "decisions": size.decisions, "depth": size.depth}
        return {**facts, **counts, **more, "states": None, "exact": True}
    if about < BEYOND and isinstance(game, Game):
        from nebel.core.reach import explore

        reach = explore(game, recall)
        if reach is not None and reach.histories is not None:
            counts = {"histories": reach.histories, "terminals": reach.terminals, "information_states": reach.information_states}
            return {**facts, **counts, "choices": None, "states": reach.states, "exact": True}
    guess = {"histories": about, "terminals": None, "information_states": None}
    return {**facts, **guess, "choices": None, "states": None, "exact": False}
