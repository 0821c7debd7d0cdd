"""The loops over bytes, lights and pins in machine code; a SyntaxError on an interpreter that can't generate it.

MicroPython's viper emitter uses machine words and raw addresses without any checks, so callers must pass the right
lengths.
"""
# mypy: disable-error-code="name-defined, no-untyped-def, untyped-decorator, operator"

import micropython

from ..core.board import Levels

_GPIO_IN = 0xD0000004  # SIO_BASE and the offset of GPIO_IN, in the data sheets of the RP2040 and the RP2350 alike


@micropython.viper
def _write_levels(wanted: ptr8, shown: ptr8, table: ptr8, size: int, faintest: int) -> int:
    total = 0
    at = 0
    while at < size:
        red = wanted[at]
        green = wanted[at + 1]
        blue = wanted[at + 2]
        shown_red = table[red]
        shown_green = table[green]
        shown_blue = table[blue]
        if not (shown_red | shown_green | shown_blue) and faintest and (red | green | blue):
            brightest = red
            if green > brightest:
                brightest = green
            if blue > brightest:
                brightest = blue
            if red == brightest:
                shown_red = 1
            if green == brightest:
                shown_green = 1
            if blue == brightest:
                shown_blue = 1
        shown[at] = shown_red
        shown[at + 1] = shown_green
        shown[at + 2] = shown_blue
        total += shown_red + shown_green + shown_blue
        at += 3
    return total


@micropython.viper
def _dim_levels(shown: ptr8, size: int, allowed: int, total: int):
    for at in range(size):
        shown[at] = shown[at] * allowed // total


@micropython.viper
def _pack_words(colours: ptr8, words: ptr8, size: int, at_red: int, at_green: int, at_blue: int):
    at = 0
    to = 0
    while at < size:
        words[to + at_red] = colours[at]
        words[to + at_green] = colours[at + 1]
        words[to + at_blue] = colours[at + 2]
        at += 3
        to += 4


@micropython.viper
def _low_pins(pins: ptr8, count: int) -> int:
    levels = ptr32(_GPIO_IN)[0]
    mask = 0
    for index in range(count):
        if not (levels >> pins[index]) & 1:
            mask |= 1 << index
    return mask


@micropython.native
def read_waiting(ipoll, readinto, slots):
    """Read waiting bytes, one into each slot, and return their number."""
    count = 0
    for slot in slots:
        for _ in ipoll(0):
            break
        else:
            break
        readinto(slot)
        count += 1
    return count


@micropython.native
def write_while_room(ipoll, write, data, one):
    """Write bytes one by one, through the buffer ``one``, while there is room; returns their number."""
    count = 0
    for byte in data:
        for _ in ipoll(0):
            break
        else:
            break
        one[0] = byte
        write(one)
        count += 1
    return count


class NativeLevels(Levels):
    """The same as ``Levels``, about fifty times as fast."""

    def write(self, wanted: bytearray, shown: bytearray, table: bytearray, faintest: int) -> int:
        """Write the levels and return their sum."""
        total: int = _write_levels(wanted, shown, table, min(len(wanted), len(shown)), faintest)
        return total

    def dim(self, shown: bytearray, allowed: int, total: int) -> None:
        """Scale all levels by ``allowed / total``, rounded down."""
        _dim_levels(shown, len(shown), allowed, total)


def make_levels() -> Levels:
    """Make the loops over lights."""
    return NativeLevels()


def pack_words(colours: bytearray, words: bytearray, at_red: int, at_green: int, at_blue: int) -> None:
    """Copy three bytes a light into words of four, at the given offsets; the fourth byte is left as it is."""
    _pack_words(colours, words, min(len(colours), len(words) // 4 * 3), at_red, at_green, at_blue)


def low_pins(pins: bytes) -> int:
    """Read all pins of an RP2040 or RP2350 at once, and return a bit mask of those of ``pins`` that are low."""
    mask: int = _low_pins(pins, len(pins))
    return mask
