"""How the blocks of Deblockle are handled: rolled, lifted, put down never quite straight, put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.play.actions import Arrangement, Carries, Carry, Handler
from simulator.play.violations import VIOLATIONS
from simulator.scene.cube import COMPASS, STEPS, axis_of, faces_of, roll_faces
from simulator.scene.pieces import SYMBOLS, BlockPose, PiecePose, as_block, block_on
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout


def block_faces(layout: TableLayout, piece: PiecePose) -> dict[str, str]:
    """Return a block's symbols by side."""
    return faces_of(BlockPieces.on(layout.board).net, as_block(piece).up, as_block(piece).north)


def side_towards(start: str, end: str) -> str:
    """Return the compass side of a step between orthogonally adjacent places; raises ValueError for any other step."""
    step = (ord(end[0]) - ord(start[0]), int(end[1:]) - int(start[1:]))
    for side, way in STEPS.items():
        if way == step:
            return side
    raise ValueError(f"{start} and {end} are not side by side")


class BlockHandler(Handler):
    """Makes carries of blocks."""

    violations = VIOLATIONS

    def set_up(self, looks: Mapping[str, str], text: str = "") -> Arrangement:  # noqa: ARG002 - all of it shows
        """Put every block on its square, in a random orientation."""
        net = BlockPieces.on(self.layout.board).net
        blocks = {}
        for place, look in looks.items():
            up = str(self._rng.choice(list(SYMBOLS)))
            sides = [symbol for symbol in SYMBOLS if symbol not in axis_of(net, up)]
            north = str(self._rng.choice(sides))
            blocks[place] = self.put_down(place, look.split(" ", 1)[0], up, north)
        return Arrangement(blocks)

    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Return the carries that play a turn."""
        side = side_towards(turn.start, turn.rolled_to[0])
        roll = self.roll(standing, turn.start, side)
        after = standing.after(roll)
        if turn.end is None:
            return (roll, self.take_off(after, roll.end))
        if turn.end == roll.end:
            return (roll,)
        return (roll, self.lift(after, roll.end, turn.end))

    def owner(self, piece: PiecePose) -> str:
        """Return a block's owner; its colour is the player's name."""
        return as_block(piece).colour

    def facings(self, standing: Arrangement) -> dict[str, dict[str, str]]:
        """Return the side faces of every block on the board."""
        faces = {place: self.faces(piece) for place, piece in standing.items() if place in self.layout.places}
        return {place: {side: shown[side] for side in COMPASS} for place, shown in faces.items()}

    def put_down(self, place: str, colour: str, up: str, north: str) -> BlockPose:
        """Return a block put down on a place, slightly off centre and turned."""
        slack = self._slack
        offset = self._offset_mm(slack.most_mm)
        return block_on(self.layout, place, colour, up, north, offset_mm=offset, turned_deg=self._turned_deg())

    def faces(self, piece: PiecePose) -> dict[str, str]:
        """Return a block's symbols by side."""
        return block_faces(self.layout, piece)

    def roll(self, standing: Arrangement, start: str, side: str) -> Carry:
        """Roll the block on ``start`` to the place on that side; raises ValueError when that is off the board."""
        end = self.layout.board.neighbour(start, *STEPS[side])
        if end is None:
            raise ValueError(f"{side} of {start} is off the board")
        moved = as_block(standing[start])
        faces = roll_faces(self.faces(moved), side)
        return Carry(start, end, self.put_down(end, moved.colour, faces["up"], faces["north"]), side)

    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Lift the block on ``start`` to ``end`` without turning it."""
        moved = as_block(standing[start])
        return Carry(start, end, self.put_down(end, moved.colour, moved.up, moved.north))

    def lay(self, standing: Arrangement, start: str, end: str, up: str, north: str) -> Carry:
        """Move the block on ``start`` to ``end``, in another orientation."""
        return Carry(start, end, self.put_down(end, as_block(standing[start]).colour, up, north))

    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Take the block on ``start`` to its owner's tray beside the board."""
        moved = as_block(standing[start])
        count = sum(1 for place in standing if place.startswith(f"{moved.colour} tray"))
        half = self.layout.board.bounds_mm.right_mm
        near = moved.colour != "teal"
        x = (half + 38.0) * (1 if near else -1)
        y = (-1 if near else 1) * (half - 55.0 - count * (BlockPieces.on(self.layout.board).side_mm + 9.0))
        end = f"{moved.colour} tray {count + 1}"
        turned = float(self._rng.uniform(-25.0, 25.0))
        pose = BlockPose(x, y, moved.colour, moved.up, moved.north, turned_deg=turned, base_mm=0.0)
        return Carry(start, end, pose)

    def put_back(self, before: Arrangement, now: Arrangement) -> tuple[Carry, ...]:
        """Return the carries that make ``now`` look like ``before`` again, via free places.

        Raises ValueError when the blocks standing there are not the same ones.
        """
        carries: list[Carry] = []
        standing = now
        wrong = [place for place in standing if not _same(before.get(place), standing[place])]
        missing = [place for place in before if not _same(before[place], standing.get(place))]
        while missing:
            target = next((place for place in missing if self._fits(standing, wrong, place, before)), missing[0])
            wanted = as_block(before[target])
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
        return place not in standing or (
            place in wrong and as_block(standing[place]).colour == as_block(before[place]).colour
        )

    def _source(self, standing: Arrangement, wrong: list[str], target: str, wanted: BlockPose) -> str:
        if target in wrong and as_block(standing[target]).colour == wanted.colour:
            return target
        for place in wrong:
            if as_block(standing[place]).colour == wanted.colour:
                return place
        raise ValueError(f"no {wanted.colour} block is out of place, but one belongs on {target}")


def _same(one: PiecePose | None, other: PiecePose | None) -> bool:
    if one is None or other is None:
        return one is other
    first, second = as_block(one), as_block(other)
    return (first.colour, first.up, first.north) == (second.colour, second.up, second.north)
