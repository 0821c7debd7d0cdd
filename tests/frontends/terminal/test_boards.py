"""Boards as text and as pictures, the whole game on one screen, the report, and readings on the camera's picture."""

import io
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from common.grid import PlaceGrid
from engine.registry import games, load
from engine.showing import turns_to_draw_from
from engine.values import EMPTY, Outcome, OutcomeKind
from frontends.board_text import DrawnBoard, board_text, legend, state_text
from frontends.page.access import Role
from frontends.page.overlay import Overlay
from frontends.page.server import OpenPage
from frontends.terminal.live_screen import LiveScreen, PrintedGame, Screen, ScreenContent, ScreenLine, fits_live
from frontends.terminal.report import PrintedLines, Report
from hardware.lights.signals import Light, LightRole, Mood, Signal, Sound
from referee.commands.typed_lines import KEYS
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import EventKind
from referee.record.fold import FoldedStep
from referee.session.feed import TableSnapshot
from simulator.play.game import GameOptions
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import VirtualTable, standard_setting
from tests.frontends.page.page_table import snapshot_of
from tests.present import present
from vision.frame import Frame
from vision.geometry import project
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

GRID = PlaceGrid.of_squares(7, 7)


def squares(looks: Mapping[str, str] = {}, **more: Any) -> DrawnBoard:
    """A board of 7 x 7 squares."""
    return DrawnBoard({**dict.fromkeys(GRID.places, EMPTY), **looks}, **more)


def drawn(board: DrawnBoard, *, width: int = 80, ascii_only: bool = True, **more: Any) -> list[str]:
    return board_text(board, width=width, ascii_only=ascii_only, **more).plain.split("\n")


def after_some_turns(name: str, steps: int, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
    game: Any = load(name)
    state, rng = game.rules.new(options), Random(3)
    for _ in range(steps):
        if game.awaits_roll(state):
            state = game.dice.rolled(state, rng.choice(game.dice.possible_rolls(state)).roll)
        else:
            turns = turns_to_draw_from(game, state)
            state = game.rules.apply(state, turns[rng.randrange(min(len(turns), 40))])
    return game, state


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("name", games())
def test_all_pieces_and_lights_differ_without_colour(name: str, ascii_only: bool) -> None:
    game = load(name)
    place = game.places[0]
    boards = [DrawnBoard({place: look}, game.looks) for look in game.looks]
    boards += [DrawnBoard({place: EMPTY}, lights=(Light.for_role(place, role),)) for role in LightRole]
    seen = {"\n".join(drawn(board, ascii_only=ascii_only)) for board in boards}
    assert len(seen) == len(boards)
    assert not ascii_only or all(text.isascii() for text in seen)


def test_a_board_shows_names_goals_and_marks_around_lit_squares(deblockle: Any) -> None:
    looks = {**dict.fromkeys(deblockle.places, EMPTY), "c3": "teal block, hoops up"}
    lights = (Light.for_role("c3", LightRole.FAULT), Light.for_role("a7", LightRole.PUT_RIGHT))
    board = DrawnBoard.seen(deblockle, looks, lights)
    lines = drawn(board)
    assert lines[0] == " 7 <. > .   .   .   .   .   .  "
    assert lines[4] == " 3  .   .  !T@! .   .   .   .  "
    assert lines[5] == " 2  .   .   .   *   .   .   .  "
    assert lines[-1].split() == [*"abcdefg"]
    told = legend(board, width=80, ascii_only=True).plain
    assert told.startswith("!! something is wrong here   <> put the piece back here   G gold   T teal\n* star")
    assert "* d2 teal's goal" in told
    assert max(map(len, told.split("\n"))) <= 80
    roomy = drawn(board, roomy=True)
    assert len(roomy) == 3 * 7 + 1
    assert len({cell_len(line) for line in roomy[:-1]}) == 1


def test_stacks_and_closed_squares_show_more_than_the_look() -> None:
    game, state = after_some_turns("blockade", 0)
    assert drawn(DrawnBoard.of(game, state))[0].split()[1] == "CL+GMMMMM"
    blokus: Any = load("blokus-dice")
    closed = blokus.rules.new({"players": 2, "sheet": "5x5/1/c3/1,2/I3/V3/I4/L4/O4"})
    lines = drawn(DrawnBoard.of(blokus, closed))
    assert lines[3].split()[3] == "#"


def test_a_players_own_sheet_is_large_and_the_others_are_small(deblockle: Any) -> None:
    game, state = after_some_turns("blokus-dice", 9, {"players": 4})
    board = DrawnBoard.of(game, state)
    lines = drawn(board, first="p3")
    assert [line.split() for line in lines[:1]] == [["p3", "p1", "p2", "p4"]]
    assert len(lines) == 12
    assert max(map(len, lines)) <= 80
    lit = Light.for_role("p2.j10", LightRole.TURN)
    assert drawn(DrawnBoard(board.appearance, board.looks, lights=(lit,)), first="p3")[0].split()[0] == "p2"
    six = DrawnBoard.of(*after_some_turns("number-drop", 16, {"players": 6}))
    lines = drawn(six, first="p1")
    assert max(map(len, lines)) <= 80
    assert lines[0].split()[0] == "p1"
    assert {f"p{number}" for number in range(1, 7)} <= set(" ".join(lines).split())


def test_writing_and_the_red_line_are_drawn_at_their_places() -> None:
    game: Any = load("number-drop")
    looks = {**game.table.appearance(game.rules.new({"players": 2}))}
    looks.update({"p1.a1": "digit 7", "p1.b2": "digit 4 circled", "p1.g14": "cross"})
    lines = drawn(DrawnBoard.seen(game, looks), ascii_only=False)
    assert lines[0].split() == ["p1", "p2"]
    assert lines[1].split()[7] == "X"
    assert [set(line) for line in lines[4].split()] == [{"="}, {"="}], "on the small sheet too"
    assert lines[14].split()[2] == "4°"
    assert lines[15].split()[1] == "7"


def test_a_state_is_drawn_with_its_standing(deblockle: Any) -> None:
    text = state_text(deblockle, deblockle.rules.new(), width=80, ascii_only=True).plain
    assert "Gold to move; gold has removed 0, teal 0." in text.split("\n")


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
    assert "Ann: roll the 4 dice." in text


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


def test_a_fault_that_stands_is_counted_once() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    game = load("deblockle")
    fault = Verdict(VerdictKind.ILLEGAL, "The gold block rolled onto c3.", 1.0, 10)
    right = Verdict(VerdictKind.PUT_RIGHT, "That is right.", 2.0, 20)
    for verdict in (fault, replace(fault), replace(fault), right, replace(fault)):
        report.receive(snapshot_of(game, verdict=verdict, words=verdict.sentence))
        report.report_verdicts(None)
    report.close()
    assert report.lines[-1] == "0 turns accepted, 2 faults named; the game goes on."


def test_the_last_line_says_how_the_game_ended() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    given_up = Outcome(None, "p1 resigned", kind=OutcomeKind.GIVEN_UP)
    for outcome in (None, Outcome(None, "the players agreed"), Outcome("gold", "teal resigned"), given_up):
        report.receive(snapshot_of(load("deblockle"), outcome=outcome))
        report.close()
    tally = "0 turns accepted, 0 faults named"
    assert list(report.lines) == [
        f"{tally}; the game goes on.",
        f"{tally}. A draw: the players agreed.",
        f"{tally}. Gold wins: teal resigned.",
        f"{tally}. The game was given up: p1 resigned.",
    ]


def test_turns_count_whether_they_were_seen_or_entered() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    game = load("deblockle")
    seen = Verdict(VerdictKind.ACCEPTED, "Gold played c1-c2.", 1.0, 10)
    report.receive(snapshot_of(game, turns=4))
    report.receive(snapshot_of(game, turns=5))
    report.receive(snapshot_of(game, turns=6, verdict=seen))
    report.receive(snapshot_of(game, turns=5, verdict=seen))
    report.receive(replace(snapshot_of(game, turns=1), game_number=2))
    report.close()
    assert report.lines[-1] == "3 turns accepted, 0 faults named; the game goes on."


def test_a_time_just_before_the_full_minute_is_rounded_to_it() -> None:
    report = Report(PrintedLines(Console(file=io.StringIO())), load("deblockle"))
    verdict = Verdict(VerdictKind.ACCEPTED, "Gold played c1-c2.", 119.97, 10)
    report.receive(snapshot_of(load("deblockle"), verdict=verdict, words=verdict.sentence))
    report.report_verdicts(None)
    assert report.lines[-1].split()[0] == "2:00.0"


def test_readings_and_hidden_places_are_drawn_at_their_squares() -> None:
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((640, 360))), fps=6.0)
    frame = next(iter(table.frames()))
    before = frame.image.copy()
    readings: list[Reading | None] = [None]
    overlay = Overlay(table.calibration(), table.setting.layout, reading=lambda: readings[0])
    located = overlay(frame)
    assert located is not None
    assert not np.array_equal(located, frame.image)
    hand = Hindrance(HindranceKind.HAND, "a hand is over g7", ("g7",))
    readings[0] = Reading(0, 0.0, {"a1": PlaceReading({"gold block, star up": 1.0})}, (hand,))
    drawn = overlay(frame)
    assert drawn is not None
    changed = np.argwhere((drawn != located).any(axis=2))
    assert changed[:, 0].min() < 180 < changed[:, 0].max(), "far and near, at g7 and at a1"
    assert np.array_equal(frame.image, before), "the frame itself is unchanged"


def test_the_reading_of_every_sheet_is_drawn_on_it() -> None:
    layout = default_layout("number-drop").with_sheets(2)
    setting = standard_setting(lens((960, 540)), layout=layout)
    frame = Frame(Renderer(1).render(Scene(setting, ()), 0), 0.0, 0)
    reading = Reading(0, 0.0, {f"{player}.a1": PlaceReading({"3": 1.0}) for player in ("p1", "p2")})
    plain = Overlay(setting.camera, layout, reading=lambda: None)(frame)
    read = Overlay(setting.camera, layout, reading=lambda: reading)(frame)
    assert plain is not None
    assert read is not None
    for part in layout.parts():
        pose = locate(frame.image, setting.camera, part).pose
        board = part.board
        for picture, before in ((plain, frame.image), (read, plain)):
            left, top = project(setting.camera, pose, [[*board.centre_mm(board.places[0]), board.height_mm]])[0].astype(
                int
            )
            around = np.s_[top - 12 : top + 12, left - 12 : left + 12]
            assert not np.array_equal(picture[around], before[around]), board.name


def test_without_a_table_nothing_is_drawn() -> None:
    table = VirtualTable(5, GameOptions(turns=1), setting=standard_setting(lens((640, 360))), fps=6.0)
    overlay = Overlay(table.calibration(), table.setting.layout)
    assert overlay(Frame(np.zeros((360, 640, 3), np.uint8), 0.0, 0)) is None
