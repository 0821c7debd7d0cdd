"""A driver that draws the table's lights in a terminal.

Each lit square is marked by a pair of characters for its role, so nothing is lost without colour. rich omits colours
when ``NO_COLOR`` is set or the output is a file.
"""

from collections.abc import Callable

from rich.console import Console
from rich.style import Style as TextStyle
from rich.text import Text

from common.grid import PlaceGrid
from hardware.errors import DriverError
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Colour, LightRole, Signal, Sound, most_urgent_lights

_DARK = "·"


def render(signal: Signal, grid: PlaceGrid) -> Text:
    """Draw the signal's lights: a line per row of the grid, and the legend.

    Lit places that are not in the grid are listed by name. Every cell is as wide as the longest place name, so that
    each square can show its name between the characters of its light.
    """
    lights = most_urgent_lights(signal.lights)
    width = max((len(place) for place in grid.places), default=0)
    text = Text()
    for row in grid.rows:
        for place in row:
            light = lights.get(place)
            if light is None:
                text.append(f" {_DARK} ".ljust(width + 3), style="dim")
            else:
                mark = ROLE_STYLES[light.role].mark
                text.append(f"{mark[:1]}{place}{mark[1:]}".ljust(width + 2), style=_text_style(light.colour))
                text.append(" ")
        text.rstrip()
        text.append("\n")
    elsewhere = [light for place, light in lights.items() if place not in set(grid.places)]
    if elsewhere:
        text.append("also lit: " + ", ".join(f"{light.place} ({light.role})" for light in elsewhere) + "\n")
    roles = [role for role in LightRole if any(light.role == role for light in lights.values())]
    if roles:
        text.append("; ".join(f"{ROLE_STYLES[role].mark} {ROLE_STYLES[role].meaning}" for role in roles) + "\n")
    text.rstrip()
    return text


def status_line(signal: Signal, say: Callable[[str], str] = str) -> Text:
    """Return the mood, coloured and in words, and the signal's sentence, on one line; ``say`` translates both."""
    style = MOOD_STYLES[signal.mood]
    text = Text.assemble(
        (f"[{say(signal.mood.value)}]", TextStyle.combine([_text_style(style.colour), TextStyle(bold=True)]))
    )
    words = " ".join(say(signal.words).split())
    if words:
        text.append(f" {words}")
    return text


class TerminalDriver:
    """Prints the board when its lights change; the signals' sentences are printed by others.

    ``console`` decides about colour and width; ``bell`` rings the terminal's bell for sounds.
    """

    name = "terminal"

    def __init__(self, console: Console, grid: PlaceGrid, *, bell: bool = False) -> None:
        self._console = console
        self._grid = grid
        self._bell = bell
        self._shown: Signal | None = None

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - text stands still; the time is for other drivers
        """Print the signal; raises DriverError when the output is closed or full."""
        lights_changed = self._shown is None or signal.lights != self._shown.lights
        try:
            if lights_changed and signal.lights:
                self._console.print(render(signal, self._grid), soft_wrap=True)
            if self._bell and signal.sound is not Sound.SILENCE:
                self._console.bell()
        except (OSError, ValueError) as error:
            # a closed text stream raises ValueError, a broken pipe OSError
            raise DriverError("the terminal can't be written to ({error})", error) from error
        self._shown = signal

    def close(self) -> None:
        """Forget what was shown; the console is not closed."""
        self._shown = None


def _text_style(colour: Colour) -> TextStyle:
    """Return black on the colour, or white on the two dark ones, whichever is more readable."""
    if colour is Colour.OFF:
        return TextStyle(dim=True)
    red, green, blue = colour.value
    ink = "white" if colour in (Colour.BLUE, Colour.VIOLET) else "black"
    return TextStyle(color=ink, bgcolor=f"rgb({red},{green},{blue})")
