"""Findings about a picture of a table: missing markers, light, blur and glare."""

from __future__ import annotations

import functools

import cv2
import numpy as np
import pytest

from common.findings import Severity
from referee.setup.picture_checks import (
    draw_markers,
    edge_width_px,
    marker_findings,
    picture_findings,
    table_findings,
)
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from vision.frame import Frame, Image
from vision.geometry import project
from vision.layout.table import default_layout
from vision.opencv import as_grey


@functools.cache
def rendered(size: tuple[int, int]) -> tuple[Setting, Image]:
    setting = standard_setting(lens(size))
    return setting, Renderer(1).render(Scene(setting, ()), 0)


def bare(size: tuple[int, int]) -> tuple[Setting, Image]:
    """An empty table, and a picture of it that can be changed."""
    setting, image = rendered(size)
    return setting, image.copy()


def missing(setting: Setting, image: Image) -> list[str]:
    found = table_findings(Frame(image, 0.0, 0), setting.camera, setting.layout)
    return [f"{each.subject}: {each.message}" for each in found if each.severity is Severity.FAULT]


def test_a_covered_marker_is_named_and_a_clear_table_has_no_faults() -> None:
    setting, image = bare((960, 540))
    assert missing(setting, image) == []
    corners = project(setting.camera, setting.pose, setting.layout.markers.corners_mm(2))
    left, top = corners.min(axis=0).astype(int) - 8
    right, bottom = corners.max(axis=0).astype(int) + 8
    image[top:bottom, left:right] = 120
    assert "marker 2: missing" in missing(setting, image)
    assert missing(setting, np.full_like(image, 120))[0].startswith("markers: table not located")


def test_each_sheet_is_named_by_its_number() -> None:
    setting = standard_setting(lens((960, 540)), layout=default_layout("number-drop").with_sheets(2))
    image = Renderer(1).render(Scene(setting, ()), 0)
    found = list(table_findings(Frame(image, 0.0, 0), setting.camera, setting.layout))
    assert [(each.subject, each.severity) for each in found] == [("sheet 1", Severity.OK), ("sheet 2", Severity.OK)]


def test_markers_that_are_too_small_are_reported_with_the_needed_size() -> None:
    told = missing(*bare((480, 270)))
    assert any("px wide, which is too small: 25 px are needed" in line for line in told)


@pytest.mark.parametrize(("level", "message"), [(5, "too dark"), (250, "too bright")])
def test_unusable_light_is_reported(level: int, message: str) -> None:
    found = list(picture_findings(Frame(np.full((240, 320, 3), level, np.uint8), 0.0, 0)))
    assert message in found[0].message
    assert found[1].message == "320 x 240 pixels"


def test_an_uncalibrated_camera_reports_its_visible_markers_and_their_width() -> None:
    setting, image = bare((960, 540))
    told = {each.subject: each.message for each in marker_findings(Frame(image, 0.0, 0), setting.layout)}
    assert sorted(told) == ["marker 0", "marker 1", "marker 2", "marker 3"]
    assert all(message.endswith(" px wide") for message in told.values())
    corners = project(setting.camera, setting.pose, setting.layout.markers.corners_mm(2))
    left, top = corners.min(axis=0).astype(int) - 8
    right, bottom = corners.max(axis=0).astype(int) + 8
    image[top:bottom, left:right] = 120
    frame = Frame(image, 0.0, 0)
    assert {each.subject: each.message for each in marker_findings(frame, setting.layout)}["marker 2"] == "not seen yet"
    assert (draw_markers(frame, setting.layout) != image).any()
    nothing = list(marker_findings(Frame(np.full_like(image, 120), 0.0, 0), setting.layout))
    assert [(each.severity, each.message) for each in nothing] == [(Severity.NOTE, "none is seen yet")]


def test_blur_and_glare_are_reported_before_they_make_a_table_unreadable() -> None:
    _, image = bare((960, 540))
    assert [each.subject for each in picture_findings(Frame(image, 0.0, 0))] == ["picture", "focus"]
    sharp_px = edge_width_px(as_grey(image))
    image[:100, :200] = 255
    blurred = np.asarray(cv2.GaussianBlur(image, (0, 0), 4), dtype=np.uint8)
    blurred_px = edge_width_px(as_grey(blurred))
    assert sharp_px is not None
    assert blurred_px is not None
    assert sharp_px < 4 < blurred_px
    notes = [each.subject for each in picture_findings(Frame(blurred, 0.0, 0)) if each.severity is Severity.NOTE]
    assert notes == ["focus", "glare"]
    assert edge_width_px(np.full((240, 320), 120, np.uint8)) is None
