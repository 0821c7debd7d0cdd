"""The dice and penalty tiles, and one player's sheet: its marks, points, and how shapes fall into it.

A sheet's cells are squares of a grid, a1 at the bottom left; lines are rows. A *box* is a combination that scores once:
3 to 7 identical digits, 3 to 7 consecutive digits, and one box for eight of either kind. Identical digits are a
connected set of exactly as many equal digits as the box requires, even within a larger patch. Consecutive digits are a
path of digits that rise by one from cell to cell.

How shapes fall: straight down from the top until they rest on the floor or on a filled cell. Only the heights of the
columns matter, since a falling shape never enters the holes below them. A shape can't be dropped where part of it would
lie outside the sheet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import combinations_with_replacement, islice, pairwise, permutations
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from common.phrases import Phrase, counted
from engine.errors import UnreadableError
from engine.printing import Box, BoxGroup, PrintedSheet
from engine.support.grid import Grid, Shape, members, orientations, picture, read_picture, set_of, union
from engine.values import OptionValue

STAR = "*"
DIGITS = "0123456789"
SHAPES = "IOTLS"
"""The shapes on the shape die; each has the drawing of the solo face that starts with its letter."""

NUMBER_DICE, FACES_A_DIE, TILES = 4, 6, 5
_PRINTED_DICE = ("1*3457", "12*456", "234*67", "123567", "IOTLS*")
_PRINTED_TILES = (("I4", "V3"), ("L4", "I3"), ("O4", "U5"), ("T4", "X5"), ("S4", "T5"))
"""The faces for the solo game, and those on the other sides."""
_DRAWINGS = {
    "I4": "XXXX",
    "L4": "X../XXX",
    "O4": "XX/XX",
    "T4": ".X./XXX",
    "S4": ".XX/XX.",
    "V3": "X./XX",
    "I3": "XXX",
    "U5": "X.X/XXX",
    "X5": ".X./XXX/.X.",
    "T5": "XXX/.X./.X.",
}
"""Each tile face, the top row first."""


@dataclass(frozen=True, eq=False)
class Components:
    """The dice, each a text of its faces (the shape die last), and the tiles, each a pair of its solo and other face.

    Made once for each setting, so they are compared by identity.
    """

    dice: tuple[str, ...]
    tiles: tuple[tuple[str, str], ...]
    shapes: Mapping[str, Shape]

    def turned(self, face: str) -> tuple[Shape, ...]:
        """Return every rotation and reflection of a tile face, or of a shape on the shape die if given its letter."""
        return orientations(self.shapes[face if face in self.shapes else f"{face}4"])


@cache
def printed_components() -> Components:
    """Return the components that come with the game."""
    shapes = {name: read_picture(drawn) for name, drawn in _DRAWINGS.items()}
    return Components(_PRINTED_DICE, _PRINTED_TILES, MappingProxyType(shapes))


def read_dice(text: str) -> tuple[str, ...]:
    """Read dice from the text of their faces, ``1*3457/12*456/234*67/123567/IOTLS*``; raises UnreadableError."""
    dice = tuple(part.strip().upper() for part in text.split("/"))
    if len(dice) != NUMBER_DICE + 1:
        count = counted(len(dice), "die", "dice")
        raise UnreadableError(
            Phrase("{text!r} has {count}; expected {number_dice} number dice and a shape die", text, count, NUMBER_DICE)
        )
    for index, die in enumerate(dice):
        allowed = (DIGITS if index < NUMBER_DICE else SHAPES) + STAR
        column = sum(len(before) + 1 for before in text.split("/")[:index]) + 1
        if len(die) != FACES_A_DIE or not set(die) <= set(allowed):
            raise UnreadableError(
                Phrase(
                    "die {index} of {text!r} is {got!r}; expected {count} faces out of {allowed}",
                    index + 1,
                    text,
                    die,
                    FACES_A_DIE,
                    allowed,
                ),
                column,
            )
    return dice


GRID = Grid(7, 14)
COLUMNS, LINES = GRID.columns, GRID.rows
SQUARES = GRID.squares
NEIGHBOURS: tuple[tuple[int, ...], ...] = tuple(
    tuple(members(GRID.adjacent_to(1 << square))) for square in range(SQUARES)
)
"""The squares beside each square, in rising order."""

LINES_BELOW_GAME_OVER = 11
EMPTY_CELL, CROSS = ".", "X"
EMPTY_CELLS = EMPTY_CELL * SQUARES

SMALLEST, LARGEST, BONUS_SIZE = 3, 7, 8
LETTERS = "ABCDE"
"""The slots of the penalty tiles; letter k belongs to the combinations of size 3 + k."""

IDENTICAL, CONSECUTIVE, BONUS = "same", "run", "bonus"
BOXES: tuple[tuple[str, int], ...] = (
    *((IDENTICAL, size) for size in range(SMALLEST, LARGEST + 1)),
    *((CONSECUTIVE, size) for size in range(SMALLEST, LARGEST + 1)),
    (BONUS, BONUS_SIZE),
)
BONUS_BOX = len(BOXES) - 1
SAME_BOXES, RUN_BOXES = range(5), range(5, BONUS_BOX)
"""The boxes of identical and of consecutive digits, by size."""
SLOT_OF_BOX = (*SAME_BOXES, *SAME_BOXES)
"""The index in LETTERS of each box's letter; the bonus box has none."""
OTHER_OF_SIZE = (*RUN_BOXES, *SAME_BOXES)
"""The box of the same size and the other kind, for each box but the bonus box."""
FULL_COLUMN_POINTS, FULL_LINE_POINTS, GAME_OVER_POINTS = 10, 2, -5


def printed_sheet(options: Mapping[str, OptionValue] | None = None) -> PrintedSheet:  # noqa: ARG001 - one for all
    """Return the sheet as printed, the same for every player and under all options."""
    sizes = tuple(Box(str(size)) for size in range(SMALLEST, LARGEST + 1))
    above = LINES - LINES_BELOW_GAME_OVER
    groups = (
        BoxGroup(Phrase("Same digits, +{full_column_points} all", FULL_COLUMN_POINTS), sizes),
        BoxGroup(Phrase("In a row, +{full_column_points} all", FULL_COLUMN_POINTS), sizes),
        BoxGroup("Either", (Box(str(BONUS_SIZE)),)),
        BoxGroup("Letters", tuple(map(Box, LETTERS))),
        *(BoxGroup(title, (Box(),)) for title in (Phrase("Sum of boxes"), Phrase("Sum of lines"), "Score")),
    )
    line_boxes = (f"+{FULL_LINE_POINTS}",) * LINES_BELOW_GAME_OVER + (str(GAME_OVER_POINTS),) * above
    printed = printed_components()
    tiles = tuple(tuple(Box(face, picture(printed.shapes[face])) for face in tile) for tile in printed.tiles)
    return PrintedSheet(COLUMNS, LINES, groups, (), line_boxes, LINES_BELOW_GAME_OVER, tiles)


class Points(NamedTuple):
    """A sheet's points by category; their sum is the score."""

    combinations: int
    full_columns: int
    full_lines: int
    game_over_lines: int


def box_of(kind: str, size: int) -> int:
    """Return the index in BOXES of a combination of this kind and size, 3 to 8."""
    return BONUS_BOX if size == BONUS_SIZE else (SAME_BOXES if kind == IDENTICAL else RUN_BOXES)[size - SMALLEST]


def kind_of_digits(digits: str) -> str | None:
    """Return the kind of these digits in any order: all equal, consecutive, or ``None``."""
    if len(set(digits)) == 1:
        return IDENTICAL
    ordered = sorted(map(int, digits))
    return CONSECUTIVE if ordered == list(range(ordered[0], ordered[0] + len(ordered))) else None


def box_of_marks(marks: str) -> int | None:
    """Return the index in BOXES of the combination that these marks of a sheet make, in any order, or ``None``."""
    if not (marks.isdecimal() and SMALLEST <= len(marks) <= BONUS_SIZE):
        return None
    kind = kind_of_digits(marks)
    return None if kind is None else box_of(kind, len(marks))


@dataclass(frozen=True)
class Sheet:
    """A sheet: ``cells`` by square (a digit, ``X`` or ``.``), ``loops`` by box (sets of squares, 0 for an open box),
    and ``letters``, the set of circled letters.
    """

    cells: str = EMPTY_CELLS
    loops: tuple[int, ...] = (0,) * len(BOXES)
    letters: int = 0

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The height of each column: the number of lines up to its highest filled cell."""
        return tuple(len(self.cells[column::COLUMNS].rstrip(EMPTY_CELL)) for column in range(COLUMNS))

    @property
    def holes(self) -> int:
        """The number of empty cells below filled ones."""
        return sum(self.heights) - (SQUARES - self.cells.count(EMPTY_CELL))

    @cached_property
    def circled(self) -> int:
        """The squares in any loop."""
        return union(self.loops)

    @property
    def earned_letters(self) -> int:
        """The set of letters both of whose boxes are filled."""
        pairs = enumerate(zip(SAME_BOXES, RUN_BOXES, strict=True))
        return set_of(slot for slot, (same, run) in pairs if self.loops[same] and self.loops[run])

    def line(self, line: int) -> str:
        """Return the cells of a line, counted from 0 at the bottom."""
        return self.cells[line * COLUMNS : (line + 1) * COLUMNS]

    def full_lines(self) -> tuple[int, ...]:
        """Return the filled lines below the Game Over line, counted from 0 at the bottom."""
        return tuple(line for line in range(LINES_BELOW_GAME_OVER) if EMPTY_CELL not in self.line(line))

    def game_over_lines(self, x_counts: bool) -> tuple[int, ...]:
        """Return the lines above the Game Over line with a digit in them (or, with ``x_counts``, an X)."""
        if max(self.heights) <= LINES_BELOW_GAME_OVER:
            return ()
        blank = {EMPTY_CELL} if x_counts else {EMPTY_CELL, CROSS}
        return tuple(line for line in range(LINES_BELOW_GAME_OVER, LINES) if set(self.line(line)) - blank)

    def points(self, x_counts: bool) -> Points:
        """Return the current points by category."""
        return Points(
            sum(size for (_, size), loop in zip(BOXES, self.loops, strict=True) if loop),
            FULL_COLUMN_POINTS * sum(all(self.loops[box] for box in column) for column in (SAME_BOXES, RUN_BOXES)),
            FULL_LINE_POINTS * len(self.full_lines()),
            GAME_OVER_POINTS * len(self.game_over_lines(x_counts)),
        )

    def score(self, x_counts: bool) -> int:
        """Return the sum of the current points."""
        return sum(self.points(x_counts))

    def with_marks(self, marks: dict[int, str]) -> Sheet:
        """Return the sheet with these marks added by square."""
        cells = list(self.cells)
        for square, mark in marks.items():
            cells[square] = mark
        return replace(self, cells="".join(cells))

    def with_loop(self, box: int, squares: int, *, letter: bool) -> Sheet:
        """Return the sheet with a loop added to a box, and with the box's letter circled if ``letter``."""
        loops = (*self.loops[:box], squares, *self.loops[box + 1 :])
        return replace(self, loops=loops, letters=self.letters | (1 << SLOT_OF_BOX[box] if letter else 0))

    def faults(self) -> str | None:
        """Return the invariant that this sheet breaks, worded to follow "the sheet", or ``None``."""
        return _fault_of_cells(self.cells) or _fault_of_loops(self) or _fault_of_letters(self)


def earns_letter(loops: Sequence[int], letters: int, box: int) -> bool:
    """Return whether filling this box fills both of its size, and its letter isn't circled yet."""
    return box != BONUS_BOX and bool(loops[OTHER_OF_SIZE[box]]) and not letters >> SLOT_OF_BOX[box] & 1


def _fault_of_cells(cells: str) -> str | None:
    filled = set_of(square for square, mark in enumerate(cells) if mark != EMPTY_CELL)
    floor = (1 << COLUMNS) - 1
    square = next(members(filled & ~GRID.patch(filled & floor, filled)), None)
    if square is None:
        return None
    mark = cells[square]
    return Phrase(
        "has {mark} on {name} in the air; everything rests on the floor or on what lies below", mark, GRID.names[square]
    )


def _fault_of_loops(sheet: Sheet) -> str | None:
    seen = 0
    for (kind, size), loop in zip(BOXES, sheet.loops, strict=True):
        if not loop:
            continue
        digits = "".join(sheet.cells[square] for square in members(loop))
        names = "+".join(GRID.names[square] for square in members(loop))
        if not digits.isdecimal():
            return Phrase("has a loop {names} round what is no digit; loops go round digits only", names)
        if loop & seen:
            return Phrase("has {names} sharing a digit with another loop; a digit is used once", names)
        kinds = (IDENTICAL, CONSECUTIVE) if size == BONUS_SIZE else (kind,)
        if len(digits) != size or kind_of_digits(digits) not in kinds or not hangs_together(sheet.cells, loop):
            return Phrase(
                "has {names} as {kind}{size}, but these aren't {size} fitting digits side by side", names, kind, size
            )
        seen |= loop
    return None


def _fault_of_letters(sheet: Sheet) -> str | None:
    for index in members(sheet.letters & ~sheet.earned_letters):
        return Phrase(
            "has the letter {letter} circled without both combinations of {number}", LETTERS[index], index + SMALLEST
        )
    return None


def hangs_together(cells: str, squares: int) -> bool:
    """Return whether these digits are connected as a combination: side by side, and in order if consecutive."""
    listed = list(members(squares))
    kind = kind_of_digits("".join(cells[square] for square in listed))
    if kind is None:
        return False
    if kind == CONSECUTIVE:
        path = sorted(listed, key=cells.__getitem__)
        return all(after in NEIGHBOURS[before] for before, after in pairwise(path))
    return GRID.patch(1 << listed[0], squares) == squares


_NOT_FIRST, _NOT_LAST = GRID.outside_first_column, GRID.outside_last_column


def _beside(squares: int) -> int:
    """Return the squares beside a set, faster than ``GRID.adjacent_to``; may include squares above the sheet."""
    return (squares & _NOT_LAST) << 1 | (squares & _NOT_FIRST) >> 1 | squares << COLUMNS | squares >> COLUMNS


_QUICK_BOXES = frozenset(box_of(IDENTICAL, size) for size in range(SMALLEST, SMALLEST + 3))
"""The first boxes, whose small sets of one digit number a few thousand at most."""


def combinations(sheet: Sheet, most: int | None = None) -> tuple[tuple[int, int], ...]:
    """Return every open box that can be filled and the squares to loop, by box, then by squares, without repeats.

    ``most`` limits their number, since a sheet full of one digit would have a hundred thousand.
    """
    return tuple(sorted(islice(_fillable(unused_digits(sheet), sheet.loops), most)))


def combinations_in_order(sheet: Sheet) -> Iterator[tuple[int, int]]:
    """Yield the same as `combinations`, but lazily: most are searched for only when iteration reaches them."""
    digits = unused_digits(sheet)
    for quick in (True, False):
        loops = [loop or (box in _QUICK_BOXES) is not quick for box, loop in enumerate(sheet.loops)]
        yield from sorted(_fillable(digits, loops))


def combination_for(sheet: Sheet, box: int) -> int:
    """Return the squares of a combination for this open box; raises ValueError if nothing can fill it."""
    loops = [loop or each != box for each, loop in enumerate(sheet.loops)]
    found = next(_fillable(unused_digits(sheet), loops), None)
    if found is None:
        raise ValueError(f"got box {box}; expected one that the sheet can fill")
    return found[1]


def has_combination(sheet: Sheet) -> bool:
    """Return whether any open box can be filled."""
    return any(True for _ in _fillable(unused_digits(sheet), sheet.loops))


def unused_digits(sheet: Sheet) -> list[int]:
    """Return, for each digit, the set of squares that show it outside all loops."""
    digits = [0] * 10
    free = ~sheet.circled
    for square, mark in enumerate(sheet.cells):
        if mark not in (EMPTY_CELL, CROSS) and free >> square & 1:
            digits[int(mark)] |= 1 << square
    return digits


def found_in(digits: list[int], loops: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return every open box (its loop is 0) and set of squares that fills it, given the squares of each digit."""
    return tuple(sorted(_fillable(digits, loops)))


def split_into_loops(digits: Sequence[int]) -> tuple[int, ...] | None:
    """Return loops by box that together cover all these squares of each digit, each once; ``None`` if none do."""
    return _split(digits, (0,) * len(BOXES), set())


def _split(
    digits: Sequence[int], loops: tuple[int, ...], failed: set[tuple[int, tuple[bool, ...]]]
) -> tuple[int, ...] | None:
    """Add loops that cover these squares; ``failed`` collects the squares left and boxes filled that lead nowhere."""
    left = union(digits)
    if not left:
        return loops
    key = left, tuple(map(bool, loops))
    if key in failed:
        return None
    if _may_add_up(digits, loops):
        for box, squares in _found_with_lowest(digits, loops):
            filled = (*loops[:box], squares, *loops[box + 1 :])
            found = _split([each & ~squares for each in digits], filled, failed)
            if found is not None:
                return found
    failed.add(key)
    return None


def _may_add_up(digits: Sequence[int], loops: Sequence[int]) -> bool:
    """Return whether each patch of squares, and all of them, are as many as some open boxes have together."""
    runs = open_sizes(loops)[1]
    squares = union(digits)
    for part in (squares, *GRID.patches(squares)):
        has_runs = bool(runs) and next(_consecutive([each & part for each in digits], runs), None) is not None
        sums = 1
        for (kind, size), loop in zip(BOXES, loops, strict=True):
            if not loop and (has_runs or kind != CONSECUTIVE):
                sums |= sums << size
        if not sums >> part.bit_count() & 1:
            return False
    return True


def _found_with_lowest(digits: Sequence[int], loops: Sequence[int]) -> list[tuple[int, int]]:
    """Return those of `found_in` that contain the lowest square; quick even for a large patch of one digit."""
    lowest, own = min((each & -each, each) for each in digits if each)
    same, runs = open_sizes(loops)
    found = [(box_of(IDENTICAL, loop.bit_count()), loop) for loop in _sets_from(lowest, own, same)]
    rising = _consecutive(digits, runs) if runs else ()
    found += [(box_of(CONSECUTIVE, loop.bit_count()), loop) for loop in rising if loop & lowest]
    return sorted(found)


def open_sizes(loops: Sequence[int]) -> tuple[set[int], set[int]]:
    """Return the sizes of identical and of consecutive digits that fill an open box."""
    bonus = set() if loops[BONUS_BOX] else {BONUS_SIZE}
    same, runs = ({BOXES[box][1] for box in boxes if not loops[box]} for boxes in (SAME_BOXES, RUN_BOXES))
    return same | bonus, runs | bonus


def _fillable(digits: list[int], loops: Sequence[int]) -> Iterator[tuple[int, int]]:
    same, runs = open_sizes(loops)
    if same:
        for loop in _identical(digits, same):
            yield box_of(IDENTICAL, loop.bit_count()), loop
    if runs:
        for loop in _consecutive(digits, runs):
            yield box_of(CONSECUTIVE, loop.bit_count()), loop


def _identical(digits: list[int], sizes: set[int]) -> Iterator[int]:
    smallest = min(sizes)
    for squares in digits:
        if squares.bit_count() < smallest:
            continue
        left = squares & _beside(squares)
        while left.bit_count() >= smallest:
            patch, grown = 0, left & -left
            while grown != patch:
                patch, grown = grown, (grown | _beside(grown)) & squares
            left &= ~patch
            if patch.bit_count() >= smallest:
                for start in members(patch):
                    yield from _sets_from(1 << start, patch, sizes)


def _sets_from(first: int, patch: int, sizes: set[int]) -> Iterator[int]:
    """Yield every connected subset of a patch that has one of these sizes and ``first`` as its lowest square.

    Redelmeier's algorithm: starting from its lowest square, a set grows only by squares that were not rejected before
    (D. H. Redelmeier, Counting polyominoes, Discrete Mathematics 36, 1981).
    """
    largest = max(sizes, default=0)
    allowed = patch & -first
    # A set, the squares it may grow by, and all squares that have been beside it.
    pending = [(first, _beside(first) & allowed, first | _beside(first))]
    while pending:
        chosen, edge, seen = pending.pop()
        if chosen.bit_count() in sizes:
            yield chosen
        if chosen.bit_count() >= largest:
            continue
        while edge:
            square = edge & -edge
            edge ^= square
            beside = _beside(square)
            pending.append((chosen | square, edge | (beside & allowed & ~seen), seen | beside))


def _consecutive(digits: Sequence[int], sizes: set[int]) -> Iterator[int]:
    shortest, longest = min(sizes), max(sizes)
    for first in range(10 - shortest + 1):
        reach = digits[first]
        for digit in range(first + 1, first + shortest):
            reach = _beside(reach) & digits[digit] if reach else 0
        if not reach:
            continue
        pending = [(square, 1 << square, first, 1) for square in members(digits[first])]
        while pending:
            end, path, digit, length = pending.pop()
            if length in sizes:
                yield path
            if length == longest or digit == 9:
                continue
            following = digits[digit + 1]
            pending += [
                (beside, path | 1 << beside, digit + 1, length + 1)
                for beside in NEIGHBOURS[end]
                if following >> beside & 1
            ]


Cells = tuple[int, ...]
"""The squares that a dropped shape fills, in rising order."""


class FallingShape(NamedTuple):
    """A rotated shape above the sheet: its left column, the lowest and highest cell of each column, and its cells."""

    column: int
    lows: tuple[int, ...]
    height: int
    cells: tuple[tuple[int, int], ...]


@cache
def falling(shapes: tuple[Shape, ...]) -> tuple[FallingShape, ...]:
    """Return every way to hold these rotated shapes above the sheet, in a fixed order."""
    found = []
    for shape in shapes:
        width = max(column for column, _ in shape) + 1
        height = max(row for _, row in shape) + 1
        lows = tuple(min(row for column, row in shape if column == across) for across in range(width))
        cells = tuple(sorted(shape, key=lambda cell: (cell[1], cell[0])))
        found += [FallingShape(column, lows, height, cells) for column in range(COLUMNS - width + 1)]
    return tuple(found)


@cache
def squares_at(shapes: tuple[Shape, ...]) -> tuple[tuple[Cells, ...], ...]:
    """Return the squares that a shape fills, for each way to hold it, by resting row."""
    return tuple(
        tuple(
            tuple((row + up) * COLUMNS + held.column + across for across, up in held.cells)
            for row in range(LINES - held.height + 1)
        )
        for held in falling(shapes)
    )


@lru_cache(64)
def landings(heights: tuple[int, ...], shapes: tuple[Shape, ...]) -> tuple[Cells, ...]:
    """Return every set of squares where one of these rotated shapes can come to rest, once, in a fixed order."""
    ways = zip(falling(shapes), squares_at(shapes), strict=True)
    return tuple(cells for held, by_row in ways if (cells := landed(heights, held, by_row)) is not None)


def landed(heights: Sequence[int], held: FallingShape, by_row: tuple[Cells, ...]) -> Cells | None:
    """Return the squares where a held shape comes to rest, given those by resting row; ``None`` if it doesn't fit."""
    column, row = held.column, 0
    for low in held.lows:
        row = max(row, heights[column] - low)
        column += 1
    return by_row[row] if row < len(by_row) else None


@cache
def turned_shapes(components: Components, face: str) -> tuple[Shape, ...]:
    """Return every rotation and reflection of a tile face, of a shape on the shape die, or of all five for its star."""
    if face == STAR:
        return tuple(shape for letter in SHAPES for shape in components.turned(letter))
    return components.turned(face)


@cache
def assignments(faces: tuple[str, ...]) -> tuple[str, ...]:
    """Return every distinct way to write the number dice into four cells in order, with stars as any digit; sorted."""
    fixed = [face for face in faces if face != STAR]
    found: set[tuple[str, ...]] = set()
    for wild in combinations_with_replacement(DIGITS, len(faces) - len(fixed)):
        found.update(permutations((*fixed, *wild)))
    return tuple(sorted("".join(digits) for digits in found))


def fits_dice(digits: str, faces: Sequence[str]) -> bool:
    """Return whether these digits can be some or all of the number dice, each used once, with stars as any digit."""
    beyond = Counter(digits) - Counter(face for face in faces if face != STAR)
    return set(digits) <= set(DIGITS) and beyond.total() <= faces.count(STAR)


def any_digits(faces: tuple[str, ...], rng: Random) -> str:
    """Draw one of the distinct arrangements of the number dice, all equally likely."""
    numbers = tuple(sorted(faces[:NUMBER_DICE]))
    if STAR not in numbers:
        # Shuffled dice give every different arrangement equally often.
        order = list(numbers)
        rng.shuffle(order)
        return "".join(order)
    arranged = assignments(numbers)
    return arranged[int(rng.random() * len(arranged))]
