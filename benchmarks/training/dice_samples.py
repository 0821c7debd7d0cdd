"""Training samples of the dice networks: squares cropped from pictures, with their truth, in batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import cv2
import numpy as np
import numpy.typing as npt
import torch

from benchmarks.scene.dice_variety import DicePicture, TrueDie
from vision.readers.dice.finding import (
    CELL_PX,
    CLASSES,
    COCKED,
    NOTHING,
    SquareView,
    crop,
    find_candidates,
    normalised,
    square_input,
)
from vision.readers.networks import Floats, Network

FINDER_PX = 160
"""The side of the squares that the finder is trained on."""

SMALLEST_PX, LARGEST_PX = 9.0, 27.0
"""Range of the dice's edges that the finder is trained for; pictures are scaled to it."""

OTHER_SCALES = 0.3
"""Share of squares with dice too large or too small to be found."""

MOST_CANDIDATES = 60
"""Number of the finder's likeliest candidates that are kept of a picture: a carpet has hundreds."""

CANDIDATES = 0.35
"""Share of the classifier's squares that are candidates of the finder."""

KNOWN_BOXES = 0.7
"""Share of photographed dice that are not turned, or by right angles, so that their box is known."""

KNOWN_VIEWS = 0.8
"""Share of rectified squares with a known viewing direction."""

BLEACHED, DARK = 0.1, 0.1
"""Shares of overexposed and of dark squares."""

GREY = 0.25
"""Share of squares in grey, as an infrared camera sees them."""

BLURRED = 0.2
"""Share of the classifier's squares whose picture was enlarged, or out of focus."""

SIDE_FACES = 0.5
"""Share of squares without a die that show a die's side face."""

_Batch = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class LookedAt:
    """A candidate of the finder: its position and edge in a picture, and the die that is there."""

    picture: DicePicture
    x_px: float
    y_px: float
    side_px: float
    die: TrueDie | None


@dataclass(frozen=True)
class Pictures:
    """Training pictures: rendered ones, and photographs with ``photo_share`` of the samples.

    A photograph with more dice comes more often, by the square root of their number.
    """

    made: Sequence[DicePicture]
    photos: Sequence[DicePicture]
    photo_share: float = 0.5
    candidates: Sequence[LookedAt] = ()

    def pick(self, rng: np.random.Generator) -> DicePicture:
        """Draw a picture."""
        if self.photos and rng.random() < self.photo_share:
            return self.photos[int(np.searchsorted(self._reached, rng.random() * self._reached[-1], side="right"))]
        return self.made[int(rng.integers(len(self.made)))]

    @cached_property
    def _reached(self) -> npt.NDArray[np.float64]:
        return np.cumsum([math.sqrt(1 + len(one.dice)) for one in self.photos])


def recoloured(rng: np.random.Generator, image: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Augment a picture's colours: brightness, contrast, colour balance, noise, sometimes grey or permuted channels."""
    changed = image.astype(np.float32)
    if rng.random() < 0.25:
        changed = changed[..., rng.permutation(3)]
    if rng.random() < GREY:
        changed = np.repeat(changed.mean(axis=2, keepdims=True), 3, axis=2)
    exposure = rng.random()
    least, most = (1.4, 2.4) if exposure < BLEACHED else (0.12, 0.5) if exposure < BLEACHED + DARK else (0.5, 1.4)
    bright = rng.uniform(least, most)
    gain = bright * rng.normal(1, 0.06, 3)
    changed = changed * gain.astype(np.float32) + np.float32(rng.uniform(-15, 15))
    if rng.random() < 0.3:
        changed = 255 * np.power(np.clip(changed, 0, 255) / 255, np.float32(rng.uniform(0.7, 1.4)))
    if rng.random() < 0.4:
        changed += rng.standard_normal(changed.shape).astype(np.float32) * np.float32(rng.uniform(1, 7))
    return np.clip(changed, 0, 255).astype(np.uint8)


def finder_sample(rng: np.random.Generator, picture: DicePicture) -> _Batch:
    """A rotated, scaled square of a picture, its heat map (2, h, w: target and weight), and its shape (4, h, w)."""
    image, dice = picture.image, picture.dice
    if dice:
        about = dice[int(rng.integers(len(dice)))]
        middle, side = np.array([about.x_px, about.y_px]), about.side_px
    else:
        middle, side = rng.uniform(0, image.shape[0], 2), 20.0
    scale = math.exp(rng.uniform(math.log(SMALLEST_PX + 1), math.log(LARGEST_PX - 3))) / side
    if rng.random() < OTHER_SCALES:
        scale *= math.exp(rng.choice([-1, 1]) * rng.uniform(math.log(2), math.log(6)))
    while scale < 0.6:
        image, scale, middle = np.asarray(cv2.pyrDown(image), dtype=np.uint8), scale * 2, middle / 2
        dice = tuple(replace(one, x_px=one.x_px / 2, y_px=one.y_px / 2, side_px=one.side_px / 2) for one in dice)
    angle = rng.uniform(0, 2 * math.pi)
    cosine, sine = scale * math.cos(angle), scale * math.sin(angle)
    turn = np.array([[cosine, -sine], [sine, cosine]])
    if rng.random() < 0.5:
        turn = turn @ np.diag([-1.0, 1.0])
    at = FINDER_PX / 2 + rng.uniform(-0.42, 0.42, 2) * FINDER_PX
    matrix = np.column_stack([turn, at - turn @ middle])
    border = tuple(float(value) for value in np.median(image[::8, ::8].reshape(-1, 3), axis=0))
    square = cv2.warpAffine(image, matrix, (FINDER_PX, FINDER_PX), flags=cv2.INTER_LINEAR, borderValue=border)
    cells = FINDER_PX // CELL_PX
    heat = np.zeros((2, cells, cells), dtype=np.float32)
    heat[1] = 1
    shape = np.zeros((4, cells, cells), dtype=np.float32)
    rows, columns = np.indices((cells, cells))
    for die in dice:
        x, y = (matrix @ (die.x_px, die.y_px, 1) - (CELL_PX - 1) / 2) / CELL_PX
        edge = die.side_px * scale
        spread = max(edge / CELL_PX / 6, 0.45)
        near = np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / (2 * spread**2)).astype(np.float32)
        column, row = round(float(x)), round(float(y))
        if not SMALLEST_PX * 0.7 < edge < LARGEST_PX * 1.4:
            continue
        if not die.in_sight or not (SMALLEST_PX < edge < LARGEST_PX):
            heat[1][near > 0.05] = 0
            continue
        heat[0] = np.maximum(heat[0], near * 0.98)
        if 0 <= column < cells and 0 <= row < cells:
            heat[0, row, column] = 1
            shape[:, row, column] = (math.log(edge / 16), x - column, y - row, 1)
    return normalised(recoloured(rng, np.asarray(square, dtype=np.uint8))), heat, shape


def candidates_of(finder: Network, pictures: Sequence[DicePicture]) -> Iterator[LookedAt]:
    """The finder's candidates, but for those of dice that are not in sight."""
    for picture in pictures:
        every = find_candidates(picture.image, finder, (SMALLEST_PX, 0.45 * picture.image.shape[0]))
        for one in islice(every, MOST_CANDIDATES):
            near = [
                die
                for die in picture.dice
                if math.dist((one.x_px, one.y_px), (die.x_px, die.y_px)) < 0.5 * max(die.side_px, one.side_px)
                and 0.6 < one.side_px / die.side_px < 1.7
            ]
            die = min(near, key=lambda each: math.dist((one.x_px, one.y_px), (each.x_px, each.y_px)), default=None)
            if die is None or die.in_sight:
                yield LookedAt(picture, one.x_px, one.y_px, one.side_px, die)


@dataclass(frozen=True, eq=False)
class FaceSample:
    """A square for the classifier, and its class.

    ``off`` is the die's offset from the square, across and down in edges, and the log ratio of their edges. ``leans``
    is ``TrueDie.leans`` in the square's coordinates. ``box`` are the logarithms of the box's sides in edges. Each may
    be ``None`` for unknown.
    """

    given: Floats
    kind: int
    off: tuple[float, float, float] | None
    leans: tuple[float, float] | None
    box: tuple[float, float] | None = None


def face_sample(rng: np.random.Generator, picture: DicePicture) -> FaceSample | None:
    """A square around a die, with an error like the finder's, or without a die."""
    seen = [die for die in picture.dice if die.in_sight]
    if seen and rng.random() < 0.1:
        die = seen[int(rng.integers(len(seen)))]
        side = die.side_px * math.exp(rng.choice([-1, 1]) * rng.uniform(math.log(1.8), math.log(4)))
        x, y = rng.uniform(-0.5, 0.5, 2) * die.side_px + (die.x_px, die.y_px)
        return cut_sample(rng, picture, (x, y, max(side, 5.0)), None)
    if not seen or rng.random() < 0.22:
        return _sample_of_nothing(rng, picture, seen)
    die = seen[int(rng.integers(len(seen)))]
    badly = rng.random() < (0.6 if die.shows == COCKED else 0.2)  # the finder takes a leaning face for an upper one
    off = rng.normal(0, 0.18 if badly else 0.07, 2).clip(-0.4, 0.4) * die.side_px
    side = die.side_px * math.exp(float(np.clip(rng.normal(0, 0.25 if badly else 0.1), -0.45, 0.45)))
    return cut_sample(rng, picture, (die.x_px + off[0], die.y_px + off[1], side), die)


def _sample_of_nothing(rng: np.random.Generator, picture: DicePicture, seen: Sequence[TrueDie]) -> FaceSample | None:
    """A square beside a die, at a side face, or elsewhere; ``None`` if it hit a die."""
    where = rng.uniform(0, picture.image.shape[0], 2)
    side = float(rng.uniform(10, 40))
    if seen:
        beside = seen[int(rng.integers(len(seen)))]
        side = beside.side_px
        middle = np.array([beside.x_px, beside.y_px])
        slant = picture.slant_at(*middle)
        if slant is not None and math.hypot(*slant) > 0.2 and rng.random() < SIDE_FACES:
            steep = math.hypot(*slant)
            along = math.atan2(slant[1], slant[0]) + rng.normal(0, 0.4)
            away = side * (0.5 + steep * rng.uniform(0.3, 0.7))
            where = middle + away * np.array([math.cos(along), math.sin(along)])
            side *= max(1.0, steep)
        elif rng.random() < 0.6:
            along = rng.uniform(0, 2 * math.pi)
            where = middle + side * rng.uniform(0.6, 1.2) * np.array([math.cos(along), math.sin(along)])
        side *= float(rng.uniform(0.7, 1.3))
    if any(math.dist(where, (die.x_px, die.y_px)) < 0.55 * die.side_px for die in picture.dice):
        return None
    return cut_sample(rng, picture, (float(where[0]), float(where[1]), side), None)


def cut_sample(
    rng: np.random.Generator,
    picture: DicePicture,
    given: tuple[float, float, float],
    die: TrueDie | None,
    known_views: float = KNOWN_VIEWS,
) -> FaceSample:
    """Crop and augment the square at (x, y, edge), which holds ``die`` or nothing."""
    x, y, side = given
    slant = picture.slant_at(x, y) if rng.random() < known_views else None
    box = None if die is None or rng.random() > KNOWN_BOXES else die.box_px
    if slant is None:
        quarter = int(rng.integers(4))
        view = SquareView(90.0 * quarter if box else float(rng.uniform(0, 360)), None)
        if box is not None and quarter % 2:
            box = box[1], box[0]
    else:
        exact = SquareView.of(slant)
        assert exact.slant is not None
        view = SquareView(exact.turned_deg + float(rng.normal(0, 3)), exact.slant * float(rng.normal(1, 0.04)))
    square = crop(picture.image, x, y, side, view)
    mirrored = rng.random() < 0.5
    if mirrored:
        square = np.ascontiguousarray(square[:, ::-1])
    turn = math.radians(view.turned_deg)

    def in_square(across: float, down: float) -> tuple[float, float]:
        right = across * math.cos(turn) - down * math.sin(turn)
        return -right if mirrored else right, across * math.sin(turn) + down * math.cos(turn)

    if rng.random() < BLURRED:
        square = np.asarray(cv2.GaussianBlur(square, (0, 0), float(rng.uniform(0.4, 1.3))), dtype=np.uint8)
    cut = square_input([recoloured(rng, square)], [view])[0]
    if die is None:
        return FaceSample(cut, CLASSES.index(NOTHING), None, None)
    off = (*in_square((die.x_px - x) / side, (die.y_px - y) / side), math.log(die.side_px / side))
    leans = None if slant is None or die.leans is None else in_square(*die.leans)
    sides = None if box is None else (math.log(box[0] / die.side_px), math.log(box[1] / die.side_px))
    return FaceSample(cut, CLASSES.index(die.shows), off, leans, sides)


def faces_batches(rng: np.random.Generator, pictures: Pictures, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
    """Infinite batches for the classifier: squares, classes, and shapes (n, 7).

    A shape is ``FaceSample.off``, ``FaceSample.box``, and whether each is known, 1 or 0.
    """
    while True:
        samples: list[FaceSample] = []
        while len(samples) < size:
            if pictures.candidates and rng.random() < CANDIDATES:
                one = pictures.candidates[int(rng.integers(len(pictures.candidates)))]
                side = one.side_px * math.exp(rng.normal(0, 0.09))
                x, y = rng.normal((one.x_px, one.y_px), 0.06 * side)
                made: FaceSample | None = cut_sample(rng, one.picture, (x, y, side), one.die)
            else:
                made = face_sample(rng, pictures.pick(rng))
            if made is not None:
                samples.append(made)
        shapes = [
            (*(one.off or (0.0,) * 3), *(one.box or (0.0,) * 2), float(one.off is not None), float(one.box is not None))
            for one in samples
        ]
        yield (
            torch.from_numpy(np.stack([one.given for one in samples])),
            torch.tensor([one.kind for one in samples]),
            torch.tensor(shapes, dtype=torch.float32),
        )


def leaning_batches(
    rng: np.random.Generator, pictures: Sequence[DicePicture], size: int
) -> Iterator[tuple[torch.Tensor, ...]]:
    """Infinite, balanced batches of squares around leaning and flat dice: input, labels (n,), and leans (n, 2)."""
    dice = [(picture, die) for picture in pictures for die in picture.dice if die.in_sight and die.leans is not None]
    parts = [[one for one in dice if (one[1].shows == COCKED) == leans] for leans in (True, False)]
    parts = [part for part in parts if part]
    while True:
        samples: list[FaceSample] = []
        while len(samples) < size:
            part = parts[int(rng.integers(len(parts)))]
            picture, die = part[int(rng.integers(len(part)))]
            x, y = rng.normal((die.x_px, die.y_px), 0.06 * die.side_px)
            side = die.side_px * math.exp(rng.normal(0, 0.08))
            sample = cut_sample(rng, picture, (float(x), float(y), side), die, known_views=1.0)
            if sample.leans is not None:
                samples.append(sample)
        yield (
            torch.from_numpy(np.stack([one.given for one in samples])),
            torch.tensor([float(one.kind == CLASSES.index(COCKED)) for one in samples]),
            torch.tensor([one.leans for one in samples], dtype=torch.float32),
        )


def finder_batches(rng: np.random.Generator, pictures: Pictures, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
    """Infinite batches for the finder."""
    while True:
        samples = [finder_sample(rng, pictures.pick(rng)) for _ in range(size)]
        yield tuple(torch.from_numpy(np.stack(part)) for part in zip(*samples, strict=True))
