"""The conformance suite behind `nebel check`: what is wrong with a game, in words, with the moves that lead there.

A small game is walked from end to end, a larger one in seeded random play. Every state is checked for itself, and against
all states met before that its players cannot tell from it.
"""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nebel.core.checksum import plain_checksum, playout_checksum
from nebel.core.conform_walk import Walk, count
from nebel.core.findings import CHECKS, ENDS, PURE, RANGES, RULES, STATES, TWINS, Findings, reason
from nebel.core.game import END, BaseGame, Game
from nebel.core.rule import compiled, compiler_reason, is_rule, kernel, plain_mode
from nebel.core.state import State, read_record

PLAYOUTS = 200
"""Compiled and plain rules are compared over this many playouts."""
GAMES_KEPT = 20
"""So many games are taken back and read from their records."""


class Check(NamedTuple):
    """One thing looked at; `detail` says what was found, or why it could not be looked at."""

    name: str
    passed: bool
    detail: str


@dataclass
class Report:
    """What the suite has to say; `findings` is empty when the game conforms."""

    game: str
    coverage: str = ""
    whole: bool = False
    checks: list[Check] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.findings


def conform(game: BaseGame, seed: int = 1, steps: int = 20_000) -> Report:
    """Check a game: its whole tree if that has at most `steps` states, otherwise `steps` states of random play."""
    findings = Findings()
    skipped: dict[str, str] = {}
    size = count(game, steps)
    walk = Walk(game, findings, min(size, steps))
    whole = size <= steps and walk.whole(steps)
    if not whole:
        walk.sample(steps, seed)
    if whole:
        coverage = f"the whole tree: {walk.states:,} histories"
    else:
        coverage = f"sampled: {walk.playouts:,} playouts, {walk.states:,} states; the game is larger, and what was not met is not checked"
    # Broken rules would fail here again, or, compiled, write where they must not.
    if any(findings.sentences[check] for check in (RULES, RANGES, PURE, ENDS)):
        skipped[STATES] = skipped[TWINS] = "not checked: the rules must run first"
    else:
        _check_states(game, seed, findings)
        if not isinstance(game, Game):
            skipped[TWINS] = "not checked: the game is not written in rules"
        elif plain_mode():
            skipped[TWINS] = "not checked: compilation is switched off"
        else:
            _check_compiled(game, seed, findings)
    return _report(game, coverage, whole, findings, skipped)


def _report(game: BaseGame, coverage: str, whole: bool, findings: Findings, skipped: dict[str, str]) -> Report:
    report = Report(game.string, coverage, whole)
    for name in CHECKS:
        told, more = findings.sentences[name], findings.left_out[name]
        detail = "; ".join(told) + (f"; and {more} more like this" if more else "")
        report.checks.append(Check(name, not told, detail or skipped.get(name, "")))
        report.findings += told
    return report


def _check_states(game: BaseGame, seed: int, findings: Findings) -> None:
    """Games as people play them: taking moves back leads to where one was, and a record gives the game again."""
    rng = random.Random(seed)
    for _ in range(GAMES_KEPT):
        state = game.start()
        try:
            with np.errstate(all="ignore"):
                _play_and_return(state, rng, findings)
        except Exception as error:
            findings.add(STATES, f"{_after(state)}: a game cannot be played by name or read from its record: {reason(error)}")
            return


def _play_and_return(state: State, rng: random.Random, findings: Findings) -> None:
    outlines = [_outline(state)]
    while not state.over:
        state.push(rng.choice(state.legal()))
        outlines.append(_outline(state))
    again = read_record(state.record(), state.game)
    if again.steps != state.steps or again.score() != state.score():
        findings.add(STATES, f"{_after(state)}: the game read back from its record is a different one")
    while state.steps:
        late = state.moves_text()
        if _outline(state) != outlines.pop():
            findings.add(STATES, f"after {late}: taking moves back does not lead to where the game was")
            return
        state.undo()


def _outline(state: State) -> Any:
    sights = [(state.key(player), state.view(player)) for player in (0, 1)]
    return state.turn, state.options(), state.odds(), state.score(), sights, state.view("truth")


def _after(state: State) -> str:
    return f"after {state.moves_text()}" if state.steps else "at the start"


def _check_compiled(game: Game, seed: int, findings: Findings) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the compiler grumbles about but accepts
        try:
            fast = playout_checksum(game, seed, PLAYOUTS)
        except Exception as error:
            faults = [fault for part in _parts(game) if (fault := _compile_fault(*part))]
            for fault in faults or [f"the rules cannot be compiled together: {compiler_reason(error)}"]:
                findings.add(TWINS, fault)
            return
        if fast != plain_checksum(game, seed, PLAYOUTS):
            findings.add(TWINS, _first_difference(game, seed))
        looks: list[tuple[str, Any, tuple[Any, ...]]] = [
            *((f"the glance {name!r}", glance.look, (np.int64(0),)) for name, glance in game.glances.items()),
            *((f"the bot {name!r}", bot.choose, (0.0, *map(np.int64, bot.shallow))) for name, bot in game.bots.items()),
        ]
        for name, function, arguments in looks:
            given = (game.records(1)[0], *arguments)
            fault = _compile_fault(name, function, given) or _look_difference(game, name, function, seed, *arguments[1:])
            if fault:
                findings.add(TWINS, fault)
        for recall, encoding in game.encodings.items():
            row = np.zeros(encoding.size, np.float32)
            if fault := _compile_fault(f"the encoding {recall!r}", encoding.write, (game.records(1)[0], np.int64(0), row)):
                findings.add(TWINS, fault)


def _parts(game: Game) -> list[tuple[str, Any, tuple[Any, ...]]]:
    """The rules, each with arguments of the right types."""
    s, whole, real = game.records(1)[0], np.zeros(1, np.int64), np.zeros(1)
    move = np.int64(0)
    arguments = {"start": (s,), "turn": (s,), "moves": (s, whole), "play": (s, move, whole), "score": (s,), "odds": (s, real)}
    return [(f"{name}()", function, arguments[name]) for name, function in game.rules._asdict().items()]


def _compile_fault(name: str, function: Any, arguments: tuple[Any, ...]) -> str | None:
    import numba

    code = function.__code__
    place = f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    if not is_rule(function):
        return f"{name} ({place}) is not marked with @rule, so it cannot be compiled"
    try:
        compiled(function).compile(tuple(numba.typeof(argument) for argument in arguments))
    except Exception as error:
        return f"{name} cannot be compiled: {compiler_reason(error, place)}"
    return None


def _first_difference(game: Game, seed: int) -> str:
    """Play on compiled and plain records side by side, to the first move at which they part."""
    rules = {name: kernel(function) for name, function in game.rules._asdict().items()}
    rng = random.Random(seed)
    for _ in range(PLAYOUTS):
        plain, fast, state = game.begin(), game.records(1), game.start()
        rules["start"](fast[0])
        while True:
            turn, fast_turn = game.turn_at(plain), int(rules["turn"](fast[0]))
            if turn != fast_turn:
                return _parting(state, "turn()", turn, fast_turn)
            if turn == END:
                score, fast_score = game.score_at(plain), float(rules["score"](fast[0]))
                if abs(score - fast_score) > 1e-9:
                    return _parting(state, "score()", score, fast_score)
                break
            out = np.zeros(game.width, np.int64)
            options, fast_options = game.options_at(plain), out[: rules["moves"](fast[0], out)].tolist()
            if options != fast_options:
                return _parting(state, "moves()", options, fast_options)
            pick, seen = rng.choice(options), np.zeros(2, np.int64)
            plain, plain_seen = game.after(plain, pick)
            rules["play"](fast[0], pick, seen)
            state.push(pick)
            if plain_seen != tuple(seen.tolist()):
                return _parting(state, "what is seen", list(plain_seen), seen.tolist())
    return "compiled and plain rules differ in random play; integers that overflow or wrap, or odds(), are the likely causes"


def _parting(state: State, what: str, plain: Any, fast: Any) -> str:
    return f"{_after(state)}: {what} is {plain} in plain Python and {fast} compiled"


def _look_difference(game: Game, name: str, function: Any, seed: int, *depth: Any) -> str | None:
    """Of a glance, for both players; or of a bot, for the player to move."""
    rng, fast = random.Random(seed), kernel(function)
    state = game.start()
    for _ in range(PLAYOUTS):
        if state.over:
            state = game.start()
        state.push(rng.choice(state.options()))
        bot = name.startswith("the bot")
        for argument in [rng.random()] * (state.turn >= 0) if bot else [0, 1]:
            with np.errstate(all="ignore"):
                plain, quick = (int(look(state.position[0], argument, *depth)) for look in (function, fast))
            if plain != quick:
                return _parting(state, name if bot else f"{name} of player {argument}", plain, quick)
    return None
