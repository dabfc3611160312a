"""`nebel match A B ...`: every agent against every other."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.cli.flags import add_settings, given
from nebel.cli.outputs import add_out, check_out
from nebel.cli.screen import emit, progress_bar, say, table
from nebel.core.errors import BadFile, BadSetting
from nebel.core.output import append_line, write_text
from nebel.match.arena import Arena, Result, Terms
from nebel.match.rating import Ratings, rate

if TYPE_CHECKING:
    from nebel.core.game import BaseGame
    from nebel.match.agents import Agent


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    known = (
        "uniform, random, a policy (FILE or policy:FILE), a bot (heuristic is Cheat's; bot:NAME any game's), or one that thinks "
        "(oos:10k, oos:1s,epsilon=0.6, ismcts:10k,selection=rm, FILE+oos:2k); at least two"
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=known)
    parser.add_argument("--game", help="the game (a policy knows its own, and can also play in others of its family)")
    add_settings(parser, Terms, "terms")
    add_out(parser, "append each finished pair to this file, a line of JSON each")
    parser.add_argument("--resume", action="store_true", help="take pairs that --out already has from there")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from nebel.match.agents import load_game, read_all

    terms = Terms(**given(args, Terms))
    if args.resume and not args.out:
        raise BadSetting("--resume takes finished pairs from --out FILE: say which file")
    if len(args.agents) < 2:
        raise BadSetting("a match takes at least two agents; write for example nebel match oos:1k random --game leduc")
    check_out(args.out, args.force, _holds_results)
    agents = read_all(args.agents)
    game = load_game(args.game, agents)
    for agent in agents:
        game = agent.join(game)
    if args.out and not _holds_results(args.out):
        write_text(args.out, "")
    done = _read_lines(args.out) if args.resume else []
    arena, results = Arena(game), []
    pairs = list(combinations(agents, 2))
    with progress_bar(args.json) as show:
        for at, (a, b) in enumerate(pairs):
            mark = _mark(game, a, b, terms)
            old = [line for line in done if mark.items() <= line.items()]
            if old:
                results.append(_result(old[-1], args.out))
                continue
            played = 0

            def tick(games: int, a: Agent = a, b: Agent = b, at: int = at) -> None:
                nonlocal played
                played += games
                show((at + played / terms.games) / len(pairs), f"{a.name} against {b.name}: {played:,} games")

            results.append(arena.play(a, b, terms, tick))
            if args.out:
                append_line(args.out, json.dumps({**mark, **results[-1].as_json()}), durable=True)
    ratings = rate(results)
    if args.json:
        emit(
            {
                "game": game.string,
                "games": terms.games,
                "seed": terms.seed,
                "pairs": [result.as_json() for result in results],
                "ratings": [rating._asdict() for rating in ratings.table],
                "added_draws": ratings.added_draws,
            }
        )
    else:
        _tell(game, terms, [agent.name for agent in agents], results, ratings)
    return 0


def _mark(game: BaseGame, a: Agent, b: Agent, terms: Terms) -> dict[str, Any]:
    """All that a pair's result depends on."""
    return {
        "a": a.name,
        "b": b.name,
        "digests": [a.digest, b.digest],
        "game": game.string,
        "fingerprint": game.fingerprint,
        "games": terms.games,
        "seed": terms.seed,
    }


def _result(line: dict[str, Any], path: Path) -> Result:
    try:
        fields: dict[str, Any] = {name: line[name] for name in Result.__dataclass_fields__}
    except KeyError as error:
        raise BadFile(f"{path}: the line of {line['a']} against {line['b']} lacks {error}; delete it") from error
    if not _is_sound(fields):
        raise BadFile(f"{path}: the line of {line['a']} against {line['b']} is damaged; delete it")
    pairs = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Result(**{**fields, **pairs})


def _is_sound(fields: dict[str, Any]) -> bool:
    """Whether what a line says of a result is of the right kinds: counts, finite numbers, pairs of them."""

    def number(x: Any) -> bool:
        return type(x) in (int, float) and math.isfinite(x)

    def pair(x: Any, entry: Callable[[Any], bool]) -> bool:
        return isinstance(x, list) and len(x) == 2 and all(entry(each) for each in x)

    counts = [fields[name] for name in ("wins", "draws", "losses")]
    return (
        all(type(count) is int and count >= 0 for count in counts)
        and sum(counts) == fields["games"]
        and number(fields["score"])
        and (fields["exact"] is None or number(fields["exact"]))
        and (fields["interval"] is None or pair(fields["interval"], number))
        and pair(fields["unknown"], number)
        and pair(fields["seconds"], lambda x: x is None or number(x))
    )


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """Return finished pairs; a line that a killed run left unfinished is left out."""
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            line = json.loads(text)
            if isinstance(line, dict) and "a" in line and "b" in line:
                lines.append(line)
    return lines


def _holds_results(path: Path) -> bool:
    """Return whether there is a file with match results, or with the beginning of a line of them, as a killed first write may leave it."""
    if not path.exists():
        return False
    start = path.read_bytes()
    return not start.strip() or bool(_read_lines(path)) or (start.startswith(b'{"a": ') and b"\n" not in start)


def _time(seconds: float | None) -> str:
    """A mean time for people; nothing is said of tables and bots, which take next to none."""
    return "-" if seconds is None else f"{1000 * seconds:.3g} ms"


def _tell(game: BaseGame, terms: Terms, names: list[str], results: list[Result], ratings: Ratings) -> None:
    say(f"{game.string}: {terms.games:,} games a pair, both seats, seed {terms.seed}")
    say("\nmean score of the row's agent against the column's (95 % interval)")
    cells = {(name, name): "" for name in names}
    for result in results:
        reach = f" ±{(result.interval[1] - result.interval[0]) / 2:.4f}" if result.interval else ""
        cells[result.a, result.b] = f"{result.score:+.4f}{reach}"
        cells[result.b, result.a] = f"{0.0 - result.score:+.4f}{reach}"
    table(["", *names], [[row, *(cells[row, column] for column in names)] for row in names])
    say()
    head = ["pair", "wins", "draws", "losses", "score", "exact", "time a move"]
    body = []
    for r in results:
        exact = "-" if r.exact is None else f"{r.exact:+.4f}"
        times = " - ".join(map(_time, r.seconds))
        body.append([f"{r.a} - {r.b}", f"{r.wins:,}", f"{r.draws:,}", f"{r.losses:,}", f"{r.score:+.4f}", exact, times])
    table(head, body)
    say()
    rated = [[r.agent, f"{r.elo:.0f}", f"{r.interval[0]:.0f} to {r.interval[1]:.0f}"] for r in ratings.table]
    table(["agent", "Elo (wins, not margins)", "95 % interval"], rated)
    if ratings.added_draws:
        say("somebody never lost a point: one draw was added to every pair, or ratings would be without bound")
    for r in results:
        for name, unknown in zip((r.a, r.b), r.unknown, strict=True):
            if unknown:
                say(f"{r.a} - {r.b}: {name} played uniformly {unknown:,} times, in information states that its policy never met")
