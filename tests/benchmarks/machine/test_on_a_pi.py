"""Estimates for a Pi, and the emulator's marks."""

from __future__ import annotations

from benchmarks.machine.on_a_pi import between_marks, estimates, medians

OUTPUT = """\
instructions 1000
instructions 4000
frame first
a library's warning
instructions 4100
instructions 4300
frame still
instructions 4400
instructions 4700
frame still
"""


def test_a_frames_instructions_lie_between_its_two_marks() -> None:
    assert list(between_marks(OUTPUT)) == [("first", 3000.0), ("still", 200.0), ("still", 300.0)]


def test_medians_are_by_kind_in_order_of_appearance() -> None:
    assert medians(between_marks(OUTPUT)) == {"first": 3000.0, "still": 250.0}


def test_a_frame_is_estimated_by_rating_and_by_instructions() -> None:
    assert list(estimates(1769.0 * 0.05, None)) == ["Pi 4 50 ms by 7-Zip", "Pi 5 28 ms by 7-Zip"]
    assert (
        list(estimates(3196.0 * 0.01, 24e6))[1]
        == "Pi 5 10 ms by 7-Zip, 10 ms at one of 24 million instructions a cycle"
    )
