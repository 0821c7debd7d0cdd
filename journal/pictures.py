"""Writes the pictures that a journal keeps into files."""

import re
from collections.abc import Iterable
from pathlib import Path

from common.durable import write_durably
from journal.reader import JournalReader
from referee.record.events import PICTURE_SUFFIXES, Event, KeptEvidence


def write_evidence(
    journal: JournalReader, events: Iterable[tuple[int, Event]], folder: Path
) -> tuple[list[Path], list[KeptEvidence]]:
    """Write the pictures of (number, event) pairs into ``folder``, which is created if necessary.

    Files are named by event number, kind and picture: ``0012-illegal-before-c3.png``. Returns them, and the pictures
    that are no longer kept. Raises OSError when one cannot be written and JournalError when the journal cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    left_out = []
    for number, event in events:
        for position, kept in enumerate(journal.evidence(number)):
            if kept.left_out:
                left_out.append(kept)
                continue
            suffix = PICTURE_SUFFIXES.get(kept.evidence.media_type, ".bin")
            path = folder / f"{number:04d}-{_file_part(event.kind)}-{_file_part(kept.evidence.name)}{suffix}"
            if path in written:
                path = path.with_name(f"{path.stem}-{position}{suffix}")
            write_durably(path, kept.evidence.content)
            written.append(path)
    return written, left_out


def _file_part(text: str) -> str:
    """Convert a name from a journal to part of a file's name, without anything that could lead to another folder."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "picture"
