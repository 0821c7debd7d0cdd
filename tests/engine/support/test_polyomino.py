"""Shapes: known counts, and invariants under rotation and reflection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UnreadableError
from engine.support.grid import ORTHOGONAL, fixed, free, is_connected, orientations, picture, read_picture


@st.composite
def shapes(draw):
    cells = {(0, 0)}
    for _ in range(draw(st.integers(0, 7))):
        beside = sorted({(c + across, r + up) for c, r in cells for across, up in ORTHOGONAL} - cells)
        cells.add(beside[draw(st.integers(0, len(beside) - 1))])
    return frozenset(cells)


@given(shapes())
def test_all_orientations_of_a_shape_have_the_same_orientations(shape):
    family = orientations(fixed(shape))
    assert fixed(shape) in family
    assert len(set(family)) == len(family)
    assert 8 % len(family) == 0
    for turned in family:
        assert orientations(turned) == family
        assert free(turned) == free(shape) == family[0]
        assert len(turned) == len(shape)
        assert is_connected(turned)
        assert fixed(turned) == turned


@given(shapes(), st.integers(-5, 5), st.integers(-5, 5))
def test_moving_a_shape_does_not_change_its_fixed_form(shape, across, up):
    assert fixed({(column + across, row + up) for column, row in shape}) == fixed(shape)


@given(shapes())
def test_a_picture_of_a_shape_round_trips(shape):
    assert read_picture(picture(shape)) == fixed(shape)
    assert read_picture(picture(shape).lower()) == fixed(shape)


def test_a_picture_has_its_top_row_first():
    assert read_picture("X../XXX") == {(0, 0), (1, 0), (2, 0), (0, 1)}


@pytest.mark.parametrize(
    ("text", "said", "column"),
    [
        ("XX/X?", "'?' at column 5", 5),
        ("X.X", "2 cells that don't hang together", None),
        ("", "^the shape '' has no cells; expected at least one X$", None),
        ("./.", "no cells", None),
    ],
)
def test_an_invalid_picture_of_a_shape_is_refused(text, said, column):
    with pytest.raises(UnreadableError, match=said.replace("?", r"\?")) as caught:
        read_picture(text)
    assert caught.value.column == column


def test_a_shape_needs_cells():
    with pytest.raises(ValueError, match="at least one cell"):
        fixed(())
    assert not is_connected(frozenset())
