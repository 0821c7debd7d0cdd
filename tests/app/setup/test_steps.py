"""The steps of the set-up: what each asks for, checks and keeps."""

import fcntl
import stat
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import date
from functools import partial
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from rich.console import Console

from app.cli.start import _map_lights
from app.settings.configuration import load as configured
from app.settings.settings import Settings
from app.setup.picture_checks import SharedCamera
from app.setup.steps import Ending, Progress, SetUpRun, steps_of
from app.setup.table_setup import StepResult, TableSetup
from app.wiring.plan import SensorMap, save_sensor_map
from engine.games.blockade.game import GAME
from engine.registry import load
from hardware.lights.light_map import LightMap, write_light_map
from referee.judge.belief import Belief
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Pyramid, StackPose
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.app.setup.checking import check_step
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


def test_a_second_page_of_the_same_set_up_is_refused(run: Run, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    lock = tables / "setup.lock"
    with lock.open("w") as held:
        lock.chmod(0o666)
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = run("start", "--folder", tables)
    assert refused.exit_code not in (0, 1)
    told = " ".join(refused.output.split())
    assert "setup.lock, most likely an earlier `referee start`: go on at the address" in told
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


def test_a_cameras_password_is_hidden_and_refused_on_the_command_line(run: Run, tmp_path: Path) -> None:
    address = "http://me:s3cret@127.0.0.1:9/video"
    for command in (("start", "deblockle"), ("table", "roll"), ("hardware", "lights", "map")):
        said = run(*command, "--camera", address)
        assert said.exit_code in (2, 3)
        assert "give address:FILE" in said.output
        assert "s3cret" not in said.output
    table = TableSetup(DEBLOCKLE, tmp_path, SharedCamera().look, TODAY, values={"camera.source": address})
    assert not (tmp_path / "camera-address").exists(), "a value writes no file"
    (finding,) = check_step(STEPS["camera"], table, address).findings
    assert "camera http://127.0.0.1:9 cannot be reached" in finding.message
    assert (tmp_path / "camera-address").stat().st_mode & 0o777 == 0o600


def test_a_sheet_file_in_the_settings_is_printed_and_stays_named(tmp_path: Path) -> None:
    game = load("blokus-dice")
    (tmp_path / "ours.toml").write_text(present(game.sheet_file).text().replace('"10x10"', '"8x6"'))
    table = TableSetup(game, tmp_path, no_picture, TODAY, values={"game.options": {"sheet": "ours.toml"}})
    steps = {step.name: step for step in steps_of(game)}
    assert check_step(steps["players"], table, "3").is_done
    steps["print"].prepare(table)
    assert (tmp_path / "sheets.pdf").is_file()
    assert table.values["game.options"] == {"sheet": "ours.toml", "players": 3}


def test_settings_that_were_changed_to_another_game_are_not_gone_on_with(tmp_path: Path) -> None:
    Progress(tmp_path, "deblockle", ["camera"]).keep({"game.name": "deblockle", "camera.source": "0"})
    assert Progress.load(tmp_path, None) is not None
    changed = (tmp_path / "referee.toml").read_text().replace('"deblockle"', '"diaballik"')
    (tmp_path / "referee.toml").write_text(changed)
    assert Progress.load(tmp_path, None) is None


def test_lights_are_mapped_by_answers_alone_without_a_camera(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "a1"

    table = TableSetup(load("deblockle"), tmp_path, no_picture, TODAY)
    quiet = Console(file=StringIO())
    table.make_light_map = partial(_map_lights, SharedCamera(), console=quiet, ask=ask)
    steps = {step.name: step for step in steps_of(table.game)}
    assert check_step(steps["lights"], table, "wled-network wled_host=127.0.0.1 strip_lights=1").is_done
    assert check_step(steps["light-map"], table, "").is_done
    assert len(asked) == 1


def test_files_that_were_damaged_by_hand_do_not_end_it(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('stray = 1\n[game]\nname = "deblockle"\n')
    (tmp_path / "setup.json").write_text('{"game": "deblockle", "done": ["camera"]}')
    assert Progress.load(tmp_path, None) == Progress(tmp_path, "deblockle", ["camera"], {"game.name": "deblockle"})
    (tmp_path / "setup.json").write_text("{}")
    assert Progress.load(tmp_path, None) is None


def test_a_map_that_is_there_is_used(tmp_path: Path, table: TableSetup) -> None:
    places = "\n".join(f"{place} = [{number}]" for number, place in enumerate(DEBLOCKLE.places))
    (tmp_path / "mine.toml").write_text(f"lights = 49\n[places]\n{places}\n")
    assert check_step(STEPS["lights"], table, "wled-network wled_host=wled.local strip_lights=49").is_done
    (missing,) = check_step(STEPS["light-map"], table, "not.toml").findings
    assert "not.toml" in missing.message
    (used,) = check_step(STEPS["light-map"], table, "mine.toml").findings
    assert used.message == "mine.toml is used"
    assert {name: value for name, value in table.values.items() if name.startswith("lights.")} == {
        "lights.drivers": ["wled-network"],
        "lights.wled_host": "wled.local",
        "lights.strip_lights": 49,
        "lights.light_map": "mine.toml",
    }


def test_the_game_is_written_even_if_every_step_is_left_out(tmp_path: Path, table: TableSetup) -> None:
    run = SetUpRun(steps_of(DEBLOCKLE), table, Progress(tmp_path, "deblockle"))
    asked = []
    while (step := run.step) is not None:
        asked.append(step.name)
        run.skip(step)
    assert asked[-1] == "pieces", "a turn can't be tried without the set-up"
    assert tomllib.loads((tmp_path / "referee.toml").read_text()) == {"game": {"name": "deblockle"}}
    assert not run.ending({}).is_ready, "without a camera"


def test_a_file_of_settings_is_refused_since_a_folder_is_set_up(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    for option in (("--steps",), ("--folder", "here")):
        said = run("--config", "mine.toml", "start", *option)
        assert said.exit_code == 2
        assert "give --folder FOLDER instead" in " ".join(said.stderr.split())


def test_the_end_names_the_settings_that_would_come_first(tmp_path: Path, table: TableSetup) -> None:
    table.values["camera.source"] = "0"
    run = SetUpRun((), table, Progress(tmp_path, "deblockle"))
    run.kept.keep(table.values)
    assert run.ending({}) == Ending(is_ready=True, overriding=())
    ending = run.ending({"REFEREE_CAMERA_SOURCE": "1", "REFEREE_TURN_REST_S": "3"})
    assert ending.overriding == ("$REFEREE_CAMERA_SOURCE",)


def test_pictures_are_found_from_the_settings_folder(tmp_path: Path, camera: str) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    with closing(SharedCamera()) as shared_camera:
        table = TableSetup(DEBLOCKLE, folder, shared_camera.look, TODAY)
        assert check_step(STEPS["camera"], table, "images:../seen").is_done
    Progress(folder, "deblockle").keep(table.values)
    settings = configured(folder / "referee.toml", environment={}, folder=tmp_path).settings
    assert settings.camera.source == f"images:{folder / '../seen'}"
    assert (settings.camera.width_px, settings.camera.height_px) == (320, 240)
    assert (folder / "referee.toml").read_text().count("\n# ") >= 5


@pytest.mark.parametrize("name", ["~nobody-here/camera.json", "a\0b.json"])
def test_impossible_file_names_are_asked_for_again(tmp_path: Path, name: str) -> None:
    seen = Frame(np.full((240, 320, 3), 120, np.uint8), 0.0, 0)
    table = TableSetup(DEBLOCKLE, tmp_path, lambda _: seen, TODAY)
    (finding,) = check_step(STEPS["table"], table, name).findings
    assert "can't be the name of a file" in finding.message


def test_a_folder_that_cannot_be_written_to_is_named_before_the_first_question(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("app.cli.start.tempfile.TemporaryFile", refuse)
    said = run("start", "--folder", tmp_path)
    assert said.exit_code == 2
    assert f"nothing can be written in {tmp_path} (Read-only file system); give another folder" in said.stderr
    said = run("start")
    assert said.exit_code == 2
    assert "(Read-only file system); allow it, or name another folder in $XDG_DATA_HOME" in said.stderr


@pytest.mark.parametrize(
    ("answer", "message", "remedy"),
    [
        ("10", "10 looks like centimetres", "type millimetres, such as 100"),
        ("0", "'0' is not a length", "type millimetres, such as 100"),
        ("long", "'long' is not a length", "type millimetres, such as 100"),
        ("9.9 cm", "99 mm long; it must be 100 mm", "set the printer's scale to 101.0 % and print again"),
        ("10 cm", "100 mm: printed at the right size", ""),
        ("100,2", "100.2 mm: printed at the right size", ""),
    ],
)
def test_the_printed_ruler_must_be_as_long_as_it_says(
    table: TableSetup, answer: str, message: str, remedy: str
) -> None:
    (finding,) = check_step(STEPS["print"], table, answer).findings
    assert (finding.message, finding.remedy) == (message, remedy)


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
        ("deblockle", "Play one turn by the rules.", ""),
    ],
)
def test_the_step_asks_for_what_the_game_needs(name: str, asks: str, faces: str, tmp_path: Path) -> None:
    game = load(name)
    table = TableSetup(game, tmp_path, no_picture, date(2026, 1, 1), "a4", {})
    state = game.rules.new()
    table.belief = replace(Belief(), states=(state,), states_ignoring_sides=(state,))
    (step,) = (each for each in steps_of(game) if each.name == "turn")
    assert step.told(table) == (asks, "Then take your hands away.")
    (form,) = step.forms(table)
    hints = [field.hint for each in form.then for field in each.fields]
    assert hints == [f"All faces with commas, such as {faces}."] * bool(faces)
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
    return TableSetup(DEBLOCKLE, tmp_path, no_picture, TODAY)


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
        ("lights", "lamp", "lights.drivers.0 is \"lamp\"; expected 'terminal', "),
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
