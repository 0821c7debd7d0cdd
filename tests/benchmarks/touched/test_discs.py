"""The measurement of how much discs change with a ball."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.touched.discs import happened, main, played


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


def test_discs_with_and_without_a_new_ball_are_counted() -> None:
    result = CliRunner().invoke(main, ["--games", "1", "--turns", "3", "--size", "640x360"])
    assert result.exit_code == 0
    assert "black, nothing" in result.output
    assert "black, ball put on" in result.output
