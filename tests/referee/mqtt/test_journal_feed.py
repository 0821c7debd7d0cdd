"""The journal's events for a broker: in order, from the last one sent, and found by the id of a command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.registry import load
from referee.journal.backups import back_up, restore
from referee.journal.events import REQUEST, Event, EventKind
from referee.journal.journal import Journal
from referee.mqtt.journal_feed import JournalFeed, cursor_path
from referee.mqtt.options import MqttOptions

OPTIONS = MqttOptions("broker.lan", 1883, "t1", "Table 1")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 22, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / "journal.sqlite", wall_clock=Clock()) as opened:
        yield opened


def play(journal: Journal, *turns: str, request: str = "") -> None:
    """Begin a game and play these turns."""
    game = load("diaballik")
    state = game.rules.new()
    journal.append(Event(EventKind.NEW_GAME, {"game": game.name}))
    journal.append(Event(EventKind.SET_UP, {"state": game.notation.format_state(state)}))
    for text in turns:
        turn = game.notation.parse_turn(state, text)
        state = game.rules.apply(state, turn)
        data = {"turn": text, "player": turn.player, "state": game.notation.format_state(state)}
        journal.append(Event(EventKind.TURN, {**data, REQUEST: request} if request else data))


def test_events_are_sent_in_order_with_a_sentence_each(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6", request="one")
    play(journal, "c1-c2")
    told = JournalFeed(journal.path, OPTIONS).after(0)
    assert [event.number for event in told] == list(range(1, 8))
    assert [event.game_number for event in told] == [1, 1, 1, 1, 2, 2, 2]
    assert told[2].sentence == "b1-b2  Black moves b1 to b2."
    assert all(event.sentence and event.journal == told[0].wall_time for event in told)
    assert [event.request_id for event in told] == ["", "", "one", "one", "", "", ""]


def test_the_events_do_not_depend_on_where_the_feed_begins(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6", "b2-b3")
    play(journal, "c1-c2")
    whole = JournalFeed(journal.path, OPTIONS).after(0)
    feed = JournalFeed(journal.path, OPTIONS)
    for number in (6, 2, 3, 0, 7, 4):
        assert feed.after(number, 2) == whole[number : number + 2]


def test_a_table_that_is_new_on_a_broker_begins_with_its_newest_game(journal: Journal) -> None:
    feed = JournalFeed(journal.path, OPTIONS)
    assert (feed.start(), feed.identity()) == (0, "")
    play(journal, "b1-b2")
    assert feed.start() == 0
    play(journal)
    assert feed.start() == 3


def test_the_feed_continues_from_the_brokers_cursor(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6")
    feed = JournalFeed(journal.path, OPTIONS)
    feed.after(feed.start())
    feed.keep_cursor(3)
    assert JournalFeed(journal.path, OPTIONS).start() == 3


def test_a_cursor_of_an_older_version_still_holds(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6")
    first = journal.events()[0][1].wall_time
    for number, start in ((3, 3), (400, 4), (10**30, 4)):
        cursor_path(journal.path).write_text(json.dumps({"journal": first, "number": number}), encoding="utf-8")
        assert JournalFeed(journal.path, OPTIONS).start() == start


@pytest.mark.parametrize("played_since", [0, 1, 2, 3])
def test_after_a_restore_every_event_is_sent_again(tmp_path: Path, played_since: int) -> None:
    path, copy, clock = tmp_path / "journal.sqlite", tmp_path / "copy.sqlite", Clock()
    with Journal.open(path, wall_clock=clock) as journal:
        play(journal, "b1-b2")
        back_up(path, copy)
        play(journal, "c1-c2")
    feed = JournalFeed(path, OPTIONS)
    feed.keep_cursor(feed.after(0)[-1].number)
    restore(copy, path, clock())
    with Journal.open(path, wall_clock=clock) as journal:
        for _ in range(played_since):
            play(journal, "c1-c2")
    feed = JournalFeed(path, OPTIONS)
    assert feed.start() == 0
    newest = feed.after(0)[-1].number
    feed.keep_cursor(newest)
    assert JournalFeed(path, OPTIONS).start() == newest == 3 * (1 + played_since)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"journal": 1}', '{"journal": "another", "number": 3}'])
def test_a_foreign_or_invalid_cursor_omits_no_event(text: str, journal: Journal) -> None:
    play(journal, "b1-b2")
    cursor_path(journal.path).write_text(text, encoding="utf-8")
    assert JournalFeed(journal.path, OPTIONS).start() == 0


def test_an_impossible_event_is_sent_without_a_sentence(journal: Journal) -> None:
    play(journal, "b1-b2")
    journal.append(Event(EventKind.TURN, {"turn": "a1-a7", "player": "white", "state": "nothing"}))
    journal.append(Event(EventKind.NOTE, {"text": "Somebody waves."}))
    told = JournalFeed(journal.path, OPTIONS).after(2)
    assert [(event.number, event.game, bool(event.sentence)) for event in told] == [
        (3, "diaballik", True),
        (4, "diaballik", False),
        (5, "diaballik", False),
    ]
