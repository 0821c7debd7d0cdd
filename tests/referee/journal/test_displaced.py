"""A journal that is removed, replaced or overwritten while a referee writes it: no event is lost without a word."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import JournalDisplacedError
from referee.journal.backups import back_up
from referee.journal.journal import BufferedJournal, Journal
from referee.journal.log import log_path
from referee.journal.reader import read_journal
from tests.referee.journal.samples import NEW_GAME, START, TURN, picture, ticking_clock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def numbers(path: Path) -> list[int]:
    with read_journal(path) as journal:
        journal.check()
        return [number for number, _ in journal.events()]


def remove(path: Path, _: Path) -> None:
    path.unlink()


def remove_all(path: Path, _: Path) -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def move_away(path: Path, _: Path) -> None:
    path.rename(path.with_name("moved.sqlite"))


def move_over(path: Path, copy: Path) -> None:
    copy.rename(path)


def copy_over(path: Path, copy: Path) -> None:
    shutil.copyfile(copy, path)


def other_text(path: Path, _: Path) -> None:
    path.write_text("a shopping list " * 400)


def playing(path: Path, said: list[str]) -> tuple[BufferedJournal, Path]:
    """A journal with an older game, a copy from its beginning, and a game of three events in progress."""
    copy = path.with_name("copy.sqlite")
    with Journal.open(path, wall_clock=lambda: START) as older:
        older.append(NEW_GAME)
        back_up(path, copy)
        for _ in range(30):
            older.append(TURN, [picture("before", 5000)])
    journal = BufferedJournal(Journal.open(path, wall_clock=lambda: START), said.append)
    for event in (NEW_GAME, TURN, TURN):
        journal.append(event)
    return journal, copy


@pytest.mark.parametrize("go", [remove, remove_all, move_away])
def test_a_journal_that_is_removed_is_written_again(path: Path, go: Callable[[Path, Path], None]) -> None:
    said: list[str] = []
    journal, copy = playing(path, said)
    go(path, copy)
    assert journal.append(TURN) == 35
    assert isinstance(journal.trouble, JournalDisplacedError)
    assert said == [f"The game goes on, but only in memory: the journal {path} was removed while the referee used it"]
    assert [number for number, _ in journal.events()] == list(range(1, 36))
    assert journal.retry()
    assert said[1:] == ["The journal can be written again. What was only in memory is now in it: 1 event."]
    assert journal.append(TURN) == 36
    assert numbers(path) == list(range(1, 37))
    journal.close()
    assert numbers(path) == list(range(1, 37))
    assert not log_path(path).exists()


@pytest.mark.parametrize(
    ("go", "kept"),
    [(move_over, range(1, 37)), (copy_over, range(32, 37)), (other_text, range(32, 37))],
)
def test_a_journal_that_is_replaced_is_left_and_the_game_goes_on_beside_it(
    path: Path, go: Callable[[Path, Path], None], kept: range
) -> None:
    said: list[str] = []
    journal, copy = playing(path, said)
    go(path, copy)
    now_there = path.read_bytes()
    assert journal.append(TURN) == 35
    assert isinstance(journal.trouble, JournalDisplacedError)
    assert journal.retry()
    other = path.with_name("journal-goes-on-20260501-183000.sqlite")
    assert said[2:] == [f"The game goes on in {other}. The file that took the journal's name is unchanged."]
    assert journal.append(TURN) == 36
    assert numbers(other) == list(kept)
    assert path.read_bytes() == now_there
    assert not log_path(path).exists()
    journal.close()
    assert numbers(other) == list(kept)
    assert path.read_bytes() == now_there
    if go is not other_text:
        with Journal.open(path, wall_clock=ticking_clock()) as restored:
            assert restored.append(TURN) == 2


@pytest.mark.parametrize("go", [remove, move_over, copy_over])
def test_a_journal_that_is_displaced_before_it_is_closed_is_noticed_then(
    path: Path, go: Callable[[Path, Path], None]
) -> None:
    said: list[str] = []
    journal, copy = playing(path, said)
    go(path, copy)
    journal.close()
    assert "only in memory: the journal" in said[0]
    other = path.with_name("journal-goes-on-20260501-183000.sqlite")
    assert numbers(path if go is remove else other)[-3:] == [32, 33, 34]


def test_what_another_program_may_do_to_a_journal_is_no_trouble(path: Path) -> None:
    said: list[str] = []
    journal, _ = playing(path, said)
    path.touch()
    journal.append(TURN)
    with read_journal(path) as reader:
        reader.check()
    back_up(path, path.with_name("another.sqlite"))
    journal.append(TURN)
    journal.close()
    assert said == []
    assert numbers(path) == list(range(1, 37))
