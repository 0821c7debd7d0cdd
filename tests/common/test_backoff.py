from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from common.backoff import Backoff


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
