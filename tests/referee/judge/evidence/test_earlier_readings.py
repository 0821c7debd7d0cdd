"""How places were read earlier, and what that tells: misreadings, the same ink, and signs that were written anew."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.judge.evidence.earlier_readings import (
    WRITTEN_ANEW,
    EarlierReadings,
    as_same_ink,
    differing_signs,
    given_earlier_readings,
    readings_to_keep,
    with_later_readings,
)
from referee.judge.pooled_reading import PooledPlace
from vision.reading import PlacePicture

LOOKS = ("empty", "gold", "teal")


def read(empty: float, gold: float, teal: float, *, picture: PlacePicture | None = None) -> PooledPlace:
    shares = dict(zip(LOOKS, (empty, gold, teal), strict=True))
    return PooledPlace({look: math.log(share) for look, share in shares.items()}, picture=picture)


def test_an_earlier_misreading_is_corrected_while_the_believed_piece_stays() -> None:
    before, believed = {"c3": read(0.05, 0.15, 0.8)}, {"c3": "gold"}
    misread = readings_to_keep(before, ["c3", "d4"], believed)
    assert set(misread) == {"c3"}
    again = given_earlier_readings(before, misread, believed)["c3"]
    assert again.lead("teal", "gold") == pytest.approx(0.0)
    assert again.lead("gold", "empty") == pytest.approx(math.log(3))
    assert given_earlier_readings(before, misread, {"c3": "empty"}) == before


def test_of_handwriting_every_sign_is_kept_and_of_pieces_what_was_misread() -> None:
    read_rightly, believed = {"c3": read(0.05, 0.9, 0.05)}, {"c3": "gold"}
    assert readings_to_keep(read_rightly, ["c3"], believed) == {}
    assert set(readings_to_keep(read_rightly, ["c3"], believed, handwritten=True)) == {"c3"}
    assert readings_to_keep(read_rightly, ["c3"], {"c3": "empty"}, handwritten=True).keys() == {"c3"}
    assert readings_to_keep({"c3": read(0.9, 0.05, 0.05)}, ["c3"], {"c3": "empty"}, handwritten=True) == {}


def test_what_a_sensor_alone_knows_is_neither_kept_nor_weighed() -> None:
    believed, misread = {"c3": "gold"}, {"c3": ("gold", read(0.05, 0.15, 0.8))}
    felt = {"c3": PooledPlace({"empty": -5.0, "gold": 0.0, "teal": 0.0}, sensed_only=True)}
    assert readings_to_keep(felt, ["c3"], {"c3": "empty"}) == {}
    assert given_earlier_readings(felt, misread, believed) == felt


@given(*[st.lists(st.floats(0.001, 1.0), min_size=3, max_size=3)] * 2)
def test_ink_that_is_read_again_as_before_is_as_likely_as_can_be(was: list[float], now: list[float]) -> None:
    before, after = (read(*[share / sum(shares) for share in shares]) for shares in (was, now))
    same = as_same_ink(before, before, "gold").log_probabilities
    assert same["gold"] == pytest.approx(0.0, abs=1e-6)
    assert [same[look] for look in ("empty", "teal")] == [before.log_probabilities[look] for look in ("empty", "teal")]
    other = as_same_ink(after, before, "gold").log_probabilities
    assert after.log_probabilities["gold"] <= other["gold"] <= 0.0
    agreed, again = (
        math.fsum(math.exp(before.log_probabilities[look] + one.log_probabilities[look]) for look in LOOKS)
        for one in (after, before)
    )
    assert other["gold"] == pytest.approx(max(after.log_probabilities["gold"], min(0.0, math.log(agreed / again))))


NOISE, OTHER = np.random.default_rng(4).random((2, 18, 18)).astype(np.float32)
KEPT, SAME, ANEW = (PlacePicture(levels, (8.5, 8.5)) for levels in (NOISE, 1.02 * NOISE, OTHER))


def test_a_sign_that_was_written_anew_is_rather_another_one() -> None:
    assert KEPT.difference(SAME) < WRITTEN_ANEW / 10
    assert KEPT.difference(ANEW) > WRITTEN_ANEW
    earlier = {"c3": ("gold", read(0.05, 0.15, 0.8, picture=KEPT))}

    def best(gold: float, picture: PlacePicture | None) -> str:
        now = {"c3": read(0.01, gold, 0.99 - gold, picture=picture)}
        return given_earlier_readings(now, earlier, {"c3": "gold"}, handwritten=True)["c3"].best

    assert [best(0.15, picture) for picture in (SAME, None, ANEW)] == ["gold", "gold", "teal"]
    assert [best(0.6, picture) for picture in (SAME, None, ANEW)] == ["gold", "gold", "teal"]
    assert best(0.98, ANEW) == "gold"


@pytest.mark.parametrize(("change", "is_same"), [(0.0, True), (0.1, True), (0.3, False)])
def test_two_readings_of_untouched_ink_are_not_two_signs(change: float, is_same: bool) -> None:
    now = PlacePicture(NOISE + np.float32(change) * OTHER, (8.5, 8.5))
    earlier = {"c3": ("gold", read(0.0001, 0.9998, 0.0001, picture=KEPT))}
    seen = {"c3": read(0.001, 0.001, 0.998, picture=now)}
    weighed = given_earlier_readings(seen, earlier, {"c3": "gold"}, handwritten=True)["c3"]
    assert (weighed.best == "gold") == is_same


@pytest.mark.parametrize(
    ("differing", "signs", "believed"),
    [(1, 8, False), (5, 8, False), (7, 8, True), (8, 8, True), (3, 3, False)],
)
def test_a_sheet_that_looks_otherwise_as_a_whole_was_not_written_anew(
    differing: int, signs: int, believed: bool
) -> None:
    places = [f"p1.a{number}" for number in range(signs)]
    earlier = {place: ("gold", read(0.05, 0.15, 0.8, picture=KEPT)) for place in places}
    # The other player's sheet looks as before.
    earlier |= {f"p2.a{number}": ("gold", read(0.05, 0.15, 0.8, picture=KEPT)) for number in range(20)}
    now = {place: replace(before, picture=SAME) for place, (_, before) in earlier.items()}
    now |= {place: replace(now[place], picture=ANEW) for place in places[:differing]}
    weighed = given_earlier_readings(now, earlier, dict.fromkeys(earlier, "gold"), handwritten=True)
    assert {weighed[place].best == "gold" for place in places[:differing]} == {believed}
    assert all(weighed[place].best == "gold" for place in earlier if place not in places[:differing])


@pytest.mark.parametrize(
    ("usual", "difference", "signs", "is_anew"),
    [
        (0.5, 27.0, 7, False),
        (0.5, 30.0, 7, True),
        (2.0, 30.0, 7, False),
        (2.0, 40.0, 7, True),
        (40.0, 200.0, 7, False),
        (20.0, 30.0, 2, True),
    ],
)
def test_how_much_a_sign_must_differ_depends_on_the_others_of_its_sheet(
    usual: float, difference: float, signs: int, is_anew: bool
) -> None:
    sheet = {**{f"a{number}": usual for number in range(signs)}, "x": difference}
    assert differing_signs(sheet) == ({"x"} if is_anew else set())


def test_a_sign_with_a_new_loop_is_the_same_sign_and_its_picture_is_kept_anew() -> None:
    signs = ("one", "seven", "one circled", "seven circled")

    def sign(picture: PlacePicture, *shares: float) -> PooledPlace:
        return PooledPlace(dict(zip(signs, map(math.log, shares), strict=True)), picture=picture)

    before, looped = sign(KEPT, 0.3, 0.6, 0.05, 0.05), sign(ANEW, 0.05, 0.05, 0.3, 0.6)
    earlier: EarlierReadings = {"c3": ("one", before)}

    def best(one: PooledPlace, believed: str) -> str:
        return given_earlier_readings({"c3": one}, earlier, {"c3": believed}, handwritten=True)["c3"].best

    assert best(looped, "one") == "one circled"
    assert best(looped, "one circled") == "seven circled"
    earlier = with_later_readings(earlier, {"c3": ("one circled", looped)}, handwritten=True)
    assert earlier["c3"][1].log_probabilities == before.log_probabilities
    assert best(looped, "one circled") == "one circled"
    assert best(replace(looped, picture=KEPT), "one circled") == "seven circled"
