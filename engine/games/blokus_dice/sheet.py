"""The 21 shapes, and the printed sheet: its size, closed squares, rows of shapes and strikes.

A sheet's strict text, which can be the value of an option or a part of a state, is
``SIZE/STRIKES/CLOSED/ROW1/…/ROW6``, such as
``10x10/3/-/1,2,I3,V3/I4,L4,T4,O4,Z4/I5,L5,Y5/P5,U5,V5/T5,X5,F5/N5,W5,Z5``.

A sheet file describes a printed sheet in TOML, typed in by a person. One such file ships with the game.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from types import MappingProxyType

from common.phrases import Phrase, first_faults, joined
from common.shown_text import is_one_line
from common.toml_text import parse_toml
from engine.errors import UnreadableError
from engine.printing import Box, BoxGroup, PrintedSheet
from engine.support.grid import Grid, Shape, free, members, orientations, picture, read_picture, set_of
from engine.values import OptionValue

_PICTURES: Mapping[str, str] = MappingProxyType(
    {
        "1": "X",
        "2": "XX",
        "I3": "XXX",
        "V3": "X./XX",
        "I4": "XXXX",
        "L4": "X./X./XX",
        "T4": "XXX/.X.",
        "O4": "XX/XX",
        "Z4": "XX./.XX",
        "I5": "XXXXX",
        "L5": "X./X./X./XX",
        "Y5": ".X/XX/.X/.X",
        "P5": "XX/XX/X.",
        "U5": "X.X/XXX",
        "V5": "X../X../XXX",
        "T5": "XXX/.X./.X.",
        "X5": ".X./XXX/.X.",
        "F5": ".XX/XX./.X.",
        "N5": ".X/.X/XX/X.",
        "W5": "X../XX./.XX",
        "Z5": "XX./.X./.XX",
    }
)

NAMES: tuple[str, ...] = tuple(_PICTURES)
"""The shapes' names, small ones first: a letter that the shape resembles and its number of squares."""


CLOSED = "#"
"""The mark of a closed square."""


@cache
def shape_of(name: str) -> Shape:
    """Return the shape with this name, in its canonical orientation; raises KeyError for an unknown name."""
    return free(read_picture(_PICTURES[name]))


@cache
def names_by_shape() -> Mapping[Shape, str]:
    """Return the name of each free shape."""
    return MappingProxyType({shape_of(name): name for name in NAMES})


def placements(name: str, grid: Grid, free_squares: int) -> tuple[int, ...]:
    """Return every placement of the shape on free squares of a grid, in all orientations, sorted."""
    found = []
    for orientation in orientations(shape_of(name)):
        width = 1 + max(column for column, _ in orientation)
        pattern = sum(1 << (row * grid.columns + column) for column, row in orientation)
        # Above the top row, no square is free.
        for row in range(grid.rows):
            for column in range(grid.columns - width + 1):
                placement = pattern << (row * grid.columns + column)
                if placement & ~free_squares == 0:
                    found.append(placement)
    return tuple(sorted(found))


FACES = 6
LEAST_SIDE, MOST_SIDE = 5, 20
MOST_STRIKES = 20
_EXPECTED = "SIZE/STRIKES/CLOSED/ROW1/…/ROW6, such as 10x10/3/-/1,2/I3,V3/I4/L4/T4/O4,Z4"


@dataclass(frozen=True)
class Sheet:
    """One printed sheet, and the tables derived from it; equal sheets have equal texts."""

    columns: int
    rows: int
    strikes: int
    closed: int
    shapes_of_row: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        """Return the value of the option: the strict text, or ``house`` for the sheet that ships with the game."""
        return HOUSE if self == house_sheet() else self.text

    @cached_property
    def text(self) -> str:
        """The strict text, written in full even for the sheet that ships with the game."""
        closed = ",".join(self.grid.names[square] for square in members(self.closed)) or "-"
        rows = "/".join(",".join(row) for row in self.shapes_of_row)
        return f"{self.columns}x{self.rows}/{self.strikes}/{closed}/{rows}"

    @cached_property
    def grid(self) -> Grid:
        """The grid of squares."""
        return Grid(self.columns, self.rows)

    @cached_property
    def open_squares(self) -> int:
        """The set of squares that may be filled."""
        return self.grid.every & ~self.closed

    @cached_property
    def corners(self) -> int:
        """The set of corner squares that may be filled."""
        last = self.grid.squares - 1
        return set_of((0, self.columns - 1, last - self.columns + 1, last)) & self.open_squares

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """The names of the shapes on the sheet, row by row; a shape's number is its index here."""
        return tuple(name for row in self.shapes_of_row for name in row)

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each shape by its name."""
        return {name: number for number, name in enumerate(self.shapes)}

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many squares each shape has."""
        return tuple(len(shape_of(name)) for name in self.shapes)

    @cached_property
    def row_sets(self) -> tuple[int, ...]:
        """``row_sets[face]``: the set of shape numbers that a face of the die gives; 0 for face 0."""
        return (0, *(set_of(self.number_of[name] for name in row) for row in self.shapes_of_row))

    @cached_property
    def face_of(self) -> tuple[int, ...]:
        """The face of the die that gives each shape."""
        return tuple(face for face, row in enumerate(self.shapes_of_row, 1) for _ in row)

    @cached_property
    def placements(self) -> tuple[tuple[int, ...], ...]:
        """Every placement of each shape on the open squares, as sets in rising order."""
        return tuple(placements(name, self.grid, self.open_squares) for name in self.shapes)

    @cached_property
    def covering(self) -> tuple[tuple[int, ...], ...]:
        """``covering[square]``: every placement of any shape that covers a square, in rising order.

        Each placement is the set of its squares, with the bit of the shape's number above them. So a single comparison
        with the available squares and shapes tells whether it fits, and rising order is by shape, then by squares.
        """
        lists: list[list[int]] = [[] for _ in range(self.grid.squares)]
        for number, masks in enumerate(self.placements):
            for mask in masks:
                for square in members(mask):
                    lists[square].append(mask | 1 << (self.grid.squares + number))
        return tuple(map(tuple, lists))


def build(
    size: object, strikes: object, closed: object, rows: Mapping[int, object], report: Callable[[str, str], None]
) -> Sheet | None:
    """Build a sheet from the values of a file or text; ``report`` each fault with its key, and return ``None`` then."""
    faults = 0

    def fault(key: str, message: str) -> None:
        nonlocal faults
        faults += 1
        report(key, message)

    match = re.fullmatch(r"([0-9]{1,2})\s*[xX]\s*([0-9]{1,2})", size.strip()) if isinstance(size, str) else None
    columns, row_count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(LEAST_SIDE <= side <= MOST_SIDE for side in (columns, row_count)):
        fault(
            "size",
            Phrase(
                "got {got!r}; expected columns x rows, each from {least} to {most}, such as '10x10'",
                size,
                LEAST_SIDE,
                MOST_SIDE,
            ),
        )
        columns = row_count = MOST_SIDE
    if isinstance(strikes, bool) or not isinstance(strikes, int) or not 0 <= strikes <= MOST_STRIKES:
        fault("strikes", Phrase("got {got!r}; expected a whole number from 0 to {most}", strikes, MOST_STRIKES))
        strikes = 0
    sheet = Sheet(columns, row_count, strikes, _closed(closed, Grid(columns, row_count), fault), _rows(rows, fault))
    if not faults and not sheet.corners:
        fault("blocked", Phrase("got all four corners; expected at least one open one: a colour begins there"))
    return None if faults else sheet


def _closed(closed: object, grid: Grid, fault: Callable[[str, str], None]) -> int:
    if not isinstance(closed, (list, tuple)):
        fault(
            "blocked", Phrase("got {got!r}; expected a list of squares, such as ['e5', 'f6'], or [] for none", closed)
        )
        return 0
    found = 0
    for name in closed:
        square = grid.index.get(name.strip().lower()) if isinstance(name, str) else None
        if square is None:
            fault(
                "blocked",
                Phrase("got {name!r}; expected a square from {first} to {last}", name, grid.names[0], grid.names[-1]),
            )
        elif found >> square & 1:
            fault("blocked", Phrase("got {name!r} twice; expected each square once", name))
        else:
            found |= 1 << square
    return found


def _rows(rows: Mapping[int, object], fault: Callable[[str, str], None]) -> tuple[tuple[str, ...], ...]:
    found = []
    before: dict[str, int] = {}
    for face in range(1, FACES + 1):
        row, key = rows.get(face), f"rows.{face}"
        if not isinstance(row, (list, tuple)) or not row:
            got = Phrase("nothing") if row is None else repr(row)
            fault(key, Phrase("got {got}; expected a list of at least one shape, such as ['I3', 'V3']", got))
            continue
        for given in row:
            name = given.strip().upper() if isinstance(given, str) else given
            if name not in NAMES:
                fault(key, Phrase("got {given!r}; expected one of {names}", given, ", ".join(NAMES)))
            elif name in before:
                fault(
                    key,
                    Phrase(
                        "got {name} again, which is in row {before}; expected each shape once at most",
                        name,
                        before[name],
                    ),
                )
            else:
                before[name] = face
        found.append(tuple(name.strip().upper() for name in row if isinstance(name, str)))
    return tuple(found)


def read_sheet_text(text: str) -> Sheet:
    """Read a sheet's text leniently; raises UnreadableError that lists every fault."""
    given = "".join(text.split())
    size, *parts = given.split("/")
    if len(parts) != FACES + 2:
        raise UnreadableError(Phrase("cannot read {text!r} as a sheet; expected {expected}", text, _EXPECTED))
    strikes, closed, *rows = parts
    faults: list[str] = []
    sheet = build(
        size,
        int(strikes) if re.fullmatch("[0-9]{1,3}", strikes) else strikes,
        () if closed == "-" else closed.split(","),
        {face: row.split(",") for face, row in enumerate(rows, 1)},
        lambda key, message: faults.append(joined((key, message), ": ")),
    )
    if sheet is None:
        raise UnreadableError(Phrase("cannot read {text!r} as a sheet: {faults}", text, joined(faults, "; ")))
    return sheet


HOUSE = "house"
"""The name of the sheet that ships with the game."""
option = "sheet"
"""The option whose value may be the name of a sheet file."""

_LINES: Mapping[str, str] = MappingProxyType(
    {"size": 'size = "10x10"', "blocked": "blocked = []", "strikes": "strikes = 3"}
)
"""The keys that a sheet file must have besides its rows, each with a line that gives it."""
_KEYS = ("title", *_LINES, "rows")


@cache
def text() -> str:
    """Return the text of the sheet file that ships with the game."""
    return resources.files(__package__).joinpath("house.toml").read_text(encoding="utf-8")


@cache
def house_sheet() -> Sheet:
    """Return the sheet that ships with the game."""
    return read_sheet_file(text())[1]


def read_sheet_file(text: str) -> tuple[str, Sheet]:
    """Read a sheet file (TOML, as in ``house.toml``), and return its title and the sheet.

    Raises UnreadableError with one line of text per fault: its line, its key, what was got and what was expected.
    """
    try:
        data = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise UnreadableError(Phrase("line {line}, the file: is not valid TOML: {error}", line, error)) from error
    faults: list[tuple[int, str]] = []

    def report(key: str, message: str) -> None:
        line = _line_of(text, key)
        said = joined((key, message), ": ")
        faults.append((line, Phrase("line {line}, {fault}", line, said) if line else said))

    rows = data.get("rows", {})
    if not isinstance(rows, dict):
        report("rows", Phrase("got {got!r}; expected a table [rows] with the keys 1 to {faces}", rows, FACES))
        rows = {}
    for key in data:
        if key not in _KEYS:
            report(key, Phrase("is not a key of a sheet; expected only {keys}", ", ".join(_KEYS)))
    by_face = {str(face): face for face in range(1, FACES + 1)}
    for key in rows:
        if key not in by_face:
            report(f"rows.{key}", Phrase("is not a number on a die; expected 1 to {faces}", FACES))
    title = data.get("title", "")
    if not isinstance(title, str) or not is_one_line(title):
        report("title", Phrase("got {got!r}; expected one line of text in quotes", title))
    for key, example in _LINES.items():
        if key not in data:
            report(key, Phrase("is missing; expected a line such as {example}", example))
    sheet = build(
        data.get("size", "10x10"),
        data.get("strikes", 0),
        data.get("blocked", ()),
        {face: rows.get(key) for key, face in by_face.items()},
        report,
    )
    if sheet is None or faults:
        raise UnreadableError(first_faults((said for _, said in sorted(faults, key=lambda fault: fault[0])), "\n"))
    return title, sheet


def _line_of(text: str, key: str) -> int:
    """Return the line where a key's value begins; 0 if the key is missing."""
    name = re.escape(key.rpartition(".")[2])
    found = re.search(rf"^[ \t]*(\[[ \t]*)?[\"']?{name}[\"']?[ \t]*[]=]", text, re.MULTILINE)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


@lru_cache(maxsize=64)
def read_sheet(text: str) -> Sheet:
    """Read a sheet's text leniently, or ``house``; raises UnreadableError that lists every fault."""
    return house_sheet() if text.strip().lower() == HOUSE else read_sheet_text(text)


def read(text: str) -> Mapping[str, OptionValue]:
    """Read a sheet file into the option for its sheet; raises UnreadableError with one line per fault."""
    return {option: str(read_sheet_file(text)[1])}


def print_sheet(sheet: Sheet) -> PrintedSheet:
    """Return the printed sheet, with the boxes for its shapes and strikes."""
    rows = [
        BoxGroup(str(face), tuple(Box(name, picture(shape_of(name))) for name in row))
        for face, row in enumerate(sheet.shapes_of_row, 1)
    ]
    strikes = [BoxGroup("Strikes", (Box(),) * sheet.strikes)] if sheet.strikes else []
    closed = tuple(sheet.grid.names[square] for square in members(sheet.closed))
    return PrintedSheet(sheet.grid.columns, sheet.grid.rows, (*rows, *strikes), closed)
