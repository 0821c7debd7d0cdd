import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.backoff import Backoff
from common.findings import Finding, Severity, worst
from common.moments import local_time


def test_waits_double_up_to_the_maximum() -> None:
    backoff, now_s, waits = Backoff(first_s=1.0, longest_s=10.0), 0.0, []
    for _ in range(6):
        backoff = backoff.failed(now_s)
        assert backoff.retry_at_s is not None
        waits.append(backoff.retry_at_s - now_s)
        now_s = backoff.retry_at_s
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_failure_is_news_again_only_after_long_success() -> None:
    backoff = Backoff(first_s=1.0, longest_s=10.0)
    assert backoff.is_news(0.0)
    backoff = backoff.failed(0.0).worked(1.0)
    assert not backoff.is_news(5.0)
    assert backoff.failed(5.0).failures == 2
    assert backoff.worked(9.0).is_news(11.0)
    assert backoff.failed(11.0).failures == 1


@given(st.lists(st.tuples(st.floats(0, 1e4), st.booleans()), max_size=60))
def test_waits_stay_between_the_first_and_the_longest(steps: list[tuple[float, bool]]) -> None:
    backoff, now_s = Backoff(first_s=0.5, longest_s=30.0), 0.0
    for pause_s, works in steps:
        now_s += pause_s
        backoff = backoff.worked(now_s) if works else backoff.failed(now_s)
        if works:
            assert backoff.is_due(now_s)
        else:
            assert backoff.retry_at_s is not None
            assert 0.5 <= round(backoff.retry_at_s - now_s, 6) <= 30.0
            assert not backoff.is_due(now_s)
            assert backoff.is_due(now_s + 30.0)


def test_years_of_failures_do_not_overflow() -> None:
    assert Backoff(failures=10_000_000).failed(0.0).retry_at_s == 60.0


# Tests of times as text.


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


# Findings and their severity.


def test_the_worst_finding_decides_the_severity() -> None:
    assert worst([]) is Severity.OK
    assert worst([Finding.ok("a", ""), Finding.fault("b", ""), Finding.note("c", "")]) is Severity.FAULT
    assert worst([Finding.note("a", ""), Finding.ok("b", "")]) is Severity.NOTE


def test_each_severity_has_its_own_constructor() -> None:
    assert Finding.ok("pins", "there") == Finding("pins", Severity.OK, "there", "")
    assert Finding.note("pins", "slow", "wait") == Finding("pins", Severity.NOTE, "slow", "wait")
    assert Finding.fault("pins", "gone", "buy some") == Finding("pins", Severity.FAULT, "gone", "buy some")
