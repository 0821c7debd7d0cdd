"""Playing Blockade on with sampled dice: no piece is lost, walls cost steps, and the leader does better."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games.blockade.evaluation import (
    GATES,
    ColourPieces,
    ColourProgress,
    PlayerPieces,
    count_towers,
    new_platforms,
    platforms_of,
    play_on,
    player_pieces,
    progress_of,
    spend_points,
)
from engine.games.blockade.state import BASES, BLUE, GREEN, PLACES, RED, YELLOW, starting_stacks
from engine.support.grid import members
from tests.engine.games.blockade.strategies import state_of
from tests.engine.games.blockade.test_game import four_towers

START = starting_stacks()
WARM = PlayerPieces(player_pieces(START, "warm"), 0)
COOL = PlayerPieces(player_pieces(START, "cool"), 0)
ROLLS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=60)


def squares(*names):
    return tuple(sorted(PLACES.index(name) for name in names))


def bits(*names):
    return sum(1 << square for square in squares(*names))


def steps(pieces, walls=0):
    return ColourProgress(pieces.larges, pieces.mediums, pieces.smalls, 0).steps(walls)


@given(walls=st.integers(0, 2**25 - 1), points=st.integers(1, 12), which=st.integers(0, 1))
def test_spending_points_brings_a_colour_nearer_and_loses_no_piece(walls, points, which):
    pieces = WARM.colours[which]
    walls &= ~bits(*(PLACES[square] for square in (*pieces.larges, *pieces.mediums)))
    after, built = spend_points(walls, pieces, bits("c3"), points)
    assert len(after.larges) + len(built) == len(after.mediums) + len(built) == len(after.smalls) + len(built) == 5
    assert sorted((*after.larges, *built)) == sorted(pieces.larges)
    assert not set(after.larges) & set(built)


@pytest.mark.parametrize(("colour", "cheapest"), [(0, "c4"), (1, "c2")])
def test_the_cheapest_tower_is_built_first(colour, cheapest):
    pieces = WARM.colours[colour]
    assert spend_points(0, pieces, bits("c3"), 3)[1] == ()
    assert spend_points(0, pieces, bits("c3"), 4)[1] == squares(cheapest)


def test_a_medium_moves_only_to_where_it_may_rest():
    pieces = ColourPieces(squares("a4"), squares("e5"), squares("a3"), 0)
    assert spend_points(0, pieces, 0, 3) == (pieces, ())
    assert spend_points(0, pieces, bits("c3"), 3)[0].mediums == squares("c3")
    assert spend_points(0, pieces, 0, 4)[0].mediums == squares("a4")
    assert spend_points(0, pieces, 0, 5)[1] == squares("a4")


def test_walls_cost_extra_steps():
    pieces = ColourPieces(squares("b3"), squares("a5"), squares("b2"), 0)
    assert spend_points(0, pieces, 0, 3)[1] == squares("b3")
    walls = bits("a4", "b4", "c4")
    assert spend_points(walls, pieces, 0, 5)[1] == ()
    assert spend_points(walls, pieces, 0, 6)[1] == squares("b3")
    assert spend_points(walls | bits("b5"), pieces, 0, 12) == (pieces, ())


@given(ROLLS)
def test_playing_on_gives_a_repeatable_chance(rolls):
    chance = play_on(WARM, COOL, 0, rolls)
    assert 0 <= chance <= 1
    assert chance == play_on(WARM, COOL, 0, rolls)


def test_the_player_who_is_nearer_wins():
    board = state_of(four_towers(), "warm", (2, 5)).stacks
    warm, cool = PlayerPieces(player_pieces(board, "warm"), 0), PlayerPieces(player_pieces(board, "cool"), 0)
    assert count_towers(board) == 4
    assert play_on(warm, cool, 4, [(1, 6), (6, 6)]) == 1
    assert play_on(cool, warm, 4, [(6, 6)]) == 0
    assert play_on(cool, warm, 4, []) < 0.1


@pytest.mark.parametrize("colour", range(4))
def test_a_gate_shuts_mediums_in_by_eleven_steps(colour):
    """Its squares are the colour's own, and together they cost the stated number of steps."""
    gate = GATES[colour]
    assert all(BASES[square] == colour for square in members(gate))
    theirs = COOL if colour in {RED, YELLOW} else WARM
    costs = [[steps(pieces, walls) - steps(pieces) for pieces in theirs.colours] for walls in (gate, 0)]
    assert sorted(costs[0]) == [1, 11]
    assert costs[1] == [0, 0]
    standing = progress_of(START, colour)
    assert standing.steps_to_gate(0, gate) < standing.steps(0)
    assert standing.steps_to_gate(0, 0) == 0


def test_a_gate_comes_before_another_tower_of_the_same_cost():
    red = ColourPieces(squares("a2", "a4"), squares("b3", "b3"), squares("a3", "b3"), 0)
    assert spend_points(0, red, 0, 2)[1] == squares("a4")


def test_neither_side_of_the_board_is_better():
    """Rotated by half a turn the board is the same with the colours exchanged."""
    assert [steps(pieces) for pieces in WARM.colours] == [steps(pieces) for pieces in COOL.colours]
    draw = random.Random(4)
    games = [[(draw.randint(1, 6), draw.randint(1, 6)) for _ in range(60)] for _ in range(300)]
    first, second = (
        sum(play_on(one, two, 0, rolls) for rolls in games) / 300 for one, two in ((WARM, COOL), (COOL, WARM))
    )
    assert first == pytest.approx(second, abs=0.1)
    # The player who rolls first is ahead.
    assert max(first, second) < 0.5


def test_only_the_first_five_towers_are_platforms_for_mediums():
    assert new_platforms(bits("a2", "c4"), 3) == bits("a2", "c4")
    assert new_platforms(bits("a2", "c4"), 4) == bits("a2")
    assert new_platforms(bits("a2", "c4"), 5) == 0
    assert [platforms_of(START, colour) for colour in (RED, YELLOW, GREEN, BLUE)] == [0] * 4
    board = state_of(four_towers(), "warm", (2, 5)).stacks
    assert platforms_of(board, RED).bit_count() == 4
