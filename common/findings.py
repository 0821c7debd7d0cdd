"""What was found when something was looked at, for ``doctor`` and for checks of a board."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Severity(enum.StrEnum):
    """How bad it is, the harmless first."""

    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, what was found, and what to do about it.

    A note is something that works without it, a fault something that was asked for and will not work.
    """

    subject: str
    severity: Severity
    message: str
    remedy: str = ""

    @classmethod
    def ok(cls, subject: str, message: str) -> Finding:
        """All is well."""
        return cls(subject, Severity.OK, message)

    @classmethod
    def note(cls, subject: str, message: str, remedy: str = "") -> Finding:
        """It works without it."""
        return cls(subject, Severity.NOTE, message, remedy)

    @classmethod
    def fault(cls, subject: str, message: str, remedy: str = "") -> Finding:
        """It was asked for and will not work."""
        return cls(subject, Severity.FAULT, message, remedy)


def worst(findings: Iterable[Finding]) -> Severity:
    """Give the worst severity there is, ``OK`` where nothing was found.

    >>> worst([Finding.ok("pins", "there"), Finding.note("pins", "slow")]).value
    'note'
    """
    return max((finding.severity for finding in findings), key=list(Severity).index, default=Severity.OK)
