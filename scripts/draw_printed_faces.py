"""Draws the printed faces that dice are compared with: digits in several fonts, stars, and shapes of four squares.

Run: uv run --group training python scripts/draw_printed_faces.py [--fonts FOLDER]

Digits are drawn in OpenCV's fonts of lines and in those of the training group's packages. The drawings go to
``printed.npz`` beside the weights of the dice's networks.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import click
import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from simulator.rendering.dice_faces import FACE_PX, SHAPE_SQUARES, Layer, shape_face, smaller_face, star_face, text_face
from vision.readers.dice.networks import WEIGHTS
from vision.readers.dice.printed import DRAWN_PX, SIX_OR_NINE

LINE_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX)
STROKES = (0.055, 0.085, 0.12)
"""The widths of lines in those fonts, as shares of a die's edge."""

FILE_FONTS = ("Roboto-Regular", "SourceSerifPro-Bold", "FredokaOne-Regular", "Manrope-Bold", "DejaVuSans-Bold")
"""The fonts of files that are unlike each other: plain, with serifs, round, wide."""

HEIGHT = 0.55
"""How high a digit is, as a share of the edge; other heights are tried when a die is read."""

_LARGE_PX = 4 * FACE_PX


def font_face(text: str, path: Path) -> Layer:
    """A face with a character in the font of a file; OpenCV 5 draws it."""
    drawn = np.zeros((3 * _LARGE_PX, 3 * _LARGE_PX), dtype=np.uint8)
    cv2.putText(drawn, text, (_LARGE_PX, 2 * _LARGE_PX), (255,), cv2.FontFace(str(path)), _LARGE_PX)
    left, top, width, height = cv2.boundingRect(drawn)
    scale = min(HEIGHT * _LARGE_PX / height, 0.8 * _LARGE_PX / width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    shown = cv2.resize(drawn[top : top + height, left : left + width], size, interpolation=cv2.INTER_AREA)
    big = np.zeros((_LARGE_PX, _LARGE_PX), dtype=np.uint8)
    down, across = (_LARGE_PX - shown.shape[0]) // 2, (_LARGE_PX - shown.shape[1]) // 2
    big[down : down + shown.shape[0], across : across + shown.shape[1]] = shown
    return smaller_face(big)


def all_faces(folders: tuple[Path, ...]) -> Iterator[tuple[str, Layer]]:
    """Every face with its name; a 6 stands for the 9 that it is upside down."""
    packages = Path(sysconfig.get_paths()["purelib"]).glob("font_*")
    files = [path for folder in (*folders, *packages) for path in sorted(folder.rglob("*.ttf"))]
    fonts = [path for path in files if path.stem in FILE_FONTS]
    for digit in "012345678":
        name = SIX_OR_NINE if digit == "6" else digit
        for font in LINE_FONTS:
            for stroke in STROKES:
                yield name, text_face(digit, HEIGHT, font, stroke)
        for path in fonts:
            yield name, font_face(digit, path)
    for points in (5, 6):
        for waist in (0.38, 0.5):
            yield "*", star_face(HEIGHT, points, waist)
    for letter in SHAPE_SQUARES:
        for gap in (0.0, 0.2):
            for mirrored in (False, True) if letter in "LS" else (False,):
                yield letter, shape_face(letter, 0.15, gap, mirrored)


@click.command()
@click.option(
    "--fonts",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="a folder of further fonts",
)
@click.option("--out", default=WEIGHTS / "printed.npz", type=click.Path(dir_okay=False, path_type=Path))
def main(folders: tuple[Path, ...], out: Path) -> None:
    """Draw the faces and write them."""
    names, faces = zip(*all_faces(folders), strict=True)
    drawn = [cv2.resize(face, (DRAWN_PX, DRAWN_PX), interpolation=cv2.INTER_AREA) for face in faces]
    drawings = np.rint(np.clip(np.stack(drawn), 0, 1) * 255).astype(np.uint8)
    with out.open("wb") as file:
        np.savez_compressed(file, names=np.array(names), drawings=drawings)
    click.echo(f"{len(names)} faces, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
