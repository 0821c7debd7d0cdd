import pytest

from engine.registry import load
from referee.judge.starts import usual_appearance
from simulator.play.game import GameOptions, TruthLog, VirtualGame
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene
from simulator.table import standard_setting
from vision.frame import Frame
from vision.motion.changes import Attention
from vision.readers.learning_reader import LearningReader


@pytest.mark.parametrize("game", ["deblockle", "diaballik"])
def test_a_table_at_rest_whose_looks_were_forgotten_is_learned_again(game: str) -> None:
    setting = standard_setting(game=game)
    played = VirtualGame(1, setting.layout, GameOptions(game, turns=1), TruthLog())
    moment, renderer = played.moment(0.0), Renderer(1)
    assert moment is not None
    scene = Scene(setting, moment.pieces)
    frames = [Frame(renderer.render(scene, number), number / 5, number, "at rest") for number in range(5)]
    reader = LearningReader(setting.camera, setting.layout, usual_appearance(load(game), {}), attention=Attention.STILL)
    for frame in frames[:-1]:
        assert reader.read(frame).places
    assert reader.pose is not None
    reader.forget()
    assert reader.read(frames[-1]).places
    assert reader.pose is not None
