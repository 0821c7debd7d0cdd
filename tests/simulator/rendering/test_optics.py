from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.rendering.optics import GAMMA, SensorNoise, develop, motion_blur, shade_table, through_sensor, tone_table
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import ForeignObject, Scene, Sensor, Setting, lens
from vision.geometry import project


@given(st.lists(st.floats(0.0, 4.0), min_size=2, max_size=20))
def test_more_light_is_never_darker(levels: list[float]) -> None:
    ordered = np.sort(np.asarray(levels))
    shown = develop(ordered.reshape(1, -1, 1).repeat(3, axis=2))[0, :, 0].astype(int)
    assert (np.diff(shown) >= 0).all()


def test_no_light_is_black_and_plenty_is_white() -> None:
    assert develop(np.zeros((1, 1, 3))).max() == 0
    assert develop(np.full((1, 1, 3), 5.0)).min() >= 250


def test_full_light_leaves_dark_colours_as_they_are() -> None:
    table = tone_table(np.ones(3))
    assert np.abs(table[:220, 0, 0].astype(int) - np.arange(220)).max() <= 1


def test_a_shade_table_keeps_the_light_outside_the_shadow() -> None:
    table = shade_table(np.array([0.25, 0.5, 1.0]))
    assert table[0, 0].tolist() == [255, 255, 255]
    assert table[255, 0].tolist() == [round(255 * 0.25 ** (1 / GAMMA)), round(255 * 0.5 ** (1 / GAMMA)), 255]


@pytest.mark.parametrize("deviation", [1.5, 4.0])
def test_noise_has_the_spread_asked_for(deviation: float) -> None:
    camera = lens((320, 240))
    noise = SensorNoise(camera, deviation, 3)
    grey = np.full((240, 320, 3), 128, dtype=np.uint8)
    noisy = noise.add(grey, 0).astype(float)
    assert abs(noisy.mean() - 128) < 0.1
    assert abs(noisy.std() - deviation) < 0.15 * deviation
    assert not np.array_equal(noise.add(grey, 0), noise.add(grey, 1))
    assert np.array_equal(noise.add(grey, 7), noise.add(grey, 7))


def test_motion_blur_spreads_only_along_the_motion() -> None:
    image = np.zeros((41, 41), dtype=np.uint8)
    image[20, 20] = 255
    smeared = motion_blur(image, (12.0, 0.0))
    assert np.ptp(np.flatnonzero(smeared.sum(axis=0))) >= 10
    assert np.ptp(np.flatnonzero(smeared.sum(axis=1) > 20)) <= 2
    assert motion_blur(image, (0.3, 0.0)) is image


@pytest.mark.parametrize(
    "sensor",
    [Sensor(defocus_px=2.0), Sensor(shake_px=(9.0, 4.0)), Sensor(jpeg_quality=20), Sensor(noise=8.0)],
    ids=["defocus", "shake", "jpeg", "noise"],
)
def test_every_fault_of_the_sensor_changes_the_picture(sensor: Sensor) -> None:
    camera = lens((160, 120))
    image = np.zeros((120, 160, 3), dtype=np.uint8)
    image[40:80, 50:110] = (40, 120, 220)
    clean = Sensor(noise=0.0, defocus_px=0.0)
    same = through_sensor(image, clean, SensorNoise(camera, 0.0, 1), 0)
    assert np.array_equal(same, image)
    faulty = through_sensor(image, sensor, SensorNoise(camera, sensor.noise, 1), 0)
    assert not np.array_equal(faulty, image)


def test_exposure_and_colour_error_reach_the_picture(clean_setting: Setting) -> None:
    ordinary = Renderer().render(Scene(clean_setting)).reshape(-1, 3).mean(axis=0)
    dim = replace(clean_setting, sensor=replace(clean_setting.sensor, exposure=0.5))
    warm = replace(clean_setting, sensor=replace(clean_setting.sensor, white_balance=(0.7, 1.0, 1.0)))
    assert (Renderer().render(Scene(dim)).reshape(-1, 3).mean(axis=0) < 0.8 * ordinary).all()
    blue, green, _ = Renderer().render(Scene(warm)).reshape(-1, 3).mean(axis=0) / ordinary
    assert blue < 0.9
    assert green == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("kind", ["coin", "cup", "card"])
def test_things_lie_where_they_are_put(clean_setting: Setting, kind: str) -> None:
    thing = ForeignObject(kind, 100.0, 0.0, (0.2, 0.2, 0.9), base_mm=10.0, radius_mm=14.0)  # type: ignore[arg-type]
    renderer = Renderer()
    without, with_it = (renderer.render(Scene(clean_setting, things=things)) for things in ((), (thing,)))
    ((x, y),) = np.rint(project(clean_setting.camera, clean_setting.pose, [[100.0, 0.0, 12.0]])).astype(int)
    change = np.abs(with_it.astype(int) - without).sum(axis=2)
    assert change[y, x] > 60
    assert change[:, : clean_setting.camera.size[0] // 3].max() == 0
