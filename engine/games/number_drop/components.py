"""The game's components, dice and penalty tiles, read from a data file with a checked format.

The file is JSON: ``format``; ``number_dice``, four texts of six faces each, a digit or ``*``; ``shape_die``, six faces
out of I, O, T, L, S and ``*``; ``shapes``, a drawing for each tile face, top row first; ``tiles``, five tiles with the
faces of their ``solo`` and their ``other`` side. Users may supply their own file, which is converted to options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from common.json_files import parse_json
from common.phrases import Phrase, counted
from engine.errors import UnreadableError
from engine.support.grid import Shape, drawing, orientations, picture, read_picture

STAR = "*"
DIGITS = "0123456789"
SHAPES = "IOTLS"
"""The shapes on the shape die; each has the drawing of the solo face that starts with its letter."""

FORMAT = "number-drop-components 1"
NUMBER_DICE, FACES_A_DIE, TILES = 4, 6, 5
_KEYS = {"format", "number_dice", "shape_die", "shapes", "tiles"}


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
    """Return the components that come with the game; raises UnreadableError if the file is damaged."""
    return read_components(text())


def read_components(text: str) -> Components:
    """Read a components file; raises UnreadableError that names the faulty part."""
    try:
        data = parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        example = "`./run tools sheet new --game number-drop`"
        raise UnreadableError(
            Phrase("line {line} is not JSON; expected dice and tiles as {example} writes them", line, example)
        ) from None
    if not isinstance(data, dict) or set(data) != _KEYS:
        got = ", ".join(sorted(map(str, data))) if isinstance(data, dict) else type(data).__name__
        raise UnreadableError(
            Phrase("the components have {got}; expected {keys}", got or Phrase("nothing"), ", ".join(sorted(_KEYS)))
        )
    if data["format"] != FORMAT:
        raise UnreadableError(
            Phrase("the components' format is {got!r}; expected {expected!r}", data["format"], FORMAT)
        )
    shapes = _read_shapes(data["shapes"])
    number_dice = data["number_dice"]
    if not isinstance(number_dice, list) or not all(isinstance(die, str) for die in number_dice):
        raise UnreadableError(
            Phrase("number_dice is {got!r}; expected {count} texts of faces", number_dice, NUMBER_DICE)
        )
    return Components(
        read_dice("/".join([*number_dice, str(data["shape_die"])])), _read_tiles(data["tiles"], shapes), shapes
    )


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


def _read_shapes(data: Any) -> Mapping[str, Shape]:
    if not isinstance(data, dict) or not all(isinstance(drawing, str) for drawing in data.values()):
        raise UnreadableError(Phrase("shapes is {got!r}; expected a drawing for each name", data))
    shapes = {name: read_picture(drawing) for name, drawing in data.items()}
    missing = [f"{letter}4" for letter in SHAPES if f"{letter}4" not in shapes]
    if missing:
        raise UnreadableError(
            Phrase("shapes lacks {missing}; expected every shape of the shape die", ", ".join(missing))
        )
    odd = [name for name in SHAPES if len(shapes[f"{name}4"]) != NUMBER_DICE]
    if odd:
        raise UnreadableError(
            Phrase("the shape of {odd} must have four squares, one for each number die", ", ".join(odd))
        )
    return MappingProxyType(shapes)


def _read_tiles(data: Any, shapes: Mapping[str, Shape]) -> tuple[tuple[str, str], ...]:
    if not isinstance(data, list) or len(data) != TILES:
        raise UnreadableError(Phrase("tiles is {got!r}; expected {count} tiles", data, TILES))
    tiles = []
    for number, tile in enumerate(data, start=1):
        if not isinstance(tile, dict) or set(tile) != {"solo", "other"}:
            raise UnreadableError(Phrase("tile {number} is {got!r}; expected a solo and an other face", number, tile))
        for face in tile.values():
            if not isinstance(face, str) or face not in shapes:
                raise UnreadableError(
                    Phrase("tile {number} shows {face!r}; expected one of {shapes}", number, face, ", ".join(shapes))
                )
        tiles.append((tile["solo"], tile["other"]))
    faces = [face for tile in tiles for face in tile]
    if len(set(faces)) != len(faces) or {solo for solo, _ in tiles} != {f"{letter}4" for letter in SHAPES}:
        raise UnreadableError(
            Phrase("the tiles show {faces}; expected ten faces, the solo ones {shapes}", ", ".join(faces), SHAPES)
        )
    return tuple(tiles)


option = None
"""No option takes the name of a file."""


@cache
def text() -> str:
    """Return the text of the components file that comes with the game."""
    return resources.files(__package__).joinpath("components.json").read_text(encoding="utf-8")


def read(text: str) -> dict[str, str]:
    """Convert a components file to the options ``dice`` and ``tile_backs``.

    The sides of tiles may be paired differently, but their shapes must be the printed ones. Raises UnreadableError.
    """
    own, printed = read_components(text), printed_components()
    for name in sorted({*own.shapes, *printed.shapes}):
        if own.shapes.get(name) != printed.shapes.get(name):
            got = picture(own.shapes[name]) if name in own.shapes else Phrase("nothing")
            expected = picture(printed.shapes[name]) if name in printed.shapes else Phrase("no shape of that name")
            raise UnreadableError(
                Phrase(
                    "shapes.{name}: got {got}; expected {expected}: only dice and pairs may differ", name, got, expected
                )
            )
    back_of = dict(own.tiles)
    return {"dice": "/".join(own.dice), "tile_backs": ",".join(back_of[solo] for solo, _ in printed.tiles)}


def draw(text: str) -> str:
    """Draw the components in a file: each die's faces and both sides of each tile; raises UnreadableError."""
    own = read_components(text)
    read(text)
    lines = [f"die {number}: {' '.join(faces)}" for number, faces in enumerate(own.dice[:-1], 1)]
    lines.append(f"shape die: {' '.join(own.dice[-1])}")
    for solo, other in own.tiles:
        sides = [drawing(own.shapes[name]) for name in (solo, other)]
        lines += ["", f"{solo:<8}{other}"]
        for row in range(max(map(len, sides))):
            lines.append("".join((side[row] if row < len(side) else "").ljust(8) for side in sides).rstrip())
    return "\n".join(lines)
