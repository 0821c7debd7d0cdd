"""Every screen at five sizes: what matters is large, in sight and whole; ``--pictures FOLDER`` also keeps its pictures.

A kept picture shows one screen at all sizes, light in English above dark in German. It is for people: pixels are never
compared, since they differ from machine to machine.
"""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tests.system.page.screens import SCREENS
from vision.frame import Image
from vision.images import load_image

KEPT = Path(__file__).parents[3] / "docs" / "screens"
MOST_KEPT_BYTES = 1_500_000
SIZES = {
    "phone": (360, 740),
    "phone on its side": (740, 360),
    "tablet": (820, 1180),
    "tablet on its side": (1180, 820),
    "wall": (1920, 1080),
}
LOOKS = {"light": "en-GB", "dark": "de-DE"}
FACTS = Path(__file__).with_name("facts.js").read_text(encoding="utf-8")
LEAST_SHARE = 0.92
"""Of the screen's shorter side that a board fills, once the strips above and below it have their place."""
LEAST_LETTERS_PX = 28
"""Height of letters that can be read from across a room."""
SCALE, GAP_PX, QUALITY = 0.28, 6, 34
"""Of a kept picture: size of a screen, distance, and WebP's quality; so that all are together under 1.5 MB."""


def shot_of(page: Any) -> Image:
    """The picture of a page."""
    shot = np.frombuffer(page.screenshot(animations="disabled", caret="hide"), np.uint8)
    return cv2.imdecode(shot, cv2.IMREAD_COLOR)  # type: ignore[return-value]


def row_of(pictures: list[Image]) -> Image:
    """The pictures of one look: those that lie on their side one above the other, the others beside them."""
    phone, phone_side, tablet, tablet_side, wall = (_framed(each) for each in pictures)
    width = max(phone_side.shape[1], tablet_side.shape[1])
    between = [_padded(each, each.shape[0], width) for each in (phone_side, tablet_side)]
    columns = [phone, np.vstack(between), tablet, wall]
    height = max(each.shape[0] for each in columns)
    return np.hstack([_padded(each, height, each.shape[1]) for each in columns])


def _framed(picture: Image) -> Image:
    small = cv2.resize(picture, None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_AREA)
    return cv2.copyMakeBorder(small, *(GAP_PX,) * 4, cv2.BORDER_CONSTANT, value=(128,) * 3).astype(np.uint8)


def _padded(picture: Image, height: int, width: int) -> Image:
    down, right = height - picture.shape[0], width - picture.shape[1]
    return cv2.copyMakeBorder(picture, 0, down, 0, right, cv2.BORDER_CONSTANT, value=(128,) * 3).astype(np.uint8)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_shows_what_matters_at_every_size(
    name: str, tmp_path: Path, visit: Any, pytestconfig: pytest.Config
) -> None:
    folder = pytestconfig.getoption("--pictures", default=None)
    screen, rows, faults = SCREENS[name], [], []
    with screen.served(tmp_path) as address:
        for scheme, locale in LOOKS.items():
            page = visit(
                address, is_paired=False, locale=locale, color_scheme=scheme, reduced_motion="reduce",
                viewport={"width": 360, "height": 740},
            )  # fmt: skip
            if screen.is_table:
                page.wait_for_selector("html[data-live]", state="attached")
            screen.first(page)
            pictures = []
            for size, (width, height) in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                page.evaluate("scrollTo(0, 0)")
                told = faults_of(page.evaluate(FACTS), size, is_table=screen.is_table)
                faults += [f"on a {size} in {locale}: {fault}" for fault in told]
                if folder is not None:
                    pictures.append(shot_of(page))
            if folder is not None:
                rows.append(row_of(pictures))
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        assert cv2.imwrite(str(Path(folder, f"{name}.webp")), np.vstack(rows), [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    assert faults == []


def faults_of(facts: dict[str, Any], size: str, *, is_table: bool) -> list[str]:
    """What is wrong with a screen of this size, each with where or how much."""
    listed = ["overlapping", "cut"] + ["out_of_sight", "hidden"] * is_table + ["small"] * (size != "wall")
    faults = [f"{what.replace('_', ' ')}: {each}" for what in listed for each in facts[what]]
    if facts["wide"] > 0:
        faults.append(f"{facts['wide']} px too wide")
    if is_table and facts["filled"] < LEAST_SHARE:
        faults.append(f"the largest drawing fills {facts['filled']:.2f} of its room")
    if is_table and size == "wall" and facts["letters"] < LEAST_LETTERS_PX:
        faults.append(f"clock or score of {facts['letters']} px")
    return faults


def test_each_screen_has_a_picture_in_the_docs_and_all_are_small() -> None:
    pictures = sorted(KEPT.glob("*"))
    redraw = "run pytest tests/system/page/test_pictures.py --pictures docs/screens"
    assert sorted(each.stem for each in pictures) == sorted(SCREENS), redraw
    assert sum(each.stat().st_size for each in pictures) <= MOST_KEPT_BYTES
    for each in pictures:
        assert min(load_image(each).shape[:2]) > 100
