"""Policies and checkpoints as files: safetensors with a JSON header and a checksum, written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile
from nebel.core.input import check_file, read_start
from nebel.core.output import replacing
from nebel.core.suggest import did_you_mean
from nebel.policy.net import Layer, NetPolicy, check_layers, sizes
from nebel.policy.nets import NetsPolicy, check_odds
from nebel.policy.pieces import check_pieces, header_of, pieces_in
from nebel.policy.table import MadePolicy, Policy, Shares, TablePolicy, Uniform
from nebel.policy.validate import check_header, check_names, check_table

FORMAT = 1
SHIPPED = Path(__file__).parent.parent / "strategies"
"""Policies and strategies that come with the library."""
POLICIES = ("policy", "network", "networks")
"""Kinds of files that are policies."""
CALLED = {"policy": "a policy", "network": "a network", "networks": "an ensemble of networks", "checkpoint": "a checkpoint"}
KINDS = {
    "BOOL": "?", "I8": "<i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "U8": "<u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
    "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
"""NumPy's names of kinds of numbers, by those of safetensors."""
MOST_HEADER = 4_000_000
"""Bytes of a policy's header."""
Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")


def write_arrays(path: Path, arrays: Arrays, header: dict[str, Any]) -> None:
    """Write arrays and header so that a reader finds either the old file or the new one, never a part."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {**header, "format": FORMAT}
    text = json.dumps({**header, "checksum": _checksum(arrays, header)}, sort_keys=True)
    with replacing(path) as part:
        try:
            save_file(arrays, part, metadata={"nebel": text})
        except SafetensorError as error:  # how it says that the disk is full
            number = re.search(r"os error (\d+)", str(error))
            raise OSError(number and int(number[1]), os.strerror(int(number[1])) if number else str(error)) from error


def read_arrays(path: Path, *kinds: str) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the header of a file that `write_arrays` wrote, every byte checked; raises `BadFile` if that is not so.

    Whether they make sense is for the caller to see: anybody can write a file with a checksum.
    """
    with _opened(path) as header:
        _check_kind(path, header, kinds)
        claimed = header.pop("checksum", None)
        try:
            arrays = _arrays_in(path)
        except MemoryError as error:
            raise BadFile(f"{path} does not fit into memory") from error
        if claimed != _checksum(arrays, header):
            raise BadFile(f"{path} was changed after it was written: its checksum does not fit")
    return arrays, header


def _arrays_in(path: Path) -> Arrays:
    """Read the arrays of a file that safetensors found sound. It would hold all of them twice itself, in the file's pages and in arrays."""
    arrays = {}
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        held = json.loads(file.read(length))
        held.pop("__metadata__")
        for name, place in held.items():
            begin, end = place["data_offsets"]
            arrays[name] = np.empty(place["shape"], KINDS[place["dtype"]])
            file.seek(8 + length + begin)
            if not end - begin == arrays[name].nbytes == file.readinto(arrays[name].reshape(-1).view(np.uint8).data):
                raise ValueError(f"{name} is not as long as it says")
    return arrays


def read_header(path: Path) -> dict[str, Any]:
    """Return what a file says of itself, without a look at the rest of it; of a policy, all that every policy says is there."""
    _limit_header(path)
    with _opened(path) as header:
        if header.get("kind") in POLICIES:
            _in_file(path, check_header, header)
        return header


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the header of a file of arrays; whatever is wrong with it, or in the block, becomes one `BadFile`."""
    from safetensors import SafetensorError, safe_open

    check_file(path)
    try:
        with safe_open(path, framework="np") as file:
            header = _header_in((file.metadata() or {}).get("nebel"))
            if header is None:
                raise BadFile(f"{path} is not a nebel file: its header is missing")
            if header.get("format") != FORMAT:
                raise BadFile(f"{path} has format {str(header.get('format'))[:20]!r}, this version of nebel reads format {FORMAT}")
            yield header
    except BadFile:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BadFile(f"{path} is damaged or not a nebel file ({error}); write it again") from error


def _header_in(text: str | None) -> dict[str, Any] | None:
    """Return the header that a text in JSON holds, or None if that is none."""
    try:
        header = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def _check_kind(path: Path, header: dict[str, Any], kinds: Sequence[str]) -> None:
    if header.get("kind") not in kinds:
        raise BadFile(f"{path} is {kind_of(header)}, not {' or '.join(CALLED[kind] for kind in kinds)}")


def kind_of(header: dict[str, Any]) -> str:
    """Say what a file is, by its header."""
    kind = header.get("kind")
    return CALLED.get(kind, "of an unknown kind") if isinstance(kind, str) else "of no kind"


def _limit_header(path: Path) -> None:
    """Refuse a policy whose header alone would fill the memory: its length is in the first 8 bytes."""
    length = int.from_bytes(read_start(path, 8), "little")
    if length > MOST_HEADER:
        raise BadFile(f"{path} is not a policy: its header is said to have {length:,} bytes, and at most {MOST_HEADER:,} are read")


def _in_file(path: Path, check: Callable[..., T], *given: Any) -> T:
    """Let a refusal name the file."""
    try:
        return check(*given)
    except BadFile as error:
        raise BadFile(f"{path} has a checksum that fits, but is not a policy: {error}") from error


def holds_policy(path: Path) -> bool:
    """Return whether a file is a policy or a network, which may be replaced by another one unasked."""
    try:
        return read_header(path).get("kind") in POLICIES
    except BadFile:
        return False


def _checksum(arrays: Arrays, header: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(arrays[name].reshape(-1).view(np.uint8).data)  # the bytes, without a copy
    return digest.hexdigest()


def save_policy(policy: MadePolicy, path: str | Path) -> None:
    header = {"game": policy.game, "fingerprint": policy.fingerprint, "recall": policy.recall, "facts": policy.facts}
    if isinstance(policy, NetPolicy | NetsPolicy):
        header |= header_of(policy.pieces)
    if isinstance(policy, NetPolicy):
        check_layers(policy.layers)
        arrays = _layer_arrays(policy.layers)
        write_arrays(Path(path), arrays, {**header, "kind": "network", "layers": [layer.kind for layer in policy.layers]})
        return
    if isinstance(policy, NetsPolicy):
        arrays = {f"odds{p}": policy.weights[p] for p in range(2)}
        for p in range(2):
            check_odds(policy.weights[p], p)
            check_layers(policy.layers[p], len(policy.weights[p]))
            arrays |= {f"{p}{name}": array for name, array in _layer_arrays(policy.layers[p]).items()}
        kinds = [layer.kind for layer in policy.layers[0]]
        write_arrays(Path(path), arrays, {**header, "kind": "networks", "layers": kinds})
        return
    assert isinstance(policy, TablePolicy)
    policy.check_shares()
    dtypes = {name: np.float64 if name == "share" else np.int64 for name in Shares._fields}
    arrays = {f"{name}{p}": np.asarray(getattr(policy.shares[p], name), dtype) for p in range(2) for name, dtype in dtypes.items()}
    write_arrays(Path(path), arrays, {**header, "kind": "policy", "missing": policy.missing})


def _layer_arrays(layers: Sequence[Layer]) -> Arrays:
    return {f"{name}{i}": getattr(layer, name) for i, layer in enumerate(layers) for name in ("weights", "biases")}


def load_policy(path: str | Path) -> TablePolicy | NetPolicy | NetsPolicy:
    """Return the policy of a file: a table, a network or many. Raises `BadFile` if the file is not one, or does not make sense."""
    path = Path(path)
    _limit_header(path)
    arrays, header = read_arrays(path, *POLICIES)
    return _in_file(path, _policy_of, arrays, header)


def _policy_of(arrays: Arrays, header: dict[str, Any]) -> TablePolicy | NetPolicy | NetsPolicy:
    check_header(header)
    check_names(arrays, header)
    made, pieces = (header["game"], header["fingerprint"], header["recall"]), pieces_in(header)
    if header["kind"] == "network":
        layers = _layers_of(arrays, header, "")
        check_layers(layers)
        check_pieces(pieces, *sizes(layers))
        return NetPolicy(*made, layers, header["facts"], pieces)
    if header["kind"] == "networks":
        both = _layers_of(arrays, header, "0"), _layers_of(arrays, header, "1")
        for p in range(2):
            check_odds(arrays[f"odds{p}"], p)
            check_layers(both[p], len(arrays[f"odds{p}"]))
            check_pieces(pieces, *sizes(both[p]))
        return NetsPolicy(*made, both, (arrays["odds0"], arrays["odds1"]), header["facts"], pieces)
    shares = [Shares(*(arrays[f"{name}{p}"] for name in Shares._fields)) for p in range(2)]
    for p in range(2):
        check_table(shares[p], p)
    return TablePolicy(*made, (shares[0], shares[1]), header["missing"], header["facts"])


def _layers_of(arrays: Arrays, header: dict[str, Any], name: str) -> tuple[Layer, ...]:
    return tuple(Layer(arrays[f"{name}weights{i}"], arrays[f"{name}biases{i}"], *kind) for i, kind in enumerate(header["layers"]))


def load_table(path: str | Path) -> TablePolicy:
    """A table, where nothing else will do."""
    policy = load_policy(path)
    if not isinstance(policy, TablePolicy):
        raise BadFile(f"{path} is a network, and this takes a table of information states")
    return policy


def policy_path(text: str) -> Path:
    """The file of a policy as people name it: `policy:FILE`, just FILE, or `shipped:NAME` for one that comes with the library."""
    name = text.removeprefix("policy:")
    if not name.startswith("shipped:"):
        return Path(name)
    path = SHIPPED / f"{Path(name.removeprefix('shipped:')).name}.nebel"
    if not path.is_file():
        offered = [each.stem for each in sorted(SHIPPED.glob("*.nebel"))]
        raise BadFile(f"no policy {name!r}{did_you_mean(path.stem, offered)}; shipped are: shipped:{', shipped:'.join(offered)}")
    return path


def read_policy(text: str) -> Policy:
    """A policy as people name it: `uniform`, or a file (`policy_path`)."""
    return Uniform() if text == "uniform" else load_policy(policy_path(text))
