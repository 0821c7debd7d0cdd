"""The journal's turns and those that were played, in games whose looks don't tell everything."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from benchmarks.parts.soak.game import GamePlan, GameRecord
from benchmarks.parts.soak.matching import resolve
from engine.registry import load
from engine.values import Roll
from referee.journal.events import Event, EventKind, JsonValue
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog


@dataclass(frozen=True)
class _Alike:
    """Two turns after which the table looks the same."""

    game: str
    player: str
    rolls: tuple[str, ...]
    played: str
    other: str


BELOW_THE_TOP = _Alike("blockade", "warm", ("12", "13", "13"), "d3-c3", "e1-c3 d3-c3")
ANOTHER_DIE = _Alike("blokus-dice", "p1", ("1456",), "1:1:a1", "4:1:a1:strike")


@pytest.mark.parametrize("alike", [BELOW_THE_TOP, ANOTHER_DIE], ids=lambda alike: alike.game)
@pytest.mark.parametrize(
    ("believed", "is_right"),
    [(("played",), True), (("other",), False), (("other", "played"), True)],
    ids=["right", "wrong", "both possible"],
)
def test_a_wrong_guess_of_what_looks_do_not_tell_is_no_match(
    alike: _Alike, believed: tuple[str, ...], is_right: bool
) -> None:
    game = load(alike.game)
    assert game.dice is not None
    state = game.rules.new()
    for roll in alike.rolls:
        state = game.dice.rolled(state, Roll(tuple(roll)))
    turns = {"played": alike.played, "other": alike.other}
    after = {name: game.rules.apply(state, game.notation.parse_turn(state, turn)) for name, turn in turns.items()}
    texts = {name: game.notation.format_state(one) for name, one in after.items()}
    looks = dict(game.table.appearance(after["played"]))
    assert looks == dict(game.table.appearance(after["other"]))
    before = dict(game.table.appearance(state))
    truth = TruthEvent(ActionKind.TURN, alike.player, 1.0, 2.0, before, looks, {}, alike.played, state=texts["played"])
    states: list[JsonValue] = [texts[name] for name in believed]
    written = Event(
        EventKind.TURN, {"turn": turns[believed[0]], "state": states if len(states) > 1 else states[0]}, 3.0
    )
    played = GameRecord(GamePlan(5, game=alike.game), TruthLog(events=[truth]), events=[(1, written)])
    found = resolve(played, [truth], [])
    assert (found.resolved, list(found.stray)) == (({0: ("turn", 3.0)}, []) if is_right else ({}, [written]))
