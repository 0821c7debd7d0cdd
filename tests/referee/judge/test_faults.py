"""Places that stay set aside, and the rules that a change breaks."""

from typing import Any

from referee.judge.explorer import Case, JudgeContext
from referee.judge.faults import find_breaches, name_pieces, still_differing
from referee.judge.pooled_reading import PIECE
from tests.referee.judge.drawn import seen_as

_ELSEWHERE = ("a5", "b5", "c5", "d5", "e5")


def test_a_place_stays_set_aside_while_it_is_hidden_or_looks_wrong(diaballik: Any) -> None:
    state = diaballik.rules.new()
    believed = diaballik.table.appearance(state)
    seen = seen_as(diaballik, state, {"a1": "hidden", "b1": "empty"})
    assert still_differing(believed, frozenset({"a1", "b1", "c1", "c3"}), seen) == {"a1", "b1"}


def test_a_fault_names_changed_places_and_no_hidden_ones(diaballik: Any) -> None:
    """A piece that jumped is named; hidden pieces are assumed to be where they were."""
    context: JudgeContext[Any, Any] = JudgeContext(diaballik)
    state = diaballik.rules.new()
    jumped = frozenset({("b1", "empty"), ("b5", "black piece")})
    seen = seen_as(diaballik, state, {"b1": "empty", "b5": "black piece", "a7": "hidden", "g1": "hidden"})
    everything = seen_as(diaballik, state, {"b1": "empty", "b5": "black piece"})
    breaches = find_breaches(Case(context, (state,), seen), jumped)
    assert breaches == find_breaches(Case(context, (state,), everything), jumped)
    assert {place for breach in breaches for place in breach.places} <= {"b1", "b2", "b3", "b4", "b5"}


def test_breaches_are_found_from_the_believed_state_that_needs_fewest(diaballik: Any) -> None:
    context: JudgeContext[Any, Any] = JudgeContext(diaballik)
    black = diaballik.rules.new()
    white = diaballik.table.amend(black, {}, "white")
    moved = frozenset({("b7", "empty"), ("b6", "white piece")})
    seen = seen_as(diaballik, black, dict(moved))
    assert find_breaches(Case(context, (black,), seen), moved)
    assert find_breaches(Case(context, (black, white), seen), moved) == ()


def test_at_most_24_assignments_are_tried_for_pieces_known_only_by_sensors() -> None:
    lifted = [f"red {size}" for size in ("pawn", "rook", "knight", "bishop", "queen")]
    base = dict(zip(("a1", "b1", "c1", "d1", "e1"), lifted, strict=True)) | dict.fromkeys(_ELSEWHERE, "empty")
    changes = frozenset({(place, "empty") for place in base if base[place] != "empty"})
    named = list(name_pieces(base, changes | {(place, PIECE) for place in _ELSEWHERE}, lifted))
    assert len(named) == 24
    assert all(sorted(tried[place] for place in _ELSEWHERE) == sorted(lifted) for tried in named)
    assert len({tuple(tried[place] for place in _ELSEWHERE) for tried in named}) == 24
