"""Shapes of networks, and how people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nebel.core.errors import BadSetting


class Shape(NamedTuple):
    """Sizes of the dense layers; before them convolutions over planes as (channels, kernel, padding), how those are bent, and beside them
    sizes of layers for the other numbers (0: as they are). `skip`: a dense layer adds what it was given, where sizes agree; `norm`: batches
    are normalised before the last layer; `pool`: after the convolutions the largest of squares of this size stay."""

    dense: Sequence[int]
    planes: Sequence[tuple[int, int, int]] = ()
    bend: str = "relu"
    rest: Sequence[int] = ()
    skip: bool = False
    norm: bool = False
    pool: int = 1


NAMED = {
    "geister-deep-cfr": Shape((144, 144, 144), ((16, 2, 0), (16, 1, 0)), "tanh", (2, 2), skip=True, norm=True),
    "geister-dream": Shape((64, 64), ((16, 3, 1), (32, 3, 1), (16, 3, 1)), rest=(8, 16, 0)),
    "dark-hex-nfsp": Shape((512, 256), ((512, 3, 1), (256, 3, 1)), rest=(0, 0), pool=2),
}
"""Networks of papers."""


def read_hidden(text: str) -> list[int]:
    """Sizes of hidden layers, such as 128-64."""
    sizes = [int(word) if word.isdecimal() else 0 for word in text.split("-")]
    if min(sizes) < 1:
        shapes = ", ".join(("128-64", "conv:16-32/64-64", *NAMED))
        raise BadSetting(f"sizes of layers {text!r} are not understood; networks are written as: {shapes}")
    return sizes


def read_shape(text: str) -> Shape:
    """A shape as people write it: `128-64`, `conv:16-32/64-64`, or a paper's."""
    if text in NAMED:
        return NAMED[text]
    if not text.startswith("conv:"):
        return Shape(read_hidden(text))
    channels, slash, dense = text.removeprefix("conv:").partition("/")
    if not slash:
        raise BadSetting(f"network {text!r} is not understood; write channels and dense layers such as conv:16-32/64-64")
    sizes = read_hidden(channels)
    return Shape(read_hidden(dense), [(size, 3, 1) for size in sizes], rest=[16] * len(sizes))
