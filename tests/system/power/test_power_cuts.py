"""Games that lose power or whose referee is killed again and again: nothing is lost."""

import os
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import power_cut
from benchmarks.parts.power import vfs
from benchmarks.parts.power.cuts import JOURNAL, Cut, CutError, PlayedOnDisk
from benchmarks.parts.power.disk import CutOutcome, Sync, Write
from benchmarks.parts.power.kills import Aim, KilledGame, KillTally
from benchmarks.parts.power.vfs import RecordingFiles


def faults(played: PlayedOnDisk, cases: list[Cut]) -> list[str]:
    found = []
    for case in cases:
        try:
            played.check(case)
        except CutError as error:
            found.append(f"{case}: {error}")
    return found


def test_nothing_is_lost_at_a_cut_before_or_after_any_sync(scratch: Path) -> None:
    played = PlayedOnDisk(3, 5, scratch)
    assert played.turns_kept == played.turns_played
    assert len(played.turns_played) == 5
    everything = list(played.cases(draws=1, elsewhere=10))
    assert len({(case.life, case.requests) for case in everything}) > 40
    assert faults(played, random.Random(3).sample(everything, 160)) == []


def test_nothing_is_lost_at_cuts_that_were_never_tried(scratch: Path) -> None:
    # Another one each time: a fault that no kept seed shows is found some day. The command repeats it.
    seed, turns = random.SystemRandom().randrange(1_000_000), 5
    command = f"python benchmarks/power_cut.py --seed {seed} --turns {turns} --replay"
    try:
        played = PlayedOnDisk(seed, turns, scratch)
    except CutError as error:
        pytest.fail(f"{command} 0:1:SECTORS:1\n{error}")
    assert played.turns_kept == played.turns_played, command
    everything = list(played.cases(draws=1, elsewhere=10))
    failed = faults(played, random.Random(seed).sample(everything, 160))
    assert not failed, "\n".join(f"{command} {each}" for each in failed)


@pytest.mark.long
@pytest.mark.parametrize("seed", [101, 102, 103])
def test_nothing_is_lost_at_very_many_cuts(scratch: Path, seed: int) -> None:
    played = PlayedOnDisk(seed, 16, scratch)
    assert played.turns_kept == played.turns_played
    assert faults(played, list(played.cases(draws=6, elsewhere=60))) == []


def test_there_are_checkpoints_and_a_close_among_the_cuts(scratch: Path) -> None:
    played = PlayedOnDisk(3, 5, scratch)
    disk = played.lives[0].disk
    numbers = {
        request.name: request.file for request in disk.requests if hasattr(request, "file") and hasattr(request, "name")
    }
    written = [request.file for request in disk.requests if isinstance(request, Write)]
    synced = [request.file for request in disk.requests if isinstance(request, Sync)]
    assert written.count(numbers[JOURNAL]) > 5
    assert synced.count(numbers[JOURNAL]) >= 2
    assert synced.count(numbers[f"{JOURNAL}-wal"]) > 5


def without(monkeypatch: pytest.MonkeyPatch, statement: str, instead: str) -> None:
    """Have the journal's connection do something weaker than it was asked."""
    plain = RecordingFiles.connect

    class Weaker:
        def __init__(self, connection: Any) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, text: str, arguments: Any = ()) -> Any:
            return self._connection.execute(text.replace(statement, instead), arguments)

    def connect(files: RecordingFiles, target: str) -> Any:
        return Weaker(plain(files, target.replace(statement, instead)))

    monkeypatch.setattr(vfs.RecordingFiles, "connect", connect)


@pytest.mark.parametrize(
    ("statement", "instead", "outcome"),
    [
        ("synchronous = FULL", "synchronous = OFF", CutOutcome.NONE_KEPT),
        ("synchronous = FULL", "synchronous = OFF", CutOutcome.SECTORS),
        ("&psow=0", "", CutOutcome.WRECKED),
    ],
)
def test_a_journal_that_is_less_careful_is_found_out(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, statement: str, instead: str, outcome: CutOutcome
) -> None:
    without(monkeypatch, statement, instead)
    # One life: the first cut of a careless journal may already be the end of the game.
    monkeypatch.setattr("benchmarks.parts.power.cuts._LIFE_FRAMES", (10_000, 10_000))
    played = PlayedOnDisk(5, 4, scratch)
    cases = [case for case in played.cases(draws=6, elsewhere=0) if case.outcome is outcome]
    found = next((fault for case in cases for fault in faults(played, [case])), "")
    assert "lost" in found or "damage" in found or "confirmed" in found


def test_a_game_that_cannot_go_on_after_a_cut_within_it_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(seed: int, turns: int, scratch: Path) -> PlayedOnDisk:
        raise CutError(f"event {turns} of {seed} is lost")

    monkeypatch.setattr(power_cut, "PlayedOnDisk", lost)
    done = CliRunner().invoke(power_cut.main, ["--kills", "0", "--games", "2", "--turns", "4", "--seed", "5"])
    assert done.exit_code == 1
    assert "event 4 of 5 is lost" in done.output
    assert "2 with something lost, added or changed" in done.output
    again = CliRunner().invoke(power_cut.main, ["--turns", "4", "--seed", "5", "--replay", "0:1:SECTORS:1"])
    assert again.exit_code == 1


@pytest.fixture(autouse=True)
def same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what the benchmark sets for its children."""
    for name in ("PYTHONPATH", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))


def test_games_go_on_after_each_kill_and_nothing_is_lost() -> None:
    done = CliRunner().invoke(power_cut.main, ["--kills", "8", "--games", "0", "--turns", "3", "--seed", "21"])
    assert done.exit_code == 0, done.output
    assert "kill -9: 8 kills" in done.output
    assert "0 games with something lost, added or changed" in done.output


def test_a_referee_lives_until_it_records_a_turn_if_those_before_it_were_killed_too_soon(scratch: Path) -> None:
    game = KilledGame(1, 3, scratch / "journal.sqlite", KillTally())
    assert {game._plan().aim for _ in range(50)} == {*Aim}
    for _ in range(35):
        game._go_on_alone(8)
    assert {game._plan().aim for _ in range(50)} == {Aim.RECORDED}


@pytest.mark.long
def test_games_go_on_after_many_kills() -> None:
    done = CliRunner().invoke(power_cut.main, ["--kills", "150", "--games", "0", "--seed", "31"])
    assert done.exit_code == 0, done.output
    assert all(aim.value in done.output for aim in Aim)
