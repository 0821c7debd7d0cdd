import ast
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.enrolment import enrolment_images
from simulator.play.game import GameOptions, Press, TruthLog
from simulator.play.players import Habits, Players
from simulator.scene.scene import Setting
from simulator.table import VirtualTable
from vision.errors import EndOfFramesError
from vision.geometry import project

BUSY = Habits(violation_share=0.5, straighten_share=0.5, try_out_share=0.5, rest_share=0.5, patience_s=0.8)


def play(
    setting: Setting, seed: int, turns: int = 3, answer: str = "", fps: float = 5.0, **options: Any
) -> tuple[TruthLog, str, int]:
    """Play a game; ``answer``, if any, is the mood shown after every press."""
    log, digest, count = TruthLog(), hashlib.sha256(), 0
    table = VirtualTable(seed, GameOptions(turns=turns, **options), setting=setting, truth=log, fps=fps)
    for frame in table.frames():
        digest.update(frame.image.tobytes())
        count += 1
        if table.take_presses() and answer:
            table.show_mood(answer)
    return log, digest.hexdigest(), count


def test_same_seed_same_frames_same_truth(small_setting: Setting) -> None:
    first, again, other = (play(small_setting, seed, 1, fps=2.0, habits=BUSY) for seed in (4, 4, 5))
    assert first == again
    assert first[1] != other[1]


def test_time_and_sequence_count_up(small_setting: Setting) -> None:
    table = VirtualTable(1, GameOptions(turns=1), setting=small_setting, fps=4.0)
    frames = list(table.frames())
    assert [frame.sequence for frame in frames] == list(range(len(frames)))
    assert [frame.time_s for frame in frames] == [k / 4.0 for k in range(len(frames))]
    assert {frame.image.shape for frame in frames} == {(240, 320, 3)}
    with pytest.raises(EndOfFramesError, match="has given all"):
        table.read()


def test_presses_are_given_once_and_not_before_their_time(small_setting: Setting) -> None:
    table = VirtualTable(6, GameOptions(turns=2, habits=BUSY), setting=small_setting, fps=2.5)
    taken: list[Press] = []
    for frame in table.frames():
        new = table.take_presses()
        assert all(frame.time_s - 0.4 < press.time_s <= frame.time_s + 0.4 for press in new)
        taken += new
    assert len(taken) >= 2
    assert tuple(taken) == table.presses


def test_hands_cover_what_the_truth_says(clean_setting: Setting) -> None:
    log = TruthLog()
    table = VirtualTable(8, GameOptions(turns=2), setting=clean_setting, truth=log, fps=5.0)
    layout = clean_setting.layout
    centres = project(clean_setting.camera, clean_setting.pose, [[*layout.centre_mm(p), 10.0] for p in layout.places])
    start: np.ndarray | None = None
    free = covered = 0
    for frame in table.frames():
        start = frame.image if start is None else start
        said = log.frames[-1]
        assert said.hand_present or said.covered == ()
        for place, (x, y) in zip(layout.places, np.rint(centres).astype(int), strict=True):
            if not said.hand_present or {said.looks[place], log.frames[0].looks[place]} != {"empty"}:
                continue
            ratio = frame.image[y - 1 : y + 2, x - 1 : x + 2] / np.maximum(start[y - 1 : y + 2, x - 1 : x + 2], 1.0)
            red, blue = (float(np.median(ratio[..., channel])) for channel in (2, 0))
            # A shadow darkens all channels alike; skin does not have the board's colour.
            changed = abs(red - blue) > 0.08
            if place in said.covered:
                covered += changed
            else:
                free += 1
                assert not changed or _beside_a_covered_one(place, said.covered), (frame.sequence, place)
    assert free > 200
    assert covered > 20


def _beside_a_covered_one(place: str, covered: tuple[str, ...]) -> bool:
    return any(max(abs(ord(place[0]) - ord(p[0])), abs(int(place[1:]) - int(p[1:]))) <= 1 for p in covered)


def test_enrolment_shows_every_top_of_every_colour(clean_setting: Setting) -> None:
    pictures = enrolment_images(clean_setting)
    assert [picture.colour for picture in pictures] == ["gold", "teal"]
    for picture in pictures:
        assert {block.top for block in picture.blocks} == {"star", "stop", "cross", "x", "slider", "hoops"}
        assert [block.cell for block in picture.blocks] == [f"{column}4" for column in "abcdef"]
        assert set(picture.as_json()) == {"blocks"}


def test_a_frame_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        VirtualTable(1, fps=0.0)


# The referee sees frames and button presses only: the demo asks the virtual table for nothing else.

ROOT = Path(__file__).parents[2]
PRIVATE = {"_players", "_truth", "_script", "_choreography"}


def test_nobody_reaches_into_the_virtual_table() -> None:
    guilty = [
        path.name
        for path in (ROOT / "referee" / "demo").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE and not _is_self(node.value)
    ]
    assert guilty == []


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def test_the_table_shows_nothing_of_the_truth() -> None:
    table = VirtualTable(1, truth=TruthLog())
    public = {name: getattr(table, name) for name in dir(table) if not name.startswith("_")}
    assert not any(isinstance(value, TruthLog | Players) for value in public.values())
    assert set(public) == {
        "calibration",
        "close",
        "fps",
        "frames",
        "show_mood",
        "name",
        "presses",
        "read",
        "seed",
        "setting",
        "take_presses",
        "take_rolls",
        "enrolment_pictures",
        "time_s",
    }
