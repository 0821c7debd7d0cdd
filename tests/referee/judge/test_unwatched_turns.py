"""Two or more turns between looks, judged by side faces as well as by tops."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from engine.values import EMPTY
from referee.judge.explanations import more_turns_explain
from referee.judge.explorer import Case, JudgeContext, changes_between
from referee.judge.pooled_reading import pool
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import seen_as
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.judge.sensor_readings import felt

BELIEVED = (
    "gold c1:G.cross/north=hoops d1:G.x/north=slider f2:G.hoops/north=stop a3:G.hoops/north=star "
    "a5:T.cross/north=star e5:T.hoops/north=star c7:T.x/north=slider f7:T.hoops/north=x removed=0,0"
)
TWO = ("c1-b1=stop", "e5-f5=cross-f4")
THREE = ("c1-c2=slider-c1", "e5-f5=cross-f4", "c1-b1=stop")
SYMBOLS = ("star", "stop", "cross", "x", "slider", "hoops")


@pytest.fixture
def believed(deblockle: Any) -> Any:
    return deblockle.notation.parse_state(BELIEVED)


def played(game: Any, state: Any, texts: tuple[str, ...]) -> Any:
    for text in texts:
        state = game.rules.apply(state, game.notation.parse_turn(state, text))
    return state


def look_at(
    game: Any, make_reading: Any, state: Any, sureness: float = 0.98, besides: Mapping[str, str] | None = None
) -> Any:
    """A reading of a state with known nets, with every south side; ``besides`` adds or replaces sides."""
    reading = make_reading(game.table.appearance(state))
    places = dict(reading.places)
    for place, (facing,) in game.side_faces.facings(state).items():
        south = (besides or {}).get(place, facing["south"])
        symbols = {name: sureness if name == south else (1 - sureness) / 5 for name in SYMBOLS}
        places[place] = replace(places[place], sides={"south": symbols})
    return replace(reading, places=places)


def test_the_turns_in_question_leave_the_same_tops(deblockle: Any, believed: Any) -> None:
    two, three = played(deblockle, believed, TWO), played(deblockle, believed, THREE)
    assert deblockle.table.appearance(two) == deblockle.table.appearance(three)
    assert deblockle.side_faces.facings(two)["b1"] != deblockle.side_faces.facings(three)["b1"]


@pytest.mark.parametrize("trigger", [Trigger.RESTED, Trigger.DECLARED])
def test_three_turns_are_not_taken_for_two_that_the_sides_forbid(
    deblockle: Any, make_reading: Any, believed: Any, trigger: Trigger
) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    reading = look_at(deblockle, make_reading, played(deblockle, believed, THREE))
    for _ in range(3):
        ruling = judge.consider([reading], trigger)
        assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
        assert ruling.steps == ()
        assert "b1" in ruling.verdict.places
        assert "more than two turns" in ruling.verdict.sentence.lower()
        assert "./run table correct" in ruling.verdict.sentence
    assert judge.belief == (believed,)


def test_two_turns_that_the_sides_agree_with_are_accepted(deblockle: Any, make_reading: Any, believed: Any) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    after = played(deblockle, believed, TWO)
    ruling = judge.consider([look_at(deblockle, make_reading, after)], Trigger.DECLARED)
    assert ruling.verdict.turns == TWO
    assert judge.belief == (after,)


def test_two_turns_that_the_sides_doubt_are_asked_about_and_confirmed_by_a_second_press(
    deblockle: Any, make_reading: Any, believed: Any
) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    reading = look_at(deblockle, make_reading, played(deblockle, believed, THREE), sureness=0.9)
    asked = judge.consider([reading], Trigger.DECLARED)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert asked.verdict.candidates == TWO
    assert "Press the button again" in asked.verdict.sentence
    assert judge.consider([reading], Trigger.RESTED).verdict.kind is VerdictKind.AMBIGUOUS
    assert judge.consider([reading], Trigger.DECLARED).verdict.turns == TWO


def test_two_turns_and_sides_that_no_turns_explain_are_not_accepted(
    deblockle: Any, make_reading: Any, believed: Any
) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    # From e5, the block that shows cross on f4 came with its star to the north.
    reading = look_at(deblockle, make_reading, played(deblockle, believed, TWO), 0.999, besides={"f4": "star"})
    for _ in range(2):
        verdict = judge.consider([reading], Trigger.DECLARED).verdict
        assert verdict.kind is VerdictKind.AMBIGUOUS
        assert verdict.candidates == TWO
        assert "was turned, or more than two turns were played" in verdict.sentence
    assert judge.belief == (believed,)


def test_another_block_turned_during_two_turns_is_asked_about(deblockle: Any, make_reading: Any, believed: Any) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    after = played(deblockle, believed, TWO)
    reading = look_at(deblockle, make_reading, after, besides={"a3": "hoops"})
    asked = judge.consider([reading], Trigger.DECLARED).verdict
    assert (asked.kind, asked.places) == (VerdictKind.AMBIGUOUS, ("a3",))
    assert judge.consider([look_at(deblockle, make_reading, after)], Trigger.DECLARED).verdict.turns == TWO


def test_another_block_turned_during_a_turn_that_waits_for_a_touch_is_asked_about_at_rest(
    deblockle: Any, make_reading: Any, believed: Any
) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    first = played(deblockle, believed, TWO[:1])
    turned = look_at(deblockle, make_reading, first, besides={"a3": "hoops"})
    assert judge.consider([turned], Trigger.TOUCH).verdict.kind is VerdictKind.NOT_FINISHED
    asked = judge.consider([turned], Trigger.TOUCH_RESTED)
    assert (asked.verdict.kind, asked.verdict.places, asked.steps) == (VerdictKind.AMBIGUOUS, ("a3",), ())
    right = look_at(deblockle, make_reading, first)
    assert judge.consider([right], Trigger.TOUCH_RESTED).verdict.kind is VerdictKind.NOT_FINISHED
    both = look_at(deblockle, make_reading, played(deblockle, believed, TWO))
    ruling = judge.consider([both], Trigger.TOUCH)
    assert [deblockle.notation.format_turn(step.turn) for step in ruling.steps] == list(TWO[:1])


@pytest.mark.parametrize("trigger", [Trigger.TOUCH, Trigger.TOUCH_RESTED, Trigger.RESTED, Trigger.DECLARED])
def test_a_turn_that_the_sides_forbid_is_not_accepted_when_the_next_player_has_begun(
    deblockle: Any, make_reading: Any, believed: Any, trigger: Trigger
) -> None:
    first = played(deblockle, believed, TWO[:1])
    lifted = next(part for part in deblockle.table.unfinished(first) if part.places == ("e5",))
    judge = JudgedGame(deblockle, belief=(believed,))
    reading = look_at(deblockle, make_reading, first, besides={"b1": "x"})
    places = {**reading.places, "e5": make_reading(lifted.change).places["e5"]}
    ruling = judge.consider([replace(reading, places=places)], trigger)
    quiet = trigger is Trigger.TOUCH
    assert ruling.verdict.kind is (VerdictKind.NOT_FINISHED if quiet else VerdictKind.AMBIGUOUS)
    assert ruling.steps == ()
    right = look_at(deblockle, make_reading, first)
    places = {**right.places, "e5": places["e5"]}
    accepted = judge.consider([replace(right, places=places)], trigger)
    assert [deblockle.notation.format_turn(step.turn) for step in accepted.steps] == ["c1-b1=stop"]


def test_a_turn_that_waits_for_a_touch_is_weighed_when_the_touch_breaks_a_rule(
    deblockle: Any, make_reading: Any, believed: Any
) -> None:
    first = played(deblockle, believed, TWO[:1])
    judge = JudgedGame(deblockle, belief=(believed,))
    judge.consider([look_at(deblockle, make_reading, first)], Trigger.TOUCH)
    wrong = make_reading(
        {**deblockle.table.appearance(first), "e5": "empty", "g2": "teal block, hoops up"}, sureness=0.999
    )
    sides = {"south": {name: 0.98 if name == "x" else 0.004 for name in SYMBOLS}}
    turned = replace(wrong, places={**wrong.places, "b1": replace(wrong.places["b1"], sides=sides)})
    ruling = judge.consider([turned], Trigger.TOUCH_RESTED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert ruling.steps == ()
    ruling = judge.consider([wrong], Trigger.TOUCH_RESTED)
    assert [deblockle.notation.format_turn(step.turn) for step in ruling.steps] == ["c1-b1=stop"]


def test_three_turns_that_each_change_one_top_are_more_than_two(deblockle: Any, believed: Any) -> None:
    """Fewer than three changed places are a broken rule rather than three turns."""
    context: JudgeContext[Any, Any] = JudgeContext(deblockle)
    after = played(deblockle, believed, ("c1-c2=slider-c1", "a5-b5=slider-a5", "f2-e2=cross-f2"))
    before, shown = deblockle.table.appearance(believed), deblockle.table.appearance(after)
    changes = changes_between(before, shown)
    assert {place for place, _ in changes} == {"c1", "a5", "f2"}
    assert more_turns_explain(Case(context, (believed,), seen_as(deblockle, after)), changes)
    two = frozenset((place, look) for place, look in changes if place != "f2")
    seen = seen_as(deblockle, believed, dict(two))
    assert not more_turns_explain(Case(context, (believed,), seen), two)


def test_three_turns_that_only_sensors_know_are_more_than_two(deblockle: Any, believed: Any) -> None:
    context: JudgeContext[Any, Any] = JudgeContext(deblockle)
    state = played(deblockle, believed, TWO)
    third = next(turn for turn in deblockle.rules.legal_turns(state) if turn.start == "a3")
    before, after = (deblockle.table.appearance(one) for one in (believed, deblockle.rules.apply(state, third)))
    seen = pool(felt(deblockle, after), deblockle.places, deblockle.looks, 1e-5)
    changes = frozenset(
        (place, one.best) for place, one in seen.places.items() if (one.best == EMPTY) != (before[place] == EMPTY)
    )
    assert len(changes) == 6
    assert more_turns_explain(Case(context, (believed,), seen), changes)


def test_three_turns_of_three_blocks_are_called_more_than_two(deblockle: Any, make_reading: Any, believed: Any) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    state = played(deblockle, believed, TWO)
    third = next(turn for turn in deblockle.rules.legal_turns(state) if turn.start == "a3")
    after = deblockle.rules.apply(state, third)
    verdict = judge.consider([look_at(deblockle, make_reading, after, 0.99)], Trigger.DECLARED).verdict
    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert "More than two turns" in verdict.sentence
    assert {"a3", third.end, "b1", "f4"} <= set(verdict.places)
    assert judge.belief == (believed,)


def test_a_table_that_no_turns_explain_is_still_a_named_fault(deblockle: Any, make_reading: Any, believed: Any) -> None:
    judge = JudgedGame(deblockle, belief=(believed,))
    after = dict(deblockle.table.appearance(played(deblockle, believed, TWO)))
    swapped = {**after, "a3": "empty", "g2": after["a3"]}
    verdict = judge.consider([make_reading(swapped, sureness=0.999)], Trigger.DECLARED).verdict
    assert verdict.kind is VerdictKind.ILLEGAL
    assert "two-blocks-moved" in [breach.rule for breach in verdict.breaches]


def test_a_block_rolled_twice_by_a_player_who_plays_again_is_asked_about(deblockle: Any, make_reading: Any) -> None:
    """Gold is walled in, so teal plays twice: was its block rolled, hopped back and rolled again, or rolled twice?"""
    walled = "a1:G.star/north=slider a2:T.star/north=slider b1:T.star/north=slider"
    asked = 0
    for facing in ("star/north=slider", "stop/north=cross", "hoops/north=star"):
        state = deblockle.notation.parse_state(f"teal {walled} f7:T.{facing} removed=3,1")
        for turn in deblockle.rules.legal_turns(state):
            after = deblockle.rules.apply(state, turn)
            if turn.places[0] != "f7" or deblockle.table.appearance(after)["f7"] == "empty" or after.to_move != "teal":
                continue
            for part in deblockle.table.unfinished(after):
                seen = {**deblockle.table.appearance(after), **part.change}
                if len(part.places) < 2 or "f7" not in part.places or not deblockle.table.explain(state, seen):
                    continue
                judge = JudgedGame(deblockle, belief=(state,))
                ruling = judge.consider([make_reading(seen, sureness=0.99)] * 4, Trigger.RESTED)
                # Two whole turns may look the same; a turn and part of the next is never assumed.
                assert len(ruling.steps) in {0, 2}
                if ruling.verdict.kind is VerdictKind.AMBIGUOUS:
                    asked += "the same piece moved on" in ruling.verdict.sentence
    assert asked > 0
