"""The page by HTTPS: its certificate, its cookies, and its connections, which have the same bounds."""

import http.client
import json
import socket
import ssl
import stat
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from urllib.parse import urlsplit

import pytest
from cryptography import x509

import frontends.page.server
from frontends.page.access import RateLimit, Role
from frontends.page.certificate import load_or_make_certificate
from frontends.page.connections import Connections
from frontends.page.server import OpenPage, certificate_path, key_path, open_page
from frontends.page.settings import PageOptions
from referee.errors import PageError
from tests.frontends.page.page_table import port_of
from tests.guard import GUARD_S

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAMES = ("localhost", "tablepi", "tablepi.local")
HOUSE = PageOptions(address="127.0.0.1")


def trusting(page: OpenPage, file: Path) -> ssl.SSLContext:
    """A client that trusts only this certificate, and checks that it is the address's."""
    context = ssl.create_default_context(cafile=str(file))
    assert context.check_hostname
    assert page.encrypted.startswith("https://")
    return context


def certificate_of(file: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def test_the_page_is_also_served_encrypted_beside_its_port(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    said: list[str] = []
    with open_page(port_of(journal=journal), HOUSE, said.append) as page:
        plain, safe = urlsplit(page.address), urlsplit(page.encrypted)
        assert (safe.hostname, safe.port) == ("127.0.0.1", (plain.port or 0) + 443)
        assert f"Encrypted: {page.encrypted}; the fingerprint of its certificate is {page.fingerprint}" in page.words
        file = certificate_path(key_path(journal))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        context = trusting(page, file)
        with closing(http.client.HTTPSConnection(safe.netloc, timeout=GUARD_S, context=context)) as viewer:
            body = json.dumps({"code": page.codes[Role.OWN], "name": "Ann"})
            viewer.request("POST", "/api/pair", body, {"Content-Type": "application/json"})
            paired = viewer.getresponse()
            paired.read()
            cookie = paired.headers["Set-Cookie"]
            assert "; Secure" in cookie
            held = viewer.sock
            viewer.request("GET", "/api/session", headers={"Cookie": cookie.partition(";")[0]})
            assert json.loads(viewer.getresponse().read())["role"] == "own"
            assert viewer.sock is held
        with closing(http.client.HTTPConnection(plain.netloc, timeout=GUARD_S)) as viewer:
            viewer.request("POST", "/api/pair", body, {"Content-Type": "application/json"})
            paired = viewer.getresponse()
            paired.read()
            plain_cookie = paired.headers["Set-Cookie"]
            assert "Secure" not in plain_cookie
            # a browser would refuse to replace the encrypted page's cookie by one of the same name
            assert plain_cookie.partition("=")[0] != cookie.partition("=")[0]
    assert said == []


def test_without_a_free_port_the_page_opens_unencrypted_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = PageOptions(address="127.0.0.1", https_port=taken.getsockname()[1])
        with open_page(port_of(journal=tmp_path / "j"), options, said.append) as page:
            assert (page.encrypted, page.fingerprint) == ("", "")
            assert "Encrypted" not in page.words
    assert len(said) == 1
    assert "is not served by HTTPS: the page can't be opened at 127.0.0.1, port" in said[0]
    assert said[0].endswith("https_port under [page] sets another port.")


@pytest.mark.parametrize("options", [PageOptions(), PageOptions(address="127.0.0.1", https_port=0)])
def test_a_page_of_this_machine_alone_or_without_the_port_makes_no_certificate(
    tmp_path: Path, options: PageOptions
) -> None:
    with open_page(port_of(journal=tmp_path / "j"), options, print) as page:
        assert page.encrypted == ""
    assert not certificate_path(key_path(tmp_path / "j")).exists()


def test_an_owners_certificate_is_used(tmp_path: Path) -> None:
    own = load_or_make_certificate(tmp_path / "own.pem", NAMES, "127.0.0.1", datetime.now(UTC))
    journal = tmp_path / "j"
    with open_page(port_of(journal=journal), PageOptions(address="127.0.0.1", certificate=own.file), print) as page:
        assert page.fingerprint == own.fingerprint
        with closing(
            http.client.HTTPSConnection(
                urlsplit(page.encrypted).netloc, timeout=GUARD_S, context=trusting(page, own.file)
            )
        ) as viewer:
            viewer.request("GET", "/pair")
            assert viewer.getresponse().status == 200
    assert not certificate_path(key_path(journal)).exists()


def test_a_new_certificate_is_taken_while_the_page_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontends.page.server._RENEWED_TICKS", 1)
    own = load_or_make_certificate(tmp_path / "own.pem", NAMES, "127.0.0.1", datetime.now(UTC))
    said: Queue[str] = Queue()
    with open_page(port_of(), PageOptions(address="127.0.0.1", certificate=own.file), said.put) as page:
        own.file.write_text("half a", encoding="utf-8")
        assert "certificate can't be renewed" in said.get(timeout=GUARD_S)
        new = load_or_make_certificate(tmp_path / "new.pem", NAMES, "127.0.0.1", datetime.now(UTC))
        new.file.replace(own.file)
        while "can't be renewed" in (words := said.get(timeout=GUARD_S)):
            pass
        assert words == f"The page has a new certificate; its fingerprint is {new.fingerprint}"
        with closing(
            http.client.HTTPSConnection(
                urlsplit(page.encrypted).netloc, timeout=GUARD_S, context=trusting(page, own.file)
            )
        ) as viewer:
            viewer.request("GET", "/pair")
            assert viewer.getresponse().status == 200


def test_a_certificate_is_looked_at_as_soon_as_the_clock_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = load_or_make_certificate(tmp_path / "own.pem", NAMES, "127.0.0.1", datetime.fromtimestamp(0, UTC))
    said: Queue[str] = Queue()
    with open_page(port_of(), PageOptions(address="127.0.0.1", certificate=own.file), said.put):
        new = load_or_make_certificate(tmp_path / "own.pem", NAMES, "127.0.0.1", datetime.now(UTC))
        assert new.fingerprint != own.fingerprint
        ahead_s = frontends.page.server._clock_is_ahead_s() + 56 * 365 * 86_400
        monkeypatch.setattr("frontends.page.server._clock_is_ahead_s", lambda: ahead_s)
        words = said.get(timeout=GUARD_S)
    assert words == f"The page has a new certificate; its fingerprint is {new.fingerprint}"


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_owners_certificate_that_cannot_be_used_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "own.pem"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    options = PageOptions(address="127.0.0.1", certificate=file)
    with (
        pytest.raises(PageError, match=r"certificate can't be used: .*look at certificate under \[page\]"),
        open_page(port_of(), options, print),
    ):
        raise AssertionError


def test_a_certificate_is_for_every_name_and_address_and_ends_before_browsers_refuse_it(tmp_path: Path) -> None:
    made = load_or_make_certificate(tmp_path / "c", NAMES, "192.168.1.5", NOW)
    certificate = certificate_of(made.file)
    others = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(others.get_values_for_type(x509.DNSName)) == set(NAMES)
    assert set(map(str, others.get_values_for_type(x509.IPAddress))) == {"192.168.1.5", "127.0.0.1", "::1"}
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == timedelta(days=397)
    assert made.fingerprint.count(":") == 31


def test_a_name_that_no_certificate_may_have_is_left_out(tmp_path: Path) -> None:
    made = load_or_make_certificate(tmp_path / "c", ["büro", "büro.local", "tablepi"], "192.168.1.5", NOW)
    others = certificate_of(made.file).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert others.get_values_for_type(x509.DNSName) == ["tablepi"]
    again = load_or_make_certificate(tmp_path / "c", ["büro", "büro.local", "tablepi"], "192.168.1.5", NOW)
    assert again.fingerprint == made.fingerprint


@pytest.mark.parametrize(
    ("later", "host", "is_same"),
    [
        (timedelta(days=365), "192.168.1.5", True),
        (timedelta(days=367), "192.168.1.5", False),
        (timedelta(days=-400), "192.168.1.5", True),
        (timedelta(0), "10.0.0.7", False),
        (timedelta(0), "elsewhere", False),
    ],
)
def test_a_certificate_is_renewed_with_the_same_key_when_it_has_to_be(
    tmp_path: Path, later: timedelta, host: str, is_same: bool
) -> None:
    file = tmp_path / "c"
    before = load_or_make_certificate(file, NAMES, "192.168.1.5", NOW)
    key = certificate_of(file).public_key()
    after = load_or_make_certificate(file, NAMES, host, NOW + later)
    assert (before == after) is is_same
    assert certificate_of(file).public_key() == key
    # it still is for the address that the machine had, and may get again
    assert load_or_make_certificate(file, NAMES, "192.168.1.5", NOW + later) == after


@pytest.mark.parametrize("harm", ["mode", "cut off", "empty"])
def test_a_key_that_others_could_read_or_that_is_damaged_is_replaced(tmp_path: Path, harm: str) -> None:
    file = tmp_path / "c"
    load_or_make_certificate(file, NAMES, "192.168.1.5", NOW)
    key, content = certificate_of(file).public_key(), file.read_bytes()
    if harm == "mode":
        file.chmod(0o640)
    else:
        file.write_bytes(b"" if harm == "empty" else content[:150])
    load_or_make_certificate(file, NAMES, "192.168.1.5", NOW)
    assert certificate_of(file).public_key() != key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def closed(connection: socket.socket) -> bool:
    """Whether the other side closed; waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_connections_that_never_shake_hands_take_no_places_from_others(tmp_path: Path) -> None:
    connections = Connections(of_one=2, head_s=GUARD_S)
    said: list[str] = []
    journal = tmp_path / "j"
    with open_page(port_of(journal=journal), HOUSE, said.append, connections) as page:
        safe = urlsplit(page.encrypted)
        address = (safe.hostname or "", safe.port or 0)
        silent = [socket.create_connection(address, GUARD_S) for _ in range(6)]
        # the oldest make room
        assert all(closed(each) for each in silent[:4])
        silent[4].sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert closed(silent[4])
        context = trusting(page, certificate_path(key_path(journal)))
        with closing(http.client.HTTPSConnection(safe.netloc, timeout=GUARD_S, context=context)) as viewer:
            viewer.request("GET", "/pair")
            assert viewer.getresponse().status == 200
        for each in silent:
            each.close()
    assert said == []


def test_an_address_shakes_hands_only_so_often(tmp_path: Path) -> None:
    connections, journal = Connections(head_s=GUARD_S, handshakes=RateLimit(2, 0)), tmp_path / "j"
    with open_page(port_of(journal=journal), HOUSE, print, connections) as page, ExitStack() as stack:
        safe = urlsplit(page.encrypted)
        trusted = trusting(page, certificate_path(key_path(journal)))

        def shaken() -> ssl.SSLSocket:
            opened = stack.enter_context(socket.create_connection((safe.hostname or "", safe.port or 0), GUARD_S))
            return stack.enter_context(trusted.wrap_socket(opened, server_hostname=safe.hostname))

        assert [shaken().version() for _ in range(2)] == ["TLSv1.3"] * 2
        with pytest.raises(OSError, match=r"EOF|reset"):
            shaken()


def test_a_handshake_that_never_ends_is_given_up(tmp_path: Path) -> None:
    said: list[str] = []
    with open_page(port_of(journal=tmp_path / "j"), HOUSE, said.append, Connections(head_s=0.2)) as page:
        safe = urlsplit(page.encrypted)
        with socket.create_connection((safe.hostname or "", safe.port or 0), GUARD_S) as silent:
            assert closed(silent)
    assert said == []
