"""The frame benchmark on a film of a few pictures."""

import numpy as np
import pytest
from rich.progress import Progress

from benchmarks.frame import HELD_FRAMES, UNMARKED_FRAMES, measure, report_of
from benchmarks.parts.frame_times import table
from benchmarks.parts.picture_films import PictureSet, Projector, Shot
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


def test_a_film_shows_every_picture_with_noise_of_its_own(pictures: PictureSet) -> None:
    film = list(Projector(pictures, 3, np.random.default_rng(1)).film(7))
    kinds = ["first", "still", "still", "changed", "still", "still"]
    assert [moment.kind for moment in film] == kinds * 2
    assert [moment.frame.sequence for moment in film] == list(range(7, 7 + pictures.film_frames(3)))
    first, second = film[0].frame.image, film[1].frame.image
    assert 0.5 < float(np.abs(first.astype(int) - second).mean()) < 4
    apart = np.abs(film[9].frame.image.astype(int) - film[8].frame.image).max(axis=2)
    assert 50 < int((apart > 40).sum()) < 8000, "a disc was put on one place"


def test_the_same_seed_shows_the_same_film(pictures: PictureSet) -> None:
    one = PictureSet(pictures.layout, pictures.shots[:1])
    films = [list(Projector(one, 2, np.random.default_rng(4)).film()) for _ in range(2)]
    assert all((a.frame.image == b.frame.image).all() for a, b in zip(*films, strict=True))


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
