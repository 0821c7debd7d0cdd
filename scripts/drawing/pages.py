"""Draw the page's pictures in docs/pictures, page-table.png, page-phones.png and page-setup.jpg, and its icons.

Run: python scripts/drawing/pages.py [FOLDER]

The first two show games after a few turns that were typed, the third a virtual table that is being set up, in the
system's Chromium (apt install chromium).
"""

import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click
import cv2
import numpy as np
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from app.setup.page import SetUpEnvironment, SetUpPage
from app.setup.picture_checks import SharedCamera
from app.setup.routes import create_set_up
from app.setup.steps import Progress, steps_of
from benchmarks.parts.page.browser import chromium
from engine.registry import load
from frontends.page.access import Role
from frontends.page.server import open_page, open_site
from frontends.page.settings import PageOptions
from frontends.table_port import SnapshotHub, TablePort
from referee.commands.values import CommandQueue
from scripts.drawing.screens import screen_of
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from vision.frame import Image

_WIDE, _PHONE = (1180, 820), (360, 640)
_GAP_PX = 16
_SEEN = (960, 540)
_DAY = date(2026, 5, 1)
_QUALITY = 85
_STATIC = ROOT / "frontends" / "page" / "static"
_PHONES = (("blockade", "light", "en-GB"), ("diaballik", "dark", "de-DE"), ("number-drop", "light", "en-GB"))


def picture_of(browser: Browser, name: str, size: tuple[int, int], scheme: str, locale: str) -> Image:
    """Give a screenshot of a game's page."""
    shown = screen_of(name)
    hub = SnapshotHub()
    if shown.snapshot is not None:
        hub(replace(shown.snapshot, evidence=None))
    port = TablePort(shown.game, hub, CommandQueue(time.monotonic))
    with open_page(port, PageOptions(), print) as opened:
        return shown_at(browser, opened.address, size, scheme, locale)


def shown_at(browser: Browser, address: str, size: tuple[int, int], scheme: str, locale: str) -> Image:
    """Give a screenshot of the page at an address."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=locale,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-live]", state="attached")
    picture = screenshot(page)
    context.close()
    return picture


def screenshot(page: Page) -> Image:
    """Give what a page shows."""
    png = np.frombuffer(page.screenshot(), dtype=np.uint8)
    return np.asarray(cv2.imdecode(png, cv2.IMREAD_COLOR), dtype=np.uint8)


def steps_of_set_up(browser: Browser) -> list[Image]:
    """Give a phone's screenshots of two steps of a set-up: looking at the table, and comparing the grid."""
    picture = Renderer(1).render(Scene(standard_setting(lens(_SEEN)), ()), 0)
    shown = []
    for done in (3, 4):
        with tempfile.TemporaryDirectory() as name, closing(SharedCamera()) as shared_camera:
            folder = Path(name)
            cv2.imwrite(str(folder / "1.png"), picture)
            steps = [step.name for step in steps_of(load("deblockle"))][:done]
            size = {"camera.width_px": _SEEN[0], "camera.height_px": _SEEN[1]}
            kept = Progress(folder, "deblockle", steps, {"camera.source": f"folder:{folder}", **size})
            setting_up = SetUpPage(SetUpEnvironment(folder, shared_camera, _DAY, "a4", _nobody, _nobody), kept)
            make = partial(create_set_up, setting_up)
            with open_site(make, PageOptions(), print, key=None, roles=(Role.OWN,)) as opened:
                shown.append(shown_at(browser, opened.address, _PHONE, "light", "en-GB"))
    return shown


def _nobody(_: object) -> Any:
    return None


def draw_icon(browser: Browser, side: int) -> Path:
    """Draw the page's icon as a PNG of this size, for devices that take no SVG."""
    drawing = (_STATIC / "icon.svg").read_text(encoding="utf-8")
    page = browser.new_page(viewport={"width": side, "height": side})
    page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{drawing}")
    path = _STATIC / f"icon-{side}.png"
    cv2.imwrite(str(path), screenshot(page), [cv2.IMWRITE_PNG_COMPRESSION, 9])
    page.close()
    return path


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / "docs" / "pictures")
def main(folder: Path) -> None:
    """Write the pictures into the given folder, by default docs/pictures."""
    with chromium() as browser:
        table = picture_of(browser, "deblockle", _WIDE, "light", "en-GB")
        phones = [picture_of(browser, name, _PHONE, scheme, locale) for name, scheme, locale in _PHONES]
        set_up = steps_of_set_up(browser)
        print(*(draw_icon(browser, side) for side in (192, 512)), sep="\n")
    gap: Image = np.full((_PHONE[1], _GAP_PX, 3), 255, dtype=np.uint8)

    def beside(shown: list[Image]) -> Image:
        return np.asarray(np.hstack([part for each in shown for part in (each, gap)][:-1]), dtype=np.uint8)

    for name, picture in (
        ("page-table.png", table),
        ("page-phones.png", beside(phones)),
        ("page-setup.jpg", beside(set_up)),
    ):
        is_photo = name.endswith(".jpg")
        settings = [cv2.IMWRITE_JPEG_QUALITY, _QUALITY] if is_photo else [cv2.IMWRITE_PNG_COMPRESSION, 9]
        cv2.imwrite(str(folder / name), picture, settings)
        print(folder / name)


if __name__ == "__main__":
    main()
