import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style

from common.grid import PlaceGrid
from common.srgb import linear_from_srgb
from hardware.errors import DriverError
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Light, LightRole, Mood, Signal, Sound
from hardware.lights.terminal import TerminalDriver, render, status_line

BOARD = PlaceGrid.of_squares(3, 2)
FAULT = Signal(
    Mood.FAULT,
    (Light.for_role("c1", LightRole.FAULT), Light.for_role("a2", LightRole.PUT_RIGHT)),
    Sound.FAULT,
    "Not there.",
)


def console(*, colour: bool = False, width: int = 80, record: bool = False) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        no_color=not colour,
        record=record,
        _environ={},
    )


def written(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_a_grid_has_the_far_row_first() -> None:
    assert BOARD.rows == (("a2", "b2", "c2"), ("a1", "b1", "c1"))
    assert BOARD.places == ("a2", "b2", "c2", "a1", "b1", "c1")


@pytest.mark.parametrize(("columns", "rows"), [(0, 3), (27, 3), (3, 0)])
def test_a_grid_of_impossible_size_is_refused(columns: int, rows: int) -> None:
    with pytest.raises(ValueError, match="expected 1 to 26 columns"):
        PlaceGrid.of_squares(columns, rows)


def test_a_signal_is_readable_without_colours() -> None:
    assert render(FAULT, BOARD).plain == "\n".join(
        [
            "<a2>  ·    ·",
            " ·    ·   !c1!",
            "!! something is wrong here; <> put the piece back here",
        ]
    )


def test_a_signal_without_lights_shows_a_dark_board() -> None:
    assert render(Signal(Mood.WAITING), BOARD).plain.splitlines() == [" ·    ·    ·", " ·    ·    ·"]


def test_places_beside_the_grid_are_named() -> None:
    text = render(Signal(Mood.FAULT, (Light.for_role("bar", LightRole.FAULT),)), BOARD).plain
    assert "also lit: bar (fault)" in text


@given(
    st.integers(1, 9),
    st.integers(1, 12),
    st.data(),
)
def test_columns_line_up_and_every_lit_place_is_marked(columns: int, rows: int, data: st.DataObject) -> None:
    grid = PlaceGrid.of_squares(columns, rows)
    lights = data.draw(
        st.lists(
            st.builds(Light.for_role, st.sampled_from(grid.places), st.sampled_from(sorted(ROLE_STYLES))), max_size=9
        )
    )
    lines = render(Signal(Mood.FAULT, tuple(lights)), grid).plain.split("\n")
    width = max(len(place) for place in grid.places) + 3
    for each in lights:
        row, column = next((r, names.index(each.place)) for r, names in enumerate(grid.rows) if each.place in names)
        opening, *name, closing = list(lines[row][column * width : (column + 1) * width].strip())
        assert "".join(name) == each.place
        assert opening + closing in {ROLE_STYLES[other.role].mark for other in lights if other.place == each.place}
    assert sum(line.count("·") for line in lines[:rows]) == columns * rows - len({each.place for each in lights})


def test_colours_are_those_of_the_palette() -> None:
    on = console(colour=True, record=True)
    TerminalDriver(on, BOARD).show(FAULT, 0.0)
    # Not the escape sequences: rich keeps those of a style as some other test's console had them first.
    drawn = on.export_html(inline_styles=True)
    assert "background-color: #d55e00" in drawn
    assert "background-color: #0072b2" in drawn
    assert "\x1b[" in written(on)


@pytest.mark.parametrize("role", list(LightRole))
def test_the_text_on_each_colour_is_readable(role: LightRole) -> None:
    drawn = render(Signal(Mood.WAITING, (Light.for_role("a1", role),)), BOARD)
    style = next(span.style for span in drawn.spans if isinstance(span.style, Style) and span.style.bgcolor)
    assert style.color is not None
    red, green, blue = (linear_from_srgb(channel / 255) for channel in ROLE_STYLES[role].colour.value)
    below = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    darker, lighter = sorted([below, {"black": 0.0, "white": 1.0}[style.color.name]])
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_no_color_leaves_the_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    on = Console(file=io.StringIO(), width=80, force_terminal=True, _environ={"NO_COLOR": "1", "TERM": "xterm"})
    TerminalDriver(on, BOARD).show(FAULT, 0.0)
    assert "48;2" not in written(on)
    assert "!c1!" in written(on)


def test_a_long_sentence_stays_on_one_line_and_markup_is_plain_text() -> None:
    words = "Put the [bold]teal[/bold] block back. " * 10
    line = status_line(Signal(Mood.FAULT, words=words + "\nNow."))
    assert "\n" not in line.plain
    assert "[bold]teal[/bold]" in line.plain


def test_the_board_is_drawn_only_when_its_lights_change() -> None:
    on = console(width=20)
    driver = TerminalDriver(on, BOARD)
    driver.show(Signal(Mood.WAITING, words="Gold to play."), 0.0)
    assert written(on) == ""
    driver.show(FAULT, 1.0)
    board = f"{render(FAULT, BOARD).plain}\n"
    assert written(on) == board
    driver.show(FAULT, 2.0)
    driver.show(Signal(Mood.FAULT, FAULT.lights, words="Still not."), 3.0)
    assert written(on) == board
    driver.close()
    driver.show(FAULT, 4.0)
    assert written(on) == 2 * board


def test_the_bell_rings_for_sounds_if_enabled() -> None:
    for bell, expected in ((True, 1), (False, 0)):
        on = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "xterm"})
        driver = TerminalDriver(on, BOARD, bell=bell)
        driver.show(FAULT, 0.0)
        driver.show(Signal(Mood.WAITING), 1.0)
        assert written(on).count("\a") == expected


def test_the_bell_rings_again_for_an_equal_signal() -> None:
    on = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "xterm"})
    driver = TerminalDriver(on, BOARD, bell=True)
    driver.show(FAULT, 0.0)
    driver.show(FAULT, 1.0)
    assert written(on).count("\a") == 2


def test_a_closed_output_is_a_driver_error() -> None:
    on = console()
    driver = TerminalDriver(on, BOARD)
    on.file.close()
    with pytest.raises(DriverError, match=r"^the terminal can't be written to \(.*\)$"):
        driver.show(FAULT, 0.0)


@pytest.mark.parametrize("mood", Mood)
def test_the_status_line_names_every_mood(mood: Mood) -> None:
    line = status_line(Signal(mood))
    assert line.plain == f"[{mood.value}]"
    assert str(line.spans[0].style).startswith("bold ")
    assert MOOD_STYLES[mood].meaning
