"""Sheets read from a phone's photo at the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.commands import Run
from tests.vision.readers.ink.sheets import EXPECTED, FOLDER, camera, layout, picture, pose
from vision.geometry import project
from vision.images import load_image, write_image
from vision.opencv import as_grey


def test_a_filled_sheet_is_shown_with_its_score(run: Run) -> None:
    done = run("pieces", "read", "--sheet", FOLDER / "blokus-dice.jpg")
    assert done.exit_code == 0, done.stderr
    filled = sum(cell != "." for cell in "".join(EXPECTED["blokus-dice"]["grid"]))
    assert "Blokus Dice Game, sheet of p1" in done.stdout
    assert f"Score: {filled} (squares filled {filled})" in done.stdout


def test_several_photos_are_read_and_one_without_a_sheet_is_named(run: Run, tmp_path: Path) -> None:
    write_image(tmp_path / "bare.png", np.full((600, 800, 3), 190, np.uint8))
    done = run("pieces", "read", "--sheet", tmp_path / "bare.png", FOLDER / "number-drop.jpg", "--json")
    assert done.exit_code != 0
    assert "bare.png: no sheet found: none of the markers" in done.stderr
    Path("text.png").write_text("no picture")
    refused = run("read", "--sheet", "text.png").stderr
    assert refused == "text.png is not a readable image; expected JPEG, PNG, BMP, WebP or TIFF\n"
    said = json.loads(done.stdout)
    assert (said["game"], said["sheet"]) == ("number-drop", "sheet of p1")
    assert said["places"]["p1.a1"]["look"]
    if said["score"] is not None:
        assert said["score"] == sum(said["points"].values())


def test_a_grey_photo_of_a_written_sheet_is_read(run: Run, tmp_path: Path) -> None:
    grey = as_grey(load_image(FOLDER / "number-drop.jpg"))
    write_image(tmp_path / "grey.png", grey)
    done = run("pieces", "read", "--sheet", tmp_path / "grey.png", "--json")
    assert done.exit_code == 0, done.stderr
    places = json.loads(done.stdout)["places"]
    rows = EXPECTED["number-drop"]["grid"]
    expected = {f"p1.{'abcdefg'[x]}{len(rows) - y}": sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
    wrong = [place for place, sign in expected.items() if sign.isdigit() and sign not in (places[place]["look"] or "")]
    assert len(wrong) <= 1


def test_digits_learned_from_a_filled_sheet_are_used_for_reading(run: Run, tmp_path: Path) -> None:
    photo, out = FOLDER / "number-drop.jpg", tmp_path / "digits.json"
    shown = "/".join(EXPECTED["number-drop"]["grid"])
    done = run("pieces", "enrol", "--sheet", photo, "--positions", shown, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert f"in {out}" in done.stdout
    done = run("pieces", "read", "--sheet", photo, "--looks", out, "--json")
    places = json.loads(done.stdout)["places"]
    digits = {
        f"p1.{'abcdefg'[x]}{14 - y}": sign for y, row in enumerate(shown.split("/")) for x, sign in enumerate(row)
    }
    assert all(sign in places[place]["look"] for place, sign in digits.items() if sign.isdigit())


def test_a_sheet_with_other_contents_is_not_learned(run: Run, tmp_path: Path) -> None:
    photo = FOLDER / "number-drop.jpg"
    done = run("pieces", "enrol", "--sheet", photo, "--positions", "copied", "--out", tmp_path / "digits.json")
    assert done.exit_code != 0
    assert "does not show what was said" in done.stderr
    assert not (tmp_path / "digits.json").exists()


@pytest.mark.parametrize("other", [("--dice",), ("--tiles", "tiles.json"), ("--debug-image", "seen.png")])
def test_the_sheet_option_excludes_other_ways_to_read(run: Run, other: tuple[str, ...]) -> None:
    Path("tiles.json").write_text("{}", encoding="utf-8")
    done = run("pieces", "read", "--sheet", FOLDER / "number-drop.jpg", *other)
    assert done.exit_code == 2
    assert "--sheet goes with neither" in done.stderr


@pytest.mark.parametrize(
    ("strokes", "said"),
    [
        (3, r"No score: \d+ of 9\d written cells are unclear, as if scribbled over; take a"),
        (14, "from a sheet that is scribbled over, copy what counts to a fresh one"),
    ],
)
def test_a_sheet_full_of_scribbles_has_no_score(run: Run, tmp_path: Path, strokes: int, said: str) -> None:
    board, photo = layout("number-drop").board, picture("number-drop").copy()
    rng = np.random.default_rng(5)
    for place in board.places:
        x, y = board.centre_mm(place)
        points = np.array([(x, y, 0.0)]) + np.column_stack([rng.uniform(-4.5, 4.5, (strokes, 2)), np.zeros(strokes)])
        pixels = np.round(project(camera(), pose("number-drop"), points)).astype(np.int32)
        cv2.polylines(photo, [pixels], False, (50, 40, 40), 2, cv2.LINE_AA)
    cv2.imwrite(str(tmp_path / "scribbles.png"), photo)
    done = run("pieces", "read", "--sheet", tmp_path / "scribbles.png")
    assert "Score:" not in done.stdout
    assert re.search(said, done.output)
