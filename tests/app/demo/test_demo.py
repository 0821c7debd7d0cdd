"""The demo's score, and what it compares with the strip of a virtual board."""

from collections.abc import Mapping
from random import Random
from types import SimpleNamespace

import pytest

from app.demo.controller import demo_controller
from app.demo.run import score_game, silent_turn_numbers
from common.grid import PlaceGrid
from engine.registry import load
from engine.showing import silent_turns
from hardware.lights.light_map import LightMap
from hardware.lights.signals import MOOD_STYLES, Light, LightRole, Mood, Pattern, Signal
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import Event, EventKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog

RED = bytes(MOOD_STYLES[Mood.FAULT].colour.value)
DARK = bytes(3)


@pytest.mark.parametrize(("strip", "agrees"), [((RED, RED), True), ((RED, DARK), False), ((DARK, DARK), False)])
def test_a_strip_on_which_a_steady_light_is_dark_does_not_agree(
    monkeypatch: pytest.MonkeyPatch, strip: tuple[bytes, ...], agrees: bool
) -> None:
    colour = MOOD_STYLES[Mood.FAULT].colour
    signal = Signal(Mood.FAULT, tuple(Light(place, colour, Pattern.STEADY, LightRole.FAULT) for place in ("a1", "b1")))
    with demo_controller(PlaceGrid.of_squares(2, 1), None, 1, lights=True, say=lambda _: None) as table:
        table.light_map = LightMap({"a1": (0,), "b1": (1,)}, (2,), lights=3)
        shown = SimpleNamespace(is_waiting=False, colours=b"".join((*strip, RED)))
        monkeypatch.setattr(table.device, "lights", lambda: shown)
        assert table.agrees_with(signal) is agrees


@pytest.mark.parametrize(
    ("kind", "seen", "is_enough"),
    [
        (VerdictKind.AMBIGUOUS, {"c3": "clear large", "e5": "red medium"}, True),
        (VerdictKind.AMBIGUOUS, {"c3": "black large"}, False),
        (VerdictKind.AMBIGUOUS, {"e5": "red small"}, False),
        (VerdictKind.NOT_FINISHED, {"c3": "clear large"}, False),
    ],
)
def test_a_question_about_a_violation_is_enough_only_where_it_was_misread(
    kind: VerdictKind, seen: Mapping[str, str], is_enough: bool
) -> None:
    before = {"c3": "red medium", "e5": "red medium"}
    put_on = TruthEvent(
        ActionKind.VIOLATION,
        "warm",
        1.0,
        2.0,
        before,
        before | {"c3": "black large"},
        {},
        violation="black without a tower",
    )
    answer = Verdict(kind, "", 3.0, 1, places=tuple(seen), seen=seen)
    score = score_game(load("blockade"), TruthLog(events=[put_on]), [answer], [])
    assert (score.agreed, score.asked_about) == (is_enough, int(is_enough))


def test_not_combining_after_a_take_back_writes_nothing() -> None:
    game = load("number-drop")
    rng, state = Random(3), game.rules.new({"players": 1})
    while not silent_turns(game, state):
        if game.awaits_roll(state):
            dice = game.dice_for("")
            state = dice.rolled(state, rng.choice(dice.possible_rolls(state)).roll)
        else:
            state = game.rules.apply(state, rng.choice(game.rules.legal_turns(state)))
    (silent,) = silent_turns(game, state)
    written = next(turn for turn in game.rules.legal_turns(state) if turn != silent)

    def event(kind: EventKind, after: object) -> Event:
        return Event(kind, {"state": game.notation.format_state(after)}, 0.0)

    events = [
        (1, event(EventKind.SET_UP, state)),
        (2, event(EventKind.TURN, game.rules.apply(state, written))),
        (3, Event(EventKind.TAKE_BACK, {"by": "Ann"}, 0.0)),
        (4, event(EventKind.TURN, game.rules.apply(state, silent))),
    ]
    assert silent_turn_numbers(game, events) == {4}
