"""The settings of what hangs on a wire: the microcontroller, and switches under the squares."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from referee.config_section import Pin, Section

AUTO_PORT = "auto"
"""The port's name that means: the board that answers, whatever its port is called today."""


class BoardSettings(Section):
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
    baud: int = Field(default=115200, ge=1200, le=3_000_000, description="Speed of a UART; USB takes no notice.")
    pin_map: Path | None = Field(
        default=None,
        examples=["pins.toml"],
        description="The pin map that `referee firmware install` put on the board; when given, it is compared.",
    )
    buttons: tuple[Literal["end turn", "hint", "take back"], ...] = Field(
        default=("end turn", "hint", "take back"),
        description="What the board's buttons are for, in their order; with pin_map as that says.",
    )
    silence_s: float = Field(
        default=3.0, ge=0.5, le=60, description="After how long without the referee the board shows that it waits."
    )
    debounce_ms: float = Field(
        default=20.0, ge=1, le=1000, description="How long the board's contacts must be quiet, in milliseconds."
    )


class SensorSettings(Section):
    """Switches under the squares (reed or hall) that tell which of them are occupied."""

    source: Literal["none", "board", "pins"] = Field(
        default="none", description="Where switches are: none, on the board below [board], or on the Pi's own pins."
    )
    eyes: Literal["camera", "sensors", "both"] = Field(default="camera", description="What the referee looks through.")
    map: Path | None = Field(
        default=None,
        examples=["sensors.toml"],
        description="Which switch is under which square, as `referee sensors map` wrote it.",
    )
    false_closed: float = Field(
        default=0.01, ge=0.001, le=0.2, description="How often a switch says occupied where nothing stands."
    )
    false_open: float = Field(
        default=0.03, ge=0.001, le=0.2, description="How often a switch says empty where something stands."
    )
    row_pins: tuple[Pin, ...] = Field(
        default=(), examples=[(5, 6, 13)], description="The Pi's pins that drive the rows of a matrix."
    )
    column_pins: tuple[Pin, ...] = Field(
        default=(), examples=[(16, 20, 21)], description="The Pi's pins that read the columns of a matrix."
    )
    switch_pins: tuple[Pin, ...] = Field(
        default=(), examples=[(17, 27)], description="The Pi's pins with one switch each; they count after the matrix."
    )
    diodes: bool = Field(default=True, description="Whether each switch of the matrix has a diode.")
