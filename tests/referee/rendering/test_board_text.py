"""Boards as text: readable without colour, within the width, with distinct lights, pieces and sheets."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from rich.cells import cell_len

from engine.registry import games, load
from engine.values import EMPTY
from hardware.lights.signals import Light, LightRole
from referee.rendering.board_text import DrawnBoard, board_text, legend, state_text


def drawn(board: DrawnBoard, *, width: int = 80, ascii_only: bool = True, **more: Any) -> list[str]:
    return board_text(board, width=width, ascii_only=ascii_only, **more).plain.split("\n")


def after_some_turns(name: str, steps: int, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
    game: Any = load(name)
    state, rng = game.rules.new(options), Random(3)
    for _ in range(steps):
        if game.awaits_roll(state):
            state = game.dice.rolled(state, rng.choice(game.dice.possible_rolls(state)).roll)
        else:
            turns = game.rules.legal_turns(state)
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
