"""Faults of games: their effects, and that a seed repeats them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.answers import FaultyOptions
from benchmarks.faults.deblockle import (
    FORBIDDEN_BY_VARIANT,
    ONLY_SIDE_FACES,
    OUT_OF_TURN,
    UNUSUAL,
    WHOLE_TURN_VIOLATIONS,
    FaultyBlockPlayers,
    Onlooker,
)
from benchmarks.faults.disturbances import DISTURBANCE_KINDS, DisturbanceMaker
from benchmarks.faults.game import NO_FAULT, FaultyGame
from benchmarks.faults.switches import VirtualSwitches, draw_switch_faults, sensed_places
from benchmarks.faults.table import FaultyTable, faulty_setting
from engine.errors import IllegalTurnError
from engine.registry import load
from simulator.play.deblockle import VIOLATIONS
from simulator.play.game import TruthLog
from simulator.play.players import Habits
from simulator.scene.pieces import block_on
from simulator.scene.scene import Setting, standard_layout
from tests.effort import cases, some

SIZE = (320, 180)


@pytest.fixture(scope="module")
def setting() -> Setting:
    return faulty_setting(3, SIZE)


@pytest.mark.parametrize("kind", DISTURBANCE_KINDS)
def test_every_kind_of_fault_changes_something(kind: str, setting: Setting) -> None:
    block = block_on(setting.layout, "e3", "gold", "x", "star")
    one = DisturbanceMaker(setting, np.random.default_rng(5)).make(kind, 2.0, ("c4",), (block,))
    assert one.kind == kind
    assert one.things or one.lighting or one.pose or one.delivery
    assert one.began_s >= 2.0


def begun(game: str, kind: str, turns: int = 3) -> FaultyGame:
    """A game of three turns with faults of one kind, played without a referee."""
    setting = faulty_setting(3, SIZE, game, sheets=2 if load(game).printed_sheet else None)
    rules = {"players": 2} if load(game).printed_sheet else {}
    played = FaultyGame(3, setting, FaultyOptions(game, rules, turns, kinds=(kind,)), TruthLog())
    for time_s in np.arange(0.0, 120.0, 0.5):
        if played.moment(time_s) is None:
            break
    return played


@pytest.mark.parametrize(
    ("game", "kind", "happened"),
    [
        ("deblockle", "two quick turns", {"two quick turns"}),
        ("blockade", "two quick turns", {NO_FAULT}),
        ("deblockle", "another block turned", {"another block turned"}),
        ("diaballik", "another block turned", {NO_FAULT}),
        ("number-drop", "dice touched", {"dice touched"}),
        ("number-drop", "hand over the dice", {"hand over the dice"}),
        ("blockade", "coin on a piece", {NO_FAULT}),
    ],
)
def test_only_faults_that_happened_are_recorded(game: str, kind: str, happened: set[str]) -> None:
    played = begun(game, kind)
    assert {one.kind for one in played.episodes} == happened
    assert list(played.disturbances) == []


def test_the_same_seed_gives_the_same_frames() -> None:
    def frames() -> list[Any]:
        table = FaultyTable(11, FaultyOptions(turns=2, kinds=("table bumped",)), setting=faulty_setting(11, SIZE))
        found: list[Any] = []
        for _ in range(30):
            frame = table.read()
            found.append((frame.sequence, frame.time_s, frame.image.tobytes()))
        return found

    assert frames() == frames()


@pytest.mark.parametrize(
    "kind", some(sorted({*VIOLATIONS, *UNUSUAL, *WHOLE_TURN_VIOLATIONS} - set(ONLY_SIDE_FACES)), 10)
)
def test_no_onlooker_takes_a_violation_for_a_turn(kind: str, setting: Setting) -> None:
    game = load("deblockle")
    for seed in range(cases(2)):
        players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(seed))
        players.perform(players.turn())
        action = players.violation_of(kind)
        if action is None:
            continue
        before = players.standing
        after = before.after_all(action.carries).appearance(game.places)
        assert game.table.explain(players.state, after), kind
        players.perform(action)
        players.perform(players.put_right(before, action.player))
        assert players.looks == before.appearance(game.places)


def test_an_onlooker_follows_only_legal_turns() -> None:
    game = load("deblockle")
    setting = faulty_setting(3, SIZE)
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8))
    start = players.looks
    onlooker = Onlooker(game, start, None)
    assert onlooker.is_possible(start)
    first = players.turn()
    players.perform(first)
    after_one = players.looks
    players.perform(players.turn())
    after_two = players.looks
    assert onlooker.is_possible(after_one)
    assert onlooker.is_possible(after_two)
    onlooker.follow(after_one)
    assert onlooker.is_possible(after_two)
    nobody = dict.fromkeys(start, "empty")
    assert not onlooker.is_possible(nobody)
    with pytest.raises(ValueError, match="no legal turn"):
        onlooker.follow(nobody)


def breaches_of(players: FaultyBlockPlayers, kind: str) -> list[str]:
    """The rules that a violation breaks, judged with every face known; empty when it is impossible."""
    game = load("deblockle")
    action = players.violation_of(kind)
    if action is None:
        return []
    after = players.standing.after_all(action.carries).appearance(game.places)
    return [breach.rule for breach in game.table.explain(players.state, after)]


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("hopped wrongly with stop up", "stop-must-not-hop"),
        ("hopped wrongly with cross up", "cross-one-orthogonal"),
        ("hopped wrongly with x up", "x-one-diagonal"),
        ("hopped wrongly with slider up", "slider-to-the-end"),
        ("hopped wrongly with hoops up", "hoops-three-steps"),
        ("rolled against something", "roll-blocked"),
        ("rolled over twice", "symbol-not-possible"),
        ("replaced by the other's block", "colour-changed"),
        ("played out of turn", "not-your-turn"),
    ],
)
def test_each_violation_breaks_its_rule(kind: str, rule: str, setting: Setting) -> None:
    found: set[str] = set()
    for seed in range(6):
        generator = np.random.default_rng(seed)
        players = FaultyBlockPlayers(load("deblockle"), setting.layout, Habits(), generator, {"blocks_teal": 3})
        found |= set(breaches_of(players, kind)[:1])
        if rule in found:
            break
    assert rule in found


def test_turns_that_only_the_variant_or_the_order_of_play_forbids() -> None:
    game = load("deblockle")
    base, variant = game.rules.new(), game.rules.new({"side_by_side": False})
    out_of_turn, forbidden = WHOLE_TURN_VIOLATIONS[OUT_OF_TURN], WHOLE_TURN_VIOLATIONS[FORBIDDEN_BY_VARIANT]
    assert forbidden(game, base) == []
    for turn in forbidden(game, variant):
        after = game.table.appearance(game.rules.apply(base, turn))
        assert game.table.explain(variant, after)[0].rule in {"side-by-side", "slider-stopped-by-opponent"}
    assert {turn.player for turn in out_of_turn(game, base)} == {"teal"}


@pytest.mark.parametrize("kind", FaultyBlockPlayers.wrong_set_ups)
def test_the_rules_refuse_every_wrong_set_up(kind: str, setting: Setting) -> None:
    game = load("deblockle")
    options = {"blocks_teal": 3}
    players = FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8), options)
    before = players.standing
    action = players.set_up_wrongly(kind)
    assert action is not None
    players.perform(action)
    with pytest.raises(IllegalTurnError):
        game.table.set_up(players.looks, options)
    players.perform(players.put_right(before, action.player))
    assert players.looks == before.appearance(game.places)
    if kind == "spare block put out":
        assert FaultyBlockPlayers(game, setting.layout, Habits(), np.random.default_rng(8)).set_up_wrongly(kind) is None


# The switches under the virtual board feel what stands there, and fail as they are told.

LAYOUT = standard_layout()
BLOCKS = tuple(block_on(LAYOUT, place, "gold", "star", "slider") for place in ("b1", "e3"))


def closed_at(switches: VirtualSwitches, time_s: float) -> set[str]:
    read = switches.closed(BLOCKS, time_s)
    assert read is not None
    return {place for place, is_closed in read.items() if is_closed}


def test_a_switch_closes_under_a_block_that_stands_and_not_under_one_in_the_air() -> None:
    lifted = replace(BLOCKS[1], base_mm=20.0)
    assert sensed_places(LAYOUT, (BLOCKS[0], lifted)) == {"b1"}
    assert closed_at(VirtualSwitches(LAYOUT, 1), 0.0) == {"b1", "e3"}


def test_drawn_faults_are_of_every_kind_in_a_few_dozen_games() -> None:
    drawn = [draw_switch_faults(LAYOUT, np.random.default_rng(seed), 200.0) for seed in range(40)]
    assert any(one.stuck for one in drawn)
    assert any(one.dead for one in drawn)
    assert any(not one.stuck and not one.dead for one in drawn)
    assert all(one.unplugged for one in drawn)
