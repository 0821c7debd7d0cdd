from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.buttons import ButtonEvent, Buttons, Debouncer, Press, PressKind
from hardware.pin_map import ButtonRole
from tests.effort import cases

ROLES = {ButtonRole.END_TURN: 5, ButtonRole.HINT: 6}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def buttons(clock, plain_pins: MockFactory, said: list[str]):
    made = Buttons(ROLES, clock, said.append, pin_factory=plain_pins)
    yield made
    made.close()


def bounce(clock, pin, levels_ms: list[tuple[bool, float]]) -> None:
    """Drive a pin: closed pulls it to ground; each level is held for that many milliseconds."""
    for closed, ms in levels_ms:
        pin.drive_low() if closed else pin.drive_high()
        clock.now_s += ms / 1000


def test_a_bouncing_press_is_one_event_with_the_time_of_the_touch(clock, plain_pins: MockFactory, buttons) -> None:
    pin = plain_pins.pin("GPIO5")
    clock.now_s = 200.0
    bounce(clock, pin, [(True, 2), (False, 1), (True, 1), (False, 0.5), (True, 30)])
    assert buttons.poll() == (ButtonEvent(ButtonRole.END_TURN, PressKind.PRESSED, 200.0, pytest.approx(0.023)),)
    bounce(clock, pin, [(False, 1), (True, 1), (False, 40)])
    released = buttons.poll()
    assert [(event.role, event.kind) for event in released] == [(ButtonRole.END_TURN, PressKind.RELEASED)]
    assert buttons.poll() == ()


def test_a_press_and_release_between_two_polls_is_not_lost(clock, plain_pins: MockFactory, buttons) -> None:
    for _ in range(3):
        bounce(clock, plain_pins.pin("GPIO5"), [(True, 60), (False, 60)])
    clock.now_s += 5
    kinds = [event.kind for event in buttons.poll()]
    assert kinds == [PressKind.PRESSED, PressKind.RELEASED] * 3


def test_events_of_several_buttons_come_in_order_of_time(clock, plain_pins: MockFactory, buttons) -> None:
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 50), (False, 50)])
    bounce(clock, plain_pins.pin("GPIO5"), [(True, 50), (False, 50)])
    clock.now_s += 1
    assert buttons.presses() == (ButtonRole.HINT, ButtonRole.END_TURN)
    assert buttons.presses() == ()


def test_buttons_that_settle_between_two_polls_are_told_in_the_order_they_settled(
    clock, plain_pins: MockFactory, buttons
) -> None:
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 5)])
    bounce(clock, plain_pins.pin("GPIO5"), [(True, 500)])
    assert buttons.presses() == (ButtonRole.HINT, ButtonRole.END_TURN)


def test_a_long_press_is_told_when_it_is_due(clock, plain_pins: MockFactory, buttons) -> None:
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 100)])
    assert [event.kind for event in buttons.poll()] == [PressKind.PRESSED]
    due_s = buttons.next_change_s()
    assert due_s == pytest.approx(clock.now_s + 0.9)
    assert buttons.poll(due_s - 0.001) == ()
    held = buttons.poll(due_s)
    assert [(event.kind, event.held_s) for event in held] == [(PressKind.HELD, pytest.approx(1.0))]


def test_an_edge_that_the_system_lost_is_made_up_for(clock, plain_pins: MockFactory, buttons) -> None:
    pin = plain_pins.pin("GPIO5")
    bounce(clock, pin, [(True, 50)])
    assert len(buttons.poll()) == 1
    silent, pin._when_changed = pin._when_changed, None  # gpiozero hears nothing of this release
    pin.drive_high()
    pin._when_changed = silent
    assert buttons.poll(clock.now_s + 0.1) == ()
    assert [event.kind for event in buttons.poll(clock.now_s + 0.2)] == [PressKind.RELEASED]


def test_a_button_to_the_supply_is_read_the_other_way_round(clock, plain_pins: MockFactory, said: list[str]) -> None:
    buttons = Buttons({ButtonRole.HINT: 12}, clock, said.append, pin_factory=plain_pins, pull_up=False)
    plain_pins.pin("GPIO12").drive_high()
    clock.now_s += 0.1
    assert [event.kind for event in buttons.poll()] == [PressKind.PRESSED]
    buttons.close()


def test_edges_may_come_from_another_thread(clock, plain_pins: MockFactory, buttons) -> None:
    thread = threading.Thread(target=bounce, args=(clock, plain_pins.pin("GPIO5"), [(True, 50), (False, 50)]))
    thread.start()
    thread.join()
    assert [event.kind for event in buttons.poll()] == [PressKind.PRESSED, PressKind.RELEASED]


def test_a_busy_pin_costs_its_button_only_until_it_is_free(clock, plain_pins: MockFactory, said: list[str]) -> None:
    other = LED(5, pin_factory=plain_pins)
    buttons = Buttons(ROLES, clock, said.append, pin_factory=plain_pins)
    assert len(said) == 1
    assert "button 'end turn' (GPIO5)" in said[0]
    assert [fault.device for fault in buttons.faults] == ["button 'end turn' (GPIO5)"]
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 50), (False, 50)])
    assert [event.role for event in buttons.poll()] == [ButtonRole.HINT, ButtonRole.HINT]
    other.close()
    clock.now_s += 10
    buttons.poll()
    assert buttons.faults == ()
    bounce(clock, plain_pins.pin("GPIO5"), [(True, 50)])
    assert [event.role for event in buttons.poll()] == [ButtonRole.END_TURN]
    assert len(said) == 1
    buttons.close()


def test_a_button_that_fails_while_in_use_is_said_and_opened_again(
    clock, plain_pins: MockFactory, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    buttons = Buttons({ButtonRole.HINT: 6}, clock, said.append, pin_factory=plain_pins)
    pin = plain_pins.pin("GPIO6")

    def gone() -> bool:
        raise OSError("the expander went away")

    with monkeypatch.context() as broken:
        broken.setattr(pin, "_get_state", gone)
        assert buttons.poll() == ()
    assert len(said) == 1
    assert "the expander went away" in said[0]
    clock.now_s += 5
    buttons.poll()
    bounce(clock, pin, [(True, 50)])
    assert [event.kind for event in buttons.poll()] == [PressKind.PRESSED]
    buttons.close()


def test_closing_frees_the_pins(clock, plain_pins: MockFactory, said: list[str]) -> None:
    Buttons(ROLES, clock, said.append, pin_factory=plain_pins).close()
    for number in ROLES.values():
        LED(number, pin_factory=plain_pins).close()


SETTLE_S = 0.02
LONG_S = 1.0
MS = 0.001


@dataclass(frozen=True)
class Finger:
    """One press as a hand makes it: contact chatter, a steady hold, chatter again, a steady rest; whole ms."""

    chatter_in: tuple[int, ...]
    hold: int
    chatter_out: tuple[int, ...]
    rest: int


def chatter() -> st.SearchStrategy[tuple[int, ...]]:
    """Lengths of an even number of alternating levels that together last less than the settle time."""
    return (
        st.lists(st.integers(1, 6), max_size=8)
        .map(lambda spans: tuple(spans[: len(spans) // 2 * 2]))
        .filter(lambda spans: sum(spans) < SETTLE_S / MS)
    )


fingers = st.lists(
    st.builds(Finger, chatter(), st.integers(20, 3000), chatter(), st.integers(20, 2000)), min_size=1, max_size=8
)


def edges_of(presses: list[Finger], start_s: float) -> Iterator[tuple[float, bool, Finger | None]]:
    """Every edge, and with the first edge of a press the press itself."""
    now_ms = 0
    for finger in presses:
        closed, first = True, True
        for span in (*finger.chatter_in, finger.hold, *finger.chatter_out, finger.rest):
            yield start_s + now_ms * MS, closed, finger if first else None
            now_ms += span
            closed, first = not closed, False
        assert closed


def run(debouncer: Debouncer, edges: list[tuple[float, bool]], end_s: float) -> list[Press]:
    told: list[Press] = []
    for time_s, closed in edges:
        told += debouncer.edge(time_s, closed=closed)
    return [*told, *debouncer.advance(end_s)]


@given(fingers, st.sampled_from([0.0, 12.5, 86_400.0]))
def test_each_press_is_told_once_whatever_the_contact_does(presses: list[Finger], start_s: float) -> None:
    trace = list(edges_of(presses, start_s))
    end_s = trace[-1][0] + 10
    told = run(Debouncer(time_s=start_s), [(time_s, closed) for time_s, closed, _ in trace], end_s)
    touches = [(time_s, finger) for time_s, _, finger in trace if finger is not None]
    down = [press for press in told if press.kind is PressKind.PRESSED]
    assert len(down) == len(presses)
    for press, (time_s, finger) in zip(down, touches, strict=True):
        assert time_s - 1e-6 <= press.touched_s <= time_s + sum(finger.chatter_in) * MS + 1e-6
    kinds = [press.kind for press in told if press.kind is not PressKind.HELD]
    assert kinds == [PressKind.PRESSED, PressKind.RELEASED] * len(presses)
    for press in down:
        assert SETTLE_S - 1e-6 <= press.time_s - press.touched_s <= 2 * SETTLE_S


@given(fingers)
def test_a_press_is_held_when_it_lasts_and_only_then(presses: list[Finger]) -> None:
    trace = list(edges_of(presses, 0.0))
    told = run(Debouncer(), [(time_s, closed) for time_s, closed, _ in trace], trace[-1][0] + 10)
    held_s = [press.touched_s for press in told if press.kind is PressKind.HELD]
    for time_s, _, finger in trace:
        if finger is None:
            continue
        is_held = any(time_s - 1e-6 <= each <= time_s + sum(finger.chatter_in) * MS + 1e-6 for each in held_s)
        if finger.hold > LONG_S / MS:
            assert is_held
        elif sum((*finger.chatter_in, finger.hold, *finger.chatter_out)) < LONG_S / MS:
            assert not is_held


@given(fingers, st.lists(st.floats(0, 20), max_size=40))
def test_polling_in_between_changes_nothing(presses: list[Finger], polls_s: list[float]) -> None:
    edges = [(time_s, closed) for time_s, closed, _ in edges_of(presses, 0.0)]
    end_s = 60.0
    unpolled = run(Debouncer(), edges, end_s)
    polled = Debouncer()
    told: list[Press] = []
    moments: list[tuple[float, bool | None]] = sorted(
        [*edges, *((round(poll, 4), None) for poll in polls_s)], key=lambda moment: moment[0]
    )
    for time_s, closed in moments:
        told += polled.advance(time_s) if closed is None else polled.edge(time_s, closed=closed)
    told += polled.advance(end_s)
    assert told == unpolled


@given(st.lists(st.tuples(st.integers(1, 19), st.integers(20, 200)), max_size=20))
def test_interference_shorter_than_the_settle_time_is_no_press(spikes: list[tuple[int, int]]) -> None:
    debouncer, now_s, told = Debouncer(), 0.0, []
    for spike_ms, quiet_ms in spikes:
        told += debouncer.edge(now_s, closed=True)
        told += debouncer.edge(now_s + spike_ms * MS, closed=False)
        now_s += (spike_ms + quiet_ms) * MS
    assert [*told, *debouncer.advance(now_s + 10)] == []


@given(st.lists(st.tuples(st.floats(0, 10), st.booleans()), max_size=60))
@settings(max_examples=cases(200))
def test_any_trace_alternates_and_keeps_order(edges: list[tuple[float, bool]]) -> None:
    """Edges may repeat a level and may be stamped out of order; what comes out still makes sense."""
    told = run(Debouncer(), edges, 30.0)
    assert [press.time_s for press in told] == sorted(press.time_s for press in told)
    last = PressKind.RELEASED
    for press in told:
        assert press.touched_s <= press.time_s
        allowed = {
            PressKind.RELEASED: {PressKind.PRESSED},
            PressKind.PRESSED: {PressKind.HELD, PressKind.RELEASED},
            PressKind.HELD: {PressKind.RELEASED},
        }[last]
        assert press.kind in allowed
        last = press.kind


@given(st.lists(st.tuples(st.integers(0, 10_000), st.booleans()), max_size=30))
def test_the_announced_moment_is_when_something_becomes_certain(steps: list[tuple[int, bool]]) -> None:
    debouncer = Debouncer()
    for ms, closed in sorted(steps):
        debouncer.edge(ms * MS, closed=closed)
        change_s = debouncer.next_change_s
        if change_s is not None:
            twin = Debouncer()
            for earlier_ms, earlier in [step for step in sorted(steps) if step <= (ms, closed)]:
                twin.edge(earlier_ms * MS, closed=earlier)
            assert twin.advance(change_s - 1e-6) == ()
            assert [press.time_s for press in twin.advance(change_s)] == [pytest.approx(change_s)]


def test_a_dirty_contact_that_is_mostly_closed_is_a_press() -> None:
    """It never rests for the settle time, so waiting for it to rest would miss the press."""
    debouncer, told = Debouncer(), []
    for cycle in range(40):
        told += debouncer.edge(cycle * 0.01, closed=True)
        told += debouncer.edge(cycle * 0.01 + 0.008, closed=False)
    told += debouncer.advance(1.0)
    assert [press.kind for press in told] == [PressKind.PRESSED, PressKind.RELEASED]


def test_a_button_that_is_down_at_the_start_is_no_press_until_it_was_let_go() -> None:
    debouncer = Debouncer(closed=True, time_s=5.0)
    assert debouncer.advance(20.0) == ()
    assert debouncer.edge(20.0, closed=False) == ()
    assert debouncer.edge(21.0, closed=True) == ()
    assert debouncer.advance(21.5) == (Press(PressKind.PRESSED, 21.02, 21.0),)


def test_a_long_press_is_told_at_once_with_its_own_time() -> None:
    debouncer = Debouncer(long_press_s=0.5)
    debouncer.edge(1.0, closed=True)
    assert debouncer.advance(1.1) == (Press(PressKind.PRESSED, 1.02, 1.0),)
    assert debouncer.next_change_s == 1.5
    assert debouncer.advance(9.0) == (Press(PressKind.HELD, 1.5, 1.0),)
    assert debouncer.next_change_s is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"settle_s": 0.0}, "a settle time of 0.0 s"), ({"settle_s": 0.1, "long_press_s": 0.05}, "a long press of 0.05")],
)
def test_times_that_make_no_sense_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Debouncer(**arguments)
