"""The clock: each mode by worked examples, and against a plain one that counts tenths of a second."""

import math
from dataclasses import asdict, dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.clocks import (
    Clock,
    ClockMode,
    FlagRule,
    PauseReason,
    TimeControl,
    clock_text,
    clock_words,
    read_control,
    recorded_control,
)
from referee.errors import ClockError

SIDES = ("gold", "teal")


def started(text: str) -> Clock:
    control = read_control(text)
    assert control is not None
    return Clock.full(control, SIDES, 0.0).switch(0.0, ("gold",))


def left_after_turn(text: str, seconds: float) -> tuple[float, float]:
    """The time that gold and teal have left after a turn of gold's of this length."""
    clock = started(text).switch(seconds, ("teal",), "gold")
    return clock.remaining_s["gold"], clock.remaining_s["teal"]


@pytest.mark.parametrize(
    ("text", "seconds", "expected"),
    [
        ("game 1", 10, (50, 60)),
        ("fischer 1+5", 10, (55, 60)),
        ("fischer 1+5", 2, (63, 60)),
        ("fischer 1+5", 59.5, (5.5, 60)),
        ("delay 1+5", 10, (55, 60)),
        ("delay 1+5", 2, (60, 60)),
        ("game 1", 70, (0, 60)),
        ("fischer 1+5", 70, (0, 60)),
        ("delay 1+5", 62, (3, 60)),
    ],
)
def test_a_turn_takes_the_time_of_the_clocks_mode(text: str, seconds: float, expected: tuple[float, float]) -> None:
    assert left_after_turn(text, seconds) == expected


def test_a_waiting_clock_takes_no_time_and_keeps_the_delay() -> None:
    clock = started("delay 1+5").at(2.0)
    waiting = Clock(**{**vars(clock), "pauses": frozenset({PauseReason.PERSON})}).at(100.0)
    assert waiting.face(200.0).remaining_s == {"gold": 60, "teal": 60}
    going = Clock(**{**vars(waiting), "pauses": frozenset()})
    assert going.face(103.0).remaining_s["gold"] == 60
    assert going.face(104.0).remaining_s["gold"] == 59
    assert going.flag_falls_at_s("gold") == 163.0
    assert math.isinf(waiting.flag_falls_at_s("gold"))
    assert math.isinf(going.flag_falls_at_s("teal"))


def test_an_earlier_time_leaves_the_clock_unchanged() -> None:
    clock = started("game 1").at(10.0)
    assert clock.at(4.0) == clock


def test_a_player_whose_time_is_up_is_named_until_the_flag_fall_is_reported() -> None:
    clock = started("game 1")
    assert clock.out_of_time(59.0) == ()
    assert clock.out_of_time(60.0) == ("gold",)
    assert Clock(**{**vars(clock), "fallen": ("gold",)}).out_of_time(90.0) == ()


def test_simultaneous_players_have_their_own_time() -> None:
    control = TimeControl(ClockMode.FISCHER, 60.0, 2.0)
    clock = Clock.full(control, ("p1", "p2", "p3"), 0.0).switch(0.0, ("p1", "p2", "p3"))
    clock = clock.switch(4.0, ("p2", "p3"), "p1").switch(9.0, ("p3",), "p2")
    assert clock.at(20.0).remaining_s == {"p1": 58, "p2": 53, "p3": 40}


def test_a_player_who_plays_on_keeps_the_delay_used_so_far_when_another_finishes() -> None:
    control = TimeControl(ClockMode.DELAY, 60.0, 5.0)
    clock = Clock.full(control, ("p1", "p2"), 0.0).switch(0.0, ("p1", "p2"))
    for finished_s in (0.0, 4.0):
        assert clock.switch(finished_s, ("p2",), "p1").at(6.0).remaining_s == {"p1": 60, "p2": 59}


def test_a_used_up_delay_gives_no_more_time() -> None:
    clock = started("delay 1+5")
    for face in (clock.face(10.0), clock.face(0.0).after(10.0)):
        assert (face.delay_s["gold"], face.remaining_s["gold"]) == (0, 55)
        assert face.after(1.0).remaining_s["gold"] == 54


def test_a_face_counts_down_from_the_moment_it_was_made() -> None:
    clock = started("game 1")
    face = clock.face(0.0)
    later = [face.after(seconds) for seconds in (-3.0, 0.0, 0.5)]
    assert [one.remaining_s["gold"] for one in later] == [60, 60, 59.5]
    assert [one.time_s for one in later] == [0.0, 0.0, 0.5]
    assert replace(face, paused="somebody paused it").after(0.5) == replace(
        face, paused="somebody paused it", time_s=0.5
    )
    assert clock.flag_falls_at_s("gold") == 60.0
    delayed = started("delay 1+5").face(2.0)
    assert delayed.after(-3.0).delay_s == replace(delayed, paused="a pause").after(2.0).delay_s == {"gold": 3}


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("fischer 5+3", TimeControl(ClockMode.FISCHER, 300, 3)),
        (" Delay 1.5 + 10 ", TimeControl(ClockMode.DELAY, 90, 10)),
        ("game 10", TimeControl(ClockMode.GAME, 600)),
        ("game 1440", TimeControl(ClockMode.GAME, 24 * 60 * 60)),
        ("fischer 0.1+6", TimeControl(ClockMode.FISCHER, 6, 6)),
        ("game 0.01", TimeControl(ClockMode.GAME, 0.6)),
        ("none", None),
    ],
)
def test_a_clock_setting_is_read_from_text(text: str, control: TimeControl | None) -> None:
    assert read_control(text) == control
    if control is not None:
        assert read_control(control.text) == control


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fisher 5+3", "did you mean fischer"),
        ("5+3", "expected"),
        ("fischer 5", "bonus is 0 s"),
        ("game 5+3", r"has no bonus a turn; leave \+3 out"),
        ("game 0", "a clock of 0 minutes; expected more than 0"),
        ("fischer 0.1+30", "no more than the 6 s"),
        ("game 1440.1", "at most a day"),
        ("game 100000", "a clock of 100000 minutes; expected more than 0 and at most a day"),
        ("", "expected"),
    ],
)
def test_an_invalid_clock_setting_is_refused(text: str, said: str) -> None:
    with pytest.raises(ClockError, match=said):
        read_control(text)


def test_a_clock_setting_survives_the_journal() -> None:
    control = TimeControl(ClockMode.DELAY, 300, 3, FlagRule.LOSES, waits=False)
    assert recorded_control({"clock": asdict(control)}) == control
    assert recorded_control({}) is None
    with pytest.raises(ClockError, match="the journal's clock is"):
        recorded_control({"clock": {"mode": "sand"}})


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((-1, "0:00"), (0, "0:00"), (0.2, "0:01"), (59.0, "0:59"), (272.0, "4:32")),
        *((3599, "59:59"), (3600, "1:00:00"), (3723, "1:02:03"), (7199, "1:59:59")),
    ],
)
def test_time_is_formatted_as_on_a_clock(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


def test_a_clock_setting_is_described_in_words() -> None:
    clock = started("game 1")
    assert list(clock_words(clock.face(3.0), {"gold": "Ann"})) == ["Gold (Ann) 0:57, runs", "Teal 1:00"]
    stopped = Clock(**{**vars(clock), "pauses": frozenset({PauseReason.QUESTION}), "fallen": ("teal",)})
    assert list(clock_words(stopped.face(0.0), {})) == [
        "Gold 1:00, is paused",
        "Teal 1:00, the flag has fallen",
        "The clock is paused: a question is open.",
    ]


@dataclass
class PlainClock:
    """A clock for two players that is advanced in steps of a tenth of a second."""

    mode: str
    bonus: int
    left: dict[str, int]
    runs: str | None = None
    used: int = 0
    stands: set[PauseReason] = field(default_factory=set)

    def tick(self) -> None:
        if self.runs is None or self.stands:
            return
        self.used += 1
        if self.mode == "delay" and self.used <= self.bonus:
            return
        if self.left[self.runs] > 0:
            self.left[self.runs] -= 1

    def turn(self) -> None:
        assert self.runs is not None
        if self.left[self.runs] > 0 and self.mode == "fischer":
            self.left[self.runs] += self.bonus
        self.runs, self.used = other(self.runs), 0


def other(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(0, 90)),
        st.just(("turn", 0)),
        st.tuples(st.sampled_from(["stop", "go"]), st.sampled_from([0, 1])),
    ),
    max_size=25,
)


@given(mode=st.sampled_from(list(ClockMode)), base=st.integers(50, 200), bonus=st.integers(1, 50), script=steps)
def test_the_clock_agrees_with_the_plain_one(
    mode: ClockMode, base: int, bonus: int, script: list[tuple[str, int]]
) -> None:
    has_bonus = mode in {ClockMode.FISCHER, ClockMode.DELAY}
    clock = Clock.full(TimeControl(mode, base / 10, bonus / 10 if has_bonus else 0.0), SIDES, 0.0)
    clock = clock.switch(0.0, ("gold",))
    plain = PlainClock(mode.value, bonus, dict.fromkeys(SIDES, base), "gold")
    now = 0
    for what, number in script:
        if what == "wait":
            now += number
            for _ in range(number):
                plain.tick()
        elif what == "turn":
            player = plain.runs
            assert player is not None
            plain.turn()
            clock = clock.switch(now / 10, (other(player),), player)
        else:
            reason = (PauseReason.PERSON, PauseReason.QUESTION)[number]
            (plain.stands.add if what == "stop" else plain.stands.discard)(reason)
            clock = Clock(**{**vars(clock.at(now / 10)), "pauses": frozenset(plain.stands)})
        face = clock.face(now / 10)
        assert face.remaining_s == pytest.approx({side: left / 10 for side, left in plain.left.items()}, abs=1e-6)
        assert min(face.remaining_s.values()) >= 0
        # A browser that continues counting by itself agrees.
        assert face.after(1.7).remaining_s == pytest.approx(dict(clock.face(now / 10 + 1.7).remaining_s), abs=1e-6)
