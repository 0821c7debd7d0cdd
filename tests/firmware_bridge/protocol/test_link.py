"""The host's end of the link, state by state, and against a board that says anything at all."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol.link import (
    AGAIN_S,
    EVERY_S,
    GREET_EVERY_S,
    LATE_PRESS_MS,
    MOST_NEW_PRESSES,
    HostLink,
    News,
    Pressed,
    PressesLost,
    SerialLine,
)
from firmware_bridge.protocol.messages import (
    BoardSettings,
    BoardState,
    ButtonState,
    HostState,
    Message,
    Tone,
    Welcome,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import LARGEST_ENCODED, PacketReader, encode_frame
from tests.effort import cases
from tests.firmware_bridge.protocol import strategies

WELCOME = Welcome((2, 0, 0), 7, 64, 1, 2, 0, 0, 0, "a board")
STATE = BoardState(7, 1000, buttons=(ButtonState(0, 0, 65535),) * 2, closed=(False,), doubtful=(False,))


class Bench:
    """A link, and a hand that plays the board."""

    def __init__(self, *, is_welcome: bool = True) -> None:
        self.link = HostLink()
        self.link.open(SerialLine())
        self.now_s = 50.0
        self.state = STATE
        self._reader = PacketReader()
        if is_welcome:
            self.said()
            assert self.board(WELCOME) == [WELCOME]
            self.answer()

    def board(self, message: Message) -> list[News]:
        return self.link.receive(encode_frame(encode_packet(message)), self.now_s)

    def said(self, wait_s: float = 0.0) -> HostState | None:
        """What the link says after so much time, if anything."""
        self.now_s += wait_s
        messages = [decode_packet(packet) for packet in self._reader.feed(self.link.outgoing(self.now_s))]
        assert len(messages) <= 1
        for message in messages:
            assert isinstance(message, HostState)
            return message
        return None

    def answer(self, **how: Any) -> HostState:
        """Hear what the link says, and answer as a good board does."""
        said = self.said()
        assert said is not None
        wanted = {} if said.wanted is None else {"shown": said.wanted.number}
        buttons = self.state.buttons
        if said.taken:
            buttons = tuple(replace(one, taken=taken) for one, taken in zip(buttons, said.taken, strict=True))
        self.state = replace(self.state, heard=said.number, buttons=buttons, **{**wanted, **how})
        self.board(self.state)
        return said

    def press(self, button: int, times: int = 1, before_ms: int = 20) -> list[News]:
        buttons = list(self.state.buttons)
        presses = (buttons[button].presses + times) % 65536
        buttons[button] = replace(buttons[button], presses=presses, before_ms=before_ms)
        self.state = replace(self.state, buttons=tuple(buttons))
        return [news for news in self.board(self.state) if not isinstance(news, BoardState)]

    @property
    def due_in_s(self) -> float:
        return self.link.next_due_s(self.now_s) - self.now_s


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    while bench.due_in_s <= 0:
        bench.answer()
    return bench


def test_a_link_greets_until_it_is_welcome_and_never_with_a_control_c() -> None:
    bench = Bench(is_welcome=False)
    for _ in range(2000):
        assert 3 not in bench.link.outgoing(bench.now_s)
        assert bench.due_in_s == pytest.approx(GREET_EVERY_S)
        bench.now_s += GREET_EVERY_S
    said = bench.said()
    assert said is not None
    assert (said.boot_id, said.taken, said.wanted) == (0, (), None)


def test_what_is_wanted_is_said_until_it_is_shown(bench: Bench) -> None:
    bench.link.show(b"\1\2\3")
    first = bench.said()
    assert first is not None
    assert first.wanted is not None
    assert first.wanted.colours == b"\1\2\3"
    assert bench.said(AGAIN_S - 0.01) is None
    again = bench.said(0.02)
    assert again is not None
    assert again.wanted == first.wanted
    assert bench.link.statistics.again == 1
    bench.now_s += AGAIN_S
    bench.answer()
    assert bench.link.is_settled
    assert bench.due_in_s == pytest.approx(EVERY_S)
    assert bench.link.statistics.shown == 1
    bench.now_s += EVERY_S
    beat = bench.said()
    assert beat is not None
    assert beat.wanted is None


def test_newer_lights_wait_for_the_answer_to_the_older_ones_and_replace_each_other(bench: Bench) -> None:
    bench.link.show(b"\1\1\1")
    first = bench.said()
    assert first is not None
    for level in range(2, 9):
        bench.link.show(bytes((level, 0, 0)))
        assert bench.said(0.01) is None
    bench.board(replace(STATE, heard=first.number))
    newest = bench.said()
    assert newest is not None
    assert newest.wanted is not None
    assert newest.wanted.colours == bytes((8, 0, 0))


def test_a_board_that_shows_nothing_any_more_is_told_everything_again(bench: Bench) -> None:
    bench.link.configure(BoardSettings(brightness=9))
    bench.link.show(b"\1\2\3")
    bench.answer()
    bench.state = replace(bench.state, shown=0)
    bench.board(bench.state)
    assert not bench.link.is_settled
    bench.now_s += AGAIN_S
    wanted = bench.answer().wanted
    assert wanted is not None
    assert (wanted.colours, wanted.settings.brightness) == (b"\1\2\3", 9)


def test_a_sound_is_said_until_it_is_taken_and_not_once_more(bench: Bench) -> None:
    sounds = list[int]()
    for _ in range(2):
        bench.link.play((Tone(440, 100),))
        wanted = bench.answer().wanted
        assert wanted is not None
        assert wanted.tones == (Tone(440, 100),)
        sounds.append(wanted.sound)
    assert len({0, *sounds}) == 3
    bench.link.show(b"\1\1\1")
    wanted = bench.answer().wanted
    assert wanted is not None
    assert (wanted.sound, wanted.tones) == (0, ())


def test_a_sound_whose_confirmation_was_lost_is_not_played_again_after_a_greeting(bench: Bench) -> None:
    bench.link.play((Tone(440, 100),))
    first = bench.said()
    assert first is not None
    assert first.wanted is not None
    greeting = bench.said(0.7)
    assert greeting is not None
    assert greeting.boot_id == 0
    bench.board(replace(STATE, heard=greeting.number))
    again = bench.said()
    assert again is not None
    assert again.wanted is not None
    assert (again.wanted.number, again.wanted.sound, again.wanted.tones) == (first.wanted.number, 0, ())


def test_trouble_right_after_the_welcome_is_news(bench: Bench) -> None:
    troubled = replace(WELCOME, trouble="no memory")
    assert bench.board(troubled) == [troubled]


def test_a_board_that_starts_faster_than_any_does_is_ignored(bench: Bench) -> None:
    assert bench.board(replace(WELCOME, boot_id=8)) == []


def test_lights_that_no_packet_holds_change_nothing(bench: Bench) -> None:
    bench.link.show(b"\1\2\3")
    with pytest.raises(MessageError):
        bench.link.show(b"\1" * 2000)
    wanted = bench.answer().wanted
    assert wanted is not None
    assert wanted.colours == b"\1\2\3"


def test_each_press_is_news_once_and_the_board_is_told(bench: Bench) -> None:
    assert bench.press(1, before_ms=30) == [Pressed(1, 970)]
    assert bench.board(bench.state) == [bench.state]
    was_settled = bench.link.is_settled
    assert bench.answer().taken == (0, 1)
    assert (was_settled, bench.link.is_settled) == (False, True)
    assert bench.press(0, times=2) == [Pressed(0, 980)] * 2


def test_presses_of_several_buttons_come_in_the_order_of_their_times(bench: Bench) -> None:
    bench.state = replace(bench.state, time_ms=10, buttons=(ButtonState(1, 0, 5), ButtonState(1, 0, 30)))
    news = bench.board(bench.state)[1:]
    assert news == [Pressed(1, 2**32 - 20), Pressed(0, 5)]


def test_a_press_counts_once_though_states_are_repeated(bench: Bench) -> None:
    before = bench.state
    assert bench.press(0) == [Pressed(0, 980)]
    assert bench.board(before) == [before]
    assert bench.board(bench.state) == [bench.state]


def test_counters_wrap() -> None:
    bench = Bench(is_welcome=False)
    bench.said()
    bench.board(WELCOME)
    bench.state = replace(STATE, buttons=(ButtonState(65535, 65535, 65535),) * 2)
    bench.board(bench.state)
    assert bench.press(0, times=3) == [Pressed(0, 980)] * 3


def test_what_came_too_late_or_too_fast_is_told_as_lost(bench: Bench) -> None:
    assert bench.press(0, before_ms=LATE_PRESS_MS + 1) == [PressesLost(1)]
    many = bench.press(0, times=100)
    assert many == [*[Pressed(0, 980)] * MOST_NEW_PRESSES, PressesLost(100 - MOST_NEW_PRESSES)]
    assert bench.answer().taken == (101, 0)


def reconnected(bench: Bench, away_s: float, **board: Any) -> list[News]:
    """Open the port again after so long, on which the board is so; gives what is news but the board's own packets."""
    bench.now_s += away_s
    bench.link.open(SerialLine())
    said = bench.said()
    assert said is not None
    bench.board(replace(WELCOME, boot_id=board.get("boot_id", WELCOME.boot_id)))
    time_ms = STATE.time_ms + round(away_s * 1000)
    bench.state = replace(bench.state, **{"time_ms": time_ms, "heard": said.number, **board})
    return [news for news in bench.board(bench.state) if not isinstance(news, BoardState)]


def test_of_presses_during_a_long_silence_only_the_newest_of_a_button_counts(bench: Bench) -> None:
    buttons = (ButtonState(6, 0, 3000), ButtonState(2, 0, LATE_PRESS_MS + 1))
    assert reconnected(bench, 70.0, buttons=buttons) == [Pressed(0, 68000), PressesLost(7)]


def test_presses_during_a_short_silence_all_count(bench: Bench) -> None:
    assert reconnected(bench, 4.0, buttons=(ButtonState(2, 0, 100), ButtonState(0, 0, 65535))) == [Pressed(0, 4900)] * 2


def test_a_first_host_takes_only_the_newest_of_many_presses_unless_the_board_has_just_started() -> None:
    for up_ms, expected in ((7_100_000, [Pressed(0, 7_097_000), PressesLost(8)]), (4000, [Pressed(0, 1000)] * 9)):
        bench = Bench(is_welcome=False)
        buttons = (ButtonState(9, 0, 3000), ButtonState(0, 0, 65535))
        assert reconnected(bench, 0.0, time_ms=up_ms, buttons=buttons) == expected


def test_a_press_that_arrives_late_is_lost_however_young_it_was_when_the_board_told_it(bench: Bench) -> None:
    bench.now_s += 20.0
    bench.state = replace(bench.state, time_ms=STATE.time_ms + 200)
    assert bench.press(0, before_ms=10) == [PressesLost(1)]
    # in its answer to the last state, too
    bench = Bench()
    bench.link.show(b"\1\2\3")
    said = bench.said()
    assert said is not None
    bench.now_s += 20.0
    bench.state = replace(bench.state, time_ms=STATE.time_ms + 5, heard=said.number)
    assert bench.press(0, before_ms=1) == [PressesLost(1)]
    # the board's next state arrives as it should
    bench.state = replace(bench.state, time_ms=STATE.time_ms + 20_100)
    bench.now_s += 0.1
    assert bench.press(0) == [Pressed(0, STATE.time_ms + 20_080)]


def test_a_press_that_is_lost_when_the_board_starts_again_is_told(bench: Bench) -> None:
    buttons = (ButtonState(1, 0, 6000), ButtonState(0, 0, 65535))
    assert reconnected(bench, 20.0, boot_id=8, time_ms=9000, buttons=buttons) == [PressesLost(1)]


def test_a_press_that_another_host_took_meanwhile_is_not_news(bench: Bench) -> None:
    bench.press(0)
    bench.answer()
    assert reconnected(bench, 3.0, buttons=(ButtonState(2, 2, 900), ButtonState(1, 0, 20))) == [Pressed(1, 3980)]
    assert bench.answer().taken == (2, 1)


def test_a_new_host_continues_where_the_one_before_was(bench: Bench) -> None:
    bench.press(0)
    bench.answer()
    state = bench.state
    after = Bench(is_welcome=False)
    after.said()
    after.board(WELCOME)
    after.state = state
    assert after.press(1) == [Pressed(1, 980)]
    assert after.press(1, before_ms=LATE_PRESS_MS + 1) == [PressesLost(1)]


def test_presses_of_before_are_not_told_to_a_board_that_started_again(bench: Bench) -> None:
    bench.press(0)
    bench.answer()
    bench.now_s += AGAIN_S
    bench.board(replace(WELCOME, boot_id=8))
    bench.link.show(b"\1\2\3")
    said = bench.said()
    assert said is not None
    assert (said.boot_id, said.taken) == (8, ())


def test_a_board_that_started_again_is_greeted_at_once_and_told_everything(bench: Bench) -> None:
    bench.link.show(b"\1\2\3")
    bench.answer()
    bench.now_s += AGAIN_S
    bench.board(replace(STATE, boot_id=8))
    greeting = bench.said()
    assert greeting is not None
    assert greeting.boot_id == 0
    bench.board(replace(WELCOME, boot_id=8))
    said = bench.said()
    assert said is not None
    assert said.boot_id == 8
    assert said.wanted is not None


def test_a_board_that_is_quiet_is_only_greeted(bench: Bench) -> None:
    bench.link.show(b"\1\2\3")
    bench.said()
    bench.now_s += 0.6
    greeting = bench.said(AGAIN_S)
    assert greeting is not None
    assert (greeting.boot_id, greeting.wanted) == (0, None)


def test_on_a_slow_line_nothing_is_said_before_it_is_free() -> None:
    bench = Bench(is_welcome=False)
    bench.link.open(SerialLine(960.0))
    length = len(bench.link.outgoing(bench.now_s))
    bench.board(WELCOME)
    assert bench.due_in_s == pytest.approx(length / 960)
    bench.now_s += length / 960
    bench.link.show(b"\1" * 900)
    length = len(bench.link.outgoing(bench.now_s))
    assert bench.due_in_s == pytest.approx(length / 960 + AGAIN_S)


class HostLinkMachine(RuleBasedStateMachine):
    """Whatever comes: nothing raises, nothing grows, nobody is busy, and no button is pressed that isn't there."""

    def __init__(self) -> None:
        super().__init__()
        self.link = HostLink()
        self.link.open(SerialLine())
        self.now_s = 0.0

    @rule(buttons=st.integers(0, 3), switches=st.integers(0, 9), boot_id=st.integers(0, 2))
    def welcome(self, buttons: int, switches: int, boot_id: int) -> None:
        self.take(encode_packet(replace(WELCOME, boot_id=boot_id, buttons=buttons, switches=switches)))

    @rule(
        boot_id=st.integers(0, 2),
        heard=strategies.u8,
        shown=strategies.u8,
        buttons=st.lists(st.builds(ButtonState, strategies.u16, strategies.u16, strategies.u16), max_size=3),
        switches=st.integers(0, 9),
    )
    def state(self, boot_id: int, heard: int, shown: int, buttons: list[ButtonState], switches: int) -> None:
        bits = (False,) * switches
        self.take(encode_packet(BoardState(boot_id, 5, heard, shown, 0, False, False, tuple(buttons), bits, bits)))

    @rule(message=strategies.messages)
    def any_message(self, message: Message) -> None:
        self.take(encode_packet(message))

    @rule(data=st.binary(max_size=40))
    def garbage(self, data: bytes) -> None:
        self.link.receive(data + b"\x00", self.now_s)

    @rule(colours=st.binary(max_size=10).map(lambda raw: raw * 3), tones=st.integers(0, 3))
    def want(self, colours: bytes, tones: int) -> None:
        self.link.show(colours)
        self.link.play((Tone(440, 10),) * tones)

    @rule(seconds=st.sampled_from([0.001, 0.01, 0.05, 0.3, 1.0, 2.5]))
    def wait(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        for _ in range(60):
            due_s = self.link.next_due_s(self.now_s)
            if due_s > until_s:
                break
            self.now_s = max(self.now_s, due_s)
            assert len(self.link.outgoing(self.now_s)) <= LARGEST_ENCODED + 2
            assert self.link.next_due_s(self.now_s) > self.now_s, "it was due, and is due again at once"
        else:
            raise AssertionError("always due")
        self.now_s = until_s

    def take(self, packet: bytes) -> None:
        news = self.link.receive(encode_frame(packet), self.now_s)
        pressed = [one for one in news if isinstance(one, Pressed)]
        if pressed:
            assert self.link.welcome is not None
            assert all(one.button < self.link.welcome.buttons for one in pressed)
            assert len(pressed) <= MOST_NEW_PRESSES * self.link.welcome.buttons


HostLinkMachine.TestCase.settings = settings(max_examples=cases(60), stateful_step_count=40, deadline=None)
TestHostLink = HostLinkMachine.TestCase
