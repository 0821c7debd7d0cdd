"""Whether a hand is ever taken for a clear board: on a film of real hands, and on the virtual table.

Run: python benchmarks/hands.py [CLIP] --corners "x,y x,y x,y x,y" [--seed S] [--games N]
     [--variant NAME]...

CLIP is a film of a board seen from above, ``--corners`` the board's outline in it, in pixels. A person labelled every
``--every``-th frame: ``--hands`` are the frames with a hand, ``--shadows`` those with only a shadow; the others are
clear. The defaults are for ``clip.avi`` of github.com/WolfgangFahl/play-chess-with-a-webcam. Without CLIP, or with
``--games``, games on the virtual table are watched, where it is known for every frame what a hand covers.

Against overfitting to one film, it is watched in each variant of ``VARIANTS``: unchanged, mirrored, slowed, darker,
brighter, noisy, in other colours, smaller. ``--variant`` selects some.

Exit code 1 when a frame with a hand over the board is called clear, when fewer than 80 % of the clear frames are
called clear at once or within ten frames, or when a shadow alone is called a hand for more than a second.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import click
import cv2
import numpy as np
from rich.progress import track

from benchmarks.parts.command_line import PROGRESS
from benchmarks.scene.variety import varied_setting
from simulator.play.game import GameOptions, TruthLog
from simulator.play.players import Habits
from simulator.scene.scene import Setting
from simulator.table import VirtualTable
from vision.cameras.files import VideoFile
from vision.errors import EndOfFramesError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import project
from vision.motion.hands import HandDetector, HandState

CLEAR_WITHIN_FRAMES = 10
LEAST_CLEAR_SHARE = 0.8
LONGEST_SHADOW_HAND_S = 1.0
LETTERS: dict[HandState, str] = {
    HandState.STARTING: "s",
    HandState.CLEAR: ".",
    HandState.HAND: "H",
    HandState.UNSETTLED: "u",
}


@dataclass(frozen=True)
class Watched:
    """The detector's result for each frame, and its mean and longest time in milliseconds."""

    kinds: tuple[HandState, ...]
    mean_ms: float
    slowest_ms: float

    def clear_within(self, number: int) -> bool:
        """Whether a frame, or one of the ten after it, was called clear."""
        return "clear" in self.kinds[number : number + CLEAR_WITHIN_FRAMES + 1]

    def every(self, step: int) -> Watched:
        """Only every ``step``-th frame, the last of each group."""
        return replace(self, kinds=self.kinds[step - 1 :: step])


@dataclass(frozen=True, eq=False)
class Film:
    """A film with the board's outline in it; each frame is repeated ``times`` times."""

    frames: Sequence[Frame]
    corners_px: FloatArray
    times: int = 1

    def with_images(self, change: Callable[[Image], Image]) -> Film:
        """The same film with every picture changed."""
        return replace(self, frames=[replace(frame, image=change(frame.image)) for frame in self.frames])


def _mirrored(film: Film, _rng: np.random.Generator) -> Film:
    width = film.frames[0].image.shape[1]
    flipped = film.with_images(lambda image: np.ascontiguousarray(image[:, ::-1]))
    return replace(flipped, corners_px=film.corners_px * [-1, 1] + [width - 1, 0])


def _upside_down(film: Film, _rng: np.random.Generator) -> Film:
    height = film.frames[0].image.shape[0]
    flipped = film.with_images(lambda image: np.ascontiguousarray(image[::-1]))
    return replace(flipped, corners_px=film.corners_px * [1, -1] + [0, height - 1])


def _slowed(film: Film, _rng: np.random.Generator) -> Film:
    times_s = [frame.time_s for frame in film.frames]
    step_s = (times_s[-1] - times_s[0]) / max(1, len(times_s) - 1)
    twice = [frame for frame in film.frames for _ in range(2)]
    frames = [replace(frame, time_s=times_s[0] + number * step_s) for number, frame in enumerate(twice)]
    return Film(frames, film.corners_px, 2)


def _scaled_light(film: Film, _rng: np.random.Generator, factor: float) -> Film:
    return film.with_images(lambda image: np.asarray(cv2.convertScaleAbs(image, alpha=factor), dtype=np.uint8))


def _noisy(film: Film, rng: np.random.Generator) -> Film:
    def change(image: Image) -> Image:
        return np.asarray(np.clip(image + rng.normal(0.0, 6.0, image.shape), 0, 255), dtype=np.uint8)

    return film.with_images(change)


def _recoloured(film: Film, _rng: np.random.Generator) -> Film:
    mixed = np.array([[0.2, 0.1, 0.7], [0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    return film.with_images(lambda image: np.asarray(cv2.transform(image, mixed), dtype=np.uint8))


def _smaller(film: Film, _rng: np.random.Generator) -> Film:
    def change(image: Image) -> Image:
        return np.asarray(cv2.resize(image, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA), dtype=np.uint8)

    return replace(film.with_images(change), corners_px=film.corners_px * 0.6)


VARIANTS: Mapping[str, Callable[[Film, np.random.Generator], Film]] = {
    "as it is": lambda film, _rng: film,
    "mirrored": _mirrored,
    "upside down": _upside_down,
    "slowed": _slowed,
    "darker": partial(_scaled_light, factor=0.5),
    "brighter": partial(_scaled_light, factor=1.3),
    "noisy": _noisy,
    "recoloured": _recoloured,
    "smaller": _smaller,
}


def watch(frames: Iterable[Frame], corners_px: FloatArray) -> Watched:
    """Run a hand detector on every frame."""
    detector: HandDetector | None = None
    kinds: list[HandState] = []
    spent_ms: list[float] = []
    for frame in frames:
        if detector is None:
            detector = HandDetector(corners_px, (frame.image.shape[1], frame.image.shape[0]))
        start_s = time.process_time()
        kinds.append(detector.update(frame.image, frame.time_s).kind)
        spent_ms.append((time.process_time() - start_s) * 1000)
    return Watched(tuple(kinds), statistics.fmean(spent_ms), max(spent_ms))


def points(text: str) -> FloatArray:
    """Parse ``x,y x,y x,y x,y``; raises BadParameter for anything else."""
    try:
        corners = np.array([[float(value) for value in pair.split(",")] for pair in text.split()], dtype=np.float64)
    except ValueError:
        corners = np.zeros((0, 2))
    if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3:
        raise click.BadParameter(f'got {text!r}; expected the corners in pixels, such as "10,10 90,10 90,90 10,90"')
    return corners


def numbers(text: str) -> list[int]:
    """Parse frame numbers separated by spaces or commas; raises BadParameter for anything else."""
    try:
        return [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise click.BadParameter(f"got {text!r}; expected frame numbers, such as 24 32 40") from None


def film(path: Path) -> Iterator[Frame]:
    """Every frame of a video file."""
    with VideoFile(path, clock=time.monotonic, wait=time.sleep) as camera, suppress(EndOfFramesError):
        while True:
            yield camera.read(1.0)


def shadow_runs(kinds: Sequence[HandState], shadows: Iterable[int], hands: Iterable[int]) -> list[int]:
    """Length in frames of each run of "hand" around a frame with only a shadow, up to the nearest real hand."""
    with_hand = set(hands)
    runs = []
    for shadow in shadows:
        length = 0
        for step in (-1, 1):
            number = shadow if step == 1 else shadow - 1
            while 0 <= number < len(kinds) and kinds[number] == "hand" and number not in with_hand:
                length += 1
                number += step
        runs.append(length)
    return runs


def judge_film(watched: Watched, hands: list[int], shadows: list[int], every: int, fps: float) -> bool:
    """Print the film's results; say whether every target is met."""
    seen = range(every, len(watched.kinds), every)
    clear = [number for number in seen if number not in hands and number not in shadows]
    missed = [number for number in hands if watched.kinds[number] == "clear"]
    late = [number for number in clear if not watched.clear_within(number)]
    runs = shadow_runs(watched.kinds, shadows, hands)
    for first in range(0, len(watched.kinds), 80):
        click.echo(f"{first:5d} {''.join(LETTERS[kind] for kind in watched.kinds[first : first + 80])}")
    click.echo(f"hand frames taken as clear: {len(missed)} of {len(hands)} {missed or ''}")
    click.echo(f"hand frames called hand: {sum(watched.kinds[number] == 'hand' for number in hands)} of {len(hands)}")
    share = 1 - len(late) / max(1, len(clear))
    click.echo(
        f"clear frames clear within {CLEAR_WITHIN_FRAMES}: {len(clear) - len(late)} of {len(clear)}, {share:.0%}"
        f"{f' {late}' if late else ''}"
    )
    click.echo(f"a shadow called hand for {max(runs, default=0)} frames at most")
    click.echo(f"{watched.mean_ms:.2f} ms a frame, {watched.slowest_ms:.2f} at most")
    return not missed and share >= LEAST_CLEAR_SHARE and max(runs, default=0) <= LONGEST_SHADOW_HAND_S * fps


def board_corners_px(setting: Setting) -> FloatArray:
    """The corners of the virtual board in the picture, shape (4, 2)."""
    board = setting.layout.board
    return project(setting.camera, setting.pose, board.bounds_mm.corners_mm(board.height_mm))


def judge_game(seed: int, turns: int) -> bool:
    """Watch a game on a virtual table drawn from the seed; print the results, say whether all targets are met."""
    setting, truth = varied_setting(seed, 0.7), TruthLog()
    table = VirtualTable(seed, GameOptions(turns=turns, habits=Habits(rest_share=0.5)), setting=setting, truth=truth)
    watched = watch(table.frames(), board_corners_px(setting))
    results = list(zip(truth.frames, watched.kinds, strict=True))
    missed = [frame.sequence for frame, kind in results if frame.covered and kind == "clear"]
    clear = [frame.sequence for frame, _ in results if not frame.hand_present]
    late = [
        number for number in clear if not watched.clear_within(number) and number < len(results) - CLEAR_WITHIN_FRAMES
    ]
    false = sum(kind == "hand" for frame, kind in results if not frame.hand_present)
    share = 1 - len(late) / max(1, len(clear))
    click.echo(
        f"game {seed} ({setting.table.surface}, {setting.camera.size[0]} x {setting.camera.size[1]}): "
        f"{sum(bool(frame.covered) for frame, _ in results)} frames with a hand over it, {len(missed)} taken as clear"
        f"{f' {missed}' if missed else ''}; {len(clear)} without a hand, {share:.1%} clear within "
        f"{CLEAR_WITHIN_FRAMES}, {false} called hand; {watched.mean_ms:.2f} ms a frame"
    )
    return not missed and share >= LEAST_CLEAR_SHARE


@click.command()
@click.argument("clip", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--corners", help="The board's outline in CLIP, in pixels: x,y x,y x,y x,y.")
@click.option(
    "--hands",
    default="24 32 40 48 56 64 72 80 96 104 152 160 168 176 192 200 224 232 240 248 256",
    show_default=True,
    help="Frames of CLIP with a hand or an arm over the board.",
)
@click.option("--shadows", default="8 16 296", show_default=True, help="Frames of CLIP with only a shadow.")
@click.option("--every", default=8, show_default=True, help="Interval of the labelled frames.")
@click.option("--seed", default=1, show_default=True, help="Seed of the first game on the virtual table.")
@click.option("--games", type=int, help="Games on the virtual table [default: none with CLIP, else 4].")
@click.option("--turns", default=4, show_default=True, help="Turns in each game.")
@click.option("--variant", "variants", multiple=True, help="Only this variant of CLIP; repeatable [default: all].")
def main(
    clip: Path | None,
    corners: str | None,
    hands: str,
    shadows: str,
    every: int,
    seed: int,
    games: int | None,
    turns: int,
    variants: tuple[str, ...],
) -> None:
    """Check whether a hand is ever taken for a clear board, in CLIP and on the virtual table."""
    good = True
    unknown = sorted(set(variants) - set(VARIANTS))
    if unknown:
        raise click.BadParameter(f"no variant {', '.join(unknown)}; there are {', '.join(VARIANTS)}")
    if clip is not None:
        if corners is None:
            raise click.UsageError("CLIP needs --corners, the board's outline in it")
        taken = Film(list(film(clip)), points(corners))
        fps = (len(taken.frames) - 1) / max(1e-6, taken.frames[-1].time_s - taken.frames[0].time_s)
        for name in track(variants or list(VARIANTS), "Watching the film", console=PROGRESS):
            click.echo(f"\n{name}:")
            one = VARIANTS[name](taken, np.random.default_rng([seed, 5]))
            watched = watch(one.frames, one.corners_px).every(one.times)
            good &= judge_film(watched, numbers(hands), numbers(shadows), every, fps)
    count = (0 if clip else 4) if games is None else games
    for number in track(range(count), "Watching games", console=PROGRESS, disable=not count):
        good &= judge_game(seed + number, turns)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
