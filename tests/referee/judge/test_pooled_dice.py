"""The dice of several readings pooled: which are the same, which were rolled, and what roll they make."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.registry import load
from referee.judge.dice import PooledDie, SeenDice, pool_dice, rank_rolls, shortfall
from tests.present import present
from tests.referee.judge.drawn import roll_drawn
from vision.reading import DieReading, Reading, RollReading

BLOKUS = load("blokus-dice")


def test_rolls_are_weighed_as_sets_of_faces() -> None:
    seen = present(pool_dice([Reading(0, 0.0, {}, rolls=(roll_drawn("1? 1 1 3"),))], 1e-5))
    weighed = rank_rolls(BLOKUS, BLOKUS.rules.new(), seen, 1e-5)
    assert {one.roll.faces for one in weighed[:2]} == {("1", "1", "1", "3"), ("1", "1", "2", "3")}
    by_faces = {one.roll.faces: one.score for one in weighed}
    assert by_faces["1", "1", "1", "3"] == pytest.approx(math.log(0.5) + 3 * math.log(0.98))
    assert by_faces["1", "1", "2", "3"] == pytest.approx(math.log(0.42) + 3 * math.log(0.98))


def test_faces_that_no_die_can_show_are_no_roll() -> None:
    only_ones = replace(roll_drawn("1 1 1 1"), dice=tuple(DieReading(30.0 * n, 0.0, {"1": 1.0}) for n in range(4)))
    seen = present(pool_dice([Reading(0, 0.0, {}, rolls=(only_ones,))], 1e-5))
    assert [one.roll.faces for one in rank_rolls(BLOKUS, BLOKUS.rules.new(), seen, 1e-5)] == [("1",) * 4]


@given(st.lists(st.floats(1e-5, 0.4), min_size=4, max_size=4))
def test_the_most_probable_faces_are_the_best_roll_whatever_the_rounding(rests: list[float]) -> None:
    dice = tuple(
        PooledDie("tray", 30.0 * number, 0.0, "", {str(number): math.log(1 - rest), "6": math.log(rest)})
        for number, rest in enumerate(rests, 1)
    )
    best = rank_rolls(BLOKUS, BLOKUS.rules.new(), SeenDice(dice), 1e-5)[0]
    assert (best.roll.faces, shortfall(SeenDice(dice), best)) == (("1", "2", "3", "4"), 0.0)


def test_faces_that_can_be_no_roll_lead_the_best_roll() -> None:
    dice = tuple(
        PooledDie("tray", 30.0 * number, 0.0, "", {"star": math.log(0.9), "1": math.log(0.1)}) for number in range(4)
    )
    best = rank_rolls(BLOKUS, BLOKUS.rules.new(), SeenDice(dice), 1e-5)[0]
    assert shortfall(SeenDice(dice), best) == pytest.approx(4 * math.log(9))


def test_a_face_that_a_reading_does_not_name_is_as_improbable_as_the_floor() -> None:
    readings = [
        Reading(number, float(number), {}, rolls=(RollReading("tray", (DieReading(0.0, 0.0, faces),)),))
        for number, faces in enumerate(({"5": 0.9, "6": 0.1}, {"6": 1.0}, {"6": 1.0}))
    ]
    seen = present(pool_dice(readings, 1e-5))
    assert seen.dice[0].faces == pytest.approx({"5": math.log(1e-5), "6": 0.0})


def test_dice_on_two_surfaces_are_never_at_the_same_place() -> None:
    tray, board = roll_drawn("1"), replace(roll_drawn("1"), surface="board")
    seen = present(pool_dice([Reading(0, 0.0, {}, rolls=(tray, board))], 1e-5))
    on_tray, on_board = seen.dice
    assert (on_tray.surface, on_board.surface) == ("tray", "board")
    assert SeenDice((on_tray,)).against(SeenDice((on_board,))).is_rolled


def test_a_die_without_a_name_is_the_same_up_to_half_its_width_away() -> None:
    die = PooledDie("tray", 10.0, 20.0, "", {"1": -0.1, "2": -3.0})
    assert die.is_same_die(replace(die, x_mm=15.0, y_mm=26.0)), "nudged by 7.8 mm"
    assert die.is_same_die(replace(die, x_mm=18.0)), "nudged by half its width"
    assert not die.is_same_die(replace(die, x_mm=18.1))
    assert not die.is_same_die(replace(die, surface="board"))
    assert not die.is_same_die(replace(die, name="yellow"))
    assert die.is_same_die(replace(die, faces={"1": -3.0, "2": -0.1}))
    assert die.distance_mm(replace(die, surface="board")) == math.inf


def test_a_named_die_is_the_same_where_it_lies_as_before() -> None:
    die = PooledDie("tray", 10.0, 20.0, "red", {"1": -0.1, "2": -3.0})
    assert die.is_same_die(replace(die, x_mm=13.0)), "within the error of a reading"
    assert not die.is_same_die(replace(die, x_mm=13.1))
    assert not die.is_same_die(replace(die, surface="board"))
    assert not die.is_same_die(replace(die, name="yellow"))
    assert not die.is_same_die(replace(die, name=""))
    assert not die.is_same_die(replace(die, faces={"1": -3.0, "2": -0.1}))


def test_the_certainty_of_a_die_is_the_lead_of_its_best_face() -> None:
    die = PooledDie("tray", 0.0, 0.0, "", {"1": -0.5, "2": -4.0, "3": -2.0})
    assert (die.best, die.certainty) == ("1", 1.5)
    assert replace(die, faces={"1": -0.5}).certainty == math.inf
    surest, other = SeenDice((die,)), SeenDice((die, replace(die, faces={"1": -0.5, "2": -1.0})))
    assert surest.is_sure(1.5)
    assert not surest.is_sure(1.6)
    assert not other.is_sure(1.5)


def test_dice_thrown_while_others_are_taken_away_count_from_then_on() -> None:
    shown = [roll_drawn("6 2"), roll_drawn("6 2 4"), roll_drawn("6 2 4")]
    given = [Reading(number, float(number), {}, rolls=(roll,)) for number, roll in enumerate(shown)]
    pooled = present(pool_dice(given, 1e-5))
    assert [die.rests for die in pooled.dice] == [True, True, True]
    fewer = present(pool_dice(given[:2], 1e-5))
    assert not fewer.rests, "three dice rested in one reading only"
    assert pool_dice([*given, Reading(3, 3.0, {})], 1e-5) is None


@pytest.mark.parametrize(
    ("at_mm", "faces", "rolled"),
    [
        ((55, 100, 200), "231", True),
        ((35, 65, 200), "314", False),
        ((58, 100, 200), "321", False),
        ((58, 100, 200), "121", True),
        ((5, 35, 65), "124", False),
    ],
    ids=["one beside", "most beside", "one left lying", "one turned", "all bumped, one misread"],
)
def test_dice_were_rolled_if_none_lies_as_one_did_and_half_lie_elsewhere(
    at_mm: tuple[float, ...], faces: str, rolled: bool
) -> None:
    def lying(places: tuple[float, ...], shown: str) -> SeenDice:
        given = zip(places, shown, strict=True)
        return SeenDice(tuple(PooledDie("tray", x_mm, 0.0, "", {face: 0.0}) for x_mm, face in given))

    assert lying(at_mm, faces).against(lying((0, 30, 60), "123")).is_rolled is rolled


def test_dice_are_the_rest_of_an_earlier_roll_if_one_was_taken_and_the_others_lie_still() -> None:
    three, two = (
        SeenDice(tuple(PooledDie("tray", x, 0.0, "", {"1": -0.1}) for x in at)) for at in ((0, 30, 60), (0, 60))
    )
    assert two.against(three).is_remainder
    assert not three.against(three).is_remainder
    moved = SeenDice((two.dice[0], replace(two.dice[1], x_mm=75.0)))
    assert not moved.against(three).is_remainder
    assert not moved.against(three).is_rolled
    assert SeenDice((moved.dice[1],)).against(three).is_rolled
