"""Lists, counts, capitals and suggestions in sentences."""

import enum

import pytest

from common.phrases import capitalized, counted, did_you_mean, listed, nearest


@pytest.mark.parametrize(
    ("names", "expected"),
    [([], ""), (["c3"], "c3"), (["c3", "c4"], "c3 and c4"), (["c3", "c4", "d1"], "c3, c4 and d1"), ([0, 2], "0 and 2")],
)
def test_names_are_joined_as_in_a_sentence(names: list[object], expected: str) -> None:
    assert listed(names) == expected
    assert listed(iter(names)) == expected


def test_the_conjunction_can_be_chosen() -> None:
    assert listed(["a1", "a2", "a3"], "or") == "a1, a2 or a3"


@pytest.mark.parametrize(("number", "expected"), [(0, "0 lights"), (1, "1 light"), (2, "2 lights")])
def test_counts_use_the_plural(number: int, expected: str) -> None:
    assert counted(number, "light") == expected


def test_an_irregular_plural_can_be_given() -> None:
    assert counted(3, "switch", "switches") == "3 switches"
    assert counted(1, "switch", "switches") == "1 switch"


@pytest.mark.parametrize(("text", "expected"), [("", ""), ("the Pi", "The Pi"), ("the USB cable", "The USB cable")])
def test_only_the_first_letter_is_capitalized(text: str, expected: str) -> None:
    assert capitalized(text) == expected


def test_the_nearest_name_is_suggested() -> None:
    assert nearest("colums", ["rows", "columns"]) == "columns"
    assert did_you_mean("colums", ["rows", "columns"]) == " (did you mean columns?)"
    assert did_you_mean("colums", ["rows", "columns"], quoted=True) == " (did you mean 'columns'?)"


def test_suggestions_can_come_from_an_enum() -> None:
    Known = enum.StrEnum("Known", {"ROWS": "rows", "COLUMNS": "columns"})  # noqa: N806
    assert did_you_mean("colums", Known, quoted=True) == " (did you mean 'columns'?)"


def test_nothing_is_suggested_for_a_name_unlike_any_other() -> None:
    assert nearest("xyz", ["rows", "columns"]) is None
    assert did_you_mean("xyz", ["rows", "columns"]) == ""
