"""Required certainty: just below and above each margin of the default settings."""

from typing import Any

import pytest

from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame

CHECK_D4 = ("I think d4 shows: empty. Please tell me if that is wrong.",)


@pytest.mark.parametrize(
    ("look", "kind", "notes"),
    [
        ("empty 84%", VerdictKind.SET_UP, ()),
        ("empty 83%", VerdictKind.SET_UP, CHECK_D4),
        ("empty 30%", VerdictKind.SET_UP, CHECK_D4),
        ("black piece 97%", VerdictKind.SET_UP, CHECK_D4),
        ("black piece 97.5%", VerdictKind.ILLEGAL, ()),
    ],
)
def test_a_place_of_a_fixed_start_is_clear_or_to_be_checked_or_a_fault(
    diaballik: Any, look: str, kind: VerdictKind, notes: tuple[str, ...]
) -> None:
    """It is named if another look comes within 20 to 1, and is a fault if another look leads by 148 to 1."""
    ruling = JudgedGame(diaballik).begin(drawn(diaballik, diaballik.rules.new(), {"d4": look}))
    assert (ruling.verdict.kind, ruling.notes) == (kind, notes)


@pytest.mark.parametrize(
    ("look", "kind", "notes"),
    [
        ("empty 84%", VerdictKind.SET_UP, ()),
        ("empty 83%", VerdictKind.SET_UP, CHECK_D4),
        ("empty 41%", VerdictKind.SET_UP, CHECK_D4),
        ("empty 40%", VerdictKind.AMBIGUOUS, ()),
    ],
)
def test_a_place_of_a_free_start_is_asked_about_unless_its_look_leads_by_e_to_1(
    diaballik: Any, look: str, kind: VerdictKind, notes: tuple[str, ...]
) -> None:
    ruling = JudgedGame(diaballik).begin(drawn(diaballik, diaballik.rules.new(), {"d4": look}), anywhere=True)
    assert (ruling.verdict.kind, ruling.notes) == (kind, notes)


@pytest.mark.parametrize(
    ("place", "look", "kind"),
    [
        ("d4", "white piece 99.6%", VerdictKind.AMBIGUOUS),
        ("d4", "white piece 99.7%", VerdictKind.ILLEGAL),
        ("a1", "black piece with ball 99.6%", VerdictKind.AMBIGUOUS),
        ("a1", "black piece with ball 99.7%", VerdictKind.ILLEGAL),
        ("a1", "empty 97%", VerdictKind.ILLEGAL),
    ],
)
def test_one_piece_or_ball_too_many_must_be_surer_than_one_too_few(
    diaballik: Any, place: str, look: str, kind: VerdictKind
) -> None:
    """Something that wasn't there is a fault if it leads by 1,100 to 1, since it may be an object."""
    state = diaballik.rules.new()
    shown = drawn(diaballik, state, {place: look})
    assert JudgedGame(diaballik, belief=(state,)).consider(shown, Trigger.DECLARED).verdict.kind is kind


def test_a_turn_beside_what_may_be_a_piece_too_many_is_accepted_and_the_place_asked_about(diaballik: Any) -> None:
    state = diaballik.rules.new()
    after = diaballik.rules.apply(state, diaballik.notation.parse_turn(state, "a1-a2"))
    judged = JudgedGame(diaballik, belief=(state,))
    shown = drawn(diaballik, after, {"e4": "white piece 99.6%"})
    accepted, asked = judged.consider(shown, Trigger.DECLARED).verdicts
    assert accepted.kind is VerdictKind.ACCEPTED
    assert (asked.kind, asked.places) == (VerdictKind.AMBIGUOUS, ("e4",))
    assert judged.belief == (after,)


@pytest.mark.parametrize(
    ("look", "kind"), [("white piece 99.6%", VerdictKind.AMBIGUOUS), ("white piece 60%", VerdictKind.NOT_FINISHED)]
)
def test_what_may_be_a_piece_too_many_is_asked_about_while_a_turn_waits_for_a_touch(
    diaballik: Any, look: str, kind: VerdictKind
) -> None:
    state = diaballik.rules.new()
    after = diaballik.rules.apply(state, diaballik.notation.parse_turn(state, "a1-a2"))
    judged = JudgedGame(diaballik, belief=(state,))
    verdict = judged.consider(drawn(diaballik, after, {"e4": look}), Trigger.TOUCH_RESTED).verdict
    assert verdict.kind is kind
    assert kind is VerdictKind.NOT_FINISHED or verdict.places == ("e4",)
    assert judged.belief == (state,)


@pytest.mark.parametrize(("object_on", "piece_on"), [("c2", "b2"), ("b2", "c2")])
def test_either_of_two_alike_may_be_the_object(diaballik: Any, object_on: str, piece_on: str) -> None:
    """A piece left c1 or b1; the other one is something that looks like a piece."""
    state = diaballik.rules.new()
    turn = diaballik.notation.parse_turn(state, f"b1-{piece_on}" if piece_on == "b2" else "b1-b2 b2-c2")
    after = diaballik.rules.apply(state, turn)
    shown = drawn(diaballik, after, {object_on: "black piece 99.5%", piece_on: "black piece 99.6%"})
    judged = JudgedGame(diaballik, belief=(state,))
    verdict = judged.consider(shown, Trigger.DECLARED).verdict
    assert (verdict.kind, set(verdict.places)) == (VerdictKind.AMBIGUOUS, {"b2", "c2"})
    assert judged.belief == (state,)


@pytest.mark.parametrize(("doubtful", "kind"), [(12, VerdictKind.SET_UP), (13, VerdictKind.ILLEGAL)])
def test_at_most_a_quarter_of_the_squares_may_look_wrong_in_an_assumed_start(
    diaballik: Any, doubtful: int, kind: VerdictKind
) -> None:
    state = diaballik.rules.new()
    bare = [place for place, look in diaballik.table.appearance(state).items() if look == "empty"]
    looks = dict.fromkeys(bare[:doubtful], "black piece 90%")
    assert JudgedGame(diaballik).begin(drawn(diaballik, state, looks)).verdict.kind is kind


@pytest.mark.parametrize(("wrong", "is_another"), [(7, False), (8, True)])
@pytest.mark.parametrize("trigger", [Trigger.GLANCE, Trigger.RESTED])
def test_another_game_is_suspected_if_more_than_half_of_the_start_is_wrong(
    diaballik: Any, wrong: int, is_another: bool, trigger: Trigger
) -> None:
    state = diaballik.rules.new()
    taken = [place for place, look in diaballik.table.appearance(state).items() if look != "empty"]
    looks = dict.fromkeys(taken[:wrong], "empty")
    verdict = JudgedGame(diaballik).begin(drawn(diaballik, state, looks), trigger=trigger).verdict
    named = trigger is Trigger.RESTED
    assert verdict.kind is (VerdictKind.ILLEGAL if named else VerdictKind.NOT_FINISHED)
    assert ("does not look like the start" in verdict.sentence) is (is_another and named)
    assert not (is_another and verdict.breaches)


def test_pieces_beside_their_squares_are_named_unless_most_are(diaballik: Any) -> None:
    state = diaballik.rules.new()
    taken = [place for place, look in diaballik.table.appearance(state).items() if look == "black piece"]
    looks = {**dict.fromkeys(taken, "empty"), **{f"{place[0]}2": "black piece" for place in taken}}
    verdict = JudgedGame(diaballik).begin(drawn(diaballik, state, looks)).verdict
    assert len(verdict.breaches) == len(taken) == 6
    assert "does not look like the start" not in verdict.sentence


def test_the_start_of_the_chosen_options_counts(deblockle: Any) -> None:
    small = {"blocks_gold": 1, "blocks_teal": 1}
    verdict = JudgedGame(deblockle).begin(drawn(deblockle, deblockle.rules.new()), small).verdict
    assert "most of its 2 squares with pieces show something else" in verdict.sentence


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"probability_floor": 0.0}, "probability_floor is 0.0"),
        ({"probability_floor": 0.01}, "probability_floor is 0.01"),
        ({"margin": 0.0}, "margin is 0.0"),
        ({"added_log_odds": -0.1}, "added_log_odds is -0.1"),
        ({"margin": 2.0}, "stopover_log_odds is 2.0"),
        ({"stopover_log_odds": -0.1}, "stopover_log_odds is -0.1"),
        ({"unsure_log_odds": 2.1}, "expected at most -2.1"),
    ],
)
def test_settings_with_which_the_judge_would_guess_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JudgeSettings(**settings)  # type: ignore[arg-type]


def test_settings_up_to_these_limits_are_valid() -> None:
    JudgeSettings(probability_floor=0.0099, stopover_log_odds=0.0)
    JudgeSettings(margin=2.1, probability_floor=1e-12)
    JudgeSettings(margin=0.1, stopover_log_odds=0.0, unsure_log_odds=-0.5, illegal_prior=0.5)


@pytest.mark.parametrize(
    ("trigger", "accepts", "names_faults", "ends_by_touch"),
    [
        (Trigger.GLANCE, False, False, False),
        (Trigger.TOUCH, False, False, True),
        (Trigger.TOUCH_RESTED, False, True, True),
        (Trigger.RESTED, True, True, False),
        (Trigger.DECLARED, True, True, False),
    ],
)
def test_what_each_trigger_allows(trigger: Trigger, accepts: bool, names_faults: bool, ends_by_touch: bool) -> None:
    assert (trigger.accepts, trigger.names_faults, trigger.ends_by_touch) == (accepts, names_faults, ends_by_touch)


def test_an_object_is_asked_about_although_the_ball_may_have_gone_to_a_hidden_piece(diaballik: Any) -> None:
    state = diaballik.rules.new()
    shown = drawn(diaballik, state, {"d1": "black piece", "d4": "black piece with ball 99%", "c1": "hidden"})
    verdict = JudgedGame(diaballik, belief=(state,)).consider(shown, Trigger.RESTED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.AMBIGUOUS, ("d1", "d4"))
