"""A game's paper kit: the layout of the table that it makes, and the colours that are printed.

The layout file of a game lists under ``kit`` only what differs from it, and under ``kit.print`` the screen colours of
the pieces (``colours``) and of the board's squares (``squares``, white if missing) as #rrggbb, how much darker their
stripes are (``stripes``), and the sizes of a set's pyramids (``pieces``). The colours of pieces
start from those of Okabe and Ito (Color Universal Design, 2008), which colour-blind people tell apart; they were made
darker or lighter until their lightness differs too, for grey printers, and their hues as far as the stack reader needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vision.errors import LayoutError
from vision.geometry import Rectangle
from vision.layout.pieces import BlockPieces, PyramidPieces
from vision.layout.table import TableLayout, games_with_layouts, layout_from_json, shipped_data

KIT = "kit"
"""The name by which a layout is asked for, and the key in a layout file."""

RGB = tuple[float, float, float]
"""Red, green and blue of a screen colour (sRGB), each from 0 to 1."""
WHITE: RGB = (1.0, 1.0, 1.0)
BLACK: RGB = (0.08, 0.08, 0.08)
"""Colours of paper and of printed lines."""
DARK_INK: RGB = (0.25, 0.25, 0.25)
"""The colour of symbols and pips on light faces. Darker: a thin line in a picture, which is half face, is farther from
it.
"""


@dataclass(frozen=True)
class Kit:
    """A paper kit: its table, the colours of its pieces by name, and of the board's squares.

    ``stripes`` is how much darker every other stripe of the squares is, from 0 to 1: the shadow of a cube on paper
    without any pattern looks like a cube. ``pyramids`` has the sizes of a set's pyramids by colour, a letter for each.
    """

    layout: TableLayout
    colours: Mapping[str, RGB]
    squares: RGB = WHITE
    stripes: float = 0.0
    pyramids: Mapping[str, str] = field(default_factory=dict)

    @property
    def ground(self) -> tuple[tuple[Rectangle, RGB], ...]:
        """What is printed below the lines of the board: areas with their colours, the lower ones first."""
        bounds = self.layout.board.bounds_mm
        red, green, blue = (channel * (1 - self.stripes) for channel in self.squares)
        count = int(bounds.depth_mm / (2 * STRIPE_MM) + 0.5) if self.stripes else 0
        tops = (bounds.far_mm - 2 * STRIPE_MM * number for number in range(count))
        stripes = (Rectangle(bounds.left_mm, bounds.right_mm, top - STRIPE_MM, top) for top in tops)
        return (bounds, self.squares), *((stripe, (red, green, blue)) for stripe in stripes)

    @property
    def tilts_deg(self) -> tuple[int, int] | None:
        """The least and the most tilt from straight down at which a camera sees enough of tall pieces, in degrees.

        ``None`` for flat pieces. What stacks need is also what it takes to measure the camera's lens from this board.
        """
        pieces = self.layout.board.pieces
        return (20, 25) if isinstance(pieces, PyramidPieces) else (15, 25) if isinstance(pieces, BlockPieces) else None

    def ink_on(self, colour: str) -> RGB:
        """Return the colour in which symbols and pips are printed on a piece: white on dark ones, else dark grey."""
        red, green, blue = self.colours.get(colour, WHITE)
        return DARK_INK if 0.3 * red + 0.59 * green + 0.11 * blue > _LIGHT_FACE else WHITE


STRIPE_MM = 4.0
"""Width of a stripe: a tenth of a usual square."""
_LIGHT_FACE = 0.6
"""Brightness of a face, from 0 to 1, above which white ink would be hardly visible."""


def has_kit(game: str) -> bool:
    """Return whether a paper kit comes with a game."""
    return game in games_with_layouts() and KIT in shipped_data(game)


def kit_of(game: str) -> Kit:
    """Return the paper kit of a game; raises LayoutError for a game without one."""
    data = shipped_data(game)
    if not has_kit(game):
        known = filter(has_kit, games_with_layouts())
        raise LayoutError("no paper kit comes with {game}; there is one for {known}", game, ", ".join(known))
    changes = data.pop(KIT)
    printed = changes.pop("print", {})
    colours = {name: _rgb(text) for name, text in printed.get("colours", {}).items()}
    layout = layout_from_json(_merged(data, changes))
    squares, stripes = _rgb(printed.get("squares", "#ffffff")), printed.get("stripes", 0.0)
    return Kit(layout, colours, squares, stripes, printed.get("pieces", {}))


def _merged(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return data with changed values; objects are merged, everything else is replaced."""
    merged = dict(data)
    for key, value in changes.items():
        is_object = isinstance(value, Mapping) and isinstance(data.get(key), Mapping)
        merged[key] = _merged(data[key], value) if is_object else value
    return merged


def _rgb(text: str) -> RGB:
    red, green, blue = (int(text[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue
