"""The hall's database: SQLite in a file, or PostgreSQL, by the same plain SQL."""

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from common.durable import is_other_than_database, make_private, touch_private
from common.json_files import parse_json
from common.phrases import Phrase, read_phrase
from journal.database import LOG_FILES
from referee.errors import HallStoreError

POSTGRESQL = ("postgresql://", "postgres://")
"""What an address of PostgreSQL begins with; anything else is a file."""
VERSION = 1  # of SCHEMA
_MEMORY = ":memory:"
"""SQLite's name for a database without a file."""
_BUSY_S = 5.0  # longest wait for another process that writes
_PASSWORD = re.compile(r"(?<=:)[^@/]+(?=@)|(?<=password=)[^&\s]+")

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS hall_version (version BIGINT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS hall_id (id TEXT PRIMARY KEY)",
    # The newest state of a table, so that the page is whole before the broker answers.
    "CREATE TABLE IF NOT EXISTS seat (id TEXT PRIMARY KEY, state TEXT NOT NULL)",
    # Each event of each table's journal, once.
    """CREATE TABLE IF NOT EXISTS event (
        seat TEXT NOT NULL, journal TEXT NOT NULL, number BIGINT NOT NULL, game_number BIGINT NOT NULL,
        kind TEXT NOT NULL, wall_time TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (seat, journal, number))""",
    "CREATE INDEX IF NOT EXISTS event_by_game ON event (seat, journal, game_number, number)",
    # How much room the events of each table take.
    "CREATE TABLE IF NOT EXISTS share (seat TEXT PRIMARY KEY, bytes BIGINT NOT NULL)",
    # Up to which event of a journal old games were swept, and that they ended before this time.
    """CREATE TABLE IF NOT EXISTS swept (
        seat TEXT NOT NULL, journal TEXT NOT NULL, number BIGINT NOT NULL, before TEXT NOT NULL,
        PRIMARY KEY (seat, journal))""",
    # How each game ended; a game that goes on after its end has none.
    """CREATE TABLE IF NOT EXISTS result (
        seat TEXT NOT NULL, journal TEXT NOT NULL, game_number BIGINT NOT NULL, number BIGINT NOT NULL,
        game TEXT NOT NULL, players TEXT NOT NULL, winners TEXT NOT NULL, reason TEXT NOT NULL, wall_time TEXT NOT NULL,
        PRIMARY KEY (seat, journal, game_number))""",
    """CREATE TABLE IF NOT EXISTS ruling (
        request_id TEXT PRIMARY KEY, seat TEXT NOT NULL, content TEXT NOT NULL, given_by TEXT NOT NULL,
        given_at TEXT NOT NULL, status TEXT NOT NULL, words TEXT NOT NULL, event_number BIGINT)""",
    "CREATE INDEX IF NOT EXISTS ruling_by_seat ON ruling (seat, given_at)",
)
"""One statement each. ``seat`` is a table's id: ``table`` is a word of SQL itself."""


_PHRASE_FOLLOWS = "\x1f"
"""Separates a stored text from its phrase; no text that is shown has such a character."""


def text_to_store(text: str) -> str:
    """Return a text to store in one piece, with its phrase if it has parts."""
    # A table may send what no referee says.
    bare = text.replace(_PHRASE_FOLLOWS, " ")
    return f"{bare}{_PHRASE_FOLLOWS}{json.dumps(text.to_json())}" if isinstance(text, Phrase) and text.parts else bare


def stored_text(stored: str) -> str:
    """Return the text, or the phrase, that ``text_to_store`` gave.

    >>> stored_text(text_to_store(Phrase("marker {number}", 2))).template
    'marker {number}'
    """
    english, _, phrase = stored.partition(_PHRASE_FOLLOWS)
    try:
        return read_phrase(english, parse_json(phrase)) if phrase else english
    except ValueError:
        return english


_OF_RESULTS = re.compile(r"\s*(?:INSERT INTO|DELETE FROM) result\b")


class Transaction:
    """Statements that take effect together or not at all. Parameters are written ``?``.

    ``changes`` counts the statements that changed results.
    """

    def __init__(self, connection: Any, placeholder: str) -> None:
        self._connection = connection
        self._placeholder = placeholder
        self.changes = 0

    def run(self, statement: str, *parameters: object) -> int:
        """Run a statement; returns the number of changed rows."""
        changed = int(self._execute(statement, parameters).rowcount)
        self._count(statement, changed)
        return changed

    def rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return a query's rows."""
        return [tuple(row) for row in self._execute(statement, parameters).fetchall()]

    def run_all(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of the rows."""
        given = list(rows)
        self._connection.cursor().executemany(self._with_placeholders(statement), given)
        self._count(statement, len(given))

    def _count(self, statement: str, changed: int) -> None:
        self.changes += changed > 0 and _OF_RESULTS.match(statement) is not None

    def _execute(self, statement: str, parameters: Sequence[object]) -> Any:
        """Return the cursor, whose interface is the same in both libraries."""
        return self._connection.execute(self._with_placeholders(statement), tuple(parameters))

    def _with_placeholders(self, statement: str) -> str:
        return statement.replace("?", self._placeholder)


class Database:
    """One connection, for one transaction at a time; any thread may begin one, and waits for its turn.

    ``where`` is a file, or an address such as ``postgresql://user@host/hall``. Raises HallStoreError if it can't be
    opened, and from each transaction that fails and is rolled back.
    """

    def __init__(self, where: str) -> None:
        self._lock = threading.RLock()
        self._where = where
        self._connection: Any = None
        self._is_postgresql = where.startswith(POSTGRESQL)
        self._faults: tuple[type[Exception], ...] = (sqlite3.Error,)
        self._is_outage_told = False
        self.changes = 0
        """How often the results have changed since it was opened."""
        with self.transaction() as work:
            for statement in SCHEMA:
                work.run(statement)
            work.run("INSERT INTO hall_version (version) VALUES (?) ON CONFLICT DO NOTHING", VERSION)
            ((version,),) = work.rows("SELECT max(version) FROM hall_version")
        if version > VERSION:
            self.close()
            raise HallStoreError(
                f"the hall's store {self.name} has version {version}, this program knows up to {VERSION}; "
                "install the newer one, or give another --store"
            )

    @property
    def name(self) -> str:
        """The file or address, without a password."""
        return _PASSWORD.sub("***", self._where) if self._is_postgresql else self._where

    def hall_id(self, draw: Callable[[], str]) -> str:
        """Return what tells this hall from others at the same broker; drawn once, then kept."""
        with self.transaction() as work:
            if not work.rows("SELECT id FROM hall_id"):
                work.run("INSERT INTO hall_id (id) VALUES (?)", draw())
            ((drawn,),) = work.rows("SELECT id FROM hall_id")
        return str(drawn)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Run statements in one transaction; durable once the context ends without an error."""
        with self._lock:
            try:
                connection = self._opened()
                work = Transaction(connection, "%s" if self._is_postgresql else "?")
                with connection.transaction() if self._is_postgresql else _immediate_transaction(connection):
                    yield work
                self.changes += work.changes
                self._is_outage_told = False
            except self._faults as error:
                # The next transaction opens a new connection.
                self.close()
                raise HallStoreError(
                    f"the hall's store {self.name} failed ({' '.join(str(error).split())}); check that it is there, "
                    "that it may be written, and that its disk has room"
                ) from error

    def tell_outage(self, error: HallStoreError, say: Callable[[str], object]) -> None:
        """Say why the store fails, once until it works again."""
        with self._lock:
            is_told, self._is_outage_told = self._is_outage_told, True
        if not is_told:
            say(f"{error}.")

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _opened(self) -> Any:
        if self._connection is None:
            self._connection = self._postgresql() if self._is_postgresql else self._sqlite()
        return self._connection

    def _sqlite(self) -> sqlite3.Connection:
        file = Path(self._where)
        if self._where != _MEMORY and not file.exists():
            # If that can't be done, SQLite says why. It makes the files beside it like this one.
            with suppress(OSError):
                touch_private(file)
        # What turns out to be no database keeps its rights.
        for ending in () if is_other_than_database(file) else ("", *LOG_FILES):
            make_private(file.with_name(f"{file.name}{ending}"))
        connection = sqlite3.connect(
            file, isolation_level=None, check_same_thread=False, timeout=_BUSY_S, cached_statements=256
        )
        with ExitStack() as on_failure:
            on_failure.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            on_failure.pop_all()
        return connection

    def _postgresql(self) -> Any:
        try:
            import psycopg
        except ImportError as error:
            raise HallStoreError(
                "PostgreSQL needs psycopg, which is not installed; `.venv/bin/pip install 'psycopg[binary]'`, "
                "or give a file as --store"
            ) from error
        self._faults = (psycopg.Error,)
        return psycopg.connect(self._where, autocommit=True)


def names_password(where: str) -> bool:
    """Whether an address of PostgreSQL has a password in it."""
    return where.startswith(POSTGRESQL) and _PASSWORD.search(where) is not None


@contextmanager
def _immediate_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
