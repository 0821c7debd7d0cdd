"""Learning the appearance of a set of pyramids from pictures of known stacks, or from an unknown set-up."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from common.phrases import Phrase
from vision.errors import EnrolmentError
from vision.frame import FloatArray
from vision.layout.pieces import PyramidPieces, Surface
from vision.readers.enrolment import PositionText, check_distinct
from vision.readers.protocols import EnrolmentPicture, SurfaceView
from vision.readers.stacks.appearance import NEUTRALS, SIZE_WORDS, PyramidAppearance, Stack, hues_of
from vision.readers.stacks.network import StackCrops, flatten_sides, levels_beside_tips, shipped_finder, tip_heights_mm
from vision.readers.stacks.reader import USUAL_LEVEL, StackReader

FEWEST_TOPS = 2
"""Minimum number of tops of a colour in a set-up for learning it. Higher: surer hues, but more set-ups are rejected."""
SAME_HUE = 0.5
"""Distance of two hues, in log units, below which a set is rejected. Higher: more sets are rejected. Set by hand, like
all here.
"""
LEAST_HUE = 0.6
"""Minimum distance from grey, in log units, of a hue with a name; clear pyramids are at about 0.3."""
LEAST_LIKENESS = 0.8
"""Minimum cosine of the angle at grey between a hue and a usual one, for it to get that name: 37 degrees, half of the
angle between usual ones.
"""

_PYRAMID = re.compile(r"([SML]):([a-z]+)")


def stack_of(pyramids: Sequence[str]) -> Stack:
    """Parse pyramids written as ``L:red``, from below; raises EnrolmentError for an unknown one."""
    stack = []
    for pyramid in pyramids:
        match = _PYRAMID.fullmatch(pyramid)
        if match is None:
            sizes = ", ".join(SIZE_WORDS)
            raise EnrolmentError(
                "cannot read the pyramid {pyramid!r}; expected a size ({sizes}) and a colour, the lowest "
                "pyramid first, such as 'L:red S:red'",
                pyramid,
                sizes,
            )
        stack.append((match[1], match[2]))
    if not stack:
        raise EnrolmentError("a stack without pyramids; leave its square out")
    return tuple(stack)


def _stack(text: str, surface: Surface) -> Stack:  # noqa: ARG001
    return stack_of(text.split())


STACK_POSITIONS = PositionText("stack", '"a2=L:red S:red, c3=L:clear"', _stack)
"""The stack on each square, from below."""


def enrol(pictures: Sequence[EnrolmentPicture], surface: Surface) -> PyramidAppearance:
    """Learn the hue of each colour, and the stacks of the set-up, from pictures of known stacks.

    A picture's position lists each stack's pyramids from below, as (size, colour). Raises EnrolmentError naming a
    colour that is not shown or that looks like another.
    """
    hues: dict[str, list[FloatArray]] = defaultdict(list)
    set_up: dict[str, Stack] = {}
    finder, pieces = shipped_finder(), PyramidPieces.on(surface)
    for picture in pictures:
        crops, places = StackCrops(picture.camera, picture.pose, surface), list(picture.position)
        seen = crops.of(picture.image, places)
        found = finder.find(crops, seen, places, tip_heights_mm(surface))
        set_up.update(picture.position)
        tips_mm = np.empty((len(places), 3))
        for number, (place, stack) in enumerate(picture.position.items()):
            tip_mm = np.array([*found.feet_mm[number], surface.height_mm + pieces.tip_mm(stack[-1][0], len(stack) - 1)])
            away = np.hypot(*(found.tips_px[number] - crops.pixels(place, tip_mm[None])).T)
            tips_mm[number] = crops.at_height(place, found.tips_px[number, away.argmin()], tip_mm[2])
        sides = flatten_sides(crops, seen, places, tips_mm, found.angles_rad)
        levels = levels_beside_tips(sides, crops.views(places), found.angles_rad)
        levels *= USUAL_LEVEL / max(float(seen.mean()), 1.0)
        for stack, hue in zip(picture.position.values(), hues_of(levels), strict=True):
            colour = stack[-1][1]
            if colour not in NEUTRALS:
                hues[colour].append(hue)
    if not hues:
        raise EnrolmentError("no stack with a coloured pyramid on top is known; take a picture of the set-up")
    colours = {colour: np.asarray(np.median(np.stack(seen), axis=0)) for colour, seen in hues.items()}
    check_distinct(colours, lambda off: float(np.linalg.norm(off)), SAME_HUE)
    return PyramidAppearance(colours, set_up)


def learn_set_up(view: SurfaceView, plain: PyramidAppearance, _start: Mapping[str, str]) -> PyramidAppearance:
    """Learn the hues of a set from a set-up, given the usual hues.

    Saturation depends on the plastic, so only a hue's direction from grey names it. The start's looks do not matter:
    any colour may be anywhere. Raises EnrolmentError if a colour is seen too rarely or looks like another.
    """
    seen = StackReader(view.surface, plain).read(view, view.surface.places, {})
    hues: dict[str, list[FloatArray]] = defaultdict(list)
    for stack in seen.values():
        hue = hues_of(stack.top.levels)
        if stack.log_odds <= 0 or np.linalg.norm(hue) < LEAST_HUE:
            continue
        likeness = {colour: _likeness(hue, usual) for colour, usual in plain.colours.items()}
        colour = max(likeness, key=lambda name: likeness[name])
        if likeness[colour] > LEAST_LIKENESS:
            hues[colour].append(hue)
    for colour in plain.colours:
        if len(hues[colour]) < FEWEST_TOPS:
            raise EnrolmentError(
                Phrase(
                    "1 {colour} pyramid found in the set-up; at least {fewest_tops} are needed to learn the "
                    "colour: check that the game is set up, improve the light, or enrol the set with a picture "
                    "of a known position",
                    colour,
                    FEWEST_TOPS,
                )
                if len(hues[colour]) == 1
                else Phrase(
                    "{hue} {colour} pyramids found in the set-up; at least {fewest_tops} are needed to learn "
                    "the colour: check that the game is set up, improve the light, or enrol the set with a "
                    "picture of a known position",
                    len(hues[colour]),
                    colour,
                    FEWEST_TOPS,
                )
            )
    colours = {colour: np.asarray(np.median(np.stack(hues[colour]), axis=0)) for colour in plain.colours}
    check_distinct(colours, lambda off: float(np.linalg.norm(off)), SAME_HUE)
    return replace(plain, colours=colours)


def _likeness(hue: FloatArray, other: FloatArray) -> float:
    """Return the cosine of the angle at grey between two hues."""
    return float(hue @ other / (np.linalg.norm(hue) * np.linalg.norm(other)))
