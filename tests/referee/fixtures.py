"""Synthetic readings with noise, hidden places and side faces, tables on them, and a runner of the command."""

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scene.calibration_board import charuco_views
from engine.registry import load
from journal.journal import Journal
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings
from simulator.scene.scene import lens
from tests.commands import Run, runner_in
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.service_table import START, Table, wall_clock
from vision.frame import Image
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

__all__ = [
    "board_views",
    "deblockle",
    "diaballik",
    "judge",
    "make_reading",
    "new_journal",
    "on",
    "run",
    "start",
    "table",
    "table_set_up",
]

MakeReading = Callable[..., Reading]


def _probabilities(rng: random.Random, looks: tuple[str, ...], look: str, sureness: float) -> dict[str, float]:
    weights = {name: rng.random() + 0.01 for name in looks if name != look}
    total = sum(weights.values())
    sure = sureness + (1 - sureness) * rng.random()
    return {look: sure, **{name: (1 - sure) * weight / total for name, weight in weights.items()}}


@pytest.fixture(scope="session")
def deblockle() -> Any:
    return load("deblockle")


@pytest.fixture(scope="session")
def diaballik() -> Any:
    return load("diaballik")


@pytest.fixture(scope="session")
def make_reading(deblockle: Any) -> MakeReading:
    """A factory of readings of an appearance."""

    def make(
        appearance: Mapping[str, str],
        *,
        time_s: float = 0.0,
        rng: random.Random | None = None,
        sureness: float = 0.98,
        hidden: Collection[str] = (),
        unreadable: Collection[str] = (),
        sides: Mapping[str, Mapping[str, str]] | None = None,
        overrides: Mapping[str, Mapping[str, float]] | None = None,
        hindrances: tuple[Hindrance, ...] = (),
    ) -> Reading:
        rng = rng or random.Random(1)
        looks = deblockle.looks
        places = {}
        for place, look in appearance.items():
            probabilities = _probabilities(rng, looks, look, sureness)
            if place in unreadable:
                probabilities = dict.fromkeys(looks, 1 / len(looks))
            if overrides and place in overrides:
                rest = (1 - sum(overrides[place].values())) / (len(looks) - len(overrides[place]))
                probabilities = {name: overrides[place].get(name, rest) for name in looks}
            symbols = ("star", "stop", "cross", "x", "slider", "hoops")
            seen = {
                side: {name: 0.97 if name == symbol else 0.006 for name in symbols}
                for side, symbol in (sides or {}).get(place, {}).items()
            }
            places[place] = PlaceReading(probabilities, seen, HindranceKind.OBJECT if place in hidden else None)
        return Reading(round(time_s * 15), time_s, places, hindrances)

    return make


@pytest.fixture(scope="session")
def board_views() -> tuple[Image, ...]:
    """Enough pictures of the calibration board to calibrate a small camera, ``lens((640, 360))``."""
    return charuco_views(lens((640, 360)), 12, seed=1)


@pytest.fixture
def start(deblockle: Any) -> dict[str, str]:
    return {place: START.get(place, "empty") for place in deblockle.places}


@pytest.fixture
def new_journal() -> Iterator[Callable[[], Journal]]:
    """A factory of journals in memory, which are closed at the end."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(Journal.in_memory(wall_clock=wall_clock))


@pytest.fixture
def table(deblockle: Any, make_reading: Any, new_journal: Callable[[], Journal]) -> Any:
    def make(journal: Any = None, **settings: Any) -> Table:
        settings.setdefault("rest_s", 1.0)
        chosen = journal or new_journal()
        return Table(deblockle, make_reading, chosen, ServiceSettings(**settings))

    return make


@pytest.fixture
def table_set_up(table: Any, start: dict[str, str]) -> Any:
    """A factory of tables at which the referee has started and seen the set-up."""

    def make(journal: Any = None, **settings: Any) -> Table:
        made: Table = table(journal, **settings)
        made.service.start()
        made.show(start, 2)
        return made

    return make


@pytest.fixture
def on(table_set_up: Any) -> Table:
    """A table at which the referee has started and seen the set-up."""
    made: Table = table_set_up()
    return made


@pytest.fixture
def judge(deblockle: Any, make_reading: Any, start: dict[str, str]) -> JudgedGame:
    judge = JudgedGame(deblockle)
    assert judge.begin([make_reading(start)]).verdict.kind is VerdictKind.SET_UP
    return judge


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee`` with arguments in an empty folder, which is also the home folder."""
    return runner_in(tmp_path, monkeypatch)
