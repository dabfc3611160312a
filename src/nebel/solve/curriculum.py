"""Curriculum learning: the games of an ordered family one after the other, each from what was learned in the one before.

Cheng Yi, Tomoyuki Kaneko. Improving Counterfactual Regret Minimization Agents Training in Card Game Cheat Using Ordered
Abstraction. 2021. Where it departs: the first strategy of a stage follows from the carried regrets unless it is told to be the
carried average; the average begins anew unless it is told to go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame
from nebel.core.kin import same, variant
from nebel.core.refinement import HISTORIES, Refinement, refine
from nebel.core.registry import text_of
from nebel.core.settings import Settings, made_of, setting
from nebel.core.state import resolve_recall
from nebel.policy.io import read_arrays, save_policy
from nebel.solve.cfr import FullWidth
from nebel.solve.drive import Result, solve
from nebel.solve.heritage import Heritage, left_by
from nebel.solve.run import Budget, Entry, Job, Progress, progress_of
from nebel.solve.sampled import Sampled
from nebel.solve.settings import METHODS, Sampling, Sweeping, as_dict, method_named
from nebel.solve.signals import heard
from nebel.solve.size import Sizing


@dataclass(frozen=True)
class Curriculum(Settings):
    """Which games, and what each takes over from the one before."""

    curriculum: str | None = setting(None, "solve a family in order, for example hp=1..5 or turns=2,4,6; budgets are for each stage")
    carry_regrets: float = setting(1.0, "carried regrets are multiplied by this (0: none are carried)", 0, 1000)
    carry_average: float = setting(0.0, "carried sums of the average are multiplied by this (0: it begins anew; 1: it goes on)", 0, 1000)
    first_strategy: str = setting("regrets", "what an information state plays until its regrets change: what follows from the carried"
                                  " regrets, or the carried average strategy", choices=("regrets", "average"))  # fmt: skip


class Stage(NamedTuple):
    """A game of the family."""

    name: str
    game: BaseGame


def stages(game: BaseGame, text: str) -> list[Stage]:
    """The games that `option=first..last` or `option=a,b,c` names; the last must be the game itself."""
    match = re.fullmatch(r"(\w+)=(?:(\d+)\.\.(\d+)|(\w+(?:,\w+)*))", text)
    if not match:
        raise BadSetting(f"--curriculum {text} is not understood; write option=first..last or option=a,b,c, for example hp=1..5")
    option, low, high, listed = match.groups()
    values = listed.split(",") if listed else [str(value) for value in range(int(low), int(high) + 1)]
    if not values:
        raise BadSetting(f"--curriculum {text} is empty: {low} is more than {high}")
    family = [Stage(f"{option}={value}", variant(game, option, value)) for value in values]
    if not same(family[-1].game, game):
        own = f"{option}={text_of(game.options[option])}"
        raise BadSetting(f"--curriculum {text} ends at {family[-1].name}, but the game to solve, {game.string}, has {own}; end it there")
    return family


def check_family(family: Sequence[Stage], recall: str, histories: int = HISTORIES, seed: int = 1) -> list[Refinement]:
    """Check that each game of a family refines the one before it under a recall; raise `BadSetting` at the first that does not."""
    return [refine(larger.game, smaller.game, recall, histories, seed) for smaller, larger in pairwise(family)]


def solve_family(
    job: Job,
    budget: Budget,
    folder: Path | None = None,
    resume: bool = False,
    sized: Callable[[Sizing, float], None] = lambda sizing, pace: None,
    progress: Callable[[Progress], None] = lambda progress: None,
    checkpoint_every: float = 10.0,
    done: Callable[[Stage, Result], None] = lambda stage, result: None,
    out: str | None = None,
    checked: Callable[[Refinement], None] = lambda refinement: None,
) -> Result:
    """Solve the games of `job.curriculum` in order; return the result of the last, which is the game itself.

    With a folder each stage has a folder of its own in it. `checked` hears of each pair of games that was found in order.

    Raises:
        BadSetting: the games are not an ordered family, which is noticed before anything is computed.
    """
    entry = Entry(job, budget, folder, resume, out)
    with heard(), entry.owned():
        return _solve_family(entry, sized, progress, checkpoint_every, done, checked)


def _solve_family(
    entry: Entry,
    sized: Callable[[Sizing, float], None],
    progress: Callable[[Progress], None],
    checkpoint_every: float,
    done: Callable[[Stage, Result], None],
    checked: Callable[[Refinement], None],
) -> Result:
    job, folder = entry.asked.job, entry.run.path if entry.run else None
    game = entry.game("solve")
    chosen = made_of(Curriculum, job.curriculum or {})
    family = stages(game, chosen.curriculum or "")
    job = replace(job, game=game.string, method=method_named(job.method), recall=resolve_recall(game, job.recall))
    settings = made_of(METHODS[job.method], job.settings)
    if not isinstance(settings, (Sweeping, Sampling)) or job.pone:
        method = f"{job.method} with --pone" if job.pone else job.method
        raise BadSetting(f"a curriculum is for tabular methods without --pone, for example --with cfr+, not for {method}")
    if isinstance(settings, Sampling) and settings.sip_every:
        raise BadSetting("--sip-every is not for a --curriculum; simplify the last policy with nebel simplify")
    if chosen.first_strategy == "average" and isinstance(settings, Sampling) and settings.kind != "chance":
        raise BadSetting(f"--first-strategy average is for chance-sampled and for full-width methods such as cfr+, not for {job.method}")
    job = replace(job, settings=as_dict(settings), curriculum=asdict(chosen))
    for refinement in check_family(family, job.recall):
        checked(refinement)
    entry.begin(job, game)
    entry.begun = True
    heritage: Heritage | None = None
    result: Result | None = None
    for stage in family:
        own = folder / stage.name if folder else None
        here = replace(job, game=stage.game.string, curriculum=None)
        again = entry.resumed is not None and own is not None and (own / "run.json").exists()
        finished = again and stage is not family[-1] and own is not None and (own / "policy.nebel").exists()
        limit = _spent(own) if finished and own else entry.asked.budget  # the last may go on with a larger budget
        result = solve(here, limit, own, again, sized, progress, checkpoint_every, heritage)
        done(stage, result)
        if stage is not family[-1]:
            solver, result = result.solver, None  # its policy and then its tables make room for the next stage
            assert isinstance(solver, (FullWidth, Sampled))
            left = left_by(solver, stage.game, job.recall)
            left = left.average_first() if chosen.first_strategy == "average" else left
            heritage = left.scaled(chosen.carry_regrets, chosen.carry_average)
            del solver
    assert result is not None
    facts = {**result.policy.facts, **asdict(chosen)}
    result = replace(result, job=job, policy=replace(result.policy, facts=facts))
    if folder:
        save_policy(result.policy, folder / "policy.nebel")
    return result


def _spent(folder: Path) -> Budget:
    """The budget of a stage that is finished: as many iterations as it had."""
    _, header = read_arrays(folder / "checkpoint" / "state.safetensors", "checkpoint")
    try:
        return Budget(iterations=progress_of(header)[0])
    except (KeyError, ValueError, BadSetting) as error:
        raise BadFile(f"{folder} is damaged: its checkpoint does not say how many iterations it holds") from error
