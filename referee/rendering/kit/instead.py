"""What may be used instead of the paper pieces of a kit, as far as the readers have been seen to read it."""

from vision.layout.kit import Kit
from vision.layout.pieces import BlockPieces, DicePieces, DiscPieces, PyramidPieces

_BLOCKS = (
    "Wooden cubes of {side} mm (20 to 35 mm will do), four in each of two colours, with the six symbols drawn or glued "
    "on; the layout's block.side is their edge.",
    "Plain cubes don't do: the referee reads the symbols.",
)
_DISCS = (
    "Draughts, poker chips, coins or buttons, 20 to 33 mm wide, seven in each of two colours that differ clearly from "
    "each other and from the board; the layout's piece has their diameter and height.",
    "For the balls: marbles, beads or peas, at most two thirds as wide as a piece. Flat rings and counters don't do: "
    "the referee knows a ball by its shading.",
)
_PYRAMIDS = (
    "Looney pyramids are what the referee knows best: five small, medium and large ones in red, yellow, green, blue "
    "and black, and five clear large ones.",
    "Square pyramids of another make do if they nest, taper like these to a small flat tip, and come in three sizes.",
    "Cones, paper cups and stacks of coins don't do: the referee tells sizes by square bases and sloping sides. Play "
    "such a game by tapping the turns on the page.",
)
_DICE = (
    "Any dice with pips, 12 to 20 mm, one colour each: {colours}.",
    "Any dice with pips, 12 to 20 mm.",
    "Blank dice, 12 to 20 mm, with the digits, stars and shapes drawn on.",
)


def instead_of_paper(kit: Kit) -> tuple[str, ...]:
    """Return sentences about what to use instead of a kit's paper pieces."""
    lines: list[str] = []
    for surface in kit.layout.surfaces:
        pieces = surface.pieces
        if isinstance(pieces, BlockPieces):
            lines += (line.format(side=f"{pieces.side_mm:g}") for line in _BLOCKS)
        elif isinstance(pieces, DiscPieces):
            lines += _DISCS
        elif isinstance(pieces, PyramidPieces):
            lines += _PYRAMIDS
        elif isinstance(pieces, DicePieces):
            colours, plain, printed = _DICE
            line = printed if pieces.printed else colours if pieces.colours else plain
            lines.append(line.format(colours=", ".join(pieces.colours)))
    return tuple(lines)
