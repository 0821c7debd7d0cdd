"""Finds the rolls that the referee misread, and those that a person had to enter."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.parts.soak.circumstances import is_disturbed
from benchmarks.parts.soak.game import GameRecord
from benchmarks.parts.soak.report import UNTHROWN, Outcome
from engine.api import Game
from referee.record.events import SEEN, Event, EventKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent


@dataclass(frozen=True)
class FaultyRoll:
    """A roll that the referee did not read, or not rightly."""

    time_s: float
    outcome: Outcome
    detail: str
    what: str = "roll"


def misread_rolls(played: GameRecord) -> Iterator[FaultyRoll]:
    """Rolls read from the table that differ from the last throw, or that nobody has thrown since the roll before."""
    thrown, used = _thrown(played), 0
    for event in _recorded(played):
        time_s = event.frame_time_s or 0.0
        before, used = used, sum(one.began_s <= time_s for one in thrown)
        true = thrown[used - 1].turn if used else "nothing"
        if event.data.get("source") != SEEN:
            continue
        if used == before:
            yield FaultyRoll(time_s, Outcome.WRONG, f"took {event.data['roll']} for a roll", UNTHROWN)
        elif true != event.data["roll"]:
            yield FaultyRoll(time_s, Outcome.WRONG, f"took {event.data['roll']} for the roll; {true} was thrown")


def typed_rolls(game: Game[Any, Any], played: GameRecord) -> Iterator[FaultyRoll]:
    """Rolls that lay on the table and that a person had to enter.

    They are needless unless something disturbed the table, or the dice show what they showed before.
    """
    thrown = _thrown(played)
    typed_s = [event.frame_time_s or 0.0 for event in _recorded(played) if event.data.get("source") != SEEN]
    for number, roll in enumerate(thrown):
        next_s = thrown[number + 1].began_s if number + 1 < len(thrown) else float("inf")
        time_s = next((one for one in typed_s if roll.gone_s <= one < next_s), None)
        if time_s is not None:
            justified = is_disturbed(played, roll.began_s, time_s) or _repeats(game, roll, thrown[:number])
            outcome = Outcome.AFTER_ASKING if justified else Outcome.NEEDLESSLY
            yield FaultyRoll(time_s, outcome, f"a person entered {roll.turn}")


def _thrown(played: GameRecord) -> list[TruthEvent]:
    return [event for event in played.truth.events if event.kind is ActionKind.ROLLED]


def _recorded(played: GameRecord) -> list[Event]:
    return [event for _, event in played.events if event.kind is EventKind.ROLLED]


def _repeats(game: Game[Any, Any], roll: TruthEvent, earlier: Sequence[TruthEvent]) -> bool:
    """Whether the dice show what they showed before, so that they may only have been put aside."""
    own = game.dice_names is not None
    before = next((one for one in reversed(earlier) if one.player == roll.player or not own), None)
    return before is not None and sorted(before.turn.split(",")) == sorted(roll.turn.split(","))
