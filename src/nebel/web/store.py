"""Games and matches on disk: what is needed to go on with each, one row a game, written before anybody is told of a move."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nebel.core.errors import BadFile

PERSON = "person"
FORMAT = 1
TABLE = """create table if not exists games (
    id text primary key, game text not null, players text not null, keys text not null, seed integer not null, practice integer not null,
    moves text not null, takebacks integer not null, resigned integer, begun real not null, touched real not null
) without rowid"""
TOUCHED = "create index if not exists by_touched on games (touched)"
MATCHES = "create table if not exists matches (id text primary key, began real not null, kept text not null) without rowid"
COLUMNS = "id, game, players, keys, seed, practice, moves, takebacks, resigned, begun, touched"


@dataclass
class Row:
    """A game as it is kept: no position, only how it came about.

    players    by seat: PERSON, or the name of an agent
    keys       by seat: what lets somebody play there, and what lets somebody watch; empty for agents
    takebacks  how often moves were taken back: chance and agents do not repeat themselves then
    """

    id: str
    game: str
    players: tuple[str, str]
    keys: tuple[tuple[str, str], tuple[str, str]]
    seed: int
    practice: bool = False
    moves: list[int] = field(default_factory=list)
    takebacks: int = 0
    resigned: int | None = None
    begun: float = field(default_factory=time.time)


class Store:
    """One file, one server: a second one on the same file is refused."""

    def __init__(self, file: str) -> None:
        try:
            if file != ":memory:":
                Path(file).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=1.0)
            self._db.execute("pragma locking_mode = exclusive")
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            held = self._db.execute("pragma user_version").fetchone()[0]
            if held not in (0, FORMAT):
                raise BadFile(f"{file} was written by another version of nebel (format {held}, this one has {FORMAT}); name another --db")
            for statement in (TABLE, TOUCHED, MATCHES):
                self._db.execute(statement)
            self._db.execute(f"pragma user_version = {FORMAT}")
        except (sqlite3.Error, OSError) as error:
            why = "another server is using it" if "locked" in str(error) else error
            raise BadFile(f"games cannot be kept in {file}: {why}; name another file with --db") from error

    def save(self, row: Row) -> None:
        values = (
            row.id, row.game, json.dumps(row.players), json.dumps(row.keys), row.seed, row.practice, json.dumps(row.moves), row.takebacks,
            row.resigned, row.begun, time.time(),
        )  # fmt: skip
        self._db.execute(f"insert or replace into games ({COLUMNS}) values ({', '.join('?' * len(values))})", values)

    def find(self, id: str) -> Row | None:
        found = self._db.execute(f"select {COLUMNS} from games where id = ?", (id,)).fetchone()
        if found is None:
            return None
        id, game, players, keys, seed, practice, moves, takebacks, resigned, begun, _ = found
        first, second = json.loads(keys)
        pair = (tuple(first), tuple(second))
        return Row(id, game, tuple(json.loads(players)), pair, seed, bool(practice), json.loads(moves), takebacks, resigned, begun)

    def count(self) -> int:
        return int(self._db.execute("select count(*) from games").fetchone()[0])

    def forget(self, seconds: float) -> int:
        """Delete games that nobody has moved in for so long; how many they were."""
        return self._db.execute("delete from games where touched < ?", (time.time() - seconds,)).rowcount

    def keep_match(self, id: str, kept: dict[str, Any]) -> None:
        self._db.execute("insert or replace into matches (id, began, kept) values (?, ?, ?)", (id, kept["began"], json.dumps(kept)))

    def drop_match(self, id: str) -> None:
        self._db.execute("delete from matches where id = ?", (id,))

    def matches(self) -> list[tuple[str, dict[str, Any]]]:
        """The latest last."""
        return [(id, json.loads(kept)) for id, kept in self._db.execute("select id, kept from matches order by began")]

    def close(self) -> None:
        self._db.close()
