"""The whole game on one screen: everything a player needs, at every size, and the typed keys."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from engine.registry import games, load
from hardware.lights.signals import Light, LightRole, Mood, Signal, Sound
from referee.commands.typed_lines import KEYS
from referee.journal.events import EventKind
from referee.journal.fold import FoldedStep
from referee.rendering.live_screen import LiveScreen, PrintedGame, Screen, ScreenContent, ScreenLine, fits_live
from referee.session.feed import TableSnapshot
from referee.web.access import Role
from referee.web.server import OpenPage
from tests.present import present

FAULT = "The gold block rolled two squares, from d4 to f4. Put the gold block back on d4 with hoops up."


def shown(name: str, **options: Any) -> ScreenContent:
    game: Any = load(name)
    state = game.rules.new(options)
    looks = game.table.appearance(state)
    signal = Signal(Mood.FAULT, (Light.for_role(next(iter(looks)), LightRole.FAULT),), Sound.FAULT, FAULT)
    snapshot = TableSnapshot(
        3, 9, signal, 1.0, (state,), looks, state.to_move, names={game.players[0]: "Ann"}, turns=1,
        last_turn=FoldedStep(EventKind.TURN, "c1-c2=stop", (), player="gold"),
    )  # fmt: skip
    said = [ScreenLine(Text("  0:01.0   illegal      "), Text(f"{number}. {FAULT}")) for number in range(30)]
    return ScreenContent(game, snapshot, signal, said, "dra", "h gives a hint")


def lines_of(view: ScreenContent, width: int, height: int, *, colour: bool = False) -> list[str]:
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True,
        color_system="truecolor" if colour else None, _environ={},
    )  # fmt: skip
    rendered = console.render_lines(Screen(view), console.options.update(width=width, height=height))
    return ["".join(segment.text for segment in line) for line in rendered]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (64, 22), (200, 60)])
@pytest.mark.parametrize("name", games())
def test_everything_important_is_on_the_screen_at_every_size(name: str, width: int, height: int) -> None:
    lines = lines_of(shown(name), width, height)
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    text = " ".join(" ".join(lines).split())
    assert lines[0].startswith(f" {load(name).title}, game 3")
    assert "Ann, 1 turn" in lines[0]
    assert "[fault] The gold" in text
    assert "something is wrong here" in text
    assert "> dra" in lines[-1]
    assert "h gives a hint, Ctrl-C stops" in lines[-1]


def test_the_address_of_the_page_stays_on_the_screen() -> None:
    lines = lines_of(replace(shown("deblockle"), page="The page: http://192.168.1.5:8000/"), 80, 24)
    assert len(lines) == 24
    assert "http://192.168.1.5:8000/" in lines[-2]
    assert "> dra" in lines[-1]
    words = "The page: http://127.0.0.1:8000/ (from this machine; --page-address 0.0.0.0 opens it to your network)"
    on_page = replace(shown("deblockle"), page=words)
    assert lines_of(on_page, 80, 24)[-2].rstrip() == " The page: http://127.0.0.1:8000/"
    assert lines_of(on_page, 120, 40)[-2].rstrip() == f" {words}"


@pytest.mark.parametrize("name", games())
def test_words_are_not_split_and_the_newest_sentence_is_visible(name: str) -> None:
    lines = lines_of(shown(name), 80, 24)
    words = set(" ".join(lines).split())
    assert {"squares,", "rolled", "hoops"} <= words
    assert " ".join(" ".join(lines[-3:-1]).split()).endswith("hoops up.")


def test_the_board_shows_what_is_seen_until_the_set_up_is_accepted() -> None:
    game = load("deblockle")
    looks = {**game.table.appearance(game.rules.new()), "e4": "gold block, x up"}
    waiting = TableSnapshot(1, 1, Signal(Mood.FAULT), 1.0, seen=looks)
    assert " 4  ·   ·   ·   ·   Gx" in "\n".join(lines_of(ScreenContent(game, waiting), 80, 24))


def test_the_board_is_printed_with_its_pieces_when_other_squares_are_lit() -> None:
    told = shown("deblockle")
    snapshot = present(told.snapshot)
    written = io.StringIO()
    page = PrintedGame(told.game, Console(file=written, width=80))
    page.receive(snapshot)
    page.write(Text("002.jpg "), Text(FAULT))
    page.refresh()
    page.receive(replace(snapshot, time_s=2.0))
    page.refresh()
    page.receive(replace(snapshot, signal=Signal(Mood.WAITING)))
    page.refresh()
    lines = written.getvalue().splitlines()
    assert lines[0].startswith("002.jpg")
    assert [line[:3] for line in lines[1:8]] == [f" {row} " for row in range(7, 0, -1)]
    assert sum("something is wrong here" in line for line in lines) == 1


def test_the_board_is_drawn_before_there_is_a_game() -> None:
    lines = lines_of(ScreenContent(load("deblockle")), 80, 24)
    assert "a   b   c   d   e   f   g" in " ".join(lines)
    assert "Ctrl-C stops" in lines[-1]


def test_four_sheets_fit_with_the_next_step() -> None:
    view = replace(shown("blokus-dice", players=4), signal=Signal(Mood.WAITING, words="P1 rolls."))
    text = "\n".join(lines_of(view, 80, 24))
    assert all(f"p{number}" in text for number in range(1, 5))
    assert "Ann rolls 4 dice." in text


def terminal(**more: Any) -> Console:
    return Console(file=io.StringIO(), width=80, height=24, force_terminal=True, _environ={"TERM": "xterm"}, **more)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_alternate_screen_is_used_and_the_messages_remain_afterwards() -> None:
    console = terminal(color_system=None)
    view = shown("deblockle")
    assert view.snapshot is not None
    with LiveScreen(view.game, console, keys="h gives a hint", rings={Sound.FAULT}) as screen:
        screen.write(Text("  0:01.0   "), Text("The board is set up."))
        screen.receive(view.snapshot)
        screen.show_typed("hin")
        screen.refresh()
        live = written(console)
    assert "\x1b[?1049h" in live
    assert "\a" in live
    assert "> hin" in live
    left = written(console).split("\x1b[?1049l")[1]
    assert left.strip().startswith("0:01.0   The board is set up.")
    assert left.rstrip().endswith("a   b   c   d   e   f   g"), "the last board remains too"
    screen.write(Text(), Text("The journal is closed."))
    assert written(console).endswith("The journal is closed.\n")


def test_the_pages_code_is_shown_and_hidden_by_a_key() -> None:
    console = terminal(color_system=None)
    page = OpenPage("http://192.168.1.5:8000/", {Role.PLAY: "12345678", Role.OWN: "87654321"})

    def drawn_by(line: str) -> str:
        before = len(written(console))
        assert screen.is_answered(line)
        return written(console)[before:]

    with LiveScreen(load("deblockle"), console, keys=KEYS) as screen:
        assert not screen.is_answered("p")
        screen.show_page(page.words, page.qr())
        assert not screen.is_answered("h")
        shown_code, hidden = drawn_by(" P "), drawn_by("p")
    assert "\u2580" in shown_code
    assert "Deblockle" not in shown_code
    assert all(code in " ".join(shown_code.split()) for code in ("1234 5678", "8765 4321"))
    assert "p QR, Ctrl-C stops" in shown_code
    assert "Deblockle" in hidden
    assert "\u2580" not in hidden


def test_a_long_typed_line_gets_the_last_row() -> None:
    view = replace(shown("deblockle"), typed="correct c3=gold block, star up c4=empty e5=teal block, x up")
    drawn = lines_of(view, 80, 24)
    assert drawn[-1].strip().startswith("> correct c3=gold block, star up c4=empty e5=teal block, x up")
    assert "Ctrl-C" not in drawn[-1]


def test_lights_that_change_by_themselves_are_redrawn() -> None:
    console = terminal()
    view = shown("deblockle")
    seen: list[Signal | None] = [None]
    with LiveScreen(view.game, console, seen=lambda: seen[-1]) as screen:
        screen.refresh()
        before = len(written(console))
        screen.refresh()
        assert len(written(console)) == before, "without a change nothing is drawn"
        seen.append(view.signal)
        screen.refresh()
        assert FAULT.split(maxsplit=1)[0] in written(console)[before:]


@pytest.mark.parametrize(
    ("console", "fits"),
    [
        (Console(file=io.StringIO(), width=200), False),
        (Console(force_terminal=True, width=80, height=24, _environ={"TERM": "xterm"}), True),
        (Console(force_terminal=True, width=80, height=24, _environ={"TERM": "dumb"}), False),
        (Console(force_terminal=True, width=60, height=24, _environ={"TERM": "xterm"}), False),
    ],
)
def test_only_a_large_enough_terminal_gets_the_live_screen(console: Console, fits: bool) -> None:
    assert fits_live(console) == fits
