"""The hall's database: the same SQL in SQLite and PostgreSQL, whole transactions, and clear errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hall.database import SCHEMA, VERSION, Database, names_password
from referee.cli.root import root
from referee.errors import HallStoreError
from tests.hall.halls import opened

INSERT = "INSERT INTO seat (id, state) VALUES (?, ?)"


def seats(database: Database) -> list[tuple[str, str]]:
    with database.transaction() as work:
        return [(name, text) for name, text in work.rows("SELECT id, state FROM seat ORDER BY id")]


def test_rows_are_still_there_after_the_database_is_reopened(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run_all(INSERT, [("b", "{}"), ("a", "½ “ü”")])
    database.close()
    assert seats(opened(where)) == [("a", "½ “ü”"), ("b", "{}")]


def test_a_hall_keeps_its_id(where: str, tmp_path: Path) -> None:
    ids = iter(("one", "two", "three"))
    assert [opened(where).hall_id(lambda: next(ids)) for _ in range(2)] == ["one", "one"]
    assert opened(str(tmp_path / "other.db")).hall_id(lambda: next(ids)) == "two"


def test_a_failed_transaction_leaves_no_rows(where: str) -> None:
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


def test_a_database_of_a_newer_version_is_left_unchanged(where: str) -> None:
    database = opened(where)
    with database.transaction() as work:
        work.run("INSERT INTO hall_version (version) VALUES (?)", VERSION + 1)
    database.close()
    with pytest.raises(HallStoreError, match="install the newer one"):
        Database(where)


def test_every_sql_table_has_a_primary_key() -> None:
    assert all("PRIMARY KEY" in statement for statement in SCHEMA if statement.startswith("CREATE TABLE"))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(HallStoreError, match="nowhere"):
        Database(str(tmp_path / "nowhere" / "hall.db"))


@pytest.mark.parametrize(
    "address",
    [
        "hall:secret@127.0.0.1:1/hall",
        "hall:secret:secret@127.0.0.1:1/hall",
        "hall@127.0.0.1:1/hall?password=secret&user=a",
    ],
)
def test_a_password_is_not_shown(address: str) -> None:
    with pytest.raises(HallStoreError) as caught:
        Database(f"postgresql://{address}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_outage_is_told_once_until_the_store_works_again(where: str) -> None:
    database, said = opened(where), list[str]()
    away = HallStoreError("the disk is full")
    for _ in range(3):
        database.tell_outage(away, said.append)
    assert said == ["the disk is full."]
    with database.transaction() as work:
        work.rows("SELECT id FROM seat")
    database.tell_outage(away, said.append)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("postgresql://hall:secret@localhost/hall", True),
        ("postgresql://localhost/hall?user=hall&password=secret", True),
        ("postgresql://hall@localhost:5432/hall", False),
        ("hall:secret@x.db", False),
    ],
)
def test_a_password_in_an_address_is_noticed(where: str, names: bool) -> None:
    assert names_password(where) is names


def test_the_command_refuses_a_password_that_everybody_could_read() -> None:
    words = ["tools", "hall", "--broker", "localhost", "--store", "postgresql://hall:secret@localhost/hall"]
    done = CliRunner().invoke(root, words)
    assert done.exit_code == 2
    assert "~/.pgpass" in done.stderr
    assert "secret" not in done.output
