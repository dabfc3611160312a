"""Settings of papers, and for kinds of games: `nebel learn GAME --with METHOD --preset NAME`. What is given besides goes before."""

from __future__ import annotations

from typing import Any, NamedTuple

from nebel.core.errors import BadSetting
from nebel.core.settings import made_of
from nebel.core.suggest import did_you_mean
from nebel.learn.mmd_ppo import MmdPpoSettings


class Preset(NamedTuple):
    settings: dict[str, Any]
    note: str
    recall: str | None = None
    """What players remember, unless it is given besides."""


PAPER_ON_GEISTER = (
    "Chen, Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep CFR; the steps (N_train) are ours,"
    " for the paper does not state their number"
)
SMALL_GEISTER = "Troillet, Matsuzaki. Analyzing simplified Geister using DREAM; steps are ours, for the paper does not state their numbers"
THESIS = "Tapkan. Dark Hex: A Large Scale Imperfect Information Game. 2022; its steps are Adam's here, not those of plain gradient descent"
ITS_AUTHORS = "Steinberger, Lerer, Brown. DREAM. 2020, for Leduc poker"
SINGLE = "Steinberger. Single Deep Counterfactual Regret Minimization. 2019, for Leduc poker"
XU = "Xu and others. Deep (Predictive) Discounted CFR. 2025; the average learns in every iteration, not 5,000 steps in every third"
KITCHEN = "Kitchen, Benedetti. ExIt-OOS. 2018: lessons are what the search would play; `paper` is its Leduc poker, leduc(suits=false)"
KITCHENS: dict[str, Any] = {
    "simulations": 10_000, "stride": 0.0, "trust": 0.0, "rate": 0.0, "weighting": "paper", "epsilon": 0.4, "delta": 0.9, "gamma": 0.01,
    "games": 32, "steps": 128, "learning_rate": 1e-3, "room": 32_000, "room_of": "games", "decay": 2.0,
}  # fmt: skip
"""What its experiments have in common."""
OUR_OWN = "our own, found on Leduc poker and on Geister"

PRESETS: dict[str, dict[str, Preset]] = {
    "deep-cfr": {
        "geister": Preset(
            {"sampling": "outcome", "estimate": "paper", "memory": "reservoir", "hidden": "geister-deep-cfr",
             "traversals": 384, "batch": 3584, "room": 1_075_200, "rate": 0.01, "clip": 1.0, "explore": 0.6, "steps": 100,
             "average_every": 50, "average_steps": 1000}, PAPER_ON_GEISTER, "six-channels",
        ),
        "leduc": Preset(
            {"memory": "samples", "fresh": True, "traversals": 1500, "steps": 750, "batch": 2048, "room": 1_000_000, "average": "nets"},
            SINGLE,
        ),
    },
    "vr-deep-dcfr+": {
        "paper": Preset(
            {"traversals": 10_000, "explore": 0.6, "steps": 750, "baseline_steps": 1000, "average_hidden": "64-64-64",
             "average_steps": 1667, "alpha": 2.0, "gamma": 2.0, "divide_sampling": False}, XU,
        ),
    },
    "dream": {
        "geister": Preset(
            {"memory": "reservoir", "fresh": True, "hidden": "geister-dream", "traversals": 4096, "batch": 2176, "room": 1_280_000,
             "rate": 1e-3, "explore": 0.5, "steps": 100, "average": "nets", "baseline": "each", "baseline_room": 1_280_000,
             "baseline_steps": 50}, SMALL_GEISTER, "board-and-numbers",
        ),
        "leduc": Preset(
            {"memory": "samples", "fresh": True, "traversals": 900, "steps": 3000, "batch": 2048, "baseline_steps": 1000, "room": 2_000_000,
             "average": "nets"}, ITS_AUTHORS,
        ),
    },
    "nfsp": {
        "dark-hex": Preset(
            {"memory": "samples", "hidden": "dark-hex-nfsp", "replay": 200_000, "room": 2_000_000, "batch": 128, "anticipate": 0.1,
             "exploring": "along", "stray": 0.06, "settling": 1000.0, "late": 0.0, "boards": 256, "rate": 1e-3, "slowing": 0.0,
             "follow": 300}, THESIS,
        ),
    },
    "mmd-ppo": {
        "cards": Preset(
            {"step": "closed", "even": 0.2, "settling": 5.0, "batch": 1024, "hidden": "64-64-64", "critic": "64-64-64"}, OUR_OWN,
        ),
        "boards": Preset({"step": "gradient"}, OUR_OWN),
        "geister": Preset(
            {"step": "gradient", "hidden": "256-256", "critic": "256-256", "magnet": 0.3, "mean": 0.99, "settling": 300.0, "sharpen": 2.0},
            "our own, of the network that comes with nebel",
        ),
    },
    "exit-oos": {
        "paper": Preset({**KITCHENS, "target": "public", "hidden": "128"}, KITCHEN),
        "paper-leduc": Preset({**KITCHENS, "target": "public", "hidden": "128"}, KITCHEN),
        "paper-goofspiel-6": Preset({**KITCHENS, "hidden": "128-64"}, KITCHEN),
        "paper-goofspiel-13": Preset({**KITCHENS, "hidden": "128-128-64", "steps": 512}, KITCHEN),
    },
}  # fmt: skip


def preset_named(method: str, name: str) -> Preset:
    """Return what a method's preset holds; raises `BadSetting` if there is none of this name."""
    offered = PRESETS.get(method, {})
    if name not in offered:
        there = "; ".join(f"--with {other}: {', '.join(some)}" for other, some in PRESETS.items())
        raise BadSetting(f"{method} has no preset {name!r}{did_you_mean(name, offered)}; there are: {there}")
    return offered[name]


def preset_of(method: str, name: str) -> dict[str, Any]:
    """Return a preset's settings."""
    return dict(preset_named(method, name).settings)


def usual(method: str, board: bool, given: dict[str, Any]) -> dict[str, Any]:
    """What was given; and what suits games of cards where nothing that was given asks for the steps that suit boards."""
    if method != "mmd-ppo" or board:
        return given
    cards = {**preset_of(method, "cards"), **given}
    try:
        made_of(MmdPpoSettings, cards)
    except BadSetting:
        return given
    return cards
