"""The owner's options for the web page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageOptions:
    """The address and port to serve the page on, and its defaults.

    Without an ``address``, only this machine can open the page. Without a ``port``, a free one is chosen. ``owner`` is
    the name of the person at this machine. A device can override ``language`` and ``quiet_hours`` (``22:00-07:00``).
    """

    address: str | None = None
    port: int | None = None
    owner: str = "owner"
    language: str | None = None
    quiet_hours: str | None = None
