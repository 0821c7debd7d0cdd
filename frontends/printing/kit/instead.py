"""Suggestions of what to use instead of the paper pieces of a kit."""

from common.phrases import listed
from vision.layout.kit import Kit
from vision.layout.pieces import BlockPieces, DicePieces, DiscPieces, PyramidPieces

_BLOCKS = (
    "Try wooden cubes of about {side:g} mm, four in each of two colours, with the six symbols drawn or glued on. Their "
    "edge is block.side in the layout.",
    "Plain cubes don't do: the referee reads the symbols.",
)
_DISCS = (
    "Try draughts, poker chips, coins or buttons of about {diameter:g} mm, seven in each of two colours that differ "
    "clearly from each other and from the board.",
    "For the balls try marbles or beads of about {ball:g} mm.",
)
_PYRAMIDS = (
    "Looney pyramids have these sizes: five small, medium and large ones in red, yellow, green, blue and black, and "
    "five clear large ones. Their stacks rise by 5.5 mm: pyramids.rise in the layout.",
    "Other pyramids may do if they nest, are square, taper to a small flat tip and come in three sizes.",
    "The referee tells sizes by square bases. With cones, cups or coins, tap the turns on the page.",
)
_COLOURED_DICE = "Try ordinary dice of 12 to 20 mm, one each in {colours}."
_DICE = "Try ordinary dice of 12 to 20 mm."
_PRINTED_DICE = "Try blank dice of 12 to 20 mm with the digits, stars and shapes drawn on."
_UNTRIED = "These are suggestions: they have not been tried on a real table."


def instead_of_paper(kit: Kit) -> tuple[str, ...]:
    """Return sentences about what to use instead of a kit's paper pieces."""
    lines: list[str] = []
    for surface in kit.layout.surfaces:
        pieces = surface.pieces
        if isinstance(pieces, BlockPieces):
            lines += (line.format(side=pieces.side_mm) for line in _BLOCKS)
        elif isinstance(pieces, DiscPieces):
            lines += (line.format(diameter=pieces.diameter_mm, ball=pieces.ball_mm) for line in _DISCS)
        elif isinstance(pieces, PyramidPieces):
            lines += _PYRAMIDS
        elif isinstance(pieces, DicePieces):
            line = _PRINTED_DICE if pieces.printed else _COLOURED_DICE if pieces.colours else _DICE
            lines.append(line.format(colours=listed(pieces.colours)))
    return (*lines, _UNTRIED)
