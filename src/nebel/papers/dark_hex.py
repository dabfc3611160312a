"""Tapkan. Dark Hex: A Large Scale Imperfect Information Game. Master's thesis, University of Alberta, 2022: all of its results.

`nebel paper dark_hex` computes every table and figure anew and shows it beside the published one. docs/papers/dark_hex.md says
what was found.
"""

from __future__ import annotations

from nebel.papers.dark_hex_arena import round_robin
from nebel.papers.dark_hex_game import missed, pruning, recall, sizes, sure_wins
from nebel.papers.dark_hex_strategies import handcrafted, simplified, solution
from nebel.papers.dark_hex_study import Study
from nebel.papers.paper import Paper

PAPER = Paper(
    name="dark_hex",
    title="Dark Hex: the thesis of 2022, computed again",
    cite="M. B. Tapkan. Dark Hex: A Large Scale Imperfect Information Game. Master's thesis, University of Alberta, 2022.",
    intro=(
        "Every table and figure of the thesis beside our own. It looks for good strategies of classic Dark Hex on the board of 4 rows and "
        "3 columns; here the game is solved exactly, and every strategy is judged exactly. Utilities are +1 if Black wins and -1 if White "
        "wins; winning probabilities are between 0 and 1."
    ),
    study=Study,
    sections={
        "solution": solution,
        "sizes": sizes,
        "recall": recall,
        "sure-wins": sure_wins,
        "pruning": pruning,
        "missed-wins": missed,
        "handcrafted": handcrafted,
        "simplified": simplified,
        "round-robin": round_robin,
    },
)
