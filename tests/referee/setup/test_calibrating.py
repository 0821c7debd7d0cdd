"""Calibration pictures, a board measured by its corners, and findings about a picture of a table."""

import functools
import json
import re
import tomllib
from dataclasses import replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from common.findings import Severity
from engine.registry import load
from referee.errors import ConfigError
from referee.setup.calibrating import BOARD, CALIBRATION_STEP, BoardPictures, PoseGuide
from referee.setup.measuring import TABLE_STEP, markers_by_corners
from referee.setup.picture_checks import LocatedTable, draw_markers, marker_findings, picture_findings, table_findings
from referee.setup.screens import screen_of
from referee.setup.steps import check_step
from referee.setup.table_setup import PICTURES_FOLDER, TableSetup
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from tests.commands import Run
from vision.calibration import BoardCorners, Calibration, load_calibration, save_calibration
from vision.frame import FloatArray, Frame, Image
from vision.geometry import project
from vision.layout.table import default_layout

SIZE = (640, 360)
CALIBRATION = Path("tests/data/photoreal/pi3.json").absolute()


def table_in(folder: Path, image: Image) -> TableSetup:
    def look(source: str, count: int, apart_s: float) -> list[Frame]:
        return [Frame(image, 0.0, 0)] * count

    size = {"camera.source": "virtual", "camera.width_px": SIZE[0], "camera.height_px": SIZE[1]}
    return TableSetup(load("deblockle"), folder, look, date(2026, 5, 1), values=size)


def held_as_drawn(guide: PoseGuide) -> BoardCorners:
    """The corners of a board held exactly as the outline shows."""
    outline = guide.outline_px()
    width, height = BOARD.columns * BOARD.square_mm, BOARD.rows * BOARD.square_mm
    printed: FloatArray = np.array([[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]])
    rows = [[x, y, 1, 0, 0, 0, -u * x, -u * y] for (x, y), (u, _) in zip(printed, outline, strict=True)]
    rows += [[0, 0, 0, x, y, 1, -v * x, -v * y] for (x, y), (_, v) in zip(printed, outline, strict=True)]
    plane = np.append(np.linalg.solve(np.array(rows), np.concatenate([outline[:, 0], outline[:, 1]])), 1).reshape(3, 3)
    ids = list(range((BOARD.columns - 1) * (BOARD.rows - 1)))
    inner = np.column_stack([BOARD.corners_mm(ids)[:, :2], np.ones(len(ids))]) @ plane.T
    return BoardCorners(inner[:, :2] / inner[:, 2:], ids)


def test_a_board_held_as_drawn_gives_each_missing_pose() -> None:
    guide = PoseGuide(SIZE)
    said = []
    while guide.missing_places or guide.missing_tilts:
        lacking = (guide.missing_places, guide.missing_tilts)
        said.append(str(guide.words()))
        guide.kept.append(held_as_drawn(guide))
        assert (guide.missing_places, guide.missing_tilts) == (lacking[0][1:], lacking[1][1:])
    assert said[0] == "Hold the board in the upper left corner of the picture, with its left edge nearer to the camera."
    assert len(set(said)) == 4
    assert str(guide.words()) == "Hold the board in the middle of the picture, facing the camera."
    assert not guide.is_enough


def test_each_picture_is_kept_once_and_the_camera_is_calibrated(tmp_path: Path, board_views: tuple[Image, ...]) -> None:
    table = table_in(tmp_path, board_views[0])
    pictures = BoardPictures.of(table)
    kept = 0
    for view in board_views:
        if pictures.guide.is_enough:
            break
        found = pictures.take(Frame(view, 0.0, 0), by_itself=False)
        kept += found.severity is Severity.OK
        again = pictures.take(Frame(view, 0.0, 0), by_itself=False)
        assert again.message == "this pose is there already"
    assert pictures.guide.is_enough
    assert len(list((tmp_path / PICTURES_FOLDER).glob("*.png"))) == kept
    # The pictures are still there after a restart.
    table = table_in(tmp_path, board_views[0])
    assert BoardPictures.of(table).guide.is_enough
    outcome = check_step(CALIBRATION_STEP, table, CALIBRATION_STEP.forms(table)[0].answer)
    assert outcome.is_done, outcome
    assert f"{kept} of {kept} pictures used" in outcome.findings[1].message
    assert load_calibration(tmp_path / "camera.json").size == SIZE
    BoardPictures.discard(table)
    assert list((tmp_path / PICTURES_FOLDER).iterdir()) == []
    # They are numbered from 1 again, as after a restart.
    BoardPictures.of(table).take(Frame(board_views[0], 0.0, 0), by_itself=False)
    assert sorted(path.name for path in (tmp_path / PICTURES_FOLDER).iterdir()) == ["1.png", "camera.txt"]


def test_a_picture_takes_no_other_s_file_after_one_was_deleted(tmp_path: Path, board_views: tuple[Image, ...]) -> None:
    table = table_in(tmp_path, board_views[0])
    for view in board_views[:2]:
        assert BoardPictures.of(table).take(Frame(view, 0.0, 0), by_itself=False).severity is Severity.OK
    (tmp_path / PICTURES_FOLDER / "1.png").unlink()
    table.pictures = None
    assert BoardPictures.of(table).take(Frame(board_views[0], 0.0, 0), by_itself=False).severity is Severity.OK
    assert sorted(path.name for path in (tmp_path / PICTURES_FOLDER).glob("*.png")) == ["2.png", "3.png"]


def test_automatic_pictures_need_a_board_held_still(tmp_path: Path, board_views: tuple[Image, ...]) -> None:
    pictures = BoardPictures.of(table_in(tmp_path, board_views[0]))
    messages = [pictures.take(Frame(board_views[number], 0.0, 0), by_itself=True).message for number in (0, 1, 1)]
    assert messages == ["the board is moving", "the board is moving", "picture 1 is kept"]


def test_a_picture_of_another_size_or_without_the_board_is_refused(
    tmp_path: Path, board_views: tuple[Image, ...]
) -> None:
    table = table_in(tmp_path, board_views[0])
    collect = CALIBRATION_STEP.collect
    assert collect is not None
    found = collect(table, Frame(np.full((360, 640, 3), 120, np.uint8), 0.0, 0), False)
    assert found.message == "only 0 corners of the board are seen"
    with pytest.raises(ValueError, match="640 x 480 pixels, the camera gives 640 x 360"):
        collect(table, Frame(np.full((480, 640, 3), 120, np.uint8), 0.0, 0), False)
    assert list((tmp_path / PICTURES_FOLDER).iterdir()) == []


def test_without_the_camera_s_step_pictures_and_files_of_any_size_are_taken(
    tmp_path: Path, board_views: tuple[Image, ...]
) -> None:
    table = table_in(tmp_path, np.full((360, 640, 3), 120, np.uint8))
    table.values.clear()
    for view in board_views[:2]:
        pictures = BoardPictures.of(table)
        assert pictures.inspect(Frame(view, 0.0, 0)).picture is not None
        assert pictures.take(Frame(view, 0.0, 0), by_itself=False).severity is Severity.OK
        assert pictures.guide.size == SIZE
        # The next one is taken after a restart.
        table.pictures = None
    assert not check_step(CALIBRATION_STEP, table, "").is_done
    assert check_step(CALIBRATION_STEP, table, str(CALIBRATION)).is_done


def test_the_missing_pose_is_drawn(tmp_path: Path, board_views: tuple[Image, ...]) -> None:
    watch = CALIBRATION_STEP.watch
    assert watch is not None
    inspection = watch(table_in(tmp_path, board_views[0]), Frame(board_views[0], 0.0, 0))
    assert inspection.picture is not None
    assert (inspection.picture != board_views[0]).any()
    assert inspection.findings[1].message == "at least 8 more pictures are needed"
    assert inspection.share == 0


def test_pictures_of_another_size_or_camera_must_be_discarded(tmp_path: Path, board_views: tuple[Image, ...]) -> None:
    table = table_in(tmp_path, board_views[0])
    BoardPictures.of(table).take(Frame(board_views[0], 0.0, 0), by_itself=False)
    first = table.source
    table.values |= {"camera.width_px": 800, "camera.height_px": 480}
    with pytest.raises(ConfigError, match="the camera gives 800 x 480"):
        BoardPictures.of(table)
    del table.values["camera.width_px"]
    assert len(BoardPictures.of(table).guide.kept) == 1
    table.values["camera.source"] = "another"
    for known in (table.pictures, None):  # the second as after a restart
        table.pictures = known
        with pytest.raises(ConfigError, match=f"camera {first} took these pictures; discard them"):
            BoardPictures.of(table)
    BoardPictures.discard(table)
    assert BoardPictures.of(table).guide.kept == []


def test_a_calibration_at_home_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board_views: tuple[Image, ...]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home/lens.json").write_bytes(CALIBRATION.read_bytes())
    table = table_in(tmp_path, board_views[0])
    size = load_calibration(CALIBRATION).size
    table.values |= {"camera.width_px": size[0], "camera.height_px": size[1]}
    assert check_step(CALIBRATION_STEP, table, "~/lens.json").is_done
    assert table.camera.size == size


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


def table_of(folder: Path, setting: Setting, frame: Frame, game: str = "deblockle") -> TableSetup:
    save_calibration(folder / "camera.json", Calibration(setting.camera, (), 1.0, ()), made_on=TODAY)
    return TableSetup(
        load(game), folder, lambda source, count, apart_s: [frame], TODAY, values={"camera.source": "virtual"}
    )


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
    table = table_of(tmp_path, setting, frame)
    own = screen_of(TABLE_STEP.forms(table), ["0", "1", f"{setting.layout.board.cell_mm:g}", "10", "0"])
    # The first proposal comes from the markers at their usual positions, so it is close.
    assert np.abs(np.asarray([point for _, point in own.corners]) - corners_px(setting)).max() < 12
    board = setting.layout.board
    typed = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners_px(setting))
    outcome = check_step(TABLE_STEP, table, f"{board.cell_mm:g} {board.height_mm:g} {typed}")
    assert outcome.is_done, outcome
    written = json.loads((tmp_path / "layout.json").read_text())
    assert written["board"]["cell"] == board.cell_mm
    assert table.values["table.layout"] == "layout.json"


@pytest.mark.parametrize("answer", ["40 10 1 2 3", "40 10 1,1 2,2 3,3 4", "forty", "40 10 350"])
def test_invalid_measurements_are_refused(answer: str, seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    outcome = check_step(TABLE_STEP, table_of(tmp_path, *seen), answer)
    assert "expected four lengths" in outcome.findings[0].message


def test_impossible_corners_are_refused(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    outcome = check_step(TABLE_STEP, table_of(tmp_path, *seen), "40 10 100,100 100,100 100,100 100,100")
    assert "no board has its corners there" in outcome.findings[0].message
    assert not (tmp_path / "layout.json").exists()


def test_a_marker_out_of_sight_is_named(seen: tuple[Setting, Frame]) -> None:
    setting, frame = seen
    grey = Frame(np.full_like(frame.image, 120), 0.0, 0)
    with pytest.raises(ValueError, match="not seen: 0, 1, 2, 3"):
        markers_by_corners(grey, setting.camera, setting.layout, corners_px(setting).tolist())


def test_measures_that_fail_change_nothing(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    table = table_of(tmp_path, *seen)
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
    table = table_of(tmp_path, *seen)
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
    table = table_of(tmp_path, *seen)
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
    table = table_of(tmp_path, setting, frame)
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
        table_of(tmp_path, setting, frame),
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
    setting, frame = seen
    bare = replace(frame, image=np.full_like(frame.image, 120))
    refused = check_step(TABLE_STEP, table_of(tmp_path, setting, bare), "40 10 350 350")
    assert refused.findings[-1].message == f"{tmp_path / 'seen.png'} shows the markers that the referee sees"
    assert (tmp_path / "seen.png").is_file()


def test_a_board_without_markers_is_measured_by_its_squares(seen: tuple[Setting, Frame], tmp_path: Path) -> None:
    setting, frame = seen
    table, board = table_of(tmp_path, setting, frame), setting.layout.board
    outcome = check_step(TABLE_STEP, table, f"none {board.cell_mm:g} {board.height_mm:g}")
    assert outcome.is_done, outcome
    assert table.values["table.markers"] == "none"
    assert not table.layout.markers.centres_mm
    assert check_step(TABLE_STEP, table, f"{board.cell_mm:g} {board.height_mm:g} 350 350").is_done
    assert "table.markers" not in table.values


def test_sheets_need_no_measures_but_may_have_their_own_layout(tmp_path: Path) -> None:
    setting = standard_setting(lens((960, 540)), layout=default_layout("number-drop").with_sheets(2))
    frame = Frame(Renderer(1).render(Scene(setting, ()), 0), 0.0, 0)
    table = table_of(tmp_path, setting, frame, "number-drop")
    for answer in ("40 10 350 350", "none 12 0", "absent.json"):
        refused = check_step(TABLE_STEP, table, answer)
        assert not refused.is_done
        assert "expected Enter alone, or a layout file" in refused.findings[0].message
    assert check_step(TABLE_STEP, table, "").is_done
    assert "table.layout" not in table.values
    text = resources.files("vision.layout").joinpath("games", "number-drop.json").read_text(encoding="utf-8")
    (tmp_path / "ours.json").write_text(text)
    assert check_step(TABLE_STEP, table, "ours.json").is_done
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
    found = table_findings(LocatedTable.of(Frame(image, 0.0, 0), setting.camera, setting.layout))
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
    found = list(table_findings(LocatedTable.of(Frame(image, 0.0, 0), setting.camera, setting.layout)))
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


@pytest.mark.parametrize(
    ("settings", "size"), [(None, (1280, 720)), ("[camera]\nwidth_px = 1600\nheight_px = 900\n", (1600, 900))]
)
def test_a_usb_camera_gives_pictures_of_the_size_in_the_settings(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str | None, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(cv2, "VideoCapture", UsbCapture)
    file = tmp_path / "referee.toml"
    if settings is not None:
        file.write_text(settings)
    said = run("setup", "deblockle", "--camera", "0", input="q\n" if settings is None else "y\nq\n")
    assert f"{size[0]} x {size[1]} pixels" in said.output
    camera = tomllib.loads(file.read_text())["camera"]
    assert (camera["width_px"], camera["height_px"]) == size
