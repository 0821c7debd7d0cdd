"""Runs the reader or the whole service on a set of pictures with known truth, which it never opens.

Run: python benchmarks/photoreal.py SET_DIR --calibration DIR --out FILE.jsonl [--markers none] [--effect warm]

SET_DIR holds ``layout.json``, ``index.json`` (file name to camera), pictures ``000.jpg``, ``001.jpg``, ... and, for
enrolment, ``enrol*.jpg`` with ``enrol*.json``; DIR has a folder of ChArUco pictures for each camera and, in
``layout.json``, the board. Nothing else is read. A set without enrolment pictures is refereed as consecutive frames of
one game that begin with its set-up; any other is read picture by picture. Functions for each game are in
``benchmarks/parts/picture_sets.py``. With ``--markers none`` boards are located by their lines; the first player's side
is the one nearest to each picture's lower edge.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click
from rich.progress import track

from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.picture_changes import EFFECTS
from benchmarks.parts.picture_sets import PictureFolder, is_covered, picture_settings
from engine.errors import EngineError
from engine.registry import load
from referee.journal.journal import Journal
from referee.judge.verdict import Verdict, VerdictKind
from referee.runtime.builder import open_session
from vision.frame import Frame
from vision.layout.table import TableLayout
from vision.locating.photographed import photographed_sheet
from vision.readers.learning_reader import LearningReader
from vision.readers.registry import table_reader
from vision.reading import Reading


def read_pictures(
    frames: list[Frame], pictures: PictureFolder, layout: TableLayout, *, uncalibrated: bool = False
) -> Iterator[dict[str, Any]]:
    """Read every picture by itself, each with a new reader."""
    for frame in frames:
        camera = photographed_sheet(frame.image, [layout]).camera if uncalibrated else pictures.camera_of(frame.source)
        reader = table_reader(camera, layout, pictures.looks_of(frame.source))
        start = time.perf_counter()
        reading = reader.read(frame)
        spent_ms = (time.perf_counter() - start) * 1000
        yield {
            "image": frame.source,
            "ms": round(spent_ms, 1),
            **pictures.game.answer(reading),
            "hindrances": [hindrance.message for hindrance in reading.hindrances],
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


def referee_game(frames: list[Frame], pictures: PictureFolder, layout: TableLayout) -> Iterator[dict[str, Any]]:
    """Referee the frames in order; each shows a table at rest at the end of a turn."""
    game = load(layout.game)
    camera = pictures.camera_of(frames[0].source)
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
            yield answer


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
@click.option("--uncalibrated", is_flag=True, help="Sheets: estimate each picture's camera, as for a phone's photo.")
def main(set_dir: Path, calibration: Path, out: Path, markers: str, effect: str | None, uncalibrated: bool) -> None:
    """Read or referee the pictures of SET_DIR, and write a line of JSON for each."""
    pictures = PictureFolder(set_dir, calibration, effect)
    layout = pictures.layout.without_markers() if markers == "none" else pictures.layout
    frames = [
        Frame(pictures.image(path), float(number), number, path.name) for number, path in enumerate(pictures.pictures)
    ]
    taught = pictures.game.learn is None or any(set_dir.glob("enrol*.jpg"))
    is_game = not taught or "game" in set_dir.name
    lines = (
        referee_game(frames, pictures, layout)
        if is_game
        else read_pictures(frames, pictures, layout, uncalibrated=uncalibrated)
    )
    with out.open("w", encoding="utf-8") as file:
        for line in track(lines, description="Looking", total=len(frames), console=PROGRESS):
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
