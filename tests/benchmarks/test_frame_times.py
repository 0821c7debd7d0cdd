"""The benchmark of frames times what it says it times, and names the lines that are not met."""

from __future__ import annotations

import numpy as np
import pytest
from rich.progress import Progress

from benchmarks.frame import HELD_FRAMES, growth_mb, measure, report_of
from benchmarks.parts.frame_times import STAGE_NAMES, FrameReport, Stopwatch, draw, table
from benchmarks.parts.picture_films import PictureSet, Projector, Shot
from tests.vision import photoreal
from vision.motion.changes import ChangeDetector


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


def report(**changes: object) -> FrameReport:
    usual = {
        "frames": 100,
        "counts": {"first": 1, "still": 99},
        "medians_s": {"first": 0.012, "still": 0.002},
        "located_s": 0.002,
        "stages_s": {kind: dict.fromkeys(STAGE_NAMES, 0.001) for kind in ("first", "still")},
        "aruco_s": 0.004,
        "memory_mb": 200.0,
        "growth_mb": 0.5,
    }
    return FrameReport(**{**usual, **changes})


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
    assert sum(made.counts.values()) == frames - HELD_FRAMES
    for kind, times in measures.reading_s.items():
        to_reading = sum(spent for stage, spent in measures.stages_s[kind].items() if stage != "verdict")
        assert to_reading == pytest.approx(sum(times), rel=1e-6)
    assert made.stages_s["first"]["pieces"] > 0
    assert "beside ArUco" in table(made)


def test_nothing_is_timed_once_the_stopwatch_was_let_go() -> None:
    watch, before = Stopwatch(), ChangeDetector.changed
    with watch.running():
        assert ChangeDetector.changed is not before
    assert ChangeDetector.changed is before


def test_lines_that_are_not_met_are_named(tmp_path) -> None:
    lines = {"first": 4.0, "still": 0.7}
    assert report().not_met(lines, 4.0) == []
    slow = report(medians_s={"first": 0.1, "still": 0.005}, growth_mb=9.0)
    said = slow.not_met(lines, 4.0)
    assert [sentence.split(" ")[0] for sentence in said] == ["first", "nothing", "memory"]
    assert "25.00 times" in said[0]
    assert "1.25 times" in said[1]
    assert "9.0 MB" in said[2]
    draw(report(), tmp_path / "deeper" / "stages.png")
    assert (tmp_path / "deeper" / "stages.png").stat().st_size > 5000


def test_growth_is_judged_after_a_whole_showing_of_a_long_run_only() -> None:
    leaking = [(number, 100 + number / 1000) for number in range(0, 20_000, 100)]
    assert growth_mb(leaking, 20_000, 1000) == pytest.approx(14.4, abs=0.5)
    settled = [(number, 100.0 if number < 2000 else 180.0) for number in range(0, 20_000, 100)]
    assert growth_mb(settled, 20_000, 2000) == 0.0
    assert growth_mb(settled, 20_000, 6000) is None
    assert growth_mb(settled[:90], 9000, 100) is None
