"""A value that a test knows to be there, where its type also allows ``None``."""

from typing import TypeVar

Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """Return the value; raises AssertionError for ``None``."""
    assert value is not None
    return value
