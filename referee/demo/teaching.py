"""The demo's calibrated and enrolled reader."""

from __future__ import annotations

from simulator.table import VirtualTable
from vision.layout.pieces import Ink
from vision.locating.location import locate
from vision.readers.protocols import Appearance, EnrolmentPicture
from vision.readers.registry import reader_kind, table_reader
from vision.readers.table_reader import TableReader


def enrolled_reader(table: VirtualTable) -> TableReader:
    """Make a reader as an owner would: calibrated camera, measured layout, looks from pictures of known pieces."""
    return table_reader(table.calibration(), table.setting.layout, enrolled_appearance(table))


def enrolled_appearance(table: VirtualTable) -> Appearance:
    """Learn the pieces' appearance from pictures of known positions; ink needs none."""
    camera, layout = table.calibration(), table.setting.layout
    if isinstance(layout.board.pieces, Ink):
        plain: Appearance = reader_kind(layout).plain(layout.board)
        return plain
    pictures = [
        EnrolmentPicture(
            picture.image,
            camera,
            locate(picture.image, camera, layout).pose,
            picture.position,
            picture.name,
            layout.markers,
        )
        for picture in table.teaching_images()
    ]
    appearance: Appearance = reader_kind(layout).enrol(pictures, layout.board)
    return appearance
