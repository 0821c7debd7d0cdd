from __future__ import annotations

import threading

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory

from hardware.inputs.buttons import ButtonEvent, Buttons
from hardware.inputs.debounce import PressKind
from hardware.pins.pin_map import ButtonRole

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
