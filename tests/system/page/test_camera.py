"""A phone as the camera, in a real browser whose camera shows a film of a virtual table."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tests.system.page.filmed import (
    HONEST,
    Evening,
    Phones,
    Refereed,
    TableFilm,
    browser_filming,
    film_of,
    open_despite_the_warning,
    pair,
    phones_of,
    refereed,
)
from tests.system.page.seen import expect
from tests.system.page.short_games import short_game

TURNS = 2


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> TableFilm:
    return film_of(replace(short_game("diaballik", HONEST), turns=TURNS), tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="module")
def filming(film: TableFilm) -> Iterator[Any]:
    with browser_filming(film) as browser:
        yield browser


@pytest.fixture
def phones(filming: Any) -> Iterator[Phones]:
    with phones_of(filming) as made:
        yield made


@pytest.fixture
def referee(film: TableFilm, tmp_path: Path) -> Iterator[Refereed]:
    with refereed(film.options, tmp_path) as running:
        yield running


def test_a_phone_films_a_game_and_another_one_shows_the_verdicts(
    film: TableFilm, referee: Refereed, phones: Phones
) -> None:
    evening = Evening(referee, phones)
    camera, player = evening.camera, evening.player
    assert camera.evaluate("isSecureContext")
    expect(camera.get_by_text("To film")).to_be_hidden()
    evening.begin()
    expect(camera.locator("#scene .part polygon")).to_have_count(1)
    expect(player.locator("#verdict")).to_contain_text("Accepted")
    assert referee.wait_for(film.steps) == (film.steps, film.looks)
    camera.get_by_role("button", name="Stop").click()
    expect(camera.locator("#sees")).to_have_text("The camera is off.")
    expect(player.locator("body")).to_contain_text("No picture comes from a phone")
    assert referee.seen() == (film.steps, film.looks)


def test_what_keeps_a_phone_from_filming_is_said(referee: Refereed, phones: Phones) -> None:
    phone = phones.new(may_film=False)
    phone.goto(f"{referee.plain}/pair")
    pair(phone, referee.camera_code, "Ann's phone")
    # at this machine's own address a browser lets a page film
    phone.add_init_script("Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")
    phone.reload()
    expect(phone.locator("#by-https")).to_contain_text("Browsers let a page film only at an encrypted address")
    expect(phone.get_by_role("button", name="Start filming")).to_be_hidden()
    expect(phone.get_by_role("link", name="Open the encrypted page")).to_have_attribute(
        "href", f"{referee.encrypted}/camera"
    )
    phone = phones.new(may_film=False)
    open_despite_the_warning(phone, f"{referee.encrypted}/pair")
    pair(phone, referee.camera_code, "Ann's phone")
    begin, trouble = phone.get_by_role("button", name="Start filming"), phone.locator("#trouble")
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


def test_a_phone_that_was_closed_finds_the_way_back_to_filming(referee: Refereed, phones: Phones) -> None:
    phone = phones.new(viewport={"width": 360, "height": 740})
    open_despite_the_warning(phone, f"{referee.encrypted}/pair")
    pair(phone, referee.own_code, "Ann's phone")
    phone.get_by_role("link", name="Film with this phone").click()
    phone.wait_for_url("**/camera")
    phone.get_by_role("button", name="Start filming").click()
    table = phone.frame_locator("#beside")
    expect(table.locator("#next")).to_be_visible()
    expect(table.locator("#trouble")).to_be_hidden()
    table.locator(".menu summary").click()
    expect(table.get_by_role("link", name="Owner", exact=True)).to_be_visible()
    # to open it there would end the film
    expect(table.get_by_role("link", name="Camera", exact=True)).to_be_hidden()
    phone.goto(f"{referee.encrypted}/")
    expect(phone.locator("#trouble")).to_contain_text("No picture comes from a phone")
    expect(phone.get_by_role("link", name="Film with this phone")).to_be_visible()
    phone.locator(".menu summary").click()
    phone.get_by_role("link", name="Camera", exact=True).click()
    phone.wait_for_url("**/camera")


ASLEEP = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""Hides a page, or shows it again, as a phone's lock does."""
BATTERY = """
  const battery = Object.assign(new EventTarget(), { level: 0.5, charging: false });
  navigator.getBattery = async () => battery;
  window.drain = (level) => { battery.level = level; battery.dispatchEvent(new Event("levelchange")); };
"""
"""A battery that a test drains."""


def test_a_phone_that_falls_asleep_or_runs_out_is_told_of_and_the_game_goes_on(
    film: TableFilm, referee: Refereed, phones: Phones
) -> None:
    evening = Evening(referee, phones)
    camera, player = evening.camera, evening.player
    camera.context.add_init_script(BATTERY)
    camera.reload()
    evening.begin()
    camera.evaluate("drain(0.14)")
    expect(camera.locator("#trouble")).to_have_text("The battery is nearly empty. Plug the phone in.")
    camera.evaluate(ASLEEP, arg=True)
    expect(player.locator("body")).to_contain_text("No picture comes from a phone")
    camera.evaluate(ASLEEP, arg=False)
    expect(camera.locator("#trouble")).to_contain_text("the referee saw nothing")
    expect(player.locator("body")).not_to_contain_text("No picture comes from a phone")
    assert referee.wait_for(film.steps) == (film.steps, film.looks)


def test_a_second_phone_asks_the_first_one(referee: Refereed, phones: Phones) -> None:
    first, second = phones.new(), phones.new()
    for phone, name in ((first, "Ann's phone"), (second, "Ben's phone")):
        open_despite_the_warning(phone, f"{referee.encrypted}/pair")
        pair(phone, referee.camera_code, name)
        phone.get_by_role("button", name="Start filming").click()
    expect(second.locator("#sees")).to_have_text("Ann's phone is the camera, and was asked to hand over.")
    expect(second.get_by_text("The referee watches")).to_be_hidden()
    expect(first.locator("#asks")).to_contain_text("Ben's phone asks to be the camera.")
    first.get_by_role("button", name="Let it").click()
    expect(second.get_by_text("The referee watches")).to_be_visible()
    expect(first.locator("#sees")).to_have_text("The camera is off.")


def test_a_phone_that_takes_photos_says_that_the_owner_stopped_it(referee: Refereed, phones: Phones) -> None:
    phone, owner = phones.new(may_film=False), phones.new(may_film=False)
    for page, code, name in ((phone, referee.camera_code, "Ann's phone"), (owner, referee.own_code, "Ben's phone")):
        page.goto(f"{referee.plain}/pair")
        pair(page, code, name)
    photo = {
        "name": "photo.jpg",
        "mimeType": "image/jpeg",
        "buffer": cv2.imencode(".jpg", np.zeros((480, 640, 3), np.uint8))[1].tobytes(),
    }
    file = phone.locator("#photos input[type=file]")
    with phone.expect_response("**/photo"):
        file.set_input_files(photo)
    owner.goto(f"{referee.plain}/owner")
    expect(owner.locator("main")).to_contain_text("Ann's phone sent the last picture.")
    owner.get_by_role("button", name="Stop the camera").click()
    expect(owner.locator("main")).not_to_contain_text("sent the last picture")
    file.set_input_files(photo)
    expect(phone.locator("#photos")).to_contain_text("The owner has stopped this camera")
    phone.get_by_role("button", name="Take photos").click()
    expect(phone.locator("#photos")).to_contain_text("Take one of the whole table after each turn")
