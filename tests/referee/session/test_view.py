"""What the table shows: which verdicts are news, and for how long it may be unclear or unreadable."""

from __future__ import annotations

from typing import Any

import pytest

from referee.judge.stability import StableView
from referee.judge.verdict import Verdict, VerdictKind
from referee.session.view import OpenQuestion, StallWatch, UnclearWatch, is_news
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

SURE, DOUBTFUL = PlaceReading({"empty": 0.9, "gold": 0.1}), PlaceReading({"empty": 0.8, "gold": 0.2})
HIDDEN, SENSED = PlaceReading({}, hidden_by=HindranceKind.OBJECT), PlaceReading({}, sensed=0.9)
STAYS = {"seen": {"c3": "empty"}, "expected": {"c3": "empty"}}
DIFFERS = {"seen": {"c3": "empty"}, "expected": {"c3": "gold"}}


def verdict(kind: str, **facts: Any) -> Verdict:
    return Verdict(VerdictKind(kind), facts.pop("sentence", "So it is."), 1.0, 3, **facts)


@pytest.mark.parametrize(
    ("told", "shown", "unsettled", "expected"),
    [
        (verdict("accepted", turns=("a1-a2",)), verdict("accepted", turns=("a1-a2",)), False, True),
        (verdict("accepted", roll="1,2"), verdict("accepted", roll="1,2"), True, True),
        (verdict("set up"), verdict("set up"), False, True),
        (verdict("unchanged"), None, False, False),
        (verdict("not finished"), None, False, True),
        (verdict("unchanged"), verdict("accepted"), False, False),
        (verdict("unchanged"), verdict("cannot see"), False, True),
        (verdict("not finished"), verdict("illegal"), False, True),
        (verdict("not finished"), verdict("illegal"), True, False),
        (verdict("not finished", candidates=("a1-a2",)), verdict("illegal"), True, True),
        (verdict("not finished", candidates=("a1-a2",)), verdict("ambiguous"), True, False),
        (verdict("unchanged"), verdict("ambiguous"), True, False),
        (verdict("unchanged"), verdict("ambiguous"), False, True),
        (verdict("cannot see"), verdict("illegal"), True, False),
        (verdict("cannot see"), verdict("accepted"), False, True),
        (verdict("cannot see", **STAYS), verdict("accepted"), False, False),
        (verdict("cannot see", **DIFFERS), verdict("accepted"), False, True),
        (verdict("cannot see", **STAYS), verdict("not finished"), False, True),
        (verdict("cannot see", sentence="A hand."), verdict("cannot see"), False, False),
        (verdict("illegal"), verdict("illegal"), True, False),
        (verdict("illegal", places=("c3",)), verdict("illegal"), True, True),
        (verdict("illegal", sentence="Too far."), verdict("illegal"), True, True),
        (verdict("illegal", **DIFFERS), verdict("illegal"), True, True),
    ],
)
def test_a_verdict_is_news_if_it_says_more_than_the_one_shown(
    told: Verdict, shown: Verdict | None, unsettled: bool, expected: bool
) -> None:
    assert is_news(told, shown, unsettled=unsettled) is expected


def test_a_question_about_unreadable_squares_is_open_until_the_newest_reading_reads_them() -> None:
    def at_rest(*c3: PlaceReading) -> StableView:
        return StableView(tuple(reading(number, c3=one, d4=DOUBTFUL) for number, one in enumerate(c3)), 0.0, {})

    question = OpenQuestion(0.9)
    assert not question.is_open(None)
    question.take(verdict("ambiguous", places=("c3", "e5")), at_rest(SURE, HIDDEN))
    views = [None, at_rest(SURE, HIDDEN), at_rest(HIDDEN, SURE), at_rest(SURE, SURE)]
    assert [question.is_open(view) for view in views] == [True, True, False, False]
    assert [question.is_read(view) for view in views if view is not None] == [False, False, True]
    question.take(verdict("accepted"), at_rest(HIDDEN))
    assert not question.is_open(None)


def test_a_question_about_turns_is_open_until_the_table_shows_something_else() -> None:
    before, after = (StableView((reading(1.0, c3=SURE),), 0.0, {"c3": look}) for look in ("empty", "gold"))
    question = OpenQuestion(0.9)
    question.take(verdict("ambiguous", places=("c3",)), before)
    assert [question.is_open(view) for view in (None, before, after)] == [True, True, False]
    assert not question.is_read(before)
    question.close()
    assert not question.is_open(before)


def reading(time_s: float, *hindrances: Hindrance, **places: PlaceReading) -> Reading:
    return Reading(round(10 * time_s), time_s, places, hindrances)


def test_a_table_that_stays_unclear_is_told_with_the_reason() -> None:
    watch = UnclearWatch(2.0)
    hand = Hindrance(HindranceKind.HAND, "a hand is over c3", ("c3",))
    assert [watch.add(reading(time_s)) for time_s in (5.0, 6.9)] == [None, None]
    moves, blocked = watch.add(reading(7.0, c3=SURE)), watch.add(reading(7.1, hand, c3=HIDDEN))
    assert moves is not None
    assert blocked is not None
    assert moves.sentence == "The picture does not come to rest; is something moving?"
    assert (moves.kind, moves.places, blocked.places) == (VerdictKind.CANNOT_SEE, (), ("c3",))
    assert (blocked.sentence, blocked.time_s, blocked.sequence) == (hand.message, 7.1, 71)
    waited = [watch.is_long]
    watch.clear()
    waited.append(watch.is_long)
    assert (waited, watch.add(reading(8.0))) == ([True, False], None)


def test_places_that_stay_unreadable_are_named_once_and_again_after_they_could_be_read() -> None:
    watch = StallWatch(4.0, 0.9)
    first = {"a1": SURE, "b2": DOUBTFUL, "c3": HIDDEN, "d4": SENSED}
    told = [
        watch.add(reading(time_s, **places))
        for time_s, places in [
            (1.0, first),
            (4.9, first),
            (5.0, first),
            (6.0, {**first, "a1": HIDDEN}),
            (9.9, {**first, "a1": HIDDEN}),
            (10.0, {**first, "a1": HIDDEN}),
            (11.0, {**first, "b2": SURE}),
            (12.0, first),
            (15.9, first),
            (16.0, first),
        ]
    ]
    assert told == [(), (), ("b2", "c3"), (), (), ("a1", "b2", "c3"), (), (), (), ("b2", "c3")]
