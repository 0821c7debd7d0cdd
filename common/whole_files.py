"""Reading a file as a whole, but never more than a file of its kind can be."""

import errno
from pathlib import Path

from common.phrases import Phrase

MOST_SETTINGS_BYTES = 1024 * 1024
"""More than any file of settings, map or sheet; a hundred times the longest one with all its comments."""
MOST_TEXT_BYTES = 16 * 1024 * 1024
"""More than any text that an owner or the program writes: the longest, learned handwriting, has a few hundred kB."""


def read_whole(path: Path, most_bytes: int) -> bytes:
    """Return a file's bytes; raises OSError if it can't be read, also if it has more than ``most_bytes``.

    A large file is refused before it is read.
    """
    with path.open("rb") as file:
        # A pipe has no size.
        is_small = path.stat().st_size <= most_bytes
        data = file.read(most_bytes + 1) if is_small else b""
    if not is_small or len(data) > most_bytes:
        raise OSError(
            errno.EFBIG,
            Phrase("it is larger than {most_mib} MiB, so it is another file", f"{most_bytes / 1024**2:g}"),
            str(path),
        )
    return data


def read_text(path: Path, *, encoding: str = "utf-8", most_bytes: int = MOST_TEXT_BYTES) -> str:
    """Return a text file with line feeds as its line ends; errors as ``read_whole``, and UnicodeDecodeError."""
    return read_whole(path, most_bytes).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
