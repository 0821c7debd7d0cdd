"""The texts of the installed files, and notifications to a service manager, over real sockets."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.systemd import MARK, Installation, Supervisor, quote


def installation(user: str | None = "alex", arguments: tuple[str, ...] = ("--camera", "0")) -> Installation:
    home = Path("/home/alex")
    return Installation(
        program=home / "table/run",
        folder=home / "my games",
        config=home / "my games/referee.toml",
        arguments=arguments,
        readable=(home / "table", home / "my games"),
        writable=(home / "a:b",),
        user=user,
        groups=("video", "dialout"),
    )


def setting(unit: str, name: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{name}=")]


def test_the_unit_runs_watch_as_the_owner_with_the_devices_groups() -> None:
    unit = installation().unit()
    assert setting(unit, "ExecStart") == [
        '"/home/alex/table/run" "--config" "/home/alex/my games/referee.toml" "watch" "--camera" "0"'
    ]
    assert setting(unit, "User") == ["alex"]
    assert setting(unit, "SupplementaryGroups") == ["video dialout"]
    assert setting(unit, "BindPaths") == ['"/home/alex/a\\:b"']
    assert setting(unit, "WorkingDirectory") == ["/home/alex/my games"]


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("192.168.1.20", True),
        ("10.1.2.3", True),
        ("172.20.0.5", True),
        ("169.254.7.7", True),
        ("fe80::1", True),
        ("fd12::1", True),
        # The multicast address for halls and names below .local.
        ("224.0.0.251", True),
        ("ff02::fb", True),
        ("93.184.216.34", False),
        ("2606:2800:220:1::1", False),
    ],
)
def test_the_service_reaches_only_the_local_network(address: str, is_allowed: bool) -> None:
    (allowed,) = setting(installation().unit(), "IPAddressAllow")
    assert "localhost" in allowed.split()
    networks = [ip_network(network) for network in allowed.split() if network != "localhost"]
    assert any(ip_address(address) in network for network in networks) is is_allowed


def test_the_service_may_use_usb_cameras_and_the_pi_s_own() -> None:
    allowed = setting(installation().unit(), "DeviceAllow")
    assert {"char-video4linux rw", "char-media rw", "char-dma_heap rw"} <= set(allowed)


def test_the_service_may_use_a_board_on_a_cable_or_at_the_pi_s_uart() -> None:
    allowed = setting(installation().unit(), "DeviceAllow")
    assert {f"char-{name} rw" for name in ("ttyACM", "ttyUSB", "ttyAMA", "ttyS")} <= set(allowed)


def test_a_missing_folder_is_left_to_the_referee_to_report() -> None:
    assert setting(installation().unit(), "BindReadOnlyPaths") == ['"-/home/alex/table" "-/home/alex/my games"']


def test_every_installed_file_begins_with_the_referees_mark() -> None:
    for user in ("alex", None):
        for text in installation(user).files().values():
            assert text.startswith(f"{MARK}\n")
            assert text.endswith("\n")


def test_a_user_unit_needs_no_rights_of_root() -> None:
    files = installation(user=None).files()
    (unit,) = files.values()
    for name in ("User", "SupplementaryGroups", "BindPaths", "CapabilityBoundingSet", "DevicePolicy"):
        assert setting(unit, name) == []
    assert setting(unit, "WantedBy") == ["default.target"]


def test_only_commands_expand_variables() -> None:
    unit = replace(installation(), arguments=("a$b",), writable=(Path("/srv/a$b"),)).unit()
    assert setting(unit, "ExecStart")[0].endswith('"a$$b"')
    assert setting(unit, "BindPaths") == ['"/srv/a$b"']


def read_back(word: str) -> str:
    """Read a quoted word as systemd.service(5) says: quotes, C escapes, then variables and specifiers."""
    assert word[0] == word[-1] == '"'
    text, escape = "", False
    for sign in word[1:-1]:
        if escape:
            text += {"n": "\n"}.get(sign, sign)
            escape = False
        elif sign == "\\":
            escape = True
        else:
            assert sign not in '"\n'
            text += sign
    return text.replace("$$", "$").replace("%%", "%")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_argument_of_watch_arrives_unchanged(word: str) -> None:
    assert read_back(quote(word)) == word


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
