"""The security page lists exactly the sockets, files and rights of a running referee; a crowd without a code."""

import http.client
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from app.runtime.command_socket import ask
from app.systemd import DEVICE_GROUPS, Installation
from frontends.page.server import HTTPS_ABOVE
from referee.commands.values import TakeBack
from simulator.play.game import GameOptions
from simulator.table import VirtualTable
from tests.guard import GUARD_S
from vision.calibration import save_calibration

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/internals/security.md"
USUAL_MASK, NO_MASK, SERVICE_MASK = 0o022, 0, 0o077
LISTENING, LISTENING_UNIX = "0A", 0x10000

Row = tuple[str, ...]


def table_below(heading: str) -> list[Row]:
    """The rows of the first table below a heading, without the marks of code."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]


def listed(heading: str, *present: str) -> set[Row]:
    """The page's entries for these times: name, kind and mode."""
    return {(row[0].strip("`"), row[1], row[2]) for row in table_below(heading) if row[3] in present}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running:
    """A referee at work in a folder of its own, as its owner starts it."""

    def __init__(self, folder: Path, *page: str, mask: int = USUAL_MASK) -> None:
        (folder / "frames").mkdir()
        (folder / "games").mkdir()
        self.journal = folder / "games" / "evening.sqlite"
        camera = VirtualTable(1, GameOptions(turns=1)).calibration()
        save_calibration(folder / "camera.json", camera)
        told = ["--camera", f"folder:{folder / 'frames'}", "--calibration", str(folder / "camera.json")]
        own = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "watch", *told, "--journal", str(self.journal), *page],
            cwd=folder,
            env={**own, "HOME": str(folder), "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            umask=mask,
        )

    def wait_until_it_says(self, words: str) -> None:
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if words in line:
                return
        pytest.fail("".join(said))

    def settled_files(self, expected: set[Row]) -> set[Row]:
        """The files as soon as they match the expected ones, or after a timeout."""
        deadline_s = time.monotonic() + GUARD_S
        while (found := self.files()) != expected and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return found

    def files(self) -> set[Row]:
        """The files beside the journal, with their modes."""
        kinds = {stat.S_IFREG: "file", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
        found: set[Row] = set()
        for path in self.journal.parent.iterdir():
            mode = path.lstat().st_mode
            name = path.name.replace(self.journal.name, "JOURNAL")
            found.add((name, kinds[stat.S_IFMT(mode)], f"{stat.S_IMODE(mode):04o}"))
        return found

    def sockets(self) -> Iterator[tuple[str, str]]:
        """The listening sockets: kind and address."""
        tables = Path(f"/proc/{self.process.pid}/net")
        own = set()
        for descriptor in Path(f"/proc/{self.process.pid}/fd").iterdir():
            # It may have been closed just now.
            with suppress(FileNotFoundError):
                own |= set(re.findall(r"^socket:\[(\d+)\]$", str(descriptor.readlink())))
        for kind in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
            for row in map(str.split, (tables / kind).read_text().splitlines()[1:]):
                # What isn't connected takes from everybody.
                if row[9] in own and (row[3] == LISTENING or not kind.startswith("tcp")):
                    address, _, port = row[1].rpartition(":")
                    yield kind.removesuffix("6"), f"{address}:{int(port, 16)}"
        for row in map(str.split, (tables / "unix").read_text().splitlines()[1:]):
            if row[6] in own and int(row[3], 16) & LISTENING_UNIX:
                yield "unix", row[7]

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.close()


def test_a_referee_without_a_web_page_matches_the_security_page(running: Running) -> None:
    running.wait_until_it_says("Waiting for the set-up")
    expected = listed("Files", "always")
    assert running.settled_files(expected) == expected
    assert listed("Listening sockets", "always") == {("JOURNAL.ask", "unix", "0600")}
    assert list(running.sockets()) == [("unix", f"{running.journal}.ask")]


@pytest.mark.parametrize("mask", [NO_MASK, SERVICE_MASK])
def test_a_referee_with_a_web_page_matches_the_security_page(tmp_path: Path, mask: int) -> None:
    port = free_port()
    running = Running(tmp_path, "--page-address", "127.0.0.1", "--page-port", str(port), mask=mask)
    try:
        running.wait_until_it_says("Waiting for the set-up")
        codes = Path(f"{running.journal}.page-codes").read_text()
        code = "".join(re.findall(r"\d", codes.partition(".")[0]))
        order = json.dumps({"code": code, "name": "Ann's phone"}).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/api/pair", order, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked) as answer:
            assert json.load(answer)["role"] == "play"
        expected = listed("Files", "always", "page", "page in the network", "paired")
        assert running.settled_files(expected) == expected
        pages = {("tcp", f"0100007F:{number}") for number in (port, port + HTTPS_ABOVE)}
        assert set(running.sockets()) == {*pages, ("unix", f"{running.journal}.ask")}
        assert listed("Listening sockets", "page", "page in the network") == {
            ("--page-port", "tcp", ""),
            ("https_port", "tcp", ""),
        }
    finally:
        running.close()


def test_a_referee_that_searches_for_a_hall_matches_the_security_page(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[mqtt]\nhall = "auto"\nown_address = "127.0.0.1"\n', encoding="utf-8")
    running = Running(tmp_path)
    try:
        running.wait_until_it_says("Waiting for the set-up")
        expected = {("unix", f"{running.journal}.ask"), ("udp", "00000000:5353"), ("udp", "0100007F:5353")}
        deadline_s = time.monotonic() + GUARD_S
        # It looks again and again, and between two looks nothing is open.
        while (found := set(running.sockets())) != expected and time.monotonic() < deadline_s:
            time.sleep(0.05)
        assert found == expected
        assert listed("Listening sockets", "looking for a `hall`") == {("5353", "udp", "")}
    finally:
        running.close()


def test_the_rights_of_the_unit_match_the_security_page() -> None:
    told = {row[0]: re.findall(r"`([^`]+)`", row[1]) for row in table_below("Privileges")}
    folder = Path("/srv/referee")
    unit = Installation(folder / "run", folder, None, (), (folder,), (folder / "games",), "ann", DEVICE_GROUPS).unit()
    settings = [line.partition("=")[::2] for line in unit.splitlines() if "=" in line and line[0] != "#"]

    def given(name: str) -> list[str]:
        return [word for key, value in settings if key == name for word in value.split()]

    assert given("SupplementaryGroups") == told["groups"]
    assert given("DeviceAllow") == [word for device in told["devices"] for word in (device, "rw")]
    assert given("RestrictAddressFamilies") == told["addresses"]
    assert given("CapabilityBoundingSet") == given("AmbientCapabilities") == []
    assert given("NoNewPrivileges") == ["yes"]
    assert given("UMask") == [f"{SERVICE_MASK:04o}"]
    assert given("BindPaths") == ['"/srv/referee/games"']


HERE = "127.0.0.1"
FILES, CONNECTIONS = 1024, 700
SENT = (b"", b"GET / HTTP/1.1\r\nHos", b"GET /pair HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


class Beset(Running):
    """A referee that may open no more files, with a page for the network: here, for this machine's addresses."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        super().__init__(folder, "--page-address", HERE, "--page-port", str(self.port))
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
        assert beset.open_files() < FILES - 256
        assert [beset.status("/api/table", token) for _ in range(20)] == [200] * 20
        reply = ask(beset.journal, TakeBack("Ann"), GUARD_S)
        assert reply.refused, "nothing has been played, but it was heard"
    beset.process.terminate()
    said, _ = beset.process.communicate()
    assert "Traceback" not in said
    assert "cannot" not in said
    assert len(said) < 10_000
