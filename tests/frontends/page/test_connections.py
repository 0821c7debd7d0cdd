"""Connections on a real socket: what never asks, crowds of one address or of many, and devices with too many."""

import errno
import http.client
import json
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from frontends.page.access import Role
from frontends.page.connections import Connections, raise_file_limit
from frontends.page.server import _ACCEPTED_AT_ONCE, OpenPage, open_entrance, open_page
from frontends.page.settings import PageOptions
from tests.frontends.page.page_table import port_of
from tests.guard import GUARD_S

HERE = "127.0.0.1"
OF_ONE = 4


def few(of_strangers: int = 100) -> Connections:
    return Connections(OF_ONE, of_strangers, head_s=GUARD_S)


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

    def connect(self, sent: bytes = b"", source: str = HERE) -> socket.socket:
        """Open a connection from an address of this machine, and send something."""
        opened = socket.create_connection((self.host, self.port), GUARD_S, (source, 0))
        connection = self._stack.enter_context(opened)
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
def served(connections: Connections, address: str | None = HERE) -> Iterator[Served]:
    said: list[str] = []
    with ExitStack() as stack, open_page(port_of(), PageOptions(address=address), said.append, connections) as page:
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
    with served(Connections(head_s=0.1)) as page:
        connection = page.connect(sent)
        while connection.recv(4096):
            pass


def test_a_dripping_head_does_not_gain_time() -> None:
    with served(Connections(head_s=0.2)) as page:
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


def test_a_crowd_of_one_address_closes_its_own_and_no_devices() -> None:
    with served(few()) as page:
        owner, guest = page.device(page.token(Role.OWN)), page.device(page.token(Role.LOOK))
        assert [owner.ask(), guest.ask()] == [200, 200]
        crowd = [page.connect() for _ in range(OF_ONE + 4)]
        assert all(was_closed(each) for each in crowd[:4])
        assert [owner.asks_on_the_same_connection(), guest.asks_on_the_same_connection()] == [True, True]
        assert page.device(page.token(Role.OWN)).ask() == 200, "a new connection is heard too"


def test_a_crowd_of_many_addresses_closes_its_own_and_no_devices() -> None:
    with served(few(of_strangers=8)) as page:
        owner = page.device(page.token(Role.OWN))
        assert owner.ask() == 200
        crowd = [page.connect(source=f"127.0.1.{number}") for number in range(1, 11)]
        assert all(was_closed(each) for each in crowd[:2])
        assert owner.asks_on_the_same_connection()
        assert page.device(page.token(Role.OWN)).ask() == 200, "a new connection is heard too"


def test_a_device_with_many_connections_closes_its_own() -> None:
    with served(few()) as page:
        token = page.token(Role.PLAY)
        owner, other = page.device(page.token(Role.OWN)), page.device(page.token(Role.PLAY))
        crowd = [page.device(token) for _ in range(OF_ONE + 1)]
        assert [each.ask() for each in (owner, other, *crowd)] == [200] * (2 + len(crowd))
        assert crowd[0].was_closed()
        assert [owner.asks_on_the_same_connection(), other.asks_on_the_same_connection()] == [True, True]


def test_at_the_machine_itself_nobody_s_connections_are_too_many() -> None:
    with served(few(), None) as page:
        viewers = [page.device() for _ in range(2 * OF_ONE)]
        assert [each.ask() for each in viewers] == [200] * len(viewers)
        assert all(each.asks_on_the_same_connection() for each in viewers)


def test_a_connection_whose_other_side_has_gone_ends_within_a_minute() -> None:
    options = PageOptions(address=HERE)
    with open_entrance(options) as at, open_page(port_of(), options, print, entrance=at) as page:
        with closing(Device(page)) as viewer:
            viewer.ask()
        # What is accepted inherits this.
        assert at.listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000


def test_without_a_file_left_the_page_says_so_a_few_times_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # One round of them, so that asyncio tries again once, and not after the page's end.
    accept, failures, said = socket.socket.accept, [errno.EMFILE] * _ACCEPTED_AT_ONCE, list[str]()

    def fail_at_first(listening: socket.socket) -> tuple[socket.socket, Any]:
        if failures:
            raise OSError(failures.pop(), "Too many open files")
        return accept(listening)

    monkeypatch.setattr(socket.socket, "accept", fail_at_first)
    with open_page(port_of(), PageOptions(), said.append) as page, closing(Device(page)) as viewer:
        assert viewer.ask() == 200
    assert failures == []
    assert said
    assert len(said) <= 3
    assert all("Too many open files" in line for line in said)


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (1024, 524_288, 8192),
        (1024, resource.RLIM_INFINITY, 8192),
        (256, 4096, 4096),
        (9000, 524_288, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
    ],
)
def test_the_page_may_open_more_files_than_a_process_usually_may(
    soft: int, hard: int, raised: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[object] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda *given: limits.append(given))
    raise_file_limit()
    assert limits == ([] if raised is None else [(resource.RLIMIT_NOFILE, (raised, hard))])


def test_a_page_that_is_served_may_open_more_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *given: asked.append(given))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 524_288))
    with open_page(port_of(), PageOptions(), print):
        assert asked == [(resource.RLIMIT_NOFILE, (8192, 524_288))]
