"""Films of whole games, and of mishaps, by a phone's camera: what is accepted, what is said, and where."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from common.phrases import capitalized
from engine.registry import games
from engine.values import Roll
from referee.record.events import EventKind
from tests.system.page.filmed import (
    BUSY,
    HONEST,
    Evening,
    browser_filming,
    film_of,
    film_of_mishaps,
    phones_of,
    refereed,
)
from tests.system.page.playing import enter_roll
from tests.system.page.seen import expect
from tests.system.page.short_games import short_game

LOOKS_S = 15
"""How long, in seconds, a film shows its set-up: somebody may have to enter tiles meanwhile."""

SEEDS = {"number-drop": 2, "blokus-dice": 2}
"""Of films in which players break rules, but write nothing over something else, which can go unnoticed."""
MOST_ASKED = 0.1
"""Share of rolls and turns about which the referee may ask."""
VIEWS: Mapping[str, Any] = {"blockade": {"tilt_deg": 22.0, "size": (1280, 720)}}
"""From where another than the usual view is filmed: stacks, as their kit asks, so that a side of each piece is seen."""


@pytest.mark.long
@pytest.mark.parametrize("name", games())
def test_a_phone_films_a_whole_game_with_hands_faults_a_nudge_and_a_call(name: str, tmp_path: Path) -> None:
    options = short_game(name, BUSY)
    film = film_of(
        options,
        tmp_path,
        looks_s=LOOKS_S,
        nudged_after=3,
        paused_after=5,
        seed=SEEDS.get(name, 5),
        **VIEWS.get(name, {}),
    )
    with (
        browser_filming(film) as browser,
        phones_of(browser) as phones,
        refereed(options, tmp_path, "--rest-s", "1.5") as referee,
    ):
        evening = Evening(referee, phones)
        evening.begin()
        if name == "number-drop":
            expect(evening.player.locator("#next")).to_contain_text("Draw the tiles")
            enter_roll(evening.player, Roll(("O4", "I4", "X5", "I3", "T5")))
        assert evening.wait_for(film, film.paused_after)[0] == film.paused_after
        evening.call()
        assert evening.wait_for(film, film.steps) == (film.steps, film.looks)
        assert evening.asked <= MOST_ASKED * film.steps
        kinds = [event.kind for event in referee.events()]
        assert film.faults == kinds.count(EventKind.ILLEGAL) > 0
        heard = evening.told(evening.player)
        for sentence in re.findall(r"^ +[0-9:.]+ +(?:accepted|illegal|put right) +(.*)$", referee.said, re.MULTILINE):
            named = capitalized(re.sub(r"(?:\bp|^P)(\d)", r"Player \1", sentence))
            assert any(named.startswith(words) for words in heard), (named, heard)


def test_what_a_film_does_not_show_is_said_and_another_lens_is_measured(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    film = film_of_mishaps(short_game("diaballik", HONEST), tmp_path_factory.mktemp("film"))
    with browser_filming(film) as browser, phones_of(browser) as phones, refereed(film.options, tmp_path) as referee:
        evening = Evening(referee, phones)
        evening.begin()
        assert referee.wait_for(film.steps, 2 * film.length_s) == (film.steps, film.looks)
        seen, verdicts = (" ".join(evening.told(phone)) for phone in (evening.camera, evening.player))
        assert all(words in seen for words in ("picture does not show", "is black", "The referee sees the table."))
        assert "picture from phone is black" in verdicts
        assert "The camera's lens has changed. I measured it again." in referee.said
