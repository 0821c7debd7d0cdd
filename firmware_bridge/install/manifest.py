"""The manifest: every file of the firmware with its hash, and how a board's files differ from it. Pure.

The manifest is written last, so a board with the firmware's files and without a manifest is one on which an
installation was interrupted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware.core.version import FIRMWARE_VERSION

Version = tuple[int, int, int]

MANIFEST_FILE = "manifest.json"
PIN_MAP_FILE = "pins.json"
MAIN_FILE = "main.py"
FAULT_FILES = ("fault.txt", "last_fault.txt")
"""Where the firmware records faults: those not reported yet, and those reported."""
STAY_FILE = "stay"
"""While a board has this file, its firmware does not start; the board removes it at once."""
FIRMWARE_FOLDER = "firmware"
NEW_SUFFIX = ".new"
"""Suffix of a file on the board until it is complete."""

_FORMAT = 1  # of the manifest


class ManifestError(BridgeError, ValueError):
    """A board's manifest that can't be read; the message gives the reason."""


@dataclass(frozen=True)
class Manifest:
    """A version of the firmware: for each file on the board (``firmware/core/link.py``) its SHA-256 in hexadecimal."""

    version: Version
    files: Mapping[str, str]

    def to_json(self) -> bytes:
        """Encode it as stored on a board."""
        form = {"format": _FORMAT, "version": list(self.version), "files": dict(sorted(self.files.items()))}
        return json.dumps(form, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Manifest:
        """Decode a board's manifest; raises ManifestError."""
        try:
            form = _ManifestForm.model_validate_json(data)
        except ValidationError as error:
            raise ManifestError(
                f"the board's {MANIFEST_FILE} is not of a form this program knows (format {_FORMAT}); its firmware is "
                "of another version, or the file is damaged"
            ) from error
        return cls(form.version, form.files)


class _ManifestForm(BaseModel):
    """The manifest's file."""

    model_config = ConfigDict(strict=True)

    format: Literal[1]
    version: tuple[NonNegativeInt, NonNegativeInt, NonNegativeInt]
    files: dict[str, str]


@dataclass(frozen=True)
class Firmware:
    """The firmware that comes with this program: its version, and the contents of each file on the board."""

    version: Version
    files: Mapping[str, bytes]

    @property
    def manifest(self) -> Manifest:
        """Its manifest."""
        return Manifest(self.version, {path: sha256(data) for path, data in self.files.items()})


def our_firmware(folder: Traversable) -> Firmware:
    """Read the firmware that comes with this program from ``folder``, which holds ``main.py`` and ``core``."""
    files = {}
    for path, file in _walk(folder, ""):
        files[MAIN_FILE if path == MAIN_FILE else f"{FIRMWARE_FOLDER}/{path}"] = file.read_bytes()
    return Firmware(FIRMWARE_VERSION, files)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def version_text(version: Version) -> str:
    """Format a version, ``1.0.2``."""
    return ".".join(map(str, version))


def version_problem(installed: Version, ours: Version = FIRMWARE_VERSION) -> tuple[str, str] | None:
    """Say how a board's firmware differs from this program's, and what to do; ``None`` if it is the same."""
    there, here = version_text(installed), version_text(ours)
    if installed == ours:
        return None
    if installed < ours:
        return f"version {there}, older than this program's {here}", "`./run hardware firmware install` updates it"
    return (
        f"version {there}, newer than this program's {here}",
        f"update the referee; or `./run hardware firmware install` puts version {here} on the board",
    )


@dataclass(frozen=True)
class Difference:
    """How the files of a board differ from the required firmware, by their paths on the board.

    ``left_over`` are unneeded files of another version, or of an interrupted installation.
    """

    missing: tuple[str, ...]
    altered: tuple[str, ...]
    left_over: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no required file differs."""
        return not self.missing and not self.altered

    @property
    def to_write(self) -> tuple[str, ...]:
        """The files to write, so that nothing differs."""
        return tuple(sorted((*self.missing, *self.altered)))


def difference(wanted: Manifest, found: Mapping[str, str], installed: Manifest | None) -> Difference:
    """Compare the required files with the hashes of the files ``found`` on a board.

    ``installed`` is the board's own manifest: only files listed there, or being written, count as left over; other
    files are the owner's.
    """
    known = frozenset() if installed is None else installed.files.keys()
    return Difference(
        missing=tuple(sorted(path for path in wanted.files if path not in found)),
        altered=tuple(sorted(path for path, digest in wanted.files.items() if found.get(path, digest) != digest)),
        left_over=tuple(
            sorted(path for path in found if path not in wanted.files and (path in known or path.endswith(NEW_SUFFIX)))
        ),
    )


def _walk(folder: Traversable, before: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _walk(entry, f"{before}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield before + entry.name, entry
