"""The benchmark of the engine: its measurements and its targets."""

import io
import random

import pytest
from rich.console import Console

from benchmarks.parts import turns_showing
from benchmarks.parts.turns_showing import known_of
from benchmarks.parts.waits import Waits, print_waits, waits_in
from engine.registry import games, load


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
