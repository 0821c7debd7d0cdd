from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from simulator.player import Habits
from simulator.scene import Setting
from simulator.table import Nudge, VirtualTable
from simulator.truth import TruthLog
from simulator.viewpoint import looking_at
from vision.errors import EndOfFramesError
from vision.geometry import project

BUSY = Habits(misdeed_share=0.5, straighten_share=0.5, try_out_share=0.5, rest_share=0.5, patience_s=0.8)


def play(setting: Setting, seed: int, turns: int = 3, answer: str = "", **options: Any) -> tuple[TruthLog, str, int]:
    """Play a game; when ``answer`` is given, the table shows it after every press."""
    log, digest, count = TruthLog(), hashlib.sha256(), 0
    table = VirtualTable(seed, turns=turns, setting=setting, truth=log, fps=5.0, **options)
    for frame in table.frames():
        digest.update(frame.image.tobytes())
        count += 1
        if table.take_presses() and answer:
            table.hear(answer)
    return log, digest.hexdigest(), count


def test_same_seed_same_frames_same_truth(small_setting: Setting) -> None:
    first, again, other = (play(small_setting, seed, habits=BUSY) for seed in (4, 4, 5))
    assert first == again
    assert first[1] != other[1]


def test_time_and_sequence_count_up(small_setting: Setting) -> None:
    table = VirtualTable(1, turns=1, setting=small_setting, fps=10.0)
    frames = list(table.frames())
    assert [frame.sequence for frame in frames] == list(range(len(frames)))
    assert [frame.time_s for frame in frames] == [k / 10.0 for k in range(len(frames))]
    assert {frame.image.shape for frame in frames} == {(240, 320, 3)}
    with pytest.raises(EndOfFramesError, match="has given all"):
        table.read()


def test_a_closed_table_gives_no_more_frames(small_setting: Setting) -> None:
    with VirtualTable(1, setting=small_setting) as table:
        table.read(1.0)
    with pytest.raises(EndOfFramesError):
        table.read(1.0)


def test_every_kind_of_action_happens_over_seeds(small_setting: Setting) -> None:
    kinds: set[str] = set()
    for seed in range(3):
        kinds |= {event.kind for event in play(small_setting, seed, 4, habits=BUSY)[0].events}
    kinds |= {event.kind for event in play(small_setting, 1, 1, "fault")[0].events}
    assert kinds == {
        "turn",
        "misdeed",
        "put right",
        "undone",
        "straighten",
        "tried and taken back",
        "resting hand",
    }


def test_truth_follows_the_rules(small_setting: Setting, game: Any) -> None:
    log, _, _ = play(small_setting, 2, 5, habits=BUSY)
    state = game.parse_state(log.start)
    for event in log.events:
        assert event.before == dict(game.appearance(state))
        if event.kind == "turn":
            turn = game.parse_turn(state, event.turn)
            state = game.apply(state, turn)
            assert game.format_state(state) == event.state
        if event.kind == "misdeed":
            assert event.after != event.before
        else:
            assert event.after == dict(game.appearance(state))
    assert len(log.turns) == 5


def test_misdeeds_are_put_right_before_the_next_turn(small_setting: Setting) -> None:
    log, _, _ = play(small_setting, 2, 5, habits=replace(BUSY, misdeed_share=1.0))
    kinds = [event.kind for event in log.events]
    wrong = [index for index, kind in enumerate(kinds) if kind == "misdeed"]
    assert wrong
    assert all(kinds[index + 1] == "put right" for index in wrong)
    assert all(log.events[i].before == log.events[i + 1].after for i in wrong)


def test_players_hurry_when_the_table_answers(small_setting: Setting) -> None:
    slow = replace(BUSY, patience_s=5.0, misdeed_share=0.0)
    assert play(small_setting, 3, 3, "accepted", habits=slow)[2] < play(small_setting, 3, 3, habits=slow)[2] - 40


def test_players_give_in_when_a_legal_turn_is_called_a_fault(small_setting: Setting) -> None:
    log, _, _ = play(small_setting, 3, 2, "fault", habits=Habits(misdeed_share=0, try_out_share=0, straighten_share=0))
    assert [event.kind for event in log.events if event.kind != "resting hand"] == ["turn", "undone"] * 2
    assert log.turns == ()
    assert log.events[-1].after == log.events[0].before


def test_presses_come_after_the_hand_is_gone(small_setting: Setting) -> None:
    log = TruthLog()
    table = VirtualTable(6, turns=3, setting=small_setting, truth=log, fps=10.0, habits=BUSY)
    taken = []
    for frame in table.frames():
        new = table.take_presses()
        assert all(press.time_s <= frame.time_s + 0.1 for press in new)
        taken += new
    assert tuple(taken) == table.presses
    ended = [event for event in log.events if event.kind in {"turn", "misdeed"}]
    assert [press.time_s for press in taken] == [event.ended_s for event in ended]
    by_time = {frame.time_s: frame for frame in log.frames}
    for press in taken:
        nearest = min(by_time, key=lambda time_s: abs(time_s - press.time_s))
        assert not by_time[nearest].hand_present


def test_no_button_is_pressed_when_turns_end_by_resting(small_setting: Setting) -> None:
    table = VirtualTable(6, turns=2, setting=small_setting, fps=5.0, turn_end="rest")
    assert list(table.frames())
    assert table.presses == ()


def test_hands_cover_what_the_truth_says(clean_setting: Setting) -> None:
    log = TruthLog()
    table = VirtualTable(8, turns=2, setting=clean_setting, truth=log, fps=5.0)
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


def test_frame_truth_says_where_blocks_are(small_setting: Setting, game: Any) -> None:
    log, _, _ = play(small_setting, 9, 2)
    for frame in log.frames:
        count = sum(look != "empty" for look in frame.looks.values())
        assert count == 8 or (frame.hand_present and count == 7)
    assert log.frames[-1].looks == log.events[-1].after


def test_a_nudged_camera_sees_the_table_elsewhere(small_setting: Setting) -> None:
    moved = looking_at(760.0, 14.0, -86.0)
    table = VirtualTable(1, turns=0, setting=small_setting, fps=5.0, nudges=(Nudge(0.9, moved),))
    frames = list(table.frames())
    before, after = frames[3].image, frames[5].image
    assert np.abs(before.astype(int) - frames[2].image).mean() < 5
    assert np.abs(before.astype(int) - after).mean() > 5


def test_enrolment_shows_every_top_of_every_colour(clean_setting: Setting) -> None:
    pictures = VirtualTable(1, setting=clean_setting).enrolment_images()
    assert [picture.colour for picture in pictures] == ["gold", "teal"]
    for picture in pictures:
        assert {block.top for block in picture.blocks} == {"star", "stop", "cross", "x", "slider", "hoops"}
        assert [block.cell for block in picture.blocks] == [f"{column}4" for column in "abcdef"]
        assert set(picture.as_json()) == {"blocks"}


def test_calibration_boards_give_the_camera_back() -> None:
    table = VirtualTable(1)
    camera = table.calibration()
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    board = cv2.aruco.CharucoBoard((7, 5), 30.0, 22.0, dictionary)
    objects, pixels = [], []
    for image in table.charuco_views(7):
        corners, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(image)
        assert ids is not None
        chessboard = np.asarray(board.getChessboardCorners())[np.asarray(ids).ravel()]
        objects.append(chessboard.astype(np.float32).reshape(-1, 1, 3))
        pixels.append(np.asarray(corners, dtype=np.float32).reshape(-1, 1, 2))
    start, none = np.eye(3), np.zeros(5)
    error, matrix, *_ = cv2.calibrateCamera(objects, pixels, camera.size, start, none)
    assert error < 0.3
    assert abs(matrix[0, 0] / camera.matrix[0, 0] - 1) < 0.02


@pytest.mark.parametrize(("wrong", "message"), [({"turns": -1}, "0 or more"), ({"fps": 0.0}, "more than 0")])
def test_nonsense_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VirtualTable(1, **wrong)
