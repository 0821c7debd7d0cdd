"""How well pieces of the paper kits are read, by their width in the picture.

Run: python benchmarks/piece_sizes.py --of deblockle --tables 10
     python benchmarks/piece_sizes.py --of blockade
     python benchmarks/piece_sizes.py --of diaballik

Each table's picture, 1280 x 720, is shrunk to some scales, then coded as JPEG and like a low-rate video. The pieces
were enrolled at the full size. A line counts the pieces that are hidden, read doubtfully, or read wrongly.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import random
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import click
import cv2
import numpy as np

from benchmarks.parts.soak.game import looks_of_pieces, plan_of
from benchmarks.scene.processing import low_rate_video
from common.places import EMPTY, occupied
from engine.api import Game
from engine.registry import load
from simulator.play.actions import Arrangement, Slack
from simulator.play.players import HANDLERS
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting
from vision.frame import Frame, Image
from vision.readers.registry import table_reader
from vision.readers.sizes import piece_widths_px

_SIZE = (1280, 720)
_TURNS = 6
_MOST_CHOSEN = 200
_BIN_PX = 4
_DOUBTFUL = 0.95


def state_after_turns(game: Game[Any, Any], seed: int) -> Any:
    """Play a few turns at random, with the first rolls of the list."""
    rng, state = random.Random(seed), game.rules.new()
    for _ in range(_TURNS):
        if game.dice is not None and game.dice.awaits_roll(state):
            state = game.dice.rolled(state, min((one.roll for one in game.dice.possible_rolls(state)), key=str))
        turns = game.rules.legal_turns(state)[:_MOST_CHOSEN]
        if not turns:
            break
        state = game.rules.apply(state, rng.choice(turns))
    return state


def coded(image: Image, scale: float, step: float) -> Image:
    """Shrink a picture, and code it as JPEG and like a low-rate video."""
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 75])
    decoded = cv2.imdecode(data, cv2.IMREAD_COLOR)
    assert decoded is not None
    return low_rate_video(np.asarray(decoded, dtype=np.uint8), step)


def count(setting: Setting, seed: int, scales: tuple[float, ...], step: float, found: dict[int, Counter[str]]) -> None:
    """Read one table at each scale, and count how its pieces are read, by their width."""
    layout, game = setting.layout, load(setting.layout.game)
    state = state_after_turns(game, seed)
    handler = HANDLERS[game.name](layout, Slack(), np.random.default_rng([seed, 22]))
    wanted = {place: look for place, look in game.table.appearance(state).items() if look != EMPTY}
    pieces = tuple(handler.set_up(wanted, game.notation.format_state(state)).values())
    truth = Arrangement.on_board(layout, pieces).appearance(layout.places)
    image = Renderer(seed).render(Scene(setting, pieces), seed)
    looks = looks_of_pieces(_SIZE, game.name, seed)
    for scale in scales:
        picture = coded(image, scale, step)
        matrix = setting.camera.matrix.copy()
        matrix[:2] *= scale
        camera = replace(setting.camera, matrix=matrix, size=(picture.shape[1], picture.shape[0]))
        reading = table_reader(camera, layout, looks).read(Frame(picture, 0.0, 0))
        widths = dict(zip(layout.board.places, piece_widths_px(camera, setting.pose, layout.board), strict=True))
        for place in sorted(occupied(truth) & reading.places.keys()):
            seen = reading.places[place]
            look, probability = seen.best
            how = "doubtful" if probability < _DOUBTFUL else "right"
            how = "hidden" if seen.hidden_by is not None else "wrong" if look != truth[place] else how
            found[int(widths[place] // _BIN_PX) * _BIN_PX][how] += 1


@click.command(help=__doc__)
@click.option(
    "--of", "game", default="deblockle", show_default=True, type=click.Choice(["deblockle", "blockade", "diaballik"])
)
@click.option("--tables", default=5, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=100, show_default=True, help="The first table's.")
@click.option(
    "--scale",
    "scales",
    default=(1.0, 0.8, 0.6, 0.45),
    show_default=True,
    multiple=True,
    type=click.FloatRange(0.2, 1.0),
)
@click.option("--step", default=24.0, show_default=True, help="The video's steps, in levels.")
def main(game: str, tables: int, seed: int, scales: tuple[float, ...], step: float) -> None:
    """Count and print."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for number in range(seed, seed + tables):
        plan = plan_of(number, 1, _SIZE, (), game=game, always_paper=True, untaught=True)
        count(plan.setting, number, scales, step, found)
    for width_px, counted in sorted(found.items()):
        bad = 1 - counted["right"] / counted.total()
        click.echo(f"{width_px} to {width_px + _BIN_PX} px: {bad:.1%} of {counted.total()}; {dict(counted)}")


if __name__ == "__main__":
    main()
