"""Both kinds of database for a hall."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hall.halls import close_opened


@pytest.fixture(autouse=True)
def close_databases() -> Iterator[None]:
    """Close the databases that a test has opened."""
    yield
    close_opened()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Run a separate PostgreSQL server and yield its address; skipped if it is not installed."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb") or next((str(folder / "initdb") for folder in programs[::-1]), None)
    if found is None:
        pytest.skip("PostgreSQL is not installed (apt install postgresql)")
    # PostgreSQL refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None and user not in {each.pw_name for each in pwd.getpwall()}:
        pytest.skip("PostgreSQL doesn't run as root, and there is no user postgres")
    with tempfile.TemporaryDirectory(prefix="hall-pg-") as scratch:
        folder = Path(scratch)
        if user is not None:
            shutil.chown(folder, user)
        data, programs_at = folder / "data", Path(found).parent

        def run(*command: str) -> None:
            quiet = subprocess.DEVNULL
            subprocess.run(command, check=True, user=user, cwd=scratch, stdout=quiet, stderr=quiet)

        # Its data need not survive a crash, so it need not wait for the disk.
        run(found, "-D", str(data), "-A", "trust", "-U", "hall", "--encoding=UTF8", "--locale=C", "--no-sync")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {scratch} -c fsync=off"
        control = [str(programs_at / "pg_ctl"), "-D", str(data), "-w"]
        run(*control, "-o", options, "start")
        try:
            yield f"postgresql://hall@127.0.0.1:{port}/postgres"
        finally:
            run(*control, "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give an empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "hall.db")
    import psycopg

    base = request.getfixturevalue("postgresql")
    name = f"hall_{abs(hash(request.node.nodeid)) % 10**12}"
    # A new schema is as empty as a new database and is made a hundred times as fast.
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{base}?options=-csearch_path%3D{name}"
