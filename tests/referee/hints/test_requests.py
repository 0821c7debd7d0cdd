"""Hints at the table: by button and command, in stages, never late; calculated in this process or a separate one."""

import io
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory
from rich.console import Console

from app.runtime.command_socket import CommandSocket, ask
from common.grid import PlaceGrid
from engine.errors import EngineError
from engine.games.deblockle.hints import search_rules_of
from engine.registry import load
from engine.search.budget import CountingClock
from frontends.hint_process import HintProcess, serve
from hardware.buttons import Buttons
from hardware.factory import DriverSettings, driver_sources
from hardware.lights.panel import Panel
from hardware.lights.signals import Signal, Sound
from hardware.pin_map import ButtonRole, GpioPinMap
from journal.journal import Journal
from journal.reader import events_of_game
from referee.commands.values import (
    Announce,
    AskHint,
    CommandQueue,
    Correct,
    EnterTurn,
    NewGame,
    Overrule,
    Press,
    Reply,
)
from referee.hints.advice import (
    RULED_OUT,
    Advice,
    Answer,
    HintStrength,
    Question,
    advice_of,
    answer_question,
    hint_text,
)
from referee.hints.hint_settings import HintSettings
from referee.hints.opponent import ImmediateHints, hint_event, recorded_advice
from referee.record.events import decode, encode
from referee.record.fold import fold
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.service import Service
from tests.engine import toy_harvest
from tests.engine.toy_harvest import GAME as HARVEST
from tests.guard import GUARD_S
from tests.present import present
from tests.referee.by_text import by_text
from tests.referee.service_table import START, Lamp, ScriptedReader, Table, wall_clock
from vision.errors import EndOfFramesError
from vision.frame import Frame

GHOST = {"g4": "teal block, stop up"}
"""A piece too many, about which the referee asks."""


class HeldBackHints:
    """Calculates hints at once and hands them over on request."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.ready: list[Answer] = []
        self.closed = False
        self._at_once = ImmediateHints(CountingClock(0.01))

    def ask(self, question: Question) -> None:
        self.questions.append(question)
        self._at_once.ask(question)

    def hand_over(self) -> None:
        self.ready += self._at_once.poll()

    def poll(self) -> list[Answer]:
        ready, self.ready = self.ready, []
        return ready

    def close(self) -> None:
        self.closed = True


Make = Callable[..., Table]


@pytest.fixture
def at_table(deblockle: Any, make_reading: Any, start: dict[str, str]) -> Iterator[Make]:
    """A factory of tables with a set-up and a source of hints."""
    with ExitStack() as opened:

        def make(
            strength: HintStrength = "fair",
            hints: Any = None,
            journal: Any = None,
            turn_end: TurnEnd = TurnEnd.REST,
        ) -> Table:
            chosen = journal or opened.enter_context(Journal.in_memory(wall_clock=wall_clock))
            settings = ServiceSettings(
                rest_s=1.0, turn_end=turn_end, hints=HintSettings(strength=strength, seconds=0.1)
            )
            table = Table(deblockle, make_reading, chosen, settings, hints or HeldBackHints())
            table.service.start()
            table.show(start, 2)
            return table

        yield make


def lit(table: Table) -> list[tuple[str, str]]:
    return [(light.place, light.role) for light in table.lamp.signals[-1].lights]


def deliver_hint(table: Table) -> None:
    table.hints.hand_over()
    table.service.poll_hints()


def test_a_press_lights_the_squares_of_the_hint_after_it_is_recorded(at_table: Make) -> None:
    table = at_table()
    table.service.carry_out(AskHint("button"))
    assert table.said[-1] == "Thinking about a hint for gold."
    assert table.kinds() == ["new game", "set up"]
    deliver_hint(table)
    event = table.journal.events()[-1][1]
    assert event.kind == "hint given"
    turn = table.game.notation.parse_turn(table.service.belief[0], event.data["turn"])
    assert lit(table) == [(place, "hint") for place in turn.places]
    assert table.lamp.signals[-1].words == table.said[-1] == event.data["sentence"]
    assert table.snapshots[-1].hint == table.said[-1]
    assert table.lamp.signals[-1].sound is Sound.SILENCE
    assert table.lamp.events_then[-1] == 3
    assert {key: event.data[key] for key in ("by", "player", "strength", "stage", "places")} == {
        "by": "button",
        "player": "gold",
        "strength": "fair",
        "stage": "whole",
        "places": list(turn.places),
    }


def test_a_game_begun_without_hints_gives_none_and_says_so(at_table: Make) -> None:
    table = at_table()
    assert not table.tell(NewGame("deblockle", without_hints=True)).refused
    table.show({**dict.fromkeys(table.game.places, "empty"), **START}, 2)
    assert [told.without_hints for told in (table.snapshots[0], table.snapshots[-1])] == [False, True]
    assert table.tell(AskHint("Ann")) == Reply(RULED_OUT, refused=True)
    assert table.hints.questions == []


def test_a_repeated_request_shows_the_same_hint_and_records_it_once(at_table: Make) -> None:
    table = at_table()
    table.service.carry_out(AskHint("button"))
    deliver_hint(table)
    words = table.said[-1]
    table.service.carry_out(AskHint("button"))
    assert table.said[-2:] == [words, words]
    assert len(table.hints.questions) == 1
    assert table.kinds().count("hint given") == 1


def test_each_of_those_who_write_at_once_gets_a_hint_of_their_own(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    table = by_text(journal, "number-drop", hints=HintSettings(strength="fair", seconds=0.1))
    table.begin(NewGame("number-drop", {"players": 2}))
    position = "drop p1=1...... p2=2...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T to=p1,p2"
    assert table.carry_out_or_raise(Correct("Ann", position=position))
    replies: list[Reply | None] = []
    for player in ("p2", "p1"):
        table.carry_out(AskHint("Ann", player), replies.append)
        assert journal.events()[-1][1].data["player"] == player
    game, events = events_of_game(journal, None)
    hints = fold(game, events).hints
    assert [reply and reply.words for reply in replies] == [hints[player].data["sentence"] for player in ("p2", "p1")]
    # Who writes needs no hint any more; the other keeps theirs.
    table.carry_out_or_raise(EnterTurn(str(hints["p1"].data["turn"]), "Ann", "p1"))
    assert set(fold(*events_of_game(journal, None)).hints) == {"p2"}


def test_a_gentle_hint_shows_the_piece_and_then_its_target(at_table: Make) -> None:
    table = at_table("gentle")
    table.service.carry_out(AskHint("button"))
    deliver_hint(table)
    first = table.journal.events()[-1][1]
    assert first.data["stage"] == "piece"
    assert len(lit(table)) == 1
    assert table.said[-1] == f"Hint: look at the {START[lit(table)[0][0]].partition(',')[0]} on {lit(table)[0][0]}."
    table.service.carry_out(AskHint("button"))
    second = table.journal.events()[-1][1]
    assert (second.data["stage"], second.data["turn"]) == ("whole", first.data["turn"])
    assert len(lit(table)) > 1
    assert len(table.hints.questions) == 1


def test_the_stage_of_a_hint_survives_a_restart(at_table: Make, deblockle: Any, make_reading: Any) -> None:
    table = at_table("gentle")
    table.service.carry_out(AskHint("button"))
    deliver_hint(table)
    again = Table(deblockle, make_reading, table.journal, table.settings, HeldBackHints())
    again.service.start()
    again.service.carry_out(AskHint("button"))
    assert again.journal.events()[-1][1].data["stage"] == "whole"


def test_a_gentle_hint_starts_again_after_the_next_turn(deblockle: Any, at_table: Make) -> None:
    table = at_table("gentle")
    table.service.carry_out(AskHint("button"))
    deliver_hint(table)
    table.show(table.play(start="c1", top="hoops")[1], 3)
    assert table.kinds()[-1] == "turn"
    assert fold(deblockle, table.journal.events()).hints == {}
    table.service.carry_out(AskHint("button"))
    deliver_hint(table)
    assert (table.kinds()[-1], table.journal.events()[-1][1].data["stage"]) == ("hint given", "piece")
    assert table.journal.events()[-1][1].data["player"] == "teal"


def test_a_hint_is_dropped_if_a_turn_is_accepted_meanwhile(at_table: Make) -> None:
    table = at_table()
    answers: list[Reply | None] = []
    table.service.carry_out(AskHint("Ann"), answers.append)
    table.show(table.play(start="c1", top="hoops")[1], 3)
    table.service.poll_hints()
    assert answers == [Reply("No hint: the position has changed meanwhile; ask again.", refused=True)]
    shown = len(table.lamp.signals)
    deliver_hint(table)
    assert len(table.lamp.signals) == shown
    assert "hint given" not in table.kinds()


@pytest.mark.parametrize(
    ("kind", "changed", "why"),
    [
        ("illegal", {"e5": "empty", "a4": START["e5"]}, "No hint: correct the lit squares first."),
        ("question", GHOST, "No hint: answer the question first."),
    ],
)
def test_a_fault_or_question_found_meanwhile_stays_lit_despite_the_hint(
    at_table: Make, start: dict[str, str], kind: str, changed: dict[str, str], why: str
) -> None:
    table = at_table()
    answers: list[Reply | None] = []
    table.service.carry_out(AskHint("Ann"), answers.append)
    table.show({**start, **changed}, 3)
    assert table.kinds()[-1] == kind
    before = lit(table)
    deliver_hint(table)
    assert (answers, lit(table)) == ([Reply(why, refused=True)], before)
    assert "hint given" not in table.kinds()


def test_no_hint_puts_out_a_question(at_table: Make, start: dict[str, str]) -> None:
    table = at_table()
    table.show({**start, **GHOST}, 2)
    assert lit(table) == [("g4", "question")]
    assert table.tell(AskHint("Ann")) == Reply("No hint: answer the question first.", refused=True)
    assert lit(table) == [("g4", "question")]
    table.tell(Overrule(("g4",), "Ann"))
    table.service.carry_out(AskHint("Ann"))
    deliver_hint(table)
    assert table.kinds()[-1] == "hint given"


def test_if_touches_end_turns_a_hint_waits_for_the_end_of_a_finished_turn(at_table: Make) -> None:
    table = at_table(turn_end=TurnEnd.TOUCH)
    table.show(table.play(start="c1", top="hoops")[1], 2)
    assert table.tell(AskHint("Ann")) == Reply("No hint: end the turn first.", refused=True)
    assert table.hints.questions == []
    table.tell(Press(ButtonRole.END_TURN))
    table.service.carry_out(AskHint("Ann"))
    assert table.said[-1] == "Thinking about a hint for teal."


def test_a_new_hint_can_be_requested_while_an_old_one_is_calculated(at_table: Make) -> None:
    table = at_table()
    answers: list[Reply | None] = []
    table.service.carry_out(AskHint("Ann"), answers.append)
    table.show(table.play(start="c1", top="hoops")[1], 3)
    table.service.carry_out(AskHint("button"))
    assert answers == [Reply("No hint: the position has changed meanwhile; ask again.", refused=True)]
    deliver_hint(table)
    assert [event.data["player"] for _, event in table.journal.events() if event.kind == "hint given"] == ["teal"]


def test_two_simultaneous_requests_are_both_answered(at_table: Make) -> None:
    table = at_table()
    answers: list[Reply | None] = []
    for name in ("Ann", "Ben"):
        table.service.carry_out(AskHint(name), answers.append)
    assert len(table.hints.questions) == 1
    deliver_hint(table)
    assert answers == [Reply(table.said[-1])] * 2
    assert table.kinds().count("hint given") == 1


def test_no_setting_gives_hints_in_a_game_without_them(at_table: Make, deblockle: Any, make_reading: Any) -> None:
    table = at_table("none")
    answers: list[Reply | None] = []
    lights = table.lamp.signals[-1].lights
    table.service.carry_out(Press(ButtonRole.HINT))
    table.service.carry_out(AskHint("Ann"), answers.append)
    assert answers == [Reply("The players ruled hints out.", refused=True)]
    assert table.said[-2:] == ["The players ruled hints out."] * 2
    assert table.lamp.signals[-1].lights == lights
    # Even a referee started with other settings gives none.
    other = Table(
        deblockle, make_reading, table.journal, ServiceSettings(hints=HintSettings(strength="strong")), HeldBackHints()
    )
    other.service.start()
    other.service.carry_out(AskHint("button"))
    assert other.said[-1] == "The players ruled hints out."
    assert "hint given" not in table.kinds()


def test_a_request_without_a_possible_hint_gets_the_reason(
    deblockle: Any, make_reading: Any, at_table: Make, start: Any
) -> None:
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        table = Table(deblockle, make_reading, journal, ServiceSettings(rest_s=1.0), HeldBackHints())
        table.service.start()
        table.service.carry_out(AskHint("button"))
        assert table.said[-1] == "No hint: the board is not set up yet."
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        settings = ServiceSettings(rest_s=1.0, options={"starts": "either"})
        table = Table(deblockle, make_reading, journal, settings, HeldBackHints())
        table.service.start()
        table.show(start, 2)
        table.service.carry_out(AskHint("button"))
        assert table.said[-1] == "No hint: it is still open who starts."
    table = at_table()
    table.show({**start, "e5": "empty", "a4": START["e5"]}, 3)
    assert table.kinds()[-1] == "illegal"
    fault = table.lamp.signals[-1].lights
    table.service.carry_out(AskHint("button"))
    assert table.said[-1] == "No hint: correct the lit squares first."
    assert table.lamp.signals[-1].lights == fault
    table.show(start, 3)
    table.tell(Announce("resign", "Ann"))
    table.service.carry_out(AskHint("button"))
    assert table.said[-1] == "No hint: the game is over."


def test_advice_round_trips_through_the_journal(deblockle: Any) -> None:
    advice = Advice("c1-c2=hoops-a1", "gold", "takes a block off", 0.714, "win", 0.4)
    for given in (advice, replace(advice, die=2, unit="points", expected=30.5)):
        recorded = hint_event(deblockle, deblockle.rules.new(), given, "Ann", "fair", "whole", None)
        kept = decode(1, recorded.kind, encode(recorded), None, "")
        assert recorded_advice(kept) == given


def test_a_failed_calculation_is_reported(at_table: Make) -> None:
    table = at_table()
    table.service.carry_out(AskHint("button"))
    table.hints.ready.append(Answer(1, refused="the process ended"))
    table.service.poll_hints()
    assert table.said[-1] == "No hint: the process ended."
    table.service.carry_out(AskHint("button"))
    table.hints.ready.append(Answer(1, refused="late"))
    table.service.poll_hints()
    assert table.said[-1] == "Thinking about a hint for gold.", "an answer to an older question is ignored"


def test_pending_requests_are_answered_when_the_referee_stops(at_table: Make) -> None:
    table = at_table()
    answers: list[Reply | None] = []
    table.service.carry_out(AskHint("Ann"), answers.append)
    table.service.close()
    assert answers == [Reply("No hint: the referee stopped before it was found.", refused=True)]
    assert table.hints.closed


class RestingCamera:
    """A camera over a table at rest, without waiting, until it is stopped."""

    def __init__(self, table: Table, start: dict[str, str], stop: Callable[[], bool]) -> None:
        self._table, self._start, self._stop = table, start, stop

    def read(self, timeout_s: float) -> Frame:
        if self._stop():
            raise EndOfFramesError("stopped")
        frame = self._table.frame()
        self._table.reader.following = self._table.make_reading(self._start, time_s=frame.time_s)
        return frame


class LampOnPins(Lamp):
    """Shows every signal on lights as well."""

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.panel = panel

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        super().show(signal, time_s)
        self.panel.show(signal, time_s)

    def glow(self, pins: MockFactory, squares: Mapping[str, int]) -> set[str]:
        """Advance a few seconds; returns the squares whose light was on at any time."""
        now_s, glowing = 1_000.0, set()
        for _ in range(50):
            glowing |= {square for square, pin in squares.items() if pins.pin(f"GPIO{pin}").state}
            now_s = self.panel.next_change_s(now_s) or now_s
            self.panel.tick(now_s)
        return glowing


def test_a_button_on_a_pin_leads_to_a_hint_on_a_light(deblockle: Any, make_reading: Any, start: dict[str, str]) -> None:
    """The whole chain: mock pin, press, question, the other process, journal, lights, while frames continue."""
    pins = MockFactory(revision="c03111")
    said: list[str] = []
    now_s = [0.0]

    def clock() -> float:
        now_s[0] += 0.01
        return now_s[0]

    squares = {"c1": 5, "e1": 6, "c3": 12, "e3": 13}
    wired = GpioPinMap.from_names(places=squares, buttons={"hint": 24})
    lights = DriverSettings(drivers=("gpio",), pins=wired)
    sources = driver_sources(lights, PlaceGrid.of_squares(7, 7), Console(), pins)
    buttons = Buttons(wired.buttons, clock, said.append, pin_factory=pins)
    pressed = pins.pin("GPIO24")
    pause = threading.Event()
    frames = [0]
    with (
        Journal.in_memory(wall_clock=wall_clock) as journal,
        Panel(sources, clock, said.append) as panel,
    ):
        settings = ServiceSettings(rest_s=1.0, hints=HintSettings(strength="gentle", seconds=0.1))
        lamp = LampOnPins(panel)
        table = Table(deblockle, make_reading, journal, settings, HintProcess(), lamp=lamp)

        def presses() -> list[str]:
            frames[0] += 1
            if frames[0] == 40:
                pressed.drive_low()
            if frames[0] == 45:
                pressed.drive_high()
            # A real camera sets its own pace; here the frames must not run out before the process has started.
            pause.wait(0.01)
            return list(buttons.presses())

        def stop() -> bool:
            return "hint given" in table.kinds() or frames[0] > 3_000

        table.service.start()
        try:
            run(table.service, RestingCamera(table, start, stop), LoopPorts(pause.wait, CommandQueue(clock), presses))
            ((place, role),) = lit(table)
            assert (table.kinds()[-1], role) == ("hint given", "hint")
            assert lamp.glow(pins, squares) == {place}
        finally:
            table.service.close()
            buttons.close()
    pins.close()
    assert said == []
    assert frames[0] > 40


def test_the_hint_command_reaches_a_running_referee(
    deblockle: Any, make_reading: Any, start: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "journal.sqlite"
    answers: list[Reply | None] = []
    waiting = CommandQueue(lambda: 0.0)
    with Journal.open(path, wall_clock=wall_clock) as journal, CommandSocket(path, waiting):
        table = Table(
            deblockle, make_reading, journal, ServiceSettings(rest_s=1.0), ImmediateHints(CountingClock(0.01))
        )
        table.service.start()
        table.show(start, 2)
        asking = threading.Thread(target=lambda: answers.append(ask(path, AskHint("Ann"))))
        asking.start()
        camera = RestingCamera(table, start, lambda: not asking.is_alive())
        run(table.service, camera, LoopPorts(lambda seconds: None, waiting))
        asking.join()
        assert answers == [Reply(str(table.journal.events()[-1][1].data["sentence"]))]
        assert table.journal.events()[-1][1].data["by"] == "Ann"
        assert fold(deblockle, journal.events()).states == table.service.belief


NUMBER_DROP = load("number-drop")
SLIDE = "slide p1=1...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T to=p1 notches=0,0,0,0,0 players=1"


class HeldAnswers:
    """Hands over the answers it was given."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        self.questions.append(question)

    def poll(self) -> list[Answer]:
        return self.answers

    def close(self) -> None:
        pass


def answered(advice: Advice, state: Any) -> str:
    """The words for a hint that was asked before a slide and is answered in ``state``."""
    source = HeldAnswers()
    replies: list[Reply | None] = []
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        service: Service[Any, Any] = Service(
            NUMBER_DROP,
            ScriptedReader(),
            journal,
            lambda _: None,
            ServiceSettings({"players": 1}),
            lambda _: None,
            source,
        )
        service.start()
        service.carry_out_or_raise(Correct("Ann", position=SLIDE))
        service.carry_out(AskHint("Ann"), replies.append)
        source.answers = [Answer(source.questions[0].number, advice)]
        text = NUMBER_DROP.notation.format_state(state)
        if text != SLIDE:
            service.carry_out_or_raise(Correct("Ann", position=text))
        service.poll_hints()
    (reply,) = replies
    return present(reply).words


def test_a_hint_for_a_slide_is_not_given_after_it() -> None:
    asked = NUMBER_DROP.notation.parse_state(SLIDE)
    hint = NUMBER_DROP.advice.hint(asked, 0.1, Random(0), clock=CountingClock(0.01), earlier=())
    assert answered(advice_of(NUMBER_DROP, hint), asked).startswith("Hint: p1 slides the tile")
    slid = NUMBER_DROP.rules.apply(asked, NUMBER_DROP.notation.parse_turn(asked, "slide:A"))
    assert present(slid.to_move) == asked.to_move
    assert answered(advice_of(NUMBER_DROP, hint), slid) == "No hint: the position has changed meanwhile; ask again."


def test_an_illegal_hint_is_refused_with_one_full_stop() -> None:
    advice = Advice("d1=1", "p1", "stays low", 1.0, "points", 0.5)
    said = answered(advice, NUMBER_DROP.notation.parse_state(SLIDE))
    assert said == "No hint: p1 writes on the sheet, but now a tile has to be slid."


DEBLOCKLE = load("deblockle")
NEW_GAME = DEBLOCKLE.notation.format_state(DEBLOCKLE.rules.new())
QUESTION = Question(3, "deblockle", NEW_GAME, "fair", 0.05, earlier=())


@pytest.fixture
def harvest(monkeypatch: pytest.MonkeyPatch) -> Any:
    toy_harvest.register(monkeypatch)
    return HARVEST


def answers_of(hints: HintProcess, count: int) -> list[Answer]:
    """Wait for this many answers."""
    waited = threading.Event()
    got: list[Answer] = []
    for _ in range(round(GUARD_S / 0.01)):
        got += hints.poll()
        if len(got) >= count:
            return got
        waited.wait(0.01)
    raise AssertionError(f"only {got}")


def test_the_same_question_gets_the_same_answer() -> None:
    # Half-made tables from an earlier test would give the second answer more time than the first.
    search_rules_of(DEBLOCKLE.rules.new().options).prepare(lambda: None)
    first, again = (answer_question(QUESTION, CountingClock(0.001)) for _ in range(2))
    assert first == again
    assert first.number == 3
    assert first.advice is not None
    turn = DEBLOCKLE.notation.parse_turn(DEBLOCKLE.rules.new(), first.advice.turn)
    assert first.advice.player == turn.player == "gold"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (replace(QUESTION, game="halma"), "halma"),
        (replace(QUESTION, state="rubbish"), "rubbish"),
        (
            replace(
                QUESTION,
                state=DEBLOCKLE.notation.format_state(
                    DEBLOCKLE.rules.announce(
                        DEBLOCKLE.rules.new(), DEBLOCKLE.rules.announcements(DEBLOCKLE.rules.new())[0]
                    )
                ),
            ),
            "over",
        ),
    ],
)
def test_a_question_without_an_answer_gets_the_reason(question: Question, words: str) -> None:
    answer = answer_question(question, CountingClock(0.001))
    assert answer.advice is None
    assert words in answer.refused


ADVICE = Advice("c1-c2=hoops-a1", "gold", "takes a block off", 0.714, "win", 0.4)


def test_a_hint_shows_the_piece_or_the_whole_turn() -> None:
    state = DEBLOCKLE.rules.new()
    piece = hint_text(DEBLOCKLE, state, ADVICE, "piece")
    assert piece.words == "Hint: look at the gold block on c1."
    assert piece.places == ("c1",)
    whole = hint_text(DEBLOCKLE, state, ADVICE, "whole")
    assert whole.words == (
        "Hint: Gold rolls c1 to c2, hoops up, and hops to a1. That takes a block off. Chance of winning: 71%."
    )
    assert whole.places == ("c1", "c2", "a1")
    sure = hint_text(DEBLOCKLE, state, replace(ADVICE, expected=1.0, sure=1.0), "whole")
    assert sure.words.endswith("Chance of winning: 100%, worked out to the end.")
    with pytest.raises(EngineError):
        hint_text(DEBLOCKLE, state, replace(ADVICE, turn="c7-b7=stop"), "whole")


def test_a_hint_in_a_dice_game_names_the_die(harvest: Any) -> None:
    state = harvest.notation.parse_state("0,0 1 5 - -")
    advice = Advice("keep", "p2", "gives more points", 1.0, "points", 0.5, 0)
    assert hint_text(harvest, state, advice, "whole").words == (
        "Hint: p2 keeps the die. Take the die that shows 5. That gives more points. Expected: 1 point."
    )
    assert hint_text(harvest, state, advice, "piece").words == "Hint: take the die that shows 5."
    assert hint_text(harvest, state, replace(advice, die=None), "piece").words == "Hint: look at p2."


@pytest.mark.parametrize(
    ("position", "turn", "words"),
    [
        (
            "p1 slide p1=...1... slots=I4,L4,O4,T4,S4 roll=1,1,1,2,I to=p1 notches=0,0,0,0,0 players=1",
            "slide:A",
            "p1 slides the tile in column A by one notch.",
        ),
        (
            "p1 drop p1=....2../....1../....1../...11.. p2=...2... slots=I4,I3,O4,X5,T5 roll=1,1,1,2,I to=p2 then=p1",
            "none",
            "p1 draws no loop.",
        ),
    ],
)
def test_a_turn_that_touches_no_place_is_told_whole_at_once(position: str, turn: str, words: str) -> None:
    game = load("number-drop")
    state, advice = game.notation.parse_state(position), Advice(turn, "p1", "is good", 40.0, "points", 0.5)
    first = hint_text(game, state, advice, "piece")
    assert first == hint_text(game, state, advice, "whole")
    assert first.words == f"Hint: {words} That is good. Expected: 40 points."
    squares = hint_text(game, state, replace(advice, unit="squares"), "whole")
    assert squares.words.endswith("Expected: 40 filled squares.")


def test_the_hint_process_reads_questions_and_writes_answers_as_lines() -> None:
    questions = [QUESTION, replace(QUESTION, number=4, state="rubbish")]
    out = io.StringIO()
    serve(io.StringIO("".join(json.dumps(asdict(each)) + "\n" for each in questions)), out, CountingClock(0.001))
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert (first["number"], first["advice"]["player"]) == (3, "gold")
    assert second["number"] == 4
    assert second["advice"] is None
    assert "rubbish" in second["refused"]


@pytest.fixture
def hints() -> Iterator[HintProcess]:
    with closing(HintProcess()) as process:
        yield process


def test_a_separate_process_answers(hints: HintProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert hints.poll() == []
    hints.ask(QUESTION)
    hints.ask(replace(QUESTION, number=4, state="rubbish"))
    first, second = answers_of(hints, 2)
    assert first.number == 3
    assert first.advice is not None
    assert second.number == 4
    assert "rubbish" in second.refused


def test_an_answer_wakes_the_waiting_thread() -> None:
    answered = threading.Event()
    with closing(HintProcess(on_answer=answered.set)) as hints:
        hints.ask(QUESTION)
        assert answered.wait(GUARD_S)
        assert [answer.number for answer in hints.poll()] == [3]


@pytest.mark.parametrize("command", [(sys.executable, "-c", ""), ("/no/such/program",)])
def test_a_process_that_ends_is_reported_and_started_again(command: tuple[str, ...]) -> None:
    with closing(HintProcess(command)) as hints:
        for number in (1, 2):
            hints.ask(replace(QUESTION, number=number))
            (answer,) = answers_of(hints, 1)
            assert answer.number == number
            assert "could not be worked out" in answer.refused


def test_closing_ends_the_process_at_once() -> None:
    hints = HintProcess()
    hints.ask(replace(QUESTION, seconds=10.0))
    process = hints._process
    assert process is not None
    hints.close()
    assert process.returncode is not None
    hints.close()


def test_the_process_ends_with_the_referee() -> None:
    hints = HintProcess()
    hints.ask(QUESTION)
    answers_of(hints, 1)
    process = hints._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(GUARD_S) == 0
    hints.close()
