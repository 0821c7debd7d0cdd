"""`./run pieces read` on pictures of a whole table."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import Result

from common.places import EMPTY
from engine.registry import load
from referee.cli.picture_files import show_reading
from simulator.play.actions import Slack
from simulator.play.players import HANDLERS
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.commands import runner_in
from vision.calibration import Calibration, save_calibration
from vision.reading import DieReading, Reading, RollReading

Run = Callable[..., Result]
BLOCKS = {"a7": "gold block, stop up", "c4": "teal block, cross up"}
DISCS = {f"{column}{row}": f"{colour} piece" for colour, row in (("black", 1), ("white", 7)) for column in "abcefg"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner_in(tmp_path, monkeypatch)


def photograph(folder: Path, game: str, looks: Mapping[str, str]) -> tuple[object, ...]:
    """Photograph a table, and return the arguments that name the picture, its camera and the table's layout."""
    setting = standard_setting(lens((960, 540)), game)
    handler = HANDLERS[game](setting.layout, Slack(), np.random.default_rng(1))
    image = Renderer(1).render(Scene(setting, tuple(handler.set_up(looks).values())))
    cv2.imwrite(str(folder / "now.png"), image)
    save_calibration(folder / "camera.json", Calibration(setting.camera, (), 1.0, ()), made_on=date(2026, 5, 1))
    layout = json.loads(resources.files("vision.layout").joinpath("games", f"{game}.json").read_text(encoding="utf-8"))
    (folder / "layout.json").write_text(json.dumps(layout))
    return folder / "now.png", "--calibration", folder / "camera.json", "--layout", folder / "layout.json"


def test_colours_learned_from_a_picture_that_is_no_set_up_are_called_a_guess(run: Run, tmp_path: Path) -> None:
    result = run("pieces", "read", *photograph(tmp_path, "deblockle", BLOCKS))
    assert result.exit_code == 0, result.stderr
    assert "The colours of gold and teal are a guess and may be swapped" in result.stderr
    assert not any(line.endswith(" ") for line in result.stdout.splitlines())


def test_colours_that_a_picture_cannot_teach_need_looks_or_a_set_up(run: Run, tmp_path: Path) -> None:
    result = run("pieces", "read", *photograph(tmp_path, "diaballik", {"c3": "black piece", "e5": "white piece"}))
    assert result.exit_code == 5, result.stderr
    assert "without --looks the picture must show a set-up" in result.stderr


def test_a_set_up_is_recognised_whoever_starts(run: Run, tmp_path: Path) -> None:
    game = load("deblockle")
    start = {place: look for place, look in game.table.appearance(game.rules.new({})).items() if look != EMPTY}
    (tmp_path / "referee.toml").write_text('[game.options]\nstarts = "either"\n')
    result = run("pieces", "read", *photograph(tmp_path, "deblockle", start))
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""


def test_colours_are_learned_from_the_start_that_the_options_say(run: Run, tmp_path: Path) -> None:
    game = load("diaballik")
    looks = game.table.appearance(game.rules.new({"start": "variant"}))
    (tmp_path / "referee.toml").write_text('[game]\nname = "diaballik"\n[game.options]\nstart = "variant"\n')
    start = {place: look for place, look in looks.items() if look != EMPTY}
    result = run("pieces", "read", *photograph(tmp_path, "diaballik", start), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    places = json.loads(result.stdout)["places"]
    assert {place: places[place]["look"] for place in looks} == dict(looks)


def test_the_layout_says_which_game_is_read(run: Run, tmp_path: Path) -> None:
    start = {**DISCS, "d1": "black piece with ball", "d7": "white piece with ball"}
    result = run("pieces", "read", *photograph(tmp_path, "diaballik", start))
    assert result.exit_code == 0, result.stderr
    assert "B black   W white   ● ball" in result.stdout.splitlines()
    assert result.stderr == ""
    picture, *table = photograph(tmp_path, "diaballik", start)
    named = run("pieces", "read", picture, *table[:2], "--game", "diaballik")
    assert (named.exit_code, named.stdout) == (0, result.stdout)
    assert "--game has no use with --dice" in run("pieces", "read", "--dice", picture, "--game", "diaballik").stderr


def test_a_table_of_another_game_is_not_watched(run: Run, tmp_path: Path) -> None:
    picture, *table = photograph(tmp_path, "diaballik", DISCS)
    result = run("watch", *table, "--frames", tmp_path, "--stills")
    assert result.exit_code == 5
    assert f"{tmp_path / 'layout.json'} measures a table of diaballik, and the game is deblockle" in result.stderr
    assert picture == tmp_path / "now.png"


def test_a_die_that_is_no_roll_yet_is_listed_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    die = DieReading(0.0, 0.0, {"3": 0.9, "4": 0.1})
    dice = (die, replace(die, at_rest=False), replace(die, half_hidden=True), replace(die, cocked=True))
    show_reading(load("blokus-dice"), Reading(0, 0.0, {}, rolls=(RollReading("tray", dice),)))
    assert capsys.readouterr().out == "tray: 3, moving, half hidden, leans\n"
