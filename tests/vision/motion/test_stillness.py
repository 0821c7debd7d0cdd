"""What looks like a hand and has not moved for long is an object, and hides more around it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision.readers import table_reader
from vision.readers.table_reader import StillnessSettings, StillThings
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion

HAND, OBJECT = HindranceKind.HAND, HindranceKind.OBJECT


def thing(column: int, kind: HindranceKind = HAND, side: int = 20) -> Occlusion:
    """A square thing from that column on."""
    pixels = np.zeros((60, 120), dtype=np.bool_)
    pixels[20 : 20 + side, column : column + side] = True
    return Occlusion(kind, pixels, float(side * side))


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> StillThings:
    monkeypatch.setattr(table_reader, "_STILLNESS_SETTINGS", StillnessSettings(still_s=10.0))
    return StillThings(2)


def kinds(still: StillThings, things: list[Occlusion], time_s: float) -> list[HindranceKind]:
    return [one.kind for one in still.judged(things, time_s)]


def test_a_hand_that_does_not_move_becomes_an_object_and_stays_one(still: StillThings) -> None:
    assert still.due_s == math.inf
    assert [kinds(still, [thing(10)], time_s) for time_s in (5.0, 14.9, 15.0, 99.0)] == [
        [HAND],
        [HAND],
        [OBJECT],
        [OBJECT],
    ]


def test_it_is_due_when_it_has_lain_still_for_long_enough(still: StillThings) -> None:
    still.judged([thing(10)], 5.0)
    still.judged([thing(10), thing(60)], 8.0)
    assert still.due_s == 15.0
    still.judged([thing(10), thing(60)], 15.0)
    assert still.due_s == 18.0
    still.judged([thing(10), thing(60)], 18.0)
    assert still.due_s == math.inf


def test_a_hand_that_moves_slowly_stays_a_hand(still: StillThings) -> None:
    for second in range(60):
        # each step is within what counts as the same
        assert kinds(still, [thing(10 + second // 4)], float(second)) == [HAND]


def test_a_hand_that_was_gone_starts_anew(still: StillThings) -> None:
    still.judged([thing(10)], 0.0)
    still.judged([], 1.0)
    assert kinds(still, [thing(10)], 10.5) == [HAND]


def test_each_hand_is_followed_by_itself(still: StillThings) -> None:
    assert kinds(still, [thing(10), thing(60)], 0.0) == [HAND, HAND]
    assert kinds(still, [thing(70), thing(10), thing(100, OBJECT)], 10.0) == [HAND, OBJECT, OBJECT]


def test_an_object_hides_its_edge_too(still: StillThings) -> None:
    still.judged([thing(10)], 0.0)
    hidden = still.judged([thing(10)], 10.0)[0]
    assert np.array_equal(hidden.pixels, thing(8, side=24).pixels[[*range(2, 60), 0, 1]])
    assert hidden.area_mm2 == 400.0
    assert not thing(10).pixels[19, 10]
