"""The pieces of a kit, to cut out: nets of cubes, dice and pyramids, discs, balls and tiles.

An item is drawn about its lower left corner, in millimetres.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from engine.printing import Box
from frontends.printing.kit.nets import Net, cube_net, moved, pyramid_net
from frontends.printing.pages import MM_PER_POINT, Contour, Figure, Label
from vision.layout.kit import BLACK, RGB, WHITE, Kit
from vision.layout.pieces import NET_SIDES, BlockPieces, DicePieces, DiscPieces, PyramidPieces
from vision.layout.symbols import PIPS, SYMBOLS, Outline, circle, star

BLEED_MM = 1.0
"""How far a colour reaches beyond the line to cut, so that an inexact cut shows no white."""
_CUT_MM, _FOLD_MM, _DASH_MM = 0.2, 0.2, 1.5
_GREY: RGB = (0.6, 0.6, 0.6)
_SMALL_TAB_MM, _PYRAMID_TAB_MM = 6.0, 6.0
_GLUE_PT, _GLUE_DROP_MM = 5.0, 0.6
"""Size of the word on a tab, and its baseline's distance below its middle."""
_CAPITAL = 0.72
"""Height of a capital letter or digit, as a share of its font's size."""
_FACE_LETTER = 0.62
"""Height of a digit on a die, as a share of its side."""
_TILE_MM = 30.0
_BALL_PAPER = 5.0
"""The side of the square of thin paper from which a ball is crumpled, as a multiple of the ball's diameter."""


@dataclass(frozen=True)
class Item:
    """Something to cut out: its width and height, its outlines, and what is drawn.

    ``turns``: every second one on a page is turned round, so that they lie closer together. ``is_folded``: it is a net
    with tabs.
    """

    width_mm: float
    height_mm: float
    outlines: tuple[Contour, ...]
    figures: tuple[Figure, ...]
    labels: tuple[Label, ...] = ()
    turns: bool = False
    is_folded: bool = False

    def at(self, x_mm: float, y_mm: float, *, turned: bool = False) -> "Item":
        """Return the item moved to a place on a page, after half a turn about its middle if ``turned``."""
        if turned:
            x_mm, y_mm = x_mm + self.width_mm, y_mm + self.height_mm
        figures = tuple(
            replace(one, contours=tuple(moved(each, x_mm, y_mm, turned=turned) for each in one.contours))
            for one in self.figures
        )
        # words are not turned, so their baseline stays below their middle
        sign, drop = (-1, 2 * _GLUE_DROP_MM) if turned else (1, 0.0)
        labels = tuple(
            replace(one, x_mm=sign * one.x_mm + x_mm, y_mm=sign * one.y_mm + y_mm - drop) for one in self.labels
        )
        outlines = tuple(moved(each, x_mm, y_mm, turned=turned) for each in self.outlines)
        return replace(self, outlines=outlines, figures=figures, labels=labels)


Art = tuple[Outline, ...] | str
"""What is printed on a face: outlines as shares of its side, or a letter or digit."""

_PIP_RADIUS, _PIP_APART, _SHAPE_SQUARE = 0.1, 0.26, 0.17
"""Radius of pips, their distance from the middle, and the pitch of a shape's squares, as shares of a die's side."""
_DIE_SIDES = dict(zip(NET_SIDES, (1, 6, 2, 3, 5, 4), strict=True))
"""The pips on each side of a die: opposite ones add up to seven."""
_TETROMINOES = {"I": "XXXX", "O": "XX/XX", "T": "XXX/.X.", "L": "X../XXX", "S": ".XX/XX."}


def pips(value: int) -> tuple[Outline, ...]:
    """Return the pips of a die's face."""
    return tuple(circle(_PIP_RADIUS, _PIP_APART * x, _PIP_APART * y) for x, y in PIPS[value])


def shape_outlines(drawing: str, pitch: float) -> tuple[Outline, ...]:
    """Return the squares of a shape, drawn as by ``engine.support.grid``, about its middle; a little apart."""
    rows = drawing.split("/")
    half = 0.46 * pitch
    middles = (
        ((column - (len(rows[0]) - 1) / 2) * pitch, ((len(rows) - 1) / 2 - row) * pitch)
        for row, line in enumerate(rows)
        for column, mark in enumerate(line)
        if mark == "X"
    )
    return tuple(
        ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)) for x, y in middles
    )


def _printed_face(name: str) -> Art:
    if name == "*":
        return (star(0.34),)
    return shape_outlines(_TETROMINOES[name], _SHAPE_SQUARE) if name in _TETROMINOES else name


def net_item(net: Net, colour: RGB, ink: RGB, art: Mapping[str, Art]) -> Item:
    """Return a net in a colour, with something in ink on some of its faces."""
    left, low, right, high = net.box
    faces = tuple(net.faces.values())
    figures = [Figure((face,), colour, colour, 2 * BLEED_MM) for face in faces] if colour != WHITE else []
    labels = []
    for name, printed in art.items():
        corners = net.faces[name]
        x, y = (sum(corner[axis] for corner in corners) / len(corners) for axis in (0, 1))
        side = math.dist(*corners[:2])
        if isinstance(printed, str):
            size_pt = _FACE_LETTER * side / _CAPITAL / MM_PER_POINT
            grey = 1.0 if ink == WHITE else 0.0
            labels.append(Label(x, y - _FACE_LETTER * side / 2, printed, size_pt, True, "Helvetica-Bold", grey))
        else:
            outlines = tuple(tuple((x + side * u, y + side * v) for u, v in outline) for outline in printed)
            figures.append(Figure(outlines, ink))
    for tab in net.tabs:
        x, y = (sum(corner[axis] for corner in tab.outline) / 4 for axis in (0, 1))
        labels.append(Label(x, y - _GLUE_DROP_MM, "glue", _GLUE_PT, centred=True))
    # ink on the coloured faces, black on the white tabs: each is seen in grey print too
    figures += [Figure((cut,), None, ink, _CUT_MM) for cut in net.cuts]
    figures += [Figure((part,), None, BLACK, _CUT_MM) for tab in net.tabs for part in pairwise(tab.outline)]
    figures += [Figure((fold,), None, ink, _FOLD_MM, _DASH_MM) for fold in net.folds]
    outlines = (*faces, *(tab.outline for tab in net.tabs))
    drawn = Item(right - left, high - low, outlines, tuple(figures), tuple(labels), is_folded=True)
    return drawn.at(-left, -low)


def block_items(kit: Kit, pieces: BlockPieces, colours: Iterable[str]) -> list[Item]:
    """Return the nets of blocks, one for each colour named."""
    net, art = cube_net(pieces.side_mm), {side: SYMBOLS[symbol] for side, symbol in pieces.net.items()}
    return [net_item(net, kit.colours[colour], kit.ink_on(colour), art) for colour in colours]


def dice_items(kit: Kit, pieces: DicePieces, count: int) -> list[Item]:
    """Return the nets of a table's dice: with printed faces, in colours with pips, or ``count`` white ones."""
    net = cube_net(pieces.largest_mm, _SMALL_TAB_MM)
    with_pips = {side: pips(value) for side, value in _DIE_SIDES.items()}
    if pieces.printed:
        sides = [
            {side: _printed_face(name) for side, name in zip(NET_SIDES, faces, strict=True)} for faces in pieces.printed
        ]
        return [net_item(net, WHITE, BLACK, art) for art in sides]
    if pieces.colours:
        return [net_item(net, kit.colours[name], kit.ink_on(name), with_pips) for name in pieces.colours]
    return [net_item(net, WHITE, BLACK, with_pips)] * count


def pyramid_items(kit: Kit, pieces: PyramidPieces, size: str) -> list[Item]:
    """Return the nets of a set's pyramids of one size."""
    net = pyramid_net(pieces.sizes[size], _PYRAMID_TAB_MM)
    return [
        replace(net_item(net, kit.colours[colour], kit.ink_on(colour), {}), turns=True)
        for colour, sizes in kit.pyramids.items()
        for _ in range(sizes.count(size))
    ]


def disc_items(kit: Kit, pieces: DiscPieces, colours: Iterable[str]) -> list[Item]:
    """Return discs to cut out, one for each colour named."""
    radius = pieces.diameter_mm / 2
    ring = tuple((radius + radius * 2 * u, radius + radius * 2 * v) for u, v in circle(0.5, corners=96))
    return [
        Item(2 * radius, 2 * radius, (ring,), (
            Figure((ring,), kit.colours[colour], kit.colours[colour], 2 * BLEED_MM),
            Figure((ring,), None, kit.ink_on(colour), _CUT_MM),
        ))
        for colour in colours
    ]  # fmt: skip


def ball_items(kit: Kit, pieces: DiscPieces, count: int) -> list[Item]:
    """Return the squares to crumple into balls, each with a ring as wide as the ball should be."""
    side = _BALL_PAPER * pieces.ball_mm
    square: Contour = ((0, 0), (side, 0), (side, side), (0, side))
    ring = tuple((side / 2 + pieces.ball_mm * u, side / 2 + pieces.ball_mm * v) for u, v in circle(0.5))
    figures = (Figure((square,), kit.colours["ball"], BLACK, _CUT_MM), Figure((ring,), None, BLACK, _FOLD_MM, _DASH_MM))
    words = ("Crumple this square into a tight ball", "with the colour outside,", "as wide as the dashed ring.")
    labels = tuple(Label(side / 2, side - 8 - 4 * row, text, 8, centred=True) for row, text in enumerate(words))
    return [Item(side, side, (square,), figures, labels)] * count


def tile_items(tiles: Iterable[tuple[Box, ...]]) -> list[Item]:
    """Return tiles with both sides beside each other, to be folded back to back and glued."""
    items = []
    for sides in tiles:
        whole: Contour = ((0, 0), (2 * _TILE_MM, 0), (2 * _TILE_MM, _TILE_MM), (0, _TILE_MM))
        figures = [Figure((whole,), None, BLACK, _CUT_MM)]
        figures.append(Figure((((_TILE_MM, 0), (_TILE_MM, _TILE_MM)),), None, _GREY, _FOLD_MM, _DASH_MM))
        labels = []
        for number, side in enumerate(sides):
            middle = (number + 0.5) * _TILE_MM
            squares = shape_outlines(side.shape, _TILE_MM / 6)
            figures.append(Figure(tuple(moved(square, middle, 0.45 * _TILE_MM) for square in squares), BLACK))
            labels.append(Label(middle, _TILE_MM - 4.5, side.words, 8, centred=True))
        items.append(Item(2 * _TILE_MM, _TILE_MM, (whole,), tuple(figures), tuple(labels)))
    return items
