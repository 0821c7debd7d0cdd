"""What a camera does by itself costs no turn: a virtual game through the real service, with its frames spoiled."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from app.runtime.builder import attention, open_session
from benchmarks.parts.soak.game import looks_of_pieces
from benchmarks.scene.processing import banded, garbled, rounded
from engine.registry import load
from journal.journal import Journal
from referee.commands.values import CommandQueue
from referee.judge.verdict import VerdictKind
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings, TurnEnd
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame, Image
from vision.readers.registry import table_reader

GAME: Any = load("diaballik")
SIZE, TURNS = (960, 540), 2

Spoil = Callable[[Frame, Image], Image]
"""Changes a frame's picture; the second is the picture that was given before."""


@dataclass
class SpoilingCamera:
    """The virtual table's camera, whose frames are spoiled."""

    table: VirtualTable
    spoil: Spoil
    given: Image | None = None

    def read(self, timeout_s: float) -> Frame:
        frame = self.table.read(timeout_s)
        self.given = self.spoil(frame, frame.image if self.given is None else self.given)
        return replace(frame, image=self.given)


def in_bands(frame: Frame, _: Image) -> Image:
    """Light and dark bands of 15 %, of mains whose frequency is not exactly 50 Hz."""
    return rounded(banded(frame.image.astype(np.float32), 0.15, 2 * np.pi * 100.2 * frame.time_s, 3.3))


def every_third_garbled(frame: Frame, _: Image) -> Image:
    return frame.image if frame.sequence % 3 else garbled(frame.image, np.random.default_rng(frame.sequence))


def hanging(frame: Frame, before: Image) -> Image:
    """The same frame 120 times, from when the table was set up."""
    return before if 30 <= frame.sequence < 150 else frame.image


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (in_bands, "The lamp flickers in the picture."),
        (every_third_garbled, ""),
        (hanging, "The camera shows the same picture again and again."),
    ],
)
def test_turns_are_accepted_and_what_is_wrong_with_the_camera_is_said(spoil: Spoil, said: str) -> None:
    table = VirtualTable(3, GameOptions(GAME.name, turns=TURNS), setting=standard_setting(lens(SIZE), game=GAME.name))
    looks = looks_of_pieces(SIZE, GAME.name)
    reader = table_reader(table.calibration(), table.setting.layout, looks, attention=attention(GAME))
    settings = ServiceSettings(turn_end=TurnEnd.BUTTON)
    heard: list[str] = []
    accepted: list[str] = []
    with (
        Journal.in_memory(wall_clock=lambda: datetime(2025, 1, 1, tzinfo=UTC)) as journal,
        open_session(
            GAME,
            reader,
            journal,
            settings,
            subscribers=(lambda snapshot: table.show_mood(snapshot.signal.mood.value),),
            say=heard.append,
            resume=False,
        ) as service,
    ):
        ports = LoopPorts(
            lambda _: None,
            CommandQueue(lambda: table.time_s),
            lambda: [press.button for press in table.take_presses()],
            lambda _, verdicts: accepted.extend(
                turn for one in verdicts if one.kind is VerdictKind.ACCEPTED for turn in one.turns
            ),
        )
        run(service, SpoilingCamera(table, spoil), ports)
    assert len(accepted) == TURNS
    assert len(heard) == bool(said), heard
    assert all(sentence.startswith(said) for sentence in heard)
