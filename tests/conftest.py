"""The longest tests go first, so that nobody waits for one at the end while the other cores have nothing left to do."""

from __future__ import annotations

import os
import tempfile

import pytest

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported: processes side by side would wait for each other's threads
os.environ["NEBEL_STATE"] = tempfile.mkdtemp(prefix="nebel-state-")  # tests remember nothing about the user who runs them


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
