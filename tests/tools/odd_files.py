"""Files that make no sense, or mean harm: policies, certificates, strategies and runs with changes, drawn by seed."""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

import nebel
from nebel.core.errors import Problem
from nebel.core.tree import grow
from nebel.policy.io import Arrays
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.table import MadePolicy, from_tree

CERTIFICATES = Path(__file__).parent.parent.parent / "docs" / "certificates"

STRANGE: list[Any] = [
    None, True, 0, -1, 3, 1e308, "", "x", "kuhn", "leduc", "perfect", "board", "no such thing", "kuhn(", "openspiel:", "evil.py:boom", "\n",
    "é" * 3000, [], {}, [[]], ["relu"], [["relu", False, 1]], [["relu", True, 2]], [["tanh", False, 0]], {"a": {"b": []}}, [1, 2, 3],
    "error", "uniform", "policy", "network", "networks", "checkpoint", "dark_hex(rows=0)", "dark_hex(rows=99999999999,cols=3)",
]  # fmt: skip


def policies() -> list[MadePolicy]:
    """Return tables of two recalls, a network, and an ensemble of networks for each player."""
    game, rng = nebel.game("kuhn"), np.random.default_rng(1)
    tables: list[MadePolicy] = []
    for tree in (grow(game), grow(nebel.game("dark_hex:3x2"), "board")):
        first, second = (np.repeat(1 / np.diff(side.row), np.diff(side.row)) for side in tree.sides)
        tables.append(from_tree(tree, (first, second), {"method": "none", "iterations": 0}))
    size, moves = game.encodings["perfect"].size, game.actions  # type: ignore[attr-defined]

    def layers(*count: int) -> tuple[Layer, ...]:
        def floats(*shape: int) -> Any:
            return rng.random((*count, *shape), np.float32)

        first, second = Layer(floats(size, 4), floats(4), "relu"), Layer(floats(4, 4), floats(4), "tanh", True)
        return first, second, Layer(floats(4, moves), floats(moves), "")

    own = game.string, game.fingerprint, "perfect"
    return [*tables, NetPolicy(*own, layers()), NetsPolicy(*own, (layers(2), layers(3)), (np.ones(2), np.ones(3)))]


def change_array(array: Any, rng: random.Random) -> Any:
    """Another shape, another type, or other numbers."""
    array = np.atleast_1d(array)
    flat = array.reshape(-1).copy()
    if not len(flat):
        return array[..., None]
    match rng.randrange(9):
        case 0:
            return array.astype(rng.choice([np.float16, np.float32, np.float64, np.int8, np.int32, np.uint64, np.bool_]))
        case 1:
            return array[..., None]
        case 2:
            return flat[: rng.randrange(len(flat) + 1)]
        case 3:
            return np.concatenate([flat, flat])
        case 4:
            return array[:0]
        case 5:
            return array.swapaxes(0, -1).copy()
        case 6:
            return np.array(rng.choice([0, 1, -1]), array.dtype)
        case _:
            strange = [0, 1, -1, 7, 2**62] if array.dtype.kind == "i" else [0, -1, 0.5, 2, 1e300, float("nan"), float("inf")]
            for _ in range(rng.randrange(1, 3)):
                flat[rng.randrange(len(flat))] = np.array(rng.choice(strange)).astype(array.dtype)
            return flat.reshape(array.shape)


def change_rows(arrays: Arrays, rng: random.Random) -> Arrays:
    """The rows of one player's table with a change that leaves the table whole: one less, one of another key, or other shares."""
    p = rng.randrange(2)
    names = [f"{name}{p}" for name in ("keys", "first", "move", "share")]
    if not arrays.keys() >= set(names):
        return {}
    keys, first, move, share = (arrays[name].copy() for name in names)
    whole = all(array.ndim == 1 and array.dtype.itemsize == 8 for array in (keys, first, move, share)) and first.dtype == np.int64
    if not whole or not 2 < len(first) == len(keys) + 1 or len(move) != len(share) or np.any((np.diff(first) < 1) | (np.diff(first) > 9)):
        return {}
    row = rng.randrange(len(keys))
    here = slice(*first[row : row + 2].tolist())
    match rng.randrange(4):
        case 0:
            keys, first, move = np.delete(keys, row), np.delete(first, row), np.delete(move, here)
            share, first[row:] = np.delete(share, here), first[row:] - (here.stop - here.start)
            first[0] = 0
        case 1:
            keys[row] += 1
        case 2:
            share[here] = share[here][::-1] * rng.choice([1.0, 1.0 + 1e-6, -1.0])
        case _:
            move[here] = np.sort(np.array(rng.sample(range(9), len(move[here]))))
    return dict(zip(names, (keys, first, move, share), strict=True))


@np.errstate(all="ignore")
def change_policy(arrays: Arrays, header: dict[str, Any], rng: random.Random) -> tuple[Arrays, dict[str, Any]]:
    """A policy with one to three changes of its meaning."""
    arrays, header = dict(arrays), copy.deepcopy(header)
    for _ in range(rng.randrange(1, 4)):
        name, field = rng.choice(sorted(arrays) or [""]), rng.choice(sorted(header))
        match rng.randrange(11):
            case 0:
                header[field] = rng.choice(STRANGE)
            case 1:
                del header[field]
            case 8:
                header["facts"] = {rng.choice(["method", "iterations", "settings", "\033[2J", ""]): rng.choice(STRANGE)}
            case 9 if "share0" in arrays:
                arrays |= change_rows(arrays, rng)
            case 10 if name in arrays and arrays[name].dtype.kind == "f":
                arrays[name] = (arrays[name] * rng.choice([-1, 0, 1e-30, 1e19, 1e38])).astype(arrays[name].dtype)
            case 2:
                arrays.pop(name, None)
            case 3:
                arrays[rng.choice(["keys0", "weights9", "x", "keys2"])] = np.zeros(rng.randrange(4))
            case 4 if len(arrays) > 1:
                other = rng.choice(sorted(arrays))
                arrays[name], arrays[other] = arrays[other], arrays[name]
            case _:
                if name in arrays:
                    arrays[name] = change_array(arrays[name], rng)
        if not header:
            break
    return arrays, header


def one_line(problem: Problem, quoting: bool = False) -> None:
    """The message is one line that can be read; strategies quote the line of the file below it."""
    first, *more = str(problem).splitlines()
    assert len(first) < 2500
    assert quoting or not more


NUMBERS = ["1/2", "-1/2", "0", "1e-9999999", "1e9999999", "NaN", "Infinity", "1/0", "9" * 5000, "1/" + "7" * 900, "", 1, 0.5, None, [], "½"]


def change_certificate(data: Any, rng: random.Random) -> str:
    """A certificate with one to three changes, as text."""
    data = copy.deepcopy(data)
    for _ in range(rng.randrange(1, 4)):
        side = data.get(rng.choice(["black", "white"]))
        lines = side.get("strategies") if isinstance(side, dict) else None
        match rng.randrange(7):
            case 0:
                data[rng.choice(list(data))] = rng.choice([*NUMBERS, True, {}, "silent", "noisy", "flash", 30, -1, 10**30])
            case 1:
                data.pop(rng.choice(list(data)))
            case 2 if isinstance(side, dict):
                side["guarantee"] = rng.choice(NUMBERS)
            case 3 if lines:
                lines[rng.randrange(len(lines))] = rng.choice([[], ["1/2"], "1/2", [rng.choice(NUMBERS), "a;"], [1, 2, 3], None])
            case 4 if lines and isinstance(lines[0], list) and lines[0]:
                lines[0][0] = rng.choice(NUMBERS)
            case 5 if lines and isinstance(lines[-1], list) and len(lines[-1]) > 1 and isinstance(lines[-1][1], str):
                text = [*lines[-1][1]]
                for _ in range(rng.randrange(1, 4)):
                    text[rng.randrange(len(text))] = rng.choice("abcdz+-*;.") * rng.choice([0, 1, 1, 2, 3000])
                lines[-1][1] = "".join(text) or ";"
            case _:
                if isinstance(side, dict):
                    side["strategies"] = rng.choice([[], None, {}, [["1", ";" * 9]], [["1", "a+" * 5000]], [["1", "a;"]] * 2])
    text = json.dumps(data)
    if rng.random() < 0.2:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(["[" * 3000, "NaN", "", "\0", "9" * 5000, '"', "}"]) + text[at + rng.randrange(3) :]
    return text


def certificates() -> list[Any]:
    """Return ten small certificates."""
    files = [*CERTIFICATES.glob("2x2*.gz"), *CERTIFICATES.glob("2x3-classic*.gz"), *CERTIFICATES.glob("3x2-abrupt-silent*.gz")]
    return [json.loads(gzip.decompress(file.read_bytes())) for file in sorted(files)]


HEADER = "rows: {}\ncols: {}\nplayer: {}\n"
PIECES = [
    "a1", "b1", "a2", "b2", "c3", "z9", "!", "?", "T", "(", ")", "{", "}", ",", ":", "|", "~", "=", "/", "1/2", "0.3", "1/3", "n_", "m_",
    "\n", "é", "(a1)", "~ (b2)", "{a1, b1}", "{a1: 1/2, b2: 1/2}", "{a1 | b2}",
    "T(n_)", "m_ = a2 ~ (b1)", "n_ = {m_, T(m_)}", "9" * 30, "#", "¬",
    "(" * 200, "~ (a1)" * 200, "a1 " * 500, "{" * 100,
]  # fmt: skip


def some_notation(rng: random.Random, depth: int) -> str:
    """A strategy by the grammar, for a board of 2 x 2."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(["a1", "b1", "a2", "b2", "!", "?", "n_", "m_"])
    parts = [some_notation(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
    odds = rng.choice([["1"], ["1/2", "1/2"], ["1/3", "0.5", "1/6"], ["1/3"] * 3, ["0.3", "0.7"]])
    mixed = [f"{part}: {share}" for part, share in zip(parts, odds, strict=False)]
    return rng.choice([
        ", ".join(parts), f"{parts[0]} ~ ({parts[-1]})", f"T({parts[0]})", "{" + ", ".join(parts) + "}", "{" + " | ".join(parts) + "}",
        "{" + ", ".join(mixed) + "}",
    ])  # fmt: skip


def change_notation(rng: random.Random) -> str:
    """Definitions by the grammar, perhaps with a change, or of pieces, or of names that name each other."""
    if rng.random() < 0.5:
        names = {"play": rng.randrange(1, 6), "n_": 2, "m_": 1}
        lines = [f"{name} = {some_notation(rng, depth)}" for name, depth in names.items()]
        text = HEADER.format(2, rng.choice([2, 2, 3]), rng.choice(["black", "white"])) + "\n".join(lines) + "\n"
        at = rng.randrange(len(text)) if rng.random() < 0.5 else len(text)
        return text[:at] + rng.choice(PIECES) + text[at + 1 :]
    head = HEADER.format(rng.choice([2, 2, 3, 0, "9" * 30, "x"]), rng.choice([2, 2, 1, 40]), rng.choice(["black", "white", "red"]))
    if rng.random() < 0.3:
        head = HEADER.format(2, 2, "black")
        count = rng.randrange(1, 60)
        forms = ["{{{0}: 1/2, T({0}): 1/2}}", "{0}, {0}", "{0} ~ ({0})", "{{{0} | T({0})}}", "{{{0}: 1/3, a1: 2/3}}, {0}", "T({0})"]
        lines = [f"x{i}_ = {rng.choice(forms).format(f'x{i + 1}_')}" for i in range(count)]
        return "\n".join([head, "play = x0_", *lines, f"x{count}_ = {rng.choice(['a1 ~ (b1), !', 'a1', '{a1, a2, b1, b2}'])}"])
    body = " ".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12)))
    rest = "\n".join(f"{name} = {' '.join(rng.choice(PIECES) for _ in range(3))}" for name in rng.sample(["n_", "m_", "k_"], 2))
    return f"{head}play = {body}\n{rest}\n"
