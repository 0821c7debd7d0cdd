"""Exports from a journal: a game's record, and the pictures of its evidence."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records import UNFINISHED, PositionSet, read, replay, write
from engine.registry import load
from engine.values import Announcement, Outcome, Roll
from referee.commands.entries import start_states
from referee.commands.values import Announce, EnterRoll, EnterTurn, NewGame, Reply
from referee.errors import FoldError
from referee.journal.events import STOPPED, Event, EventKind, Evidence, EvidenceLimits, JsonValue
from referee.journal.exports import event_lines, make_record, write_evidence
from referee.journal.journal import Journal
from referee.session.log import end_event, time_is_up
from tests.effort import cases
from tests.referee.by_text import by_text

GAME = load("deblockle")
OPTIONS = {"blocks_gold": 2, "blocks_teal": 2}
LOOKS = GAME.table.appearance(GAME.rules.new(OPTIONS))
GOLD = GAME.table.set_up(LOOKS, OPTIONS)
TEAL = GAME.table.set_up(LOOKS, {**OPTIONS, "starts": "teal"})
NEW_GAME = Event(
    EventKind.NEW_GAME, {"game": "deblockle", "players": {"gold": "Ann", "teal": 'B"en\n'}}, None, "2026-05-01T18:30"
)


def played(state: Any, chance: random.Random) -> tuple[Event, Any]:
    turn = chance.choice(GAME.rules.legal_turns(state))
    after = GAME.rules.apply(state, turn)
    return Event(
        EventKind.TURN, {"turn": GAME.notation.format_turn(turn), "state": GAME.notation.format_state(after)}
    ), after


@settings(max_examples=cases(25, 5))
@given(seed=st.integers(0, 2**32), turns=st.integers(0, 12), corrected=st.booleans(), both=st.booleans())
def test_a_record_of_the_journal_replays(seed: int, turns: int, corrected: bool, both: bool) -> None:
    chance = random.Random(seed)
    starts = [GOLD, TEAL] if both else [GOLD]
    events = [NEW_GAME, Event(EventKind.SET_UP, {"state": [GAME.notation.format_state(state) for state in starts]})]
    state = chance.choice(starts)
    count = 0
    for number in range(turns):
        if GAME.rules.outcome(state) is not None:
            break
        if corrected and number == turns // 2:
            agreed = [GOLD] if number else starts
            state = GOLD if number else state
            texts: list[JsonValue] = [GAME.notation.format_state(each) for each in agreed]
            events.append(Event(EventKind.CORRECTION, {"by": "Ann", "state": texts, "why": "a {strange}; lamp\n"}))
        event, state = played(state, chance)
        events.append(event)
        count += 1
    record = make_record(GAME, list(enumerate(events, 1)))
    text = write(record)
    assert write(read(text)) == text
    again = replay(read(text))
    assert len(again.turns) == count
    assert again.states[-1] == (state if count else GOLD)
    assert ("Gold", "Ann") in record.tags
    assert ("Teal", 'B"en') in record.tags


@pytest.mark.parametrize("starts", [GOLD, TEAL], ids=["gold", "teal"])
def test_the_record_begins_with_the_player_who_made_the_first_turn_after_a_correction(starts: Any) -> None:
    both: list[JsonValue] = [GAME.notation.format_state(state) for state in (GOLD, TEAL)]
    turn, after = played(starts, random.Random(1))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": both}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": both}),
        turn,
    ]
    again = replay(read(write(make_record(GAME, list(enumerate(events, 1))))))
    assert [state.to_move for state in again.states[:-1]] == [starts.to_move] * 2
    assert again.states[-1] == after


def test_a_roll_before_it_is_known_who_starts_is_recorded_for_whoever_plays(new_journal: Callable[[], Journal]) -> None:
    game, journal = load("blockade"), new_journal()
    starts = start_states(game, {"starts": "either"})
    session = by_text(journal, "blockade")
    session.begin(NewGame("blockade", {"starts": "either"}))
    session.enter(EnterRoll("4,1", "Ann"))
    rolled = game.dice_for("4,1").rolled(starts[1], Roll(("4", "1")))
    turn = game.rules.legal_turns(rolled)[0]
    session.enter(EnterTurn(game.notation.format_turn(turn), "Ann", turn.player))
    record = make_record(game, journal.events())
    assert replay(record).states == (starts[1], rolled, game.rules.apply(rolled, turn))
    assert not any(isinstance(entry, PositionSet) for entry in record.entries)


def test_the_journal_keeps_sides_and_a_reply_has_names(new_journal: Callable[[], Journal]) -> None:
    game, journal = load("diaballik"), new_journal()
    session = by_text(journal, "diaballik")
    session.begin(NewGame("diaballik", players={"black": "Ann", "white": "Ben"}))
    replies: list[Reply | None] = []
    session.execute(EnterTurn("a1-a2", "Ann"), replies.append)
    session.execute(EnterTurn("a2-a3", "Ann"), replies.append)
    assert replies[0] == Reply("Ann moves a1 to a2.")
    assert replies[1] is not None
    assert replies[1].refused
    assert "Ben has no piece on a2" in replies[1].words or "The piece on a2 is Ann's" in replies[1].words
    told = [line.sentence for line in event_lines(game, journal.events())]
    assert told == [
        "Diaballik; black is Ann, white is Ben",
        "the set-up is accepted; Ann starts",
        "a1-a2  Ann moves a1 to a2.",
    ]
    assert "Ann moves" not in str([event.data for _, event in journal.events()])


def test_a_solo_game_lost_on_time_has_no_result(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    session = by_text(journal, "number-drop")
    session.begin(NewGame("number-drop", {"players": 1}))
    session.enter(Announce("resign", "the clock"))
    journal.append(end_event(Outcome(None, time_is_up("p1")), None))
    game = load("number-drop")
    record = make_record(game, journal.events())
    assert record.result == UNFINISHED
    assert ("Termination", "p1's time is up") in record.tags
    assert event_lines(game, journal.events())[-1].sentence == "The game was given up: p1's time is up."


def test_a_resigned_game_has_its_result() -> None:
    end = Event(EventKind.END, {"winner": "teal", "reason": "gold gave up"})
    events = list(enumerate([NEW_GAME, Event(EventKind.SET_UP, {"state": GAME.notation.format_state(GOLD)}), end], 1))
    record = make_record(GAME, events)
    assert record.result == "teal"
    assert ("Termination", "gold gave up") in record.tags
    assert ("Date", "2026-05-01") in record.tags


def test_a_game_that_was_stopped_has_no_result() -> None:
    end = Event(EventKind.END, {"winner": None, "reason": STOPPED})
    events = list(enumerate([NEW_GAME, Event(EventKind.SET_UP, {"state": GAME.notation.format_state(GOLD)}), end], 1))
    assert make_record(GAME, events).result == UNFINISHED
    assert event_lines(GAME, events)[-1].sentence == "The game was stopped before its end."


def test_with_an_open_starting_player_the_record_begins_with_the_first_possible_state() -> None:
    both: list[JsonValue] = [GAME.notation.format_state(state) for state in (GOLD, TEAL)]
    record = make_record(GAME, list(enumerate([NEW_GAME, Event(EventKind.SET_UP, {"state": both})], 1)))
    assert replay(record).states == (GOLD,)


def test_turns_taken_back_are_not_in_the_record() -> None:
    event, _ = played(GOLD, random.Random(1))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": GAME.notation.format_state(GOLD)}),
        event,
        Event(EventKind.TAKE_BACK, {"by": "Ann"}),
    ]
    assert make_record(GAME, list(enumerate(events, 1))).entries == ()


def test_a_game_without_a_set_up_has_no_record() -> None:
    with pytest.raises(FoldError, match="never set up"):
        make_record(GAME, [(1, NEW_GAME)])


def test_every_kind_of_event_is_described() -> None:
    turn, after = played(TEAL, random.Random(2))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": [GAME.notation.format_state(GOLD), GAME.notation.format_state(TEAL)]}),
        Event(EventKind.QUESTION, {"sentence": "Is that a star?"}),
        turn,
        Event(EventKind.ILLEGAL, {"sentence": "That was not a roll."}),
        Event(EventKind.PUT_RIGHT, {}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": GAME.notation.format_state(after), "why": "the lamp"}),
        Event(EventKind.NOTE, {"text": "a remark"}),
        Event(EventKind.TAKE_BACK, {"by": "Ben"}),
        Event(EventKind.END, {"winner": None, "reason": "agreed"}),
    ]
    told = event_lines(GAME, list(enumerate(events, 1)))
    assert [line.number for line in told] == list(range(1, 11))
    sentences = {line.kind: line.sentence for line in told}
    assert "gold is Ann" in sentences["new game"]
    assert sentences["set up"].endswith("it is open who starts")
    assert sentences["turn"].startswith(str(turn.data["turn"]))
    assert 'B"en rolls' in sentences["turn"]
    assert sentences["question"] == "Is that a star?"
    assert sentences["illegal"] == "That was not a roll."
    assert sentences["put right"] == ""
    assert sentences["correction"] == "corrected by Ann (the lamp)"
    assert sentences["note"] == "a remark"
    assert sentences["take back"] == f"{turn.data['turn']} is taken back by Ben, with the corrections after it"
    assert sentences["end"] == "A draw: agreed."


def test_hints_clocks_corrected_squares_announcements_and_shared_victories_are_described() -> None:
    hint = {"player": "gold", "turn": "c1-c2=hoops-a1", "strength": "strong", "stage": "whole"}
    state = GAME.notation.format_state(GOLD)
    teal = GAME.notation.format_state(GAME.table.amend(GOLD, {}, "teal"))
    resigned = GAME.notation.format_state(GAME.rules.announce(GOLD, Announcement("resign", "gold")))
    events = [
        NEW_GAME,
        Event(EventKind.SET_UP, {"state": state}),
        Event(EventKind.HINT_GIVEN, {**hint, "sentence": "Hint: the block on c1."}),
        Event(EventKind.HINT_GIVEN, hint),
        Event(EventKind.CLOCK, {"change": "running"}),
        Event(EventKind.CLOCK, {"change": "stopped", "sentence": "Time is up."}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": state, "places": ["c1", "nowhere"]}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": teal, "places": []}),
        Event(EventKind.CORRECTION, {"by": "Ann", "state": state, "places": ["c1"], "why": "the lamp"}),
        Event(EventKind.ANNOUNCED, {"announcement": "gold:resign", "state": resigned, "by": "Ann"}),
        Event(EventKind.TAKE_BACK, {"by": "Ann"}),
        Event(EventKind.END, {"winner": None, "reason": "most points", "shared_by": ["gold", "teal"]}),
    ]
    told = [(line.kind, line.sentence) for line in event_lines(GAME, list(enumerate(events, 1)))[1:]]
    assert told == [
        ("set up", "the set-up is accepted; Ann starts"),
        ("hint given", "a strong hint for Ann: the block on c1."),
        ("hint given", "a strong hint for Ann: c1-c2=hoops-a1"),
        ("clock", "Time is up."),
        ("correction", "corrected by Ann: c1 is gold block, star up"),
        ("correction", 'corrected by Ann: B"en plays next'),
        ("correction", "corrected by Ann: c1 is gold block, star up, Ann plays next (the lamp)"),
        ("announced", "Ann resigns."),
        ("take back", "Ann resigns. Taken back by Ann"),
        ("end", 'Ann and B"en share the win: most points.'),
    ]


NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_pictures_are_written_under_safe_names_and_missing_ones_are_reported(tmp_path: Path) -> None:
    pictures = [
        Evidence("before-c3", "image/png", b"1"),
        Evidence("before-c3", "image/png", b"2"),
        Evidence("../../etc/passwd", "image/jpeg", b"3"),
        Evidence("...", "application/x-odd", b"4"),
        Evidence("huge", "image/png", bytes(100)),
    ]
    folder = tmp_path / "new/folder"
    with Journal.in_memory(wall_clock=lambda: NOW, limits=EvidenceLimits(picture_bytes=50)) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}), pictures)
        written, left_out = write_evidence(journal, journal.events(), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "0001-new-game-before-c3.png": b"1",
        "0001-new-game-before-c3-1.png": b"2",
        "0001-new-game-etc-passwd.jpg": b"3",
        "0001-new-game-picture.bin": b"4",
    }
    assert written == [
        folder / f"0001-new-game-{name}"
        for name in ("before-c3.png", "before-c3-1.png", "etc-passwd.jpg", "picture.bin")
    ]
    assert [(kept.evidence.name, kept.left_out) for kept in left_out] == [("huge", "too large")]


def test_events_without_pictures_write_nothing(tmp_path: Path) -> None:
    with Journal.in_memory(wall_clock=lambda: NOW) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}))
        assert write_evidence(journal, journal.events(), tmp_path / "empty") == ([], [])
    assert list((tmp_path / "empty").iterdir()) == []
