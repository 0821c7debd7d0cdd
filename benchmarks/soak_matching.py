"""What a game's journal says beside what was played: which turn became which event, what belongs to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.soak_play import PlayedGame
from engine.api import Game
from engine.registry import load
from referee.events import Event
from simulator.truth import TruthEvent

_REFEREE_ITSELF = "button"


@dataclass(frozen=True)
class Resolution:
    """How each turn came into the journal (``turn`` or ``correction``, and when), by its number.

    ``stray`` are accepted turns that nobody played and no misdeed explains; ``matched`` is time and text of the others.
    """

    resolved: Mapping[int, tuple[str, float]]
    stray: Sequence[Event]
    matched: frozenset[tuple[float, str]]


def resolve(played: PlayedGame, turns: Sequence[TruthEvent], misdeeds: Sequence[tuple[float, float]]) -> Resolution:
    """Match what the journal accepted with what was played; ``misdeeds`` are when those began and were over."""
    game: Game[Any, Any] = load("deblockle")
    resolved: dict[int, tuple[str, float]] = {}
    stray: list[Event] = []
    matched: set[tuple[float, str]] = set()
    number = 0
    for _, event in played.events:
        time_s = event.frame_time_s or 0.0
        if event.kind == "correction" and event.data.get("by") != _REFEREE_ITSELF:
            while number < len(turns) and turns[number].gone_s <= time_s:
                resolved.setdefault(number, ("correction", time_s))
                number += 1
        elif event.kind == "turn":
            turn = turns[number] if number < len(turns) else None
            if turn is not None and turn.began_s <= time_s and board_of(game, event) == dict(turn.after):
                resolved[number] = ("turn", time_s)
                matched.add((time_s, str(event.data["turn"])))
                number += 1
            elif not any(from_s <= time_s <= to_s for from_s, to_s in misdeeds):
                stray.append(event)
    return Resolution(resolved, stray, frozenset(matched))


def narrowed_wrongly(game: Game[Any, Any], played: PlayedGame, turns: Sequence[TruthEvent]) -> tuple[str, ...]:
    """Where the belief excluded the faces a block really had: a side face was misread."""
    found: list[str] = []
    number = 0
    for _, event in played.events:
        if event.kind == "turn" and number < len(turns):
            truth = turns[number]
            if board_of(game, event) == dict(truth.after):
                found += _excluded(game, event, truth)
                number += 1
        elif event.kind == "correction" and event.data.get("by") != _REFEREE_ITSELF:
            number = sum(one.gone_s <= (event.frame_time_s or 0.0) for one in turns)
    return tuple(dict.fromkeys(found))


def _excluded(game: Game[Any, Any], event: Event, truth: TruthEvent) -> list[str]:
    possible = game.facings(game.parse_state(_text(event)))
    found = []
    for place, facing in truth.facings.items():
        known = possible.get(place, ())
        if known and not any(dict(one) == dict(facing) for one in known):
            found.append(f"{place} after {truth.turn}")
    return found


def _text(event: Event) -> str:
    state = event.data["state"]
    return str(state[0]) if isinstance(state, list) else str(state)


def board_of(game: Game[Any, Any], event: Event) -> Mapping[str, str]:
    """What the board shows after an accepted turn."""
    return dict(game.appearance(game.parse_state(_text(event))))


def behind_s(frames: Sequence[tuple[int, float, float]]) -> dict[int, float]:
    """By how long computing keeps the answer to each frame back, what is left of the frames before it included.

    ``frames`` holds sequence, time in seconds and seconds of computing of each; the result goes by sequence.
    """
    found: dict[int, float] = {}
    before_s, behind = None, 0.0
    for sequence, time_s, computed_s in frames:
        since_s = 0.0 if before_s is None else time_s - before_s
        behind = max(0.0, behind - since_s) + computed_s
        found[sequence] = behind
        before_s = time_s
    return found
