"""How often each position occurred, by digest: what a claim of repetition goes by, and its text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

Counts = tuple[tuple[str, int], ...]
"""Digests with how often each position occurred, sorted."""

CLAIMED_FROM = 3
"""From so many times of a position on a draw may be claimed."""

SEEN = "seen"
"""The name that counts go by in a state's text."""

NOTHING_SEEN = f"{SEEN}=none"
"""Says that no position was counted yet, not even the one that is described."""

COUNTS_EXPECTED = f"{SEEN}=COUNT*DIGEST,… with 16 hexadecimal digits each, none twice, or {NOTHING_SEEN}"

_COUNTED = re.compile(r"([1-9][0-9]{0,8})\*([0-9a-f]{16})")


def digest(text: str) -> str:
    """The digest of a position's text: 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def counted(counts: Counts, key: str) -> Counts:
    """The counts after the position occurred once more."""
    occurred = dict(counts)
    occurred[key] = occurred.get(key, 0) + 1
    return tuple(sorted(occurred.items()))


def times(counts: Counts, key: str) -> int:
    """How often the position occurred."""
    return dict(counts).get(key, 0)


def format_counts(counts: Counts) -> Iterable[str]:
    """Write counts as a word of a state's text, none where nothing was counted."""
    return [f"{SEEN}=" + ",".join(f"{count}*{key}" for key, count in counts)] if counts else []


def read_counts(value: str) -> Counts | None:
    """Read what stands behind ``seen=``, ``None`` where it can't be read or a digest comes twice."""
    if f"{SEEN}={value}" == NOTHING_SEEN:
        return ()
    matches = [_COUNTED.fullmatch(entry) for entry in value.split(",")]
    counts = [(match[2], int(match[1])) for match in matches if match]
    if len(counts) != len(matches) or len(dict(counts)) != len(counts):
        return None
    return tuple(sorted(counts))
