"""``setup`` at the terminal: steps are checked, revisited, skipped, stopped and resumed."""

import fcntl
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from rich.console import Console

from common.findings import Finding
from common.phrases import Phrase
from engine.games.blockade.game import GAME
from engine.registry import games, load
from hardware.lights.light_map import LightMap, write_light_map
from referee.cli.setup import _map_lights, _repeat_until_passed
from referee.judge.belief import Belief
from referee.settings.configuration import load as configured
from referee.settings.settings import Settings
from referee.setup.picture_checks import SharedCamera
from referee.setup.steps import Progress, SetUpRun, check_step, fault_of, steps_of
from referee.setup.table_setup import FoundCamera, SetupStep, StepResult, TableSetup
from referee.wiring.plan import SensorMap, save_sensor_map
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Pyramid, StackPose
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.commands import Run
from tests.present import present
from vision.frame import Frame, Image
from vision.layout.pieces import PyramidPieces
from vision.readers.registry import reader_kind
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading


def no_picture(source: str) -> Frame:
    raise AssertionError(source)


@pytest.fixture
def camera(tmp_path: Path) -> str:
    """A camera that sees a grey wall a few times."""
    folder = tmp_path / "seen"
    folder.mkdir()
    for number in range(4):
        cv2.imwrite(str(folder / f"{number}.png"), np.full((240, 320, 3), 120, np.uint8))
    return f"images:{folder}"


@pytest.mark.parametrize("command", [("setup", "--page"), ("start",)])
def test_a_second_page_of_the_same_set_up_is_refused(
    command: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    tables = tmp_path / "tabletop-referee" / "tables" if command == ("start",) else tmp_path
    tables.mkdir(parents=True, exist_ok=True)
    lock = tables / "setup.lock"
    with lock.open("w") as held:
        lock.chmod(0o666)
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = run(*command)
    assert refused.exit_code not in (0, 1)
    told = " ".join(refused.output.split())
    assert "setup.lock, most likely an earlier `referee start` or `referee setup`: go on at the address" in told
    # Nobody else may lock it from now on.
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("source", "mode"),
    [("http://me:secret@cam.local/video", 0o600), ("http://cam.local/video?key=secret", 0o600), ("phone", 0o644)],
)
def test_settings_that_may_hold_a_password_are_nobody_elses_to_read(tmp_path: Path, source: str, mode: int) -> None:
    file = tmp_path / "referee.toml"
    file.touch(0o644)
    Progress(tmp_path, "deblockle").keep({"game.name": "deblockle", "camera.source": source})
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_stopped_set_up_resumes_at_the_same_step(run: Run, tmp_path: Path, camera: str) -> None:
    first = run("setup", "deblockle", "--camera", camera, input="100\nq\n")
    assert first.exit_code == 1
    assert "Step 1 of 10: The camera" in first.output
    assert "320 x 240 pixels" in first.output
    assert "Step 2 of 10: Printing" in first.output
    assert "board.pdf" in first.output
    assert "`referee setup` goes on here." in first.output
    assert {file.name for file in tmp_path.glob("*.pdf")} == {"board.pdf", "markers.pdf"}
    written = (tmp_path / "referee.toml").read_text()
    assert tomllib.loads(written) == {
        "game": {"name": "deblockle"},
        "camera": {"source": camera, "width_px": 320, "height_px": 240},
    }
    assert written.count("\n# ") >= 5
    assert run("config").exit_code == 0
    second = run("setup", input="q\n")
    assert "Step 3 of 10: The table" in second.output
    assert "Step 1" not in second.output


def test_a_set_up_of_which_all_is_skipped_ends_and_says_what_is_missing(run: Run, tmp_path: Path, camera: str) -> None:
    left = run("setup", "diaballik", "--camera", camera, "--folder", "our table", input="q\n")
    assert f"`referee setup --folder '{tmp_path / 'our table'}'` goes on here." in left.output
    said = run("setup", "--folder", "our table", input="b\n" + "s\n" * 10)
    assert said.output.count("Step 9 of 10") == 1
    assert "Step 10 of 10" not in said.output, "a turn can't be tried without the set-up"


def test_a_complete_set_up_says_how_to_play_in_any_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "our table"
    folder.mkdir()
    steps = [step.name for step in steps_of(load("deblockle"))]
    Progress(folder, "deblockle", steps).keep({"camera.source": "0"})
    said = run("setup", "--folder", folder).output
    assert f"Play: referee --config '{folder / 'referee.toml'}' watch" in said


def test_a_step_is_repeated_until_nothing_is_missing(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", camera, input="97\nlong\n100,2\nnowhere\nq\n").output
    assert "set the printer's scale to 103.1 % and print again" in said
    assert "'long' is not a length" in said
    assert "100.2 mm: printed at the right size" in said
    assert said.count("Step 3 of 10") == 1
    assert "nowhere" in said


def test_a_missing_camera_is_asked_for_again(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", "images:/not/here", input=f"{camera}\nq\n").output
    assert "missing" in said
    assert "Step 2 of 10" in said


def test_a_cameras_password_is_hidden_and_refused_on_the_command_line(run: Run, tmp_path: Path) -> None:
    address = "http://me:s3cret@127.0.0.1:9/video"
    for command in (
        ("setup", "deblockle"),
        ("table", "roll"),
        ("hardware", "lights", "map"),
    ):
        said = run(*command, "--camera", address, input="q\n")
        assert said.exit_code in (2, 3)
        assert "give address:FILE" in said.output
        assert "s3cret" not in said.output
    asked = run("setup", "deblockle", input=f"{address}\nq\n").output
    assert "camera http://127.0.0.1:9 cannot be reached" in asked
    assert "s3cret" not in asked.replace(address, "")
    assert (tmp_path / "camera-address").stat().st_mode & 0o777 == 0o600


def test_steps_can_be_skipped_and_revisited(run: Run, tmp_path: Path, camera: str) -> None:
    said = run("setup", "number-drop", "--camera", camera, input="3\ns\nb\ns\ns\nq\n").output
    assert "Skipped." in said
    assert "(b: back, s: skip, q: stop for now, ?: help)\nEnter when they lie there; or a layout file: " in said
    assert said.count("Step 3 of 9: Printing") == 2
    assert tomllib.loads((tmp_path / "referee.toml").read_text())["game"]["options"] == {"players": 3}


def test_a_sheet_file_in_the_settings_is_printed_and_stays_named(run: Run, tmp_path: Path, camera: str) -> None:
    folder = tmp_path / "our table"
    folder.mkdir()
    (folder / "ours.toml").write_text(present(load("blokus-dice").sheet_file).text().replace('"10x10"', '"8x6"'))
    Progress(folder, "blokus-dice").keep({"game.name": "blokus-dice", "game.options": {"sheet": "ours.toml"}})
    said = run("setup", "--folder", folder, "--camera", camera, input="3\nq\n")
    assert "Step 3 of 9: Printing" in said.output, said.stderr
    assert (folder / "sheets.pdf").is_file()
    written = tomllib.loads((folder / "referee.toml").read_text())
    assert written["game"]["options"] == {"sheet": "ours.toml", "players": 3}


def test_existing_settings_are_not_overwritten_unasked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text("[hints]\nseconds = 1.0\n")
    said = run("setup", "deblockle", input="n\n")
    assert said.exit_code == 130
    assert "is there already. Replace it?" in said.output
    assert (tmp_path / "referee.toml").read_text() == "[hints]\nseconds = 1.0\n"


def test_settings_that_were_changed_to_another_game_are_not_overwritten_unasked(run: Run, tmp_path: Path) -> None:
    Progress(tmp_path, "deblockle", ["camera"]).keep({"game.name": "deblockle", "camera.source": "0"})
    changed = (tmp_path / "referee.toml").read_text().replace('"deblockle"', '"diaballik"')
    (tmp_path / "referee.toml").write_text(changed)
    said = run("setup", input="1\nn\n")
    assert "Replace it?" in said.output
    assert (tmp_path / "referee.toml").read_text() == changed


def test_lights_are_mapped_by_answers_alone_without_a_camera(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "a1"

    table = TableSetup(load("deblockle"), tmp_path, no_picture, date(2026, 5, 1))
    quiet = Console(file=StringIO())
    table.make_light_map = partial(_map_lights, SharedCamera(), console=quiet, ask=ask)
    steps = {step.name: step for step in steps_of(table.game)}
    assert check_step(steps["lights"], table, "wled-network wled_host=127.0.0.1 strip_lights=1").is_done
    assert check_step(steps["light-map"], table, "").is_done
    assert len(asked) == 1


def test_files_that_were_damaged_by_hand_do_not_end_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('stray = 1\n[game]\nname = "deblockle"\n')
    (tmp_path / "setup.json").write_text('{"game": "deblockle", "done": ["camera"]}')
    assert "Step 2 of 10" in run("setup", input="q\n").output
    (tmp_path / "setup.json").write_text("{}")
    assert "Step 1 of 10" in run("setup", "deblockle", input="y\nq\n").output


def test_the_game_can_be_picked_from_a_list(run: Run) -> None:
    said = run("setup", input="3\nq\n").output
    assert "  3  Deblockle" in said
    assert "Step 1 of 10" in said


def test_the_game_can_be_picked_by_its_name(run: Run) -> None:
    said = run("setup", input="chess\ndeblokle\ndiaballik\nq\n").output
    assert "No game is called 'chess'" in said
    assert "No game is called 'deblokle'; did you mean 'deblockle'?\n" in said
    assert "Step 1 of 10" in said


def test_lights_that_are_not_wired_are_named(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", camera, input="s\ns\nwled-network\nlamp\nterminal\nnone\nq\n").output
    assert "wled_host" in said
    assert "lights.drivers.0 is \"lamp\"; expected 'terminal', " in said
    assert "Step 6 of 10: Which light is where\n  There is no strip of lights. Skipped." in said
    assert "Step 8 of 10: Which switch is where\n  There are no switches. Skipped." in said
    assert "Step 9 of 10: The set-up" in said


def test_settings_of_lights_and_switches_can_be_answered_with_them(run: Run, tmp_path: Path, camera: str) -> None:
    places = "\n".join(f"{place} = [{number}]" for number, place in enumerate(load("deblockle").places))
    (tmp_path / "mine.toml").write_text(f"lights = 49\n[places]\n{places}\n")
    lights = "wled-network wled_host=wled.local strip_lights=49"
    said = run("setup", "deblockle", "--camera", camera, input=f"s\ns\n{lights}\nnot.toml\nmine.toml\nnone\nq\n").output
    assert "Step 6 of 10: Which light is where" in said
    assert "not.toml" in said
    assert "mine.toml is used" in said
    written = tomllib.loads((tmp_path / "referee.toml").read_text())
    assert written["lights"] == {
        "drivers": ["wled-network"],
        "wled_host": "wled.local",
        "strip_lights": 49,
        "light_map": "mine.toml",
    }


def test_the_game_is_written_even_if_the_camera_is_skipped(run: Run, tmp_path: Path) -> None:
    run("setup", "diaballik", input="s\n100\nq\n")
    assert tomllib.loads((tmp_path / "referee.toml").read_text())["game"] == {"name": "diaballik"}


def test_a_file_of_settings_is_refused_since_a_folder_is_set_up(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    said = run("--config", "mine.toml", "setup", "deblockle", input="q\n")
    assert said.exit_code == 2
    assert "give --folder FOLDER instead of --config" in said.stderr


def test_the_end_names_the_settings_that_would_come_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('[game]\nname = "blockade"\n')
    steps = [step.name for step in steps_of(load("deblockle"))]
    Progress(tmp_path, "deblockle", steps).keep({"camera.source": "0"})
    assert "Play: referee watch" in run("setup").output
    said = run("setup", env={"REFEREE_CONFIG": "other.toml", "REFEREE_CAMERA_SOURCE": "1", "REFEREE_TURN_REST_S": "3"})
    assert f"Play: referee --config {tmp_path / 'referee.toml'} watch" in said.output
    assert "These environment variables override the settings: $REFEREE_CAMERA_SOURCE\n" in said.output


def test_a_camera_that_was_given_is_asked_for_when_going_back(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", camera, input="b\nq\n").output
    assert "Which camera? 0 is the first" in said


def test_pictures_are_found_from_the_settings_folder_too(run: Run, tmp_path: Path, camera: str) -> None:
    assert camera
    run("setup", "deblockle", "--camera", "images:seen", "--folder", "given", input="q\n")
    run("setup", "deblockle", "--folder", "typed", input="images:../seen\nq\n")
    for folder in (tmp_path / "given", tmp_path / "typed"):
        settings = configured(folder / "referee.toml", environment={}, folder=tmp_path).settings
        assert settings.camera.source in {f"images:{tmp_path / 'seen'}", f"images:{folder / '../seen'}"}


@pytest.mark.parametrize("name", ["~nobody-here/camera.json", "a\0b.json"])
def test_impossible_file_names_are_asked_for_again(run: Run, tmp_path: Path, camera: str, name: str) -> None:
    Progress(tmp_path, "deblockle", ["camera", "print"]).keep({"camera.source": camera})
    said = run("setup", input=f"{name}\nq\n")
    assert "can't be the name of a file" in said.output
    assert "goes on here" in said.output


def test_a_check_is_repeated_until_it_passes_or_the_camera_is_missing(tmp_path: Path) -> None:
    (step,) = [step for step in steps_of(load("deblockle")) if step.live]
    hidden, seen = (StepResult((find(Phrase("table"), "seen?"),)) for find in (Finding.fault, Finding.ok))
    gone = StepResult((fault_of(step, OSError("no camera")),))

    class Checks(SetUpRun):
        def answer(self, step: SetupStep, text: str) -> StepResult:
            return outcomes.pop(0)

    table = TableSetup(load("deblockle"), tmp_path, no_picture, date(2026, 5, 1))
    run = Checks([step], table, Progress(tmp_path, "deblockle"))
    outcomes = [hidden, seen]
    assert _repeat_until_passed(step, run, "", hidden) is seen
    outcomes = [gone, seen]
    assert _repeat_until_passed(step, run, "", hidden) is gone


def test_the_printed_board_and_ones_own_are_asked_for_one_thing_at_a_time(
    run: Run, tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Progress(tmp_path, "deblockle", ["camera", "print"]).keep({"camera.source": camera})
    answers: list[str] = []

    def check(table: TableSetup, answer: str) -> StepResult:
        answers.append(answer)
        return StepResult((Finding.fault(Phrase("table"), "again"),))

    steps = tuple(replace(each, check=check, live=False) for each in steps_of(load("deblockle")))
    monkeypatch.setattr("referee.setup.steps.steps_of", lambda _: steps)
    typed = ["", "1", "2", "", "10", "350", "351,5", "3", "39", "12", "4", "mine.json", "40 10 350 350", "2", "", "q"]
    said = run("setup", input="\n".join(typed)).output
    assert answers == ["", "40 10 350 351,5", "none 39 12", "mine.json", "40 10 350 350"]
    assert "  1  It's the board I printed\n" in said
    assert "Which board lies there?: " in said
    assert "From square to square, in mm [40]: " in said
    assert "Height of the board's top above the table, in mm: " in said, "it has no usual value"


def test_a_question_mark_explains_the_step(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", camera, input="?\nb\n?\nq\n").output
    assert said.count("Each sheet has a ruler at its lower edge.") == 2
    assert "choose 100 %" in said
    assert "b goes back to the step before" in said
    assert "docs/set-up.md lists all kinds of cameras" in said


@pytest.mark.parametrize("game", games())
def test_every_question_fits_a_line_of_a_terminal(game: str) -> None:
    for step in steps_of(load(game)):
        for question in (step.question, step.sheets_question):
            assert len(f"{question} [{step.default}]: ") <= 78


def test_a_folder_that_cannot_be_written_to_is_named_before_the_first_question(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("referee.cli.setup.tempfile.TemporaryFile", refuse)
    said = run("setup", input="1\n")
    assert said.exit_code == 2
    assert f"nothing can be written in {tmp_path} (Read-only file system); give another folder" in said.stderr
    assert "Which game" not in said.output
    said = run("start")
    assert said.exit_code == 2
    assert "(Read-only file system); allow it, or name another folder in $XDG_DATA_HOME" in said.stderr


def test_the_cameras_that_are_plugged_in_are_listed() -> None:
    (step, *_) = steps_of(load("deblockle"))
    table = TableSetup(load("deblockle"), Path(), no_picture, date(2026, 5, 1))
    assert "No USB camera is plugged in. A camera on the Pi's ribbon cable is called pi." in step.prepare(table)
    table.found_cameras = (FoundCamera("usb:046d:0825@1-1", "HD Webcam", "2"),)
    assert "These cameras are plugged in: 2 (HD Webcam)" in step.prepare(table)


def test_a_ruler_measured_in_centimetres_and_an_empty_one_are_noticed(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", camera, input="10\n0\n9.9 cm\n10 cm\nq\n").output
    assert "10 looks like centimetres" in said
    assert "'0' is not a length" in said
    assert "99 mm long; it must be 100 mm" in said
    assert "100 mm: printed at the right size" in said


def test_a_grid_that_does_not_fit_has_the_table_measured_again(run: Run, tmp_path: Path, camera: str) -> None:
    done = ["camera", "print", "table"]
    Progress(tmp_path, "deblockle", done).keep({"camera.source": camera})
    said = run("setup", input="n\ns\nq\n").output
    assert said.count("of 10: The table") == 1
    assert "Step 5 of 10: Lights" in said, "without a measured table there is no grid to compare"
    kept = Progress.load(tmp_path, "deblockle")
    assert kept is not None
    assert kept.skipped == ["table", "grid"]


TODAY = date(2026, 5, 1)
(STEP,) = (step for step in steps_of(GAME) if step.name == "pieces")
COLOURS = {"C": "clear", "K": "black"}


def seen_without(*missing: str) -> Frame:
    """A picture of the start position without the stacks of these places."""
    setting = standard_setting(lens((1280, 720)), "blockade")
    pieces = setting.layout.board.pieces
    assert isinstance(pieces, PyramidPieces)
    colours = {look.split()[0][0].upper(): look.split()[0] for look in GAME.looks if " " in look} | COLOURS
    stacks = []
    for place, stack in GAME.squares(GAME.rules.new({"starts": GAME.players[0]})).items():
        if stack and place not in missing:
            x, y = setting.layout.centre_mm(place)
            pyramids = [Pyramid(size, colours[part[0]]) for part in stack.split("+") for size in part[1:]]
            stacks.append(StackPose(x, y, tuple(pyramids)))
    image = Renderer(1).render(Scene(setting, tuple(stacks)), 0)
    return Frame(image, 0.0, 0)


def table_in(folder: Path, frame: Frame) -> TableSetup:
    return TableSetup(GAME, folder, lambda _: frame, TODAY, values={"game.options": {"starts": "either"}})


def test_a_set_up_is_recognised_whoever_starts(tmp_path: Path) -> None:
    table = table_in(tmp_path, seen_without())
    outcome = check_step(STEP, table, "")
    assert outcome.is_done, outcome
    assert table.values["table.looks"] == "looks.json"
    assert reader_kind(table.layout).load(tmp_path / "looks.json").traits


def test_looks_of_a_set_up_that_was_not_recognised_are_not_saved(tmp_path: Path) -> None:
    table = table_in(tmp_path, seen_without())
    table.values["game.options"] = {}
    place = next(place for place, stack in GAME.squares(GAME.rules.new()).items() if stack)
    frame = seen_without(place)
    table.look = lambda _: frame
    assert not check_step(STEP, table, "").is_done
    assert not (tmp_path / "looks.json").exists()


@pytest.mark.parametrize(
    ("name", "asks", "faces"),
    [
        ("number-drop", "Draw the tiles and play the first turn.", "I3,I4,O4,S4,T4"),
        ("blockade", "Roll the dice and play one turn with them.", "1,1"),
        ("deblockle", "Play one turn, and take your hands away.", ""),
    ],
)
def test_the_step_asks_for_what_the_game_needs(name: str, asks: str, faces: str, tmp_path: Path) -> None:
    game = load(name)
    table = TableSetup(game, tmp_path, no_picture, date(2026, 1, 1), "a4", {})
    state = game.rules.new()
    table.belief = replace(Belief(), states=(state,), states_ignoring_sides=(state,))
    (step,) = (each for each in steps_of(game) if each.name == "turn")
    said = " ".join(step.prepare(table))
    assert said.startswith(asks)
    assert (f"such as {faces}." in said) == bool(faces)
    if game.dice is not None and faces:
        assert game.dice.parse_roll(state, faces)


class Eyes:
    """A reader that sees certain looks, and what may be in the way."""

    def __init__(self, looks: Mapping[str, str], *hindrances: Hindrance) -> None:
        places = {place: PlaceReading({look: 0.99, "other": 0.01}) for place, look in looks.items()}
        self.reading = Reading(0, 0.0, places, hindrances)

    def read(self, frame: Frame) -> Reading:
        del frame
        return self.reading

    def crop(self, frame: Frame, place: str) -> Image:
        raise AssertionError(place)


def outcome_of(folder: Path, turns: int, *hindrances: Hindrance) -> StepResult:
    """Check the step once that many turns were played."""
    game = load("diaballik")
    state = game.rules.new()
    frame = Frame(np.zeros((4, 4, 3), np.uint8), 0.0, 0)
    table = TableSetup(game, folder, lambda _: frame, date(2026, 1, 1))
    table.belief = replace(Belief(), states=(state,), states_ignoring_sides=(state,))
    for text in ("b1-b2", "b7-b6")[:turns]:
        state = game.rules.apply(state, game.notation.parse_turn(state, text))
    table.reader = Eyes(game.table.appearance(state), *hindrances)
    (step,) = (each for each in steps_of(game) if each.name == "turn")
    return check_step(step, table, "")


def test_one_turn_is_the_test_and_two_are_not(tmp_path: Path) -> None:
    assert not outcome_of(tmp_path, 0).is_done
    assert outcome_of(tmp_path, 1).is_done
    two = outcome_of(tmp_path, 2)
    assert not two.is_done
    assert two.findings[0].message.startswith("two turns were played: ")
    assert two.findings[0].remedy == "take the second one back, for this test"


@pytest.mark.parametrize("turns", [0, 1])
def test_a_hand_over_the_board_is_named_before_anything_is_judged(tmp_path: Path, turns: int) -> None:
    outcome = outcome_of(tmp_path, turns, Hindrance(HindranceKind.HAND, "a hand or arm is over c1", ("c1",)))
    (finding,) = outcome.findings
    assert (finding.message, finding.remedy) == ("a hand or arm is over c1", "take your hands away from the board")
    assert not outcome.is_done


DEBLOCKLE = load("deblockle")
STEPS = {step.name: step for step in steps_of(DEBLOCKLE)}


@pytest.fixture
def table(tmp_path: Path) -> TableSetup:
    return TableSetup(DEBLOCKLE, tmp_path, no_picture, date(2026, 5, 1))


@pytest.fixture
def asked(table: TableSetup) -> list[Settings]:
    """The settings with which maps are made; each map is whole."""
    given: list[Settings] = []

    def map_lights(settings: Settings, path: Path) -> bool:
        given.append(settings)
        write_light_map(LightMap({place: (number,) for number, place in enumerate(DEBLOCKLE.places)}, lights=49), path)
        return True

    def map_switches(settings: Settings, path: Path) -> bool:
        given.append(settings)
        save_sensor_map(SensorMap({place: number for number, place in enumerate(DEBLOCKLE.places)}, 49, None), path)
        return True

    table.make_light_map, table.make_sensor_map = map_lights, map_switches
    return given


def test_lights_and_switches_are_mapped_if_wired(table: TableSetup, asked: list[Settings]) -> None:
    lights = ("lights", "board, gpio buzzer_pin=4")
    for name, answer in (lights, ("light-map", ""), ("switches", "board"), ("switch-map", "")):
        assert STEPS[name].unneeded(table) == ""
        outcome = check_step(STEPS[name], table, answer)
        assert outcome.is_done, outcome
    assert table.values == {
        "game.name": "deblockle",
        "lights.drivers": ["board", "gpio"],
        "lights.buzzer_pin": 4,
        "lights.light_map": "lights.toml",
        "sensors.source": "board",
        "sensors.eyes": "both",
        "sensors.map": "sensors.toml",
    }
    assert [settings.lights.drivers for settings in asked] == [("board", "gpio")] * 2


@pytest.mark.parametrize(("first", "second"), [("switch-map", "light-map"), ("light-map", "switch-map")])
def test_one_map_can_be_made_without_the_other(
    table: TableSetup, asked: list[Settings], first: str, second: str
) -> None:
    for name, answer in (("lights", "board"), ("switches", "board"), (first, ""), (second, "")):
        outcome = check_step(STEPS[name], table, answer)
        assert outcome.is_done, outcome
    named = {settings.lights.light_map or settings.sensors.map for settings in asked[:1]}
    assert named == {table.folder / ("lights.toml" if first == "light-map" else "sensors.toml")}, "as in the settings"
    assert (table.values["lights.drivers"], table.values["sensors.eyes"]) == (["board"], "both")


def test_no_map_is_made_without_wired_devices(table: TableSetup) -> None:
    assert check_step(STEPS["lights"], table, "terminal, gpio buzzer_pin=4").is_done
    assert check_step(STEPS["switches"], table, "none").is_done
    assert STEPS["light-map"].unneeded(table) == "There is no strip of lights."
    assert STEPS["switch-map"].unneeded(table) == "There are no switches."
    assert table.values["sensors.eyes"] == "camera"


def test_an_empty_map_is_asked_for_again(table: TableSetup) -> None:
    table.make_light_map = lambda settings, path: False
    assert check_step(STEPS["lights"], table, "wled-network wled_host=wled.local strip_lights=49").is_done
    outcome = check_step(STEPS["light-map"], table, "")
    assert not outcome.is_done
    assert [finding.message for finding in outcome.findings] == ["nothing was found"]
    assert "lights.light_map" not in table.values


def test_pins_are_answered_with_their_settings(table: TableSetup) -> None:
    assert not check_step(STEPS["switches"], table, "pins").is_done
    assert check_step(STEPS["switches"], table, "pins row_pins=[5,6,13] column_pins=[16,20,21]").is_done
    assert table.values["sensors.row_pins"] == [5, 6, 13]
    assert not check_step(STEPS["switches"], table, "pins rows=3").is_done


def test_values_may_contain_spaces(table: TableSetup) -> None:
    lights = 'terminal, gpio button_pins={"end turn" = 17, hint = 27} row_pins={ 1 = 5 } column_pins={a=6}'
    assert check_step(STEPS["lights"], table, lights).is_done
    assert table.values["lights.button_pins"] == {"end turn": 17, "hint": 27}
    assert table.values["lights.row_pins"] == {"1": 5}
    assert check_step(STEPS["switches"], table, "pins row_pins=[16, 20] column_pins=[ 21 ]").is_done
    assert table.values["sensors.row_pins"] == [16, 20]


@pytest.mark.parametrize(
    ("step", "answer", "message"),
    [
        ("lights", "gpio", "the driver gpio has no pin to drive"),
        ("lights", "gpio buzzer_pin=99", "99 does not exist on the 40-pin header"),
        ("lights", "gpio place_pins={a1=4, b1=4}", "GPIO4 is used twice"),
        ("lights", "gpio place_pins={z9=4}", "there is no place 'z9'"),
        ("lights", "terminal, terminal", "terminal is named twice"),
        ("switches", "pins row_pins=[5, 5] column_pins=[16]", "GPIO5 is used twice"),
    ],
)
def test_pins_that_no_command_would_accept_are_refused(table: TableSetup, step: str, answer: str, message: str) -> None:
    findings = check_step(STEPS[step], table, answer).findings
    assert any(message in finding.message for finding in findings), findings
    assert table.values == {"game.name": "deblockle"}


@pytest.mark.parametrize(
    ("step", "answer", "message"),
    [
        ("switches", "bord", "sensors.source is \"bord\"; expected 'none', 'board' or 'pins' (did you mean board?)"),
        (
            "lights",
            "gpio strip_lihgts=49",
            "there is no setting lights.strip_lihgts (did you mean strip_lights?); ",
        ),
        ("lights", "gpio bell=3", "lights.bell is 3; expected true or false"),
    ],
)
def test_a_misspelt_answer_is_explained(table: TableSetup, step: str, answer: str, message: str) -> None:
    (finding,) = check_step(STEPS[step], table, answer).findings
    assert finding.message.startswith(message)


def test_a_corrected_answer_replaces_pins_and_keeps_the_rest(table: TableSetup) -> None:
    table.values |= {"lights.bell": True, "lights.button_pins": {"end turn": 23}, "sensors.false_open": 0.05}
    answers = (
        ("lights", "wled-network wled_host=wled.local strip_lights=49"),
        ("lights", "gpio place_pins={d2=5,d6=6}"),
        ("lights", "gpio column_pins={a=5,b=6} row_pins={1=12,2=13}"),
        ("switches", "pins row_pins=[16,20] column_pins=[21]"),
        ("switches", "pins switch_pins=[16,20]"),
        ("lights", "terminal"),
    )
    for name, answer in answers:
        outcome = check_step(STEPS[name], table, answer)
        assert outcome.is_done, outcome
    assert table.values == {
        "game.name": "deblockle",
        "lights.bell": True,
        "lights.button_pins": {"end turn": 23},
        "lights.drivers": ["terminal"],
        "lights.strip_lights": 49,
        "sensors.false_open": 0.05,
        "sensors.source": "pins",
        "sensors.eyes": "camera",
        "sensors.switch_pins": [16, 20],
    }


def test_the_microcontroller_s_port_can_be_answered(table: TableSetup) -> None:
    assert check_step(STEPS["switches"], table, "board board.port=/dev/ttyACM0").is_done
    assert table.values["board.port"] == "/dev/ttyACM0"
