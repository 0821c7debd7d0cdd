"""Runs the reader or the whole service on a set of pictures with known truth, which it never opens.

Run: python benchmarks/photoreal.py SET_DIR --calibration DIR --out FILE.jsonl [--markers none] [--effect warm]
     [--camera learned]

SET_DIR holds ``layout.json``, ``index.json`` (file name to camera), pictures ``000.jpg``, ``001.jpg``, ... and, for
enrolment, ``enrol*.jpg`` with ``enrol*.json``; DIR has a folder of ChArUco pictures for each camera and, in
``layout.json``, the board. Nothing else is read. A set without enrolment pictures is refereed as consecutive frames of
one game that begin with its set-up; any other is read picture by picture. Functions for each game are in
``benchmarks/parts/picture_sets.py``. With ``--markers none`` boards are located by their lines; the first player's side
is the one nearest to each picture's lower edge.

``--camera`` says how the lens is known: ``calibrated`` by the ChArUco pictures; ``learned`` by each camera's pictures
so far, as in a game without a calibration; ``each``, anew by each picture alone; ``photo``, by a sheet's markers alone,
as in a phone's photo. For ``learned`` and ``each`` the error of the focal length is printed by the camera's tilt.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import numpy as np
from rich.progress import track

from app.runtime.builder import open_session
from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.picture_changes import EFFECTS
from benchmarks.parts.picture_sets import PictureFolder, is_covered, picture_settings
from engine.errors import EngineError
from engine.registry import load
from journal.journal import Journal
from referee.judge.verdict import Verdict, VerdictKind
from vision.frame import Frame
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.locating.photographed import photographed_sheet
from vision.readers.learning_reader import LearningReader
from vision.readers.registry import table_reader
from vision.reading import Reading


class Cameras:
    """Gives the camera of each picture of a set, known as ``--camera`` says."""

    def __init__(self, pictures: PictureFolder, layout: TableLayout, how: str) -> None:
        self._pictures, self._layout, self._how = pictures, layout, how
        self._learned: dict[str, LearnedCameras] = {}

    def of(self, frame: Frame) -> CameraModel | LearnedCameras:
        """The camera of a picture, or what learns it."""
        if self._how == "calibrated":
            return self._pictures.camera_of(frame.source)
        if self._how == "photo":
            return photographed_sheet(frame.image, [self._layout]).camera
        name = self._pictures.camera_name_of(frame.source)
        if name not in self._learned or self._how == "each":
            self._learned[name] = LearnedCameras(self._layout, name=name)
        return self._learned[name]

    def answer(self, frame: Frame) -> dict[str, Any]:
        """What was learned of the picture's camera, once it was read; nothing if it was not learned."""
        size = (frame.image.shape[1], frame.image.shape[0])
        learned = self._learned.get(self._pictures.camera_name_of(frame.source))
        known = None if learned is None else learned.known.get(size)
        if known is None:
            return {}
        true = self._pictures.camera_of(frame.source).matrix[0, 0]
        return {
            "focal_off": float(known.camera.matrix[0, 0] / true - 1),
            "focal_sd": known.focal_sd,
            "error_px": known.error_px,
            "tilt_deg": max(one.tilt_deg for one in known.sightings),
            "is_sure": known.is_sure,
        }


TILTS_DEG = ((0, 8), (8, 15), (15, 22), (22, 30), (30, 90))
"""The ranges of tilt, in degrees, by which errors are printed."""


def print_focal_errors(lines: Sequence[dict[str, Any]]) -> None:
    """Print the error of the focal length by tilt, and of the cameras that say that they are known well."""
    groups = {f"{low} to {high} degrees": (low, high) for low, high in TILTS_DEG}
    known = [line for line in lines if "focal_off" in line]
    chosen = {name: [one for one in known if low <= one["tilt_deg"] < high] for name, (low, high) in groups.items()}
    for name, some in {**chosen, "known well": [one for one in known if one["is_sure"]]}.items():
        off = np.abs([one["focal_off"] for one in some])
        if len(off):
            said = np.median([one["focal_sd"] for one in some])
            click.echo(
                f"{name}: {len(off)} of {len(lines)} pictures, focal length off by {np.median(off):.2%} (median), "
                f"{np.quantile(off, 0.9):.2%} (nine in ten), {off.max():.2%} (most); said to be {said:.2%}"
            )


def read_pictures(
    frames: list[Frame], pictures: PictureFolder, layout: TableLayout, cameras: Cameras
) -> Iterator[dict[str, Any]]:
    """Read every picture by itself, each with a new reader."""
    for frame in frames:
        reader = table_reader(cameras.of(frame), layout, pictures.looks_of(frame.source))
        start = time.perf_counter()
        reading = reader.read(frame)
        spent_ms = (time.perf_counter() - start) * 1000
        yield {
            "image": frame.source,
            "ms": round(spent_ms, 1),
            **pictures.game.answer(reading),
            "hindrances": [hindrance.message for hindrance in reading.hindrances],
            **cameras.answer(frame),
        }


def event_of(verdicts: list[Verdict], shown: Verdict | None, reading: Reading | None) -> dict[str, Any]:
    """Convert a frame's verdict to the format of the truth files."""
    verdict = verdicts[-1] if verdicts else shown
    if verdict is None:
        return {"event": "nothing"}
    answer: dict[str, Any] = {"event": verdict.kind.value, "sentence": verdict.sentence}
    if verdict.kind is VerdictKind.CANNOT_SEE and reading is not None and is_covered(reading):
        answer["event"] = "hand"
    elif verdict.kind is VerdictKind.SET_UP:
        answer["event"] = "setup"
    elif verdict.kind is VerdictKind.ACCEPTED:
        answer["event"] = "turn"
    return answer


def referee_game(
    frames: list[Frame], pictures: PictureFolder, layout: TableLayout, cameras: Cameras
) -> Iterator[dict[str, Any]]:
    """Referee the frames in order; each shows a table at rest at the end of a turn."""
    game = load(layout.game)
    camera = cameras.of(frames[0])
    looks = pictures.looks_of(frames[0].source)
    usual = game.table.appearance(game.rules.new())
    reader = LearningReader(camera, layout, usual) if looks is None else table_reader(camera, layout, looks)
    with (
        Journal.in_memory(wall_clock=lambda: datetime.now(UTC)) as journal,
        open_session(game, reader, journal, picture_settings(layout.game)) as service,
    ):
        for frame in frames:
            before = service.belief
            start = time.perf_counter()
            verdicts = service.step(frame)
            spent_ms = (time.perf_counter() - start) * 1000
            answer = {"image": frame.source, "ms": round(spent_ms, 1)}
            answer |= event_of(verdicts, service.shown, service.reading)
            if answer["event"] == "turn":
                answer |= _turn_of(game, before, verdicts[-1].turns)
            yield answer | cameras.answer(frame)


def _turn_of(game: Any, before: tuple[Any, ...], texts: tuple[str, ...]) -> dict[str, Any]:
    """Give player, start, top and end of the last of the accepted turns."""
    for state in before:
        try:
            for text in texts:
                played = game.notation.parse_turn(state, text)
                state = game.rules.apply(state, played)
        except EngineError:
            continue  # the starting player was open, and in this state it is the other one
        return {"player": played.player, "from": played.start, "top": played.top, "end": played.end or "off"}
    return {}


@click.command()
@click.argument("set_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--calibration", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--markers",
    type=click.Choice(["layout", "none"]),
    default="layout",
    show_default=True,
    help="How the table is located.",
)
@click.option("--effect", type=click.Choice(list(EFFECTS)), metavar="NAME", help="Another camera, light or hindrance.")
@click.option(
    "--camera",
    type=click.Choice(["calibrated", "learned", "each", "photo"]),
    default="calibrated",
    show_default=True,
    help="How the lens is known.",
)
def main(set_dir: Path, calibration: Path, out: Path, markers: str, effect: str | None, camera: str) -> None:
    """Read or referee the pictures of SET_DIR, and write a line of JSON for each."""
    pictures = PictureFolder(set_dir, calibration, effect, learns_cameras=camera in {"learned", "each"})
    layout = pictures.layout.without_markers() if markers == "none" else pictures.layout
    frames = [
        Frame(pictures.image(path), float(number), number, path.name) for number, path in enumerate(pictures.pictures)
    ]
    taught = pictures.game.learn is None or any(set_dir.glob("enrol*.jpg"))
    is_game = not taught or "game" in set_dir.name
    answers = (referee_game if is_game else read_pictures)(frames, pictures, layout, Cameras(pictures, layout, camera))
    lines = []
    with out.open("w", encoding="utf-8") as file:
        for line in track(answers, description="Looking", total=len(frames), console=PROGRESS):
            lines.append(line)
            file.write(json.dumps(line) + "\n")
    print_focal_errors(lines)


if __name__ == "__main__":
    main()
