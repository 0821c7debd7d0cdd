"""Mirror images of lamps and windows in level surfaces, and things that lie in the way."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scene.mirrored import Finish, Mirrored, Panel
from benchmarks.scene.things import ForeignObject, ForeignObjectKind
from simulator.rendering.hands import HandOcclusion
from simulator.rendering.optics import add_light, develop
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Lighting, Scene, Sensor, Setting, lens
from simulator.table import standard_setting
from vision.frame import FloatImage
from vision.geometry import project

SHADE = Panel((120.0, 500.0, 1400.0), (90.0, 0.0, 0.0), (0.0, 90.0, 0.0), 10.0, is_round=True)


def setting_of(finish: Finish, panel: Panel = SHADE) -> Setting:
    ordinary = standard_setting(lens((640, 480)))
    return replace(
        ordinary, lighting=Lighting(mirrored=Mirrored((panel,), finish)), sensor=Sensor(vignette=0.0, noise=0.0)
    )


def light_of(finish: Finish, panel: Panel = SHADE) -> FloatImage:
    return Mirrored((panel,), finish).light(setting_of(finish, panel))


def test_a_lamp_is_mirrored_where_its_mirror_image_would_be() -> None:
    setting = setting_of(Finish(roughness=0.0))
    light = light_of(Finish(roughness=0.0))[..., 0]
    x, y, z = SHADE.centre_mm
    (expected,) = project(setting.camera, setting.pose, [[x, y, 2 * setting.layout.board.height_mm - z]])
    rows, columns = np.nonzero(light > 0.1)
    assert (columns.mean(), rows.mean()) == pytest.approx(tuple(expected), abs=1.0)
    seen_from = setting.pose.camera_position_mm - np.array([x, y, 2 * setting.layout.board.height_mm - z])
    sine = np.hypot(*seen_from[:2]) / np.linalg.norm(seen_from)
    assert sine < 0.5  # so steep that Fresnel's reflectance is that of head-on light
    assert light.max() == pytest.approx(0.04 * SHADE.luminance, rel=0.05)


def test_a_rough_surface_spreads_the_same_light() -> None:
    smooth, rough = (light_of(Finish(roughness=roughness)) for roughness in (0.0, 0.02))
    assert rough.sum() == pytest.approx(float(smooth.sum()), rel=0.05)
    assert rough.max() < 0.8 * smooth.max()


def test_waves_bend_a_mirror_image_and_their_seed_draws_them() -> None:
    flat, wavy, others = (
        light_of(Finish(roughness=0.0, waviness=share, seed=seed)) > 0.1
        for share, seed in ((0, 0), (0.01, 0), (0.01, 1))
    )
    assert (flat != wavy).any()
    assert (wavy != others).any()


def test_a_window_shows_its_bars() -> None:
    window = replace(SHADE, is_round=False, across_mm=(300.0, 0.0, 0.0), panes=(3, 1), bars=0.2)
    light = np.asarray(light_of(Finish(roughness=0.0), window)[..., 0] > 0.1)
    row = light[int(np.nonzero(light.any(axis=1))[0].mean())]
    begins = np.flatnonzero(np.diff(row.astype(int)) == 1)
    assert len(begins) == 3


def test_added_light_only_brightens_where_it_falls() -> None:
    picture = develop(np.full((20, 20, 3), 0.3, dtype=np.float32))
    light = np.zeros((20, 20, 3), dtype=np.float32)
    light[5:10] = 0.25
    lit = add_light(picture, light)
    np.testing.assert_allclose(lit[5:10].astype(int), int(develop(np.full((1, 1, 3), 0.55))[0, 0, 0]), atol=1)
    np.testing.assert_array_equal(np.delete(lit, range(5, 10), axis=0), np.delete(picture, range(5, 10), axis=0))


@pytest.mark.parametrize("kind", ["playing card", "napkin", "scarf", "sleeve", "cat"])
def test_a_covering_changes_the_squares_it_covers_and_no_others(kind: ForeignObjectKind) -> None:
    setting = replace(standard_setting(lens((640, 480))), lighting=Lighting(lamps=(), ambient=0.9))
    thing = ForeignObject(kind, 20.0, -10.0, (0.1, 0.1, 0.5), 40.0, 40.0, 25.0, 3)
    before, after = (Renderer(1).render(Scene(setting, things=things)) for things in ((), (thing,)))
    covered = HandOcclusion(setting).covered((), (), (thing,))
    changed = np.abs(before.astype(int) - after).max(axis=-1) > 25
    board = setting.layout.board
    shares = {}
    for place in board.places:
        corners = np.column_stack([board.outline_mm(place) * 0.999, np.full(4, board.height_mm)])
        pixels = project(setting.camera, setting.pose, corners)
        (left, top), (right, bottom) = np.ceil(pixels.min(axis=0)).astype(int), pixels.max(axis=0).astype(int)
        shares[place] = float(changed[top:bottom, left:right].mean())
    assert covered
    assert min(shares[place] for place in covered) > 0.12
    assert max((share for place, share in shares.items() if place not in covered), default=0.0) < 0.5
