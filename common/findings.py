"""Findings: the results of checks, for ``doctor``, the set-up and tests of a board."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Severity(enum.StrEnum):
    """The severity of a finding, in increasing order."""

    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """One checked subject, what was found, and what to do about it.

    A note is optional: everything works without it. A fault means that something requested will not work.
    """

    subject: str
    severity: Severity
    message: str
    remedy: str = ""

    @classmethod
    def ok(cls, subject: str, message: str) -> Finding:
        """Make a finding without a problem."""
        return cls(subject, Severity.OK, message)

    @classmethod
    def note(cls, subject: str, message: str, remedy: str = "") -> Finding:
        """Make a finding that needs no action."""
        return cls(subject, Severity.NOTE, message, remedy)

    @classmethod
    def fault(cls, subject: str, message: str, remedy: str = "") -> Finding:
        """Make a finding that must be fixed."""
        return cls(subject, Severity.FAULT, message, remedy)


def worst(findings: Iterable[Finding]) -> Severity:
    """Return the worst severity, ``OK`` if there are no findings.

    >>> worst([Finding.ok("pins", "there"), Finding.note("pins", "slow")]).value
    'note'
    """
    return max((finding.severity for finding in findings), key=list(Severity).index, default=Severity.OK)
