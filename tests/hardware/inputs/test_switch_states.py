from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.inputs.switch_states import (
    CHATTER_FLIPS,
    MIN_SCANS,
    SwitchChange,
    SwitchDebouncer,
    SwitchSnapshot,
    SwitchState,
)

OFF, ON, DOUBT = SwitchState.OPEN, SwitchState.CLOSED, SwitchState.DOUBTFUL
START_S = 10.0


def fed(states: list[SwitchState], *, step_s: float = 0.02, settle_s: float = 0.04) -> SwitchDebouncer:
    debouncer = SwitchDebouncer(1, settle_s=settle_s)
    for number, state in enumerate(states):
        debouncer.add_scan([state], START_S + number * step_s)
    return debouncer


def seen(debouncer: SwitchDebouncer, time_s: float) -> SwitchSnapshot:
    snapshot = debouncer.snapshot(time_s)
    assert snapshot is not None
    return snapshot


def test_nothing_is_said_before_it_has_settled() -> None:
    debouncer = SwitchDebouncer(1)
    for number, expected in enumerate([None, None, (True,)]):
        debouncer.add_scan([ON], START_S + 0.02 * number)
        snapshot = debouncer.snapshot(START_S + 0.02 * number)
        assert (snapshot and snapshot.closed) == expected
    assert seen(debouncer, START_S + 0.04).changes == ()


def test_a_change_is_told_once_with_when_it_was_first_seen() -> None:
    debouncer = fed([OFF, OFF, OFF, ON, ON, ON, ON])
    snapshot = seen(debouncer, START_S + 0.12)
    assert snapshot.closed == (True,)
    assert snapshot.changes == (SwitchChange(0, True, pytest.approx(START_S + 0.06)),)
    assert seen(debouncer, START_S + 0.12).changes == ()


@pytest.mark.parametrize("bounce", [[ON], [ON, ON], [ON, OFF, ON], [DOUBT, ON], [ON, OFF, ON, OFF, ON, ON]])
def test_a_bounce_is_no_change(bounce: list[SwitchState]) -> None:
    snapshot = seen(fed([OFF, OFF, OFF, *bounce, OFF, OFF, OFF]), START_S + 1.0)
    assert snapshot.closed == (False,)
    assert snapshot.doubtful == (False,)
    assert snapshot.changes == ()


def test_slow_scans_need_three_that_agree_and_quick_ones_the_whole_time() -> None:
    assert seen(fed([OFF, OFF, OFF, ON, ON], step_s=0.5), START_S + 2.0).closed == (False,)
    assert seen(fed([OFF, OFF, OFF, ON, ON, ON], step_s=0.5), START_S + 2.5).closed == (True,)
    quick = fed([OFF] * 50 + [ON] * 39, step_s=0.001, settle_s=0.04)
    assert seen(quick, START_S + 0.089).closed == (False,)


def test_doubt_that_comes_and_goes_is_no_change_unless_the_switch_is_another_after_it() -> None:
    debouncer = fed([ON, ON, ON, DOUBT, DOUBT, DOUBT])
    doubt = seen(debouncer, START_S + 0.1)
    assert (doubt.closed, doubt.doubtful, doubt.changes) == ((False,), (True,), ())
    for number in range(3):
        debouncer.add_scan([ON], START_S + 0.2 + 0.02 * number)
    again = seen(debouncer, START_S + 0.24)
    assert (again.closed, again.doubtful, again.changes) == ((True,), (False,), ())
    for number, state in enumerate([DOUBT, DOUBT, DOUBT, OFF, OFF, OFF]):
        debouncer.add_scan([state], START_S + 0.3 + 0.02 * number)
    after = seen(debouncer, START_S + 0.4)
    assert (after.closed, after.doubtful) == ((False,), (False,))
    assert [(change.switch, change.closed) for change in after.changes] == [(0, False)]


def test_a_switch_that_chatters_is_doubtful_until_it_is_quiet() -> None:
    debouncer = fed([OFF, OFF, OFF] + [ON, OFF] * CHATTER_FLIPS)
    end_s = START_S + 0.02 * (2 + 2 * CHATTER_FLIPS)
    assert seen(debouncer, end_s).doubtful == (True,)
    for number in range(60):
        debouncer.add_scan([OFF], end_s + 0.02 * (number + 1))
    quiet = seen(debouncer, end_s + 1.2)
    assert (quiet.closed, quiet.doubtful, quiet.changes) == ((False,), (False,), ())


def test_a_switch_that_never_rests_is_doubtful_from_the_start() -> None:
    assert seen(fed([ON, OFF, ON, OFF]), START_S + 0.06).doubtful == (True,)


def test_changes_of_several_switches_come_in_order_of_time() -> None:
    debouncer = SwitchDebouncer(2)
    for number, states in enumerate([(ON, OFF)] * 3 + [(OFF, OFF)] + [(OFF, ON)] * 3):
        debouncer.add_scan(states, START_S + 0.02 * number)
    changes = seen(debouncer, START_S + 0.12).changes
    assert [(change.switch, change.closed) for change in changes] == [(0, False), (1, True)]
    assert changes[0].time_s < changes[1].time_s


def test_a_scan_of_another_matrix_and_odd_times_are_refused() -> None:
    with pytest.raises(ValueError, match="a scan of 2 switches; expected 1"):
        SwitchDebouncer(1).add_scan([OFF, OFF], START_S)
    with pytest.raises(ValueError, match="expected seconds, 0 or more"):
        SwitchDebouncer(1, settle_s=-0.1)


scans = st.lists(st.tuples(st.sampled_from([OFF, ON, DOUBT]), st.integers(1, 60)), min_size=1, max_size=60)


@given(scans, st.integers(0, 80))
def test_it_believes_what_reading_the_whole_record_backwards_gives(
    steps: list[tuple[SwitchState, int]], settle_ms: int
) -> None:
    debouncer = SwitchDebouncer(1, settle_s=settle_ms / 1000)
    record: list[tuple[SwitchState, int]] = []
    now_ms = 0
    for state, pause_ms in steps:
        now_ms += pause_ms
        record.append((state, now_ms))
        debouncer.add_scan([state], now_ms / 1000)
    believed = None
    for end in range(len(record), 0, -1):
        start = end - 1
        while start > 0 and record[start - 1][0] is record[end - 1][0]:
            start -= 1
        if end - start >= MIN_SCANS and (record[end - 1][1] - record[start][1]) / 1000 >= settle_ms / 1000 - 1e-9:
            believed = record[end - 1][0]
            break
    flips = [time_ms for (before, _), (after, time_ms) in pairwise(record) if before is not after]
    chatters = len(flips) >= CHATTER_FLIPS and now_ms - flips[-CHATTER_FLIPS] <= 1000
    snapshot = debouncer.snapshot(now_ms / 1000)
    if snapshot is None:
        assert len(record) < MIN_SCANS or now_ms - record[0][1] < settle_ms + 1e-6
        return
    expected = DOUBT if believed is None or chatters else believed
    assert snapshot.closed == (expected is ON,)
    assert snapshot.doubtful == (expected is DOUBT,)
