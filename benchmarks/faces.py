"""How much quicker faces are found all at once than one after the other, and whether both find the same.

Run: python benchmarks/faces.py --set SET_DIR --calibration DIR

For each picture of a set the first sights of faces and their close fits are made twice in one thread: as the reader
makes them, all correlations in one matrix product, and plainly, by sliding every mask over every place. Exits with 1
when the two ways name different symbols, or when the reader's is not the quicker one.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import time

import click
import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.parts.picture_films import PictureSet, Shot, load_set
from vision.errors import EnrolmentError, VisionError
from vision.frame import Image
from vision.layout.pieces import BlockPieces
from vision.layout.surfaces import top_mm
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.face_search import FINE_PX_PER_MM, CloseFitter, RoughFinder, patches_around
from vision.readers.blocks.faces import ColourMetric, FaceFinder, fit_face, rough_fits
from vision.readers.blocks.reader import MARGIN_MM, REACH_MM, BlockSettings, top_window
from vision.sampling import PlaneGrid, PlaneWindow, linear_light, plane_map, sample

_SETTINGS = BlockSettings()
PLAIN_PX_PER_MM = 1.0
CLEAR_FIT = 0.85


class BothWays:
    """Finds and fits the faces of one set's pictures in both ways."""

    def __init__(self, pictures: PictureSet) -> None:
        self.layout = pictures.layout
        looks, side = pictures.shots[0].looks, BlockPieces.on(pictures.layout.board).side_mm
        if not isinstance(looks, BlockAppearance):
            raise EnrolmentError("this set's pieces are not blocks; only blocks have faces to find")
        self._judge = ColourMetric(looks.colours, _SETTINGS.colour_spread)
        self._rough, self._close = RoughFinder(looks, side), CloseFitter(looks, side)
        self._plain_rough, self._plain_close = (
            FaceFinder(looks, side, scale) for scale in (PLAIN_PX_PER_MM, FINE_PX_PER_MM)
        )
        self._bounds = self.layout.board.bounds_mm.grown(MARGIN_MM)
        self._height_mm = top_mm(self.layout.board)

    def together(self, image: Image, shot: Shot) -> dict[str, tuple[str, float]]:
        """Symbol and fit of every face, by place, as the reader finds them."""
        if shot.pose is None:
            return {}
        grid = PlaneGrid.of(shot.camera, shot.pose, self._bounds, self._height_mm)
        patches = patches_around(image, grid, self.layout.board, self.layout.places)
        sights = self._rough.find(patches, _SETTINGS.rough_fit)
        colours = [self._nearest(sight.face, sight.ink) for sight in sights]
        fits = self._close.fit(image, grid, patches, sights, colours)
        return {
            sight.place: (fit.symbol, fit.correlation)
            for sight, fit in zip(sights, fits, strict=True)
            if fit is not None and fit.correlation > _SETTINGS.rough_fit
        }

    def one_by_one(self, image: Image, shot: Shot) -> dict[str, tuple[str, float]]:
        """The same by sliding masks over the picture."""
        if shot.pose is None:
            return {}
        window, light = self._sampled(image, shot, PLAIN_PX_PER_MM)
        middles = [window.to_pixels(*self.layout.centre_mm(place)) for place in self.layout.places]
        sights = rough_fits(self._plain_rough, light, middles, REACH_MM * PLAIN_PX_PER_MM, 0.7)
        fine_window, fine_light = self._sampled(image, shot, FINE_PX_PER_MM)
        found = {}
        for place, sight in zip(self.layout.places, sights, strict=True):
            if sight.fit <= _SETTINGS.rough_fit:
                continue
            middle = window.left_mm + sight.x_px + 0.5, window.far_mm - sight.y_px - 0.5
            colour = self._nearest(sight.face, sight.ink)
            fit = fit_face(self._plain_close, fine_light, fine_window, middle, 0.75, colour)
            if fit is not None and fit.correlation > _SETTINGS.rough_fit:
                found[place] = (fit.symbol, fit.correlation)
        return found

    def _nearest(self, face: np.ndarray, ink: np.ndarray) -> str | None:
        distances = self._judge.distances(face, ink)
        return min(distances, key=lambda name: distances[name], default=None)

    def _sampled(self, image: Image, shot: Shot, px_per_mm: float) -> tuple[PlaneWindow, np.ndarray]:
        window = top_window(self.layout.board, px_per_mm)
        assert shot.pose is not None
        return window, linear_light(sample(image, plane_map(shot.camera, shot.pose, window)))


@click.command()
@click.option("--set", "set_dir", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--calibration", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(set_dir: Path, calibration: Path) -> None:
    """Compare finding faces all at once with finding them one by one."""
    cv2.setNumThreads(1)
    try:
        pictures = load_set(set_dir, calibration)
    except (OSError, VisionError) as error:
        raise click.ClickException(str(error)) from error
    both = BothWays(pictures)
    taken_s: tuple[list[float], list[float]] = ([], [])
    compared, different = 0, []
    shots = [(shot, image) for shot in pictures.shots for image in shot.pictures if shot.pose is not None]
    for shot, image in track(shots, description="Finding faces", console=Console(stderr=True)):
        found = []
        for way, times in zip((both.together, both.one_by_one), taken_s, strict=True):
            begin_s = time.perf_counter()
            found.append(way(image, shot))
            times.append(time.perf_counter() - begin_s)
        for place in found[0].keys() & found[1].keys():
            (symbol, fit), (plain_symbol, plain_fit) = found[0][place], found[1][place]
            if min(fit, plain_fit) > CLEAR_FIT:
                compared += 1
                if symbol != plain_symbol:
                    different.append(f"{place}: {symbol} ({fit:.2f}), plainly {plain_symbol} ({plain_fit:.2f})")
    quick_s, plain_s = (float(np.median(times)) for times in taken_s)
    click.echo(
        f"{len(shots)} pictures; all at once {quick_s * 1000:.1f} ms, one by one {plain_s * 1000:.1f} ms a picture:"
    )
    click.echo(
        f"{plain_s / quick_s:.1f} times quicker; {compared} clear faces compared, {len(different)} seen differently"
    )
    for line in different:
        click.echo(f"  {line}")
    if different or quick_s >= plain_s:
        click.echo("NOT MET: both ways must see the same, and all at once be quicker")
        sys.exit(1)


if __name__ == "__main__":
    main()
