"""Whether a camera could have seen that a block stands the wrong way: by geometry and by what was known of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.soak_play import PlayedGame
from engine.api import EMPTY, Game
from simulator.faults_table import faulty_setting
from simulator.handling import STEPS, neighbour
from simulator.truth import TruthEvent
from vision.geometry import Pose

FLATTEST_DEG = 22.0
"""A side face seen at less than this angle is a few pixels wide and needs not be read."""


def sides_tell(game: Game[Any, Any], played: PlayedGame, event: TruthEvent, believed: str) -> bool:
    """Whether a side face in plain view contradicts all that was known of the block before the misdeed."""
    if not believed:
        return False
    state = game.parse_state(believed)
    possible: dict[str, list[Mapping[str, str]]] = {
        place: [dict(facing) for facing in facings] for place, facings in game.facings(state).items()
    }
    if event.misdeed == "turned while hopping":
        possible = {}
        for turn in game.legal_turns(state):
            after = game.apply(state, turn)
            if dict(game.appearance(after)) == dict(event.after):
                for place, facings in game.facings(after).items():
                    possible.setdefault(place, []).extend(dict(facing) for facing in facings)
    for place, facing in event.facings.items():
        if place not in possible or not possible[place]:
            continue
        seen = {side: facing[side] for side in _sides_in_view(played, event, place)}
        if seen and not any(all(one.get(side) == symbol for side, symbol in seen.items()) for one in possible[place]):
            return True
    return False


def _sides_in_view(played: PlayedGame, event: TruthEvent, place: str) -> list[str]:
    setting = faulty_setting(played.plan.seed, played.plan.size)
    layout = setting.layout
    moved = [one.pose for one in played.disturbances if one.pose is not None and one.began_s <= event.gone_s]
    pose: Pose = moved[-1] if moved else setting.pose
    x, y = layout.centre_mm(place)
    centre = np.array([x, y, layout.board_top_mm + layout.block_side_mm / 2])
    found = []
    for side, (columns, rows) in STEPS.items():
        beside = neighbour(layout, place, columns, rows)
        if beside is not None and event.after.get(beside, EMPTY) != EMPTY:
            continue
        normal = np.array([columns, rows, 0.0])
        towards = pose.camera_position_mm - (centre + normal * layout.block_side_mm / 2)
        if float(normal @ towards) / float(np.linalg.norm(towards)) >= math.sin(math.radians(FLATTEST_DEG)):
            found.append(side)
    return found
