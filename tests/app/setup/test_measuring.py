"""A board measured by its corners, and findings about a picture of a table, by a camera that nobody calibrated."""

import functools
import json
import re
from contextlib import closing
from dataclasses import replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from app.settings.settings import CameraSection
from app.setup.measuring import TABLE_STEP, markers_by_corners
from app.setup.picture_checks import (
    LocatedTable,
    SharedCamera,
    draw_markers,
    marker_findings,
    picture_findings,
    table_findings,
)
from app.setup.screens import screen_of
from app.setup.steps import steps_of
from app.setup.table_setup import TableSetup
from common.findings import Severity
from engine.registry import load
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from tests.app.setup.checking import check_step
from vision.frame import FloatArray, Frame, Image
from vision.geometry import project
from vision.layout.table import default_layout
from vision.learned_cameras import LearnedCameras

TODAY = date(2026, 5, 1)


@pytest.fixture(scope="module")
def seen() -> tuple[Setting, Frame]:
    setting = standard_setting(lens((960, 540)))
    return setting, Frame(Renderer(1).render(Scene(setting, ()), 0), 0.0, 0)


def corners_px(setting: Setting) -> FloatArray:
    board = setting.layout.board
    x, y = board.bounds_mm.right_mm, board.bounds_mm.far_mm
    corners = [[-x, y], [x, y], [x, -y], [-x, -y]]
    return project(setting.camera, setting.pose, [[*corner, board.height_mm] for corner in corners])


def table_of(folder: Path, frame: Frame, game: str = "deblockle") -> TableSetup:
    return TableSetup(load(game), folder, lambda _: frame, TODAY, values={"camera.source": "virtual"})


def test_markers_are_measured_to_a_millimetre_or_two(seen: tuple[Setting, Frame]) -> None:
    setting, frame = seen
    centres, findings = markers_by_corners(frame, setting.camera, setting.layout, corners_px(setting).tolist())
    for number, centre in setting.layout.markers.centres_mm.items():
        assert np.linalg.norm(np.subtract(centres[number], centre)) < 2.5, (number, centres[number])
    assert [str(each.severity) for each in findings] == ["ok"] * 4


def test_a_wrong_square_size_is_noticed_by_the_size_of_the_markers(seen: tuple[Setting, Frame]) -> None:
    setting, frame = seen
    board = replace(setting.layout.board, cell_mm=setting.layout.board.cell_mm * 1.15)
    wrong = replace(setting.layout, surfaces=(board, *setting.layout.surfaces[1:]))
    _, findings = markers_by_corners(frame, setting.camera, wrong, corners_px(setting).tolist())
    assert all(str(each.severity) == "fault" and "it is 36.0 mm" in each.message for each in findings)


def test_the_answer_with_corners_writes_a_layout_that_fits(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    setting, frame = seen
    table = table_of(tmp_path, frame)
    own = screen_of(TABLE_STEP.forms(table), ["0", "1", f"{setting.layout.board.cell_mm:g}", "10", "0"])
    # The first proposal comes from the markers at their usual positions, so it is close.
    assert own.guess is not None
    assert np.abs(np.asarray([point for _, point in own.guess()]) - corners_px(setting)).max() < 12
    board = setting.layout.board
    typed = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners_px(setting))
    outcome = check_step(TABLE_STEP, table, f"{board.cell_mm:g} {board.height_mm:g} {typed}")
    assert outcome.is_done, outcome
    written = json.loads((tmp_path / "layout.json").read_text())
    assert written["board"]["cell"] == board.cell_mm
    assert table.values["table.layout"] == "layout.json"


@pytest.mark.parametrize("answer", ["40 10 1 2 3", "40 10 1,1 2,2 3,3 4", "forty", "40 10 350"])
def test_invalid_measurements_are_refused(answer: str, seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    outcome = check_step(TABLE_STEP, table_of(tmp_path, seen[1]), answer)
    assert "there is no layout file" in outcome.findings[0].message


def test_impossible_corners_are_refused(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    outcome = check_step(TABLE_STEP, table_of(tmp_path, seen[1]), "40 10 100,100 100,100 100,100 100,100")
    assert "no board has its corners there" in outcome.findings[0].message
    assert not (tmp_path / "layout.json").exists()


def test_a_marker_out_of_sight_is_named(seen: tuple[Setting, Frame]) -> None:
    setting, frame = seen
    grey = Frame(np.full_like(frame.image, 120), 0.0, 0)
    with pytest.raises(ValueError, match="not seen: 0, 1, 2, 3"):
        markers_by_corners(grey, setting.camera, setting.layout, corners_px(setting).tolist())


def test_measures_that_fail_change_nothing(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    table = table_of(tmp_path, seen[1])
    (tmp_path / "layout.json").write_text("measured before")
    for answer in ("0 10 350 350", "40 10 200 200"):
        assert not check_step(TABLE_STEP, table, answer).is_done
    assert (tmp_path / "layout.json").read_text() == "measured before"
    assert "table.layout" not in table.values


def own_layout() -> dict[str, Any]:
    """The shipped layout with smaller blocks."""
    text = resources.files("vision.layout").joinpath("games", "deblockle.json").read_text(encoding="utf-8")
    layout: dict[str, Any] = json.loads(text)
    layout["block"]["side"] = 28
    return layout


def test_an_own_layout_can_be_named_and_is_kept(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    table = table_of(tmp_path, seen[1])
    (tmp_path / "ours.json").write_text(json.dumps(own_layout()))
    table.values["table.markers"] = "none"
    outcome = check_step(TABLE_STEP, table, "ours.json")
    assert outcome.is_done, outcome
    assert table.values["table.layout"] == "ours.json"
    assert table.layout.markers.centres_mm
    assert not (tmp_path / "layout.json").exists()


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_layout_that_cannot_be_used_is_replaced_by_an_answer(
    seen: tuple[Setting, Frame], tmp_path: Path, content: str | None
) -> None:
    table = table_of(tmp_path, seen[1])
    table.values["table.layout"] = "ours.json"
    if content is not None:
        (tmp_path / "ours.json").write_text(content)
    setting, _ = seen
    board, (x, y) = setting.layout.board, setting.layout.markers.centres_mm[1]
    outcome = check_step(TABLE_STEP, table, f"{board.cell_mm:g} {board.height_mm:g} {2 * x:g} {2 * y:g}")
    assert outcome.is_done, outcome
    assert table.values["table.layout"] == "layout.json"


def test_what_is_not_measured_comes_from_the_own_layout(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    setting, frame = seen
    table = table_of(tmp_path, frame)
    (tmp_path / "ours.json").write_text(json.dumps(own_layout()))
    board, (x, y) = setting.layout.board, setting.layout.markers.centres_mm[1]
    table.values["table.layout"] = "ours.json"
    check_step(TABLE_STEP, table, f"{board.cell_mm:g} {board.height_mm:g} {2 * x:g} {2 * y:g}")
    assert table.values["table.layout"] == "layout.json"
    assert json.loads((tmp_path / "layout.json").read_text())["block"]["side"] == 28


@pytest.mark.parametrize(("height_mm", "given"), [(0.2, "0.2"), (24.0, "24")])
def test_a_board_at_another_height_is_told_by_its_lines(
    height_mm: float, given: str, seen: tuple[Setting, Frame], tmp_path: Path
) -> None:
    setting, frame = seen
    table, board, (x, y) = (
        table_of(tmp_path, frame),
        setting.layout.board,
        setting.layout.markers.centres_mm[1],
    )
    answer = "" if given == "0.2" else f"{board.cell_mm:g} {given} {2 * x:g} {2 * y:g}"
    refused = check_step(TABLE_STEP, table, answer)
    wrong, drawn = refused.findings
    assert not refused.is_done
    told = re.fullmatch(
        r"the board's lines lie where a board ([\d.]+) mm high has them, not one of (.+) mm", wrong.message
    )
    assert told is not None
    assert abs(float(told[1]) - board.height_mm) <= 1
    assert told[2] == given
    assert str(tmp_path / "seen.png") in drawn.message
    assert (tmp_path / "seen.png").is_file()


def test_what_was_seen_is_drawn_also_where_no_table_was_found(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    _, frame = seen
    bare = replace(frame, image=np.full_like(frame.image, 120))
    refused = check_step(TABLE_STEP, table_of(tmp_path, bare), "40 10 350 350")
    assert refused.findings[-1].message == f"{tmp_path / 'seen.png'} shows the markers that the referee sees"
    assert (tmp_path / "seen.png").is_file()


def test_a_board_without_markers_is_measured_by_its_squares(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    setting, frame = seen
    table, board = table_of(tmp_path, frame), setting.layout.board
    outcome = check_step(TABLE_STEP, table, f"none {board.cell_mm:g} {board.height_mm:g}")
    assert outcome.is_done, outcome
    assert table.values["table.markers"] == "none"
    assert not table.layout.markers.centres_mm
    assert check_step(TABLE_STEP, table, f"{board.cell_mm:g} {board.height_mm:g} 350 350").is_done
    assert "table.markers" not in table.values


def test_sheets_need_no_measures_but_may_have_their_own_layout(tmp_path: Path) -> None:
    setting = standard_setting(lens((960, 540)), layout=default_layout("number-drop").with_sheets(2))
    frame = Frame(Renderer(1).render(Scene(setting, ()), 0), 0.0, 0)
    table = table_of(tmp_path, frame, "number-drop")
    for answer in ("40 10 350 350", "none 12 0", "absent.json"):
        refused = check_step(TABLE_STEP, table, answer)
        assert not refused.is_done
        assert "there is no layout file" in refused.findings[0].message
    assert check_step(TABLE_STEP, table, "").is_done
    assert "table.layout" not in table.values
    text = resources.files("vision.layout").joinpath("games", "number-drop.json").read_text(encoding="utf-8")
    (tmp_path / "ours.json").write_text(text)
    given = screen_of(TABLE_STEP.forms(table), ["1", "ours.json"]).answer
    assert given is not None
    assert check_step(TABLE_STEP, table, given).is_done
    assert table.values["table.layout"] == "ours.json"


@functools.cache
def rendered(size: tuple[int, int]) -> tuple[Setting, Image]:
    setting = standard_setting(lens(size))
    return setting, Renderer(1).render(Scene(setting, ()), 0)


def bare(size: tuple[int, int]) -> tuple[Setting, Image]:
    """An empty table, and a picture of it that can be changed."""
    setting, image = rendered(size)
    return setting, image.copy()


def missing(setting: Setting, image: Image) -> list[str]:
    found = table_findings(LocatedTable.of(Frame(image, 0.0, 0), LearnedCameras(setting.layout), setting.layout))
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
    found = list(table_findings(LocatedTable.of(Frame(image, 0.0, 0), LearnedCameras(setting.layout), setting.layout)))
    assert [(each.subject, each.severity) for each in found] == [("sheet 1", Severity.OK), ("sheet 2", Severity.OK)]


def test_a_table_on_which_pieces_are_too_small_gets_no_tick_but_what_to_do() -> None:
    for size, severity in (((1280, 720), Severity.OK), ((800, 450), Severity.NOTE)):
        setting, image = bare(size)
        located = LocatedTable.of(Frame(image, 0.0, 0), LearnedCameras(setting.layout), setting.layout)
        (found,) = (each for each in table_findings(located) if each.subject == "table")
        assert found.severity is severity
    assert found.message == "found, but pieces are only 30 px wide there: 32 px are needed to read them well"
    assert found.remedy == "move the camera nearer, or take larger pictures"


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
    image[:100, :200] = 255
    blurred = np.asarray(cv2.GaussianBlur(image, (0, 0), 4), dtype=np.uint8)
    notes = [each.subject for each in picture_findings(Frame(blurred, 0.0, 0)) if each.severity is Severity.NOTE]
    assert notes == ["focus", "glare"]


class UsbCapture:
    """Stands in for OpenCV's capture of a USB camera: small pictures, unless others are asked for."""

    def __init__(self, _: int) -> None:
        self._values = {cv2.CAP_PROP_FRAME_WIDTH: 640.0, cv2.CAP_PROP_FRAME_HEIGHT: 480.0}

    def isOpened(self) -> bool:  # noqa: N802 - as OpenCV names it
        return True

    def get(self, name: int) -> float:
        return self._values.get(name, 0.0)

    def set(self, name: int, value: float) -> bool:
        self._values[name] = value
        return True

    def read(self) -> tuple[bool, Image]:
        height, width = self._values[cv2.CAP_PROP_FRAME_HEIGHT], self._values[cv2.CAP_PROP_FRAME_WIDTH]
        return True, np.full((int(height), int(width), 3), 120, np.uint8)

    def release(self) -> None:
        pass


@pytest.mark.parametrize("size", [(1280, 720), (1600, 900)])
def test_a_usb_camera_gives_pictures_of_the_size_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(cv2, "VideoCapture", UsbCapture)
    asked = CameraSection() if size == (1280, 720) else CameraSection(width_px=size[0], height_px=size[1])
    with closing(SharedCamera(asked)) as shared_camera:
        table = TableSetup(load("deblockle"), tmp_path, shared_camera.look, TODAY)
        (camera,) = (step for step in steps_of(table.game) if step.name == "camera")
        assert check_step(camera, table, "0").is_done
    assert table.picture_px == size
