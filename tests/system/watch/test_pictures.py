"""Watching pictures of a table as a person would, with and without markers, from ``new`` to ``export``."""

import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import serial
from rich.console import Console

from app.runtime.watch import WatchOptions, watch
from app.settings.kept_cameras import cameras_file, kept_cameras
from app.settings.settings import Settings
from app.wiring.plan import WiringPlan
from engine.errors import OptionError
from engine.registry import load
from firmware_bridge.ports.selection import WantedBoard
from frontends.page.server import key_path
from frontends.page.settings import PageOptions
from hardware.lights.light_map import LightMap
from journal.journal import Journal
from journal.reader import read_journal
from referee.commands.values import Announce, Correct, EnterTurn, NewGame, TakeBack
from referee.errors import ConfigError, JournalError, PageError
from referee.record.events import Event, Evidence
from referee.session.loop import run
from simulator.enrolment import enrolment_images
from simulator.play.game import GameOptions, TruthLog
from simulator.play.players import Habits
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.commands import runner_in
from tests.referee.by_text import by_text
from tests.referee.virtual_board import Heard
from vision.calibration import save_calibration
from vision.cameras import ImageFiles
from vision.errors import CalibrationError, CameraError, EnrolmentError
from vision.images import load_image
from vision.readers.discs.lighting import DiscAppearance
from vision.readers.discs.lighting import save_appearance as save_discs

HONEST = Habits(violation_share=0, straighten_share=0, try_out_share=0, rest_share=0)


@pytest.fixture(scope="module")
def table_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of a game's set-up, a hand and the table after one turn; the camera's calibration."""
    folder = tmp_path_factory.mktemp("table")
    truth = TruthLog()
    table = VirtualTable(
        5, GameOptions(turns=1, habits=HONEST), setting=standard_setting(lens((960, 540))), fps=6.0, truth=truth
    )
    frames = list(table.frames())
    first_hand = next(seen.sequence for seen in truth.frames if len(seen.covered) > 3)
    for number, sequence in enumerate([0, first_hand, len(frames) - 1]):
        (folder / "pictures").mkdir(exist_ok=True)
        cv2.imwrite(str(folder / "pictures" / f"{number:03d}.png"), frames[sequence].image)
    camera = table.calibration()
    calibration = {
        "format": "tabletop-referee camera",
        "version": 1,
        "name": "virtual",
        "size": list(camera.size),
        "error_px": 0.1,
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
    }
    (folder / "camera.json").write_text(json.dumps(calibration))
    return folder


@pytest.fixture
def options(table_folder: Path, tmp_path: Path) -> WatchOptions:
    values = {
        "camera.calibration": table_folder / "camera.json",
        "journal.path": tmp_path / "game.sqlite",
        "lights.drivers": (),
    }
    return WatchOptions(
        Settings().changed(values),
        frames=table_folder / "pictures",
        stills=True,
        debug_images=tmp_path / "debug",
    )


def changed(options: WatchOptions, settings: Mapping[str, Any]) -> WatchOptions:
    return replace(options, settings=options.settings.changed(settings))


def watched(options: WatchOptions) -> tuple[int, str]:
    heard = Heard()
    code = watch(options, Console(file=heard, width=200, color_system=None))
    return code, heard.getvalue()


def watched_once(options: WatchOptions, sentence: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Start the pictures after a sentence: a port in use is retried before it is reported."""
    heard = Heard()

    def run_then(*given: Any) -> Any:
        heard.wait_for(sentence)
        return run(*given)

    with monkeypatch.context() as patch:
        patch.setattr("app.runtime.watch.run", run_then)
        code = watch(options, Console(file=heard, width=200, color_system=None))
    return code, heard.getvalue()


def test_without_a_calibration_the_camera_is_measured_and_kept_for_each_size_of_picture(
    options: WatchOptions, table_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "turned"
    folder.mkdir()
    set_up, hand, played = (load_image(path) for path in sorted((table_folder / "pictures").iterdir()))
    for number, image in enumerate((set_up, hand, np.rot90(played), cv2.resize(played, None, fx=0.8, fy=0.8))):
        cv2.imwrite(str(folder / f"{number}.png"), np.ascontiguousarray(image))
    free = changed(options, {"camera.calibration": None})
    code, output = watched(replace(free, frames=folder))
    assert code == 0
    assert "The board is set up" in output
    assert "1 turn accepted" in output
    known = kept_cameras(free.settings.journal.path, str(folder))
    assert sorted(one.camera.size for one in known) == [(540, 960), (768, 432), (960, 540)]
    assert len(list((tmp_path / "debug").iterdir())) == 4, "each is drawn by its own camera"
    cameras_file(free.settings.journal.path).write_text("{")
    code, output = watched(replace(free, frames=folder, resume=False))
    assert code == 0
    assert "the camera is measured anew" in output


def test_a_board_that_cannot_be_used_is_named_and_the_game_goes_on(
    options: WatchOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    lit = WiringPlan(
        drivers=("board",),
        wanted=WantedBoard(port="/dev/ttyNONE"),
        light_map=LightMap({"a1": (0,)}, lights=1),
    )
    missing = "There is no port /dev/ttyNONE"
    code, output = watched_once(
        replace(changed(options, {"lights.drivers": ("terminal",)}), debug_images=None, wiring=lit),
        missing,
        monkeypatch,
    )
    assert code == 0
    assert missing in output
    assert "1 turn accepted" in output
    assert "[] the accepted turn" in output
    spoken = [line.split(None, 2)[2] for line in output.splitlines() if " accepted     " in line]
    assert [output.count(sentence) for sentence in spoken] == [1]

    ours, theirs = os.openpty()
    try:
        with serial.Serial(os.ttyname(theirs), exclusive=True):
            taken = replace(lit, wanted=WantedBoard(port=os.ttyname(theirs)))
            code, output = watched_once(
                replace(options, debug_images=None, resume=False, wiring=taken), "is in use", monkeypatch
            )
    finally:
        os.close(ours)
        os.close(theirs)
    assert code == 0
    assert "is in use" in output
    assert "1 turn accepted" in output


def test_stills_are_refereed_one_by_one_and_a_later_start_goes_on(
    options: WatchOptions, table_folder: Path, tmp_path: Path
) -> None:
    code, output = watched(options)
    lines = [line for line in output.splitlines() if not line.startswith(" ")]
    assert code == 0, output
    assert [line.split()[0] for line in lines[:3]] == ["000.png", "001.png", "002.png"]
    assert "set up" in lines[0]
    assert "cannot see" in lines[1]
    assert "accepted" in lines[2]
    assert "1 turn accepted" in lines[-1]
    assert len(list((tmp_path / "debug").iterdir())) == 3
    assert (tmp_path / "game.sqlite.deblockle.looks.json").is_file()
    kinds = read_kinds(tmp_path / "game.sqlite")
    assert kinds == ["new game", "set up", "turn"]

    last = tmp_path / "later"
    last.mkdir()
    (last / "000.png").write_bytes((table_folder / "pictures" / "002.png").read_bytes())
    (last / "001.png").write_bytes((table_folder / "pictures" / "002.png").read_bytes()[:5000])
    cv2.imwrite(str(last / "002.png"), np.zeros((720, 1280, 3), np.uint8))
    cv2.imwrite(str(last / "003.png"), np.full((480, 640, 3), 90, np.uint8))
    code, output = watched(replace(options, frames=last, debug_images=None))
    lines = output.splitlines()
    assert code == 0
    assert "Game 1 of Deblockle goes on after 1 turn. Teal to play. `./run watch --new` begins another." in lines[0]
    assert any("unchanged" in line for line in lines)
    assert sum("cannot see" in line for line in lines) == 3
    assert read_kinds(tmp_path / "game.sqlite") == kinds

    (tmp_path / "game.sqlite.deblockle.looks.json").unlink()
    with pytest.raises(ConfigError, match="set-up"):
        watched(replace(options, frames=last))


def test_a_game_goes_on_after_the_colours_of_another_were_learned(
    options: WatchOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(options, debug_images=None)
    assert watched(options)[0] == 0
    other = VirtualTable(
        5,
        GameOptions(game="diaballik", turns=1, habits=HONEST),
        setting=standard_setting(lens((960, 540)), "diaballik"),
    )
    (tmp_path / "discs").mkdir()
    cv2.imwrite(str(tmp_path / "discs/0.png"), other.read().image)
    discs = replace(options, frames=tmp_path / "discs", resume=False)
    code, output = watched(changed(discs, {"game.name": "diaballik"}))
    assert code == 0, output
    resumed = runner_in(tmp_path, monkeypatch)("games", "resume", "1", "--journal", "game.sqlite")
    assert resumed.exit_code == 0, resumed.output
    code, output = watched(options)
    assert code == 0, output
    assert "Game 3 of Deblockle goes on after 1 turn." in output


@pytest.mark.parametrize("markers", ["layout", "none"])
def test_looks_of_another_kind_of_pieces_are_named(options: WatchOptions, tmp_path: Path, markers: str) -> None:
    looks = tmp_path / "discs.json"
    save_discs(DiscAppearance({}), looks)
    with pytest.raises(EnrolmentError, match=f"the looks {looks} have format 'tabletop-referee discs 1'; expected"):
        watched(changed(options, {"table.looks": looks, "table.markers": markers}))


def test_a_table_nudged_between_two_stills_is_read(options: WatchOptions, table_folder: Path, tmp_path: Path) -> None:
    nudged = tmp_path / "nudged"
    nudged.mkdir()
    for name in ("000.png", "002.png"):
        picture = load_image(table_folder / "pictures" / name)
        cv2.imwrite(str(nudged / name), np.roll(picture, 14, axis=1) if name == "002.png" else picture)
    code, output = watched(replace(options, frames=nudged, debug_images=None))
    assert code == 0
    assert "1 turn accepted" in output
    assert "is moving" not in output


def by_correction(journal: Journal) -> None:
    session = by_text(journal, "deblockle")
    session.begin(NewGame("deblockle"))
    game = load("deblockle")
    session.carry_out_or_raise(Correct("Ann", position=game.notation.format_state(game.rules.new())))


def by_take_back(journal: Journal) -> None:
    session = by_text(journal, "deblockle")
    session.begin(NewGame("deblockle"))
    session.carry_out_or_raise(Announce("resign", "Ann"))
    session.carry_out_or_raise(TakeBack("Ann"))


@pytest.mark.parametrize("play", [by_correction, by_take_back])
def test_colours_are_not_learned_from_a_game_under_way(options: WatchOptions, play: Callable[[Journal], None]) -> None:
    with Journal.open(options.settings.journal.path, wall_clock=lambda: datetime.now(UTC)) as journal:
        play(journal)
    with pytest.raises(ConfigError, match="the game is under way"):
        watched(options)


def test_colours_are_learned_after_a_game_of_another_kind(options: WatchOptions) -> None:
    with Journal.open(options.settings.journal.path, wall_clock=lambda: datetime.now(UTC)) as journal:
        session = by_text(journal, "diaballik")
        session.begin(NewGame("diaballik"))
        session.carry_out_or_raise(EnterTurn("b1-b2", "Ann"))
        session.carry_out_or_raise(TakeBack("Ann"))
    code, output = watched(options)
    assert code == 0
    assert "1 turn accepted" in output


def read_kinds(path: Path) -> list[str]:
    from datetime import UTC, datetime

    with Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal:
        return [event.kind for _, event in journal.events() if event.kind != "note"]


def test_learned_colours_are_saved_before_the_set_up(options: WatchOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, bool] = {}
    plain = Journal.append

    def append(self: Journal, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        kept[event.kind] = Path(f"{self.path}.deblockle.looks.json").is_file()
        return plain(self, event, evidence)

    monkeypatch.setattr(Journal, "append", append)
    watched(options)
    assert kept["set up"] is True


def test_events_that_could_not_be_written_make_it_fail(
    options: WatchOptions, table_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up = tmp_path / "set-up"
    set_up.mkdir()
    (set_up / "000.png").write_bytes((table_folder / "pictures" / "000.png").read_bytes())
    plain = Journal.append

    def append(self: Journal, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        if event.kind == "set up":
            raise JournalError("the disk is full")
        return plain(self, event, evidence)

    monkeypatch.setattr(Journal, "append", append)
    code, text = watched(replace(options, frames=set_up, debug_images=None))
    assert code == 1
    assert "1 event could not be saved, since the journal can't be written: the disk is full" in text


def test_the_game_goes_on_if_colours_cannot_be_saved(options: WatchOptions, tmp_path: Path) -> None:
    (tmp_path / "game.sqlite.deblockle.looks.json").mkdir()
    code, text = watched(options)
    assert code == 0
    assert "The pieces' colours could not be kept in" in text
    with read_journal(options.settings.journal.path) as journal:
        assert [event.kind for _, event in journal.events()][:3] == ["new game", "set up", "turn"]


def test_no_game_is_recorded_without_a_set_up(options: WatchOptions, table_folder: Path, tmp_path: Path) -> None:
    only_hand = tmp_path / "hand"
    only_hand.mkdir()
    (only_hand / "000.png").write_bytes((table_folder / "pictures" / "001.png").read_bytes())
    code, output = watched(replace(options, frames=only_hand, debug_images=None))
    assert code == 1
    assert "No game was set up" in output


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"camera.calibration": Path("/nowhere.json")}, CalibrationError, "/nowhere.json"),
        ({"game.options": {"side_by_sid": "true"}}, OptionError, "did you mean"),
        ({"game.options": {"starts": "nobody"}}, OptionError, "nobody"),
    ],
)
def test_bad_input_is_named(options: WatchOptions, changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        watched(changed(options, changes))


def test_a_missing_folder_is_named(options: WatchOptions) -> None:
    with pytest.raises(CameraError, match="nowhere"):
        watched(replace(options, frames=Path("/nowhere")))


def test_a_stopped_game_can_be_continued(options: WatchOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: ImageFiles, timeout_s: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ImageFiles, "read", stopped)
    code, output = watched(changed(options, {"game.options": {"starts": "either"}, "lights.drivers": ("terminal",)}))
    assert code == 1
    assert "Stopped" in output


def test_the_page_is_served_while_pictures_are_watched(options: WatchOptions) -> None:
    code, said = watched(replace(options, page=PageOptions()))
    assert code == 0
    assert "The page: http://127.0.0.1:" in said
    assert "The board is set up." in said
    assert key_path(options.settings.journal.path).is_file()


def test_a_port_in_use_is_reported_before_watching(options: WatchOptions) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PageError, match="--page-port"):
        watched(replace(options, page=PageOptions(port=taken.getsockname()[1])))


SETTINGS = """
[camera]
calibration = "camera.json"
[table]
looks = "looks.json"
[journal]
path = "game.sqlite"
"""


def test_watch_keeps_a_game_that_new_began_and_export_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner_in(tmp_path, monkeypatch)
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((960, 540))))
    frame = next(iter(table.frames()))
    (tmp_path / "pictures").mkdir()
    cv2.imwrite(str(tmp_path / "pictures/0.png"), frame.image)
    save_calibration(tmp_path / "camera.json", table.calibration())
    (tmp_path / "referee.toml").write_text(SETTINGS)
    enrol = ["enrol"]
    for picture in enrolment_images(table.setting, table.seed):
        cv2.imwrite(f"{picture.colour}.png", picture.image)
        Path(f"{picture.colour}.json").write_text(json.dumps(picture.as_json()))
        enrol += [f"{picture.colour}.png", "--positions", f"{picture.colour}.json"]
    assert run(*enrol, "--out", "looks.json").exit_code == 0
    assert run("new", "--player", "gold=Ann").exit_code == 0
    watched = run("watch", "--frames", "pictures", "--stills")
    assert watched.exit_code == 0, watched.output
    # A map of lights that is not there costs the lights, and nothing else.
    (tmp_path / "referee.toml").write_text(SETTINGS + '[lights]\ndrivers = ["board"]\nlight_map = "lights.toml"\n')
    unlit = run("watch", "--frames", "pictures", "--stills", "--journal", "other.sqlite")
    assert unlit.exit_code == 0, unlit.output
    assert "lights.light_map: the light map" in unlit.output
    assert "Until this is fixed, the game goes on with the camera and the terminal." in unlit.output
    assert "set up" in unlit.output
    (tmp_path / "referee.toml").write_text(SETTINGS)
    record = run("export")
    assert record.exit_code == 0, record.output
    assert '[Start "gold c1:G.' in record.output
    told = run("replay").output
    assert "set up" in told
    assert told.count("new game") == 1, "the game that `new` began is the one that was set up"
    assert '[Gold "Ann"]' in record.output
