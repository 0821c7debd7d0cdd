"""Trains the small network that reads printed faces of dice: digits, stars, and shapes of four squares.

Run: uv run --group training python benchmarks/training/printed.py --squares 120000 --minutes 40 --seed 5
[--fonts FOLDER]

Faces are drawn in OpenCV's line fonts and in the fonts of the training group's packages, except HELD_OUT; squares
around them are rendered by ``benchmarks.scene.printed_dice``. Finally the whole reader is tested on ray-cast trays of
dice in the held-out fonts, seen from above and at an angle. ``printed.onnx`` and ``printed.json`` go beside the other
weights.
"""

from __future__ import annotations

import json
import math
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import click
import cv2
import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.progress import Progress, track
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scene.dice_variety import random_look, tray_picture
from benchmarks.scene.printed_dice import printed_square
from benchmarks.training.dice import train_flat, write
from benchmarks.training.dice_networks import printed_network
from benchmarks.training.support import FOLDER, Batches, fitted_temperature, minutes_option, out_option, seed_option
from simulator.rendering.dice import (
    FACE_PX,
    SHAPE_SQUARES,
    DrawnDie,
    centre_height_mm,
    die_rotation,
    shape_face,
    smaller_face,
    star_face,
    text_face,
)
from simulator.scene.scene import Lighting, lens, looking_at
from vision.frame import FloatImage
from vision.layout.pieces import DicePieces
from vision.readers.dice.finding import CROP_PX, WEIGHTS
from vision.readers.dice.reader import EDGE_PX, PRINTED, SEEN_PX, SIX_OR_NINE, DiceReader, PrintedFaces, printed_input
from vision.readers.networks import Floats
from vision.readers.protocols import SurfaceView

LINE_FONTS = (
    cv2.FONT_HERSHEY_SIMPLEX,
    cv2.FONT_HERSHEY_PLAIN,
    cv2.FONT_HERSHEY_DUPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
)
STROKES = (0.055, 0.085, 0.12)
"""Line widths in those fonts, as shares of a die's edge."""

HELD_OUT = ("Caladea", "HankenGrotesk", "DejaVuSerif", "DejaVuSansMono")
"""Prefixes of the names of held-out fonts: with and without serifs, and with a dotted 0."""

HEIGHT = 0.6
"""Nominal height of a character, as a share of the edge; squares vary it."""

UNDERLINED = 0.2
"""Share of underlined drawings of 6 and 9."""

SETS = ("1*3457", "12*456", "234*67", "123567", "IOTLS*"), ("123456", "234567", "345678", "012378", "OTLSI*")
"""The sets of dice in the test trays."""

PART = 200
"""Squares that a process renders at a time."""

TRAYS = 30
"""Number of test trays."""

NEAR_MM = 8.0
"""Largest distance of a detection from its true die."""

_LARGE_PX = 4 * FACE_PX

Kinds = npt.NDArray[np.int64]
Faces = Mapping[str, Sequence[FloatImage]]


def font_face(text: str, path: Path) -> FloatImage:
    """Draw a face with a character in a font file; needs OpenCV 5."""
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


def font_files(folders: Sequence[Path], held_out: bool) -> list[Path]:
    """The held-out or the other fonts of the training group's packages and of further folders."""
    packages = Path(sysconfig.get_paths()["purelib"]).glob("font_*")
    files = [path for folder in (*folders, *packages) for path in sorted(folder.rglob("*.ttf"))]
    return [path for path in files if path.stem.startswith(HELD_OUT) == held_out and "Math" not in path.stem]


def other_faces() -> Iterator[tuple[str, FloatImage]]:
    """Stars, shapes of four squares and digits in line fonts, each with its name in PRINTED."""
    for digit in "0123456789":
        for font in LINE_FONTS:
            for stroke in STROKES:
                yield (SIX_OR_NINE if digit == "9" else digit), text_face(digit, HEIGHT, font, stroke)
    for points in (4, 5, 5, 6, 8):
        for waist in (0.3, 0.38, 0.45, 0.55):
            star = star_face(0.66, points, waist)
            yield "*", star
            if waist > 0.4:
                yield "*", np.clip(star - 0.85 * star_face(0.66 * 0.6, points, waist), 0, 1)
    for font in LINE_FONTS:
        yield "*", text_face("*", HEIGHT, font, 0.09)
    for letter in SHAPE_SQUARES:
        for square in (0.14, 0.165, 0.19):
            for gap in (0.0, 0.1, 0.22):
                for mirrored in (False, True) if letter in "LS" else (False,):
                    shape = shape_face(letter, square, gap, mirrored)
                    yield letter, shape
                    if gap:
                        inner = shape_face(letter, square, 0.45, mirrored)
                        yield letter, np.asarray(np.clip(shape - inner, 0, 1), dtype=np.float32)


def all_faces(fonts: Sequence[Path]) -> Faces:
    """Drawings of every face by its name in PRINTED."""
    faces: dict[str, list[FloatImage]] = {name: [] for name in PRINTED}
    for digit in "0123456789":
        faces[SIX_OR_NINE if digit == "9" else digit] += [font_face(digit, path) for path in fonts]
    for name, face in other_faces():
        faces[name].append(face)
    line = np.zeros((FACE_PX, FACE_PX), dtype=np.float32)
    low = round(FACE_PX * (0.5 + HEIGHT / 2)) + 3
    cv2.line(line, (round(FACE_PX * 0.35), low), (round(FACE_PX * 0.65), low), (1.0,), 3)
    faces[SIX_OR_NINE] += [np.maximum(face, line) for face in faces[SIX_OR_NINE][:: round(1 / UNDERLINED)]]
    return faces


def make_squares(faces: Faces, seed: tuple[int, int], count: int) -> tuple[Floats, Kinds]:
    """Render squares around dice; give their ``printed_input``, and their indices in PRINTED."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(len(PRINTED), size=count)
    others = rng.permutation(kinds)

    def any_of(kind: int) -> FloatImage:
        drawn = faces[PRINTED[kind]]
        return drawn[int(rng.integers(len(drawn)))]

    made = [
        printed_square(rng, any_of(kind), any_of(other), CROP_PX, EDGE_PX)
        for kind, other in zip(kinds.tolist(), others.tolist(), strict=True)
    ]
    return printed_input(made), kinds


def batches(rng: np.random.Generator, given: Floats, kinds: Kinds, size: int) -> Batches:
    """Infinite batches of ``printed_input``, rotated by a multiple of 90 degrees, with noise."""
    while True:
        chosen = np.sort(rng.choice(len(given), size, replace=False))
        turned = np.rot90(given[chosen], int(rng.integers(4)), (2, 3))
        noise = rng.standard_normal(turned.shape, dtype=np.float32) * np.float32(rng.uniform(0, 0.15))
        yield torch.from_numpy(turned + noise), torch.from_numpy(kinds[chosen])


def temperature_of(network: nn.Sequential, given: torch.Tensor, kinds: torch.Tensor) -> float:
    """The temperature of the network, from held-out squares."""
    with torch.no_grad():
        scores = torch.cat([network(part) for part in given.split(256)])
    right = float((scores.argmax(1) == kinds).float().mean())
    best = fitted_temperature(scores, kinds)
    click.echo(f"{right:.2%} right of {len(kinds)} rendered squares in held-out fonts, temperature {best:.2f}")
    return best


def train_all(faces: Faces, unseen: Faces, count: int, minutes: float, seed: int, out: Path) -> None:
    """Train the network on ``count`` squares and write it; ``unseen`` faces fit the temperature."""
    torch.manual_seed(seed)
    console = Console(stderr=True)
    parts = [PART] * max(1, count // PART)
    with ProcessPoolExecutor() as pool:
        made = pool.map(make_squares, [faces] * len(parts), [(seed, part) for part in range(len(parts))], parts)
        given, kinds = zip(*track(made, "Making squares", total=len(parts), console=console), strict=True)
    rng = np.random.default_rng([seed, 1 << 20])
    network = printed_network(len(PRINTED))
    with Progress(console=console) as progress:
        endless = batches(rng, np.concatenate(given), np.concatenate(kinds), 64)
        train_flat(network, endless, nn.CrossEntropyLoss(label_smoothing=0.02), minutes, progress, "printed")
    sha256 = write(network, "printed", (1, 1, SEEN_PX, SEEN_PX), out)
    others, true = make_squares(unseen, (seed, len(parts)), max(PART, count // 10))
    temperature = temperature_of(network, torch.from_numpy(others), torch.from_numpy(true))
    record = {"printed": sha256, "temperature": temperature}
    (out / "printed.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class ReadDie:
    """A die of a tray: the camera's tilt, the true face, the one read ("": not found), and its probability."""

    tilt_deg: float
    shows: str
    read: str
    probability: float


def read_tray(rng: np.random.Generator, faces: Faces, printed: PrintedFaces) -> Iterator[ReadDie]:
    """Read a rendered tray of dice, each in its own colours and font, with the whole reader."""
    sets = SETS[int(rng.integers(len(SETS)))]
    side_mm = float(rng.choice([14.0, 16.0, 19.0]))
    dice, shows = [], []
    for number, six in enumerate(sets):
        up = int(rng.integers(6))
        names = [SIX_OR_NINE if name == "9" else name for name in six]
        look = replace(
            random_look(rng), faces=tuple(faces[name][int(rng.integers(len(faces[name])))] for name in names)
        )
        turn = die_rotation(up, float(rng.uniform(0, 360)))
        middle = np.array([40.0 * number - 80, float(rng.uniform(-60, 60)), centre_height_mm(turn, side_mm)])
        dice.append(DrawnDie(middle, side_mm, turn, look))
        shows.append(six[up])
    tilt_deg = float(rng.uniform(0, 45))
    camera = lens(horizontal_view_deg=float(rng.uniform(55, 70)))
    pose = looking_at(float(rng.uniform(420, 620)), tilt_deg, float(rng.uniform(0, 360)))
    made = tray_picture(dice, shows, camera, pose, Lighting(), int(rng.integers(1 << 30)))
    tray = made.layout.surfaces[0]
    pieces = replace(DicePieces.on(tray), smallest_mm=side_mm, largest_mm=side_mm, printed=sets)
    surface = replace(tray, pieces=pieces)
    roll = DiceReader(surface, printed=printed).read(SurfaceView(made.image, camera, pose, surface), None)
    for x_mm, y_mm, shown in made.dice:
        near = [one for one in roll.dice if math.dist((one.x_mm, one.y_mm), (x_mm, y_mm)) < NEAR_MM]
        face = max(near[0].faces, key=near[0].faces.__getitem__) if near else ""
        yield ReadDie(tilt_deg, shown, face, near[0].faces[face] if near else 0.0)


@click.command()
@click.option("--squares", default=60000, show_default=True, help="number of rendered squares")
@minutes_option
@seed_option
@click.option("--fonts", "folders", multiple=True, type=FOLDER, help="folder of further fonts; repeatable")
@out_option(WEIGHTS)
@click.option("--score", is_flag=True, help="only test the existing network on trays")
def main(squares: int, minutes: float, seed: int, folders: tuple[Path, ...], out: Path, score: bool) -> None:
    """Train the network and score it on trays."""
    unseen = all_faces(font_files(folders, held_out=True))
    if not score:
        train_all(all_faces(font_files(folders, held_out=False)), unseen, squares, minutes, seed, out)
    read = PrintedFaces(out)
    numbers = track(range(TRAYS), "Reading trays", console=Console(stderr=True))
    dice = [die for number in numbers for die in read_tray(np.random.default_rng([seed, number]), unseen, read)]
    for die in dice:
        if die.read != die.shows:
            click.echo(
                f"{die.tilt_deg:.0f} degrees of tilt: {die.shows} read as {die.read or '-'} ({die.probability:.2f})"
            )
    right = [die for die in dice if die.read == die.shows]
    unsure = sum(die.probability < 0.9 for die in right)
    click.echo(f"{len(right)} of {len(dice)} dice right, {unsure} of them with less than 0.9")


if __name__ == "__main__":
    main()
