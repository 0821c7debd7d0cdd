"""The step of the set-up in which the camera sees the start position: its looks are saved only if it is recognised."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from engine.games.blockade.game import GAME
from referee.setup.steps import check_step, steps_of
from referee.setup.table_setup import TableSetup
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import Pyramid, StackPose
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from vision.calibration import Calibration, save_calibration
from vision.frame import Frame
from vision.layout.pieces import PyramidPieces
from vision.readers.registry import reader_kind

TODAY = date(2026, 5, 1)
(STEP,) = (step for step in steps_of(GAME) if step.name == "pieces")
COLOURS = {"C": "clear", "K": "black"}


def seen_without(*missing: str) -> tuple[Frame, Calibration]:
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
    return Frame(image, 0.0, 0), Calibration(setting.camera, (), 1.0, ())


def table_in(folder: Path, frame: Frame, calibration: Calibration) -> TableSetup:
    save_calibration(folder / "camera.json", calibration, made_on=TODAY)
    return TableSetup(GAME, folder, lambda *_: [frame], TODAY, values={"game.options": {"starts": "either"}})


def test_a_set_up_is_recognised_whoever_starts(tmp_path: Path) -> None:
    table = table_in(tmp_path, *seen_without())
    outcome = check_step(STEP, table, "")
    assert outcome.is_done, outcome
    assert table.values["table.looks"] == "looks.json"
    assert reader_kind(table.layout).load(tmp_path / "looks.json").traits


def test_looks_of_a_set_up_that_was_not_recognised_are_not_saved(tmp_path: Path) -> None:
    table = table_in(tmp_path, *seen_without())
    table.values["game.options"] = {}
    place = next(place for place, stack in GAME.squares(GAME.rules.new()).items() if stack)
    frame, _ = seen_without(place)
    table.look = lambda *_: [frame]
    assert not check_step(STEP, table, "").is_done
    assert not (tmp_path / "looks.json").exists()
