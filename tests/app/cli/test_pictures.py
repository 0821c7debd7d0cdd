"""``./run pieces read`` on pictures of a whole table, and dice in photographs, with and without a layout."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
import pytest

from app.cli.picture_files import _obstacle_sentence, _print, _tray_reader, at_rest, show_reading
from app.settings.settings import Settings
from benchmarks.scene.dice_variety import tray_of_six, tray_picture
from benchmarks.scene.loose_dice import draw_dice as render_dice
from common.places import EMPTY
from engine.registry import load
from simulator.play.actions import Slack
from simulator.play.players import HANDLERS
from simulator.rendering.dice import DieLook, DrawnDie, centre_height_mm, die_rotation, pip_faces, printed_face
from simulator.rendering.optics import develop
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Lighting, Scene, lens, looking_at
from simulator.table import standard_setting
from tests.commands import Run
from vision.calibration import save_calibration
from vision.frame import Image
from vision.images import load_image
from vision.layout.table import games_with_layouts
from vision.readers.dice.photographs import DieInPicture
from vision.reading import DieReading, Reading, RollReading

BLOCKS = {"a7": "gold block, stop up", "c4": "teal block, cross up"}
DISCS = {f"{column}{row}": f"{colour} piece" for colour, row in (("black", 1), ("white", 7)) for column in "abcefg"}


def photograph_table(folder: Path, game: str, looks: Mapping[str, str]) -> tuple[object, ...]:
    """Photograph a table, and return the arguments that name the picture, its camera and the table's layout."""
    setting = standard_setting(lens((960, 540)), game)
    handler = HANDLERS[game](setting.layout, Slack(), np.random.default_rng(1))
    image = Renderer(1).render(Scene(setting, tuple(handler.set_up(looks).values())))
    cv2.imwrite(str(folder / "now.png"), image)
    save_calibration(folder / "camera.json", setting.camera)
    layout = json.loads(resources.files("vision.layout").joinpath("games", f"{game}.json").read_text(encoding="utf-8"))
    (folder / "layout.json").write_text(json.dumps(layout))
    return folder / "now.png", "--calibration", folder / "camera.json", "--layout", folder / "layout.json"


def test_colours_learned_from_a_picture_that_is_no_set_up_are_called_a_guess(run: Run, tmp_path: Path) -> None:
    result = run("pieces", "read", *photograph_table(tmp_path, "deblockle", BLOCKS))
    assert result.exit_code == 0, result.stderr
    assert "The colours of gold and teal are a guess and may be swapped" in result.stderr
    assert not any(line.endswith(" ") for line in result.stdout.splitlines())


def test_colours_that_a_picture_cannot_teach_need_looks_or_a_set_up(run: Run, tmp_path: Path) -> None:
    result = run("pieces", "read", *photograph_table(tmp_path, "diaballik", {"c3": "black piece", "e5": "white piece"}))
    assert result.exit_code == 5, result.stderr
    assert "without --looks the picture must show a set-up" in result.stderr


def test_a_set_up_is_recognised_whoever_starts(run: Run, tmp_path: Path) -> None:
    game = load("deblockle")
    start = {place: look for place, look in game.table.appearance(game.rules.new({})).items() if look != EMPTY}
    (tmp_path / "referee.toml").write_text('[game.options]\nstarts = "either"\n')
    result = run("pieces", "read", *photograph_table(tmp_path, "deblockle", start))
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""


def test_colours_are_learned_from_the_start_that_the_options_say(run: Run, tmp_path: Path) -> None:
    game = load("diaballik")
    looks = game.table.appearance(game.rules.new({"start": "variant"}))
    (tmp_path / "referee.toml").write_text('[game]\nname = "diaballik"\n[game.options]\nstart = "variant"\n')
    start = {place: look for place, look in looks.items() if look != EMPTY}
    result = run("pieces", "read", *photograph_table(tmp_path, "diaballik", start), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    places = json.loads(result.stdout)["places"]
    assert {place: places[place]["look"] for place in looks} == dict(looks)


def test_the_layout_says_which_game_is_read(run: Run, tmp_path: Path) -> None:
    start = {**DISCS, "d1": "black piece with ball", "d7": "white piece with ball"}
    result = run("pieces", "read", *photograph_table(tmp_path, "diaballik", start))
    assert result.exit_code == 0, result.stderr
    assert "B black   W white   ● ball" in result.stdout.splitlines()
    assert result.stderr == ""
    picture, *table = photograph_table(tmp_path, "diaballik", start)
    named = run("pieces", "read", picture, *table[:2], "--game", "diaballik")
    assert (named.exit_code, named.stdout) == (0, result.stdout)
    assert "--game has no use with --dice" in run("pieces", "read", "--dice", picture, "--game", "diaballik").stderr


def test_a_table_of_another_game_is_not_watched(run: Run, tmp_path: Path) -> None:
    picture, *table = photograph_table(tmp_path, "diaballik", DISCS)
    result = run("watch", *table, "--frames", tmp_path, "--stills")
    assert result.exit_code == 5
    assert f"{tmp_path / 'layout.json'} measures a table of diaballik, and the game is deblockle" in result.stderr
    assert picture == tmp_path / "now.png"


def test_a_die_that_is_no_roll_yet_is_listed_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    die = DieReading(0.0, 0.0, {"3": 0.9, "4": 0.1})
    dice = (die, replace(die, at_rest=False), replace(die, half_hidden=True), replace(die, cocked=True))
    show_reading(load("blokus-dice"), Reading(0, 0.0, {}, rolls=(RollReading("tray", dice),)))
    assert capsys.readouterr().out == "tray: 3, moving, half hidden, leans\n"


TRAY = {
    "tray": {"x": [-110, 110], "y": [-110, 110]},
    "markers": {
        "dictionary": "DICT_4X4_50",
        "side": 36,
        "z": 0.4,
        "centres": {"0": [-140, 140], "1": [140, 140], "2": [140, -140], "3": [-140, -140]},
    },
}


@pytest.fixture(scope="module")
def photograph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dice") / "six.png"
    cv2.imwrite(str(path), tray_of_six(8.0).image[160:560, 420:860])
    return path


def test_read_dice_prints_a_line_of_json_per_image(run: Run, photograph: Path) -> None:
    result = run("read", "--dice", str(photograph), str(photograph), "--json")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == 2
    assert lines[0]["image"] == str(photograph)
    assert sorted(die["value"] for die in lines[0]["dice"]) == [1, 2, 3, 4, 5, 6]
    assert all(len(die["box"]) == 4 and 0 < die["probability"] <= 1 for die in lines[0]["dice"])
    assert lines[0]["ms"] > 0


def test_read_dice_prints_text_for_people(run: Run, photograph: Path, tmp_path: Path) -> None:
    result = run("read", "--dice", str(photograph), "--debug-image", str(tmp_path / "seen.png"))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"{photograph}: 6 dice, together 21"
    assert (tmp_path / "seen.png").exists()


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photograph of a die with pips and three with printed digits."""
    view, path = tray_of_six(8.0), tmp_path_factory.mktemp("digits") / "digits.png"
    faces = [pip_faces(), *3 * [tuple(printed_face(name) for name in "123567")]]
    looks = [DieLook((0.9, 0.93, 0.95), (0.05, 0.05, 0.05), each) for each in faces]
    dice = [
        DrawnDie(np.array([40.0 * number - 70, 0.0, 8.0]), 16.0, die_rotation(number, 20.0 * number), look)
        for number, look in enumerate(looks)
    ]
    picture = tray_picture(dice, ["1", *"235"], view.camera, view.pose, Lighting()).image
    cv2.imwrite(str(path), picture[160:560, 420:860])
    return path


def test_dice_without_pips_are_in_doubt_and_not_added_up(run: Run, digits: Path) -> None:
    head, _, *rows = run("read", "--dice", digits).stdout.splitlines()
    assert head == f"{digits}: 4 dice, 3 in doubt"
    assert ["in doubt" in row for row in rows] == [False, True, True, True]
    told = json.loads(run("read", "--dice", digits, "--json").stdout)["dice"]
    assert [die["probability"] > 0.9 for die in told] == [True, False, False, False]


def test_dice_without_pips_are_no_roll(run: Run, digits: Path, tmp_path: Path) -> None:
    assert run("new", "blokus-dice", "--journal", tmp_path / "games.journal").exit_code == 0
    frames = tmp_path / "frames"
    frames.mkdir()
    for name in ("0.png", "1.png", "2.png"):
        shutil.copy(digits, frames / name)
    refused = run("roll", "--camera", f"images:{frames}", "--journal", tmp_path / "games.journal")
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert refused.stderr.startswith(
        "3 dice are in doubt; show dice with pips and nothing else in good light, or type the roll"
    )


def test_unreadable_pictures_are_named_and_the_others_are_read(run: Run, photograph: Path, tmp_path: Path) -> None:
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
    assert result.stderr.startswith(f"referee: error: {broken} is not a readable image")
    assert "30 x 20 pixels; dice need at least" in " ".join(result.stderr.split())


def test_dice_that_are_too_small_in_a_large_photo_are_explained(run: Run, tmp_path: Path) -> None:
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), np.full((2000, 4000, 3), 120, dtype=np.uint8))
    told = run("read", "--dice", bare).stderr
    assert "it was reduced to 1600 pixels, so a die's edge must be at least 30 pixels long" in told
    cv2.imwrite(str(bare), np.full((200, 400, 3), 120, dtype=np.uint8))
    assert "reduced" not in run("read", "--dice", bare).stderr


def test_several_pictures_are_read_only_with_the_dice_option(run: Run, photograph: Path) -> None:
    result = run("read", str(photograph), str(photograph))
    assert result.exit_code == 2
    assert "need --dice" in " ".join(result.stderr.split())


def test_options_of_dice_that_would_be_ignored_are_refused(run: Run, photograph: Path, tmp_path: Path) -> None:
    two = run("read", "--dice", photograph, photograph, "--debug-image", tmp_path / "seen.png")
    assert (two.exit_code, "--debug-image takes one picture" in two.stderr) == (2, True)
    alone = run("read", photograph, "--faces", photograph)
    assert (alone.exit_code, "--faces needs --dice" in alone.stderr) == (2, True)


def test_each_picture_teaches_another_face(run: Run, photograph: Path, tmp_path: Path) -> None:
    faces = ("--positions", "1", "--positions", "1", "--positions", "2")
    result = run("enrol", "--dice", photograph, photograph, *faces, "--out", tmp_path / "faces.npz")
    assert (result.exit_code, "each face one picture" in result.stderr) == (2, True)


def test_a_roll_is_read_from_a_camera_once_the_dice_rest(run: Run, photograph: Path, tmp_path: Path) -> None:
    journal = tmp_path / "games.journal"
    assert run("new", "blokus-dice", "--journal", str(journal)).exit_code == 0
    folder = tmp_path / "frames"
    folder.mkdir()
    picture = load_image(photograph)
    cv2.imwrite(str(folder / "0.png"), picture)
    cv2.imwrite(str(folder / "1.png"), np.roll(picture, 9, axis=1))
    result = run("roll", "--camera", f"images:{folder}", "--journal", str(journal))
    assert result.exit_code == 5
    assert "the pictures ended before the dice lay flat and still" in " ".join(result.stderr.split())
    cv2.imwrite(str(folder / "2.png"), np.roll(picture, 9, axis=1))
    seen = run("roll", "--camera", f"images:{folder}", "--journal", str(journal))
    assert seen.exit_code == 5
    assert seen.stderr.startswith("I see 6 dice; the game has 4. Show exactly these where the camera sees them")
    cv2.imwrite(str(folder / "3.png"), without_two_dice(picture))
    cv2.imwrite(str(folder / "4.png"), without_two_dice(picture))
    twice = run("roll", "--camera", f"images:{folder}", "--journal", str(journal))
    assert (twice.exit_code, twice.stdout) == (5, ""), "two of them may have been overlooked twice"
    cv2.imwrite(str(folder / "5.png"), without_two_dice(picture))
    four = run("roll", "--camera", f"images:{folder}", "--journal", str(journal))
    assert four.stdout.startswith("seen: 1,3,5,6\n1,3,5,6 was rolled.")


def without_two_dice(picture: Image, left_px: int = 300, top_px: int = 0) -> Image:
    """The picture with the two dice on the right covered with the ground between them."""
    covered = picture.copy()
    covered[top_px : top_px + 400, left_px : left_px + 140] = np.median(picture[top_px : top_px + 40, left_px:], (0, 1))
    return covered


def test_dice_that_the_journals_game_tells_apart_are_not_read(run: Run, photograph: Path, tmp_path: Path) -> None:
    journal, folder = tmp_path / "games.journal", tmp_path / "frames"
    assert run("new", "blockade", "--journal", journal).exit_code == 0
    folder.mkdir()
    for name in ("0.png", "1.png"):
        shutil.copy(photograph, folder / name)
    asked = run("roll", "--camera", f"images:{folder}", "--journal", journal)
    assert (asked.exit_code, "tells its dice apart" in " ".join(asked.stderr.split())) == (2, True)


def test_roll_needs_either_faces_or_a_camera(run: Run) -> None:
    assert run("roll").exit_code == 2
    both = run("roll", "4,1", "--camera", "0")
    assert (both.exit_code, "got both 4,1 and --camera; give one of them" in both.stderr) == (2, True)


def test_leaning_dice_are_counted_in_words() -> None:
    assert _obstacle_sentence(3, 1, 0) == "a die leans and counts for nothing; roll again"
    assert _obstacle_sentence(3, 2, 0) == "2 dice lean and count for nothing; roll again"


def test_a_taught_face_is_printed_as_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    _print(Path("a.png"), [DieInPicture((0.0, 0.0, 40.0, 40.0), "[star]", 0.99)])
    assert "[star]" in capsys.readouterr().out


def test_a_die_that_moved_or_changed_its_face_is_not_at_rest() -> None:
    die = DieInPicture((10.0, 10.0, 50.0, 50.0), 4, 0.9)
    assert at_rest((die,), (DieInPicture((11.0, 10.0, 51.0, 50.0), 4, 0.8),))
    assert not at_rest((die,), (DieInPicture((20.0, 10.0, 60.0, 50.0), 4, 0.9),))
    assert not at_rest((die,), (DieInPicture((10.0, 10.0, 50.0, 50.0), 5, 0.9),))
    assert not at_rest((die,), ())


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a calibration, the layout of a tray, a picture of six dice in it and one in which a die leans."""
    folder = tmp_path_factory.mktemp("tray")
    made = tray_of_six(8.0)
    save_calibration(folder / "camera.json", made.camera)
    (folder / "tray.json").write_text(json.dumps(TRAY))
    (folder / "referee.toml").write_text('[camera]\ncalibration = "camera.json"\n[table]\nlayout = "tray.json"\n')
    cv2.imwrite(str(folder / "six.png"), made.image)
    turn = die_rotation(4, 25.0, 38.0, 40.0)
    white = (0.9, 0.93, 0.95)
    dice = [
        DrawnDie(
            np.array([-50.0, 10.0, 8.0]), 16.0, die_rotation(0, 30.0), DieLook(white, (0.05, 0.05, 0.05), pip_faces())
        ),
        DrawnDie(
            np.array([40.0, -20.0, centre_height_mm(turn, 16.0)]),
            16.0,
            turn,
            DieLook(white, (0.05, 0.05, 0.05), pip_faces()),
        ),
    ]
    leaning = tray_picture(dice, ["1", "cocked"], made.camera, made.pose, Lighting())
    cv2.imwrite(str(folder / "leaning.png"), leaning.image)
    return folder


def test_a_table_with_only_a_tray_is_read(run: Run, table: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen.png"
    given = ("--calibration", table / "camera.json", "--layout", table / "tray.json")
    result = run("read", table / "six.png", *given, "--debug-image", seen, "--json")
    assert result.exit_code == 0, result.stderr
    dice = json.loads(result.stdout)["rolls"]["tray"]
    assert sorted(die["value"] for die in dice) == ["1", "2", "3", "4", "5", "6"]
    assert seen.exists()


def test_a_roll_is_read_from_a_calibrated_tray(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "games.journal"
    assert run("new", "blokus-dice", "--journal", journal).exit_code == 0
    monkeypatch.chdir(table)
    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(2):
        shutil.copy(table / "leaning.png", frames / f"{number}.png")
    asked = run("roll", "--camera", f"images:{frames}", "--journal", journal)
    assert asked.exit_code == 5
    assert asked.stderr.splitlines() == [
        "a die leans and counts for nothing; roll again",
        "referee: error: the pictures ended before the dice lay flat and still in 3 of them; show more pictures",
    ]
    for number in range(2, 5):
        shutil.copy(table / "six.png", frames / f"{number}.png")
    seen = run("roll", "--camera", f"images:{frames}", "--journal", journal)
    assert seen.exit_code == 5
    assert "I see 6 dice; the game has 4." in seen.stderr
    for number in range(5, 8):
        made = load_image(table / "six.png")
        cv2.imwrite(str(frames / f"{number}.png"), without_two_dice(made, left_px=720, top_px=160))
    assert "seen: 1,3,5,6" in run("roll", "--camera", f"images:{frames}", "--journal", journal).stdout


def test_the_tray_of_the_layout_that_comes_with_a_game_is_known(table: Path) -> None:
    calibrated = Settings.model_validate({"camera": {"calibration": str(table / "camera.json")}})
    has_tray = {game: _tray_reader(calibrated, game) is not None for game in games_with_layouts()}
    assert [game for game, there in has_tray.items() if there] == ["blockade", "blokus-dice", "number-drop"]
    assert _tray_reader(calibrated, "a game without a layout") is None
    assert _tray_reader(Settings(), "number-drop") is None


def test_taught_faces_are_read_in_the_tray(run: Run, table: Path, tmp_path: Path) -> None:
    names = ["one", "two", "three", "four", "five", "six"]
    pictures = []
    for number, name in enumerate(("1", "2", "3", "4", "5", "6")):
        look = DieLook((0.9, 0.93, 0.95), (0.05, 0.05, 0.05), pip_faces())
        face = (1, 6, 2, 5, 3, 4).index(number + 1)
        camera = lens((160, 160), 20.0, (0, 0, 0, 0, 0), (0, 0))
        picture = np.full((160, 160, 3), 0.25, dtype=np.float32)
        die = DrawnDie(np.array([0.0, 0.0, 8.0]), 16.0, die_rotation(face, 15.0), look)
        render_dice(picture, camera, looking_at(320.0, 4.0, target_mm=(0.0, 0.0, 16.0)), Lighting(), [die])
        pictures.append(tmp_path / f"{name}.png")
        cv2.imwrite(str(pictures[-1]), develop(picture))
    positions = [text for name in names for text in ("--positions", name)]
    taught = run("enrol", "--dice", *pictures, *positions, "--out", tmp_path / "faces.npz")
    assert taught.exit_code == 0, taught.stderr
    (tmp_path / "tray.json").write_text(json.dumps(TRAY | {"dice": {"side": 16, "faces": "faces.npz"}}))
    given = ("--calibration", table / "camera.json", "--layout", tmp_path / "tray.json")
    result = run("read", table / "six.png", *given, "--json")
    assert result.exit_code == 0, result.stderr
    assert {die["value"] for die in json.loads(result.stdout)["rolls"]["tray"]} <= set(names)
