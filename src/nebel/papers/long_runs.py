"""Runs of a paper's own size: each learns in a folder of its own, is measured once at the end, and is then known by its record.

`--runs FOLDER` holds the file `PAPER/NAME.json` for each finished run and the folder `PAPER/NAME` for each run under way. The same command
reads the former and continues the latter, so a report of many hours can be computed a run at a time and on several processes.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nebel.core.errors import BadFile
from nebel.core.input import MEGABYTE, parse_json, read_text
from nebel.core.lock import InUse
from nebel.core.output import write_text
from nebel.papers.paper import Terms
from nebel.solve.run import Budget, Folder, Job

MOST_RECORDED = 32 * MEGABYTE
"""The largest record that is read."""
CHECKPOINT_SECONDS = 1500.0
"""From one checkpoint to the next: those of full buffers are gigabytes."""
TOLD_SECONDS = 600.0
"""From one line of progress to the next."""


class Plan(NamedTuple):
    """A run: its name among those of the paper, what learns, for how many iterations, how often a network is kept on the way, and the
    number of processes, which does not change the result."""

    name: str
    job: Job
    iterations: int
    keep_every: int | None = None
    workers: str = "1"


class Record(NamedTuple):
    """A finished run: what it was, what it took, and what was measured."""

    name: str
    job: dict[str, Any]
    iterations: int
    hours: float  # of iterating
    machine: str
    measured: dict[str, Any]

    def fits(self, plan: Plan) -> bool:
        """Return whether this is the run of a plan; settings that are newer than the record do not count."""
        asked = {"game": plan.job.game, "method": plan.job.method, "recall": plan.job.recall, "seed": plan.job.seed}
        settings = self.job["settings"]
        same = all(settings[name] == value for name, value in plan.job.settings.items() if name in settings)
        return same and self.iterations == plan.iterations and all(self.job[name] == value for name, value in asked.items())


Measure = Callable[[Plan, Folder], dict[str, Any]]
"""Measures what a run left in its folder."""


def collect(terms: Terms, paper: str, plans: Sequence[Plan], measure: Measure) -> dict[str, Record]:
    """Return the records of runs by name, in the order of the plans.

    Runs that are missing are made, or continued, unless only finished ones are asked for; a run that another process works on is left out.
    Raises `BadFile` if a record is damaged or of other settings than its plan.
    """
    found = dict[str, Record]()
    with _folder(terms, paper) as folder:
        for plan in plans:
            file = folder / f"{plan.name}.json"
            if file.exists():
                found[plan.name] = read_record(file, plan)
            elif not terms.finished:
                try:
                    found[plan.name] = _make(terms, folder, plan, measure)
                except InUse:
                    terms.tell(f"  {plan.name}: another process works on it")
    return found


@contextmanager
def _folder(terms: Terms, paper: str) -> Iterator[Path]:
    if terms.runs:
        yield terms.runs / paper
    else:
        with tempfile.TemporaryDirectory(prefix="nebel-") as name:
            yield Path(name)


def read_record(file: Path, plan: Plan) -> Record:
    """Return the record in a file; raises `BadFile` if it is damaged, or not of this plan."""
    try:
        record = Record(**parse_json(read_text(file, MOST_RECORDED, "a record of a run")))
        fits = record.fits(plan)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadFile(f"{file} is damaged: {error}") from error
    if not fits:
        raise BadFile(f"{file} is the record of a run with other settings; move it away to run {plan.name} again")
    return record


def _make(terms: Terms, folder: Path, plan: Plan, measure: Measure) -> Record:
    from nebel.learn.drive import News, learn

    run, told = Folder(folder / plan.name), time.monotonic()

    def progress(news: News) -> None:
        nonlocal told
        if time.monotonic() - told > TOLD_SECONDS:
            told = time.monotonic()
            terms.tell(f"  {plan.name}: {news.iterations:,} of {plan.iterations:,} iterations, {news.seconds / 3600:.2f} h")

    with terms.timed(plan.name):
        learned = learn(
            plan.job, Budget(iterations=plan.iterations), run.path, run.holds_a_run, plan.workers, progress,
            checkpoint_every=CHECKPOINT_SECONDS, keep_every=plan.keep_every,
        )  # fmt: skip
        job = {"game": plan.job.game, "method": plan.job.method, "recall": plan.job.recall, "seed": plan.job.seed}
        job["settings"] = learned.job.settings
        hours = round(learned.seconds / 3600, 4)
        record = Record(plan.name, job, learned.iterations, hours, machine(), measure(plan, run))
    if not record.fits(plan):
        raise BadFile(f"{run.path} holds a run with other settings; move it away to run {plan.name} again")
    write_text(folder / f"{plan.name}.json", json.dumps(record._asdict(), indent=1) + "\n")
    return record


def machine() -> str:
    """Return the processor's name, the number of cores and the versions that decide the last bits."""
    import torch

    name = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        lines = dict(line.split(":", 1) for line in cpus.read_text().splitlines() if ":" in line)
        name = next((value.strip() for key, value in lines.items() if key.strip() == "model name"), name)
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {torch.__version__}"


def metrics_of(run: Folder) -> Mapping[int, dict[str, float]]:
    """Return the rows of a run's metrics.jsonl by iteration."""
    rows = (json.loads(line) for line in (run.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["iterations"]: row for row in rows}
