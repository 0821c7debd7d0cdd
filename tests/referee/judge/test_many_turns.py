"""Games with too many turns to list between two frames, and sheets that several players write on at once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from engine.registry import load
from engine.values import Roll
from referee.judge.explanations import beyond_one_turn
from referee.judge.explorer import MOST_LISTED, Case, JudgeContext
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.stability import StabilityFilter, StabilitySettings
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn, seen_as
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import Hindrance, HindranceKind


class _CountedOnly(Sequence[Any]):
    """Turns that can be counted, and indexed just beyond the listing limit, but not iterated."""

    def __init__(self, turns: Sequence[Any]) -> None:
        self._turns = turns

    def __len__(self) -> int:
        return len(self._turns)

    def __getitem__(self, index: Any) -> Any:
        assert isinstance(index, slice), f"turn {index} of {len(self)} was listed"
        assert index.stop - index.start == 1, f"turns {index} of {len(self)} were listed"
        return self._turns[index]

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError(f"{len(self)} turns were listed")


def unlisted(name: str) -> Any:
    """A game whose legal turns can't be iterated."""
    game: Any = load(name)
    parts = {part: getattr(game.rules, part) for part in dir(game.rules) if not part.startswith("_")}
    parts["legal_turns"] = lambda state: _CountedOnly(game.rules.legal_turns(state))
    return replace(game, rules=SimpleNamespace(**parts))


def with_many_turns(game: Any, players: int) -> Any:
    """A position of Number Drop in which everybody is to write and the turns are too many to list."""
    rng = Random(5)
    state = game.rules.new({"players": players})
    while True:
        if game.dice.awaits_roll(state):
            state = game.dice.rolled(state, rng.choice(game.dice.possible_rolls(state)).roll)
        turns = game.rules.legal_turns(state)
        if len(turns) > MOST_LISTED and len(game.rules.players_to_move(state)) == players:
            return state
        state = game.rules.apply(state, turns[rng.randrange(len(turns))])


def drop_of(game: Any, state: Any, player: str, rng: Random) -> Any:
    """A turn of one player, drawn from the lazy list."""
    turns = game.rules.legal_turns(state)
    while True:
        turn = turns[rng.randrange(len(turns))]
        if turn.player == player:
            return turn


def test_a_turn_of_blockade_with_a_big_roll_is_found_without_a_list() -> None:
    """134,203 turns, four with this appearance: hidden pieces make the difference, so a person chooses."""
    game: Any = load("blockade")
    state = game.dice.rolled(game.rules.new({"starts": "warm"}), Roll(("5", "4")))
    after = game.rules.apply(state, game.notation.parse_turn(state, "c4-b4 c2-a1 e4-c3"))
    judged = JudgedGame(unlisted("blockade"), belief=(state,))
    verdict = judged.consider(drawn(game, after), Trigger.DECLARED).verdict
    assert (verdict.kind, len(verdict.candidates)) == (VerdictKind.AMBIGUOUS, 4)
    ends = [game.rules.apply(state, game.notation.parse_turn(state, text)) for text in verdict.candidates]
    assert after in ends
    assert {tuple(game.table.appearance(end).items()) for end in ends} == {tuple(game.table.appearance(after).items())}


@pytest.mark.parametrize("players", [1, 3])
def test_a_drop_of_number_drop_is_accepted_without_a_list(players: int) -> None:
    game = load("number-drop")
    state = with_many_turns(game, players)
    turn = drop_of(game, state, state.to_move, Random(1))
    after = game.rules.apply(state, turn)
    judged = JudgedGame(unlisted("number-drop"), belief=(state,))
    ruling = judged.consider(drawn(game, after), Trigger.RESTED)
    assert [verdict.turns for verdict in ruling.verdicts] == [(game.notation.format_turn(turn),)]
    assert judged.belief == (after,)


def with_many_listed_turns(game: Any) -> Any:
    """A position of Number Drop in which four players are to write and their turns are many, but can be listed."""
    rng = Random(3)
    state = game.rules.new({"players": 4})
    while True:
        if game.dice.awaits_roll(state):
            state = game.dice.rolled(state, rng.choice(game.dice.possible_rolls(state)).roll)
        turns = game.rules.legal_turns(state)
        if 600 < len(turns) <= MOST_LISTED and len(game.rules.players_to_move(state)) == 4:
            return state
        state = game.rules.apply(state, turns[rng.randrange(len(turns))])


def under_hands(game: Any, state: Any, players: Sequence[str]) -> dict[str, str]:
    """All places on the sheets of some players, hidden."""
    return {place: "hidden" for place in game.table.appearance(state) if place.partition(".")[0] in players}


def test_turns_on_sheets_under_a_hand_are_not_tried_before_those_in_sight() -> None:
    """Each of the hundreds of drops that a hand may hide would need a search for the turn after it."""
    game: Any = load("number-drop")
    state = with_many_listed_turns(game)
    first, second, *others = game.rules.players_to_move(state)
    after = game.rules.apply(state, drop_of(game, state, first, Random(1)))
    after = game.rules.apply(after, drop_of(game, after, second, Random(2)))
    asked: list[Any] = []

    def turns_showing(*given: Any) -> Iterator[Any]:
        asked.append(given)
        yield from game.turns_showing(*given)

    counted = replace(game, turns_showing=turns_showing)
    judged = JudgedGame(counted, belief=(state,))
    ruling = judged.consider(drawn(game, after, under_hands(game, state, others)), Trigger.RESTED)
    assert [step.turn.player for step in ruling.steps] == [first, second]
    assert len(asked) < 30


def test_turns_after_one_that_a_hand_may_hide_explain_what_is_in_sight() -> None:
    """A player who has written already writes once more, while the others may be writing."""
    game: Any = load("number-drop")
    state = with_many_listed_turns(game)
    first, *others = game.rules.players_to_move(state)
    state = game.rules.apply(state, drop_of(game, state, first, Random(1)))
    seen = seen_as(game, state, {f"{first}.d14": "digit 7 60%", **under_hands(game, state, others)})
    found = beyond_one_turn(Case(JudgeContext(game, JudgeSettings()), (state,), seen))
    assert 0 < len(found) < MOST_LISTED
    assert not any(len({place[:2] for place, _ in one.changes}) > 1 for one in found)


def test_a_turn_that_needs_one_on_a_hidden_sheet_before_it_waits_for_that_sheet() -> None:
    """In the Blokus Dice Game the players draw one after the other."""
    game: Any = load("blokus-dice")
    state = game.dice.rolled(
        game.rules.new({"players": 3}), game.dice.possible_rolls(game.rules.new({"players": 3}))[0].roll
    )
    after = state
    for _ in range(2):
        after = game.rules.apply(after, next(turn for turn in game.rules.legal_turns(after) if turn.squares))
    hidden = under_hands(game, state, [state.to_move])
    ruling = JudgedGame(game, belief=(state,)).consider(drawn(game, after, hidden), Trigger.RESTED)
    assert ([verdict.kind for verdict in ruling.verdicts], ruling.steps) == ([VerdictKind.CANNOT_SEE], ())


def test_writing_that_no_drop_explains_is_a_fault_without_a_list() -> None:
    game = load("number-drop")
    state = with_many_turns(game, 1)
    judged = JudgedGame(unlisted("number-drop"), belief=(state,))
    ruling = judged.consider(drawn(game, state, {"p1.d14": "digit 7"}), Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert judged.belief == (state,)


def test_many_squares_that_no_drop_explains_are_not_taken_for_several_turns() -> None:
    game = load("number-drop")
    state = with_many_turns(game, 1)
    judged = JudgedGame(unlisted("number-drop"), belief=(state,))
    wrong = {f"p1.{column}14": "digit 7" for column in "aceg"}
    verdict = judged.consider(drawn(game, state, wrong), Trigger.RESTED).verdict
    assert verdict.kind is VerdictKind.ILLEGAL
    assert "turns" not in verdict.sentence


def test_players_who_wrote_at_once_are_judged_sheet_by_sheet() -> None:
    game = load("number-drop")
    state = with_many_turns(game, 3)
    first, second, _ = game.rules.players_to_move(state)
    after = game.rules.apply(state, drop_of(game, state, second, Random(1)))
    both = game.rules.apply(after, drop_of(game, after, first, Random(2)))
    judged = JudgedGame(unlisted("number-drop"), belief=(state,))
    ruling = judged.consider(drawn(game, both), Trigger.RESTED)
    assert [step.turn.player for step in ruling.steps] == [first, second]
    assert game.table.appearance(judged.belief[0]) == game.table.appearance(both)


def test_a_fault_on_one_sheet_does_not_keep_the_others_from_counting() -> None:
    game = load("number-drop")
    state = with_many_turns(game, 3)
    first, second, third = game.rules.players_to_move(state)
    after = game.rules.apply(state, drop_of(game, state, second, Random(1)))
    after = game.rules.apply(after, drop_of(game, after, third, Random(2)))
    judged = JudgedGame(unlisted("number-drop"), belief=(state,))
    ruling = judged.consider(drawn(game, after, {f"{first}.d14": "digit 7"}), Trigger.RESTED)
    assert [step.turn.player for step in ruling.steps] == [second, third]
    assert ruling.verdicts[-1].kind is VerdictKind.ILLEGAL
    assert ruling.verdicts[-1].places[0].startswith(first)


def test_sheets_are_not_judged_separately_before_a_turn_has_ended() -> None:
    game = load("number-drop")
    state = with_many_turns(game, 3)
    first, second, _ = game.rules.players_to_move(state)
    after = game.rules.apply(state, drop_of(game, state, first, Random(1)))
    after = game.rules.apply(after, drop_of(game, after, second, Random(2)))
    judged = JudgedGame(unlisted("number-drop"), belief=(state,))
    ruling = judged.consider(drawn(game, after), Trigger.GLANCE)
    assert (ruling.verdict.kind, ruling.steps) == (VerdictKind.NOT_FINISHED, ())


def test_a_sheet_that_is_not_located_does_not_keep_another_from_counting() -> None:
    game = load("number-drop")
    state = with_many_turns(game, 3)
    first, second, _ = game.rules.players_to_move(state)
    turn = drop_of(game, state, first, Random(1))
    lost = tuple(place for place in game.table.appearance(state) if place.startswith(f"{second}."))
    why = Hindrance(HindranceKind.NOT_LOCATED, f"the sheet of {second}: no marker is in sight", lost)
    readings = drawn(game, game.rules.apply(state, turn), dict.fromkeys(lost, "hidden"))
    filtered = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    views = [filtered.add(replace(reading, hindrances=(why,))) for reading in readings]
    assert views[-1] is not None
    ruling = JudgedGame(unlisted("number-drop"), belief=(state,)).consider(views[-1].readings, Trigger.RESTED)
    assert [step.turn for step in ruling.steps] == [turn]
