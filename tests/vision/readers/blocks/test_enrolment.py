import base64
import json
import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.vision import photoreal
from tests.vision.readers.blocks import drawn
from vision.errors import EnrolmentError
from vision.readers.blocks import enrolment
from vision.readers.blocks.appearance import (
    BlockAppearance,
    appearance_from_json,
    appearance_to_json,
    distinct_quarter_turns,
    drawn_appearance,
    drawn_mask,
    load_appearance,
    look_name,
    save_appearance,
    transformed_mask,
)
from vision.readers.blocks.enrolment import enrol, learn_colours
from vision.readers.protocols import EnrolmentPicture, SurfaceView

SYMBOLS = ("star", "stop", "slider", "x", "hoops", "cross")
START = {"c7": "teal block, star up", "c1": "gold block, star up", "d4": "empty"}


def test_colours_are_learned_against_the_ink() -> None:
    colours = photoreal.looks().colours
    assert set(colours) == {"gold", "teal"}
    blue, green, red = colours["gold"]
    assert blue < green < red < 0
    assert colours["teal"][2] < colours["teal"][0]


def test_masks_are_learned_upright_and_look_like_the_drawn_ones() -> None:
    for symbol, mask in photoreal.looks().masks.items():
        drawn = drawn_mask(symbol, mask.shape[0])
        assert np.corrcoef(mask.ravel(), drawn.ravel())[0, 1] > 0.75, symbol


def test_a_symbol_is_learned_upright_from_a_block_that_is_turned() -> None:
    pose = drawn.seen_from()
    block = drawn.Block("d4", "hoops", off_mm=(3.0, -2.0), turned_deg=9.0, quarter=1)
    picture = EnrolmentPicture(drawn.picture_of([block], pose), drawn.CAMERA, pose, {"d4": ("red", "hoops")}, "one")
    learned = enrol([picture], drawn.BOARD)
    mask, expected = learned.masks["hoops"], drawn_mask("hoops", 60)
    likeness = [np.corrcoef(np.rot90(mask, quarter).ravel(), expected.ravel())[0, 1] for quarter in range(4)]
    assert likeness[0] > 0.9
    assert max(likeness[1:]) < 0.7
    rim = np.ones(mask.shape, dtype=np.bool_)
    rim[5:-5, 5:-5] = False
    assert not mask[rim].any()
    assert mask.min() == 0.0
    assert 0.85 < mask.max() <= 1.0
    assert learned.colours["red"] == pytest.approx(drawn.LOOKS.colours["red"], abs=0.25)
    assert (learned.masks["star"] == drawn_mask("star", 60)).all()


def test_initial_cluster_centres_of_colours_are_far_apart() -> None:
    ratios = np.array([[2, 0, 0], [2.5, 0, 0], [-1, 1, 0], [-1, 1.2, 0], [4, 0, 1], [3, 0, 0]], dtype=np.float32)
    assert np.array(enrolment._spread_seeds(ratios, 3)).tolist() == pytest.approx(ratios[[0, 3, 4]])
    assert len(enrolment._spread_seeds(ratios, 1)) == 1


def test_enrolment_without_pictures_or_with_unknown_symbols_is_refused() -> None:
    with pytest.raises(EnrolmentError, match="no picture"):
        enrol([], photoreal.LAYOUT.board)
    one = photoreal.enrolment("enrol-gold.jpg")
    with pytest.raises(EnrolmentError, match="moon"):
        enrol([replace(one, position={"a4": ("gold", "moon")})], photoreal.LAYOUT.board)


def test_a_missing_block_is_named() -> None:
    one = photoreal.enrolment("enrol-gold.jpg")
    with pytest.raises(EnrolmentError, match=r"star.* g7|g7.* star"):
        enrol([replace(one, position={"g7": ("gold", "star")})], photoreal.LAYOUT.board)


def test_a_symbol_that_the_picture_contradicts_is_refused() -> None:
    one = photoreal.enrolment("enrol-gold.jpg")
    assert one.position["a4"] == ("gold", "star")
    with pytest.raises(EnrolmentError, match="said to show the symbol slider on a4, and it looks like the symbol star"):
        enrol([replace(one, position={"a4": ("gold", "slider")})], photoreal.LAYOUT.board)


def test_one_colour_under_two_names_is_refused() -> None:
    gold = photoreal.enrolment("enrol-gold.jpg")
    other = replace(gold, position={place: ("amber", symbol) for place, (_, symbol) in gold.position.items()})
    with pytest.raises(EnrolmentError, match="nearly the same"):
        enrol([gold, other], photoreal.LAYOUT.board)


def test_colours_are_learned_from_a_set_up_and_named_by_side() -> None:
    name = "game-000.jpg"
    view = SurfaceView(photoreal.picture(name), photoreal.camera(name), photoreal.pose(name), photoreal.LAYOUT.board)
    learned = learn_colours(view, drawn_appearance(SYMBOLS), START)
    for colour, ratio in photoreal.looks().colours.items():
        assert np.abs(learned.colours[colour] - ratio).max() < 0.4


def test_a_bare_board_has_no_colours_to_learn() -> None:
    name = "034.jpg"
    bare = np.full_like(photoreal.picture(name), 120)
    view = SurfaceView(bare, photoreal.camera(name), photoreal.pose(name), photoreal.LAYOUT.board)
    with pytest.raises(EnrolmentError, match="0 blocks"):
        learn_colours(view, drawn_appearance(SYMBOLS), START)


def test_looks_survive_a_file(tmp_path: Path) -> None:
    path = tmp_path / "looks.json"
    save_appearance(photoreal.looks(), path)
    again = load_appearance(path)
    assert again.looks == photoreal.looks().looks
    for symbol, mask in photoreal.looks().masks.items():
        assert np.abs(again.masks[symbol] - mask).max() <= 0.5 / 255 + 1e-6
    for colour, ratio in photoreal.looks().colours.items():
        assert np.abs(again.colours[colour] - ratio).max() < 1e-3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not a JSON object"),
        ("{", "not valid JSON"),
        ('{"format": "other"}', "format"),
        ('{"format": "tabletop-referee looks 1"}', "colours"),
        ('{"format": "tabletop-referee looks 1", "colours": {"gold": [1, 2]}, "masks": {}}', "cannot be read"),
        ('{"format": "tabletop-referee looks 1", "colours": {}, "masks": {"star": "!!"}}', "cannot be read"),
        ('{"format": "tabletop-referee looks 1", "colours": {}, "masks": {}}', "these looks have no symbols"),
    ],
)
def test_a_file_without_looks_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "looks.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EnrolmentError, match=said):
        load_appearance(path)
    with pytest.raises(EnrolmentError, match="cannot read"):
        load_appearance(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("at", "number", "said"),
    [
        (16, 20_000, "a mask has 20000 x 60 pixels; 1.04858 million are the most"),
        (33, 2**31 - 1, "a mask is cut off"),
    ],
)
def test_a_mask_that_claims_to_be_huge_is_refused_before_it_is_decoded(at: int, number: int, said: str) -> None:
    """Decoding a picture of such a width, or with a part of such a length, would take gigabytes."""
    data = appearance_to_json(photoreal.looks())
    png = bytearray(base64.b64decode(data["masks"]["star"]))
    png[at : at + 4] = number.to_bytes(4)
    data["masks"]["star"] = base64.b64encode(png).decode()
    with pytest.raises(EnrolmentError, match=said):
        appearance_from_json(data)


def test_a_mask_that_is_no_square_is_refused() -> None:
    data = appearance_to_json(photoreal.looks())
    png = cv2.imencode(".png", np.zeros((40, 60), dtype=np.uint8))[1]
    data["masks"]["star"] = base64.b64encode(png.tobytes()).decode()
    with pytest.raises(EnrolmentError, match="a mask has 60 x 40 pixels where a square is expected"):
        appearance_from_json(data)


@pytest.mark.parametrize("channel", [10**400, math.nan])
def test_colours_without_finite_numbers_are_refused(channel: float) -> None:
    data = appearance_to_json(photoreal.looks()) | {"colours": {"gold": [0.1, 0.2, channel]}}
    with pytest.raises(EnrolmentError, match="cannot be read"):
        appearance_from_json(data)


def test_looks_as_json_hold_only_json_values() -> None:
    data = json.loads(json.dumps(appearance_to_json(photoreal.looks())))
    assert isinstance(appearance_from_json(data), BlockAppearance)


def test_the_name_of_a_look() -> None:
    assert look_name("teal", "x") == "teal block, x up"


def test_symbols_have_the_right_number_of_distinct_turns() -> None:
    turns = {symbol: len(distinct_quarter_turns(drawn_mask(symbol, 60))) for symbol in SYMBOLS}
    assert turns["stop"] == turns["cross"] == turns["x"] == 1
    assert turns["slider"] == 2
    assert turns["star"] == turns["hoops"] == 4
    with pytest.raises(ValueError, match="moon"):
        drawn_mask("moon", 60)


def test_a_cross_turned_by_an_eighth_is_an_x() -> None:
    cross, x = drawn_mask("cross", 60), drawn_mask("x", 60)
    assert np.corrcoef(transformed_mask(cross, 45).ravel(), x.ravel())[0, 1] > 0.95
    assert np.corrcoef(cross.ravel(), x.ravel())[0, 1] < 0.6


def test_a_symbol_stays_in_the_middle_when_it_is_scaled_or_turned() -> None:
    slider = drawn_mask("slider", 61)
    twice = transformed_mask(transformed_mask(slider, 90), 90)
    for turned in (transformed_mask(slider, 180), twice, transformed_mask(slider)):
        assert turned == pytest.approx(slider, abs=0.25)
    half = transformed_mask(slider, scale=0.5)
    assert half.sum() == pytest.approx(slider.sum() / 4, rel=0.03)
    for axis in (0, 1):
        assert np.average(np.arange(61), weights=half.sum(axis=axis)) == pytest.approx(30.0, abs=0.05)
    beyond = transformed_mask(np.ones((21, 21), dtype=np.float32), 45)
    assert beyond[0, 0] == 0.0
    assert beyond[10, 10] == 1.0
