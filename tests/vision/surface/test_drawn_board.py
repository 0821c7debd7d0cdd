"""A drawn board: objects covering it, evidence for each square, and the odds that squares are empty."""

import cv2
import numpy as np
import pytest

from tests.vision.surface.drawn import (
    ABOVE,
    BOARD,
    GREEN,
    SKIN,
    WINDOW,
    WOOD,
    Rect,
    board_image,
    lit,
    painted,
    part,
    plan,
    softened,
    view_of,
    with_lines,
)
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel
from vision.surface.occlusion import OcclusionDetector, SurfaceEvidence, emptiness, place_measures

CUP: Rect = (-35.0, 15.0, -20.0, 30.0)
ARM: Rect = (-15.0, 25.0, -200.0, -20.0)
FINGER: Rect = (-10.0, 8.0, -200.0, -110.0)


@pytest.fixture(scope="module")
def finder(camera: CameraModel) -> OcclusionDetector:
    return OcclusionDetector(camera, ABOVE, plan())


def coverings(finder: OcclusionDetector, image: Image) -> list[tuple[str, float]]:
    return [(str(one.kind), one.area_mm2) for one in finder.detect(view_of(image)).occlusions]


def area_mm2(rect: Rect) -> float:
    """Area of the part on the board."""
    left, right, near, far = np.clip(rect, -138.0, 138.0)
    return float((right - left) * (far - near))


def turned(image: Image, side: int) -> Image:
    return np.ascontiguousarray(np.rot90(image, side))


def evidence(finder: OcclusionDetector, image: Image) -> SurfaceEvidence:
    return finder.detect(view_of(image))


def by_place(values: FloatArray) -> dict[str, float]:
    return dict(zip(BOARD.places, values.tolist(), strict=True))


def test_a_bare_board_is_clear_and_shows_all_of_its_lines(finder: OcclusionDetector) -> None:
    found = evidence(finder, board_image())
    assert found.occlusions == ()
    for name in ("lines not seen", "strange", "off hue", "near glare", "board not clear"):
        assert not found.places[name].any(), name
    for name in ("lines faint", "brighter", "darker"):
        assert found.places[name].max() < 0.2, name


@pytest.mark.parametrize("side", range(4))
@pytest.mark.parametrize("colour", [SKIN, GREEN, (20, 20, 20)])
def test_a_cup_is_an_object_of_its_size(finder: OcclusionDetector, colour: tuple[int, int, int], side: int) -> None:
    ((kind, area),) = coverings(finder, turned(painted(CUP, colour), side))
    assert kind == "object"
    assert area == pytest.approx(area_mm2(CUP), rel=0.5)


@pytest.mark.parametrize("side", range(4))
@pytest.mark.parametrize("rect", [ARM, FINGER])
def test_an_arm_and_a_finger_that_reach_in_are_hands(finder: OcclusionDetector, rect: Rect, side: int) -> None:
    ((kind, area),) = coverings(finder, turned(painted(rect, SKIN), side))
    assert kind == "hand"
    assert area == pytest.approx(area_mm2(rect), rel=0.6)


@pytest.mark.parametrize("side", range(4))
def test_a_card_that_ends_at_the_rim_is_an_object(finder: OcclusionDetector, side: int) -> None:
    card: Rect = (-50.0, 40.0, -139.0, -60.0)
    ((kind, _),) = coverings(finder, turned(painted(card, GREEN), side))
    assert kind == "object"


def test_several_objects_are_separated_and_listed_largest_first(finder: OcclusionDetector) -> None:
    image = painted((45.0, 95.0, 45.0, 95.0), GREEN, painted(ARM, SKIN))
    (first, large), (second, small) = coverings(finder, image)
    assert (first, second) == ("hand", "object")
    assert large > small


@pytest.mark.parametrize("side_mm", [4.0, 8.0])
def test_specks_are_no_objects(finder: OcclusionDetector, side_mm: float) -> None:
    assert coverings(finder, painted((10.0, 10.0 + side_mm, 10.0, 10.0 + side_mm), GREEN)) == []


def test_a_card_of_the_boards_own_colour_is_found_by_the_lines_it_hides(finder: OcclusionDetector) -> None:
    card: Rect = (-70.0, 70.0, -70.0, 70.0)
    image = softened(painted(card, WOOD, with_lines(painted((-140.0, 140.0, -140.0, 140.0), WOOD))))
    ((kind, area),) = coverings(finder, image)
    assert kind == "object"
    assert 0.5 < area / area_mm2(card) < 1.6
    not_seen = by_place(evidence(finder, image).places["lines not seen"])
    assert not_seen["d4"] == 1
    assert not_seen["a7"] == not_seen["g1"] == 0


@pytest.mark.parametrize("factor", [(0.5, 0.5, 0.5), (1.3, 1.0, 0.8), (0.25, 0.25, 0.25), (0.7, 1.0, 1.2)])
def test_light_of_any_colour_covers_nothing(finder: OcclusionDetector, factor: tuple[float, float, float]) -> None:
    assert coverings(finder, lit(board_image(), factor)) == []


@pytest.mark.parametrize("side", range(4))
def test_an_arms_shadow_covers_nothing(finder: OcclusionDetector, side: int) -> None:
    share = np.zeros(WINDOW.shape)
    share[part((-40.0, 30.0, -176.0, 20.0))] = 1
    shade = 1 - 0.6 * cv2.GaussianBlur(share, (0, 0), 4.0)[..., None]
    assert coverings(finder, turned(lit(board_image(), shade), side)) == []


def test_coloured_light_covers_nothing_where_lines_are_visible(finder: OcclusionDetector) -> None:
    share = np.zeros(WINDOW.shape)
    share[part((-100.0, 60.0, -100.0, 100.0))] = 1
    soft = cv2.GaussianBlur(share, (0, 0), 6.0)[..., None]
    assert coverings(finder, lit(board_image(), 1 + soft * np.array([0.35, 0.0, -0.15]))) == []


WIDE_CUP: Rect = (-50.0, 50.0, -40.0, 60.0)
WIDE_ARM: Rect = (-90.0, 90.0, -200.0, -20.0)


@pytest.mark.parametrize(
    ("rect", "colour", "soft_mm", "kind"),
    [
        (WIDE_CUP, GREEN, 0.0, "object"),
        (WIDE_CUP, GREEN, 8.0, "glare"),
        (WIDE_CUP, (20, 25, 20), 8.0, "object"),
        ((-40.0, 20.0, -200.0, 0.0), GREEN, 8.0, "hand"),
        (WIDE_ARM, GREEN, 0.0, "hand"),
        (WIDE_ARM, GREEN, 8.0, "glare"),
        (WIDE_ARM, (20, 25, 20), 0.0, "hand"),
        (WIDE_ARM, (20, 25, 20), 8.0, "object"),
    ],
)
def test_soft_outlined_areas_that_hide_lines_are_glare_unless_dark(
    finder: OcclusionDetector, rect: Rect, colour: tuple[int, int, int], soft_mm: float, kind: str
) -> None:
    """An area that enters narrowly over the rim is an arm, however soft its outline."""
    share = np.zeros(WINDOW.shape)
    share[part(rect)] = 1
    veil = (cv2.GaussianBlur(share, (0, 0), soft_mm) if soft_mm else share)[..., None]
    image = np.round(board_image() * (1 - veil) + np.array(colour) * veil).astype(np.uint8)
    assert [found for found, _ in coverings(finder, image)] == [kind]


@pytest.mark.parametrize(("pale", "kind"), [(True, "hand"), (False, "glare")])
def test_a_white_arm_is_a_hand_on_a_white_board_and_glare_on_another(
    finder: OcclusionDetector, pale: bool, kind: str
) -> None:
    """An overexposed board still shows its lines, so an area that hides them is no glare."""
    board = with_lines(painted((-140.0, 140.0, -140.0, 140.0), (252, 252, 252))) if pale else board_image()
    assert coverings(finder, board) == []
    assert [found for found, _ in coverings(finder, softened(painted(ARM, (255, 255, 255), board)))] == [kind]


def glaring(x_mm: float, y_mm: float, width_mm: float = 22.0, board: Image | None = None) -> Image:
    """A lamp's specular reflection on the board, or on a picture of it."""
    column, row = WINDOW.to_pixels(x_mm, y_mm)
    rows, columns = np.indices(WINDOW.shape)
    spot = 3.0 * np.exp(-0.5 * ((rows - row) ** 2 + (columns - column) ** 2) / width_mm**2)[..., None]
    light = np.clip(np.power((board_image() if board is None else board) / 255, 2.2) + spot, 0, 1)
    return np.asarray(np.round(255 * np.power(light, 1 / 2.2)), dtype=np.uint8)


def test_a_reflected_lamp_is_glare_and_marks_places_near_it(finder: OcclusionDetector) -> None:
    found = evidence(finder, glaring(0.0, 0.0))
    assert {str(one.kind) for one in found.occlusions} == {"glare"}
    near = by_place(found.places["near glare"])
    assert (near["d4"], near["a1"], near["g7"]) == (1, 0, 0)
    assert by_place(found.places["brighter"])["d4"] > 0.5


def test_a_cup_beside_a_reflected_lamp_is_found_beside_the_glare(finder: OcclusionDetector) -> None:
    found = coverings(finder, glaring(-60.0, 0.0, 14.0, painted((-50.0, 20.0, -25.0, 25.0), GREEN)))
    assert {kind for kind, _ in found} == {"glare", "object"}


def test_a_patch_makes_only_its_own_place_strange(finder: OcclusionDetector) -> None:
    x, y = BOARD.centre_mm("e3")
    places = evidence(finder, painted((x - 11, x + 11, y - 11, y + 11), (60, 60, 170))).places
    strange, off_hue = (by_place(places[name]) for name in ("strange", "off hue"))
    assert 0.4 < strange["e3"] < 1
    assert off_hue["e3"] > 0.2
    assert strange["c5"] == off_hue["c5"] == strange["e5"] == 0


@pytest.mark.parametrize("place", ["a1", "d4", "g7", "b6"])
def test_an_object_on_one_square_makes_only_that_square_doubtful(finder: OcclusionDetector, place: str) -> None:
    x, y = BOARD.centre_mm(place)
    view = view_of(painted((x - 11, x + 11, y - 11, y + 11), (60, 60, 170)))
    odds = emptiness(view, BOARD, finder.detect(view))
    assert odds[place] < 0
    assert min(value for other, value in odds.items() if other != place and other not in BOARD.printed) > 2


def test_a_bare_board_has_only_empty_squares(finder: OcclusionDetector) -> None:
    view = view_of(board_image())
    odds = emptiness(view, BOARD, finder.detect(view))
    assert set(odds) == set(BOARD.places)
    assert min(odds.values()) > 4


def measured(finder: OcclusionDetector, image: Image) -> dict[str, dict[str, float]]:
    """The measures of each place, by name of the measure and place."""
    view = view_of(image)
    found = place_measures(view, BOARD, finder.detect(view))
    return {name: by_place(values) for name, values in found.items()}


def test_a_bare_board_leaves_no_doubt(finder: OcclusionDetector) -> None:
    for name, values in measured(finder, board_image()).items():
        if name != "dark":
            assert max(abs(value) for value in values.values()) < 0.35, name
    assert measured(finder, board_image())["dark"]["d4"] == pytest.approx(
        -np.log2(np.dot(WOOD, (0.114, 0.587, 0.299)) / 255), abs=0.1
    )


def test_each_measure_responds_to_its_own_disturbance(finder: OcclusionDetector) -> None:
    x, y = BOARD.centre_mm("c5")
    square: Rect = (x - 18, x + 18, y - 18, y + 18)
    rough = board_image().copy()
    checks = (np.indices(rough[part(square)].shape[:2]).sum(axis=0) // 3 % 2)[..., None] * 24
    rough[part(square)] = np.clip(rough[part(square)] - 12 + checks, 0, 255)
    found = measured(finder, rough)
    assert found["rougher"]["c5"] > 1
    assert found["rougher where printed"]["c5"] == 0
    assert found["rougher"]["e3"] < 0.3
    dim = measured(finder, lit(board_image(), 0.25))
    bare = measured(finder, board_image())
    assert dim["dark"]["d4"] == pytest.approx(bare["dark"]["d4"] + 2 / 2.2, abs=0.1)
    white = measured(finder, painted((x - 18, x, y - 18, y + 18), (255, 255, 255)))
    assert white["bleached"]["c5"] == pytest.approx(0.5, abs=0.1)
    assert white["bleached"]["d5"] == 0
    pale = measured(finder, lit(board_image(), _at(square, 1.4)))
    assert pale["brighter"]["c5"] == pytest.approx(np.log(1.4), abs=0.12)
    assert pale["darker"]["c5"] == 0
    shaded = measured(finder, lit(board_image(), _at(square, 0.6)))
    assert shaded["darker"]["c5"] == pytest.approx(-np.log(0.6), abs=0.15)
    assert shaded["brighter"]["c5"] == 0
    card = measured(finder, softened(painted((x - 38, x + 38, y - 38, y + 38), WOOD)))
    assert card["lines not seen"]["c5"] == 1
    assert card["lines not seen"]["g1"] == 0
    assert 0.05 < card["board not clear"]["a1"] < 0.2


def _at(rect: Rect, factor: float) -> np.ndarray:
    share = np.zeros((*WINDOW.shape, 1))
    share[part(rect)] = 1
    return 1 + share * (factor - 1)


def test_a_place_behind_a_piece_is_out_of_sight_and_of_usual_roughness(finder: OcclusionDetector) -> None:
    view = view_of(board_image())
    x, y = BOARD.centre_mm("c5")
    view.hidden_by_pieces[part((x - 20, x + 20, y - 20, y + 20))] = True
    x, y = BOARD.centre_mm("e3")
    view.hidden_by_pieces[part((x - 20, x + 20, y - 20, y))] = True
    found = place_measures(view, BOARD, finder.detect(view))
    hidden = by_place(found["out of sight"])
    assert hidden["c5"] == 1
    assert hidden["e3"] == pytest.approx(0.5, abs=0.05)
    assert hidden["d4"] == 0
    assert by_place(found["rougher"])["c5"] == 0


def test_too_little_bare_board_gives_no_evidence(finder: OcclusionDetector) -> None:
    view = view_of(board_image())
    view.hidden_by_pieces[:] = True
    found = finder.detect(view)
    assert found.occlusions == ()
    assert found.places == {}
    assert max(emptiness(view, BOARD, found).values()) < 4


def test_a_board_without_colour_evidence_is_judged_by_its_lines_alone() -> None:
    doubts = place_measures(view_of(board_image()), BOARD, SurfaceEvidence((), {}))
    for name in ("lines faint", "brighter", "darker", "strange", "off hue", "near glare"):
        assert not doubts[name].any(), name
    assert (doubts["lines not seen"] == 1).all()
    assert (doubts["board not clear"] == 1).all()


def test_an_arm_over_most_of_the_board_is_a_hand_if_the_boards_hue_is_known(finder: OcclusionDetector) -> None:
    bare = evidence(finder, board_image())
    assert bare.usual_look is not None
    view = view_of(painted((-80.0, 200.0, -200.0, 100.0), SKIN))
    ((kind, area),) = [(str(one.kind), one.area_mm2) for one in finder.detect(view, bare.usual_look).occlusions]
    assert kind == "hand"
    assert area == pytest.approx(area_mm2((-80.0, 200.0, -200.0, 100.0)), rel=0.2)
