"""The frame benchmark on a film of a few pictures."""

import pytest
from rich.progress import Progress

from benchmarks.frame import HELD_FRAMES, UNMARKED_FRAMES, measure, report_of
from benchmarks.parts.frame_times import table
from benchmarks.parts.picture_films import PictureSet, Shot
from tests.vision import photoreal


@pytest.fixture(scope="module")
def pictures() -> PictureSet:
    game = [name for name in photoreal.BOARDS if name.startswith("game")]
    shots = tuple(
        Shot(
            photoreal.camera(names[0]),
            photoreal.pose(names[0]),
            photoreal.looks(),
            tuple(photoreal.picture(name) for name in names),
        )
        for names in (game[:2], ["019.jpg"])
    )
    return PictureSet(photoreal.LAYOUT, shots)


def test_stages_are_timed_and_none_twice(pictures: PictureSet) -> None:
    frames = 3 * HELD_FRAMES
    with Progress(disable=True) as progress:
        measures = measure(pictures, frames, 1, progress)
    made = report_of(measures, frames, pictures.film_frames(HELD_FRAMES))
    assert made.aruco_s > 0
    assert sum(made.counts.values()) == frames - HELD_FRAMES + UNMARKED_FRAMES
    assert made.longest_unmarked_s >= made.medians_s["unmarked"] > 0
    for kind, times in measures.reading_s.items():
        to_reading = sum(spent for stage, spent in measures.stages_s[kind].items() if stage != "verdict")
        assert to_reading == pytest.approx(sum(times), rel=1e-6)
    assert made.stages_s["first"]["pieces"] > 0
    assert "beside ArUco" in table(made)
