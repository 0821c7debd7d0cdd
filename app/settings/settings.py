"""The settings: sections, names, defaults and allowed values, and the files that they name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict

from pydantic import (
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from app.settings.sources import expanded, user_folder
from common.phrases import joined
from firmware_bridge.wled import DDP_PORT
from frontends.mqtt.settings import MqttSection
from frontends.page.settings import PageSection
from referee.clocks import TimeControl
from referee.errors import ConfigError
from referee.hints.hint_settings import HintSettings
from referee.record.events import EvidenceLimits
from referee.section import Section
from referee.session.turn_settings import TurnSettings

KIB = 1024
MIB = 1024 * KIB
Pin = StrictInt | StrictStr
"""A pin of the Pi's header, as ``hardware.pin_map.parse_pin`` reads it."""


Button = Literal["end turn", "hint", "take back", "anti-play", "repetition", "draw", "resign"]
"""The function of a button: the values of ``hardware.pin_map.ButtonRole``."""


AUTO_PORT = "auto"
"""The port name that stands for the board that answers, whatever its port is called."""


class BoardSection(Section):
    """A microcontroller with the referee's firmware: lights, buttons, a buzzer, switches under the squares."""

    port: str = Field(
        default=AUTO_PORT,
        description='The serial port, such as "/dev/ttyACM0"; "auto" finds the board, also under another name.',
    )
    vendor_id: int | None = Field(
        default=None, ge=0, le=0xFFFF, examples=[0x2E8A], description="Only a board of this USB vendor."
    )
    product_id: int | None = Field(
        default=None, ge=0, le=0xFFFF, examples=[0x0005], description="Only a board with this USB product number."
    )
    serial_number: str | None = Field(
        default=None, examples=["E6614103E72B8F2A"], description="Only the board with this serial number."
    )
    baud: int = Field(default=115200, ge=1200, le=3_000_000, description="Speed of a UART; ignored on USB.")
    pin_map: Path | None = Field(
        default=None,
        examples=["pins.toml"],
        description="The pin map that `./run hardware firmware install` put on the board; if set, it is compared.",
    )
    buttons: tuple[Button, ...] = Field(
        default=("end turn", "hint", "take back"),
        description="What the board's buttons do, in their order; a pin_map overrides this.",
    )
    silence_s: float = Field(
        default=3.0, ge=2.5, le=60, description="Seconds without the referee until the board shows that it waits."
    )
    debounce_ms: float = Field(
        default=20.0,
        ge=1,
        le=500,
        description="How long the board's contacts must be quiet, in milliseconds. "
        "Longer: worn contacts count once, quick presses are lost.",
    )


class SensorSection(Section):
    """Switches under the squares (reed or hall) that tell which of them are occupied."""

    source: Literal["none", "board", "pins"] = Field(
        default="none", description="Where switches are: none, on the board under [board], or on the Pi's own pins."
    )
    eyes: Literal["camera", "sensors", "both"] = Field(default="camera", description="What the referee sees with.")
    map: Path | None = Field(
        default=None,
        examples=["sensors.toml"],
        description="Which switch is under which square, as `./run hardware sensors map` wrote it.",
    )
    false_closed: float = Field(
        default=0.01,
        ge=0.001,
        le=0.2,
        description="How often a switch says occupied where nothing stands, as a share. Higher: sensors count less.",
    )
    false_open: float = Field(
        default=0.03,
        ge=0.001,
        le=0.2,
        description="How often a switch says empty where something stands, as a share. Higher: sensors count less.",
    )
    row_pins: tuple[Pin, ...] = Field(
        default=(), examples=[(5, 6, 13)], description="The Pi's pins that drive the rows of a matrix."
    )
    column_pins: tuple[Pin, ...] = Field(
        default=(), examples=[(16, 20, 21)], description="The Pi's pins that read the columns of a matrix."
    )
    switch_pins: tuple[Pin, ...] = Field(
        default=(), examples=[(17, 27)], description="The Pi's pins with one switch each; numbered after the matrix."
    )
    diodes: bool = Field(default=True, description="Whether each switch of the matrix has a diode.")


JOURNAL_FILE = Path("journal.sqlite")


class GameSection(Section):
    """The game to play, and its options."""

    name: str = Field(default="deblockle", description="The game's name, as in `./run play --help`.")
    options: dict[str, StrictBool | StrictInt | StrictStr] = Field(
        default={},
        examples=[{"side_by_side": False}],
        description="Rule options by name; docs/games/ has one page per game.",
    )


class RequestedCamera(TypedDict):
    """What ``vision.cameras.open_camera`` is asked for."""

    size: tuple[int, int]
    frames_per_second: float
    mains_hz: int | None
    mirrored: bool


class CameraSection(Section):
    """The camera above the table."""

    source: str = Field(
        default="0",
        coerce_numbers_to_str=True,
        description="A number (the n-th USB camera), pi (the Pi's own), phone, a network camera's address, or "
        "address:FILE with that in a file, a device, a video or a folder of pictures.",
    )
    calibration: Path | None = Field(
        default=None,
        examples=["camera.json"],
        description="What `./run hardware calibrate` wrote for this camera. Without one: measured from the table.",
    )
    width_px: int = Field(default=1280, ge=160, le=8192, description="Width of the frames, in pixels.")
    height_px: int = Field(default=720, ge=120, le=8192, description="Height of the frames, in pixels.")
    frames_per_second: float = Field(
        default=15.0, gt=0, le=240, description="Frames a second. Higher: faster verdicts, more work for the computer."
    )
    mirrored: bool = Field(
        default=False, description="Whether the camera's pictures are mirrored, so that they are turned round."
    )
    mains_hz: int | None = Field(
        default=None,
        ge=50,
        le=60,
        multiple_of=10,
        examples=[50],
        description="The mains frequency, 50 or 60: lamps on it then don't flicker. Default: that of the time zone.",
    )
    hold: bool = Field(
        default=True, description="Whether the camera keeps exposure, white balance and focus once it sees the table."
    )

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the frames."""
        return self.width_px, self.height_px

    @property
    def requested(self) -> RequestedCamera:
        """What a live camera is asked for when it is opened."""
        rate, mains_hz = self.frames_per_second, self.mains_hz
        return {"size": self.size_px, "frames_per_second": rate, "mains_hz": mains_hz, "mirrored": self.mirrored}


class TableSection(Section):
    """What was measured and learned about the table."""

    layout: Path | None = Field(
        default=None,
        examples=["layout.json"],
        description="The measured table. Default: the layout that comes with the game.",
    )
    looks: Path | None = Field(
        default=None,
        examples=["looks.json"],
        description="What `./run pieces enrol` learned of the pieces. Without one: learned from the set-up.",
    )
    markers: Literal["layout", "none"] = Field(
        default="layout",
        description="How to find the table: by the layout's markers, or with none by the board's own lines.",
    )
    anywhere: bool = Field(default=False, description="Accept other starting places than the game suggests.")


class LightSection(Section):
    """The lights that show verdicts, and the buttons. Pins are BCM numbers or names such as "GPIO17" or "BOARD11"."""

    drivers: tuple[Literal["terminal", "gpio", "board", "wled-network"], ...] = Field(
        default=("terminal",), description="What shows the signals; several are allowed."
    )
    bell: bool = Field(default=False, description="Ring the terminal's bell for sounds.")
    place_pins: dict[str, Pin] = Field(
        default={}, examples=[{"d2": 5, "d6": 6}], description="The pin of each square's light."
    )
    column_pins: dict[str, Pin] = Field(
        default={}, examples=[{"a": 5, "b": 6}], description="Pins of lights along the columns, with row_pins."
    )
    row_pins: dict[str, Pin] = Field(
        default={}, examples=[{"1": 12, "2": 13}], description="Pins of lights along the rows, with column_pins."
    )
    status_red_pin: Pin | None = Field(default=None, examples=[17], description="The status light's red pin.")
    status_green_pin: Pin | None = Field(default=None, examples=[27], description="The status light's green pin.")
    status_blue_pin: Pin | None = Field(default=None, examples=[22], description="The status light's blue pin.")
    active_high: bool = Field(default=True, description="Whether lights shine when their pin is high.")
    buzzer_pin: Pin | None = Field(default=None, examples=[18], description="The buzzer's pin.")
    buzzer: Literal["active", "passive"] = Field(
        default="active", description="An active buzzer has one tone of its own, a passive one plays any."
    )
    button_pins: dict[Button, Pin] = Field(
        default={}, examples=[{"end turn": 23, "hint": 24, "take back": 25}], description="The pin of each button."
    )
    pull_up: bool = Field(default=True, description="Whether buttons connect their pin to ground.")
    debounce_ms: float = Field(
        default=20.0,
        gt=0,
        le=1000,
        description="How long a button's contact must be quiet, in milliseconds. "
        "Longer: worn buttons count once, quick presses are lost.",
    )
    light_map: Path | None = Field(
        default=None,
        examples=["lights.toml"],
        description="Which light of a strip is which square, for board and WLED, as `./run hardware lights "
        "map` wrote it.",
    )
    strip_lights: int | None = Field(
        default=None,
        ge=1,
        le=300,
        examples=[49],
        description="How many lights the WLED strip has. Default: as many as the map needs; a board reports its own.",
    )
    brightness: float = Field(
        default=1.0, gt=0, le=1, description="The maximum brightness of a strip, as a share of the full one."
    )
    current_limit_ma: int = Field(
        default=0, ge=0, le=65535, description="The most a board's strip may draw, in mA; 0: as its pin map says."
    )
    wled_host: str | None = Field(
        default=None, examples=["wled.local"], description="Name or address of the WLED for wled-network (DDP)."
    )
    wled_port: int = Field(default=DDP_PORT, ge=1, le=65535, description="The UDP port of the WLED for wled-network.")

    @model_validator(mode="before")
    @classmethod
    def _without_removed_settings(cls, values: Any) -> Any:
        """Accept files with a setting that never had an effect."""
        return {key: values[key] for key in values if key != "long_press_s"} if isinstance(values, dict) else values


class OpponentSection(Section):
    """The program as an opponent: it says its turns, and a person plays them for it."""

    player: str | None = Field(default=None, examples=["teal"], description="The side that the program plays.")
    strength: Literal["gentle", "fair", "strong"] = Field(default="fair", description="How well it plays.")
    seconds: float = Field(
        default=2.0, ge=0.05, le=60, description="How long it thinks about a turn, in seconds. Longer: it plays better."
    )


class ClockSection(Section):
    """Chess clocks, for any game: each new game begins with this one."""

    time: str = Field(
        default="none",
        description='The time of each player: "none", minutes for the whole game, such as "game 10", '
        'minutes and seconds a turn, such as "fischer 5+3" or "delay 5+3".',
    )
    flag: Literal["said", "loses"] = Field(
        default=TimeControl.flag.value,
        description="What a fallen flag means: it is only announced, or the player loses.",
    )
    waits: bool = Field(
        default=TimeControl.waits,
        description="Whether the clock is paused while the referee asks or can't see the table.",
    )


class JournalSection(Section):
    """The file for accepted events, and the limits of its pictures."""

    path: Path = Field(
        default=JOURNAL_FILE,
        examples=["journal.sqlite"],
        description="The journal's file. Default: in your data folder.",
    )
    evidence_picture_kib: int = Field(
        default=EvidenceLimits.picture_bytes // KIB,
        ge=0,
        le=16384,
        description="The most one picture may take, in KiB.",
    )
    evidence_total_mib: int = Field(
        default=EvidenceLimits.total_bytes // MIB,
        ge=0,
        le=65536,
        description="The most all pictures may take, in MiB; the oldest are dropped.",
    )
    daily_copies: int = Field(
        default=3, ge=0, le=366, description="How many daily copies to keep in the folder backups beside it."
    )


class DemoSection(Section):
    """The virtual table."""

    seed: int = Field(default=13, ge=0, description="Draws the game: the same seed plays the same game.")
    turns: int = Field(default=16, ge=1, le=10000, description="How many turns are played at most.")
    fast: bool = Field(default=False, description="Play as fast as the computer can.")


class Settings(Section):
    """All settings."""

    game: GameSection = GameSection()
    camera: CameraSection = CameraSection()
    table: TableSection = TableSection()
    turn: TurnSettings = TurnSettings()
    lights: LightSection = LightSection()
    board: BoardSection = BoardSection()
    sensors: SensorSection = SensorSection()
    hints: HintSettings = HintSettings()
    opponent: OpponentSection = OpponentSection()
    clock: ClockSection = ClockSection()
    page: PageSection = PageSection()
    mqtt: MqttSection = MqttSection()
    journal: JournalSection = JournalSection()
    demo: DemoSection = DemoSection()

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """Return the settings with other ``values``, by ``section.key``. They aren't validated."""
        sections: dict[str, Section] = {}
        for name, value in values.items():
            section, _, key = name.partition(".")
            before: Section = sections.get(section) or getattr(self, section)
            sections[section] = before.model_copy(update={key: value})
        return self.model_copy(update=sections)

    def with_absolute_paths(self, bases: Mapping[str, Path], folder: Path, environment: Mapping[str, str]) -> Settings:
        """Return the settings with absolute paths: relative ones start from ``bases`` (by setting), ``~`` is expanded.

        Without a path in the settings, the journal is in the user's data folder. Raises ConfigError for a path that
        can't be one.
        """
        placed: dict[str, Path] = {}
        for name, path in self.paths().items():
            try:
                placed[name] = bases.get(name, folder) / expanded(path)
            except ConfigError as error:
                raise ConfigError(joined((name, error), ": ")) from error
        if "journal.path" not in bases:
            placed["journal.path"] = user_folder(environment, "XDG_DATA_HOME", ".local/share") / JOURNAL_FILE
        return self.changed(placed)

    def paths(self) -> dict[str, Path]:
        """Return the files and folders that are named, by setting."""
        return {
            f"{section}.{key}": value
            for section in type(self).model_fields
            for key, value in getattr(self, section)
            if isinstance(value, Path)
        }


SECTIONS: Mapping[str, type[Section]] = MappingProxyType(
    {name: type(field.default) for name, field in Settings.model_fields.items()}
)
"""The class of each section, in the order of the settings file."""
