"""Fits the probability that a place of a surface is empty, and writes the curves of ``vision.surface.occlusion``.

Run: uv run --group training python benchmarks/training/emptiness.py --pictures 200

Pictures are rendered by ``benchmarks/stress.py``, with pieces on printed places too, half with one hardship and half
with many. Each place where the reader sees no piece is a sample. So are some pieces that the reader is made to
overlook, however plainly they show, so that unknown kinds of pieces are not called empty. The result depends on the
options only.

Curves must be monotonic, so the fit is a logistic regression with non-negative weights (projected Newton method).
Prints the curves, and the cross-validated calibration, also by hardship.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import click
import cv2
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.parts.command_line import processes
from benchmarks.parts.stress.hardships import hardships
from benchmarks.parts.stress.scenes import case_of, picture_of
from benchmarks.scene.processing import developed
from benchmarks.stress import Task, learn, tasks
from benchmarks.training.samples import SampleArrays
from common.places import EMPTY
from vision.frame import FloatArray, Image
from vision.geometry import Pose
from vision.layout.table import default_layout
from vision.readers.protocols import LearnedLook, Sighting
from vision.readers.registry import table_reader
from vision.sampling import linear_light
from vision.surface.occlusion import CURVES, HiddenPlaces, OcclusionDetector, is_unclear, place_measures
from vision.surface.plan import SurfacePlan

MEASURES = (
    "rougher",
    "rougher where printed",
    "lines not seen",
    "lines faint",
    "dark",
    "bleached",
    "brighter",
    "darker",
    "strange",
    "off hue",
    "near glare",
    "out of sight",
    "board not clear",
)
"""The fitted features, from ``place_measures``."""

GAMES = ("deblockle", "diaballik")
"""The rendered games. The reader of stacks sees a piece everywhere, so Blockade gives no samples."""

OVERLOOKED = 8
"""Pieces in each picture that the reader is made to overlook, one at a time."""

OVERLOOKED_SHARE = 0.05
"""Assumed share of overlooked pieces."""

POSE_OFF_MM = 0.3
"""Median error of the pose, at the centre of the board and at its rim."""

EVERY_DARK = 5
"""Every fifth picture is dark, so that the model learns to be unsure of invisible places."""

KNOTS = 4
"""Most knots of a curve, besides 0."""

RIDGE = 1.0
"""Ridge penalty, as log-likelihood for a squared fall of 1."""

EDGES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.6, 5.0, 6.0, 7.0, 8.0])
"""Bins of log-odds in the report."""

CERTAIN = 0.99

CONSOLE = Console(stderr=True)
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Samples(SampleArrays):
    """Places, (n,): the number of the picture, its hardship, whether the place is bare, how much it counts, and its
    measures, (n, measures).
    """

    picture: npt.NDArray[np.int64]
    hardship: npt.NDArray[np.str_]
    bare: Flags
    weight: Floats
    measures: Floats


def a_little_off(pose: Pose, rng: np.random.Generator) -> Pose:
    """A pose with a random error like that of a located table."""
    off = rng.normal(0, POSE_OFF_MM * float(np.exp(rng.normal(0, 0.6))), 6)
    turn, _ = cv2.Rodrigues(off[:3] / 150.0)
    return Pose(pose.rotation @ turn, pose.translation + pose.rotation @ (off[3:] * [1.0, 1.0, 0.5]))


def in_the_dark(image: Image, rng: np.random.Generator) -> Image:
    """Darken and defocus a picture at random."""
    light = linear_light(image) * np.float32(np.exp(rng.uniform(np.log(0.01), np.log(0.3))))
    return developed(np.asarray(cv2.GaussianBlur(light, (0, 0), float(rng.uniform(0.3, 5.0)))))


@cache
def plan_of(game: str) -> SurfacePlan:
    """The surface plan of a game's board."""
    return SurfacePlan.of(default_layout(game).board)


def samples_of(numbered: tuple[int, Task], learned: Mapping[tuple[str, int], LearnedLook | str]) -> Samples | None:
    """The samples of one picture; ``None`` if its piece set can't be enrolled."""
    number, task = numbered
    layout = default_layout(task.game)
    known = hardships(task.seed, task.game)
    case = case_of(known[task.hardship], task.level, task.number, task.seed, task.game, layout.places)
    looks = learned[task.game, case.pieces]
    if isinstance(looks, str):
        return None
    rng = np.random.default_rng([task.seed, number])
    image = picture_of(case)
    if number % EVERY_DARK == 0:
        image = in_the_dark(image, rng)
    setting = case.scene.setting
    pose = a_little_off(setting.pose, rng)
    (stages,) = table_reader(setting.camera, layout, looks).stages(image, pose).values()
    plan = plan_of(task.game)
    detector = OcclusionDetector(setting.camera, pose, plan)
    needed = HiddenPlaces(plan.surface, detector.sampler)

    def looked(sightings: Mapping[str, Sighting]) -> dict[str, FloatArray]:
        """The features of visible places without a sighted piece."""
        pieces = {piece.solid: piece.log_odds for piece in sightings.values() if piece.solid is not None}
        view, sight = detector.examine(stages.view.image, pieces)
        solids = {at: one.solid for at, one in sightings.items() if one.log_odds > 0 and one.solid is not None}
        clear = {place: piece.is_clear for place, piece in sightings.items()}
        hidden = needed.hidden(sight.occlusions, clear, solids, view.hidden_by_pieces)
        measures = place_measures(view, plan.surface, sight)
        rows = dict(zip(plan.surface.places, np.column_stack([measures[name] for name in MEASURES]), strict=True))
        seen = {place for place, piece in sightings.items() if piece.log_odds > 0}
        return {place: one for place, one in rows.items() if place not in hidden and place not in seen}

    rows = [(case.looks[place] == EMPTY, 1.0, one) for place, one in looked(stages.sightings).items()]
    pieces = [place for place, piece in stages.sightings.items() if piece.log_odds > 0 and case.looks[place] != EMPTY]
    for index in rng.permutation(len(pieces))[:OVERLOOKED].tolist():
        others = {place: piece for place, piece in stages.sightings.items() if place != pieces[index]}
        if (one := looked(others).get(pieces[index])) is not None:
            counts = OVERLOOKED_SHARE * max(1.0, len(pieces) / OVERLOOKED)
            rows.append((False, counts, one))
    return Samples(
        np.full(len(rows), number),
        np.full(len(rows), task.hardship),
        np.array([bare for bare, _, _ in rows], dtype=np.bool_),
        np.array([weight for _, weight, _ in rows], dtype=np.float64),
        np.array([one for _, _, one in rows], dtype=np.float64).reshape(len(rows), len(MEASURES)),
    )


def drawn(pictures: int, seed: int, jobs: int) -> Samples:
    """Render pictures and collect their samples."""
    todo = [task for game in GAMES for task in tasks(pictures // len(GAMES), seed, game=game)]
    with processes(jobs) as pool:
        cases = {(task.game, task.case().pieces) for task in todo}
        needed = sorted(cases)
        taught = pool.map(_taught, [(game, pieces, seed) for game, pieces in needed])
        learned = dict(zip(needed, track(taught, "Teaching", len(needed), console=CONSOLE), strict=True))
        looked = pool.map(partial(samples_of, learned=learned), enumerate(todo), chunksize=4)
        parts = [one for one in track(looked, "Drawing pictures", len(todo), console=CONSOLE) if one is not None]
    return Samples.joined(parts)


def _taught(which: tuple[str, int, int]) -> LearnedLook | str:
    game, pieces, seed = which
    return learn(pieces, seed, game)


def knots_of(values: Floats, bare: Flags) -> Floats:
    """The knots of a feature's curve: 0, and quantiles over empty and other places in equal parts."""
    shown = [values[chosen & (values > 0.02)] for chosen in (bare, ~bare)]
    quantiles = [np.quantile(one, np.linspace(0, 1, KNOTS + 1)[1:]) for one in shown if len(one) >= 20]
    if not quantiles:
        return np.array([0.0, 1.0])
    rising = np.unique(np.round(np.quantile(np.concatenate(quantiles), np.linspace(0, 1, KNOTS + 1)), 2))
    knots = [0.0]
    for knot in rising.tolist():
        if knot - knots[-1] > 0.04 * rising[-1]:
            knots.append(knot)
    return np.array(knots)


def ramps(values: Floats, knots: Floats) -> Floats:
    """The basis of a piecewise linear curve: the share of each segment below a value, (n, segments)."""
    return np.clip((values[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)


def fitted(given: Floats, bare: Flags, weight: Floats) -> Floats:
    """Fit the constant and the non-negative falls by maximum likelihood with a ridge penalty."""
    inputs = np.column_stack([np.ones(len(given)), -given])
    ridge = np.full(inputs.shape[1], RIDGE)
    ridge[0] = 1e-6
    falls = np.zeros(inputs.shape[1])

    def cost(falls: Floats) -> float:
        odds = inputs @ falls
        return float(weight @ np.logaddexp(0, np.where(bare, -odds, odds)) + 0.5 * ridge @ falls**2)

    best = cost(falls)
    for _ in range(200):
        chance = 1 / (1 + np.exp(-inputs @ falls))
        slope = inputs.T @ (weight * (chance - bare)) + ridge * falls
        curve = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs + np.diag(ridge)
        free = (falls > 0) | (slope < 0)
        free[0] = True
        step = np.zeros_like(falls)
        step[free] = -np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        share, tried, new = 1.0, falls, best
        while share > 1e-6:
            tried = falls + share * step
            tried[1:] = np.maximum(tried[1:], 0.0)
            new = cost(tried)
            if new < best:
                break
            share /= 2
        if best - new < 1e-7 * best:
            break
        falls, best = tried, new
    return falls


def surest(odds: Floats, bare: Flags, weight: Floats) -> float:
    """The highest log-odds that the samples support: the best ratio of empty to other places among the surest.

    One of each is added (Laplace's rule), so that few places prove little.
    """
    order = np.argsort(-odds, kind="stable")
    right, wrong = (np.cumsum((weight * chosen)[order]) for chosen in (bare, ~bare))
    return float(np.log((right + 1) / (wrong + 1)).max())


def report(samples: Samples, odds: Floats) -> None:
    """Print the calibration of the stated odds."""
    chance = 1 / (1 + np.exp(-odds))
    total = samples.weight.sum()
    right = samples.weight[(odds > 0) == samples.bare].sum() / total
    bins = np.digitize(odds, EDGES)
    gaps = 0.0
    print("\nlog-odds   places   said not bare   not bare")
    for number in np.unique(bins):
        chosen = bins == number
        weight = samples.weight[chosen]
        said, true = float(weight @ (1 - chance[chosen])), float(weight @ ~samples.bare[chosen])
        gaps += abs(said - true)
        low = -np.inf if number == 0 else EDGES[number - 1]
        print(f"from {low:5.1f} {int(chosen.sum()):8d} {said:15.1f} {true:10.1f}")
    print(f"right: {right:.2%}; expected calibration error: {gaps / total:.3%}")
    print("\nhardship              places   certain   certain and wrong   log loss")
    loss = samples.weight * np.logaddexp(0, np.where(samples.bare, -odds, odds))
    certain = chance > CERTAIN
    for hardship in np.unique(samples.hardship):
        own = samples.hardship == hardship
        wrong = samples.weight[own & certain & ~samples.bare].sum()
        print(f"{hardship:18s} {int(own.sum()):9d} {certain[own].mean():9.1%} {wrong:19.2f} {loss[own].sum():10.2f}")


@click.command()
@click.option("--pictures", type=click.IntRange(8), default=200, show_default=True, help="How many pictures to draw.")
@click.option("--seed", type=click.IntRange(0), default=501, show_default=True, help="Seed of the pictures.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=CURVES, show_default=True)
def main(pictures: int, seed: int, jobs: int, out: Path) -> None:
    """Draw pictures, fit the curves, and write them to OUT."""
    samples = drawn(pictures, seed, jobs)
    knots = [knots_of(values, samples.bare) for values in samples.measures.T]
    given = np.hstack([ramps(values, own) for values, own in zip(samples.measures.T, knots, strict=True)])
    odds = np.zeros(len(samples.bare))
    odd = samples.picture % 2 == 1
    for left_out in (odd, ~odd):
        rest = samples.part(~left_out)
        constant, *falls = fitted(given[~left_out], rest.bare, rest.weight)
        odds[left_out] = constant - given[left_out] @ np.array(falls)
    most = surest(odds, samples.bare, samples.weight)
    unclear = is_unclear(dict(zip(MEASURES, samples.measures.T, strict=True)))
    # such places are indistinguishable, so all that are called empty are equally sure
    called = samples.part(unclear & (odds > 0))
    most_unclear = float(np.log((called.weight @ called.bare + 1) / (called.weight @ ~called.bare + 1)))
    least = -surest(-odds, ~samples.bare, samples.weight)
    report(samples, np.clip(odds, least, np.where(unclear, most_unclear, most)))
    constant, *falls = fitted(given, samples.bare, samples.weight)
    curves = {}
    print()
    for name, own in zip(MEASURES, knots, strict=True):
        steps, falls = falls[: len(own) - 1], falls[len(own) - 1 :]
        log_odds = np.round(-np.concatenate([[0.0], np.cumsum(steps)]), 2) + 0.0
        if log_odds.any():
            curves[name] = {"at": own.tolist(), "log_odds": log_odds.tolist()}
        print(f"{name:22s}", "  ".join(f"{at:.2f}: {cost:.1f}" for at, cost in zip(own, log_odds, strict=True)))
    odds_of = {"constant": float(constant), "most": most, "most_unclear": most_unclear, "least": least}
    said = {name: round(value, 2) for name, value in odds_of.items()}
    print(said)
    out.write_text(json.dumps({**said, "curves": curves}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
