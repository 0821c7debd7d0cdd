"""Touches and heights of stacks, judged by comparison with earlier pictures."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from engine.registry import load
from referee.judge.belief import Belief
from referee.judge.evidence.earlier_pictures import KnownPiece, compare_with_earlier_pictures
from referee.judge.explorer import JudgeContext
from referee.judge.pooled_reading import PooledPlace, PooledReading
from vision.reading import PlacePicture

BLOCKADE, DIABALLIK = load("blockade"), load("diaballik")
RISE_MM = 0.9
STOOD_MM = (2.0, -1.0)
TOP = "red medium"
PLACES = [f"{file}{rank}" for rank in range(1, 6) for file in "abcde"]
NOISE = np.random.default_rng(1).normal(0.0, 1.0, (30, 30)).astype(np.float32)
OTHER = np.random.default_rng(2).normal(0.0, 1.0, (30, 30)).astype(np.float32)


def picture(share: float) -> PlacePicture:
    """A picture that differs from ``picture(0)`` by about this share."""
    mixed = math.sqrt(1 - share) * NOISE + math.sqrt(share) * OTHER
    return PlacePicture(mixed.astype(np.float32), (15.0, 15.0))


def judged(
    now: Mapping[int, float],
    *,
    share: float = 0.9,
    moved_mm: float = 0.0,
    look: str = TOP,
    sure: float = 0.98,
    others: float = 0.001,
) -> PooledPlace:
    """The stack on c3, earlier of three pieces, compared with earlier pictures of all stacks."""
    tops_mm = {count: (STOOD_MM[0] + moved_mm + (3 - count) * RISE_MM, STOOD_MM[1]) for count in now}
    logs = {look: math.log(sure), "green small" if look == TOP else TOP: math.log(1 - sure)}
    heights = {count: math.log(value) for count, value in now.items()}
    places = {place: PooledPlace({"red large": 0.0}, picture=picture(others)) for place in PLACES}
    places["c3"] = PooledPlace(logs, heights=heights, tops_mm=tops_mm, picture=picture(share))
    stood = {place: KnownPiece("red large", 1, picture(0.0)) for place in PLACES}
    stood["c3"] = KnownPiece(TOP, 3, picture(0.0), STOOD_MM)
    return compare_with_earlier_pictures(BLOCKADE, PooledReading(places, frozenset(), 0.0, 0), stood).places["c3"]


def density(off_mm: float, pieces: int) -> float:
    """Unnormalised density of Student's distribution in two dimensions, with eight degrees of freedom."""
    return (1 + off_mm**2 / (8 * pieces)) ** -5 / pieces


@pytest.mark.parametrize("moved_mm", [0.0, 0.4, 1.3, 6.0])
def test_heights_are_weighed_by_how_far_tops_have_moved(moved_mm: float) -> None:
    """Each piece rests within 1 mm of the one below.

    An unchanged height means that one piece left and one came. One height in ten is uniform.
    """
    now = {2: 0.2, 3: 0.5, 4: 0.2, 5: 0.1}
    weights = {}
    for count, alone in now.items():
        weights[count] = alone * density(moved_mm + (3 - count) * RISE_MM, max(abs(count - 3), 1))
    expected = {count: 0.9 * weight / sum(weights.values()) + 0.1 / len(now) for count, weight in weights.items()}
    found = judged(now, moved_mm=moved_mm).heights
    assert {count: math.exp(value) for count, value in found.items()} == pytest.approx(expected)


def top_moved(moved_mm: float, *, all_mm: float = 0.0, known: int = 12) -> PooledPlace:
    """The stack on c3 by where its top is, while that of each other stack moved a little, or not: ``all_mm`` more."""
    stood = {place: KnownPiece(TOP, 3, picture(0.0), STOOD_MM) for place in [*PLACES[:known], "c3"]}
    moves = {place: all_mm + 0.04 * (at % 2) for at, place in enumerate(PLACES)} | {"c3": all_mm + moved_mm}
    places = {
        place: PooledPlace(
            {TOP: 0.0},
            heights={2: math.log(0.4), 3: math.log(0.6)},
            tops_mm={count: (STOOD_MM[0] + move + (3 - count) * RISE_MM, STOOD_MM[1]) for count in (2, 3)},
            picture=picture(0.012 if place == "c3" else 0.001),
        )
        for place, move in moves.items()
    }
    return compare_with_earlier_pictures(BLOCKADE, PooledReading(places, frozenset(), 0.0, 0), stood).places["c3"]


@pytest.mark.parametrize("all_mm", [0.0, 1.5])
def test_a_top_that_has_moved_more_than_all_others_was_touched(all_mm: float) -> None:
    odds = [top_moved(moved_mm, all_mm=all_mm).touched or 0.0 for moved_mm in (0.0, 0.1, 0.3, 0.6, 2.0)]
    assert odds == sorted(odds)
    assert odds[0] < -3
    assert odds[-2] > 1


def test_a_few_tops_do_not_tell_how_far_untouched_ones_seem_to_move() -> None:
    assert top_moved(0.3, known=2).touched == pytest.approx(top_moved(0.0, known=2).touched, abs=0.5)
    assert (top_moved(0.3, known=3).touched or 0.0) > (top_moved(0.0, known=3).touched or 0.0) + 1


@pytest.mark.parametrize(("share", "look", "lead"), [(0.0, TOP, 4.0), (0.9, TOP, 0.0), (0.0, "red small", 0.0)])
def test_a_stack_that_looks_as_it_did_when_lower_has_that_height_again(share: float, look: str, lead: float) -> None:
    """Two or three of four pieces are left."""
    lower = KnownPiece(look, 2, picture(share))
    stood = {place: KnownPiece(TOP, 1, picture(0.0)) for place in PLACES}
    stood["c3"] = KnownPiece(TOP, 4, picture(0.9), below=(lower,))
    places = {place: PooledPlace({TOP: 0.0}, picture=picture(0.001)) for place in PLACES}
    places["c3"] = PooledPlace({TOP: 0.0}, heights={2: math.log(0.5), 3: math.log(0.5)}, picture=picture(0.0))
    heights = (
        compare_with_earlier_pictures(BLOCKADE, PooledReading(places, frozenset(), 0.0, 0), stood).places["c3"].heights
    )
    assert heights[2] - heights[3] == pytest.approx(lead)
    assert math.exp(heights[2]) + math.exp(heights[3]) == pytest.approx(1.0)


def test_only_lower_stacks_are_remembered() -> None:
    stack = KnownPiece(TOP, 3, picture(0.0), below=(KnownPiece("red large", 1, picture(0.1)),))
    assert [one.pieces for one in stack.lower_than(4)] == [1, 3]
    assert [one.pieces for one in stack.lower_than(3)] == [1]
    assert stack.lower_than(1) == ()
    assert all(not one.below for one in stack.lower_than(4))


def test_the_less_a_picture_differs_the_likelier_nobody_touched_it() -> None:
    shares = (0.0, 0.001, 0.004, 0.01, 0.02, 0.05, 0.3, 0.9)
    odds = [judged({2: 0.5, 3: 0.5}, share=share).touched for share in shares]
    assert odds == sorted(odds, key=lambda one: one or 0.0)
    assert [round(one, 1) for one in odds if one is not None][:1] == [-4.0]
    assert [round(one, 1) for one in odds if one is not None][-2:] == [4.0, 4.0]


def test_a_touch_needs_a_larger_difference_in_a_noisy_picture() -> None:
    clear, noisy = (judged({2: 0.5, 3: 0.5}, share=0.03, others=others).touched for others in (0.001, 0.008))
    assert clear is not None
    assert noisy is not None
    assert noisy < 0 < clear


def test_no_touch_is_inferred_if_all_pictures_differ() -> None:
    """The camera was moved."""
    assert judged({2: 0.5, 3: 0.5}, share=0.5, others=0.5).touched is None


@pytest.mark.parametrize("comparable", [1, 6, 12])
def test_no_touch_is_inferred_if_most_pictures_cannot_be_compared(comparable: int) -> None:
    beside = PlacePicture(picture(0.0).levels, (-100.0, 15.0))
    stood = {place: KnownPiece(TOP, 1, picture(0.0) if at < comparable else beside) for at, place in enumerate(PLACES)}
    places = {place: PooledPlace({TOP: 0.0}, picture=picture(0.5)) for place in PLACES}
    seen = PooledReading(places, frozenset(), 0.0, 0)
    assert compare_with_earlier_pictures(BLOCKADE, seen, stood) is seen


def touched(share: float, *, others: float, kept: int = 0) -> float | None:
    """The log-odds that c3 was touched; ``kept`` of the other places keep their old picture."""
    stood = {place: KnownPiece(TOP, 1, picture(0.0)) for place in PLACES}
    looks = {place: picture(others) for place in PLACES} | {"c3": picture(share)}
    looks |= {place: stood[place].picture for place in [place for place in PLACES if place != "c3"][:kept]}
    places = {place: PooledPlace({TOP: 0.0}, picture=look) for place, look in looks.items()}
    return (
        compare_with_earlier_pictures(BLOCKADE, PooledReading(places, frozenset(), 0.0, 0), stood).places["c3"].touched
    )


def log_odds(difference: float) -> float:
    """0.6 times the log-odds of a touch for this difference, by the measured distributions; at most 4 either way."""
    logarithm = max(math.log(difference), -0.3)
    untouched, touched = (
        -math.log(spread) - (logarithm - mean) ** 2 / (2 * spread**2) for mean, spread in ((-0.3, 0.8), (4.2, 1.2))
    )
    return max(-4.0, min(4.0, 0.6 * (touched - untouched)))


@pytest.mark.parametrize("share", [0.002, 0.008, 0.012, 0.016, 0.02, 0.03, 0.05])
@pytest.mark.parametrize(("others", "kept"), [(0.0, 0), (0.01, 0), (0.018, 12), (0.01, 13), (0.5, 13)])
def test_the_odds_of_a_touch_follow_from_the_difference_relative_to_the_usual_one(
    share: float, others: float, kept: int
) -> None:
    """The usual difference is the lower quartile of the places read anew, if those are the majority."""
    usual = max(1.0, picture(0.0).difference(picture(others))) if kept < 13 else 1.0
    difference = picture(0.0).difference(picture(share))
    assert touched(share, others=others, kept=kept) == pytest.approx(log_odds(difference / usual), abs=1e-6)


@pytest.mark.parametrize(("others", "tells"), [(0.0245, True), (0.0265, False)])
def test_no_touch_is_inferred_if_the_usual_difference_is_over_five_times_that_of_clear_pictures(
    others: float, tells: bool
) -> None:
    assert (touched(0.3, others=others) is not None) is tells


@pytest.mark.parametrize(
    ("share", "sure", "best"), [(0.0, 0.9, TOP), (0.0, 0.9999, "blue medium"), (0.3, 0.9, "blue medium")]
)
def test_an_untouched_stack_keeps_its_look_unless_another_is_certain(share: float, sure: float, best: str) -> None:
    one = judged({2: 0.5, 3: 0.5}, share=share, look="blue medium", sure=sure)
    assert one.best == best
    assert bool(one.heights) == (best == "blue medium"), "the heights are those of the look that was read"
    assert math.fsum(map(math.exp, one.log_probabilities.values())) == pytest.approx(1.0)


def test_stacks_without_an_earlier_picture_are_left_as_they_are_read() -> None:
    seen = PooledReading({"c3": PooledPlace({TOP: 0.0}, picture=picture(0.0))}, frozenset(), 0.0, 0)
    assert compare_with_earlier_pictures(BLOCKADE, seen, {}) is seen
    unread = PooledReading({"c3": PooledPlace({TOP: 0.0})}, frozenset(), 0.0, 0)
    assert compare_with_earlier_pictures(BLOCKADE, unread, {"c3": KnownPiece(TOP, 3, picture(0.0), STOOD_MM)}) is unread


BALL, BARE = "black piece with ball", "black piece"
DISCS = ["a1", "b1", "c1", "d1", "e1", "f1", "g1"]


def disc_on_d1(share: float, *, ball: float = 0.4, others: float = 0.0004, same: bool = False) -> PooledPlace:
    """A disc read with that probability of the ball it carried, in a picture that differs by about ``share``."""
    earlier = {place: KnownPiece(BALL if place == "d1" else BARE, 1, picture(0.0)) for place in DISCS}
    places = {place: PooledPlace({BARE: -0.01, BALL: -4.6}, picture=picture(others)) for place in DISCS}
    now = earlier["d1"].picture if same else picture(share)
    places["d1"] = PooledPlace({BALL: math.log(ball), BARE: math.log(1 - ball)}, picture=now)
    return compare_with_earlier_pictures(DIABALLIK, PooledReading(places, frozenset(), 0.0, 0), earlier).places["d1"]


def gained(after: PooledPlace, ball: float = 0.4) -> float:
    """How many log-odds the ball has gained."""
    return after.lead(BALL, BARE) - math.log(ball / (1 - ball))


def test_a_disc_that_looks_just_as_before_keeps_its_ball() -> None:
    untouched = disc_on_d1(0.003)
    assert untouched.best == BALL
    difference = picture(0.0).difference(picture(0.003))
    assert gained(untouched) == pytest.approx(3.0 * (0.0 - math.log(difference)))
    assert gained(disc_on_d1(1e-6)) == pytest.approx(2.5), "never more"
    assert gained(disc_on_d1(0.0, same=True)) == pytest.approx(2.5), "the very picture in which it was last known"
    assert untouched.touched is None


@pytest.mark.parametrize("otherwise", [disc_on_d1(0.01), disc_on_d1(0.3), disc_on_d1(0.0005, others=0.02)])
def test_a_disc_is_left_as_read_if_it_looks_otherwise_or_all_discs_do(otherwise: PooledPlace) -> None:
    assert gained(otherwise) == 0.0


def test_a_touched_disc_keeps_its_earlier_picture_until_a_turn_is_accepted() -> None:
    context, state = JudgeContext(DIABALLIK), DIABALLIK.rules.new()
    looks = DIABALLIK.table.appearance(state)
    first = {place: PooledPlace({look: 0.0}, picture=picture(0.0)) for place, look in looks.items()}
    later = {place: PooledPlace({look: 0.0}, picture=picture(0.5)) for place, look in looks.items()}
    belief: Belief[Any, Any] = Belief.of([state])
    belief = belief.remember_pieces(context, first)
    quiet = belief.remember_pieces(context, later, settled=False)
    assert quiet.observations.pieces["a1"].picture is first["a1"].picture
    settled = belief.remember_pieces(context, later)
    assert settled.observations.pieces["a1"].picture is later["a1"].picture
