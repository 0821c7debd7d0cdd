"""The demo with a microcontroller: lights, presses and switches go over a real pseudo-terminal."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from common.grid import PlaceGrid
from hardware.lights.panel import Panel
from hardware.lights.signals import Light, LightRole, Mood, Signal
from referee.cli.root import root
from referee.demo.controller import demo_controller
from referee.demo.run import run_demo
from referee.demo.table import DemoOptions
from referee.wiring.plan import Inputs
from simulator.microcontroller.wire import WireFaults

GRID = PlaceGrid.of_squares(7, 7)


def play(options: DemoOptions) -> tuple[int, str]:
    console = Console(file=StringIO(), width=300)
    code = run_demo(options, console)
    assert isinstance(console.file, StringIO)
    return code, console.file.getvalue()


def test_players_see_the_lights_of_the_board_and_press_its_button(tmp_path: Path) -> None:
    code, output = play(DemoOptions(turns=1, fast=True, lights="pico", journal=tmp_path / "j.sqlite"))
    assert code == 0, output
    assert "1 turn played, 1 accepted as played" in output
    assert "1 press came over the wire" in output
    assert "the strip showed 3 of 3 signals as they were meant" in output


def test_a_board_unplugged_and_back_under_another_name_is_found(tmp_path: Path) -> None:
    faults = WireFaults(lose=0.02, flip=0.02, unplugs_at_s=(1.0,), garbage_bytes=200)
    options = DemoOptions(
        turns=1, fast=True, lights="pico", inputs=Inputs.BOTH, link_faults=faults, journal=tmp_path / "j.sqlite"
    )
    code, output = play(options)
    assert code == 0, output
    assert "was unplugged" in output
    assert "The board answers again" in output
    # On a very busy computer the link may be lost once more.
    assert re.search(r"\b([2-9]|\d\d) handshakes", output)


def test_sensors_alone_ask_and_a_person_answers(tmp_path: Path) -> None:
    code, output = play(DemoOptions(turns=2, fast=True, inputs=Inputs.SENSORS, journal=tmp_path / "j.sqlite"))
    assert code == 0, output
    assert "2 turns played, 2 accepted as played" in output
    assert "switch changes were detected" in output


@pytest.mark.long
def test_sensors_alone_name_a_violation_that_they_can_detect(tmp_path: Path) -> None:
    code, output = play(DemoOptions(turns=4, fast=True, inputs=Inputs.SENSORS, journal=tmp_path / "j.sqlite"))
    assert code == 0, output
    assert "1 illegal change made, 1 named" in output
    assert "(I only sense which squares are occupied.)" in output


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("inputs", list(Inputs))
def test_whole_demos_succeed_despite_faults_of_the_wire(seed: int, inputs: Inputs, tmp_path: Path) -> None:
    faults = WireFaults.from_text(
        "all=0.05, unplug_every_s=10, reset_every_s=15, silence_every_s=15, garbage_bytes=100"
    )
    options = DemoOptions(
        seed=seed, turns=6, fast=True, lights="pico", inputs=inputs, link_faults=faults, journal=tmp_path / "j.sqlite"
    )
    code, output = play(options)
    assert code == 0, output


def test_players_know_only_what_the_strip_shows() -> None:
    heard: list[str] = []
    with (
        demo_controller(GRID, None, 5, lights=True, say=heard.append) as board,
        Panel(board.driver_sources(heard.append), lambda: 0.0, heard.append) as panel,
    ):
        signal = Signal(Mood.FAULT, (Light.for_role("c3", LightRole.FAULT), Light.for_role("d4", LightRole.PUT_RIGHT)))
        panel.show(signal, 0.0)
        assert heard == ["fault"]
        seen = board.seen()
        assert seen is not None
        assert [lit.place for lit in seen.lights] == ["c3", "d4"]
        assert board.agrees_with(signal)
        assert not board.agrees_with(Signal(Mood.FAULT, (Light.for_role("c3", LightRole.FAULT),)))
        assert not board.agrees_with(
            Signal(Mood.ACCEPTED, (Light.for_role("c3", LightRole.FAULT), Light.for_role("d4", LightRole.PUT_RIGHT)))
        )
        # In the dark of a blink nobody sees a fault.
        panel.tick(0.3)
        board.wait_for_lights()
        assert board.mood() is None
        assert board.report.signals == 1
        assert board.report.wrong == 0


def test_switches_follow_the_pieces_in_the_tables_time() -> None:
    with demo_controller(GRID, None, 5, lights=False, say=print) as board:
        nothing = dict.fromkeys(GRID.places, False)
        board.put(nothing)
        first = board.latest(1.0)
        assert first is not None
        assert not any(first.occupied.values())
        board.put({**nothing, "c3": True, "g7": True})
        second = board.latest(2.0)
        assert second is not None
        assert [place for place, closed in second.occupied.items() if closed] == ["c3", "g7"]
        assert sorted((change.place, change.put_down, change.time_s) for change in second.changes) == [
            ("c3", True, 2.0),
            ("g7", True, 2.0),
        ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--link-faults", "all=0.05"], "add --lights pico"),
        (["--lights", "pico", "--link-faults", "loose=0.05"], "is not a fault of the wire"),
        (["--lights", "pico", "--link-faults", "lose=5"], "expected a share"),
    ],
)
def test_nonsensical_faults_are_a_usage_error(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(root, ["demo", *arguments], standalone_mode=False)
    assert message in str(result.exception)
