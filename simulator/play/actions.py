"""What players do with blocks: carries, actions and what stands where, as frozen values.

A ``Handler`` makes carries the way people do: never quite centred, never quite straight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from common.places import EMPTY
from simulator.scene.cube import COMPASS, faces_of, rolled
from simulator.scene.pieces import BlockPose, PiecePose, block_on, standing_on
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout


class ActionKind(StrEnum):
    """What a hand did."""

    TURN = "turn"
    VIOLATION = "misdeed"
    PUT_RIGHT = "put right"
    UNDONE = "undone"
    STRAIGHTENED = "straighten"
    TRIED_OUT = "tried and taken back"
    RESTED = "resting hand"
    SWEPT = "swept together"


@dataclass(frozen=True)
class Carry:
    """One block taken from where it stands to another place (or none: the tray), over an edge or through the air.

    ``start`` and ``end`` are places or tray names; ``tips_towards`` is the compass side it is rolled to.
    """

    start: str
    end: str
    pose: BlockPose
    tips_towards: str | None = None


@dataclass(frozen=True)
class Action:
    """All that a hand does between coming in and going out again.

    ``turn`` is the engine's text of the turn played, ``violation`` the kind of an illegal one; ``rest_s`` is how long
    the hand lies still at the end; ``ends_turn`` whether the player then ends the turn.
    """

    kind: ActionKind
    player: str
    carries: tuple[Carry, ...] = ()
    turn: str = ""
    violation: str = ""
    rest_s: float = 0.0
    ends_turn: bool = False


class Arrangement(Mapping[str, BlockPose]):
    """What stands where: places on the board and on the tray beside it, to block poses. Frozen."""

    def __init__(self, blocks: Mapping[str, BlockPose]) -> None:
        self._blocks = MappingProxyType(dict(blocks))

    @classmethod
    def on_board(cls, layout: TableLayout, pieces: Iterable[PiecePose]) -> Arrangement:
        """What stands on the board; blocks in a hand or beside the board are left out."""
        blocks = (piece for piece in pieces if isinstance(piece, BlockPose))
        return cls({place: block for block in blocks if (place := standing_on(layout, block)) is not None})

    def __getitem__(self, place: str) -> BlockPose:
        return self._blocks[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def after(self, carry: Carry) -> Arrangement:
        """What stands where after that carry; raises ValueError when its start is empty or its end is taken."""
        if carry.start not in self._blocks:
            raise ValueError(f"no block stands on {carry.start}; {', '.join(self._blocks)} are taken")
        left = {place: block for place, block in self._blocks.items() if place != carry.start}
        if carry.end in left:
            raise ValueError(f"a {left[carry.end].colour} block already stands on {carry.end}")
        left[carry.end] = carry.pose
        return Arrangement(left)

    def after_all(self, carries: tuple[Carry, ...]) -> Arrangement:
        """What stands where after carries in order."""
        standing = self
        for carry in carries:
            standing = standing.after(carry)
        return standing

    def appearance(self, places: tuple[str, ...]) -> dict[str, str]:
        """Each place's look, as the engine writes it."""
        return {
            place: f"{self._blocks[place].colour} block, {self._blocks[place].up} up"
            if place in self._blocks
            else EMPTY
            for place in places
        }


STEPS: Mapping[str, tuple[int, int]] = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


def facing(layout: TableLayout, block: BlockPose) -> dict[str, str]:
    """A block's side faces by compass side."""
    faces = faces_of(BlockPieces.on(layout.board).net, block.up, block.north)
    return {side: faces[side] for side in COMPASS}


@dataclass(frozen=True)
class Slack:
    """How carelessly blocks are put down: standard deviations, cut off at three times that and at ``most_mm``."""

    offset_mm: float = 1.3
    turned_deg: float = 2.0
    most_mm: float = 8.0
    most_deg: float = 30.0


def side_towards(start: str, end: str) -> str:
    """The compass side of a step between orthogonally adjacent places; raises ValueError for any other step."""
    step = (ord(end[0]) - ord(start[0]), int(end[1:]) - int(start[1:]))
    for side, way in STEPS.items():
        if way == step:
            return side
    raise ValueError(f"{start} and {end} are not side by side")


class Handler:
    """Makes carries: knows the table's layout and draws how carelessly a block is put down."""

    def __init__(self, layout: TableLayout, slack: Slack, rng: np.random.Generator) -> None:
        self.layout = layout
        self._slack = slack
        self._rng = rng

    def _within(self, deviation: float, most: float) -> float:
        limit = min(3 * deviation, most)
        return float(np.clip(self._rng.normal(0.0, deviation), -limit, limit)) if deviation > 0 else 0.0

    def put_down(self, place: str, colour: str, up: str, north: str) -> BlockPose:
        """A block as somebody puts it on a place."""
        slack = self._slack
        offset = (
            self._within(slack.offset_mm, slack.most_mm),
            self._within(slack.offset_mm, slack.most_mm),
        )
        turned = self._within(slack.turned_deg, slack.most_deg)
        return block_on(self.layout, place, colour, up, north, offset_mm=offset, turned_deg=turned)

    def faces(self, block: BlockPose) -> dict[str, str]:
        """Which symbol each side of a block shows."""
        return faces_of(BlockPieces.on(self.layout.board).net, block.up, block.north)

    def roll(self, standing: Arrangement, start: str, side: str) -> Carry:
        """Roll the block on ``start`` to the place on that side; raises ValueError when that is off the board."""
        end = self.layout.board.neighbour(start, *STEPS[side])
        if end is None:
            raise ValueError(f"{side} of {start} is off the board")
        block = standing[start]
        faces = rolled(self.faces(block), side)
        return Carry(start, end, self.put_down(end, block.colour, faces["up"], faces["north"]), side)

    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Lift the block on ``start`` to ``end`` without turning it."""
        block = standing[start]
        return Carry(start, end, self.put_down(end, block.colour, block.up, block.north))

    def lay(self, standing: Arrangement, start: str, end: str, up: str, north: str) -> Carry:
        """Move the block on ``start`` to ``end`` and lay it another way."""
        return Carry(start, end, self.put_down(end, standing[start].colour, up, north))

    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Take the block on ``start`` to its owner's tray beside the board."""
        block = standing[start]
        count = sum(1 for place in standing if place.startswith(f"{block.colour} tray"))
        half = self.layout.board.columns * self.layout.board.cell_mm / 2
        near = block.colour != "teal"
        x = (half + 38.0) * (1 if near else -1)
        y = (-1 if near else 1) * (half - 55.0 - count * (BlockPieces.on(self.layout.board).side_mm + 9.0))
        end = f"{block.colour} tray {count + 1}"
        turned = float(self._rng.uniform(-25.0, 25.0))
        pose = BlockPose(x, y, block.colour, block.up, block.north, turned, base_mm=0.0)
        return Carry(start, end, pose)

    def nudge(self, standing: Arrangement, start: str) -> Carry:
        """Straighten the block where it stands: another offset, another turn, the same place."""
        block = standing[start]
        return Carry(start, start, self.put_down(start, block.colour, block.up, block.north))

    def put_back(self, before: Arrangement, now: Arrangement) -> tuple[Carry, ...]:
        """Carries that make ``now`` look like ``before`` again, by way of free places.

        Raises ValueError when the blocks standing there are not the same ones.
        """
        carries: list[Carry] = []
        standing = now
        wrong = [place for place in standing if not _same(before.get(place), standing[place])]
        missing = [place for place in before if not _same(before[place], standing.get(place))]
        while missing:
            target = next((place for place in missing if self._fits(standing, wrong, place, before)), missing[0])
            wanted = before[target]
            source = self._source(standing, wrong, target, wanted)
            if target in standing and target != source:
                raise ValueError(f"{target} is taken by another block; lift that one first")
            carry = (
                self.lay(standing, source, target, wanted.up, wanted.north)
                if wanted.base_mm is None
                else Carry(source, target, wanted)
            )
            carries.append(carry)
            standing = standing.after(carry)
            wrong.remove(source)
            missing.remove(target)
        return tuple(carries)

    @staticmethod
    def _fits(standing: Arrangement, wrong: list[str], place: str, before: Arrangement) -> bool:
        return place not in standing or (place in wrong and standing[place].colour == before[place].colour)

    def _source(self, standing: Arrangement, wrong: list[str], target: str, wanted: BlockPose) -> str:
        if target in wrong and standing[target].colour == wanted.colour:
            return target
        for place in wrong:
            if standing[place].colour == wanted.colour:
                return place
        raise ValueError(f"no {wanted.colour} block is out of place, but one belongs on {target}")


def _same(one: BlockPose | None, other: BlockPose | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.colour, one.up, one.north) == (other.colour, other.up, other.north)
