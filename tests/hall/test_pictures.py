"""Pictures in the hall: the newest are kept, and no table takes more than its share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hall.hall import Pictures

KIB = 1024
SENT = st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 9), st.text(max_size=3), st.integers(0, 9 * KIB))


def test_the_newest_pictures_of_a_table_are_kept() -> None:
    pictures = Pictures(most_table_bytes=10 * KIB)
    for number in range(1, 10):
        pictures.keep("a", number, "before", bytes(3 * KIB))
    assert [number for number in range(1, 10) if pictures.get("a", number, "before")] == [8, 9]


def test_a_picture_replaces_an_older_one_of_the_same_name() -> None:
    pictures = Pictures()
    pictures.keep("a", 1, "before", bytes(5 * KIB))
    first = pictures.bytes_kept
    pictures.keep("a", 1, "before", bytes(4 * KIB))
    assert pictures.get("a", 1, "before") == bytes(4 * KIB)
    assert pictures.bytes_kept == first - KIB


def test_all_tables_together_have_a_limit_and_the_oldest_picture_goes_first() -> None:
    pictures = Pictures(most_bytes=20 * KIB)
    for seat in "abcdefgh":
        pictures.keep(seat, 1, "before", bytes(4 * KIB))
    assert [seat for seat in "abcdefgh" if pictures.get(seat, 1, "before")] == ["f", "g", "h"]


def test_empty_pictures_and_long_names_count_towards_the_limit() -> None:
    pictures = Pictures(most_table_bytes=10 * KIB)
    for number in range(1, 100):
        pictures.keep("a", number, "", b"")
    assert sum(pictures.get("a", number, "") is not None for number in range(1, 100)) == 10
    pictures.keep("a", 100, "x" * 20 * KIB, b"")
    assert pictures.bytes_kept == 0


def test_a_tables_pictures_are_forgotten_from_an_event_on() -> None:
    pictures = Pictures()
    for seat, number in (("a", 1), ("a", 2), ("a", 3), ("b", 3)):
        pictures.keep(seat, number, "before", b"x")
    before = pictures.bytes_kept
    pictures.drop("a", 2)
    assert [number for number in (1, 2, 3) if pictures.get("a", number, "before")] == [1]
    assert pictures.bytes_kept == before // 2
    pictures.drop("a")
    pictures.drop("nowhere")
    assert pictures.get("a", 1, "before") is None
    assert pictures.get("b", 3, "before") == b"x"


@given(sent=st.lists(SENT, max_size=60))
def test_the_limits_hold_for_any_pictures(sent: list[tuple[str, int, str, int]]) -> None:
    pictures = Pictures(most_bytes=30 * KIB, most_table_bytes=10 * KIB)
    for seat, number, name, size in sent:
        pictures.keep(seat, number, name, bytes(size))
        assert pictures.bytes_kept <= 30 * KIB
        there = {(each[1], each[2]) for each in sent if each[0] == seat}
        kept = [pictures.get(seat, *each) for each in there]
        assert sum(len(content) for content in kept if content is not None) <= 10 * KIB
