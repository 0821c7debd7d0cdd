"""How often each position occurred, by digest, for claims of repetition; and its text form."""

import hashlib
import re
from collections.abc import Iterable

Counts = tuple[tuple[str, int], ...]
"""Sorted digests of positions with their numbers of occurrences."""

CLAIMED_FROM = 3
"""Number of occurrences of a position from which a draw may be claimed."""

SEEN = "seen"
"""The key of the counts in a state's text."""

NOTHING_SEEN = f"{SEEN}=none"
"""Means that no position has been counted yet, not even the current one."""

COUNTS_EXPECTED = f"{SEEN}=COUNT*DIGEST,… with 16 hexadecimal digits each, none twice, or {NOTHING_SEEN}"

_COUNTED = re.compile(r"([1-9][0-9]{0,8})\*([0-9a-f]{16})")


def digest(text: str) -> str:
    """Return the digest of a position's text: 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def counted(counts: Counts, key: str) -> Counts:
    """Return the counts after the position occurred once more."""
    occurred = dict(counts)
    occurred[key] = occurred.get(key, 0) + 1
    return tuple(sorted(occurred.items()))


def times(counts: Counts, key: str) -> int:
    """Return the number of times that the position occurred."""
    return dict(counts).get(key, 0)


def format_counts(counts: Counts) -> Iterable[str]:
    """Write counts as a word of a state's text; empty if nothing was counted."""
    return [f"{SEEN}=" + ",".join(f"{count}*{key}" for key, count in counts)] if counts else []


def read_counts(value: str) -> Counts | None:
    """Read the value of ``seen=``; ``None`` if it is unreadable or repeats a digest."""
    if f"{SEEN}={value}" == NOTHING_SEEN:
        return ()
    matches = [_COUNTED.fullmatch(entry) for entry in value.split(",")]
    counts = [(match[2], int(match[1])) for match in matches if match]
    if len(counts) != len(matches) or len(dict(counts)) != len(counts):
        return None
    return tuple(sorted(counts))
