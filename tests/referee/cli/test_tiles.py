"""Printed tiles taught and read at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import Run
from tests.vision.readers.ink.sheets import handwritten_grid
from tests.vision.readers.tiles.drawn import OTHER_SHOTS, STRAIGHT, Shot, photo
from vision.images import load_image, write_image
from vision.readers.ink.network import EMPTY_SIGN


def corners_of(shot: Shot) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in shot.corners)


@pytest.fixture
def set_photo(tmp_path: Path) -> Path:
    write_image(tmp_path / "set.png", photo(("A K T", "L . ."))[0])
    return tmp_path / "set.png"


@pytest.fixture
def tiles(run: Run, set_photo: Path, tmp_path: Path) -> Path:
    """The file taught from the photo of the set."""
    place = ("--grid", "2x3", "--corners", corners_of(STRAIGHT))
    done = run("pieces", "teach", set_photo, *place, "--symbols", "A K T L . .", "--out", tmp_path / "tiles.json")
    assert done.exit_code == 0
    assert done.stdout.strip() == f"A (1), K (1), T (1), L (1), . (2) in {tmp_path / 'tiles.json'}"
    return tmp_path / "tiles.json"


def test_tiles_are_read_as_a_grid_and_as_json(run: Run, tiles: Path, tmp_path: Path) -> None:
    shot = OTHER_SHOTS[0]
    write_image(tmp_path / "now.png", photo(("T . A", "L disc K"), shot)[0])
    ask = ("pieces", "read", tmp_path / "now.png", "--tiles", tiles, "--grid", "2x3", "--corners", corners_of(shot))
    shown = run(*ask)
    assert shown.exit_code == 0
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert lines[:2] == ["T . A", "L ? K"]
    assert [line for line in lines[2:] if line.startswith("row 2, column 2: like none that was taught")]
    cells = json.loads(run(*ask, "--json").stdout)["cells"]
    assert [[cell["symbol"] for cell in row] for row in cells] == [["T", ".", "A"], ["L", None, "K"]]
    assert all(0 < cell["probability"] <= 1 for row in cells for cell in row)
    assert all(cell["probabilities"][cell["symbol"] or "?"] == cell["probability"] for row in cells for cell in row)
    assert run(*ask, "--any-way-up").exit_code == 0


def test_what_was_read_is_drawn_on_a_copy_of_the_photo(run: Run, tiles: Path, tmp_path: Path) -> None:
    shot = OTHER_SHOTS[0]
    taken, drawn = tmp_path / "now.png", tmp_path / "seen.png"
    write_image(taken, photo(("T . A", "L disc K"), shot)[0])
    place = ("--grid", "2x3", "--corners", corners_of(shot), "--debug-image", drawn)
    for way in (("--tiles", tiles), ("--digits",)):
        run("pieces", "read", taken, *way, *place)
        before, after = load_image(taken).astype(int), load_image(drawn).astype(int)
        drawn.unlink()
        changed = np.abs(after - before).max(axis=2) > 20
        assert all(
            changed[min(round(y), before.shape[0] - 1), min(round(x), before.shape[1] - 1)] for x, y in shot.corners
        )
        assert 0.001 < changed.mean() < 0.2


def test_a_photo_without_taught_tiles_is_a_failed_check(run: Run, tiles: Path, tmp_path: Path) -> None:
    write_image(tmp_path / "now.png", photo(("ring disc",))[0])
    place = ("--tiles", tiles, "--grid", "1x2", "--corners", corners_of(STRAIGHT))
    assert run("pieces", "read", tmp_path / "now.png", *place).exit_code == 1


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--grid", "six", "--corners", "1,1"), 2, "'six' is not a grid; expected rows x columns, such as 4x6"),
        (("--grid", "2x3", "--corners", "1;1"), 2, "'1;1' is not a corner; expected x,y in pixels"),
        (("--grid", "2x3"), 2, "--tiles needs --grid and --corners"),
        (("--grid", "2x3", "--corners", "1,1 9,1"), 5, "2 corners were given; expected four"),
        (("--dice",), 2, "--dice and --tiles don't go together"),
        (("--looks", "set.png"), 2, "--looks has no use with --tiles"),
    ],
)
def test_unreadable_tiles_are_reported_with_the_exit_code(
    run: Run, tiles: Path, set_photo: Path, more: tuple[str, ...], code: int, message: str
) -> None:
    result = run("pieces", "read", set_photo, "--tiles", tiles, *more)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--grid", "2x3"), "--grid and --corners need --tiles FILE or --digits"),
        (("--any-way-up",), "--any-way-up needs --tiles FILE"),
        (("--digits", "--grid", "2x3"), "--digits needs --grid and --corners"),
        (("--digits", "--dice"), "--dice and --digits don't go together"),
        (("--dice", "--looks", "set.png"), "--looks has no use with --dice"),
        (("--dice", "--markers", "none"), "--markers has no use with --dice"),
        (("--sheet", "--calibration", "set.png"), "--calibration has no use with --sheet"),
    ],
)
def test_options_without_those_they_need_or_with_others_are_refused(
    run: Run, set_photo: Path, more: tuple[str, ...], message: str
) -> None:
    result = run("pieces", "read", set_photo, *more)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_handwritten_digits_are_read_as_a_grid_and_as_json(run: Run, tmp_path: Path) -> None:
    image, grid, signs = handwritten_grid(0)
    write_image(tmp_path / "page.png", image)
    corners = " ".join(f"{x:g},{y:g}" for x, y in grid.corners)
    ask = ("pieces", "read", tmp_path / "page.png", "--digits", "--grid", "5x6", "--corners", corners)
    cells = json.loads(run(*ask, "--json").stdout)["cells"]
    assert [[cell["symbol"] == "." for cell in row] for row in cells] == [
        [sign == EMPTY_SIGN for sign in row] for row in signs
    ]
    shown = run(*ask)
    assert shown.exit_code == 0
    assert [line.split() for line in shown.stdout.splitlines()[:5]] == [
        ["?" if cell["symbol"] is None else cell["symbol"] for cell in row] for row in cells
    ]


def test_a_grid_without_a_digit_is_a_failed_check(run: Run, set_photo: Path, tmp_path: Path) -> None:
    write_image(tmp_path / "bare.png", np.full((200, 300, 3), 220, dtype=np.uint8))
    place = ("--digits", "--grid", "2x3", "--corners", "20,20 280,20 280,180 20,180")
    result = run("pieces", "read", tmp_path / "bare.png", *place)
    assert (result.exit_code, result.stdout.split()) == (1, ["."] * 6)
