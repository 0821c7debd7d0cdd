"""A virtual game that outlives the referee, as readings and presses without pictures.

The service is the real one; only the reader is replaced, by one that passes on these readings.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.registry import load
from engine.values import EMPTY
from hardware.pin_map import ButtonRole
from referee.commands.values import Press
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.service import Service
from simulator.play.actions import Arrangement
from simulator.play.game import GameOptions, TruthLog, VirtualGame
from simulator.play.players import Habits
from simulator.scene.cube import faces_of
from simulator.scene.pieces import BlockPose, as_block
from vision.frame import Frame, Image
from vision.layout.pieces import BlockPieces
from vision.layout.table import default_layout
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

GAME = "deblockle"
SETTINGS = ServiceSettings(turn_end=TurnEnd.BUTTON, rest_s=1.5)
FPS = 8.0
PATIENCE_S = 60.0
"""How long players wait for the light before they play on: several turns unseen by any referee are out of scope."""
_SURE = 0.98
_SEEN_SIDE = "south"
_HAND = Hindrance(HindranceKind.HAND, "A hand is over the board.")
_CROP_PX = 40


@dataclass(frozen=True)
class Glimpse:
    """The reading of a frame, and the buttons pressed since the previous one."""

    reading: Reading
    presses: tuple[str, ...]


class World:
    """A virtual game drawn from a seed; ``look`` advances it by one frame, with or without a referee."""

    def __init__(self, seed: int, turns: int) -> None:
        """Set up a game of at most ``turns`` turns."""
        self._game = load(GAME)
        self._layout = default_layout(GAME)
        self.truth = TruthLog()
        habits = Habits(
            violation_share=0.1,
            straighten_share=0.05,
            try_out_share=0.05,
            rest_share=0.0,
            pace=0.6,
            patience_s=PATIENCE_S,
        )
        self._played = VirtualGame(seed, self._layout, GameOptions(GAME, turns=turns, habits=habits), self.truth)
        self._sequence = 0
        self._presses_taken = 0

    @property
    def time_s(self) -> float:
        """The time of the next frame."""
        return self._sequence / FPS

    def show_mood(self, mood: str) -> None:
        """Tell the players which mood the table shows."""
        self._played.notice_mood(self.time_s, mood)

    def look(self) -> Glimpse | None:
        """Give the next frame's reading; ``None`` when the game is over and cleared away."""
        time_s = self.time_s
        moment = self._played.moment(time_s)
        if moment is None:
            return None
        looks = self._played.looks(moment)
        standing = Arrangement.on_board(self._layout, moment.pieces)
        sides = {place: self._side_of(as_block(piece)) for place, piece in standing.items()}
        places = {
            place: PlaceReading(self._probabilities(look), sides.get(place, {}) if look != EMPTY else {})
            for place, look in looks.items()
        }
        reading = Reading(self._sequence, time_s, places, (_HAND,) if moment.hands else ())
        due = [press for press in self._played.presses if press.time_s <= time_s]
        new, self._presses_taken = due[self._presses_taken :], len(due)
        self._sequence += 1
        return Glimpse(reading, tuple(press.button for press in new))

    def _side_of(self, piece: BlockPose) -> dict[str, dict[str, float]]:
        symbol = faces_of(BlockPieces.on(self._layout.board).net, piece.up, piece.north)[_SEEN_SIDE]
        others = [name for name in BlockPieces.on(self._layout.board).net.values() if name != symbol]
        return {_SEEN_SIDE: {symbol: _SURE, **dict.fromkeys(others, (1 - _SURE) / len(others))}}

    def _probabilities(self, look: str) -> dict[str, float]:
        rest = (1 - _SURE) / (len(self._game.looks) - 1)
        return {name: _SURE if name == look else rest for name in self._game.looks}


class GlimpseReader:
    """A reader that gives a prepared reading of each frame."""

    def __init__(self) -> None:
        """Start without a reading."""
        self.reading: Reading | None = None

    def read(self, frame: Frame) -> Reading:
        """Give the prepared reading of this frame."""
        if self.reading is None or self.reading.sequence != frame.sequence:
            raise ValueError(f"no reading was prepared for frame {frame.sequence}")
        return self.reading

    def crop(self, frame: Frame, place: str) -> Image:
        """Give a small picture, different for each frame and place."""
        noise = np.random.default_rng([frame.sequence, *place.encode()])
        return noise.integers(0, 256, (_CROP_PX, _CROP_PX, 3), dtype=np.uint8)


def show(service: Service[Any, Any], reader: GlimpseReader, glimpse: Glimpse) -> None:
    """Pass a glimpse to a service: its reading, then its presses."""
    reader.reading = glimpse.reading
    service.step(frame_of(glimpse.reading))
    for role in glimpse.presses:
        service.carry_out(Press(ButtonRole(role)))


def frame_of(reading: Reading) -> Frame:
    """Give a reading's frame; its picture is a single black pixel."""
    return Frame(np.zeros((1, 1, 3), np.uint8), reading.time_s, reading.sequence, "virtual table")
