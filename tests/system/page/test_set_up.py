"""A table is set up on a phone, from the choice of the game to a test turn, on pictures of the virtual table."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from app.setup.page import SetUpEnvironment, SetUpPage
from app.setup.picture_checks import SharedCamera
from app.setup.routes import create_set_up
from app.setup.steps import Progress, steps_of
from app.setup.table_setup import FoundCamera
from engine.registry import load
from frontends.languages import sentences
from frontends.page.access import Role
from frontends.page.languages import translations
from frontends.page.server import open_site
from frontends.page.settings import PageOptions
from simulator.scene.scene import lens
from simulator.table import standard_setting
from tests.system.page.playing import PHONE
from tests.system.page.seen import expect, text_of
from tests.system.page.served import START_MS, Camera, by_command
from tests.system.page.test_barriers import AXE
from tests.system.setup.test_setup import Pictures, pictures_of
from vision.calibration import save_calibration

DAY = date(2026, 5, 1)
CAMERA = "HD Webcam"
"""The longest that a referee may take to start, in ms, on a busy machine."""
GERMAN, ENGLISH = "de-DE", "en-GB"


@contextmanager
def page_in(folder: Path, camera: Camera | None = None, kept: Progress | None = None) -> Iterator[str]:
    """Serve a set-up that writes into a folder, and give its address."""

    def nobody_maps(_: object) -> Any:
        raise AssertionError("there is nothing to map")

    with closing(SharedCamera(patience_s=1.0)) as shared_camera:
        environment = SetUpEnvironment(folder, shared_camera, DAY, "a4", nobody_maps, lambda words: None)
        if camera is not None:
            plugged_in = (FoundCamera(f"folder:{camera.folder}", CAMERA),)
            environment.cameras = lambda: plugged_in
        setting_up = SetUpPage(environment, kept)
        make = lambda access: create_set_up(setting_up, access)  # noqa: E731
        options = PageOptions(owner="Ann")
        with open_site(make, options, print, key=None, roles=(Role.OWN,)) as page, closing(setting_up):
            yield page.address


class Walk:
    """A person with a phone who goes from step to step and checks each."""

    def __init__(self, page: Any, locale: str) -> None:
        self.page = page
        self._language = locale[:2]
        self.asked: list[str] = []

    def arrive(self) -> None:
        """Check a screen: it fits the phone, has at most one main button, and axe-core finds nothing."""
        page = self.page
        page.wait_for_selector("html[data-live]", state="attached")
        self.asked.append(text_of(page.locator("h1")))
        assert page.locator("button.strong:visible").count() <= 1, self.asked[-1]
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], self.asked[-1]
        if AXE.is_file():
            page.add_script_tag(path=AXE)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            told = [(each["id"], each["nodes"][0]["target"]) for each in found["violations"]]
            assert told == [], self.asked[-1]

    def told(self, name: str) -> str:
        """Translate a word of the page, or one of the set-up's."""
        return sentences(self._language)(translations(self._language).gettext(name))

    def press(self, name: str) -> None:
        """Press a button and wait for the next page."""
        with self.page.expect_navigation():
            # A card's name begins with what it chooses.
            told = re.compile(rf"^\s*{re.escape(self.told(name))}")
            self.page.get_by_role("button", name=told).first.click()

    def go(self, *names: str) -> None:
        """Press buttons that each lead to another screen."""
        for name in names:
            before = text_of(self.page.locator("h1"))
            self.press(name)
            expect(self.page.locator("h1")).not_to_have_text(before)
            # Whatever takes longer is shown at work before.
            expect(self.page.locator("#work")).to_have_count(0)
            self.arrive()

    def fill(self, *values: str) -> None:
        """Fill in the one field of each screen."""
        for value in values:
            field = self.page.locator("#answer input[name=a]:visible")
            field.fill(value)
            self.go("Next")


def set_up(walk: Walk, camera: Camera, pictures: Pictures, folder: Path, game: str) -> None:
    """Go through every step."""
    page = walk.page
    walk.arrive()
    walk.go(load(game).title, "I have it")
    if game == "number-drop":
        walk.go("Next")
    for file in page.locator("a[href^='/files/']").all():
        assert page.request.get(file.evaluate("each => each.href")).body().startswith(b"%PDF")
    walk.go("They are printed", "No, it's longer or shorter")
    for typed, told in (("9,7", "97 mm"), ("97", "103.1 %")):
        page.locator("#answer input[name=a]:visible").fill(typed)
        walk.press("Next")
        expect(page.locator(".asked, .trouble").filter(has_text=told)).to_have_count(1)
    walk.fill("100")
    camera.show(pictures.bare)
    page.reload()
    expect(page.locator("button img")).to_have_js_property("naturalWidth", 960)
    walk.go(CAMERA)
    expect(page.locator("#seen")).to_contain_text("960 x 540")
    walk.go("Yes, use this camera")
    # The page is reloaded, as after the phone was put away.
    page.reload()
    page.wait_for_selector("html[data-live]", state="attached")
    if game == "deblockle":
        measure(walk, pictures)
    else:
        expect(page.locator("#seen .fault")).to_have_count(0)
        walk.go("The sheets are in place")
    # The grid's lines lie over the newest picture, and can be hidden to compare.
    expect(page.locator("#grid polyline").first).to_be_visible()
    page.locator("#show-grid").uncheck()
    expect(page.locator("#grid")).to_be_hidden()
    walk.go("Yes, it fits", "No lights")
    if game == "deblockle":
        walk.go("No switches")
    camera.show(pictures.set_up)
    walk.go("It is set up")
    camera.show(pictures.played)
    walk.go("The turn is played")
    if pictures.roll:
        page.locator("#answer input[name=a]:visible").fill(pictures.roll)
        walk.go("Check the turn")


def measure(walk: Walk, pictures: Pictures) -> None:
    """Measure one's own board: drag one corner away and back with the mouse, and move it by arrow keys."""
    page, board = walk.page, pictures.layout.board
    walk.go("It's in place", "My own board")
    walk.fill(f"{board.cell_mm:g}", f"{board.height_mm:g}")
    walk.go("In the picture")
    handle, field = page.locator("#live circle").first, page.locator("[name=x]").first
    expect(handle).to_be_visible()
    right = float(field.input_value())
    handle.press("ArrowRight")
    handle.press("Shift+ArrowLeft")
    assert float(field.input_value()) == pytest.approx(right - 9)
    box = handle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 30, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert float(field.input_value()) > right + 20
    field.fill(f"{right:.1f}")
    walk.go("These are the corners")


@pytest.mark.parametrize(("game", "locale"), [("deblockle", ENGLISH), ("number-drop", GERMAN)])
def test_a_table_is_set_up_on_a_phone(game: str, locale: str, visit: Any, tmp_path: Path) -> None:
    pictures, camera = pictures_of(game), Camera(tmp_path / "seen")
    with page_in(tmp_path, camera) as address:
        page = visit(address, viewport=PHONE, locale=locale, bypass_csp=True)
        walk = Walk(page, locale)
        set_up(walk, camera, pictures, tmp_path, game)
        expect(page.locator("h1")).to_have_text(walk.told("The table is ready"))
        expect(page.get_by_role("button", name=walk.told("Start refereeing"))).to_be_visible()
        assert len(set(walk.asked)) == len(walk.asked)
    written = tomllib.loads((tmp_path / "referee.toml").read_text())
    assert written["game"]["name"] == game
    assert "calibration" not in written["camera"]
    assert written["lights"]["drivers"] == ["terminal"]
    assert (written["table"]["looks"] == "looks.json") if game == "deblockle" else ("options" in written["game"])
    kept = Progress.load(tmp_path, game)
    assert kept is not None
    assert kept.done[-1] == "turn"


def test_without_scripts_corners_are_typed_and_a_photo_is_sent(visit: Any, tmp_path: Path) -> None:
    pictures, camera = pictures_of("deblockle"), Camera(tmp_path / "seen")
    height, width = pictures.bare.shape[:2]
    values = {"camera.source": f"folder:{camera.folder}", "camera.width_px": width, "camera.height_px": height}
    camera.show(pictures.bare)
    with page_in(tmp_path, kept=Progress(tmp_path, "deblockle", ["kit", "print", "camera"], values)) as address:
        page = visit(address, viewport=PHONE, java_script_enabled=False)
        press = lambda name: page.get_by_role("button", name=name).first.click()  # noqa: E731
        board = pictures.layout.board
        press("It's in place")
        press("My own board")
        for length in (board.cell_mm, board.height_mm):
            page.locator("#answer input[name=a]:not([type=hidden])").fill(f"{length:g}")
            press("Next")
        press("In the picture")
        page.locator("summary", has_text="Type them").click()
        for field, value in zip(page.locator("[name=x]").all(), (100, 200, 200, 100), strict=True):
            field.fill(str(value))
        press("These are the corners")
        expect(page.locator("#findings .fault").first).to_be_visible()
        # The fields show the corners estimated from the markers again.
        press("These are the corners")
        expect(page.locator("h1")).to_have_text("Does the grid lie on the board's lines?")
        expect(page.locator("#grid polyline").first).to_be_visible()
        press("No, it does not")
        press("Its squares are too large")
        expect(page.locator("h1")).to_have_text("Lay everything under the camera")
        press("Skip this step")
        expect(page.locator("h1")).to_have_text("What shows lights at the table?")
        press("No lights")
        press("No switches")
        expect(page.locator("h1")).to_have_text("Set up the game")
        page.locator("summary", has_text="Send a photo").click()
        photo = {
            "name": "photo.png",
            "mimeType": "image/png",
            "buffer": cv2.imencode(".png", pictures.set_up)[1].tobytes(),
        }
        page.get_by_label("Photo").set_input_files([photo])
        page.get_by_role("button", name="Send it").click()
        expect(page.locator("h1")).to_have_text("Play a test turn")
        page.get_by_role("link", name="Deutsch").click()
        expect(page.locator("html")).to_have_attribute("lang", "de")
    assert (tmp_path / "looks.json").is_file()


def test_the_page_starts_the_referee_in_its_place_or_says_why_not(visit: Any, tmp_path: Path) -> None:
    camera = Camera(tmp_path / "seen")
    camera.show(np.full((540, 960, 3), 120, np.uint8))
    values = {"game.name": "diaballik", "camera.source": f"folder:{camera.folder}", "camera.calibration": "camera.json"}
    steps = [step.name for step in steps_of(load("diaballik"))]
    Progress(tmp_path, "diaballik", steps, skipped=["turn"]).keep(values)
    with by_command(tmp_path, "start", "--steps", "--page-address", "127.0.0.1") as (address, _):
        page = visit(f"{address}/pair", viewport=PHONE)
        (code,) = re.findall(r"\d{4} \d{4}", (tmp_path / "setup.page-codes").read_text(encoding="utf-8"))
        page.get_by_label("Code", exact=True).fill(code)
        page.get_by_role("button", name="Pair").click()
        expect(page.locator("h1")).to_have_text("1 step is missing")
        page.get_by_role("button", name="Start all the same").dblclick()
        expect(page.locator("#findings .fault")).to_contain_text("camera.json", timeout=START_MS)
        expect(page.locator("h1")).to_have_text("1 step is missing")
        lens_of = standard_setting(lens((960, 540)), game="diaballik").camera
        save_calibration(tmp_path / "camera.json", lens_of)
        page.get_by_role("button", name="Start all the same").click()
        expect(page.locator("#next")).to_be_visible(timeout=START_MS)
        assert page.url == f"{address}/"
