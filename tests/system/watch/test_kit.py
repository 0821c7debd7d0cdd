"""A game of the paper kit is refereed with the layout ``kit``, with nothing measured and nothing taught."""

import json
from pathlib import Path

import cv2
import pytest
from rich.console import Console

from app.runtime.watch import WatchOptions, watch
from app.settings.settings import Settings
from journal.reader import read_journal
from referee.record.events import EventKind
from simulator.play.game import GameOptions, TruthLog, VirtualGame
from simulator.play.players import Habits
from simulator.rendering.renderer import Renderer
from simulator.scene.paper import on_paper
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.referee.virtual_board import Heard

_HONEST = Habits(violation_share=0, straighten_share=0, try_out_share=0, rest_share=0)


def pictures_of_a_game(folder: Path, game: str, rules: dict[str, object], turns: int) -> TruthLog:
    """Write a picture of each position that a game of paper shows at rest, and the camera's calibration."""
    setting = on_paper(standard_setting(lens((1280, 720)), game), 5)
    truth, renderer, shown = TruthLog(), Renderer(5), [{"": ""}]
    options = GameOptions(game, rules, turns=turns, habits=_HONEST)  # type: ignore[arg-type]
    played = VirtualGame(5, setting.layout, options, truth)
    tick = 0
    while (moment := played.moment(tick / 2)) is not None:
        tick += 1
        if not moment.hands and (looks := played.looks(moment)) != shown[-1]:
            image = renderer.render(Scene(setting, moment.pieces), tick)
            # after a movement, a second picture shows that it is over
            for part in "ab":
                cv2.imwrite(str(folder / f"{len(shown):03d}{part}.png"), image)
            shown.append(looks)
    camera = setting.camera
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
    return truth


@pytest.mark.parametrize(
    ("game", "rules", "anywhere"),
    [
        ("diaballik", {}, False),
        ("deblockle", {"blocks_gold": 2, "blocks_teal": 2}, False),
        # no set-up to learn from: the colours are those that were to be printed
        ("diaballik", {"start": "variant"}, True),
        ("deblockle", {"blocks_gold": 3, "blocks_teal": 3}, True),
    ],
)
def test_every_turn_of_a_game_of_paper_is_accepted(
    game: str, rules: dict[str, object], anywhere: bool, tmp_path: Path
) -> None:
    truth = pictures_of_a_game(tmp_path, game, rules, turns=3)
    values = {
        "game.name": game,
        "game.options": {} if anywhere else rules,
        "camera.calibration": tmp_path / "camera.json",
        "table.layout": Path("kit"),
        "table.anywhere": anywhere,
        "journal.path": tmp_path / "game.sqlite",
        "lights.drivers": (),
    }
    options = WatchOptions(Settings().changed(values), frames=tmp_path, stills=True)
    heard = Heard()
    assert watch(options, Console(file=heard, width=200, color_system=None)) == 0, heard.getvalue()
    with read_journal(tmp_path / "game.sqlite") as journal:
        kinds = [event.kind for _, event in journal.events(1)]
    assert kinds.count(EventKind.TURN) == len(truth.played) == 3, heard.getvalue()
    assert "illegal" not in heard.getvalue()
