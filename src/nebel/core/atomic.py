"""Two threads, one table: the atomic operations that a shared hash table needs."""

from __future__ import annotations

from typing import Any

from nebel.core.rule import native


def _make_claim() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def claim(typing_context: Any, array: Any, i: Any, old: Any, new: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _place(context, builder, signature, args, cgutils)
            old, new = (context.cast(builder, args[k], signature.args[k], types.int64) for k in (2, 3))
            return builder.extract_value(builder.cmpxchg(place, old, new, "seq_cst", "seq_cst"), 1)

        return types.boolean(array, i, old, new), codegen

    return claim


def _make_fetch_add() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def fetch_add(typing_context: Any, array: Any, i: Any, amount: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _place(context, builder, signature, args, cgutils)
            return builder.atomic_rmw("add", place, context.cast(builder, args[2], signature.args[2], types.int64), "seq_cst")

        return types.int64(array, i, amount), codegen

    return fetch_add


def _place(context: Any, builder: Any, signature: Any, args: Any, cgutils: Any) -> Any:
    """The address of an element of a one-dimensional int64 array."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [args[1]], wraparound=False)


@native(_make_claim)
def claim(array: Any, i: int, old: int, new: int) -> bool:
    """Put `new` in place of `old`; False if something else stood there."""
    if array[i] != old:
        return False
    array[i] = new
    return True


@native(_make_fetch_add)
def fetch_add(array: Any, i: int, amount: int) -> int:
    """Add to an element and return what it was before."""
    before: int = array[i]
    array[i] += amount
    return before
