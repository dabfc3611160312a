"""The tabular methods by name, and what can be set for each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from nebel.core.errors import BadSetting
from nebel.core.settings import Settings, setting
from nebel.core.suggest import did_you_mean
from nebel.solve.cfr import SCHEDULES


@dataclass(frozen=True)
class Sweeping(Settings):
    """Full-width methods visit the whole tree in every iteration."""

    threads: int = setting(1, "threads (2: the players' payoffs are summed by two threads; pays on large trees)", 1, 2)


@dataclass(frozen=True)
class Sampling(Settings):
    """What the sampling methods have in common."""

    kind = "outcome"
    deals = 2
    epsilon = 0.0
    baseline = False
    rate = 0.0
    averaging = "simple"

    threads: int = setting(1, "threads that share one table (2: faster, and no longer the same result for the same seed)", 1, 2)
    weights: str = setting("plain", "weights of later iterations", choices=("plain", "linear", "discounted"))
    period: int = setting(1000, "iterations after which the weights change", 1)


AVERAGING = ("simple", "stochastically-weighted")
AVERAGING_HELP = (
    "where strategies are added to the average: at the opponent's decisions (simple), or at the learning player's own decisions, by own"
    " reach over sampling probability, as OpenSpiel's outcome sampling does (stochastically-weighted)"
)


@dataclass(frozen=True)
class OutcomeSampling(Sampling):
    """One history an iteration and player."""

    epsilon: float = setting(0.6, "how often the player who learns explores", 0.01, 1)
    baseline: bool = setting(False, "subtract learned baselines, which lowers the variance")
    rate: float = setting(0.1, "how fast the baselines learn", 0.0001, 1)
    averaging: str = setting("simple", AVERAGING_HELP, choices=AVERAGING)


@dataclass(frozen=True)
class ExternalSampling(Sampling):
    """All moves of one player, one sampled answer of the other."""

    kind = "external"
    baseline: bool = setting(False, "subtract learned baselines, which lowers the variance")
    rate: float = setting(0.1, "how fast the baselines learn", 0.0001, 1)
    averaging: str = setting("simple", AVERAGING_HELP, choices=AVERAGING)


@dataclass(frozen=True)
class ChanceSampling(Sampling):
    """A few deals an iteration, all moves of both players."""

    kind = "chance"
    deals: int = setting(2, "deals an iteration, each traversed once for both players; the usual algorithm has one", 1, 1000)
    weights: str = setting("discounted", "weights of later iterations", choices=("plain", "linear", "discounted"))
    period: int = setting(5, "iterations after which the weights change", 1)


@dataclass(frozen=True)
class DoubleOracleSettings(Settings):
    """Grows sets of pure strategies until exact best responses add nothing."""

    threads: int = setting(2, "threads (2: both players' best responses are searched at once; the result is the same)", 1, 2)
    start: int = setting(10, "strategies to begin with, for each player", 1, 1000)
    blend: float = setting(0.6, "how much of the best mixture so far is blended into the newest", 0, 0.99)


@dataclass(frozen=True)
class MaximinSettings(Settings):
    """Climbs to policies that remember the board only, and guarantee the most."""

    start: int = setting(20, "iterations of CFR+ to begin with", 1, 1000)
    least: float = setting(0.1, "smaller shares of the start are left out", 0, 0.5)
    radius: float = setting(0.01, "how much play the first step may shift from a move or to it", 0.0001, 0.5)


METHODS: dict[str, type[Settings]] = {
    **dict.fromkeys(SCHEDULES, Sweeping),
    "chance-sampled": ChanceSampling,
    "external-sampling": ExternalSampling,
    "outcome-sampling": OutcomeSampling,
    "double-oracle": DoubleOracleSettings,
    "maximin": MaximinSettings,
}
ALIASES = {"linear-cfr": "linear", "chance": "chance-sampled", "external": "external-sampling", "outcome": "outcome-sampling"}


def method_named(name: str) -> str:
    name = ALIASES.get(name, name)
    if name not in METHODS:
        raise BadSetting(f"no method {name!r}{did_you_mean(name, [*METHODS, *ALIASES])}; methods: {', '.join(METHODS)}")
    return name


def as_dict(settings: Settings) -> dict[str, object]:
    return dataclasses.asdict(settings)
