"""The service on synthetic readings: the ends of turns, and the order of records, signals and reports."""

from __future__ import annotations

from typing import Any

import pytest

from hardware.lights.signals import Mood, Sound
from referee.commands.values import Correct
from referee.judge.verdict import VerdictKind
from tests.referee.service_table import START, kinds_of
from vision.errors import FrameError, NotLocatedError


def test_turns_end_when_the_table_rests(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    assert kinds_of(on.show(start, 2)) == [VerdictKind.SET_UP]
    _, after = on.play(start="c1", top="hoops")
    assert on.hand(start, 1) == []
    assert kinds_of(on.show(after, 0.8)) == [VerdictKind.NOT_FINISHED]
    assert on.lamp.signals[-1].sound is Sound.SILENCE
    assert kinds_of(on.show(after, 3)) == [VerdictKind.ACCEPTED]
    assert on.kinds() == ["new game", "set up", "turn"]
    assert on.lamp.moods[-1] is Mood.ACCEPTED
    assert on.show(after, 3) == []


def test_if_presses_end_turns_only_a_press_does(table_set_up: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 5)) == [VerdictKind.NOT_FINISHED]
    assert kinds_of(on.service.end_turn()) == [VerdictKind.ACCEPTED]


def test_a_press_under_a_hand_counts_once_the_table_is_clear(table_set_up: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="c1", top="hoops")
    on.hand(after, 0.5)
    assert on.service.end_turn() == []
    assert kinds_of(on.show(after, 1)) == [VerdictKind.ACCEPTED]


def test_a_turn_ends_when_the_next_player_touches_a_block(table_set_up: Any) -> None:
    on = table_set_up(turn_end="touch")
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 3)) == [VerdictKind.NOT_FINISHED]
    lifted = {**after, "e5": "empty"}
    assert kinds_of(on.show(lifted, 1)) == [VerdictKind.ACCEPTED, VerdictKind.NOT_FINISHED]
    assert on.service.belief[0].to_move == "teal"


def test_a_turn_tried_and_taken_back_is_no_event(on: Any, start: Any) -> None:
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 0.6)
    on.hand(after, 0.4)
    assert kinds_of(on.show(start, 3)) == [VerdictKind.UNCHANGED]
    assert on.kinds() == ["new game", "set up"]
    assert all(signal.sound is Sound.SILENCE for signal in on.lamp.signals[2:])


def test_a_fault_is_reported_once_with_evidence_and_ends_once_put_right(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    assert kinds_of(on.show(wrong, 4)) == [VerdictKind.NOT_FINISHED, VerdictKind.ILLEGAL]
    on.hand(wrong, 1)
    assert on.show(wrong, 2) == []
    assert kinds_of(on.show(start, 0.6)) == [VerdictKind.PUT_RIGHT]
    assert on.kinds() == ["new game", "set up", "illegal", "put right"]
    number = next(number for number, event in on.journal.events() if event.kind == "illegal")
    names = {kept.evidence.name for kept in on.journal.evidence(number)}
    assert {"before-c1", "after-c1", "before-a5", "after-a5"} <= names


@pytest.mark.parametrize("turn_end", ["touch", "button"])
def test_a_fault_stays_lit_until_a_whole_turn_lies_on_the_table(table_set_up: Any, start: Any, turn_end: str) -> None:
    on = table_set_up(turn_end=turn_end)
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.show(wrong, 1)
    assert kinds_of(on.service.end_turn()) == [VerdictKind.ILLEGAL]
    _, after = on.play(start="c1", top="hoops")
    on.hand(wrong, 1)
    assert on.show({**start, "c1": "empty"}, 2) == [], "the block is in the player's hand"
    (waiting,) = on.show(after, 2)
    assert (waiting.kind, on.lamp.moods[-1]) == (VerdictKind.NOT_FINISHED, Mood.NOT_FINISHED)
    assert kinds_of(on.show(wrong, 2)) == [VerdictKind.ILLEGAL]
    on.show(after, 2)
    assert kinds_of(on.show(start, 1)) == [VerdictKind.PUT_RIGHT]


def test_a_flicker_is_no_change(on: Any, start: Any) -> None:
    for _ in range(10):
        on.show(start, 0.5)
        assert on.show({**start, "c1": "empty", "a5": START["c1"]}, 0.1) == []
    assert on.kinds() == ["new game", "set up"]


def test_an_object_on_a_piece_leaves_the_lights_and_is_named_on_request(table_set_up: Any) -> None:
    on = table_set_up(turn_end="button")
    _, after = on.play(start="e1", top="x")
    on.show(after, 1)
    assert kinds_of(on.service.end_turn()) == [VerdictKind.ACCEPTED]
    assert on.show(after, 3, hidden={"c5"}) == []
    assert on.lamp.moods[-1] is Mood.ACCEPTED
    (verdict,) = on.service.end_turn()
    assert (verdict.kind, verdict.places) == (VerdictKind.CANNOT_SEE, ("c5",))


def test_hidden_places_are_judged_once_visible_although_nothing_moved(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.hand(wrong, 1)
    on.show(wrong, 6, hidden={"c1", "a5"})
    assert kinds_of(on.show(wrong, 3)) == [VerdictKind.ILLEGAL]
    assert on.show(wrong, 3) == []


def test_places_visible_only_for_a_moment_are_not_judged(on: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    on.hand(wrong, 1)
    on.show(wrong, 6, hidden={"c1", "a5"})
    for _ in range(10):
        assert on.show(wrong, 0.5, hidden={"c1", "a5"}) == []
        assert on.show(wrong, 0.1) == []


def test_a_long_hand_is_named_once(table_set_up: Any, start: Any) -> None:
    on = table_set_up(patience_s=2.0)
    verdicts = on.hand(start, 6)
    assert kinds_of(verdicts) == [VerdictKind.CANNOT_SEE]
    assert "hand" in verdicts[0].sentence
    assert kinds_of(on.show(start, 1)) == [VerdictKind.UNCHANGED]


def test_a_square_that_stays_unreadable_is_named_once_and_the_game_goes_on(
    table_set_up: Any, start: Any, make_reading: Any
) -> None:
    on = table_set_up(stall_s=10.0)
    _, after = on.play(start="c1", top="hoops")
    unreadable = {"unreadable": ("e5",)}
    assert kinds_of(on.show(start, 4, **unreadable)) == []
    assert VerdictKind.ACCEPTED in kinds_of(on.show(after, 4, **unreadable))
    named = on.show(after, 12, **unreadable)
    assert kinds_of(named) == [VerdictKind.AMBIGUOUS]
    assert named[0].places == ("e5",)
    assert "not been able to read e5 for 10 seconds" in named[0].sentence
    assert on.lamp.signals[-1].lights[0].role == "question"
    assert on.kinds()[-1] == "question"
    on.show(after, 2)
    assert kinds_of(on.show(after, 14, **unreadable)) == [VerdictKind.AMBIGUOUS]


def test_a_doubtful_square_that_probably_agrees_with_the_belief_is_not_asked_about(
    table_set_up: Any, start: Any
) -> None:
    on = table_set_up(stall_s=10.0)
    assert kinds_of(on.show(start, 14, overrides={"e5": {start["e5"]: 0.7}})) == []


def test_a_square_that_a_person_described_is_not_asked_about(table_set_up: Any, start: Any) -> None:
    on = table_set_up(stall_s=10.0)
    on.service.correct(Correct("Ann", {"e5": "empty"}))
    assert VerdictKind.AMBIGUOUS not in kinds_of(on.show(start, 14, hidden=("e5",)))


def test_the_last_frames_are_judged_at_the_end(table_set_up: Any) -> None:
    on = table_set_up(rest_s=60.0)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 0.3)
    assert kinds_of(on.service.finish()) == [VerdictKind.ACCEPTED]


def test_pieces_anywhere_count_as_a_start_once_they_rest(table: Any, start: Any) -> None:
    on = table(anywhere=True)
    on.service.start()
    few = {place: look if place in {"c1", "c7"} else "empty" for place, look in start.items()}
    assert kinds_of(on.show(few, 0.6)) == [VerdictKind.NOT_FINISHED]
    assert kinds_of(on.show(start, 2)) == [VerdictKind.NOT_FINISHED, VerdictKind.SET_UP]


def test_the_service_continues_after_an_unusable_frame(table: Any, start: Any) -> None:
    on = table(stills=True)
    on.service.start()
    on.reader.following = NotLocatedError("markers 0 and 2 of 0-3 seen")
    verdicts = on.service.step(on.frame())
    assert kinds_of(verdicts) == [VerdictKind.CANNOT_SEE]
    assert "markers" in verdicts[0].sentence
    on.reader.following = FrameError("black")
    assert kinds_of(on.service.step(on.frame())) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.service.bad_frame("truncated")) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.show(start, 0.1)) == [VerdictKind.SET_UP]


def test_every_still_picture_gets_a_verdict(table: Any, start: Any) -> None:
    on = table(stills=True)
    on.service.start()
    assert kinds_of(on.show(start, 0.1)) == [VerdictKind.SET_UP]
    assert kinds_of(on.hand(start, 0.1)) == [VerdictKind.CANNOT_SEE]
    assert kinds_of(on.show(start, 0.2)) == [VerdictKind.UNCHANGED] * 2
    _, after = on.play(start="c1", top="hoops")
    assert kinds_of(on.show(after, 0.1)) == [VerdictKind.ACCEPTED]
