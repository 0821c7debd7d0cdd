"""The hand detector on drawn boards: it knows no board, only the frames it has seen."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import cases, some
from vision.frame import Image
from vision.motion.hands import HandDetection, HandDetector, HandState
from vision.opencv import as_grey

SIZE = (320, 240)
CORNERS = ((70, 30), (250, 30), (250, 210), (70, 210))
FPS = 15.0
SKINS = ((130, 160, 215), (60, 90, 140), (150, 180, 230), (35, 45, 70))

Paint = Callable[[Image], None]


def bare(_: Image) -> None:
    """Leave the board as it is."""


def chequered(square_px: int = 30) -> Image:
    """A wooden table with a chequered board and a rim."""
    rng = np.random.default_rng(3)
    grain = cv2.GaussianBlur(rng.normal(0, 40, (SIZE[1], SIZE[0])), (0, 0), sigmaX=12, sigmaY=1.5)
    image = np.clip(np.array([70, 105, 140]) + grain[..., None], 0, 255).astype(np.uint8)
    cv2.rectangle(image, (66, 26), (254, 214), (190, 205, 215), -1)
    for row in range(180 // square_px):
        for column in range(180 // square_px):
            left, top = 70 + column * square_px, 30 + row * square_px
            colour = (200, 225, 230) if (row + column) % 2 else (50, 80, 130)
            cv2.rectangle(image, (left, top), (left + square_px - 1, top + square_px - 1), colour, -1)
    return image


def hand(skin: tuple[int, int, int], tip: tuple[int, int], sleeve: tuple[int, int, int] = (40, 35, 30)) -> Paint:
    """An arm that comes in from the right, with its fist at ``tip``."""

    def paint(image: Image) -> None:
        x, y = tip
        cv2.line(image, (x + 20, y), (SIZE[0], y + 25), sleeve, 26)
        cv2.line(image, (x, y), (x + 36, y + 5), skin, 22)
        cv2.circle(image, (x, y), 17, skin, -1)

    return paint


def piece(at: tuple[int, int], colour: tuple[int, int, int] = (20, 30, 40)) -> Paint:
    """A round piece that fills most of a square."""

    def paint(image: Image) -> None:
        cv2.circle(image, at, 10, colour, -1)

    return paint


class Film:
    """Frames of one board, with sensor noise, ``step_s`` seconds apart; ``light`` multiplies them."""

    def __init__(self, board: Image | None = None, seed: int = 1) -> None:
        self.board = chequered() if board is None else board
        self.finder = HandDetector(CORNERS, SIZE)
        self.frames, self.time_s, self.step_s = 0, 0.0, 1 / FPS
        rng = np.random.default_rng(seed)
        self._noise = [rng.normal(0, 2.0, self.board.shape).astype(np.float32) for _ in range(7)]

    def show(self, *paints: Paint, light: np.ndarray | float = 1.0, in_sight: bool = False) -> HandDetection:
        image = self.board.copy()
        for paint in paints:
            paint(image)
        noisy = image * np.asarray(light, dtype=np.float32) + self._noise[self.frames % len(self._noise)]
        self.frames += 1
        self.time_s += self.step_s
        return self.finder.update(np.clip(noisy, 0, 255).astype(np.uint8), self.time_s, in_sight=in_sight)

    def kinds(self, count: int, *paints: Paint, light: np.ndarray | float = 1.0, in_sight: bool = False) -> list[str]:
        return [self.show(*paints, light=light, in_sight=in_sight).kind for _ in range(count)]


@cache
def _begun(frames: int) -> Film:
    started = Film()
    assert set(started.kinds(frames)[10:]) <= {"clear"}
    return started


def begun(frames: int = 38) -> Film:
    """A film whose board has been seen for this many frames; 38 are two and a half seconds."""
    return deepcopy(_begun(frames))


@pytest.fixture
def film() -> Film:
    return begun()


def test_the_first_frames_are_not_judged() -> None:
    assert Film().kinds(5) == ["starting"] * 5


@pytest.mark.parametrize("skin", some(SKINS))
def test_a_hand_of_any_skin_is_found_and_stays_found_at_rest(film: Film, skin: tuple[int, int, int]) -> None:
    entering = [film.show(hand(skin, (300 - 20 * step, 120))).kind for step in range(9)]
    assert "clear" not in entering[4:]
    film.step_s = 0.2
    assert film.kinds(15, hand(skin, (130, 120))) == ["hand"] * 15
    assert film.kinds(5)[-1] == "clear"


def test_the_mask_covers_the_hand_and_leaves_the_far_side(film: Film) -> None:
    reach = film.show(hand(SKINS[0], (160, 120)))
    assert reach.connected
    assert reach.share(film.finder.pixels_inside([(150, 110), (180, 110), (180, 130), (150, 130)])) > 0.8
    assert reach.share(film.finder.pixels_inside([(75, 35), (100, 35), (100, 205), (75, 205)])) == 0


def test_a_hand_beside_the_board_is_not_over_it(film: Film) -> None:
    assert set(film.kinds(10, hand(SKINS[0], (300, 60)))) == {"clear"}


def test_a_moved_piece_is_no_hand(film: Film) -> None:
    assert "hand" not in film.kinds(5, piece((115, 75)))
    kinds = film.kinds(15, piece((145, 105)))
    assert "hand" not in kinds
    assert kinds[-5:] == ["clear"] * 5


def test_a_hand_that_leaves_a_piece_behind_leaves_the_board_clear(film: Film) -> None:
    film.kinds(10, hand(SKINS[1], (145, 105)))
    assert film.kinds(10, piece((145, 105)))[-1] == "clear"


def test_a_shadow_is_no_hand_and_is_learned(film: Film) -> None:
    shadow = np.ones((SIZE[1], SIZE[0], 1))
    cv2.line(shadow, (150, 120), (319, 140), 0.45, 40)
    kinds = film.kinds(30, light=cv2.GaussianBlur(shadow, (0, 0), 4)[..., None])
    assert kinds[:7] == ["unsettled"] * 7, "until it has been the same for half a second"
    assert "hand" not in kinds
    assert kinds[-1] == "clear"


def test_a_drifting_shadow_leaves_the_board_clear() -> None:
    film = Film(chequered(15))
    film.kinds(38)
    columns = np.arange(SIZE[0])
    kinds = []
    for step in range(40):
        edge = 1 / (1 + np.exp(-(columns - 320 + 5 * step) / 12))
        kinds.append(film.show(light=(1 - 0.45 * edge)[None, :, None]).kind)
    assert "hand" not in kinds
    assert kinds.count(HandState.CLEAR) > 30


@pytest.mark.parametrize("light", some([0.4, 1.15, (0.55, 0.8, 1.0)]))
def test_switching_a_lamp_neither_hides_a_hand_nor_invents_one(
    film: Film, light: float | tuple[float, float, float]
) -> None:
    assert "hand" not in film.kinds(20, light=np.asarray(light))
    assert "clear" not in film.kinds(10, hand(SKINS[2], (150, 100)), light=np.asarray(light))
    film.kinds(20, light=np.asarray(light))
    film.kinds(3, hand(SKINS[2], (150, 100)), light=np.asarray(light))
    # the lamp goes back on while the hand is there
    assert "clear" not in film.kinds(20, hand(SKINS[2], (150, 100)))


def test_a_torn_first_frame_does_no_harm() -> None:
    film = Film()
    torn = film.board.copy()
    torn[:80] = (250, 200, 180)
    film.finder.update(torn, 0.0)
    assert set(film.kinds(25)[-10:]) == {"clear"}


def test_the_board_is_clear_after_a_hand_that_was_there_from_the_start_leaves() -> None:
    film = Film()
    rng = np.random.default_rng(5)
    for _ in range(20):
        tip = (150 + int(rng.integers(-3, 4)), 110 + int(rng.integers(-3, 4)))
        film.show(hand(SKINS[0], tip))
    assert film.kinds(45)[-1] == "clear"


def test_an_object_left_over_the_edge_is_learned_after_ten_seconds(film: Film) -> None:
    film.step_s = 0.2
    kinds = film.kinds(55, hand(SKINS[0], (160, 120)))
    assert kinds[:49] == ["hand"] * 49, "for nearly ten seconds"
    assert kinds[-1] == "clear"


def card(image: Image) -> None:
    """A card printed with slanting lines, as pale as the paper that it lies on, half over its edge."""
    cv2.rectangle(image, (150, 90), (SIZE[0], 150), (215, 215, 215), -1)
    for at in range(160, SIZE[0] - 30, 12):
        cv2.line(image, (at, 95), (at + 25, 145), (60, 60, 60), 2)


@pytest.mark.parametrize("in_sight", [False, True])
def test_printed_lines_that_a_card_covered_are_no_hand_if_all_of_the_sheet_is_in_sight(*, in_sight: bool) -> None:
    sheet = np.full((SIZE[1], SIZE[0], 3), 215, np.uint8)
    for at in range(0, 181, 20):
        cv2.line(sheet, (70 + at, 30), (70 + at, 210), (60, 60, 60), 2)
        cv2.line(sheet, (70, 30 + at), (250, 30 + at), (60, 60, 60), 2)
    film = Film(sheet)
    assert film.kinds(38)[-1] == "clear"
    film.step_s = 0.2
    assert film.kinds(60, card)[-1] == "clear", "it has been learned"
    assert film.kinds(10, in_sight=in_sight) == ["hand"] * 10, "for two seconds"
    assert film.kinds(5, in_sight=in_sight)[-1] == ("clear" if in_sight else "hand")


def test_a_hand_that_moves_is_found_even_if_the_picture_by_itself_shows_none(film: Film) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        tip = (150 + int(rng.integers(-6, 7)), 110 + int(rng.integers(-6, 7)))
        assert film.show(hand(SKINS[0], tip), in_sight=True).kind == "hand"


@settings(max_examples=cases(8, 3))
@given(
    skin=st.tuples(st.integers(20, 240), st.integers(20, 240), st.integers(20, 240)),
    x=st.integers(95, 200),
    y=st.integers(60, 180),
    light=st.floats(0.5, 1.1),
)
def test_a_hand_of_any_colour_is_never_a_clear_board(skin: tuple[int, int, int], x: int, y: int, light: float) -> None:
    film = Film(seed=x)
    film.kinds(14)
    assert "clear" not in film.kinds(4, hand(skin, (x, y)), light=light)


def test_hands_are_found_in_grey_pictures() -> None:
    finder = HandDetector(CORNERS, SIZE)
    grey = as_grey(chequered())
    kinds = [finder.update(grey, number / FPS).kind for number in range(20)]
    assert kinds[-1] == "clear"
    covered = chequered()
    hand(SKINS[0], (150, 120))(covered)
    assert finder.update(as_grey(covered), 21 / FPS).kind == "hand"


def test_a_frame_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="got a frame of 100 x 50 pixels; expected 320 x 240"):
        HandDetector(CORNERS, SIZE).update(np.zeros((50, 100, 3), dtype=np.uint8), 0.0)


@pytest.mark.parametrize(
    ("corners", "message"),
    [
        ([(0, 0), (10, 0)], "2 corners; expected at least 3"),
        ([(0, 0), (10, 0), (float("nan"), 5)], "expected at least 3, in pixels"),
        ([(900, 900), (1100, 900), (1100, 1100), (900, 1100)], "outside a picture of 320 x 240"),
    ],
)
def test_an_invalid_outline_is_refused(corners: list[tuple[float, float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HandDetector(corners, SIZE)
