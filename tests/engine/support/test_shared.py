"""Shared by the games besides boards: players, announcements, repetition, options, breaches, lazy sequences."""

from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, OptionError, UnreadableError
from engine.options import differing_options, read_into, read_options
from engine.support import repetition
from engine.support.breaches import (
    PieceBreaches,
    check_announcement,
    illegal_start,
    illegal_turn,
    pair_squares,
    rules_by_id,
)
from engine.support.grid import Grid
from engine.support.lazy import Concatenated, FromIterator
from engine.support.notation import unreadable, words
from engine.support.players import (
    DRAW,
    REPETITION,
    RESIGN,
    check_player,
    common_announcements,
    describe_announcement,
    format_announcement,
    mover_after_correction,
    opponent,
    outcome_of_announcement,
    parse_announcement,
)
from engine.values import Announcement, Breach, Option, Outcome, Rule

TWO, THREE = ("red", "blue"), ("p1", "p2", "p3")
OPTIONS = (Option("rounds", 3, "How many."), Option("strict", False, "Whether."), Option("net", "a/b", "Sides."))


@dataclass(frozen=True)
class Chosen:
    rounds: int
    strict: bool
    net: tuple[str, ...]


def test_each_of_two_players_is_the_others_opponent():
    assert (opponent(TWO, "red"), opponent(TWO, "blue")) == ("blue", "red")


def test_an_unknown_player_is_refused():
    for players, expected in ((TWO, "expected red or blue"), (THREE, "expected one of p1, p2, p3")):
        check_player(players, None)
        check_player(players, players[-1])
        with pytest.raises(UnreadableError, match=f"there is no player 'green'; {expected}"):
            check_player(players, "green")


def test_the_player_after_a_correction_is_the_named_or_the_current_one():
    assert mover_after_correction(TWO, None, "blue") == "blue"
    assert mover_after_correction(TWO, "red", "blue") == mover_after_correction(TWO, "red", None) == "red"
    with pytest.raises(UnreadableError, match="the game was over, so say who is to play: red or blue"):
        mover_after_correction(TWO, None, None)


def test_repeated_positions_are_counted_and_written():
    key, other = repetition.digest("here"), repetition.digest("there")
    counts = repetition.counted(repetition.counted(repetition.counted((), key), other), key)
    assert (repetition.times(counts, key), repetition.times(counts, other)) == (2, 1)
    assert repetition.times((), key) == 0
    (word,) = repetition.format_counts(counts)
    assert repetition.read_counts(word.removeprefix("seen=")) == counts == tuple(sorted(counts))
    assert not repetition.format_counts(())


@pytest.mark.parametrize("text", ["", "2*abc", "0*0123456789abcdef", "1*0123456789abcdef,1*0123456789abcdef"])
def test_invalid_repetition_counts_are_not_read(text):
    assert repetition.read_counts(text) is None


def test_options_are_read_into_a_dataclass():
    assert read_into(Chosen, OPTIONS, {"strict": "yes"}, net=lambda text: tuple(text.split("/"))) == Chosen(
        3, True, ("a", "b")
    )
    with pytest.raises(OptionError, match="rounds"):
        read_into(Chosen, OPTIONS, {"rounds": "many"})


def test_choices_are_read_in_any_case_and_other_texts_as_given():
    options = (Option("starts", "roll", "Who.", ("roll", "Red")), Option("net", "a/b", "Sides."))
    assert read_options(options, {"starts": " RED ", "net": "A/b"}) == {"starts": "Red", "net": "A/b"}
    with pytest.raises(OptionError, match="starts is 'blue'; it takes one of roll, Red"):
        read_options(options, {"starts": "blue"})


def test_only_options_that_are_not_at_their_default_are_written():
    assert differing_options(OPTIONS, SimpleNamespace(rounds=3, strict=False, net="a/b")) == []
    written = SimpleNamespace(rounds=4, strict=True, net="A/b")
    assert differing_options(OPTIONS, written) == ["rounds=4", "strict=true", "net=A/b"]


def test_an_error_names_every_breach():
    breaches = [Breach("one", "One.", "Do."), Breach("two", "Two.", "Do.")]
    error = illegal_turn("a1-a2", breaches)
    assert (str(error), error.breaches) == ("a1-a2 is not legal here: One. Two.", tuple(breaches))
    assert str(illegal_start(breaches)) == "this is not a starting position: One. Two."
    assert rules_by_id(Rule("one", "First."))["one"].sentence == "First."


def test_breaches_about_pieces_use_the_pieces_name():
    disc = PieceBreaches("disc")
    assert disc.added("red", "a1").rule == "disc-added"
    assert disc.recoloured("a1", "red", "blue", "Put it back.").sentence == (
        "On a1 stood a red disc, and now a blue one stands there."
    )
    assert disc.too_many("red", 9, 8, ("a1",)).remedy == "Take the red disc off a1."
    assert disc.too_few("red", 6, 8, ()).remedy == "Put 2 more red discs on the board."
    few = disc.too_few("red", 1, 3, ("a1", "b1"))
    assert few.sentence == "There is 1 red disc, and red starts with 3."
    assert few.remedy == "Put one red disc each on a1 and b1."
    assert disc.too_few("red", 0, 1, ("a1",)).sentence == "There are no red discs, and red starts with 1."


def test_a_lazy_sequence_makes_only_the_requested_items():
    made = []

    def square(index):
        made.append(index)
        return index * index

    squares = FromIterator(iter(range(1000)), square)
    joined = Concatenated([squares, (), ["end"]])
    assert (len(joined), joined[3], joined[-1], joined[999:]) == (1001, 9, "end", (998001, "end"))
    assert made == [3, 999]
    assert "end" in joined
    assert list(Concatenated([])) == []
    with pytest.raises(IndexError, match="there are 1001"):
        joined[1001]


def test_an_iterator_is_read_only_as_far_as_requested():
    drawn = []

    def values():
        for value in range(10):
            drawn.append(value)
            yield value

    squares = FromIterator(values(), lambda value: value * value)
    assert (bool(squares), drawn) == (True, [0])
    assert (list(islice(squares, 1)), drawn) == ([0], [0])
    assert (squares[1], drawn) == (1, [0, 1])
    assert (squares[2:4], drawn) == ((4, 9), [0, 1, 2, 3])
    assert (squares[4:2:-1], squares[:2], squares[3:1]) == ((16, 9), (0, 1), ())
    assert drawn == [0, 1, 2, 3, 4]
    assert squares[:7:-1] == (81, 64)
    assert (len(squares), squares[-1], squares[8:], squares[20:30]) == (10, 81, (64, 81), ())
    with pytest.raises(IndexError, match="there are 10"):
        squares[10]


PLAYERS = ("black", "white")
ANNOUNCEMENTS = st.builds(
    Announcement, st.sampled_from([RESIGN, DRAW, REPETITION, "anti-play"]), st.sampled_from([None, *PLAYERS])
)


@given(ANNOUNCEMENTS)
def test_an_announcement_round_trips_as_text(announcement):
    text = format_announcement(announcement)
    assert parse_announcement(text, PLAYERS) == announcement
    assert parse_announcement(f"  {text.upper().replace(':', ' : ')} ", PLAYERS) == announcement


@given(st.text().filter(lambda text: text.partition(":")[0].strip().lower() not in (*PLAYERS, "all")))
def test_an_announcement_by_an_unknown_player_is_refused(text):
    with pytest.raises(UnreadableError, match=r"cannot read .* as an announcement; expected one of black, white, all"):
        parse_announcement(text, PLAYERS)


@pytest.mark.parametrize("text", ["white", "white:", "white: ", ":resign"])
def test_an_incomplete_announcement_is_refused(text):
    with pytest.raises(UnreadableError) as caught:
        parse_announcement(text, PLAYERS)
    assert caught.value.column == 1


def test_an_impossible_announcement_is_refused_with_those_that_are_possible():
    possible = common_announcements(TWO)
    check_announcement(Announcement(DRAW), possible)
    with pytest.raises(IllegalTurnError, match=r"p1:resign can't .*; what can be: red:resign, blue:resign"):
        check_announcement(Announcement(RESIGN, "p1"), possible)


def test_a_claimed_repetition_is_described_as_a_claim():
    told = describe_announcement(Announcement(REPETITION, "white"))
    assert told == "White claims a draw: the position came up three times."


def test_a_game_of_two_ends_by_resignation_or_agreed_draw():
    assert [format_announcement(each) for each in common_announcements(PLAYERS)] == [
        "all:draw",
        "black:resign",
        "white:resign",
    ]
    assert outcome_of_announcement(Announcement(RESIGN, "white"), PLAYERS) == Outcome("black", "white resigned")
    assert outcome_of_announcement(Announcement(DRAW), PLAYERS).winner is None
    assert "black claimed" in outcome_of_announcement(Announcement(REPETITION, "black"), PLAYERS).reason
    with pytest.raises(ValueError, match="bluff"):
        outcome_of_announcement(Announcement("bluff", "white"), PLAYERS)


def test_words_know_their_columns():
    assert [(word.text, word.column) for word in words("  Ab  c ")] == [("ab", 3), ("c", 7)]
    error = unreadable("ab ?", "?", 4, "a letter")
    assert (error.column, str(error)) == (4, "cannot read '?' at column 4 of 'ab ?'; expected a letter")


@pytest.mark.parametrize(("text", "quoted"), [("ab C?", "C?"), ("ab \u0130? c", "i\u0307?")])
def test_an_unreadable_part_is_quoted_as_written_if_the_columns_agree(text, quoted):
    word = words(text)[1]
    assert str(unreadable(text, *word, "a letter")).startswith(f"cannot read {quoted!r} at column 4 of")


GRID = Grid(5, 5)


def way(start, end):
    return (sum(GRID.apart(start, end)),)


def squares(names):
    return [GRID.index[name] for name in names.split()]


def named(gone, come, unlikeliness=way):
    return [(GRID.names[a], GRID.names[b]) for a, b in pair_squares(squares(gone), squares(come), unlikeliness)]


def test_the_nearest_are_paired_first():
    assert named("a1 e5", "a2 e4") == [("a1", "a2"), ("e5", "e4")]
    assert named("a1 a3", "a4") == [("a3", "a4")]


def test_of_equally_near_ones_the_lowest_come_first():
    assert named("a1", "b1 a2") == [("a1", "b1")]


def test_a_likelier_pair_comes_before_a_nearer_one():
    liked = {(GRID.index["a1"], GRID.index["a5"])}
    assert named("a1", "a2 a5", lambda start, end: ((start, end) not in liked, *way(start, end))) == [("a1", "a5")]


def test_a_missing_start_or_end_makes_no_pair():
    assert named("", "a1") == named("a1", "") == []
