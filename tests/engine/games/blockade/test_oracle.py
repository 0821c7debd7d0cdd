"""The fast search for turns against the slow plain rules; what one colour reaches by itself, and both in turn."""

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest

from engine.games.blockade import alternating
from engine.games.blockade import reach as reaching
from engine.games.blockade.alternating import PointBudget, WayToOneEnd, alternating_moves, may_rest
from engine.games.blockade.candidates import Candidates
from engine.games.blockade.reach import Guide, Layout, Search, explore, terrain_of, without_movable
from engine.games.blockade.state import CLEARS, COLOURS, OWNED, RED, YELLOW, BlockadeTurn, Move, colour_of
from engine.games.blockade.turns import turn_of
from engine.values import Certainty
from tests.effort import cases, some
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import COUNTED, GAME, HELPED, frozen, state_of
from tests.present import present

DICE = [(first, second) for first in range(1, 7) for second in range(1, 7)]


def assert_same(board, player, dice, how="exact", strict=False):
    """The ends of all turns are those of the oracle, each once; returns the state and its turns."""
    state = state_of(board, player, dice, tower=how, strict=strict)
    turns = GAME.rules.legal_turns(state)
    got = [frozen(GAME.rules.apply(state, turn)) for turn in turns]
    assert len(set(got)) == len(got) == len(turns)
    assert set(got) == oracle.ends(board, player, dice, how, strict), GAME.notation.format_state(state)
    return state, turns


def compare_random(rng, most_points, towers=oracle.ANY_TOWERS):
    how, strict = rng.choice(["exact", "contains"]), rng.random() < 0.3
    board = oracle.random_board(rng, how, towers)
    if oracle.winner(board, how):
        return
    dice = rng.choice([each for each in DICE if sum(each) <= most_points])
    state, turns = assert_same(board, rng.choice(["warm", "cool"]), dice, how, strict)
    for turn in rng.sample(list(turns), min(3, len(turns))):
        assert GAME.notation.parse_turn(state, GAME.notation.format_turn(turn)) == turn


@pytest.mark.parametrize("seed", range(2))
def test_same_ends_on_random_positions(seed):
    rng = random.Random(seed)
    for _ in range(cases(4)):
        compare_random(rng, 3)


@pytest.mark.parametrize("seed", range(2))
def test_same_ends_on_crowded_boards(seed):
    rng = random.Random(f"crowded {seed}")
    for _ in range(cases(60)):
        compare_random(rng, 4, oracle.CROWDED)


def after_move(frozen_board, start, end, how):
    """The board with the top of one square moved to another, a new tower there capped."""
    moved = list(frozen_board)
    moved[end] = (*moved[end], moved[start][-1])
    moved[start] = moved[start][:-1]
    left = oracle.black_left(dict(enumerate(frozen_board)))
    if left and oracle.is_tower(moved[end], how):
        moved[end] += (f"black {left[0]}",)
    return tuple(moved)


def test_a_move_is_legal_if_and_only_if_the_plain_rules_have_its_end():
    rng = random.Random("moves")
    for _ in range(cases(60)):
        how, player = rng.choice(["exact", "contains"]), rng.choice(["warm", "cool"])
        board = oracle.random_board(rng, how, oracle.CROWDED)
        if oracle.winner(board, how):
            continue
        state = state_of(board, player, rng.choice([each for each in DICE if sum(each) <= 4]), tower=how)
        ends = oracle.ends(board, player, state.roll, how)
        for start, end in permutations(range(25), 2):
            move = Move(state.stacks[start][-1], GAME.places[start], GAME.places[end])
            legal = GAME.rules.certainty(state, BlockadeTurn(player, (move,))) is Certainty.CERTAIN
            assert legal == (after_move(oracle.freeze(board), start, end, how) in ends), f"{move} in {state}"


def locked(**loose):
    """A board with most pieces locked away in towers, and the given stacks."""
    board = oracle.start()
    for colour, corner in (("red", "e5"), ("yellow", "a1")):
        for place in [place for place in oracle.PLACES if oracle.BASE[place] == colour][:4]:
            board[corner].pop()
            board[place] = [f"{colour} L", f"{colour} M", f"{colour} S", "black L"]
    for number, place in enumerate(place for place in oracle.PLACES if board[place][-1] == "black L"):
        board[place][-1] = "black L" if number < 5 else "black M"
    return {**board, **loose}


def swapping():
    """Red holds the centre and yellow a corner, one piece each, so they may change places in one turn."""
    return locked(c3=["clear L", "red M"], e5=["clear L"], a1=["clear L", "yellow M"])


def winning():
    """Red's last small leaves the centre for its fifth tower, and yellow may move there first."""
    last = [place for place in oracle.PLACES if oracle.BASE[place] == "red"][4]
    return locked(**{last: ["red L", "red M"], "c3": ["clear L", "red S"], "e5": ["clear L"]})


def sharing():
    """One large black piece is left; red and yellow can each make a tower in one turn."""
    board = locked(a1=["clear L"], e5=["clear L"])
    for colour in ("red", "yellow"):
        places = [place for place in oracle.PLACES if oracle.BASE[place] == colour]
        board[places[4]] = [f"{colour} L", f"{colour} M"]
        for place in places[2:4]:
            board[place] = [f"{colour} L", f"{colour} S"]
        board[places[3]].append(f"{colour} S")
        board["a1" if colour == "yellow" else "e5"] += [f"{colour} M"] * 2
    for place in oracle.PLACES:
        if board[place][-1][:5] == "black":
            board[place][-1] = "black L"
    return board


@pytest.mark.parametrize(
    ("board", "dice", "strict"),
    [
        *some(
            [
                (board, dice, strict)
                for strict in (False, True)
                for board, dice in [
                    (swapping, (2, 2)),
                    (swapping, (2, 1)),
                    (winning, (2, 2)),
                    (winning, (2, 1)),
                    (sharing, (2, 1)),
                ]
            ],
            3,
        ),
        pytest.param(sharing, (2, 2), False, marks=pytest.mark.long),
        pytest.param(sharing, (2, 2), True, marks=pytest.mark.long),
    ],
)
def test_same_ends_if_the_colours_alternate(board, dice, strict):
    assert_same(board(), "warm", dice, strict=strict)


EITHER_MAY_WAIT = (
    "cool a1:CL+RMS b1:GLMS+KL c1:GL d1:GLMS+KL e1:CL+YM a2:RLMS+KS b2:GLMS+KM c2:YLMS+KM d2:YLS e2:YLMS+KS a3:RL "
    "b3:GLMS+KL c3:CL+BM d3:BLMS+KM+BS e3:YLMS+KM a4:RLMS b4:RLMS+KS c4:RLMS+KL d4:BLMS+KM e4:YLMS+KS a5:CL+GM "
    "b5:BLMS+KL c5:BLMS+KS d5:BL e5:CL+GS"
)
FIRST_THE_LARGER_CAP = (
    "warm a1:CL+YMM b1:GLS c1:GLS d1:GLS e1:CL+BMMMMM a2:RLMS+KL b2:GLS c2:YLMS+KL+YS d2:YLMS+KL e2:YLS a3:RLMS+KL "
    "b3:GLS c3:CL+RS d3:BLS e3:YLS a4:RLSS b4:RL c4:RLM d4:BLS e4:YLM a5:CL+GMMMMM b5:BLS c5:BLS d5:BLS e5:CL+RMM"
)
LAST_BLACK = (
    "cool a1:CL+RMS b1:GLMS+KS c1:GLMS+KM d1:GLMS+KM e1:CL+YM a2:RLMS+KS b2:GLMS+KL+GS c2:YLMS+KS d2:YLMS+KL "
    "e2:YLMS+KL a3:RLMS+KM b3:GLM c3:CL+BMS d3:BLMS+KS e3:YL a4:RLMS+KM b4:RL c4:RL d4:BLMS+KL e4:YLMS+KL a5:CL+YS "
    "b5:BLM c5:BL d5:BLMS+KM+BS e5:CL+RMS"
)


@pytest.mark.parametrize(
    ("text", "dice", "strict"),
    some(
        [
            (text, dice, strict)
            for text, dice in [(EITHER_MAY_WAIT, (2, 2)), (LAST_BLACK, (2, 2)), (FIRST_THE_LARGER_CAP, (1, 2))]
            for strict in (False, True)
        ],
    ),
)
def test_same_ends_if_both_colours_want_the_same_black_piece(text, dice, strict):
    state = GAME.notation.parse_state(text)
    assert_same(oracle.thaw(frozen(state)), state.to_move, dice, strict=strict)


FIFTH_TOWER_LEAVES_PIECES = [
    "warm roll=1,2 a1:CL b1:GLMS+KS c1:GLMS+KS d1:GLMS+KM e1:CL+BM a2:RLMS+KL b2:GL c2:YL d2:YLMS+KS e2:YLMS+KL+YS "
    "a3:RLM b3:GLMS+KM c3:CL+GMS d3:BLMS+KS e3:YLMS+KL a4:RLMSS b4:RLMS+KM c4:RLMS+KS d4:BLMS+KM e4:YLMS+KL a5:CL "
    "b5:BLMS+KL c5:BL d5:BLMS+KM+BS e5:CL+YM strict=true",
    "warm roll=4,1 a1:CL b1:GL c1:GLMS+KS d1:GLMS+KM e1:CL+GMS a2:RLMS+KS b2:GLMS+KS c2:YL d2:YLMS+KM e2:YLMS+KS "
    "a3:RLM b3:GLMS+KL c3:CL+BM d3:BLMS+KL e3:YLMS+KM a4:RLMS+KL+RS b4:RLMS+KS c4:RLMS d4:BLMS+KM e4:YLMS+KM "
    "a5:CL+YS b5:BL c5:BLMS+KL d5:BLMS+KL+BS e5:CL+YM",
]
"""No black is left, so a tower stays open and can be made twice or be left again."""


@pytest.mark.parametrize("text", [*some(COUNTED, 5), *FIFTH_TOWER_LEAVES_PIECES])
def test_same_ends_if_the_colours_are_entangled(text):
    state = GAME.notation.parse_state(text)
    options = state.options
    assert_same(oracle.thaw(frozen(state)), state.to_move, state.roll, options.tower, options.strict)


def test_clear_squares_change_hands_both_ways():
    state = state_of(swapping(), "warm", (2, 2))
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "c3-b2 a1-c3 b2-a1"))
    assert after in [GAME.rules.apply(state, turn) for turn in GAME.rules.legal_turns(state)]


@pytest.mark.long
def test_same_ends_on_many_random_positions():
    rng = random.Random("many")
    for _ in range(2000):
        compare_random(rng, 3)
    for _ in range(50):
        compare_random(rng, 4)


LAST_BLACK_FOR_HELPED = (
    "warm roll=4,4 a1:CL+RMS b1:GLMS+KL c1:GLMS+KL d1:GLMS+KL e1:CL+YM a2:RLM b2:GLMS+KL c2:YLS d2:YLMS+KL e2:YLMS+KM "
    "a3:RL b3:GL c3:CL+BMMSS d3:BL e3:YLMS+KM a4:RLMS+KM b4:RLMS+KM c4:RLMS+KM+RS d4:BLMS+KS e4:YLMS+KS a5:CL+GMS "
    "b5:BL c5:BLMS+KS d5:BLMS+KS e5:CL"
)


class Counting(WayToOneEnd):
    """Counts how often the search reached a position, new or not."""

    reached = 0

    def steps_left(self, layout: Layout) -> int:
        self.reached += 1
        return super().steps_left(layout)


def test_a_position_reached_by_two_orders_of_steps_is_searched_once():
    """The number is that of the current search."""
    state = GAME.notation.parse_state(HELPED)
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "c2-a2 a1-a2 a1-a3 a2-a1 a2-c2"))
    red, yellow = (
        Counting(terrain_of(state.stacks, state.options, colour), terrain_of(after.stacks, after.options, colour).start)
        for colour in (RED, YELLOW)
    )
    moves = present(alternating_moves((red, yellow), [(4, 4)], state.supply))
    assert GAME.rules.apply(state, turn_of(state, moves)) == after
    assert red.reached <= 10_295


PIECES = {"M": "red M", "S": "red S", "m": "yellow M", "s": "yellow S", "3": "black L", "2": "black M", "1": "black S"}


def random_pile(rng, stack):
    """Some pieces of both colours, perhaps above a new tower on a bare large."""
    loose = "".join(rng.choice("MSms") for _ in range(rng.randint(0, 3)))
    if len(stack) > 1 or rng.random() < 0.5:
        return loose
    return {"red L": "MS", "yellow L": "ms"}.get(stack[0], "") + rng.choice("321") + loose


def test_a_pile_of_both_colours_may_rest_where_the_plain_rules_allow():
    rng = random.Random("piles")
    found = Counter[bool]()
    for _ in range(cases(200)):
        state = state_of(oracle.random_board(rng), "warm")
        red, yellow = (terrain_of(state.stacks, state.options, colour) for colour in (RED, YELLOW))
        bare = replace(state, stacks=tuple(without_movable(stack, "warm") for stack in state.stacks))
        for square, stack in enumerate(frozen(bare)):
            pile = random_pile(rng, stack)
            rests = oracle.in_order((*stack, *(PIECES[mark] for mark in pile)))
            assert may_rest((red, yellow), square, pile) == rests, f"{pile} on {stack}"
            found[rests] += 1
    assert min(found.values()) > 10


def test_help_is_searched_for_even_if_another_cap_would_make_it_needless(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last black were used first, a2 would stay open and red would need no help, but yellow builds nothing."""
    monkeypatch.setattr(alternating, "MOST_NODES", 200_000)
    state = GAME.notation.parse_state(LAST_BLACK_FOR_HELPED)
    turn = GAME.notation.parse_turn(state, "c2-a2 a1-a2 a1-a3 a2-a1 a2-c2")
    listed = {GAME.rules.apply(state, one).stacks for one in GAME.rules.legal_turns(state)}
    assert GAME.rules.apply(state, turn).stacks in listed


def searched(text, colour, points, *, search=Search, **options):
    """The terrain of a colour in a typed position, the caps that are left, and the ends the colour can reach."""
    state = GAME.notation.parse_state(text)
    terrain = terrain_of(state.stacks, state.options, colour)
    caps = state.supply[:points]
    return terrain, caps, search(terrain, points, caps, **options).run()


class PlainSearch(Search):
    """Skips no sequence of moves for having a twin."""

    def _waiting_after(self, *_):
        return ()


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
    for text in some(COUNTED, 5):
        for colour in range(4):
            terrain, caps, reach = searched(text, colour, points, covered=covered)
            _, _, plain = searched(text, colour, points, covered=covered, search=PlainSearch)
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


@pytest.mark.parametrize("text", some(COUNTED, 4))
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
                search = Search(terrain, end.points, caps, guide=Guide(terrain, end.layout))
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
            followed += len(Search(terrain, 5, state.supply[:5], covered=covered).run().came_from)
    assert followed <= most


@pytest.mark.parametrize(
    ("most", "between"), [(3, ""), (4, "a1 b2 c3 d4 e5"), (5, "a1 b1 a2 b2 c2 b3 c3 d3 c4 d4 e4 d5 e5")]
)
def test_the_squares_on_paths_between_two_corners_are_those_near_the_diagonal(most, between):
    state = state_of(oracle.start(), "warm", (4, 1))
    terrain = terrain_of(state.stacks, state.options, RED)
    squares = terrain.between[GAME.places.index("a1"), GAME.places.index("e5"), most]
    assert {place for square, place in enumerate(GAME.places) if squares >> square & 1} == set(between.split())


def terrains(*, strict=False):
    state = state_of(swapping(), "warm", (2, 2), strict=strict)
    return tuple(terrain_of(state.stacks, state.options, colour) for colour in (0, 1))


def test_points_are_divided_in_one_of_the_allowed_ways():
    budget = PointBudget(((3, 1), (1, 4)))
    assert budget.most == (3, 4)
    assert budget.covers(3, 1)
    assert budget.covers(1, 4)
    assert not budget.covers(3, 2)
    assert not budget.covers(2, 4)
    assert not budget.covers(4, 0)


def test_help_takes_points_of_both_colours():
    """Moving between two pieces and out again takes at least two points."""
    budget = PointBudget(((4, 2),))
    assert budget.covers_with_help((9, 9), (4, 0))
    assert not budget.covers_with_help((9, 9), (4, 3))
    assert not budget.covers_with_help((9, 9), (5, 0))
    assert PointBudget(((2, 4),)).covers_with_help((9, 9), (0, 4))
    assert not PointBudget(((1, 4),)).covers_with_help((9, 9), (0, 4))
    assert not PointBudget(((4, 1),)).covers_with_help((9, 9), (4, 0))
    assert PointBudget(((4, 1),)).covers_with_help((4, 1), (9, 9))


def test_a_colour_that_needs_no_help_can_give_it():
    assert PointBudget(((4, 1),)).covers_with_help((4, 9), (3, 1))
    assert PointBudget(((1, 4),)).covers_with_help((9, 4), (1, 3))
    assert not PointBudget(((4, 1),)).covers_with_help((5, 9), (3, 1))


@pytest.mark.parametrize("which", [0, 1])
def test_a_colour_gains_by_help_only_if_both_colours_have_the_points(which):
    def shared(own, other):
        return PointBudget(((own, other) if which == 0 else (other, own),)).with_help(which, terrains())

    assert shared(30, 30) == 30
    assert shared(30, 1) == 0
    assert shared(2, 30) == 0
    both = PointBudget(((30, 30), (20, 20))).with_help(which, terrains())
    assert both == 30


@pytest.mark.parametrize(
    ("loose", "fewest"),
    [
        ({"c4": ["red L", "red M"], "c3": ["clear L", "red S"], "e5": ["clear L"]}, 3),
        ({"c4": ["red L", "red M", "red M", "red S"], "b4": ["red L", "red S"], "e5": ["clear L"]}, 4),
        ({"c4": ["red L"], "c3": ["clear L", "red S"]}, 5),
        ({"c4": ["red L", "red S"]}, 6),
    ],
    ids=["a medium lies there", "a small lies on it", "a medium is two steps away", "a small is in its way"],
)
def test_help_takes_fewer_points_the_more_complete_the_tower_is(loose, fewest):
    state = state_of(locked(**loose), "warm", (2, 2))
    first, second = (terrain_of(state.stacks, state.options, colour) for colour in (0, 1))
    assert next(own for own in range(9) if PointBudget(((own, 30),)).with_help(0, (first, second))) == fewest


@pytest.mark.parametrize("which", [0, 1])
def test_under_strict_rules_any_points_can_gain_by_help(which):
    assert PointBudget(((5, 1), (1, 4))).with_help(which, terrains(strict=True)) == (5, 4)[which]
