"""The pictures kept with events, written out as files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from referee.events import Event
from referee.journal import Journal

_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg"}


@dataclass(frozen=True)
class WrittenEvidence:
    """A picture's file, or (``path`` is ``None``) why there is none: ``too large`` or ``made room``."""

    event_number: int
    name: str
    path: Path | None
    left_out: str = ""


def write_evidence(journal: Journal, events: Iterable[tuple[int, Event]], folder: Path) -> list[WrittenEvidence]:
    """Write the pictures of (number, event) pairs into ``folder``, made when it is not there.

    Files are named by event number, kind and picture: ``0012-illegal-before-c3.png``. Raises OSError when one cannot
    be written and JournalError when the journal cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, event in events:
        for position, kept in enumerate(journal.evidence(number)):
            if kept.left_out:
                written.append(WrittenEvidence(number, kept.evidence.name, None, kept.left_out))
                continue
            suffix = _SUFFIXES.get(kept.evidence.media_type, ".bin")
            path = folder / f"{number:04d}-{_file_part(event.kind)}-{_file_part(kept.evidence.name)}{suffix}"
            if any(other.path == path for other in written):
                path = path.with_name(f"{path.stem}-{position}{suffix}")
            path.write_bytes(kept.evidence.content)
            written.append(WrittenEvidence(number, kept.evidence.name, path))
    return written


def _file_part(text: str) -> str:
    """A name from a journal as part of a file's name: nothing in it may lead to another folder."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "picture"
