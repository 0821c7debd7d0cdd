"""The hall's database: the same SQL in SQLite and PostgreSQL, whole transactions, and words for what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import HallStoreError
from referee.hall.database import SCHEMA, VERSION, Database
from tests.referee.hall.halls import opened

INSERT = "INSERT INTO seat (id, state) VALUES (?, ?)"


def seats(database: Database) -> list[tuple[str, str]]:
    with database.transaction() as work:
        return [(name, text) for name, text in work.rows("SELECT id, state FROM seat ORDER BY id")]


def test_what_was_written_is_there_when_it_is_opened_again(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run_all(INSERT, [("b", "{}"), ("a", "½ “ü”")])
    database.close()
    assert seats(opened(where)) == [("a", "½ “ü”"), ("b", "{}")]


def test_a_transaction_that_fails_leaves_nothing(where: str) -> None:
    database = opened(where)
    with pytest.raises(HallStoreError, match="failed"):
        put(database, "a", "a")
    assert seats(database) == []
    put(database, "b")
    assert seats(database) == [("b", "{}")]


def put(database: Database, *names: str) -> None:
    with database.transaction() as work:
        for name in names:
            work.run(INSERT, name, "{}")


def test_a_newer_store_is_left_alone(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run("INSERT INTO hall_version (version) VALUES (?)", VERSION + 1)
    database.close()
    with pytest.raises(HallStoreError, match="install the newer one"):
        Database(where)


def test_every_table_has_a_key_so_that_nothing_is_kept_twice() -> None:
    assert all("PRIMARY KEY" in statement for statement in SCHEMA if statement.startswith("CREATE TABLE"))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HallStoreError, match="nowhere"):
        Database(str(tmp_path / "nowhere" / "hall.db"))


def test_a_password_is_not_told() -> None:
    with pytest.raises(HallStoreError) as caught:
        Database("postgresql://hall:secret@127.0.0.1:1/hall")
    assert "secret" not in str(caught.value)
