import functools
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.faults.table import faulty_setting
from benchmarks.parts.soak.game import looks_of_pieces
from benchmarks.scene.things import ForeignObject
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import block_on
from simulator.scene.scene import Scene
from tests.effort import cases, some
from tests.vision import photoreal
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import project
from vision.layout.pieces import BlockPieces
from vision.locating.markers import MarkerDetector
from vision.locating.tracking import TableTracker, TrackedTable
from vision.motion.changes import Attention
from vision.opencv import as_grey
from vision.readers.blocks.appearance import BlockAppearance, drawn_appearance
from vision.readers.registry import table_reader
from vision.reading import HindranceKind, Reading

NET_OPPOSITE = {"star": "stop", "stop": "star", "slider": "hoops", "hoops": "slider", "x": "cross", "cross": "x"}


@functools.cache
def read(name: str, looks: BlockAppearance | None = None, blur_px: float = 0.0) -> Reading:
    image = photoreal.picture(name)
    if blur_px:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), blur_px), dtype=np.uint8)
    reader = table_reader(photoreal.camera(name), photoreal.LAYOUT, looks or photoreal.looks())
    return reader.read(Frame(image, 0.0, 0, name))


@pytest.mark.parametrize("name", some(photoreal.BOARDS, 3))
def test_every_visible_place_is_read_correctly_and_with_certainty(name: str) -> None:
    reading = read(name)
    assert set(reading.places) == set(photoreal.LAYOUT.places)
    for place, seen in reading.places.items():
        if seen.hidden_by is None:
            look, probability = seen.best
            assert look == photoreal.expected_look(name, place), place
            assert probability > 0.6, place


@pytest.mark.parametrize("name", photoreal.BOARDS)
def test_a_hand_is_found_where_there_is_one_and_nowhere_else(name: str) -> None:
    reading = read(name)
    assert (reading.hindered_by(HindranceKind.HAND) is not None) == photoreal.EXPECTED[name]["hand"]


def test_a_hand_says_which_places_it_hides_and_leaves_the_rest_readable() -> None:
    reading = read("012.jpg")
    hand = reading.hindered_by(HindranceKind.HAND)
    assert hand is not None
    assert {"a3", "a4", "a5"} <= set(hand.places)
    assert set(hand.places) == set(reading.hidden)
    assert "g1" not in hand.places
    assert "over" in hand.message


@pytest.mark.parametrize("name", photoreal.BOARDS)
def test_probabilities_sum_to_one_and_name_every_look(name: str) -> None:
    names = {"empty", *photoreal.looks().looks}
    for seen in read(name).places.values():
        assert set(seen.probabilities) == names
        assert sum(seen.probabilities.values()) == pytest.approx(1.0)
        assert all(share > 0 for share in seen.probabilities.values())


@pytest.mark.parametrize(("blur_px", "least"), [(0.0, 15), pytest.param(2.0, 6, marks=pytest.mark.long), (2.5, 1)])
def test_side_faces_are_read_where_the_camera_sees_them(blur_px: float, least: int) -> None:
    """A sure reading of a south face agrees with the truth: it is the opposite of what is on the north.

    Out of focus fewer are sure, and those are right: a slider looks most like any blurred symbol.
    """
    sure = 0
    boards = photoreal.BOARDS if blur_px == 0 else photoreal.BOARDS[: cases(len(photoreal.BOARDS), 3)]
    for name in boards:
        for place, seen in read(name, blur_px=blur_px).places.items():
            south = seen.sides.get("south")
            if south and max(south.values()) > 0.8 and place in photoreal.EXPECTED[name]["norths"]:
                sure += 1
                assert (
                    max(south, key=lambda symbol: south[symbol])
                    == NET_OPPOSITE[photoreal.EXPECTED[name]["norths"][place]]
                ), (name, place)
    assert sure >= least


def test_a_side_face_that_looks_like_a_top_is_not_taken_for_a_block() -> None:
    """In 006.jpg, taken from 43 degrees, side faces of far blocks cover the squares in front of them."""
    reading = read("006.jpg")
    for place in ("c4", "e5", "f6"):
        assert reading.places[place].best[0] == "empty"


def test_drawn_symbols_suffice_until_a_set_is_enrolled() -> None:
    plain = replace(drawn_appearance(photoreal.looks().symbols), colours=photoreal.looks().colours)
    reading = read("034.jpg", plain)
    for place, seen in reading.places.items():
        assert seen.best[0] == photoreal.expected_look("034.jpg", place)


@pytest.mark.parametrize("colour", [(25, 28, 32), (60, 60, 170), (205, 208, 210)], ids=["cat", "scarf", "napkin"])
@pytest.mark.parametrize("name", some([one for one in photoreal.BOARDS if not photoreal.EXPECTED[one]["hand"]], 1))
def test_a_thing_over_part_of_a_face_leaves_no_wrong_look(name: str, colour: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(len(name) + sum(colour))
    camera, pose = photoreal.camera(name), photoreal.pose(name)
    reader = table_reader(camera, photoreal.LAYOUT, photoreal.looks())
    reader.read(photoreal.frame(name))
    for number, place in enumerate(photoreal.EXPECTED[name]["blocks"], 1):
        x, y = photoreal.LAYOUT.centre_mm(place)
        turned, beside = rng.uniform(0, 2 * np.pi), rng.uniform(-10.0, 25.0)
        corners = np.array([[beside, -70.0], [beside + 90.0, -70.0], [beside + 90.0, 70.0], [beside, 70.0]])
        ways = np.array([[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]])
        at_mm = np.column_stack([corners @ ways + (x, y), np.full(4, 45.0)])
        image = photoreal.picture(name).copy()
        cv2.fillConvexPoly(image, np.round(project(camera, pose, at_mm)).astype(np.int32), colour, cv2.LINE_AA)
        reading = reader.read(Frame(image, number / 10, number, name))
        for at, seen in reading.places.items():
            look, probability = seen.best
            is_right = look == photoreal.expected_look(name, at)
            assert seen.hidden_by or is_right or probability < 0.6, f"{place}: {at} {seen.best}"


def test_the_same_picture_again_is_not_read_again() -> None:
    reader = table_reader(photoreal.camera("game-000.jpg"), photoreal.LAYOUT, photoreal.looks())
    first = reader.read(photoreal.frame("game-000.jpg", 0))
    again = reader.read(photoreal.frame("game-000.jpg", 1))
    assert again.places is first.places
    assert (again.sequence, again.time_s) == (1, 1.0)


def test_reading_only_changed_places_gives_the_same_as_reading_all() -> None:
    reader = table_reader(photoreal.camera("game-000.jpg"), photoreal.LAYOUT, photoreal.looks())
    for number, name in enumerate(("game-000.jpg", "game-001.jpg", "game-002.jpg", "game-000.jpg")):
        step = reader.read(photoreal.frame(name, number))
        assert {place: seen.best[0] for place, seen in step.places.items()} == {
            place: photoreal.expected_look(name, place) for place in photoreal.LAYOUT.places
        }


def test_every_place_is_read_afresh_although_no_change_was_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks_in(reading: Reading) -> dict[str, str]:
        return {place: seen.best[0] for place, seen in reading.places.items()}

    def true(name: str) -> dict[str, str]:
        return {place: photoreal.expected_look(name, place) for place in photoreal.LAYOUT.places}

    monkeypatch.setattr("vision.sampling._CHANGED_LEVELS", 255)
    reader = table_reader(photoreal.camera("game-000.jpg"), photoreal.LAYOUT, photoreal.looks())
    assert looks_in(reader.read(photoreal.frame("game-000.jpg", 0))) == true("game-000.jpg")
    assert looks_in(reader.read(photoreal.frame("game-001.jpg", 1))) == true("game-000.jpg")
    reader.invalidate_cache()
    afresh = reader.read(photoreal.frame("game-001.jpg", 2))
    assert looks_in(afresh) == true("game-001.jpg") != true("game-000.jpg")
    assert reader.read(photoreal.frame("game-001.jpg", 3)).places is afresh.places
    whole = table_reader(photoreal.camera("game-000.jpg"), photoreal.LAYOUT, photoreal.looks(), attention=Attention.ALL)
    for number, name in enumerate(("game-000.jpg", "game-001.jpg")):
        assert looks_in(whole.read(photoreal.frame(name, number))) == true(name)


def test_the_reading_of_a_bad_frame_gives_the_reason() -> None:
    reader = table_reader(photoreal.camera("034.jpg"), photoreal.LAYOUT, photoreal.looks())
    black = reader.read(Frame(np.zeros((720, 1280, 3), dtype=np.uint8), 0.0, 0))
    assert not black.places
    assert "black" in black.hindrances[0].message
    small = reader.read(Frame(np.full((480, 640, 3), 90, dtype=np.uint8), 0.1, 1))
    assert small.hindrances[0].kind == HindranceKind.BAD_FRAME
    assert "640 x 480" in small.hindrances[0].message
    bare = reader.read(Frame(np.full((720, 1280, 3), 90, dtype=np.uint8), 0.2, 2))
    assert bare.hindrances[0].kind == HindranceKind.NOT_LOCATED
    assert reader.read(photoreal.frame("034.jpg", 3)).places


def test_a_bad_frame_between_still_ones_is_no_movement_and_changes_nothing() -> None:
    reader = table_reader(photoreal.camera("034.jpg"), photoreal.LAYOUT, photoreal.looks(), attention=Attention.STILL)
    first = reader.read(photoreal.frame("034.jpg", 0))
    black = reader.read(Frame(np.zeros((720, 1280, 3), dtype=np.uint8), 1.0, 1))
    assert [one.kind for one in black.hindrances] == [HindranceKind.BAD_FRAME]
    again = reader.read(photoreal.frame("034.jpg", 2))
    assert not again.hindrances
    assert again.places == first.places


def test_a_crop_shows_the_block_from_above() -> None:
    reader = table_reader(photoreal.camera("034.jpg"), photoreal.LAYOUT, photoreal.looks())
    frame = photoreal.frame("034.jpg")
    with pytest.raises(NotLocatedError, match="located"):
        reader.crop(frame, "c5")
    reader.read(frame)
    place = next(iter(photoreal.EXPECTED["034.jpg"]["blocks"]))
    crop = reader.crop(frame, place)
    assert crop.shape == (72, 72, 3)
    empty = next(place for place in photoreal.LAYOUT.places if place not in photoreal.EXPECTED["034.jpg"]["blocks"])
    bare = reader.crop(frame, empty)
    assert crop.std(axis=(0, 1)).max() > 1.3 * bare.std(axis=(0, 1)).max()


@pytest.mark.parametrize("blur_px", [1.0, 2.0])
def test_out_of_focus_pictures_are_still_read(blur_px: float) -> None:
    for name in ("034.jpg", "019.jpg"):
        reading = read(name, blur_px=blur_px)
        wrong = [
            place
            for place, seen in reading.places.items()
            if seen.hidden_by is None and seen.best[0] != photoreal.expected_look(name, place)
        ]
        assert wrong == []
        assert reading.hindrances == ()


def shifted(image: Image, across_px: float) -> Image:
    """The picture seen by a camera pushed sideways."""
    matrix = np.array([[1.0, 0.0, across_px], [0.0, 1.0, 0.0]])
    size = (image.shape[1], image.shape[0])
    return np.asarray(cv2.warpAffine(image, matrix, size, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)


def test_a_steady_table_is_not_searched_for_again_until_something_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    update = TableTracker.update

    def counted(self: TableTracker, frame: Frame, *given: Any) -> TrackedTable:
        looked.append(frame.sequence)
        return update(self, frame, *given)

    monkeypatch.setattr(TableTracker, "update", counted)
    name = "game-000.jpg"
    reader = table_reader(photoreal.camera(name), photoreal.LAYOUT, photoreal.looks())
    image = photoreal.picture(name)
    for number in range(14):
        assert reader.read(Frame(image, number / 15, number)).places
    assert len(looked) < 12
    assert 13 not in looked
    pushed = shifted(image, 14.0)
    said: list[str] = []
    for number in range(14, 40):
        reading = reader.read(Frame(pushed, number / 15, number))
        said += [*reading.notices, *(hindrance.message for hindrance in reading.hindrances)]
    assert 14 in looked
    assert any("moved" in sentence or "moving" in sentence for sentence in said)
    assert {place: seen.best[0] for place, seen in reading.places.items()} == {
        place: photoreal.expected_look(name, place) for place in photoreal.LAYOUT.places
    }


def test_a_still_may_be_taken_from_elsewhere_and_is_read_at_once() -> None:
    name = "game-000.jpg"
    camera, image = photoreal.camera(name), photoreal.picture(name)
    reader = table_reader(camera, photoreal.LAYOUT, photoreal.looks(), attention=Attention.STILL)
    empty: Image = np.full_like(image, 120)
    for number, picture in enumerate((image, shifted(image, 40.0), empty, image)):
        reading = reader.read(Frame(picture, number / 10, number, is_still=True))
        if picture is empty:
            assert reading.hindered_by(HindranceKind.NOT_LOCATED)
            assert reader.where_seen(picture, reading).parts == ()
            continue
        assert {place: seen.best[0] for place, seen in reading.places.items()} == {
            place: photoreal.expected_look(name, place) for place in photoreal.LAYOUT.places
        }


def test_a_sight_tells_where_the_table_its_markers_and_what_hides_them_are() -> None:
    name = "012.jpg"
    camera, image = photoreal.camera(name), photoreal.picture(name)
    reader = table_reader(camera, photoreal.LAYOUT, photoreal.looks())
    reading = reader.read(Frame(image, 0.0, 0))
    sight = reader.where_seen(image, reading)
    (outline,), (height, width) = sight.parts, image.shape[:2]
    assert sight.size_px == (width, height)
    assert ((outline > -20) & (outline < (width + 20, height + 20))).all()
    assert len(sight.hidden) == len(reading.hidden) > 2
    inside = cv2.boundingRect(outline.astype(np.float32))
    for place in sight.hidden:
        x, y = place.mean(axis=0)
        assert inside[0] <= x <= inside[0] + inside[2]
        assert inside[1] <= y <= inside[1] + inside[3]


def test_of_a_table_that_is_not_found_the_markers_that_are_seen_help_to_aim() -> None:
    name = "game-000.jpg"
    image = photoreal.picture(name)
    found = MarkerDetector(photoreal.LAYOUT.markers.dictionary).quick(as_grey(image))[0]
    left, top, width, height = cv2.boundingRect(found.corners_px.astype(np.float32))
    window = np.s_[top - height : top + 2 * height, left - width : left + 2 * width]
    alone: Image = np.full_like(image, 120)
    alone[window] = image[window]
    reader = table_reader(photoreal.camera(name), photoreal.LAYOUT, photoreal.looks())
    sight = reader.where_seen(alone, reader.read(Frame(alone, 0.0, 0)))
    assert sight.parts == ()
    (marker,) = sight.markers
    assert np.abs(marker - found.corners_px).max() < 1


# Objects and print on the board are not taken for blocks, nor blocks for the board.

SIZE = (960, 540)
PALE = (0.85, 0.85, 0.88)
COPPER = (0.28, 0.42, 0.66)


@pytest.mark.parametrize("seed", some([4013, 4009, 4039], 1))
def test_a_pale_coin_is_no_stop_on_a_gold_block(seed: int) -> None:
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = tuple(
        block_on(layout, place, colour, "stop", "slider") for place, colour in (("b2", "gold"), ("f6", "teal"))
    )
    coins = tuple(
        ForeignObject("coin", *layout.centre_mm(place), PALE, layout.board.height_mm, radius_mm)
        for place, radius_mm in (("a5", 9.0), ("c6", 9.5), ("e3", 10.0), ("g1", 10.5))
    )
    image = Renderer(seed).render(Scene(setting, blocks, (), coins), 0)
    reading = table_reader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    for place in ("a5", "c6", "e3", "g1"):
        seen = reading.places[place]
        assert seen.hidden_by is not None or seen.probabilities["gold block, stop up"] < 0.8
    assert reading.places["b2"].best[0] == "gold block, stop up"
    assert reading.places["f6"].best[0] == "teal block, stop up"


@pytest.mark.parametrize("seed", some([1312, 1324, 1337, 1329]))
def test_a_block_that_stands_star_up_on_a_star_is_seen(seed: int) -> None:
    """The star printed on the board looks like the one on the block."""
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = (
        block_on(layout, "d6", "gold", "star", "slider", turned_deg=4.0),
        block_on(layout, "c3", "teal", "stop", "slider"),
    )
    image = Renderer(seed).render(Scene(setting, blocks), 0)
    reading = table_reader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    assert reading.places["d6"].probabilities["gold block, star up"] > 0.9
    assert reading.places["d2"].probabilities["empty"] > 0.95


@pytest.mark.parametrize("seed", some([1300, 1302, 1313, 1324]))
def test_a_block_under_a_coin_is_not_certainly_gone(seed: int) -> None:
    """A copper coin looks like wood; only a rim of the gold block below it shows, behind another block."""
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = tuple(block_on(layout, place, "gold", "x", "slider") for place in ("b3", "b2", "e5", "e4", "g6", "g5"))
    top_mm = layout.board.height_mm + BlockPieces.on(layout.board).side_mm
    coins = tuple(ForeignObject("coin", *layout.centre_mm(place), COPPER, top_mm, 13.5) for place in ("b3", "e5", "g6"))
    image = Renderer(seed).render(Scene(setting, blocks, (), coins), 0)
    reading = table_reader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    for place in ("b3", "e5", "g6"):
        assert reading.places[place].probabilities["empty"] < 0.5
    for place in ("b2", "e4", "g5"):
        assert reading.places[place].probabilities["gold block, x up"] > 0.95
