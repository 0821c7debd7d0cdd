"""Send hostile text through every way in, and read what reaches a terminal, a log and a page.

Run: python benchmarks/attacks/hostile_text.py --strings 100000 [--seed 1]

Each text has control characters, a terminal's commands, changes of direction, links and tags. It comes as a command
(page, MQTT, socket), from a journal, a board, a file, a folder's name, a record, a hall's table, an error or inside a
picture, and is shown as the referee shows it: on a pseudo-terminal as lines and as the live screen, in a pipe, and in
pages. Beside rich's own commands, which are listed here, nothing but printable characters and newlines may arrive. Exit
code 1 if anything else did.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import ROOT, enter_environment

enter_environment(__name__)

import json
import logging
import os
import pty
import re
import struct
import subprocess
import tempfile
import threading
import tty
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from random import Random
from typing import Any

import click
import cv2
import numpy as np
from pydantic import ValidationError
from rich.table import Table
from rich.text import Text
from starlette.testclient import TestClient

from app.cli.context import output, print_table, progress_output, say
from app.runtime.command_socket import parse_command, read_message
from app.settings.configuration import load as load_settings
from benchmarks.hall.feeds import Feed
from benchmarks.parts.command_line import PROGRESS, console_for, figures
from common.shown_text import guard_output, is_one_line
from common.toml_text import as_toml
from engine.errors import EngineError
from engine.records import read, write
from engine.registry import load
from firmware_bridge.protocol.messages import Welcome, decode_packet, encode_packet
from frontends.mqtt.client import parse_fields
from frontends.mqtt.topics import ONLINE, TableState, Topics
from frontends.page.access import Access, AccessPolicy
from frontends.page.documents import PairingRequest
from frontends.page.server import create_app
from frontends.table_port import SnapshotHub, TablePort
from frontends.terminal.live_screen import LiveScreen
from frontends.terminal.report import PrintedLines
from hall.database import Database
from hall.hall import Hall, Incoming
from hall.rulings import Rulings
from hall.web.app import create_hall
from hall.web.support import HallServices
from hardware.lights.signals import Mood, Signal
from referee.commands.values import COMMANDS, CommandQueue, describe_errors
from referee.errors import ConfigError, CorrectionError
from referee.record.events import Event, EventKind
from referee.record.fold import FoldedStep
from referee.record.results import event_lines, make_record
from referee.session.feed import TableSnapshot
from vision.cameras.files import image_paths
from vision.errors import VisionError
from vision.images import decode_image
from vision.layout.table import load_layout

MODES = ("terminal", "screen", "log")
OWN = re.compile(r"\x1b\[(?:[0-9;]*m|H|2J|\?25[lh]|\?1049[hl])")
"""What rich writes itself: colours, the cursor's home, clearing, showing the cursor, the alternate screen."""
NEVER_OURS = re.compile(r"\x1b\[5;8m")
"""Blinking and hidden text, which only the hostile texts ask for."""
COMMAND = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\udca0-\udcff\ue000-\U0010ffff]")
"""What a terminal may take for a command, or for a change of direction. An undecodable byte is such a surrogate."""
_PIECES = (
    "Ann", "a1", " ", "\n", "\r", "\t", "\0", "\a", "\b", "\x1b[2J", "\x1b[5;8m", "\x1b]0;t\x07",
    "\x1b]52;c;Y3VybA==\x1b\\",
    "\x1b]8;;http://x/\x1b\\x\x1b]8;;\x1b\\", "\x1b[c", "\x1b[6n", "\x1bP+q544e\x1b\\", "\x1b[?1049l",
    "\x9b31m", "\x9d0;t\x9c", "\x90", "\x85", "\u2028", "\u202e", "\u2066", "\u2069", "\x7f", "\udc9b", "\ud800",
    "javascript:alert(1)",
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "[bold]x[/bold]",
    "[link=http://x]y[/link]",
    "data:text/html,x", "%s", "é", "王", '"', "\\", "'", "{", "}", ";",
)  # fmt: skip
_START_S, _TEXT_S = 120.0, 0.1
"""The time for a process to start, and for each text: twenty times what a busy machine takes."""
_PAGE_EVERY, _SCREEN_EVERY = 40, 5
"""How many texts share one look at a page, and one drawing of the live screen."""
_PNG_HEAD_BYTES = 33
"""A PNG's signature and its first chunk."""
_PROFILE = bytes(4) + Random(1).randbytes(196)
"""A colour profile that says it has no bytes; its name is read only if it is long enough."""
_NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)


def hostile(rng: Random) -> str:
    """Draw a text."""
    drawn = [rng.choice(_PIECES) if rng.random() < 0.7 else chr(rng.randrange(0x100)) for _ in range(rng.randint(1, 6))]
    return "".join(drawn)


def hostile_png(text: str) -> bytes:
    """Make a PNG in which a colour profile, a text and a compressed text are named by a text, each of them damaged."""
    name = text.encode("latin-1", errors="replace").replace(b"\0", b"")[:79] or b"x"
    parts = ((b"iCCP", name + b"\0\0" + zlib.compress(_PROFILE)), (b"tEXt", name), (b"zTXt", name + b"\0\1" + name))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    whole = cv2.imencode(".png", np.full((8, 8, 3), 200, dtype=np.uint8))[1].tobytes()
    return whole[:_PNG_HEAD_BYTES] + b"".join(chunks) + whole[_PNG_HEAD_BYTES:]


def damaged_jpeg(text: str) -> bytes:
    """Make a JPEG with a text in a comment and in the middle of its pixels."""
    pixels = np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)
    whole = cv2.imencode(".jpg", pixels)[1].tobytes()
    inside = text.encode("latin-1", errors="replace")
    comment = b"\xff\xfe" + struct.pack(">H", len(inside) + 2) + inside
    half = len(whole) - len(whole) // 4
    return whole[:2] + comment + whole[2:half] + inside + whole[half + len(inside) + 1 : -2] + b"\xff\xd9"


class _Links(HTMLParser):
    """Collects what a browser would run or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.found += [name for name in given if name.startswith("on")]
        self.found += [
            f"{tag} {value}"
            for name in ("href", "src", "action", "formaction")
            if (value := given.get(name)) is not None and not re.match(r"https?://|[/?#]|[\w.-]*$", value)
        ]
        if tag == "script" and not str(given.get("src", "")).startswith("/"):
            self.found.append("inline script")


def commands_in_page(page: str) -> list[str]:
    """Return what in a page a browser would take for a command, or show in a changed direction."""
    links = _Links()
    links.feed(page)
    return links.found + [ascii(found) for found in COMMAND.findall(page.replace("\r", ""))]


class WaysIn:
    """Every way in by which others' text comes: each returns what the referee says of a text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._game: Any = load("diaballik")
        self._start = self._game.notation.format_state(self._game.rules.new())
        self._feed = Feed("t1", "referee", Random(1))
        self._said: list[str] = []
        database = Database(":memory:")
        rulings = Rulings(database, lambda: "one", lambda: _NOW)
        self._hall = Hall(database, rulings, "referee", "hall", lambda: 0.0, self._said.append)
        services = HallServices(self._hall, _access(), dict, lambda: True, lambda: _NOW)
        self._hall_page = TestClient(create_hall(services), base_url="http://127.0.0.1:8000")
        self._hub = SnapshotHub()
        port = TablePort(self._game, commands=CommandQueue(lambda: 0.0), snapshots=self._hub)
        self._page = TestClient(create_app(port, _access()), base_url="http://127.0.0.1:8000")
        self._feed.advance()
        self.all: Sequence[Callable[[str], Iterator[str]]] = (
            self.page, self.broker, self.socket, self.journal, self.board, self.settings, self.layout, self.folder,
            self.record, self.hall, self.device, self.error, self.picture,
        )  # fmt: skip

    def page(self, text: str) -> Iterator[str]:
        """A command and a device's name, sent to the page."""
        yield from _command({"command": "correct", "looks": {"a1": text}, "why": text, "by": text})
        yield from _command({"command": "new game", "game": text, "players": {"white": text, text: "x"}})
        try:
            yield _accepted(PairingRequest(code="1", name=text).name)
        except ValidationError as error:
            yield str(error)

    def broker(self, text: str) -> Iterator[str]:
        """A command by MQTT, as it is and as JSON."""
        fields = {"command": "correct", "looks": {text: "empty"}, "request_id": text, text: 1}
        for payload in (text.encode(errors="surrogatepass"), json.dumps(fields).encode()):
            try:
                yield from _command(parse_fields(payload))
            except ValueError as error:
                yield str(error)

    def socket(self, text: str) -> Iterator[str]:
        """A command through the command socket."""
        try:
            sent = read_message(json.dumps({"command": "turn", "text": text, "player": text, "by": text}).encode())
            yield _accepted(getattr(parse_command(sent), "by", ""))
        except (CorrectionError, ValueError) as error:
            yield str(error)

    def journal(self, text: str) -> Iterator[str]:
        """A journal that an earlier version or another program wrote: its events, and its game as a record."""
        played = {"state": self._start}
        events = [
            Event(EventKind.NEW_GAME, {"game": "diaballik", "options": {}, "players": {"white": text, "black": text}}),
            Event(EventKind.SET_UP, played),
            Event(EventKind.CORRECTION, {**played, "why": text, "by": text}),
            Event(EventKind.NOTE, {"sentence": text}, wall_time=text),
        ]
        numbered = [(number, event) for number, event in enumerate(events, 1)]
        yield from (f"{line.wall_time} {line.sentence}" for line in event_lines(self._game, numbered))
        record = write(make_record(self._game, numbered))
        read(record)
        yield record

    def board(self, text: str) -> Iterator[str]:
        """A microcontroller's name, and what is wrong with it."""
        short = text.encode(errors="replace").decode()[:20]
        welcome = decode_packet(encode_packet(Welcome((1, 2, 3), 1, 0, 0, 0, 0, 0, 0, short, short)))
        assert isinstance(welcome, Welcome)
        yield f"The board says: {welcome.trouble}"
        yield welcome.board

    def settings(self, text: str) -> Iterator[str]:
        """A file of settings, and a variable."""
        path = self._folder / "referee.toml"
        value = as_toml(text.encode(errors="replace").decode())
        for content in (text, f"[camera]\nsource = {value}\n{value} = 1\n", f"[mqtt]\ntable_name = {value}\n"):
            path.write_text(content, encoding="utf-8", errors="surrogatepass")
            try:
                loaded = load_settings(path, environment={"REFEREE_GAME_NAME": text}, folder=self._folder)
                yield str(loaded.settings.mqtt.table_name)
            except ConfigError as error:
                yield str(error)

    def layout(self, text: str) -> Iterator[str]:
        """A layout."""
        path = self._folder / "layout.json"
        markers = {"dictionary": text, "side": text, "centres": {"0": [0, 0]}}
        path.write_text(json.dumps({"game": text, "board": {"cols": text}, "markers": markers}))
        try:
            yield load_layout(path).game
        except VisionError as error:
            yield str(error)

    def folder(self, text: str) -> Iterator[str]:
        """The name of a camera's folder."""
        try:
            yield str(image_paths(self._folder / text.replace("\0", "")))
        except (VisionError, UnicodeError) as error:
            yield str(error)

    def record(self, text: str) -> Iterator[str]:
        """A game's record that somebody sent."""
        try:
            record = read(f'[Game "diaballik"]\n[White "{text}"]\n1. {text} {{{text}}}\n')
            yield f"{record.tags} {record.entries}"
        except EngineError as error:
            yield str(error)

    def hall(self, text: str) -> Iterator[str]:
        """A table's state and its events, sent to a hall."""
        topics = Topics("referee", "t1")
        plain = text.encode(errors="replace").decode()
        state = self._feed.state()
        players = tuple(replace_model(player, name=plain) for player in state.players)
        hostile_state = replace_model(state, table_name=plain, page=plain, words=plain, next=plain, players=players)
        event = replace_model(self._feed.events[0], sentence=plain, by=plain)
        parts = [(topics.availability, ONLINE), (topics.state, hostile_state.model_dump_json())]
        parts += [(topics.events, event.model_dump_json()), (f"referee/{plain}/state", plain)]
        self._hall.take([Incoming(topic, payload.encode()) for topic, payload in parts])
        seat = self._hall.floor.seat("t1")
        assert seat is not None
        assert isinstance(seat.state, TableState)
        yield f"{seat.name}: {seat.state.words} {seat.state.page} {self._said}"
        self._said.clear()

    def device(self, text: str) -> Iterator[str]:
        """The name of a device that an earlier version paired."""
        table = Table("number", "name")
        table.add_row("1", Text(text))
        print_table(output(), table)
        yield text

    def error(self, text: str) -> Iterator[str]:
        """An error of a library, which quotes what it got: reported, logged or warned of."""
        logging.getLogger("library").warning(text)
        warnings.warn(text, stacklevel=1)
        try:
            raise ValueError(text)
        except ValueError as error:
            if text.isascii():
                sys.__excepthook__(type(error), error, error.__traceback__)
            yield f"this is a bug in the referee ({error})"

    def picture(self, text: str) -> Iterator[str]:
        """A picture: its decoder quotes it on descriptor 2, past Python."""
        for data in (hostile_png(text), damaged_jpeg(text)):
            try:
                decode_image(data, text)
            except VisionError as error:
                yield str(error)

    def look_at_pages(self, text: str) -> list[str]:
        """Return the commands in the pages of a table and of a hall that have a text in every place."""
        shown = text.encode(errors="replace").decode()
        list(self.hall(shown))
        self._hub(snapshot_of(self._game, shown))
        pages = [self._hall_page.get(path, headers={"accept": "text/html"}) for path in ("/", "/tables/t1")]
        pages += [self._page.get(path, headers={"accept": "text/html"}) for path in ("/", "/correct")]
        assert all(page.status_code == 200 for page in pages), [page.text for page in pages if page.status_code != 200]
        return [found for page in pages for found in commands_in_page(page.text)]


def replace_model(model: Any, **fields: object) -> Any:
    """Return a message with other fields, unchecked."""
    return model.model_copy(update=fields)


def snapshot_of(game: Any, text: str) -> TableSnapshot:
    """A game at its start, with a text wherever there is one."""
    state = game.rules.new()
    names = dict.fromkeys(game.players, text)
    signal = Signal(Mood.FAULT, words=text)
    looks = game.table.appearance(state)
    last_turn: FoldedStep[Any] = FoldedStep(EventKind.TURN, text, ())
    return TableSnapshot(
        1, 1, signal, 0.0, (state,), looks, state.to_move, names=names, words=text, last_turn=last_turn
    )


def _access() -> Access:
    return Access(AccessPolicy(owner="Ann"), b"k" * 32, lambda: 1.7e9, lambda: 0.0)


def _command(fields: dict[str, object]) -> Iterator[str]:
    try:
        message = COMMANDS.validate_python(fields)
        yield _accepted(f"{message.by} {getattr(message, 'why', '')} {getattr(message, 'players', '')}")
    except ValidationError as error:
        yield describe_errors(error)


def _accepted(line: str) -> str:
    """Return a name or remark that was accepted; it must be one line without commands."""
    if not is_one_line(line):
        raise AssertionError(f"accepted: {line!r}")
    return line


def show_all(mode: str, strings: int, seed: int, folder: Path) -> None:
    """Send the texts through the ways in, in turn, and show what is said of them, as the referee does."""
    guard_output()
    ways, rng = WaysIn(folder), Random(seed)
    console = output()
    lines = PrintedLines(console)
    screen = LiveScreen(ways._game, console, keys="h gives a hint") if mode == "screen" else None
    plainly: Sequence[Callable[[str], object]] = (
        say, lambda text: say(text, as_error=True), click.echo, lambda text: click.echo(text, err=True), print,
        lambda text: lines.write(Text("  0:01  "), Text(text)), lambda text: console.print(text, markup=False),
        lambda text: progress_output().print(Text(text), soft_wrap=True),
    )  # fmt: skip
    found: list[str] = []
    with screen or nullcontext():
        for number in range(strings):
            text = hostile(rng)
            for said in ways.all[number % len(ways.all)](text):
                if screen is None:
                    plainly[rng.randrange(len(plainly))](said)
                elif number % _SCREEN_EVERY == 0:
                    screen.write(Text("  0:01  "), Text(said))
            if screen is not None and number % _SCREEN_EVERY == 0:
                screen.receive(snapshot_of(ways._game, text))
                screen.show_typed(text)
                screen.show_page(text, "")
            if number % _PAGE_EVERY == 0:
                found += ways.look_at_pages(text)
    if found:
        raise AssertionError(f"in a page: {found[:5]}")


@dataclass
class Read:
    """What was read from a terminal or log: its bytes, the commands among them, and the child's exit code."""

    read_bytes: int
    commands: list[str]
    code: int


def run_mode(mode: str, strings: int, seed: int) -> Read:
    """Show the texts in another process, and look at each character that arrives from it."""
    ours, theirs = os.pipe() if mode == "log" else pty.openpty()
    if mode != "log":
        # Otherwise the terminal would add carriage returns to the newlines.
        tty.setraw(theirs)
    command = [sys.executable, str(Path(__file__)), "--show", mode, "--strings", str(strings), "--seed", str(seed)]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    received = bytearray()
    reader = threading.Thread(target=_read_all, args=(ours, received))
    reader.start()
    try:
        code = process.wait(_START_S + strings * _TEXT_S)
    except subprocess.TimeoutExpired:
        # A text on which drawing never ends is a fault, too.
        process.kill()
        code = process.wait()
    reader.join()
    os.close(ours)
    text = received.decode(errors="surrogateescape")
    commands = NEVER_OURS.findall(text) + COMMAND.findall(text if mode == "log" else OWN.sub("", text))
    if code != 0:
        PROGRESS.print(Text(OWN.sub("", text)[-2000:]))
    return Read(len(received), [ascii(one) for one in commands], code)


def _read_all(descriptor: int, received: bytearray) -> None:
    """Read until the other end is closed, which a pseudo-terminal reports as an error."""
    try:
        while part := os.read(descriptor, 1 << 16):
            received += part
    except OSError:
        return


@click.command()
@click.option("--strings", default=3000, show_default=True, type=click.IntRange(min=1), help="How many texts, in all.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same texts.")
@click.option("--show", "mode", type=click.Choice(MODES), hidden=True)
def main(strings: int, seed: int, mode: str | None) -> None:
    """Show hostile texts; exit code 1 if one of them arrives as a command."""
    if mode is not None:
        with tempfile.TemporaryDirectory() as folder:
            show_all(mode, strings, seed, Path(folder))
        return
    table = figures("Hostile texts", "shown on", "texts", "bytes read", "commands")
    met = True
    for number, kind in enumerate(MODES):
        share = (strings + number) // len(MODES)
        done = run_mode(kind, share, seed + number)
        met = met and done.code == 0 and not done.commands
        table.add_row(kind, f"{share:,}", f"{done.read_bytes:,}", f"{len(done.commands):,}")
        if done.commands:
            PROGRESS.print(Text(f"{kind}: {', '.join(done.commands[:20])}"))
    console_for(100).print(table)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
