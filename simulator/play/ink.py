"""How sheets are written on with pens, and ways to break the rules on purpose."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from common.places import EMPTY
from simulator.play.actions import Arrangement, Carries, Carry, PlayArea, Slack, ViolationKind, pick
from simulator.play.dice import DiceThrower
from simulator.scene.handwriting import Stroke, Writer, loop_around
from simulator.scene.pieces import DiePose, InkPose, PenPose, PiecePose, changed
from simulator.scene.sheets import LyingSheet, dice_tray, die_side_mm, lying_sheets
from vision.frame import FloatArray
from vision.layout.pieces import DicePieces
from vision.layout.table import TableLayout

_CIRCLED = " circled"
_PEN_OUT_MM = 10.0
"""Distance of a pen from the left edge of its sheet."""
_DIE = "die"
ONE_CELL = "one cell written"
"""Name of the violation that writes one cell."""


def unnamed_dice(count: int) -> tuple[str, ...]:
    """Return names for dice that the game does not name."""
    return tuple(f"{_DIE} {number}" for number in range(1, count + 1))


def _pen_name(player: str) -> str:
    return f"pen of {player}"


def _pen_of(standing: Arrangement, player: str) -> PenPose:
    pen = standing[_pen_name(player)]
    if not isinstance(pen, PenPose):
        raise ValueError(f"a {pen.look} is not a pen to write with")
    return pen


def as_ink(piece: PiecePose) -> InkPose:
    """Return the piece as ink; raises ValueError for one of another kind."""
    if not isinstance(piece, InkPose):
        raise ValueError(f"a {piece.look} is not ink; sheets are written on")
    return piece


class SheetHandler(DiceThrower):
    """Writes on sheets, one for each player, each in a handwriting of their own."""

    signs: ClassVar[tuple[str, ...]]
    """The looks that violations write."""

    def __init__(self, layout: TableLayout, slack: Slack, rng: np.random.Generator) -> None:
        super().__init__(layout, slack, rng)
        self._sheets = {sheet.surface.prefix.removesuffix("."): sheet for sheet in lying_sheets(layout)}
        self._hands = {player: Writer(np.random.default_rng(rng.integers(2**32))) for player in self._sheets}
        self.handwritings = {player: writer.steadiness for player, writer in self._hands.items()}

    def set_up(self, looks: Mapping[str, str], text: str = "") -> Arrangement:  # noqa: ARG002 - nothing is written yet
        """Lay a pen beside each sheet, and the dice in the tray."""
        pieces: dict[str, PiecePose] = {}
        for player, sheet in self._sheets.items():
            x, y = _table_point(sheet, (-float(sheet.half_mm[0]) - _PEN_OUT_MM, sheet.surface.bounds_mm.near_mm))
            pieces[_pen_name(player)] = PenPose(x, y, self._pen_colour(player), turned_deg=90.0 + sheet.turned_deg)
        tray = dice_tray(self.layout)
        printed = () if tray is None else DicePieces.on(tray).printed
        dice = dict.fromkeys(unnamed_dice(len(printed or self._sheets)), "white")
        return Arrangement({**pieces, **self.scattered_dice(dice)})

    @abstractmethod
    def _pen_colour(self, player: str) -> str:
        """Return the colour of a player's pen at the start."""

    @abstractmethod
    def looks_after(self, standing: Arrangement, turn: Any) -> dict[str, str]:
        """Return the looks that a turn writes, by place."""

    @abstractmethod
    def _strokes(self, sheet: LyingSheet, place: str, look: str) -> Sequence[Stroke]:
        """Return the strokes of a look, in cells from the centre of its cell, y down."""

    @abstractmethod
    def _pen_for(self, player: str, look: str) -> tuple[str, float]:
        """Return the colour and the width in millimetres of the pen that a player writes a look with."""

    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Return the carries of the player's pen that write a turn."""
        return self.write(standing, turn.player, self.looks_after(standing, turn))

    def shows(self, standing: Arrangement, turn: Any) -> bool:
        """Whether a turn writes anything."""
        return bool(self.looks_after(standing, turn))

    def write(self, standing: Arrangement, player: str, looks: Mapping[str, str]) -> Carries:
        """Write looks on a player's sheet, or rub out, one cell after the other; then lay the pen down again."""
        pen = _pen_of(standing, player)
        circled = [place for place, look in looks.items() if look.endswith(_CIRCLED)]
        carries = [
            self._write_stroke(player, pen, place, ((place, None if look == EMPTY else self._ink(place, look)),))
            for place, look in looks.items()
            if place not in circled
        ]
        if circled:
            digits = tuple((place, self._circle_digit(standing, place, looks[place])) for place in circled)
            ring = self._ring(player, circled)
            name = f"loop {player} {min(circled)}"
            carries.append(self._write_stroke(player, pen, circled[0], (*digits, (name, ring))))
        return (*carries, Carry(_pen_name(player), _pen_name(player), pen))

    def _write_stroke(
        self, player: str, pen: PenPose, place: str, written: tuple[tuple[str, PiecePose | None], ...]
    ) -> Carry:
        x, y = self._middle(place)
        look = next((one.look for _, one in written if one is not None), "")
        colour = self._pen_for(player, look)[0] if look else pen.colour
        return Carry(_pen_name(player), _pen_name(player), changed(pen, x_mm=x, y_mm=y, colour=colour), written=written)

    def _circle_digit(self, standing: Arrangement, place: str, look: str) -> InkPose:
        """Return the ink of a circled digit: the digit there, or a new one if it differs."""
        digit = look.removesuffix(_CIRCLED)
        lies = standing.get(place)
        return changed(as_ink(lies) if lies is not None and lies.look == digit else self._ink(place, digit), look=look)

    def _ink(self, place: str, look: str) -> InkPose:
        sheet = self._sheet_of(place)
        player = place.partition(".")[0]
        x, y = self._middle(place)
        colour, width_mm = self._pen_for(player, look)
        strokes = self._strokes(sheet, place, look)
        return InkPose(x, y, place, look, colour, _strokes_mm(sheet, strokes), width_mm)

    def _ring(self, player: str, circled: Sequence[str]) -> InkPose:
        sheet = self._sheets[player]
        names = [place.removeprefix(sheet.surface.prefix) for place in circled]
        columns, rows = [ord(name[0]) for name in names], [int(name[1:]) for name in names]
        left, top = min(columns), max(rows)
        mask = np.zeros((top - min(rows) + 1, max(columns) - left + 1), dtype=bool)
        for column, row in zip(columns, rows, strict=True):
            mask[top - row, column - left] = True
        corner = f"{sheet.surface.prefix}{chr(left)}{top}"
        x, y = self._middle(corner)
        strokes = [stroke - 0.5 for stroke in loop_around(mask, self._rng)]
        colour, width_mm = self._pen_for(player, _CIRCLED)
        return InkPose(x, y, "", "loop", colour, _strokes_mm(sheet, strokes), width_mm)

    def _sheet_of(self, place: str) -> LyingSheet:
        return self._sheets[place.partition(".")[0]]

    def _middle(self, place: str) -> tuple[float, float]:
        sheet = self._sheet_of(place)
        return _table_point(sheet, sheet.surface.centre_mm(place))

    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Rub out the ink on ``start`` and write the same look on ``end``."""
        player = start.partition(".")[0]
        pen = _pen_of(standing, player)
        return self._write_stroke(player, pen, end, ((start, None), (end, self._ink(end, standing[start].look))))

    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Rub out the ink on ``start``."""
        return self.write(standing, start.partition(".")[0], {start: EMPTY})[0]

    def nudge(self, standing: Arrangement, start: str) -> Carry:
        """Trace the ink on ``start``."""
        return self.nudges(standing, start)[0]

    def nudges(self, standing: Arrangement, start: str) -> Carries:
        """Trace the ink on ``start``, and lay the pen down again."""
        look = as_ink(standing[start]).look
        player = start.partition(".")[0]
        traced = changed(self._ink(start, look.removesuffix(_CIRCLED)), look=look)
        carry, back = self.write(standing, player, {start: EMPTY})
        return (replace(carry, written=((start, traced),)), back)

    def put_back(self, before: Arrangement, now: Arrangement) -> Carries:
        """Rub out ink that is not in ``before``, and write again ink that was rubbed out."""
        carries: list[Carry] = []
        for player in self._sheets:
            pen = _pen_of(now, player)
            differing = {
                name for name in {*before, *now} if _sheet_owner(name) == player and before.get(name) != now.get(name)
            }
            for name in sorted(differing):
                at = name if name in self.layout.places else min(self._sheets[player].surface.places)
                carries.append(self._write_stroke(player, pen, at, ((name, before.get(name)),)))
            if differing:
                carries.append(Carry(_pen_name(player), _pen_name(player), before[_pen_name(player)]))
        for name, piece in before.items():
            if isinstance(piece, DiePose) and piece != now[name]:
                carries.append(Carry(name, name, piece))
        return tuple(carries)

    def owner(self, piece: PiecePose) -> str:
        """Return the player on whose sheet the ink is; ``""`` for pens, loops and dice."""
        return piece.place.partition(".")[0] if isinstance(piece, InkPose) else ""


def _sheet_owner(name: str) -> str:
    """Return the player whose sheet a place or loop is on; ``""`` for pens and dice."""
    return name.split()[1] if name.startswith("loop ") else name.partition(".")[0]


def _table_point(sheet: LyingSheet, point_mm: tuple[float, float]) -> tuple[float, float]:
    x, y = sheet.on_table(np.array(point_mm))
    return float(x), float(y)


def _strokes_mm(sheet: LyingSheet, strokes: Sequence[Stroke]) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Convert strokes in cells, y down, to millimetres on the table."""
    middle = sheet.on_table(np.zeros(2))
    scale: FloatArray = np.array([1.0, -1.0]) * sheet.surface.cell_mm
    turned = (sheet.on_table(stroke * scale) - middle for stroke in strokes)
    return tuple(tuple((float(x), float(y)) for x, y in stroke) for stroke in turned)


class NumberSheetHandler(SheetHandler):
    """Writes digits, crosses and loops: the sheets of Number Drop."""

    signs: ClassVar[tuple[str, ...]] = tuple(f"digit {digit}" for digit in range(1, 8))
    _PENS = (("black", 0.5), ("blue", 0.7), ("pencil", 0.6), ("black", 0.8))

    def _pen_colour(self, player: str) -> str:
        return self._pen_for(player, "")[0]

    def _pen_for(self, player: str, look: str) -> tuple[str, float]:  # noqa: ARG002 - everybody keeps their pen
        return self._PENS[list(self._sheets).index(player) % len(self._PENS)]

    def looks_after(self, standing: Arrangement, turn: Any) -> dict[str, str]:
        """Return the digits of a drop or the set-up, the crosses of a penalty, or circled digits for a loop."""
        digits = getattr(turn, "digits", None) or getattr(turn, "digit", None)
        if digits is not None:
            return {place: f"digit {digit}" for place, digit in zip(turn.places, digits, strict=True)}
        if hasattr(turn, "letter"):
            return {place: f"{standing[place].look}{_CIRCLED}" for place in turn.places}
        return dict.fromkeys(turn.places, "cross")

    def _strokes(self, sheet: LyingSheet, place: str, look: str) -> Sequence[Stroke]:  # noqa: ARG002
        hand = self._hands[place.partition(".")[0]]
        return hand.sign("X" if look == "cross" else look.removeprefix("digit ").removesuffix(_CIRCLED))


_SPACINGS = (0.1, 0.14, 0.22)
"""Distance between the lines that fill or hatch a cell, in cells, by player."""
_ASIDE_MM = 13.0
"""Distance from the upper edge of a player's sheet to a die that they took."""


class ColourSheetHandler(SheetHandler):
    """Fills cells with felt pens: the sheets of the Blokus Dice Game."""

    signs: ClassVar[tuple[str, ...]] = ("red", "blue", "yellow", "green")
    _FELT_MM = 2.0

    def _pen_colour(self, player: str) -> str:
        return self.signs[list(self._sheets).index(player)]

    def _pen_for(self, player: str, look: str) -> tuple[str, float]:  # noqa: ARG002 - the pens go round
        return look, self._FELT_MM

    def looks_after(self, standing: Arrangement, turn: Any) -> dict[str, str]:  # noqa: ARG002
        """Return the squares of a shape, in the colour in hand."""
        return dict.fromkeys(turn.places, turn.colour)

    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Take the die out of the tray, and draw the shape."""
        carries = super().carries_of(standing, turn)
        taken = self._die(standing, turn.die)
        if taken is None:
            return carries
        x, y = self._aside(standing, turn.player)
        aside = changed(standing[taken], x_mm=x, y_mm=y, base_mm=0.0)
        return (Carry(taken, taken, aside), *carries)

    def _aside(self, standing: Arrangement, player: str) -> tuple[float, float]:
        """Return the first point of a row along the upper edge of a player's sheet where no die lies."""
        sheet, step_mm = self._sheets[player], 2 * die_side_mm(self.layout)
        dice = [piece for piece in standing.values() if isinstance(piece, DiePose)]
        row = (_table_point(sheet, (n * step_mm, float(sheet.half_mm[1]) + _ASIDE_MM)) for n in range(len(dice) + 1))
        return next(point for point in row if self.has_room(point, dice))

    def _die(self, standing: Arrangement, value: int) -> str | None:
        """Return the name of a die in the tray that shows a value."""
        lying = {name: piece for name, piece in standing.items() if isinstance(piece, DiePose)}
        return next((name for name, die in lying.items() if die.value == value and self.in_tray(die)), None)

    def _strokes(self, sheet: LyingSheet, place: str, look: str) -> Sequence[Stroke]:  # noqa: ARG002
        spacing = _SPACINGS[list(self._sheets).index(place.partition(".")[0]) % len(_SPACINGS)]
        half = float(self._rng.uniform(0.36, 0.44))
        heights = np.arange(-half, half, spacing)
        ends = np.where(np.arange(len(heights)) % 2 == 0, -half, half) + self._rng.normal(0.0, 0.02, len(heights))
        there = np.column_stack([ends, heights])
        back = np.column_stack([-ends, heights + spacing / 2])
        turn = math.radians(float(self._rng.choice([0.0, 90.0])) + float(self._rng.normal(0.0, 3.0)))
        turned = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        return [np.stack([there, back], axis=1).reshape(-1, 2) @ turned]


def _write(table: PlayArea, player: str, looks: Mapping[str, str]) -> Carries:
    return table.handler.write(table.standing, player, looks)  # type: ignore[no-any-return]


def _bare(table: PlayArea, player: str) -> list[str]:
    return [place for place in table.open_places() if place.startswith(f"{player}.")]


def _rubbed_out(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return _write(table, player, {pick(rng, table.own(player)): EMPTY})


def _written_anywhere(looks: Sequence[str], count: int) -> Callable[..., Carries | None]:
    def carries(table: PlayArea, player: str, rng: np.random.Generator) -> Carries | None:
        bare = _bare(table, player)
        chosen = {bare[int(rng.integers(len(bare)))] for _ in range(count)} if bare else set()
        return _write(table, player, {place: str(rng.choice(looks)) for place in sorted(chosen)}) if chosen else None

    return carries


def _written_over(looks: Sequence[str]) -> Callable[..., Carries]:
    def carries(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
        place = pick(rng, table.own(player))
        written = table.standing[place].look.removesuffix(_CIRCLED)
        return _write(table, player, {place: str(rng.choice([one for one in looks if one != written]))})

    return carries


def _on_another_sheet(looks: Sequence[str]) -> Callable[..., Carries]:
    def carries(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
        place = pick(rng, [place for place in table.open_places() if not place.startswith(f"{player}.")])
        return _write(table, place.partition(".")[0], {place: str(rng.choice(looks))})

    return carries


def _kinds(looks: Sequence[str]) -> dict[str, ViolationKind]:
    ways: dict[str, Callable[..., Carries | None]] = {
        "rubbed out": _rubbed_out,
        ONE_CELL: _written_anywhere(looks, 1),
        "four cells written": _written_anywhere(looks, 4),
        "written over": _written_over(looks),
        "another's sheet": _on_another_sheet(looks),
    }
    return {name: ViolationKind(name, carries, usual=True) for name, carries in ways.items()}


NumberSheetHandler.violations = _kinds(NumberSheetHandler.signs)
ColourSheetHandler.violations = _kinds(ColourSheetHandler.signs)
