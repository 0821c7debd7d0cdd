"""How the pyramids of Blockade are handled: stacked, lifted off, capped; and ways to break its rules on purpose."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from simulator.play.actions import Arrangement, Carries, Carry, PlayArea, ViolationKind, pick, pick_both
from simulator.play.dice import DiceThrower
from simulator.scene.pieces import DiePose, PiecePose, Pyramid, StackPose, changed
from simulator.scene.sheets import dice_tray
from vision.layout.pieces import DicePieces, PyramidPieces

_COLOURS = MappingProxyType({"R": "red", "Y": "yellow", "G": "green", "B": "blue", "C": "clear", "K": "black"})
_OWNERS = MappingProxyType({"red": "warm", "yellow": "warm", "green": "cool", "blue": "cool"})
_TOWER = ("L", "M", "S")
_NEST_OFF_MM = 0.5
"""Offset of a nested pyramid from the axis of the one below, standard deviation."""
_NEST_TURN_DEG = 1.5  # standard deviation of how nested pyramids are turned
_SUPPLY = ("L", "M", "S")
_SUPPLY_EACH = 5  # of each size, beside the board
_SUPPLY_STEP_MM = 29.0  # between them
_TRAY = "beside"
_MOST_PIPS = 4  # of an easy roll


def die_name(colour: str) -> str:
    """Return a die's place in an arrangement."""
    return f"{colour} die"


def as_stack(piece: PiecePose) -> StackPose:
    """Return the piece as a stack; raises ValueError for one of another kind."""
    if not isinstance(piece, StackPose):
        raise ValueError(f"a {piece.look} is not a stack; Blockade is played with pyramids")
    return piece


def _same_piece(one: Pyramid, other: Pyramid) -> bool:
    return (one.size, one.colour) == (other.size, other.colour)


class StackHandler(DiceThrower):
    """Makes carries of the top pyramids of stacks, and of caps from the supply."""

    def set_up(self, looks: Mapping[str, str], text: str = "") -> Arrangement:
        """Stack what the start's text says on each square, and lay the black supply out on the left."""
        pieces: dict[str, PiecePose] = {}
        for place, pile in parse_piles(text):
            if place in looks:
                x, y = self.layout.centre_mm(place)
                right, away = self._offset_mm(self._slack.most_mm)
                bottom, *above = pile
                nested = (self._nest(size, colour) for size, colour in above)
                pyramids = (Pyramid(*bottom), *nested)
                pieces[place] = StackPose(x + right, y + away, pyramids, turned_deg=self._turned_deg())
        standing = Arrangement(pieces)
        for size in _SUPPLY:
            for _ in range(_SUPPLY_EACH):
                x, y, name = self._beside(standing)
                standing = Arrangement({**standing, name: StackPose(x, y, (Pyramid(size, "black"),), base_mm=0.0)})
        tray = dice_tray(self.layout)
        colours = () if tray is None else DicePieces.on(tray).colours
        return Arrangement({**standing, **self.scattered_dice({die_name(colour): colour for colour in colours})})

    def _nest(self, size: str, colour: str) -> Pyramid:
        offset = (self.clipped_normal(_NEST_OFF_MM, 1.2), self.clipped_normal(_NEST_OFF_MM, 1.2))
        return Pyramid(size, colour, offset, self.clipped_normal(_NEST_TURN_DEG, 4.0))

    def _beside(self, standing: Arrangement) -> tuple[float, float, str]:
        number = next(one for one in range(1, 100) if f"{_TRAY} {one}" not in standing)
        half = self.layout.board.bounds_mm.right_mm
        column, row = divmod(number - 1, 8)
        return (-half - 24.0 - column * _SUPPLY_STEP_MM, (3.5 - row) * _SUPPLY_STEP_MM, f"{_TRAY} {number}")

    def is_easy(self, faces: Sequence[str]) -> bool:
        """Whether a roll has few pips: others allow up to hundreds of thousands of turns, too many to draw one fast."""
        return sum(map(int, faces)) <= _MOST_PIPS

    def throw_dice(self, standing: Arrangement, faces: Mapping[str, str]) -> Carries:
        """Return the carries that throw dice, by colour, so that they show these faces."""
        return super().throw_dice(standing, {die_name(colour): face for colour, face in faces.items()})

    def shows(self, standing: Arrangement, turn: Any) -> bool:
        """Whether a turn changes the table."""
        after = standing.after_all(self.carries_of(standing, turn))
        return after.appearance(self.layout.board.places) != standing.appearance(self.layout.board.places)

    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Return the carries that play a turn: its moves, and a cap from the supply on each tower as it is made."""
        carries: list[Carry] = []
        for move in turn.moves:
            carries.append(self.lift(standing, move.start, move.end))
            standing = standing.after(carries[-1])
            if _is_tower(as_stack(standing[move.end])):
                cap = self._largest_black(standing)
                if cap is not None:
                    carries.append(self.lift(standing, cap, move.end))
                    standing = standing.after(carries[-1])
        return tuple(carries)

    @staticmethod
    def _largest_black(standing: Arrangement) -> str | None:
        supply = {
            place: as_stack(piece).pyramids[0].size for place, piece in standing.items() if place.startswith(_TRAY)
        }
        return min(supply, key=lambda place: _SUPPLY.index(supply[place]), default=None)

    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Lift the top pyramid of a stack onto another, or onto a free place."""
        below, target = as_stack(standing[start]), standing.get(end)
        top = below.pyramids[-1]
        left = changed(below, pyramids=below.pyramids[:-1]) if len(below.pyramids) > 1 else None
        taken = self._top_alone(below)
        if target is None:
            x, y, end = self._beside(standing) if end.startswith(_TRAY) else (*self.layout.centre_mm(end), end)
            base = 0.0 if end.startswith(_TRAY) else None
            pose = StackPose(x, y, (Pyramid(top.size, top.colour),), turned_deg=self._turned_deg(), base_mm=base)
            return Carry(start, end, pose, taken=taken, left=left)
        onto = as_stack(target)
        joined = changed(onto, pyramids=(*onto.pyramids, self._nest(top.size, top.colour)))
        return Carry(start, end, self._top_alone(joined), taken=taken, left=left, joined=joined)

    def _top_alone(self, pile: StackPose) -> StackPose:
        """Return the top pyramid of a stack as a piece of its own, in its present position."""
        elevations = PyramidPieces.on(self.layout.board).elevations_mm([one.size for one in pile.pyramids])
        base = self.layout.board.height_mm if pile.base_mm is None else pile.base_mm
        return changed(pile, pyramids=pile.pyramids[-1:], base_mm=base + elevations[-1])

    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Take the top pyramid off a stack and stand it beside the board."""
        return self.lift(standing, start, self._beside(standing)[2])

    def nudge(self, standing: Arrangement, start: str) -> Carry:
        """Straighten a whole stack on its square."""
        x, y = self.layout.centre_mm(start)
        right, away = self._offset_mm(self._slack.most_mm)
        pose = changed(
            as_stack(standing[start]), x_mm=x + right, y_mm=y + away, turned_deg=self._turned_deg(), base_mm=None
        )
        return Carry(start, start, pose)

    def put_back(self, before: Arrangement, now: Arrangement) -> Carries:
        """Return the carries that bring each pyramid back to where it was; those in the way are taken off first."""
        carries: list[Carry] = []

        def do(carry: Carry) -> None:
            nonlocal now
            carries.append(carry)
            now = now.after(carry)

        for place in self.layout.board.places:
            while len(_pile(now, place)) > _count_common(_pile(before, place), _pile(now, place)):
                do(self.take_off(now, place))
        for place in self.layout.board.places:
            for wanted in _pile(before, place)[len(_pile(now, place)) :]:
                source = next(
                    one for one in now if one.startswith(_TRAY) and _same_piece(as_stack(now[one]).pyramids[-1], wanted)
                )
                do(self.lift(now, source, place))
        return tuple(carries)

    def owner(self, piece: PiecePose) -> str:
        """Return who may move the top pyramid, or throws a die; ``""`` for clear, black and large pyramids."""
        if isinstance(piece, DiePose):
            return _OWNERS[piece.colour]
        top = as_stack(piece).pyramids[-1]
        return "" if top.size == "L" else _OWNERS.get(top.colour, "")


def parse_piles(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Parse a position such as ``a1:CL+YMMMMM``: the size and colour of each place's pyramids, lowest first."""
    for word in text.split():
        place, colon, pile = word.partition(":")
        if colon and place[1:].isdecimal():
            yield place, [(size, _COLOURS[part[0]]) for part in pile.split("+") for size in part[1:]]


def _is_tower(pile: StackPose) -> bool:
    sizes = tuple(pyramid.size for pyramid in pile.pyramids)
    return sizes == _TOWER and len({pyramid.colour for pyramid in pile.pyramids}) == 1


def _pile(standing: Arrangement, place: str) -> tuple[Pyramid, ...]:
    return as_stack(standing[place]).pyramids if place in standing else ()


def _count_common(one: Sequence[Pyramid], other: Sequence[Pyramid]) -> int:
    """Return the number of equal pyramids in both, from below to the first difference."""
    for number, (first, second) in enumerate(zip(one, other, strict=False)):
        if not _same_piece(first, second):
            return number
    return min(len(one), len(other))


def _onto(table: PlayArea, rng: np.random.Generator, starts: Sequence[str]) -> Carries:
    """Return the top of one of these stacks lifted onto any other stack."""
    start = pick(rng, starts)
    end = pick(rng, [place for place in table.handler.layout.board.places if place != start])
    return (table.handler.lift(table.standing, start, end),)


def _opponents_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return _onto(table, rng, table.opponents(player))


def _moved_anywhere(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return an own piece put onto another colour, or farther away than its points."""
    return _onto(table, rng, table.own(player))


def _fixed_moved(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:  # noqa: ARG001
    """Return a large, a clear or a black piece moved."""
    places = table.handler.layout.board.places
    return _onto(table, rng, [place for place in places if not table.handler.owner(table.standing[place])])


def _taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    start = pick(rng, [*table.own(player), *table.opponents(player)])
    return (table.handler.take_off(table.standing, start),)


def _black_put_on(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    """Return a black piece put where no tower was made."""
    supply = [place for place in table.standing if place.startswith(_TRAY)]
    return (table.handler.lift(table.standing, *pick_both(rng, supply, table.own(player))),)


_KINDS = (
    ViolationKind("opponent's piece moved", _opponents_moved, usual=True),
    ViolationKind("moved anywhere", _moved_anywhere, usual=True),
    ViolationKind("large or clear moved", _fixed_moved, usual=True),
    ViolationKind("piece taken off", _taken_off, usual=True),
    ViolationKind("black without a tower", _black_put_on, usual=True),
)

StackHandler.violations = {kind.name: kind for kind in _KINDS}
