"""The fast rules against the slow plain ones, on random positions and on those with entangled colours."""

import random
from itertools import permutations

import pytest

from engine.games.blockade.state import BlockadeTurn, Move
from engine.values import Certainty
from tests.effort import cases, some
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import COUNTED, GAME, frozen, state_of

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
            5,
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
        3,
    ),
)
def test_same_ends_if_both_colours_want_the_same_black_piece(text, dice, strict):
    state = GAME.notation.parse_state(text)
    assert_same(oracle.thaw(frozen(state)), state.to_move, dice, strict=strict)


@pytest.mark.parametrize("text", some(COUNTED, 5))
def test_same_ends_if_the_colours_are_entangled(text):
    state = GAME.notation.parse_state(text)
    options = state.options
    assert_same(oracle.thaw(frozen(state)), state.to_move, state.roll, options.tower, options.strict)


def test_clear_squares_change_hands_both_ways():
    state = state_of(swapping(), "warm", (2, 2))
    assert GAME.notation.parse_turn(state, "c3-b2 a1-c3 b2-a1") in GAME.rules.legal_turns(state)


@pytest.mark.long
def test_same_ends_on_many_random_positions():
    rng = random.Random("many")
    for _ in range(2000):
        compare_random(rng, 3)
    for _ in range(50):
        compare_random(rng, 4)
