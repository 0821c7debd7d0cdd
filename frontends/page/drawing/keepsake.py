"""Drawings of a game that is over: a picture of its end to send, and a graph of its chances."""

import math
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

from common.moments import local_time
from frontends.page.documents import PositionDocument
from frontends.page.drawing.pieces import Element, add, number, picture, words, written
from frontends.page.languages import DAY_FORMS, translations

_WIDE, _EDGE, _GAP = 1080.0, 50.0, 30.0
"""The width of a picture to send in pixels, its margin, and the room between its parts."""
_MOST_BOARDS_PX = 1060.0
"""The most height for the boards; the picture is then about as high as a phone's screen."""
_GROUND, _INK, _SOFT, _GOLD = "#f6f2ea", "#1d1710", "#5b5348", "#b8860b"
_GRAPH_WIDE, _GRAPH_HIGH, _GRAPH_LEFT, _GRAPH_LETTERS = 400.0, 220.0, 80.0, 20


def picture_to_send(position: PositionDocument, language: str) -> str:
    """Draw the end of a game as one SVG: who won, the board or the sheets, the score and the date."""
    table, end, gettext = position.table, position.table.end, translations(language).gettext
    assert end is not None
    boards = [each for each in ET.fromstring(f"<all>{table.board}</all>") if each.get("class") != "dice"]
    placed, boards_high = _placed(boards)
    title = winner_words(end.winners, end.drawn, gettext)
    size = min(78.0, (_WIDE - 2 * _EDGE) / max(1, len(title)) * 1.75)
    boards_top = 190.0 + _GAP
    lines_top = boards_top + boards_high + 90
    high = lines_top + 66 * len(end.sums) + 50
    drawn = picture("keepsake", title, end.reason, 0, 0, _WIDE, high)
    add(drawn, "rect", x=0, y=0, width=_WIDE, height=high, fill=_GROUND)
    words(drawn, _WIDE / 2, 110, title, font_size=size, font_weight=700, fill=_INK)
    day = local_time(position.event.wall_time, DAY_FORMS[language])
    words(drawn, _WIDE / 2, 172, f"{table.game.title} · {day}", font_size=36, fill=_SOFT)
    for board, x, y, wide, tall in placed:
        for name, value in (("x", x), ("y", boards_top + y), ("width", wide), ("height", tall)):
            board.set(name, number(value))
        drawn.append(board)
    for row, each in enumerate(end.sums):
        y = lines_top + 66 * row
        weight = 700 if each.won else 400
        words(drawn, _EDGE + 60, y, each.name, font_size=46, font_weight=weight, text_anchor="start", fill=_INK)
        if each.won:
            words(drawn, _EDGE + 24, y, "★", font_size=42, fill=_GOLD)
        if each.total is not None:
            words(
                drawn, _WIDE - _EDGE, y, str(each.total), font_size=46, font_weight=weight, text_anchor="end", fill=_INK
            )
    return written(drawn)


def winner_words(winners: Sequence[str], drawn: bool, gettext: Callable[[str], str]) -> str:
    """Say who won."""
    if len(winners) == 1:
        return gettext("%(name)s wins!") % {"name": winners[0]}
    if winners:
        return gettext("%(names)s share the win!") % {"names": " & ".join(winners)}
    return gettext("A draw!") if drawn else gettext("The game is over")


def _placed(boards: Sequence[Element]) -> tuple[list[tuple[Element, float, float, float, float]], float]:
    """Lay pictures out in rows; return each with its left, top, width and height, and the height of all."""
    columns = len(boards) if len(boards) <= 2 else math.ceil(len(boards) / 2)
    shapes = [tuple(map(float, str(board.get("viewBox")).split()))[2:] for board in boards]
    rows = math.ceil(len(boards) / columns)
    wide = (_WIDE - 2 * _EDGE - (columns - 1) * _GAP) / columns
    most = max(wide * tall / broad for broad, tall in shapes)
    shrunk = min(1.0, (_MOST_BOARDS_PX - (rows - 1) * _GAP) / rows / most)
    wide, most = wide * shrunk, most * shrunk
    left = (_WIDE - columns * wide - (columns - 1) * _GAP) / 2
    placed = [
        (board, left + at % columns * (wide + _GAP), at // columns * (most + _GAP), wide, wide * shape[1] / shape[0])
        for at, (board, shape) in enumerate(zip(boards, shapes, strict=True))
    ]
    return placed, rows * most + (rows - 1) * _GAP


def chances_graph(
    player: str, other: str, values: Sequence[float], swings: Sequence[int], gettext: Callable[[str], str]
) -> str:
    """Draw one player's chances of winning, 0 to 1, from the first turn to the end; ``swings`` are turns from 1.

    Its colours are the page's, by class.
    """
    told = gettext("%(name)s begins at %(first)s%% and ends at %(last)s%%.")
    said = told % {"name": player, "first": percent(values[0]), "last": percent(values[-1])}
    title = gettext("The chances of winning, turn by turn")
    drawn = picture("chances", title, said, 0, 0, _GRAPH_LEFT + _GRAPH_WIDE + 20, _GRAPH_HIGH + 70)
    step = _GRAPH_WIDE / max(1, len(values) - 1)
    at = [(_GRAPH_LEFT + index * step, 20 + (1 - value) * _GRAPH_HIGH) for index, value in enumerate(values)]
    line = "L".join(f"{number(x)} {number(y)}" for x, y in at)
    bottom = 20 + _GRAPH_HIGH
    add(drawn, "path", class_="area", d=f"M{_GRAPH_LEFT:g} {bottom:g}L{line}V{bottom:g}Z")
    add(drawn, "path", class_="even", d=f"M{_GRAPH_LEFT:g} {20 + _GRAPH_HIGH / 2:g}h{_GRAPH_WIDE:g}")
    add(drawn, "path", class_="line", d=f"M{line}")
    for share in (0, 50, 100):
        y = 20 + (1 - share / 100) * _GRAPH_HIGH
        words(drawn, _GRAPH_LEFT - 10, y + 6, f"{share} %", font_size=_GRAPH_LETTERS, text_anchor="end")
    words(drawn, _GRAPH_LEFT + 12, 46, player, font_size=_GRAPH_LETTERS, text_anchor="start", font_weight=700)
    words(drawn, _GRAPH_LEFT + 12, bottom - 12, other, font_size=_GRAPH_LETTERS, text_anchor="start", font_weight=700)
    words(drawn, _GRAPH_LEFT + _GRAPH_WIDE / 2, bottom + 34, gettext("turns"), font_size=_GRAPH_LETTERS)
    for place, turn in enumerate(swings, 1):
        x, y = at[turn]
        mark = add(drawn, "g", class_="swing")
        add(mark, "circle", cx=x, cy=y, r=14)
        words(mark, x, y + 6, str(place), font_size=17, font_weight=700)
    return written(drawn)


def percent(chance: float) -> str:
    """Write a chance, 0 to 1, as whole percent."""
    return f"{100 * chance:.0f}"
