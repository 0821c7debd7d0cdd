"""The commands that read pictures, on pictures of the virtual table."""

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import Result

from simulator.enrolment import enrolment_images
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.commands import Run
from tests.effort import some
from tests.present import present
from vision.calibration import load_calibration, save_calibration
from vision.errors import EnrolmentError
from vision.frame import Image
from vision.images import load_image
from vision.layout.table import default_layout
from vision.opencv import aruco_dictionary
from vision.readers.blocks.appearance import BlockAppearance, drawn_mask, load_appearance, save_appearance
from vision.readers.blocks.enrolment import BLOCK_POSITIONS

SMALL = lens((640, 360))
"""A separate camera for calibration, small so that its pictures are rendered quickly."""
LOOKS = BlockAppearance({"gold": np.zeros(3), "teal": np.ones(3)}, {"star": drawn_mask("star", 60)})


@dataclass(frozen=True)
class Pictures:
    """One camera's calibration in a folder, its pictures of the calibration board, a set to enrol and a set-up."""

    folder: Path
    calibration: Path
    boards: tuple[Path, ...]
    sets: tuple[Path, ...]
    set_up: Path


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory, board_views: tuple[Image, ...]) -> Pictures:
    folder = tmp_path_factory.mktemp("pictures")
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((960, 540))))

    def save(name: str, image: np.ndarray) -> Path:
        cv2.imwrite(str(folder / name), image)
        return folder / name

    boards = [save(f"board-{number:02}.png", image) for number, image in enumerate(board_views[:7])]
    (folder / "boards").mkdir()
    for number in range(3):
        (folder / f"boards/{number}.png").symlink_to(boards[number])
    sets = []
    for picture in enrolment_images(table.setting, table.seed):
        sets.append(save(f"set-{picture.colour}.png", picture.image))
        (folder / f"set-{picture.colour}.json").write_text(json.dumps(picture.as_json()))
    set_up = save("set-up.png", next(iter(table.frames())).image)
    calibration = folder / "camera.json"
    save_calibration(calibration, table.calibration())
    return Pictures(folder, calibration, tuple(boards), tuple(sets), set_up)


def test_calibrate_writes_a_calibration(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    result = run("calibrate", *pictures.boards, "--out", "mine.json")
    assert result.exit_code == 0, result.output
    assert "pixels off on average" in result.output
    measured = load_calibration(tmp_path / "mine.json")
    assert measured.name == "mine"
    assert measured.reprojection_error_px < 0.5
    assert measured.matrix[0, 0] == pytest.approx(SMALL.matrix[0, 0], rel=0.05)


def test_calibrate_refuses_too_few_pictures_and_writes_nothing(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    result = run("calibrate", *pictures.boards[:3], "--out", "mine.json")
    assert result.exit_code == 5
    assert "the calibration board is seen well in 3 of 3 pictures; 5 are needed" in result.stderr
    assert not (tmp_path / "mine.json").exists()


def test_calibrate_checks_first_that_it_can_write(run: Run, pictures: Pictures) -> None:
    result = run("calibrate", *pictures.boards, "--out", "nowhere/mine.json")
    assert result.exit_code == 8
    assert "there is no folder" in result.output
    assert "pixels off" not in result.output


def test_calibrate_names_an_unreadable_picture(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    result = run("calibrate", pictures.boards[0], "bad.png", "--out", "mine.json")
    assert result.exit_code == 5
    assert "bad.png is not a readable image" in result.stderr


def enrol(run: Run, pictures: Pictures) -> Result:
    positions = [part for picture in pictures.sets for part in ("--positions", picture.with_suffix(".json"))]
    return run("enrol", *pictures.sets, *positions, "--calibration", pictures.calibration, "--out", "looks.json")


def test_pieces_are_enrolled_and_read(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    result = enrol(run, pictures)
    assert result.exit_code == 0, result.output
    assert sorted(load_appearance(tmp_path / "looks.json").colours) == ["gold", "teal"]
    read = run(
        "read", pictures.set_up, "--calibration", pictures.calibration, "--looks", "looks.json",
        "--debug-image", "seen.png", "--json",
    )  # fmt: skip
    assert read.exit_code == 0, read.output
    reading = json.loads(read.stdout)
    blocks = {place: seen["look"] for place, seen in reading["places"].items() if seen["look"] != "empty"}
    assert sorted(blocks) == ["c1", "c3", "c5", "c7", "e1", "e3", "e5", "e7"]
    assert all(blocks[place].startswith("gold" if place[1] in "13" else "teal") for place in blocks)
    assert reading["hindrances"] == []
    assert cv2.imread(str(tmp_path / "seen.png")) is not None


def test_read_learns_the_colours_from_a_set_up(run: Run, pictures: Pictures) -> None:
    result = run("read", pictures.set_up, "--calibration", pictures.calibration)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "G gold" in result.stdout
    assert result.stdout.count("G") == len(["c1", "c3", "e1", "e3"]) + len(["the legend"])
    assert len(lines) < 15
    told = run("read", pictures.set_up, "--calibration", pictures.calibration, "--json")
    assert json.loads(told.stdout)["places"]["c1"]["look"].startswith("gold block")


@pytest.mark.parametrize("command", [("read",), ("enrol", "--out", "looks.json", "--positions", "a4=gold star")])
def test_pieces_without_a_reader_are_refused(
    run: Run, pictures: Pictures, tmp_path: Path, command: tuple[str, ...]
) -> None:
    data = json.loads((resources.files("vision.layout") / "games" / "deblockle.json").read_text(encoding="utf-8"))
    (tmp_path / "shells.json").write_text(json.dumps({**data, "pieces": "shells"}))
    given = ("--calibration", pictures.calibration, "--layout", "shells.json")
    result = run(command[0], pictures.set_up, *given, *command[1:])
    assert result.exit_code == 5
    assert "no reader knows 'shells'" in result.stderr


def test_read_uses_the_settings(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[camera]\ncalibration = "from-the-settings.json"\n')
    result = run("read", pictures.set_up)
    assert result.exit_code == 5
    assert f"cannot read the calibration {tmp_path / 'from-the-settings.json'}" in result.output


def test_read_reports_a_picture_without_the_table(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    save_appearance(LOOKS, tmp_path / "looks.json")
    cv2.imwrite("table.png", np.full((540, 960, 3), 120, dtype=np.uint8))
    result = run("read", "table.png", "--calibration", pictures.calibration, "--looks", "looks.json", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["hindrances"][0]["kind"] == "not located"


@pytest.mark.parametrize("looks", some([("--looks", "looks.json"), ()], 1))
def test_a_table_that_is_not_located_is_reported_with_the_markers_found(
    run: Run, pictures: Pictures, tmp_path: Path, looks: tuple[str, ...]
) -> None:
    save_appearance(LOOKS, tmp_path / "looks.json")
    plain = np.random.default_rng(1).normal(120, 3, (540, 960, 3)).astype(np.uint8)
    cv2.imwrite("table.png", plain)
    given = ("read", "table.png", "--calibration", pictures.calibration, *looks, "--debug-image", "seen.png")
    assert (result := run(*given)).exit_code == 1, result.stderr
    assert "table not located: none of markers 0 to 3 was seen" in result.stdout
    assert np.array_equal(present(cv2.imread("seen.png")), plain)
    cv2.imwrite("marker.png", printed_marker(LAYOUT.markers.dictionary, 40, plain))
    reading = json.loads(run("read", "marker.png", *given[2:], "--force", "--json").stdout)
    assert reading["hindrances"][0]["kind"] == "not located"
    assert not np.array_equal(present(cv2.imread("seen.png")), load_image(Path("marker.png"))), "the marker is drawn"


def printed_marker(dictionary: str, marker_id: int, on: Image) -> Image:
    """A picture with a marker printed on it."""
    picture = on.copy()
    picture[180:320, 380:520] = 255
    picture[200:300, 400:500] = cv2.aruco.generateImageMarker(aruco_dictionary(dictionary), marker_id, 100)[..., None]
    return picture


@pytest.mark.parametrize("looks", [(), ("--looks", "looks.json")])
def test_read_refuses_a_black_picture(run: Run, pictures: Pictures, tmp_path: Path, looks: tuple[str, ...]) -> None:
    save_appearance(LOOKS, tmp_path / "looks.json")
    cv2.imwrite("black.png", np.zeros((540, 960, 3), dtype=np.uint8))
    result = run("read", "black.png", "--calibration", pictures.calibration, *looks)
    assert result.exit_code == 5
    assert "the picture from black.png is black" in result.stderr


def test_a_picture_that_is_read_is_not_overwritten(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(pictures.set_up.read_bytes())
    corners = ("--grid", "1x1", "--corners", "1,1 300,1 300,200 1,200")
    for command in (
        ("read", "--dice", photo, "--debug-image", "./photo.png"),
        ("teach", photo, *corners, "--symbols", "a", "--out", "photo.png"),
        ("enrol", "--dice", photo, "--positions", "1", "--out", "photo.png"),
        ("calibrate", photo, "--out", "photo.png", "--force"),
    ):
        result = run(*command)
        assert (result.exit_code, "photo.png is a file to read; choose another name" in result.stderr) == (2, True)
        assert f"{command[0]} --help" in result.stderr
    assert photo.read_bytes() == pictures.set_up.read_bytes()


def test_read_reports_a_truncated_picture(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    (tmp_path / "half.png").write_bytes(pictures.set_up.read_bytes()[:20000])
    result = run("read", tmp_path / "half.png", "--calibration", pictures.calibration)
    assert result.exit_code == 5
    assert "half.png" in result.output


def test_a_picture_of_another_size_is_read_by_its_own_camera(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    data = json.loads(pictures.calibration.read_text())
    (tmp_path / "other.json").write_text(json.dumps({**data, "size": [640, 480]}))
    for given in (("--calibration", "other.json"), ()):
        result = run("read", pictures.set_up, *given)
        assert result.exit_code == 0, result.output
        assert result.output == run("read", pictures.set_up, "--calibration", pictures.calibration).output


def test_enrol_names_the_square_of_a_wrong_position(run: Run, pictures: Pictures) -> None:
    result = run(
        "enrol", pictures.sets[0], "--positions", "a1=gold star", "--calibration", pictures.calibration,
        "--out", "looks.json",
    )  # fmt: skip
    assert result.exit_code == 5
    assert "a1" in result.output


def test_enrol_names_the_picture_without_the_table(run: Run, pictures: Pictures) -> None:
    cv2.imwrite("bare.png", np.full((540, 960, 3), 120, dtype=np.uint8))
    result = run(
        "enrol", pictures.sets[0], "bare.png", "--positions", "a4=gold star", "--calibration", pictures.calibration,
        "--out", "looks.json",
    )  # fmt: skip
    assert result.exit_code == 5
    assert "error: bare.png: table not located" in result.stderr


def test_enrol_reports_the_taught_and_the_missing_looks(run: Run, pictures: Pictures, tmp_path: Path) -> None:
    blocks = json.loads(pictures.sets[0].with_suffix(".json").read_text())["blocks"]
    star = next(block["cell"] for block in blocks if block["top"] == "star")
    result = run(
        "enrol", pictures.sets[0], "--positions", f"{star}=gold star", "--calibration", pictures.calibration,
        "--out", "looks.json",
    )  # fmt: skip
    assert result.output == (
        "gold with star in looks.json\nNo picture shows stop, slider, x, hoops and cross; taken as usually drawn.\n"
        "Missing: teal. `referee watch` needs them too; add a picture of them.\n"
    )
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/0.png").symlink_to(pictures.set_up)
    watched = run(
        "watch", "--frames", "pictures", "--calibration", pictures.calibration, "--looks", "looks.json",
    )  # fmt: skip
    assert watched.exit_code == 5
    assert "looks.json do not show what teal pieces look like" in watched.stderr


def test_enrol_needs_as_many_positions_as_pictures(run: Run, pictures: Pictures) -> None:
    one, two = "a4=gold star", "b4=gold stop"
    result = run("enrol", *pictures.sets, *pictures.sets[:1], "--positions", one, "--positions", two, "--out", "l.json")
    assert result.exit_code == 2
    assert "2 --positions for 3 pictures" in result.output


LAYOUT = default_layout("deblockle")


@pytest.mark.parametrize(
    "text",
    [
        "a4=gold star, b4=gold stop",
        " A4 = Gold  star ;b4: gold block, stop up\n",
        "a4=gold,star,b4=gold,stop",
    ],
)
def test_positions_are_read_leniently(text: str) -> None:
    assert BLOCK_POSITIONS.read(text, LAYOUT.board) == {"a4": ("gold", "star"), "b4": ("gold", "stop")}


def test_positions_are_read_from_both_kinds_of_file(tmp_path: Path) -> None:
    short, long = tmp_path / "short.json", tmp_path / "long.json"
    short.write_text('{"a4": "gold star"}')
    long.write_text('{"blocks": [{"cell": "a4", "colour": "gold", "top": "star"}]}')
    for path in (short, long):
        assert BLOCK_POSITIONS.read(str(path), LAYOUT.board) == {"a4": ("gold", "star")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a4=gold", "cannot read the position 'a4=gold'"),
        ("h9=gold star", "the positions name 'h9'.*squares run from a1 to g7"),
        ("a4=gold moon", "put 'gold moon' on a4: a block shows one of cross, hoops"),
        ("a4=gold star, a4=teal star", "the square a4 is given twice"),
        (" ", "name no block"),
        ("nowhere.json", "cannot read the positions nowhere.json"),
    ],
)
def test_unreadable_positions_are_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(EnrolmentError, match=message):
        BLOCK_POSITIONS.read(text, LAYOUT.board)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "are not valid JSON"),
        ("[]", "hold a list"),
        ('{"blocks": [{"cell": "a4"}]}', "each need cell, colour and top"),
    ],
)
def test_unreadable_position_files_are_refused_with_the_reason(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "truth.json").write_text(content)
    with pytest.raises(EnrolmentError, match=message):
        BLOCK_POSITIONS.read(str(tmp_path / "truth.json"), LAYOUT.board)


def test_a_whole_board_is_printed(run: Run, tmp_path: Path) -> None:
    said = run("tools", "print", "board", "deblockle", "--out", "board.pdf")
    assert "6 pages in board.pdf" in said.output
    assert (tmp_path / "board.pdf").read_bytes().startswith(b"%PDF")
    refused = run("tools", "print", "board", "number-drop", "--out", "sheets.pdf")
    assert "print sheet number-drop" in refused.stderr
