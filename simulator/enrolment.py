"""Pictures for enrolling a set: every top of every block colour, or a set-up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simulator.play.actions import Arrangement, Slack
from simulator.play.deblockle import BlockHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.cube import axis_of
from simulator.scene.pieces import SYMBOLS, DiscPose, PiecePose, StackPose
from simulator.scene.scene import Scene, Setting
from vision.frame import Image
from vision.layout.pieces import BlockPieces


@dataclass(frozen=True)
class PlacedBlock:
    """One block of an enrolment picture: its square, its colour and its orientation."""

    cell: str
    colour: str
    top: str
    north: str


@dataclass(frozen=True, eq=False)
class EnrolmentImage:
    """A picture of known blocks: one of each top, all of one colour."""

    image: Image
    colour: str
    blocks: tuple[PlacedBlock, ...]

    @property
    def name(self) -> str:
        """Name shown to a person."""
        return f"the picture of {self.colour}"

    @property
    def position(self) -> Mapping[str, tuple[str, str]]:
        """The position in the format of the block reader."""
        return {block.cell: (block.colour, block.top) for block in self.blocks}

    def as_json(self) -> dict[str, object]:
        """Return the position in the format of an enrolment file."""
        return {
            "blocks": [
                {"cell": block.cell, "colour": block.colour, "top": block.top, "north": block.north}
                for block in self.blocks
            ]
        }


@dataclass(frozen=True, eq=False)
class SetUpImage:
    """A picture of a game's set-up, and the position in the format of its piece reader."""

    image: Image
    position: Mapping[str, Any]

    name: ClassVar[str] = "the picture of the set-up"


def set_up_image(setting: Setting, standing: Arrangement, seed: int = 0) -> SetUpImage:
    """Render a set-up from which the pieces can be learned."""
    image = Renderer(seed).render(Scene(setting, tuple(standing.values())), 0)
    places = setting.layout.board.places
    return SetUpImage(image, {place: _piece_data(piece) for place, piece in standing.items() if place in places})


def _piece_data(piece: PiecePose) -> Any:
    match piece:
        case DiscPose():
            return (piece.colour, piece.ball is not None)
        case StackPose():
            return tuple((pyramid.size, pyramid.colour) for pyramid in piece.pyramids)
    raise ValueError(f"can't learn a {piece.look} from a set-up")


def enrolment_images(setting: Setting, seed: int = 0, slack: Slack | None = None) -> tuple[EnrolmentImage, ...]:
    """Render a picture for each block colour: its six tops on the middle row, from column a on.

    Raises ValueError when the board has fewer than six columns.
    """
    layout = setting.layout
    if layout.board.columns < len(SYMBOLS):
        raise ValueError(f"the board has {layout.board.columns} columns; enrolment needs {len(SYMBOLS)} in a row")
    net = BlockPieces.on(layout.board).net
    row = (layout.board.rows + 1) // 2
    rng = np.random.default_rng([seed, 21])
    handler = BlockHandler(layout, slack or Slack(), rng)
    pictures: list[EnrolmentImage] = []
    for frame, colour in enumerate(sorted(setting.blocks.colours)):
        placed: list[PlacedBlock] = []
        for column, top in enumerate(SYMBOLS):
            sides = [symbol for symbol in SYMBOLS if symbol not in axis_of(net, top)]
            north = sides[int(rng.integers(len(sides)))]
            placed.append(PlacedBlock(f"{chr(ord('a') + column)}{row}", colour, top, north))
        poses = tuple(handler.put_down(block.cell, block.colour, block.top, block.north) for block in placed)
        image = Renderer(seed).render(Scene(setting, poses), frame)
        pictures.append(EnrolmentImage(image, colour, tuple(placed)))
    return tuple(pictures)
