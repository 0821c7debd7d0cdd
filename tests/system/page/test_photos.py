"""Whole games by photos, each taken by hand from another place, and judged one by one. No camera was calibrated."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from app.settings.kept_cameras import cameras_file
from common.json_files import read_json
from engine.registry import games
from engine.values import Roll
from simulator.play.game import GameOptions
from simulator.play.players import Habits
from tests.system.page.filmed import (
    PHOTO_FOCAL_MM,
    Phones,
    PhotographedGame,
    Refereed,
    Typist,
    pair,
    phones_of,
    refereed,
)
from tests.system.page.playing import enter_roll
from tests.system.page.seen import expect, text_of
from tests.system.page.short_games import short_game
from tests.vision.photos import FILM_DIAGONAL_MM

MOST_PHOTOS = 3
"""Photos of one position, if the referee asks about the first; then a player says which turn it was."""
MOST_TAKEN_AGAIN = 0.2
"""Share of the positions."""
SPOILT: Sequence[tuple[Mapping[str, Any], str]] = (
    ({"defocus_px": 9.0}, "blurred|located"),
    ({"pan_deg": 24.0}, "located|in the picture|can't see|in sight"),
    ({"exposure": 0.0002}, "black|dark"),
)
"""What spoils a photo, and a word of what is said of it: out of focus, half of the table, no light."""
SPOILT_EVERY = 6


@pytest.fixture
def phones(browser: Any) -> Iterator[Phones]:
    with phones_of(browser) as made:
        yield made


class Photographed:
    """A phone that takes photos for the referee."""

    def __init__(self, referee: Refereed, phones: Phones) -> None:
        self._page = phones.new(may_film=False, viewport={"width": 390, "height": 844})
        self._page.goto(f"{referee.plain}/pair")
        pair(self._page, referee.camera_code, "Ann's phone")
        self._page.wait_for_url("**/camera")

    def judged(self, jpeg: bytes) -> str:
        """What the phone shows once the photo was judged; it is sent again while the referee is busy."""
        words = self._page.locator("#judged")
        while True:
            with self._page.expect_response("**/photo"):
                photo = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": jpeg}
                self._page.locator("#photos input[type=file]").set_input_files(photo)
            expect(words).not_to_have_text("The referee looks at the photo …")
            said = str(text_of(words))
            if not re.search("has not looked at the photo yet|is still being looked at", said):
                return said


def play_by_photos(options: GameOptions, folder: Path, phones: Phones, most_steps: int = 99) -> None:
    """Take a photo after each roll and turn, and now and then spoilt ones; assert what the referee believes."""
    with refereed(options, folder) as referee:
        phone, player = Photographed(referee, phones), phones.new()
        player.goto(f"{referee.plain}/pair")
        pair(player, referee.play_code, "Ben")
        player.wait_for_selector("html[data-live]", state="attached")
        typist, game, again = Typist(referee, phones), PhotographedGame(options), 0
        assert "The board is set up." in phone.judged(game.photo())
        for number, action in enumerate(islice(game.steps(), most_steps), start=1):
            if not action.carries:
                enter_roll(player, Roll(tuple(action.turn.split(","))))
            for spoilt, why in SPOILT if number % SPOILT_EVERY == 1 else ():
                words = phone.judged(game.photo(**spoilt))
                # what half of a picture shows may be enough
                assert re.search(why, words) or referee.seen() == (number, game.looks), words
            for _ in range(MOST_PHOTOS):
                words = phone.judged(game.photo())
                if referee.seen()[0] == number:
                    break
                again += 1
            else:
                assert "Please say which" in words, words
                typist.type(action.turn)
                referee.wait_for(number)
            # another order of the same moves is as good
            assert referee.seen() == (number, game.looks), (action.turn, words)
        assert again <= number * MOST_TAKEN_AGAIN
        assert re.search("Nothing has changed|The game is over", phone.judged(game.photo()))
        assert "away" not in referee.said
        cameras = read_json(cameras_file(referee.journal), "cameras", ValueError)["cameras"]
        assert {round(one["usual_focal"][0] * FILM_DIAGONAL_MM) for one in cameras} == {PHOTO_FOCAL_MM}


def test_a_game_by_photos_that_are_taken_by_hand(tmp_path: Path, phones: Phones) -> None:
    play_by_photos(short_game("diaballik", Habits()), tmp_path, phones, 3)


@pytest.mark.long
@pytest.mark.parametrize("name", games())
def test_a_whole_game_by_photos_from_everywhere(name: str, tmp_path: Path, phones: Phones) -> None:
    play_by_photos(short_game(name, Habits()), tmp_path, phones)
