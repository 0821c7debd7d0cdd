"""A game from ``new`` and ``watch`` to ``export`` and ``replay``, on pictures of the virtual table."""

import json
from datetime import date
from pathlib import Path

import cv2
import pytest

from simulator.enrolment import enrolment_images
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.commands import runner_in
from vision.calibration import Calibration, save_calibration

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
    save_calibration(tmp_path / "camera.json", Calibration(table.calibration(), (), 1.0, ()), made_on=date(2026, 5, 1))
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
