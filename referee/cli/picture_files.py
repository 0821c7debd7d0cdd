"""Files of pictures and calibrations, and readings shown as text or drawn on their picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common.places import EMPTY
from engine.api import Game
from referee.cli.context import output, print_drawn, print_legend
from referee.rendering.board_text import DrawnBoard, board_text, draws_ascii
from vision.calibration import load_calibration
from vision.cameras import image_paths
from vision.drawing import draw, draw_markers, draw_occlusions
from vision.errors import CalibrationError, NotLocatedError, VisionError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.images import check_frame, load_image
from vision.locating.location import locate
from vision.locating.markers import MarkerDetector
from vision.readers.dice.photographs import draw_roll
from vision.readers.table_reader import TableReader
from vision.reading import Reading

SURE = 0.95
"""The probability from which a place isn't reported as doubtful."""


def camera_of(calibration: Path | None) -> CameraModel:
    """Load the camera's calibration; raises CalibrationError, also when none was given."""
    if calibration is None:
        raise CalibrationError(
            "no calibration is set; make one with `./run hardware calibrate`, then give --calibration FILE or set "
            "calibration under [camera]"
        )
    return load_calibration(calibration)


def load_checked_image(path: Path, size: tuple[int, int] | None = None) -> Image:
    """Load a picture; raises VisionError if it can't be read, is black or cut off, or hasn't this (width, height)."""
    image = load_image(path)
    check_frame(image, size, source=str(path))
    return image


@contextmanager
def named_in_errors(path: Path) -> Iterator[None]:
    """Put a picture's path before the message of a VisionError about it, unless it begins with the path."""
    try:
        yield
    except VisionError as error:
        if str(error).startswith(str(path)):
            raise
        raise type(error)(f"{path}: {error}") from error


def pictures_in(sources: Sequence[Path]) -> Iterator[Path]:
    """Yield the image files, those in a folder in name order; raises CameraError for a folder without images."""
    for source in sources:
        if source.is_dir():
            yield from image_paths(source)
        else:
            yield source


def draw_reading(frame: Frame, reader: TableReader, previous: Pose | None, reading: Reading) -> Image:
    """Draw what was located, read and found over the board; where that was not located, the markers seen."""
    table, camera = reader.layout, reader.camera
    try:
        located = locate(frame.image, camera, table, previous=previous)
    except NotLocatedError:
        return draw_markers(frame.image, MarkerDetector(table.markers.dictionary).plain(frame.image))
    stages = reader.stages(frame.image, located.pose)
    drawn = reader.draw(draw(frame.image, located, table, camera), stages)
    for seen in stages.values():
        drawn = draw_occlusions(drawn, seen.rectified, seen.occlusions)
    trays = {surface.name: surface for surface in table.parts()[0].surfaces}
    for roll in (roll for roll in reading.rolls if roll.surface in trays):
        drawn = draw_roll(drawn, roll, trays[roll.surface], camera, located.pose)
    return drawn


def show_reading(game: Game[Any, Any], reading: Reading) -> None:
    """Print the board as read, then doubtful places, rolls, and what hinders the view."""
    console = output()
    if reading.places:
        likeliest = {place: EMPTY if seen.hidden_by else seen.best[0] for place, seen in reading.places.items()}
        drawn = board_text(DrawnBoard.seen(game, likeliest), width=console.width, ascii_only=draws_ascii(console))
        print_drawn(console, drawn)
        print_legend(game)
    for place, seen in reading.places.items():
        look, probability = seen.best
        if seen.hidden_by is None and probability < SURE:
            console.print(f"{place}: {look}, but only {probability:.0%} sure", markup=False)
    for roll in reading.rolls:
        faces = ", ".join(die.why_unsettled or max(die.faces, key=lambda face: die.faces[face]) for die in roll.dice)
        console.print(f"{roll.surface}: {faces or 'no dice'}", markup=False)
    for hindrance in reading.hindrances:
        console.print(f"{hindrance.message}.", markup=False)
