"""Draw the pictures of the page in docs/pictures, page-table.png and page-phones.png, and the page's icons.

Run: python scripts/draw_pages.py [FOLDER]

Each shows a game after a few turns that were typed, in the system's Chromium (apt install chromium).
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from referee.commands.queue import CommandQueue  # noqa: E402
from referee.web.ports import PageOptions, SnapshotHub, TablePort  # noqa: E402
from referee.web.server import open_page  # noqa: E402
from vision.frame import Image  # noqa: E402

_SCREENS = runpy.run_path(str(ROOT / "scripts" / "draw_screens.py"))
_WIDE, _PHONE = (1180, 820), (360, 640)
_GAP_PX = 16
_STATIC = ROOT / "referee" / "web" / "static"
_PHONES = (("blockade", "light", "en-GB"), ("diaballik", "dark", "de-DE"), ("number-drop", "light", "en-GB"))


def picture_of(browser: Browser, name: str, size: tuple[int, int], scheme: str, locale: str) -> Image:
    """Give what a browser of this size shows of a game."""
    shown = _SCREENS["screen_of"](name)
    hub = SnapshotHub()
    hub(replace(shown.snapshot, evidence=None))
    port = TablePort(shown.game, hub, CommandQueue(time.monotonic))
    with open_page(port, PageOptions(), print) as opened:
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            locale=locale,
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(opened.address)
        page.wait_for_selector("html[data-live]", state="attached")
        png = np.frombuffer(page.screenshot(), dtype=np.uint8)
        context.close()
    picture: Image = np.asarray(cv2.imdecode(png, cv2.IMREAD_COLOR), dtype=np.uint8)
    return picture


def draw_icon(browser: Browser, side: int) -> Path:
    """Draw the page's icon as a PNG of this size, for devices that take no SVG."""
    drawing = (_STATIC / "icon.svg").read_text(encoding="utf-8")
    page = browser.new_page(viewport={"width": side, "height": side})
    page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{drawing}")
    path = _STATIC / f"icon-{side}.png"
    png = np.frombuffer(page.screenshot(), dtype=np.uint8)
    icon: Image = np.asarray(cv2.imdecode(png, cv2.IMREAD_COLOR), dtype=np.uint8)
    cv2.imwrite(str(path), icon, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    page.close()
    return path


def main() -> None:
    """Write both pictures into the folder that is named, or into docs/pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    folder = parser.parse_args().folder
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("there is no Chromium; apt install chromium")
    with sync_playwright() as playwright:
        # Root has no sandbox to be put in.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        table = picture_of(browser, "deblockle", _WIDE, "light", "en-GB")
        phones = [picture_of(browser, name, _PHONE, scheme, locale) for name, scheme, locale in _PHONES]
        print(*(draw_icon(browser, side) for side in (192, 512)), sep="\n")
        browser.close()
    gap: Image = np.full((_PHONE[1], _GAP_PX, 3), 255, dtype=np.uint8)
    beside = [part for phone in phones for part in (phone, gap)][:-1]
    for name, picture in (("page-table", table), ("page-phones", np.hstack(beside))):
        path = folder / f"{name}.png"
        cv2.imwrite(str(path), picture, [cv2.IMWRITE_PNG_COMPRESSION, 9])
        print(path)


if __name__ == "__main__":
    main()
