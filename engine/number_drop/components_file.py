"""The components as a file of a person's: which options it comes to, and how it looks."""

from __future__ import annotations

from functools import cache
from importlib import resources

from engine.errors import UnreadableError
from engine.number_drop.components import printed_components, read_components
from engine.polyomino import picture


@cache
def components_file() -> str:
    """The text of the components file that ships."""
    return resources.files(__package__).joinpath("components.json").read_text(encoding="utf-8")


def options_of_file(text: str) -> dict[str, str]:
    """The options a components file comes to: ``dice`` and ``tile_backs``.

    The tiles may be paired in another way, their shapes are those that ship. Raises UnreadableError.
    """
    own, printed = read_components(text), printed_components()
    for name in sorted({*own.shapes, *printed.shapes}):
        if own.shapes.get(name) != printed.shapes.get(name):
            got = picture(own.shapes[name]) if name in own.shapes else "nothing"
            expected = picture(printed.shapes[name]) if name in printed.shapes else "no shape of that name"
            raise UnreadableError(f"shapes.{name}: got {got}; expected {expected}: only dice and pairs may differ")
    back_of = dict(own.tiles)
    return {"dice": "/".join(own.dice), "tile_backs": ",".join(back_of[solo] for solo, _ in printed.tiles)}


def drawn_file(text: str) -> str:
    """Draw what a components file says: each die's faces, each tile's two sides; raises UnreadableError."""
    own = read_components(text)
    options_of_file(text)
    lines = [f"die {number}: {' '.join(faces)}" for number, faces in enumerate(own.dice[:-1], 1)]
    lines.append(f"shape die: {' '.join(own.dice[-1])}")
    for solo, other in own.tiles:
        sides = [picture(own.shapes[name]).replace("X", "■").replace(".", " ").split("/") for name in (solo, other)]
        lines += ["", f"{solo:<8}{other}"]
        for row in range(max(map(len, sides))):
            lines.append("".join((side[row] if row < len(side) else "").ljust(8) for side in sides).rstrip())
    return "\n".join(lines)
