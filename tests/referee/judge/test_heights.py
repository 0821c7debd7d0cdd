"""Turns that look alike from above, told apart by the number of pieces in each stack."""

import math
import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.registry import load
from engine.values import Roll
from referee.judge.decision import Candidates, find_candidates
from referee.judge.evidence.earlier_pictures import unchanged_pieces
from referee.judge.evidence.turns import count_contradiction, height_contradiction, stack_doubts
from referee.judge.explanations import Explanation, ExplanationKind, score_touches, within_one_turn
from referee.judge.explorer import Case, JudgeContext
from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.resolution import resolve
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import PlacePicture, PlaceReading, Reading

BLOCKADE: Any = load("blockade")
BEFORE = BLOCKADE.dice.rolled(
    BLOCKADE.notation.parse_state(
        "warm a1:CL+YM b1:GLS c1:GLS d1:GLS e1:CL+BMMMMM a2:RLS b2:GLS c2:YLMM d2:YL e2:YLSS a3:RLS b3:GLS c3:CL+YMM "
        "d3:BLS e3:YLSS a4:RLS b4:RLS c4:RLS d4:BLS e4:YLS a5:CL+GMMMMM b5:BLS c5:BLS d5:BLS e5:CL+RMMMMM starts=warm"
    ),
    Roll(("4", "1")),
)
"""A medium can move to d2 from c2 or c3. Both show a medium on top before and after, so only heights tell."""
TWO, THREE = {2: 0.9, 3: 0.1}, {2: 0.1, 3: 0.9}


def ruled(
    heights: Mapping[str, Mapping[int, float]], top: str = "yellow medium", trigger: Trigger = Trigger.DECLARED
) -> Any:
    readings = [
        replace(
            reading,
            places={place: replace(one, heights=heights.get(place, {})) for place, one in reading.places.items()},
        )
        for reading in drawn(BLOCKADE, BEFORE, {"d2": top})
    ]
    return JudgedGame(BLOCKADE, belief=(BEFORE,)).consider(readings, trigger).verdict


def test_without_heights_turns_that_look_alike_are_asked_about() -> None:
    verdict = ruled({})
    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert set(verdict.candidates) == {"c2-d2", "c3-d2"}
    waiting = ruled({}, trigger=Trigger.GLANCE)
    assert waiting.kind is VerdictKind.NOT_FINISHED
    assert waiting.sentence.endswith(", or another turn, if the turn ends here.")


@pytest.mark.parametrize(("c2", "c3", "turn"), [(TWO, THREE, "c2-d2"), (THREE, TWO, "c3-d2")])
def test_the_stack_that_became_lower_shows_where_the_piece_came_from(
    c2: Mapping[int, float], c3: Mapping[int, float], turn: str
) -> None:
    verdict = ruled({"c2": c2, "c3": c3})
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, (turn,))


@pytest.mark.parametrize("c3", [{}, {2: 0.5, 3: 0.5}, {2: 0.4, 3: 0.6}])
def test_uncertain_heights_leave_the_question_open(c3: Mapping[int, float]) -> None:
    assert ruled({"c2": {2: 0.6, 3: 0.4}, "c3": c3}).kind is VerdictKind.AMBIGUOUS


def test_impossible_heights_are_ignored_while_the_tops_are_as_believed() -> None:
    heights = {place: {1: 0.01, 7: 0.99} for place in BLOCKADE.places}
    assert ruled(heights, "yellow large").kind is VerdictKind.UNCHANGED


def test_the_table_knows_the_number_of_pieces_in_each_stack() -> None:
    heights = BLOCKADE.heights(BEFORE)
    assert (heights["a1"], heights["e1"], heights["c2"], heights["d2"]) == (2, 6, 3, 1)


FLAT = {2: 0.5, 3: 0.5}
RISE_MM = 0.9
"""Apparent shift of a top for each piece below it."""


def picture(place: str, thing: str) -> PlacePicture:
    """A random picture for this place and content, unlike that of any other place or content."""
    random = np.random.default_rng(zlib.crc32(f"{place} {thing}".encode()))
    return PlacePicture.of(random.integers(40, 200, (60, 40, 3)).astype(np.uint8), np.array([20.0, 30.0]))


def standing(
    state: Any,
    touched: Collection[str] = (),
    *,
    misread: Mapping[str, str] | None = None,
    camera: str = "",
    are_tops_seen: bool = True,
) -> list[Reading]:
    """Readings in which every stack has its usual picture for this camera, except those touched."""
    heights = BLOCKADE.heights(state)

    def stacked(place: str, one: PlaceReading) -> PlaceReading:
        if one.hidden_by is not None:
            return one
        shown = picture(place, camera + ("touched" if place in touched else "as before"))
        if one.best[0].endswith("large"):
            return replace(one, picture=shown)
        tops = {count: ((heights[place] - count) * RISE_MM, 0.0) for count in FLAT}
        return replace(one, heights=FLAT, tops_mm=tops if are_tops_seen else {}, picture=shown)

    return [
        replace(each, places={place: stacked(place, one) for place, one in each.places.items()})
        for each in drawn(BLOCKADE, state, misread)
    ]


def after(turn: str) -> Any:
    return BLOCKADE.rules.apply(BEFORE, BLOCKADE.notation.parse_turn(BEFORE, turn))


def looked_at_before() -> JudgedGame:
    game = JudgedGame(BLOCKADE, belief=(BEFORE,))
    assert game.consider(standing(BEFORE), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    return game


@pytest.mark.parametrize("turn", ["c2-d2", "c3-d2"])
def test_a_stack_with_an_unchanged_picture_was_not_touched(turn: str) -> None:
    table = standing(after(turn), {turn[:2], "d2"})
    alone = JudgedGame(BLOCKADE, belief=(BEFORE,)).consider(table, Trigger.DECLARED).verdict
    assert alone.kind is VerdictKind.AMBIGUOUS
    verdict = looked_at_before().consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, (turn,))


@pytest.mark.parametrize("touched", [{"c2", "c3", "d2"}, {"d2"}])
def test_the_judge_asks_if_both_stacks_or_neither_look_touched(touched: Collection[str]) -> None:
    table = standing(after("c2-d2"), touched, are_tops_seen=False)
    assert looked_at_before().consider(table, Trigger.DECLARED).verdict.kind is VerdictKind.AMBIGUOUS


@pytest.mark.parametrize("turn", ["c2-d2", "c3-d2"])
def test_a_top_that_stands_where_it_stood_was_not_played_on_though_a_hand_was_there(turn: str) -> None:
    verdict = looked_at_before().consider(standing(after(turn), {"c2", "c3", "d2"}), Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, (turn,))


def test_stacks_are_learnt_anew_after_the_camera_was_moved() -> None:
    game = looked_at_before()
    table = standing(after("c2-d2"), {"c2", "d2"}, camera="moved ")
    assert game.consider(table, Trigger.DECLARED).verdict.kind is VerdictKind.AMBIGUOUS

    game = looked_at_before()
    game.consider(standing(BEFORE, camera="moved "), Trigger.RESTED)
    verdict = game.consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, ("c2-d2",))


def test_a_touch_is_remembered_until_the_turn_is_played() -> None:
    """c2 looks touched at first without any other change; then its medium is on d2."""
    game = looked_at_before()
    assert game.consider(standing(BEFORE, {"c2"}), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    verdict = game.consider(standing(after("c2-d2"), {"c2", "d2"}), Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, ("c2-d2",))


def test_an_accepted_turn_updates_the_known_stacks() -> None:
    game = looked_at_before()
    game.consider(standing(after("c2-d2"), {"c2", "d2", "b1"}), Trigger.DECLARED)
    stacks = game.all_believed.observations.pieces
    assert [stacks[place].pieces for place in ("c2", "c3", "d2")] == [2, 3, 2]
    assert [[one.pieces for one in stacks[place].below] for place in ("c2", "c3", "d2")] == [[], [], [1]]
    for place, thing in {"c2": "touched", "d2": "touched", "b1": "touched", "c3": "as before"}.items():
        assert stacks[place].picture.difference(picture(place, thing)) == pytest.approx(0.0, abs=1e-6), place


def test_a_hidden_stack_is_remembered() -> None:
    game = looked_at_before()
    game.consider(standing(BEFORE, misread={"c2": "hidden", "d2": "hidden"}), Trigger.RESTED)
    verdict = game.consider(standing(after("c2-d2"), {"c2", "d2"}), Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, ("c2-d2",))


@pytest.mark.parametrize(("looked_before", "kind"), [(True, VerdictKind.UNCHANGED), (False, VerdictKind.AMBIGUOUS)])
def test_a_misread_stack_with_an_unchanged_picture_is_not_asked_about(looked_before: bool, kind: VerdictKind) -> None:
    game = looked_at_before() if looked_before else JudgedGame(BLOCKADE, belief=(BEFORE,))
    table = standing(BEFORE, misread={"c1": "green medium 90%"})
    assert game.consider(table, Trigger.DECLARED).verdict.kind is kind


def test_stacks_that_a_person_corrects_are_learnt_anew() -> None:
    game = looked_at_before()
    corrected = after("c3-d2")
    game.correct((corrected,), ["d2"])
    game.consider(standing(corrected, {"c3", "d2"}), Trigger.RESTED)
    stacks = game.all_believed.observations.pieces
    assert [stacks[place].pieces for place in ("c2", "c3", "d2")] == [3, 2, 2]
    assert stacks["c3"].picture.difference(picture("c3", "touched")) == pytest.approx(0.0, abs=1e-6)


def corrected_while_misread(seen_again: Collection[str]) -> JudgedGame:
    """A medium arrived on d2 and is read as a small; a person says so, and the stacks ``seen_again`` look touched."""
    game, misread = looked_at_before(), {"d2": "yellow small 90%"}
    game.consider(standing(after("c2-d2"), {"c2", "d2"}, misread=misread), Trigger.DECLARED)
    game.correct((after("c2-d2"),), ["d2"])
    game.consider(standing(after("c2-d2"), seen_again, misread=misread), Trigger.RESTED)
    return game


def test_a_corrected_stack_that_looks_as_when_the_person_spoke_is_known() -> None:
    believed = corrected_while_misread({"c2", "d2"}).all_believed
    assert believed.override.ignored == believed.override.places == frozenset()
    assert (believed.observations.pieces["d2"].look, believed.observations.pieces["d2"].pieces) == ("yellow medium", 2)


def test_a_corrected_stack_that_was_touched_since_is_ignored() -> None:
    believed = corrected_while_misread({"c2"}).all_believed
    assert believed.override.ignored == {"d2"}
    assert "d2" not in believed.observations.pieces


BOTH = "a2-a3 c2-d2"
"""The small's move from a2 shows only on a2, by the large below it: a3 has a small on top before and after."""


def test_a_touched_stack_was_played_on_even_if_its_top_is_read_as_before() -> None:
    table = standing(after(BOTH), {"a2", "a3", "c2", "d2"}, misread={"a2": "red small 70%"})
    verdict = looked_at_before().consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, (BOTH,))
    untouched = standing(after("c2-d2"), {"c2", "d2"}, misread={"a2": "red small 70%"})
    verdict = looked_at_before().consider(untouched, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, ("c2-d2",))


def test_a_touched_stack_with_an_unclear_top_is_asked_about() -> None:
    """A small moved from a2 to a3, and a2 seems empty, which no turn can bring about."""
    table = standing(after(BOTH), {"a2", "c2", "d2"}, misread={"a2": "empty 40%"}, are_tops_seen=False)
    verdict = looked_at_before().consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.AMBIGUOUS, ("a2",))


def test_a_touched_stack_with_a_clear_top_is_not_asked_about() -> None:
    """Somebody brushed against it."""
    verdict = looked_at_before().consider(standing(BEFORE, {"b4"}), Trigger.DECLARED).verdict
    assert verdict.kind is VerdictKind.UNCHANGED
    table = standing(after("c2-d2"), {"c2", "d2", "b4"})
    verdict = looked_at_before().consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, ("c2-d2",))


@pytest.mark.parametrize(
    ("a3", "kind"),
    [
        ({2: 0.01, 3: 0.99}, VerdictKind.ACCEPTED),
        ({2: 0.5, 3: 0.5}, VerdictKind.AMBIGUOUS),
        ({2: 0.99, 3: 0.01}, VerdictKind.AMBIGUOUS),
    ],
)
def test_heights_tell_turns_apart_whose_tops_are_unclear(a3: Mapping[int, float], kind: VerdictKind) -> None:
    """The small on a2 may have gone to a3, which then has three pieces."""
    unclear = {"a2": PlaceReading({"red large": 0.8, "red small": 0.2})}
    heights = {"c2": TWO, "c3": THREE, "a3": a3}
    readings = []
    for reading in drawn(BLOCKADE, after(BOTH)):
        places = {place: replace(one, heights=heights.get(place, {})) for place, one in reading.places.items()}
        readings.append(replace(reading, places={**places, **unclear}))
    verdict = JudgedGame(BLOCKADE, belief=(BEFORE,)).consider(readings, Trigger.DECLARED).verdict
    assert verdict.kind is kind
    assert kind is VerdictKind.AMBIGUOUS or verdict.turns == (BOTH,)


def plain_lead(candidates: Candidates[Any, Any]) -> float:
    """The lead of the best explanation, with the numbers of pieces compared for every turn."""
    seen, best = candidates.seen, candidates.best

    def score(one: Explanation[Any, Any], alike: PooledReading) -> float:
        touches = score_touches(seen, (turn.places for turn in one.first))
        return (
            one.score
            - touches
            + max(
                score_touches(seen, [turn.places]) - count_contradiction(BLOCKADE, one.state, [turn], alike)
                for turn in one.first
            )
        )

    leads = []
    for other in candidates.others:
        lead = best.score - other.score
        turns = [one for one in candidates.leading if one.kind is ExplanationKind.TURN]
        if lead < candidates.needed_lead(other.changes) and turns and other.kind is ExplanationKind.TURN:
            alike = seen.without(place for place, _ in other.changes ^ best.changes)
            lead = max(lead, max(score(one, alike) for one in turns) - score(other, alike))
        leads.append(lead)
    return min(leads, default=math.inf)


@given(
    st.dictionaries(
        st.sampled_from(["a2", "a3", "c2", "c3", "d2"]),
        st.tuples(st.dictionaries(st.integers(2, 4), st.floats(-6.0, 0.0)), st.none() | st.floats(-4.0, 4.0)),
    ),
    st.floats(0.5, 0.9),
)
def test_the_lead_is_the_same_as_with_every_turn_compared(
    stacks: Mapping[str, tuple[Mapping[int, float], float | None]], large: float
) -> None:
    looks = {**BLOCKADE.table.appearance(after(BOTH)), "a2": "red large"}
    sure = {place: dict.fromkeys(BLOCKADE.looks, -9.0) | {look: -0.01} for place, look in looks.items()}
    sure["a2"] |= {"red large": math.log(large), "red small": math.log(1 - large)}
    places = {}
    for place, logs in sure.items():
        heights, touched = stacks.get(place, ({}, None))
        places[place] = PooledPlace(logs, heights=heights, touched=touched)
    seen = PooledReading(places, frozenset(), 0.0, 0)
    candidates = find_candidates(Case(JudgeContext(BLOCKADE), (BEFORE,), seen))
    assert len(candidates.others) > 1
    assert candidates.lead == plain_lead(candidates)


def test_a_turn_that_several_stacks_contradict_is_asked_about() -> None:
    """One of their tops may have been misread, which would rule out the true turn."""
    table = standing(after("c2-d2"), {"c2", "d2", "a4", "b4", "b5"}, are_tops_seen=False)
    verdict = looked_at_before().consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.candidates) == (VerdictKind.AMBIGUOUS, ("c2-d2",))
    assert verdict.sentence == (
        "Warm moves the yellow medium from c2 to d2. But a4, b4 and b5 don't look as they would after that. "
        "Please say what was played."
    )
    assert verdict.places[:3] == ("a4", "b4", "b5")


@pytest.mark.parametrize(("each", "is_doubted"), [(1.4, False), (2.5, True)])
def test_small_doubts_about_many_stacks_are_noise(each: float, is_doubted: bool) -> None:
    """In another light every stack looks a little otherwise."""
    touched = {"c2": 4.0, "d2": 4.0, **dict.fromkeys(("a4", "b4", "b5", "c1", "d1", "e3"), each)}
    heights = {"c2": {2: -0.01, 3: -6.0}, "c3": {2: -6.0, 3: -0.01}}
    places = {
        place: PooledPlace(
            dict.fromkeys(BLOCKADE.looks, -9.0) | {look: -0.01},
            heights=heights.get(place, {}),
            touched=touched.get(place, -4.0),
        )
        for place, look in BLOCKADE.table.appearance(after("c2-d2")).items()
    }
    case = Case(JudgeContext(BLOCKADE), (BEFORE,), PooledReading(places, frozenset(), 0.0, 0))
    turn = BLOCKADE.notation.parse_turn(BEFORE, "c2-d2")
    found = resolve(case, [one for one in within_one_turn(case) if turn in one.first])
    assert (found.turns, bool(found.doubted)) == (() if is_doubted else (turn,), is_doubted)


def looked_touched_at(place: str) -> PooledReading:
    one = PooledPlace({"black piece": 0.0}, heights={1: -0.1, 2: -3.0}, touched=2.0)
    return PooledReading({place: one}, frozenset(), 0.0, 0)


@pytest.mark.parametrize(
    ("touched", "heights", "looked_touched", "untouched"),
    [
        (None, {}, 1.0, 1.0),
        (None, {2: 0.2, 3: 0.8}, 4.0, 1.0),
        (None, {4: 0.8, 5: 0.2}, 4.0, 4.0),
        (2.5, {}, 1.0, math.exp(2.5)),
        (2.5, {2: 0.2, 3: 0.8}, 4.0, math.exp(2.5)),
        (-2.5, {}, math.exp(2.5), 1.0),
        (2.5, {2: 0.8, 3: 0.2}, 1.0, math.exp(2.5)),
        (-0.5, {2: 0.2, 3: 0.8}, 4 * math.exp(0.5), 1.0),
        (-2.5, {2: 0.8, 3: 0.2}, math.exp(2.5), 1.0),
    ],
)
def test_the_odds_against_a_stack_combine_its_touch_and_its_height(
    touched: float | None, heights: Mapping[int, float], looked_touched: float, untouched: float
) -> None:
    """c2 has three pieces; its medium may have left."""
    logs = {count: math.log(value) for count, value in heights.items()}
    top = BLOCKADE.table.appearance(BEFORE)["c2"]
    assert BLOCKADE.table.appearance(after("c2-d2"))["c2"] == top

    def against(look: str, *turns: str) -> float:
        seen = PooledReading({"c2": PooledPlace({look: 0.0}, heights=logs, touched=touched)}, frozenset(), 0.0, 0)
        played = [BLOCKADE.notation.parse_turn(BEFORE, turn) for turn in turns]
        return math.exp(height_contradiction(BLOCKADE, BEFORE, played, seen))

    assert against(top, "c2-d2") == pytest.approx(looked_touched)
    assert against(top) == pytest.approx(untouched)
    assert against(top, "c3-d2") == pytest.approx(untouched)
    assert against("empty") == 1.0, "heights count only for a top as believed"
    assert height_contradiction(load("diaballik"), load("diaballik").rules.new(), (), looked_touched_at("a1")) == 0.0


@given(
    st.sampled_from(["c2-d2", "c3-d2"]),
    st.dictionaries(st.integers(1, 8), st.floats(-9.0, 0.0)),
    st.none() | st.floats(-4.0, 4.0),
)
def test_numbers_of_pieces_only_ever_count_against_a_turn(
    turn: str, heights: Mapping[int, float], touched: float | None
) -> None:
    looks = BLOCKADE.table.appearance(after(turn))
    places = {place: PooledPlace({looks[place]: 0.0}, heights=heights, touched=touched) for place in ("c2", "c3", "d2")}
    seen = PooledReading(places, frozenset(), 0.0, 0)
    assert count_contradiction(BLOCKADE, BEFORE, [BLOCKADE.notation.parse_turn(BEFORE, turn)], seen) >= 0


FOUR_TO_ONE = math.log(4)


@pytest.mark.parametrize(
    ("touched", "heights", "played", "not_played"),
    [
        (None, {}, 0.0, 0.0),
        (2.5, {}, 0.0, 2.5),
        (-2.5, {}, 2.5, 0.0),
        (2.5, {2: 0.8, 3: 0.2}, 0.0, 2.5 + FOUR_TO_ONE),
        (2.5, {2: 0.2, 3: 0.8}, FOUR_TO_ONE, 2.5 - FOUR_TO_ONE),
        (2.5, {2: 0.01, 3: 0.99}, math.log(99), 0.0),
        (-2.5, {2: 0.8, 3: 0.2}, 2.5 - FOUR_TO_ONE, 0.0),
        (-2.5, {2: 0.2, 3: 0.8}, 2.5 + FOUR_TO_ONE, 0.0),
    ],
)
def test_a_stack_that_was_only_brushed_against_raises_no_doubt(
    touched: float | None, heights: Mapping[int, float], played: float, not_played: float
) -> None:
    """c2 has three pieces; its medium may have left."""
    logs = {count: math.log(value) for count, value in heights.items()}
    place = PooledPlace({BLOCKADE.table.appearance(BEFORE)["c2"]: 0.0}, heights=logs, touched=touched)
    seen = PooledReading({"c2": place}, frozenset(), 0.0, 0)
    turn = BLOCKADE.notation.parse_turn(BEFORE, "c2-d2")
    assert stack_doubts(BLOCKADE, BEFORE, (turn,), seen) == {"c2": pytest.approx(played)}
    assert stack_doubts(BLOCKADE, BEFORE, (), seen) == {"c2": pytest.approx(not_played)}


@pytest.mark.parametrize("touched", [-2.5, 2.5])
def test_a_piece_that_passed_through_raises_no_doubt(touched: float) -> None:
    turn = BLOCKADE.notation.parse_turn(BEFORE, "c4-d4 e5-c4 d4-e5")
    looks = BLOCKADE.table.appearance(BLOCKADE.rules.apply(BEFORE, turn))
    place = PooledPlace({looks["d4"]: 0.0}, touched=touched)
    assert stack_doubts(BLOCKADE, BEFORE, (turn,), PooledReading({"d4": place}, frozenset(), 0.0, 0)) == {"d4": 0.0}


def test_only_stacks_raise_doubt() -> None:
    game = load("diaballik")
    assert stack_doubts(game, game.rules.new(), (), looked_touched_at("a1")) == {}


def test_stacks_stay_known_while_their_top_and_number_of_pieces_stay() -> None:
    game = looked_at_before()
    known = game.all_believed.observations.pieces
    assert unchanged_pieces(BLOCKADE, BEFORE, known) == known
    left = unchanged_pieces(BLOCKADE, after("c2-d2"), known)
    assert known.keys() - left.keys() == {"c2", "d2"}
    assert unchanged_pieces(load("diaballik"), load("diaballik").rules.new(), known) == {}
