"""The benchmark of the engine: its counts, its targets, and its message without python-chess."""

import io
import random
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from benchmarks import engine
from benchmarks.parts import engine_speed, turns_showing
from benchmarks.parts.engine_speed import (
    DepthCount,
    counts_to_depth,
    diaballik_results,
    known_of,
    middlegame_positions,
    print_counts,
    print_first_turn,
)
from benchmarks.parts.waits import Waits, print_waits, waits_in
from engine.registry import games, load


class Board:
    """A board as python-chess has it, of a game in which two moves are always legal."""

    depth = 0

    @property
    def legal_moves(self):
        return Moves()

    def push(self, move):
        assert move in "ab"
        self.depth += 1

    def pop(self):
        self.depth -= 1


class Moves:
    def count(self):
        return 2

    def __iter__(self):
        return iter("ab")


class Chess:
    Board = Board
    __version__ = "0"


def console():
    return Console(file=io.StringIO(), width=130)


@pytest.mark.parametrize(
    ("turns_s", "verdict_s", "met"),
    [((0.01, 0.1), (0.1,), True), ((0.01, 0.14), (0.1,), False), ((), (0.1, 0.14), False), ((), (0.1,), True)],
)
def test_turns_and_verdicts_must_come_within_two_frames(turns_s, verdict_s, met):
    out = console()
    assert print_waits([Waits("toy", turns_s, (3.0, 5.0), (9.0,), verdict_s)], out) is met
    assert ("NOT MET" in out.file.getvalue()) is not met
    assert "4000.0, 5000.0 ms" in out.file.getvalue()


def test_what_a_person_waits_for_is_measured_in_each_position():
    waits = waits_in("deblockle", 2, 1)
    assert [len(each) for each in (waits.turns_s, waits.gentle_s, waits.fair_s, waits.verdict_s)] == [2] * 4
    assert min(*waits.turns_s, *waits.gentle_s, *waits.fair_s, *waits.verdict_s) > 0


@pytest.mark.parametrize(("first_s", "met"), [(1 / 4001, True), (1 / 3999, False)])
def test_the_first_turn_must_take_a_fortieth(first_s, met):
    out = console()
    assert print_first_turn([first_s] * 3, [0.01] * 3, {500: 1e-4}, out) is met
    assert ("NOT MET" in out.file.getvalue()) is not met
    assert "500" in out.file.getvalue()


def test_counts_are_printed_with_their_growth():
    out = console()
    print_counts({"deblockle": [DepthCount(1, 58, 1e-3), DepthCount(2, 2760, 5e-2)]}, out)
    assert "47.6" in out.file.getvalue()
    assert "50.0" in out.file.getvalue()


@pytest.mark.parametrize(
    ("name", "most_s", "counts"),
    [("deblockle", 0.05, [58, 2760]), ("blokus-dice", 0.05, [184, 25_120]), ("diaballik", 0.0, [290])],
)
def test_counts_grow_until_the_next_would_take_too_long(monkeypatch, name, most_s, counts):
    def by_count(call):
        count = call()
        return count, count * 1e-6

    monkeypatch.setattr(engine_speed, "timed", by_count)
    assert [each.count for each in counts_to_depth(load(name), load(name).rules.new(), most_s)] == counts


def test_every_game_has_a_timed_worst_position():
    for name in games():
        worst = known_of(name)["worst"]
        assert worst
        assert all(load(name).notation.parse_state(one["state"]).to_move for one in worst)
    found = turns_showing.findings(1, random.Random(1), ("blokus-dice", "number-drop"))
    assert [each.turns for each in found] == [464, 361_095, 92_099]
    out = console()
    turns_showing.print_findings(found, out)
    assert "361,095" in out.file.getvalue()


@pytest.mark.parametrize(("slow_s", "met"), [(0.13, True), (0.14, False)])
@pytest.mark.parametrize("slow", ["exactly_s", "hidden_s", "first_s", "verdict_s"])
def test_every_time_must_be_below_two_frames(slow, slow_s, met):
    times = {"exactly_s": 0.01, "hidden_s": 0.01, "first_s": 0.01, "verdict_s": 0.01, slow: slow_s}
    out = console()
    assert turns_showing.print_findings([turns_showing.Finding("toy", "why", 7, **times)], out) is met
    assert ("NOT MET" in out.file.getvalue()) is not met


def test_middlegame_positions_are_unfinished():
    found = middlegame_positions(load("diaballik"), 2, random.Random(1))
    assert all(len(set(diaballik_results(state))) == len(diaballik_results(state)) > 0 for state in found)


def test_chess_is_counted():
    chess: Any = Chess
    assert engine_speed.chess_perft(chess) == 8


def test_without_python_chess_it_says_so(monkeypatch):
    monkeypatch.setattr(engine, "load_chess", lambda: None)
    result = CliRunner().invoke(engine.main, [])
    assert result.exit_code == 2
    assert "python-chess is missing" in result.output
    assert "pip install 'chess" in result.output


def test_wrong_counts_are_not_timed(monkeypatch):
    monkeypatch.setattr(engine, "load_chess", lambda: Chess)
    result = CliRunner().invoke(engine.main, ["--game", "diaballik", "--quick"])
    assert result.exit_code == 1
    assert "python-chess counts 8" in result.output
