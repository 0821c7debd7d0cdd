"""How well the reader works under hardships that it was not tuned for, one at a time and many at once.

Run: python benchmarks/stress.py --images 600 --seed 1 --out DIR [--of GAME] [--hardship NAME]...
     [--photoreal SET_DIR --calibration DIR --harder N]

Pictures are rendered from the virtual table, with unusual appearances. The reader knows the camera's lens and the
table's layout, and has learned the pieces from pictures of the same set under ordinary light. Each picture is read by
itself. With ``--photoreal`` a set of photoreal pictures of any game is read too, unchanged and N times with a hardship
applied (``parts/picture_changes.py``); its squares count like the others. With ``--images 0`` nothing else is read.
DIR gets ``stress.md`` (tables), ``squares.npz`` (every probability), two plots, and under ``failures`` the pictures
that failed. Exit code 1 when a target is missed; targets are in ``parts/stress/score.py``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import cv2
import numpy as np
from rich.progress import track

from benchmarks.parts.command_line import PROGRESS, processes
from benchmarks.parts.stress.drafts import with_pieces
from benchmarks.parts.stress.hardships import hardships
from benchmarks.parts.stress.photoreal import PhotorealSet, PhotorealTask
from benchmarks.parts.stress.report import save_squares, tables, write_report
from benchmarks.parts.stress.scenes import PLACE_PIECES, StressCase, case_of, picture_of
from benchmarks.parts.stress.score import PictureScore, missed_targets, score
from common.places import EMPTY
from engine.api import Game
from engine.registry import load
from simulator.enrolment import EnrolmentImage, SetUpImage, enrolment_images, set_up_image
from simulator.play.actions import Slack
from simulator.play.players import HANDLERS
from simulator.scene.scene import Setting
from simulator.scene.sheets import lying_sheets
from simulator.table import standard_setting
from vision.errors import EnrolmentError
from vision.frame import Frame, Image
from vision.locating.location import locate
from vision.readers.protocols import EnrolmentPicture, LearnedLook
from vision.readers.registry import reader_kind, table_reader

MOST_SAVED = 400


@dataclass(frozen=True)
class Task:
    """One picture to render: hardship, level, number and the run's seed."""

    hardship: str
    level: str
    number: int
    seed: int
    game: str = "deblockle"

    def case(self) -> StressCase:
        """Draw the picture's scene."""
        known = hardships(self.seed, self.game)
        return case_of(known[self.hardship], self.level, self.number, self.seed, self.game)


def tasks(images: int, seed: int, names: Sequence[str] = (), game: str = "deblockle") -> list[Task]:
    """Distribute ``images`` over the named hardships, all by default: half one at a time, half many at once.

    Levels alternate in a random order, so that a few pictures are a fair sample.
    """
    known = hardships(seed, game)
    single = [(name, level) for name in names or known if name != "everything" for level in known[name].levels]
    together = (
        [("everything", level) for level in known["everything"].levels] if not names or "everything" in names else []
    )
    single = [single[int(index)] for index in np.random.default_rng([seed, 51]).permutation(len(single))]
    half = images // 2 if single and together else images
    shares = [(single, half)] * bool(single) + [(together, images - half if single else images)] * bool(together)
    return [
        Task(*kinds[index % len(kinds)], index // len(kinds), seed, game)
        for kinds, count in shares
        for index in range(count)
    ]


def learn(pieces: int, seed: int, game: str = "deblockle") -> LearnedLook | str:
    """Learn a piece set as its owner would, from pictures under ordinary light; give the error's text on failure."""
    setting = with_pieces(standard_setting(game=game), pieces)
    layout = setting.layout
    if lying_sheets(layout):
        plain: LearnedLook = reader_kind(layout).plain(layout.board)
        return plain
    shown: Sequence[EnrolmentImage | SetUpImage]
    shown = enrolment_images(setting, seed) if game == "deblockle" else [_set_up(setting, seed)]
    pictures = [
        EnrolmentPicture(
            one.image,
            setting.camera,
            locate(one.image, setting.camera, layout).pose,
            one.position,
            one.name,
            layout.markers,
        )
        for one in shown
    ]
    try:
        learned: LearnedLook = reader_kind(layout).enrol(pictures, layout.board)
    except EnrolmentError as error:
        return str(error)
    return learned


def _set_up(setting: Setting, seed: int) -> SetUpImage:
    """A picture of a game's set-up."""
    game: Game[Any, Any] = load(setting.layout.game)
    start = game.rules.new()
    handler = HANDLERS[game.name](setting.layout, Slack(), np.random.default_rng([seed, 22]))
    looks = {place: look for place, look in game.table.appearance(start).items() if look != EMPTY}
    standing = handler.set_up(looks, game.notation.format_state(start))
    return set_up_image(setting, standing, seed)


def look_at(task: Task, learned: Mapping[int, LearnedLook | str], failures: Path | None = None) -> PictureScore:
    """Render, read and score a picture; a failing one is saved into ``failures``."""
    case = task.case()
    image = picture_of(case)
    looks = learned[case.pieces]
    thing = bool(case.scene.things)
    name = (case.name, case.hardship, case.level, case.number)
    if isinstance(looks, str):
        return score(name, None, case.looks, covered=case.covered, hand=case.hand, thing=thing, refused=looks)
    reader = table_reader(case.scene.setting.camera, case.scene.setting.layout, looks)
    reading = reader.read(Frame(image, 0.0, 0, case.name))
    result = score(name, reading, case.looks, covered=case.covered, hand=case.hand, thing=thing)
    if failures is not None and not _good(result):
        _save(failures, image, result, [hindrance.message for hindrance in reading.hindrances])
    return result


def _good(result: PictureScore) -> bool:
    flaws = (result.hand_missed, result.hand_called_a_thing, result.hand_invented, result.thing_called_a_hand)
    return result.wholly_right and not any(flaws) and not any(s.certain and not s.right for s in result.squares)


def _save(failures: Path, image: Image, result: PictureScore, said: Sequence[str]) -> None:
    if len(list(failures.glob("*.png"))) >= MOST_SAVED:
        return
    cv2.imwrite(str(failures / f"{result.name}.png"), image)
    lines = [f"located: {result.located}, hand: {result.hand}, thing: {result.thing}", *said]
    for square in result.squares:
        covered = square.place in result.covered
        if (
            (not square.right and not covered)
            or (square.hidden_by and not covered)
            or (square.certain and not square.right)
        ):
            lines.append(
                f"{square.place}: is {square.truth}; said {square.said} at {square.probability:.4f}"
                f"{f', hidden by {square.hidden_by}' if square.hidden_by else ''}{', under a hand' if covered else ''}"
            )
    (failures / f"{result.name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def look_at_photoreal(task: PhotorealTask, pictures: PhotorealSet, failures: Path | None = None) -> PictureScore:
    """Read and score a photoreal picture; a failing one is saved into ``failures``."""
    result, picture, said = pictures.look_at(task)
    if failures is not None and not _good(result):
        _save(failures, picture.image, result, said)
    return result


def run_photoreal(
    pictures: PhotorealSet, todo: Sequence[PhotorealTask], jobs: int, failures: Path | None = None
) -> Iterator[PictureScore]:
    """Read pictures of a photoreal set in ``jobs`` processes."""
    with processes(jobs) as pool:
        yield from pool.map(partial(look_at_photoreal, pictures=pictures, failures=failures), todo, chunksize=4)


def run(todo: Sequence[Task], jobs: int, failures: Path | None = None) -> Iterator[PictureScore]:
    """Learn the needed piece sets, then read every picture, in ``jobs`` processes."""
    with processes(jobs) as pool:
        needed = sorted(set(pool.map(_pieces_of, todo, chunksize=16)))
        seed = todo[0].seed if todo else 0
        game = todo[0].game if todo else "deblockle"
        learned = dict(zip(needed, pool.map(partial(learn, seed=seed, game=game), needed), strict=True))
        yield from pool.map(partial(look_at, learned=learned, failures=failures), todo, chunksize=4)


def _pieces_of(task: Task) -> int:
    return task.case().pieces


@click.command()
@click.option("--images", default=600, show_default=True, type=click.IntRange(0), help="How many pictures in all.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of the pictures.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where the report goes.")
@click.option("--hardship", "names", multiple=True, help="Only this hardship; repeatable.")
@click.option(
    "--of",
    "game",
    type=click.Choice(list(PLACE_PIECES)),
    default="deblockle",
    show_default=True,
    help="The game of the pieces.",
)
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option("--photoreal", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A set with truth.")
@click.option(
    "--calibration", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Its ChArUco pictures."
)
@click.option(
    "--harder", default=0, show_default=True, type=click.IntRange(0), help="Photoreal pictures with a hardship."
)
def main(
    images: int,
    seed: int,
    out: Path,
    names: tuple[str, ...],
    game: str,
    jobs: int,
    photoreal: Path | None,
    calibration: Path | None,
    harder: int,
) -> None:
    """Read pictures under many hardships and report."""
    known = hardships(0, game)
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise click.BadParameter(f"no hardship {', '.join(unknown)}; there are {', '.join(known)}")
    if (photoreal is None) != (calibration is None):
        raise click.UsageError("--photoreal and --calibration go together")
    failures = out / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    todo = tasks(images, seed, names, game=game)
    order = [(name, level) for name, hardship in known.items() for level in hardship.levels]
    pictures = sorted(
        track(run(todo, jobs, failures), "Looking", len(todo), console=PROGRESS),
        key=lambda picture: order.index((picture.hardship, picture.level)),
    )
    others: list[PictureScore] = []
    if photoreal is not None and calibration is not None:
        photoreal_set = PhotorealSet(photoreal, calibration)
        photoreal_tasks = photoreal_set.tasks(harder, seed, names)
        looked = run_photoreal(photoreal_set, photoreal_tasks, jobs, failures)
        others = list(track(looked, "Looking at photoreal pictures", len(photoreal_tasks), console=PROGRESS))
    click.echo(tables(pictures))
    if others:
        click.echo(tables(others))
    save_squares(pictures, out / "squares.npz")
    missing = missed_targets([*pictures, *others])
    write_report(out, pictures, others, missing)
    for line in missing:
        click.echo(f"NOT MET: {line}")
    if missing:
        sys.exit(1)
    click.echo("Every target is met.")


if __name__ == "__main__":
    main()
