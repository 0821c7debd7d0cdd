"""The interface of the firmware to a microcontroller, real or virtual."""


class Levels:
    """The loops over all lights, in plain Python; buffers have three bytes a light.

    A board may have the same in machine code.
    """

    def write(self, wanted: bytearray, shown: bytearray, table: bytearray, faintest: int) -> int:
        """Write the level of each byte by ``table``, and return the sum of all levels.

        A lit light whose levels would all be 0 gets ``faintest``, 0 or 1, in its brightest channels.
        """
        total = 0
        for at in range(0, len(wanted), 3):
            red, green, blue = wanted[at], wanted[at + 1], wanted[at + 2]
            shown_red, shown_green, shown_blue = table[red], table[green], table[blue]
            if not (shown_red or shown_green or shown_blue) and faintest:
                brightest = max(red, green, blue)
                if brightest:
                    shown_red = int(red == brightest)
                    shown_green = int(green == brightest)
                    shown_blue = int(blue == brightest)
            shown[at], shown[at + 1], shown[at + 2] = shown_red, shown_green, shown_blue
            total += shown_red + shown_green + shown_blue
        return total

    def dim(self, shown: bytearray, allowed: int, total: int) -> None:
        """Scale all levels by ``allowed / total``, rounded down."""
        for at in range(len(shown)):
            shown[at] = shown[at] * allowed // total


class Board:
    """The firmware's access to pins and ports. No method may block for longer than a few milliseconds.

    ``boot_id`` is an unsigned 32-bit number, different after each reset. ``reset_cause`` is 0 power, 1 watchdog, 2
    software, 255 unknown. ``loops`` are the fastest loops over all lights that the board has.
    """

    boot_id = 0
    reset_cause = 255
    loops = Levels()

    def ticks_ms(self) -> int:
        """Return the milliseconds of a clock that never stops, modulo 2**30, like ``time.ticks_ms``."""
        raise NotImplementedError

    def read(self) -> bytes:
        """Return the bytes that have arrived from the host, at most about 1 kB at a time; ``b""`` if none have."""
        raise NotImplementedError

    def write(self, data: memoryview) -> int:
        """Write bytes to the host, and return how many were accepted, perhaps 0; the others are written again later."""
        raise NotImplementedError

    def takes_lights(self) -> bool:
        """Whether the strip accepts another frame now: the last one is sent, and the pause after it is over."""
        return True

    def show_lights(self, colours: bytearray) -> None:
        """Show red, green, blue of each light as duty cycles: gamma, brightness and limit are already applied.

        Only while ``takes_lights``; the buffer may be overwritten afterwards.
        """
        raise NotImplementedError

    def scan(self, masks: list[int]) -> None:
        """Fill in a bit mask of the closed columns for each matrix row, then one of the closed single switches, if any.

        Bit 0 is the first column or switch. Nothing is debounced here, and ghosts are included.
        """
        raise NotImplementedError

    def buttons(self) -> int:
        """Return a bit mask of the buttons whose contacts are closed now; bit 0 is the first button."""
        raise NotImplementedError

    def tone(self, frequency_hz: int) -> None:
        """Sound at a frequency from now on; 0 is silence. An active buzzer has only its own tone."""
        raise NotImplementedError

    def feed_watchdog(self) -> None:
        """Feed the watchdog."""
        raise NotImplementedError

    def restart(self, into_interpreter: bool) -> None:
        """Reset the board, if requested into the bare interpreter. Does not return on a real board."""
        raise NotImplementedError
