"""What players say: its text, and how it ends a game of two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api import Announcement, Outcome
from engine.errors import UnreadableError
from engine.support.notation import unreadable, words
from engine.support.players import (
    DRAW,
    REPETITION,
    RESIGN,
    common_announcements,
    format_announcement,
    outcome_of_announcement,
    parse_announcement,
)

PLAYERS = ("black", "white")
ANNOUNCEMENTS = st.builds(
    Announcement, st.sampled_from([RESIGN, DRAW, REPETITION, "anti-play"]), st.sampled_from([None, *PLAYERS])
)


@given(ANNOUNCEMENTS)
def test_text_reads_back(announcement):
    text = format_announcement(announcement)
    assert parse_announcement(text, PLAYERS) == announcement
    assert parse_announcement(f"  {text.upper().replace(':', ' : ')} ", PLAYERS) == announcement


@given(st.text().filter(lambda text: text.partition(":")[0].strip().lower() not in (*PLAYERS, "all")))
def test_nobody_says_it(text):
    with pytest.raises(UnreadableError, match=r"cannot read .* as an announcement; expected one of black, white, all"):
        parse_announcement(text, PLAYERS)


@pytest.mark.parametrize("text", ["white", "white:", "white: ", ":resign"])
def test_half_an_announcement(text):
    with pytest.raises(UnreadableError) as caught:
        parse_announcement(text, PLAYERS)
    assert caught.value.column == 1


def test_how_a_game_of_two_ends():
    assert [format_announcement(each) for each in common_announcements(PLAYERS)] == [
        "black:resign",
        "white:resign",
        "all:draw",
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
