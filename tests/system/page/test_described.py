"""The API as it describes itself, asked by Schemathesis: whatever is sent, it answers in words and never fails."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from engine.registry import load
from frontends.page.access import Access, AccessPolicy
from frontends.page.server import create_app
from journal.journal import Journal
from referee.commands.values import Press, QueuedCommand
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from tests.effort import cases
from tests.frontends.page.page_table import client_of, port_of, working
from tests.referee.service_table import ScriptedReader, wall_clock

schemathesis = pytest.importorskip("schemathesis", reason="Schemathesis is not installed")

HERE = {"Host": "localhost"}


def _from_any_thread(target: str) -> sqlite3.Connection:
    return sqlite3.connect(target, uri=True, isolation_level=None, check_same_thread=False)


@pytest.fixture
def described(tmp_path: Path) -> Iterator[tuple[Any, str]]:
    """A page whose commands a real session carries out: its description, and the CSRF token."""
    path = tmp_path / "journal.sqlite"
    port = port_of("deblockle", journal=path)
    times = iter(range(10**9))
    access = Access(AccessPolicy(owner="Ann"), b"k" * 32, lambda: 0.0, lambda: 100.0 * next(times))
    with Journal.open(path, wall_clock=wall_clock, connect=_from_any_thread) as journal:
        service: Service[Any, Any] = Service(
            load("deblockle"), ScriptedReader(), journal, port.snapshots, ServiceSettings(), lambda said: None
        )
        service.start()

        def work(submitted: QueuedCommand) -> None:
            if isinstance(submitted.command, Press):
                # Nobody looks at this table, so no press is ever judged.
                submitted.respond(None)
            else:
                service.carry_out(submitted.command, submitted.respond)

        # Streams end at once: what they send is tested elsewhere.
        port.snapshots.close()
        csrf = client_of(port, access).get("/api/session").json()["csrf"]
        with working(port, work):
            schema = schemathesis.openapi.from_asgi("/api/openapi.json", create_app(port, access), headers=HERE)
            # Without a codec only surrogates are left out, and Hypothesis needs no table of a million characters.
            schema.config.generation.codec = None
            yield schema, csrf


def test_nothing_that_the_description_allows_makes_it_fail(described: tuple[Any, str]) -> None:
    schema, csrf = described
    operations = [result.ok() for result in schema.get_all_operations()]
    assert "POST /api/commands" in {operation.label for operation in operations}
    for operation in operations:

        @settings(max_examples=cases(40), suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            answer = case.call(headers={**HERE, "X-CSRF-Token": csrf})
            assert answer.status_code != 500, answer.text
            case.validate_response(answer, checks=[schemathesis.checks.response_schema_conformance])

        ask()
