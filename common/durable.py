"""Writing files that survive a power cut: whole, or as they were before."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, text: str, *, private: bool = False) -> None:
    """Put a text file in the place of the one before; on return it is on the disk. Raises OSError.

    Cut off at any moment, the file is as it was before or as it is after. One that is ``private`` only its owner may
    read.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        # A pipe or a terminal: nothing to be put in its place.
        target.write_text(text, encoding="utf-8")
        return
    draft = target.with_name(f".{target.name}.draft")
    try:
        if private:
            # A draft that was left over keeps its own rights.
            draft.unlink(missing_ok=True)
        mode = 0o600 if private else 0o666
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Put on the disk which files a folder has, so that a new file's name lasts as its content does. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
