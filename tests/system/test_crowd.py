"""A crowd without a code holds connections to a referee's page; the referee and its owner go on."""

from __future__ import annotations

import http.client
import json
import re
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from referee.commands.command_socket import ask
from referee.commands.values import TakeBack
from tests.guard import GUARD_S
from tests.system.test_security import Running, free_port

HERE = "127.0.0.1"
FILES, CONNECTIONS = 256, 400
SENT = (b"", b"GET / HTTP/1.1\r\nHos", b"GET /pair HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


class Beset(Running):
    """A referee with few files and a page that is open to the network, here to this machine's addresses."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        super().__init__(folder, "--page-address", HERE, "--page-port", str(self.port))
        # The page looks at the limit when it opens, long after Python has started.
        resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))

    def post(self, path: str, fields: dict[str, str]) -> dict[str, str]:
        with closing(http.client.HTTPConnection(HERE, self.port, timeout=GUARD_S)) as page:
            page.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
            answer = page.getresponse()
            read: dict[str, str] = json.loads(answer.read())
            assert answer.status == 200, read
            return read

    def status(self, path: str, token: str) -> int:
        """Ask on a new connection."""
        with closing(http.client.HTTPConnection(HERE, self.port, timeout=GUARD_S)) as page:
            page.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            return page.getresponse().status

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@pytest.fixture
def beset(tmp_path: Path) -> Iterator[Beset]:
    made = Beset(tmp_path)
    yield made
    if made.process.poll() is None:
        made.close()


def test_a_crowd_takes_neither_files_nor_page_nor_commands(beset: Beset) -> None:
    beset.wait_until_it_says("Waiting for the set-up")
    codes = Path(f"{beset.journal}.page-codes").read_text(encoding="utf-8")
    token = beset.post("/api/pair", {"code": re.findall(r"\d{4} \d{4}", codes)[-1]})["token"]
    with ExitStack() as stack:
        for number in range(CONNECTIONS):
            from_there = (f"127.0.1.{1 + number % 50}", 0)
            connection = stack.enter_context(socket.create_connection((HERE, beset.port), GUARD_S, from_there))
            with suppress(ConnectionError):
                connection.sendall(SENT[number % len(SENT)])
        assert beset.open_files() < FILES - 64
        assert [beset.status("/api/table", token) for _ in range(20)] == [200] * 20
        reply = ask(beset.journal, TakeBack("Ann"), GUARD_S)
        assert reply.refused, "nothing has been played, but it was heard"
    beset.process.terminate()
    said, _ = beset.process.communicate()
    assert "Traceback" not in said
    assert "cannot" not in said
    assert len(said) < 10_000
