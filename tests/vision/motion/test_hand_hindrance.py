"""A hand seen in a film of the virtual table is added to readings that lack it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from simulator.play.game import FrameTruth, GameOptions, TruthLog
from simulator.play.players import Habits
from simulator.scene.scene import Sensor, Setting, lens, looking_at
from simulator.table import VirtualTable
from vision.frame import Frame
from vision.motion.hands import HandMonitor, HandSettings
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

Film = tuple[Setting, Sequence[Frame], Sequence[FrameTruth]]


@pytest.fixture(scope="module")
def film() -> Film:
    """One turn, from before the hand arrives until after it has left."""
    setting = Setting(lens((480, 360), 64.0), looking_at(680.0, 20.0), sensor=Sensor(noise=2.0))
    truth = TruthLog()
    table = VirtualTable(4, GameOptions(turns=1, habits=Habits(violation_share=0.0)), setting=setting, truth=truth)
    frames = [frame for _, frame in zip(range(80), table.frames(), strict=False)]
    return setting, frames, truth.frames


def clear_reading(setting: Setting, frame: Frame) -> Reading:
    places = {place: PlaceReading({"empty": 0.9, "gold block, x up": 0.1}) for place in setting.layout.places}
    return Reading(frame.sequence, frame.time_s, places)


def test_the_hand_is_added_from_its_arrival_until_it_leaves(film: Film) -> None:
    setting, frames, truth = film
    watcher = HandMonitor(setting.camera, setting.layout.board, HandSettings())
    readings = [watcher.with_hand(frame, setting.pose, clear_reading(setting, frame)) for frame in frames]
    covered = [number for number, one in enumerate(truth) if one.covered]
    assert len(covered) > 10
    found = [number for number, reading in enumerate(readings) if reading.hindered_by(HindranceKind.HAND)]
    assert set(covered[1:]) <= set(found)
    assert len([number for number in found if not truth[number].hand_present]) <= 6
    hidden = set(readings[covered[len(covered) // 2]].hidden)
    assert hidden
    assert hidden < set(setting.layout.places)
    for reading in readings:
        for place in reading.hidden:
            assert reading.places[place].hidden_by == HindranceKind.HAND
            assert reading.places[place].probabilities == {"empty": 0.5, "gold block, x up": 0.5}


def test_readings_of_frames_far_apart_are_left_unchanged(film: Film) -> None:
    setting, frames, _ = film
    watcher = HandMonitor(setting.camera, setting.layout.board, HandSettings())
    for number, frame in enumerate(frames[::3]):
        late = replace(frame, time_s=float(number))
        reading = clear_reading(setting, late)
        assert watcher.with_hand(late, setting.pose, reading) is reading


def test_a_hand_already_found_is_not_learned_as_the_board(film: Film) -> None:
    setting, frames, truth = film
    watcher = HandMonitor(setting.camera, setting.layout.board, HandSettings())
    hand = Hindrance(HindranceKind.HAND, "a hand or arm is over d4", ("d4",))
    first = next(number for number, one in enumerate(truth) if one.covered)
    said = []
    for frame, one in zip(frames[first:], truth[first:], strict=True):
        reading = clear_reading(setting, frame)
        reading = replace(reading, hindrances=(hand,)) if one.hand_present else reading
        said.append((one, watcher.with_hand(frame, setting.pose, reading)))
    assert all(reading.hindrances == (hand,) for one, reading in said if one.hand_present)
    assert not any(reading.hindrances for one, reading in said if not one.hand_present)
