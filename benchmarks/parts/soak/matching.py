"""Matches the turns in the referee's journal with the turns that were played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.demo.run import silent_turn_numbers
from benchmarks.parts.soak.circumstances import facings_of
from benchmarks.parts.soak.game import GameRecord
from engine.api import Game
from engine.registry import load
from referee.record.events import Event
from simulator.play.game import TruthEvent

_REFEREE_ITSELF = "button"


@dataclass(frozen=True)
class Resolution:
    """By turn number, how it came into the journal (``turn`` or ``correction``), and when.

    ``stray`` are accepted turns that were not played and that no violation explains; ``matched`` are times and texts of
    the others.
    """

    resolved: Mapping[int, tuple[str, float]]
    stray: Sequence[Event]
    matched: frozenset[tuple[float, str]]


def resolve(played: GameRecord, turns: Sequence[TruthEvent], charged: Sequence[tuple[float, float]]) -> Resolution:
    """Match the journal's turns with those played.

    ``charged`` are periods from one second to another in which an accepted turn is charged to a violation.
    """
    game: Game[Any, Any] = load(played.plan.game)
    resolved: dict[int, tuple[str, float]] = {}
    stray: list[Event] = []
    matched: set[tuple[float, str]] = set()
    number = 0
    silent = silent_turn_numbers(game, played.events)
    for written, event in played.events:
        time_s = event.frame_time_s or 0.0
        if written in silent:
            continue
        if event.kind == "correction" and event.data.get("by") != _REFEREE_ITSELF:
            while number < len(turns) and turns[number].gone_s <= time_s:
                resolved.setdefault(number, ("correction", time_s))
                number += 1
        elif event.kind == "turn":
            turn = turns[number] if number < len(turns) else None
            if turn is not None and turn.began_s <= time_s and _is_as_played(game, event, turn):
                resolved[number] = ("turn", time_s)
                matched.add((time_s, str(event.data["turn"])))
                number += 1
            elif not any(from_s <= time_s <= to_s for from_s, to_s in charged):
                stray.append(event)
    return Resolution(resolved, stray, frozenset(matched))


def narrowed_wrongly(game: Game[Any, Any], played: GameRecord, turns: Sequence[TruthEvent]) -> tuple[str, ...]:
    """Where the belief excluded a block's true facing, because a side face was misread."""
    found: list[str] = []
    number = 0
    for _, event in played.events:
        if event.kind == "turn" and number < len(turns):
            truth = turns[number]
            if _board_of(game, event) == dict(truth.after):
                found += _excluded(game, event, truth)
                number += 1
        elif event.kind == "correction" and event.data.get("by") != _REFEREE_ITSELF:
            number = sum(one.gone_s <= (event.frame_time_s or 0.0) for one in turns)
    return tuple(dict.fromkeys(found))


def _excluded(game: Game[Any, Any], event: Event, truth: TruthEvent) -> list[str]:
    possible = facings_of(game, game.notation.parse_state(_text(event)))
    found = []
    for place, facing in truth.facings.items():
        known = possible.get(place, ())
        if known and not any(dict(one) == dict(facing) for one in known):
            found.append(f"{place} after {truth.turn}")
    return found


def _is_as_played(game: Game[Any, Any], event: Event, turn: TruthEvent) -> bool:
    """Whether an accepted turn leaves the game as a played one, also in what looks don't tell, such as the die taken.

    Of blocks only the looks count; ``narrowed_wrongly`` compares their side faces.
    """
    if game.side_faces is None and turn.state not in _texts(event):
        return False
    return _board_of(game, event) == dict(turn.after)


def _texts(event: Event) -> list[str]:
    """The states that an event leaves possible."""
    state = event.data["state"]
    return [str(one) for one in state] if isinstance(state, list) else [str(state)]


def _text(event: Event) -> str:
    return _texts(event)[0]


def _board_of(game: Game[Any, Any], event: Event) -> Mapping[str, str]:
    """The board's looks after an accepted turn."""
    return dict(game.table.appearance(game.notation.parse_state(_text(event))))
