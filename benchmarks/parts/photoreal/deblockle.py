"""Deblockle: blocks by square, colour and symbol up, and whether something is over the board."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchmarks.parts.photoreal.picture_game import PictureGame, TeachingPicture
from common.places import EMPTY
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.enrolment import enrol
from vision.readers.protocols import EnrolmentPicture
from vision.reading import HindranceKind, Reading

_LOOK = re.compile(r"(?P<colour>\S+) block, (?P<symbol>\S+) up")
LARGE_PLACES = 2


def learn_blocks(pictures: Sequence[TeachingPicture], layout: TableLayout) -> BlockAppearance:
    """The set's colours and symbols; raises what ``locate`` and ``enrol`` raise."""
    known = [
        EnrolmentPicture(
            picture.image,
            picture.camera,
            locate(picture.image, picture.camera, layout).pose,
            {block["cell"]: (block["colour"], block["top"]) for block in picture.said["blocks"]},
            picture.name,
        )
        for picture in pictures
    ]
    return enrol(known, layout.board)


def blocks_seen(reading: Reading) -> list[dict[str, str]]:
    """Give each place's most probable look, where it is a block."""
    seen = []
    for place, one in reading.places.items():
        look = one.best[0]
        match = None if one.hidden_by or look == EMPTY else _LOOK.fullmatch(look)
        if match:
            seen.append({"cell": place, "colour": match["colour"], "top": match["symbol"]})
    return seen


def is_covered(reading: Reading) -> bool:
    """Whether a hand is over the board, or something large that was not made out to be one."""
    thing = reading.hindered_by(HindranceKind.OBJECT)
    return reading.hindered_by(HindranceKind.HAND) is not None or (
        thing is not None and len(thing.places) >= LARGE_PLACES
    )


def _answer(reading: Reading, _layout: TableLayout) -> dict[str, Any]:
    return {"blocks": blocks_seen(reading), "occluded": is_covered(reading)}


DEBLOCKLE = PictureGame(learn_blocks, _answer)
