"""Rules are compiled for kernels alone: they take them in, and nobody else can call what was compiled."""

from __future__ import annotations

import pytest

from nebel.core.rule import compiled, kernel, rule


@rule
def doubled(number: int) -> int:
    return 2 * number


@kernel
def sum_of_doubles(count: int) -> int:
    total = 0
    for i in range(count):
        total += doubled(i)
    return total


def test_kernels_take_rules_in() -> None:
    assert sum_of_doubles(10) == 90
    assert kernel(doubled)(21) == 42
    assert doubled(21) == 42


def test_what_is_for_kernels_refuses_to_be_called() -> None:
    twin = compiled(doubled)
    with pytest.raises((TypeError, ValueError)):
        twin(3)
