"""The benchmark of kills finds lost, changed and invented events."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.parts.power.kills import KilledGame, KillError, KillTally, Recorded, Remark, Shown
from engine.registry import load
from referee.journal.events import Event, EventKind
from referee.journal.journal import Journal

NEW_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        journal.append(NEW_GAME)
    return path


@pytest.fixture
def game(path: Path) -> KilledGame:
    return KilledGame(1, 2, path, KillTally())


def test_a_lost_event_is_found(game: KilledGame) -> None:
    game._take(Recorded(1, NEW_GAME))
    game._check()
    game._take(Recorded(2, Event(EventKind.NOTE, {"sentence": "lost"})))
    with pytest.raises(KillError, match=r"event 2 \(note\) was recorded and is lost"):
        game._check()


def test_an_event_that_changed_is_found(game: KilledGame) -> None:
    game._take(Recorded(1, Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {"blocks_gold": 2}})))
    with pytest.raises(KillError, match="event 1 was recorded as"):
        game._check()


def test_events_that_were_never_recorded_are_found(game: KilledGame, path: Path) -> None:
    with Journal.open(path, wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        journal.append(Event(EventKind.NOTE, {"sentence": "from nowhere"}))
    with pytest.raises(KillError, match=r"events \[1, 2\] are in the journal and were never recorded"):
        game._check()


def test_a_turn_that_was_not_played_is_found(game: KilledGame, path: Path) -> None:
    deblockle = load("deblockle")
    notation = deblockle.notation
    state = deblockle.rules.new({})
    turn = deblockle.rules.legal_turns(state)[0]
    after = deblockle.rules.apply(state, turn)
    events = [
        Event(EventKind.SET_UP, {"state": notation.format_state(state)}),
        Event(EventKind.TURN, {"turn": notation.format_turn(turn), "state": notation.format_state(after)}),
    ]
    with Journal.open(path, wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        for event in events:
            journal.append(event)
    for number, event in enumerate([NEW_GAME, *events], start=1):
        game._take(Recorded(number, event))
    with pytest.raises(KillError, match=r"played were \(\)"):
        game._check()


def test_a_light_before_its_event_is_found(game: KilledGame) -> None:
    game._take(Recorded(1, NEW_GAME))
    game._take(Shown("accepted", ("c1", "c2")))
    with pytest.raises(KillError, match="was lit when the journal's new turns were on"):
        game._check()


def test_trouble_and_numbers_given_twice_are_found(game: KilledGame) -> None:
    with pytest.raises(KillError, match="the referee said: no room"):
        game._take(Remark("no room"))
    game._take(Recorded(1, NEW_GAME))
    with pytest.raises(KillError, match="event 1 was recorded twice"):
        game._take(Recorded(1, NEW_GAME))


def test_a_journal_that_cannot_be_opened_is_found(game: KilledGame, path: Path) -> None:
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(KillError, match="the referee cannot go on"):
        game._check()
