"""How the blocks of Deblockle are handled: rolled, lifted, put down never quite straight, put back.

Violations of the rules are carries too; the engine decides whether one really is illegal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from simulator.play.actions import Arrangement, Carries, Carry, Handler, PlayArea, ViolationKind, pick, pick_both
from simulator.scene.cube import COMPASS, STEPS, axis_of, faces_of, roll_faces, rotate_faces
from simulator.scene.pieces import SYMBOLS, BlockPose, PiecePose, as_block, block_on, changed
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


def _wrong_hop(table: PlayArea, player: str, rng: np.random.Generator, symbol: str | None = None) -> Carries:
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


def _rolled_against_something(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return a roll against another block or over the board's edge, put down on another square."""
    handler, standing = table.handler, table.standing
    blocked = []
    for start in table.own(player):
        for side in COMPASS:
            end = handler.layout.board.neighbour(start, *STEPS[side])
            if end is None or end in standing:
                blocked.append((start, side))
    (start, side), target = pick_both(rng, blocked, table.open_places())
    faces = roll_faces(handler.faces(standing[start]), side)
    return (handler.lay(standing, start, target, faces["up"], faces["north"]),)


def _rolled_over_twice(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    """Return a roll to the next square and another on the spot, which brings the lower side up."""
    roll = pick(rng, rolls_of(table, table.own(player)))
    if roll.tips_towards is None:
        return None
    faces = roll_faces(table.handler.faces(roll.pose), roll.tips_towards)
    return (roll, table.handler.lay(table.then(roll).standing, roll.end, roll.end, faces["up"], faces["north"]))


def _replaced_by_the_others(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return an own block taken off, and the opponent's spare block put there instead."""
    trays = [place for place in table.standing if " tray " in place and not place.startswith(player)]
    start, tray = pick_both(rng, table.own(player), trays)
    off = table.handler.take_off(table.standing, start)
    spare = as_block(table.standing[tray])
    return (off, table.handler.lay(table.standing.after(off), tray, start, spare.up, spare.north))


def _swapped(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    places = [*table.own(player), *table.opponents(player)]
    one, free = pick_both(rng, table.own(player), table.open_places())
    other = pick(rng, [place for place in places if place != one])
    handler, standing = table.handler, table.standing
    aside = handler.lift(standing, one, free)
    standing = standing.after(aside)
    across = handler.lift(standing, other, one)
    standing = standing.after(across)
    return (aside, across, handler.lift(standing, free, other))


def _fallen_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start = pick(rng, [*table.own(player), *table.opponents(player)])
    carry = table.handler.take_off(table.standing, start)
    if rng.random() < 0.5:
        # it rolled under the table
        return (replace(carry, pose=changed(carry.pose, x_mm=2.5 * carry.pose.x_mm, y_mm=450.0)),)
    return (carry,)


def _put_on(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    trays = [place for place in table.standing if " tray " in place]
    trays = [place for place in trays if place.startswith(player)] or trays
    start, end = pick_both(rng, trays, table.open_places())
    spare = as_block(table.standing[start])
    return (table.handler.lay(table.standing, start, end, spare.up, spare.north),)


def _landed_on_block(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    own, foe = pick_both(rng, table.own(player), table.opponents(player))
    off = table.handler.take_off(table.standing, foe)
    return (off, table.handler.lift(table.standing.after(off), own, foe))


def _landed_on_star(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    rolls = [one for one in rolls_of(table, table.own(player)) if as_block(one.pose).up not in {"star", "stop"}]
    stars = [place for place in table.handler.layout.board.printed if place not in table.standing]
    roll, star = pick_both(rng, rolls, stars)
    return (roll, table.handler.lift(table.standing.after(roll), roll.end, star))


def star_of(layout: TableLayout, player: str, *, own: bool) -> str:
    """Return the player's own star, which is the one nearer to them, or the one that is their goal."""
    near, far = sorted(layout.board.printed, key=lambda place: int(place[1:]))
    return near if (player != "teal") == own else far


def _star_up_onto(table: PlayArea, player: str, star: str, rng: np.random.Generator) -> Carry:
    rolls = rolls_of(table, table.own(player), onto_star=True)
    return pick(rng, [one for one in rolls if as_block(one.pose).up == "star" and one.end == star])


def _left_standing_on_goal(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (_star_up_onto(table, player, star_of(table.handler.layout, player, own=False), rng),)


def _left_by_own_star(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return the right roll on the wrong star: the block stays there, or is taken off the board."""
    roll = _star_up_onto(table, player, star_of(table.handler.layout, player, own=True), rng)
    if rng.random() < 0.5:
        return (roll,)
    return (roll, table.handler.take_off(table.then(roll).standing, roll.end))


def _moved_though_stuck(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
    """Return a move by the opponent, who has no square to roll to and so is passed over."""
    foes = table.opponents(player)
    if not foes or rolls_of(table, foes) or rolls_of(table, foes, onto_star=True):
        return None
    return (table.handler.lift(table.standing, *pick_both(rng, foes, table.open_places())),)


def _turned_while_hopping(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return a good roll and a step to a neighbouring square (for cross and x) that turns the block."""
    roll = pick(rng, [one for one in rolls_of(table, table.own(player)) if as_block(one.pose).up in {"cross", "x"}])
    after = table.then(roll)
    board, open_places = table.handler.layout.board, set(after.open_places())
    steps = (
        ((-1, -1), (1, -1), (-1, 1), (1, 1)) if as_block(roll.pose).up == "x" else ((0, -1), (-1, 0), (1, 0), (0, 1))
    )
    end = pick(rng, [place for step in steps if (place := board.neighbour(roll.end, *step)) in open_places])
    faces = rotate_faces(table.handler.faces(roll.pose), int(rng.integers(1, 4)))
    return (roll, table.handler.lay(after.standing, roll.end, end, faces["up"], faces["north"]))


MOVED_THOUGH_STUCK = "moved though stuck"
"""A move by a player who has no legal turn."""

_KINDS = (
    ViolationKind("wrong hop", _wrong_hop, usual=True),
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
    *(
        ViolationKind(f"hopped wrongly with {symbol} up", partial(_wrong_hop, symbol=symbol))
        for symbol in ("stop", "cross", "x", "slider", "hoops")
    ),
    ViolationKind("rolled against something", _rolled_against_something),
    ViolationKind("rolled over twice", _rolled_over_twice),
    ViolationKind("replaced by the other's block", _replaced_by_the_others),
    ViolationKind("two blocks swapped", _swapped),
    ViolationKind("block fallen off", _fallen_off),
    ViolationKind("block put on", _put_on),
    ViolationKind("landed on a block", _landed_on_block),
    ViolationKind("hopped onto a star", _landed_on_star),
    ViolationKind("left standing on the goal", _left_standing_on_goal, star="goal"),
    ViolationKind("left by its own star", _left_by_own_star, star="own"),
    ViolationKind(MOVED_THOUGH_STUCK, _moved_though_stuck),
    ViolationKind("turned while hopping", _turned_while_hopping, only_side_faces=True),
)

VIOLATIONS: Mapping[str, ViolationKind] = {kind.name: kind for kind in _KINDS}
"""Every kind by name."""


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
