"""``setup`` at the terminal: steps are checked, revisited, skipped, stopped and resumed."""

from __future__ import annotations

import tomllib
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
from engine.registry import games, load
from referee.cli.setup import _map_lights, _repeat_until_passed
from referee.settings.configuration import load as configured
from referee.setup.picture_checks import SharedCamera
from referee.setup.steps import Progress, SetUpRun, check_step, fault_of, steps_of
from referee.setup.table_setup import SetupStep, StepResult, TableSetup
from tests.commands import Run
from tests.present import present
from vision.cameras.live import UsbCamera
from vision.frame import Frame


@pytest.fixture
def camera(tmp_path: Path) -> str:
    """A camera that sees a grey wall a few times."""
    folder = tmp_path / "seen"
    folder.mkdir()
    for number in range(4):
        cv2.imwrite(str(folder / f"{number}.png"), np.full((240, 320, 3), 120, np.uint8))
    return f"images:{folder}"


def test_a_stopped_set_up_resumes_at_the_same_step(run: Run, tmp_path: Path, camera: str) -> None:
    first = run("setup", "deblockle", "--camera", camera, input="100\nq\n")
    assert first.exit_code == 1
    assert "Step 1 of 10: The camera" in first.output
    assert "320 x 240 pixels" in first.output
    assert "Step 2 of 10: Printing" in first.output
    assert "board.pdf" in first.output
    assert "`referee setup` goes on here." in first.output
    assert {file.name for file in tmp_path.glob("*.pdf")} == {"board.pdf", "markers.pdf", "calibration-board.pdf"}
    written = (tmp_path / "referee.toml").read_text()
    assert tomllib.loads(written) == {
        "game": {"name": "deblockle"},
        "camera": {"source": camera, "width_px": 320, "height_px": 240},
    }
    assert written.count("\n# ") >= 5
    assert run("config").exit_code == 0
    second = run("setup", input="q\n")
    assert "Step 3 of 10: Calibration" in second.output
    assert "Step 1" not in second.output


def test_a_set_up_of_which_all_is_skipped_ends_and_says_what_is_missing(run: Run, tmp_path: Path, camera: str) -> None:
    left = run("setup", "diaballik", "--camera", camera, "--folder", "our table", input="q\n")
    assert f"`referee setup --folder '{tmp_path / 'our table'}'` goes on here." in left.output
    said = run("setup", "--folder", "our table", input="s\n" * 10)
    assert said.output.count("Step 9 of 10") == 1
    assert "Step 10" not in said.output, "a turn can't be tried without the set-up"
    assert "Diaballik is not ready: a table needs a calibrated camera." in said.output
    assert said.exit_code == 1


def test_a_complete_set_up_says_how_to_play_in_any_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "our table"
    folder.mkdir()
    steps = [step.name for step in steps_of(load("deblockle"))]
    Progress(folder, "deblockle", steps).keep({"camera.calibration": "lens.json"})
    said = run("setup", "--folder", folder).output
    assert f"Play: referee --config '{folder / 'referee.toml'}' watch" in said


def test_a_step_is_repeated_until_nothing_is_missing(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", camera, input="97\nlong\n100,2\nnowhere\nq\n").output
    assert "set the printer's scale to 103.1 % and print again" in said
    assert "'long' is not a length" in said
    assert "100.2 mm: the prints are true to scale" in said
    assert said.count("Step 3 of 10") == 1
    assert "nowhere" in said


def test_a_missing_camera_is_asked_for_again(run: Run, camera: str) -> None:
    said = run("setup", "deblockle", "--camera", "images:/not/here", input=f"{camera}\nq\n").output
    assert "missing" in said
    assert "Step 2 of 10" in said


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


def test_lights_are_mapped_by_answers_alone_without_a_calibrated_camera(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "a1"

    table = TableSetup(load("deblockle"), tmp_path, lambda *_: [], date(2026, 5, 1))
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
    said = run(
        "setup", "deblockle", "--camera", camera, input="s\ns\ns\nwled-network\nlamp\nterminal\nnone\nq\n"
    ).output
    assert "wled_host" in said
    assert "lights.drivers.0 is \"lamp\"; expected 'terminal', " in said
    assert "Step 6 of 10: Which light is where\n  There is no strip of lights. Skipped." in said
    assert "Step 8 of 10: Which switch is where\n  There are no switches. Skipped." in said
    assert "Step 9 of 10: The set-up" in said


def test_settings_of_lights_and_switches_can_be_answered_with_them(run: Run, tmp_path: Path, camera: str) -> None:
    places = "\n".join(f"{place} = [{number}]" for number, place in enumerate(load("deblockle").places))
    (tmp_path / "mine.toml").write_text(f"lights = 49\n[places]\n{places}\n")
    lights = "wled-network wled_host=wled.local strip_lights=49"
    said = run(
        "setup", "deblockle", "--camera", camera, input=f"s\ns\ns\n{lights}\nnot.toml\nmine.toml\nnone\nq\n"
    ).output
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
    Progress(tmp_path, "deblockle", steps).keep({"camera.source": "0", "camera.calibration": "lens.json"})
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

    def look(source: str, count: int, apart_s: float) -> list[Frame]:
        raise AssertionError

    table = TableSetup(load("deblockle"), tmp_path, look, date(2026, 5, 1))
    run = Checks([step], table, Progress(tmp_path, "deblockle"))
    outcomes = [hidden, seen]
    assert _repeat_until_passed(step, run, "", hidden) is seen
    outcomes = [gone, seen]
    assert _repeat_until_passed(step, run, "", hidden) is gone


def test_the_printed_board_and_ones_own_are_asked_for_one_thing_at_a_time(
    run: Run, tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Progress(tmp_path, "deblockle", ["camera", "print", "calibration"]).keep({"camera.source": camera})
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


def test_the_cameras_that_are_plugged_in_are_listed() -> None:
    (step, *_) = steps_of(load("deblockle"))
    table = TableSetup(load("deblockle"), Path(), lambda *_: [], date(2026, 5, 1))
    assert "No USB camera is plugged in. A camera on the Pi's ribbon cable is called pi." in step.prepare(table)
    table.cameras = (UsbCamera("/dev/video2", "HD Webcam", "046d:0825", "", "1-1"),)
    assert "These USB cameras are plugged in: 2 (HD Webcam)" in step.prepare(table)
