"""The tabular methods by name, and what can be set for each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast

from nebel.core.errors import BadSetting
from nebel.core.settings import Settings, setting
from nebel.core.suggest import did_you_mean
from nebel.solve.cfr import SCHEDULES


@dataclass(frozen=True)
class Sweeping(Settings):
    """Full-width methods visit the whole tree in every iteration."""

    threads: int = setting(1, "threads (2: the players' payoffs are summed by two threads; pays on large trees)", 1, 2)


SIP_ACTIONS, SIP_THRESHOLD = 8, 0.1
"""What SIP keeps where nothing else is said, as in `nebel simplify`."""


@dataclass(frozen=True)
class Sampling(Settings):
    """What the sampling methods have in common."""

    kind = "outcome"
    deals = 2
    epsilon = 0.0
    baseline = False
    rate = 0.0
    averaging = cast("str | None", None)

    threads: int = setting(1, "threads that share one table (2: faster, and no longer the same result for the same seed)", 1, 2)
    weights: str = setting("plain", "weights of later iterations", choices=("plain", "linear", "discounted"))
    period: int = setting(1000, "iterations after which the weights change", 1)
    sip_every: int | None = setting(None, "iterations after which SIP drops moves, again and again (default: no SIP)", 1)
    sip_actions: int | None = setting(None, f"moves that SIP keeps at most in an information state (default: {SIP_ACTIONS})", 1)
    sip_threshold: float | None = setting(None, f"SIP drops moves whose probability is not above this (default: {SIP_THRESHOLD})")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sip_threshold is not None and not 0 <= self.sip_threshold < 1:
            raise BadSetting(f"--sip-threshold {self.sip_threshold:g} is out of range: it must be at least 0 and below 1")
        if self.sip_every is None and (self.sip_actions is not None or self.sip_threshold is not None):
            raise BadSetting("--sip-actions and --sip-threshold say what SIP keeps; give --sip-every too, which says when")


AVERAGING = ("simple", "stochastically-weighted")
AVERAGING_HELP = (
    "where strategies are added to the average: at the opponent's decisions (simple), or at the learning player's own decisions, by own"
    " reach over sampling probability, as OpenSpiel's outcome sampling does (stochastically-weighted) (default: simple)"
)


@dataclass(frozen=True)
class OutcomeSampling(Sampling):
    """One history an iteration and player."""

    epsilon: float = setting(0.6, "how often the player who learns explores", 0.01, 1)
    baseline: bool = setting(False, "subtract learned baselines, which lowers the variance")
    rate: float = setting(0.1, "how fast the baselines learn", 0.0001, 1)
    averaging: str | None = setting(None, AVERAGING_HELP, choices=AVERAGING)


@dataclass(frozen=True)
class ExternalSampling(Sampling):
    """All moves of one player, one sampled answer of the other."""

    kind = "external"
    baseline: bool = setting(False, "subtract learned baselines, which lowers the variance")
    rate: float = setting(0.1, "how fast the baselines learn", 0.0001, 1)
    averaging: str | None = setting(None, AVERAGING_HELP, choices=AVERAGING)


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
    """Return the settings that have a value, as `run.json` and policies hold them."""
    return {name: value for name, value in dataclasses.asdict(settings).items() if value is not None}
