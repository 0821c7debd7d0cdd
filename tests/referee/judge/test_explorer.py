"""Leaving out turns that cannot look like the table changes no verdict."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from engine.registry import load
from engine.showing import turns_by_trying
from referee.judge.belief import Belief
from referee.judge.explorer import MOST_LISTED, Expansion, JudgeContext, changes_between
from referee.judge.judge import judge
from referee.judge.settings import Trigger
from tests.effort import cases, some
from tests.present import present
from vision.reading import HindranceKind, PlaceReading, Reading, uniform_reading


class EverythingConsidered(JudgeContext[Any, Any]):
    """Considers every legal turn and every unfinished one, whatever the table looks like."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.every = cache(self._every)

    def _every(self, state: Any) -> Expansion[Any]:
        table = self.game.table
        before = table.appearance(state)
        groups: dict[frozenset[tuple[str, str]], list[Any]] = {}
        turns = () if self.game.rules.outcome(state) else turns_by_trying(self.game, state, {})
        for turn in turns:
            changes = changes_between(before, table.appearance(self.game.rules.apply(state, turn)))
            groups.setdefault(changes, []).append(turn)
        return Expansion(before, {changes: tuple(group) for changes, group in groups.items()})

    def expand(self, state: Any, could_be: Any) -> Expansion[Any]:
        return self.every(state)

    def unfinished(self, state: Any, could_be: Any) -> tuple[Any, ...]:
        return super().unfinished(state, {})


def seen_as(game: Any, table: Mapping[str, str], rng: Random) -> Reading:
    """A table with one or two doubtful places, and sometimes some hidden ones."""
    places = {}
    for place, look in table.items():
        shares = {name: rng.random() * 1e-3 for name in game.looks}
        places[place] = PlaceReading({**shares, look: 1.0})
    for place in rng.sample(list(table), rng.randrange(3)):
        share = rng.random()
        places[place] = PlaceReading({table[place]: share, rng.choice(game.looks): 1 - share})
    for place in rng.sample(list(table), rng.choice((0, 0, 0, 3))):
        places[place] = uniform_reading(game.looks, HindranceKind.OBJECT)
    return Reading(1, 0.0, places)


def tables(game: Any, state: Any, rng: Random) -> Iterator[Mapping[str, str]]:
    """The table before, during and after a turn, after two turns, and with an illegal piece on it."""
    before = game.table.appearance(state)
    yield before
    after = state
    for _ in range(2):
        turns = game.rules.legal_turns(after)
        if not turns:
            return
        after = game.rules.apply(after, turns[rng.randrange(len(turns))])
        yield game.table.appearance(after)
    parts = list(game.table.unfinished(state))
    if parts:
        yield {**before, **rng.choice(parts).change}
    yield {**before, rng.choice(list(before)): rng.choice(game.looks)}


@pytest.mark.parametrize(("name", "plies"), [("deblockle", 12), ("diaballik", 2), ("blokus-dice", 3)])
@pytest.mark.parametrize("trigger", some([Trigger.RESTED, Trigger.DECLARED], 1))
def test_considering_every_turn_gives_the_same_verdict(name: str, plies: int, trigger: Trigger) -> None:
    game, rng = load(name), Random(7)
    state = game.rules.new()
    for _ in range(plies):
        while game.awaits_roll(state):
            state = present(game.dice).rolled(state, rng.choice(present(game.dice).possible_rolls(state)).roll)
        turns = game.rules.legal_turns(state)
        state = game.rules.apply(state, turns[rng.randrange(len(turns))])
    while game.awaits_roll(state):
        state = present(game.dice).rolled(state, rng.choice(present(game.dice).possible_rolls(state)).roll)
    everything = EverythingConsidered(game)
    for table in [table for _ in range(cases(2)) for table in tables(game, state, rng)]:
        reading = seen_as(game, table, rng)
        told = [
            judge(context, Belief.of([state]), [reading], trigger)[1] for context in (JudgeContext(game), everything)
        ]
        ours, plain = ([(one.kind, one.sentence, one.places, one.turns) for one in each.verdicts] for each in told)
        assert ours == plain
        assert [step.turn for step in told[0].steps] == [step.turn for step in told[1].steps]


@pytest.mark.parametrize(
    ("turns", "lists_turns_slowly", "few"),
    [(0, False, True), (MOST_LISTED, False, True), (MOST_LISTED + 1, False, False), (1, True, False)],
)
def test_two_turns_in_a_row_are_searched_only_where_turns_are_few_and_quick_to_list(
    turns: int, lists_turns_slowly: bool, few: bool
) -> None:
    game: Any = SimpleNamespace(
        lists_turns_slowly=lists_turns_slowly, rules=SimpleNamespace(legal_turns=lambda _: tuple(range(turns)))
    )
    assert JudgeContext(game).has_few_turns("a state") == few


def test_a_game_is_written_on_sheets_though_it_has_no_file_of_them_to_copy() -> None:
    assert JudgeContext(replace(load("number-drop"), sheet_file=None)).sheet_of("p1.a1") == "p1"
    assert JudgeContext(load("diaballik")).sheet_of("a1") == ""
