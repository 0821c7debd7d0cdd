"""The paper kit on the virtual table is read with the kit's layout, with nothing measured or taught."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.registry import load
from referee.judge.starts import usual_appearance
from simulator.play.game import GameOptions, TruthLog, VirtualGame
from simulator.play.players import Habits
from simulator.rendering.renderer import Renderer
from simulator.scene.paper import on_paper
from simulator.scene.scene import Scene, Setting, lens, looking_at
from simulator.table import standard_setting
from tests.effort import some
from vision.frame import Frame
from vision.layout.kit import kit_of
from vision.motion.changes import Attention
from vision.readers.learning_reader import LearningReader
from vision.readers.registry import printed_appearance, table_reader
from vision.self_calibration import estimate_camera

BOARDS = ("blockade", "deblockle", "diaballik")
_EVERY_S = 0.9


def positions(setting: Setting, seed: int) -> Iterator[tuple[Frame, dict[str, str]]]:
    """Yield pictures of a short game at rest, with the look of each place."""
    game = setting.layout.game
    played = VirtualGame(seed, setting.layout, GameOptions(game, turns=3, habits=Habits(violation_share=0)), TruthLog())
    renderer, number = Renderer(seed), 0
    while (moment := played.moment(number * _EVERY_S)) is not None:
        if not moment.hands:
            image = renderer.render(Scene(setting, moment.pieces), number)
            yield Frame(image, number * _EVERY_S, number, "paper"), played.looks(moment)
        number += 1


@pytest.mark.parametrize("seed", some([3, 4], 1))
@pytest.mark.parametrize("game", BOARDS)
def test_a_game_of_paper_is_read_after_its_set_up_was_seen(game: str, seed: int) -> None:
    setting = on_paper(standard_setting(game=game), seed)
    start = usual_appearance(load(game), {})
    # the owner knows the kit's layout, not what printer and scissors made of it
    reader = LearningReader(setting.camera, kit_of(game).layout, start, attention=Attention.STILL)
    shown = 0
    for frame, looks in positions(setting, seed):
        reading = reader.read(frame)
        shown += bool(reading.places)
        for place, read in reading.places.items():
            assert max(read.probabilities, key=lambda look: read.probabilities[look]) == looks[place], place
    assert shown > 2


@pytest.mark.parametrize("seed", some([3, 4], 1))
@pytest.mark.parametrize("game", ["deblockle", "diaballik"])
def test_printed_colours_are_known_without_a_set_up(game: str, seed: int) -> None:
    setting, kit = on_paper(standard_setting(game=game), seed), kit_of(game)
    reader = table_reader(setting.camera, kit.layout, printed_appearance(kit), attention=Attention.STILL)
    for frame, looks in list(positions(setting, seed))[:2]:
        for place, read in reader.read(frame).places.items():
            assert max(read.probabilities, key=lambda look: read.probabilities[look]) == looks[place], place


@pytest.mark.parametrize("tilt_deg", kit_of("blockade").tilts_deg or ())
def test_the_tilt_that_a_kit_asks_for_shows_the_cameras_lens(tilt_deg: float) -> None:
    usual = standard_setting(lens((1280, 720)), "blockade")
    setting = on_paper(replace(usual, pose=looking_at(tilt_deg=tilt_deg)), 3)
    measured = estimate_camera([Renderer(3).render(Scene(setting, ()), 0)], kit_of("blockade").layout)
    assert measured.is_sure
    assert measured.camera.matrix[0, 0] == pytest.approx(setting.camera.matrix[0, 0], rel=0.02)
