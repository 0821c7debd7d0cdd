"""How often the judge asks which turn of Blockade was played, with and without earlier pictures of the stacks.

It also counts misread tops, and for how many stacks the pictures tell rightly whether they were touched, with mean and
standard deviation of the log difference of two pictures with the same top; how often a number of pieces is right, by
the probability that one picture gives it; and how strongly the stacks contradict the turn that was played, and others
that would look the same if one top were misread.

Run: python benchmarks/touched/stacks.py [--games N] [--turns N] [--seed S] [--size 960x540] [--tilt DEG]

Random turns are played on virtual tables that differ in camera, light and surface, without hands. Each position is
rendered once and read by a new reader. Exit code 1 when, with earlier pictures, a wrong turn is accepted or a legal one
is called illegal.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from random import Random
from statistics import mean, stdev
from typing import Any

import click
import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.faults.disturbances import draw_pose
from benchmarks.faults.table import faulty_setting
from benchmarks.parts.command_line import figures, picture_size
from benchmarks.parts.soak.game import looks_of_pieces
from engine.registry import load
from engine.showing import turns_to_draw_from
from engine.values import Roll
from referee.judge.belief import Belief, override_belief
from referee.judge.evidence.earlier_pictures import compare_with_earlier_pictures
from referee.judge.evidence.turns import stack_doubts
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.pooled_reading import PooledReading, pool
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from simulator.play.actions import Slack
from simulator.play.blockade import StackHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene
from vision.frame import Frame
from vision.readers.registry import table_reader
from vision.reading import Reading

_MOST_PIPS = 8
"""Higher rolls have hundreds of thousands of outcomes, and drawing one takes long."""
_TRIES = 50
_PROBABILITY_STEPS = (0.0, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)
_DOUBTS = (2.0, 4.0, 6.0, 8.0)
_MOST_ALIKE, _MOST_COMPARED = 12, 1500
"""At most so many turns like the one that was played, and so many legal ones among which they are looked for."""
_LEAST_DIFFERENCE = 1e-3
"""Floor of the difference, as a multiple of the usual one, before its logarithm is taken."""
Step = tuple[Any, Any, Any, list[Reading]]
"""The state with its roll, the turn, the state after that, and readings of the latter."""


def played(game: Any, seed: int, turns: int, size: tuple[int, int], tilt_deg: float | None = None) -> Iterator[Step]:
    """Play random turns of one game; the first step has the same state twice, and no turn."""
    setting, rng = faulty_setting(seed, size, game.name), Random(seed)
    if tilt_deg is not None:
        pose = draw_pose(setting.camera, setting.layout, np.random.default_rng(seed), (tilt_deg, tilt_deg))
        setting = replace(setting, pose=pose)
    handler = StackHandler(setting.layout, Slack(), np.random.default_rng(seed))
    state = game.rules.new({"starts": "warm"})
    standing = handler.set_up(game.table.appearance(state), game.notation.format_state(state))
    renderer = Renderer(seed)

    def readings(number: int) -> list[Reading]:
        image = renderer.render(Scene(setting, tuple(standing.values())), number)
        reader = table_reader(setting.camera, setting.layout, looks_of_pieces(size, game.name))
        return [reader.read(Frame(image, float(number), number))]

    yield state, None, state, readings(0)
    for number in range(1, turns + 1):
        pips = [0, _MOST_PIPS + 1]
        while sum(pips) > _MOST_PIPS:
            pips = [rng.randint(1, 6), rng.randint(1, 6)]
        rolled = game.dice.rolled(state, Roll(tuple(map(str, pips))))
        every = turns_to_draw_from(game, rolled)
        drawn = (every[rng.randrange(len(every))] for _ in range(_TRIES))
        turn = next((one for one in drawn if handler.shows(standing, one)), None)
        if turn is None:
            return
        standing = standing.after_all(handler.carries_of(standing, turn))
        state = game.rules.apply(rolled, turn)
        yield rolled, turn, state, readings(number)
        if state.to_move is None:
            return


def outcome(
    context: JudgeContext[Any, Any], belief: Belief[Any, Any], after: Any, readings: list[Reading]
) -> tuple[str, Belief[Any, Any]]:
    """The judge's verdict on a declared turn, and its belief after a person's answer."""
    believed, ruling = judge(context, belief, readings, Trigger.DECLARED)
    if not ruling.steps:
        return str(ruling.verdicts[0].kind.value), answered(context, believed, after, ruling.verdicts[0].places)
    found = ruling.steps[-1].states[0]
    if found.stacks == after.stacks:
        return "right", believed
    return "wrong", answered(context, believed, after, ())


def touches(
    context: JudgeContext[Any, Any], belief: Belief[Any, Any], after: Any, readings: list[Reading]
) -> Iterator[tuple[str, str, float | None]]:
    """For each stack: whether it was touched, what its pictures say with certainty, and the logarithm of their
    difference, as a multiple of the usual one, if the top looks the same.
    """
    game, side = context.game, context.settings.side
    seen = pool(readings, game.places, game.looks, context.settings.probability_floor)
    judged, known = (
        compare_with_earlier_pictures(game, seen, belief.observations.pieces).places,
        belief.observations.pieces,
    )
    for place, before, now in zip(game.places, belief.states[0].stacks, after.stacks, strict=True):
        one = judged.get(place)
        if one is None or one.touched is None or one.picture is None:
            continue
        said = "touched" if one.touched > side else "untouched" if one.touched < -side else "unsure"
        apart = math.log(max(known[place].picture.difference(one.picture), _LEAST_DIFFERENCE))
        yield "touched" if before != now else "untouched", said, apart if before[-1] == now[-1] else None


def numbers_of_pieces(
    context: JudgeContext[Any, Any], after: Any, readings: list[Reading]
) -> Iterator[tuple[float, bool]]:
    """For each possible number of pieces of each stack: its probability by one picture, and whether it is right."""
    game: Any = context.game
    seen = pool(readings, game.places, game.looks, context.settings.probability_floor)
    true = game.heights(after)
    for place, one in seen.places.items():
        for pieces, logarithm in one.heights.items():
            yield math.exp(logarithm), pieces == true[place]


def doubts(
    context: JudgeContext[Any, Any], belief: Belief[Any, Any], turn: Any, readings: list[Reading], rng: Random
) -> Iterator[tuple[str, float]]:
    """By how much the stacks contradict the turn that was played, and others whose result differs in one top."""
    game: Any = context.game
    pooled = pool(readings, game.places, game.looks, context.settings.probability_floor)
    seen, (state,) = compare_with_earlier_pictures(game, pooled, belief.observations.pieces), belief.states
    yield "turn that was played", math.fsum(stack_doubts(game, state, (turn,), seen).values())
    others = [one for one in turns_to_draw_from(game, state) if sorted(one.places) != sorted(turn.places)]
    drawn = rng.sample(others, min(_MOST_COMPARED, len(others)))
    for other in islice((one for one in drawn if _tops_apart(game, state, one, seen) == 1), _MOST_ALIKE):
        yield "other turn, one top apart", math.fsum(stack_doubts(game, state, (other,), seen).values())


def _tops_apart(game: Any, state: Any, turn: Any, seen: PooledReading) -> int:
    looks = game.table.appearance(game.rules.apply(state, turn))
    return sum(one.best != looks[place] for place, one in seen.places.items())


def misread_tops(context: JudgeContext[Any, Any], after: Any, readings: list[Reading]) -> Iterator[bool]:
    """For each stack: whether another look than its top's is the most likely in one picture."""
    game = context.game
    true = game.table.appearance(after)
    seen = pool(readings, game.places, game.looks, context.settings.probability_floor)
    for place, one in seen.places.items():
        yield one.best != true[place]


def answered(
    context: JudgeContext[Any, Any], belief: Belief[Any, Any], state: Any, asked: Collection[str]
) -> Belief[Any, Any]:
    """The belief after a person has named the true position, for the places asked about and all others."""
    others = [place for place in context.game.places if place not in asked]
    return override_belief(context, belief, (state,), list(asked), unchanged=others)


@click.command(help=__doc__)
@click.option("--games", default=10, show_default=True, type=click.IntRange(1), help="How many games.")
@click.option("--turns", default=12, show_default=True, type=click.IntRange(1), help="Turns in each game.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Games are seed, seed + 1, ...")
@click.option("--size", default="960x540", show_default=True, help="The camera's picture.")
@click.option("--tilt", type=click.FloatRange(0, 45), help="Every camera's tilt in degrees; drawn by default.")
def main(games: int, turns: int, seed: int, size: str, tilt: float | None) -> None:
    """Play, judge, report."""
    cv2.setNumThreads(1)
    game: Any = load("blockade")
    console = Console()
    stack_results: list[tuple[str, str, float | None]] = []
    numbers: list[tuple[float, bool]] = []
    misread: list[bool] = []
    doubted: list[tuple[str, float]] = []
    counted = {"stacks seen before": Counter[str](), "this picture alone": Counter[str]()}
    for number in track(range(seed, seed + games), console=console, transient=True):
        context = JudgeContext(game)
        believed: Belief[Any, Any] | None = None
        for before, turn, after, readings in played(game, number, turns, picture_size(size), tilt):
            misread += misread_tops(context, after, readings)
            if believed is None:
                believed = answered(context, judge(context, Belief.of([after]), readings, Trigger.RESTED)[0], after, ())
            else:
                believed = replace(believed, states=(before,), states_ignoring_sides=(before,))
                stack_results += touches(context, believed, after, readings)
                numbers += numbers_of_pieces(context, after, readings)
                doubted += doubts(context, believed, turn, readings, Random(number))
                kind, believed = outcome(context, believed, after, readings)
                counted["stacks seen before"][kind] += 1
                counted["this picture alone"][outcome(context, Belief.of([before]), after, readings)[0]] += 1
            believed, _ = judge(context, believed, readings, Trigger.RESTED)
    said = ("touched", "unsure", "untouched")
    stacks = figures("Stacks, by what their pictures say", "stacks", *said, "mean", "deviation")
    for true in ("touched", "untouched"):
        counts = Counter(one for stack, one, _ in stack_results if stack == true)
        apart = [value for stack, _, value in stack_results if stack == true and value is not None]
        spread = [f"{mean(apart):.2f}", f"{stdev(apart):.2f}"] if len(apart) > 1 else ["", ""]
        stacks.add_row(true, *(str(counts[one]) for one in said), *spread)
    console.print(stacks)
    pieces = figures("Numbers of pieces, by their probability", "probability", "numbers", "mean", "right")
    for low, high in pairwise(_PROBABILITY_STEPS):
        these = [(given, right) for given, right in numbers if low <= given < high]
        if these:
            expected, right = (f"{mean(values):.1%}" for values in zip(*these, strict=True))
            pieces.add_row(f"{low:.0%} to {min(high, 1.0):.0%}", str(len(these)), expected, right)
    console.print(pieces)
    contradictions = figures(
        "Turns, by the log-odds of the stacks against them", "turns", *(f"over {one:g}" for one in _DOUBTS)
    )
    for kind in sorted({kind for kind, _ in doubted}):
        by = [doubt for one, doubt in doubted if one == kind]
        contradictions.add_row(
            f"{kind}: {len(by):,}", *(f"{sum(doubt > least for doubt in by):,}" for least in _DOUBTS)
        )
    console.print(contradictions)
    kinds = sorted({kind for one in counted.values() for kind in one})
    table = figures("Turns of Blockade, by verdict", "judged by", *kinds)
    for name, one in counted.items():
        table.add_row(name, *(str(one[kind]) for kind in kinds))
    console.print(table)
    console.print(f"{sum(misread):,} of {len(misread):,} tops misread")
    judged = counted["stacks seen before"]
    sys.exit(1 if judged["wrong"] or judged[VerdictKind.ILLEGAL.value] else 0)


if __name__ == "__main__":
    main()
