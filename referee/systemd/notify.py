"""Telling systemd that the referee is ready and still running."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping
from typing import Self

_USUAL_INTERVAL_S = 10.0
"""How often, in seconds, to report to a manager without a watchdog."""


class Supervisor:
    """Reports to the service manager by datagrams, as sd_notify(3) describes; does nothing without a manager.

    Inside the context, the service is ready. ``address`` is the manager's socket, ``interval_s`` how often ``alive``
    reports, ``now`` a monotonic clock in seconds, and ``status`` is shown by ``systemctl status``. A report that can't
    be delivered is dropped, so that a manager that doesn't listen can't stop a game.
    """

    def __init__(self, address: str, interval_s: float, now: Callable[[], float], status: str) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._status = status
        self._interval_s = interval_s
        self._now = now
        self._reported_s: float | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], now: Callable[[], float], status: str) -> Self:
        """Take the socket and the watchdog's time from the variables that systemd sets.

        ``alive`` then reports three times within the watchdog's time.
        """
        watchdog_us = environment.get("WATCHDOG_USEC", "")
        interval_s = int(watchdog_us) / 3e6 if watchdog_us.isdecimal() else _USUAL_INTERVAL_S
        return cls(environment.get("NOTIFY_SOCKET", ""), interval_s, now, status)

    def __enter__(self) -> Self:
        """Report that the game can begin."""
        self._send(f"READY=1\nSTATUS={self._status}")
        return self

    def __exit__(self, *_: object) -> None:
        """Report that the referee is about to end."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Report that the referee still runs, if a report is due."""
        now_s = self._now()
        if self._reported_s is None or now_s - self._reported_s >= self._interval_s:
            self._reported_s = now_s
            self._send("WATCHDOG=1")

    def _send(self, report: str) -> None:
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, contextlib.suppress(OSError):
            sender.setblocking(False)
            sender.sendto(report.encode(), self._address)
