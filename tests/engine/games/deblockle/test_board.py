import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import OptionError
from engine.games.deblockle.state import PRINTED_NET, SIDES, SYMBOLS, Cube, cube_of, read_net
from tests.engine.games.deblockle import oracle

AS_WRITTEN = 1
OPPOSITES = {frozenset(pair) for pair in [("star", "stop"), ("slider", "hoops"), ("x", "cross")]}


def rolled(cube, mask, side):
    return {top: after for top, _, after in cube.rolls(mask)[SIDES.index(side)]}


def test_the_printed_net_shows_slider_x_hoops_cross_clockwise_under_the_star():
    cube = cube_of(PRINTED_NET)
    assert cube.top(AS_WRITTEN) == "star"
    assert cube.facings(AS_WRITTEN) == ({"north": "slider", "east": "x", "south": "hoops", "west": "cross"},)


@pytest.mark.parametrize(("side", "top"), [("north", "hoops"), ("east", "cross"), ("south", "slider"), ("west", "x")])
def test_tipping_shows_the_face_of_the_far_side(side, top):
    assert list(rolled(cube_of(PRINTED_NET), AS_WRITTEN, side)) == [top]


def test_each_symbol_is_up_in_four_of_24_orientations():
    cube = cube_of(PRINTED_NET)
    assert [cube.with_top[symbol].bit_count() for symbol in SYMBOLS] == [4] * 6
    assert sum(cube.with_top.values()) == 2**24 - 1


def test_opposite_faces_stay_opposite():
    cube = cube_of(PRINTED_NET)
    for symbol in SYMBOLS:
        for facing in cube.facings(cube.with_top[symbol]):
            assert {
                frozenset((facing["north"], facing["south"])),
                frozenset((facing["east"], facing["west"])),
            } < OPPOSITES


def test_four_tips_in_one_direction_restore_a_block():
    cube = cube_of(PRINTED_NET)
    for side in SIDES:
        mask = AS_WRITTEN
        for _ in range(4):
            ((_, mask),) = rolled(cube, mask, side).items()
        assert mask == AS_WRITTEN


@given(st.permutations(SYMBOLS), st.lists(st.sampled_from(SIDES), max_size=12))
def test_rolls_agree_with_faces_turned_one_by_one(net, path):
    faces = dict(zip(("up", "down", "north", "east", "south", "west"), net, strict=True))
    cube, mask = Cube("/".join(net)), AS_WRITTEN
    for side in path:
        faces = oracle.tip(faces, side)
        assert list(rolled(cube, mask, side)) == [faces["up"]]
        mask = rolled(cube, mask, side)[faces["up"]]
    assert cube.top(mask) == faces["up"]
    assert cube.facings(mask) == ({side: faces[side] for side in SIDES},)
    assert cube.agreeing(cube.with_top[faces["up"]], {"north": faces["north"]}) == mask


@given(st.sampled_from(SYMBOLS), st.sampled_from(SIDES))
def test_a_roll_of_an_unknown_block_can_show_four_symbols_and_determines_its_faces(top, side):
    cube = cube_of(PRINTED_NET)
    results = cube.rolls(cube.with_top[top])[SIDES.index(side)]
    assert len(results) == 4
    assert all(before.bit_count() == after.bit_count() == 1 for _, before, after in results)
    assert sum(before for _, before, _ in results) == cube.with_top[top]


@pytest.mark.parametrize(
    "text",
    [PRINTED_NET, " Star/Stop/Slider/X/Hoops/Cross ", "up=star, down=stop,north=slider,east=x,south=hoops,west=cross"],
)
def test_a_net_is_read_in_both_forms(text):
    assert "/".join(read_net(text)) == PRINTED_NET


@pytest.mark.parametrize("text", ["", "star", "star/star/slider/x/hoops/cross", "up=star", "a/b/c/d/e/f"])
def test_an_invalid_net_is_refused_with_the_expected_form(text):
    with pytest.raises(OptionError, match="write the symbols at up/down/north/east/south/west"):
        read_net(text)
