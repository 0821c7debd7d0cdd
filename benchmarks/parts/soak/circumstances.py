"""The circumstances of a turn or question in a game: faults, latency, belief, and reasons for asking.

These include ambiguities and errors of switches.
"""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from app.wiring.plan import Inputs
from benchmarks.faults.disturbances import SPOILT
from benchmarks.faults.game import NO_FAULT
from benchmarks.parts.soak.game import REST_S, GameRecord, TimedVerdict
from benchmarks.parts.soak.inputs import covered_places
from common.places import EMPTY, occupied
from engine.api import Game
from engine.showing import turns_showing
from engine.values import Facing, Place
from referee.judge.pooled_reading import PIECE
from referee.judge.verdict import VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog

_SETTLE_S = 0.5
_MOST_TURNS = 20


def kinds_around(played: GameRecord, from_s: float, to_s: float, what: str) -> tuple[str, ...]:
    """Kinds of fault in a period, a violation's own first; ``NO_FAULT`` if there are none."""
    kinds = [what] if what.startswith("illegal") else []
    episode = next((one for one in reversed(played.episodes) if one.began_s <= from_s), None)
    if episode is not None and what == "turn" and episode.kind != NO_FAULT:
        kinds.append(episode.kind)
    for one in played.disturbances:
        ended_s = one.began_s + 3.0 if one.ended_s is None else one.ended_s
        if one.began_s <= to_s and ended_s > from_s - 1.0:
            kinds.append(one.kind)
    return tuple(dict.fromkeys(kinds)) or (NO_FAULT,)


def latency_frames(played: GameRecord, event: TruthEvent, said: TimedVerdict) -> int | None:
    """Frames from the end of the turn, with the hand gone, to the light; ``None`` if frames are missing."""
    turn_end = played.plan.turn_end
    last, ended_s = event, event.gone_s
    if turn_end == "button" and event.ended_s is not None:
        ended_s = max(ended_s, event.ended_s)
    elif turn_end == "touch" and event.kind is ActionKind.TURN:
        # The next player's touch ends the turn, and that hand must be gone too.
        following = next((one for one in played.truth.events if one.began_s >= ended_s), None)
        if following is None or following.kind is not ActionKind.TURN:
            return None
        last, ended_s = following, following.gone_s
    else:
        ended_s += REST_S
    if any(one.delivery and one.overlaps(last.gone_s, said.time_s) for one in played.disturbances):
        return None
    if any(0 <= one.began_s - last.gone_s < 0.3 for one in played.truth.events):
        return None
    first = next((sequence for sequence, time_s, _ in played.frames if time_s >= ended_s - 1e-6), None)
    return None if first is None or said.sequence < 0 else max(0, said.sequence - first)


_FULLY_HIDDEN_SHARE = 0.99


def relies_on_hidden_places(game: Game[Any, Any], played: GameRecord, said: TimedVerdict) -> bool:
    """Whether a verdict "unchanged" or "accepted" relies on places that objects hide completely.

    This applies to games with a camera only: "unchanged", if some turn would change hidden places only, and "accepted",
    if a piece arrived on a hidden place. Places that a person has described since are known. A turn that waited for the
    next player's touch is judged by the places visible when it was first known.
    """
    verdict, time_s = said.verdict, _first_known_s(played, said)
    lying = [one for one in played.disturbances if one.things and one.holds_at(time_s)]
    if played.plan.inputs is not Inputs.CAMERA or not lying:
        return False
    things = [thing for one in lying for thing in one.things]
    hidden = covered_places(played.plan.setting, played.pose_at(time_s), things, _FULLY_HIDDEN_SHARE)
    for word, _ in played.overrides:
        if min(one.began_s for one in lying) <= word.time_s <= time_s:
            hidden -= set(word.looks or hidden)
    if verdict.kind is VerdictKind.ACCEPTED:
        return any(
            look != EMPTY and look != verdict.expected.get(place)
            for place, look in verdict.seen.items()
            if place in hidden
        )
    text = belief_at(played, time_s)
    if verdict.kind is not VerdictKind.UNCHANGED or not hidden or not text:
        return False
    state = game.notation.parse_state(text)
    if game.rules.outcome(state) is not None:
        return False
    before = dict(game.table.appearance(state))
    ends = (dict(game.table.appearance(game.rules.apply(state, turn))) for turn in game.rules.legal_turns(state))
    changed = ({place for place, look in end.items() if before[place] != look} for end in ends)
    return any(places and places <= hidden for places in changed)


def _first_known_s(played: GameRecord, said: TimedVerdict) -> float:
    """When an accepted turn was first known and waited for a touch; when it was accepted if it never waited."""
    accepted = [one.time_s for one in played.said if one.verdict.kind is VerdictKind.ACCEPTED]
    from_s = max((time_s for time_s in accepted if time_s < said.time_s), default=0.0)
    waited = (
        time_s
        for time_s, turns in played.pending
        if from_s < time_s < said.time_s and set(turns) & set(said.verdict.turns)
    )
    return min(waited, default=said.time_s)


def is_justified(game: Game[Any, Any], played: GameRecord, asked: TimedVerdict) -> bool:
    """Whether a question was justified: objects hid its places, pictures were spoilt, or the input was ambiguous or
    wrong.
    """
    time_s = asked.time_s
    if played.plan.inputs is not Inputs.CAMERA and misled(played, asked.verdict.places, time_s):
        return True
    if played.plan.inputs is Inputs.SENSORS:
        return is_ambiguous_by_occupancy(game, played.truth, time_s)
    if game.side_faces is None and asks_about_ambiguous_turn(game, played.truth, asked):
        return True
    if any(one.delivery in SPOILT and one.overlaps(time_s - _AFTER_CHANGE_S, time_s) for one in played.disturbances):
        return True
    # What was asked was seen a moment before, so an object just put down does not excuse, and one just removed does.
    things = [thing for one in played.disturbances if one.holds_at(time_s - _SETTLE_S) for thing in one.things]
    if not things:
        return False
    setting = played.plan.setting
    return bool(covered_places(setting, played.pose_at(time_s), things) & set(asked.verdict.places))


_TROUBLE = frozenset({"cannot see", "trouble"})
"""The moods in which the table says that something is in the way."""


def named_trouble(played: GameRecord, from_s: float, to_s: float) -> str:
    """The hindrance that the table named in a period, or ``""``."""
    for time_s, mood, words in played.moods:
        if from_s <= time_s <= to_s and mood in _TROUBLE:
            return words or mood
    return ""


_AFTER_CHANGE_S = 3.0
"""Time in which a referee gets used to a bumped camera or table, or to other light."""


def is_disturbed(played: GameRecord, from_s: float, to_s: float) -> bool:
    """Whether something disturbed the table or the camera in a period: a reason to see too little.

    Objects disturb while they lie there, faults of delivery while they last, a bump and a lamp for a while.
    """
    return any(
        one.overlaps(from_s, to_s)
        and (one.things or one.delivery is not None or from_s < one.began_s + _AFTER_CHANGE_S)
        for one in played.disturbances
    )


def trouble_at(played: GameRecord, time_s: float) -> str:
    """The hindrance that the table names at a time, or ``""``."""
    shown = [(mood, words) for at_s, mood, words in played.moods if at_s <= time_s]
    mood, words = shown[-1] if shown else ("", "")
    return (words or mood) if mood in _TROUBLE else ""


def belief_at(played: GameRecord, time_s: float) -> str:
    """The text of the position that the referee believed at a time."""
    text = ""
    for _, event in played.events:
        if (event.frame_time_s or 0.0) > time_s:
            break
        state = event.data.get("state")
        if state:
            text = str(state[0]) if isinstance(state, list) else str(state)
    return text


_MISLED_WITHIN_S = 4.0
_A_MOMENT_S = 0.2
_QUICK_S = 0.5


def misled(played: GameRecord, places: Collection[str], time_s: float) -> bool:
    """Whether a switch under one of these places was wrong in the seconds before; no places: anywhere."""
    return any(
        time_s - _MISLED_WITHIN_S <= at_s <= time_s and (not places or wrong & set(places))
        for at_s, wrong in played.sensor_errors
    )


def is_ambiguous_by_occupancy(game: Game[Any, Any], truth: TruthLog, time_s: float) -> bool:
    """Whether switches can't distinguish the current or last turn from something else.

    That is: from another legal turn; from no turn, if the block came back to its square; from a missed block, if one
    left the board; or two quick turns from one.
    """
    events = truth.events
    turns = [
        event for event in events if event.kind in {ActionKind.TURN, ActionKind.TRIED_OUT} and event.began_s <= time_s
    ]
    if not turns:
        return False
    last = turns[-1]
    before = [event.state for event in events if event.gone_s < last.began_s and event.state]
    state = game.notation.parse_state(before[-1] if before else truth.start)
    taken = occupied(last.after)
    if taken == occupied(last.before) or len(taken) < len(occupied(last.before)):
        return True
    if len(turns) > 1 and last.began_s - turns[-2].gone_s < _QUICK_S:
        return True
    results = {
        tuple(sorted(game.table.appearance(after).items()))
        for turn in game.rules.legal_turns(state)
        if occupied(game.table.appearance(after := game.rules.apply(state, turn))) == taken
    }
    return len(results) > 1


def asks_about_ambiguous_turn(game: Game[Any, Any], truth: TruthLog, asked: TimedVerdict) -> bool:
    """Whether a question is about the current or last turn, and a camera above can't tell it from another legal one.

    A question that names candidates must name one that shows what was played; another must name a place that changed.
    """
    turns = [event for event in truth.events if event.kind is ActionKind.TURN and event.began_s <= asked.time_s]
    if not turns or not turns[-1].state_before:
        return False
    last, verdict = turns[-1], asked.verdict
    state = game.notation.parse_state(last.state_before)
    shown = list(
        islice(turns_showing(game, state, {place: (look,) for place, look in last.after.items()}), _MOST_TURNS)
    )
    if len({game.notation.format_state(game.rules.apply(state, turn)) for turn in shown}) < 2:
        return False
    if verdict.candidates:
        return not {game.notation.format_turn(turn) for turn in shown}.isdisjoint(verdict.candidates)
    return any(last.before.get(place) != last.after.get(place) for place in verdict.places)


def undetected(played: GameRecord, event: TruthEvent) -> bool:
    """Whether broken switches hid a change from a referee with sensors only."""
    if played.plan.inputs is not Inputs.SENSORS:
        return False
    sensed_before = occupied(event.before) ^ _wrong_at(played, event.began_s)
    sensed_after = occupied(event.after) ^ _wrong_at(played, event.gone_s)
    return sensed_before == sensed_after


def _wrong_at(played: GameRecord, time_s: float) -> frozenset[str]:
    return next((wrong for at_s, wrong in played.sensor_errors if time_s <= at_s <= time_s + _A_MOMENT_S), frozenset())


def facings_of(game: Game[Any, Any], state: Any) -> Mapping[Place, tuple[Facing, ...]]:
    """The possible facings of each piece; empty in a game without side faces."""
    return {} if game.side_faces is None else game.side_faces.facings(state)


def seen_as(reported: str, look: str) -> bool:
    """Whether a reported look fits the true one; a switch only reports that a piece is there."""
    return reported == look or (reported == PIECE and look != EMPTY)
