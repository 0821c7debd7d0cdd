"""The pages of a kit: what goes where, the board or the sheets, and the pieces to cut out."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.api import Game
from engine.support.looks import Look
from engine.values import OptionValue
from frontends.printing.board import plan_board
from frontends.printing.kit.picture import first_page
from frontends.printing.kit.pieces import (
    Item,
    ball_items,
    block_items,
    dice_items,
    disc_items,
    pyramid_items,
    tile_items,
)
from frontends.printing.pages import MARGIN_MM, STRIP_MM, Page, paper_mm, ruler, strip_labels
from frontends.printing.sheets import plan_sheets
from referee.judge.starts import usual_appearance
from vision.frame import FloatArray
from vision.layout.kit import Kit
from vision.layout.pieces import PYRAMID_SIZES, BlockPieces, DicePieces, DiscPieces, Ink, PyramidPieces

_GAP_MM, _BESIDE_MM = 3.0, 5.0
"""Room between two rows of pieces, and between two pieces of a row, whose slanted sides are nearer to each other."""
_PROFILE_MM = 0.5
"""Step in which outlines are compared when pieces are moved together."""
_CUT = "Cut the whole lines."
_FOLD = (f"{_CUT} Fold the dashed ones away from you.", "Glue the tabs inside.")


def plan_kit(
    game: Game[Any, Any], kit: Kit, paper: str, options: Mapping[str, OptionValue] | None = None
) -> tuple[Page, ...]:
    """Plan a game's paper kit: a drawing of the table, its board or sheets, and its pieces.

    The kit's layout is that for the ``options``, such as the number of players. Raises PrintError for an unknown paper,
    or a sheet that does not fit on it.
    """
    options, layout = options or {}, kit.layout
    if game.printed_sheet is None:
        table = plan_board(layout, game.title, paper, kit.ground)
    else:
        table = plan_sheets(game.title, game.printed_sheet(options), layout, paper)
    pages = (*table, *_packed(_pieces(game, kit, options), f"{game.title}: pieces to cut out", paper))
    return (first_page(game, kit, options, paper, len(pages) + 1), *pages)


def _pieces(game: Game[Any, Any], kit: Kit, options: Mapping[str, OptionValue]) -> Iterator[Item]:
    """Yield the pieces of a kit, large ones first."""
    start = [look for name in usual_appearance(game, options).values() if (look := Look.parse(name))]
    colours = [look.colour for look in start]
    for surface in kit.layout.surfaces:
        pieces = surface.pieces
        if isinstance(pieces, BlockPieces):
            yield from block_items(kit, pieces, colours)
        elif isinstance(pieces, DiscPieces):
            yield from disc_items(kit, pieces, colours)
            yield from ball_items(kit, pieces, sum(look.shape.endswith("with ball") for look in start))
        elif isinstance(pieces, PyramidPieces):
            for size in reversed(PYRAMID_SIZES):
                yield from pyramid_items(kit, pieces, size)
        elif isinstance(pieces, DicePieces):
            # of ordinary dice there is one for each sheet
            yield from dice_items(kit, pieces, sum(isinstance(one.pieces, Ink) for one in kit.layout.surfaces))
    if game.printed_sheet is not None:
        yield from tile_items(game.printed_sheet(options).tiles)


def _packed(items: Iterable[Item], title: str, paper: str) -> list[Page]:
    """Place items on pages in rows, each row as close as the outlines of neighbours allow."""
    width, height = paper_mm(paper)
    right_mm, floor_mm = width - MARGIN_MM, MARGIN_MM + STRIP_MM
    pages: list[list[Item]] = []
    row_mm, top_mm = 0.0, -math.inf
    row: list[Item] = []
    for item in items:
        placed = _beside(row, item, top_mm) if row and item.height_mm <= row_mm else None
        if placed is None or max(x for outline in placed.outlines for x, _ in outline) > right_mm:
            top_mm -= row_mm + _GAP_MM
            row, row_mm = [], item.height_mm
            if top_mm - row_mm < floor_mm:
                top_mm = height - MARGIN_MM
                pages.append([])
            placed = item.at(MARGIN_MM, top_mm - row_mm)
        row.append(placed)
        pages[-1].append(placed)
    return [
        Page(
            width,
            height,
            ruler=ruler(),
            labels=(*(label for item in page for label in item.labels), *strip_labels((title, *_how(page)))),
            figures=tuple(figure for item in page for figure in item.figures),
        )
        for page in pages
    ]


def _how(page: Iterable[Item]) -> tuple[str, ...]:
    return _FOLD if any(item.is_folded for item in page) else (_CUT,)


def _beside(row: Sequence[Item], item: Item, top_mm: float) -> Item:
    """Return an item to the right of others whose upper edge is at a height; every second one that turns is turned."""
    turned = item.turns and len(row) % 2 == 1
    first = item.at(0.0, top_mm - item.height_mm, turned=turned)
    heights = np.arange(top_mm - item.height_mm, top_mm, _PROFILE_MM)
    left = _ends(first.outlines, heights)[0]
    right = np.max([_ends(one.outlines, heights)[1] for one in row], axis=0)
    return item.at(
        float(np.max(right - left)) + (_BESIDE_MM if item.turns else _GAP_MM), top_mm - item.height_mm, turned=turned
    )


def _ends(outlines: Iterable[Sequence[tuple[float, float]]], heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the left and right end of outlines at heights, (n,) each; infinitely far inside where there is nothing."""
    left, right = np.full(len(heights), np.inf), np.full(len(heights), -np.inf)
    for outline in outlines:
        for (x, y), (to_x, to_y) in zip(outline, (*outline[1:], outline[0]), strict=True):
            low, high = min(y, to_y), max(y, to_y)
            crossed = (heights >= low - _PROFILE_MM) & (heights <= high + _PROFILE_MM)
            share = np.clip((heights - y) / (to_y - y), 0, 1) if to_y != y else np.zeros(len(heights))
            at = x + share * (to_x - x)
            ends = np.stack([at, np.full(len(heights), to_x)]) if to_y == y else at[None]
            left = np.where(crossed, np.minimum(left, ends.min(axis=0)), left)
            right = np.where(crossed, np.maximum(right, ends.max(axis=0)), right)
    return left, right
