"""Sheets in phone photos, for ``./run pieces read --sheet`` and ``./run pieces enrol --sheet``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from common.phrases import counted
from common.places import EMPTY
from engine import registry
from engine.api import Game
from engine.errors import UnreadableError
from engine.registry import load
from referee.cli.context import say
from referee.cli.group import CHECK_FAILED, OK, exit_code_of
from referee.cli.picture_files import SURE, draw_reading, load_checked_image, named_in_errors, show_reading
from referee.settings.conversions import table_options
from referee.settings.settings import Settings
from referee.settings.table_layout import layout_for, with_rules
from vision.errors import LayoutError, VisionError
from vision.frame import Frame
from vision.images import load_image, write_image
from vision.layout.pieces import Ink
from vision.layout.table import TableLayout, default_layout, games_with_layouts, load_layout
from vision.locating.photographed import photographed_sheet
from vision.readers.ink.appearance import learn_handwriting, load_appearance, read_copied, save_appearance
from vision.readers.protocols import Appearance, EnrolmentPicture
from vision.readers.registry import table_reader
from vision.reading import Reading, reading_to_json

_MOST_UNCLEAR = 0.5
"""The largest share of unclear cells among the written ones with which a sheet still gets a score."""


def read_sheets(
    pictures: Sequence[Path],
    settings: Settings,
    layout: Path | None,
    looks: Path | None,
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the sheet in each photo and return the exit code. An unreadable photo is reported and skipped.

    Without a layout, the sheet of any game is recognized, that of the game in the settings as the settings have it.
    Raises LayoutError and EnrolmentError for faults in the files of the layout and the looks.
    """
    layouts = _layouts(settings, layout)
    looks = looks or handwriting_of(settings)
    taught = None if looks is None else load_appearance(looks)
    ended = OK
    for path in pictures:
        try:
            with named_in_errors(path):
                image = load_checked_image(path)
                sheet = photographed_sheet(image, layouts)
                reader = table_reader(sheet.camera, sheet.layout, _fitting(taught, sheet.layout))
                frame = Frame(image, 0.0, 0, str(path))
                reading = reader.read(frame)
        except VisionError as error:
            say(f"referee: error: {error}", as_error=True)
            ended = max(ended, exit_code_of(error))
            continue
        if debug_image is not None:
            write_image(debug_image, draw_reading(frame, reader, sheet.pose, reading))
        ended = max(ended, OK if reading.places else CHECK_FAILED)
        _print(load(sheet.layout.game), sheet.layout.board.name, reading, path, as_json=as_json)
    return ended


def teach_digits(
    pictures: Sequence[Path], positions: Sequence[str], settings: Settings, layout: Path | None, out: Path
) -> None:
    """Learn handwritten digits from photos of filled sheets and save them; raises VisionError."""
    images, layouts = [load_image(path) for path in pictures], _layouts(settings, layout)
    sheets = []
    for path, image in zip(pictures, images, strict=True):
        with named_in_errors(path):
            sheets.append(photographed_sheet(image, layouts))
    board = sheets[0].layout.board
    filled = [
        EnrolmentPicture(image, sheet.camera, sheet.pose, read_copied(text, board), str(path))
        for image, sheet, text, path in zip(images, sheets, positions, pictures, strict=True)
    ]
    looks = learn_handwriting(filled, board)
    save_appearance(looks, out)
    click.echo(f"{', '.join(looks.traits[0])} in {out}")


def _layouts(settings: Settings, layout: Path | None) -> list[TableLayout]:
    """Return the layouts that a sheet may belong to: the given one, or that in the settings and those of other games.

    Raises LayoutError for a given layout that names no game, unless sheets of the game in the settings are read.
    """
    own = _own_sheet(settings)
    if layout is None:
        others = [default_layout(game) for game in games_with_layouts() if own is None or game != own.game]
        return others if own is None else [own, *others]
    given = load_layout(layout)
    if given.game not in registry.games():
        if own is None:
            raise LayoutError(f'{layout} names no game; add, for example, "game": "number-drop"')
        given = replace(given, game=own.game)
    return [given]


def _own_sheet(settings: Settings) -> TableLayout | None:
    """Return the layout of the game in the settings if it is written on sheets, as its options divide these."""
    game = registry.load(settings.game.name)
    if not game.has_sheets:
        return None
    layout = layout_for(game.name, settings.table.layout)
    return with_rules(replace(layout, game=game.name), game, table_options(game, settings.game.options))


def handwriting_of(settings: Settings) -> Path | None:
    """Return the looks in the settings if they are a handwriting: if digits are written in the settings' game."""
    sheet = None if settings.table.looks is None else _own_sheet(settings)
    return None if sheet is None or Ink.on(sheet.board).colours else settings.table.looks


def _fitting(taught: Appearance | None, layout: TableLayout) -> Appearance | None:
    """Return the learned handwriting if the layout's sheets have digits; others need none."""
    return None if Ink.on(layout.board).colours else taught


def _print(game: Game[Any, Any], sheet: str, reading: Reading, path: Path, *, as_json: bool) -> None:
    points, why = _points(game, reading)
    if as_json:
        score = {"points": points, "score": None if points is None else sum(points.values())}
        said = {"game": game.name, "sheet": sheet, **score, **reading_to_json(reading, str(path))}
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    click.echo(f"{path}: {game.title}, {sheet}")
    show_reading(game, reading)
    if points is None:
        click.echo(f"No score: {why}.")
    else:
        parts = ", ".join(f"{name} {value}" for name, value in points.items())
        click.echo(f"Score: {sum(points.values())} ({parts})")


def _points(game: Game[Any, Any], reading: Reading) -> tuple[Mapping[str, int] | None, str]:
    """Return the points of the likeliest reading, or the reason there are none."""
    hidden = [place for place, one in reading.places.items() if one.hidden_by is not None]
    if hidden or not reading.places:
        return None, f"{counted(len(hidden), 'cell') if hidden else 'the cells'} can't be seen"
    written = [one.best for one in reading.places.values() if one.best[0] != EMPTY]
    unclear = sum(probability < SURE for _, probability in written)
    if unclear > _MOST_UNCLEAR * len(written):
        return None, (
            f"{unclear} of {len(written)} written cells are unclear, as if scribbled over; take a sharper photo, or "
            "copy what counts to a fresh sheet"
        )
    if game.points_of_sheet is None:
        return None, f"sheets of {game.title} are not counted"
    try:
        return game.points_of_sheet({place: one.best[0] for place, one in reading.places.items()}), ""
    except UnreadableError as error:
        return None, str(error)
