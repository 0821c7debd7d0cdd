"""The score of the demo: accepted turns that wrote nothing on a sheet."""

from __future__ import annotations

from random import Random

from engine.registry import load
from engine.showing import silent_turns
from referee.demo.score import silent_turn_numbers
from referee.journal.events import Event, EventKind


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
