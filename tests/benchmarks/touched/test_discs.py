"""The measurement of how much discs change with a ball."""

import pytest

from benchmarks.touched import signs
from benchmarks.touched.discs import happened, played


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("black piece", "black piece", "nothing"),
        ("black piece", "black piece with ball", "ball put on"),
        ("white piece with ball", "white piece", "ball taken off"),
        ("white piece", "black piece", None),
        ("empty", "white piece", None),
        ("white piece with ball", "empty", None),
    ],
)
def test_what_happened_to_a_disc(before: str, after: str, what: str | None) -> None:
    assert happened(before, after) == what


def test_a_game_gives_the_looks_and_a_picture_of_every_disc() -> None:
    positions = list(played(3, 2, (640, 360)))
    assert len(positions) == 3
    for looks, pictures in positions:
        assert {place for place, look in looks.items() if look != "empty"} <= pictures.keys()


# The measurement of how much signs change when they are written anew.


@pytest.fixture(scope="module")
def found() -> list[signs.ComparedSign]:
    return list(signs.compared_signs(3, (960, 540)))


def test_replaced_signs_differ_and_untouched_ones_do_not(found: list[signs.ComparedSign]) -> None:
    replaced = [sign.is_anew for sign in found if sign.happened in {"replaced", "written over"}]
    untouched = [sign.is_anew for sign in found if sign.happened == "nothing"]
    assert sum(replaced) > 0.9 * len(replaced) > 0
    assert sum(untouched) < 0.02 * len(untouched)
    assert {sign.disturbance for sign in found} == {"nothing", "lamp switched", "lamp dimmed", "camera bumped"}
