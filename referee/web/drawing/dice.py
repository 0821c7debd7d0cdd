"""Dice as they lie on the table."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from referee.rendering.board_text import COLOURS
from referee.web.drawing.svg import DARK_INK, Element, add, ink_on, picture, shade, words

_SIDE, _GAP = 100.0, 26.0
_IVORY = (250, 246, 234)
_PIPS: Mapping[str, str] = MappingProxyType({"1": "c", "2": "ai", "3": "aci", "4": "agbi", "5": "agcbi", "6": "adgbfi"})
"""The positions of each face's pips: a, d, g down the left, c in the middle, b, f, i down the right."""
_SPOTS = MappingProxyType(
    {"a": (-1, -1), "d": (-1, 0), "g": (-1, 1), "c": (0, 0), "b": (1, -1), "f": (1, 0), "i": (1, 1)}
)


def draw_dice(faces: Sequence[str], names: Sequence[str] = ()) -> Element:
    """Draw a roll. ``names`` are the dice's colours if they differ. Faces other than 1 to 6 are drawn as text."""
    wide = len(faces) * (_SIDE + _GAP) + _GAP
    listed = [f"{name} {face}" for name, face in zip(names, faces, strict=True)] if names else list(faces)
    drawn = picture("dice", "Dice", ", ".join(listed), 0, 0, wide, _SIDE + 2 * _GAP)
    edges = {"x": 2.0, "y": 2.0, "width": wide - 4, "height": _SIDE + 2 * _GAP - 4}
    add(drawn, "rect", **edges, rx=22, fill="#2f5a44", stroke="#5a3a20", stroke_width=4)
    has_dots = set(faces) <= set(_PIPS)
    for place, face in enumerate(faces):
        colour = COLOURS.get(names[place], _IVORY) if names else _IVORY
        left = _GAP + place * (_SIDE + _GAP)
        middle = (left + _SIDE / 2, _GAP + _SIDE / 2)
        add(drawn, "rect", x=left + 3, y=_GAP + 6, width=_SIDE, height=_SIDE, rx=20, fill="#000", opacity=0.35)
        side = {"x": left, "y": _GAP, "width": _SIDE, "height": _SIDE, "rx": 20.0}
        add(drawn, "rect", **side, fill=shade(colour), stroke=shade(colour, -0.45), stroke_width=3)
        if has_dots:
            for spot in _PIPS[face]:
                right, down = _SPOTS[spot]
                at = {"cx": middle[0] + 27 * right, "cy": middle[1] + 27 * down}
                add(drawn, "circle", **at, r=9.5, fill=ink_on(colour))
        else:
            ink = ink_on(colour) if names else DARK_INK
            sign = "★" if face == "*" else face
            words(drawn, middle[0], middle[1] + 24, sign, font_size=66, font_weight=700, fill=ink)
    return drawn
