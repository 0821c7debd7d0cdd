"""From wanted colours to the levels of the strip: the loops over every light, as any interpreter runs them. Pure.

A board may have the same in machine code.
"""


class Levels:
    """The loops; both lists hold three bytes a light."""

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
