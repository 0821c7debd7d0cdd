"""Calibration pictures taken one by one: what each adds, the missing poses, and the kept pictures."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from common.findings import Severity
from engine.registry import load
from referee.errors import ConfigError
from referee.setup.calibrating import BOARD, CALIBRATION_STEP, BoardPictures, PoseGuide
from referee.setup.steps import check_step
from referee.setup.table_setup import PICTURES_FOLDER, TableSetup
from vision.calibration import BoardCorners, load_calibration
from vision.frame import FloatArray, Frame, Image

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
    assert inspection.findings[1].message == "4 of 4 corners of the picture and 4 of 4 tilts are missing"


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
