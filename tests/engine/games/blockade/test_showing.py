"""The turns that could show a table, found without listing all turns."""

import random
from itertools import islice

import pytest

from engine.games.blockade.enumeration import Candidates
from engine.games.blockade.explanation import play
from engine.games.blockade.notation import paths_of
from engine.games.blockade.reach import explore, least_steps, terrain_of, way_to
from engine.games.blockade.turns import is_whole_turn
from engine.showing import turns_showing
from tests.effort import cases, some
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import COUNTED, DICE, GAME, state_of
from tests.engine.games.blockade.test_oracle import EITHER_MAY_WAIT, LAST_BLACK, sharing, swapping, winning

HELPED = (
    "warm roll=4,4 a1:CL+RMS b1:GLMS+KL c1:GLS d1:GL e1:CL+YM a2:RLM b2:GLMS+KL c2:YLS d2:YLMS+KL e2:YLMS+KL a3:RL "
    "b3:GL c3:CL+RS d3:BLS e3:YLMS+KL a4:RLMS+KM b4:RLMS+KM c4:RLMS+KM d4:BLS e4:YLMS+KM a5:CL+GMMMSS b5:BLS c5:BLS "
    "d5:BLS e5:CL+BMMMMM"
)
FIFTH_TOWER_LEAVES_PIECES = [
    "warm roll=1,2 a1:CL b1:GLMS+KS c1:GLMS+KS d1:GLMS+KM e1:CL+BM a2:RLMS+KL b2:GL c2:YL d2:YLMS+KS e2:YLMS+KL+YS "
    "a3:RLM b3:GLMS+KM c3:CL+GMS d3:BLMS+KS e3:YLMS+KL a4:RLMSS b4:RLMS+KM c4:RLMS+KS d4:BLMS+KM e4:YLMS+KL a5:CL "
    "b5:BLMS+KL c5:BL d5:BLMS+KM+BS e5:CL+YM strict=true",
    "warm roll=4,1 a1:CL b1:GL c1:GLMS+KS d1:GLMS+KM e1:CL+GMS a2:RLMS+KS b2:GLMS+KS c2:YL d2:YLMS+KM e2:YLMS+KS "
    "a3:RLM b3:GLMS+KL c3:CL+BM d3:BLMS+KL e3:YLMS+KM a4:RLMS+KL+RS b4:RLMS+KS c4:RLMS d4:BLMS+KM e4:YLMS+KM "
    "a5:CL+YS b5:BL c5:BLMS+KL d5:BLMS+KL+BS e5:CL+YM",
]
"""No black is left, so a tower stays open and can be made twice or be left again."""
ROLLS = [(first, second) for first in range(1, 4) for second in range(1, 4)]
MARKS = frozenset({"", "S", "M", "1", "2", "3"})
EVERY = dict.fromkeys(range(25), MARKS)
"""Every place could show every mark."""
FEW = [(first, second) for first in range(1, 5) for second in range(1, 5) if first + second <= 5]


def random_state(rng, most):
    """A random position without a winner, with a roll of at most ``most`` points on the table."""
    how = rng.choice(["exact", "contains"])
    while oracle.winner(board := oracle.random_board(rng, how), how):
        pass
    dice = rng.choice([each for each in ROLLS if sum(each) <= most])
    return state_of(board, rng.choice(["warm", "cool"]), dice, tower=how, strict=rng.random() < 0.3)


def sighting(rng, before, after):
    """Marks that the places could show after a turn: some unclear, some hidden, one perhaps wrong."""
    could_be = {place: {look} for place, look in after.items()}
    for place in rng.sample(list(could_be), rng.choice([0, 0, 1, 4])):
        could_be[place] |= {before[place], *rng.sample(GAME.looks, rng.choice([1, 3, 8]))}
    if rng.random() < 0.2:
        could_be[rng.choice(list(could_be))] = {rng.choice(GAME.looks)}
    hidden = set(rng.sample(list(could_be), rng.choice([0, 0, 1, 3, 8])))
    return {place: looks for place, looks in could_be.items() if place not in hidden}


def ends_of(state, turns):
    """The stacks after each turn and the number of its moves, sorted."""
    return sorted((GAME.rules.apply(state, turn).stacks, len(turn.moves)) for turn in turns)


def compare(state, rng, sightings):
    """The turns found end like those of the whole list, in as many moves; returns how many there were."""
    before = GAME.table.appearance(state)
    looks = {turn: GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in GAME.rules.legal_turns(state)}
    count = 0
    for _ in range(sightings):
        could_be = sighting(rng, before, rng.choice(list(looks.values())))
        expected = {turn for turn, after in looks.items() if all(after[at] in could_be[at] for at in could_be)}
        found = list(turns_showing(GAME, state, could_be))
        assert ends_of(state, found) == ends_of(state, expected), f"{GAME.notation.format_state(state)}: {could_be}"
        count += len(found)
    return count


@pytest.mark.parametrize("seed", range(4))
def test_the_same_turns_as_in_the_whole_list(seed):
    rng = random.Random(seed)
    assert sum(compare(random_state(rng, 3), rng, 8) for _ in range(cases(3)))


@pytest.mark.long
def test_the_same_turns_as_in_the_whole_list_in_thousands_of_cases():
    rng = random.Random("many sightings")
    assert sum(compare(random_state(rng, 4), rng, 12) for _ in range(300))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("board", [swapping, winning, sharing])
def test_the_same_ends_if_the_colours_alternate(board, strict):
    assert_same_ends(state_of(board(), "warm", (2, 1), strict=strict))


@pytest.mark.parametrize("text", [EITHER_MAY_WAIT, LAST_BLACK])
def test_the_same_ends_if_both_colours_want_the_same_black_piece(text):
    assert_same_ends(DICE.rolled(GAME.notation.parse_state(text), DICE.parse_roll(GAME.rules.new(), "1,1")))


@pytest.mark.parametrize("text", some(COUNTED, 12))
def test_the_same_ends_if_the_colours_are_entangled(text):
    assert_same_ends(GAME.notation.parse_state(text))


def assert_same_ends(state):
    """With the whole board hidden every end is found, by any moves."""
    ends = [
        [GAME.rules.apply(state, turn).stacks for turn in turns]
        for turns in (GAME.rules.legal_turns(state), turns_showing(GAME, state, {}))
    ]
    assert len(set(ends[1])) == len(ends[1])
    assert set(ends[1]) == set(ends[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_search_for_one_end_agrees_with_the_search_for_all(seed):
    rng = random.Random(seed)
    state = random_state(rng, 4)
    caps = state.supply[:3]
    for colour in (0, 1, 2, 3):
        terrain = terrain_of(state.stacks, state.options, colour)
        reach = explore(terrain, 3, caps)
        points = {end.layout: end.points for end in reach.ends}
        fitting = Candidates(terrain, 3, caps, may_run_out=len(caps) < 3).fitting(EVERY)
        listed = {each.layout: each.bound for bound in range(4) for each in fitting.at(bound)}
        assert points.keys() <= listed.keys()
        for layout, bound in listed.items():
            way = way_to(terrain, layout, 3, caps)
            assert (way is None) == (layout not in points)
            if way is not None:
                assert way.points == points[layout] >= bound == least_steps(terrain, terrain.start, layout)
                assert len(way.moves) == len(reach.moves_to(layout))


@pytest.mark.parametrize("seed", range(4))
def test_the_candidates_are_the_ends_with_the_visible_marks(seed):
    rng = random.Random(f"marks {seed}")
    state = random_state(rng, 4)
    terrain = terrain_of(state.stacks, state.options, rng.randrange(4))
    candidates = Candidates(terrain, 3, state.supply[:3], may_run_out=len(state.supply) < 3)
    marks = sorted(MARKS)
    layouts = [each.layout for bound in range(4) for each in candidates.fitting(EVERY).at(bound)]
    for number_of_marks in (1, 2, 3) * 6:
        end, seen = rng.choice(layouts), {}
        for square in candidates.squares:
            others = [mark for mark in marks if mark != end[square][-1:]]
            seen[square] = frozenset([end[square][-1:], *rng.sample(others, number_of_marks - 1)])
        found = [each.layout for bound in range(4) for each in candidates.fitting(seen).at(bound)]
        fitting = [one for one in layouts if all(one[square][-1:] in seen[square] for square in seen)]
        assert sorted(found) == sorted(fitting)


@pytest.mark.parametrize("text", [EITHER_MAY_WAIT, LAST_BLACK])
def test_an_end_takes_as_few_steps_as_in_the_whole_list(text):
    state = DICE.rolled(GAME.notation.parse_state(text), DICE.parse_roll(GAME.rules.new(), "1,1"))
    listed, found = (
        {GAME.rules.apply(state, turn).stacks: play(state, turn.player, None, paths_of(turn)).used for turn in turns}
        for turns in (GAME.rules.legal_turns(state), turns_showing(GAME, state, {}))
    )
    assert {end: sum(used) for end, used in found.items()} == {end: sum(used) for end, used in listed.items()}


def test_short_turns_come_first_and_are_found_lazily():
    state = state_of(oracle.start(), "warm", (6, 6))
    found = list(islice(turns_showing(GAME, state, {}), 40))
    assert [len(turn.moves) for turn in found[:3]] == [0, 1, 1]
    assert max(len(turn.moves) for turn in found) <= 2


def test_no_turn_shows_anything_before_the_roll():
    state = state_of(oracle.start(), "warm")
    assert not list(turns_showing(GAME, state, {}))
    assert not is_whole_turn(state, GAME.table.appearance(state))


def test_an_unchanged_board_is_a_whole_turn_and_an_opponents_move_is_none():
    state = state_of(oracle.start(), "warm", (6, 6))
    looks = GAME.table.appearance(state)
    assert is_whole_turn(state, looks)
    assert not is_whole_turn(state, {**looks, "b1": "green large"})


@pytest.mark.parametrize("text", ["c3-b2 a1-c3 b2-a1", "a1-b2 c3-a1 b2-c3"])
def test_a_turn_in_which_the_colours_alternate_is_found_by_its_end(text):
    state = state_of(swapping(), "warm", (2, 2))
    turn = GAME.notation.parse_turn(state, text)
    after = GAME.rules.apply(state, turn)
    looks = GAME.table.appearance(after)
    found = list(turns_showing(GAME, state, {place: (look,) for place, look in looks.items()}))
    assert after.stacks in [GAME.rules.apply(state, one).stacks for one in found]


def test_an_end_that_takes_the_other_colours_help_is_found_by_a_legal_turn():
    """A yellow small in the tower on a2 keeps it open while red's medium leaves the corner from under a small."""
    state = GAME.notation.parse_state(HELPED)
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "c2-a2 a1-a2 a1-a3 a2-a1 a2-c2"))
    could_be = {place: (look,) for place, look in GAME.table.appearance(after).items()}
    found = list(turns_showing(GAME, state, could_be))
    assert after.stacks in [GAME.rules.apply(state, turn).stacks for turn in found]


@pytest.mark.parametrize("text", FIFTH_TOWER_LEAVES_PIECES)
def test_nothing_is_moved_after_a_fifth_tower_that_leaves_pieces(text):
    assert_same_ends(GAME.notation.parse_state(text))


def test_the_same_ends_on_crowded_boards():
    rng = random.Random("crowded")
    for _ in range(cases(200)):
        how = rng.choice(["exact", "contains"])
        board = oracle.random_board(rng, how, oracle.CROWDED)
        if not oracle.winner(board, how):
            strict = rng.random() < 0.3
            assert_same_ends(state_of(board, rng.choice(["warm", "cool"]), rng.choice(FEW), tower=how, strict=strict))
