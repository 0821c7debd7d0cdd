"""The file beside a journal that names the last recorded event, and what must be said if that event is missing.

The file is there while a journal is open for writing. It is written after the event is on the disk, so it never names
more than there was.
"""

import os
import zlib
from contextlib import suppress
from pathlib import Path

from common.durable import open_private
from common.phrases import Phrase, either
from journal.database import LAST_RECORDED
from journal.reader import JournalReader


class LastRecorded:
    """The file that names the last recorded event, from the opening of a journal to its closing."""

    def __init__(self, journal: Path) -> None:
        """Begin; on a disk that refuses the file there is none."""
        self._path = _last_recorded_path(journal)
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = open_private(self._path, os.O_WRONLY)

    def note(self, number: int) -> None:
        """Name an event that is on the disk."""
        if self._descriptor is not None:
            # Without it, less damage is noticed; the event itself is safe.
            with suppress(OSError):
                os.pwrite(self._descriptor, last_recorded_text(number), 0)

    def close(self) -> None:
        """End: the journal is one complete file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self._path.unlink()


def last_recorded_text(number: int) -> bytes:
    """Return what that file holds: the number and its checksum."""
    text = f"{number}".encode()
    return text.ljust(20) + b"%08x\n" % zlib.crc32(text)


def _last_recorded_path(journal: Path) -> Path:
    file = journal.resolve()
    return file.with_name(file.name + LAST_RECORDED)


def last_recorded(journal: Path) -> int:
    """Return the number of the last recorded event of a journal that was not closed, 0 if it is unknown."""
    with suppress(OSError, ValueError):
        text, checksum = _last_recorded_path(journal).read_bytes().split()
        if zlib.crc32(text) == int(checksum, 16):
            return int(text)
    return 0


def missing_events(name: str, last: int, recorded: int) -> str:
    """Say how many events are missing between a journal's last event and the last recorded one; empty if none is.

    A journal without events was begun anew.
    """
    if not 0 < last < recorded:
        return ""
    return either(
        recorded - last == 1,
        "{name} was damaged: 1 event after event {last} is missing. {compare}",
        "{name} was damaged: {missing} events after event {last} are missing. {compare}",
        name=name,
        last=last,
        missing=recorded - last,
        compare=Phrase("Compare the board with what `./run status` shows, and correct what differs."),
    )


def missing_for_readers(journal: JournalReader) -> str:
    """Say what ``missing_events`` does, whether or not a referee writes the journal meanwhile; raises JournalError."""
    recorded = last_recorded(journal.path)
    # A referee names an event once it is recorded, so in the other order one could seem to be missing.
    return missing_events(journal.path.name, journal.last_number, recorded)
