"""Printed faces of a known set of dice: only faces of the set are read, each die once."""

from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from benchmarks.scene.dice_variety import tray_picture
from simulator.rendering.dice import FACE_VALUES, DieLook, DrawnDie, centre_height_mm, die_rotation, printed_face
from simulator.scene.scene import Lighting, lens, looking_at
from vision.errors import LayoutError
from vision.layout.table import TableLayout, layout_from_json
from vision.readers.dice import reader
from vision.readers.dice.finding import CLASSES, CROP_PX, FoundDie
from vision.readers.dice.reader import (
    PRINTED,
    SEEN_PX,
    DiceReader,
    PrintedFaces,
    check_printed,
    face_probabilities,
    printed_input,
    shipped_faces,
)
from vision.readers.protocols import SurfaceView

SETS = ("1*3457", "12*456", "234*67", "123567", "IOTLS*")
MARKERS = {"dictionary": "DICT_4X4_50", "side": 36, "z": 0.4, "centres": {"0": [-90, 90], "1": [90, 90]}}
DICE_MM = ((-60.0, 30.0), (-25.0, -40.0), (5.0, 45.0), (40.0, -20.0), (75.0, 35.0))


def seen(**chances: float) -> np.ndarray:
    """The network's class probabilities of one die; the other classes share the rest."""
    named = {name.removeprefix("_") if name != "_star" else "*": chance for name, chance in chances.items()}
    rest = (1 - sum(named.values())) / (len(PRINTED) - len(named))
    return np.array([named.get(name, rest) for name in PRINTED], dtype=np.float32)


def best(faces: dict[str, float]) -> str:
    return max(faces, key=lambda face: faces[face])


def test_faces_that_no_die_has_are_not_read() -> None:
    told = face_probabilities(np.stack([seen(_8=0.6, _3=0.35)]), SETS)
    assert best(told[0]) == "3"
    assert sum(told[0].values()) == pytest.approx(1.0)


def test_each_die_of_the_set_is_used_once() -> None:
    clear = [seen(_1=0.99), seen(_2=0.99), seen(_4=0.99), seen(_5=0.99)]
    doubtful = seen(_1=0.6, I=0.35)
    assert best(face_probabilities(np.stack([doubtful]), SETS)[0]) == "1"
    assert best(face_probabilities(np.stack([*clear, doubtful]), SETS)[-1]) == "I"


def test_a_nine_is_a_six_upside_down() -> None:
    upside_down = np.stack([seen(_6=0.95)])
    assert best(face_probabilities(upside_down, ("123459",))[0]) == "9"
    both = face_probabilities(upside_down, ("123469",))[0]
    assert both["6"] == pytest.approx(both["9"])


def test_a_face_that_can_not_be_read_is_named() -> None:
    with pytest.raises(LayoutError, match=r"the faces #, Z; .* enrol --dice"):
        check_printed(("12Z#45",))
    data = {"tray": {"x": [0, 9], "y": [0, 9]}, "markers": MARKERS, "dice": {"faces": ["12", ""]}}
    with pytest.raises(LayoutError, match="has no face"):
        layout_from_json(data)


def test_more_than_seven_dice_are_too_many_to_tell_apart() -> None:
    check_printed(("123456",) * 7)
    with pytest.raises(LayoutError, match=r"dice\.faces lists 8 dice; expected 7 or fewer"):
        check_printed(("123456",) * 8)


def tray_of(shown: str) -> tuple[SurfaceView, list[str]]:
    """A synthetic tray in which the dice of SETS show these faces, and the faces from left to right."""
    dice = []
    for number, (faces, face, (x, y)) in enumerate(zip(SETS, shown, DICE_MM, strict=True)):
        drawings = tuple(printed_face(faces[value - 1]) for value in FACE_VALUES)
        turn = die_rotation(FACE_VALUES.index(faces.index(face) + 1), 70.0 * number + 20.0)
        ink = (0.6, 0.2, 0.1) if number == len(SETS) - 1 else (0.1, 0.1, 0.1)
        look = DieLook((0.9, 0.93, 0.95), ink, drawings)
        dice.append(DrawnDie(np.array([x, y, centre_height_mm(turn, 16.0)]), 16.0, turn, look))
    made = tray_picture(dice, shown, lens(horizontal_view_deg=62.0), looking_at(480.0, 20.0), Lighting())
    return SurfaceView(made.image, made.camera, made.pose, _printed(made.layout).surfaces[0]), list(shown)


def _printed(layout: TableLayout) -> TableLayout:
    bounds = layout.surfaces[0].bounds_mm
    tray = {"x": [bounds.left_mm, bounds.right_mm], "y": [bounds.near_mm, bounds.far_mm]}
    centres = {str(each): list(middle) for each, middle in layout.markers.centres_mm.items()}
    return layout_from_json(
        {"tray": tray, "dice": {"side": 16, "faces": list(SETS)}, "markers": {**MARKERS, "centres": centres}}
    )


def test_only_the_clearest_dice_are_read_up_to_the_size_of_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    shows_five, plain = np.eye(len(CLASSES), dtype=np.float32)[4], np.full((CROP_PX, CROP_PX, 3), 90, dtype=np.uint8)
    dice = [FoundDie(x, 150.0, 28.8, heat, shows_five, plain) for x, heat in ((90, 0.3), (180, 0.9), (270, 0.35))]
    monkeypatch.setattr(reader, "find_dice", lambda *_, **__: dice)
    camera, pose = lens((320, 240)), looking_at(480.0, 20.0)

    def read(sets: Sequence[str]) -> list[float]:
        tray = {"tray": {"x": [-120, 120], "y": [-120, 120]}, "dice": {"side": 16, "faces": list(sets)}}
        (surface,) = layout_from_json({**tray, "markers": MARKERS}).surfaces
        view = SurfaceView(np.full((240, 320, 3), 90, dtype=np.uint8), camera, pose, surface)
        return [die.x_mm for die in DiceReader(surface).read(view, None).dice]

    every = read(SETS[:3])
    assert len(every) == 3
    assert read(SETS[:2]) == every[1:]
    assert read(SETS[:1]) == every[1:2]


def test_a_foreign_die_is_one_too_many_and_displaces_none(monkeypatch: pytest.MonkeyPatch) -> None:
    shows_five, plain = np.eye(len(CLASSES), dtype=np.float32)[4], np.full((CROP_PX, CROP_PX, 3), 90, dtype=np.uint8)
    dice = [FoundDie(x, 150.0, 28.8, heat, shows_five, plain) for x, heat in ((90, 0.5), (180, 0.9), (270, 0.7))]
    monkeypatch.setattr(reader, "find_dice", lambda *_, **__: dice)
    tray = {"tray": {"x": [-120, 120], "y": [-120, 120]}, "dice": {"side": 16, "faces": list(SETS[:2])}}
    (surface,) = layout_from_json({**tray, "markers": MARKERS}).surfaces
    view = SurfaceView(np.full((240, 320, 3), 90, dtype=np.uint8), lens((320, 240)), looking_at(480.0, 20.0), surface)
    assert len(DiceReader(surface).read(view, None).dice) == 3


def square(digit: str) -> np.ndarray:
    """A dark digit on a light square."""
    image = np.full((CROP_PX, CROP_PX, 3), (180, 190, 200), dtype=np.uint8)
    cv2.putText(image, digit, (9, 23), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (40, 50, 60), 2, cv2.LINE_AA)
    return image


def test_the_network_input_does_not_depend_on_light_or_polarity() -> None:
    squares = [square(digit) for digit in "347"]
    seen = printed_input(squares)
    assert seen.shape == (3, 1, SEEN_PX, SEEN_PX)
    assert np.abs(seen).max() <= 4.0
    for other in ([one // 2 for one in squares], [255 - one for one in squares]):
        assert np.abs(printed_input(other) - seen).mean() < 0.05
    body, ink = seen[0, 0, 2, 2], seen[0, 0].max()
    assert body == pytest.approx(0.0, abs=0.05)
    assert ink > 1.5


def test_a_die_looks_the_same_alone_and_beside_dice_of_other_colours() -> None:
    squares = [square("3"), 255 - square("4"), square("7") // 3]
    alone = np.concatenate([printed_input([one]) for one in squares])
    assert printed_input(squares) == pytest.approx(alone, abs=1e-3)


def test_surroundings_do_not_change_the_colours_of_the_upper_face() -> None:
    plain = square("4")
    beside = plain.copy()
    middle = (CROP_PX - 1) / 2
    far = np.hypot(*(np.indices((CROP_PX, CROP_PX)) - middle)) > 0.46 * 26.0
    beside[far] = (20, 220, 30)
    seen, other = printed_input([plain])[0, 0], printed_input([beside])[0, 0]
    inner = ~far[4:-4, 4:-4]
    assert other[inner] == pytest.approx(seen[inner], abs=1e-4)
    assert np.abs(other[~inner] - seen[~inner]).max() > 1.0


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_a_quarter_turn_changes_nothing(quarter: int) -> None:
    image = np.full((61, 61, 3), 90, dtype=np.uint8)
    image[14:46, 14:46] = square("4")
    dice = [(30.0, 30.0, 26.0)]
    upright = shipped_faces().chances(image, dice)
    turned = shipped_faces().chances(np.ascontiguousarray(np.rot90(image, quarter)), dice)
    assert turned == pytest.approx(upright, abs=0.02)
    assert upright.sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("shown", ["3247T", "72*3O", "5461I"])
def test_five_dice_of_a_known_set_are_read(shown: str) -> None:
    view, faces = tray_of(shown)
    roll = DiceReader(view.surface).read(view, None)
    assert [best(dict(die.faces)) for die in roll.dice] == faces
    assert all(die.is_settled for die in roll.dice)


class StubNetwork:
    """Is sure of a bright square's face, and less of a dark one's; the score rises from one to the next."""

    def __init__(self) -> None:
        self.read = 0

    def run(self, batch: np.ndarray) -> np.ndarray:
        given = np.zeros((len(batch), len(PRINTED)), dtype=np.float32)
        given[:, 3] = np.where(batch[:, 0, 0, 0] > 0, 20.0, 0.8 * (1 + np.arange(len(batch)) + self.read))
        self.read += len(batch)
        return given


def test_only_a_die_in_doubt_is_looked_at_from_four_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    faces, stub = PrintedFaces(), StubNetwork()
    monkeypatch.setattr(faces, "_network", stub)
    monkeypatch.setattr(faces, "_temperature", 1.0)
    monkeypatch.setattr(
        reader, "printed_input", lambda squares: np.stack([one[None, :, :, 0] - 99.0 for one in squares])
    )
    image = np.full((80, 160, 3), 200, dtype=np.uint8)
    image[:, 80:] = 50
    sure, unsure = faces.chances(image, [(40.0, 40.0, 20.0), (120.0, 40.0, 20.0)])
    assert stub.read == 2 + 3
    assert sure[3] == pytest.approx(1.0)
    mean = 0.8 * (2 + 3 + 4 + 5) / 4
    assert unsure[3] == pytest.approx(np.exp(mean) / (np.exp(mean) + len(PRINTED) - 1), abs=1e-5)
