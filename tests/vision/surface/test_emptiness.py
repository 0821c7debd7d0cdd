from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.effort import some
from tests.vision import photoreal
from tests.vision.surface.test_occlusion import NAME, painted, solids
from vision.frame import Image
from vision.geometry import project
from vision.sampling import linear_light
from vision.surface.occlusion import (
    EmptinessCurves,
    OcclusionDetector,
    SurfaceEvidence,
    emptiness,
    place_measures,
    shipped,
)
from vision.surface.plan import SurfacePlan

FINDER = OcclusionDetector(photoreal.camera(NAME), photoreal.pose(NAME), SurfacePlan.of(photoreal.LAYOUT.board))


def sight_of(image: Image) -> SurfaceEvidence:
    return FINDER.detect(FINDER.sampler.view(image, solids(NAME)))


def odds_of(image: Image) -> dict[str, float]:
    view = FINDER.sampler.view(image, solids(NAME))
    return emptiness(view, photoreal.LAYOUT.board, FINDER.detect(view))


def relit(image: Image, factor: np.ndarray) -> Image:
    light = np.clip(linear_light(image) * factor, 0.0, 1.0)
    return np.asarray(np.round(255 * np.power(light, 1 / 2.2)), dtype=np.uint8)


def share_of_lines_seen(sight: SurfaceEvidence) -> float:
    return 1.0 - float(sight.places["board not clear"][0])


def test_the_lines_of_a_clear_board_are_seen() -> None:
    assert share_of_lines_seen(sight_of(photoreal.picture(NAME))) > 0.98


@pytest.mark.parametrize("colour", [(0.35, 0.7, 1.1), (1.2, 0.9, 0.6), (0.4, 0.4, 0.4)])
def test_lines_stay_visible_under_another_lamp(colour: tuple[float, float, float]) -> None:
    sight = sight_of(relit(photoreal.picture(NAME), np.array(colour)))
    assert sight.occlusions == ()
    assert share_of_lines_seen(sight) > 0.98


@pytest.mark.parametrize("towards_deg", some([0, 200, 90, 290]))
def test_half_the_board_in_deep_shade_is_no_covering(towards_deg: int) -> None:
    image = photoreal.picture(NAME)
    middle = project(photoreal.camera(NAME), photoreal.pose(NAME), [[0.0, 0.0, 10.0]])[0]
    rows, columns = image.shape[:2]
    x, y = np.meshgrid(np.arange(columns) - middle[0], np.arange(rows) - middle[1])
    angle = np.deg2rad(towards_deg)
    share = np.clip((x * np.cos(angle) + y * np.sin(angle)) / 30 + 0.5, 0, 1)[..., None]
    shaded = relit(image, 1 - share + share * np.array([0.24, 0.2, 0.17]))
    assert sight_of(shaded).occlusions == ()


def test_lines_under_an_object_of_the_boards_colour_are_gone() -> None:
    view = FINDER.sampler.view(photoreal.picture(NAME), solids(NAME))
    blue, green, red = (int(value) for value in np.median(view.colours[~view.hidden_by_pieces & ~view.outside], axis=0))
    card = [(-60.0, -60.0), (20.0, -60.0), (20.0, 20.0), (-60.0, 20.0)]
    not_seen = sight_of(painted(card, (blue, green, red))).places["lines not seen"]
    by_place = dict(zip(photoreal.LAYOUT.board.places, not_seen, strict=True))
    assert by_place["d4"] >= 0.75
    assert by_place["a7"] == 0.0


def test_a_reflected_lamp_is_glare_and_places_near_it_are_unsure() -> None:
    image = photoreal.picture(NAME)
    column, row = project(photoreal.camera(NAME), photoreal.pose(NAME), [[0.0, 0.0, 10.0]])[0]
    rows, columns = image.shape[:2]
    x, y = np.meshgrid(np.arange(columns) - column, np.arange(rows) - row)
    spot = 3.0 * np.exp(-0.5 * (x**2 + y**2) / 50**2)[..., None]
    light = np.clip(linear_light(image) + spot, 0, 1)
    glaring = np.asarray(np.round(255 * np.power(light, 1 / 2.2)), dtype=np.uint8)
    assert {covering.kind for covering in sight_of(glaring).occlusions} == {"glare"}
    clear, veiled = odds_of(image), odds_of(glaring)
    assert veiled["d4"] < 4.6 < clear["d4"]


def test_no_place_is_certainly_empty_in_a_dark_blurred_picture() -> None:
    blurred = np.asarray(cv2.GaussianBlur(photoreal.picture(NAME), (0, 0), 4), dtype=np.uint8)
    dark = relit(blurred, np.array([0.02, 0.02, 0.02]))
    assert max(odds_of(dark).values()) < 4.6 < max(odds_of(photoreal.picture(NAME)).values())


def test_curves_start_at_zero_and_only_fall() -> None:
    for at, log_odds in shipped().curves.values():
        assert at[0] == log_odds[0] == 0
        assert (np.diff(at) > 0).all()
        assert (np.diff(log_odds) <= 0).all()


def test_a_place_without_doubt_has_the_highest_odds_of_being_empty() -> None:
    clear = {"board not clear": np.zeros(1)} | {name: np.zeros(1) for name in shipped().curves}
    assert shipped().log_odds(clear) == shipped().most


@pytest.mark.parametrize("name", sorted(shipped().curves))
def test_each_doubt_lowers_the_odds(name: str) -> None:
    model = replace(shipped(), most=100.0, most_unclear=100.0, least=-100.0)
    measures = {"board not clear": np.zeros(3)} | {other: np.zeros(3) for other in model.curves}
    at, _ = model.curves[name]
    measures[name] = np.array([0.0, at[-1], 10 * at[-1]])
    clear, doubted, beyond = model.log_odds(measures)
    assert clear > doubted == beyond


def test_odds_are_limited_by_the_curves() -> None:
    curves = {"dark": (np.array([0.0, 1.0]), np.array([0.0, -8.0]))}
    model = EmptinessCurves(constant=6.0, most=5.0, most_unclear=3.0, least=-1.5, curves=curves)
    measures = {"dark": np.array([0.0, 0.25, 0.5, 1.0, 0.0]), "board not clear": np.array([0.0, 0.0, 0.0, 0.0, 1.0])}
    np.testing.assert_allclose(model.log_odds(measures), [5.0, 4.0, 2.0, -1.5, 3.0])


def test_a_clear_board_leaves_no_doubt_but_where_pieces_stand() -> None:
    view = FINDER.sampler.view(photoreal.picture(NAME), solids(NAME))
    measures = place_measures(view, photoreal.LAYOUT.board, FINDER.detect(view))
    blocks = photoreal.EXPECTED[NAME]["blocks"]
    free = np.array([place not in blocks for place in photoreal.LAYOUT.board.places])
    assert measures["board not clear"].max() < 0.1
    assert measures["off hue"][free].max() < 0.2
    assert np.median(measures["rougher"][free]) < 0.1


def test_an_unknown_piece_is_rough_and_off_hue() -> None:
    block = next(iter(photoreal.EXPECTED[NAME]["blocks"]))
    others = [
        solid
        for solid in solids(NAME)
        if np.hypot(*np.subtract((solid.x_mm, solid.y_mm), photoreal.LAYOUT.centre_mm(block))) > 1.0
    ]
    view = FINDER.sampler.view(photoreal.picture(NAME), others)
    sight = FINDER.detect(view)
    measures = place_measures(view, photoreal.LAYOUT.board, sight)
    number = photoreal.LAYOUT.board.places.index(block)
    assert measures["rougher"][number] > 1.0
    assert measures["off hue"][number] > 0.5
    assert emptiness(view, photoreal.LAYOUT.board, sight)[block] < 0
