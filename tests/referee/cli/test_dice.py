"""Dice read from plain photographs at the command line."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from referee.cli.dice import at_rest
from simulator.scene.dice_variety import tray_of_six
from tests.commands import Run
from vision.readers.dice.photographs import DieInPicture


@pytest.fixture(scope="module")
def photograph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dice") / "six.png"
    cv2.imwrite(str(path), tray_of_six(8.0).image[160:560, 420:860])
    return path


def test_read_dice_gives_a_line_of_json_an_image(run: Run, photograph: Path) -> None:
    result = run("read", "--dice", str(photograph), str(photograph), "--json")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == 2
    assert lines[0]["image"] == str(photograph)
    assert sorted(die["value"] for die in lines[0]["dice"]) == [1, 2, 3, 4, 5, 6]
    assert all(len(die["box"]) == 4 and 0 < die["probability"] <= 1 for die in lines[0]["dice"])
    assert lines[0]["ms"] > 0


def test_read_dice_for_a_person(run: Run, photograph: Path, tmp_path: Path) -> None:
    result = run("read", "--dice", str(photograph), "--debug-image", str(tmp_path / "seen.png"))
    assert result.exit_code == 0
    assert "6 dice, together 21" in " ".join(result.stdout.split())
    assert (tmp_path / "seen.png").exists()


def test_pictures_that_cannot_be_read_are_named_and_the_rest_go_on(run: Run, photograph: Path, tmp_path: Path) -> None:
    bare, small, broken = tmp_path / "bare.png", tmp_path / "small.png", tmp_path / "broken.jpg"
    cv2.imwrite(str(bare), np.full((200, 300, 3), 120, dtype=np.uint8))
    cv2.imwrite(str(small), np.full((20, 30, 3), 120, dtype=np.uint8))
    broken.write_bytes(b"no picture")
    empty = run("read", "--dice", str(bare), "--json")
    assert empty.exit_code == 1
    assert json.loads(empty.stdout)["dice"] == []
    assert "no dice found in" in empty.stderr
    result = run("read", "--dice", str(broken), str(small), str(photograph), "--json")
    assert result.exit_code == 5
    assert len(result.stdout.splitlines()) == 1
    assert "broken.jpg is no image that can be read" in result.stderr
    assert "30 x 20 pixels; dice need at least" in " ".join(result.stderr.split())


def test_several_pictures_need_dice(run: Run, photograph: Path) -> None:
    result = run("read", str(photograph), str(photograph))
    assert result.exit_code == 2
    assert "need --dice" in " ".join(result.stderr.split())


def test_a_roll_is_what_a_camera_sees_at_rest(run: Run, photograph: Path, tmp_path: Path) -> None:
    journal = tmp_path / "games.journal"
    assert run("new", "blokus-dice", "--journal", str(journal)).exit_code == 0
    folder = tmp_path / "frames"
    folder.mkdir()
    picture = cv2.imread(str(photograph))
    assert picture is not None
    cv2.imwrite(str(folder / "0.png"), picture)
    cv2.imwrite(str(folder / "1.png"), np.roll(picture, 9, axis=1))
    result = run("roll", "--camera", f"images:{folder}", "--journal", str(journal))
    assert result.exit_code == 5
    assert "the pictures ended before the dice had rested" in " ".join(result.stderr.split())
    cv2.imwrite(str(folder / "2.png"), np.roll(picture, 9, axis=1))
    seen = run("roll", "--camera", f"images:{folder}", "--journal", str(journal))
    assert "seen: 1,2,3,4,5,6" in seen.stdout


def test_roll_wants_faces_or_a_camera(run: Run) -> None:
    assert run("roll").exit_code == 2
    assert run("roll", "4,1", "--camera", "0").exit_code == 2


def test_a_die_that_moved_or_shows_something_else_does_not_rest() -> None:
    die = DieInPicture((10.0, 10.0, 50.0, 50.0), 4, 0.9)
    assert at_rest((die,), (DieInPicture((11.0, 10.0, 51.0, 50.0), 4, 0.8),))
    assert not at_rest((die,), (DieInPicture((20.0, 10.0, 60.0, 50.0), 4, 0.9),))
    assert not at_rest((die,), (DieInPicture((10.0, 10.0, 50.0, 50.0), 5, 0.9),))
    assert not at_rest((die,), ())
