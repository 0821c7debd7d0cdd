"""Whether a camera could have seen that a block stands the wrong way: by geometry and by what was known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.soak_geometry import PLAIN_HEIGHT_PX, covered_places, sides_in_plain_view
from benchmarks.soak_play import PlayedGame
from engine.api import EMPTY, Game
from simulator.faults_table import faulty_setting
from simulator.truth import TruthEvent
from vision.solids import BlockSolid

_SLACK_PX = 2.0
"""A block stands a little off the middle of its square, so that a face just high enough there may be too low."""


def sides_tell(game: Game[Any, Any], played: PlayedGame, event: TruthEvent, believed: str) -> bool:
    """Whether a side face in plain view contradicts all that was known of the block before the misdeed."""
    if not believed:
        return False
    state = game.parse_state(believed)
    looks = game.appearance(state)
    possible: dict[str, list[Mapping[str, str]]] = {
        place: [dict(facing) for facing in facings]
        for place, facings in game.facings(state).items()
        # Where touch ends a turn, what is believed is a turn behind.
        if looks[place] == event.before[place]
    }
    if event.misdeed == "turned while hopping":
        possible = {}
        for turn in game.legal_turns(state):
            after = game.apply(state, turn)
            if dict(game.appearance(after)) == dict(event.after):
                for place, facings in game.facings(after).items():
                    possible.setdefault(place, []).extend(dict(facing) for facing in facings)
    hidden = _hidden_by_things(played, event.gone_s)
    for place, facing in event.facings.items():
        if place in hidden:
            continue
        moved = event.misdeed != "turned while hopping" and event.before[place] != event.after[place]
        if moved or not possible.get(place):
            continue
        seen = {side: facing[side] for side in _sides_in_view(played, event, place)}
        if seen and not any(all(one.get(side) == symbol for side, symbol in seen.items()) for one in possible[place]):
            return True
    return False


def _hidden_by_things(played: PlayedGame, time_s: float) -> set[str]:
    """The squares a thing lies over: of what stands there a camera says nothing."""
    things = [thing for one in played.disturbances if one.holds_at(time_s) for thing in one.things]
    setting = faulty_setting(played.plan.seed, played.plan.size)
    return covered_places(setting, played.pose_at(time_s), things) if things else set()


def _sides_in_view(played: PlayedGame, event: TruthEvent, place: str) -> list[str]:
    setting = faulty_setting(played.plan.seed, played.plan.size)
    layout = setting.layout
    solids = {
        one: BlockSolid(*layout.centre_mm(one), layout.board_top_mm, layout.block_side_mm)
        for one, look in event.after.items()
        if look != EMPTY
    }
    least_px = PLAIN_HEIGHT_PX + _SLACK_PX
    return sides_in_plain_view(setting, played.pose_at(event.gone_s), solids, place, least_px)
