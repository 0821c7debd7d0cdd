"""TOML on which the library fails with another error is refused like any invalid TOML."""

import math
import tomllib

import pytest

from common.toml_text import as_toml_line, parse_toml


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a =", "Invalid value"),
        ("a = " + "[" * 3000 + "]" * 3000, "it is nested too deeply"),
        (".".join(["a"] * 51) + " = 1", "it is nested too deeply"),
        ("a = " + "[" * 50 + "]" * 50, "it is nested too deeply"),
        ("a = [1, {b = 0x8000000000000000}]", "it has an integer of more than 63 bits"),
        ("a = 0x" + "f" * 5000, "it has an integer of more than 63 bits"),
        ("a = " + "9" * 5000, "it has a value that can't be read .*digits"),
    ],
)
def test_toml_that_cannot_be_read_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=says):
        parse_toml(text)


@pytest.mark.parametrize("value", [0.1, 1e22, 1e-7, math.inf, -math.inf, 3, True])
def test_a_number_can_be_read_again(value: float) -> None:
    assert parse_toml(as_toml_line("a", value)) == {"a": value}


def test_fifty_levels_are_read() -> None:
    within = parse_toml(".".join(["a"] * 50) + " = 1")
    for _ in range(49):
        within = within["a"]
    assert within == {"a": 1}
    assert parse_toml("a = " + "[" * 49 + "]" * 49)
