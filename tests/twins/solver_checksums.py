"""Prints a checksum for every solver on games of every kind, as JSON: run compiled, plain and bounds-checked to compare."""

from __future__ import annotations

import hashlib
import json
import warnings

import numpy as np

import nebel
from nebel.core.reach import explore
from nebel.core.tree import grow
from nebel.judge.belief_response import respond
from nebel.judge.best_response import Judge
from nebel.judge.informed import both_follow
from nebel.policy.table import from_tree
from nebel.solve.cfr import SCHEDULES, FullWidth
from nebel.solve.double_oracle import DoubleOracle
from nebel.solve.merged import MergedStates
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling, DoubleOracleSettings, ExternalSampling, OutcomeSampling

GAMES = ("kuhn", "leduc", "dark_hex:2x2")
SAMPLERS = (
    OutcomeSampling(),
    OutcomeSampling(baseline=True, weights="linear", period=7),
    ExternalSampling(weights="discounted", period=4),
    ExternalSampling(baseline=True),
    ChanceSampling(),
)
FEWER = {"leduc perfect": SAMPLERS[1:3], "dark_hex:2x2 perfect": SAMPLERS[1:3], "dark_hex:2x2 board": (SAMPLERS[0], *SAMPLERS[3:])}
"""Each is compiled by itself: all on Kuhn poker, all on Dark Hex by one recall or the other."""


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]


def main() -> None:
    warnings.simplefilter("ignore")
    sums = {}
    for string in GAMES:
        game = nebel.game(string)
        for recall in ("perfect", *game.glances)[:2]:
            tree = grow(game, recall)
            name = f"{string} {recall}"
            sums[f"{name} tree"] = digest(*tree.nodes, *(a for side in tree.sides for a in side.points))
            sums[f"{name} reach"] = str(explore(game, recall))
            for method in SCHEDULES if string != "leduc" else ("dcfr", "pdcfr+"):
                solver = FullWidth(tree, method)
                solver.run(4)
                sums[f"{name} {method}"] = digest(*solver.save().values())
                verdict = Judge(tree).verdict(solver.strategies())
                sums[f"{name} {method} verdict"] = repr(verdict)
            if recall != "perfect":
                policy = from_tree(tree, solver.strategies())
                sums[f"{name} beliefs"] = repr([respond(game, policy, me) for me in range(2)] + [both_follow(game, policy)])
            for settings in FEWER.get(name, SAMPLERS):
                for walked in (tree, None):
                    sampled = Sampled(game, recall, walked, settings, seed=3, memory=1 << 22)
                    sampled.run(2 if settings.kind == "chance" else 20)
                    label = f"{settings.kind}{' baseline' if settings.baseline else ''} {settings.weights}"
                    sums[f"{name} {label} {'tree' if walked else 'rules'}"] = digest(*sampled.policy({}).on_tree(tree).strategies)
    for string in ("dark_hex(rows=2,cols=2,abrupt=true,leak=flash)", "dark_hex(rows=2,cols=3,leak=noisy)"):
        game = nebel.game(string)
        oracle = DoubleOracle(game, DoubleOracleSettings(start=2, threads=1), seed=1)
        oracle.run(3)
        sums[f"{string} double-oracle"] = repr(oracle.certificate())
        merged = MergedStates(game, "dcfr+")
        merged.run(2)
        sums[f"{string} merged"] = digest(*merged.save().values())
    print(json.dumps(sums))


if __name__ == "__main__":
    main()
