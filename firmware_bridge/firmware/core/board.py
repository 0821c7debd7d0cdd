"""What the firmware needs of a microcontroller. Boards are these; a virtual one too."""


class Levels:
    """The loops over every light, as any interpreter runs them; both lists hold three bytes a light.

    A board may have the same in machine code.
    """

    def write(self, wanted: bytearray, shown: bytearray, table: bytearray, faintest: int) -> int:
        """Write what ``table`` says of each byte, and give the sum of it.

        A light that is wanted and would be dark gets ``faintest``, 0 or 1, in the brightest of its channels.
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
        """Dim everything by ``allowed / total``, rounded down."""
        for at in range(len(shown)):
            shown[at] = shown[at] * allowed // total


class Board:
    """The edge between the firmware and the pins. Nothing here may block for longer than a few milliseconds.

    Attributes:
        boot_id: an unsigned 32-bit number, another one after each reset.
        reset_cause: why the board started: 0 power, 1 watchdog, 2 software, 255 unknown.
        loops: the loops over all lights, in the quickest way that the board has.
    """

    boot_id = 0
    reset_cause = 255
    loops = Levels()

    def ticks_ms(self) -> int:
        """Give the milliseconds of a clock that never stops, modulo 2**30, as ``time.ticks_ms`` does."""
        raise NotImplementedError

    def read(self) -> bytes:
        """Give what has arrived from the host, at most about 1 kB of it at a time; ``b""`` when nothing has."""
        raise NotImplementedError

    def write(self, data: memoryview) -> int:
        """Hand bytes to the host and give how many were taken, which may be none; the others come again."""
        raise NotImplementedError

    def takes_lights(self) -> bool:
        """Whether the strip takes another frame now: the one before is out, and the pause that ends it over."""
        return True

    def show_lights(self, colours: bytearray) -> None:
        """Show red, green, blue of each light, three bytes each, as duty cycles: gamma, brightness and limit are in.

        Only while ``takes_lights``; the colours may be overwritten afterwards.
        """
        raise NotImplementedError

    def scan(self, masks: list[int]) -> None:
        """Read the switches as they are now: for each matrix row the closed columns, then the closed single switches.

        Bit 0 is the first column or switch. There are as many numbers as rows, and one more if there are single
        switches. Nothing is debounced here, and ghosts are left in.
        """
        raise NotImplementedError

    def buttons(self) -> int:
        """Read which buttons' contacts are closed now: bit 0 is the first button."""
        raise NotImplementedError

    def tone(self, frequency_hz: int) -> None:
        """Sound at a frequency until told otherwise; 0 is silence. A buzzer with one tone only goes on and off."""
        raise NotImplementedError

    def feed_watchdog(self) -> None:
        """Tell the watchdog that the loop is alive."""
        raise NotImplementedError

    def restart(self, into_interpreter: bool) -> None:
        """Reset the board, into the bare interpreter if so asked. Does not return on a real board."""
        raise NotImplementedError
