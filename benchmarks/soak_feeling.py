"""What switches alone leave open, and when they misled: for telling called-for questions from needless ones."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchmarks.soak_play import PlayedGame
from engine.api import EMPTY, Game
from referee.judge.pooling import PIECE
from simulator.truth import TruthEvent, TruthLog

_LATELY_S = 4.0
_A_MOMENT_S = 0.2
_QUICK_S = 0.5


def misled(played: PlayedGame, places: Collection[str], time_s: float) -> bool:
    """Whether a switch under one of these places said what is not so in the seconds before, or a broken one is there.

    No places stand for the whole table.
    """
    return any(
        time_s - _LATELY_S <= at_s <= time_s and (not places or wrong & set(places)) for at_s, wrong in played.misfelt
    )


def looks_the_same_by_occupancy(game: Game[Any, Any], truth: TruthLog, time_s: float) -> bool:
    """Whether the turn under way, or played last, leaves the same squares taken as something else would.

    That is another result of a legal turn; nothing, where the block came back to its square; a switch that missed a
    block, where one left the board; and two turns in a row that were not felt one by one.
    """
    events = truth.events
    turns = [event for event in events if event.kind in {"turn", "tried and taken back"} and event.began_s <= time_s]
    if not turns:
        return False
    last = turns[-1]
    before = [event.state for event in events if event.gone_s < last.began_s and event.state]
    state = game.parse_state(before[-1] if before else truth.start)
    taken = _taken(last.after)
    if taken == _taken(last.before) or len(taken) < len(_taken(last.before)):
        return True
    if len(turns) > 1 and last.began_s - turns[-2].gone_s < _QUICK_S:
        return True
    results = {
        tuple(sorted(game.appearance(after).items()))
        for turn in game.legal_turns(state)
        if _taken(game.appearance(after := game.apply(state, turn))) == taken
    }
    return len(results) > 1


def unfelt(played: PlayedGame, event: TruthEvent) -> bool:
    """Whether by sensors alone nothing was to be felt of what changed: the switches there were broken."""
    if played.plan.eyes != "sensors":
        return False
    felt_before = _taken(event.before) ^ _wrong_at(played, event.began_s)
    felt_after = _taken(event.after) ^ _wrong_at(played, event.gone_s)
    return felt_before == felt_after


def _wrong_at(played: PlayedGame, time_s: float) -> frozenset[str]:
    return next((wrong for at_s, wrong in played.misfelt if time_s <= at_s <= time_s + _A_MOMENT_S), frozenset())


def seen_as(told: str, look: str) -> bool:
    """Whether what was told of a place fits its look; a switch tells no more than that a piece is there."""
    return told == look or (told == PIECE and look != EMPTY)


def _taken(looks: Any) -> frozenset[str]:
    return frozenset(place for place, look in looks.items() if look != EMPTY)
