"""Blockade: start, rolls, towers and caps, winning, passing, corrections, taps, tables shown, and random games."""

import random
from collections import Counter
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.api import tapped
from engine.errors import AmbiguousError, IllegalTurnError, OptionError, UnreadableError
from engine.games.blockade import turns
from engine.games.blockade.candidates import Candidates
from engine.games.blockade.hints import hint
from engine.games.blockade.playing import play
from engine.games.blockade.reach import explore, least_steps, terrain_of, way_to
from engine.games.blockade.state import LARGE, OWNED, PLACES, BlockadeTurn, Move, colour_of, size_of
from engine.games.blockade.turns import is_whole_turn, turn_of
from engine.perft import counts_of_first_turns, perft, start_of_count
from engine.search.budget import CountingClock
from engine.showing import MOST_DRAWN_FROM, silent_turns, turns_showing, turns_to_draw_from
from engine.values import Announcement, Certainty, Place, Roll, Strength
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import DICE, GAME, HELPED, OPTIONS, frozen, state_of
from tests.engine.games.blockade.test_explain import ALL_LARGES_USED, ROLLED, ready, towered, with_stacks
from tests.engine.games.blockade.test_oracle import swapping
from tests.present import present


def roll(state, text):
    return DICE.rolled(state, DICE.parse_roll(state, text))


def played(state, text):
    return GAME.rules.apply(state, GAME.notation.parse_turn(state, text))


def four_towers():
    """Red has four towers; on a2 lies the medium of the fifth, and a small is two steps away."""
    board = towered("a3", "a4", "b4", "c4")
    board["e5"].remove("red M")
    board["a2"] = ["red L", "red M"]
    board["c3"].append("red S")
    return board


def test_the_set_up_follows_the_rulebook():
    state = GAME.rules.new()
    assert frozen(state) == oracle.freeze(oracle.start())
    assert sum(len(stack) for stack in state.stacks) == 65
    assert state.supply == (3,) * 5 + (2,) * 5 + (1,) * 5


def test_the_higher_total_starts_and_ties_roll_again():
    state = GAME.rules.new()
    assert (state.to_move, GAME.awaits_roll(state), list(GAME.rules.legal_turns(state))) == ("warm", True, [])
    tied = roll(roll(state, "4,1"), "2,3")
    assert tied == state
    cool = roll(roll(state, "4,1"), "5,1")
    assert (cool.to_move, cool.opening, cool.roll) == ("cool", None, None)
    assert roll(roll(state, "4,2"), "4 1").to_move == "warm"
    assert GAME.rules.new({"starts": "cool"}).to_move == "cool"


def test_all_36_rolls_are_possible():
    rolls = DICE.possible_rolls(GAME.rules.new())
    assert len(rolls) == 36
    assert {each.probability for each in rolls} == {Fraction(1, 36)}
    assert DICE.possible_rolls(ROLLED) == ()


@pytest.mark.parametrize("faces", [("7", "1"), ("1",), ("1", "2", "3"), ("x", "1"), ("٣", "1")])
def test_an_impossible_roll_is_refused(faces):
    with pytest.raises(IllegalTurnError, match="is impossible; expected two dice from 1 to 6"):
        DICE.rolled(GAME.rules.new(), Roll(faces))


def test_the_roll_is_part_of_the_state():
    state = GAME.rules.new({"starts": "warm"})
    assert DICE.roll_of(state) is None
    assert DICE.roll_of(DICE.rolled(state, Roll(("4", "1")))) == Roll(("4", "1"))


def test_a_second_roll_is_refused():
    with pytest.raises(IllegalTurnError, match="on the table"):
        DICE.rolled(ROLLED, Roll(("1", "1")))


def test_a_tower_gets_the_largest_black_and_shuts_the_other_player_out():
    state = played(state_of(ready(), "warm", (1, 1)), "a3-a2")
    assert GAME.table.appearance(state)["a2"] == "black large"
    assert state.towers(0) == (GAME.places.index("a2"),)
    assert len(state.supply) == 14
    after = roll(state, "6,6")
    with pytest.raises(IllegalTurnError) as error:
        GAME.notation.parse_turn(after, "a5-a2")
    assert error.value.breaches[0].rule == "passed-over-blockade"


@pytest.mark.parametrize(("tower", "caps"), [("exact", 0), ("contains", 1)])
def test_two_mediums_below_a_small_are_a_tower_only_if_towers_may_contain_more(tower, caps):
    board = ready()
    board["e5"].pop()
    board["a2"].append("red M")
    state = played(state_of(board, "warm", (1, 1), tower=tower), "a3-a2")
    assert sum("black" in look for look in GAME.table.appearance(state).values()) == caps


def test_the_fifth_tower_wins_at_once():
    state = state_of(four_towers(), "warm", (2, 2))
    won = played(state, "e4-e3 c3-a2")
    assert (won.to_move, present(GAME.rules.outcome(won)).winner) == (None, "warm")
    assert GAME.notation.parse_state(GAME.notation.format_state(won)) == won
    with pytest.raises(IllegalTurnError, match="fifth tower ended the game, but something moved from e4"):
        GAME.notation.parse_turn(state, "c3-a2 e4-e3")
    with pytest.raises(IllegalTurnError, match="colours don't mix"):
        GAME.notation.parse_turn(state, "e4-d4 c3-a2")
    for method in (lambda: DICE.rolled(won, Roll(("1", "1"))), lambda: GAME.notation.parse_turn(won, "stay")):
        with pytest.raises(IllegalTurnError, match="over"):
            method()


def test_a_piece_may_wait_where_it_cannot_rest_unless_strict():
    # The small goes onto blue, a medium goes under it, and it comes back: a tower.
    text = "c4-c5 e5-c4 c5-c4"
    assert GAME.table.appearance(played(state_of(oracle.start(), "warm", (4, 1)), text))["c4"] == "black large"
    with pytest.raises(IllegalTurnError) as error:
        played(state_of(oracle.start(), "warm", (4, 1), strict=True), text)
    assert error.value.breaches[0].rule == "rested-on-other-colour"


def test_different_texts_of_the_same_turn_give_the_same_turn():
    turn = GAME.notation.parse_turn(ROLLED, "a2-a3")
    for text in ("A2 -> a3", "a2toa3", " a2 to a3 ", "a2-a1-a2-a3"):
        assert GAME.notation.parse_turn(ROLLED, text) == turn
    assert (
        GAME.notation.parse_turn(ROLLED, "c4-c5, c5-c4")
        == GAME.notation.parse_turn(ROLLED, "stay")
        == GAME.rules.legal_turns(ROLLED)[0]
    )
    assert GAME.notation.describe(turn) == "Warm moves the red small from a2 to a3."


@pytest.mark.parametrize(
    ("text", "column"),
    [("a2-", 4), ("a2", 1), ("a9-a2", 1), ("a2-a3 b", 7), ("-a2", 1), ("a2-a3-", 7), ("a2--a3", 4), ("hello", 1)],
)
def test_an_unreadable_turn_names_its_column(text, column):
    with pytest.raises(UnreadableError) as error:
        GAME.notation.parse_turn(ROLLED, text)
    assert abs(error.value.column - column) <= 1


def test_apply_refuses_illegal_turns():
    with pytest.raises(UnreadableError):
        GAME.rules.apply(ROLLED, BlockadeTurn("warm", (Move(1, "z9", "a2"),)))
    illegal = BlockadeTurn("warm", (Move(1, "a2", "b2"),))
    assert GAME.rules.certainty(ROLLED, illegal) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError, match="colours don't mix"):
        GAME.rules.apply(ROLLED, illegal)


def test_passes_in_a_row_are_a_draw_if_the_option_is_set():
    state = GAME.rules.new({"starts": "warm", "draw_after_passes": 2})
    state = played(roll(state, "1,1"), "stay")
    assert state.passes == 1
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state
    moved = played(roll(state, "1,1"), "b5-c5")
    assert moved.passes == 0
    over = played(roll(state, "1,1"), "stay")
    assert (over.to_move, present(GAME.rules.outcome(over)).winner) == (None, None)


def test_passes_are_not_counted_without_the_option():
    assert played(roll(GAME.rules.new({"starts": "warm"}), "1,1"), "stay").passes == 0


@pytest.mark.parametrize("options", [{"draw_after_passes": -1}, {"tower": "tall"}, {"starts": "red"}, {"stric": True}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(OptionError):
        GAME.rules.new(options)


def test_resignation_and_agreed_draw_end_the_game():
    assert present(GAME.rules.outcome(GAME.rules.announce(ROLLED, Announcement("resign", "warm")))).winner == "cool"
    drawn = GAME.rules.announce(ROLLED, Announcement("draw"))
    assert present(GAME.rules.outcome(drawn)).winner is None
    assert GAME.rules.announcements(drawn) == ()
    with pytest.raises(IllegalTurnError, match=r"^warm:resign can't be announced now: The game is over"):
        GAME.rules.announce(drawn, Announcement("resign", "warm"))


def test_turns_of_different_appearance_cannot_be_combined():
    one, two = GAME.notation.parse_turn(ROLLED, "a2-a3"), GAME.notation.parse_turn(ROLLED, "stay")
    assert GAME.rules.combine([one, one]) == one
    for several in ([one, two], []):
        with pytest.raises(AmbiguousError):
            GAME.rules.combine(several)


def test_a_correction_removes_and_adds_pieces():
    state = GAME.table.amend(ROLLED, {"c4": "red large", "b4": "red small", "c3": "red small"})
    assert frozen(state)[GAME.places.index("c3")] == ("clear L", "red S")
    assert state.roll == (4, 1)
    assert GAME.table.amend(ROLLED, {}, "cool").to_move == "cool"
    capped = GAME.table.amend(state_of(towered("a2"), "warm", (1, 1)), {"a2": "red medium", "c3": "red small"})
    assert frozen(capped)[GAME.places.index("a2")] == ("red L", "red M")
    assert len(capped.supply) == 15


def test_a_correction_takes_a_piece_from_a_pile_of_equal_ones():
    state = GAME.table.amend(ROLLED, {"c3": "red medium"})
    assert frozen(state)[GAME.places.index("c3")] == ("clear L", "red M")
    assert frozen(state)[GAME.places.index("e5")] == ("clear L", *["red M"] * 4)
    with pytest.raises(UnreadableError, match="several positions are possible in which c4 shows red large; type the"):
        GAME.table.amend(ROLLED, {"c4": "red large"})


@pytest.mark.parametrize(
    ("looks", "to_move"),
    [({"a2": "red large"}, None), ({"a2": "empty"}, None), ({"c3": "black large"}, None), ({}, "red")],
)
def test_a_correction_to_an_impossible_position_is_refused(looks, to_move):
    with pytest.raises(UnreadableError):
        GAME.table.amend(ROLLED, looks, to_move)


@pytest.mark.parametrize("other", ["yellow", "green"])
def test_two_colours_with_five_towers_are_an_impossible_position(other):
    board = oracle.start()
    for colour, black in (("red", "black L"), (other, "black M")):
        for place in [place for place in oracle.PLACES if oracle.BASE[place] == colour]:
            board[place] = [f"{colour} L", f"{colour} M", f"{colour} S", black]
        board[{"red": "e5", "yellow": "a1", "green": "a5"}[colour]] = ["clear L"]
    text = oracle.text(board, "warm")
    with pytest.raises(UnreadableError, match=f"red and {other} have five towers each") as raised:
        GAME.notation.parse_state(text)
    assert raised.value.column == text.index("a1:") + 1


def test_positions_in_the_middle_of_a_turn_are_listed():
    kinds = {position.instruction.split()[0] for position in GAME.table.unfinished(state_of(ready(), "warm", (2, 1)))}
    assert kinds == {"Put", "Move", "Cap"}
    assert GAME.table.unfinished(GAME.rules.new()) == []


def test_a_moving_piece_is_at_most_as_far_away_as_its_die_allows():
    def waiting(dice):
        found: dict[str, set[Place]] = {"red": set(), "yellow": set()}
        for position in GAME.table.unfinished(state_of(oracle.start(), "warm", dice)):
            if position.instruction.startswith("Move the "):
                found[position.instruction.split()[2]] |= set(position.places)
        return found

    near, far = waiting((1, 6)), waiting((6, 1))
    assert near["red"] < far["red"]
    assert far["yellow"] < near["yellow"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("a2:RLS", "a2:RL"), "the position has 4 red small pieces; it needs 5"),
        (("a2:RLS", "a2:YLS"), "red large must be the lowest"),
        (("a2:RLS", "a2:RLS+KL"), "no tower is below"),
        (("a2:RLS", "a2:RL+YS"), "red small"),
        (("c3:CL", ""), "leaves out c3"),
        (("c3:CL", "c3:CL c3:CL"), "only once"),
        (("c3:CL", "c3:CLCL"), None),
        (("c3:CL", "c3:CL+CL"), "never moved"),
        (("warm", "over"), "nobody has won"),
        (("roll=4,1", "roll=7,1"), "two dice"),
        (("roll=4,1", "roll=4"), "two dice"),
        (("roll=4,1", "roll=4,1 opening"), "who starts"),
        (("roll=4,1", "roll=4,1 passes=1"), "draw_after_passes"),
        (("roll=4,1", "roll=4,1 strict=perhaps"), "true or false"),
        (("roll=4,1", "announced=warm:repetition"), "resign"),
        (("roll=4,1", "nonsense"), "nonsense"),
    ],
)
def test_an_impossible_position_is_refused_with_the_reason(change, message):
    text = GAME.notation.format_state(ROLLED)
    assert change[0] in text
    with pytest.raises(UnreadableError, match=message) as error:
        GAME.notation.parse_state(text.replace(change[0], change[1], 1))
    assert error.value.column


def test_a_game_that_is_not_over_is_refused_at_the_word_over():
    text = GAME.notation.format_state(ROLLED).removeprefix("warm ")
    with pytest.raises(UnreadableError, match="nobody has won") as error:
        GAME.notation.parse_state(f"{text} over")
    assert error.value.column == len(text) + 2


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        ("RL", "the position has 4 red small pieces; it needs 5"),
        ("RLSS", "the position has 6 red small pieces; it needs 5"),
    ],
)
def test_a_wrong_number_of_pieces_is_reported_at_the_first_stack(stack, message):
    text = GAME.notation.format_state(ROLLED)
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_state(text.replace("a2:RLS", f"a2:{stack}"))
    assert raised.value.column == text.index("a1:") + 1


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ({"a2": ["red L", "red L", "red S"]}, "never moved"),
        ({"a2": ["red L", "red S", "red M"], "e5": ["clear L"] + ["red M"] * 4}, "which is smaller"),
        ({"c4": ["red L"], "c5": ["blue L", "blue S", "red S"]}, "colours don't mix"),
        ({"a2": ["red L", "red M", "red S"], "e5": ["clear L"] + ["red M"] * 4}, "has no black"),
        ({"a2": ["red L", "red M", "red S", "black M"], "e5": ["clear L"] + ["red M"] * 4}, "largest comes first"),
    ],
)
def test_an_impossible_stack_is_named(board, message):
    with pytest.raises(UnreadableError, match=message):
        state_of({**oracle.start(), **board}, "warm")


@pytest.mark.parametrize(
    ("stacks", "message"),
    [
        ({"d2": "YLMS+KL", "e2": "YLS"}, "there are 6 black large pieces; the game has only 5"),
        ({"a2": "RLMS+KLM"}, "2 black pieces lie on a2, and a tower gets only one"),
        ({"a2": "RLMS+KM", "a3": "RLMS+KM"}, "a black medium is used while a black large is left"),
    ],
)
def test_a_position_with_impossible_black_pieces_is_refused(stacks, message):
    assert with_stacks("1,2", ALL_LARGES_USED).supply == (2,) * 5 + (1,) * 5
    with pytest.raises(UnreadableError, match=message):
        with_stacks("1,2", {**ALL_LARGES_USED, **stacks})


@pytest.mark.parametrize(
    ("passes", "message"), [("3", "counts 3 passes, but draw_after_passes is 2"), ("some", "some")]
)
def test_an_invalid_number_of_passes_is_refused(passes, message):
    text = GAME.notation.format_state(GAME.rules.new({"starts": "warm", "draw_after_passes": 2}))
    assert GAME.notation.parse_state(f"{text} passes=1").passes == 1
    assert present(GAME.rules.outcome(GAME.notation.parse_state(f"{text} passes=2"))).winner is None
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_state(f"{text} passes={passes}")
    assert raised.value.column == len(text) + 2


def test_turns_from_the_set_up_are_counted():
    state, thrown = start_of_count(GAME, GAME.rules.new(), "1,1")
    assert perft(GAME, state, 1, thrown) == 259 == len(oracle.ends(oracle.start(), "warm", (1, 1)))
    assert sum(counts_of_first_turns(GAME, state, 1, thrown)[1]) == 259
    for faces, count in (("4,1", 3861), ("1,4", 3861), ("2,2", 3765), ("5,4", 134203)):
        state, thrown = start_of_count(GAME, GAME.rules.new(), faces)
        assert perft(GAME, state, 1, thrown) == count
    for call in (
        lambda: start_of_count(GAME, GAME.rules.new()),
        lambda: start_of_count(GAME, GAME.rules.new(), "1,1", "red"),
    ):
        with pytest.raises(IllegalTurnError):
            call()


def test_the_lazy_list_of_turns_is_a_sequence():
    turns = GAME.rules.legal_turns(roll(GAME.rules.new({"starts": "warm"}), "5,4"))
    assert len(turns) == 134203
    assert turns[-1] == turns[len(turns) - 1] != turns[0]
    assert list(turns[3:6]) == [turns[3], turns[4], turns[5]]
    with pytest.raises(IndexError):
        turns[len(turns)]


BLACK_PIECES = Counter({"black L": 5, "black M": 5, "black S": 5})


def coloured(board):
    """The pieces on a board that are not black."""
    return Counter(piece for stack in board for piece in stack if not piece.startswith("black"))


class WholeGame(GameMachine):
    """One game, with some hints among the turns, so that towers are built and games end."""

    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)
        self.at_first = self.state

    @rule(first=st.integers(1, 6), second=st.integers(1, 6))
    @precondition(lambda self: GAME.awaits_roll(self.state))
    def roll(self, first, second):
        roll = Roll((str(first), str(second)))
        assert roll in [each.roll for each in DICE.possible_rolls(self.state)]
        assert not GAME.rules.legal_turns(self.state)
        self.follow(roll)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.roll is not None and sum(self.state.roll) <= 4)
    def play_any_turn(self, choice):
        turns = GAME.rules.legal_turns(self.state)
        self.play(turns[choice % len(turns)])

    @rule()
    @precondition(lambda self: self.state.roll is not None)
    def play_a_hint(self):
        clock = CountingClock(1e-3)
        self.play(hint(self.state, 0.5, random.Random(1), clock=clock, strength=Strength.GENTLE, earlier=()).turn)

    def play(self, turn):
        before, towers = self.state, self.towers()
        assert GAME.notation.parse_turn(before, GAME.notation.format_turn(turn)) == turn
        self.follow(turn)
        assert all(now >= then for now, then in zip(self.towers(), towers, strict=True))
        assert self.state.to_move != turn.player

    def towers(self):
        return [len(self.state.towers(colour)) for colour in range(4)]

    @rule(player=st.sampled_from(["warm", "cool"]))
    @precondition(lambda self: self.state.to_move is not None and len(self.history) > 20)
    def resign(self, player):
        said = Announcement("resign", player)
        assert said in GAME.rules.announcements(self.state)
        self.follow(said)

    @invariant()
    def pieces_are_kept(self):
        board = frozen(self.state)
        black = Counter(piece for stack in board for piece in stack if piece.startswith("black"))
        assert coloured(board) == coloured(frozen(self.at_first))
        assert sum(black.values()) + len(self.state.supply) == sum(BLACK_PIECES.values())
        assert all(black[size] <= most for size, most in BLACK_PIECES.items())

    @invariant()
    def every_tower_has_its_cap_while_there_is_black(self):
        board = frozen(self.state)
        black = sum(piece.startswith("black") for stack in board for piece in stack)
        if self.state.supply:
            assert black == sum(self.towers())

    @invariant()
    def five_towers_win(self):
        outcome = GAME.rules.outcome(self.state)
        won = any(towers >= 5 for towers in self.towers())
        assert not won or (outcome is not None and outcome.winner is not None)


# A game is many examples in one, so fewer games than examples elsewhere; the profile still decides how many.
TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = settings(max_examples=cases(6, 2), stateful_step_count=40)


SQUARES = range(len(PLACES))
TAPPED_ROLLS = [(1, 1), (1, 2), (2, 2), (3, 1)]


def is_legal(state, made):
    return GAME.rules.certainty(state, turn_of(state, made)) is Certainty.CERTAIN


def may_begin(state, made):
    """Whether a turn may begin like this: it is legal, or a moved piece that may not rest there moves on."""
    onward = [(square, end) for square in {end for _, end in made} for end in SQUARES]
    goes_on = not state.options.strict and any(is_legal(state, (*made, move)) for move in onward)
    return is_legal(state, made) or goes_on


def movable(state, made):
    """The squares with a small or medium piece of the player on top, after new towers got their caps."""
    tops = [stack[-1] for stack in play(state, state.to_move, None, made).stacks]
    return [
        square for square, top in enumerate(tops) if size_of(top) < LARGE and colour_of(top) in OWNED[state.to_move]
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_the_offered_taps_are_those_the_rules_allow(strict):
    rng = random.Random(f"taps {strict}")
    offered = 0
    for _ in range(cases(6)):
        board = oracle.random_board(rng, "exact", oracle.CROWDED)
        if oracle.winner(board, "exact"):
            continue
        state = state_of(board, "warm", rng.choice(TAPPED_ROLLS), strict=strict)
        made: tuple[tuple[int, int], ...] = ()
        for before in range(3):
            taps = [PLACES[square] for move in made for square in move]
            now = tapped(GAME, state, taps)
            assert (now.turn is not None) == (before > 0 and is_legal(state, made))
            assert list(now.choices) == ([] if made else ["stay"])
            onward = {
                start: [end for end in SQUARES if end != start and may_begin(state, (*made, (start, end)))]
                for start in movable(state, made)
            }
            assert list(now.squares) == [PLACES[start] for start, ends in onward.items() if ends]
            if not now.squares:
                break
            start = rng.choice([start for start, ends in onward.items() if ends])
            ends = tapped(GAME, state, [*taps, PLACES[start]])
            assert list(ends.squares) == [PLACES[end] for end in onward[start]]
            made = (*made, (start, rng.choice(onward[start])))
            offered += 1
    assert offered > cases(2, least=0), "hardly any piece could move"


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


def test_a_turn_is_drawn_and_a_pass_sought_without_listing_all_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """This roll has 712,755 turns, and each needs the search for its moves."""
    searched: list[Any] = []
    search = turns._Ends._moves_to

    def count_and_search(ends: Any, pair: Any) -> Any:
        searched.append(pair)
        return search(ends, pair)

    monkeypatch.setattr(turns._Ends, "_moves_to", count_and_search)
    state = state_of(oracle.start(), "warm", (6, 6))
    assert silent_turns(GAME, state) == ()
    assert len(searched) < 20
    drawn = turns_to_draw_from(GAME, state)
    assert len(drawn) == MOST_DRAWN_FROM
    assert len(searched) < 2 * MOST_DRAWN_FROM
    assert {len(turn.moves) for turn in drawn} >= {0, 1, 2, 3}
