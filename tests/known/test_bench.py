"""A measurement gives rows that can be relied on; how fast anything is, is not tested here."""

import sys

import pytest

from nebel.bench import names_of, run
from nebel.core.errors import BadSetting


def test_rows():
    heard = []
    rows = run(["own-kuhn-sweeps", "playouts-leduc"], 0.1, heard.append)
    assert [row.name for row in rows] == heard == ["own-kuhn-sweeps", "playouts-leduc"]
    for row in rows:
        assert row._fields[:4] == ("name", "ours", "peer", "ratio")
        assert row.ours > 0
        assert row.unit
        assert row.peer_name
        assert row.note
    own = rows[0]
    assert own.peer > 0
    assert own.ratio > 0


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
