"""How the blocks of Deblockle are handled: rolled, lifted, put down never quite straight, put back.

Violations of the rules are carries too; the engine decides whether one really is illegal.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simulator.play.actions import Arrangement, Carries, Carry, Handler, PlayArea, ViolationKind, pick, pick_both
from simulator.scene.cube import COMPASS, STEPS, axis_of, faces_of, roll_faces, rotate_faces
from simulator.scene.pieces import SYMBOLS, BlockPose, PiecePose, as_block, block_on
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout


def rolls_of(table: PlayArea, starts: Sequence[str], *, onto_star: bool = False) -> list[Carry]:
    """Return the rolls of these blocks to open squares, or to star squares only."""
    layout = table.handler.layout
    found: list[Carry] = []
    for start in starts:
        for side in COMPASS:
            end = layout.board.neighbour(start, *STEPS[side])
            if end is not None and end not in table.standing and (end in layout.board.printed) == onto_star:
                found.append(table.handler.roll(table.standing, start, side))
    return found


def _legal_roll(table: PlayArea, player: str, rng: np.random.Generator) -> Carry:
    return pick(rng, [roll for roll in rolls_of(table, table.own(player)) if as_block(roll.pose).up != "star"])


def wrong_hop(table: PlayArea, player: str, rng: np.random.Generator, symbol: str | None = None) -> Carries:
    """Return a good roll that brings the symbol up (any but the star), and a hop to any open square."""
    rolls = rolls_of(table, table.own(player))
    tops = [(one, as_block(one.pose).up) for one in rolls]
    roll = pick(rng, [one for one, top in tops if (top == symbol if symbol else top != "star")])
    after = table.then(roll)
    return (roll, table.handler.lift(after.standing, roll.end, pick(rng, after.open_places())))


def _hop_missing(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    rolls = rolls_of(table, table.own(player))
    return (pick(rng, [roll for roll in rolls if as_block(roll.pose).up not in {"star", "stop"}]),)


def _rolled_diagonally(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    start = pick(rng, table.own(player))
    columns, rows = (int(step) for step in rng.choice([-1, 1], 2))
    end = table.handler.layout.board.neighbour(start, columns, rows)
    if end is None or end not in table.open_places():
        return None
    side = "east" if columns > 0 else "west"
    faces = roll_faces(table.handler.faces(table.standing[start]), side)
    return (table.handler.lay(table.standing, start, end, faces["up"], faces["north"]),)


def _rolled_too_far(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    first = _legal_roll(table, player, rng)
    after = table.then(first)
    further = [roll for roll in rolls_of(after, [first.end]) if roll.tips_towards == first.tips_towards]
    return (first, further[0]) if further else None


def _opponents_block(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (pick(rng, rolls_of(table, table.opponents(player))),)


def _rolled_onto_star(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    rolls = rolls_of(table, table.own(player), onto_star=True)
    return (pick(rng, [roll for roll in rolls if as_block(roll.pose).up != "star"]),)


def _star_rolled_up(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    rolls = rolls_of(table, table.own(player))
    return (pick(rng, [roll for roll in rolls if as_block(roll.pose).up == "star"]),)


def _moved_without_rolling(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (table.handler.lift(table.standing, *pick_both(rng, table.own(player), table.open_places())),)


def _two_blocks_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    first = _legal_roll(table, player, rng)
    after = table.then(first)
    return (first, pick(rng, [roll for roll in rolls_of(after, after.own(player)) if roll.start != first.end]))


def _turned_over_in_place(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start = pick(rng, table.own(player))
    faces = roll_faces(table.handler.faces(table.standing[start]), COMPASS[int(rng.integers(4))])
    return (table.handler.lay(table.standing, start, start, faces["up"], faces["north"]),)


def _turned_in_place(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start = pick(rng, table.own(player))
    faces = rotate_faces(table.handler.faces(table.standing[start]), int(rng.integers(1, 4)))
    return (table.handler.lay(table.standing, start, start, faces["up"], faces["north"]),)


def _taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (table.handler.take_off(table.standing, pick(rng, table.own(player))),)


_KINDS = (
    ViolationKind("wrong hop", wrong_hop, usual=True),
    ViolationKind("hop missing", _hop_missing, usual=True),
    ViolationKind("rolled diagonally", _rolled_diagonally, usual=True),
    ViolationKind("rolled too far", _rolled_too_far, usual=True),
    ViolationKind("opponent's block moved", _opponents_block, usual=True),
    ViolationKind("rolled onto star", _rolled_onto_star, usual=True),
    ViolationKind("star rolled up", _star_rolled_up, usual=True),
    ViolationKind("moved without rolling", _moved_without_rolling, usual=True),
    ViolationKind("two blocks moved", _two_blocks_moved, usual=True),
    ViolationKind("turned over in place", _turned_over_in_place, usual=True),
    ViolationKind("taken off", _taken_off, usual=True),
    ViolationKind("turned in place", _turned_in_place, only_side_faces=True, usual=True),
)

VIOLATIONS: Mapping[str, ViolationKind] = {kind.name: kind for kind in _KINDS}
"""The usual kinds by name."""


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
