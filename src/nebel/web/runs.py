"""Runs on disk: what there is, their metrics while they go on, and reports."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from nebel.core.errors import BadFile, BadSetting
from nebel.core.input import file_inside, parse_json, read_bytes
from nebel.web.house import Here
from nebel.web.refusal import Refusal, documented

router = APIRouter(prefix="/api/runs", tags=["runs"], responses=documented(404))

METRICS = "metrics.jsonl"
MOST_RUNS, MOST_REPORTS, DEEPEST = 500, 200, 5
MOST_BYTES, TAIL, MOST_ASKED = 32 << 20, 1 << 16, 1 << 20
"""Read of metrics, of the end of metrics in a list of runs, and of what a run was asked."""
MOST_SEED = 2**63
MOST_POINTS = 1000
"""Of a curve as it is told."""
OVERLAID = 6
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""A report is somebody's file: it may look as it likes, and do nothing."""

Name = Annotated[str, Query(max_length=500)]


class Run(BaseModel):
    """`metrics` are the numbers that its lines tell; `changed` in seconds since 1970."""

    name: str
    game: str
    method: str
    seed: int | None
    metrics: list[str]
    changed: float


class Listed(BaseModel):
    runs: list[Run]
    reports: list[str]


class Curve(BaseModel):
    """Points of a run in the order of its lines; of very many, some, the last one among them."""

    x: list[float]
    y: list[float]


class Curves(BaseModel):
    """By the names of runs. `points` counts all of them, told or not. `latest` is the last row that tells `y`, whole.

    `stamp` tells this state of the files: given back as `since`, files that have not changed are not told again and `curves` is None.
    """

    stamp: str
    curves: dict[str, Curve] | None
    points: dict[str, int]
    latest: dict[str, dict[str, float]]


def _walk(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Folders under the root, not too deep, and the files in each; links to elsewhere are not followed."""
    for folder, below, files in os.walk(root):
        here = Path(folder)
        deep = len(here.relative_to(root).parts) >= DEEPEST
        below[:] = [] if deep else sorted(name for name in below if not name.startswith(".") and name != "checkpoint")
        yield here, sorted(files)


def _listed(root: Path) -> Listed:
    runs: list[Run] = []
    reports: list[str] = []
    for folder, files in _walk(root):
        if METRICS in files and len(runs) < MOST_RUNS and _is_listed(root, folder / METRICS):
            runs.append(_run(root, folder))
        pages = (folder / name for name in files if name.endswith(".html"))
        reports += [page.relative_to(root).as_posix() for page in pages if _is_listed(root, page)]
    return Listed(runs=sorted(runs, key=lambda run: -run.changed), reports=reports[:MOST_REPORTS])


def _is_listed(root: Path, path: Path) -> bool:
    """Whether this is a file under the root, with a name that an answer can hold."""
    return file_inside(root, path) is not None and path.as_posix().isprintable()


def _run(root: Path, folder: Path) -> Run:
    try:
        facts = parse_json(read_bytes(folder / "run.json", MOST_ASKED))
    except (BadFile, ValueError):
        facts = {}
    facts = facts if isinstance(facts, dict) else {}
    game, method = (text if isinstance(text, str) and text.isprintable() else "" for text in (facts.get("game"), facts.get("method")))
    file = folder / METRICS
    told = dict.fromkeys(name for row in _rows(file, TAIL) for name in row)
    return Run(
        name=folder.relative_to(root).as_posix(),
        game=game,
        method=method,
        seed=seed if isinstance(seed := facts.get("seed"), int) and abs(seed) < MOST_SEED else None,
        metrics=list(told),
        changed=file.stat().st_mtime,
    )


def _rows(file: Path, most: int) -> list[dict[str, float]]:
    """The numbers of each whole line among the last bytes of the file."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - most))
        text = stream.read(most).decode("utf-8", "replace")
    rows = []
    for line in text.split("\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # cut off, still being written, or not a row
            continue
        if isinstance(row, dict):
            rows.append({name: float(value) for name, value in row.items() if name.isprintable() and _is_number(value)})
    return rows


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)


def _inside(root: Path, name: str, file: str) -> Path:
    """The file in a folder of this name under the root, whatever the name says."""
    path = file_inside(root, Path(name, file))
    if path is None:
        raise Refusal(f"no {file or 'report'} at {name[:200]!r} in the folder of runs", 404)
    return path


def _curves(root: Path, names: list[str], x: str, y: str, since: str) -> Curves:
    if not 1 <= len(names) <= OVERLAID:
        raise BadSetting(f"a chart shows 1 to {OVERLAID} runs, not {len(names)}")
    files = {name: _inside(root, name, METRICS) for name in names}
    stamp = " ".join(f"{file.stat().st_mtime_ns:x}.{file.stat().st_size:x}" for file in files.values())
    if stamp == since:
        return Curves(stamp=stamp, curves=None, points={}, latest={})
    rows = {name: _rows(file, MOST_BYTES) for name, file in files.items()}
    series = {name: [(row[x], row[y]) for row in told if x in row and y in row] for name, told in rows.items()}
    if not any(series.values()):
        raise BadSetting(f"no line of {' or '.join(names)} tells both {x[:40]!r} and {y[:40]!r}")
    curves = {name: _curve(points) for name, points in series.items()}
    latest = {name: next((row for row in reversed(told) if y in row), {}) for name, told in rows.items()}
    return Curves(stamp=stamp, curves=curves, points={name: len(points) for name, points in series.items()}, latest=latest)


def _curve(points: list[tuple[float, float]]) -> Curve:
    step = max(1, math.ceil(len(points) / MOST_POINTS))
    told = points[::-step][::-1]
    return Curve(x=[point[0] for point in told], y=[point[1] for point in told])


@router.get("", summary="Runs and reports in the folder of runs, the latest first")
async def listed(house: Here) -> Listed:
    return await house.loaders.run(_listed, house.setup.runs)


@router.get("/curves", summary="A metric of some runs over another")
async def curves(
    house: Here,
    run: Annotated[list[str], Query(max_length=100)],
    y: Name,
    x: Name = "iterations",
    since: Annotated[str, Query(max_length=1000)] = "",
) -> Curves:
    return await house.loaders.run(_curves, house.setup.runs, run, x, y, since)


@router.get("/report", summary="A report, as it was written", response_class=HTMLResponse)
async def report(house: Here, name: Name) -> HTMLResponse:
    if not name.endswith(".html"):
        raise Refusal("reports are .html files", 404)
    file = await house.loaders.run(_inside, house.setup.runs, name, "")
    return HTMLResponse(await house.loaders.run(file.read_bytes), headers={"Content-Security-Policy": REPORT_POLICY})
