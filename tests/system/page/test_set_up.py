"""A table is set up on a phone, from the choice of the game to a test turn, on pictures of the virtual table."""

import itertools
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import pytest

from common.phrases import Phrase
from referee.languages import sentences
from referee.settings.settings import PageOptions
from referee.setup.page import SetUpEnvironment, SetUpPage, create_set_up
from referee.setup.picture_checks import SharedCamera
from referee.setup.steps import Progress
from referee.setup.table_setup import PICTURES_FOLDER
from referee.web.access import Role
from referee.web.languages import translations
from referee.web.server import open_site
from simulator.enrolment import charuco_views
from tests.system.page.test_barriers import AXE
from tests.system.setup.test_setup import Pictures, pictures_of
from vision.calibration import Calibration, save_calibration
from vision.frame import Image

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect
expect.set_options(timeout=20_000)
DAY = date(2026, 5, 1)
PHONE = {"width": 360, "height": 740}
GERMAN, ENGLISH = "de-DE", "en-GB"
BY_CORNERS = "My own board: measure it by its corners"


class Camera:
    """A growing folder: pictures put into it are the camera's."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._numbers = itertools.count(1)

    def show(self, image: Image) -> None:
        written = self.folder / f".{next(self._numbers)}.png"
        cv2.imwrite(str(written), image)
        written.rename(self.folder / written.name[1:])


@contextmanager
def page_in(folder: Path, camera: Camera | None = None, kept: Progress | None = None) -> Iterator[str]:
    """Serve a set-up that writes into a folder, and give its address."""

    def nobody_maps(_: object) -> Any:
        raise AssertionError("there is nothing to map")

    with closing(SharedCamera(patience_s=1.0)) as shared_camera:
        environment = SetUpEnvironment(folder, shared_camera, DAY, "a4", nobody_maps, lambda words: None)
        source = None if camera is None else f"folder:{camera.folder}"
        setting_up = SetUpPage(environment, kept, source)
        make = lambda access: create_set_up(setting_up, access)  # noqa: E731
        options = PageOptions(owner="Ann")
        with open_site(make, options, print, key=None, roles=(Role.OWN,)) as page, closing(setting_up):
            yield page.address


class Walk:
    """A person with a phone who goes from step to step and checks each."""

    def __init__(self, page: Any, locale: str) -> None:
        self.page = page
        self._language = locale[:2]
        self.titles: list[str] = []

    def arrive(self) -> None:
        """Check a step: it fits the phone, and axe-core finds nothing."""
        page = self.page
        page.wait_for_selector("html[data-live]", state="attached")
        self.titles.append(page.locator("h1").inner_text())
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], self.titles[-1]
        if AXE.is_file():
            page.add_script_tag(path=AXE)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            told = [(each["id"], each["nodes"][0]["target"]) for each in found["violations"]]
            assert told == [], self.titles[-1]

    def told(self, name: str) -> str:
        """Translate a word of the page, or one of the set-up's."""
        return sentences(self._language)(translations(self._language).gettext(name))

    def press(self, name: str) -> None:
        """Press a button and wait for the next page."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=self.told(name), exact=True).click()

    def go(self, name: str) -> None:
        """Press a button that leads to another step."""
        before = self.page.locator("h1").inner_text()
        self.press(name)
        expect(self.page.locator("h1")).not_to_have_text(before)
        self.arrive()


def set_up(walk: Walk, camera: Camera, pictures: Pictures, folder: Path, game: str) -> None:
    """Go through every step."""
    page = walk.page
    walk.arrive()
    page.get_by_role("combobox").select_option(game)
    walk.go("Set up this game")
    camera.show(pictures.bare)
    expect(page.locator("#seen")).to_contain_text("960 x 540")
    expect(page.locator("#seen")).to_contain_text("px")
    walk.go("This is the camera")
    if game == "number-drop":
        walk.go("That many players")
    for file in page.locator("a[href^='/files/']").all():
        assert page.request.get(file.evaluate("each => each.href")).body().startswith(b"%PDF")
    page.get_by_role("spinbutton").fill("97")
    walk.press("This is its length")
    expect(page.locator("#findings .fault")).to_contain_text("103.1 %")
    page.get_by_role("spinbutton").fill("100")
    walk.go("This is its length")
    for number, view in enumerate(charuco_views(pictures.camera, 13, seed=1), start=1):
        camera.show(view)
        if number == 1:
            page.get_by_role("button", name=walk.told("Take pictures automatically"), exact=True).click()
        elif number == 4:
            # The page is reloaded, as after the phone was put away.
            page.reload()
            page.wait_for_selector("html[data-live]", state="attached")
        if number > 1:
            walk.press("Take a picture")
        expect(page.locator("#seen")).to_contain_text(walk.told(Phrase("{count} kept", number)))
    assert len(list((folder / PICTURES_FOLDER).iterdir())) >= 10
    camera.show(pictures.bare)
    walk.go("Calibrate with these pictures")
    if game == "deblockle":
        measure(walk, pictures)
        walk.go(BY_CORNERS)
    else:
        expect(page.locator("#seen .fault")).to_have_count(0)
        walk.go("The sheets are in place")
    walk.go("These show the lights")
    if game == "deblockle":
        walk.go("That is right")
    camera.show(pictures.set_up)
    walk.go("It is set up")
    camera.show(pictures.played)
    if pictures.roll:
        page.locator("[name=part]").fill(pictures.roll)
    walk.go("The turn is played")


def measure(walk: Walk, pictures: Pictures) -> None:
    """Drag one corner away and back with the mouse, and move it by arrow keys."""
    page = walk.page
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
    board = pictures.layout.board
    page.locator("form:has([data-corners]) [name=part]").first.fill(f"{board.cell_mm:g}")
    page.locator("form:has([data-corners]) [name=part]").last.fill(f"{board.height_mm:g}")


@pytest.mark.parametrize(("game", "locale"), [("deblockle", ENGLISH), ("number-drop", GERMAN)])
def test_a_table_is_set_up_on_a_phone(game: str, locale: str, visit: Any, tmp_path: Path) -> None:
    pictures, camera = pictures_of(game), Camera(tmp_path / "seen")
    with page_in(tmp_path, camera) as address:
        page = visit(address, viewport=PHONE, locale=locale, bypass_csp=True)
        walk = Walk(page, locale)
        set_up(walk, camera, pictures, tmp_path, game)
        expect(page.locator("h1")).to_have_text(walk.told("Everything is set up"))
        assert len(set(walk.titles)) == len(walk.titles)
    written = tomllib.loads((tmp_path / "referee.toml").read_text())
    assert written["game"]["name"] == game
    assert written["camera"]["calibration"] == "camera.json"
    assert written["lights"]["drivers"] == ["terminal"]
    assert (written["table"]["looks"] == "looks.json") if game == "deblockle" else ("options" in written["game"])
    kept = Progress.load(tmp_path, game)
    assert kept is not None
    assert kept.done[-1] == "turn"


def test_without_scripts_corners_are_typed_and_a_photo_is_sent(visit: Any, tmp_path: Path) -> None:
    pictures, camera = pictures_of("deblockle"), Camera(tmp_path / "seen")
    save_calibration(tmp_path / "camera.json", Calibration(pictures.camera, (), 1.0, ()), made_on=DAY)
    width, height = pictures.camera.size
    values = {"camera.source": f"folder:{camera.folder}", "camera.width_px": width, "camera.height_px": height}
    camera.show(pictures.bare)
    with page_in(tmp_path, kept=Progress(tmp_path, "deblockle", ["camera", "print", "calibration"], values)) as address:
        page = visit(address, viewport=PHONE, java_script_enabled=False)
        for field, value in zip(page.locator("[name=x]").all(), (100, 200, 200, 100), strict=True):
            field.fill(str(value))
        height = page.locator("form:has([name=x]) [name=part]").last
        height.fill(f"{pictures.layout.board.height_mm:g}")
        page.get_by_role("button", name=BY_CORNERS).click()
        expect(page.locator("#findings .fault").first).to_be_visible()
        # The fields show the corners estimated from the markers again.
        height.fill(f"{pictures.layout.board.height_mm:g}")
        page.get_by_role("button", name=BY_CORNERS).click()
        expect(page.locator("h1")).to_have_text("Lights")
        page.get_by_role("button", name="Back").click()
        expect(page.locator("h1")).to_have_text("The table")
        page.get_by_role("button", name="Skip this step").click()
        page.get_by_role("button", name="These show the lights").click()
        page.get_by_role("button", name="That is right").click()
        expect(page.locator("h1")).to_have_text("The set-up")
        page.locator("summary", has_text="Send a photo").click()
        photo = {
            "name": "photo.png",
            "mimeType": "image/png",
            "buffer": cv2.imencode(".png", pictures.set_up)[1].tobytes(),
        }
        page.get_by_label("Photo").set_input_files([photo])
        page.get_by_role("button", name="Send it").click()
        expect(page.locator("h1")).to_have_text("A test turn")
        page.get_by_role("link", name="Deutsch").click()
        expect(page.locator("html")).to_have_attribute("lang", "de")
    assert (tmp_path / "looks.json").is_file()
