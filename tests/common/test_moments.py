"""Tests of times as text."""

import time
from collections.abc import Iterator

import pytest

from common.moments import local_time


@pytest.fixture
def _east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Move this machine two hours east of Greenwich."""
    monkeypatch.setenv("TZ", "EAST-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_east")
def test_a_journals_time_is_shown_in_the_local_zone() -> None:
    assert local_time("2027-01-01T23:30:00.250Z") == "2027-01-02 01:30"
    assert local_time("2027-01-01T23:30:05Z", "%H:%M:%S") == "01:30:05"
    assert local_time("soon") == "soon"
    assert local_time("9999-12-31T23:59:59-14:00") == "9999-12-31T23:59:59-14:00"
