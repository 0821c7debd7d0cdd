"""The set-up on the page: answers, photos, questions and going back, with several phones."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path

import cv2
import numpy as np
import pytest

from common.findings import Severity
from engine.registry import games, load
from hardware.lights.light_map import LightMap, write_light_map
from referee.settings.settings import Settings
from referee.setup.page import PageDialogue, SetUpEnvironment, SetUpPage
from referee.setup.picture_checks import SharedCamera
from referee.setup.steps import Progress
from referee.setup.table_setup import PICTURES_FOLDER, MakeMap, StepState, StepView, TableSetup
from vision.frame import Frame, Image

WAIT_S = 20.0


def png(image: Image) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()


def grey(size: tuple[int, int] = (640, 360)) -> Image:
    return np.full((size[1], size[0], 3), 120, np.uint8)


@pytest.fixture
def camera(tmp_path: Path) -> str:
    folder = tmp_path / "seen"
    folder.mkdir()
    cv2.imwrite(str(folder / "1.png"), grey())
    return f"folder:{folder}"


def no_maps(_: PageDialogue) -> tuple[MakeMap, MakeMap]:
    raise AssertionError("nothing is mapped here")


def page_in(
    folder: Path, kept: Progress | None = None, camera: str | None = None, *, is_new: bool = False, **more: object
) -> SetUpPage:
    said: list[str] = []
    environment = SetUpEnvironment(folder, SharedCamera(patience_s=0.1), date(2026, 5, 1), "a4", no_maps, said.append)
    for name, value in more.items():
        setattr(environment, name, value)
    return SetUpPage(environment, kept, camera, is_new=is_new)


def done_until(step: str, folder: Path, camera: str, **values: object) -> Progress:
    """The progress after every step before this one."""
    names = ["camera", "print", "calibration", "table", "lights", "light-map", "switches", "switch-map", "pieces"]
    seen = {"camera.source": camera, "camera.width_px": 640, "camera.height_px": 360}
    return Progress(folder, "deblockle", names[: names.index(step)], {**seen, **values})


def test_a_game_can_be_chosen_changed_and_is_kept(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, camera=camera)
    view = page.view()
    assert (page.title, view.name) == ("", "game")
    assert [value for value, _ in view.forms[0].fields[0].choices] == list(games())
    page.answer("game", "chess")
    assert page.view().findings[0].severity is Severity.FAULT
    page.answer("game", "number-drop")
    assert (page.title, page.view().name) == ("Number Drop", "camera")
    assert page.view().forms[0].fields[0].value == camera
    page.back("camera")
    page.answer("game", "deblockle")
    page.answer("camera", camera)
    assert page.view().name == "print"
    again = page_in(tmp_path, Progress.load(tmp_path, None))
    assert (again.title, again.view().name) == ("Deblockle", "print")
    assert [state for _, state in again.view().steps][:3] == [StepState.DONE, StepState.NOW, StepState.AHEAD]
    assert (again.file("board.pdf") or b"").startswith(b"%PDF")
    assert again.file("referee.toml") is None
    assert again.file("../seen/1.png") is None


def test_a_step_done_on_another_phone_is_not_done_twice(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("print", tmp_path, camera))
    before = page.state()
    page.skip("print")
    assert page.state() != before
    for deed in (page.skip, page.back, page.start_over, lambda step: page.answer(step, "100")):
        deed("print")
    assert page.view().name == "calibration"
    page.back("calibration")
    assert page.view().name == "print"


def test_a_missing_camera_is_reported_in_place_of_its_picture(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, Progress(tmp_path, "deblockle"), "images:/not/here")
    inspection = page.inspect(again=True)
    assert inspection.picture is None
    assert (inspection.findings[0].subject, inspection.findings[0].severity) == ("The camera", Severity.FAULT)
    page.look_at("camera", camera)
    assert page.view().name == "camera"
    inspection = page.inspect(again=True)
    assert inspection.picture is not None
    assert {str(each.subject) for each in inspection.findings} == {"picture", "markers"}
    assert page.inspect(again=False).picture is inspection.picture


def test_uploaded_photos_calibrate_the_camera(tmp_path: Path, camera: str, board_views: tuple[Image, ...]) -> None:
    page = page_in(tmp_path, done_until("calibration", tmp_path, camera))
    page.take_photo("calibration", b"no photo")
    assert "expected JPEG or PNG" in page.inspect(again=False).findings[0].message
    page.take_photo("calibration", png(grey((320, 240))))
    assert "320 x 240 pixels, the camera gives 640 x 360" in page.inspect(again=True).findings[0].message
    for view in board_views:
        page.take_photo("calibration", png(view))
    assert len(list((tmp_path / PICTURES_FOLDER).iterdir())) >= 10
    page.answer("calibration", page.view().forms[0].answer)
    assert page.view().name == "table"
    assert (tmp_path / "camera.json").is_file()


def test_a_photo_of_the_set_up_must_come_from_the_camera(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("pieces", tmp_path, camera))
    page.take_photo("pieces", png(grey()))
    assert "cannot read the calibration" in page.view().findings[-1].message
    assert not (tmp_path / "photo.png").exists()


def test_lights_are_mapped_by_questions_on_the_phone(tmp_path: Path, camera: str) -> None:
    asked = threading.Event()

    def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def lights(settings: Settings, path: Path) -> bool:
            dialogue.console.print("Light 0: I am not sure.")
            asked.set()
            answer = dialogue.ask("Which square is light 0 under?")
            dialogue.console.print(f"a1 or {answer}")
            places = load("deblockle").places
            write_light_map(LightMap({place: (number,) for number, place in enumerate(places)}, lights=49), path)
            return answer == "a1"

        def switches(settings: Settings, path: Path) -> bool:
            raise AssertionError

        return lights, switches

    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    assert page.view().name == "light-map"
    before = page.state()
    page.answer("light-map", "")
    assert asked.wait(WAIT_S)
    wait_for(lambda: bool((shown := page.view().dialogue) and shown.question))
    dialogue = page.view().dialogue
    assert dialogue is not None
    assert dialogue.lines == ("Light 0: I am not sure.",)
    assert dialogue.question == "Which square is light 0 under?"
    assert page.state() != before
    page.skip("light-map")
    page.back("light-map")
    assert page.view().name == "light-map"
    page.say("light-map", "a2", "0")
    page.say("light-map", "a1", dialogue.number)
    wait_for(lambda: page.view().name != "light-map")
    assert (page.view().name, page.view().dialogue) == ("switches", None)
    assert (tmp_path / "lights.toml").is_file()


def test_an_unanswered_dialogue_ends_when_the_page_closes(tmp_path: Path, camera: str) -> None:
    ended: list[str] = []

    def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def maps(settings: Settings, path: Path) -> bool:
            try:
                dialogue.ask("Which?")
            except EOFError:
                ended.append("ended")
            return False

        return maps, maps

    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    page.answer("light-map", "")
    page.close()
    assert ended == ["ended"]
    assert page.view().findings[0].message == "nothing was found"


def test_the_end_is_shown_and_going_back_is_possible(tmp_path: Path, camera: str) -> None:
    kept = done_until("pieces", tmp_path, camera)
    kept.done += ["pieces", "turn"]
    page = page_in(tmp_path, kept)
    assert page.is_over
    view = page.view()
    assert (view.name, view.instructions[0]) == (
        "",
        "Deblockle is not ready: a table needs a calibrated camera. Go back.",
    )
    assert len(view.instructions) == 1
    page.back("")
    # Another phone still shows the end.
    page.back("")
    # A turn is tested only after a set-up that was seen in the same run.
    assert page.view().name == "pieces"
    assert page_in(tmp_path, Progress.load(tmp_path, None)).view().name == "pieces"


def test_the_end_gives_the_command_for_a_table_in_another_folder(tmp_path: Path, camera: str) -> None:
    folder = tmp_path / "our table"
    folder.mkdir()
    kept = done_until("pieces", folder, camera, **{"camera.calibration": "camera.json"})
    kept.done += ["pieces", "turn"]
    kept.keep(kept.values)
    view = page_in(folder, kept, working_folder=tmp_path, variables={"REFEREE_CAMERA_SOURCE": "1"}).view()
    assert view.instructions[0] == "Deblockle is ready."
    assert f"./run --config '{folder / 'referee.toml'}' watch --page" in view.instructions[2]
    assert "$REFEREE_CAMERA_SOURCE" in view.instructions[3]
    view = page_in(folder, kept, working_folder=folder).view()
    assert view.instructions[2:] == ("Begin a game at the terminal: ./run watch --page",)


def test_settings_of_another_game_are_replaced_only_if_confirmed(tmp_path: Path, camera: str) -> None:
    Progress(tmp_path, "deblockle", ["camera"]).keep({"game.name": "deblockle", "lights.brightness": 0.5})
    before = (tmp_path / "referee.toml").read_text()
    page = page_in(tmp_path)
    page.answer("game", "blockade")
    view = page.view()
    assert (page.title, view.name) == ("", "game")
    assert "referee.toml is there already" in view.findings[0].message
    page.answer("game", view.forms[0].answer)
    assert (page.title, page.view().name) == ("Blockade", "camera")
    assert (tmp_path / "referee.toml").read_text() == before
    page.back("camera")
    page.answer("game", "deblockle")
    assert (page.title, page.view().name) == ("Deblockle", "print")


def test_a_new_set_up_of_the_same_game_begins_with_the_first_step(tmp_path: Path, camera: str) -> None:
    Progress(tmp_path, "deblockle", ["camera"]).keep({"game.name": "deblockle", "camera.source": camera})
    page = page_in(tmp_path, is_new=True)
    page.answer("game", "deblockle")
    assert page.view().name == "game"
    page.answer("game", page.view().forms[0].answer)
    assert page.view().name == "camera"


def test_a_second_answer_to_a_question_does_not_answer_the_next_one(tmp_path: Path, camera: str) -> None:
    answers: list[str] = []

    def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def maps(settings: Settings, path: Path) -> bool:
            answers.extend(dialogue.ask(f"Light {number}?") for number in range(2))
            return False

        return maps, maps

    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    page.answer("light-map", "")
    first = number_of_question(page, "Light 0?")
    for _ in range(2):
        page.say("light-map", "c3", first)
    page.say("light-map", "d4", number_of_question(page, "Light 1?"))
    wait_for(lambda: page.view().dialogue is None)
    assert answers == ["c3", "d4"]


def number_of_question(page: SetUpPage, question: str) -> str:
    """Wait for a question, and return its number."""

    def shown(view: StepView) -> bool:
        return view.dialogue is not None and view.dialogue.question == question

    wait_for(lambda: shown(page.view()))
    dialogue = page.view().dialogue
    assert dialogue is not None
    return dialogue.number


def test_pictures_of_another_camera_can_be_taken_after_going_back(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("calibration", tmp_path, camera))
    page.inspect(again=True)
    larger = tmp_path / "larger"
    larger.mkdir()
    cv2.imwrite(str(larger / "1.png"), grey((800, 480)))
    page.back("calibration")
    page.back("print")
    page.answer("camera", f"folder:{larger}")
    page.skip("print")
    page.take("calibration", by_itself=False)
    assert "corners of the board are seen" in page.inspect(again=True).findings[0].message


def test_a_picture_is_not_taken_for_a_step_that_somebody_left_meanwhile(
    tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_in(tmp_path, done_until("calibration", tmp_path, camera))
    page.view()

    def picture(_: TableSetup) -> Frame:
        page.skip("calibration")
        return Frame(grey(), 0.0, 0)

    monkeypatch.setattr(TableSetup, "picture", picture)
    page.take("calibration", by_itself=True)
    view = page.view()
    assert (view.name, [each for each in view.findings if each.subject == "picture"]) == ("table", [])


def test_pictures_that_cannot_be_read_can_be_discarded(tmp_path: Path, camera: str) -> None:
    folder = tmp_path / PICTURES_FOLDER
    folder.mkdir()
    (folder / "1.png").write_bytes(png(grey())[:100])
    page = page_in(tmp_path, done_until("calibration", tmp_path, camera))
    assert "1.png" in page.view().findings[0].message
    page.start_over("calibration")
    assert (list(folder.iterdir()), page.view().findings) == ([], ())


def test_a_step_that_cannot_be_saved_is_not_done(tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_in(tmp_path, done_until("print", tmp_path, camera))
    page.view()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(Progress, "keep", fail)
    for deed in (lambda: page.answer("print", "100"), lambda: page.skip("print"), lambda: page.back("print")):
        page.start_over("print")
        deed()
        view = page.view()
        assert (view.name, view.findings[-1].subject, "no room" in view.findings[-1].message) == (
            "print",
            "Printing",
            True,
        )
    monkeypatch.undo()
    page.answer("print", "100")
    assert page.view().name == "calibration"


def test_a_step_that_is_not_needed_waits_until_it_can_be_left_out(
    tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera))

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(Progress, "keep", fail)
    assert (page.view().name, "no room" in page.view().findings[0].message) == ("light-map", True)
    monkeypatch.undo()
    assert page.view().name == "switches"


@pytest.mark.parametrize("is_in_saving", [True, False])
def test_a_dialogue_ends_whatever_goes_wrong(
    is_in_saving: bool, tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def makers(_: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def maps(settings: Settings, path: Path) -> bool:
            if not is_in_saving:
                raise RuntimeError("unexpected")
            lights = {place: (number,) for number, place in enumerate(load("deblockle").places)}
            write_light_map(LightMap(lights, lights=49), path)
            return True

        return maps, maps

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    unexpected: list[object] = []
    monkeypatch.setattr(threading, "excepthook", unexpected.append)
    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    page.view()
    monkeypatch.setattr(Progress, "keep", fail)
    page.answer("light-map", "")
    wait_for(lambda: page.view().dialogue is None)
    view = page.view()
    assert view.name == "light-map"
    assert ["no room" in each.message for each in view.findings] == ([True] if is_in_saving else [])
    page.close()
    assert len(unexpected) == (not is_in_saving)


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until a condition that another thread brings about holds."""
    paused = threading.Event()
    for _ in range(int(WAIT_S / 0.01)):
        if holds():
            return
        paused.wait(0.01)
    raise AssertionError("it did not happen")
