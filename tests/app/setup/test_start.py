"""``start``: what it goes on with, and the few steps that it asks for."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path

import cv2
import numpy as np
import pytest

from app.settings.kept_cameras import keep_camera
from app.setup.page import SetUpEnvironment, SetUpPage
from app.setup.picture_checks import SharedCamera
from app.setup.steps import Progress, steps_of
from app.setup.table_setup import FoundCamera, StepState, TableSetup
from engine.registry import games, load
from frontends.table_port import PhonePort
from tests.commands import Run
from vision.cameras.live import PlainWaiting
from vision.cameras.phone import SPEC, PhoneCamera
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.self_calibration import SelfCalibration, Sighting

TABLES = ".local/share/tabletop-referee/tables"
ALL = [step.name for step in steps_of(load("diaballik"), tonight=True)]
NOW_S = 1_790_000_000
CAMERA = {"camera.source": "0"}
WAIT_S = 60.0
"""Longer than anything takes, so that a test ends which fails."""


class Begun:
    """What ``start`` began: the referee with a file of settings, or the steps for a game."""

    def __init__(self) -> None:
        self.watched: list[str] = []
        self.shown: list[tuple[str, str]] = []
        self.all_steps: list[bool] = []


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Begun:
    recorded = Begun()

    def watch(settings: Path, options: object, *more: str) -> int:
        recorded.watched.append(" ".join((str((tmp_path / settings).relative_to(tmp_path)), *more)))
        return 0

    def on_page(kept: Progress | None, folder: Path, *, tonight: bool, **_: object) -> int:
        recorded.all_steps.append(not tonight)
        recorded.shown.append(("" if kept is None else kept.game, str(folder.relative_to(tmp_path))))
        return 0

    monkeypatch.setattr("app.cli.start._watch", watch)
    monkeypatch.setattr("app.cli.start._on_page", on_page)
    return recorded


def test_settings_that_a_person_wrote_are_used_as_they_are(run: Run, tmp_path: Path, begun: Begun) -> None:
    own = tmp_path / "referee.toml"
    own.write_text('[game]\nname = "blockade"\n')
    for arguments in (("start",), ("start", "blockade")):
        assert run(*arguments).exit_code == 0
    assert begun.watched == ["referee.toml"] * 2
    run("start", "diaballik")
    run("start", "--new")
    assert begun.shown == [("diaballik", TABLES), ("", TABLES)]
    assert own.read_text() == '[game]\nname = "blockade"\n'


def test_a_set_up_that_was_begun_in_this_folder_goes_on_here(run: Run, tmp_path: Path, begun: Begun) -> None:
    Progress(tmp_path, "diaballik", ["camera"]).keep({"game.name": "diaballik", **CAMERA})
    run("start")
    assert begun.shown == [("diaballik", ".")]
    whole = [step.name for step in steps_of(load("diaballik"))]
    Progress(tmp_path, "diaballik", whole).keep({"game.name": "diaballik", **CAMERA})
    run("start")
    assert begun.watched == ["referee.toml"]


def test_a_table_that_is_set_up_shows_its_steps_if_they_are_asked_for(run: Run, tmp_path: Path, begun: Begun) -> None:
    table = tmp_path / TABLES / "diaballik"
    for folder in (tmp_path, table):
        folder.mkdir(parents=True, exist_ok=True)
        Progress(folder, "diaballik", ALL).keep({"game.name": "diaballik", **CAMERA})
    run("start")
    run("start", "--steps")
    assert (begun.watched, begun.shown, begun.all_steps) == (["referee.toml"], [("diaballik", ".")], [True])
    (tmp_path / "referee.toml").unlink()
    assert run("new", "diaballik").exit_code == run("turn", "a1-a2").exit_code == 0
    run("start", "--steps")
    run("start")
    assert (begun.watched[1:], begun.shown[1:]) == ([f"{TABLES}/diaballik/referee.toml"], [("diaballik", TABLES)])
    assert begun.all_steps == [True, True]


def test_a_folder_that_is_named_has_the_tables_files(run: Run, tmp_path: Path, begun: Begun) -> None:
    (tmp_path / "referee.toml").write_text('[game]\nname = "blockade"\n')
    folder = tmp_path / "our table"
    run("start", "--folder", folder)
    run("start", "diaballik", "--folder", folder)
    assert begun.shown == [("", "our table"), ("diaballik", "our table")]
    Progress(folder, "diaballik", ALL[:1]).keep({"game.name": "diaballik"})
    run("start", "--folder", folder)
    Progress(folder, "diaballik", ALL).keep({"game.name": "diaballik", **CAMERA})
    run("start", "--folder", folder)
    assert (begun.shown[2:], begun.watched) == ([("diaballik", "our table")], ["our table/referee.toml"])
    refused = run("start", "blockade", "--folder", folder, input="n\n")
    assert "is there already. Replace it?" in refused.output
    (folder / "referee.toml").write_text("[game\n")
    assert "referee.toml" in run("start", "--folder", folder).stderr
    assert run("start", "--folder", folder, "--new").exit_code == 0
    assert (begun.shown[3:], len(begun.watched)) == ([("", "our table")], 1)


def test_settings_of_another_name_are_refereed_whatever_was_set_up_beside_them(
    run: Run, tmp_path: Path, begun: Begun
) -> None:
    Progress(tmp_path, "diaballik", ["kit"]).keep({"game.name": "diaballik"})
    (tmp_path / "mine.toml").write_text('[game]\nname = "diaballik"\n')
    run("--config", "mine.toml", "start")
    assert (begun.watched, begun.shown) == (["mine.toml"], [])


def test_the_game_that_was_chosen_last_goes_on(run: Run, tmp_path: Path, begun: Begun) -> None:
    run("start")
    for age_s, game in ((60, "diaballik"), (30, "blockade")):
        folder = tmp_path / TABLES / game
        folder.mkdir(parents=True)
        Progress(folder, game, ["kit"]).keep({"game.name": game})
        os.utime(folder / "setup.json", (NOW_S - age_s,) * 2)
    run("start")
    run("start", "diaballik")
    run("start", "deblockle")
    assert [game for game, _ in begun.shown] == ["", "blockade", "diaballik", "deblockle"]


def test_an_open_game_is_refereed_at_once(run: Run, tmp_path: Path, begun: Begun) -> None:
    folder = tmp_path / TABLES / "diaballik"
    folder.mkdir(parents=True)
    Progress(folder, "diaballik", ALL).keep({"game.name": "diaballik", **CAMERA})
    run("start")
    assert begun.shown == [("diaballik", TABLES)]
    assert run("new", "diaballik").exit_code == run("turn", "a1-a2").exit_code == 0
    run("start")
    run("start", "diaballik")
    assert begun.watched == [f"{TABLES}/diaballik/referee.toml"] * 2
    run("start", "blockade")
    run("start", "--new")
    assert begun.shown[1:] == [("blockade", TABLES), ("", TABLES)]


def test_the_open_game_goes_on_at_its_own_table_not_at_the_newest(run: Run, tmp_path: Path, begun: Begun) -> None:
    for age_s, game in ((60, "diaballik"), (30, "blockade")):
        folder = tmp_path / TABLES / game
        folder.mkdir(parents=True)
        Progress(folder, game, ALL).keep({"game.name": game, **CAMERA})
        os.utime(folder / "setup.json", (NOW_S - age_s,) * 2)
    assert run("new", "diaballik").exit_code == run("turn", "a1-a2").exit_code == 0
    run("start")
    assert begun.watched == [f"{TABLES}/diaballik/referee.toml"]


@pytest.mark.usefixtures("begun")
def test_who_is_asked_what_is_wrong_examines_the_table_that_start_made(run: Run, tmp_path: Path) -> None:
    for age_s, game in ((60, "diaballik"), (30, "blockade")):
        folder = tmp_path / TABLES / game
        folder.mkdir(parents=True)
        Progress(folder, game, ALL).keep({"game.name": game, "camera.source": SPEC, "table.layout": "kit"})
        os.utime(folder / "setup.json", (NOW_S - age_s,) * 2)
    assert f"{TABLES}/blockade/referee.toml" in run("doctor").output
    assert run("new", "diaballik").exit_code == run("turn", "a1-a2").exit_code == 0
    journal = tmp_path / ".local/share/tabletop-referee/journal.sqlite"
    sighting = Sighting(np.zeros((1, 3)), np.zeros((1, 2)), Pose(np.eye(3), np.array([0.0, 0.0, 500.0])))
    camera = CameraModel(np.diag([900.0, 900.0, 1.0]), np.zeros(5), (1280, 720), 0.2, SPEC)
    keep_camera(journal, SPEC, SelfCalibration(camera, 0.08, 0.01, (sighting,)))
    told = " ".join(run("doctor").output.split())
    assert f"{TABLES}/diaballik/referee.toml" in told
    assert "the paper kit of diaballik" in told
    assert "a phone that opens the page" in told
    assert "known to 8.0 % from 1 view of the table, 1280 x 720 pixels" in told
    assert "A real table still needs a camera" not in told
    reported = run("tools", "bug-report", "--show", "doctor.txt").output
    assert "the paper kit of diaballik" in reported
    assert "a phone that opens the page" in reported
    settings = run("tools", "bug-report", "--show", "settings.txt").output
    assert 'name = "diaballik"' in settings
    assert 'source = "phone"' in settings
    # It still is examined if the journal can't be read.
    journal.write_bytes(b"?" * 5000)
    assert f"{TABLES}/blockade/referee.toml" in run("doctor").output
    # Who wrote settings plays by them.
    (tmp_path / "referee.toml").write_text('[game]\nname = "blokus"\n')
    assert "blockade" not in run("doctor").output


def test_damaged_settings_of_a_begun_table_can_be_begun_again(run: Run, tmp_path: Path, begun: Begun) -> None:
    folder = tmp_path / TABLES / "diaballik"
    folder.mkdir(parents=True)
    Progress(folder, "diaballik", ["kit"]).keep({"game.name": "diaballik"})
    (folder / "referee.toml").write_text("[game\n")
    said = run("start")
    assert "referee.toml is not valid TOML" in said.stderr
    assert said.stderr.endswith("; correct it, or begin the steps again by --new\n")
    assert run("start", "--new").exit_code == 0
    assert begun.shown == [("", TABLES)]


def test_settings_that_a_person_wrote_for_a_game_are_replaced_only_if_confirmed(
    run: Run, tmp_path: Path, begun: Begun
) -> None:
    own = tmp_path / TABLES / "diaballik" / "referee.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[game]\nname = "diaballik"\n')
    asked = run("start", "diaballik", input="n\n")
    assert "is there already. Replace it?" in asked.output
    assert begun.shown == []
    assert run("start", "diaballik", input="y\n").exit_code == 0
    assert begun.shown == [("diaballik", TABLES)]


@pytest.mark.parametrize(
    "damage", ['{"ga', "[]", "", *(f'{{"game":"diaballik",{lists}}}' for lists in ('"done":5', '"skipped":[7]'))]
)
def test_kept_steps_that_are_damaged_can_be_deleted(run: Run, tmp_path: Path, begun: Begun, damage: str) -> None:
    kept = tmp_path / TABLES / "diaballik" / "setup.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(damage)
    said = run("start")
    assert str(kept) in said.stderr
    assert said.stderr.endswith("; delete it, and the steps start again\n")
    kept.unlink()
    run("start")
    assert begun.shown == [("", TABLES)]


def test_a_journal_that_is_damaged_can_be_moved(run: Run, tmp_path: Path, begun: Begun) -> None:
    assert run("new", "diaballik").exit_code == 0
    journal = tmp_path / ".local/share/tabletop-referee/journal.sqlite"
    journal.write_bytes(b"?" * 5000)
    assert "move it elsewhere" in run("start").stderr
    journal.rename(tmp_path / "elsewhere")
    run("start")
    assert begun.shown == [("", TABLES)]


def test_broken_settings_and_unknown_games_are_named(run: Run, tmp_path: Path) -> None:
    assert "chess" in run("start", "chess").output
    (tmp_path / "referee.toml").write_text("[game\n")
    assert "referee.toml" in run("start").output


@pytest.fixture
def phone() -> PhonePort:
    return PhonePort(PhoneCamera(time.monotonic))


@pytest.fixture
def page(tmp_path: Path, phone: PhonePort) -> Iterator[SetUpPage]:
    with closing(SharedCamera(patience_s=0.05, phone=phone.camera)) as camera:
        environment = SetUpEnvironment(
            tmp_path / "tables",
            camera,
            date(2026, 5, 1),
            "a4",
            lambda _: pytest.fail("nothing is mapped"),
            lambda _: None,
            cameras=lambda: (FoundCamera(SPEC, "A phone"),),
            patience_s=60.0,
            phone=phone,
            tonight=True,
            by_game=True,
        )
        yield SetUpPage(environment, None)


def choose(page: SetUpPage, game: str) -> None:
    page.answer("game", [str(list(games()).index(game))])


def picture(grey: int) -> bytes:
    image: Image = np.full((360, 640, 3), grey, np.uint8)
    return cv2.imencode(".jpg", image)[1].tobytes()


def test_each_game_has_a_folder_and_another_one_replaces_nothing(page: SetUpPage, tmp_path: Path) -> None:
    choose(page, "diaballik")
    page.answer("kit", ["0"])
    assert (page.view().name, page.folder) == ("print", tmp_path / "tables" / "diaballik")
    page.back("print")
    page.back("kit")
    assert page.view().name == "game"
    choose(page, "number-drop")
    assert [name for name, *_ in page.view().steps] == ["kit", "players", "print", "camera", "table", "grid"]
    page.back("kit")
    choose(page, "diaballik")
    assert [state for *_, state in page.view().steps][:2] == [StepState.NOW, StepState.AHEAD]


def test_the_page_asks_before_it_replaces_settings_that_a_person_wrote(page: SetUpPage, tmp_path: Path) -> None:
    own = tmp_path / "tables" / "diaballik" / "referee.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[game]\nname = "diaballik"\n')
    choose(page, "diaballik")
    assert page.view().screen.asks == "Replace what is set up here?"
    page.answer("game", ["1"])
    assert page.view().screen.asks == "Which game do you want to play?"
    choose(page, "diaballik")
    page.answer("game", ["0"])
    assert page.view().name == "kit"


def test_each_game_says_how_many_play_and_takes_no_more(page: SetUpPage) -> None:
    said = {form.button: form.words for _, form in page.view().screen.options}
    assert (said["Diaballik"], said["Number Drop"]) == ("2 players", "1 to 6 players")
    choose(page, "number-drop")
    page.answer("kit", ["0"])
    page.answer("players", ["0", "99"])
    assert [found.message for found in page.view().findings] == ["Number Drop is for 1 to 6 players"]


def test_a_kit_is_printed_or_an_own_board_measured(page: SetUpPage) -> None:
    choose(page, "deblockle")
    page.answer("kit", ["0"])
    view = page.view()
    assert [name for name, _ in view.files] == ["kit-a4.pdf", "kit-letter.pdf"]
    assert all((page.file(name) or b"").startswith(b"%PDF") for name, _ in view.files)
    assert "grid" not in [name for name, *_ in view.steps]
    page.go("print", "kit")
    page.answer("kit", ["1"])
    view = page.view()
    assert [name for name, _ in view.files] == ["board.pdf", "markers.pdf"]
    assert "grid" in [name for name, *_ in view.steps]


def test_what_a_phone_films_or_takes_is_the_cameras_picture(page: SetUpPage, phone: PhonePort) -> None:
    choose(page, "diaballik")
    page.answer("kit", ["0"])
    page.answer("print", ["0", "0"])
    assert not page.view("camera", []).is_phones
    assert page.answer("camera", [SPEC]) == [SPEC]
    view = page.view("camera", [SPEC])
    assert view.is_phones
    assert "no picture comes from a phone" in str(page.inspect(again=False).findings[0].message)
    page.answer("camera", [SPEC, "0"])
    assert "no picture comes from a phone" in page.view("camera", [SPEC]).findings[0].message
    phone.camera.put(picture(90))
    seen = page.inspect(again=True)
    assert seen.picture is not None
    assert seen.picture.mean() < 100
    assert page.view("camera", [SPEC]).findings == (), "there is a picture now"
    assert phone.sight is not None
    assert "not located" in phone.hindered
    page.take_photo("camera", picture(150))
    seen = page.inspect(again=False)
    assert seen.picture is not None
    assert seen.picture.mean() > 140
    page.take_photo("camera", b"no picture")
    assert "photo" in str(page.view("camera", [SPEC]).findings[0].message)
    page.take_photo("camera", picture(30))
    assert page.view("camera", [SPEC]).findings == ()
    page.answer("camera", [SPEC, "0"])
    assert page.view().name == "camera", "it is too dark"


def test_the_page_is_shown_while_a_picture_is_waited_for_or_read(
    page: SetUpPage, phone: PhonePort, monkeypatch: pytest.MonkeyPatch
) -> None:
    others, shown = ThreadPoolExecutor(4), list[str]()

    def other_device() -> None:
        shown.append(others.submit(page.view).result(WAIT_S).name)

    def wait_for_picture(_: TableSetup) -> Frame:
        other_device()
        return Frame(np.full((360, 640, 3), 90, np.uint8), 0.0, 1, SPEC)

    choose(page, "diaballik")
    page.answer("kit", ["1"])
    for step in ("print", "camera"):
        page.skip(step)
    page.view()
    with monkeypatch.context() as patched:
        patched.setattr(TableSetup, "picture", lambda _: pytest.fail("this screen shows no corners"))
        assert page.view("table", ["0"]).screen.asks == "Which board is it?"
    monkeypatch.setattr(TableSetup, "picture", wait_for_picture)
    assert len(page.view("table", ["0", "1", "40", "10", "0"]).screen.corners) == 4
    monkeypatch.setattr(TableSetup, "source", SPEC)
    monkeypatch.setattr(phone, "look", lambda *_: other_device())
    assert page.inspect(again=True).picture is not None
    others.shutdown()
    assert shown == ["table"] * 3


def test_after_a_photo_no_other_picture_is_waited_for() -> None:
    waited_s: list[float] = []

    class Waits(PlainWaiting):
        def until(self, ready: Callable[[], bool], timeout_s: float) -> object:
            waited_s.append(timeout_s)
            return ready()

    phone = PhoneCamera(time.monotonic, Waits())
    with closing(SharedCamera(patience_s=60.0, phone=phone)) as camera:
        phone.put(picture(60))
        camera.look(SPEC)
        camera.look(SPEC)
        phone.photograph(picture(90))
        photo = camera.look(SPEC)
        assert camera.look(SPEC) is photo
        assert waited_s == [60.0, 60.0, 60.0, 0.0]
        phone.put(picture(30))
        assert not camera.look(SPEC).is_still


def test_after_a_restart_the_phones_page_still_is_the_camera(page: SetUpPage, phone: PhonePort) -> None:
    choose(page, "diaballik")
    page.answer("kit", ["0"])
    page.skip("print")
    phone.camera.put(picture(90))
    assert page.view("camera", [SPEC]).is_phones
    assert page.inspect(again=True).picture is not None


def test_a_game_that_cannot_be_kept_is_not_chosen(page: SetUpPage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(Progress, "keep", fail)
    choose(page, "diaballik")
    view = page.view()
    assert (view.name, "no room" in view.findings[0].message) == ("game", True)
    monkeypatch.undo()
    choose(page, "diaballik")
    assert page.view().name == "kit"


def test_kept_steps_of_another_game_that_are_damaged_are_named_on_the_page(page: SetUpPage, tmp_path: Path) -> None:
    kept = tmp_path / "tables" / "diaballik" / "setup.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{")
    choose(page, "diaballik")
    view = page.view()
    assert (view.name, "delete it" in view.findings[0].message) == ("game", True)


@pytest.mark.parametrize("name", ["~nosuchuser/x", "a\0b"])
def test_a_camera_that_cannot_be_is_not_kept(page: SetUpPage, name: str) -> None:
    choose(page, "diaballik")
    page.answer("kit", ["0"])
    page.skip("print")
    assert page.answer("camera", ["0", name]) == ()
    view = page.view()
    assert "can't be the name of a file" in view.findings[0].message
    assert len(view.screen.options) == 3
    assert page.snapshot(SPEC) is None
    assert page.answer("camera", [SPEC]) == [SPEC]


def test_the_end_names_the_open_game_that_starting_ends(page: SetUpPage, tmp_path: Path) -> None:
    played = ["diaballik"]
    page._environment.open_game = lambda _: played[0]
    for game in ("diaballik", "blockade"):
        folder = tmp_path / "tables" / game
        folder.mkdir(parents=True)
        Progress(folder, game, ALL).keep({"game.name": game, **CAMERA})
    ends = "This ends the game of Diaballik that goes on; `./run games resume` brings it back."
    choose(page, "diaballik")
    assert ends not in page.view().instructions
    page.go("", "game")
    choose(page, "blockade")
    assert page.view().may_start
    assert ends in page.view().instructions


def test_when_all_is_done_another_game_can_be_chosen(page: SetUpPage) -> None:
    choose(page, "diaballik")
    for step in ("kit", "print", "camera", "table"):
        page.skip(step)
    view = page.view()
    assert (view.name, view.other_games, view.may_start) == ("", True, False)
    page.go("", "game")
    assert page.view().name == "game"
