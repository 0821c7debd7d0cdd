"""``referee watch`` and what follows it, on pictures of the virtual table."""

import json
from datetime import date
from pathlib import Path

import cv2

from simulator.play.game import GameOptions
from simulator.scene.viewpoint import lens
from simulator.table import VirtualTable, standard_setting
from tests.commands import Run
from vision.calibration import Calibration, save_calibration

SETTINGS = """
[camera]
calibration = "camera.json"
[table]
looks = "looks.json"
[journal]
path = "game.sqlite"
"""


def test_watch_keeps_a_game_that_new_began_and_export_can_write(run: Run, tmp_path: Path) -> None:
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((960, 540))))
    frame = next(iter(table.frames()))
    (tmp_path / "pictures").mkdir()
    cv2.imwrite(str(tmp_path / "pictures/0.png"), frame.image)
    save_calibration(tmp_path / "camera.json", Calibration(table.calibration(), (), 1.0, ()), made_on=date(2026, 5, 1))
    (tmp_path / "referee.toml").write_text(SETTINGS)
    enrol = ["enrol"]
    for picture in table.enrolment_images():
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
    assert "Until that is mended the game goes on with the camera and the terminal." in unlit.output
    assert "set up" in unlit.output
    (tmp_path / "referee.toml").write_text(SETTINGS)
    record = run("export")
    assert record.exit_code == 0, record.output
    assert '[Start "gold c1:G.' in record.output
    told = run("replay").output
    assert "set up" in told
    assert told.count("new game") == 1, "the game that `new` began is the one that was set up"
    assert '[Gold "Ann"]' in record.output


def test_watch_without_a_calibration_says_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    cv2.imwrite(str(tmp_path / "pictures/0.png"), cv2.UMat(72, 128, cv2.CV_8UC3).get())
    result = run("watch", "--frames", "pictures")
    assert result.exit_code == 5
    assert "referee hardware calibrate" in result.output


def test_watch_takes_one_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    result = run("watch", "--frames", "pictures", "--camera", "0")
    assert result.exit_code == 2
    assert "give one of them" in result.output


def test_a_camera_and_sensors_alone_don_t_go_together(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sensors.toml").write_text("switches = 1\n[places]\na1 = 0\n")
    (tmp_path / "referee.toml").write_text('[sensors]\nsource = "board"\nmap = "sensors.toml"\n')
    result = run("watch", "--camera", "0", "--eyes", "sensors")
    assert result.exit_code == 2
    assert "the eyes are sensors alone" in result.output


def test_sensors_that_are_set_nowhere_are_named_before_anything_is_opened(run: Run, tmp_path: Path) -> None:
    result = run("watch", "--eyes", "sensors")
    assert result.exit_code == 3
    assert "--eyes: sensors.eyes: it is 'sensors', but sensors.source is none" in result.output
    assert "`referee hardware sensors map` makes one" in result.output
    assert not (tmp_path / "journal.sqlite").exists()


def test_recorded_pictures_are_seen_by_the_camera_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "referee.toml").write_text('[sensors]\neyes = "both"\n')
    refused = run("watch", "--frames", "pictures", "--eyes", "both")
    assert refused.exit_code == 2
    assert "switches say nothing of pictures" in refused.output
    result = run("watch", "--frames", "pictures")
    assert "sensors" not in result.output
    assert "no calibration was given" in result.output
