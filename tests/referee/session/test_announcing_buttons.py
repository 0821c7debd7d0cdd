"""Buttons that announce anti-play, repetition, a draw or resignation, checked by the rules and against the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from gpiozero.pins import mock

from engine.registry import load
from hardware.buttons import Buttons
from hardware.lights.signals import Mood, Sound
from hardware.pin_map import ANNOUNCING_BUTTONS, ButtonRole
from referee.commands.values import AgreedDraw, Announce, CommandQueue, Press, QueuedCommand, Reply, TakeBack
from referee.journal.fold import fold
from referee.journal.journal import Journal
from referee.judge.verdict import VerdictKind
from referee.session.announcer import CONFIRM_S
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings, TurnEnd
from tests.referee.judge.drawn import places_drawn
from tests.referee.service_table import Table, kinds_of
from vision.errors import EndOfFramesError
from vision.frame import Frame
from vision.reading import Reading

DIABALLIK: Any = load("diaballik")
WALL = "black black:a3,c3,e3,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"
ONE_SHORT = "black black:a3,c3,e2,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"

At = Callable[[str], Table]


def read(appearance: Mapping[str, str], *, time_s: float = 0.0, **extra: Any) -> Reading:
    """A reading of a Diaballik board without doubt."""
    return Reading(0, time_s, places_drawn(DIABALLIK, appearance, "99.5%"), extra.get("hindrances", ()))


@pytest.fixture
def at(new_journal: Callable[[], Journal]) -> At:
    """A function that sets up a position at a referee whose turns end by the button."""

    def begin(position: str) -> Table:
        on = Table(DIABALLIK, read, new_journal(), ServiceSettings(rest_s=1.0, anywhere=True, turn_end=TurnEnd.BUTTON))
        on.service.start()
        state = DIABALLIK.notation.parse_state(position)
        assert kinds_of(on.show(DIABALLIK.table.appearance(state), 2))[-1] is VerdictKind.SET_UP
        assert on.service.belief == (state,)
        return on

    return begin


def shown_after(position: str, turn: str) -> Any:
    state = DIABALLIK.notation.parse_state(position)
    return DIABALLIK.table.appearance(DIABALLIK.rules.apply(state, DIABALLIK.notation.parse_turn(state, turn)))


def press_twice(on: Table, appearance: Any, role: ButtonRole) -> Reply:
    """Press a button, wait for a frame, and press it again; returns the reply to the second press."""
    assert not on.tell(Press(role)).refused
    on.show(appearance, 1)
    return on.tell(Press(role))


def test_anti_play_before_the_turn_ends_the_game(at: At) -> None:
    on = at(WALL)
    assert on.tell(Press(ButtonRole.ANTI_PLAY)) == Reply("Black announces anti-play.")
    assert on.service.finished
    assert (on.lamp.moods[-1], on.lamp.signals[-1].sound) == (Mood.FINISHED, Sound.FINISHED)
    kinds = on.kinds()
    assert kinds[-2:] == ["announced", "end"]
    assert on.journal.events()[-2][1].data["by"] == "button"


def test_anti_play_after_the_turns_moves_ends_the_turn_and_the_game(at: At) -> None:
    on = at(ONE_SHORT)
    on.show(shown_after(ONE_SHORT, "e2-e3"), 1)
    said = on.tell(Press(ButtonRole.ANTI_PLAY))
    assert said == Reply("Black moves e2 to e3 and announces anti-play.")
    assert on.service.finished
    assert on.kinds()[-2:] == ["turn", "end"]
    assert fold(DIABALLIK, on.journal.events()).states == on.service.belief


def test_an_announcement_waits_until_the_table_is_at_rest(at: At) -> None:
    on = at(ONE_SHORT)
    after = shown_after(ONE_SHORT, "e2-e3")
    on.hand(after, 1)
    said = on.tell(Press(ButtonRole.ANTI_PLAY))
    late = Reply("Noted. It is decided once the table is at rest.")
    assert (said, on.service.finished) == (late, False)
    on.show(after, 1)
    assert on.service.finished
    assert on.kinds()[-2:] == ["turn", "end"]


def test_an_announcement_that_waits_keeps_the_id_of_its_command(at: At) -> None:
    on = at(ONE_SHORT)
    after = shown_after(ONE_SHORT, "e2-e3")
    on.hand(after, 1)
    replies: list[Reply | None] = []
    on.service.carry_out(QueuedCommand(Press(ButtonRole.ANTI_PLAY), replies.append, "hall-1"))
    assert [reply and reply.waits for reply in replies] == [True]
    on.service.carry_out(QueuedCommand(Press(ButtonRole.END_TURN), replies.append, "hall-2"))
    assert [reply and reply.waits for reply in replies] == [True, False], "only the announcement waits"
    on.show(after, 1)
    assert on.kinds()[-2:] == ["turn", "end"]
    assert on.journal.event_of_request("hall-1") == on.journal.events()[-1][0]


@pytest.mark.parametrize("waits", [False, True])
def test_a_forbidden_announcement_is_refused_with_a_sound_and_the_game_goes_on(at: At, waits: bool) -> None:
    on = at(ONE_SHORT)
    believed, events = on.service.belief, on.kinds()
    if waits:
        on.hand(shown_after(ONE_SHORT, "f1-f2"), 1)
    refused = on.tell(Press(ButtonRole.ANTI_PLAY))
    assert refused.refused is not waits
    if waits:
        on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "Only 2 of black's pieces touch white's wall, on a3 and c3; 3 are needed" in on.said[-1]
    assert Sound.FAULT in [signal.sound for signal in on.lamp.signals]
    assert (on.service.belief, on.kinds()) == (believed, events)
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    on.tell(Press(ButtonRole.END_TURN))
    assert on.kinds()[-1] == "turn"


def test_a_waiting_announcement_is_dropped_after_another_command(at: At) -> None:
    on = at(ONE_SHORT)
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    on.tell(Press(ButtonRole.END_TURN))
    on.hand(shown_after(ONE_SHORT, "f1-f2"), 1)
    on.tell(Press(ButtonRole.REPETITION))
    on.tell(TakeBack("Ann"))
    said = len(on.said)
    on.show(shown_after(ONE_SHORT, "f1-f2"), 2)
    assert not any("repe" in one for one in on.said[said:])
    assert on.said[said - 1].startswith("What was announced before no longer counts")


@pytest.mark.parametrize(
    ("role", "question", "answer", "end"),
    [
        (
            ButtonRole.RESIGN,
            "Black resigns? Press again within 5 seconds.",
            "Black resigns.",
            "Black resigns. White wins: black resigned.",
        ),
        (
            ButtonRole.DRAW,
            "Draw agreed? Press again within 5 seconds.",
            "Draw agreed.",
            "Draw agreed.",
        ),
    ],
)
def test_a_button_that_ends_the_game_asks_first_and_the_end_can_be_taken_back(
    at: At, role: ButtonRole, question: str, answer: str, end: str
) -> None:
    on = at(WALL)
    table = DIABALLIK.table.appearance(on.service.belief[0])
    assert on.tell(Press(role)) == Reply(question)
    assert (on.service.finished, on.said[-1]) == (False, question)
    shown = on.lamp.signals[-1]
    assert (shown.mood, shown.sound, shown.words) == (Mood.QUESTION, Sound.QUESTION, question)
    on.show(table, 1)
    assert (on.tell(Press(role)), on.service.finished) == (Reply(answer), True)
    assert on.lamp.signals[-1].words == end
    on.tell(Press(ButtonRole.TAKE_BACK))
    assert not on.service.finished
    assert fold(DIABALLIK, on.journal.events()).outcome is None


def test_a_second_press_counts_only_in_a_later_frame_and_within_five_seconds(at: At) -> None:
    on = at(WALL)
    table = DIABALLIK.table.appearance(on.service.belief[0])
    before = on.lamp.signals[-1]
    assert "?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert "?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.show(table, CONFIRM_S + 0.5)
    assert (on.lamp.moods[-1], on.lamp.signals[-1].words) == (before.mood, before.words)
    assert on.lamp.signals[-1].sound is Sound.SILENCE
    assert "?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert not on.service.finished


def test_another_button_or_a_turn_in_between_restarts_the_question(at: At) -> None:
    on = at(ONE_SHORT)
    assert "Black resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "Draw agreed?" in on.tell(Press(ButtonRole.DRAW)).words
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "Black resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.tell(Press(ButtonRole.END_TURN))
    on.show(shown_after(ONE_SHORT, "f1-f2"), 1)
    assert "White resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert not on.service.finished


def test_no_announcement_is_possible_before_the_set_up(new_journal: Callable[[], Journal]) -> None:
    on = Table(DIABALLIK, read, new_journal(), ServiceSettings())
    on.service.start()
    refused = on.tell(Press(ButtonRole.DRAW))
    assert refused.refused
    assert "not set up yet" in on.said[-1]


def test_a_button_for_an_announcement_that_the_game_lacks_is_refused(table_set_up: Any, start: Any) -> None:
    on = table_set_up(turn_end="button")
    refused = on.tell(Press(ButtonRole.ANTI_PLAY))
    assert refused.refused
    assert "anti-play" in refused.words
    assert press_twice(on, start, ButtonRole.RESIGN).words == "Gold resigns."
    assert on.service.finished


def test_an_announcement_by_a_pin_button_is_judged_by_the_next_frame(at: At) -> None:
    on, now_s = at(ONE_SHORT), 100.0
    after = shown_after(ONE_SHORT, "e2-e3")
    on.show(after, 1)
    factory = mock.MockFactory()
    pins = {role: 5 + number for number, role in enumerate(ANNOUNCING_BUTTONS)}
    buttons = Buttons(pins, lambda: now_s, on.said.append, pin_factory=factory)
    pin = factory.pin(f"GPIO{pins[ButtonRole.ANTI_PLAY]}")
    pin.drive_low()
    now_s += 0.1
    pin.drive_high()
    now_s += 0.1
    following = on.frame()
    on.reader.following = read(after, time_s=following.time_s)
    frames = [following]

    class Camera:
        def read(self, timeout_s: float) -> Frame:
            if not frames:
                raise EndOfFramesError("over")
            return frames.pop()

    run(on.service, Camera(), LoopPorts(lambda seconds: None, CommandQueue(lambda: 0.0), buttons.presses))
    buttons.close()
    factory.close()
    assert on.service.finished
    assert on.lamp.signals[-1].words.startswith("Black moves e2 to e3 and announces anti-play.")


@pytest.mark.parametrize("role", ANNOUNCING_BUTTONS)
def test_a_button_announces_the_same_as_a_typed_command(at: At, role: ButtonRole) -> None:
    on, wall = at(WALL), DIABALLIK.table.appearance(DIABALLIK.notation.parse_state(WALL))
    asks = role in {ButtonRole.DRAW, ButtonRole.RESIGN}
    by_button = press_twice(on, wall, role) if asks else on.tell(Press(role))
    typed = AgreedDraw("Ann") if role is ButtonRole.DRAW else Announce(role.value, "Ann")
    assert by_button == at(WALL).tell(typed)
