"""What was about a turn or a question of a game that was played: faults, latency, belief, what called for asking."""

from __future__ import annotations

from typing import Any

from benchmarks.soak_feeling import looks_the_same_by_occupancy, misled
from benchmarks.soak_geometry import covered_places
from benchmarks.soak_play import REST_S, PlayedGame, Said
from engine.api import Game
from simulator.faults import SURROUNDINGS
from simulator.faults_game import PLAIN
from simulator.faults_table import faulty_setting
from simulator.truth import TruthEvent

_JUST_S = 0.5


def kinds_around(played: PlayedGame, from_s: float, to_s: float, what: str) -> tuple[str, ...]:
    """The faults about in between; those who did ``what`` come first, and ``PLAIN`` stands for none."""
    kinds = [what] if what.startswith("illegal") else []
    episode = next((one for one in reversed(played.episodes) if one.began_s <= from_s), None)
    if episode is not None and what == "turn" and episode.kind not in {*SURROUNDINGS, PLAIN, "illegal turn"}:
        kinds.append(episode.kind)
    for one in played.disturbances:
        ended_s = one.began_s + 3.0 if one.ended_s is None else one.ended_s
        if one.began_s <= to_s and ended_s > from_s - 1.0:
            kinds.append(one.kind)
    return tuple(dict.fromkeys(kinds)) or (PLAIN,)


def latency_frames(played: PlayedGame, event: TruthEvent, said: Said) -> int | None:
    """Frames from the first without the hand, the turn being ended, to the light; ``None`` if some are missing."""
    turn_end = played.plan.turn_end
    last, ended_s = event, event.gone_s
    if turn_end == "button" and event.ended_s is not None:
        ended_s = max(ended_s, event.ended_s)
    elif turn_end == "touch" and event.kind == "turn":
        # The touch that ends it is the next player's, whose hand has to be gone, too.
        following = next((one for one in played.truth.events if one.began_s >= ended_s), None)
        if following is None or following.kind != "turn":
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


def called_for(game: Game[Any, Any], played: PlayedGame, asked: Said) -> bool:
    """Whether something lay over a square that was asked about, or switches could not tell or erred."""
    time_s = asked.time_s
    if played.plan.eyes != "camera" and misled(played, asked.verdict.places, time_s):
        return True
    if played.plan.eyes == "sensors":
        return looks_the_same_by_occupancy(game, played.truth, time_s)
    lying = [one for one in played.disturbances if one.began_s <= time_s and one.holds_at(time_s - _JUST_S)]
    things = [thing for one in lying for thing in one.things]
    if not things:
        return False
    setting = faulty_setting(played.plan.seed, played.plan.size)
    return bool(covered_places(setting, played.pose_at(time_s), things) & set(asked.verdict.places))


def named_trouble(played: PlayedGame, from_s: float, to_s: float) -> str:
    """What the table said was in its way meanwhile."""
    for time_s, mood, words in played.moods:
        if from_s <= time_s <= to_s and mood in {"cannot see", "trouble"}:
            return words or mood
    return ""


def belief_at(played: PlayedGame, time_s: float) -> str:
    """The position the referee believed then, in its text."""
    text = ""
    for _, event in played.events:
        if (event.frame_time_s or 0.0) > time_s:
            break
        state = event.data.get("state")
        if state:
            text = str(state[0]) if isinstance(state, list) else str(state)
    return text
