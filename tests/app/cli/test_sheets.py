"""Sheets printed, sheets read from a phone's photo, and printed tiles, at the command line."""

import json
import re
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import Result

from app.settings.conversions import table_options, with_sheet_file
from app.settings.table_layout import with_rules
from engine import registry
from engine.errors import OptionError
from engine.registry import load
from simulator.rendering.textures import sheet_texture
from simulator.scene.sheets import lying_sheets
from tests.commands import Run, runner_in
from tests.present import present
from tests.vision.readers.ink.sheets import EXPECTED, FOLDER, camera, handwritten_grid, layout, picture, pose
from tests.vision.readers.tiles.drawn import OTHER_SHOTS, STRAIGHT, Shot, photo
from vision.geometry import project
from vision.images import load_image, write_image
from vision.layout.table import default_layout
from vision.opencv import as_grey
from vision.readers.ink.network import EMPTY_SIGN

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


@pytest.fixture
def run_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee`` in an empty folder."""
    runner = runner_in(tmp_path, monkeypatch)

    def invoke(*arguments: str, code: int = 0) -> Result:
        result = runner(*arguments)
        assert result.exit_code == code, result.output + result.stderr
        return result

    return invoke


def written(*changes: tuple[str, str]) -> str:
    """Write ``ours.toml``: the default sheet with these changes."""
    text = present(load("blokus-dice").sheet_file).text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("ours.toml").write_text(text, encoding="utf-8")
    return "ours.toml"


def test_an_owners_own_sheet_is_played_with(run_checked):
    ours = written(('"10x10"', '"8x6"'), ("blocked = []", 'blocked = ["b2", "e4"]'), ('"house"', '"ours"'))
    value = "8x6/3/b2,e4/1,2,I3,V3/I4,L4,T4,O4,Z4/I5,L5,Y5/P5,U5,V5/T5,X5,F5/N5,W5,Z5"
    assert (
        "8 by 6 squares (46 of them open)" in run_checked("rules", "blokus-dice", "--option", "sheet=ours.toml").output
    )
    in_short, in_full = (
        run_checked("rules", "blokus-dice", "--option", f"sheet={each}").output for each in (ours, value)
    )
    assert in_short == in_full != run_checked("rules", "blokus-dice").output


def test_every_fault_of_a_sheet_file_is_named(run_checked):
    sheet = written(("[rows]", "[shapes]"))
    for command in (("rules", "blokus-dice"), ("print", "sheet", "blokus-dice", "--out", "sheets.pdf")):
        said = run_checked(*command, "--option", f"sheet={sheet}", code=4).stderr
        assert "option sheet is the file ours.toml, which has faults" in said
        assert "line 17, shapes: is not a key of a sheet" in said
        assert "rows.1: got nothing" in said


def test_unreadable_sheet_files_are_refused(run_checked):
    Path("ours.toml").write_bytes(b"\xff\xfe")
    for option, code, message in (("ours.toml", 4, "is not UTF-8 text"), ("none.toml", 8, "No such file")):
        assert message in run_checked("rules", "blokus-dice", "--option", f"sheet={option}", code=code).stderr


def test_a_sheet_file_is_accepted_wherever_options_are(run_checked):
    game, ours = load("blokus-dice"), written(("strikes = 3", "strikes = 1"))
    value = with_sheet_file(game, {"sheet": ours, "players": 2})
    assert value == {"sheet": game.rules.new(value).options.sheet.text, "players": 2}
    assert table_options(game, {"sheet": ours}) == {"sheet": value["sheet"]}
    assert with_sheet_file(game, {"sheet": "house"}) == {"sheet": "house"}
    assert with_sheet_file(game, {"players": 2}) == {"players": 2}
    assert with_sheet_file(load("deblockle"), {"net": "ours.toml"}) == {"net": "ours.toml"}
    long = f"{value['sheet']}/" + "x" * 5000
    assert with_sheet_file(game, {"sheet": long}) == {"sheet": long}
    Path("ours.toml").rename("ours")
    assert with_sheet_file(game, {"sheet": "ours"}) == {"sheet": value["sheet"]}
    written(("strikes = 3", "strikes = x"))
    with pytest.raises(OptionError, match="which has faults"):
        table_options(game, {"sheet": ours})


def test_a_kit_is_printed_with_a_sheet_for_each_player(run: Run) -> None:
    done = run("tools", "print", "kit", "number-drop", "--players", "3")
    assert done.exit_code == 0, done.stderr
    assert "5 pages in number-drop-kit.pdf" in done.stdout
    assert Path("number-drop-kit.pdf").read_bytes().startswith(b"%PDF-")
    assert "is there already" in run("tools", "print", "kit", "number-drop").stderr
    assert run("tools", "print", "kit", "number-drop", "--paper", "letter", "--out", "other.pdf").exit_code == 0


def test_what_to_use_instead_of_a_kit_is_said_and_nothing_printed(run: Run) -> None:
    done = run("tools", "print", "kit", "blockade", "--look")
    assert done.exit_code == 0, done.stderr
    assert "Looney pyramids" in done.stdout
    assert not Path("blockade-kit.pdf").exists()


def test_the_board_of_a_kit_is_printed_by_its_layout(run: Run) -> None:
    done = run("tools", "print", "board", "deblockle", "--layout", "kit", "--out", "board.pdf")
    assert done.exit_code == 0, done.stderr
    assert "4 pages" in done.stdout
    assert (
        "does not exist" in run("tools", "print", "board", "deblockle", "--layout", "no.json", "--out", "b.pdf").stderr
    )


def test_a_sheet_file_in_the_settings_is_printed(run_checked):
    ours = written(('"10x10"', '"8x6"'), ("blocked = []", 'blocked = ["b2", "e4"]'))
    run_checked("print", "sheet", "blokus-dice", "--option", f"sheet={ours}", "--out", "typed.pdf")
    Path("referee.toml").write_text(f'[game]\nname = "blokus-dice"\n[game.options]\nsheet = "{ours}"\n')
    run_checked("print", "sheet", "blokus-dice", "--out", "set.pdf")
    assert Path("set.pdf").read_bytes() == Path("typed.pdf").read_bytes()


def test_dice_and_tiles_of_number_drop_are_options(run_checked):
    dice, backs = "dice=123457/12*456/234*67/123567/IOTLS*", "tile_backs=X5,I3,U5,V3,T5"
    shown = run_checked("rules", "number-drop", "--option", dice, "--option", backs).output
    assert dice in shown
    assert backs in shown


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


def test_tiles_that_were_read_are_drawn_on_a_copy_of_the_photo(run: Run, tiles: Path, tmp_path: Path) -> None:
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
