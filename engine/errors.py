"""The engine's errors, each also the builtin it resembles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.values import Breach


class EngineError(Exception):
    """Root of every error the engine raises."""


class UnreadableError(EngineError, ValueError):
    """A text that cannot be parsed; the message names the text, what was expected and where.

    ``column`` is where the fault begins, counted from 1, where one character is to blame.
    """

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.column = column


class IllegalTurnError(EngineError, ValueError):
    """A turn or set-up that was parsed but is forbidden; ``breaches`` lists the broken rules."""

    def __init__(self, message: str, breaches: tuple[Breach, ...] = ()) -> None:
        super().__init__(message)
        self.breaches = breaches


class AmbiguousError(EngineError, ValueError):
    """A text that fits several turns; ``candidates`` are their texts, and the message says what is ambiguous."""

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class OptionError(EngineError, ValueError):
    """An option the game does not have, or a value the option does not take."""


class ContradictionError(EngineError, ValueError):
    """A sighting that agrees with no position that is still possible."""


class UnknownGameError(EngineError, LookupError):
    """No game of that name is registered; the message lists the names there are."""
