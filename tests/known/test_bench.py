"""A measurement gives rows that can be relied on; how fast anything is, is not tested here."""

import sys

import pytest

from nebel.bench import names_of, run
from nebel.core.errors import BadSetting


def test_rows():
    heard = []
    rows = run(["playouts-leduc", "external-sampling-leduc"], 0.1, heard.append)
    assert [row.name for row in rows] == heard == ["external-sampling-leduc", "playouts-leduc"]
    for row in rows:
        assert row._fields == ("name", "ours", "peer", "ratio", "unit", "peer_name", "note")
        assert row.ours > 0
        assert (row.peer is None) == (row.ratio is None) == ("is not installed" in row.note)
        assert row.peer is None or (row.peer > 0 and row.ratio > 0)
        assert all((row.unit, row.peer_name, row.note))


@pytest.mark.parametrize("name", ["sweeps-leduc-openspiel", "sweeps-leduc-liteefg", "quality-leduc-openspiel"])
def test_a_missing_peer_is_said(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.setitem(sys.modules, "LiteEFG", None)
    (row,) = run([name], 0.05)
    assert row.ours > 0
    assert row.peer is None
    assert row.ratio is None
    assert "is not installed" in row.note


def test_names():
    names = names_of()
    assert len(names) == len(set(names))
    with pytest.raises(BadSetting, match="'chess'; there are: sweeps-leduc-openspiel"):
        run(["chess"], 1.0)
