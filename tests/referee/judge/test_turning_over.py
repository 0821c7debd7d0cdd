"""The judge on a game that puts pieces down, turns others over, and knows a forced pass."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.showing import silent_turns
from referee.judge.settings import Trigger
from referee.judge.verdict import Verdict, VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.judge.sensor_readings import felt
from vision.reading import PlaceChange, PlaceReading, Reading

SURE = {"right": 0.996, "other": 0.002}
BETWEEN_COLOURS = {"right": 0.99, "other": 0.008}
"""Probabilities of the disc that lies there and of one of the other colour."""
STUCK = "black black:c3,d3 white:a3,b3,c4,d4,b5,c5,d5,e5,a6,c6,d6,f6"


def seen(game: Any, looks: Mapping[str, str], unsure: Sequence[str] = ()) -> list[Reading]:
    """A reading of these looks; discs on ``unsure`` places may nearly have the other colour."""
    places = {}
    for place, look in looks.items():
        odds = BETWEEN_COLOURS if place in unsure else SURE
        others = [other for other in game.looks if other != look]
        found = dict.fromkeys(others, 1 - odds["right"] - odds["other"])
        found[max(others)] = odds["other"]
        places[place] = PlaceReading({**found, look: odds["right"]})
    return [Reading(1, 1.0, places)]


def after(game: Any, state: Any, *turns: str) -> Any:
    for turn in turns:
        state = game.rules.apply(state, game.notation.parse_turn(state, turn))
    return state


def shown(game: Any, state: Any, **changes: str) -> dict[str, str]:
    return {**game.table.appearance(state), **changes}


def judged(
    game: Any, state: Any, looks: Mapping[str, str], trigger: Trigger = Trigger.DECLARED, unsure: Sequence[str] = ()
) -> tuple[JudgedGame, Verdict]:
    judge = JudgedGame(game, belief=(state,))
    return judge, judge.consider(seen(game, looks, unsure), trigger).verdict


@pytest.mark.parametrize("trigger", [Trigger.DECLARED, Trigger.RESTED])
def test_of_two_quick_turns_the_second_may_turn_back_what_the_first_turned(reversi: Any, trigger: Trigger) -> None:
    state = after(reversi, reversi.rules.new({"starts": "white"}), "e4", "e3")
    end = after(reversi, state, "c2", "b3")
    assert reversi.table.appearance(end) == shown(reversi, state, c2="white piece", b3="black piece")
    judge, verdict = judged(reversi, state, reversi.table.appearance(end), trigger)
    assert verdict.kind is VerdictKind.ACCEPTED
    assert verdict.turns == ("c2", "b3")
    assert judge.belief == (end,)


def test_two_quick_turns_are_found_all_along_a_game(reversi: Any) -> None:
    state, found = reversi.rules.new(), 0
    for number in range(20):
        turns = reversi.rules.legal_turns(state)
        middle = reversi.rules.apply(state, turns[7 * number % len(turns)])
        if middle.to_move in {None, state.to_move}:
            break
        theirs = reversi.rules.legal_turns(middle)
        end = reversi.rules.apply(middle, theirs[5 * number % len(theirs)])
        judge, verdict = judged(reversi, state, reversi.table.appearance(end))
        assert verdict.kind in {VerdictKind.ACCEPTED, VerdictKind.AMBIGUOUS}, verdict.sentence
        found += judge.belief == (end,)
        state = middle
    assert found >= 15


@pytest.mark.parametrize(
    ("trigger", "kind"), [(Trigger.DECLARED, VerdictKind.ACCEPTED), (Trigger.RESTED, VerdictKind.UNCHANGED)]
)
def test_a_press_is_the_pass_that_is_the_only_legal_turn(reversi: Any, trigger: Trigger, kind: VerdictKind) -> None:
    state = reversi.notation.parse_state(STUCK)
    judge, verdict = judged(reversi, state, shown(reversi, state), trigger)
    assert verdict.kind is kind
    assert judge.belief == ((after(reversi, state, "pass") if kind is VerdictKind.ACCEPTED else state),)


def test_a_forced_pass_need_not_be_said(reversi: Any) -> None:
    state = reversi.notation.parse_state(STUCK)
    end = after(reversi, state, "pass", "e3")
    judge, verdict = judged(reversi, state, reversi.table.appearance(end), Trigger.RESTED)
    assert verdict.sentence == "Black passes. White puts a disc on e3 and turns c3 and d3 over."
    assert judge.belief == (end,)


def test_a_press_is_no_pass_where_there_is_something_to_play(reversi: Any, diaballik: Any) -> None:
    for game, options in ((reversi, {}), (diaballik, {"null_turn": True})):
        state = game.rules.new(options)
        assert silent_turns(game, state) == ()
        judge, verdict = judged(game, state, shown(game, state))
        assert verdict.kind is VerdictKind.UNCHANGED
        assert judge.belief == (state,)


def test_many_discs_turned_over_against_the_rules_are_named(reversi: Any) -> None:
    state = after(reversi, reversi.rules.new(), "d2", "e2", "b4")
    turned = dict.fromkeys(("b4", "c3", "c4", "d4"), "white piece")
    _, verdict = judged(reversi, state, shown(reversi, state, **turned))
    assert verdict.kind is VerdictKind.ILLEGAL
    assert [breach.rule for breach in verdict.breaches] == ["turn-no-other"]


def test_a_disc_put_where_it_may_not_lie_is_named_although_it_may_show_the_other_side(reversi: Any) -> None:
    state = reversi.rules.new()
    _, verdict = judged(reversi, state, shown(reversi, state, a1="black piece"), unsure=("a1",))
    assert verdict.kind is VerdictKind.ILLEGAL
    assert [breach.rule for breach in verdict.breaches] == ["outflank"]


def test_a_second_disc_is_no_coin(reversi: Any) -> None:
    state = reversi.rules.new()
    end = shown(reversi, after(reversi, state, "e3"), a1="black piece")
    judge, verdict = judged(reversi, state, end, unsure=("a1",))
    assert verdict.kind is VerdictKind.ILLEGAL
    assert [breach.rule for breach in verdict.breaches] == ["one-disc"]
    assert judge.belief == (state,)


@pytest.mark.parametrize("field", ["adds_pieces", "turns_pieces_over"])
def test_what_turns_do_is_taken_from_the_game(reversi: Any, field: str) -> None:
    """A game that does not say so is refereed as one in which nobody adds or exchanges pieces."""
    game = replace(reversi, **{field: False})
    state = game.rules.new()
    turned = after(game, state, "d2", "e2", "b4")
    tables = {
        "adds_pieces": (state, shown(game, after(game, state, "e3"), a1="black piece")),
        "turns_pieces_over": (turned, shown(game, turned, b4="white piece", c3="white piece", c4="white piece")),
    }
    before, table = tables[field]
    unsure = [place for place, look in table.items() if before is state and look != "empty"]
    _, verdict = judged(game, before, table, unsure=unsure)
    assert verdict.kind is not VerdictKind.ILLEGAL


def touches(*places: str) -> tuple[PlaceChange, ...]:
    """Each place's disc lifted and put down in turn; on the first one only put down."""
    lifted = [
        PlaceChange(place, put_down=False, time_s=9.0 + number / 10) for number, place in enumerate(places) if number
    ]
    down = [PlaceChange(place, put_down=True, time_s=9.05 + number / 10) for number, place in enumerate(places)]
    return tuple(sorted((*lifted, *down), key=lambda one: one.time_s))


@pytest.mark.parametrize(
    ("trigger", "touched", "kind"),
    [
        (Trigger.DECLARED, ("e3", "d3"), VerdictKind.ACCEPTED),
        (Trigger.RESTED, ("e3", "d3"), VerdictKind.ACCEPTED),
        (Trigger.RESTED, ("e3",), VerdictKind.NOT_FINISHED),
    ],
)
def test_sensors_alone_know_a_turn_with_one_possibility(
    reversi: Any, trigger: Trigger, touched: Sequence[str], kind: VerdictKind
) -> None:
    state = reversi.rules.new()
    end = after(reversi, state, "e3")
    judge = JudgedGame(reversi, belief=(state,))
    verdict = judge.consider(felt(reversi, reversi.table.appearance(end), changes=touches(*touched)), trigger).verdict
    assert verdict.kind is kind, verdict.sentence
    assert judge.belief == ((end if kind is VerdictKind.ACCEPTED else state),)
