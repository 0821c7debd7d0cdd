"""Notifications to a service manager, over real sockets and with a fake clock."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from referee.systemd import Supervisor

STATUS = "Refereeing Deblockle."


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        yield listening


def supervisor(clock: Clock, environment: Mapping[str, str]) -> Supervisor:
    return Supervisor.from_environment(environment, clock, STATUS)


def heard(manager: socket.socket) -> list[str]:
    reports = []
    while True:
        try:
            reports.append(manager.recv(1000).decode())
        except BlockingIOError:
            return reports


def test_start_watchdog_and_end_are_reported(manager: socket.socket) -> None:
    clock = Clock()
    environment = {"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "60000000"}
    with supervisor(clock, environment) as reporting:
        assert heard(manager) == [f"READY=1\nSTATUS={STATUS}"]
        for _ in range(5):
            reporting.alive()
        assert heard(manager) == ["WATCHDOG=1"]
        clock.now_s += 19.9
        reporting.alive()
        assert heard(manager) == []
        clock.now_s += 0.2
        reporting.alive()
        assert heard(manager) == ["WATCHDOG=1"]
    assert heard(manager) == ["STOPPING=1"]


def test_an_abstract_socket_is_notified() -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as listening:
        listening.bind("")  # the system draws an abstract name
        listening.setblocking(False)
        with supervisor(Clock(), {"NOTIFY_SOCKET": "@" + listening.getsockname()[1:].decode()}):
            assert heard(listening) == [f"READY=1\nSTATUS={STATUS}"]


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": "/nowhere/at/all", "WATCHDOG_USEC": "never"}])
def test_reporting_without_a_service_manager_does_nothing(environment: dict[str, str]) -> None:
    with supervisor(Clock(), environment) as reporting:
        reporting.alive()
