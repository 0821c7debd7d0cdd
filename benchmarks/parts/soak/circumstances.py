"""What was about a turn or a question of a game: faults, latency, belief, what called for asking.

That includes what switches alone leave open and when they misled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from benchmarks.parts.soak.game import REST_S, GameRecord, TimedVerdict
from benchmarks.parts.soak.inputs import covered_places
from common.places import EMPTY, occupied
from engine.api import Game
from engine.showing import turns_showing
from engine.values import Facing, Place
from referee.judge.pooled_reading import PIECE
from referee.judge.verdict import VerdictKind
from referee.wiring.plan import Inputs
from simulator.faults.disturbances import DISTURBANCE_KINDS
from simulator.faults.game import NO_FAULT
from simulator.play.actions import ActionKind
from simulator.play.ground_truth import TruthEvent, TruthLog

_JUST_S = 0.5
_A_FEW = 20


def kinds_around(played: GameRecord, from_s: float, to_s: float, what: str) -> tuple[str, ...]:
    """The faults about in between; those who did ``what`` come first, and ``PLAIN`` stands for none."""
    kinds = [what] if what.startswith("illegal") else []
    episode = next((one for one in reversed(played.episodes) if one.began_s <= from_s), None)
    if episode is not None and what == "turn" and episode.kind not in {*DISTURBANCE_KINDS, NO_FAULT, "illegal turn"}:
        kinds.append(episode.kind)
    for one in played.disturbances:
        ended_s = one.began_s + 3.0 if one.ended_s is None else one.ended_s
        if one.began_s <= to_s and ended_s > from_s - 1.0:
            kinds.append(one.kind)
    return tuple(dict.fromkeys(kinds)) or (NO_FAULT,)


def latency_frames(played: GameRecord, event: TruthEvent, said: TimedVerdict) -> int | None:
    """Frames from the first without the hand, the turn being ended, to the light; ``None`` if some are missing."""
    turn_end = played.plan.turn_end
    last, ended_s = event, event.gone_s
    if turn_end == "button" and event.ended_s is not None:
        ended_s = max(ended_s, event.ended_s)
    elif turn_end == "touch" and event.kind is ActionKind.TURN:
        # The touch that ends it is the next player's, whose hand has to be gone, too.
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


_NOTHING_IN_SIGHT = 0.99


def says_more_than_was_in_sight(game: Game[Any, Any], played: GameRecord, said: TimedVerdict) -> bool:
    """Whether a verdict says that nothing changed, or what was played, of places that things hide altogether.

    That goes for what a camera alone sees: where a turn would change hidden places only, and where a piece arrived.
    Places that a person spoke of since are known. A turn that was shown whole and then waited for the next player's
    touch is held against what was in sight when it was shown.
    """
    verdict, time_s = said.verdict, _first_shown_s(played, said)
    lying = [one for one in played.disturbances if one.things and one.began_s <= time_s and one.holds_at(time_s)]
    if played.plan.inputs is not Inputs.CAMERA or not lying:
        return False
    things = [thing for one in lying for thing in one.things]
    hidden = covered_places(played.plan.setting, played.pose_at(time_s), things, _NOTHING_IN_SIGHT)
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


def _first_shown_s(played: GameRecord, said: TimedVerdict) -> float:
    """When a verdict's turn was first shown as one that has not ended yet; when it was accepted if it never was."""
    first_s = said.time_s
    for earlier in reversed(played.said[: played.said.index(said)]):
        if earlier.verdict.kind is VerdictKind.ACCEPTED and earlier.time_s < said.time_s:
            break
        if set(said.verdict.turns) & set(earlier.verdict.candidates):
            first_s = earlier.time_s
    return first_s


def called_for(game: Game[Any, Any], played: GameRecord, asked: TimedVerdict) -> bool:
    """Whether something lay over a square that was asked about, or switches could not tell or erred."""
    time_s = asked.time_s
    if played.plan.inputs is not Inputs.CAMERA and misled(played, asked.verdict.places, time_s):
        return True
    if played.plan.inputs is Inputs.SENSORS:
        return looks_the_same_by_occupancy(game, played.truth, time_s)
    if game.side_faces is None and looks_the_same_from_above(game, played.truth, time_s):
        return True
    lying = [one for one in played.disturbances if one.began_s <= time_s and one.holds_at(time_s - _JUST_S)]
    things = [thing for one in lying for thing in one.things]
    if not things:
        return False
    setting = played.plan.setting
    return bool(covered_places(setting, played.pose_at(time_s), things) & set(asked.verdict.places))


def named_trouble(played: GameRecord, from_s: float, to_s: float) -> str:
    """What the table said was in its way meanwhile."""
    for time_s, mood, words in played.moods:
        if from_s <= time_s <= to_s and mood in {"cannot see", "trouble"}:
            return words or mood
    return ""


def belief_at(played: GameRecord, time_s: float) -> str:
    """The position the referee believed then, in its text."""
    text = ""
    for _, event in played.events:
        if (event.frame_time_s or 0.0) > time_s:
            break
        state = event.data.get("state")
        if state:
            text = str(state[0]) if isinstance(state, list) else str(state)
    return text


_LATELY_S = 4.0
_A_MOMENT_S = 0.2
_QUICK_S = 0.5


def misled(played: GameRecord, places: Collection[str], time_s: float) -> bool:
    """Whether a switch under one of these places said what is not so in the seconds before, or a broken one is there.

    No places stand for the whole table.
    """
    return any(
        time_s - _LATELY_S <= at_s <= time_s and (not places or wrong & set(places))
        for at_s, wrong in played.sensor_errors
    )


def looks_the_same_by_occupancy(game: Game[Any, Any], truth: TruthLog, time_s: float) -> bool:
    """Whether the turn under way, or played last, leaves the same squares taken as something else would.

    That is another result of a legal turn; nothing, where the block came back to its square; a switch that missed a
    block, where one left the board; and two turns in a row that were not sensed one by one.
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


def looks_the_same_from_above(game: Game[Any, Any], truth: TruthLog, time_s: float) -> bool:
    """Whether the turn under way, or played last, leaves the table looking as another legal turn would."""
    turns = [event for event in truth.events if event.kind is ActionKind.TURN and event.began_s <= time_s]
    if not turns:
        return False
    last = turns[-1]
    if not last.state_before:
        return False
    state = game.notation.parse_state(last.state_before)
    shown = turns_showing(game, state, {place: (look,) for place, look in last.after.items()})
    ends = {game.notation.format_state(game.rules.apply(state, turn)) for turn in islice(shown, _A_FEW)}
    return len(ends) > 1


def undetected(played: GameRecord, event: TruthEvent) -> bool:
    """Whether by sensors alone nothing was to be sensed of what changed: the switches there were broken."""
    if played.plan.inputs is not Inputs.SENSORS:
        return False
    sensed_before = occupied(event.before) ^ _wrong_at(played, event.began_s)
    sensed_after = occupied(event.after) ^ _wrong_at(played, event.gone_s)
    return sensed_before == sensed_after


def _wrong_at(played: GameRecord, time_s: float) -> frozenset[str]:
    return next((wrong for at_s, wrong in played.sensor_errors if time_s <= at_s <= time_s + _A_MOMENT_S), frozenset())


def facings_of(game: Game[Any, Any], state: Any) -> Mapping[Place, tuple[Facing, ...]]:
    """Every facing still possible of each piece; nothing in a game whose pieces show no more at their sides."""
    return {} if game.side_faces is None else game.side_faces.facings(state)


def seen_as(told: str, look: str) -> bool:
    """Whether what was told of a place fits its look; a switch tells no more than that a piece is there."""
    return told == look or (told == PIECE and look != EMPTY)
