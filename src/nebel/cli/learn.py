"""`nebel learn GAME --with METHOD`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nebel.cli.flags import add_settings, given, method_in
from nebel.cli.places import add_places, keep, overdue, places_of, refuse_changes, stoppable
from nebel.cli.screen import emit, figure, live_table, say
from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.learn.drive import News

DEFAULT = "exit-oos"
WINS = "wins_against_"
TOLD = 2.0
"""Seconds of an iteration from which on it is told how long one takes."""


def add(parser: argparse.ArgumentParser, words: list[str]) -> None:
    from nebel.learn.drive import METHODS, method_named
    from nebel.solve.run import Budget

    parser.usage = "nebel learn GAME [--with METHOD] [options]"
    parser.add_argument("game", nargs="?", metavar="GAME", help="a game string, for example goofspiel:13 or leduc")
    parser.add_argument("--with", dest="method", metavar="METHOD", help=f"{', '.join(METHODS)} (default: {DEFAULT})")
    parser.add_argument("--preset", metavar="NAME", help="begin with the settings of a paper, such as geister of dream; others go before")
    parser.add_argument(
        "--recall", help="what the network is told: all that was seen, or a glance (default: perfect, else what the game offers)"
    )
    parser.add_argument("--seed", type=int, help="the same seed gives the same network, whoever works on it (default: 1)")
    parser.add_argument("--workers", default="1", metavar="N", help="processes that play, or ray:N for a Ray cluster (default: 1)")
    parser.add_argument("--tensorboard", metavar="FOLDER", help="write metrics for TensorBoard, too")
    add_places(parser, "network", 60)
    kept = "after every N iterations keep the network of that moment, too, as FOLDER/kept/000050.nebel"
    parser.add_argument("--keep-every", type=int, metavar="N", help=kept)
    add_settings(parser, Budget, "when to stop (whichever comes first; if no budget is given: 600 seconds)")
    method = method_named(method_in(words, DEFAULT))
    add_settings(parser, METHODS[method], f"settings of {method}")


def run(args: argparse.Namespace) -> int:
    from nebel.core.kin import providing
    from nebel.core.registry import load
    from nebel.core.state import resolve_recall
    from nebel.learn.drive import METHODS, learn, method_named
    from nebel.learn.presets import preset_named, usual
    from nebel.learn.scalars import scalars_in
    from nebel.policy.net import encoding_of
    from nebel.search.target import in_rules
    from nebel.solve.run import Budget, Job

    places = places_of(args)
    folder, resume = places.folder, places.resume
    if args.keep_every is not None and places.passing:
        raise BadSetting("--keep-every needs a folder that stays: add --run FOLDER")
    method = method_named(args.method or DEFAULT)
    settings, limits = given(args, METHODS[method]), given(args, Budget)
    recall = args.recall
    if args.preset:
        preset = preset_named(method, args.preset)
        settings, recall = {**preset.settings, **settings}, recall or preset.recall
    METHODS[method](**usual(method, False, settings))
    budget = Budget(**limits) if limits else None
    if resume:
        job = refuse_changes(args, folder, {"seed": args.seed, "recall": args.recall, "method": args.method, **settings})
    elif not args.game:
        raise BadSetting("which game? for example: nebel learn goofspiel:6 (nebel games lists them)")
    else:
        if recall:  # what is not said may be anything that the game offers; what is said must hold
            game = in_rules(providing(load(args.game), recall))
            encoding_of(game, resolve_recall(game, recall))
        choices = {name: value for name, value in {"seed": args.seed, "recall": recall}.items() if value is not None}
        job = Job(args.game, method, settings=settings, **choices)
    scalars = scalars_in(args.tensorboard) if args.tensorboard else None
    known: dict[str, float] = {}  # the latest figure of each metric
    with live_table(args.json) as show, stoppable("learn", places):

        def progress(news: News) -> None:
            if not known and news.seconds / max(1, news.iterations) > TOLD:
                say(f"an iteration takes about {news.seconds / max(1, news.iterations):.2g} s", to_error=True)
            known.update(news.metrics)
            show(news.share, f"{news.iterations:,} iterations, {news.seconds:,.0f} s", known)
            if scalars:
                scalars(news)

        often = args.checkpoint_every, places.out_name, overdue, args.keep_every
        result = learn(job, budget, folder, resume, args.workers, progress, *often)
    written = keep(result.policy, places)
    facts: dict[str, Any] = {
        "game": result.job.game,
        "method": result.job.method,
        "recall": result.job.recall,
        "iterations": result.iterations,
        "seconds": round(result.seconds, 3),
        **result.metrics,
        "policy": str(written) if written else None,
        "seed": result.job.seed,
        "settings": result.job.settings,
    }
    if result.ended:
        facts["ended"] = result.ended
    if args.json:
        emit(facts)
        return 0
    say(f"{result.job.game}, {result.job.method}: {result.iterations:,} iterations in {result.seconds:.1f} s")
    if result.ended:
        say(f"the budget was not spent: {result.ended}")
    for line in _words(result.metrics):
        say(line)
    if written:
        say(f"network written to {written}")
    return 0


def _words(metrics: dict[str, float]) -> list[str]:
    """What matters to people."""
    words = []
    if "exploitability" in metrics:
        words.append(f"exploitability {figure(metrics['exploitability'])}")
    for name, value in metrics.items():
        if name.startswith(WINS):
            words.append(f"{value:.1%} against {name.removeprefix(WINS)}")
    if "loss" in metrics:
        words.append(f"loss {figure(metrics['loss'])}")
    if "simulations_per_second" in metrics:
        words.append(f"{metrics['simulations_per_second']:,.0f} simulations a second")
    return words
