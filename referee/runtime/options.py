"""What a table is watched with, as a person chose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from serial.tools import list_ports

from hardware.factory import ButtonSettings, DriverSettings
from referee.hints.advice import HintSettings
from referee.journal import EvidenceLimits
from referee.judge import JudgeSettings
from referee.wiring.link import ListPorts
from referee.wiring.plan import Inputs, WiringPlan


@dataclass(frozen=True)
class WatchOptions:
    """What is watched and how.

    One of ``camera`` (as ``vision.cameras.open_camera`` reads it), ``frames`` (a folder of pictures in name order)
    and ``video``, or none of them where ``wire``, which is what hangs on wires, says that sensors are the only eyes.
    ``stills``: every frame is a table at rest at the end of a turn; otherwise pictures count as taken 15 a second.
    ``calibration`` is needed; without ``layout`` the game's own is used, without ``looks`` the pieces' colours are
    learned from the set-up. Without ``journal`` nothing is kept. ``options`` are the game's, as text, and
    ``starts=either``. ``debug_images`` is a folder for pictures of what was located. ``camera_size`` (width, height)
    in pixels and ``camera_rate`` in frames a second are asked of a camera. ``list_ports`` tells the serial ports.
    """

    camera: str | None = None
    frames: Path | None = None
    video: Path | None = None
    stills: bool = False
    calibration: Path | None = None
    layout: Path | None = None
    looks: Path | None = None
    game: str = "deblockle"
    options: Mapping[str, str] = field(default_factory=dict)
    journal: Path | None = None
    resume: bool = True
    debug_images: Path | None = None
    anywhere: bool = False
    turn_end: str = "rest"
    rest_s: float = 3.0
    margin: float = JudgeSettings.margin
    camera_size: tuple[int, int] | None = None
    camera_rate: float | None = None
    evidence: EvidenceLimits = field(default_factory=EvidenceLimits)
    lights: DriverSettings = field(default_factory=lambda: DriverSettings(drivers=()))
    buttons: ButtonSettings = field(default_factory=ButtonSettings)
    hints: HintSettings = field(default_factory=HintSettings)
    wire: WiringPlan = field(default_factory=WiringPlan)
    list_ports: ListPorts = list_ports.comports

    @property
    def by_sensors_alone(self) -> bool:
        """Whether there is no camera at all."""
        return self.wire.inputs is Inputs.SENSORS

    @property
    def is_live(self) -> bool:
        """Whether a table is watched now, not one that was filmed."""
        return self.camera is not None or self.by_sensors_alone
