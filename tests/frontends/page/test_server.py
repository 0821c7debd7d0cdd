"""The page's server on a real socket: its address, its prompt end, and its words."""

import http.client
import io
import json
import logging
import re
import socket
import stat
from contextlib import closing
from pathlib import Path

import click
import pytest
from rich.console import Console

from app.cli.context import chosen_page
from common.user import user_name
from frontends.page.access import Role
from frontends.page.server import FIRST_PORT, LOOPBACK, OpenPage, _ErrorForwarder, key_path, listen, open_page
from frontends.page.settings import PageOptions, PageSection
from referee.errors import PageError
from tests.frontends.page.page_table import port_of, snapshot_of

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
