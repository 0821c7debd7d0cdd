"""Blockade: the top of each square's stack by size and colour, and the dice by their colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.parts.photoreal.picture_game import PictureGame, TeachingPicture
from common.places import EMPTY
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.protocols import EnrolmentPicture
from vision.readers.stacks.appearance import SIZE_WORDS, PyramidAppearance
from vision.readers.stacks.enrolment import enrol
from vision.readers.stacks.positions import stack_of
from vision.reading import Reading

_LETTERS = {word: letter for letter, word in SIZE_WORDS.items()}


def learn_pyramids(pictures: Sequence[TeachingPicture], layout: TableLayout) -> PyramidAppearance:
    """The set's hues and where its large pyramids stand; raises what ``locate`` and ``enrol`` raise."""
    known = [
        EnrolmentPicture(
            picture.image,
            picture.camera,
            locate(picture.image, picture.camera, layout).pose,
            {place: stack_of(stack) for place, stack in picture.said["stacks"].items()},
            picture.name,
            layout.markers,
        )
        for picture in pictures
    ]
    return enrol(known, layout.board)


def tops_seen(reading: Reading) -> dict[str, str]:
    """Give each place's most probable top, such as ``M:yellow``."""
    seen = {}
    for place, one in reading.places.items():
        looks = {look: share for look, share in one.probabilities.items() if look != EMPTY}
        colour, size = max(looks, key=lambda look: looks[look]).split()
        seen[place] = f"{_LETTERS[size]}:{colour}"
    return seen


def dice_seen(reading: Reading) -> dict[str, int]:
    """Give the most probable face of each die, by its colour."""
    return {
        die.die: int(max(die.faces, key=lambda face: die.faces[face]))
        for roll in reading.rolls
        for die in roll.dice
        if die.die and die.faces
    }


def _answer(reading: Reading, _layout: TableLayout) -> dict[str, Any]:
    return {"tops": tops_seen(reading), "dice": dice_seen(reading)}


BLOCKADE = PictureGame(learn_pyramids, _answer)
