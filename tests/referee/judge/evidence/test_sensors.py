"""The judge with sensors alone: turns they decide, and turns that are asked about."""

from collections import Counter
from typing import Any

import pytest

from referee.judge.evidence.sensors import may_have_left
from referee.judge.explanations import find_stopovers
from referee.judge.faults import name_pieces
from referee.judge.pooled_reading import PIECE, pool
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.judge.sensor_readings import after, felt, known_start
from vision.reading import PlaceChange


def taken(game: Any, state: Any, turn: Any) -> set[str]:
    return {place for place, look in game.table.appearance(game.rules.apply(state, turn)).items() if look != "empty"}


def test_a_place_that_is_only_sensed_fits_any_piece(deblockle: Any) -> None:
    looks = {"c3": "gold block, x up", "c4": "empty"}
    seen = pool(felt(deblockle, looks), ("c3", "c4", "c5"), deblockle.looks, 1e-5)
    assert (seen.places["c3"].best, seen.places["c4"].best) == (PIECE, "empty")
    assert seen.places["c3"].agrees("teal block, star up")
    assert not seen.places["c3"].agrees("empty")
    assert seen.places["c3"].lead(PIECE, "empty") == pytest.approx(4.575, abs=0.01)
    assert seen.places["c3"].lead("gold block, x up", "teal block, star up") == 0
    assert seen.places["c4"].certainty == pytest.approx(3.497, abs=0.01)
    assert seen.hidden == {"c5"}


def test_a_piece_that_only_a_sensor_misses_may_still_stand_there(deblockle: Any, make_reading: Any) -> None:
    before = deblockle.table.appearance(known_start(deblockle))
    gone = {**before, "c1": "empty"}
    left, moved = frozenset({("c1", "empty")}), frozenset({("c1", "empty"), ("a2", before["c1"])})
    by_feeling = pool(felt(deblockle, gone), deblockle.places, deblockle.looks, 1e-5)
    by_sight = pool([make_reading(gone)], deblockle.places, deblockle.looks, 1e-5)
    assert may_have_left(before, left, by_feeling)
    assert not may_have_left(before, moved, by_feeling)
    assert not may_have_left(before, left, by_sight)


@pytest.mark.parametrize("trigger", [Trigger.RESTED, Trigger.DECLARED])
def test_turns_that_leave_the_same_squares_taken_are_asked_about_and_listed(deblockle: Any, trigger: Trigger) -> None:
    state = known_start(deblockle)
    judge = JudgedGame(deblockle, belief=(deblockle.table.set_up(deblockle.table.appearance(state)),))
    _, looks = after(deblockle, judge.belief[0], "c1-b1=x-a2")
    ruling = judge.consider(felt(deblockle, looks), trigger)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert "c1-b1=x-a2" in ruling.verdict.candidates
    assert len(ruling.verdict.candidates) > 1
    assert ruling.verdict.sentence.startswith("What I sense could be: ")
    assert "./run table turn" in ruling.verdict.sentence
    assert set(ruling.verdict.places) == {"c1", "a2"}
    assert not ruling.steps


def test_the_number_of_turns_with_the_same_squares_is_given_quietly_before_the_turn_is_over(deblockle: Any) -> None:
    state = deblockle.table.set_up(deblockle.table.appearance(known_start(deblockle)))
    told = set()
    # Turns that leave the same squares taken feel the same, so one of each is enough.
    for turn in {
        frozenset(taken(deblockle, state, turn)): turn for turn in deblockle.rules.legal_turns(state)
    }.values():
        judge = JudgedGame(deblockle, belief=(state,))
        looks = deblockle.table.appearance(deblockle.rules.apply(state, turn))
        verdict = judge.consider(felt(deblockle, looks), Trigger.GLANCE).verdict
        told.add((len(verdict.candidates), verdict.sentence.partition(", or ")[2]))
        if {min(count, 3) for count, _ in told} >= {2, 3}:
            break
    assert (2, "another turn, if the turn ends here.") in told
    more = {(count, said) for count, said in told if count > 2}
    assert more
    assert all(said == f"one of {count - 1} other turns, if the turn ends here." for count, said in more)


def test_the_only_turn_that_leaves_these_squares_taken_is_accepted(deblockle: Any) -> None:
    game, accepted = deblockle, 0
    state = known_start(game)
    leaving: dict[frozenset[str], list[Any]] = {}
    for turn in game.rules.legal_turns(state):
        looks = game.table.appearance(game.rules.apply(state, turn))
        leaving.setdefault(frozenset(place for place in looks if looks[place] != "empty"), []).append(turn)
    for turns in leaving.values():
        if len(turns) > 1:
            continue
        judge = JudgedGame(game, belief=(state,))
        looks = game.table.appearance(game.rules.apply(state, turns[0]))
        ruling = judge.consider(felt(game, looks), Trigger.DECLARED)
        assert ruling.verdict.turns == (game.notation.format_turn(turns[0]),)
        assert game.table.appearance(judge.belief[0]) == looks
        accepted += 1
    assert accepted > 20


def test_turns_through_a_stopover_come_first_in_the_question(deblockle: Any) -> None:
    game, state = deblockle, known_start(deblockle)
    leaving: dict[frozenset[str], list[Any]] = {}
    for turn in game.rules.legal_turns(state):
        looks = game.table.appearance(game.rules.apply(state, turn))
        leaving.setdefault(frozenset(place for place in looks if looks[place] != "empty"), []).append(turn)
    start = frozenset(place for place, look in game.table.appearance(state).items() if look != "empty")
    settled = 0
    for taken, turns in leaving.items():
        if len(turns) != 2 or taken == start or turns[0].places[1] == turns[1].places[1]:
            continue
        for turn in turns:
            first, stop, end = turn.places[0], turn.places[1], turn.places[-1]
            if stop == end:
                continue
            changes = (
                PlaceChange(first, False, 5.0),
                PlaceChange(stop, True, 6.0),
                PlaceChange(stop, False, 7.0),
                PlaceChange(end, True, 8.0),
            )
            looks = game.table.appearance(game.rules.apply(state, turn))
            judge = JudgedGame(game, belief=(state,))
            judge.consider(felt(game, game.table.appearance(state), time_s=1.0), Trigger.RESTED)
            quiet = judge.consider(felt(game, looks, changes=changes), Trigger.GLANCE).verdict
            assert quiet.sentence.startswith(game.notation.describe(turn).rstrip(".")), quiet.sentence
            ruling = judge.consider(felt(game, looks, changes=changes), Trigger.DECLARED)
            assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
            assert ruling.verdict.candidates[0] == game.notation.format_turn(turn)
            settled += 1
    assert settled > 0


def test_a_piece_that_slid_over_a_place_did_not_stop_there() -> None:
    slid = (PlaceChange("c2", True, 1.0), PlaceChange("c2", False, 1.1), PlaceChange("c3", True, 1.3))
    assert find_stopovers(slid, 0.25) == frozenset()
    stopped = (PlaceChange("c2", True, 1.0), PlaceChange("c2", False, 1.3), PlaceChange("c3", True, 1.5))
    assert find_stopovers(stopped, 0.25) == {"c2"}


def test_one_wrong_sensor_is_neither_a_turn_nor_a_fault(deblockle: Any) -> None:
    state = known_start(deblockle)
    looks = deblockle.table.appearance(state)
    for place in ("c1", "c2", "a4"):
        judge = JudgedGame(deblockle, belief=(state,))
        ruling = judge.consider(felt(deblockle, looks, wrong=[place]), Trigger.DECLARED)
        assert ruling.verdict.kind is VerdictKind.AMBIGUOUS, place
        assert place in ruling.verdict.places
        assert judge.belief == (state,)


def test_a_wrong_sensor_elsewhere_is_set_aside_and_the_turn_counts(deblockle: Any) -> None:
    state = known_start(deblockle)
    turn = next(
        one for one in deblockle.rules.legal_turns(state) if deblockle.notation.format_turn(one) == "c1-c2=hoops-a1"
    )
    looks = deblockle.table.appearance(deblockle.rules.apply(state, turn))
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(felt(deblockle, looks, wrong=["g4"]), Trigger.DECLARED)
    assert ruling.verdict.turns == ("c1-c2=hoops-a1",)
    assert ruling.verdicts[1].places == ("g4",)
    assert judge.set_aside == ("g4",)


def test_two_candidate_turns_that_each_explain_half_of_the_sensors_are_asked_about(deblockle: Any) -> None:
    """A block left c5, b3 and b6 both report a piece, and a turn leads to either: one of the two sensors is wrong."""
    game, state = deblockle, known_start(deblockle)
    ends: dict[str, list[Any]] = {}
    for turn in game.rules.legal_turns(state):
        if turn.places[-1] != turn.places[0]:
            ends.setdefault(turn.places[0], []).append(turn)
    start, turns = next((start, turns) for start, turns in ends.items() if len(turns) > 1)
    first, second = turns[0].places[-1], next(one.places[-1] for one in turns if one.places[-1] != turns[0].places[-1])
    looks = {**game.table.appearance(state), start: "empty"}
    judge = JudgedGame(game, belief=(state,))
    ruling = judge.consider(felt(game, looks, wrong=[first, second]), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert judge.belief == (state,)


@pytest.mark.parametrize("trigger", [Trigger.RESTED, Trigger.DECLARED])
def test_two_turns_are_asked_about_if_the_second_fills_the_square_that_the_first_left(
    deblockle: Any, trigger: Trigger
) -> None:
    """To the sensors teal went from c7 to e2 out of turn; or gold went to e2, and teal to the square gold left, c1."""
    state = deblockle.notation.parse_state(
        "gold c1:G.cross/north=hoops d1:G.x/north=slider f2:G.hoops/north=stop a3:G.hoops/north=star "
        "a5:T.cross/north=star e5:T.hoops/north=star c7:T.x/north=slider f7:T.hoops/north=x removed=0,0"
    )
    turn, _ = after(deblockle, state, "c1-c2=slider-e2")
    _, looks = after(deblockle, deblockle.rules.apply(state, turn), "c7-c6=slider-c1")
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(felt(deblockle, looks), trigger)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert "More than one turn" in ruling.verdict.sentence
    assert ruling.verdict.places == ("e2", "c7")
    assert judge.belief == (state,)


def test_a_fault_that_is_only_sensed_is_named_and_put_right(deblockle: Any) -> None:
    state = known_start(deblockle)
    looks = dict(deblockle.table.appearance(state))
    looks["a4"], looks["c1"] = looks["c1"], "empty"
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(felt(deblockle, looks), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert {"c1", "a4"} <= set(ruling.verdict.places)
    assert ruling.verdict.seen["a4"] == PIECE
    ruling = judge.consider(felt(deblockle, deblockle.table.appearance(state)), Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.PUT_RIGHT


def test_more_new_pieces_than_are_gone_are_asked_about(deblockle: Any) -> None:
    """Two wrong sensors report blocks from nowhere; that is no player's fault."""
    state = known_start(deblockle)
    judge = JudgedGame(deblockle, belief=(state,))
    ruling = judge.consider(felt(deblockle, deblockle.table.appearance(state), wrong=["a4", "g4"]), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert ruling.verdict.places == ("a4", "g4")


def test_pieces_that_are_only_sensed_take_the_names_of_missing_ones() -> None:
    base = {"a1": "red", "b1": "blue", "c1": "empty", "d1": "empty"}
    looks = ("empty", "red", "blue")
    moved = frozenset({("a1", "empty"), ("c1", PIECE)})
    assert list(name_pieces(base, moved, looks)) == [{"a1": "empty", "c1": "red"}]
    swapped = frozenset({("a1", "empty"), ("b1", "empty"), ("c1", PIECE), ("d1", PIECE)})
    assert {(one["c1"], one["d1"]) for one in name_pieces(base, swapped, looks)} == {("red", "blue"), ("blue", "red")}
    added = frozenset({("c1", PIECE)})
    assert {one["c1"] for one in name_pieces(base, added, looks)} == {"red", "blue"}
    assert list(name_pieces(base, frozenset({("c1", "red")}), looks)) == [{"c1": "red"}]


def test_a_pass_that_no_sensor_feels_is_asked_about_when_a_player_says_the_turn_is_over(diaballik: Any) -> None:
    state = diaballik.rules.new()
    looks = diaballik.table.appearance(state)
    judge = JudgedGame(diaballik, belief=(state,))
    assert judge.consider(felt(diaballik, looks), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    ruling = judge.consider(felt(diaballik, looks), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert ruling.verdict.sentence.startswith(
        "I sense the same squares occupied as before. If a turn was played, it could be"
    )
    assert "d1*a1" in ruling.verdict.candidates
    turn = diaballik.notation.parse_turn(state, "d1*a1")
    judge.correct((diaballik.rules.apply(state, turn),), turn.places)
    ruling = judge.consider(felt(diaballik, looks), Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.UNCHANGED


def test_a_move_with_or_without_a_pass_is_asked_about(diaballik: Any) -> None:
    state = diaballik.rules.new()
    _, looks = after(diaballik, state, "c1-c2")
    judge = JudgedGame(diaballik, belief=(state,))
    ruling = judge.consider(felt(diaballik, looks), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert {"c1-c2", "c1-c2 d1*a1"} <= set(ruling.verdict.candidates)
    assert "other turns" in ruling.verdict.sentence


def test_two_quick_turns_of_which_the_first_may_hold_a_pass_are_not_accepted(diaballik: Any) -> None:
    state = diaballik.rules.new()
    turn, _ = after(diaballik, state, "c1-c2")
    _, looks = after(diaballik, diaballik.rules.apply(state, turn), "e7-e6")
    judge = JudgedGame(diaballik, belief=(state,))
    ruling = judge.consider(felt(diaballik, looks), Trigger.DECLARED)
    assert not ruling.steps
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS


def test_a_turn_taken_back_but_still_on_the_board_is_not_asked_about(deblockle: Any) -> None:
    state = deblockle.table.set_up(deblockle.table.appearance(deblockle.rules.new()))
    turn, looks = after(deblockle, state, "c1-b1=x-a2")
    judge = JudgedGame(deblockle, belief=(deblockle.rules.apply(state, turn),))
    judge.consider(felt(deblockle, looks), Trigger.RESTED)
    judge.correct((state,))
    ruling = judge.consider(felt(deblockle, looks), Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.NOT_FINISHED
    assert "taken back" in ruling.verdict.sentence


def test_a_turn_that_leaves_no_sensed_change_is_asked_about_after_an_accepted_one(deblockle: Any) -> None:
    """Two quick turns, one press: sensors show the first; the second returned to its square after a stopover."""
    game, state = deblockle, known_start(deblockle)
    first, looks = after(game, state, "c1-c2=hoops-a1")
    reached = game.rules.apply(state, first)
    unfelt = next(
        turn for turn in game.rules.legal_turns(reached) if taken(game, reached, turn) == taken(game, state, first)
    )
    start, stop = unfelt.places[:2]
    changes = (
        PlaceChange("c1", False, 5.0),
        PlaceChange("a1", True, 6.0),
        PlaceChange(start, False, 7.0),
        PlaceChange(stop, True, 7.5),
        PlaceChange(stop, False, 8.0),
        PlaceChange(start, True, 8.5),
    )
    judge = JudgedGame(game, belief=(state,))
    judge.consider(felt(game, game.table.appearance(state), time_s=1.0), Trigger.RESTED)
    ruling = judge.consider(felt(game, looks, changes=changes), Trigger.DECLARED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.AMBIGUOUS]
    assert game.notation.format_turn(unfelt) in ruling.verdicts[1].candidates
    judge = JudgedGame(game, belief=(state,))
    ruling = judge.consider(felt(game, looks, changes=changes[:2]), Trigger.DECLARED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED]


def test_no_turn_is_accepted_while_a_piece_is_missing_that_may_stand_where_a_sensor_is_dead(deblockle: Any) -> None:
    state = known_start(deblockle)
    turns = deblockle.rules.legal_turns(state)
    alike = Counter(frozenset(taken(deblockle, state, turn)) for turn in turns)
    turn = next(turn for turn in turns if alike[frozenset(taken(deblockle, state, turn))] == 1)
    looks = deblockle.table.appearance(deblockle.rules.apply(state, turn))
    other = next(place for place, look in looks.items() if look != "empty" and place not in turn.places)

    def ruling(wrong: tuple[str, ...]) -> Ruling:
        judge = JudgedGame(deblockle, belief=(state,))
        return judge.consider(felt(deblockle, looks, wrong=wrong), Trigger.DECLARED)

    assert [step.turn for step in ruling(()).steps] == [turn]
    missing = ruling((other,))
    assert not missing.steps
    assert missing.verdict.kind is VerdictKind.AMBIGUOUS
    assert other in missing.verdict.places


def test_no_fault_is_named_if_two_turns_explain_all_but_one_sensor(deblockle: Any) -> None:
    """The first of two quick turns returned to its square, and a switch is dead: it seems that gold played twice."""
    state = known_start(deblockle)
    first, _ = after(deblockle, state, "c1-c2=hoops-a1")
    teals = deblockle.rules.apply(state, first)
    squares = taken(deblockle, state, first)
    unfelt = next(turn for turn in deblockle.rules.legal_turns(teals) if taken(deblockle, teals, turn) == squares)
    golds = deblockle.rules.apply(teals, unfelt)
    turn = next(turn for turn in deblockle.rules.legal_turns(golds) if taken(deblockle, golds, turn) != squares)
    looks = deblockle.table.appearance(deblockle.rules.apply(golds, turn))
    other = next(place for place in squares if place not in (*turn.places, *unfelt.places))
    judge = JudgedGame(deblockle, belief=(teals,))
    ruling = judge.consider(felt(deblockle, looks, wrong=(other,)), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert other in ruling.verdict.places
    assert not ruling.steps


def test_a_block_that_only_sensors_miss_leaves_the_board_by_a_second_press(deblockle: Any) -> None:
    state = deblockle.notation.parse_state(
        "gold a1:T.slider/north=x d1:T.slider/north=cross c2:G.cross/north=slider g2:G.x/north=star "
        "e3:T.cross/north=hoops d5:G.x/north=stop a7:G.slider/north=star f7:T.cross/north=hoops removed=0,0"
    )
    _, looks = after(deblockle, state, "d5-d6=star-off")
    judge = JudgedGame(deblockle, belief=(state,))
    for trigger in (Trigger.GLANCE, Trigger.TOUCH):
        assert judge.consider(felt(deblockle, looks), trigger).verdict.kind is VerdictKind.NOT_FINISHED
    asked = judge.consider(felt(deblockle, looks), Trigger.DECLARED)
    assert (asked.verdict.kind, asked.steps) == (VerdictKind.AMBIGUOUS, ())
    assert "I only know it from a sensor. Press the button again if that is right" in asked.verdict.sentence
    assert asked.verdict.candidates == ("d5-d6=star-off",)
    again = judge.consider(felt(deblockle, looks, time_s=20.0), Trigger.DECLARED)
    assert again.verdict.turns == ("d5-d6=star-off",)
