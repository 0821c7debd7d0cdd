"""The score of the demo: violations that were misread, and accepted turns that wrote nothing on a sheet."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from engine.registry import load
from engine.showing import silent_turns
from referee.demo.run import score_game, silent_turn_numbers
from referee.journal.events import Event, EventKind
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog


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
