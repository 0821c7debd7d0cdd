"""``./run hardware lights`` and ``./run hardware sensors`` on a virtual board behind a real pseudo-terminal."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from app.cli.root import root
from app.mapping import dialogue, lights
from app.mapping.dialogue import one_light_signal
from app.mapping.lights import every_signal, map_lights, show_every_light
from app.mapping.sensors import draw_sensors, map_sensors, show_sensors
from app.sensing.health import HealthFile, SensorHealth, SensorSnapshot, health_file, load_health
from app.wiring.plan import SensorMap, load_sensor_map, save_sensor_map
from common.grid import PlaceGrid
from engine.registry import load
from firmware_bridge.errors import PortMissingError
from firmware_bridge.firmware.core.device import DEFAULT_DEBOUNCE_MS
from firmware_bridge.pin_maps.file import parse_pin_map
from hardware.lights.light_map import read_light_map
from hardware.lights.signals import Signal, Sound
from hardware.pin_map import BUTTON_ROLES
from referee.errors import ConfigError
from simulator.microcontroller.board import MOST_BOUNCE_S
from simulator.microcontroller.microcontroller import VirtualMicrocontroller
from simulator.scene.scene import Setting
from tests.app.mapping.glowing import empty_boards, glow, small_setting
from tests.guard import GUARD_S
from tests.referee.virtual_board import SETTINGS, SMALL, Heard, Plugged, plugged
from vision.calibration import save_calibration
from vision.cameras import Camera
from vision.frame import Frame


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def console(heard: Heard) -> Console:
    return Console(file=heard, width=200)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Plugged]:
    with plugged(tmp_path) as it:
        yield it


def test_the_owner_maps_the_lights_of_the_board_one_by_one(table: Plugged, console: Console, heard: Heard) -> None:
    answers = iter(["a1", "b1", "", "status"])
    seen: list[int] = []

    def ask(prompt: str) -> str:
        light = len(seen)
        alone = bytes(3 * light) + b"\xff\xff\xff"
        assert table.device.wait_for(lambda: table.device.lights().colours.rstrip(b"\0") == alone, GUARD_S)
        seen.append(light)
        return next(answers)

    out = table.folder / "lights.toml"
    assert map_lights(table.settings(), out, console, ask) == 0
    light_map = read_light_map(out)
    assert (dict(light_map.places), light_map.status, light_map.lights) == ({"a1": (0,), "b1": (1,)}, (3,), 4)
    assert light_map.pin_map_crc == parse_pin_map(SMALL, button_roles=BUTTON_ROLES).crc32
    assert "2 lights under 2 squares; 1 light as the status light" in heard.getvalue()


@dataclass
class CameraOverTheStrip(Camera):
    """A camera over the empty table that sees the board's real strip as a glow on each light's square."""

    device: VirtualMicrocontroller
    setting: Setting
    points_mm: Sequence[tuple[float, float]]
    asked: list[int | None] = field(default_factory=list)
    frames: int = 0

    def __post_init__(self) -> None:
        super().__init__("over the strip")
        self.pictures = empty_boards(self.setting, 4)

    def _read(self, timeout_s: float) -> Frame:
        self.frames += 1
        image = self.pictures[self.frames % 4]
        if self.asked:
            # Only the light that was requested last is on its way to the strip, however long that takes.
            alone = b"" if self.asked[-1] is None else bytes(3 * self.asked[-1]) + b"\xff\xff\xff"
            assert self.device.wait_for(lambda: self.device.lights().colours.rstrip(b"\0") == alone, GUARD_S)
        colours = self.device.lights().colours
        for light, point_mm in enumerate(self.points_mm):
            if any(colours[3 * light : 3 * light + 3]):
                image = glow(image, self.setting, *point_mm, levels=60.0)
        return Frame(image, time.monotonic(), self.frames)

    def close(self) -> None:
        pass


def test_the_camera_maps_the_lights_of_the_board(
    table: Plugged, console: Console, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogue, "CAMERA_DELAY_S", 0.0)
    setting = small_setting()
    squares = ["g7", "a1", "d4", "c2"]
    camera = CameraOverTheStrip(table.device, setting, [setting.layout.centre_mm(square) for square in squares])
    calibration = setting.camera
    save_calibration(table.folder / "camera.json", calibration)
    out = table.folder / "lights.toml"
    settings = table.settings('\n[camera]\ncalibration = "camera.json"\n')

    def ask(prompt: str) -> str:
        raise AssertionError(f"asked {prompt!r} after {heard.getvalue()}")

    def signal(light: int | None) -> Signal:
        camera.asked.append(light)
        return one_light_signal(light)

    monkeypatch.setattr(lights, "one_light_signal", signal)
    assert map_lights(settings, out, console, ask, by_camera=True, open_camera=lambda *spec, **asked: camera) == 0
    assert {place: lights[0] for place, lights in read_light_map(out).places.items()} == {
        place: light for light, place in enumerate(squares)
    }


def test_no_map_is_written_if_no_light_was_found(table: Plugged, console: Console, heard: Heard) -> None:
    out = table.folder / "lights.toml"
    assert map_lights(table.settings(), out, console, lambda prompt: "f") == 1
    assert "nothing was written" in heard.getvalue()
    assert not out.exists()


def test_a_board_without_lights_or_switches_is_named(tmp_path: Path, console: Console) -> None:
    with plugged(tmp_path, 'board = "pico"\n[buttons]\nhint = 5\n') as bare:
        with pytest.raises(ConfigError, match="the board has no lights"):
            map_lights(bare.settings(), tmp_path / "l.toml", console, input)
        with pytest.raises(ConfigError, match="the board has no switches"):
            map_sensors(bare.settings(), tmp_path / "s.toml", console, [])


def test_a_missing_port_is_named_once(table: Plugged, console: Console, heard: Heard) -> None:
    settings = table.settings()
    gone = replace(
        settings,
        settings=settings.settings.model_copy(
            update={"board": settings.settings.board.model_copy(update={"port": "/dev/ttyNONE"})}
        ),
    )
    with pytest.raises(PortMissingError, match="there is no port /dev/ttyNONE"):
        map_lights(gone, table.folder / "l.toml", console, input)
    with pytest.raises(PortMissingError):
        map_sensors(gone, table.folder / "s.toml", console, [])
    (table.folder / "lights.toml").write_text("lights = 4\n[places]\na1 = 0\n")
    with pytest.raises(PortMissingError):
        show_every_light(gone, 0.01, console)
    # The error names it.
    assert heard.getvalue() == ""


def test_lights_missing_from_the_settings_are_refused(table: Plugged, console: Console) -> None:
    bare = table.settings(base="[lights]\ndrivers = []\n")
    with pytest.raises(ConfigError, match="no strip of lights is set"):
        map_lights(bare, table.folder / "l.toml", console, input)
    with pytest.raises(ConfigError, match="no lights are set"):
        show_every_light(bare, 0.01, console)
    with pytest.raises(ConfigError, match="no switches are set"):
        map_sensors(bare, table.folder / "s.toml", console, [])
    wled = table.settings(base='[lights]\ndrivers = ["wled-network"]\nwled_host = "127.0.0.1"\n')
    with pytest.raises(ConfigError, match="how many lights does the strip have"):
        map_lights(wled, table.folder / "l.toml", console, input)


def test_without_other_lights_the_terminal_shows_each_of_them(table: Plugged, console: Console, heard: Heard) -> None:
    places = load("deblockle").places
    waited: list[float] = []
    assert show_every_light(table.settings(base=""), 0.5, console, waited.append) == 0
    signals = list(every_signal(tuple(places)))
    assert waited == [0.5] * len(signals)
    assert "a1" in heard.getvalue()
    assert all(heard.getvalue().count(signal.words) == 1 for signal in signals)


def test_every_signal_is_shown_with_its_meaning(table: Plugged, console: Console, heard: Heard) -> None:
    (table.folder / "lights.toml").write_text("lights = 4\nstatus = 3\n[places]\na1 = 0\nb1 = [1, 2]\n")

    coming = every_signal(("a1", "b1"))

    def wait(seconds: float) -> None:
        """Wait until the board shows the announced signal: squares, the status light alone, or a tone."""
        signal = next(coming)

        def shows() -> bool:
            colours = table.device.lights().colours
            if signal.sound is not Sound.SILENCE:
                return any(tone.frequency_hz for tone in table.device.tones())
            return any(colours[:9]) if signal.lights else any(colours[9:]) and not any(colours[:9])

        assert table.device.wait_for(shows, GUARD_S), signal

    # The sensors are not mapped yet.
    seeing = table.settings(base=SETTINGS.replace('source = "board"', 'source = "board"\neyes = "both"'))
    assert show_every_light(seeing, 0.0, console, wait) == 0
    assert next(coming, None) is None
    assert all(signal.words in heard.getvalue() for signal in every_signal(("a1", "b1")))
    assert "That was everything." in heard.getvalue()


def test_switches_are_mapped_by_putting_pieces_down(table: Plugged, console: Console, heard: Heard) -> None:
    device, out = table.device, table.folder / "sensors.toml"

    def person() -> Iterator[str]:
        heard.wait_for("Put a piece on a1.")
        device.set_switch(2, True)
        heard.wait_for("a1 is switch 2.")
        heard.wait_for("Put a piece on b1.")
        yield ""
        heard.wait_for("Put a piece on c1.")
        device.set_switch(2, False)
        device.set_switch(2, True)
        device.set_switch(0, True)
        heard.wait_for("c1 is switch 0.")
        yield "f"

    assert map_sensors(table.settings(), out, console, person()) == 0
    sensor_map = load_sensor_map(out)
    assert (dict(sensor_map.places), sensor_map.switches) == ({"a1": 2, "c1": 0}, 3)
    assert sensor_map.pin_map_crc is not None
    assert "2 of 49 squares have a switch" in heard.getvalue()


def test_a_new_map_uses_sensors_again_that_were_switched_off(table: Plugged, console: Console, heard: Heard) -> None:
    settings = table.settings()
    record = health_file(settings.settings.journal.path)
    keep_stuck_sensors(record, "a1", "b1", "c1")

    def person() -> Iterator[str]:
        for switch, square in enumerate(["a1", "b1"]):
            heard.wait_for(f"Put a piece on {square}.")
            table.device.set_switch(switch, True)
        heard.wait_for("b1 is switch 1.")
        yield "f"

    assert map_sensors(settings, table.folder / "sensors.toml", console, person()) == 0
    assert "These sensors were switched off, and are used again: a1, b1." in heard.getvalue()
    assert load_health(record).out == {"c1"}


def test_several_sensors_are_put_back_at_once(table: Plugged, monkeypatch: pytest.MonkeyPatch) -> None:
    record = health_file(table.settings().settings.journal.path)
    monkeypatch.setenv("HOME", str(table.folder))
    monkeypatch.chdir(table.folder)
    keep_stuck_sensors(record, "a1", "b1", "c1")
    done = CliRunner().invoke(root, ["sensors", "put-back", "A1", "c1"], prog_name="referee")
    assert done.exit_code == 0, done.output
    assert [line.split(" is used")[0] for line in done.output.splitlines()] == [
        "The sensor under a1",
        "The sensor under c1",
    ]
    assert load_health(record).out == {"b1"}


def keep_stuck_sensors(record: Path, *places: str) -> None:
    """Write a record in which these sensors are switched off."""
    health = SensorHealth()
    for turn in range(12):
        health.compare(dict.fromkeys(places, True), dict.fromkeys(places, turn % 2 == 0))
    assert health.out == set(places)
    record.parent.mkdir(parents=True, exist_ok=True)
    HealthFile.write(health, record)


def test_mapping_by_switch_survives_an_unplugged_board(table: Plugged, console: Console, heard: Heard) -> None:
    device, out = table.device, table.folder / "sensors.toml"

    def person() -> Iterator[str]:
        heard.wait_for("Put a piece on a square.")
        device.set_switch(1, True)
        heard.wait_for("Switch 1 closed: which square?")
        yield "g7"
        heard.wait_for("g7 is switch 1.")
        table.unplug()
        heard.wait_for("The board does not answer; I wait for it.")
        yield "f"

    assert map_sensors(table.settings(), out, console, person(), by_switch=True) == 0
    assert dict(load_sensor_map(out).places) == {"g7": 1}


def test_the_states_of_the_switches_are_shown(table: Plugged, console: Console, heard: Heard) -> None:
    table.device.set_switch(1, True)
    settled_s = time.monotonic() + MOST_BOUNCE_S + 2 * DEFAULT_DEBOUNCE_MS / 1000
    assert table.device.wait_for(lambda: time.monotonic() > settled_s)
    settings = table.settings()
    save_sensor_map(SensorMap({"a1": 0, "d4": 1}, 3), table.folder / "sensors.toml")
    assert show_sensors(settings, console, once=True) == 0
    assert "1 of 2 squares are occupied: d4." in heard.getvalue()
    assert "●" in heard.getvalue()


def test_a_missing_switch_is_shown(table: Plugged, console: Console, heard: Heard) -> None:
    save_sensor_map(SensorMap({"a1": 0, "d4": 3}, 4), table.folder / "sensors.toml")
    show_sensors(table.settings(), console, once=True)
    assert "there are 3 switches and the sensor map was made for 4" in heard.getvalue()
    assert "These have a switch in the map that is not there: d4." in heard.getvalue()


def test_a_changed_pin_map_is_reported(table: Plugged, console: Console, heard: Heard) -> None:
    save_sensor_map(SensorMap({"a1": 0}, 3, 12345), table.folder / "sensors.toml")
    show_sensors(table.settings(), console, once=True)
    assert "has changed since the sensors were mapped" in heard.getvalue()
    assert "delete the line pin_map_crc from the sensor map" in heard.getvalue()


def test_the_sensors_are_followed_while_their_board_is_away(table: Plugged) -> None:
    port = table.folder / "board"
    port.symlink_to(table.device.port_name)
    settings = table.settings(base=SETTINGS.replace("PORT", str(port)))
    save_sensor_map(SensorMap({"a1": 0, "d4": 1}, 3), table.folder / "sensors.toml")

    class Follower(Heard):
        """Unplugs the board at the first drawing, plugs it in again at the next, and stops at the last."""

        def write(self, text: str) -> int:
            written = super().write(text)
            drawn = self.getvalue().count("doubtful")
            if "doubtful" not in text:
                return written
            if drawn == 1:
                table.unplug()
            elif drawn == 2:
                table.device.replug()
                assert table.device.wait_for(lambda: table.device.is_plugged, GUARD_S)
                port.unlink()
                port.symlink_to(table.device.port_name)
            elif drawn == 3:
                raise KeyboardInterrupt
            return written

    followed = Follower()
    assert show_sensors(settings, Console(file=followed, width=200), once=False) == 0
    assert "No sensor reports anything." not in followed.getvalue()


def test_showing_sensors_needs_a_map(table: Plugged, console: Console) -> None:
    with pytest.raises(ConfigError, match=r"`\./run hardware sensors map` makes a map"):
        show_sensors(table.settings(base='[sensors]\nsource = "board"\n'), console, once=True)


def test_the_states_of_the_sensors_are_drawn() -> None:
    told = SensorSnapshot(1.0, {"a1": True, "b1": False, "a2": True}, frozenset({"a2"}))
    drawn = draw_sensors(told, PlaceGrid.of_squares(2, 2), {"b1": "stuck"}, plain=True).plain
    assert drawn.splitlines()[:3] == ["  2  ?  ", "  1  o x", "     a b"]


def test_the_hardware_commands_map_try_and_show(table: Plugged, monkeypatch: pytest.MonkeyPatch) -> None:
    table.settings()
    monkeypatch.setenv("HOME", str(table.folder))
    monkeypatch.chdir(table.folder)

    def run(*arguments: str, typed: str = "") -> Result:
        return CliRunner().invoke(root, arguments, prog_name="referee", input=typed)

    mapped = run("lights", "map", typed="a1\nb1\n\nstatus\n")
    assert mapped.exit_code == 0, mapped.output
    assert read_light_map(table.folder / "lights.toml").status == (3,)
    tried = run("lights", "test", "--seconds", "0.05")
    assert tried.exit_code == 0, tried.output
    assert "squares, fault: vermillion, blink" in tried.output
    unmapped = run("sensors")
    assert unmapped.exit_code == 3
    assert "the sensor map" in unmapped.output
    nothing = run("sensors", "map", typed="f\n")
    assert nothing.exit_code == 1
    save_sensor_map(SensorMap({"a1": 2}, 3), table.folder / "sensors.toml")
    shown = run("sensors")
    assert shown.exit_code == 0, shown.output
    assert "0 of 1 squares are occupied" in shown.output
    assert run("sensors", "show", "--once").output == shown.output
    refused = run("sensors", "put-back", "A1")
    assert refused.exit_code == 4
    assert "no sensor is switched off" in refused.output
    looked = run("doctor")
    assert "4 lights, 3 switches, 2 buttons, a buzzer" in looked.output


def test_a_duration_must_be_a_number() -> None:
    said = CliRunner().invoke(root, ["hardware", "lights", "test", "--seconds", "nan"])
    assert (said.exit_code, "nan is not a number" in said.stderr) == (2, True)
