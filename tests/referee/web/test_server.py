"""The page's server on a real socket: its address, its prompt end, slow connections, crowds, and kept places."""

import errno
import http.client
import io
import json
import logging
import re
import resource
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
from rich.console import Console

from common.user import user_name
from referee.cli.context import chosen_page
from referee.errors import PageError
from referee.settings.settings import PageOptions, PageSection
from referee.web.access import Role
from referee.web.files import page_files
from referee.web.guard import RESERVED_FILES, ConnectionLimits, Door
from referee.web.server import FIRST_PORT, LOOPBACK, OpenPage, _ErrorForwarder, key_path, listen, open_page
from tests.guard import GUARD_S
from tests.referee.web.page_table import port_of, snapshot_of

LOG = Console(file=io.StringIO())
"""A console that is no terminal."""


def request_path(page: OpenPage, path: str) -> http.client.HTTPConnection:
    """Request a path of a page; the caller closes the connection."""
    viewer = http.client.HTTPConnection(page.address.removeprefix("http://").rstrip("/"), timeout=60)
    viewer.request("GET", path)
    return viewer


def event_number(stream: http.client.HTTPResponse) -> int:
    """Read one event of the table from a stream."""
    assert stream.readline() == b"event: table\n"
    stream.readline()
    document = json.loads(stream.readline().removeprefix(b"data: "))
    stream.readline()
    return int(document["event_number"])


def test_a_viewer_gets_each_change_and_the_end(tmp_path: Path) -> None:
    port = port_of(journal=tmp_path / "journal.sqlite")
    said: list[str] = []
    with open_page(port, PageOptions(), said.append) as page:
        assert page.address.startswith("http://127.0.0.1:")
        viewer = request_path(page, "/api/events")
        stream = viewer.getresponse()
        assert event_number(stream) == 0
        port.snapshots(snapshot_of(port.game, 5))
        assert event_number(stream) == 5
    with closing(viewer):
        assert stream.read() == b""
    assert said == []
    assert key_path(tmp_path / "journal.sqlite").stat().st_size == 32


def test_a_port_in_use_is_named_and_without_a_chosen_port_the_next_is_used() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(PageError, match=f"port {number} .*give another --page-port"):
            listen(LOOPBACK, number)
    with listen(LOOPBACK, None) as one, listen(LOOPBACK, None) as other:
        assert FIRST_PORT <= one.getsockname()[1] < other.getsockname()[1]
    with pytest.raises(PageError, match="give another --page-address"):
        listen("192.0.2.1", None)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_all_networks_includes_those_with_the_address_that_is_shown() -> None:
    with listen("::", None) as listening:
        socket.create_connection((LOOPBACK, listening.getsockname()[1]), timeout=60).close()


def test_a_key_that_cannot_be_saved_is_reported(tmp_path: Path) -> None:
    port = port_of(journal=tmp_path / "missing" / "journal.sqlite")
    with pytest.raises(PageError, match="key can't be kept in"), open_page(port, PageOptions(), print):
        raise AssertionError


def test_on_the_local_network_codes_pair_and_the_address_is_drawn() -> None:
    with open_page(port_of(), PageOptions(address="0.0.0.0"), print) as page:
        assert "0.0.0.0" not in page.address
        assert re.search(r"to play: \d{4} \d{4}\. To own the table: \d{4} \d{4}\.", page.words)
        assert page.codes.keys() == {Role.LOOK, Role.PLAY, Role.OWN}
        assert "█" in page.qr() or "▄" in page.qr()
    assert "--page-address" in OpenPage("http://127.0.0.1:8000/", {}).words


def test_if_the_output_may_be_a_log_the_codes_are_in_a_file(tmp_path: Path) -> None:
    page = OpenPage("http://192.168.1.5:8000/", {Role.PLAY: "12345678", Role.OWN: "87654321"})
    codes = tmp_path / "codes"
    for _ in range(2):
        said = page.words_on(LOG, codes)
        assert ("1234" in said, "8765" in said, str(codes) in said) == (False, False, True)
        assert (codes.read_text().count("1234 5678"), stat.S_IMODE(codes.stat().st_mode)) == (1, 0o600)
    with pytest.raises(PageError, match="codes can't be kept"):
        page.words_on(LOG, tmp_path / "missing" / "codes")
    assert OpenPage("http://127.0.0.1:8000/", {}).words_on(LOG, codes).startswith("The page: http://127")


def test_a_hall_has_codes_to_look_and_for_arbiters() -> None:
    page = OpenPage("http://192.168.1.5:8000/", {Role.LOOK: "12345678", Role.OWN: "87654321"})
    assert page.words.endswith("Pair a device to look: 1234 5678. Pair an arbiter's device: 8765 4321.")


def test_an_error_that_comes_again_and_again_is_said_a_few_times() -> None:
    now_s, said = [0.0], list[str]()
    forwarder = _ErrorForwarder(said.append, lambda: now_s[0])
    for _ in range(1000):
        forwarder.emit(
            logging.LogRecord("", logging.ERROR, "", 0, "socket.accept() out of system resource", None, None)
        )
    assert len(said) == 3
    now_s[0] = 60.0
    forwarder.emit(logging.LogRecord("", logging.ERROR, "", 0, "again", None, None))
    assert len(said) == 4


def test_an_internal_error_is_reported_in_words_and_the_page_continues() -> None:
    port = port_of(frame=lambda: 1 // 0)
    said: list[str] = []
    with open_page(port, PageOptions(), said.append) as page, closing(request_path(page, "/api/camera.jpg")) as viewer:
        answer = viewer.getresponse()
        assert (answer.status, json.loads(answer.read())["refused"]) == (500, True)
    assert len(said) == 1
    assert said[0].startswith("The page could not answer somebody (ZeroDivisionError")
    assert "game" not in said[0], "a hall and a set-up have no game"


@pytest.mark.parametrize("address", ["house", "192.168.1", "http://0.0.0.0"])
def test_an_invalid_address_is_refused_by_the_command(address: str) -> None:
    with pytest.raises(click.BadParameter, match=r"give 0\.0\.0\.0"):
        chosen_page(None, None, address)


def test_flags_outrank_the_pages_settings() -> None:
    house = PageSection(open=True, address="::", port=8123, language="de", quiet_hours="22:00-07:00")
    plain = PageOptions(**dict(house), owner=user_name())
    assert chosen_page(None, None, None, house, opens_itself=True) == plain
    assert chosen_page(None, None, None, house) is None
    assert chosen_page(False, None, None, house, opens_itself=True) is None
    assert chosen_page(None, 9000, "0.0.0.0", house) == plain.model_copy(update={"port": 9000, "address": "0.0.0.0"})


def test_a_port_or_an_address_alone_starts_the_page() -> None:
    assert chosen_page(None, None, None) is None
    plain, at_port, in_house = (
        chosen_page(*given) for given in ((True, None, None), (None, 8123, None), (None, None, "::"))
    )
    assert plain == PageOptions(owner=user_name())
    assert (at_port, in_house) == (
        plain.model_copy(update={"port": 8123}),
        plain.model_copy(update={"address": "::"}),
    )


def test_a_malformed_form_is_refused_without_a_word_of_its_parser(caplog: pytest.LogCaptureFixture) -> None:
    with open_page(port_of(), PageOptions(), print) as page:
        viewer = http.client.HTTPConnection(page.address.removeprefix("http://").rstrip("/"), timeout=60)
        with closing(viewer):
            viewer.request("POST", "/do", b"--p\x1b]0;rts", {"Content-Type": "multipart/form-data; boundary=parts"})
            assert viewer.getresponse().status == 400
    assert caplog.records == []


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
    with ExitStack() as stack, open_page(port_of(), PageOptions(address=address), said.append, limits) as page:
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
        many = f"GET {page_files().address}/icon-512.png HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 200

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
