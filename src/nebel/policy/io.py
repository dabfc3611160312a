"""Policies and checkpoints as files: safetensors with a JSON header and a checksum, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile
from nebel.core.output import replacing
from nebel.core.suggest import did_you_mean
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.table import MadePolicy, Policy, Shares, TablePolicy, Uniform

FORMAT = 1
SHIPPED = Path(__file__).parent.parent / "strategies"
"""Policies and strategies that come with the library."""
POLICIES = ("policy", "network", "networks")
"""Kinds of files that are policies."""
Arrays = dict[str, NDArray[Any]]


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
            raise BadFile(f"{path} cannot be written: {error}") from error


def read_arrays(path: Path, *kinds: str) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and header of a file that `write_arrays` wrote, every byte checked."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise BadFile(f"no file {path}")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise BadFile(f"{path} is damaged or not a nebel file ({error}); write it again") from error
    try:
        header = json.loads(metadata["nebel"])
        claimed = header.pop("checksum")
    except (KeyError, ValueError, AttributeError) as error:
        raise BadFile(f"{path} is not a nebel file: its header is missing") from error
    if header.get("format") != FORMAT:
        raise BadFile(f"{path} has format {header.get('format')}, this version of nebel reads format {FORMAT}")
    if claimed != _checksum(arrays, header):
        raise BadFile(f"{path} was changed after it was written: its checksum does not fit")
    if header.get("kind") not in kinds:
        raise BadFile(f"{path} is a {header.get('kind')}, not a {' or a '.join(kinds)}")
    return arrays, header


def read_header(path: Path) -> dict[str, Any]:
    """What a file says of itself, without a look at the rest of it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            header: dict[str, Any] = json.loads((file.metadata() or {})["nebel"])
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise BadFile(f"{path} is damaged or not a nebel file ({error}); write it again") from error
    return header


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
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def save_policy(policy: MadePolicy, path: str | Path) -> None:
    header = {"game": policy.game, "fingerprint": policy.fingerprint, "recall": policy.recall, "facts": policy.facts}
    if isinstance(policy, NetPolicy):
        arrays = _layer_arrays(policy.layers)
        write_arrays(Path(path), arrays, {**header, "kind": "network", "layers": [layer.kind for layer in policy.layers]})
        return
    if isinstance(policy, NetsPolicy):
        arrays = {f"odds{p}": policy.weights[p] for p in range(2)}
        for p in range(2):
            arrays |= {f"{p}{name}": array for name, array in _layer_arrays(policy.layers[p]).items()}
        kinds = [layer.kind for layer in policy.layers[0]]
        write_arrays(Path(path), arrays, {**header, "kind": "networks", "layers": kinds})
        return
    assert isinstance(policy, TablePolicy)
    arrays = {f"{name}{p}": array for p in range(2) for name, array in policy.shares[p]._asdict().items()}
    write_arrays(Path(path), arrays, {**header, "kind": "policy", "missing": policy.missing})


def _layer_arrays(layers: Sequence[Layer]) -> Arrays:
    return {f"{name}{i}": getattr(layer, name) for i, layer in enumerate(layers) for name in ("weights", "biases")}


def load_policy(path: str | Path) -> TablePolicy | NetPolicy | NetsPolicy:
    """A table, a network or many."""
    arrays, header = read_arrays(Path(path), *POLICIES)
    made = header["game"], header["fingerprint"], header["recall"]
    if header["kind"] == "network":
        return NetPolicy(*made, _layers_of(arrays, header, ""), header["facts"])
    if header["kind"] == "networks":
        layers = _layers_of(arrays, header, "0"), _layers_of(arrays, header, "1")
        return NetsPolicy(*made, layers, (arrays["odds0"], arrays["odds1"]), header["facts"])
    shares = [Shares(*(arrays[f"{name}{p}"] for name in Shares._fields)) for p in range(2)]
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
