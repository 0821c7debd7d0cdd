"""Comparing the referee's verdicts with what was played, after the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.phrases import counted
from engine.api import Game
from engine.showing import silent_turns
from engine.values import LookName, Place
from referee.journal.events import Event, EventKind
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog


@dataclass(frozen=True)
class Score:
    """Counts: turns played and accepted as played; violations made, reported, and asked about."""

    played: int
    accepted: int
    violations: int
    named: int
    false_alarms: int
    questions: int
    differences: tuple[str, ...] = ()
    asked_about: int = 0

    @property
    def agreed(self) -> bool:
        """Whether every verdict agreed with what was played."""
        return not self.differences

    @property
    def sentence(self) -> str:
        """The closing line."""
        asked_about = f" and {self.asked_about} asked about" if self.asked_about else ""
        return (
            f"{counted(self.played, 'turn')} played, {self.accepted} accepted as played; "
            f"{counted(self.violations, 'illegal change')} made, {self.named} named{asked_about}; "
            f"{counted(self.false_alarms, 'false alarm')}, {counted(self.questions, 'question')} asked."
        )


def score_game(
    game: Game[Any, Any],
    truth: TruthLog,
    verdicts: Sequence[Verdict],
    events: Sequence[tuple[int, Event]],
    *,
    may_ask: bool = False,
) -> Score:
    """Compare the journal and the verdicts with the truth.

    A turn counts as accepted as played when the board after it equals the referee's belief after the turn of the same
    number. A violation counts as reported when an illegal verdict came before the next action that ends a turn. A
    question about it suffices if the referee misread one of its places, and for a referee with sensors only
    (``may_ask``).
    """
    differences: list[str] = []
    played = truth.played
    silent = silent_turn_numbers(game, events)
    accepted = [event for number, event in events if event.kind == EventKind.TURN and number not in silent]
    right = 0
    for number, turn in enumerate(played):
        got = accepted[number] if number < len(accepted) else None
        if got is not None and _board(game, got) == dict(turn.after):
            right += 1
        else:
            said = "nothing" if got is None else str(got.data["turn"])
            differences.append(f"turn {number + 1} was {turn.player} {turn.turn}; the referee accepted {said}")
    differences += [f"accepted though not played: {event.data['turn']}" for event in accepted[len(played) :]]
    faults = [verdict for verdict in verdicts if verdict.kind is VerdictKind.ILLEGAL]
    violations = [event for event in truth.events if event.kind is ActionKind.VIOLATION]
    named = asked_about = 0
    unmatched = list(faults)
    for violation in violations:
        until_s = min((one.began_s for one in truth.events if one.began_s > violation.began_s), default=float("inf"))
        answers = [one for one in verdicts if violation.gone_s <= one.time_s <= until_s + 0.2]
        if any(one in unmatched for one in answers):
            named += 1
            unmatched = [one for one in unmatched if one not in answers]
        elif any(
            one.kind is VerdictKind.AMBIGUOUS and (may_ask or _was_misread(violation, one.seen)) for one in answers
        ):
            asked_about += 1
        else:
            differences.append(
                f"at {violation.gone_s:.1f} s {violation.player}'s violation ({violation.violation}) was not named"
            )
    differences += [f"at {one.time_s:.1f} s a fault was named that was none: {one.sentence}" for one in unmatched]
    questions = sum(verdict.kind is VerdictKind.AMBIGUOUS for verdict in verdicts)
    return Score(len(played), right, len(violations), named, len(unmatched), questions, tuple(differences), asked_about)


def _was_misread(violation: TruthEvent, seen: Mapping[Place, LookName]) -> bool:
    """Return whether a place that a violation changed was seen with another look than it had."""
    after = violation.after
    return any(after[place] not in (violation.before.get(place), seen.get(place, after[place])) for place in after)


def silent_turn_numbers(game: Game[Any, Any], events: Sequence[tuple[int, Event]]) -> frozenset[int]:
    """Return the numbers of the turns that changed nothing, because a player had to pass or wrote nothing more."""
    silent: set[int] = set()
    last: Event | None = None
    before_turns: list[Event | None] = []
    for number, event in events:
        if "state" in event.data:
            if event.kind == EventKind.TURN:
                before_turns.append(last)
                if last is not None and _is_silent(game, _state(game, last), _state(game, event)):
                    silent.add(number)
            last = event
        elif event.kind == EventKind.TAKE_BACK and before_turns:
            last = before_turns.pop()
    return frozenset(silent)


def _is_silent(game: Game[Any, Any], before: Any, after: Any) -> bool:
    unchanged = game.table.appearance(before) == game.table.appearance(after)
    return unchanged and (game.has_sheets or bool(silent_turns(game, before)))


def _state(game: Game[Any, Any], event: Event) -> Any:
    state = event.data["state"]
    return game.notation.parse_state(str(state[0] if isinstance(state, list) else state))


def _board(game: Game[Any, Any], event: Event) -> dict[str, str]:
    return dict(game.table.appearance(_state(game, event)))
