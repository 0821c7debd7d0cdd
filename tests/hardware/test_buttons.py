import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.buttons import Buttons, Debouncer
from hardware.pin_map import ButtonRole
from tests.effort import cases
from tests.hardware.conftest import FakeClock

ROLES = {ButtonRole.END_TURN: 5, ButtonRole.HINT: 6}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def buttons(clock: FakeClock, plain_pins: MockFactory, said: list[str]) -> Iterator[Buttons]:
    made = Buttons(ROLES, clock, said.append, pin_factory=plain_pins)
    yield made
    made.close()


def bounce(clock, pin, levels_ms: list[tuple[bool, float]]) -> None:
    """Drive a pin: closed pulls it to ground; each level is held for that many milliseconds."""
    for closed, ms in levels_ms:
        pin.drive_low() if closed else pin.drive_high()
        clock.now_s += ms / 1000


def test_a_bouncing_contact_is_one_press(clock, plain_pins: MockFactory, buttons) -> None:
    pin = plain_pins.pin("GPIO5")
    bounce(clock, pin, [(True, 2), (False, 1), (True, 1), (False, 0.5), (True, 30)])
    assert buttons.presses() == (ButtonRole.END_TURN,)
    bounce(clock, pin, [(False, 1), (True, 1), (False, 40)])
    assert buttons.presses() == ()


def test_a_press_and_release_between_two_polls_is_not_lost(clock, plain_pins: MockFactory, buttons) -> None:
    for _ in range(3):
        bounce(clock, plain_pins.pin("GPIO5"), [(True, 60), (False, 60)])
    clock.now_s += 5
    assert buttons.presses() == (ButtonRole.END_TURN,) * 3


def test_presses_of_several_buttons_come_in_order_of_time(clock, plain_pins: MockFactory, buttons) -> None:
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 50), (False, 50)])
    bounce(clock, plain_pins.pin("GPIO5"), [(True, 50), (False, 50)])
    clock.now_s += 1
    assert buttons.presses() == (ButtonRole.HINT, ButtonRole.END_TURN)
    assert buttons.presses() == ()


def test_presses_between_two_polls_come_in_the_order_they_settled(clock, plain_pins: MockFactory, buttons) -> None:
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 5)])
    bounce(clock, plain_pins.pin("GPIO5"), [(True, 500)])
    assert buttons.presses() == (ButtonRole.HINT, ButtonRole.END_TURN)


def test_a_lost_edge_is_made_up_for_by_polling(clock, plain_pins: MockFactory, buttons) -> None:
    pin = plain_pins.pin("GPIO5")
    silent, pin._when_changed = pin._when_changed, None  # gpiozero hears nothing of this press
    pin.drive_low()
    pin._when_changed = silent
    assert buttons.presses() == ()
    clock.now_s += 0.1
    assert buttons.presses() == (ButtonRole.END_TURN,)


def test_a_button_wired_to_the_supply_is_inverted(clock, plain_pins: MockFactory, said: list[str]) -> None:
    buttons = Buttons({ButtonRole.HINT: 12}, clock, said.append, pin_factory=plain_pins, pull_up=False)
    plain_pins.pin("GPIO12").drive_high()
    clock.now_s += 0.1
    assert buttons.presses() == (ButtonRole.HINT,)
    buttons.close()


def test_edges_may_come_from_another_thread(clock, plain_pins: MockFactory, buttons) -> None:
    thread = threading.Thread(target=bounce, args=(clock, plain_pins.pin("GPIO5"), [(True, 50), (False, 50)]))
    thread.start()
    thread.join()
    assert buttons.presses() == (ButtonRole.END_TURN,)


def test_a_button_on_a_busy_pin_works_once_the_pin_is_free(clock, plain_pins: MockFactory, said: list[str]) -> None:
    other = LED(5, pin_factory=plain_pins)
    buttons = Buttons(ROLES, clock, said.append, pin_factory=plain_pins)
    assert len(said) == 1
    assert said[0].startswith("Button 'end turn' (GPIO5) does not work: pin GPIO5 is already in use by")
    bounce(clock, plain_pins.pin("GPIO6"), [(True, 50), (False, 50)])
    assert buttons.presses() == (ButtonRole.HINT,)
    other.close()
    clock.now_s += 10
    assert buttons.presses() == ()
    bounce(clock, plain_pins.pin("GPIO5"), [(True, 50)])
    assert buttons.presses() == (ButtonRole.END_TURN,)
    assert len(said) == 1
    buttons.close()


def test_a_button_that_fails_in_use_is_reported_and_opened_again(
    clock, plain_pins: MockFactory, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    buttons = Buttons({ButtonRole.HINT: 6}, clock, said.append, pin_factory=plain_pins)
    pin = plain_pins.pin("GPIO6")

    def gone() -> bool:
        raise OSError("the expander went away")

    with monkeypatch.context() as broken:
        broken.setattr(pin, "_get_state", gone)
        assert buttons.presses() == ()
    assert len(said) == 1
    assert "the expander went away" in said[0]
    clock.now_s += 5
    buttons.presses()
    bounce(clock, pin, [(True, 50)])
    assert buttons.presses() == (ButtonRole.HINT,)
    buttons.close()


def fail(*_: object) -> bool:
    raise OSError("the expander went away")


# gpiozero closes a device again when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_button_that_fails_on_closing_too_is_opened_again(
    clock, plain_pins: MockFactory, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    buttons = Buttons(ROLES, clock, said.append, pin_factory=plain_pins)
    pin = plain_pins.pin("GPIO5")
    with monkeypatch.context() as broken:
        broken.setattr(pin, "_get_state", fail)
        broken.setattr(pin, "close", fail)
        assert buttons.presses() == ()
    assert len(said) == 1
    clock.now_s += 5
    buttons.presses()
    bounce(clock, pin, [(True, 50)])
    assert buttons.presses() == (ButtonRole.END_TURN,)
    with monkeypatch.context() as broken:
        broken.setattr(pin, "close", fail)
        buttons.close()
    LED(6, pin_factory=plain_pins).close()


def test_a_button_that_opens_but_cannot_be_read_affects_no_other(
    clock, plain_pins: MockFactory, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pin, reads = plain_pins.pin("GPIO5"), count()
    with monkeypatch.context() as broken:
        # gpiozero itself reads the pin once as it opens it.
        broken.setattr(pin, "_get_state", lambda: fail() if next(reads) else True)
        buttons = Buttons(ROLES, clock, said.append, pin_factory=plain_pins)
    assert len(said) == 1
    clock.now_s += 5
    buttons.presses()
    bounce(clock, pin, [(True, 50)])
    assert buttons.presses() == (ButtonRole.END_TURN,)
    buttons.close()


def test_closing_frees_the_pins(clock, plain_pins: MockFactory, said: list[str]) -> None:
    Buttons(ROLES, clock, said.append, pin_factory=plain_pins).close()
    for number in ROLES.values():
        LED(number, pin_factory=plain_pins).close()


SETTLE_S = 0.02
MS = 0.001


@dataclass(frozen=True)
class Press:
    """One press: contact chatter, a steady hold, chatter again and a steady release, in whole milliseconds."""

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


press_lists = st.lists(
    st.builds(Press, chatter(), st.integers(20, 3000), chatter(), st.integers(20, 2000)), min_size=1, max_size=8
)


def edges_of(presses: list[Press], start_s: float) -> Iterator[tuple[float, bool, Press | None]]:
    """Every edge, and with the first edge of a press the press itself."""
    now_ms = 0
    for press in presses:
        closed, first = True, True
        for span in (*press.chatter_in, press.hold, *press.chatter_out, press.rest):
            yield start_s + now_ms * MS, closed, press if first else None
            now_ms += span
            closed, first = not closed, False
        assert closed


def run(debouncer: Debouncer, edges: list[tuple[float, bool]], end_s: float) -> list[float]:
    presses_s = [debouncer.edge(time_s, closed=closed) for time_s, closed in edges]
    return [press_s for press_s in (*presses_s, debouncer.advance(end_s)) if press_s is not None]


@given(press_lists, st.sampled_from([0.0, 12.5, 86_400.0]))
def test_each_press_counts_once_however_the_contact_bounces(presses: list[Press], start_s: float) -> None:
    trace = list(edges_of(presses, start_s))
    found_s = run(Debouncer(time_s=start_s), [(time_s, closed) for time_s, closed, _ in trace], trace[-1][0] + 10)
    touches_s = [time_s for time_s, _, press in trace if press is not None]
    assert len(found_s) == len(presses)
    for press_s, touch_s in zip(found_s, touches_s, strict=True):
        assert SETTLE_S - 1e-6 <= press_s - touch_s <= 2 * SETTLE_S + 1e-6


@given(press_lists, st.lists(st.floats(0, 20), max_size=40))
def test_polling_in_between_changes_nothing(presses: list[Press], polls_s: list[float]) -> None:
    edges = [(time_s, closed) for time_s, closed, _ in edges_of(presses, 0.0)]
    unpolled = run(Debouncer(), edges, 60.0)
    polled = Debouncer()
    moments: list[tuple[float, bool | None]] = sorted(
        [*edges, *((round(poll, 4), None) for poll in polls_s), (60.0, None)], key=lambda moment: moment[0]
    )
    found = [
        polled.advance(time_s) if closed is None else polled.edge(time_s, closed=closed) for time_s, closed in moments
    ]
    assert [press_s for press_s in found if press_s is not None] == unpolled


@given(st.lists(st.tuples(st.integers(1, 19), st.integers(20, 200)), max_size=20))
def test_interference_shorter_than_the_settle_time_is_no_press(spikes: list[tuple[int, int]]) -> None:
    now_s, edges = 0.0, []
    for spike_ms, quiet_ms in spikes:
        edges += [(now_s, True), (now_s + spike_ms * MS, False)]
        now_s += (spike_ms + quiet_ms) * MS
    assert run(Debouncer(), edges, now_s + 10) == []


@given(st.lists(st.tuples(st.floats(0, 10), st.booleans()), max_size=60))
@settings(max_examples=cases(200))
def test_presses_are_at_least_two_settle_times_apart(edges: list[tuple[float, bool]]) -> None:
    """Edges may repeat a level and may be stamped out of order; between two presses there is still a release."""
    found_s = run(Debouncer(), edges, 30.0)
    assert all(later - earlier >= 2 * SETTLE_S - 1e-6 for earlier, later in pairwise(found_s))


def test_a_chattering_contact_that_is_mostly_closed_is_one_press() -> None:
    """It never settles, so waiting for it to settle would miss the press."""
    edges = [
        (cycle * 0.01 + offset_s, closed) for cycle in range(40) for offset_s, closed in ((0, True), (0.008, False))
    ]
    assert len(run(Debouncer(), edges, 1.0)) == 1


def test_a_button_held_at_the_start_counts_only_after_a_release() -> None:
    debouncer = Debouncer(closed=True, time_s=5.0)
    assert debouncer.advance(20.0) is None
    assert debouncer.edge(20.0, closed=False) is None
    assert debouncer.edge(21.0, closed=True) is None
    assert debouncer.advance(21.5) == 21.02


def test_a_settle_time_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="expected more than 0"):
        Debouncer(settle_s=0.0)
