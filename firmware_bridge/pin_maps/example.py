"""A complete, commented pin map for each kind of board, usable as it is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firmware_bridge.pin_maps.boards import BOARDS

_PICO = MappingProxyType(
    {
        "lights": "28",
        "rows": "[2, 3, 4, 5, 6, 7, 8, 9]",
        "columns": "[10, 11, 12, 13, 14, 15, 16, 17]",
        "buttons": "18 19 20",
        "buzzer": "22",
        "single": "[26, 27]",
        "uart": "0 0 1",
    }
)
_PINS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "pico": _PICO,
        "pico2": _PICO,
        "esp32-s3": MappingProxyType(
            {
                "lights": "21",
                "rows": "[4, 5, 6, 7, 8, 9, 10, 11]",
                "columns": "[12, 13, 14, 15, 16, 17, 18, 38]",
                "buttons": "39 40 41",
                "buzzer": "42",
                "single": "[47, 48]",
                "uart": "1 1 2",
            }
        ),
    }
)


def example_pin_map(board: str = "pico", button_roles: tuple[str, ...] = ("end turn", "hint", "take back")) -> str:
    """Write a pin map for one of BOARDS: 64 lights, a matrix of 8 × 8 switches, a button for each role, a buzzer.

    Raises KeyError for a board that there is not.
    """
    kind, pins = BOARDS[board], _PINS[board]
    names = [role if role.isidentifier() else f'"{role}"' for role in button_roles]
    buttons = "\n".join(f"{name} = {pin}" for name, pin in zip(names, pins["buttons"].split(), strict=False))
    number, tx, rx = pins["uart"].split()
    return f"""\
# What hangs on which pin of the board. Leave out what you have not. Pins are numbers as beside the board, 28 or
# "{kind.pin_name(28)}"; the {kind.title} has {kind.usable_text}.
# `referee firmware pins FILE` checks this file, `referee firmware install --pins FILE` puts it on the board.

# The kind of board: {", ".join(f'"{name}"' for name in BOARDS)}.
board = "{board}"

# What the referee calls it.
name = "{kind.title}"

# How it is joined to the referee's computer: "usb", or "uart" with a section [uart].
link = "usb"

# A UART instead of USB: its number, its pins, bits a second.
# [uart]
# number = {number}
# tx = {tx}
# rx = {rx}
# baud = 115200

# A strip of WS2812 lights.
[lights]
pin = {pins["lights"]}

# How many lights, up to 300.
count = 64

# The order in which a light takes its colours; "GRB" for nearly all strips. If red and green are swapped, "RGB".
order = "GRB"

# The strip is dimmed so that it never draws more. 500 mA is what USB can give; with a supply of its own, what that
# gives less a fifth.
current_limit_ma = 500

# 1.0 is full.
brightness = 0.6

# Switches (reed or hall) where rows and columns cross. Switch 0 is row 1, column 1; then along the row.
[matrix]
rows = {pins["rows"]}
columns = {pins["columns"]}

# true when each switch has its diode: without, what three closed switches at corners hide is left open.
diodes = true

# Single switches, each from its pin to ground; they are counted after the matrix's.
# [switches]
# pins = {pins["single"]}

# Buttons, each from its pin to ground.
[buttons]
{buttons}

# "passive" plays tones, "active" has only its own.
[buzzer]
pin = {pins["buzzer"]}
kind = "passive"
"""
