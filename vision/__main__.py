"""Run one stage of the vision pipeline on one picture: ``python -m vision STAGE IMAGE --calibration FILE``.

The stages, in order, are ``markers``, ``locate``, ``blocks`` (with their sides), ``coverings`` and ``read``. A stage
runs those before it and prints its result as JSON. ``--debug-image FILE`` also draws the result on the picture.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from vision.calibration import load_calibration
from vision.drawing import draw, draw_markers, draw_occlusions
from vision.errors import LayoutError, VisionError
from vision.frame import Frame, Image
from vision.geometry import CameraModel
from vision.images import load_image, write_image
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout, default_layout, load_layout
from vision.locating.location import TableLocation, locate
from vision.locating.markers import Marker, MarkerDetector
from vision.readers.blocks.reader import BlockSighting
from vision.readers.protocols import LearnedLook
from vision.readers.registry import reader_kind, table_reader

STAGES = ("markers", "locate", "blocks", "coverings", "read")
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("stage", type=click.Choice(STAGES))
@click.argument("image", type=_FILE)
@click.option("--calibration", required=True, type=_FILE, help="The camera, as `./run hardware calibrate` wrote it.")
@click.option("--layout", "layout_file", type=_FILE, help="The table's layout; without one, Deblockle's own.")
@click.option("--looks", "looks_file", type=_FILE, help="The piece set, as `./run pieces enrol` wrote it.")
@click.option("--debug-image", type=_FILE, help="Write the picture with what the stage found drawn on it.")
def main(
    stage: str,
    image: Path,
    calibration: Path,
    layout_file: Path | None,
    looks_file: Path | None,
    debug_image: Path | None,
) -> None:
    """Run one stage of the vision pipeline on IMAGE and print its result.

    Without looks, blocks are found by their symbols and their colours stay unknown.
    """
    try:
        layout = default_layout("deblockle") if layout_file is None else load_layout(layout_file)
        if stage == "blocks" and not isinstance(layout.board.pieces, BlockPieces):
            raise LayoutError(f"the pieces on the {layout.board.name} are no blocks; use the stage read")
        camera, picture = load_calibration(calibration), load_image(image)
        kind = reader_kind(layout)
        looks = kind.plain(layout.board) if looks_file is None else kind.load(looks_file)
        found, drawn = _run_stage(stage, Frame(picture, 0.0, 0, str(image)), camera, layout, looks)
        if debug_image is not None:
            write_image(debug_image, drawn)
    except VisionError as error:
        raise click.ClickException(str(error)) from error
    click.echo(json.dumps(found, indent=1))


def _run_stage(
    stage: str, frame: Frame, camera: CameraModel, layout: TableLayout, looks: LearnedLook
) -> tuple[Any, Image]:
    """Return what a stage found as JSON values, and the picture with that drawn on it."""
    picture = frame.image
    if stage == "markers":
        markers = MarkerDetector(layout.markers.dictionary).plain(picture)
        return [_marker_json(marker) for marker in markers], draw_markers(picture, markers)
    located = locate(picture, camera, layout)
    if stage == "locate":
        return _location_json(located), draw(picture, located, layout, camera)
    reader = table_reader(camera, layout, looks)
    stages = reader.stages(picture, located.pose)
    board = stages[layout.board.name]
    if stage == "coverings":
        coverings = [{"kind": one.kind, "area_mm2": round(one.area_mm2)} for one in board.occlusions]
        return coverings, draw_occlusions(picture, board.rectified, board.occlusions)
    drawn = reader.draw(picture, stages)
    if stage == "blocks":
        return {place: _block_json(block) for place, block in board.sightings.items()}, drawn
    reading = reader.reading(frame, stages)
    places = {place: one.hidden_by or one.best for place, one in reading.places.items()}
    return places, draw_occlusions(drawn, board.rectified, board.occlusions)


def _marker_json(marker: Marker) -> dict[str, Any]:
    return {"id": marker.marker_id, "corners_px": np.round(marker.corners_px, 2).tolist()}


def _location_json(located: TableLocation) -> dict[str, Any]:
    return {
        "markers": list(located.ids_used),
        "error_px": round(located.error_px, 3),
        "uncertain": located.uncertain,
        "camera_mm": np.round(located.pose.camera_position_mm, 1).tolist(),
        "notices": list(located.notices),
    }


def _block_json(block: BlockSighting) -> dict[str, Any]:
    return {
        "colour": block.colour,
        "symbol": block.face.symbol,
        "fit": round(block.face.correlation, 3),
        "log_odds": round(block.log_odds, 2),
        "turned_deg": block.face.turned_deg,
        "sides": {
            side: {symbol: round(share, 3) for symbol, share in probabilities.items()}
            for side, probabilities in block.sides.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
