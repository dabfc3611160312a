"""Rows of arrays in rules and kernels."""

from __future__ import annotations

from typing import Any

from nebel.core.rule import rule


@rule
def copy(row: Any, out: Any) -> None:
    """Into the beginning of `out`. An assignment of an array would do so, too, and take seconds to compile: of the words of its error."""
    for i in range(row.size):
        out[i] = row[i]
