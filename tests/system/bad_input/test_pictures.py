"""Bad pictures: each is named, no accepted turn is lost, and the game goes on after it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.commands import Run
from tests.system.bad_input.conftest import SIZE, Game
from vision.images import load_image

# Where the fixture's picture shows marker 0 with its white border, and bare wood.
MARKER = (slice(45, 103), slice(254, 320))
BARE_WOOD = (slice(250, 308), slice(80, 146))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder


def watched(run: Run, game: Game, pictures: Path, *more: object) -> tuple[int, list[str], str]:
    """Watch the pictures as stills; give the exit code, the lines said and the errors."""
    done = run("watch", "--frames", pictures, "--stills", *game.seeing, "--journal", "game.sqlite", *more)
    return done.exit_code, done.stdout.splitlines(), done.stderr


def line_of(lines: list[str], name: str) -> str:
    return next(line for line in lines if line.startswith(name))


def test_no_frames(run: Run, game: Game, pictures: Path, tmp_path: Path) -> None:
    code, _, errors = watched(run, game, pictures)
    assert code == 5
    assert "pictures: no image; expected at least one of .bmp, .jpeg, .jpg" in errors
    (tmp_path / "empty.avi").touch()
    done = run("watch", "--video", "empty.avi", *game.seeing, "--journal", "game.sqlite")
    assert done.exit_code == 5
    assert "empty.avi cannot be opened as a video; expected one of .avi" in done.stderr


def black() -> bytes:
    return cv2.imencode(".jpg", np.zeros((SIZE[1], SIZE[0], 3), np.uint8))[1].tobytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("black", "the picture from {path} is black; take the lens cap off, switch a lamp on"),
        ("size", "{path} gave a picture of 640 x 360 pixels where 960 x 540 is expected; set the camera to that size"),
        ("truncated", "{path} is cut off after 9000 bytes; copy or take it again"),
        ("empty", "{path} is empty; expected an image"),
        ("no picture", "{path} is cut off after 40000 bytes; copy or take it again"),
    ],
)
def test_a_bad_picture_between_two_turns_is_named_and_the_game_goes_on(
    run: Run, game: Game, pictures: Path, tmp_path: Path, name: str, message: str
) -> None:
    whole = game.pictures[0].read_bytes()
    spoiled = {
        "black": black(),
        "size": cv2.imencode(".jpg", cv2.resize(load_image(game.pictures[0]), (640, 360)))[1].tobytes(),
        "truncated": whole[:9000],
        "empty": b"",
        "no picture": whole[:2] + bytes(39_998),
    }
    shutil.copy(game.pictures[0], pictures / "0.jpg")
    (pictures / "1.jpg").write_bytes(spoiled[name])
    shutil.copy(game.pictures[1], pictures / "2.jpg")
    code, lines, _ = watched(run, game, pictures)
    assert code == 0
    spoken = next(line for line in lines if "cannot see" in line)
    assert message.format(path=pictures / "1.jpg") in spoken
    assert "accepted" in line_of(lines, "2.jpg")
    told = run("replay", "game.sqlite").stdout
    assert "1 turn, 3 events, all consistent. The game is in progress." in told


def test_a_film_is_watched_to_its_end(run: Run, game: Game) -> None:
    done = run("watch", "--video", game.film, *game.seeing, "--journal", "game.sqlite", "--rest-s", "1")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert sum("accepted     " in line for line in lines) == 3
    assert "The pictures have ended: video" in lines[-2]
    assert lines[-1] == "3 turns accepted, 0 faults named; the game goes on."


def test_a_truncated_film_is_watched_as_far_as_it_goes(run: Run, game: Game, tmp_path: Path) -> None:
    data = game.film.read_bytes()
    (tmp_path / "cut.avi").write_bytes(data[: len(data) * 2 // 3])
    done = run("watch", "--video", "cut.avi", *game.seeing, "--journal", "game.sqlite", "--rest-s", "1")
    assert done.exit_code == 0, done.output
    assert "video cut.avi has" in done.stdout
    accepted = sum("accepted     " in line for line in done.stdout.splitlines())
    assert accepted in {1, 2}
    assert f"{accepted} turns," in run("replay", "game.sqlite").stdout


def test_a_marker_printed_twice_is_named(run: Run, game: Game, pictures: Path) -> None:
    for number, path in enumerate(game.pictures[:2]):
        picture = load_image(path)
        picture[BARE_WOOD] = picture[MARKER]
        cv2.imwrite(str(pictures / f"{number}.png"), picture)
    code, lines, _ = watched(run, game, pictures)
    assert code == 0, lines
    assert sum("marker 0 appears twice; the one that agrees with the others is used" in line for line in lines) == 1
    assert "set up" in line_of(lines, "0.png")
    assert "accepted" in line_of(lines, "1.png")


def test_a_calibration_for_another_picture_size_is_named(run: Run, game: Game, pictures: Path, tmp_path: Path) -> None:
    data = json.loads(game.calibration.read_text())
    (tmp_path / "other.json").write_text(json.dumps({**data, "size": [640, 480]}))
    shutil.copy(game.pictures[0], pictures)
    code, lines, _ = watched(run, game, pictures, "--calibration", "other.json")
    assert code == 1
    assert "960 x 540 pixels where 640 x 480 is expected" in lines[0]
    assert "calibrate it again at this one" in lines[0]
    assert lines[-1] == "No game was set up."


@pytest.mark.parametrize(
    ("focal", "distortion", "message"),
    [
        (1.25, 0.03, "pixels off on average; check that the calibration attic is this camera's"),
        (0.7, -0.25, "table not located: markers 0, 1, 2 and 3 of 0-3 were seen, but"),
    ],
)
def test_a_calibration_of_another_camera_of_the_same_size_is_noticed(
    run: Run, game: Game, pictures: Path, tmp_path: Path, focal: float, distortion: float, message: str
) -> None:
    data = json.loads(game.calibration.read_text())
    data["matrix"][0][0] *= focal
    data["matrix"][1][1] *= focal
    data["distortion"][0] = distortion
    (tmp_path / "other.json").write_text(json.dumps({**data, "name": "attic"}))
    shutil.copy(game.pictures[0], pictures)
    _, lines, _ = watched(run, game, pictures, "--calibration", "other.json")
    assert sum(message in line for line in lines) == 1, lines


def test_an_invalid_calibration_is_refused(run: Run, game: Game, pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"camera": 1}')
    shutil.copy(game.pictures[0], pictures)
    code, _, errors = watched(run, game, pictures, "--calibration", "other.json")
    assert code == 5
    file = tmp_path / "other.json"
    assert errors == f"referee: error: {file} is not a calibration; make one with: referee hardware calibrate\n"
