"""Limits of size, time and place for a hand, a piece, and a board at rest."""

import cv2
import numpy as np
import pytest

from tests.effort import some
from tests.vision.motion.test_hands import CORNERS, FPS, SIZE, SKINS, Film, begun, chequered, hand, piece
from vision.frame import Image
from vision.motion.hands import HandDetection, HandDetector, HandState
from vision.sampling import shrink


def patch(left: int, top: int, right: int, bottom: int, grey: int = 120):
    """A plain rectangle over a part of the picture."""

    def paint(image: Image) -> None:
        image[top:bottom, left:right] = grey

    return paint


def test_the_board_is_clear_after_three_frames_and_four_tenths_of_a_second() -> None:
    kinds = Film().kinds(14)
    first_clear_s = (kinds.index("clear") + 1) / FPS
    # three frames to begin with, and then it is clear from the first comparison on
    assert first_clear_s == pytest.approx((3 + 1) / FPS + 0.4, abs=1.01 / FPS)
    assert kinds[:3] == ["starting"] * 3


@pytest.mark.parametrize(("reach_px", "kind"), [(28, "unsettled"), (44, "hand")])
def test_a_finger_counts_once_it_hides_enough_of_the_board(reach_px: int, kind: str) -> None:
    film = begun()
    assert set(film.kinds(3, patch(250 - reach_px, 100, SIZE[0], 112))) == {kind}


def test_an_object_that_does_not_reach_the_border_is_no_hand() -> None:
    film = begun()
    assert "hand" not in film.kinds(4, patch(110, 90, 170, 150))
    film = begun()
    assert set(film.kinds(4, patch(110, 90, SIZE[0], 150))) == {"hand"}


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
def test_a_hand_may_come_in_from_every_side(side: str) -> None:
    film = begun()
    left, top, right, bottom = 130, 90, 190, 150
    area = {
        "left": (0, top, right, bottom),
        "right": (left, top, SIZE[0], bottom),
        "top": (left, 0, right, bottom),
        "bottom": (left, top, right, SIZE[1]),
    }[side]
    found = film.show(patch(*area))
    assert found.kind == "hand"
    assert found.connected


def test_a_hand_in_a_sleeve_like_the_table_stays_a_hand_while_it_moves() -> None:
    film = begun()
    assert film.show(hand(SKINS[0], (160, 120))).kind == "hand"

    def loose(step: int) -> HandDetection:
        return film.show(patch(130 + step % 2, 90, 200, 150 + 2 * (step % 3)))

    found = [loose(step) for step in range(12)]
    assert {one.kind for one in found} == {"hand"}
    assert not any(one.connected for one in found)
    later = [film.show(patch(130, 90, 200, 150)).kind for _ in range(25)]
    assert later[1] == "hand"
    assert later[-1] == "clear"


def test_an_object_mostly_outside_the_hands_last_area_is_no_part_of_it() -> None:
    film = begun()
    assert film.show(hand(SKINS[0], (160, 120))).kind == "hand"
    assert film.show(patch(78, 90, 152, 150)).kind == "unsettled"


def test_several_pieces_moved_at_once_leave_the_board_unsettled_until_they_rest() -> None:
    film = begun()
    six = [piece((85 + 30 * column, 45 + 60 * row)) for column in range(3) for row in range(2)]
    assert film.kinds(12, *six) == ["unsettled"] * 4 + ["clear"] * 8
    film = begun()
    film.step_s = 1 / 60
    assert film.kinds(10, *six) == ["unsettled"] * 9 + ["clear"], "a quick camera waits for an eighth of a second"
    film = begun()
    many = film.kinds(3, patch(80, 40, 180, 140))
    assert set(many) == {"unsettled"}


def test_while_a_piece_is_learned_nothing_else_is() -> None:
    film = begun()
    put = piece((85, 165))
    assert film.kinds(2, put) == ["clear"] * 2
    kinds = film.kinds(9, put, patch(110, 50, 180, 120))
    assert kinds[:5] == ["unsettled"] * 5, "the piece is learned meanwhile"
    assert kinds[-1] == "clear"


@pytest.mark.parametrize(("frames", "later"), [(10, True), (30, True), (40, False)])
def test_an_object_over_the_edge_is_learned_late_once_the_board_was_clear_for_two_seconds(
    frames: int, later: bool
) -> None:
    """A still thing is learned after 1.6 seconds on a board that was never seen clear, else after ten."""
    film = begun(frames)
    kinds = film.kinds(round(2.4 * FPS), hand(SKINS[0], (160, 120)))
    assert ("clear" in kinds) == later
    assert kinds[round(1.2 * FPS)] == "hand"


@pytest.mark.parametrize(("frames", "within_s"), [(0, 1.4), (38, 3.0)])
def test_a_board_that_a_hand_uncovers_is_learned(frames: int, within_s: float) -> None:
    """The hand was there when the film began, or stayed until it was learned."""
    film = begun(frames) if frames else Film()
    if frames:
        film.step_s = 0.2
        film.kinds(55, hand(SKINS[0], (160, 120)))
    else:
        rng = np.random.default_rng(5)
        for _ in range(8):
            film.show(hand(SKINS[0], (160 + int(rng.integers(-3, 4)), 120 + int(rng.integers(-3, 4)))))
    assert film.kinds(round(within_s / film.step_s))[-1] == "clear"


@pytest.mark.parametrize(("width_px", "mask_px"), [(640, (120, 121)), (320, (120, 121))])
def test_the_hidden_share_of_an_area_is_measured_in_the_picture(width_px: int, mask_px: tuple[int, int]) -> None:
    scale = width_px // 320
    size = (320 * scale, 240 * scale)
    finder = HandDetector(scale * np.array(CORNERS), size)
    board = np.asarray(cv2.resize(chequered(), size, interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    for number in range(20):
        finder.update(board, number / FPS)
    covered = board.copy()
    covered[100 * scale : 140 * scale, 160 * scale :] = 120
    found = finder.update(covered, 20 / FPS)
    assert found.kind == "hand"

    def share(left: int, top: int, right: int, bottom: int) -> float:
        outline = scale * np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
        return found.share(finder.pixels_inside(outline))

    assert share(180, 108, 220, 132) == 1.0
    assert share(180, 60, 220, 80) == 0.0
    assert share(180, 120, 220, 160) == pytest.approx(0.5, abs=0.2)
    assert share(140, 108, 180, 132) == pytest.approx(0.5, abs=0.2)
    assert share(-400, -400, -300, -300) == 0.0
    # the board is 90 pixels wide there, which is the minimum
    assert found.mask.shape == mask_px


@pytest.mark.parametrize("scale", some([1, 2, 3, 4, 6], 2))
def test_a_picture_that_is_already_small_shows_the_same_hand(scale: int) -> None:
    size, step = (320 * scale, 240 * scale), np.random.default_rng(3)
    finders = [HandDetector(scale * np.array(CORNERS) + 1.5, size) for _ in range(2)]
    board = np.asarray(cv2.resize(chequered(), size, interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    for number in range(24):
        image = np.clip(board + step.normal(0, 4, board.shape), 0, 255).astype(np.uint8)
        if number > 18:
            image[100 * scale : 140 * scale, 160 * scale :] = 120
        whole = finders[0].update(image, number / FPS)
        known = finders[1].update(image, number / FPS, small=shrink(image))
        assert known.kind == whole.kind
        assert (known.mask == whole.mask).all()
    assert whole.kind == "hand"


def test_the_share_of_each_place_equals_that_of_its_filled_outline_in_the_mask() -> None:
    random = np.random.default_rng(4)
    finder = HandDetector(CORNERS, SIZE)
    shape = finder.update(chequered(), 0.0).mask.shape
    for _ in range(20):
        mask = random.random(shape) < 0.4
        found = HandDetection(HandState.HAND, mask)
        outline = random.uniform(0, SIZE, 2) + random.uniform(-40, 40, (5, 2))
        inside = finder._fill_outline(outline)
        expected = (inside & mask).sum() / max(1, inside.sum())
        assert found.share(finder.pixels_inside(outline)) == pytest.approx(expected)


@pytest.mark.parametrize(("shift", "refused"), [(238, False), (240, True)])
def test_a_board_may_lie_partly_outside_the_picture(shift: int, refused: bool) -> None:
    corners = np.array(CORNERS) + np.array([shift, 0])
    if refused:
        with pytest.raises(ValueError, match="lies outside a picture of 320 x 240 pixels"):
            HandDetector(corners, SIZE)
    else:
        assert HandDetector(corners, SIZE).update(chequered(), 0.0).kind == "starting"


def test_a_piece_put_down_at_the_pictures_edge_is_no_hand() -> None:
    corners = ((140, 30), (320, 30), (320, 210), (140, 210))
    board = np.roll(chequered(), 70, axis=1)
    finder = HandDetector(corners, SIZE)
    for number in range(38):
        finder.update(board, number / FPS)
    put = board.copy()
    cv2.circle(put, (306, 100), 8, (20, 30, 40), -1)
    kinds = [finder.update(put, (38 + number) / FPS).kind for number in range(14)]
    assert kinds[0] == "unsettled"
    assert kinds[-1] == "clear"
    assert "hand" not in kinds


@pytest.mark.parametrize(("radius_px", "stays"), [(8, False), (10, True)])
def test_a_small_object_at_the_pictures_edge_is_a_hand_until_it_has_rested(radius_px: int, stays: bool) -> None:
    corners = ((140, 30), (320, 30), (320, 210), (140, 210))
    board = np.roll(chequered(), 70, axis=1)
    finder = HandDetector(corners, SIZE)
    for number in range(20):
        finder.update(board, number / FPS)
    cv2.circle(board, (296, 100), radius_px, (20, 30, 40), -1)
    kinds = [finder.update(board, (20 + number) / FPS).kind for number in range(12)]
    assert kinds[:4] == ["hand"] * 4
    assert set(kinds[6:9]) == {"hand" if stays else "unsettled"}
    assert kinds[-1] == ("hand" if stays else "clear")


def test_an_arm_beside_the_board_is_no_hand_although_it_hides_the_tables_pattern() -> None:
    board = chequered()
    board[:, 262:] = np.where(np.arange(SIZE[1])[:, None, None] // 4 % 2, 60, 190)
    film = Film(board)
    film.kinds(20)
    assert set(film.kinds(4, patch(268, 80, SIZE[0], 150))) == {"clear"}
    assert film.show(patch(215, 80, SIZE[0], 150)).kind == "hand"


def test_a_small_object_at_the_border_is_unsettled_until_it_has_rested_for_three_frames() -> None:
    film = begun()
    assert film.kinds(5, patch(218, 100, SIZE[0], 112)) == ["unsettled", "unsettled", "unsettled", "clear", "clear"]


@pytest.mark.parametrize(("squares", "kind"), [(1, "clear"), (10, "unsettled")])
def test_light_that_changes_on_more_than_a_fiftieth_of_the_board_leaves_it_unsettled(squares: int, kind: str) -> None:
    """A glow in the middle of some squares hides no structure."""
    film = begun()
    glow = np.ones((SIZE[1], SIZE[0]), dtype=np.float32)
    for number in range(squares):
        column, row = 1 + number % 4, 1 + number // 4
        cv2.circle(glow, (85 + 30 * column, 45 + 30 * row), 8, 0.5, -1)
    light = cv2.GaussianBlur(glow, (0, 0), 4.0)[..., None]
    assert film.show(light=light).kind == kind


def test_a_board_that_is_small_in_the_picture_is_not_shrunk_further() -> None:
    finder = HandDetector(np.array(CORNERS) / 4, (80, 60))
    found = finder.update(np.full((60, 80, 3), 90, dtype=np.uint8), 0.0)
    assert found.mask.shape == (60, 62)
