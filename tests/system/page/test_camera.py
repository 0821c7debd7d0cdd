"""A phone as the camera, in a real browser whose camera shows a film of a virtual table."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from common.json_files import read_json
from referee.settings.kept_cameras import cameras_file
from tests.system.page.conftest import CHROMIUM
from tests.system.page.filmed import Refereed, TableFilm, film_of, refereed
from tests.system.page.served import ANSWER_S
from tests.vision.photos import telling
from vision.frame import Image

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = sync_api.expect
TURNS = 2
FOCAL_MM = 29
"""The film's focal length, as on 35 mm film."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> TableFilm:
    return film_of("diaballik", tmp_path_factory.mktemp("film"), turns=TURNS)


@pytest.fixture(scope="module")
def filming(film: TableFilm) -> Iterator[Any]:
    """A browser whose camera shows the film from its beginning whenever it is switched on."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    expect.set_options(timeout=ANSWER_S * 1000)
    arguments = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={film.file}"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        launched.close()


class Phones:
    """Phones, each in a browser context of its own; an error in a page's scripts fails the test at the end."""

    def __init__(self, browser: Any, stack: ExitStack) -> None:
        self._browser, self._stack = browser, stack
        self.complaints: list[str] = []

    def new(self, *, may_film: bool = True, **device: Any) -> Any:
        context = self._stack.enter_context(self._browser.new_context(**{"locale": "en-GB", **device}))
        context.set_default_timeout(ANSWER_S * 1000)
        if may_film:
            context.grant_permissions(["camera"])
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page


@pytest.fixture
def phones(filming: Any) -> Iterator[Phones]:
    with ExitStack() as stack:
        made = Phones(filming, stack)
        yield made
        assert made.complaints == []


@pytest.fixture
def referee(film: TableFilm, tmp_path: Path) -> Iterator[Refereed]:
    with refereed(film, tmp_path) as running:
        yield running


def open_despite_the_warning(page: Any, address: str) -> None:
    """Open a page whose certificate no authority signed, as a person does."""
    with pytest.raises(sync_api.Error, match="ERR_CERT_AUTHORITY_INVALID"):
        page.goto(address)
    page.locator("#details-button").click()
    page.locator("#proceed-link").click()
    page.wait_for_url(address)


def pair(page: Any, code: str, name: str) -> None:
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Pair").click()


def test_a_phone_films_a_game_and_another_one_shows_the_verdicts(
    film: TableFilm, referee: Refereed, phones: Phones
) -> None:
    camera = phones.new(viewport={"width": 390, "height": 844})
    open_despite_the_warning(camera, f"{referee.encrypted}/pair")
    pair(camera, referee.camera_code, "Ann's phone")
    camera.wait_for_url("**/camera")
    assert camera.evaluate("isSecureContext")
    player = phones.new()
    player.goto(f"{referee.plain}/pair")
    pair(player, referee.play_code, "Ben")
    player.wait_for_selector("#next")
    expect(camera.get_by_text("To film")).to_be_hidden()
    camera.get_by_role("button", name="Be the camera").click()
    expect(camera.get_by_text("The referee watches")).to_be_visible()
    expect(camera.locator("#sees")).to_have_text("The referee sees the table.")
    expect(camera.locator("#scene .part polygon")).to_have_count(1)
    expect(player.locator("#verdict")).to_contain_text("Accepted")
    assert referee.wait_for_turns(film.turns) == list(film.turns)
    camera.get_by_role("button", name="Stop").click()
    expect(camera.locator("#sees")).to_have_text("The camera is off.")
    expect(player.locator("body")).to_contain_text("No phone sends its picture")
    assert referee.turns() == list(film.turns)


def test_photos_are_judged_one_by_one_without_a_certificate_or_a_permission(
    film: TableFilm, referee: Refereed, phones: Phones
) -> None:
    phone = phones.new(may_film=False, viewport={"width": 390, "height": 844})
    phone.goto(f"{referee.plain}/pair")
    pair(phone, referee.camera_code, "Ann's phone")
    phone.wait_for_url("**/camera")
    judged, shutter = phone.locator("#judged"), phone.locator("#photos input[type=file]")

    def take(picture: Image) -> None:
        content = telling(cv2.imencode(".jpg", picture)[1].tobytes(), FOCAL_MM)
        shutter.set_input_files({"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": content})

    take(film.positions[0])
    expect(judged).to_contain_text("The board is set up.")
    take(np.full_like(film.positions[0], 120))
    expect(judged).to_contain_text("able not located")
    for number, position in enumerate(film.positions[1:], start=1):
        take(position)
        expect(judged).to_contain_text(re.compile("Black|White"))
        assert referee.wait_for_turns(film.turns[:number]) == list(film.turns[:number])
    take(film.positions[-1])
    expect(judged).to_contain_text("Nothing has changed")
    assert "away" not in referee.said
    (known,) = read_json(cameras_file(referee.journal), "cameras", ValueError)["cameras"]
    assert known["usual_focal"][0] == pytest.approx(FOCAL_MM / 43.27), "the page kept what the photo told of its lens"


def test_what_keeps_a_phone_from_filming_is_said(referee: Refereed, phones: Phones) -> None:
    phone = phones.new(may_film=False)
    open_despite_the_warning(phone, f"{referee.encrypted}/pair")
    pair(phone, referee.camera_code, "Ann's phone")
    begin, trouble = phone.get_by_role("button", name="Be the camera"), phone.locator("#trouble")
    begin.click()
    expect(trouble).to_contain_text("does not let the page film")
    phone.context.grant_permissions(["camera"])
    begin.click()
    expect(trouble).to_be_hidden()
    expect(phone.locator("#sees")).to_have_text("The referee sees the table.")
    phone.context.set_offline(True)
    expect(trouble).to_contain_text("can't be reached")
    phone.context.set_offline(False)
    expect(trouble).to_be_hidden()


def test_a_second_phone_asks_the_first_one(referee: Refereed, phones: Phones) -> None:
    first, second = phones.new(), phones.new()
    for phone, name in ((first, "Ann's phone"), (second, "Ben's phone")):
        open_despite_the_warning(phone, f"{referee.encrypted}/pair")
        pair(phone, referee.camera_code, name)
        phone.get_by_role("button", name="Be the camera").click()
    expect(second.locator("#sees")).to_have_text("Ann's phone is the camera, and was asked to hand over.")
    expect(second.get_by_text("The referee watches")).to_be_hidden()
    expect(first.locator("#asks")).to_contain_text("Ben's phone asks to be the camera.")
    first.get_by_role("button", name="Let it").click()
    expect(second.get_by_text("The referee watches")).to_be_visible()
    expect(first.locator("#sees")).to_have_text("The camera is off.")
