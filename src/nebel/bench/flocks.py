"""Games in step with what players see written down: random steps a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from nebel.bench.clock import Contender, against, looped
from nebel.bench.peers import OPENSPIEL
from nebel.bench.row import Claim, Row
from nebel.core.registry import load
from nebel.learn.flock import Flock

BOARDS = 1024
SOME = 64
"""Games of the peer that go on together: with more it is not faster."""


def _ours(string: str, recall: str) -> Contender:
    flock = Flock(load(string), BOARDS, recall)
    return Contender("", lambda rounds: flock.wander(rounds))


def _vector_env(string: str) -> list[Contender]:
    """OpenSpiel's environments in a vector, each with observations for both players, as its deep methods use them."""
    from open_spiel.python import rl_environment, vector_env
    from open_spiel.python.rl_agent import StepOutput

    envs = vector_env.SyncVectorEnv([rl_environment.Environment(string) for _ in range(SOME)])
    rng = np.random.default_rng(1)
    held: list[Any] = [envs.reset()]

    def step() -> None:
        legal = [time.observations["legal_actions"][max(time.observations["current_player"], 0)] for time in held[0]]
        moves = [StepOutput(int(rng.choice(moves)) if len(moves) else 0, None) for moves in legal]
        held[0] = envs.step(moves, reset_if_done=True)[0]

    return [Contender(f"{OPENSPIEL} SyncVectorEnv", looped(step))]


def _claim(name: str, ours: str, recall: str, theirs: str, note: str) -> Claim:
    def measure(seconds: float) -> Row:
        row = against(name, _ours(ours, recall), lambda: _vector_env(theirs), seconds, "steps/s", OPENSPIEL, note)
        ratio = row.ratio and row.ratio * BOARDS / SOME
        return row._replace(ours=row.ours * BOARDS, peer=row.peer and row.peer * SOME, ratio=ratio)

    return Claim(name, measure)


def claims() -> list[Claim]:
    return [
        _claim("flock-leduc", "leduc", "perfect", "leduc_poker", f"{BOARDS} games in step, {SOME} of the peer"),
        _claim("flock-geister", "geister", "clock", "dark_hex(num_rows=6,num_cols=6)", "the peer has no Geister: its Dark Hex on 36 cells"),
    ]
