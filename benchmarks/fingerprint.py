"""Record every decision of the referee, to compare two versions of the code line by line.

Run: python benchmarks/fingerprint.py --seeds 10 --out before.txt
     python benchmarks/fingerprint.py --seeds 10 --out after.txt; diff before.txt after.txt

Parts (``--part`` selects some): soak games with every verdict, with camera, sensors, both, or a perfect reader; the
demo's output; perft of each game; hints with a fixed budget of work instead of time; explanations of changed tables.
The same code writes the same file on machines of one architecture.
"""

import io
import itertools
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

from rich.console import Console

from app.demo.run import run_demo
from app.demo.table import DemoOptions
from app.wiring.plan import Inputs
from benchmarks.parts.command_line import PROGRESS, counting_bar, gathered, picture_size, processes
from benchmarks.parts.soak.game import plan_of, play
from benchmarks.parts.turns_showing import known_of
from engine.api import Dice, Game
from engine.errors import EngineError
from engine.perft import perft, start_of_count
from engine.registry import games, load
from engine.search.budget import CountingClock
from engine.showing import turns_to_draw_from
from engine.values import Roll

PARTS = ("perft", "explain", "hints", "demo", "soak-perfect", "soak-sensors", "soak-camera", "soak-both")
_CLOCK_STEP_S = 0.005
_HINT_S = 0.2
_HINT_POSITIONS = 50
_EXPLAINED = 200
_MOST_PIPS = 4
"""Higher rolls of Blockade have up to 700,000 outcomes and would take too long."""
_DEMO_SEEDS = 5


@dataclass(frozen=True)
class Task:
    """One unit of work: a part, with its game and seed."""

    part: str
    name: str
    seed: int = 0
    turns: int = 40
    size: tuple[int, int] = (960, 540)


def lines_of(task: Task) -> list[str]:
    """Run a task; give its lines of the fingerprint."""
    makers = {"perft": _perft_lines, "hints": _hint_lines, "explain": _explain_lines, "demo": _demo_lines}
    return makers.get(task.part, _soak_lines)(task)


def _perft_lines(task: Task) -> list[str]:
    game: Game[Any, Any] = load(task.name)
    depth = 2 if game.dice is None else 1
    start, roll = start_of_count(game, game.rules.new(), **known_of(task.name).get("counted_from", {}))
    return [f"depth {depth}: {perft(game, start, depth, roll)}"]


def _hint_lines(task: Task) -> list[str]:
    game: Game[Any, Any] = load(task.name)
    lines = []
    for number, state in enumerate(itertools.islice(_positions(game, task.seed), _HINT_POSITIONS)):
        try:
            hint = game.advice.hint(state, _HINT_S, Random(number), clock=CountingClock(_CLOCK_STEP_S), earlier=())
        except EngineError as error:
            lines.append(f"{number}: {error}")
            continue
        position, turn = game.notation.format_state(state), game.notation.format_turn(hint.turn)
        lines.append(f"{number}: {position} -> {turn} {hint.expected:.6f} {hint.reason}")
    return lines


def _explain_lines(task: Task) -> list[str]:
    """Explain tables in which one to three places were changed at random."""
    game: Game[Any, Any] = load(task.name)
    rng = Random(f"{task.name} {task.seed}")
    lines = []
    for number, state in enumerate(itertools.islice(_positions(game, task.seed), _EXPLAINED)):
        before = game.table.appearance(state)
        changed = {rng.choice(list(before)): rng.choice(game.looks) for _ in range(rng.randint(1, 3))}
        breaches = game.table.explain(state, {**before, **changed})
        lines += [f"{number}: {changed}"] + [f"  {breach}" for breach in breaches]
    return lines


def _positions(game: Game[Any, Any], seed: int) -> Iterator[Any]:
    """Give positions with a player to move, from games of random turns and rolls."""
    for number in itertools.count():
        rng = Random(f"{game.name} {seed} {number}")
        state = game.rules.new()
        while game.rules.outcome(state) is None:
            if game.dice is not None and game.dice.awaits_roll(state):
                state = game.dice.rolled(state, _drawn_roll(game.name, game.dice, state, rng))
                continue
            turns = turns_to_draw_from(game, state)
            if not turns:
                break
            if rng.random() < 0.3:
                yield state
            state = game.rules.apply(state, turns[rng.randrange(min(len(turns), 2000))])


def _drawn_roll(name: str, dice: Dice[Any], state: Any, rng: Random) -> Roll:
    possible = dice.possible_rolls(state)
    if name == "blockade":
        possible = [one for one in possible if sum(map(int, one.roll.faces)) <= _MOST_PIPS] or possible
    return rng.choices([one.roll for one in possible], [float(one.probability) for one in possible])[0]


def _demo_lines(task: Task) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        text = io.StringIO()
        journal = Path(folder) / "journal.sqlite"
        options = DemoOptions(seed=task.seed, fast=True, lights="none", journal=journal)
        run_demo(options, Console(file=text, width=160))
    return [line for line in text.getvalue().splitlines() if folder not in line]


def _soak_lines(task: Task) -> list[str]:
    source = task.part.removeprefix("soak-")
    perfect = source == "perfect"
    inputs = Inputs.CAMERA if perfect else Inputs(source)
    played = play(plan_of(task.seed, task.turns, task.size, perfect_reader=perfect, inputs=inputs))
    lines = [
        f"{said.sequence} {said.time_s:.3f} {said.verdict.kind.value}: {said.verdict.sentence} "
        f"turns={said.verdict.turns} candidates={said.verdict.candidates} places={said.verdict.places} "
        f"rules={[breach.rule for breach in said.verdict.breaches]} margin={said.verdict.margin:.6f}"
        for said in played.said
    ]
    lines += [f"light {time_s:.3f} {mood} {words}" for time_s, mood, words in played.moods]
    lines += [f"remark {time_s:.3f} {remark}" for time_s, remark in played.remarks]
    return [*lines, f"pictures and events {played.digest}"]


def tasks_of(parts: tuple[str, ...], seeds: int, turns: int, size: tuple[int, int]) -> list[Task]:
    """List the tasks in the order of the output."""
    tasks = []
    for part in PARTS:
        if part not in parts:
            continue
        if part.startswith("soak"):
            tasks += [Task(part, "deblockle", seed, turns, size) for seed in range(1, seeds + 1)]
        elif part == "demo":
            tasks += [Task(part, "deblockle", seed) for seed in range(1, min(seeds, _DEMO_SEEDS) + 1)]
        else:
            tasks += [Task(part, name, 1) for name in games()]
    return tasks


@click.command(help=__doc__)
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(1), help="Soak games of each part.")
@click.option("--turns", default=40, show_default=True, type=click.IntRange(1), help="Turns in each game of the soak.")
@click.option("--size", default="960x540", show_default=True, help="Size of the soak's pictures.")
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only these parts.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file to write.")
def main(seeds: int, turns: int, size: str, parts: tuple[str, ...], jobs: int, out: Path) -> None:
    """Write the fingerprint."""
    tasks = tasks_of(parts or PARTS, seeds, turns, picture_size(size))
    with processes(jobs) as pool, counting_bar(PROGRESS, transient=False) as progress:
        # The longest ones first, so that no process is left with one at the end.
        first = list(reversed(tasks))
        done = dict(
            zip(first, gathered([pool.submit(lines_of, task) for task in first], "parts", progress), strict=True)
        )
    text = "".join(
        f"== {task.part} {task.name} {task.seed}\n" + "".join(f"{line}\n" for line in done[task]) for task in tasks
    )
    out.write_text(text, encoding="utf-8")
    print(f"{len(text.splitlines())} lines of {len(tasks)} parts are in {out}")


if __name__ == "__main__":
    main()
