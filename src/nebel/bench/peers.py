"""The peers' solvers, each as it is fastest."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from nebel.bench.clock import Contender, looped

OPENSPIEL, LITEEFG = "OpenSpiel", "LiteEFG"


def openspiel_game(string: str, cached: bool = False) -> Any:
    import pyspiel

    game = pyspiel.load_game(string)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    return pyspiel.convert_to_cached_tree(game) if cached else game


def openspiel_solver(string: str, kind: str, cached: bool, **settings: Any) -> tuple[Any, Any]:
    """A solver of OpenSpiel's C++ library, and one step of it: both players updated once."""
    import pyspiel

    solver = getattr(pyspiel, kind)(openspiel_game(string, cached), **settings)
    return solver, solver.run_iteration if "MCCFR" in kind else solver.evaluate_and_update_policy


def openspiel_both_ways(string: str, kind: str, **settings: Any) -> list[Contender]:
    """The solver on the game itself and on its cached tree."""
    field = []
    for cached in (False, True):
        _, step = openspiel_solver(string, kind, cached, **settings)
        field.append(Contender(f"{OPENSPIEL} {kind}{', cached tree' if cached else ''}", looped(step)))
    return field


@contextlib.contextmanager
def _own_home() -> Iterator[None]:
    """LiteEFG writes game files into the home directory: give it one of its own, and let it print to nobody."""
    before = os.environ.get("HOME")
    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stdout(io.StringIO()):
        os.environ["HOME"] = home
        try:
            yield
        finally:
            if before is None:
                del os.environ["HOME"]
            else:
                os.environ["HOME"] = before


def liteefg_solver(string: str, method: str, traverse: str = "Enumerate") -> tuple[Any, Any, Any]:
    """LiteEFG's environment, its graph, and one step: both players updated once, the average kept."""
    import LiteEFG

    with _own_home():
        graph = importlib.import_module(f"LiteEFG.baselines.{method}").graph()
        env = LiteEFG.OpenSpielEnv(openspiel_game(string), traverse_type=traverse, regenerate=True)
    env.set_graph(graph)

    def step() -> None:
        graph.update_graph(env)
        env.update_strategy(graph.current_strategy())

    return env, graph, step


def liteefg_contenders(string: str, method: str) -> list[Contender]:
    return [Contender(f"{LITEEFG} {method}", looped(liteefg_solver(string, method)[2]))]
