from collections.abc import Callable

import pytest
from gpiozero import LED
from gpiozero.exc import GPIOZeroError
from gpiozero.pins.mock import MockFactory, MockPin

from hardware.errors import DriverError, HardwareError, PinError
from hardware.lights.gpio import BuzzerDriver, BuzzerKind, EdgeLed, PlaceLed, StatusLed
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import AnimatedDriver, Driver, Light, LightRole, Mood, Signal, Sound
from hardware.pins import hardware_error, open_pin_factory, pin_errors

History = Callable[[MockPin], list[tuple[float, float]]]
Play = Callable[[Panel, float], int]


def source_of(driver: Driver) -> DriverSource:
    return DriverSource(driver.name, lambda: driver)


def panel_of(clock, *drivers: Driver) -> Panel:
    def unexpected(message: str) -> None:
        raise AssertionError(message)

    return Panel([source_of(driver) for driver in drivers], clock, unexpected)


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (LightRole.TURN, [(0.0, 1)]),
        (
            LightRole.FAULT,
            [(0.0, 1), (0.25, 0), (0.5, 1), (0.75, 0), (1.0, 1), (1.25, 0), (1.5, 1), (1.75, 0), (2.0, 1)],
        ),
        (LightRole.PUT_RIGHT, [(0.0, 1), (0.15, 0), (0.35, 1), (0.5, 0), (1.4, 1), (1.55, 0), (1.75, 1), (1.9, 0)]),
        (LightRole.QUESTION, [(0.0, 1), (0.5, 0), (1.5, 1)]),
        (LightRole.UNFINISHED, [(0.0, 1), (1.7, 0), (2.0, 1)]),
        (LightRole.OPPONENT, [(0.0, 1), (1.3, 0), (1.5, 1), (1.8, 0), (2.0, 1)]),
        (LightRole.HINT, [(0.0, 1), (0.1, 0), (2.0, 1)]),
    ],
)
def test_a_place_light_switches_at_the_times_of_its_role(
    clock, plain_pins: MockFactory, play: Play, history: History, role: LightRole, expected: list[tuple[float, int]]
) -> None:
    pin = plain_pins.pin("GPIO17")
    with panel_of(clock, PlaceLed("c3", 17, pin_factory=plain_pins)) as panel:
        pin.clear_states()
        panel.show(Signal(Mood.FAULT, (Light.for_role("c3", role),)))
        ticks = play(panel, clock.now_s + 2.0)
        assert history(pin) == expected
        assert ticks == len(expected) - 1
        pin.assert_states_and_times([(0.0, False), (0.0, True)])


def test_a_steady_light_needs_no_ticks(clock, plain_pins: MockFactory, play: Play) -> None:
    with panel_of(clock, PlaceLed("c3", 17, pin_factory=plain_pins)) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.TURN),)))
        assert play(panel, clock.now_s + 3600) == 0
        assert plain_pins.pin("GPIO17").state


def test_a_place_is_dark_for_a_light_elsewhere_and_after_the_next_signal(clock, plain_pins: MockFactory) -> None:
    pin = plain_pins.pin("GPIO17")
    with panel_of(clock, PlaceLed("c3", 17, pin_factory=plain_pins)) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("c4", LightRole.TURN),)))
        assert not pin.state
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.TURN),)))
        assert pin.state
        panel.show(Signal(Mood.WAITING))
        assert not pin.state


def test_an_led_wired_to_the_supply_is_inverted(clock, plain_pins: MockFactory) -> None:
    with panel_of(clock, PlaceLed("c3", 17, active_high=False, pin_factory=plain_pins)) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.TURN),)))
        assert not plain_pins.pin("GPIO17").state
        panel.show(Signal(Mood.WAITING))
        assert plain_pins.pin("GPIO17").state


def test_edge_lights_point_at_the_squares_in_turn(clock, plain_pins: MockFactory, play: Play, history: History) -> None:
    wiring = {"c": 2, "d": 3, "1": 4, "2": 5}
    pins = {line: plain_pins.pin(f"GPIO{number}") for line, number in wiring.items()}
    drivers = [EdgeLed(line, number, pin_factory=plain_pins) for line, number in wiring.items()]
    with panel_of(clock, *drivers) as panel:
        for pin in pins.values():
            pin.clear_states()
        panel.show(
            Signal(
                Mood.ACCEPTED,
                (
                    Light.for_role("c1", LightRole.TURN),
                    Light.for_role("d1", LightRole.TURN),
                    Light.for_role("d2", LightRole.TURN),
                ),
            )
        )
        play(panel, clock.now_s + 3.5)
        assert history(pins["c"]) == [(0.0, 1), (1.0, 0), (3.0, 1)]
        assert history(pins["d"]) == [(1.0, 1), (3.0, 0)]
        assert history(pins["1"]) == [(0.0, 1), (2.0, 0), (3.0, 1)]
        assert history(pins["2"]) == [(2.0, 1), (3.0, 0)]


def test_the_status_light_mixes_colours_by_pulse_width(
    clock, pwm_pins: MockFactory, play: Play, history: History
) -> None:
    red, green, blue = (pwm_pins.pin(f"GPIO{number}") for number in (13, 19, 26))
    with panel_of(clock, StatusLed((13, 19, 26), pin_factory=pwm_pins)) as panel:
        panel.show(Signal(Mood.ACCEPTED))
        # Okabe and Ito's green is (0, 158, 115); light is proportional to the linear value.
        assert red.state == 0
        assert green.state == pytest.approx(0.342, abs=0.001)
        assert blue.state == pytest.approx(0.171, abs=0.001)
        red.clear_states()
        panel.show(Signal(Mood.QUESTION))
        assert play(panel, clock.now_s + 1.0) == 20
        levels = [level for _, level in history(red)]
        assert levels == sorted(levels, reverse=True)
        assert levels[-1] == 0


def test_without_pulse_width_modulation_the_status_light_keeps_rhythm_and_mixed_colour(
    clock, plain_pins: MockFactory, play: Play, history: History
) -> None:
    pins = [plain_pins.pin(f"GPIO{number}") for number in (13, 19, 26)]
    shown = {}
    with panel_of(clock, StatusLed((13, 19, 26), pin_factory=plain_pins)) as panel:
        for mood in Mood:
            panel.show(Signal(mood))
            colour = tuple(pin.state for pin in pins)
            for pin in pins:
                pin.clear_states()
            start_s = clock.now_s
            play(panel, clock.now_s + 14.0)
            lit = next(pin for pin, state in zip(pins, colour, strict=True) if state)
            shown[mood] = (colour, tuple(history(lit)))
            assert clock.now_s == start_s + 14.0
    rhythms = [rhythm for _, rhythm in shown.values()]
    assert len(set(rhythms)) == len(rhythms)
    assert shown[Mood.ACCEPTED][0] == (False, True, False)
    assert shown[Mood.FAULT][0] == (True, False, False)
    assert shown[Mood.NOT_FINISHED][0] == (True, True, False)
    assert shown[Mood.QUESTION][0] == (True, False, True)
    assert shown[Mood.FINISHED][0] == (False, False, True)
    assert shown[Mood.WAITING][0] == (True, True, True)


def test_an_active_buzzer_sounds_the_rhythm_once(clock, plain_pins: MockFactory, play: Play, history: History) -> None:
    pin = plain_pins.pin("GPIO18")
    with panel_of(clock, BuzzerDriver(18, pin_factory=plain_pins)) as panel:
        pin.clear_states()
        panel.show(Signal(Mood.FAULT, sound=Sound.FAULT))
        play(panel, clock.now_s + 10.0)
        assert history(pin) == [(0.0, 1), (0.4, 0), (0.52, 1), (0.92, 0)]
        assert panel.next_change_s() is None


def test_a_passive_buzzer_plays_the_tones(clock, pwm_pins: MockFactory, play: Play) -> None:
    pin = pwm_pins.pin("GPIO18")
    with panel_of(clock, BuzzerDriver(18, kind=BuzzerKind.PASSIVE, pin_factory=pwm_pins)) as panel:
        heard = []
        panel.show(Signal(Mood.QUESTION, sound=Sound.QUESTION))
        heard.append((pin.frequency, pin.state))
        for moment_s in (0.15, 0.25, 0.5):
            play(panel, 100.0 + moment_s)
            heard.append((pin.frequency, pin.state))
        assert heard == [(1318, 0.5), (1318, 0.0), (2093, 0.5), (2093, 0.0)]


def test_closing_switches_everything_off_and_frees_the_pins(clock, pwm_pins: MockFactory) -> None:
    panel = panel_of(clock, StatusLed((13, 19, 26), pin_factory=pwm_pins), PlaceLed("c3", 17, pin_factory=pwm_pins))
    panel.show(Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.TURN),)))
    panel.close()
    assert not pwm_pins.pin("GPIO17").state
    assert not pwm_pins.pin("GPIO19").state
    for number in (13, 17, 19, 26):
        LED(number, pin_factory=pwm_pins).close()


def test_a_pin_in_use_is_named_with_its_use_and_a_remedy(clock, plain_pins: MockFactory) -> None:
    with (
        LED(17, pin_factory=plain_pins),
        pytest.raises(PinError, match=r"light c3 \(GPIO17\): .*already in use.*choose another pin"),
    ):
        PlaceLed("c3", 17, pin_factory=plain_pins)


def test_a_status_light_with_one_busy_pin_frees_the_others(clock, plain_pins: MockFactory) -> None:
    with LED(26, pin_factory=plain_pins), pytest.raises(PinError, match=r"status light \(GPIO13, 19, 26\)") as refused:
        StatusLed((13, 19, 26), pin_factory=plain_pins)
    for number in (13, 19):
        LED(number, pin_factory=plain_pins).close()
    # Held until here, so that it is not the end of the error that freed the pins.
    assert refused.value.__cause__ is not None


def test_a_pin_that_the_board_lacks_is_reported(clock) -> None:
    with MockFactory(revision="0002") as first_model_b, pytest.raises(PinError, match="choose a pin that this board"):
        PlaceLed("c3", 26, pin_factory=first_model_b)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (OSError(16, "Device or resource busy"), DriverError, "another program holds the pin"),
        (RuntimeError("Cannot determine SOC peripheral base address"), DriverError, "check the wiring"),
        (GPIOZeroError(), DriverError, "GPIOZeroError; check the wiring"),
    ],
)
def test_errors_of_the_pin_library_become_errors_with_a_remedy(
    error: Exception, kind: type[HardwareError], message: str
) -> None:
    told = hardware_error("buzzer (GPIO18)", error)
    assert type(told) is kind
    assert str(told).startswith("buzzer (GPIO18): ")
    assert message in str(told)


def test_lgpios_own_error_counts_as_a_pin_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeLgpio:
        class error(Exception):  # noqa: N801, N818 - lgpio spells it so
            pass

    assert FakeLgpio.error not in pin_errors()
    monkeypatch.setitem(__import__("sys").modules, "lgpio", FakeLgpio)
    assert FakeLgpio.error in pin_errors()


def test_a_computer_without_pins_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpiozero.Device.pin_factory", None)
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "no-such-library")
    with pytest.raises(
        DriverError, match=r"no usable GPIO pins .*no-such-library.*64-bit Pi with Python 3.11 to 3.13.*the terminal"
    ):
        open_pin_factory()


def test_the_default_pin_factory_is_gpiozeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpiozero.Device.pin_factory", None)
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    factory = open_pin_factory()
    assert isinstance(factory, MockFactory)
    driver = PlaceLed("c3", 17)
    assert isinstance(driver, AnimatedDriver)
    driver.close()
    factory.close()
