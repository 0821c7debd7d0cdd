"""A person's word against the camera."""

import math

from referee.judge.pooling import PooledPlace, PooledReading
from referee.judge.trusting import Word, looked_at

BELIEVED = {"c3": "gold block, x up", "c4": "empty"}


def seen(hidden: frozenset[str] = frozenset(), **looks: str) -> PooledReading:
    places = {
        place: PooledPlace({look: math.log(0.99), "something else": math.log(0.01)}) for place, look in looks.items()
    }
    return PooledReading(places, hidden, 0.0, 0)


def test_a_place_that_looks_as_was_said_is_judged_as_ever() -> None:
    word = looked_at(Word(frozenset({"c3"})), BELIEVED, seen(c3="gold block, x up", c4="empty"))
    assert word == Word()


def test_a_place_that_looks_otherwise_is_left_out_until_it_shows_a_third_thing() -> None:
    misread = seen(c3="gold block, cross up", c4="empty")
    word = looked_at(Word(frozenset({"c3"})), BELIEVED, misread)
    assert word.left_out == {"c3"}
    for look in (misread, seen(c3="gold block, x up", c4="empty"), misread):
        word = looked_at(word, BELIEVED, look)
        assert word.left_out == {"c3"}
    assert looked_at(word, BELIEVED, seen(c3="empty", c4="empty")).left_out == frozenset()


def test_a_hidden_place_waits_for_its_look() -> None:
    hidden = seen(frozenset({"c3"}), c4="empty")
    word = looked_at(Word(frozenset({"c3"})), BELIEVED, hidden)
    assert word == Word(frozenset({"c3"}))
    word = looked_at(word, BELIEVED, seen(c3="empty", c4="empty"))
    assert word.left_out == {"c3"}
    assert looked_at(word, BELIEVED, hidden).left_out == {"c3"}


def test_what_was_not_spoken_of_is_judged_as_ever() -> None:
    word = looked_at(Word(frozenset({"c3"})), BELIEVED, seen(c3="gold block, x up", c4="teal block, x up"))
    assert word.left_out == frozenset()


def test_a_turn_played_on_a_place_ends_the_word_about_it() -> None:
    word = Word(frozenset({"c4"}), {"c3": "empty", "d1": "empty"})
    assert word.without(["c3", "c4"]) == Word(frozenset(), {"d1": "empty"})
