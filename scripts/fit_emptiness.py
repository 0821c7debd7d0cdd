"""Fits how bare each place of a surface looks, and writes the curves of ``vision.surface.emptiness``.

Run: uv run --group training python scripts/fit_emptiness.py --pictures 200

All pictures are virtual: those of ``benchmarks/stress.py``, with pieces on printed places, too, half with one hardship
and half with many. Each place on which the reader sees no piece is a sample, and so is each piece that it is made to
overlook: a small share of all pieces counts as overlooked however plainly it shows, so that pieces which no reader was
taught are called pieces, too. What comes out depends on the options alone.

A curve may only fall, so the fit is a logistic regression with weights of one sign (Newton's method, projected). Prints
the curves, and how often the stated odds came true on pictures that were left out of the fit, by hardship as well.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path

import click
import cv2
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.parts.command_line import processes
from benchmarks.parts.stress.hardships import hardships
from benchmarks.parts.stress.photoreal import developed
from benchmarks.parts.stress.scenes import case_of
from benchmarks.stress import Task, learn, picture_of, tasks
from common.places import EMPTY
from vision.frame import FloatArray, Image
from vision.geometry import Pose
from vision.layout.table import default_layout
from vision.readers.protocols import Appearance, Sighting
from vision.readers.registry import table_reader
from vision.sampling import linear_light
from vision.surface.emptiness import CURVES, is_unclear, place_measures
from vision.surface.hidden import HiddenPlaces
from vision.surface.occlusion import OcclusionDetector
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
"""What is fitted, of what ``place_measures`` gives."""

GAMES = ("deblockle", "diaballik")
"""Whose boards and pieces are drawn. The reader of stacks sees something everywhere, so it gives no samples."""

OVERLOOKED = 8
"""Pieces of each picture that the reader is made to overlook, one at a time."""

OVERLOOKED_SHARE = 0.05
"""The share of pieces that count as overlooked however plainly they show."""

POSE_OFF_MM = 0.3
"""How far off the pose is, at the middle of the board and at its rim: median."""

EVERY_DARK = 5
"""Every fifth picture is taken in the dark, so that the model learns to be unsure of what is invisible."""

KNOTS = 4
"""Most values at which a curve may bend, beside 0."""

RIDGE = 1.0
"""How strongly the falls of the curves are drawn to 0, as log-likelihood for a squared fall of 1."""

EDGES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.6, 5.0, 6.0, 7.0, 8.0])
"""Log-odds between which the report counts."""

CERTAIN = 0.99

CONSOLE = Console(stderr=True)
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Samples:
    """Places, (n,): the number of the picture, its hardship, whether the place is bare, how much it counts, and its
    measures, (n, measures).
    """

    picture: npt.NDArray[np.int64]
    hardship: npt.NDArray[np.str_]
    bare: Flags
    weight: Floats
    measures: Floats

    @classmethod
    def joined(cls, parts: Sequence[Samples]) -> Samples:
        """All samples of several."""
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def where(self, chosen: Flags) -> Samples:
        """Some of them."""
        return Samples(*(getattr(self, one.name)[chosen] for one in fields(self)))


def a_little_off(pose: Pose, rng: np.random.Generator) -> Pose:
    """A pose as it is found in a picture."""
    off = rng.normal(0, POSE_OFF_MM * float(np.exp(rng.normal(0, 0.6))), 6)
    turn, _ = cv2.Rodrigues(off[:3] / 150.0)
    return Pose(pose.rotation @ turn, pose.translation + pose.rotation @ (off[3:] * [1.0, 1.0, 0.5]))


def in_the_dark(image: Image, rng: np.random.Generator) -> Image:
    """The same picture in far too little light, of a camera that is out of focus."""
    light = linear_light(image) * np.float32(np.exp(rng.uniform(np.log(0.01), np.log(0.3))))
    return developed(np.asarray(cv2.GaussianBlur(light, (0, 0), float(rng.uniform(0.3, 5.0)))))


@cache
def plan_of(game: str) -> SurfacePlan:
    """What the layout of a game's board says about views of it."""
    return SurfacePlan.of(default_layout(game).board)


def samples_of(numbered: tuple[int, Task], learned: Mapping[tuple[str, int], Appearance | str]) -> Samples | None:
    """The samples of one picture; ``None`` where its pieces can't be taught."""
    number, task = numbered
    layout = default_layout(task.game)
    known = hardships(task.seed * 1000, task.piece_sets, task.game)
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
        """The measures of the places on which no piece is seen and that nothing else hides."""
        solids = [piece.solid for piece in sightings.values() if piece.log_odds > 0 and piece.solid is not None]
        view = detector.view(stages.view.image, solids)
        sight = detector.detect(view)
        hidden = needed.hidden(sight.occlusions, {place: piece.is_clear for place, piece in sightings.items()})
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
    """The samples of a number of pictures."""
    todo = [task for game in GAMES for task in tasks(pictures // len(GAMES), seed, game=game)]
    with processes(jobs) as pool:
        cases = {(task.game, task.case().pieces) for task in todo}
        needed = sorted(cases)
        taught = pool.map(_taught, [(game, pieces, seed) for game, pieces in needed])
        learned = dict(zip(needed, track(taught, "Teaching", len(needed), console=CONSOLE), strict=True))
        looked = pool.map(partial(samples_of, learned=learned), enumerate(todo), chunksize=4)
        parts = [one for one in track(looked, "Drawing pictures", len(todo), console=CONSOLE) if one is not None]
    return Samples.joined(parts)


def _taught(which: tuple[str, int, int]) -> Appearance | str:
    game, pieces, seed = which
    return learn(pieces, seed, game)


def knots_of(values: Floats, bare: Flags) -> Floats:
    """Where a measure's curve may bend: 0 and quantiles of what bare places and others show, as many of each."""
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
    """How much of each piece of a curve a value has passed, (n, pieces), from 0 to 1."""
    return np.clip((values[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)


def fitted(given: Floats, bare: Flags, weight: Floats) -> Floats:
    """The constant and the falls, none below 0, that make what is seen likeliest, slightly drawn to 0."""
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
    """The highest log-odds that are borne out: of the places called surest, the best share of bare ones to others.

    One more of each is counted than there are (Laplace's rule), so that few places prove little.
    """
    order = np.argsort(-odds, kind="stable")
    right, wrong = (np.cumsum((weight * chosen)[order]) for chosen in (bare, ~bare))
    return float(np.log((right + 1) / (wrong + 1)).max())


def report(samples: Samples, odds: Floats) -> None:
    """Print how often the stated odds came true."""
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
@click.option("--seed", type=click.IntRange(0), default=501, show_default=True, help="Draws every picture.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--samples",
    "kept",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keeps what was drawn; where the file is there, nothing is drawn.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=CURVES, show_default=True)
def main(pictures: int, seed: int, jobs: int, kept: Path | None, out: Path) -> None:
    """Draw pictures, fit the curves, and write them to OUT."""
    if kept is not None and kept.exists():
        with np.load(kept) as file:
            chosen = [file["names"].tolist().index(name) for name in MEASURES]
            samples = Samples(
                file["picture"], file["hardship"], file["bare"], file["weight"], file["measures"][:, chosen]
            )
    else:
        samples = drawn(pictures, seed, jobs)
        if kept is not None:
            np.savez(
                kept, names=np.array(MEASURES), **{one.name: getattr(samples, one.name) for one in fields(samples)}
            )
    knots = [knots_of(values, samples.bare) for values in samples.measures.T]
    given = np.hstack([ramps(values, own) for values, own in zip(samples.measures.T, knots, strict=True)])
    odds = np.zeros(len(samples.bare))
    odd = samples.picture % 2 == 1
    for left_out in (odd, ~odd):
        rest = samples.where(~left_out)
        constant, *falls = fitted(given[~left_out], rest.bare, rest.weight)
        odds[left_out] = constant - given[left_out] @ np.array(falls)
    most = surest(odds, samples.bare, samples.weight)
    unclear = is_unclear(dict(zip(MEASURES, samples.measures.T, strict=True)))
    # nothing tells such places apart, so that all that are called bare are equally sure
    called = samples.where(unclear & (odds > 0))
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
