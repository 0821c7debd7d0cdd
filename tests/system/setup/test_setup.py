"""The whole set-up from a bare table to the first turn, on pictures of the virtual table, for every game."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from app.setup.steps import Progress, steps_of
from app.setup.table_setup import TableSetup
from engine import registry
from engine.values import OptionValue
from simulator.play.game import GameOptions, VirtualGame
from simulator.play.players import Habits
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.app.setup.checking import check_step
from vision.frame import Frame, Image
from vision.layout.table import TableLayout

TODAY = date(2026, 5, 1)
CAREFUL = Habits(violation_share=0.0, straighten_share=0.0, try_out_share=0.0, rest_share=0.0)


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures of a bare table, its set-up and one turn; the roll, and the board's measures."""

    bare: Image
    set_up: Image
    played: Image
    roll: str
    layout: TableLayout

    @property
    def measures(self) -> str:
        """The measures of the board that an owner enters."""
        board, centres = self.layout.board, self.layout.markers.centres_mm
        across, along = centres[1][0] - centres[0][0], centres[1][1] - centres[2][1]
        return f"{board.cell_mm:g} {board.height_mm:g} {across:g} {along:g}"


def pictures_of(game: str) -> Pictures:
    size = (1280, 720) if game == "blockade" else (960, 540)
    setting = standard_setting(lens(size), game=game)
    rules: dict[str, OptionValue] = {} if registry.load(game).printed_sheet is None else {"players": 2}
    rules |= {"starts": "warm"} if game == "blockade" else {}
    played = VirtualGame(5, setting.layout, GameOptions(game=game, rules=rules, turns=1, habits=CAREFUL))
    moments = []
    time_s = 0.0
    while (moment := played.moment(time_s)) is not None:
        moments.append(moment)
        time_s += 0.25

    def taken(pieces: Sequence[object]) -> Image:
        return Renderer(5).render(Scene(setting, tuple(pieces)), 0)  # type: ignore[arg-type]

    still = [moment for moment in moments if not moment.hands]
    roll = ",".join(map(str, played.rolls[0].faces)) if played.rolls else ""
    return Pictures(taken(()), taken(still[0].pieces), taken(still[-1].pieces), roll, setting.layout)


class SharedCamera:
    """A fake camera that shows the last given picture."""

    def __init__(self, image: Image) -> None:
        self.image = image

    def look(self, source: str) -> Frame:
        return Frame(self.image, 0.0, 0, source)


@pytest.mark.parametrize("name", registry.games())
def test_every_game_can_be_set_up_from_a_bare_table_to_its_first_turn(name: str, tmp_path: Path) -> None:
    pictures = pictures_of(name)
    eye = SharedCamera(pictures.bare)
    table = TableSetup(registry.load(name), tmp_path, eye.look, TODAY)
    answers = {"camera": "virtual", "players": "2", "print": "100.2", "turn": pictures.roll}
    answers |= {"lights": "terminal", "switches": "none"}
    if table.has_board:
        answers["table"] = pictures.measures
    progress = Progress(tmp_path, name)
    for step in steps_of(table.game):
        eye.image = {"pieces": pictures.set_up, "turn": pictures.played}.get(step.name, eye.image)
        if step.unneeded(table):
            continue
        step.prepare(table)
        outcome = check_step(step, table, answers.get(step.name, ""))
        assert outcome.is_done, (step.name, outcome)
        progress.done.append(step.name)
        progress.keep(table.values)
    assert (tmp_path / ("board.pdf" if table.has_board else "sheets.pdf")).is_file()
    assert (tmp_path / "looks.json").is_file() == table.has_board
    text = (tmp_path / "referee.toml").read_text()
    assert tomllib.loads(text)["camera"]["source"] == "virtual"
    assert text.count("\n# ") >= 8
    assert Progress.load(tmp_path, name) == progress
    assert Progress.load(tmp_path, "another game") is None
