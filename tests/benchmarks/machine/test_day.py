"""The criteria for a day of play."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.progress import Progress

from benchmarks.machine.day import WARM_UP_GAMES, AfterGame, not_flat, play_day

HOURS = 0.001


def a_day(games: int = 60) -> list[AfterGame]:
    return [AfterGame(number / 2, 200.0, 12, 3, 700_000) for number in range(games)]


def test_growth_during_the_warm_up_does_not_count() -> None:
    day = a_day()
    for number in range(WARM_UP_GAMES):
        day[number] = replace(day[number], memory_mb=100.0 + number, files=5, threads=1)
    assert not_flat(day) == []


@pytest.mark.parametrize(
    ("grown", "said"),
    [
        (AfterGame(30, 260.0, 12, 3, 700_000), "memory grew by 60.0 MB"),
        (AfterGame(30, 200.0, 13, 3, 700_000), "13 files are open instead of 12"),
        (AfterGame(30, 200.0, 12, 4, 700_000), "4 threads are open instead of 3"),
        (AfterGame(30, 200.0, 12, 3, 770_000), "Python's objects hold 10.0% more"),
    ],
)
def test_growth_and_leaks_are_named(grown: AfterGame, said: str) -> None:
    assert not_flat([*a_day(40), *[grown] * 20]) == [said]


def test_a_game_leaves_no_file_and_no_thread_behind(tmp_path: Path) -> None:
    with Progress(disable=True) as progress:
        after, failed = play_day(HOURS, 4, tmp_path, progress, progress.add_task(""), turns=3)
    assert failed == []
    assert (tmp_path / "games.sqlite").exists()
    assert after[-1].hours >= HOURS
    assert after[-1].threads == after[0].threads


# Estimates for a Pi, and the emulator's marks.
