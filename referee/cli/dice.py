"""Dice in front of a camera, read once they rest, and in the photos of ``./run pieces``."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from common.phrases import counted, listed
from engine.api import Game
from referee.cli.context import CommandContext, output, print_table, say
from referee.cli.group import CHECK_FAILED, OK, exit_code_of
from referee.cli.picture_files import load_checked_image
from referee.commands.entries import dice_counts, start_states
from referee.journal.fold import fold
from referee.journal.reader import events_of_game
from referee.judge.dice import pool_dice
from referee.judge.settings import JudgeSettings
from referee.settings.settings import Settings
from referee.settings.table_layout import layout_for_camera
from vision.calibration import load_calibration
from vision.cameras import Camera, open_camera
from vision.errors import EndOfFramesError, FrameError, VisionError
from vision.frame import Frame
from vision.images import load_image, write_image
from vision.layout.pieces import Tray
from vision.layout.table import games_with_layouts
from vision.readers.dice.finding import shipped
from vision.readers.dice.photographs import (
    LARGEST_SIDE_PX,
    SURE_FROM,
    DieInPicture,
    FaceSet,
    draw_dice,
    learn_faces,
    least_edge_px,
    read_photograph,
)
from vision.readers.registry import table_reader
from vision.readers.table_reader import TableReader
from vision.reading import Reading

_NOT_RESTED = "the pictures ended before the dice lay flat and still in two of them; show more pictures"
FRAME_TIMEOUT_S = 10.0
_RESTING_SHARE = 0.12
"""The most a resting die may seem to move between two pictures, as a share of the side of its bounding box."""
_LEAST_PROBABILITY = 0.5
"""Probability below which a value is no part of a roll: something without pips is likelier."""


def read_dice(pictures: Sequence[Path], as_json: bool, debug_image: Path | None, taught: Path | None = None) -> int:
    """Print the dice in each picture and return the exit code. An unreadable picture is reported and skipped.

    ``taught`` is a file of learned faces. Raises EnrolmentError if it has none.
    """
    networks = shipped()
    faces = None if taught is None else FaceSet.load(taught)
    ended = OK
    for path in pictures:
        try:
            image = load_checked_image(path)
            start = time.perf_counter()
            dice = read_photograph(image, networks, str(path), faces)
        except VisionError as error:
            say(f"referee: error: {error}", as_error=True)
            ended = max(ended, exit_code_of(error))
            continue
        spent_ms = (time.perf_counter() - start) * 1000
        if as_json:
            click.echo(json.dumps({"image": str(path), "dice": _as_json(dice), "ms": round(spent_ms, 1)}))
        elif dice:
            _print(path, dice)
        if not dice:
            why = ""
            if max(image.shape[:2]) > LARGEST_SIDE_PX:
                edge = f"a die's edge must be at least {least_edge_px(image)} pixels long"
                why = f"; it was reduced to {LARGEST_SIDE_PX} pixels, so {edge}"
            click.echo(f"no dice found in {path}; take it from above, with the dice in the light{why}", err=True)
            ended = max(ended, CHECK_FAILED)
        if debug_image is not None:
            write_image(debug_image, draw_dice(image, dice))
    return ended


def _as_json(dice: Sequence[DieInPicture]) -> list[dict[str, object]]:
    return [{"box": list(die.box), "value": die.value, "probability": round(die.probability, 4)} for die in dice]


def _print(path: Path, dice: Sequence[DieInPicture]) -> None:
    doubtful = sum(die.value is None or die.probability < SURE_FROM for die in dice)
    values = [die.value for die in dice if isinstance(die.value, int)]
    together = f", together {sum(values)}" if values else ""
    if doubtful:
        together = f", {doubtful} in doubt"
    say(f"{path}: {counted(len(dice), 'die', 'dice')}{together}")
    table = Table(box=None)
    for heading in ("die", "shows", "probability", "middle"):
        table.add_column(heading, justify="left" if heading == "shows" else "right")
    for number, die in enumerate(dice, 1):
        doubt = "" if die.probability >= SURE_FROM else ", in doubt"
        shows = "leans: roll it again" if die.value is None else f"{die.value}{doubt}"
        left, top, right, bottom = die.box
        middle = f"{(left + right) / 2:.0f}, {(top + bottom) / 2:.0f}"
        table.add_row(str(number), Text(shows), f"{die.probability:.1%}", middle)
    print_table(output(), table)


def teach_faces(pictures: Sequence[Path], names: Sequence[str], out: Path) -> None:
    """Learn one face from each picture and save them; raises EnrolmentError and FrameError."""
    learn_faces({name: load_image(path) for name, path in zip(names, pictures, strict=True)}, shipped()).save(out)
    click.echo(f"{', '.join(names)} in {out}")


def read_roll(camera: Camera, counts: Collection[int]) -> str:
    """Wait until all visible dice have rested for two pictures, and return what they show, such as ``4,1``.

    ``counts`` are the numbers of dice that a roll may have; empty if that isn't known. Raises FrameError if the
    pictures end before that, and the camera's errors.
    """
    networks = shipped()
    before: tuple[DieInPicture, ...] | None = None

    def look(frame: Frame) -> tuple[str, str | None]:
        nonlocal before
        dice, last = read_photograph(frame.image, networks, "the camera's picture"), before
        before = dice
        rests = last is not None and at_rest(last, dice)
        faces = ",".join(sorted(str(die.value) for die in dice)) if rests else None
        obstacle = _obstacle_sentence(len(dice), sum(die.value is None for die in dice), counts)
        if not obstacle and any(die.probability < _LEAST_PROBABILITY for die in dice):
            obstacle = "not every die can be read; show dice with pips and nothing else, or type the roll"
        return obstacle, faces

    return _first_roll(camera, look)


def read_tray_roll(camera: Camera, reader: TableReader, counts: Collection[int]) -> str:
    """Wait until all dice in the tray of a calibrated table have rested for two pictures; return what they show.

    ``counts`` is as in ``read_roll``. Raises FrameError if the pictures end before that, and the camera's errors.
    """
    floor = JudgeSettings().probability_floor
    seen: deque[Reading] = deque(maxlen=2)

    def look(frame: Frame) -> tuple[str, str | None]:
        seen.append(reader.read(frame))
        dice = [die for roll in seen[-1].rolls for die in roll.dice]
        pooled = pool_dice(list(seen), floor) if len(seen) > 1 else None
        hindrance = " ".join(one.message for one in seen[-1].hindrances)
        hindrance = hindrance or _obstacle_sentence(len(dice), sum(die.cocked for die in dice), counts)
        return hindrance, ",".join(pooled.faces) if pooled is not None and pooled.rests else None

    return _first_roll(camera, look)


def _first_roll(camera: Camera, look: Callable[[Frame], tuple[str, str | None]]) -> str:
    """Read pictures until ``look`` returns faces and no hindrance; each new hindrance is printed."""
    said = ""
    while True:
        try:
            frame = camera.read(FRAME_TIMEOUT_S)
        except EndOfFramesError:
            raise FrameError(_NOT_RESTED) from None
        hindrance, faces = look(frame)
        if hindrance and hindrance != said:
            click.echo(hindrance, err=True)
        said = hindrance
        if faces is not None and not hindrance:
            return faces


def _obstacle_sentence(count: int, leaning: int, counts: Collection[int] = ()) -> str:
    if not count:
        return "no dice in sight; roll them where the camera sees them"
    if leaning:
        what = "a die leans and counts" if leaning == 1 else f"{leaning} dice lean and count"
        return f"{what} for nothing; roll again"
    if counts and count not in counts:
        seen, right = counted(count, "die", "dice"), listed(map(str, sorted(counts)), "or")
        return f"I see {seen}; the game has {right}. Show exactly these where the camera sees them, or type the roll"
    return ""


def at_rest(before: Sequence[DieInPicture], after: Sequence[DieInPicture]) -> bool:
    """Return whether every die lies where one lay in the previous picture, and shows the same face."""
    if len(before) != len(after):
        return False
    return all(any(_same(die, other) for other in before) for die in after)


def _same(die: DieInPicture, other: DieInPicture) -> bool:
    apart = math.dist(_middle(die), _middle(other))
    return die.value == other.value and apart < _RESTING_SHARE * (die.box[2] - die.box[0])


def _middle(die: DieInPicture) -> tuple[float, float]:
    return (die.box[0] + die.box[2]) / 2, (die.box[1] + die.box[3]) / 2


def _dice_counts(context: CommandContext, journal: Path | None) -> frozenset[int]:
    """Return how many dice the next roll of the journal's last game may have; empty if no dice are rolled next."""
    with context.read_journal(journal) as opened:
        game, events = events_of_game(opened, None)
    folded = fold(game, events)
    return dice_counts(game, folded.states or start_states(game, folded.options))


def _tray_reader(settings: Settings, game: str) -> TableReader | None:
    """Return the reader for the trays of a game's table; ``None`` without a calibration, layout, markers or tray."""
    has_layout = settings.table.layout is not None or game in games_with_layouts()
    if settings.camera.calibration is None or not has_layout or settings.table.markers == "none":
        return None
    for part in layout_for_camera(game, settings.table.layout).parts():
        trays = tuple(surface for surface in part.surfaces if isinstance(surface, Tray))
        if trays and part.markers.centres_mm:
            return table_reader(load_calibration(settings.camera.calibration), replace(part, surfaces=trays), None)
    return None


def roll_in_front_of(context: CommandContext, game: Game[Any, Any], journal: Path | None, source: str) -> str:
    """Return what the dice in front of a camera show, for the journal's last game, whose dice are all alike."""
    counts, settings = _dice_counts(context, journal), context.configuration().settings
    if game.dice_names is not None:
        raise click.UsageError(
            f"{game.title} tells its dice apart, which this does not; type the roll, or let `./run watch` read it."
        )
    asked = settings.camera
    reader = _tray_reader(settings, game.name)
    with open_camera(source, size=asked.size_px, frames_per_second=asked.frames_per_second) as camera:
        faces = read_roll(camera, counts) if reader is None else read_tray_roll(camera, reader, counts)
    say(f"seen: {faces}")
    return faces
