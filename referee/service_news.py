"""Which verdicts are news, beside the one on show. Pure."""

from __future__ import annotations

from referee.verdict import Verdict, VerdictKind

_LASTING = frozenset({VerdictKind.SET_UP, VerdictKind.ACCEPTED, VerdictKind.PUT_RIGHT, VerdictKind.UNCHANGED})
"""What may stay on show while nothing changes."""

_QUIET = frozenset({VerdictKind.NOT_FINISHED, VerdictKind.CANNOT_SEE, VerdictKind.UNCHANGED})


def is_news(verdict: Verdict, shown: Verdict | None, *, unsettled: bool) -> bool:
    """Say whether a verdict tells more than the one on show; ``unsettled``: a fault or a question is open.

    A question stays on show until the table shows something else, or somebody answers.
    """
    if verdict.turns or verdict.kind is VerdictKind.SET_UP:
        return True
    if shown is None:
        return verdict.kind is not VerdictKind.UNCHANGED
    # A fault or a question stays lit while hands put it right.
    if verdict.kind in _QUIET and unsettled and shown.kind not in _LASTING:
        return False
    if verdict.kind is VerdictKind.UNCHANGED and shown.kind in _LASTING:
        return False
    if verdict.kind is VerdictKind.CANNOT_SEE and shown.kind is VerdictKind.CANNOT_SEE:
        return False
    return key_of(verdict) != key_of(shown)


def key_of(verdict: Verdict) -> tuple[object, ...]:
    """What makes two verdicts the same to a person."""
    return (verdict.kind, verdict.turns, verdict.places, tuple(sorted(verdict.seen.items())), verdict.sentence)
