"""The soak's inputs without a camera: switches with faults, clock ticks, and their ambiguities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from benchmarks.faults.answers import FaultyOptions
from benchmarks.faults.disturbances import Disturbance
from benchmarks.faults.switches import SwitchFaults, VirtualSwitches
from benchmarks.faults.table import FaultyTable, faulty_setting
from benchmarks.parts.soak.circumstances import is_ambiguous_by_occupancy, misled, seen_as
from benchmarks.parts.soak.game import GamePlan, GameRecord, plan_of
from benchmarks.parts.soak.inputs import NoCamera, PerfectReader, TableSwitches
from engine.registry import load
from referee.wiring.plan import Inputs
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from simulator.scene.pieces import DiePose, block_on
from tests.present import present
from vision.errors import CameraError, EndOfFramesError

SIZE = (320, 180)


def table(*disturbances: Disturbance) -> FaultyTable:
    made = FaultyTable(3, FaultyOptions(turns=1, kinds=("nothing",)), setting=faulty_setting(3, SIZE), pictures=False)
    for one in disturbances:
        made.disturbances.begin(one)
    return made


def test_sensors_alone_get_the_usual_start_and_no_touch() -> None:
    plans = [plan_of(seed, 40, SIZE, inputs=Inputs.SENSORS) for seed in range(20)]
    assert {plan.start for plan in plans} == {"usual"}
    assert {plan.turn_end for plan in plans} == {"button", "rest"}


def test_switches_report_each_change_once_and_the_last_snapshot_while_unplugged() -> None:
    made = table()
    layout = made.setting.layout
    source = TableSwitches(made, VirtualSwitches(layout, 1, SwitchFaults(unplugged=((3.0, 4.0),))))
    made.pieces = (block_on(layout, "b1", "gold", "star", "slider"),)
    first = source.latest(1.0)
    made.pieces = (block_on(layout, "c1", "gold", "star", "slider"),)
    second = source.latest(2.0)
    off = source.latest(3.5)
    assert first is not None
    assert second is not None
    assert first.changes == ()
    assert [(one.place, one.put_down) for one in second.changes] == [("b1", False), ("c1", True)]
    assert off == replace(second, changes=())
    assert source.sensor_errors == [(3.5, frozenset(layout.places))]


def test_without_a_camera_ticks_go_on_while_the_camera_is_unplugged() -> None:
    unplugged = Disturbance("camera unplugged", 0.0, 1.0, delivery="unplugged")
    with pytest.raises(CameraError, match="check its cable"):
        table(unplugged).read(0.0)
    ticks = NoCamera(table(unplugged))
    times = [ticks.read(2.0).time_s for _ in range(20)]
    assert times == pytest.approx([number / 15 for number in range(20)])


def test_ticks_end_with_the_game() -> None:
    ticks = NoCamera(table())

    def all_of_them() -> None:
        for _ in range(10_000):
            ticks.read(2.0)

    with pytest.raises(EndOfFramesError):
        all_of_them()


def test_a_switch_fits_any_piece() -> None:
    assert seen_as("a piece", "gold block, x up")
    assert not seen_as("a piece", "empty")
    assert seen_as("empty", "empty")
    assert not seen_as("gold block, x up", "teal block, x up")


def test_a_switch_only_misleads_about_its_own_place_and_for_a_while() -> None:
    played = GameRecord(GamePlan(1, inputs=Inputs.SENSORS), TruthLog())
    played.sensor_errors = [(10.0, frozenset({"c3"}))]
    assert misled(played, ("c3", "d4"), 12.0)
    assert misled(played, (), 12.0)
    assert not misled(played, ("d4",), 12.0)
    assert not misled(played, ("c3",), 9.9)
    assert not misled(played, ("c3",), 20.0)


def test_a_question_about_the_first_turn_may_be_justified() -> None:
    """Some first turns occupy the same squares as another turn, and some don't."""
    game = load("deblockle")
    start = game.rules.new()
    side_faces = present(game.side_faces)
    for place, facings in side_faces.facings(start).items():
        start = side_faces.narrow(start, {place: facings[0]})
    before = game.table.appearance(start)

    def taken(looks: Mapping[str, str]) -> frozenset[str]:
        return frozenset(place for place, look in looks.items() if look != "empty")

    leaving: dict[frozenset[str], set[tuple[str, ...]]] = {}
    results = [game.table.appearance(game.rules.apply(start, turn)) for turn in game.rules.legal_turns(start)]
    for looks in results:
        leaving.setdefault(taken(looks), set()).add(tuple(looks[place] for place in game.places))
    is_justified = set()
    for looks in results:
        truth = TruthLog(
            game.notation.format_state(start), [TruthEvent(ActionKind.TURN, "gold", 1.0, 2.0, before, looks, {})]
        )
        is_justified.add(is_ambiguous_by_occupancy(game, truth, 2.5))
        came_back = taken(looks) == taken(before)
        assert is_ambiguous_by_occupancy(game, truth, 2.5) == (came_back or len(leaving[taken(looks)]) > 1)
    assert is_justified == {True, False}


def test_the_perfect_reader_reads_the_dice_in_the_tray() -> None:
    played = FaultyTable(3, FaultyOptions("blockade"), setting=faulty_setting(3, game="blockade"), pictures=False)
    reader = PerfectReader(played, load("blockade").looks)
    reading = reader.read(played.read())
    thrown = {piece.colour: str(piece.value) for piece in played.pieces if isinstance(piece, DiePose)}
    assert {die.die: max(die.faces, key=lambda face: die.faces[face]) for die in reading.rolls[0].dice} == thrown
    assert set(thrown) == {"red", "yellow", "green", "blue"}
