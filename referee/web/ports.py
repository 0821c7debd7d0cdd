"""Where the page is opened, and for whom."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageOptions:
    """Where the page is opened: without an ``address`` for this machine alone; without a ``port`` at a free one.

    ``owner`` is who sits at this machine. ``language`` and ``quiet_hours``, such as ``22:00-07:00``, hold until a
    device chooses its own.
    """

    address: str | None = None
    port: int | None = None
    owner: str = "owner"
    language: str | None = None
    quiet_hours: str | None = None
