"""Sheets on the virtual table: what is written, rubbed out and put right, by several hands."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.players import FaultyPlayers, FaultySheetPlayers
from engine.registry import load
from simulator.play.actions import ActionKind, Arrangement
from simulator.play.players import Habits, Players
from simulator.scene.handwriting import Writer
from simulator.scene.pieces import DiePose, InkPose
from tests.present import present
from vision.layout.table import default_layout

WRITTEN = ("number-drop", "blokus-dice")
DICE = ("1*3457", "12*456", "234*67", "123567", "IOTLS*")


def players_of(name: str, seed: int = 1, players: int = 3) -> FaultyPlayers:
    layout = default_layout(name).with_sheets(players)
    return FaultySheetPlayers(load(name), layout, Habits(), np.random.default_rng(seed), {"players": players})


def play(people: FaultyPlayers, turns: int) -> list[Any]:
    """Play a number of turns; check the ink after each against the rules."""
    actions: list[Any] = []
    while len(actions) < turns and not people.is_over:
        while people.awaits_roll:
            people.perform(people.roll())
        actions.append(people.turn())
        people.perform(actions[-1])
        assert people.looks == dict(people._game.table.appearance(people.state))
    return actions


@pytest.mark.parametrize("name", WRITTEN)
def test_the_ink_after_each_turn_is_that_of_the_rules(name: str) -> None:
    actions = play(players_of(name), 25)
    assert {action.kind for action in actions} <= {ActionKind.TURN, ActionKind.DONE}
    assert {action.player for action in actions} == {"p1", "p2", "p3"}
    assert all(action.carries for action in actions if action.kind is ActionKind.TURN)


def test_the_printed_dice_of_a_layout_are_thrown_in_its_tray() -> None:
    layout = default_layout("number-drop").with_sheets(2)
    people = FaultySheetPlayers(load("number-drop"), layout, Habits(), np.random.default_rng(1), {"players": 2})
    draw = people.roll()
    assert not draw.carries  # the tiles are drawn out of sight
    for _ in range(2):
        people.perform(people.turn())
    rolled = people.roll()
    people.perform(rolled)
    dice = [piece for piece in people.standing.values() if isinstance(piece, DiePose)]
    assert [die.printed for die in dice] == list(DICE)
    assert sorted(die.printed[die.value - 1] for die in dice) == sorted(rolled.turn.split(","))


def test_passing_ends_everybodys_turn_and_writes_nothing() -> None:
    people = players_of("number-drop", 3)
    done = next(action for action in play(people, 80) if action.kind is ActionKind.DONE)
    assert not done.carries
    assert done.ends_turn


def test_a_loop_is_drawn_once_round_all_its_digits() -> None:
    people = players_of("number-drop", 3)
    play(people, 60)
    loops = [piece for name, piece in people.standing.items() if name.startswith("loop ")]
    circled = [piece for piece in people.standing.values() if piece.look.endswith("circled")]
    assert loops
    assert len(circled) >= 3 * len(loops)


@pytest.mark.parametrize("name", WRITTEN)
def test_violations_are_put_right(name: str) -> None:
    people = players_of(name, 2)
    play(people, 12)
    while people.awaits_roll:
        people.perform(people.roll())
    before, looks = people.standing, people.looks
    for kind in people.kinds_of_violation:
        action = people.violation_of(kind)
        assert action is not None, kind
        people.perform(action)
        assert people.looks != looks
        people.perform(people.put_right(before, action.player))
        assert people.looks == looks
    action = people.straighten()
    people.perform(action)
    assert people.looks == looks
    people.perform(people.try_out())
    assert people.looks == looks


def test_a_sign_is_written_over_with_another_one_even_inside_a_loop() -> None:
    people = players_of("number-drop", 3)
    play(people, 60)
    before, looks = people.standing, people.looks
    written_over: Counter[tuple[bool, bool]] = Counter()
    for _ in range(300):
        action = present(people.violation_of("written over"))
        people.perform(action)
        ((place, look),) = people.looks.items() - looks.items()
        sign, circled, _ = looks[place].partition(" circled")
        written_over[bool(circled), look == sign] += 1
        people.perform(people.put_right(before, action.player))
    assert {circled for circled, _ in written_over} == {False, True}
    assert not any(same for _, same in written_over)


def dice_in_the_tray(standing: Arrangement) -> list[int]:
    return sorted(piece.value for piece in standing.values() if isinstance(piece, DiePose) and piece.x_mm > 100)


def test_a_die_is_taken_out_of_the_tray_with_each_shape() -> None:
    people = players_of("blokus-dice", 4)
    for _ in range(3):
        while people.awaits_roll:
            people.perform(people.roll())
        lying = present(present(people._game.dice).roll_of(people.state))
        assert dice_in_the_tray(people.standing) == sorted(map(int, lying.faces))
        before = people.standing
        action = people.turn()
        people.perform(action)
        assert len(dice_in_the_tray(people.standing)) == len(lying.faces) - 1
        back = people.standing.after_all(people.put_right(before, action.player).carries)
        assert dice_in_the_tray(back) == dice_in_the_tray(before)


def test_dice_out_of_the_tray_lie_apart() -> None:
    people = players_of("blokus-dice", 0, players=4)
    most = 0
    while not people.is_over:
        while people.awaits_roll:
            people.perform(people.roll())
        if not people.is_over:
            people.perform(people.turn())
        dice = [(piece.x_mm, piece.y_mm) for piece in people.standing.values() if isinstance(piece, DiePose)]
        most = max(most, len(dice) - len(dice_in_the_tray(people.standing)))
        assert min(math.dist(one, other) for one, other in combinations(dice, 2)) > 16 * math.sqrt(2)
    assert most > 1


def test_handwritings_differ_and_each_is_repeatable() -> None:
    def strokes(seed: int) -> list[Any]:
        people = players_of("number-drop", seed)
        play(people, 3)
        return [piece.strokes for piece in people.standing.values() if isinstance(piece, InkPose)]

    assert strokes(5) == strokes(5)
    assert strokes(5) != strokes(6)


def test_about_a_third_of_writers_each_are_steady_usual_and_wild() -> None:
    counts = Counter(Writer(np.random.default_rng(seed)).steadiness for seed in range(600))
    assert counts.keys() == {"steady", "usual", "wild"}
    assert all(150 < count < 250 for count in counts.values())


def test_it_is_known_how_steadily_each_player_writes() -> None:
    assert set(players_of("number-drop", 1, 3).handwritings) == {"p1", "p2", "p3"}
    discs = Players(load("diaballik"), default_layout("diaballik"), Habits(), np.random.default_rng(1))
    assert discs.handwritings == {}
