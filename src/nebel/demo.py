"""What `make run` shows: small games solved, with an exact number beside each."""

from __future__ import annotations

import time

from nebel.cli.screen import figure, say, table
from nebel.solve import Budget, Job, solve

SHOWN = (
    ("kuhn", "pdcfr+", "perfect", 1e-9),
    ("leduc", "dcfr+", "perfect", 1e-5),
    ("liars_dice", "dcfr+", "perfect", 1e-4),
    ("goofspiel:5", "pdcfr+", "perfect", 1e-8),
    ("dark_hex:3x2", "pdcfr+", "perfect", 1e-8),
    ("dark_hex(rows=3,cols=2,abrupt=true)", "pdcfr+", "board", 1e-3),
)


def main() -> None:
    begin = time.perf_counter()
    say("nebel solves six small games and says exactly how far each strategy is from perfect play.")
    say("(The first time each game is compiled; the machine code is kept.)\n")
    rows = []
    for game, method, recall, goal in SHOWN:
        say(f"  {game} ...", to_error=True)
        result = solve(Job(game, method, recall), Budget(until=goal, seconds=4.0))
        verdict = result.verdict
        assert verdict is not None
        states = " + ".join(f"{n:,}" for n in result.sizing.information_states or [])
        figures = (f"{result.iterations:,}", f"{result.seconds:.2f}", figure(verdict.exploitability), figure(verdict.value))
        rows.append((game, recall, method, states, *figures))
    say()
    table(("game", "recall", "method", "information states", "iterations", "seconds", "exploitability", "value"), rows)
    say("\nExploitability is exact: what best responses with perfect recall gain, averaged over both players.")
    say(f"{time.perf_counter() - begin:.0f} s in all. Next:")
    for words in ("games", "solve leduc --out leduc.nebel", "play leduc --against leduc.nebel"):
        say(f"  .venv/bin/nebel {words}")


if __name__ == "__main__":
    main()
