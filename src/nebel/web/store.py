"""Games and matches on disk: what is needed to go on with each, one row a game, written before anybody is told of a move."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nebel.core.errors import BadFile
from nebel.web.refusal import Refusal

LOG = logging.getLogger("nebel.web")
PERSON = "person"
FORMAT = 2
FLUSHED = 0.2
"""Seconds between what is written and what is on the disk itself."""
TABLE = """create table if not exists games (
    id text primary key, game text not null, players text not null, keys text not null, seed integer not null, practice integer not null,
    moves text not null, takebacks integer not null, resigned integer, begun real not null, touched real not null,
    visitor text not null default '', played integer not null default 1
) without rowid"""
ADDED = ("visitor text not null default ''", "played integer not null default 1")
"""Columns that format 1 does not have."""
INDICES = (
    "create index if not exists by_touched on games (touched)",
    "create index if not exists by_visitor on games (visitor, touched)",
    "create index if not exists by_played on games (played, touched)",
)
MATCHES = "create table if not exists matches (id text primary key, began real not null, kept text not null) without rowid"
COLUMNS = "id, game, players, keys, seed, practice, moves, takebacks, resigned, begun, touched, visitor, played"


@dataclass
class Row:
    """A game as it is kept: no position, only how it came about.

    players    by seat: PERSON, or the name of an agent
    keys       by seat: what lets somebody play there, and what lets somebody watch; empty for agents
    takebacks  how often moves were taken back: chance and agents do not repeat themselves then
    visitor    who began it
    played     whether a person has moved in it
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
    visitor: str = ""
    played: bool = False


class NotKept(Refusal):
    """The store cannot write, and so nothing has happened."""

    def __init__(self, why: object) -> None:
        super().__init__(f"the server cannot write this down, so it has not happened ({why})", 507)


class Store:
    """One file, one server: a second one on the same file is refused."""

    def __init__(self, file: str) -> None:
        try:
            if file != ":memory:":
                Path(file).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=1.0)
            held = self._db.execute("pragma user_version").fetchone()[0]
            tables = {name for (name,) in self._db.execute("select name from sqlite_master where type = 'table'")}
            if tables and (held == 0 or "games" not in tables):
                raise BadFile(f"{file} is a database of something else; name another file with --db")
            if held not in (0, 1, FORMAT):
                raise BadFile(f"{file} was written by another version of nebel (format {held}, this one has {FORMAT}); name another --db")
            self._db.execute("pragma locking_mode = exclusive")
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.execute("begin")
            added = [f"alter table games add column {column}" for column in ADDED] if held == 1 else []
            for statement in (TABLE, *added, *INDICES, MATCHES, f"pragma user_version = {FORMAT}"):
                self._db.execute(statement)
            self._db.execute("commit")
            self._flusher = None if file == ":memory:" else _Flusher(f"{file}-wal")
        except (sqlite3.Error, OSError) as error:
            why = "another server is using it" if "locked" in str(error) else getattr(error, "strerror", None) or error
            raise BadFile(f"games cannot be kept in {file}: {why}; name another file with --db") from error

    def save(self, row: Row) -> None:
        values = (
            row.id, row.game, json.dumps(row.players), json.dumps(row.keys), row.seed, row.practice, json.dumps(row.moves), row.takebacks,
            row.resigned, row.begun, time.time(), row.visitor, row.played,
        )  # fmt: skip
        self._write(f"insert or replace into games ({COLUMNS}) values ({', '.join('?' * len(values))})", values)

    def _write(self, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        try:
            done = self._db.execute(statement, values)
            if self._flusher is not None:
                self._flusher.dirty.set()
            return done
        except sqlite3.Error as error:
            LOG.error("games cannot be kept: %s", error)
            raise NotKept(error) from error

    def _read(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            LOG.error("games cannot be read: %s", error)
            raise Refusal(f"the server cannot read its games now ({error})", 503) from error

    def find(self, id: str) -> Row | None:
        for found in self._read(f"select {COLUMNS} from games where id = ?", id):
            id, game, players, keys, seed, practice, moves, takebacks, resigned, begun, _, visitor, played = found
            first, second = json.loads(keys)
            pair = (tuple(first), tuple(second))
            rest = json.loads(moves), takebacks, resigned, begun, visitor, bool(played)
            return Row(id, game, tuple(json.loads(players)), pair, seed, bool(practice), *rest)
        return None

    def count(self, visitor: str | None = None) -> int:
        """Games that are kept, or those that this visitor has begun."""
        if visitor is None:
            return int(self._read("select count(*) from games")[0][0])
        return int(self._read("select count(*) from games where visitor = ?", visitor)[0][0])

    def oldest(self, visitor: str, most: int) -> list[str]:
        """Games that this visitor has begun, those in which nobody has moved for the longest time first."""
        return [id for (id,) in self._read("select id from games where visitor = ? order by touched limit ?", visitor, most)]

    def busiest(self) -> str:
        """The visitor of the most games."""
        return str(self._read("select visitor from games group by visitor order by count(*) desc limit 1")[0][0])

    def unplayed(self, seconds: float) -> list[str]:
        """Games in which no person has moved, and nobody at all for so long."""
        return [id for (id,) in self._read("select id from games where played = 0 and touched < ?", time.time() - seconds)]

    def drop(self, id: str) -> None:
        self._write("delete from games where id = ?", (id,))

    def forget(self, seconds: float) -> int:
        """Delete games that nobody has moved in for so long; how many they were."""
        return self._write("delete from games where touched < ?", (time.time() - seconds,)).rowcount

    def keep_match(self, id: str, kept: dict[str, Any]) -> None:
        self._write("insert or replace into matches (id, began, kept) values (?, ?, ?)", (id, kept["began"], json.dumps(kept)))

    def drop_match(self, id: str) -> None:
        self._write("delete from matches where id = ?", (id,))

    def matches(self) -> list[tuple[str, dict[str, Any]]]:
        """The latest last."""
        return [(id, json.loads(kept)) for id, kept in self._read("select id, kept from matches order by began")]

    def close(self) -> None:
        if self._flusher is not None:
            self._flusher.end()
        self._db.close()


class _Flusher(threading.Thread):
    """Lets the disk have what was written, again and again: a server that is killed loses nothing, a power cut what is younger than this.

    SQLite would do so before each answer (`synchronous = full`), and everybody would wait for the disk for some milliseconds each time.
    """

    def __init__(self, file: str) -> None:
        super().__init__(name="flush", daemon=True)
        self.dirty, self._ending, self._file = threading.Event(), threading.Event(), file
        self.start()

    def run(self) -> None:
        while not self._ending.is_set():
            self.dirty.wait()
            self.dirty.clear()
            with suppress(OSError):  # not there, or full: whoever writes next is told
                descriptor = os.open(self._file, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            self._ending.wait(FLUSHED)

    def end(self) -> None:
        self._ending.set()
        self.dirty.set()
        self.join()
