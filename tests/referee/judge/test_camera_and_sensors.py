"""The judge with sensors beside a camera, agreeing with it or contradicting it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from referee.judge.pooled_reading import pool
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import places_drawn
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.judge.sensor_readings import after, both, felt, known_start
from vision.reading import HindranceKind, PlaceReading, Reading


def test_a_sensor_decides_where_the_camera_is_torn(deblockle: Any, make_reading: Any) -> None:
    looks = dict.fromkeys(deblockle.places, "empty")
    torn = {"c3": {"empty": 0.5, "gold block, x up": 0.45}}
    readings = both(make_reading, looks, {**looks, "c3": "gold block, x up"}, overrides=torn)
    place = pool(readings, deblockle.places, deblockle.looks, 1e-5).places["c3"]
    assert place.best == "gold block, x up"
    assert place.certainty > 3
    assert not place.sensed_only


def test_a_sensor_reports_a_square_that_the_camera_cannot_see(deblockle: Any, make_reading: Any) -> None:
    state = deblockle.table.set_up(deblockle.table.appearance(deblockle.rules.new()))
    turn, looks = after(deblockle, state, "c1-b1=x-a2")
    alone = JudgedGame(deblockle, belief=(state,))
    readings = [make_reading(looks, time_s=10 + number / 10, hidden=["a2"]) for number in range(4)]
    assert alone.consider(readings, Trigger.DECLARED).verdict.kind is VerdictKind.CANNOT_SEE
    state = known_start(deblockle)
    unique = next(
        one for one in deblockle.rules.legal_turns(state) if deblockle.notation.format_turn(one) == "c1-c2=hoops-a1"
    )
    looks = deblockle.table.appearance(deblockle.rules.apply(state, unique))
    for trigger in (Trigger.RESTED, Trigger.DECLARED):
        judge = JudgedGame(deblockle, belief=(state,))
        ruling = judge.consider(both(make_reading, looks, looks, hidden=["a1"]), trigger)
        assert ruling.verdict.turns == ("c1-c2=hoops-a1",)
    assert turn.player == "gold"


def test_a_sensor_that_contradicts_the_camera_about_a_change_is_asked_about(deblockle: Any, make_reading: Any) -> None:
    state = known_start(deblockle)
    _, looks = after(deblockle, state, "c1-c2=hoops-a1")
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(both(make_reading, looks, looks, wrong=["a1"]), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert not ruling.steps
    assert "sensors disagree about a1" in ruling.verdict.sentence
    assert judge.consider(both(make_reading, looks, looks, wrong=["a1"]), Trigger.RESTED).steps == ()
    ruling = judge.consider(both(make_reading, looks, looks, wrong=["a1"]), Trigger.DECLARED)
    assert ruling.verdict.turns == ("c1-c2=hoops-a1",)


def test_a_dispute_is_asked_about_aloud_once_the_next_player_has_gone_on(deblockle: Any, make_reading: Any) -> None:
    """If touches end turns, quick players never let the table rest, and three turns are too many to follow."""
    state = known_start(deblockle)
    first, looks = after(deblockle, state, "c1-c2=hoops-a1")
    judge = JudgedGame(deblockle, belief=(state,))
    quiet = judge.consider(both(make_reading, looks, looks, wrong=["a1"]), Trigger.TOUCH)
    assert quiet.verdict.kind is VerdictKind.NOT_FINISHED
    _, later = after(deblockle, deblockle.rules.apply(state, first), "c5-c4=slider-g4")
    asked = judge.consider(both(make_reading, later, later, wrong=["a1"]), Trigger.TOUCH)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert "sensors disagree about a1" in asked.verdict.sentence
    pressed = judge.consider(both(make_reading, later, later, wrong=["a1"]), Trigger.DECLARED)
    assert pressed.verdict.turns == ("c1-c2=hoops-a1", "c5-c4=slider-g4")


DIABALLIK = "black black:a1,b1,c1,f1,d2,e2*,g3 white:a4,f6,g6,a7,c7*,d7,e7"


def played(diaballik: Any, *texts: str) -> list[Any]:
    """The states from a position of Diaballik on, one after each turn."""
    states = [diaballik.notation.parse_state(DIABALLIK)]
    for text in texts:
        states.append(diaballik.rules.apply(states[-1], diaballik.notation.parse_turn(states[-1], text)))
    return states


def beside_switches(
    diaballik: Any,
    state: Any,
    hidden: Collection[str] = (),
    wrong: Collection[str] = (),
    seen: Mapping[str, str] | None = None,
) -> Any:
    """Readings of Diaballik by a camera that doesn't see the ``hidden`` squares and switches, some of them wrong.

    Only the camera sees the pieces ``seen``.
    """

    def make_reading(looks: Mapping[str, str], *, time_s: float) -> Reading:
        places = places_drawn(diaballik, looks, "99%")
        out_of_sight = {place: replace(places[place], hidden_by=HindranceKind.OBJECT) for place in hidden}
        return Reading(0, time_s, {**places, **out_of_sight})

    looks = diaballik.table.appearance(state)
    return both(make_reading, {**looks, **(seen or {})}, looks, wrong=wrong)


@pytest.mark.parametrize("trigger", [Trigger.TOUCH, Trigger.TOUCH_RESTED])
def test_two_quick_turns_that_the_camera_sees_are_followed_although_one_square_is_only_sensed(
    diaballik: Any, trigger: Trigger
) -> None:
    states = played(diaballik, "d2-d3 g3-g2", "f6-e6 a7-b7 c7*b7", "f1-f2 f2-f3")
    judge = JudgedGame(diaballik, belief=states[:1])
    judge.consider(beside_switches(diaballik, states[1]), Trigger.TOUCH)
    ruling = judge.consider(beside_switches(diaballik, states[3], hidden=["a6", "a7"]), trigger)
    assert [diaballik.notation.format_turn(step.turn) for step in ruling.steps] == ["d2-d3 g3-g2", "f6-e6 a7-b7 c7*b7"]
    assert ruling.verdicts[-1].candidates == ("f1-f2 f2-f3",)


def test_two_quick_turns_known_only_by_sensors_are_asked_about_at_once_if_touches_end_turns(diaballik: Any) -> None:
    states = played(diaballik, "d2-d3 g3-g2", "g6-g5")
    hidden = ["d2", "d3", "g2", "g3", "d4", "g4"]
    judge = JudgedGame(diaballik, belief=states[:1])
    ruling = judge.consider(beside_switches(diaballik, states[2], hidden), Trigger.TOUCH)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert not ruling.steps


def test_a_sensor_that_contradicts_the_camera_is_not_believed_once_something_covers_its_square(diaballik: Any) -> None:
    states = played(diaballik, "d2-d3 g3-g2", "f6-e6 c7*a7", "f1-f2 f2-f3")
    judge = JudgedGame(diaballik, belief=states[1:2])
    quiet = judge.consider(beside_switches(diaballik, states[2], wrong=["c7"]), Trigger.TOUCH)
    assert quiet.verdict.kind is VerdictKind.NOT_FINISHED
    covered = judge.consider(beside_switches(diaballik, states[3], hidden=["c7"], wrong=["c7"]), Trigger.TOUCH)
    assert covered.verdict.kind is VerdictKind.AMBIGUOUS
    assert "sensors disagree about c7" in covered.verdict.sentence
    seen_again = judge.consider(beside_switches(diaballik, states[3]), Trigger.TOUCH)
    assert [diaballik.notation.format_turn(step.turn) for step in seen_again.steps] == ["f6-e6 c7*a7"]


@pytest.mark.parametrize("trigger", Trigger)
def test_a_piece_that_only_the_camera_sees_disturbs_no_turn_elsewhere(diaballik: Any, trigger: Trigger) -> None:
    states = played(diaballik, "d2-d3 g3-g2")
    judge = JudgedGame(diaballik, belief=states[:1])
    ruling = judge.consider(beside_switches(diaballik, states[1], seen={"e4": "black piece"}), trigger)
    if trigger.accepts:
        assert ruling.verdict.turns == ("d2-d3 g3-g2",)
        assert ruling.verdicts[1].places == ("e4",)
    else:
        assert (ruling.verdict.kind, ruling.verdict.candidates) == (VerdictKind.NOT_FINISHED, ("d2-d3 g3-g2",))


def test_a_stuck_sensor_elsewhere_does_not_disturb_the_camera(deblockle: Any, make_reading: Any) -> None:
    state = known_start(deblockle)
    _, looks = after(deblockle, state, "c1-c2=hoops-a1")
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(both(make_reading, looks, looks, wrong=["g4", "c7", "a4", "e5"]), Trigger.DECLARED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED]


def test_a_piece_that_left_a_sensor_stuck_closed_is_accepted_by_the_camera(deblockle: Any, make_reading: Any) -> None:
    state = known_start(deblockle)
    _, looks = after(deblockle, state, "c1-c2=hoops-a1")
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(both(make_reading, looks, looks, wrong=["c1"]), Trigger.DECLARED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED]


def test_a_piece_the_camera_sees_and_a_sensor_does_not_is_set_aside(deblockle: Any, make_reading: Any) -> None:
    state = known_start(deblockle)
    looks = {**deblockle.table.appearance(state), "g4": "gold block, x up"}
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(both(make_reading, looks, deblockle.table.appearance(state)), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert ruling.verdict.places == ("g4",)


def test_a_whole_turn_that_sensors_report_and_the_camera_denies_is_asked_about(
    deblockle: Any, make_reading: Any
) -> None:
    state = known_start(deblockle)
    _, looks = after(deblockle, state, "c1-c2=hoops-a1")
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(both(make_reading, deblockle.table.appearance(state), looks), Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert set(ruling.verdict.places) == {"a1", "c1"}
    assert judge.belief == (state,)
    ruling = judge.consider(both(make_reading, deblockle.table.appearance(state), looks), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.UNCHANGED


@pytest.mark.parametrize("trigger", [Trigger.GLANCE, Trigger.RESTED, Trigger.DECLARED])
def test_a_single_stuck_sensor_under_a_visible_piece_is_ignored(diaballik: Any, trigger: Trigger) -> None:
    (state,) = played(diaballik)
    judge = JudgedGame(diaballik, belief=(state,))
    assert (
        judge.consider(beside_switches(diaballik, state, wrong=["d2"]), trigger).verdict.kind is VerdictKind.UNCHANGED
    )


def test_a_disputed_set_up_is_confirmed_by_pressing_again(deblockle: Any, make_reading: Any) -> None:
    looks = deblockle.table.appearance(deblockle.rules.new())
    fairly = {"c3": {looks["c3"]: 0.92, "empty": 0.06}}
    judge = JudgedGame(deblockle)

    def look(trigger: Trigger) -> Any:
        readings = both(make_reading, looks, looks, wrong=["c3"], overrides=fairly)
        return judge.begin(readings, anywhere=True, trigger=trigger).verdict

    assert look(Trigger.GLANCE).kind is VerdictKind.NOT_FINISHED
    asked = look(Trigger.DECLARED)
    assert asked.kind is VerdictKind.AMBIGUOUS
    assert asked.sentence.startswith("The camera and the sensors disagree about c3.")
    assert look(Trigger.RESTED).kind is VerdictKind.AMBIGUOUS, "nobody has pressed"
    assert look(Trigger.DECLARED).kind is VerdictKind.SET_UP


def test_a_set_up_the_camera_sees_well_counts_although_a_sensor_says_no(deblockle: Any, make_reading: Any) -> None:
    looks = deblockle.table.appearance(deblockle.rules.new())
    judge = JudgedGame(deblockle)
    ruling = judge.begin(both(make_reading, looks, looks, wrong=["c3"]))
    assert ruling.verdict.kind is VerdictKind.SET_UP
    assert any("sensors under c3 disagree with the camera" in note for note in ruling.notes)


def test_a_sensor_that_a_person_overruled_is_ignored_until_it_agrees(deblockle: Any) -> None:
    state = known_start(deblockle)
    looks = deblockle.table.appearance(state)
    wrong, right = felt(deblockle, looks, wrong=["g4"]), felt(deblockle, looks)
    judge = JudgedGame(deblockle, belief=(state,))
    assert judge.consider(wrong, Trigger.RESTED).verdict.kind is VerdictKind.AMBIGUOUS
    judge.correct((state,), ("a1",))
    assert judge.consider(wrong, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    assert judge.consider(right, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    assert judge.consider(wrong, Trigger.RESTED).verdict.kind is VerdictKind.AMBIGUOUS


def test_two_sensors_that_were_wrong_before_do_not_make_a_turn(deblockle: Any) -> None:
    """One stuck open under a block and one stuck closed look like a turn, but nothing has changed since they were."""
    game, state = deblockle, known_start(deblockle)
    _, looks = after(game, state, "c1-c2=hoops-a1")
    judge = JudgedGame(game, belief=(state,))
    assert judge.consider(felt(game, looks), Trigger.GLANCE).verdict.kind is VerdictKind.NOT_FINISHED
    judge.correct((state,))
    first = felt(game, game.table.appearance(state), wrong=["c1", "a1"])
    assert judge.consider(first, Trigger.RESTED).verdict.kind is not VerdictKind.ACCEPTED
    other = next(one for one in game.rules.legal_turns(state) if not {"c1", "a1"} & set(one.places))
    after_it = game.table.appearance(game.rules.apply(state, other))
    ruling = judge.consider(felt(game, after_it, wrong=["c1", "a1"]), Trigger.RESTED)
    assert "c1-c2=hoops-a1" not in ruling.verdict.turns


def test_a_ball_that_left_its_piece_is_not_assumed_on_a_piece_that_is_only_sensed(diaballik: Any) -> None:
    state = diaballik.rules.new()
    looks = {**diaballik.table.appearance(state), "d1": "black piece"}

    def seen(place: str, look: str) -> PlaceReading:
        rest = 0.005 / (len(diaballik.looks) - 1)
        chances = {one: 0.995 if one == look else rest for one in diaballik.looks}
        hidden = HindranceKind.OBJECT if place == "c1" else None
        return PlaceReading(chances, {}, hidden, sensed=0.01 if look == "empty" else 0.99)

    places = {place: seen(place, look) for place, look in looks.items()}
    readings = [Reading(number, 10 + number / 10, places, ()) for number in range(4)]
    for trigger in (Trigger.RESTED, Trigger.DECLARED):
        judge = JudgedGame(diaballik, belief=(state,))
        ruling = judge.consider(readings, trigger)
        assert not ruling.steps
        assert judge.belief == (state,)
        assert ruling.verdict.seen.get("c1") != "black piece with ball"
