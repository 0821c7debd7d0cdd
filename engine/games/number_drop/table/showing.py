"""The turns that could show what is seen of the sheets, found digit by digit where thousands could be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from engine.games.number_drop import flow
from engine.games.number_drop.components import DIGITS, STAR
from engine.games.number_drop.drops import landings, turned_shapes
from engine.games.number_drop.play.combinations import found_in, unused_digits
from engine.games.number_drop.sheet import BONUS_BOX, BONUS_SIZE, BOXES, CROSS, GRID, LETTERS, SMALLEST
from engine.games.number_drop.state import (
    PLAYERS,
    Combination,
    Drop,
    NumberDropState,
    NumberDropTurn,
    Phase,
    appearance_of,
    look_of,
)
from engine.games.number_drop.turns import turns_of
from engine.showing import CouldBe, Seen
from engine.support.grid import set_of


def turns_showing(state: NumberDropState, could_be: CouldBe) -> Iterator[NumberDropTurn]:
    """Every legal turn after which the sheets could look so, player by player; see ``engine.showing``.

    It is one turn of one player: where several have written, each one's sheet has to be asked about by itself.
    """
    seen = Seen(appearance_of(state), could_be)
    for player in state.busy():
        sheet = _SeenSheet(state, player, seen)
        if not sheet.others_changed:
            yield from sheet.turns()


class _SeenSheet:
    """What one player's sheet could show, and the turns of that player which fit it."""

    def __init__(self, state: NumberDropState, player: int, seen: Seen) -> None:
        self._state = state
        self._player = player
        self._name = PLAYERS[player]
        self._seen = seen
        squares = {f"{self._name}.{name}": square for square, name in enumerate(GRID.names)}
        self.others_changed = not seen.changed <= squares.keys()
        self._changed = set_of(*(squares[place] for place in seen.changed & squares.keys()))

    def turns(self) -> Iterator[NumberDropTurn]:
        if self._state.combining >> self._player & 1:
            yield from self._combinations()
        elif self._state.phase is Phase.DROP:
            yield from self._drops()
        else:
            changes = ((turn, self._written(turn)) for turn in turns_of(self._state, self._player))
            yield from self._seen.nearest_first(changes)

    def _written(self, turn: NumberDropTurn) -> dict[str, str]:
        """The looks that a first digit or a penalty changes; a slide changes none."""
        return dict.fromkeys(turn.places, look_of(getattr(turn, "digit", CROSS), False))

    def _drops(self) -> Iterator[Drop]:
        shapes = turned_shapes(self._state.settings.components, self._state.roll[-1])
        for cells in sorted(landings(self._state.sheets[self._player].heights, shapes), key=len):
            if self._changed & ~set_of(*cells):
                continue
            for digits in _digits_for([self._digits_at(square) for square in cells], self._state.roll[:-1]):
                yield Drop(self._name, tuple(GRID.names[square] for square in cells), digits)

    def _digits_at(self, square: int) -> str:
        place = f"{self._name}.{GRID.names[square]}"
        return "".join(digit for digit in DIGITS if self._seen.could_show(place, look_of(digit, False)))

    def _combinations(self) -> Iterator[Combination]:
        """None first, then the small loops."""
        if not self._changed:
            yield Combination(self._name)
        sheet = self._state.sheets[self._player]
        could_loop = [
            set_of(*(square for square in range(GRID.squares) if squares >> square & 1 and self._loops(square, digit)))
            for digit, squares in enumerate(unused_digits(sheet))
        ]
        for size in range(max(SMALLEST, self._changed.bit_count()), BONUS_SIZE + 1):
            # A box that holds something is passed over, so all of other sizes are taken to be full.
            loops = [
                loop if box_size == size else GRID.every for loop, (_, box_size) in zip(sheet.loops, BOXES, strict=True)
            ]
            for box, squares in found_in(could_loop, loops):
                if self._changed & ~squares:
                    continue
                yield Combination(self._name, GRID.names_of(squares))
                if box != BONUS_BOX and flow.letter_open(self._state, self._player, box):
                    yield Combination(self._name, GRID.names_of(squares), LETTERS[box % 5])

    def _loops(self, square: int, digit: int) -> bool:
        return self._seen.could_show(f"{self._name}.{GRID.names[square]}", look_of(str(digit), True))


def _digits_for(allowed: Sequence[Collection[str]], faces: Sequence[str]) -> Iterator[str]:
    """Every way to write these dice, stars as any digits, one in each cell, only digits that are allowed there."""
    fixed = Counter(face for face in faces if face != STAR)

    def written(cell: int, stars: int) -> Iterator[str]:
        if cell == len(allowed):
            yield ""
            return
        for digit in allowed[cell]:
            # A die that shows the digit goes before a star: it could be written nowhere better.
            die = fixed[digit] > 0
            if die or stars:
                fixed[digit] -= die
                yield from (digit + rest for rest in written(cell + 1, stars - (not die)))
                fixed[digit] += die

    if len(allowed) == len(faces):
        yield from written(0, len(faces) - fixed.total())
