"""The judge's verdicts on single situations."""

import random
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.service_table import START, known_turn


def test_a_set_up_gives_the_belief_and_says_who_plays(deblockle: Any, make_reading: Any, start: Any) -> None:
    judge = JudgedGame(deblockle)
    ruling = judge.begin([make_reading(start)])
    assert ruling.verdict.sentence == "The board is set up. Gold to play."
    assert deblockle.table.appearance(judge.belief[0]) == start


def test_an_illegal_set_up_is_explained(deblockle: Any, make_reading: Any, start: Any) -> None:
    judge = JudgedGame(deblockle)
    ruling = judge.begin([make_reading({**start, "c1": "empty", "d2": START["c1"]})])
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert ruling.verdict.breaches
    assert ruling.verdict.margin == 0.0, "no turn was weighed against another"
    assert judge.belief == ()


def test_an_unfinished_set_up_is_no_fault_before_the_table_rests(deblockle: Any, make_reading: Any, start: Any) -> None:
    judge = JudgedGame(deblockle)
    ruling = judge.begin([make_reading({**start, "c1": "empty"})], trigger=Trigger.GLANCE)
    assert ruling.verdict.kind is VerdictKind.NOT_FINISHED


def test_a_set_up_that_cannot_be_read_is_asked_about(deblockle: Any, make_reading: Any, start: Any) -> None:
    judge = JudgedGame(deblockle)
    ruling = judge.begin([make_reading(start, overrides={"c3": {START["c3"]: 0.5, "gold block, x up": 0.45}})])
    assert (ruling.verdict.kind, ruling.verdict.places) == (VerdictKind.AMBIGUOUS, ("c3",))
    likely = judge.begin([make_reading(start, overrides={"c3": {START["c3"]: 0.76, "gold block, x up": 0.14}})])
    assert likely.verdict.kind is VerdictKind.SET_UP
    assert any("c3" in note for note in likely.notes)
    hidden = judge.begin([make_reading(start, hidden=["g7"])])
    assert (hidden.verdict.kind, hidden.verdict.places) == (VerdictKind.CANNOT_SEE, ("g7",))


@pytest.mark.parametrize(("gone", "kind"), [("c1", VerdictKind.ILLEGAL), ("c3", VerdictKind.AMBIGUOUS)])
def test_an_unclear_place_is_asked_about_first_only_if_the_fault_is_there(
    deblockle: Any, make_reading: Any, start: Any, gone: str, kind: VerdictKind
) -> None:
    looks = {**start, gone: "empty"}
    unclear = {"c3": {looks["c3"]: 0.5, "gold block, x up": 0.45}}
    ruling = JudgedGame(deblockle).begin([make_reading(looks, overrides=unclear)])
    assert ruling.verdict.kind is kind
    assert gone in ruling.verdict.places


def test_either_may_start_until_the_first_turn(deblockle: Any, make_reading: Any, start: Any) -> None:
    judge = JudgedGame(deblockle)
    judge.begin([make_reading(start)], {"starts": "either"})
    assert {state.to_move for state in judge.belief} == {"gold", "teal"}
    teal = next(state for state in judge.belief if state.to_move == "teal")
    turn = deblockle.rules.legal_turns(teal)[0]
    after = deblockle.table.appearance(deblockle.rules.apply(teal, turn))
    ruling = judge.consider([make_reading(after)], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert [state.to_move for state in judge.belief] == ["gold"]


def test_an_unchanged_table_is_unchanged(judge: JudgedGame, make_reading: Any, start: Any) -> None:
    assert judge.consider([make_reading(start)], Trigger.DECLARED).verdict.kind is VerdictKind.UNCHANGED


def test_a_turn_is_accepted_only_when_it_ends(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    turn = known_turn(deblockle, state, start="c1", top="hoops")
    after = deblockle.table.appearance(deblockle.rules.apply(state, turn))
    glance = judge.consider([make_reading(after)], Trigger.GLANCE)
    assert glance.verdict.kind is VerdictKind.NOT_FINISHED
    assert judge.belief == (state,)
    ruling = judge.consider([make_reading(after)], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert deblockle.notation.format_turn(ruling.steps[0].turn) == ruling.verdict.turns[0]
    assert judge.belief[0] == ruling.steps[0].states[0]


def test_a_rolled_block_is_not_finished_but_a_fault_once_the_turn_is_declared_over(
    judge: JudgedGame, deblockle: Any, make_reading: Any
) -> None:
    part = next(part for part in deblockle.table.unfinished(judge.belief[0]) if len(part.places) > 1)
    reading = make_reading({**deblockle.table.appearance(judge.belief[0]), **part.change})
    assert judge.consider([reading], Trigger.RESTED).verdict.kind is VerdictKind.NOT_FINISHED
    declared = judge.consider([reading], Trigger.DECLARED)
    assert declared.verdict.kind is VerdictKind.ILLEGAL
    assert declared.verdict.breaches


def test_a_fault_is_named_kept_and_put_right(judge: JudgedGame, make_reading: Any, start: Any) -> None:
    wrong = {**start, "c1": "empty", "a5": START["c1"]}
    assert judge.consider([make_reading(wrong)], Trigger.GLANCE).verdict.kind is VerdictKind.NOT_FINISHED
    ruling = judge.consider([make_reading(wrong)], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert set(ruling.verdict.places) >= {"c1", "a5"}
    assert ruling.verdict.breaches[0].remedy in ruling.verdict.sentence
    assert judge.consider([make_reading(wrong)], Trigger.GLANCE).verdict == ruling.verdict
    assert judge.consider([make_reading(start)], Trigger.GLANCE).verdict.kind is VerdictKind.PUT_RIGHT
    assert judge.fault is None
    assert judge.consider([make_reading(start)], Trigger.GLANCE).verdict.kind is VerdictKind.UNCHANGED


def test_after_a_fault_a_legal_turn_is_accepted(
    judge: JudgedGame, deblockle: Any, make_reading: Any, start: Any
) -> None:
    judge.consider([make_reading({**start, "c1": "empty", "a5": START["c1"]})], Trigger.RESTED)
    state = judge.belief[0]
    after = deblockle.table.appearance(deblockle.rules.apply(state, known_turn(deblockle, state, start="c1")))
    assert judge.consider([make_reading(after)], Trigger.RESTED).verdict.kind is VerdictKind.ACCEPTED
    assert judge.fault is None


def test_moving_the_other_players_block_is_a_fault(
    judge: JudgedGame, deblockle: Any, make_reading: Any, start: Any
) -> None:
    wrong = {**start, "e7": "empty", "g7": START["e7"]}
    ruling = judge.consider([make_reading(wrong)], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert judge.belief[0].to_move == "gold"


def test_an_unsure_square_elsewhere_is_set_aside_and_asked_about(
    judge: JudgedGame, deblockle: Any, make_reading: Any
) -> None:
    state = judge.belief[0]
    after = deblockle.table.appearance(
        deblockle.rules.apply(state, known_turn(deblockle, state, start="c1", top="hoops"))
    )
    odd = {"g6": {"teal block, star up": 0.94, "empty": 0.04}}
    ruling = judge.consider([make_reading(after, overrides=odd)], Trigger.RESTED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.AMBIGUOUS]
    assert (ruling.verdicts[1].places, judge.set_aside) == (("g6",), ("g6",))
    following = judge.belief[0]
    turn = known_turn(deblockle, following, start="e5", player="teal")
    later = deblockle.table.appearance(deblockle.rules.apply(following, turn))
    accepted = judge.consider([make_reading(later, overrides=odd)], Trigger.RESTED).verdict
    assert (accepted.kind, judge.set_aside) == (VerdictKind.ACCEPTED, ("g6",))
    judge.consider([make_reading(later)], Trigger.GLANCE)
    assert judge.set_aside == ()


def test_a_square_with_equally_likely_looks_is_ignored(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    after = deblockle.table.appearance(
        deblockle.rules.apply(state, known_turn(deblockle, state, start="c1", top="hoops"))
    )
    ruling = judge.consider([make_reading(after, unreadable=["g6"])], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED


@pytest.mark.parametrize(("pieces", "others", "is_unknown"), [(8, 0, True), (7, 1, True), (6, 2, False), (8, 8, False)])
def test_unreadable_start_pieces_on_an_otherwise_readable_board_may_be_of_another_set(
    deblockle: Any, make_reading: Any, start: Any, pieces: int, others: int, is_unknown: bool
) -> None:
    stand = [place for place, look in start.items() if look != "empty"]
    bare = [place for place, look in start.items() if look == "empty"]
    ruling = JudgedGame(deblockle).begin([make_reading(start, hidden=[*stand[:pieces], *bare[:others]])])
    assert ruling.verdict.kind is VerdictKind.CANNOT_SEE
    assert ("If this is not the set I was taught" in ruling.verdict.sentence) is is_unknown


def test_a_turn_that_ends_out_of_sight_cannot_be_seen(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    turn = next(
        turn for turn in deblockle.rules.legal_turns(state) if turn.start == "c1" and turn.end not in {"c1", None}
    )
    after = deblockle.table.appearance(deblockle.rules.apply(state, turn))
    ruling = judge.consider([make_reading(after, hidden=[turn.end])], Trigger.DECLARED)
    assert (ruling.verdict.kind, ruling.verdict.places) == (VerdictKind.CANNOT_SEE, (turn.end,))
    assert judge.belief == (state,)


@pytest.mark.parametrize("turns", [1, 2])
def test_a_turn_that_starts_out_of_sight_is_accepted(
    turns: int, judge: JudgedGame, deblockle: Any, make_reading: Any
) -> None:
    state = judge.belief[0]
    played = known_turn(deblockle, state, start="c1", top="hoops")
    after = deblockle.rules.apply(state, played)
    if turns == 2:
        after = deblockle.rules.apply(after, known_turn(deblockle, after, start="e5", player="teal"))
    reading = make_reading(deblockle.table.appearance(after), hidden=["c1"])
    ruling = judge.consider([reading], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert deblockle.table.appearance(judge.belief[0]) == deblockle.table.appearance(after)


def test_a_correction_that_the_camera_confirms_does_not_block_the_next_turn(
    judge: JudgedGame, deblockle: Any, make_reading: Any
) -> None:
    state = judge.belief[0]
    looks = deblockle.table.appearance(state)
    judge.consider([make_reading(looks)], Trigger.GLANCE)
    judge.correct((state,), ("c1", "e5"))
    after = deblockle.table.appearance(
        deblockle.rules.apply(state, known_turn(deblockle, state, start="c1", top="hoops"))
    )
    ruling = judge.consider([make_reading(after)], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert judge.against_camera == ()


def test_two_quick_turns_are_both_found(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    first = known_turn(deblockle, state, start="c1", top="hoops")
    second = known_turn(deblockle, deblockle.rules.apply(state, first), player="teal", start="e5")
    after = deblockle.table.appearance(deblockle.rules.apply(deblockle.rules.apply(state, first), second))
    ruling = judge.consider([make_reading(after)], Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert [step.turn.player for step in ruling.steps] == ["gold", "teal"]
    assert deblockle.table.appearance(judge.belief[0]) == after


def test_touching_the_next_players_block_ends_a_turn(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    first = known_turn(deblockle, state, start="c1", top="hoops")
    middle = deblockle.rules.apply(state, first)
    reading = make_reading(deblockle.table.appearance(middle))
    assert judge.consider([reading], Trigger.TOUCH).verdict.kind is VerdictKind.NOT_FINISHED
    assert judge.consider([reading], Trigger.TOUCH_RESTED).verdict.kind is VerdictKind.NOT_FINISHED
    lifted = next(part for part in deblockle.table.unfinished(middle) if part.places == ("e5",))
    ruling = judge.consider([make_reading({**deblockle.table.appearance(middle), **lifted.change})], Trigger.TOUCH)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.NOT_FINISHED]
    assert judge.belief[0].to_move == "teal"


def test_of_two_quick_turns_the_second_waits_for_the_next_touch(
    judge: JudgedGame, deblockle: Any, make_reading: Any
) -> None:
    state = judge.belief[0]
    middle = deblockle.rules.apply(state, known_turn(deblockle, state, start="c1", top="hoops"))
    after = deblockle.rules.apply(middle, known_turn(deblockle, middle, start="e5", player="teal"))
    ruling = judge.consider([make_reading(deblockle.table.appearance(after))], Trigger.TOUCH)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.NOT_FINISHED]
    assert judge.belief[0].to_move == "teal"
    assert {place for place, _ in judge.all_believed.pending.changes} >= {"e5"}


def test_a_turn_seen_at_rest_and_two_quick_ones_after_it_are_all_found(
    judge: JudgedGame, deblockle: Any, make_reading: Any
) -> None:
    state = judge.belief[0]
    for start, player in (("c1", "gold"), ("e5", "teal"), ("e3", "gold")):
        before, state = state, deblockle.rules.apply(state, known_turn(deblockle, state, start=start, player=player))
        if player == "teal":
            continue
        ruling = judge.consider([make_reading(deblockle.table.appearance(state))], Trigger.TOUCH)
    kinds = [verdict.kind for verdict in ruling.verdicts]
    assert kinds == [VerdictKind.ACCEPTED, VerdictKind.ACCEPTED, VerdictKind.NOT_FINISHED]
    assert deblockle.table.appearance(judge.belief[0]) == deblockle.table.appearance(before)


def test_a_person_outranks_the_camera(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    after = deblockle.rules.apply(state, known_turn(deblockle, state, start="c1", top="hoops"))
    reading = make_reading(deblockle.table.appearance(after))
    judge.consider([reading], Trigger.RESTED)
    judge.correct([state])
    assert judge.belief == (state,)
    refused = judge.consider([reading], Trigger.RESTED)
    assert refused.verdict.kind is VerdictKind.NOT_FINISHED
    assert judge.belief == (state,)
    assert judge.consider([make_reading(deblockle.table.appearance(state))], Trigger.RESTED).steps == ()
    assert judge.consider([reading], Trigger.RESTED).verdict.kind is VerdictKind.ACCEPTED
    with pytest.raises(ValueError, match="at least one state"):
        judge.correct([])


def test_after_the_game_pieces_may_be_swept_together(deblockle: Any, make_reading: Any) -> None:
    state = deblockle.notation.parse_state("gold d5:G.stop/north=slider c7:T.star? removed=3,3")
    winning = next((turn for turn in deblockle.rules.legal_turns(state) if turn.end is None), None)
    over = None if winning is None else deblockle.rules.apply(state, winning)
    if over is None:
        rng = random.Random(3)
        over = state
        while deblockle.rules.outcome(over) is None:
            turns = deblockle.rules.legal_turns(over)
            off = [turn for turn in turns if turn.end is None]
            over = deblockle.rules.apply(over, rng.choice(off or list(turns)))
    judge = JudgedGame(deblockle, belief=(over,))
    swept = dict.fromkeys(deblockle.places, "empty")
    ruling = judge.consider([make_reading(swept)], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.UNCHANGED
    assert "The game is over" in ruling.verdict.sentence
    unsure = JudgedGame(deblockle, belief=(over, state)).consider([make_reading(swept)], Trigger.DECLARED)
    assert "The game is over" not in unsure.verdict.sentence


def test_a_table_without_readable_places_cannot_be_seen(
    judge: JudgedGame, deblockle: Any, make_reading: Any, start: Any
) -> None:
    verdict = judge.consider([make_reading(start, hidden=deblockle.places)], Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.margin, verdict.turns) == (VerdictKind.CANNOT_SEE, 0.0, ())


def test_one_bad_frame_among_several_changes_nothing(judge: JudgedGame, make_reading: Any, start: Any) -> None:
    good = make_reading(start)
    bad = make_reading({**start, "c1": "empty", "a5": START["c1"]}, sureness=0.9999)
    assert judge.consider([good, good, bad, good], Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED


def test_judging_needs_readings_and_a_belief(deblockle: Any, make_reading: Any, start: Any) -> None:
    with pytest.raises(ValueError, match="set-up"):
        JudgedGame(deblockle).consider([make_reading(start)], Trigger.RESTED)
    with pytest.raises(ValueError, match="at least one"):
        JudgedGame(deblockle).begin([])


@pytest.mark.parametrize(
    "wrong",
    [
        {"margin": 0.0},
        {"probability_floor": 0.01},
        {"probability_floor": 0.0},
        {"illegal_prior": -1.9},
        {"stopover_log_odds": -0.1},
        {"stopover_log_odds": 3.0},
    ],
)
def test_settings_that_would_guess_are_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value}; expected"):
        JudgeSettings(**wrong)


def test_what_each_trigger_may_accept_and_say_aloud() -> None:
    may = {trigger: (trigger.accepts, trigger.names_faults, trigger.ends_by_touch) for trigger in Trigger}
    assert may == {
        Trigger.GLANCE: (False, False, False),
        Trigger.TOUCH: (False, False, True),
        Trigger.TOUCH_RESTED: (False, True, True),
        Trigger.RESTED: (True, True, False),
        Trigger.DECLARED: (True, True, False),
    }


def test_settings_at_their_limits_are_valid() -> None:
    settings = JudgeSettings(stopover_log_odds=0.0, illegal_prior=-2.0, unsure_log_odds=2.0)
    assert (settings.stopover_log_odds, settings.illegal_prior) == (0.0, -2.0)
    assert JudgeSettings(margin=0.5, stopover_log_odds=0.4).margin == 0.5


def test_the_guide_names_every_setting_and_its_value() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "internals" / "judge.md").read_text(encoding="utf-8")
    section = guide.split("## Settings of the judge")[1].split("##")[0].replace("−", "-")
    told = {name: float(value) for name, value in re.findall(r"`([a-z_]+)` (-?[0-9.e-]*[0-9])", section)}
    assert told == {field.name: getattr(JudgeSettings(), field.name) for field in fields(JudgeSettings)}


def test_an_illegal_touch_still_ends_the_turn_before_it(judge: JudgedGame, deblockle: Any, make_reading: Any) -> None:
    state = judge.belief[0]
    first = known_turn(deblockle, state, start="c1", top="hoops")
    middle = deblockle.table.appearance(deblockle.rules.apply(state, first))
    judge.consider([make_reading(middle)], Trigger.TOUCH)
    wrong = make_reading({**middle, "e5": "empty", "a5": START["e5"]}, sureness=0.999)
    assert judge.consider([wrong], Trigger.TOUCH).verdict.kind is VerdictKind.NOT_FINISHED
    ruling = judge.consider([wrong], Trigger.TOUCH_RESTED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.ILLEGAL]
    assert set(ruling.verdicts[1].places) == {"e5", "a5"}
    assert judge.consider([make_reading(middle)], Trigger.TOUCH).verdict.kind is VerdictKind.PUT_RIGHT
