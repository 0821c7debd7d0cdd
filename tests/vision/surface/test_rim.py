"""The rim of a drawn board: the step to the table, and objects crossing it, on each of its four sides."""

import functools

import numpy as np
import numpy.typing as npt
import pytest

from tests.effort import some
from tests.vision.surface.drawn import BOARD, WINDOW
from vision.frame import BoolImage, FloatImage
from vision.surface.plan import RimEvidence, SurfaceRim
from vision.surface.view import COARSER, SurfaceColours

ROWS, COLUMNS = WINDOW.shape[0] // COARSER, WINDOW.shape[1] // COARSER
WOOD, TABLE, SKIN = (0.0, 0.0, 0.0), (0.5, -0.3, -0.2), (-0.5, 0.6, 0.2)
Colour = tuple[float, float, float]


@functools.cache
def rim() -> SurfaceRim:
    return SurfaceRim(BOARD, WINDOW)


def mm(x: tuple[float, float], y: tuple[float, float]) -> tuple[slice, slice]:
    """Coarse rows and columns of a rectangle."""
    left, far = WINDOW.to_pixels(x[0], y[1])
    right, near = WINDOW.to_pixels(x[1], y[0])
    return (
        slice(max(0, round(far / COARSER)), max(0, round(near / COARSER))),
        slice(max(0, round(left / COARSER)), max(0, round(right / COARSER))),
    )


def logs_of(*parts: tuple[tuple[float, float], tuple[float, float], Colour]) -> FloatImage:
    """Colours of a board on a table with rectangles on both, each by its extents and colour."""
    logs = np.empty((ROWS, COLUMNS, 3), dtype=np.float32)
    logs[:] = TABLE
    logs[mm((-140, 140), (-140, 140))] = WOOD
    for x, y, colour in parts:
        logs[mm(x, y)] = colour
    return logs


def mask(x: tuple[float, float], y: tuple[float, float]) -> BoolImage:
    found = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    found[mm(x, y)] = True
    return found


def detect(logs: FloatImage, hidden: BoolImage | None = None) -> RimEvidence:
    nothing: FloatImage = np.zeros((ROWS, COLUMNS), dtype=np.float32)
    no: BoolImage = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    colours = SurfaceColours(nothing, no, logs, nothing, nothing, no, 0.13, no)
    return rim().detect(colours, np.zeros(WINDOW.shape, dtype=np.bool_) if hidden is None else hidden)


def turned(array: npt.NDArray[np.generic], side: int) -> npt.NDArray[np.generic]:
    """The array with its near side rotated to another side."""
    return np.ascontiguousarray(np.rot90(array, side))


ARM = ((-20.0, 15.0), (-180.0, -60.0))


def test_a_bare_rim_shows_its_step_everywhere() -> None:
    found = detect(logs_of())
    assert found.inside_differs.all()
    assert not (found.missing | found.table_differs | found.entered | found.continues).any()
    assert len(found.missing) == 4 * 28
    everything = np.ones((ROWS, COLUMNS), dtype=np.bool_)
    assert found.count_missing_at(everything) == 0
    assert found.is_crossed_by(everything) is False
    assert not found.is_entered_by(everything)
    assert not found.continues_at(everything)


@pytest.mark.parametrize("side", range(4))
def test_an_arm_enters_where_it_crosses_the_rim(side: int) -> None:
    found = detect(np.asarray(turned(logs_of((*ARM, SKIN)), side), dtype=np.float32))
    pixels = np.asarray(turned(mask(*ARM), side))
    assert found.is_entered_by(pixels)
    assert found.continues_at(pixels)
    assert found.is_crossed_by(pixels) is True
    assert 1 <= found.count_missing_at(pixels) <= 2
    assert 3 <= found.entered.sum() <= 5
    assert 3 <= found.table_differs.sum() <= 5
    assert 2 <= found.missing.sum() <= 5
    elsewhere = np.asarray(turned(mask((60.0, 130.0), (-150.0, -60.0)), side))
    assert not found.is_entered_by(elsewhere)
    assert found.is_crossed_by(elsewhere) is False
    opposite = np.asarray(turned(mask(ARM[0], (60.0, 160.0)), side))
    assert found.count_missing_at(opposite) == 0
    assert found.is_crossed_by(np.asarray(turned(mask((-40.0, 40.0), (-40.0, 40.0)), side))) is False


@pytest.mark.parametrize(("wide_mm", "parts"), [(100.0, 10), (110.0, 11), (120.0, 0)])
def test_an_object_wider_than_an_arm_does_not_enter(wide_mm: float, parts: int) -> None:
    found = detect(logs_of(((-110.0, wide_mm - 110.0), (-180.0, -60.0), SKIN)))
    assert found.table_differs.sum() == wide_mm / 10
    assert found.entered.sum() == parts


@pytest.mark.parametrize("side", range(4))
def test_a_card_at_the_rim_does_not_reach_over_it(side: int) -> None:
    card = ((-40.0, 40.0), (-140.0, -80.0))
    found = detect(np.asarray(turned(logs_of((*card, SKIN)), side), dtype=np.float32))
    pixels = np.asarray(turned(mask(*card), side))
    assert found.is_crossed_by(pixels) is False
    assert not found.is_entered_by(pixels)
    assert found.count_missing_at(pixels) == 0


def test_an_object_that_looks_like_the_table_may_continue_on_it() -> None:
    card = ((-40.0, 40.0), (-140.0, -80.0))
    found = detect(logs_of((*card, TABLE)))
    assert found.is_crossed_by(mask(*card)) is None
    assert not found.missing.any()


@pytest.mark.parametrize("side", range(4))
def test_an_object_along_a_side_is_no_arm(side: int) -> None:
    book = ((-130.0, 0.0), (-180.0, -100.0))
    found = detect(np.asarray(turned(logs_of((*book, SKIN)), side), dtype=np.float32))
    assert not found.entered.any()
    assert found.table_differs.sum() + found.continues.sum() > 10


def test_an_arm_over_a_corner_is_an_arm() -> None:
    for x in ((-140.0, -105.0), (105.0, 140.0)):
        corner = (x, (-180.0, -60.0))
        found = detect(logs_of((*corner, SKIN)))
        assert found.is_entered_by(mask(*corner))


@pytest.mark.parametrize("side", range(4))
def test_an_arm_beside_a_corner_is_an_arm_whatever_lies_beside_other_sides(side: int) -> None:
    arm, card = ((105.0, 140.0), (-180.0, -60.0)), ((-180.0, -142.0), (-140.0, -110.0))
    found = detect(np.asarray(turned(logs_of((*arm, SKIN), (*card, SKIN)), side), dtype=np.float32))
    assert found.is_entered_by(np.asarray(turned(mask(*arm), side)))


def test_soft_edged_light_does_not_enter() -> None:
    logs = logs_of()
    x = np.linspace(-176, 176, COLUMNS)
    glow = 0.8 * np.exp(-0.5 * (x / 40) ** 2).astype(np.float32)
    logs[mm((-180, 180), (-180, -60))] += (glow[:, None] * np.array([-1.0, 1.0, 0.4]))[None].astype(np.float32)
    found = detect(logs)
    assert found.table_differs.any()
    assert not found.entered.any()


@pytest.mark.parametrize(("brightness", "is_new"), [(-0.5, False), (-1.2, True), (0.1, False), (0.6, True)])
def test_a_shadow_on_the_table_does_not_differ_and_a_dark_sleeve_does(brightness: float, is_new: bool) -> None:
    shaded = (TABLE[0], TABLE[1], TABLE[2] + brightness)
    assert detect(logs_of((ARM[0], (-180.0, -142.0), shaded))).table_differs.any() == is_new


def test_hidden_parts_of_the_rim_are_not_judged() -> None:
    logs = logs_of((*ARM, SKIN))
    hidden = np.zeros(WINDOW.shape, dtype=np.bool_)
    hidden[-80:] = True
    found = detect(logs, hidden)
    assert not found.entered.any()
    assert not found.table_differs.any()
    assert 68 < found.inside_differs.sum() < 80
    beside = np.zeros(WINDOW.shape, dtype=np.bool_)
    beside[:, :100] = True
    assert detect(logs, beside).is_entered_by(mask(*ARM))


def test_no_step_is_missing_on_a_table_of_the_boards_colour() -> None:
    logs = logs_of()
    logs[:] = WOOD
    logs[mm(*ARM)] = SKIN
    found = detect(logs)
    assert not found.missing.any()
    assert found.is_entered_by(mask(*ARM))
    assert not found.inside_differs[~found.table_differs].any()


def test_two_arms_enter_separately() -> None:
    found = detect(logs_of((*ARM, SKIN), ((60.0, 95.0), (-180.0, -60.0), SKIN)))
    edges = np.diff(found.entered[2 * 28 : 3 * 28].astype(int))
    assert (edges == 1).sum() == 2
    assert 6 <= found.entered.sum() <= 9


SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
Points = list[tuple[int, int]]


def parts_of_rim() -> list[tuple[int, Points, Points]]:
    """Each part's side, and the rows and columns of its points inside and outside the rim."""
    half = BOARD.bounds_mm.right_mm
    count = round(2 * half / 10.0)

    def pixels(side: tuple[int, int], part: int, depths_mm: tuple[float, ...]) -> Points:
        found = []
        for point in range(4):
            along = ((4 * part + point + 0.5) / (4 * count) * 2 - 1) * half
            for depth_mm in depths_mm:
                x = side[0] * (half + depth_mm) if side[0] else along
                y = side[1] * (half + depth_mm) if side[1] else along
                column, row = ((at - 0.5) / 2 for at in WINDOW.to_pixels(x, y))
                found.append((min(max(round(row), 0), ROWS - 1), min(max(round(column), 0), COLUMNS - 1)))
        return found

    return [
        (number, pixels(side, part, (-5.0, -8.0, -11.0)), pixels(side, part, (14.0, 19.0, 24.0, 29.0)))
        for number, side in enumerate(SIDES)
        for part in range(count)
    ]


def unlike(off: npt.NDArray[np.floating]) -> float:
    """Difference of a colour from the table, less the part that shadow and light explain."""
    return float(np.hypot(off[0], off[1]) + max(0.0, off[2] - 0.15) + max(0.0, -off[2] - 0.6))


def by_parts(logs: FloatImage, hidden: BoolImage) -> dict[str, list[bool]]:
    """A part-by-part reference of the evidence."""
    parts = parts_of_rim()
    colours = []
    for _, *both in parts:
        seen = [[at for at in points if not hidden[at]] for points in both]
        is_open = all(2 * len(some) > len(points) for some, points in zip(seen, both, strict=True))
        colours.append([np.mean([logs[at] for at in some], axis=0) for some in seen] if is_open else None)
    found = {
        name: [False] * len(parts) for name in ("missing", "table_differs", "inside_differs", "entered", "continues")
    }
    tables, steps = {}, {}
    for side in range(4):
        own = [one for one, part in zip(colours, parts, strict=True) if part[0] == side and one is not None]
        if len(own) >= 6:
            tables[side] = np.median([outer for _, outer in own], axis=0)
            steps[side] = float(np.median([np.linalg.norm(inner - outer) for inner, outer in own]))
    for number, ((side, *_), one) in enumerate(zip(parts, colours, strict=True)):
        if one is not None and side in tables:
            (inner, outer), table = one, tables[side]
            step, from_table = float(np.linalg.norm(inner - outer)), float(np.linalg.norm(inner - table))
            found["inside_differs"][number] = unlike(inner - table) > 0.25
            found["continues"][number] = from_table > 0.25 and step < 0.35 * from_table
            found["table_differs"][number] = unlike(outer - table) > 0.25
            found["missing"][number] = (
                found["table_differs"][number] and steps[side] > 0.3 and step < 0.35 * steps[side]
            )
    for side, table in tables.items():
        size = [
            0.0 if one is None or part[0] != side else float(np.linalg.norm(one[1] - table))
            for one, part in zip(colours, parts, strict=True)
        ]
        new = [beyond and part[0] == side for beyond, part in zip(found["table_differs"], parts, strict=True)]
        for start in range(len(parts)):
            if not new[start] or (start and new[start - 1]):
                continue
            end = next((at for at in range(start, len(parts)) if not new[at]), len(parts))
            beside = [size[at] for at in (start - 2, end + 1) if 0 <= at < len(parts)]
            if end - start <= 11 and max(beside, default=0.0) < 0.45 * max(size[start:end]):
                for at in range(start, end):
                    inner, outer = colours[at] or (table, table)
                    found["entered"][at] |= float(np.linalg.norm(inner - outer)) < 0.6 * size[at]
    return found


@pytest.mark.parametrize("seed", some([0, 2, 4, 5, 6, 7]))
def test_the_evidence_equals_a_part_by_part_reference(seed: int) -> None:
    """Objects of any colour and width on and beside the rim, parts of which are hidden."""
    random = np.random.default_rng(seed)
    things = []
    for _ in range(14):
        side, wide, at = random.integers(4), random.uniform(8, 70), random.uniform(-140, 140)
        begin, end = sorted(random.uniform(90, 185, 2))
        colour = tuple((random.choice([0.15, 0.5, 1.0]) * random.normal(0.0, 0.6, 3)).tolist())
        along, out = (at - wide / 2, at + wide / 2), (begin, end) if side % 2 else (-end, -begin)
        things.append((along, out, colour) if side < 2 else (out, along, colour))
    logs = logs_of(*things) + random.normal(0.0, 0.02, (ROWS, COLUMNS, 3)).astype(np.float32)
    small = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    for _ in range(4):
        x, y = random.choice([-150.0, 150.0, random.uniform(-150, 150)], 2, replace=False)
        small |= mask((x - 25, x + 25), (y - 25, y + 25))
    small |= mask((-150, 120 - 10 * seed), (120, 180))
    found = detect(logs, np.kron(small, np.ones((COARSER, COARSER))) > 0)
    expected = by_parts(logs, small)
    for name, values in expected.items():
        assert getattr(found, name).tolist() == values, name
        assert 0 < sum(values) < len(values), name
    regions = [mask(x, y) for x, y, _ in things]
    for region in regions:
        touched = [sum(region[at] for at in inside) * 2 >= len(inside) for _, inside, _ in parts_of_rim()]
        count = {name: sum(a and b for a, b in zip(values, touched, strict=True)) for name, values in expected.items()}
        assert found.count_missing_at(region) == count["missing"] // 2
        assert found.is_entered_by(region) == (count["entered"] >= 2)
        assert found.continues_at(region) == (count["continues"] >= 2)
        if not any(touched):
            crossed: bool | None = False
        elif max(count["table_differs"], count["continues"]) >= 2:
            crossed = True
        else:
            crossed = False if 2 * count["inside_differs"] > sum(touched) else None
        assert found.is_crossed_by(region) is crossed
