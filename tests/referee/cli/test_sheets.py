"""Sheets read from a phone's photo at the command line."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
import pytest

from engine import registry
from referee.settings.table_layout import with_rules
from simulator.rendering.textures import sheet_texture
from simulator.scene.sheets import lying_sheets
from tests.commands import Run
from tests.vision.readers.ink.sheets import EXPECTED, FOLDER, camera, layout, picture, pose
from vision.geometry import project
from vision.images import load_image, write_image
from vision.layout.table import default_layout
from vision.opencv import as_grey

CALIBRATION = FOLDER.parent / "photoreal" / "pi3.json"


def test_a_filled_sheet_is_shown_with_its_score(run: Run) -> None:
    done = run("pieces", "read", "--sheet", FOLDER / "blokus-dice.jpg")
    assert done.exit_code == 0, done.stderr
    filled = sum(cell != "." for cell in "".join(EXPECTED["blokus-dice"]["grid"]))
    assert "Blokus Dice Game, sheet of p1" in done.stdout
    assert f"Score: {filled} (squares filled {filled})" in done.stdout


def test_what_was_read_is_drawn_on_a_copy_of_the_photo(run: Run) -> None:
    done = run("pieces", "read", "--sheet", FOLDER / "number-drop.jpg", "--debug-image", "seen.png")
    assert done.exit_code == 0, done.stderr
    shown, board = load_image(Path("seen.png")).astype(int), layout("number-drop").board
    changed = np.abs(shown - picture("number-drop")).max(axis=2) > 60
    outlines = [
        project(camera(), pose("number-drop"), [[*point, board.height_mm] for point in board.outline_mm(place)])
        for place in ("p1.c10", "p1.a1")
    ]
    written, bare = (
        changed[min(ys) : max(ys), min(xs) : max(xs)] for xs, ys in (one.T.astype(int) for one in outlines)
    )
    assert written.any()
    assert bare.mean() < written.mean()


def test_several_photos_are_read_and_one_without_a_sheet_is_named(run: Run, tmp_path: Path) -> None:
    write_image(tmp_path / "bare.png", np.full((600, 800, 3), 190, np.uint8))
    done = run("pieces", "read", "--sheet", tmp_path / "bare.png", FOLDER / "number-drop.jpg", "--json")
    assert done.exit_code != 0
    assert done.stderr.startswith(f"referee: error: {tmp_path / 'bare.png'}: no sheet found: none of the markers")
    Path("text.png").write_text("no picture")
    refused = run("read", "--sheet", "text.png").stderr
    assert refused == "referee: error: text.png is not a readable image; expected JPEG, PNG, BMP, WebP or TIFF\n"
    said = json.loads(done.stdout)
    assert (said["game"], said["sheet"]) == ("number-drop", "sheet of p1")
    assert said["places"]["p1.a1"]["look"]
    if said["score"] is not None:
        assert said["score"] == sum(said["points"].values())


def test_the_photo_of_several_that_can_t_be_learned_from_is_named(run: Run, tmp_path: Path) -> None:
    write_image(tmp_path / "bare.png", np.full((600, 800, 3), 190, np.uint8))
    photos = (FOLDER / "number-drop.jpg", "bare.png")
    refused = run("pieces", "enrol", "--sheet", *photos, "--positions", "copied", "--out", "digits.json")
    assert refused.exit_code == 5
    assert refused.stderr.startswith("referee: error: bare.png: no sheet found")


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


def photograph_sheet_of(cells: str, path: Path) -> dict[str, str]:
    """Write a photo of a Blokus sheet of so many cells, such as 12x12, and return its options."""
    options = {"sheet": f"{cells}/3/-/1,2,I3,V3/I4,L4,T4,O4,Z4/I5,L5,Y5/P5,U5,V5/T5,X5,F5/N5,W5,Z5"}
    table = with_rules(default_layout("blokus-dice"), registry.load("blokus-dice"), options)
    printed = cv2.GaussianBlur(sheet_texture(lying_sheets(table)[0], "blokus-dice", 5.0), (0, 0), 1.0)
    photo = cv2.copyMakeBorder(printed, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=(70, 90, 110))
    write_image(path, np.asarray(photo, np.uint8))
    return options


@pytest.mark.parametrize("cells", ["9x9", "11x11", "15x15"])
def test_a_sheet_printed_with_other_cells_than_the_settings_have_is_refused(run: Run, cells: str) -> None:
    photograph_sheet_of(cells, Path("ours.png"))
    refused = run("pieces", "read", "--sheet", "ours.png")
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert "are not those of 10 by 10 cells; for a sheet of your own set its options" in refused.stderr


def test_an_owners_own_sheet_is_read_as_the_settings_have_it(run: Run) -> None:
    options = photograph_sheet_of("12x12", Path("ours.png"))
    refused = run("pieces", "read", "--sheet", "ours.png")
    assert "for a sheet of your own set its options under [game.options], or give --layout" in refused.stderr
    Path("referee.toml").write_text(
        f'[game]\nname = "blokus-dice"\n[game.options]\nsheet = "{options["sheet"]}"\n', encoding="utf-8"
    )
    done = run("pieces", "read", "--sheet", "ours.png", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert (len(said["places"]), said["score"]) == (144, 0)


@pytest.mark.parametrize("players", [1, 3])
def test_a_picture_of_the_table_is_read_for_as_many_players_as_the_settings_have(run: Run, players: int) -> None:
    Path("referee.toml").write_text(
        f'[game]\nname = "number-drop"\n[game.options]\nplayers = {players}\n', encoding="utf-8"
    )
    done = run("pieces", "read", FOLDER / "number-drop.jpg", "--calibration", CALIBRATION, "--json")
    sheets = {place.partition(".")[0] for place in json.loads(done.stdout)["places"]}
    assert len(sheets) == players


def test_the_handwriting_in_the_settings_is_used(run: Run) -> None:
    Path("referee.toml").write_text('[game]\nname = "number-drop"\n[table]\nlooks = "ours.json"\n', encoding="utf-8")
    photo = FOLDER / "number-drop.jpg"
    grid = ("--grid", "2x2", "--corners", "90,80 550,85 560,400 80,395")
    for arguments in (("--sheet", photo), ("--digits", photo, *grid)):
        assert "ours.json" in run("pieces", "read", *arguments).stderr, "it is not there"


def test_a_layout_that_names_no_game_is_for_the_one_in_the_settings(run: Run) -> None:
    Path("nameless.json").write_text(without_game("number-drop"), encoding="utf-8")
    read = ("pieces", "read", "--sheet", FOLDER / "number-drop.jpg", "--layout", "nameless.json")
    assert 'nameless.json names no game; add, for example, "game": "number-drop"' in run(*read).stderr
    Path("referee.toml").write_text('[game]\nname = "number-drop"\n', encoding="utf-8")
    assert run(*read).stdout.splitlines()[0].endswith("Number Drop, sheet of p1")


def without_game(game: str) -> str:
    """The layout that comes with a game, without the game's name."""
    data = json.loads(resources.files("vision.layout").joinpath("games", f"{game}.json").read_text(encoding="utf-8"))
    del data["game"]
    return json.dumps(data)


@pytest.mark.parametrize("other", [("--dice",), ("--tiles", "tiles.json"), ("--digits",)])
def test_the_sheet_option_excludes_other_ways_to_read(run: Run, other: tuple[str, ...]) -> None:
    Path("tiles.json").write_text("{}", encoding="utf-8")
    done = run("pieces", "read", "--sheet", FOLDER / "number-drop.jpg", *other)
    assert done.exit_code == 2
    assert "and --sheet don't go together" in done.stderr


@pytest.mark.parametrize(
    ("strokes", "said"),
    [
        (3, r"No score: \d+ of 9\d written cells are unclear, as if scribbled over; take a"),
        (14, "if it is scribbled over, copy what counts to a fresh sheet"),
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
