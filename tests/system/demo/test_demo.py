"""The demo: the real service on the virtual table, also with a microcontroller over a real pseudo-terminal."""

import os
import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.demo.controller import demo_controller
from app.demo.run import run_demo, score_game
from app.demo.table import DemoOptions, thinking_players
from app.wiring.plan import Inputs
from common.grid import PlaceGrid
from engine.registry import load
from hardware.lights.panel import Panel
from hardware.lights.signals import Light, LightRole, Mood, Signal
from journal.journal import Journal
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import Event, EventKind
from simulator.microcontroller.wire import WireFaults
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from simulator.table import VirtualTable
from vision.frame import Frame

SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3)))


def play(options: DemoOptions, **terminal: Any) -> tuple[int, str]:
    console = Console(file=StringIO(), **{"width": 160, **terminal})
    code = run_demo(options, console)
    assert isinstance(console.file, StringIO)
    return code, console.file.getvalue()


def events_of(path: Path) -> list[tuple[int, Event]]:
    with Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal:
        return journal.events()


def test_a_game_is_refereed_and_kept(tmp_path: Path) -> None:
    options = DemoOptions(seed=7, turns=1, fast=True, journal=tmp_path / "journal.sqlite")
    code, output = play(options)
    assert code == 0, output
    assert "1 turn played, 1 accepted as played" in output
    assert '[Game "deblockle"]' in output
    assert str(options.journal) in output.replace("\n", "")
    events = events_of(tmp_path / "journal.sqlite")
    assert [event.kind for _, event in events][:2] == ["new game", "set up"]
    assert events[0][1].data["seed"] == 7


@pytest.mark.long
@pytest.mark.parametrize("name", ["number-drop", "blokus-dice"])
def test_sheets_are_refereed_by_camera(tmp_path: Path, name: str) -> None:
    code, output = play(DemoOptions(name, seed=3, turns=3, fast=True, journal=tmp_path / "journal.sqlite"))
    assert code == 0, output
    assert "3 turns played, 3 accepted as played" in output


def test_thinking_players_play_the_same_short_game_every_time() -> None:
    game: Any = load("deblockle")

    def played(most: int) -> tuple[list[str], Any]:
        choose, state = thinking_players(game, 2), game.rules.new({"blocks_gold": 2, "blocks_teal": 2})
        turns: list[str] = []
        while game.rules.outcome(state) is None and len(turns) < most:
            turn = choose(state)
            turns.append(game.notation.format_turn(turn))
            state = game.rules.apply(state, turn)
        return turns, game.rules.outcome(state)

    turns, outcome = played(40)
    assert outcome is not None
    assert played(5)[0] == turns[:5]


def test_a_random_demo_uses_the_whole_game_and_spectators_may_only_ask_for_a_hint(tmp_path: Path) -> None:
    journal = tmp_path / "games[old].sqlite"
    code, output = play(DemoOptions(turns=1, random=True, fast=True, journal=journal, keys=["b\n", "\n", "h\n"]))
    assert code == 0, output
    assert f"The journal is in {journal}\n" in output
    start = next(line for line in output.splitlines() if line.startswith("[Start "))
    assert start.count(":G.") == start.count(":T.") == 4
    assert "No hint: the board is not set up yet." in output
    assert output.count("h and Enter gives a hint, Ctrl-C ends the demo.") == 1, "the answer to b"
    assert "taken back" not in output
    assert "1 turn played, 1 accepted as played" in output


@pytest.mark.parametrize(("terminal", "space"), [({}, " "), ({"force_terminal": True, "width": 40}, " \n")])
def test_ctrl_c_ends_with_a_sentence_and_keeps_what_was_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: dict[str, Any], space: str
) -> None:
    whole = VirtualTable.read

    def read(self: VirtualTable, timeout_s: float = 0.0) -> Frame:
        frame = whole(self, timeout_s)
        if frame.time_s > 2:
            os.kill(os.getpid(), signal.SIGINT)
        return frame

    monkeypatch.setattr(VirtualTable, "read", read)
    journal = tmp_path / "journal [new].sqlite"
    code, output = play(DemoOptions(turns=3, fast=True, journal=journal), **terminal)
    assert code == 0
    assert f"Stopped before the end; what was{space}accepted until then is in the journal." in output
    assert f"The journal is in {journal}\n" in output
    assert [event.kind for _, event in events_of(journal)] == ["new game", "set up"]


@pytest.mark.long
def test_the_same_seed_gives_the_same_journal(tmp_path: Path) -> None:
    first, second = tmp_path / "first.sqlite", tmp_path / "second.sqlite"
    options = DemoOptions(seed=3, turns=4, fast=True, journal=first)
    first_code, first_output = play(options)
    second_code, second_output = play(replace(options, journal=second))
    assert (first_code, events_of(first)) == (second_code, events_of(second))
    assert first_output.replace("first.sqlite", "") == second_output.replace("second.sqlite", "")


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_every_verdict_agrees_with_what_was_played(seed: int, tmp_path: Path) -> None:
    code, output = play(
        DemoOptions(seed=seed, turns=8, fast=True, journal=tmp_path / "journal.sqlite"), force_terminal=True
    )
    assert code == 0, output


def happened(kind: Any, begins: float, after: Mapping[str, str], **more: Any) -> TruthEvent:
    return TruthEvent(kind, "gold", begins, begins + 1, {}, after, {}, **more)


def test_the_score_names_what_differs() -> None:
    deblockle = load("deblockle")
    start = deblockle.rules.new()
    turn, other = deblockle.rules.legal_turns(start)[:2]
    after = deblockle.rules.apply(start, turn)
    elsewhere = deblockle.rules.apply(start, other)
    truth = TruthLog(
        events=[
            happened(
                ActionKind.TURN, 1.0, deblockle.table.appearance(after), turn=deblockle.notation.format_turn(turn)
            ),
            happened(ActionKind.VIOLATION, 5.0, {}, violation="teleport"),
        ]
    )

    def accepted(state: Any) -> list[tuple[int, Event]]:
        return [(3, Event(EventKind.TURN, {"turn": "a", "state": deblockle.notation.format_state(state)}))]

    fault = Verdict(VerdictKind.ILLEGAL, "wrong", 7.0, 1)
    assert score_game(deblockle, truth, [fault], accepted(after)).agreed
    assert len(score_game(deblockle, truth, [fault], accepted(elsewhere)).differences) == 1
    assert len(score_game(deblockle, truth, [fault], []).differences) == 1
    assert len(score_game(deblockle, truth, [], accepted(after)).differences) == 1
    assert len(score_game(deblockle, truth, [fault], accepted(after) * 2).differences) == 1
    question = Verdict(VerdictKind.AMBIGUOUS, "which?", 7.0, 1)
    assert not score_game(deblockle, truth, [question], accepted(after)).agreed
    felt = score_game(deblockle, truth, [question], accepted(after), may_ask=True)
    assert felt.agreed
    assert "1 illegal change made, 0 named and 1 asked about;" in felt.sentence
    assert not score_game(deblockle, truth, [], accepted(after), may_ask=True).agreed
    early = Verdict(VerdictKind.ILLEGAL, "wrong", 2.5, 1)
    score = score_game(deblockle, truth, [early, fault], accepted(after))
    assert (score.false_alarms, score.agreed) == (1, False)
    assert "1 false alarm" in score.sentence


@pytest.mark.parametrize(("game", "turns"), [("diaballik", 2), pytest.param("blockade", 3, marks=pytest.mark.long)])
def test_other_games_are_refereed_by_camera(game: str, turns: int, tmp_path: Path) -> None:
    options = DemoOptions(game=game, seed=7, turns=turns, fast=True, lights="none", journal=tmp_path / "a.sqlite")
    code, said = play(options)
    assert code == 0, said
    assert f"{turns} turns played, {turns} accepted as played" in said


GRID = PlaceGrid.of_squares(7, 7)


def test_players_see_the_lights_of_the_board_and_press_its_button(tmp_path: Path) -> None:
    code, output = play(DemoOptions(turns=1, fast=True, lights="pico", journal=tmp_path / "j.sqlite"), width=300)
    assert code == 0, output
    assert "1 turn played, 1 accepted as played" in output
    assert "1 press came over the wire" in output
    assert "the strip showed 3 of 3 signals as they were meant" in output


def test_a_board_unplugged_and_back_under_another_name_is_found(tmp_path: Path) -> None:
    faults = WireFaults(lose=0.02, flip=0.02, unplugs_at_s=(1.0,), garbage_bytes=200)
    options = DemoOptions(
        turns=1, fast=True, lights="pico", inputs=Inputs.BOTH, link_faults=faults, journal=tmp_path / "j.sqlite"
    )
    code, output = play(options, width=300)
    assert code == 0, output
    assert "was unplugged" in output
    assert "The board answers again" in output
    # On a very busy computer the link may be lost once more.
    assert re.search(r"\b([2-9]|\d\d) handshakes", output)


def test_sensors_alone_ask_and_a_person_answers(tmp_path: Path) -> None:
    code, output = play(
        DemoOptions(turns=2, fast=True, inputs=Inputs.SENSORS, journal=tmp_path / "j.sqlite"), width=300
    )
    assert code == 0, output
    assert "2 turns played, 2 accepted as played" in output
    assert "switch changes were detected" in output


@pytest.mark.long
def test_sensors_alone_name_a_violation_that_they_can_detect(tmp_path: Path) -> None:
    code, output = play(
        DemoOptions(turns=4, fast=True, inputs=Inputs.SENSORS, journal=tmp_path / "j.sqlite"), width=300
    )
    assert code == 0, output
    assert "1 illegal change made, 1 named" in output
    assert "(I only sense which squares are occupied.)" in output


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("inputs", list(Inputs))
def test_whole_demos_succeed_despite_faults_of_the_wire(seed: int, inputs: Inputs, tmp_path: Path) -> None:
    faults = replace(
        WireFaults.every_kind(0.05), unplug_every_s=10, reset_every_s=15, silence_every_s=15, garbage_bytes=100
    )
    options = DemoOptions(
        seed=seed, turns=6, fast=True, lights="pico", inputs=inputs, link_faults=faults, journal=tmp_path / "j.sqlite"
    )
    code, output = play(options, width=300)
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
