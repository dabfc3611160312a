"""Imports point one way, as the rooms of the package are meant to stand on each other."""

from __future__ import annotations

import ast
from pathlib import Path

import nebel

ROOT = Path(nebel.__file__).parent
ALLOWED = {
    "core": {"core"},
    "games": {"core", "games"},
    "policy": {"core", "policy"},
    "dark_hex": {"core", "dark_hex"},
    "judge": {"core", "policy", "dark_hex", "judge"},
    "solve": {"core", "policy", "dark_hex", "judge", "solve"},
    "search": {"core", "policy", "search"},
    "bridge": {"core", "policy", "bridge"},
    "match": {"core", "policy", "judge", "search", "match"},
    "geister": {"core", "games", "policy", "search", "match", "geister"},
    "learn": {"core", "policy", "dark_hex", "judge", "solve", "search", "match", "learn"},
    "bench": {"core", "policy", "judge", "solve", "search", "learn", "bench"},
    "report": {"core", "policy", "judge", "report"},
    "web": {"games", "geister", "core", "policy", "dark_hex", "judge", "solve", "search", "match", "report", "papers", "web"},
    "papers": {"games", "geister", "core", "policy", "dark_hex", "judge", "solve", "search", "match", "learn", "report", "papers"},
}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("nebel.")}
    return found


def test_imports_point_one_way() -> None:
    for room, allowed in ALLOWED.items():
        for path in (ROOT / room).rglob("*.py"):
            assert imports_of(path) <= allowed, path.relative_to(ROOT)


def test_no_pickle_and_no_eval() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not {"pickle", "shelve", "marshal"} & {alias.name for alias in node.names}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), path


def test_files_stay_readable() -> None:
    for path in ROOT.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path
