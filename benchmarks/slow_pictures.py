"""How long one picture keeps the referee's thread busy, whatever it shows.

Run: python benchmarks/slow_pictures.py [FOLDER ...] [--of diaballik] [--lines] [--size 1280x720] [--most N]

Pictures of noise, carpet, foliage, text, squares and a table's own markers, and those of the folders, are read by a
reader that has seen none before: as a film's frame, as its next frame, and as a photo, each with and without a known
lens. Commands are carried out before and after a picture, and between the steps of a long search in it. So the longest
stay is the longest time between two of these, and the whole is the time until the picture was read. Times are processor
times of one thread. Exit code 1 if a stay is over 0.5 s.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle

import click
import cv2
import numpy as np

from app.runtime.builder import attention
from app.settings.conversions import table_options
from app.settings.table_layout import layout_for_camera, with_rules
from engine.registry import load
from vision.errors import VisionError
from vision.frame import Frame, Image
from vision.images import IMAGE_SUFFIXES, decode_photo
from vision.layout.table import TableLayout, default_layout
from vision.learned_cameras import LearnedCameras
from vision.locating.markers import MarkerDetector
from vision.motion.changes import Attention
from vision.readers.registry import table_reader
from vision.self_calibration import PRIORS, camera_with_share

AIM_S = 0.5
LONGEST_PX = 1920
"""Longer side, in pixels, to which pictures of folders are reduced, as photos of a phone are."""
MOST_PIXELS = 100_000_000
WORST = 5
OWN = default_layout("diaballik").markers
"""A table's markers: every game's have these ids."""


@dataclass(frozen=True)
class Look:
    """One picture, how it was shown to the reader, and the processor seconds that it took: in all, and at a stretch."""

    picture: str
    way: str
    whole_s: float
    longest_s: float


def noise(rng: np.random.Generator, width: int, height: int, dot_px: int) -> Image:
    """Return dots of random colours."""
    dots = rng.integers(0, 255, (height // dot_px + 1, width // dot_px + 1, 3), np.uint8)
    return np.repeat(np.repeat(dots, dot_px, axis=0), dot_px, axis=1)[:height, :width]


def carpet(rng: np.random.Generator, width: int, height: int) -> Image:
    """Return a rough texture without edges."""
    rough = cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 1.5)
    colours = 120 + 45 * (rough / rough.std())[..., None] * (0.8, 0.9, 1.0)
    return np.asarray(np.clip(colours, 0, 255), dtype=np.uint8)


def foliage(rng: np.random.Generator, width: int, height: int) -> Image:
    """Return leaves over leaves."""
    image = np.full((height, width, 3), (40, 90, 40), np.uint8)
    for _ in range(width * height // 230):
        at, axes = rng.integers((0, 0), (width, height)).tolist(), rng.integers((3, 2), (16, 7)).tolist()
        colour = rng.integers((10, 60, 10), (90, 220, 90)).tolist()
        cv2.ellipse(image, at, axes, int(rng.integers(360)), 0, 360, colour, -1)
    return image


def text(rng: np.random.Generator, width: int, height: int) -> Image:
    """Return a page of small letters."""
    image = np.full((height, width, 3), 240, np.uint8)
    for y in range(12, height, 14):
        line = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz     "), width // 6))
        cv2.putText(image, line, (2, y), cv2.FONT_HERSHEY_PLAIN, 0.8, (20, 20, 20), 1)
    return image


def squares(rng: np.random.Generator, width: int, height: int) -> Image:
    """Return black squares, of any size and turned anyhow."""
    image = np.full((height, width, 3), 230, np.uint8)
    for _ in range(width * height // 600):
        x, y, side = rng.integers((0, 0, 6), (width, height, 30)).tolist()
        corners = cv2.boxPoints(((x, y), (side, side), float(rng.integers(90)))).astype(np.int32)
        cv2.fillPoly(image, [corners], (20, 20, 20))
    return image


def chessboard(_: np.random.Generator, width: int, height: int, side_px: int) -> Image:
    """Return a chessboard without an end."""
    rows, columns = np.mgrid[:height, :width] // side_px
    return np.repeat(((rows + columns) % 2 * 200 + 30).astype(np.uint8)[..., None], 3, axis=2)


def own_markers(_: np.random.Generator, width: int, height: int, side_px: int) -> Image:
    """Return rows of a table's own markers, each many times."""
    image = np.full((height, width, 3), 235, np.uint8)
    finder = MarkerDetector(OWN.dictionary)
    patterns = cycle([finder.pattern(marker_id) for marker_id in sorted(OWN.centres_mm)])
    for top in range(2, height - side_px, side_px * 3 // 2):
        for left in range(2, width - side_px, side_px * 3 // 2):
            square = cv2.resize(next(patterns), (side_px, side_px), interpolation=cv2.INTER_NEAREST)
            image[top : top + side_px, left : left + side_px] = square[..., None]
    return image


def codes(rng: np.random.Generator, width: int, height: int, side_px: int) -> Image:
    """Return rows of squares that look like markers, and are none of a table's."""
    image = np.full((height, width, 3), 235, np.uint8)
    for top in range(2, height - side_px, side_px * 4 // 3):
        for left in range(2, width - side_px, side_px * 4 // 3):
            code = np.pad(rng.integers(0, 2, (4, 4)).astype(np.uint8) * 255, 1)
            square = cv2.resize(code, (side_px, side_px), interpolation=cv2.INTER_NEAREST)
            image[top : top + side_px, left : left + side_px] = square[..., None]
    return image


TEXTURES: Mapping[str, Callable[[np.random.Generator, int, int], Image]] = {
    **{f"noise, {px} px": partial(noise, dot_px=px) for px in (1, 2, 4, 8)},
    "carpet": carpet,
    "foliage": foliage,
    "text": text,
    "black squares": squares,
    **{f"chessboard, {px} px": partial(chessboard, side_px=px) for px in (8, 20)},
    **{f"like markers, {px} px": partial(codes, side_px=px) for px in (12, 24, 48)},
    **{f"its own markers, {px} px": partial(own_markers, side_px=px) for px in (16, 36)},
}


def pictures(
    folders: tuple[Path, ...], most: int | None, size: tuple[int, int], seed: int
) -> Iterator[tuple[str, Image]]:
    """Yield each picture with its name; of a folder ``most``, evenly chosen."""
    for name, make in list(TEXTURES.items())[:most]:
        yield name, make(np.random.default_rng(seed), *size)
    for folder in folders:
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES)
        for path in paths[:: -(-len(paths) // most) if most else 1]:
            photo = decode_photo(path.read_bytes(), path.name, most_pixels=MOST_PIXELS, longest_px=LONGEST_PX)
            yield str(path), photo


def looks(layout: TableLayout, chosen: Attention, name: str, image: Image) -> Iterator[Look]:
    """Yield how long a picture takes a reader of a table in each way."""
    camera = camera_with_share(PRIORS.focal, (image.shape[1], image.shape[0]))
    for kind, known in (("", None), (", lens known", camera)):
        for shown in (("film", "its next frame"), ("photo",)):
            reader = table_reader(LearnedCameras(layout, fixed=known), layout, None, attention=chosen)
            for number, way in enumerate(shown):
                times_s = [time.process_time()]
                reader.pause = partial(_note, times_s)
                with contextlib.suppress(VisionError):
                    reader.read(Frame(image, number / 15, number, "phone", is_still=way == "photo"))
                _note(times_s)
                yield Look(name, way + kind, times_s[-1] - times_s[0], float(np.diff(times_s).max()))


def _note(times_s: list[float]) -> None:
    times_s.append(time.process_time())


@click.command(help=__doc__)
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--of", "name", default="diaballik", show_default=True, help="the game whose table is searched for")
@click.option("--lines", is_flag=True, help="search for a board without markers")
@click.option("--size", default="1280x720", show_default=True, help="width and height of the pictures made here")
@click.option("--most", type=click.IntRange(1), help="at most so many pictures of each folder, and of those made here")
@click.option("--seed", default=3, show_default=True)
def main(folders: tuple[Path, ...], name: str, size: str, most: int | None, seed: int, *, lines: bool) -> None:
    """Measure and print."""
    cv2.setNumThreads(1)
    width, height = map(int, size.split("x"))
    game = load(name)
    found = layout_for_camera(name, Path("kit"), "none" if lines else "layout")
    layout = with_rules(found, game, table_options(game, {}))
    seen = [
        look
        for picture, image in pictures(folders, most, (width, height), seed)
        for look in looks(layout, attention(game), picture, image)
    ]
    for way in dict.fromkeys(look.way for look in seen):
        own = [look for look in seen if look.way == way]
        _print(f"{way}, {len(own)} pictures: longest stay", [(look.longest_s, look.picture) for look in own])
        _print("    the whole", [(look.whole_s, look.picture) for look in own])
    click.echo("\nthe longest stays:")
    for look in sorted(seen, key=lambda look: -look.longest_s)[:WORST]:
        click.echo(f"    {look.longest_s:.2f} s of {look.whole_s:.2f} s: {look.picture}, {look.way}")
    sys.exit(max(look.longest_s for look in seen) > AIM_S)


def _print(what: str, times: list[tuple[float, str]]) -> None:
    median_s, nearly_all_s = np.quantile([time_s for time_s, _ in times], (0.5, 0.99))
    most_s, of = max(times)
    click.echo(f"{what}: median {median_s:.2f} s, 99 % {nearly_all_s:.2f} s, most {most_s:.2f} s ({of})")


if __name__ == "__main__":
    main()
