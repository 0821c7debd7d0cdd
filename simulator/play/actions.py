"""What the players do, as frozen values: blocks carried from here to there, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from simulator.scene import BlockPose

ActionKind = Literal[
    "turn", "misdeed", "put right", "undone", "straighten", "tried and taken back", "resting hand", "swept together"
]

EMPTY_LOOK = "empty"


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

    ``turn`` is the engine's text of the turn played, ``misdeed`` the kind of an illegal one; ``rest_s`` is how long
    the hand lies still at the end; ``ends_turn`` whether the player then ends the turn.
    """

    kind: ActionKind
    player: str
    carries: tuple[Carry, ...] = ()
    turn: str = ""
    misdeed: str = ""
    rest_s: float = 0.0
    ends_turn: bool = False


class Standing(Mapping[str, BlockPose]):
    """What stands where: places on the board and on the tray beside it, to block poses. Frozen."""

    def __init__(self, blocks: Mapping[str, BlockPose]) -> None:
        self._blocks = MappingProxyType(dict(blocks))

    def __getitem__(self, place: str) -> BlockPose:
        return self._blocks[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def after(self, carry: Carry) -> Standing:
        """What stands where after that carry; raises ValueError when its start is empty or its end is taken."""
        if carry.start not in self._blocks:
            raise ValueError(f"no block stands on {carry.start}; {', '.join(self._blocks)} are taken")
        left = {place: block for place, block in self._blocks.items() if place != carry.start}
        if carry.end in left:
            raise ValueError(f"a {left[carry.end].colour} block already stands on {carry.end}")
        left[carry.end] = carry.pose
        return Standing(left)

    def after_all(self, carries: tuple[Carry, ...]) -> Standing:
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
            else EMPTY_LOOK
            for place in places
        }
