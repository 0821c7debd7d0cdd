"""Measuring a board by its corners in a picture: the markers' positions, and impossible measurements."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.registry import load
from referee.setup.measuring import TABLE_STEP, markers_by_corners
from referee.setup.steps import check_step
from referee.setup.table_setup import TableSetup
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from vision.calibration import Calibration, save_calibration
from vision.frame import FloatArray, Frame
from vision.geometry import project
from vision.layout.table import default_layout

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
    form = TABLE_STEP.forms(table)[1]
    # The first proposal comes from the markers at their usual positions, so it is close.
    assert np.abs(np.asarray([point for _, point in form.corners]) - corners_px(setting)).max() < 12
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
    for answer in (f"{board.cell_mm:g} {board.height_mm:g} {2 * x:g} {2 * y:g}", ""):
        table.values["table.layout"] = "ours.json"
        check_step(TABLE_STEP, table, answer)
        assert table.values["table.layout"] == "layout.json"
        assert json.loads((tmp_path / "layout.json").read_text())["block"]["side"] == 28


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
