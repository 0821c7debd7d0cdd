"""The ends that one colour reaches by itself; skipping equivalent sequences loses none."""

import random

import pytest

from engine.games.blockade import reach as reaching
from engine.games.blockade.enumeration import Candidates
from engine.games.blockade.reach import Guide, Search, explore, terrain_of
from engine.games.blockade.state import CLEARS, COLOURS, OWNED, RED, colour_of
from tests.effort import cases, some
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import COUNTED, GAME, state_of
from tests.present import present


def searched(text, colour, points, *, covered=False, **options):
    """The terrain of a colour in a typed position, the caps that are left, and the ends the colour can reach."""
    state = GAME.notation.parse_state(text)
    terrain = terrain_of(state.stacks, state.options, colour)
    caps = state.supply[:points]
    return terrain, caps, explore(terrain, points, caps, covered=covered, **options)


def played(terrain, moves, caps):
    """The layout after these moves, with each new tower capped, and the number of steps."""
    piles, left = list(terrain.start), list(caps)
    for start, end in moves:
        piles[end] += piles[start][-1]
        piles[start] = piles[start][:-1]
        if left and terrain.tower(end, piles[end]):
            piles[end] += str(left.pop(0))
    return tuple(piles), sum(terrain.distance[start][end] for start, end in moves)


@pytest.mark.parametrize("points", [4, 6])
@pytest.mark.parametrize("covered", [False, True])
def test_skipping_equivalent_sequences_loses_no_end(points, covered):
    for text in some(COUNTED, 10):
        for colour in range(4):
            terrain, caps, reach = searched(text, colour, points, covered=covered)
            _, _, plain = searched(text, colour, points, covered=covered, edges=True)
            assert {end.layout: end.points for end in reach.ends} == {end.layout: end.points for end in plain.ends}
            for end in () if covered else reach.ends:
                assert played(terrain, reach.moves_to(end.layout), caps) == (end.layout, end.points)


def test_layouts_not_worth_following_are_not_searched():
    terrain, _, every = searched(COUNTED[0], RED, 2)
    _, _, none = searched(COUNTED[0], RED, 2, worth=lambda layout, used: False)
    assert [end.layout for end in none.ends] == [terrain.start]
    _, _, near = searched(COUNTED[0], RED, 2, worth=lambda layout, used: used <= 1)
    assert {end.layout for end in near.ends} == {end.layout for end in every.ends if end.points <= 1}
    assert 1 < len(near.ends) < len(every.ends)


@pytest.mark.parametrize("text", some(COUNTED, 8))
def test_each_end_is_a_candidate_and_found_in_as_few_steps_and_moves(text):
    every = {square: frozenset({"", "S", "M", "1", "2", "3"}) for square in range(25)}
    for colour in range(4):
        terrain, caps, reach = searched(text, colour, 4)
        points = {end.layout: end.points for end in reach.ends}
        fitting = Candidates(terrain, 4, caps, may_run_out=len(caps) < 4).fitting(every)
        listed = {each.layout: each.bound for bound in range(5) for each in fitting.at(bound)}
        assert points.keys() <= listed.keys()
        for layout in listed:
            found = reaching.way_to(terrain, layout, 4, caps)
            assert (found is not None) == (layout in points)
            if found is not None:
                assert (found.points, len(found.moves)) == (points[layout], len(reach.moves_to(layout)))
                assert played(terrain, found.moves, caps) == (layout, found.points)


def test_no_more_layouts_than_necessary_are_searched_for_one_end():
    """The number is that of the current search."""
    followed = 0
    for text in COUNTED[:20]:
        for colour in range(4):
            terrain, caps, reach = searched(text, colour, 5)
            for end in reach.ends:
                search = Search(terrain, end.points, caps, covered=False, edges=False, guide=Guide(terrain, end.layout))
                assert present(search.way_to(end.layout)).points == end.points
                followed += len(search.came_from)
    assert followed <= 13_196


def laid(board, terrain, layout):
    """The oracle's frozen board with a layout of one colour on it."""

    def piece(mark):
        return f"black {oracle.ORDER[int(mark) - 1]}" if mark.isdigit() else f"{COLOURS[terrain.colour]} {mark}"

    return tuple(
        (*stack[: len(stack) - len(before)], *map(piece, pile))
        for stack, before, pile in zip(oracle.freeze(board), terrain.start, layout, strict=True)
    )


@pytest.mark.parametrize("seed", range(4))
def test_one_colour_reaches_what_the_plain_rules_allow(seed):
    """The other colour's pieces stay where they are, so the clear squares under them are taken."""
    rng = random.Random(seed)
    for _ in range(cases(40)):
        how, strict, player = rng.choice(["exact", "contains"]), rng.random() < 0.3, rng.choice(["warm", "cool"])
        board = oracle.random_board(rng, how, oracle.CROWDED)
        if oracle.winner(board, how):
            continue
        state = state_of(board, player, tower=how, strict=strict)
        dice = rng.choice([(4, 0), (5, 0), (6, 0), (0, 4), (0, 5), (0, 6)])
        colour, partner = OWNED[player] if dice[0] else OWNED[player][::-1]
        taken = sum(1 << square for square in CLEARS if colour_of(state.stacks[square][-1]) == partner)
        terrain = terrain_of(state.stacks, state.options, colour, taken)
        reach = explore(terrain, max(dice), state.supply[: max(dice)])
        ends = {laid(board, terrain, end.layout) for end in reach.ends}
        assert len(ends) == len(reach.ends)
        assert ends == oracle.ends(board, player, dice, how, strict), GAME.notation.format_state(state)


@pytest.mark.parametrize(("covered", "most"), [(False, 9_057), (True, 9_181)])
def test_no_more_layouts_than_necessary_are_searched(covered, most):
    """The numbers are those of the current search; without skipping they are several times as high."""
    followed = 0
    for state in (GAME.rules.new(), *map(GAME.notation.parse_state, COUNTED[:10])):
        for colour in range(4):
            terrain = terrain_of(state.stacks, state.options, colour)
            followed += len(explore(terrain, 5, state.supply[:5], covered=covered).came_from)
    assert followed <= most


@pytest.mark.parametrize(
    ("most", "between"), [(3, ""), (4, "a1 b2 c3 d4 e5"), (5, "a1 b1 a2 b2 c2 b3 c3 d3 c4 d4 e4 d5 e5")]
)
def test_the_squares_on_paths_between_two_corners_are_those_near_the_diagonal(most, between):
    state = state_of(oracle.start(), "warm", (4, 1))
    terrain = terrain_of(state.stacks, state.options, RED)
    squares = terrain.between[GAME.places.index("a1"), GAME.places.index("e5"), most]
    assert {place for square, place in enumerate(GAME.places) if squares >> square & 1} == set(between.split())
