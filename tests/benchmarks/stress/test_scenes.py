import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parts.picture_changes import LabelledPicture, harder, picture_levels
from benchmarks.parts.stress.hardships import hardships
from benchmarks.parts.stress.scenes import StressCase, case_of, picture_of
from benchmarks.parts.stress.score import PictureScore, SquareScore, calibration_of, missed_targets, score, tally
from benchmarks.stress import Task
from benchmarks.training.emptiness import fitted, ramps
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import BlockPose
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.effort import some
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

KNOWN = hardships(1)
LEVELS = [(name, level) for name, hardship in KNOWN.items() for level in hardship.levels]


@pytest.fixture(scope="module")
def cases() -> list[StressCase]:
    return [case_of(KNOWN[name], level, 0, seed=5) for name, level in some(LEVELS, 15)]


def test_the_truth_names_every_block_where_it_stands(cases: list[StressCase]) -> None:
    for case in cases:
        layout = case.scene.setting.layout
        blocks = {place: look for place, look in case.looks.items() if look != "empty"}
        assert len(blocks) == len(case.scene.pieces)
        for block in case.scene.pieces:
            assert isinstance(block, BlockPose)
            (place,) = (
                place
                for place in blocks
                if np.hypot(*(np.array(layout.centre_mm(place)) - [block.x_mm, block.y_mm])) <= 8.01
            )
            assert blocks[place] == f"{block.colour} block, {block.up} up"
            assert abs(block.turned_deg) <= 30.0


def test_the_same_seed_gives_the_same_picture_and_another_another() -> None:
    first, again = (Task("resolution", "640x480", 0, 1).case() for _ in range(2))
    other = Task("resolution", "640x480", 0, 2).case()
    picture = picture_of(first)
    assert np.array_equal(picture, picture_of(again))
    assert not np.array_equal(picture, picture_of(other))


SETTING = standard_setting(lens((640, 480)))
LEVELS_PHOTOREAL = picture_levels()


@pytest.fixture(scope="module")
def picture() -> LabelledPicture:
    image = Renderer(1).render(Scene(SETTING), 1)
    return LabelledPicture(image, lambda: (SETTING.camera, SETTING.pose), SETTING.layout)


@pytest.mark.parametrize(("hardship", "level"), some(LEVELS_PHOTOREAL, 15))
def test_each_hardship_changes_the_picture_and_the_same_seed_gives_the_same(
    hardship: str, level: str, picture: LabelledPicture
) -> None:
    first, again = (harder(picture, hardship, level, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first.image, again.image)
    assert first.image.shape == picture.image.shape
    assert not np.array_equal(first.image, picture.image)


def made(places: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two features of places, and whether they are empty; the log-odds are 4 - 3 times the first feature."""
    rng = np.random.default_rng(seed)
    telling, silent = rng.uniform(0, 2, (2, places))
    bare = rng.random(places) < 1 / (1 + np.exp(-(4.0 - 3.0 * telling)))
    return telling, silent, bare


def test_the_fit_finds_the_slopes() -> None:
    telling, silent, bare = made(20_000, 1)
    knots = np.array([0.0, 1.0, 2.0])
    given = np.hstack([ramps(telling, knots), ramps(silent, knots)])
    constant, first, second, *nothing = fitted(given, bare, np.ones(len(bare)))
    np.testing.assert_allclose([constant, first, second], [4.0, 3.0, 3.0], atol=0.4)
    np.testing.assert_allclose(nothing, 0.0, atol=0.2)


LOOKS = {"a1": "empty", "b1": "gold block, star up", "c1": "teal block, x up"}
NAME = ("tilt-5-000", "tilt", "5", 0)


def reading(said: dict[str, tuple[str, float]], *kinds: str, hidden: tuple[str, ...] = ()) -> Reading:
    places = {
        place: PlaceReading(
            {look: share, "something else": 1 - share}, hidden_by=HindranceKind.HAND if place in hidden else None
        )
        for place, (look, share) in said.items()
    }
    return Reading(0, 0.0, places, tuple(Hindrance(HindranceKind(kind), f"there is a {kind}") for kind in kinds))


RIGHT = {place: (look, 0.999) for place, look in LOOKS.items()}


def test_a_reading_that_says_the_truth_is_wholly_right() -> None:
    result = score(NAME, reading(RIGHT), LOOKS)
    count = tally([result])
    assert result.wholly_right
    assert (count.right, count.wrong_and_certain, count.unsure, count.hidden) == (3, 0, 0, 0)
    assert (count.blocks, count.blocks_right, count.hands_invented) == (2, 2, 0)


def test_places_are_counted_by_outcome() -> None:
    said = {"a1": ("gold block, star up", 0.995), "b1": ("gold block, star up", 0.8), "c1": ("teal block, x up", 1.0)}
    count = tally([score(NAME, reading(said, hidden=("c1",)), LOOKS)])
    assert (count.right, count.wrong_and_certain, count.unsure, count.hidden) == (0, 1, 1, 1)
    assert (count.blocks, count.blocks_right, count.wholly_right) == (2, 1, 0)


def test_a_place_under_a_hand_need_not_be_read_but_may_not_be_certain_and_wrong() -> None:
    said = RIGHT | {"c1": ("empty", 0.6)}
    unsure = score(NAME, reading(said, "hand"), LOOKS, covered=("c1",), hand="over")
    certain = score(NAME, reading(said | {"c1": ("empty", 0.999)}, "hand"), LOOKS, covered=("c1",), hand="over")
    assert unsure.wholly_right
    assert tally([unsure]).wrong_and_certain == 0
    assert tally([certain]).wrong_and_certain == 1


def test_a_bad_read_is_silent_unless_something_is_named_and_misnamed_where_nothing_lies() -> None:
    wrong = dict.fromkeys(LOOKS, ("something else", 0.6))
    silent = score(NAME, reading(wrong), LOOKS)
    blamed = score(NAME, reading(wrong, "object"), LOOKS)
    honest = score(NAME, reading(wrong, "glare"), LOOKS)
    covered = score(NAME, reading(wrong, "object"), LOOKS, thing=True)
    blind = score(NAME, reading({}, "not located"), LOOKS)
    counts = [(tally([one]).silent, tally([one]).misnamed) for one in (silent, blamed, honest, covered, blind)]
    assert counts == [(1, 0), (0, 1), (0, 0), (0, 0), (0, 0)]
    assert not score(NAME, reading(RIGHT), LOOKS).is_bad


@pytest.mark.parametrize(
    ("hand", "kinds", "missed", "called_a_thing", "invented"),
    [
        ("over", ("hand",), 0, 0, 0),
        ("over", (), 1, 0, 0),
        ("over", ("object",), 0, 1, 0),
        ("beside", ("hand",), 0, 0, 1),
        ("beside", ("object",), 0, 0, 0),
        ("at the rim", (), 0, 0, 0),
        ("at the rim", ("hand",), 0, 0, 0),
    ],
)
def test_hands_missed_and_invented(
    hand: str, kinds: tuple[str, ...], missed: int, called_a_thing: int, invented: int
) -> None:
    result = score(NAME, reading(RIGHT, *kinds), LOOKS, hand=hand)
    count = tally([result])
    assert (count.hands_missed, count.hands_called_things, count.hands_invented) == (missed, called_a_thing, invented)
    assert bool(missed_targets([result])) == bool(missed or invented)


def test_a_cup_called_a_hand_is_counted_apart() -> None:
    result = score(NAME, reading(RIGHT, "hand", hidden=("a1",)), LOOKS, thing=True)
    count = tally([result])
    assert (count.hands_invented, count.no_hands, count.things, count.things_called_hands) == (0, 0, 1, 1)
    assert result.wholly_right


def test_a_place_called_hidden_without_a_hindrance_is_a_fault() -> None:
    assert not score(NAME, reading(RIGHT, "object", hidden=("a1",)), LOOKS).wholly_right


def test_a_table_that_is_not_located_misses_no_hand_and_reads_nothing() -> None:
    count = tally([score(NAME, reading({}, "not located"), LOOKS, hand="over")])
    assert (count.pictures, count.located, count.hands_missed, count.places) == (1, 0, 0, 0)
    assert (count.hands, count.no_hands, count.things) == (0, 0, 0)


def test_pictures_without_a_certain_square_miss_the_target() -> None:
    refused = score(NAME, None, LOOKS, refused="no clear star on a4")
    assert any("could not be enrolled" in line for line in missed_targets([refused]))
    assert any("nothing was shown" in line for line in missed_targets([score(NAME, reading({}), LOOKS)]))


def squares(probability: float, right: int, wrong: int) -> list[SquareScore]:
    said = [SquareScore("a1", "empty", probability, "empty", None)] * right
    return said + [SquareScore("a1", "empty", probability, "gold block, star up", None)] * wrong


def picture_score(*parts: list[SquareScore]) -> PictureScore:
    every = tuple(square for part in parts for square in part)
    return PictureScore(*NAME, True, "", every, (), "beside", False, frozenset(), len(every))


def test_one_certain_square_in_ten_thousand_may_be_wrong() -> None:
    assert not missed_targets([picture_score(squares(0.9999, 9_999, 1))])
    assert (
        "2 of 10000 squares called certain are wrong" in missed_targets([picture_score(squares(0.9999, 9_998, 2))])[0]
    )


def test_calibration_is_perfect_when_probabilities_come_true() -> None:
    found = calibration_of(squares(0.75, 75, 25) + squares(0.95, 95, 5))
    assert found.expected_error == pytest.approx(0.0, abs=1e-12)
    lines = missed_targets([picture_score(squares(0.75, 75, 25), squares(0.95, 95, 5), squares(1.0, 1, 0))])
    assert not any("calibration error" in line for line in lines)


def test_too_little_certainty_is_as_bad_for_calibration_as_too_much() -> None:
    assert calibration_of(squares(0.9, 100, 0)).expected_error == pytest.approx(0.1)
    assert calibration_of(squares(0.9, 80, 20)).expected_error == pytest.approx(0.1)
    assert any("calibration error" in line for line in missed_targets([picture_score(squares(0.9, 100, 0))]))


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=60))
def test_calibration_error_is_a_mean_gap(said: list[tuple[float, bool]]) -> None:
    some = [SquareScore("a1", "empty", share, "empty" if right else "x", None) for share, right in said]
    found = calibration_of(some)
    assert 0.0 <= found.expected_error <= 1.0
    assert int(found.counts.sum()) == len(some)
    overall = abs(np.mean([share for share, _ in said]) - np.mean([right for _, right in said]))
    assert found.expected_error >= overall - 1e-9


def test_hidden_squares_state_no_probability() -> None:
    hidden = [SquareScore("a1", "empty", 0.08, "gold block, star up", "hand")]
    assert int(calibration_of(hidden).counts.sum()) == 0
