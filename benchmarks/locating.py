"""How well the table is located in a set of pictures, and how far poses from fewer markers are off.

Run: python benchmarks/locating.py SET_DIR --calibration DIR

Both folders are as ``benchmarks/parts/picture_folder.py`` says. Nothing but layout, index and pictures is read.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import statistics
import time
from itertools import combinations

import click
import numpy as np

from benchmarks.parts.picture_folder import PictureFolder
from vision.errors import NotLocatedError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.table import TableLayout
from vision.locating.location import TableLocation, locate
from vision.locating.markers import Marker, MarkerDetector
from vision.locating.pose import fit_poses

READ_AT_MM = 40.0


def board_error_mm(camera: CameraModel, layout: TableLayout, pose: Pose, reference: Pose) -> float:
    """Give how far a pose puts the board's corners, at the blocks' tops, from where another puts them, at most."""
    half_x, half_y = layout.board.columns * layout.board.cell_mm / 2, layout.board.rows * layout.board.cell_mm / 2
    corners = np.array([[x, y, READ_AT_MM] for x in (-half_x, half_x) for y in (-half_y, half_y)])
    seen = back_project(camera, pose, project(camera, reference, corners), READ_AT_MM)
    return float(np.linalg.norm(seen - corners, axis=1).max())


def raw_markers(image: Image, located: TableLocation, layout: TableLayout) -> dict[int, Marker]:
    """Give each located marker as one detector sees it, before all of them are fitted together."""
    finder = MarkerDetector(layout.markers.dictionary)
    raw: dict[int, Marker] = {}
    for marker in (*finder.plain(image), *finder.thorough(image)):
        for used in located.markers:
            if marker.marker_id == used.marker_id and np.linalg.norm(marker.centre_px - used.centre_px) < 2:
                raw.setdefault(marker.marker_id, marker)
    return raw


@click.command()
@click.argument("set_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--calibration", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(set_dir: Path, calibration: Path) -> None:
    """Print how well the table is located in SET_DIR."""
    pictures = PictureFolder(set_dir, calibration)
    layout = pictures.layout
    errors_px: list[float] = []
    ladder: list[str] = []
    alone: dict[int, list[float]] = {1: [], 2: [], 3: []}
    ambiguous = {1: 0, 2: 0, 3: 0}
    for path in pictures.pictures:
        image, camera = pictures.load(path)
        began_s = time.perf_counter()
        try:
            located = locate(image, camera, layout)
        except NotLocatedError as error:
            click.echo(f"{path.name}: {error}")
            continue
        took_ms = (time.perf_counter() - began_s) * 1000
        errors_px.append(located.error_px)
        ways = sorted({marker.found_by for marker in located.markers} - {"plain"})
        if ways:
            ladder.append(f"{path.name} ({', '.join(ways)})")
        ids = ", ".join(map(str, located.ids_used))
        click.echo(f"{path.name}: markers {ids}, {located.error_px:.3f} px, {took_ms:.0f} ms")
        raw = raw_markers(image, located, layout)
        if len(located.ids_used) < 4 or len(raw) < 4:
            continue
        for count in alone:
            for chosen in combinations(sorted(raw), count):
                fits = fit_poses(camera, layout.markers, [raw[marker_id] for marker_id in chosen])
                ambiguous[count] += bool(fits and fits[0].rivals)
                alone[count] += [board_error_mm(camera, layout, fit.pose, located.pose) for fit in fits[:1]]
    click.echo(
        f"located {len(errors_px)} of {len(pictures.pictures)}; mean error {statistics.fmean(errors_px):.3f} px, "
        f"largest {max(errors_px):.3f} px"
    )
    click.echo(f"needed more than the plain detector: {'; '.join(ladder) or 'none'}")
    for count, errors in alone.items():
        if errors:
            click.echo(
                f"poses from {count} of 4 markers, at the board's corners {READ_AT_MM:g} mm up: median "
                f"{statistics.median(errors):.2f} mm, largest {max(errors):.2f} mm "
                f"({len(errors)} poses, {ambiguous[count]} uncertain)"
            )


if __name__ == "__main__":
    main()
