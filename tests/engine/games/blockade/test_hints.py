"""Hints for Blockade: legal, in time, never missing a win, and better than chance; playing on with sampled dice."""

import random
import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IllegalTurnError
from engine.games.blockade.evaluation import (
    GATES,
    ColourPieces,
    ColourProgress,
    PlayerPieces,
    chance_of_race,
    count_towers,
    new_platforms,
    opponent_of,
    platforms_of,
    play_on,
    player_pieces,
    progress_of,
    spend_points,
)
from engine.games.blockade.hints import chance_of_winning
from engine.games.blockade.state import (
    BASES,
    BLUE,
    COLOURS,
    GREEN,
    PLACES,
    RED,
    YELLOW,
    owner_of,
    starting_stacks,
)
from engine.showing import turns_showing
from engine.support.grid import members
from engine.values import Roll, Strength
from tests.effort import some
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import DICE, GAME, state_of
from tests.engine.games.blockade.test_explain import ready
from tests.engine.games.blockade.test_game import four_towers
from tests.engine.whole_games import CountingClock
from tests.present import present


def hint(state, strength=Strength.STRONG, deadline_s=5.0):
    clock = CountingClock()
    return GAME.advice.hint(state, deadline_s, random.Random(1), clock=clock, strength=strength, earlier=())


@pytest.mark.parametrize("strength", Strength)
def test_a_win_in_one_turn_is_always_taken(strength):
    found = hint(state_of(four_towers(), "warm", (2, 5)), strength)
    assert (found.expected, found.sure) == (1.0, 1.0)
    assert found.reason == "wins: the fifth red tower"
    won = GAME.rules.apply(state_of(four_towers(), "warm", (2, 5)), found.turn)
    assert present(GAME.rules.outcome(won)).winner == "warm"


def test_a_win_through_squares_where_no_piece_may_rest_is_taken():
    """The last small waits on another colour until the medium is below it."""
    board = four_towers()
    board["c3"] = ["clear L", "red M"]
    board["a2"] = ["red L", "red S"]
    won = GAME.rules.apply(state_of(board, "warm", (4, 1)), hint(state_of(board, "warm", (4, 1))).turn)
    assert present(GAME.rules.outcome(won)).winner == "warm"


@pytest.mark.parametrize("strength", Strength)
def test_stronger_hints_are_better_and_give_a_reason(strength):
    state = state_of(ready(), "warm", (1, 3))
    found = hint(state, strength)
    GAME.rules.apply(state, found.turn)
    assert 0 <= found.expected <= 1
    # By the race alone more red steps are worth as much as the tower; a search of one turn or more builds it.
    assert found.reason.startswith("brings red within" if strength is Strength.FAIR else "builds a red tower")
    assert hint(state, strength) == found


def test_every_tower_that_a_turn_builds_is_counted():
    board = ready()
    board["e5"].pop()
    board["c4"] = ["red L", "red M"]
    board["b4"] = ["red L", "red S", "red S"]
    found = hint(state_of(board, "warm", (2, 5)), Strength.GENTLE)
    assert found.reason.startswith("builds 2 red towers")


BESIDE_A_WALL = (
    "warm roll=1,1 a1:CL+YMM b1:GLMS+KL c1:GLS d1:GLS e1:CL+BMMMMM a2:RLS b2:GLMS+KL c2:YLMS+KL+YM d2:YLM e2:YLSS"
    " a3:RLS b3:GLMS+KL+GM c3:CL+BS d3:BL e3:YLS a4:RLMS+KL b4:RLS c4:RLS d4:BLS e4:YLS a5:CL+GM b5:BLS c5:BLS d5:BLS"
    " e5:CL+RMMMM starts=warm"
)


def test_one_step_is_no_plural():
    found = hint(GAME.notation.parse_state(BESIDE_A_WALL), Strength.GENTLE)
    assert found.reason == "builds a yellow tower, which costs green 1 more step"


TOO_FEW_MEDIUMS = (
    "warm roll=1,1 a1:CL+YMMM b1:GLS c1:GLS d1:GLS e1:CL+BMMMMM a2:RLMMS+KL b2:GLS c2:YLMMS+KL d2:YLS e2:YLS"
    " a3:RLS b3:GLS c3:CL d3:BLS e3:YLS a4:RLS b4:RLS c4:RLS d4:BLS e4:YLS a5:CL+GMMMMM b5:BLS c5:BLS d5:BLS"
    " e5:CL+RMMM starts=warm tower=contains"
)


def test_no_colour_is_said_to_get_nearer_if_none_can_win():
    found = hint(GAME.notation.parse_state(TOO_FEW_MEDIUMS), Strength.FAIR)
    assert found.reason == "holds out: neither of your colours can get to five towers"


@pytest.mark.parametrize("strength", [Strength.GENTLE, Strength.FAIR])
def test_a_colour_is_brought_nearer_only_if_it_gains_steps(strength):
    rng = random.Random(7)
    state = GAME.rules.new({"starts": "warm"})
    while state.to_move is not None:
        state = DICE.rolled(state, Roll((str(rng.randint(1, 6)), str(rng.randint(1, 6)))))
        found = hint(state, strength, deadline_s=0.3)
        after = GAME.rules.apply(state, found.turn)
        word, colour = found.reason.split()[:2]
        if word in ("brings", "keeps"):
            gained = steps_of(state, colour) - steps_of(after, colour)
            assert gained > 0 if word == "brings" else gained <= 0
        state = after


def steps_of(state, colour):
    """The steps of a colour to five towers."""
    number = COLOURS.index(colour)
    return opponent_of(state.stacks, present(owner_of(number))).steps(progress_of(state.stacks, number))


def test_a_turn_that_moves_nothing_brings_nothing_nearer():
    found = hint(GAME.notation.parse_state(WAITING.replace("ROLLER", "warm")), Strength.GENTLE)
    assert found.turn.moves == ()
    assert found.reason == "keeps red within 11 steps of five towers"


def test_a_hint_comes_even_with_hardly_any_time():
    state = state_of(oracle.start(), "cool", (6, 6))
    GAME.rules.apply(state, hint(state, deadline_s=0.001).turn)


def test_there_is_no_hint_before_the_roll_or_after_the_end():
    with pytest.raises(IllegalTurnError, match="rolled first"):
        hint(GAME.rules.new())
    over = GAME.rules.announce(GAME.rules.new(), GAME.rules.announcements(GAME.rules.new())[0])
    with pytest.raises(IllegalTurnError, match="over"):
        hint(over)


def test_the_steps_left_decide_the_race():
    standing = progress_of(GAME.rules.new().stacks, 0)
    assert len(standing.larges) == len(standing.mediums) == len(standing.smalls) == 5
    assert chance_of_race((5, 30), (20, 30)) > 0.9
    assert chance_of_race((20, 30), (5, 30)) < 0.2
    assert chance_of_race((99, 99), (99, 99)) == 0.5
    assert chance_of_race((1, 99), (1, 99)) == 0


@pytest.mark.parametrize("strength", Strength)
def test_the_chance_of_winning_grows_with_that_in_the_race(strength):
    told = [chance_of_winning(race / 100, strength) for race in range(101)]
    assert told == sorted(told)
    assert 0 < told[0] < 0.2
    assert 0.8 < told[-1] < 1


@pytest.mark.parametrize("seat", some(["cool", "warm"], 1))
def test_hints_beat_chance(seat):
    rng = random.Random(2)
    state = GAME.rules.new({"starts": "warm"})
    while state.to_move is not None:
        state = DICE.rolled(state, Roll((str(rng.randint(1, 4)), str(rng.randint(1, 4)))))
        if state.to_move == seat:
            state = GAME.rules.apply(state, hint(state, deadline_s=0.3).turn)
        else:
            state = GAME.rules.apply(state, rng.choice(list(islice(turns_showing(GAME, state, {}), 500))))
    assert present(GAME.rules.outcome(state)).winner == seat


WAITING = (
    "ROLLER roll=1,1 a1:CL+YMM b1:GL c1:GLS d1:GLS e1:CL+BMM a2:RL b2:GLMS+KL+GS c2:YLMS+KL+YM d2:YLMS+KM e2:YLS"
    " a3:RLMS+KL b3:GLS c3:CL d3:BLMS+KL+BM e3:YLS a4:RLS b4:RLMS+KL+RS c4:RLMS+KM d4:BLMS+KM e4:YLS a5:CL+GMMMM"
    " b5:BLS c5:BLS d5:BLS e5:CL+RMM"
)


@pytest.mark.parametrize("strength", Strength)
def test_hints_never_wait_for_ever(strength):
    """Without a remedy gentle hints let both sides stay here, turn after turn, while dice are low."""
    warm, cool = (GAME.notation.parse_state(WAITING.replace("ROLLER", player)) for player in ("warm", "cool"))

    def found(earlier):
        clock = CountingClock()
        return GAME.advice.hint(warm, 2.0, random.Random(1), clock=clock, strength=strength, earlier=earlier).turn

    assert GAME.rules.apply(warm, found([cool, warm] * 3)).stacks != cool.stacks
    if strength is Strength.GENTLE:
        assert found([]).moves == ()


def test_the_steps_named_are_those_on_the_board():
    state = GAME.notation.parse_state(
        "warm roll=4,4 a1:CL+YMMMM b1:GLM c1:GLS d1:GLS e1:CL+BMMMMM a2:RLS b2:GLMS+KL+GS c2:YLMS+KL d2:YLS e2:YLS "
        "a3:RLS b3:GLS c3:CL d3:BLS e3:YLS a4:RLS b4:RLS c4:RLS d4:BLS e4:YLS a5:CL+GMMM b5:BLS c5:BLS d5:BLS "
        "e5:CL+RMMMMM"
    )
    for seed in range(10):
        clock = CountingClock()
        found = GAME.advice.hint(state, 0.08, random.Random(seed), clock=clock, strength=Strength.GENTLE, earlier=())
        said = re.search(r"yellow within (one|\d+) steps? of five", found.reason)
        if said is None:
            continue
        after = GAME.rules.apply(state, found.turn)
        left = progress_of(after.stacks, YELLOW).steps(opponent_of(after.stacks, "warm").walls_against_us)
        assert said[1] == ("one" if left == 1 else str(left))


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
