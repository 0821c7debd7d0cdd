"""How often the judge asks which turn of Blockade was played, with and without how the stacks were seen before it.

Run: python benchmarks/stacks.py [--games N] [--turns N] [--seed S] [--size 960x540]

Random turns are played on virtual tables that differ in camera, light and surface, without hands. Each position is
drawn once and read by a reader that knows no earlier picture. No wrong turn may be accepted, and none of
these be called illegal: exit code 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import click
import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.parts.command_line import figures, picture_size
from benchmarks.parts.soak.game import looks_of_pieces
from engine.registry import load
from engine.values import Roll
from referee.judge import Belief, JudgeContext, Trigger, judge
from referee.judge.verdict import VerdictKind
from simulator.faults.table import faulty_setting
from simulator.play.actions import Slack
from simulator.play.blockade import StackHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene
from vision.frame import Frame
from vision.readers.registry import table_reader
from vision.reading import Reading

_MOST_PIPS = 8
"""Rolls with more have hundreds of thousands of ends, and drawing one takes long."""
_TRIES = 50
Step = tuple[Any, Any, list[Reading]]
"""The state with its roll, the state after the turn, and readings of that."""


def played(game: Any, seed: int, turns: int, size: tuple[int, int]) -> Iterator[Step]:
    """Play random turns of one game; the first step has the same state twice."""
    setting, rng = faulty_setting(seed, size, game.name), Random(seed)
    handler = StackHandler(setting.layout, Slack(), np.random.default_rng(seed))
    state = game.rules.new({"starts": "warm"})
    standing = handler.set_up(game.table.appearance(state), game.notation.format_state(state))
    renderer = Renderer(seed)

    def readings(number: int) -> list[Reading]:
        image = renderer.render(Scene(setting, tuple(standing.values())), number)
        reader = table_reader(setting.camera, setting.layout, looks_of_pieces(size, game.name))
        return [reader.read(Frame(image, float(number), number))]

    yield state, state, readings(0)
    for number in range(1, turns + 1):
        pips = [0, _MOST_PIPS + 1]
        while sum(pips) > _MOST_PIPS:
            pips = [rng.randint(1, 6), rng.randint(1, 6)]
        rolled = game.dice.rolled(state, Roll(tuple(map(str, pips))))
        every = game.rules.legal_turns(rolled)
        drawn = (every[rng.randrange(len(every))] for _ in range(_TRIES))
        turn = next((one for one in drawn if handler.shows(standing, one)), None)
        if turn is None:
            return
        standing = standing.after_all(handler.carries_of(standing, turn))
        state = game.rules.apply(rolled, turn)
        yield rolled, state, readings(number)
        if state.to_move is None:
            return


def outcome(game: Any, belief: Belief[Any, Any], after: Any, readings: list[Reading]) -> str:
    """What the judge makes of a turn that a player declares."""
    _, ruling = judge(JudgeContext.of(game), belief, readings, Trigger.DECLARED)
    if not ruling.steps:
        return str(ruling.verdicts[0].kind.value)
    found = game.notation.parse_state(ruling.steps[-1].states[0])
    return "right" if found.stacks == after.stacks else "wrong"


@click.command(help=__doc__)
@click.option("--games", default=10, show_default=True, type=click.IntRange(1), help="How many games.")
@click.option("--turns", default=12, show_default=True, type=click.IntRange(1), help="Turns in each game.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Games are seed, seed + 1, ...")
@click.option("--size", default="960x540", show_default=True, help="The camera's picture.")
def main(games: int, turns: int, seed: int, size: str) -> None:
    """Play, judge, report."""
    cv2.setNumThreads(1)
    game: Any = load("blockade")
    console = Console()
    counted = {"stacks seen before": Counter[str](), "this picture alone": Counter[str]()}
    for number in track(range(seed, seed + games), console=console, transient=True):
        context = JudgeContext.of(game)
        believed: Belief[Any, Any] | None = None
        for before, after, readings in played(game, number, turns, picture_size(size)):
            if believed is not None:
                knowing = replace(believed, states=(before,), states_ignoring_sides=(before,))
                for name, belief in zip(counted, (knowing, Belief.of([before])), strict=True):
                    counted[name][outcome(game, belief, after, readings)] += 1
            # the next turn is judged from what was played, whatever was said of this one
            believed, _ = judge(context, Belief.of([after]), readings, Trigger.RESTED)
    kinds = sorted({kind for one in counted.values() for kind in one})
    table = figures("Turns of Blockade, by verdict", "judged by", *kinds)
    for name, one in counted.items():
        table.add_row(name, *(str(one[kind]) for kind in kinds))
    console.print(table)
    sys.exit(1 if any(one["wrong"] or one[VerdictKind.ILLEGAL.value] for one in counted.values()) else 0)


if __name__ == "__main__":
    main()
