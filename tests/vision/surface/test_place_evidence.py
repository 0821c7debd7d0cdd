"""Evidence by lines and colours for each place, compared with a place-by-place reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.surface.drawn import BOARD, plan
from vision.frame import BoolImage, FloatImage
from vision.geometry import CameraModel, Pose
from vision.surface.occlusion import PlaceExaminer
from vision.surface.plan import BESIDE_MM, LineEvidence
from vision.surface.view import COARSER, SurfaceColours, SurfaceSampler

ASIDE = Pose(np.array([[1.0, 0.0, 0.0], [0.0, -0.8, -0.6], [0.0, 0.6, -0.8]]), np.array([0.0, 0.0, 900.0]))
"""A camera in front of the board."""
ROWS, COLUMNS = (size // COARSER for size in plan().window.shape)
PARTS = len(plan().lines.parts.upright)


def spots(random: np.random.Generator, share: float) -> BoolImage:
    """A mask of squares of ten coarse pixels."""
    few = random.random((ROWS // 10 + 1, COLUMNS // 10 + 1)) < share
    return np.kron(few, np.ones((10, 10), dtype=np.bool_))[:ROWS, :COLUMNS] > 0


def colours_of(off_hue: FloatImage, brighter: FloatImage) -> SurfaceColours:
    nothing: Any = np.zeros((ROWS, COLUMNS), dtype=np.float32)
    return SurfaceColours(nothing, nothing > 0, nothing, off_hue, brighter, nothing > 0, 0.2, nothing > 0)


@pytest.fixture(scope="module")
def sampler() -> SurfaceSampler:
    camera = CameraModel(
        np.array([[900.0, 0.0, 640.0], [0.0, 900.0, 360.0], [0.0, 0.0, 1.0]]), np.zeros(5), (1280, 720)
    )
    return SurfaceSampler(camera, ASIDE, BOARD, BESIDE_MM)


def around(values: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """The central 26 mm of a place."""
    x, y = BOARD.centre_mm(place)
    column, row = (round((float(at) - 0.5) / 2) for at in plan().window.to_pixels(x, y))
    return values[row - 6 : row + 7, column - 6 : column + 7]


@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_equals_a_place_by_place_reference(sampler: SurfaceSampler, seed: int) -> None:
    random = np.random.default_rng(seed)
    gone = random.choice([-2.0, -0.5, 0.5, 2.0], PARTS)
    lines = LineEvidence(gone, random.random(PARTS) < 0.8, gone != 0, random.uniform(0.0, 1.5, PARTS))
    lines.judged[plan().around[BOARD.places.index("d4")] > 0] = False
    brighter = random.normal(0.0, 0.3, (ROWS, COLUMNS)).astype(np.float32)
    off_hue = random.choice(np.array([0.1, 0.25], dtype=np.float32), (ROWS, COLUMNS))
    not_bare, strange, by_light, glare = (spots(random, share) for share in (0.3, 0.3, 0.2, 0.004))
    found = PlaceExaminer(sampler, plan()).measures(
        lines, colours_of(off_hue, brighter), not_bare, strange, by_light, glare
    )
    solid = BOARD.solid_at("a1")
    assert solid is not None
    covered = np.argwhere(glare) * COARSER
    for number, place in enumerate(BOARD.places):
        one = {name: values[number] for name, values in found.items()}
        own = [part for part in np.flatnonzero(plan().around[number]) if lines.judged[part]]
        not_seen = np.mean([gone[part] >= -1 for part in own]) if own else one["board not clear"]
        clearness = np.mean([lines.clearness[part] for part in own]) if own else 1.0
        assert one["lines not seen"] == pytest.approx(not_seen)
        assert one["lines faint"] == pytest.approx(max(0.0, -np.log(max(clearness, 0.05))))
        assert one["strange"] == pytest.approx(around(strange, place).mean(), abs=1e-4)
        assert one["brighter"] - one["darker"] == pytest.approx(around(brighter, place).mean(), abs=1e-4)
        assert min(one["brighter"], one["darker"]) == 0.0
        shift = np.array([*BOARD.centre_mm(place), 0.0]) - [*BOARD.centre_mm("a1"), 0.0]
        column, row = (np.round((at - 0.5) / 2).astype(int) for at in sampler.seen_at(solid.inner_points_mm(5) + shift))
        row, column = np.clip(row, 0, ROWS - 1), np.clip(column, 0, COLUMNS - 1)
        odd = [off_hue[at] > 0.2 and not not_bare[at] and not by_light[at] for at in zip(row, column, strict=True)]
        is_open = int((~not_bare[row, column]).sum())
        assert one["off hue"] == pytest.approx(sum(odd) / max(is_open, 75.0))
        middle = np.array(plan().window.to_pixels(*BOARD.centre_mm(place)))[::-1]
        nearest_mm = float(np.abs(covered - middle).max(axis=1).min()) if len(covered) else 999.0
        if nearest_mm < 25.0 or nearest_mm > 56.0:
            assert one["near glare"] == (nearest_mm < 25.0)
    own_lines = (plan().around > 0) & lines.judged
    assert not own_lines[BOARD.places.index("d4")].any()
    assert found["board not clear"] == pytest.approx(1.0 - (own_lines & (gone < -1)).sum() / own_lines.sum())
    assert set(found["near glare"]) == {0.0, 1.0}


def test_glare_is_near_within_four_centimetres_of_a_places_middle(sampler: SurfaceSampler) -> None:
    nothing = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    zeros = np.zeros((ROWS, COLUMNS), dtype=np.float32)
    lines = LineEvidence(*(np.zeros(PARTS), np.ones(PARTS, dtype=np.bool_), nothing, np.ones(PARTS)))
    x, y = BOARD.centre_mm("d4")
    for away_mm, is_near in ((0.0, True), (40.0, True), (50.0, True), (56.0, False), (70.0, False)):
        glare = nothing.copy()
        column, row = (round(float(at) / COARSER) for at in plan().window.to_pixels(x + away_mm, y))
        glare[row, column] = True
        found = PlaceExaminer(sampler, plan()).measures(
            lines, colours_of(zeros, zeros), nothing, nothing, nothing, glare
        )
        assert found["near glare"][BOARD.places.index("d4")] == is_near, away_mm
    dark = PlaceExaminer(sampler, plan()).measures(lines, colours_of(zeros, zeros), nothing, nothing, nothing, nothing)
    assert not dark["near glare"].any()
