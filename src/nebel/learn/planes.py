"""The first convolution over boards, without gradients: from the few cells that hold something, and at once from planes that are level."""

from __future__ import annotations

from typing import Any

from nebel.core.rule import kernel, rule


@rule
def add_times(out: Any, given: Any, by: Any) -> None:
    for i in range(out.size):
        out[i] += by * given[i]


@kernel
def add_planes(rows: Any, height: int, width: int, kernels: Any, levels: Any, size: int, pad: int, out: Any) -> None:
    """Add what comes of planes, with which rows begin, to `out`: by row, line, and columns of all channels made. Kernels are by channel,
    line, and columns of all channels made, the last column first; `levels` is what comes of planes of ones."""
    made, cells = kernels.shape[2] // size, height * width
    wide = out.shape[2] // made
    for r in range(out.shape[0]):
        for c in range(kernels.shape[0]):
            plane = rows[r, c * cells : (c + 1) * cells]
            same = plane[0] != 0.0
            for k in range(1, cells):
                same &= plane[k] == plane[0]
            if same:
                for y in range(out.shape[1]):
                    add_times(out[r, y], levels[c, y], plane[0])
                continue
            for k in range(cells):
                if plane[k] != 0.0:
                    y, x = k // width + pad, k % width + pad
                    left = x - size + 1
                    first, last = max(left, 0), min(left + size, wide)
                    for i in range(max(0, y - out.shape[1] + 1), min(size, y + 1)):
                        line = kernels[c, i, (first - left) * made : (last - left) * made]
                        add_times(out[r, y - i, first * made : last * made], line, plane[k])
