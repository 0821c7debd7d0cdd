"""How much evidence a journal keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EvidenceLimits:
    """The most bytes one picture and all pictures together may take; the oldest make room for new ones."""

    picture_bytes: int = 64 * 1024
    total_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in ("picture_bytes", "total_bytes"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; expected 0 (keep no pictures) or more")
