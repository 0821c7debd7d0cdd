"""Sets of pictures with known truth: opens a folder, learns its piece sets, and converts readings for the scorer.

A set's folder holds ``layout.json``, ``index.json`` (file name to camera), pictures ``000.jpg``, ``001.jpg``, ... and,
for enrolment, ``enrol*.jpg`` with ``enrol*.json``. The calibration folder has a folder of ChArUco pictures for each
camera. Of the truth files, only those of enrolment pictures are read.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.parts.picture_changes import EFFECTS, LabelledPicture, with_effect
from common.places import EMPTY
from engine.registry import load
from referee.session.ports import ServiceSettings
from vision.calibration import calibrate
from vision.errors import LayoutError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, Side
from vision.images import load_image
from vision.layout.pieces import Surface
from vision.layout.table import TableLayout, load_layout
from vision.locating.location import locate
from vision.readers.blocks import enrolment as block_enrolment
from vision.readers.discs import enrolment as disc_enrolment
from vision.readers.discs.lighting import look_name
from vision.readers.ink.reader import LOOP
from vision.readers.protocols import EnrolmentPicture, LearnedLook
from vision.readers.stacks import enrolment as stack_enrolment
from vision.readers.stacks.appearance import SIZE_WORDS
from vision.readers.stacks.enrolment import stack_of
from vision.reading import DieReading, HindranceKind, PlaceReading, Reading
from vision.self_calibration import estimate_camera


@dataclass(frozen=True, eq=False)
class TeachingPicture:
    """An enrolment picture, its camera, and its truth as parsed JSON."""

    image: Image
    camera: CameraModel
    truth: Mapping[str, Any]
    name: str


@dataclass(frozen=True)
class PictureGame:
    """``learn`` gives a piece set's appearance from its pictures; ``answer`` converts a reading for the scorer.

    ``learn`` is ``None`` for pieces that need no teaching. ``looks`` gives the true look of each place with one.
    """

    learn: Callable[[Sequence[TeachingPicture], TableLayout], LearnedLook] | None
    answer: Callable[[Reading], dict[str, Any]]
    looks: Callable[[Mapping[str, Any], TableLayout], dict[str, str]] = lambda *_: {}


def learned(
    pictures: Sequence[TeachingPicture],
    layout: TableLayout,
    position: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    enrol: Callable[[Sequence[EnrolmentPicture], Surface], LearnedLook],
) -> LearnedLook:
    """Learn a piece set; ``position`` reads places from the truth. Raises what ``locate`` and ``enrol`` raise."""
    known = [
        EnrolmentPicture(
            picture.image,
            picture.camera,
            locate(picture.image, picture.camera, layout).pose,
            position(picture.truth),
            picture.name,
            layout.markers,
        )
        for picture in pictures
    ]
    return enrol(known, layout.board)


# Deblockle: blocks by square, colour and upper symbol, and whether the board is covered.

_BLOCK = re.compile(r"(?P<colour>\S+) block, (?P<symbol>\S+) up")
LARGE_PLACES = 2


def _blocks_in(truth: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {block["cell"]: (block["colour"], block["top"]) for block in truth["blocks"]}


def blocks_seen(reading: Reading) -> list[dict[str, str]]:
    """Give the places whose most probable look is a block."""
    seen = []
    for place, one in reading.places.items():
        look = one.best[0]
        match = None if one.hidden_by or look == EMPTY else _BLOCK.fullmatch(look)
        if match:
            seen.append({"cell": place, "colour": match["colour"], "top": match["symbol"]})
    return seen


def is_covered(reading: Reading) -> bool:
    """Whether a hand, or another large object, covers the board."""
    covering = reading.hindered_by(HindranceKind.OBJECT)
    return reading.hindered_by(HindranceKind.HAND) is not None or (
        covering is not None and len(covering.places) >= LARGE_PLACES
    )


# Diaballik: each player's pieces by square, and which of them has the ball.

PLAYERS = load("diaballik").players
PIECES_EACH = 7


def _discs_in(truth: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    return {piece["cell"]: (PLAYERS[piece["player"] - 1], piece["ball"]) for piece in truth["pieces"]}


def pieces_seen(reading: Reading) -> list[dict[str, Any]]:
    """Give the most probable position in which each player has all pieces, one of them with the ball.

    At most as many pieces may be missing as places are hidden.
    """
    owners = _owners(reading)
    carriers = {
        max(own, key=lambda place: _carries(reading.places[place], player))
        for player in PLAYERS
        if (own := [place for place, owner in owners.items() if owner == player])
    }
    return [
        {"cell": place, "player": PLAYERS.index(player) + 1, "ball": place in carriers}
        for place, player in owners.items()
    ]


def _owners(reading: Reading) -> dict[str, str]:
    """Owners by place in the most probable position with the right number of pieces.

    Dynamic programming over places: for each pair of piece counts, only the most probable position is kept.
    """
    tables: dict[tuple[int, ...], tuple[float, dict[str, str]]] = {(0,) * len(PLAYERS): (0.0, {})}
    for place, one in reading.places.items():
        if one.hidden_by is not None:
            continue
        further: dict[tuple[int, ...], tuple[float, dict[str, str]]] = {}
        for owner in (None, *PLAYERS):
            looks = [EMPTY] if owner is None else [look_name(owner, ball) for ball in (False, True)]
            log_probability = math.log(max(1e-9, sum(one.probabilities.get(look, 0.0) for look in looks)))
            for counts, (total, owners) in tables.items():
                now = tuple(count + (player == owner) for player, count in zip(PLAYERS, counts, strict=True))
                likelihood = total + log_probability
                if max(now) <= PIECES_EACH and (now not in further or likelihood > further[now][0]):
                    further[now] = (likelihood, owners if owner is None else {**owners, place: owner})
        tables = further
    most_missing = len(reading.hidden)
    complete = [
        table for counts, table in tables.items() if sum(PIECES_EACH - count for count in counts) <= most_missing
    ]
    return max(complete, key=lambda table: table[0], default=(0.0, {}))[1]


def _carries(one: PlaceReading, player: str) -> float:
    """The odds that a player's piece on a place has the ball."""
    return one.probabilities[look_name(player, True)] / one.probabilities[look_name(player, False)]


# Blockade: the top of each square's stack by size and colour, and the dice by their colours.

_LETTERS = {word: letter for letter, word in SIZE_WORDS.items()}


def _stacks_in(truth: Mapping[str, Any]) -> dict[str, Any]:
    return {place: stack_of(stack) for place, stack in truth["stacks"].items()}


def tops_seen(reading: Reading) -> dict[str, str]:
    """Give the most probable top of each place's stack, such as ``M:yellow``."""
    seen = {}
    for place, one in reading.places.items():
        looks = {look: share for look, share in one.probabilities.items() if look != EMPTY}
        colour, size = max(looks, key=lambda look: looks[look]).split()
        seen[place] = f"{_LETTERS[size]}:{colour}"
    return seen


def dice_seen(reading: Reading) -> dict[str, int]:
    """Give the most probable face of each die, by its colour."""
    return {die.die: int(die.best[0]) for roll in reading.rolls for die in roll.dice if die.die and die.faces}


def _tops_in(truth: Mapping[str, Any], _layout: TableLayout) -> dict[str, str]:
    tops = {place: stack[-1].split(":") for place, stack in truth["stacks"].items()}
    return {place: f"{colour} {SIZE_WORDS[size]}" for place, (size, colour) in tops.items()}


# Dice in a tray: where each lies in millimetres, and its value, which is null for one that leans.


def _die(die: DieReading) -> dict[str, Any]:
    return {"x": round(die.x_mm, 1), "y": round(die.y_mm, 1), "value": None if die.cocked else int(die.best[0])}


# Sheets: each cell's content in lines from the top; loops by their cells' rows and columns; faces of the dice.

_LETTER_OF = {
    "empty": ".",
    "cross": "X",
    **{colour: colour[0].upper() for colour in ("red", "blue", "yellow", "green")},
}


def cells_seen(reading: Reading) -> list[str]:
    """Give a sheet's lines from the top, a character for each cell."""
    lines: dict[int, dict[str, str]] = {}
    for place, one in reading.places.items():
        name = place.partition(".")[2]
        look = one.best[0]
        lines.setdefault(int(name[1:]), {})[name[0]] = _LETTER_OF.get(look, look.removeprefix("digit ")[:1])
    return ["".join(lines[row][column] for column in sorted(lines[row])) for row in sorted(lines, reverse=True)]


_LOOK_OF = {letter: look for look, letter in _LETTER_OF.items()}


def _cells_in(truth: Mapping[str, Any], layout: TableLayout) -> dict[str, str]:
    prefix, rows = layout.board.prefix, len(truth["grid"])
    circled = {tuple(cell) for loop in truth.get("circled", ()) for cell in loop}
    return {
        f"{prefix}{chr(ord('a') + column)}{rows - row}": _LOOK_OF.get(sign, f"digit {sign}")
        + " circled" * ((row, column) in circled)
        for row, line in enumerate(truth["grid"])
        for column, sign in enumerate(line)
    }


def loops_seen(
    circled: Mapping[tuple[int, int], bool], sides: Mapping[tuple[int, int], Mapping[str, Mapping[str, float]]]
) -> list[frozenset[tuple[int, int]]]:
    """Give the cells of each loop, by row from the top and column, from circled cells and the contents of their sides:
    circled cells that no line parts are in one loop.
    """
    left = {cell for cell, is_circled in circled.items() if is_circled}
    loops = []
    while left:
        pending = [min(left)]
        left.remove(pending[0])
        found = set(pending)
        while pending:
            row, column = pending.pop()
            shown = sides.get((row, column), {})
            for side, (down, right) in zip(Side, ((-1, 0), (0, 1), (1, 0), (0, -1)), strict=True):
                beside = (row + down, column + right)
                if beside in left and shown.get(side, {}).get(LOOP, 0.0) <= 0.5:
                    left.remove(beside)
                    found.add(beside)
                    pending.append(beside)
        loops.append(frozenset(found))
    return loops


def circled_seen(reading: Reading) -> list[list[list[int]]]:
    """Give each loop's cells, as row from the top and column."""
    cells = {}
    top = max((int(place.partition(".")[2][1:]) for place in reading.places), default=0)
    for place, one in reading.places.items():
        name = place.partition(".")[2]
        cells[top - int(name[1:]), ord(name[0]) - ord("a")] = one
    if not cells:
        return []
    circled = {cell: one.best[0].endswith("circled") for cell, one in cells.items()}
    loops = loops_seen(circled, {cell: one.sides for cell, one in cells.items()})
    return [[list(cell) for cell in sorted(loop)] for loop in loops]


def faces_seen(reading: Reading) -> list[str]:
    """Give the most probable face of each die, as its game writes it."""
    return sorted(die.best[0] for roll in reading.rolls for die in roll.dice)


PICTURE_GAMES: Mapping[str, PictureGame] = MappingProxyType(
    {
        "blockade": PictureGame(
            partial(learned, position=_stacks_in, enrol=stack_enrolment.enrol),
            lambda reading: {"tops": tops_seen(reading), "dice": dice_seen(reading)},
            _tops_in,
        ),
        "blokus-dice": PictureGame(
            None,
            lambda reading: {"grid": cells_seen(reading), "dice": [int(face) for face in faces_seen(reading)]},
            _cells_in,
        ),
        "deblockle": PictureGame(
            partial(learned, position=_blocks_in, enrol=block_enrolment.enrol),
            lambda reading: {"blocks": blocks_seen(reading), "occluded": is_covered(reading)},
            lambda truth, _: {place: f"{colour} block, {top} up" for place, (colour, top) in _blocks_in(truth).items()},
        ),
        "diaballik": PictureGame(
            partial(learned, position=_discs_in, enrol=disc_enrolment.enrol),
            lambda reading: {"pieces": pieces_seen(reading)},
            lambda truth, _: {place: look_name(*piece) for place, piece in _discs_in(truth).items()},
        ),
        "number-drop": PictureGame(
            None,
            lambda reading: {
                "grid": cells_seen(reading),
                "circled": circled_seen(reading),
                "dice": faces_seen(reading),
            },
            _cells_in,
        ),
        "dice": PictureGame(None, lambda reading: {"dice": [_die(die) for roll in reading.rolls for die in roll.dice]}),
    }
)
"""By the game's name in a set's layout."""


def picture_settings(game: str) -> ServiceSettings:
    """Each picture is a table at rest at the end of a turn; the pieces may begin anywhere, and, where that may be left
    open, either player.
    """
    open_start = any(option.name == "starts" for option in load(game).options)
    return ServiceSettings(options={"starts": "either"} if open_start else {}, anywhere=True, stills=True)


_PICTURE = re.compile(r"\d+\.(jpg|jpeg|png)")


class PictureFolder:
    """A folder of pictures; each camera is calibrated on first use.

    Raises OSError, ValueError and LayoutError for a folder without the files it needs.
    """

    def __init__(
        self, folder: Path, calibration: Path, effect: str | None = None, *, learns_cameras: bool = False
    ) -> None:
        """Open a folder; ``effect`` names one of ``picture_changes.EFFECTS`` to apply to its pictures.

        ``learns_cameras``: the camera of an enrolment picture is measured from the picture, not from ChArUco pictures.
        """
        self._learns_cameras = learns_cameras
        self.folder = folder
        self._effect = effect
        self.layout = load_layout(folder / "layout.json")
        self._index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        self._calibration = calibration
        self._calibrated = cache(self._calibrate)
        self._learned = cache(self._learn)

    @property
    def game(self) -> PictureGame:
        """The functions for the set's game; raises LayoutError for an unknown game."""
        known = PICTURE_GAMES.get(self.layout.game)
        if known is None:
            there = ", ".join(PICTURE_GAMES)
            raise LayoutError(f"sets of {self.layout.game!r} can't be answered; there is a part for {there}")
        return known

    @property
    def pictures(self) -> list[Path]:
        """The numbered pictures, in order."""
        return sorted(path for path in self.folder.iterdir() if _PICTURE.fullmatch(path.name))

    def image(self, path: Path) -> Image:
        """A picture, with the effect if it applies; raises what ``load_image`` raises."""
        image = load_image(path)
        is_read = _PICTURE.fullmatch(path.name) is not None
        if self._effect is None or not (is_read or EFFECTS[self._effect].in_enrolment):
            return image

        @cache
        def view() -> tuple[CameraModel, Pose]:
            camera = self.camera_of(path.name)
            return camera, locate(image, camera, self.layout).pose

        return with_effect(self._effect, LabelledPicture(image, view, self.layout))

    def load(self, path: Path) -> tuple[Image, CameraModel]:
        """A picture and the camera that took it; raises what ``image`` and ``calibrate`` raise."""
        return self.image(path), self.camera_of(path.name)

    def camera_name_of(self, name: str) -> str:
        """The name of a picture's camera, by file name; raises KeyError for a picture that the index does not list."""
        return str(self._index[name]["camera"])

    def camera_of(self, name: str) -> CameraModel:
        """The calibrated camera of a picture, by file name; raises what ``camera_name_of`` raises."""
        return self._calibrated(self.camera_name_of(name))

    def _calibrate(self, camera: str) -> CameraModel:
        views = [load_image(path) for path in sorted((self._calibration / camera).glob("*.jpg"))]
        return calibrate(views, name=camera)

    def looks_of(self, name: str) -> LearnedLook | None:
        """The piece set in a picture, learned from its enrolment pictures; ``None`` without any.

        Raises what the game's ``learn`` raises.
        """
        return self._learned(self._set_of(name))

    def _set_of(self, name: str) -> str:
        return str(self._index[name].get("set", ""))

    def _learn(self, set_name: str) -> LearnedLook | None:
        pictures = []
        for path in sorted(self.folder.glob("enrol*.jpg")):
            if self.game.learn is not None and self._set_of(path.name) == set_name:
                image = self.image(path)
                camera = (
                    estimate_camera([image], self.layout).camera if self._learns_cameras else self.camera_of(path.name)
                )
                truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
                pictures.append(TeachingPicture(image, camera, truth, path.name))
        return self.game.learn(pictures, self.layout) if pictures and self.game.learn is not None else None
