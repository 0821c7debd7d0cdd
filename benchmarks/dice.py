"""How well dice are read on photographs with known truth, and how fast a tray of six is read.

Run: python benchmarks/dice.py PHOTOS                      the sixty photographs that were never trained on
     python benchmarks/dice.py PHOTOS --every --worst 20   all of them, as for photographs from elsewhere
     python benchmarks/dice.py PHOTOS --scale 0.5 --scale 3   the same photographs, half as wide and three times as wide
     python benchmarks/dice.py --grounds 40                40 rendered patterned grounds without a die
     python benchmarks/dice.py --speed                     a tray of six dice beside OpenCV's ArUco, in one run
     python benchmarks/dice.py --stress 50 --seed 1        50 rendered trays under each hardship
     python benchmarks/dice.py --leaning 20                20 rendered trays for each lean of 0 to 30 degrees

PHOTOS is a folder with ``truth.json``: file name to dice, each with ``value`` and ``box`` (left, top, right, bottom).
A die is found if the intersection over union of a detected box with its own is at least 0.5, and right if the value
agrees. Dice whose edges are shorter than ``least_edge_px`` count neither way. A photograph is silent if it lacks a die,
or shows one too many, and nothing in it is in doubt.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import hashlib
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import click
import cv2
import numpy as np
from rich.progress import track

from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.dice_stress import (
    HARDSHIPS,
    ReadDie,
    calibration_error,
    leaning_picture,
    read_stress,
    stress_picture,
)
from benchmarks.scene.dice_variety import COCKED, NO_DICE, DicePicture, TrueDie, dice_picture, tray_of_six
from vision.errors import FrameError
from vision.frame import Image
from vision.images import load_image
from vision.readers.dice.finding import Networks, shipped
from vision.readers.dice.photographs import SURE_FROM, DieInPicture, least_edge_px, read_photograph
from vision.readers.dice.reader import DiceReader
from vision.readers.protocols import SurfaceView

HELD_OUT = 60
"""How many photographs are never trained on, at least."""
HELD_OUT_SHARE = 0.25
"""The same as a share, for larger folders."""
LEAST_OVERLAP = 0.5
"""Intersection over union."""

CERTAIN = 0.99

BOX_PER_SIDE = 1.45
"""Side of a truth box, as a multiple of the die's edge: it encloses the die however it is turned."""

SLANTED = 0.3
"""Exponent of a box's aspect ratio in the edge's estimate. Set so that at 2 the box is 1.18 edges long."""

GROUNDS_SEED = 1 << 22
"""Grounds that were not trained on."""
GROUND_PX = 640

ROUNDS = 40

LEANS_DEG = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0)
FLAT_TRAYS = 4
"""Factor of the number of trays with flat dice, as few of them are said to lean."""


@dataclass(frozen=True)
class PhotographedDie:
    """A die in a photograph: its value as text, and its box (left, top, right, bottom) in pixels."""

    value: str
    box: tuple[float, float, float, float]


def load_truth(folder: Path) -> dict[str, list[PhotographedDie]]:
    """Read ``truth.json`` of a folder: the dice by file name."""
    given: Mapping[str, list[Mapping[str, object]]] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return {
        name: [PhotographedDie(str(die["value"]), tuple(die["box"])) for die in dice]  # type: ignore[arg-type]
        for name, dice in given.items()
    }


def held_out(names: Iterable[str]) -> frozenset[str]:
    """The names that are kept aside: the first by the SHA-256 of the name, HELD_OUT or HELD_OUT_SHARE of them.

    Of numbered photographs, the SHA-256 is that of the tens, since neighbours often show the same throw.
    """
    every = sorted(names)
    count = max(HELD_OUT, round(HELD_OUT_SHARE * len(every)))
    return frozenset(sorted(every, key=lambda name: hashlib.sha256(_throw_of(name).encode()).hexdigest())[:count])


def _throw_of(name: str) -> str:
    stem = Path(name).stem
    return stem[:-1] if stem.isdigit() else name


def trained_on(folder: Path) -> list[DicePicture]:
    """The photographs of a folder that may be trained on; raises FrameError where one can't be read."""
    truth = load_truth(folder)
    kept = held_out(truth)
    pictures = []
    for name in sorted(set(truth) - kept):
        image = cv2.imread(str(folder / name))
        if image is None:
            raise FrameError(f"can't read {folder / name}; expected a photograph")
        dice = []
        for die in truth[name]:
            left, top, right, bottom = die.box
            box_px = right - left, bottom - top
            dice.append(TrueDie((left + right) / 2, (top + bottom) / 2, edge_px(box_px), die.value, box_px=box_px))
        pictures.append(DicePicture(np.asarray(image, dtype=np.uint8), tuple(dice)))
    return pictures


def edge_px(box_px: tuple[float, float]) -> float:
    """The estimated edge of a die in a labelled box: a flat box is the upper side alone, seen at a slant."""
    longer, shorter = max(box_px), min(box_px)
    return float(longer / BOX_PER_SIDE * (longer / shorter) ** SLANTED)


@dataclass(frozen=True)
class Score:
    """Counts in a photograph: dice found, read rightly, invented and present; ``confused``: (true, read) values.

    ``in_doubt`` counts dice read without a value or below SURE_FROM, ``sure`` wrong and invented ones from CERTAIN on.
    """

    name: str
    found: int
    right: int
    invented: int
    dice: int
    confused: tuple[tuple[str, str], ...]
    in_doubt: int
    sure: int

    @property
    def whole(self) -> bool:
        """Whether everything is right."""
        return self.right == self.dice and not self.invented

    @property
    def silent(self) -> bool:
        """Whether the number of dice is wrong and nothing is in doubt."""
        return (self.found < self.dice or self.invented > 0) and not self.in_doubt


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Intersection over union of two boxes."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    both = max(across, 0.0) * max(down, 0.0)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return both / (areas - both)


def score(name: str, truth: list[PhotographedDie], read: tuple[DieInPicture, ...], least_edge_px: float = 0.0) -> Score:
    """Pair detections with true dice, largest overlap first; those with shorter edges count neither way."""
    pairs = sorted(
        ((overlap(die.box, seen.box), t, r) for t, die in enumerate(truth) for r, seen in enumerate(read)), reverse=True
    )
    of_truth: dict[int, int] = {}
    for share, t, r in pairs:
        if share >= LEAST_OVERLAP and t not in of_truth and r not in of_truth.values():
            of_truth[t] = r
    owners = {r: t for t, r in of_truth.items()}
    counted = {t for t, die in enumerate(truth) if (die.box[2] - die.box[0]) / BOX_PER_SIDE >= least_edge_px}
    seen = [r for r in range(len(read)) if r not in owners or owners[r] in counted]
    pairs_of_values = [(truth[owners[r]].value, str(read[r].value)) for r in seen if r in owners]
    confused = tuple((true, said) for true, said in pairs_of_values if true != said)
    clear = [r for r in seen if read[r].value is not None and read[r].probability >= SURE_FROM]
    wrong = [r for r in clear if r not in owners or truth[owners[r]].value != str(read[r].value)]
    found, right = len(pairs_of_values), len(pairs_of_values) - len(confused)
    sure = sum(read[r].probability >= CERTAIN for r in wrong)
    return Score(name, found, right, len(seen) - found, len(counted), confused, len(seen) - len(clear), sure)


def photographs(folder: Path, every: bool, scale: float) -> Iterator[tuple[str, Image, list[PhotographedDie]]]:
    """Yield the name, picture and dice of each photograph that is kept aside, or of all, resized by a factor."""
    truth = load_truth(folder)
    for name in track(sorted(truth if every else held_out(truth)), description="Reading", console=PROGRESS):
        image = load_image(folder / name)
        if scale != 1:
            way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
            image = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=way), dtype=np.uint8)
        boxes = [np.multiply(die.box, scale).tolist() for die in truth[name]]
        yield name, image, [PhotographedDie(die.value, tuple(box)) for die, box in zip(truth[name], boxes, strict=True)]


def grounds(count: int, seed: int) -> Iterator[tuple[str, Image, list[PhotographedDie]]]:
    """Yield rendered patterned grounds without a die."""
    for number in track(range(count), description="Reading", console=PROGRESS):
        made = dice_picture(np.random.default_rng([GROUNDS_SEED, seed, number]), GROUND_PX, NO_DICE)
        yield f"ground {number}", made.image, []


def read_all(
    pictures: Iterable[tuple[str, Image, list[PhotographedDie]]], networks: Networks
) -> tuple[list[Score], float]:
    """Score pictures; also give the median time of one, in milliseconds."""
    scores, spent = [], []
    for name, image, dice in pictures:
        start = time.perf_counter()
        seen = read_photograph(image, networks, name)
        spent.append((time.perf_counter() - start) * 1000)
        scores.append(score(name, dice, seen, least_edge_px(image)))
    return scores, statistics.median(spent)


def report(scores: list[Score], spent_ms: float, worst: int) -> None:
    """Print the totals and the worst photographs."""
    dice, right = sum(one.dice for one in scores), sum(one.right for one in scores)
    found, invented = sum(one.found for one in scores), sum(one.invented for one in scores)
    whole = sum(one.whole for one in scores)
    click.echo(f"photographs  {len(scores)}, wholly right {whole} ({whole / len(scores):.1%})")
    if dice:
        shares = f"found {found} ({found / dice:.2%}), with the right value {right} ({right / dice:.2%})"
        click.echo(f"dice         {dice}, {shares}")
    silent, sure = sum(one.silent for one in scores), sum(one.sure for one in scores)
    click.echo(f"invented     {invented}")
    click.echo(f"silent       {silent} photographs; {sure} dice certain ({CERTAIN}) and wrong or invented")
    click.echo(f"time         {spent_ms:.1f} ms a photograph, the median")
    confused = Counter(pair for one in scores for pair in one.confused)
    if confused:
        click.echo("taken for    " + ", ".join(f"{a} as {b}: {n}" for (a, b), n in confused.most_common()))
    for one in sorted(scores, key=lambda each: each.right - each.dice - each.invented)[:worst]:
        if not one.whole:
            click.echo(f"  {one.name}: {one.right} of {one.dice} right, {one.found} found, {one.invented} invented")


def speed() -> None:
    """Compare the processor times of reading a tray of six dice and of ArUco's detection in the same picture."""
    cv2.setNumThreads(1)
    made = tray_of_six()
    reader = DiceReader(made.layout.surfaces[0])
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    view = SurfaceView(made.image, made.camera, made.pose, made.layout.surfaces[0])
    seen = reader.read(view, None)
    spent: dict[str, list[float]] = {"tray": [], "ArUco": []}
    for _ in range(ROUNDS):
        for name, work in (
            ("tray", lambda: reader.read(view, None)),
            ("ArUco", lambda: detector.detectMarkers(made.image)),
        ):
            start = time.process_time()
            work()
            spent[name].append((time.process_time() - start) * 1000)
    medians = {name: statistics.median(times) for name, times in spent.items()}
    width, height = made.camera.size
    click.echo(f"a tray of six dice, {width} x {height}, one thread, {len(seen.dice)} dice read")
    tray_ms, aruco_ms = medians["tray"], medians["ArUco"]
    click.echo(f"tray {tray_ms:.1f} ms, ArUco {aruco_ms:.1f} ms, ratio {tray_ms / aruco_ms:.2f}")


def stress(trays: int, seed: int, networks: Networks) -> None:
    """Read ``trays`` rendered trays under each hardship, and print the results."""
    everything: list[ReadDie] = []
    lines = []
    for name in track(HARDSHIPS, description="Reading", console=PROGRESS):
        read = [die for n in range(trays) for die in read_stress(stress_picture(name, n, seed), networks)]
        lines.append(_stress_line(name, read))
        everything += read
    click.echo("hardship        dice   found   right  invented  certain and wrong  calibration error")
    click.echo("\n".join([*lines, _stress_line("all", everything)]))


def _stress_line(name: str, read: list[ReadDie]) -> str:
    dice = [die for die in read if die.shows != "nothing"]
    found, right = sum(die.said != "" for die in dice) / len(dice), sum(die.right for die in dice) / len(dice)
    wrong = sum(die.certain_and_wrong for die in read)
    invented = len(read) - len(dice)
    return f"{name:13} {len(dice):6} {found:7.2%} {right:7.2%} {invented:9} {wrong:18} {calibration_error(read):18.2%}"


def leaning(trays: int, seed: int, networks: Networks) -> None:
    """Read ``trays`` rendered trays for each lean of LEANS_DEG, and print how many dice are said to lean."""
    click.echo("leaning by   dice   found  said to lean")
    for lean_deg in track(LEANS_DEG, description="Reading", console=PROGRESS):
        count = trays if lean_deg else trays * FLAT_TRAYS
        read = [die for n in range(count) for die in read_stress(leaning_picture(lean_deg, n, seed), networks)]
        dice = [die for die in read if die.shows != "nothing"]
        said = [die.said == COCKED for die in dice if die.said]
        click.echo(f"{lean_deg:6.0f} deg {len(dice):6} {len(said) / len(dice):7.2%} {sum(said) / len(said):13.2%}")


@click.command()
@click.argument("photos", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--every", is_flag=True, help="Read all photographs, not only those that were never trained on.")
@click.option("--scale", "scales", default=(1.0,), multiple=True, help="Resize photographs by this factor; repeatable.")
@click.option("--worst", default=10, show_default=True, help="How many wrong photographs to name.")
@click.option("--grounds", "empty", default=0, metavar="N", help="Read N rendered grounds without a die.")
@click.option("--speed", "timing", is_flag=True, help="Time a tray of six dice beside ArUco.")
@click.option("--stress", "trays", default=0, metavar="N", help="Read N rendered trays under each hardship.")
@click.option("--leaning", "leans", default=0, metavar="N", help="Read N rendered trays for each lean of dice.")
@click.option("--seed", default=1, show_default=True, help="Seed of the rendered trays.")
def main(
    photos: Path | None,
    every: bool,
    scales: tuple[float, ...],
    worst: int,
    empty: int,
    timing: bool,
    trays: int,
    leans: int,
    seed: int,
) -> None:
    """Read the dice in PHOTOS, or in rendered trays, and compare them with the truth."""
    if photos is None and not (empty or timing or trays or leans):
        raise click.UsageError("give a folder of photographs, --grounds, --speed, --stress or --leaning")
    networks = shipped()
    if trays:
        stress(trays, seed, networks)
    if leans:
        leaning(leans, seed, networks)
    if photos is not None:
        for scale in scales:
            click.echo(f"at           {scale:g} times the size")
            report(*read_all(photographs(photos, every, scale), networks), worst)
    if empty:
        report(*read_all(grounds(empty, seed), networks), worst)
    if timing:
        speed()


if __name__ == "__main__":
    main()
