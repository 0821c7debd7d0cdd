"""Diaballik with a camera: announcements are checked against the visible table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from engine.errors import IllegalTurnError
from referee.commands.values import Announce
from referee.journal.journal import Journal
from referee.runtime.builder import open_session
from referee.session.ports import ServiceSettings
from simulator.enrolment import set_up_image
from simulator.play.actions import Slack
from simulator.play.diaballik import DiscHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene
from simulator.table import standard_setting
from vision.frame import Frame
from vision.locating.location import locate
from vision.readers.protocols import EnrolmentPicture
from vision.readers.registry import reader_kind, table_reader

SETTING = standard_setting(game="diaballik")
WALL = "black black:a3,c3,e3,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"
TOO_FEW = "black black:a3,c3,e2,g1*,b1,d1,f1 white:a4*,b4,c4,d4,e4,f4,g4"
NO_WALL = "black black:a3,c3,e3,g1*,b1,d1,f1 white:a4*,b4,c4,d6,e4,f4,g4"

Show = Callable[[str], Any]


@pytest.fixture(scope="module")
def handler() -> DiscHandler:
    return DiscHandler(SETTING.layout, Slack(), np.random.default_rng(4))


def standing(handler: DiscHandler, looks: Mapping[str, str]) -> Any:
    return handler.set_up({place: look for place, look in looks.items() if look != "empty"})


@pytest.fixture(scope="module")
def taught(handler: DiscHandler, diaballik: Any) -> Any:
    picture = set_up_image(SETTING, standing(handler, diaballik.table.appearance(diaballik.rules.new())))
    layout = SETTING.layout
    pose = locate(picture.image, SETTING.camera, layout).pose
    known = EnrolmentPicture(picture.image, SETTING.camera, pose, picture.position, picture.name, layout.markers)
    return reader_kind(layout).enrol([known], layout.board)


@pytest.fixture
def show(diaballik: Any, handler: DiscHandler, taught: Any) -> Iterator[Show]:
    """A function that shows a position to the camera of a new game, and returns the game."""
    reader = table_reader(SETTING.camera, SETTING.layout, taught)
    with (
        Journal.in_memory(wall_clock=lambda: datetime.now(UTC)) as journal,
        open_session(diaballik, reader, journal, ServiceSettings(anywhere=True, stills=True)) as service,
    ):

        def show(position: str) -> Any:
            state = diaballik.notation.parse_state(position)
            pieces = standing(handler, diaballik.table.appearance(state))
            image = Renderer(3).render(Scene(SETTING, tuple(pieces.values())), 0)
            service.step(Frame(image, 0.0, 0, "camera"))
            assert service.belief == (state,)
            return service

        yield show


def test_anti_play_against_a_visible_wall_ends_the_game(show: Show) -> None:
    service = show(WALL)
    assert service.enter(Announce("anti-play", "Ann")) == "Black announces anti-play."
    assert service.finished
    assert service.belief[0].to_move is None


@pytest.mark.parametrize(
    ("position", "why"),
    [
        (TOO_FEW, "Only 2 of black's pieces touch white's wall, on a3 and c3; 3 are needed"),
        (NO_WALL, "White's pieces don't form a wall"),
    ],
)
def test_anti_play_that_contradicts_the_table_is_refused_with_the_reason(show: Show, position: str, why: str) -> None:
    service = show(position)
    with pytest.raises(IllegalTurnError, match=why):
        service.enter(Announce("anti-play", "Ann"))
    assert not service.finished


def test_a_draw_can_be_agreed_and_a_repetition_claimed_only_if_there_is_one(show: Show) -> None:
    service = show(WALL)
    with pytest.raises(IllegalTurnError, match="a draw by repetition was not agreed"):
        service.enter(Announce("repetition", "Ann"))
    assert service.enter(Announce("draw", "Ann")) == "Draw agreed."
    assert service.finished
