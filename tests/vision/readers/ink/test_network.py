"""The network of ink: its file is the one that was tested, and it reads made sheets."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.scene.written_sheets import written_sheet
from simulator.scene.handwriting import Writer
from tests.vision.readers.ink.sheets import EXPECTED, camera, layout, picture, pose
from vision.errors import EnrolmentError, WeightsError
from vision.frame import FloatArray, FloatImage
from vision.readers.ink.appearance import COPIED, InkAppearance, learn_handwriting, load_appearance, save_appearance
from vision.readers.ink.appearance import read_copied as read
from vision.readers.ink.network import (
    CELL_PX,
    OUTPUTS,
    SEEN_PX,
    SHIFTS_PX,
    SIGNS,
    TAUGHT_PX,
    WEIGHTS,
    Handwriting,
    HandwritingSettings,
    InkNetwork,
    calibrated,
    cell_of,
    cells_near_ink,
    ink_on,
    shipped,
    taught_cells,
)
from vision.readers.ink.reader import InkReader
from vision.readers.protocols import EnrolmentPicture, SurfaceView

SEED = 987
SHEETS = 2


def test_most_cells_of_unseen_synthetic_sheets_are_read_correctly() -> None:
    right = total = looped = 0
    for number in range(SHEETS):
        sheet = written_sheet(np.random.default_rng([SEED, number]), SIGNS, CELL_PX)
        cells = np.argwhere(sheet.signs >= 0)
        scores = shipped().read(ink_on(sheet.flat), cells)
        assert scores.shape == (len(cells), OUTPUTS)
        assert np.exp(scores[:, : len(SIGNS)]).sum(axis=1) == pytest.approx(1.0)
        right += int((scores[:, : len(SIGNS)].argmax(axis=1) == sheet.signs.ravel()).sum())
        looped += int(((scores[:, len(SIGNS)] > 0) == (sheet.loops.ravel() > 0)).sum())
        total += len(cells)
    assert right > 0.7 * total
    assert looped > 0.93 * total


def test_calibration_keeps_the_best_sign_and_changes_its_certainty() -> None:
    scores = np.array([[1.0, 3.0, 2.0], [5.0, 0.0, 1.0]])
    plain, surer = (np.exp(calibrated(scores, 1.0, written)) for written in (1.0, 2.0))
    assert plain == pytest.approx(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    assert surer.sum(axis=1) == pytest.approx(1.0)
    assert surer[0, 0] < plain[0, 0]
    assert surer[1, 0] > plain[1, 0]
    assert surer[:, 1] / surer[:, 2] == pytest.approx(plain[:, 1] / plain[:, 2])


def test_no_cells_give_no_scores() -> None:
    ink = np.zeros((2 * CELL_PX, 2 * CELL_PX), dtype=np.float32)
    assert shipped().read(ink, np.zeros((0, 2), dtype=np.int64)).shape == (0, OUTPUTS)


@pytest.mark.parametrize("chosen", [slice(None), slice(7, 8), slice(4, None, 9)])
def test_a_cell_is_read_alike_alone_and_among_others(chosen: slice) -> None:
    sheet = written_sheet(np.random.default_rng(SEED), SIGNS, CELL_PX)
    ink, cells = ink_on(sheet.flat), np.argwhere(sheet.signs >= 0)[chosen]
    near_ink = cells_near_ink(ink)[tuple(cells.T)]
    read = shipped().read(ink, cells)
    assert read[near_ink] == pytest.approx(_alone(ink, cells[near_ink]), abs=1e-3)
    assert read[~near_ink] == pytest.approx(
        np.tile(shipped().read(np.zeros_like(ink), cells[:1]), ((~near_ink).sum(), 1))
    )


def test_cells_far_from_ink_are_as_empty_as_the_network_finds_them() -> None:
    written = np.pad(
        ink_on(written_sheet(np.random.default_rng(SEED), SIGNS, CELL_PX).flat), ((0, 6 * CELL_PX), (0, 0))
    )
    rows, columns = (side // CELL_PX - 1 for side in written.shape)
    cells = np.argwhere(np.ones((rows, columns), dtype=np.bool_))
    far = ~cells_near_ink(written)[tuple(cells.T)]
    assert far[cells[:, 0] > rows - 4].all()
    for scores in (shipped().read(written, cells[far]), _alone(written, cells[far])):
        assert (scores[:, 0] > np.log(0.99)).all()
        assert (scores[:, len(SIGNS) :] < 0).all()


def _alone(ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
    """What the network makes of each cell's crop."""
    crops = [ink[CELL_PX * row :, CELL_PX * column :][:SEEN_PX, :SEEN_PX] for row, column in cells]
    return np.concatenate([shipped().scores(np.ascontiguousarray(crop[None, None])) for crop in crops])[:, 0, 0]


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTS, tmp_path / "weights")
    with (tmp_path / "weights" / "ink.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WeightsError, match="not those that were tested"):
        InkNetwork(tmp_path / "weights")


def test_the_weights_are_small_and_name_their_temperature() -> None:
    assert (WEIGHTS / "ink.onnx").stat().st_size < 1_000_000
    assert 0.3 < json.loads((WEIGHTS / "weights.json").read_text(encoding="utf-8"))["temperature"] < 3


# A household's own digits: learned from a filled sheet and kept in a file; unusable sheets are refused.

BOARD = layout("number-drop").board
SHOWN = "/".join(EXPECTED["number-drop"]["grid"])


def filled(shown: str = SHOWN) -> EnrolmentPicture:
    return EnrolmentPicture(picture("number-drop"), camera(), pose("number-drop"), read(shown, BOARD), "filled.jpg")


@pytest.fixture(scope="module")
def learned() -> InkAppearance:
    return learn_handwriting([filled()], BOARD)


def test_every_written_cell_is_learned_by_its_sign(learned: InkAppearance) -> None:
    signs = SHOWN.replace("/", "").replace(".", "")
    assert learned.handwriting is not None
    assert learned.handwriting.counts == {sign: signs.count(sign) for sign in SIGNS if sign in signs}
    assert learned.looks == InkAppearance().looks
    assert learned.traits[0][0].endswith(")")


def test_what_was_learned_is_kept_in_a_file(learned: InkAppearance, tmp_path: Path) -> None:
    save_appearance(learned, tmp_path / "digits.json")
    loaded = load_appearance(tmp_path / "digits.json").handwriting
    assert loaded is not None
    assert learned.handwriting is not None
    assert loaded.signs == learned.handwriting.signs
    assert (loaded.cells == learned.handwriting.cells).all()
    assert (tmp_path / "digits.json").stat().st_size < 200_000


def test_the_sheet_that_was_learned_is_read_more_surely(learned: InkAppearance) -> None:
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), BOARD)
    said = filled().position
    sure = []
    for appearance in (InkAppearance(), learned):
        sightings = InkReader(BOARD, appearance).read(view, BOARD.places, {})
        shares = [sightings[place].reading.probabilities for place in said]
        names = [("cross",) if sign == "X" else (f"digit {sign}", f"digit {sign} circled") for sign in said.values()]
        right = [sum(each[name] for name in own) for each, own in zip(shares, names, strict=True)]
        sure.append(float(np.mean(np.log(right))))
        assert all(sightings[place].log_odds < 0 for place in BOARD.places if place not in said)
    assert sure[1] > sure[0]


def test_another_hand_is_read_nearly_as_before(learned: InkAppearance) -> None:
    sheet = written_sheet(np.random.default_rng(5), SIGNS, CELL_PX, own=Writer(np.random.default_rng(6), 0.8))
    cells = np.argwhere(sheet.signs >= 0)
    networks = (shipped(), InkNetwork(taught=learned.handwriting))
    right = [
        int((network.read(ink_on(sheet.flat), cells)[:, : len(SIGNS)].argmax(axis=1) == sheet.signs.ravel()).sum())
        for network in networks
    ]
    assert abs(right[1] - right[0]) <= 2


def test_a_sheet_to_copy_has_every_sign_several_times() -> None:
    shown = read(COPIED, BOARD)
    assert len(shown) == len(BOARD.places)
    assert [shown[f"p1.{column}14"] for column in "abcdefg"] == list("1234567")
    assert {shown[f"p1.{column}1"] for column in "abcdefg"} == {"X"}
    assert {shown[f"p1.{column}2"] for column in "abcdefg"} == set("089")


def test_lines_are_counted_from_the_lowest_and_dots_are_left_out() -> None:
    assert read("12.x..7", BOARD) == {"p1.a1": "1", "p1.b1": "2", "p1.d1": "X", "p1.g1": "7"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("123", r"not a sheet of 7 columns .* the word copied, or .* from top to bottom, such as 1234567/\.{7}"),
        ("123456?", "'\\?' is not a sign"),
        ("/".join(["1" * 7] * 15), "14"),
    ],
)
def test_invalid_sheet_text_is_refused(text: str, says: str) -> None:
    with pytest.raises(EnrolmentError, match=says):
        read(text, BOARD)


def test_a_sheet_that_shows_something_else_teaches_nothing() -> None:
    other = "".join(sign if sign in "./" else "X" for sign in SHOWN)
    with pytest.raises(EnrolmentError, match=r"filled\.jpg does not show what was said"):
        learn_handwriting([filled(other)], BOARD)


def test_twenty_cells_are_enough_to_learn_from() -> None:
    cells = np.zeros((20, TAUGHT_PX, TAUGHT_PX), dtype=np.uint8)
    assert Handwriting(("7",) * 20, cells).counts == {"7": 20}
    with pytest.raises(EnrolmentError, match="19 written cells are too few to learn from; expected 20 or more"):
        Handwriting(("7",) * 19, cells[:19])


def test_too_little_writing_teaches_nothing() -> None:
    with pytest.raises(EnrolmentError, match="too few to learn from"):
        learn_handwriting([filled(SHOWN.rpartition("/")[2])], BOARD)


@pytest.mark.parametrize(
    "spoilt", [{}, {"signs": ["1"] * 30, "cells": "no"}, {"signs": ["1"] * 30, "cells": "AAAA"}, 7]
)
def test_damaged_files_are_refused(spoilt: object, tmp_path: Path) -> None:
    said = {"format": "tabletop-referee ink 1", "pens": [], "handwriting": spoilt}
    (tmp_path / "digits.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(EnrolmentError, match="damaged; teach it again"):
        load_appearance(tmp_path / "digits.json")


def test_cells_are_read_from_a_complete_png_only(learned: InkAppearance) -> None:
    assert learned.handwriting is not None
    data = learned.handwriting.to_json()
    cut = base64.b64decode(data["cells"])[:-12]
    bitmap = cv2.imencode(".bmp", learned.handwriting.cells.reshape(-1, TAUGHT_PX))[1].tobytes()
    for other in (cut, bitmap):
        with pytest.raises(EnrolmentError, match="damaged; teach it again"):
            Handwriting.from_json({**data, "cells": base64.b64encode(other).decode("ascii")})


def test_an_unknown_sign_cannot_be_taught() -> None:
    with pytest.raises(EnrolmentError, match="'blot' is not a sign that can be taught"):
        Handwriting(("blot",) * 30, np.zeros((30, TAUGHT_PX, TAUGHT_PX), np.uint8))


def test_cells_are_taught_with_their_surroundings() -> None:
    ink = np.zeros((2 * CELL_PX, 3 * CELL_PX), np.float32)
    ink[CELL_PX, CELL_PX] = 1.0
    cells = taught_cells(ink, np.array([[0, 0], [0, 1]]))
    assert cells.shape == (2, TAUGHT_PX, TAUGHT_PX)
    assert [tuple(np.argwhere(cell == 255)[0]) for cell in cells] == [(CELL_PX + 1, CELL_PX + 1), (CELL_PX + 1, 1)]


class TwoFeatures:
    """A fake network with two features, darkness and left-right difference, and equal scores for all cells."""

    def features(self, crops):
        dark = crops.mean(axis=(1, 2, 3))
        left = crops[..., :CELL_PX].mean(axis=(1, 2, 3)) - crops[..., CELL_PX:].mean(axis=(1, 2, 3))
        given = np.column_stack([dark, left]).astype(np.float64)
        return np.tile(np.linspace(-1, 1, len(SIGNS)), (len(crops), 1)), given


@pytest.mark.parametrize("held", [3.0, 30.0])
def test_the_weights_that_are_learned_are_the_likeliest_ones(held: float) -> None:
    """At the maximum, the gradients of likelihood and prior cancel."""
    random = np.random.default_rng(2)
    cells = random.integers(0, 256, (24, TAUGHT_PX, TAUGHT_PX), dtype=np.uint8)
    cells[::2, :, : TAUGHT_PX // 2] //= 8
    signs = ("1", "7") * 12
    network: Any = TwoFeatures()
    by_feature, constants = Handwriting(signs, cells).weight_corrections(network, HandwritingSettings(held))
    assert by_feature.shape == (2, len(SIGNS))
    asked = np.zeros((3, len(SIGNS)))
    for down, right in SHIFTS_PX:
        looks = cells[:, 1 + down : 1 + down + SEEN_PX, 1 + right : 1 + right + SEEN_PX]
        scores, features = network.features(looks[:, None] / 255)
        told = np.exp(scores + features @ by_feature + constants)
        told /= told.sum(axis=1, keepdims=True)
        wanted = np.array([[float(sign == name) for name in SIGNS] for sign in signs])
        asked += np.column_stack([features, np.ones(len(cells))]).T @ (wanted - told) / len(SHIFTS_PX)
    assert np.abs(asked).max() > 1e-2
    assert asked == pytest.approx(held * np.vstack([by_feature, constants]), abs=1e-5)


def test_a_learned_cell_is_kept_with_half_of_its_neighbours_and_a_pixel_more() -> None:
    levels = np.random.default_rng(3).integers(0, 256, (4 * CELL_PX, 5 * CELL_PX), dtype=np.uint8)
    first, middle = taught_cells((levels / 255).astype(np.float32), np.array([[0, 0], [1, 2]]))
    assert (middle == levels[CELL_PX - 1 :, 2 * CELL_PX - 1 :][:TAUGHT_PX, :TAUGHT_PX]).all()
    assert (first[1:, 1:] == levels[: TAUGHT_PX - 1, : TAUGHT_PX - 1]).all()
    assert (first[0, 1:] == levels[0, : TAUGHT_PX - 1]).all(), "beyond the picture its edge goes on"
    assert (first[1:, 0] == levels[: TAUGHT_PX - 1, 0]).all()


def test_cells_are_counted_from_the_top_left() -> None:
    assert [cell_of(f"p1.{place}", BOARD) for place in ("a14", "g14", "c5", "a1")] == [(0, 0), (0, 6), (9, 2), (13, 0)]
