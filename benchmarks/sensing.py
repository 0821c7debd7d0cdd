"""How often the referee asks with camera, sensors or both, and whether it ever accepts a turn that was not played.

Run: python benchmarks/sensing.py [--games N] [--turns N] [--seed S] [--game NAME]... [--times X]

The judge gets the same random games with each input, with errors drawn from a seed. There are no pictures: the camera
is a simulated reading, with places hidden, unsure or misread; sensors have momentary errors, and some are stuck. A
player declares the end of each turn, and a person says what was played if it is not accepted. ``--times`` multiplies
all error rates.

Exit code 1 when a turn that was not played is accepted, or when both inputs together ask as often as one alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from app.sensing.health import SensorSnapshot
from app.sensing.readers import FusedReader, SensorReader
from app.wiring.plan import Inputs
from benchmarks.parts.command_line import counting_bar
from engine.registry import games as registered
from engine.registry import load
from engine.showing import turns_to_draw_from
from engine.values import EMPTY, Place
from referee.judge.belief import Belief, override_belief
from referee.judge.explorer import JudgeContext, apply_turn
from referee.judge.judge import judge
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from referee.session.ports import Reader
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.reading import HindranceKind, PlaceChange, PlaceReading, Reading

_LOOKS_A_TURN = 4
_REST_S = 3.0


@dataclass(frozen=True)
class ErrorRates:
    """Probabilities of errors.

    ``hidden``, ``unsure``, ``misread``
        at a turn, the camera can't see a place, hesitates between two looks, or is sure of a wrong one.
    ``false_closed``, ``false_open``
        at a turn, a sensor is wrong.
    ``broken``
        a sensor is stuck, open or closed, for the whole game.
    ``stops``
        a piece is briefly set down on its way.
    """

    hidden: float = 0.02
    unsure: float = 0.005
    misread: float = 0.0
    false_closed: float = 0.0005
    false_open: float = 0.001
    broken: float = 0.005
    stops: float = 0.8


@dataclass
class Played:
    """Results of games: turns, counts of those accepted, asked about or named a fault, and wrong verdicts."""

    turns: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def add(self, other: Played) -> None:
        """Add another game."""
        self.turns += other.turns
        self.counts += other.counts
        self.wrong += other.wrong
        self.said += other.said


@dataclass
class ScriptedInputs:
    """A reader and a source of sensors with prepared values."""

    reading: Reading | None = None
    sensed: SensorSnapshot | None = None

    def show(
        self, time_s: float, errors: DrawnErrors, looks: Mapping[Place, str], changes: tuple[PlaceChange, ...] = ()
    ) -> None:
        """Prepare the inputs for a table, with errors."""
        self.reading = Reading(0, time_s, errors.camera(looks))
        self.sensed = SensorSnapshot(time_s, errors.sensors(looks), changes=changes)

    def read(self, frame: Frame) -> Reading:
        """Give the camera's reading."""
        assert self.reading is not None
        return Reading(frame.sequence, frame.time_s, self.reading.places)

    def crop(self, frame: Frame, place: str) -> Image:
        """There is no picture."""
        raise NotLocatedError(f"no picture of {place} in frame {frame.sequence}")

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Give the sensors' snapshot, with its changes only once."""
        given = self.sensed
        if given is None:
            return None
        self.sensed = SensorSnapshot(now_s, given.occupied)
        return SensorSnapshot(now_s, given.occupied, changes=given.changes)


class DrawnErrors:
    """Draws errors of camera and sensors; broken sensors stay broken."""

    def __init__(self, game: Any, rates: ErrorRates, rng: random.Random) -> None:
        self._game, self._rates, self._rng = game, rates, rng
        self._stuck = {place: rng.random() < 0.5 for place in game.places if rng.random() < rates.broken}

    def camera(self, looks: Mapping[Place, str]) -> dict[Place, PlaceReading]:
        """Give the camera's reading of each place."""
        return {place: self._seen(look) for place, look in looks.items()}

    def sensors(self, looks: Mapping[Place, str]) -> dict[Place, bool]:
        """Give the state of each sensor."""
        return {place: self._sensed(place, look != EMPTY) for place, look in looks.items()}

    def _sensed(self, place: Place, stands: bool) -> bool:
        rate = self._rates.false_open if stands else self._rates.false_closed
        errs = self._rng.random() < rate
        return self._stuck.get(place, stands != errs)

    def _seen(self, look: str) -> PlaceReading:
        rng, rates = self._rng, self._rates
        others = [name for name in self._game.looks if name != look]
        sure = 0.96 + 0.035 * rng.random()
        drawn, other = rng.random(), rng.choice(others)
        hidden = rng.random() < rates.hidden
        shares = {look: sure}
        if drawn < rates.misread:
            shares = {other: sure}
        elif drawn < rates.misread + rates.unsure:
            shares = {look: sure * 0.55, other: sure * 0.45}
        rest = (1 - sum(shares.values())) / (len(self._game.looks) - len(shares))
        probabilities = {name: shares.get(name, rest) for name in self._game.looks}
        return PlaceReading(probabilities, hidden_by=HindranceKind.OBJECT if hidden else None)


def random_start(game: Any, rng: random.Random) -> tuple[Any, Any]:
    """Give a true start with all facings, and the same as the referee knows it from looks alone."""
    appearance = game.table.appearance(game.rules.new())
    if game.side_faces is not None:
        appearance = {
            place: look if look == EMPTY else rng.choice([one for one in game.looks if one[:4] == look[:4]])
            for place, look in appearance.items()
        }
    known = game.table.set_up(appearance)
    world = known
    if game.side_faces is not None:
        for place, facings in game.side_faces.facings(world).items():
            world = game.side_faces.narrow(world, {place: rng.choice(facings)})
    return world, known


def play(name: str, game: Any, inputs: Inputs, seed: int, rates: ErrorRates, turns: int) -> Played:
    """Play and judge a game; whenever a turn is not accepted, a person says what was played."""
    rng = random.Random(f"{name} {seed}")
    errors = DrawnErrors(game, rates, random.Random(f"errors {name} {seed}"))
    world, known = random_start(game, rng)
    context: JudgeContext[Any, Any] = JudgeContext(game)
    belief: Belief[Any, Any] = Belief.of((known,))
    scripted = ScriptedInputs()
    alone = SensorReader(scripted, game.places, game.looks)
    both = FusedReader(scripted, scripted, game.places, game.looks)
    readers: Mapping[Inputs, Reader] = {Inputs.CAMERA: scripted, Inputs.SENSORS: alone, Inputs.BOTH: both}
    played = Played()
    clock_s = 0.0
    scripted.show(clock_s, errors, game.table.appearance(world))
    belief, ruling = judge(context, belief, _look(readers[inputs], clock_s), Trigger.RESTED)
    if ruling.verdict.kind is not VerdictKind.UNCHANGED:
        belief = override_belief(context, belief, (known,))
    clock_s += 10.0
    for _ in range(turns):
        legal = turns_to_draw_from(game, world)
        if not legal:
            break
        turn = legal[rng.randrange(len(legal))]
        after = game.rules.apply(world, turn)
        changes = _changes(game, world, after, turn, clock_s, rng, rates)
        looks = game.table.appearance(after)
        scripted.show(clock_s, errors, looks, changes)
        clock_s += 10.0
        readings = _look(readers[inputs], clock_s)
        played.said += [notice for reading in readings for notice in reading.notices]
        belief, ruling = judge(context, belief, readings, Trigger.DECLARED)
        played.turns += 1
        accepted = [text for verdict in ruling.verdicts for text in verdict.turns]
        if accepted:
            right = len(accepted) == 1 and game.table.appearance(belief.states[0]) == looks
            played.counts["accepted"] += 1
            if not right:
                text = game.notation.format_turn(turn)
                what = f"{inputs} {name} {seed}: {accepted} for {text}: {ruling.verdicts[0].sentence}"
                played.wrong.append(what)
        asked = sum(verdict.kind is not VerdictKind.ACCEPTED for verdict in ruling.verdicts)
        played.counts["asked"] += bool(asked)
        played.counts["named a fault"] += ruling.verdicts[-1].kind is VerdictKind.ILLEGAL
        if not accepted or game.table.appearance(belief.states[0]) != looks:
            states = apply_turn(game, belief.states, turn) if not accepted else (after,)
            belief = override_belief(context, belief, states or (after,), turn.places)
        for reader in (alone, both):
            reader.on_accepted(looks)
        clock_s += 10.0
        world = after
        if game.rules.outcome(world) is not None:
            break
    return played


def _look(reader: Reader, time_s: float) -> list[Reading]:
    """Read a table at rest a few times.

    The first reading shows lost changes, for which the table must have been quiet for a while.
    """
    times_s = [time_s, *(time_s + _REST_S + 0.2 * number for number in range(_LOOKS_A_TURN))]
    frames = [Frame(np.zeros((1, 1, 3), np.uint8), each_s, number) for number, each_s in enumerate(times_s)]
    _, *readings = [reader.read(frame) for frame in frames]
    return readings


def _changes(
    game: Any, before: Any, after: Any, turn: Any, clock_s: float, rng: random.Random, rates: ErrorRates
) -> tuple[PlaceChange, ...]:
    """Give a turn's changes as perfect sensors report them: pieces lifted, perhaps set down on the way, put down."""
    first, last = game.table.appearance(before), game.table.appearance(after)
    lifted = [place for place in turn.places if first[place] != EMPTY and last[place] == EMPTY]
    put = [place for place in turn.places if first[place] == EMPTY and last[place] != EMPTY]
    passed = [place for place in turn.places[1:2] if first[place] == EMPTY and last[place] == EMPTY]
    changes = [PlaceChange(place, False, clock_s + 1.0) for place in lifted]
    if passed and rng.random() < rates.stops:
        changes += [PlaceChange(passed[0], True, clock_s + 2.0), PlaceChange(passed[0], False, clock_s + 2.8)]
    changes += [PlaceChange(place, True, clock_s + 4.0) for place in put]
    return tuple(changes)


def scaled(rates: ErrorRates, times: float) -> ErrorRates:
    """Multiply all rates but ``stops``."""
    return ErrorRates(
        **{one.name: getattr(rates, one.name) * (1.0 if one.name == "stops" else times) for one in fields(ErrorRates)}
    )


@click.command(help=__doc__)
@click.option("--games", default=40, show_default=True, type=click.IntRange(1), help="Games with each input.")
@click.option("--turns", default=12, show_default=True, type=click.IntRange(1), help="Turns in each game.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Games are seed, seed + 1, ...")
@click.option("--game", "names", multiple=True, type=click.Choice(registered()), help="Only this game; repeatable.")
@click.option("--times", default=1.0, show_default=True, type=click.FloatRange(0), help="Factor of the error rates.")
def main(games: int, turns: int, seed: int, names: tuple[str, ...], times: float) -> None:
    """Play, count, report."""
    console = Console()
    rates = scaled(ErrorRates(), times)
    shown = ", ".join(f"{one.name} {getattr(rates, one.name):.3g}" for one in fields(ErrorRates))
    console.print(f"rates: {shown}; {games} games of {turns} turns from seed {seed}")
    table = Table("game", "input", "turns", "accepted", "asked in 100 turns", "faults named", "wrong", "ms a turn")
    met = True
    with counting_bar(console) as progress:
        # Sensors report no dice.
        for name in names or [each for each in registered() if load(each).dice is None]:
            game = load(name)
            asked: dict[Inputs, float] = {}
            task = progress.add_task(name, total=games * len(Inputs))
            for inputs in Inputs:
                began_s = time.perf_counter()
                total = Played()
                for number in range(games):
                    total.add(play(name, game, inputs, seed + number, rates, turns))
                    progress.update(task, advance=1)
                asked[inputs] = 100 * total.counts["asked"] / total.turns
                taken_ms = 1000 * (time.perf_counter() - began_s) / total.turns
                table.add_row(
                    name,
                    inputs,
                    str(total.turns),
                    str(total.counts["accepted"]),
                    f"{asked[inputs]:.1f}",
                    str(total.counts["named a fault"]),
                    str(len(total.wrong)),
                    f"{taken_ms:.0f}",
                )
                for wrong in total.wrong:
                    progress.console.print(wrong, markup=False)
                met = met and not total.wrong
            met = met and asked[Inputs.BOTH] < min(asked[Inputs.CAMERA], asked[Inputs.SENSORS])
    console.print(table)
    console.print("met: none wrong, and both ask less than either alone" if met else "MISSED")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
