"""The side faces of blocks: they distinguish turns, narrow the belief, and rule turns out."""

from dataclasses import replace
from typing import Any

import pytest

from referee.judge.evidence.turns import certain_sides, facing_contradiction, side_contradiction
from referee.judge.explorer import Case, JudgeContext
from referee.judge.faults import find_turned_pieces
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import seen_as
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.service_table import known_turn


def test_sides_tell_look_alike_turns_apart(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    groups: dict[Any, list[Any]] = {}
    for turn in deblockle.rules.legal_turns(state):
        groups.setdefault((turn.start, turn.top, turn.end), []).append(turn)
    alike = next(turns for turns in groups.values() if len(turns) > 1 and turns[0].end is not None)
    after = deblockle.rules.apply(state, alike[0])
    appearance = deblockle.table.appearance(after)
    unseen = JudgedGame(deblockle, belief=(state,)).consider([make_reading(appearance)], Trigger.RESTED)
    assert unseen.verdict.turns == (deblockle.notation.format_turn(deblockle.rules.combine(alike)),)
    told = 0
    for turn in alike:
        facing = deblockle.side_faces.facings(deblockle.rules.apply(state, turn))[turn.end]
        others = [
            one
            for other in alike
            if other != turn
            for one in deblockle.side_faces.facings(deblockle.rules.apply(state, other))[turn.end]
        ]
        sides = next((dict(one) for one in facing if one not in others), None)
        if sides is None:
            continue
        told += 1
        reading = make_reading(appearance, sides={turn.end: sides})
        ruling = JudgedGame(deblockle, belief=(state,)).consider([reading], Trigger.RESTED)
        assert ruling.verdict.turns == (deblockle.notation.format_turn(turn),)
    assert told


def test_sides_narrow_the_belief_and_an_impossible_sighting_is_dropped(
    deblockle: Any, make_reading: Any, start: Any
) -> None:
    judge = JudgedGame(deblockle)
    judge.begin([make_reading(start, sides={"c1": {"south": "star"}})])
    assert len(deblockle.side_faces.facings(judge.belief[0])["c1"]) == 1
    doubting = JudgedGame(deblockle)
    ruling = doubting.begin([make_reading(start, sides={"c1": {"south": "cross"}})])
    assert len(deblockle.side_faces.facings(doubting.belief[0])["c1"]) == 4
    assert "c1" in ruling.notes[0]


def test_a_block_turned_in_place_is_recognised_by_its_sides(deblockle: Any, make_reading: Any, start: Any) -> None:
    judge = JudgedGame(deblockle)
    judge.begin([make_reading(start, sides={"c1": {"south": "star"}})])
    turned = make_reading(start, sides={"c1": {"south": "slider", "east": "star"}})
    ruling = judge.consider([turned], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert "c1" in ruling.verdict.places
    right = make_reading(start, sides={"c1": {"south": "star"}})
    assert judge.consider([right], Trigger.GLANCE).verdict.kind is VerdictKind.PUT_RIGHT


def test_a_turn_that_only_a_misread_side_forbids_is_asked_about_and_then_believed(
    deblockle: Any, make_reading: Any, start: Any
) -> None:
    judge = JudgedGame(deblockle)
    judge.begin([make_reading(start, sides={"c1": {"south": "star"}})])
    plain = deblockle.table.set_up(start)
    turn = next(
        turn
        for turn in deblockle.rules.legal_turns(plain)
        if turn.start == "c1"
        and deblockle.table.explain(judge.belief[0], deblockle.table.appearance(deblockle.rules.apply(plain, turn)))
    )
    after = make_reading(deblockle.table.appearance(deblockle.rules.apply(plain, turn)))
    asked = judge.consider([after], Trigger.DECLARED)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert asked.steps == ()
    assert judge.consider([after], Trigger.RESTED).verdict.kind is VerdictKind.AMBIGUOUS
    ruling = judge.consider([after], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert ruling.withdrawn == (plain,)
    with_roll_alone = [JudgedGame(deblockle, belief=(plain,)).consider([after], Trigger.DECLARED).steps]
    assert [ruling.steps] == with_roll_alone


@pytest.mark.parametrize(("sureness", "kind"), [(0.999, VerdictKind.ILLEGAL), (0.9, VerdictKind.AMBIGUOUS)])
def test_a_turn_with_impossible_sides_is_not_accepted(
    judge: JudgedGame, deblockle: Any, make_reading: Any, sureness: float, kind: VerdictKind
) -> None:
    state = judge.belief[0]
    turn = known_turn(deblockle, state, start="c1", top="hoops")
    after = deblockle.rules.apply(state, turn)
    possible = {
        facing["south"]
        for one in deblockle.rules.legal_turns(state)
        if (one.start, one.top, one.end) == (turn.start, turn.top, turn.end)
        for facing in deblockle.side_faces.facings(deblockle.rules.apply(state, one))[turn.end]
    }
    impossible = next(name for name in ("hoops", "star", "stop", "cross", "x", "slider") if name not in possible)
    reading = make_reading(deblockle.table.appearance(after))
    seen = dict(reading.places)
    rest = (1 - sureness) / 5
    symbols = ("star", "stop", "cross", "x", "slider", "hoops")
    side = {name: sureness if name == impossible else rest for name in symbols}
    seen[turn.end] = replace(seen[turn.end], sides={"south": side})
    odd = replace(reading, places=seen)
    ruling = judge.consider([odd], Trigger.DECLARED)
    assert ruling.verdict.kind is kind
    assert judge.belief == (state,)
    again = judge.consider([odd], Trigger.DECLARED)
    assert again.verdict.kind is (VerdictKind.ILLEGAL if kind is VerdictKind.ILLEGAL else VerdictKind.ACCEPTED)


def test_side_faces_are_scored_against_the_orientation_that_fits_best() -> None:
    seen = {"south": {"x": -0.1, "star": -3.0}, "east": {"stop": -0.2, "x": -4.0}, "north": {}}
    right, half = {"south": "x", "east": "stop", "north": "star"}, {"south": "x", "east": "slider"}
    assert facing_contradiction([half, right], seen) == 0.0
    assert facing_contradiction([half], seen) == pytest.approx(3.8), "what is not among those seen is as the least"
    assert facing_contradiction([{"west": "x"}], seen) == 0.0, "nothing is known of the sides seen"
    assert facing_contradiction([], seen) == 0.0


def test_unseen_sides_contradict_no_turn(deblockle: Any, diaballik: Any) -> None:
    for game in (deblockle, diaballik):
        state = game.rules.new()
        turn = game.rules.legal_turns(state)[0]
        assert side_contradiction(game, state, (turn,), seen_as(game, state)) == 0.0


def test_a_block_was_turned_in_place_if_its_top_stays_and_its_sides_are_impossible(deblockle: Any) -> None:
    context: JudgeContext[Any, Any] = JudgeContext(deblockle)
    state = deblockle.rules.new()
    table = seen_as(deblockle, state)
    top = deblockle.table.appearance(state)["c1"]
    (facing,) = deblockle.side_faces.facings(state)["c1"]
    other = next(name for name in facing.values() if name != facing["south"])
    sides = {"south": {other: 0.0, facing["south"]: -9.0}}

    def suspected(differing: dict[str, str]) -> set[str]:
        seen = seen_as(deblockle, state, differing)
        seen = replace(seen, places={**table.places, "c1": replace(seen.places["c1"], sides=sides)})
        return {place for breach in find_turned_pieces(Case(context, (state,), seen), 3.0) for place in breach.places}

    assert suspected({}) == {"c1"}
    assert suspected({"c1": next(look for look in deblockle.looks if look not in (top, "empty"))}) == set()


def test_a_side_is_certain_if_its_best_symbol_leads_by_enough(deblockle: Any) -> None:
    table = seen_as(deblockle, deblockle.rules.new())
    sides = {"south": {"x": -0.1, "star": -3.1}, "east": {"stop": -0.2, "x": -3.1}, "north": {"x": -0.1}, "west": {}}
    places = {"c1": replace(table.places["c1"], sides=sides), "d1": replace(table.places["d1"], sides={})}
    assert certain_sides({**table.places, **places}, ["c1", "d1", "z9"], 3.0) == {"c1": {"south": "x"}}
