from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, UnreadableError
from engine.values import EMPTY, Breach, Outcome, OutcomeKind
from hardware.lights.signals import Mood, Signal, Sound
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import STOPPED
from referee.session.feed import (
    add_trouble,
    entered_signal,
    fault_lights,
    finished_signal,
    hint_signal,
    looking_signal,
    resumed_signal,
    signal_for,
    waiting_signal,
)

QUIET = {VerdictKind.UNCHANGED, VerdictKind.NOT_FINISHED, VerdictKind.CANNOT_SEE}


@dataclass(frozen=True)
class LineState:
    """One counter on a line of squares a1 to a9, ``steps`` to the right; the game ends at the last."""

    at: int = 1

    @property
    def to_move(self) -> str | None:
        return None if self.at == 9 else "gold"


@dataclass(frozen=True)
class LineTurn:
    start: int
    end: int
    player: str = "gold"

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(f"a{square}" for square in range(self.start, self.end + 1))


@dataclass
class LineGame:
    name: str = "line"
    title: str = "Line"
    places: tuple[str, ...] = tuple(f"a{square}" for square in range(1, 10))
    looks: tuple[str, ...] = (EMPTY, "gold counter")
    options: tuple[object, ...] = ()

    @property
    def rules(self) -> LineGame:
        return self

    table = notation = rules

    def awaits_roll(self, state: LineState) -> bool:
        return False

    def parse_turn(self, state: LineState, text: str) -> LineTurn:
        start, _, end = text.partition("-")
        if not end:
            raise UnreadableError(text)
        if int(start[1:]) != state.at:
            raise IllegalTurnError(text)
        return LineTurn(int(start[1:]), int(end[1:]))

    def apply(self, state: LineState, turn: LineTurn) -> LineState:
        return LineState(turn.end)

    def players_to_move(self, state: LineState) -> tuple[str, ...]:
        return () if state.to_move is None else (state.to_move,)

    def outcome(self, state: LineState) -> Outcome | None:
        return Outcome("gold", "the counter is home") if state.at == 9 else None

    def passed_over(self, state: LineState) -> str:
        return "Teal can't move and waits." if state.at == 8 else ""

    def appearance(self, state: LineState) -> Mapping[str, str]:
        return {place: "gold counter" if place == f"a{state.at}" else EMPTY for place in self.places}


GAME: Any = LineGame()


def verdict(kind: VerdictKind, **facts: object) -> Verdict:
    return Verdict(kind, "So it is.", time_s=1.0, sequence=3, **facts)  # type: ignore[arg-type]


def marked(signal: Signal) -> list[tuple[str, str]]:
    return [(light.place, light.role) for light in signal.lights]


@pytest.mark.parametrize(
    ("kind", "mood", "sound"),
    [
        (VerdictKind.SET_UP, Mood.WAITING, Sound.READY),
        (VerdictKind.ACCEPTED, Mood.ACCEPTED, Sound.ACCEPTED),
        (VerdictKind.UNCHANGED, Mood.WAITING, Sound.SILENCE),
        (VerdictKind.NOT_FINISHED, Mood.NOT_FINISHED, Sound.SILENCE),
        (VerdictKind.ILLEGAL, Mood.FAULT, Sound.FAULT),
        (VerdictKind.PUT_RIGHT, Mood.WAITING, Sound.READY),
        (VerdictKind.AMBIGUOUS, Mood.QUESTION, Sound.QUESTION),
        (VerdictKind.CANNOT_SEE, Mood.CANNOT_SEE, Sound.SILENCE),
    ],
)
def test_every_verdict_has_its_mood_and_sound(kind: VerdictKind, mood: Mood, sound: Sound) -> None:
    shown = signal_for(verdict(kind), GAME, LineState())
    assert (shown.mood, shown.sound, shown.words) == (mood, sound, "So it is.")


@given(
    st.sampled_from(VerdictKind),
    st.lists(st.sampled_from(GAME.places), unique=True).map(tuple),
    st.one_of(st.none(), st.builds(LineState, st.integers(1, 8))),
)
def test_no_alarm_sounds_or_lights_up_before_a_decision(
    kind: VerdictKind, places: tuple[str, ...], state: LineState | None
) -> None:
    shown = signal_for(verdict(kind, places=places), GAME, state)
    assert (shown.sound is Sound.SILENCE) == (kind in QUIET)
    assert {light.place for light in shown.lights} <= set(places)
    if kind is not VerdictKind.ILLEGAL:
        assert not {light.role for light in shown.lights} & {"fault", "put right"}
    assert shown.words


def test_an_accepted_turn_lights_its_squares_in_the_order_of_play() -> None:
    after = signal_for(verdict(VerdictKind.ACCEPTED, turns=("a2-a4",), places=("a4", "a2")), GAME, LineState(4))
    assert marked(after) == [("a4", "turn"), ("a2", "turn")]


def test_a_turn_that_could_be_played_once_more_is_not_taken_for_two() -> None:
    shown = signal_for(verdict(VerdictKind.ACCEPTED, turns=("a7-a9",), places=("a7", "a9")), GAME, LineState(7))
    assert (shown.mood, shown.words) == (Mood.ACCEPTED, "So it is.")


def test_a_player_who_is_passed_over_is_told_why() -> None:
    why = "So it is. Teal can't move and waits. Gold to play."
    assert signal_for(verdict(VerdictKind.ACCEPTED, turns=("a7-a8",)), GAME, LineState(8)).words == why
    assert entered_signal(GAME, LineState(8), ("a7", "a8"), "So it is.").words == why
    assert entered_signal(GAME, LineState(7), ("a6", "a7"), "So it is.").words == "So it is. Gold to play."


def test_a_turn_that_ends_the_game_is_shown_as_the_end() -> None:
    turn = verdict(VerdictKind.ACCEPTED, turns=("a7-a9",), places=("a7", "a8", "a9"))
    shown = signal_for(turn, GAME, LineState(9))
    assert (shown.mood, shown.sound) == (Mood.FINISHED, Sound.FINISHED)
    assert shown.words == "So it is. Gold wins: the counter is home."
    assert [place for place, _ in marked(shown)] == ["a7", "a8", "a9"]


def test_a_fault_and_its_remedy_are_lit_separately() -> None:
    moved = verdict(
        VerdictKind.ILLEGAL,
        breaches=(Breach("r1", "Too far.", "Put the counter back on a2.", ("a2", "a6")),),
        places=("a2", "a6"),
        expected={"a2": "gold counter", "a6": EMPTY},
        seen={"a2": EMPTY, "a6": "gold counter"},
    )
    shown = signal_for(moved, GAME, LineState(2))
    assert marked(shown) == [("a6", "fault"), ("a2", "put right")]
    assert shown.words == "So it is. Put the counter back on a2."
    assert shown.lights[0].pattern is not shown.lights[1].pattern


def test_a_wrong_piece_is_lit_as_a_fault_at_its_place() -> None:
    turned = verdict(VerdictKind.ILLEGAL, seen={"a2": "teal counter"}, expected={"a2": "gold counter"}, places=("a2",))
    assert [(light.place, light.role) for light in fault_lights(turned)] == [("a2", "fault")]


def test_looks_missing_from_the_verdict_are_taken_from_the_state() -> None:
    gone = verdict(VerdictKind.ILLEGAL, seen={"a2": EMPTY}, places=("a2",))
    assert marked(signal_for(gone, GAME, LineState(2))) == [("a2", "put right")]
    assert marked(signal_for(gone, GAME, None)) == [("a2", "fault")]


def test_a_place_that_a_breach_names_is_lit_even_if_it_looks_right() -> None:
    crossed = verdict(
        VerdictKind.ILLEGAL,
        breaches=(Breach("r2", "Over the star.", "", ("a3",)),),
        seen={"a2": EMPTY, "a4": "gold counter", "a3": EMPTY},
        expected={"a2": "gold counter", "a4": EMPTY, "a3": EMPTY},
    )
    assert marked(signal_for(crossed, GAME, LineState(2))) == [("a4", "fault"), ("a3", "fault"), ("a2", "put right")]


def test_a_remedy_that_is_part_of_the_sentence_is_not_repeated() -> None:
    said = replace(
        verdict(VerdictKind.ILLEGAL, breaches=(Breach("r1", "Too far.", "Put it back.", ()),)),
        sentence="Too far. Put it back.",
    )
    assert signal_for(said, GAME, LineState()).words == "Too far. Put it back."


looks = st.sampled_from([EMPTY, "gold counter", "teal counter"])


@given(
    st.dictionaries(st.sampled_from(GAME.places), looks),
    st.dictionaries(st.sampled_from(GAME.places), looks),
    st.lists(st.sampled_from(GAME.places), unique=True).map(tuple),
)
def test_fault_lights_mark_exactly_the_differences(
    expected: dict[str, str], seen: dict[str, str], named: tuple[str, ...]
) -> None:
    lights = fault_lights(verdict(VerdictKind.ILLEGAL, expected=expected, seen=seen, places=named))
    lit = [light.place for light in lights]
    assert len(lit) == len(set(lit))
    differing = {place for place in expected.keys() & seen.keys() if expected[place] != seen[place]}
    assert set(lit) == differing | set(named)
    assert {light.place for light in lights if light.role == "put right"} == {
        place for place in differing if seen[place] == EMPTY
    }


def test_a_question_and_an_unfinished_turn_mark_their_squares() -> None:
    asked = signal_for(verdict(VerdictKind.AMBIGUOUS, places=("a3", "a4")), GAME, LineState())
    assert marked(asked) == [("a3", "question"), ("a4", "question")]
    begun = signal_for(verdict(VerdictKind.NOT_FINISHED, places=("a3",)), GAME, LineState())
    assert marked(begun) == [("a3", "unfinished")]


def test_between_turns_the_signal_names_the_player_to_move_or_the_winner() -> None:
    assert waiting_signal(GAME, LineState(3)) == Signal(Mood.WAITING, words="Gold to play.")
    over = waiting_signal(GAME, LineState(9))
    assert (over.mood, over.words) == (Mood.FINISHED, "Gold wins: the counter is home.")
    assert finished_signal(Outcome(None, "nobody can move.")).words == "A draw: nobody can move."


@pytest.mark.parametrize(
    ("turns", "words"),
    [(0, "Line goes on before the first turn. Gold to play."), (4, "Line goes on after turn 4. Gold to play.")],
)
def test_the_signal_of_a_resumed_game_names_its_turn_and_player(turns: int, words: str) -> None:
    shown = resumed_signal(GAME, LineState(5), turns)
    assert (shown.mood, shown.sound, shown.words) == (Mood.WAITING, Sound.READY, words)


def test_the_signals_of_hints_and_of_looking_are_silent() -> None:
    hint = hint_signal(["a3", "a4", "a3"], "You may go to a4.")
    assert marked(hint) == [("a3", "hint"), ("a4", "hint")]
    assert hint.sound is Sound.SILENCE
    assert looking_signal().mood is Mood.LOOKING


def test_a_signal_of_trouble_keeps_squares_and_sound_and_adds_its_words() -> None:
    shown = signal_for(verdict(VerdictKind.ACCEPTED, turns=("a2-a3",)), GAME, LineState(2))
    troubled = add_trouble(shown, "The disk is full; the turn is kept in memory.")
    assert troubled.lights == shown.lights
    assert (troubled.mood, troubled.sound) == (Mood.TROUBLE, Sound.ACCEPTED)
    assert troubled.words == "So it is. The disk is full; the turn is kept in memory."
    assert add_trouble(Signal(Mood.WAITING), "The disk is full.").sound is Sound.QUESTION


def test_a_shared_victory_names_all_who_share_it() -> None:
    signal = finished_signal(Outcome(None, "a tie", ("p1", "p3")))
    assert signal.words == "P1 and p3 share the win: a tie."


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome("p1", "game over: -5 points", kind=OutcomeKind.SCORE), "Game over: \N{MINUS SIGN}5 points."),
        (
            Outcome("p2", "p1 crossed the Game Over line; -5 points"),
            "P2 wins: p1 crossed the Game Over line; \N{MINUS SIGN}5 points.",
        ),
        (
            Outcome(None, "all tiles are down; 3 points each", ("p2", "p3"), points_each=3),
            "P2 and p3 share the win with 3 points each: all tiles are down.",
        ),
        (
            Outcome(None, "all tiles are down; 1 point each", ("p1", "p2"), points_each=1),
            "P1 and p2 share the win with 1 point each: all tiles are down.",
        ),
        (
            Outcome(None, "all tiles are down; -5 points each", ("p1", "p2"), points_each=-5),
            "P1 and p2 share the win with \N{MINUS SIGN}5 points each: all tiles are down.",
        ),
    ],
)
def test_the_points_of_an_ending_are_said_as_in_a_sentence(outcome: Outcome, words: str) -> None:
    assert finished_signal(outcome).words == words


def test_a_stopped_game_is_not_called_a_draw() -> None:
    assert (
        finished_signal(Outcome(None, STOPPED, kind=OutcomeKind.STOPPED)).words
        == "The game was stopped before its end."
    )
