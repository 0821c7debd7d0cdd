"""A person's word on what one place shows, which may be a turn that the camera could not read."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from engine.registry import load
from engine.values import Roll
from referee.judge.belief import Belief, Override
from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import PlaceReading, Reading


def known_state(name: str) -> Any:
    game: Any = load(name)
    state = game.rules.new()
    if name == "number-drop":
        state = game.dice.rolled(state, game.dice.possible_rolls(state)[0].roll)
        for player in ("p1", "p2"):
            state = game.rules.apply(state, game.notation.parse_turn(state, f"g1={player[1]}", player))
        return game.dice.rolled(state, Roll(tuple("233*I")))
    return state if game.dice is None else game.dice.rolled(state, game.dice.possible_rolls(state)[0].roll)


def after(game: Any, state: Any, turn: Any) -> dict[str, str]:
    return dict(game.table.appearance(game.rules.apply(state, turn)))


def two_looks(name: str) -> tuple[Any, Any, str, Mapping[str, str], str]:
    """A game, its state, and a place whose look alone decides what was played: the table after a turn, another look."""
    game, state = load(name), known_state(name)
    mover = game.rules.players_to_move(state)[0]
    looks = [after(game, state, turn) for turn in game.rules.legal_turns(state)[:200] if turn.player == mover]
    if not game.looks_before:
        looks.append(dict(game.table.appearance(state)))
    for one, other in combinations(looks, 2):
        differing = [place for place in one if one[place] != other[place]]
        if len(differing) == 1:
            return game, state, differing[0], one, other[differing[0]]
    raise AssertionError(f"no two turns of {name} differ on one place")


def doubtful(game: Any, state: Any, looks: Mapping[str, str], place: str, **probabilities: float) -> list[Reading]:
    rest = dict.fromkeys(game.looks, 1e-4)
    found = drawn(game, state, looks)
    unclear = PlaceReading({**rest, **{look.replace("_", " "): one for look, one in probabilities.items()}})
    return [Reading(one.sequence, one.time_s, {**one.places, place: unclear}) for one in found]


@pytest.mark.parametrize("name", ["number-drop", "blokus-dice", "deblockle"])
def test_the_same_table_is_judged_again_with_what_a_person_sees(name: str) -> None:
    game, state, place, looks, other = two_looks(name)
    unclear = doubtful(game, state, looks, place, **{looks[place]: 0.45, other: 0.5})
    judged = JudgedGame(game, belief=(state,))
    asked = judged.consider(unclear, Trigger.RESTED).verdict
    assert (asked.kind, asked.places) == (VerdictKind.AMBIGUOUS, (place,))
    assert set(asked.likely) == {looks[place], other}
    judged.overrule([place], {place: looks[place]})
    accepted = judged.consider(unclear, Trigger.RESTED)
    assert accepted.verdict.kind is VerdictKind.ACCEPTED
    assert after(game, state, accepted.steps[0].turn) == looks
    assert judged.consider(unclear, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED


def test_a_look_that_no_rule_allows_is_named_as_a_fault() -> None:
    game = load("deblockle")
    state = known_state("deblockle")
    ghost = doubtful(game, state, {}, "g4", empty=0.45, **{"teal block, stop up": 0.5})
    judged = JudgedGame(game, belief=(state,))
    judged.overrule(["g4"], {"g4": "teal block, stop up"})
    assert judged.consider(ghost, Trigger.RESTED).verdict.kind is VerdictKind.ILLEGAL
    judged.overrule(["g4"], {})
    assert judged.consider(ghost, Trigger.RESTED).verdict.kind is VerdictKind.PUT_RIGHT


def test_the_latest_word_on_a_place_counts() -> None:
    told: Belief[Any, Any] = Belief.of(()).with_places_confirmed(["c3"], {"c3": "red"}).with_places_confirmed(["d3"])
    assert (told.override.told, told.set_aside) == ({"c3": "red"}, {"d3"})
    other = told.with_places_confirmed(["c3"], {"c3": "blue"})
    assert (other.override.told, other.set_aside) == ({"c3": "blue"}, {"d3"})
    drawn_so = other.with_places_confirmed(["c3"])
    settled = frozenset({"c3", "d3"})
    assert (drawn_so.override, drawn_so.set_aside) == (Override(confirmed=settled), settled)


def test_a_word_holds_until_the_place_looks_different() -> None:
    word = Override(told={"c3": "red"}).after_look({"c3": "empty"}, seen("blue"))
    for look in ("blue", "red", None, "blue"):
        word = word.after_look({"c3": "empty"}, seen(look))
        assert word.told == {"c3": "red"}
    assert word.applied_to(seen("blue"), LOOKS).places["c3"].best == "red"
    assert "c3" not in word.applied_to(seen(None), LOOKS).places, "a hand may be moving it"
    assert word.after_look({"c3": "empty"}, seen("empty")) == Override()


def test_a_word_on_a_hidden_place_holds_until_the_place_is_seen() -> None:
    word = Override(told={"c3": "red"}).after_look({"c3": "empty"}, seen(None))
    assert word.applied_to(seen(None), LOOKS).places["c3"].best == "red"
    assert word.after_look({"c3": "empty"}, seen("blue")) == Override()


LOOKS = ("empty", "red", "blue")


def seen(look: str | None) -> PooledReading:
    if look is None:
        return PooledReading({}, frozenset({"c3"}), 0.0, 0, covered={"c3": None})
    return PooledReading({"c3": PooledPlace({each: -1.0 - (each != look) for each in LOOKS})}, frozenset(), 0.0, 0)
