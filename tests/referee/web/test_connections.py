"""Connections on a real socket: slow ones are closed, crowds displace themselves, devices keep their places."""

from __future__ import annotations

import errno
import http.client
import json
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from referee.settings.settings import PageOptions
from referee.web.access import Role
from referee.web.connections import RESERVED_FILES, ConnectionLimits, Door
from referee.web.server import OpenPage, open_page
from tests.guard import GUARD_S
from tests.referee.web.page_table import port_of

LIMITS = ConnectionLimits(strangers=8, others=8, owners=8, of_address=6, of_device=3, head_s=GUARD_S, whole_s=GUARD_S)


class Device:
    """A device with one connection that stays open; without a token, the browser at the machine itself."""

    def __init__(self, page: OpenPage, token: str = "") -> None:
        self._viewer = http.client.HTTPConnection(urlsplit(page.address).netloc, timeout=GUARD_S)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self) -> int:
        """Ask for the session; returns the answer's status."""
        self._viewer.request("GET", "/api/session", headers=self._headers)
        answer = self._viewer.getresponse()
        answer.read()
        return answer.status

    def asks_on_the_same_connection(self) -> bool:
        before = self._viewer.sock
        return self.ask() == 200 and self._viewer.sock is before

    def was_closed(self) -> bool:
        return was_closed(self._viewer.sock)

    def close(self) -> None:
        self._viewer.close()


class Served:
    """A page, and what connects to it; all of it is closed at the end."""

    def __init__(self, page: OpenPage, stack: ExitStack) -> None:
        self._stack = stack
        self._page = page
        self._address = urlsplit(page.address).netloc
        self.host, self.port = urlsplit(page.address).hostname or "", urlsplit(page.address).port or 0

    def connect(self, sent: bytes = b"") -> socket.socket:
        """Open a connection and send something."""
        connection = self._stack.enter_context(socket.create_connection((self.host, self.port), GUARD_S))
        connection.sendall(sent)
        return connection

    def device(self, token: str = "") -> Device:
        return self._stack.enter_context(closing(Device(self._page, token)))

    def token(self, role: Role) -> str:
        """Pair a device."""
        with closing(http.client.HTTPConnection(self._address, timeout=GUARD_S)) as viewer:
            body = json.dumps({"code": self._page.codes[Role.OWN], "role": role.name.lower()})
            viewer.request("POST", "/api/pair", body, {"Content-Type": "application/json"})
            return str(json.loads(viewer.getresponse().read())["token"])


@contextmanager
def served(limits: ConnectionLimits, address: str | None = "127.0.0.1") -> Iterator[Served]:
    said: list[str] = []
    with ExitStack() as stack, open_page(port_of(), PageOptions(address), said.append, limits) as page:
        yield Served(page, stack)
    assert said == []


def was_closed(connection: socket.socket) -> bool:
    """Whether the other side closed without an answer; waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHos",
        b"GET /pair HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HT",
        b"GET /pair HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nx",
    ],
    ids=["silent", "half a head", "half a second head", "half a body"],
)
def test_a_connection_without_a_whole_request_is_closed(sent: bytes) -> None:
    with served(replace(LIMITS, head_s=0.1)) as page:
        connection = page.connect(sent)
        while connection.recv(4096):
            pass


def test_a_dripping_head_does_not_gain_time() -> None:
    with served(replace(LIMITS, head_s=0.2)) as page:
        connection = page.connect(b"GET / HTTP/1.1\r\nX: ")
        connection.settimeout(0.02)
        is_closed = False
        while not is_closed:
            try:
                connection.sendall(b"x")
                is_closed = connection.recv(1) == b""
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                is_closed = True


def test_an_answer_that_is_not_read_is_cut_off() -> None:
    with served(replace(LIMITS, whole_s=0.1)) as page:
        connection = page.connect()
        many = b"GET /static/icon-512.png HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 200

        def ask_for_ever() -> None:
            while True:
                connection.sendall(many)

        with pytest.raises(OSError, match=r"reset|[Bb]roken pipe"):
            ask_for_ever()


def test_a_crowd_of_one_address_displaces_itself_and_no_device() -> None:
    with served(LIMITS) as page:
        owner, guest = page.device(page.token(Role.OWN)), page.device(page.token(Role.LOOK))
        assert [owner.ask(), guest.ask()] == [200, 200]
        crowd = [page.connect() for _ in range(LIMITS.of_address + 4)]
        assert all(was_closed(each) for each in crowd[:4])
        assert [owner.asks_on_the_same_connection(), guest.asks_on_the_same_connection()] == [True, True]
        assert page.device(page.token(Role.OWN)).ask() == 200, "a new connection is heard too"


def test_a_connection_whose_other_side_has_gone_ends_within_a_minute() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    with Door(listening, lambda: 0.0) as door, socket.create_connection(door.getsockname(), GUARD_S):
        door.settimeout(GUARD_S)
        accepted, _ = door.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000


def test_an_address_that_comes_too_often_is_shut_out_but_not_one_with_a_device() -> None:
    now_s = [0.0]
    listening = socket.create_server(("127.0.0.1", 0), backlog=200)
    with ExitStack() as stack, Door(listening, lambda: now_s[0]) as door:
        door.settimeout(GUARD_S)

        def come(host: str, count: int) -> list[socket.socket]:
            address = door.getsockname()
            return [stack.enter_context(socket.create_connection(address, GUARD_S, (host, 0))) for _ in range(count)]

        def accept() -> str:
            connection, (host, _) = door.accept()
            connection.close()
            return str(host)

        come("127.0.1.1", 70)
        assert [accept() for _ in range(64)] == ["127.0.1.1"] * 64
        come("127.0.1.2", 1)
        assert accept() == "127.0.1.2", "six were closed before"
        shut_out = come("127.0.1.1", 64)
        with pytest.raises(BlockingIOError):
            door.accept()
        assert all(was_closed(each) for each in shut_out)
        door.trust("127.0.1.1")
        come("127.0.1.1", 2)
        assert [accept(), accept()] == ["127.0.1.1"] * 2


def test_without_a_file_left_the_page_says_so_a_few_times_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    accept, failures, said = Door.accept, [errno.EMFILE] * 30, list[str]()

    def fail_at_first(door: Door) -> tuple[socket.socket, Any]:
        if failures:
            raise OSError(failures.pop(), "Too many open files")
        return accept(door)

    monkeypatch.setattr(Door, "accept", fail_at_first)
    with open_page(port_of(), PageOptions(), said.append, LIMITS) as page, closing(Device(page)) as viewer:
        assert viewer.ask() == 200
    assert failures == []
    assert said
    assert len(said) <= 3
    assert all("Too many open files" in line for line in said)


def test_a_device_with_many_connections_displaces_its_own() -> None:
    with served(LIMITS) as page:
        token = page.token(Role.PLAY)
        owner, other = page.device(page.token(Role.OWN)), page.device(page.token(Role.PLAY))
        crowd = [page.device(token) for _ in range(LIMITS.of_device + 1)]
        assert [each.ask() for each in (owner, other, *crowd)] == [200] * (2 + len(crowd))
        assert crowd[0].was_closed()
        assert [owner.asks_on_the_same_connection(), other.asks_on_the_same_connection()] == [True, True]


def test_at_the_machine_itself_everybody_shares_the_owners_places() -> None:
    with served(LIMITS, None) as page:
        viewers = [page.device() for _ in range(LIMITS.owners)]
        assert [each.ask() for each in viewers] == [200] * len(viewers)
        assert all(each.asks_on_the_same_connection() for each in viewers)


@pytest.mark.parametrize("files", [16, 64, 256, 512, 1024, 4096, resource.RLIM_INFINITY])
def test_the_page_leaves_files_to_the_referee(files: int) -> None:
    limits = ConnectionLimits.within(files)
    whole = limits.strangers + limits.others + limits.owners
    assert min(limits.strangers, limits.others, limits.owners) >= 1
    if files == resource.RLIM_INFINITY or files >= 1024:
        assert limits == ConnectionLimits()
    if files >= 256:
        assert whole <= files - min(RESERVED_FILES, files // 2)
