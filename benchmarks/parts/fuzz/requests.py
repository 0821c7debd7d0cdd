"""Parsers of requests over the command socket, the page and MQTT, and of the list of paired devices."""

import json
import logging
import tempfile
import warnings
from collections.abc import Coroutine, Sequence
from functools import cache
from pathlib import Path

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from app.runtime.command_socket import command_message, parse_command, read_message
from benchmarks.parts.fuzz.files import read_as_file
from benchmarks.parts.fuzz.run import Parser
from common.json_files import parse_json
from frontends.mqtt.client import parse_fields, parse_picture_request, request_id_of
from frontends.mqtt.topics import ReplayRequest
from frontends.page.access import Access, AccessPolicy
from frontends.page.devices import PairedDevices
from frontends.page.guard import form_fields, form_with_files, refuse_strangers
from referee.commands.values import COMMANDS, AskHint, Correct, EnterTurn, PauseClock, RestoreSensor, Role, TakeBack
from referee.errors import CorrectionError, PageError

_SENT = (
    TakeBack("Ann"),
    EnterTurn("c1-c2=hoops-a1", "Ann", "gold"),
    AskHint("Bob"),
    PauseClock("Ann", resume=True),
    RestoreSensor("a1", "Ann"),
    Correct("Ann", {"a1": "empty", "c3": "teal block, x up"}, why="it fell"),
)
_COMMANDS = (
    {"command": "turn", "text": "c1-c2", "player": "gold", "by": "Ann", "request_id": "7", "seen": 3},
    {"command": "roll", "text": "4,1"},
    {"command": "announce", "text": "resign"},
    {"command": "offer draw"},
    {"command": "correct", "looks": {"a1": "empty"}, "why": "it fell"},
    {"command": "take back"},
    {"command": "hint"},
    {"command": "new game", "game": "blockade", "options": {"starts": "warm"}},
)
_LOOKS = ({"command": "picture", "request_id": "8"}, {"command": "evidence", "event": 12, "by": "hall"})


def _command(data: bytes) -> None:
    parse_command(read_message(data))


def _page_command(data: bytes) -> None:
    # An accepted command is written to the journal.
    COMMANDS.dump_json(COMMANDS.validate_python(parse_json(data)))


def _broker_command(data: bytes) -> None:
    fields = parse_fields(data)
    request_id_of(fields)
    if parse_picture_request(fields) is None:
        COMMANDS.validate_python(fields)


def _replay_request(data: bytes) -> None:
    ReplayRequest.model_validate(parse_fields(data))


_FORM = (
    b'--parts\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nabc\r\n--parts\r\n'
    b'Content-Disposition: form-data; name="photo"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
    b"\xff\xd8\xff\r\n--parts--\r\n"
)


def _form(data: bytes) -> None:
    """Parse a form: its content type, a newline and the body."""
    kind, _, body = data.partition(b"\n")
    left: list[Message] = [{"type": "http.request", "body": body}]

    async def receive() -> Message:
        return left.pop()

    # With an application in the scope, Starlette raises HTTPException for a malformed form.
    request = Request({"type": "http", "headers": [(b"content-type", kind)], "app": None}, receive)
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        # Starlette leaves the file of a truncated form to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        _finish(form_with_files(request) if kind.startswith(b"multipart") else form_fields(request))


def _finish(reading: Coroutine[object, object, object]) -> None:
    """Run a coroutine that never suspends."""
    try:
        reading.send(None)
    except StopIteration:
        return
    raise AssertionError("the coroutine suspended")


@cache
def _access() -> tuple[Access, str]:
    """The page's access control, and the token of a paired device."""
    access = Access(AccessPolicy(codes={Role.PLAY: "12345678"}), b"k" * 32, lambda: 1.7e9, lambda: 0.0)
    return access, access.pair("12345678", "Ann's phone", Role.PLAY, "10.0.0.2")[1]


def _sessions() -> Sequence[bytes]:
    access, token = _access()
    cookie = f"cookie: {access.cookie}={token}; language=de"
    heads = (cookie, f"authorization: Bearer {token}", f"{cookie}\r\norigin: http://localhost:8000")
    return [f"host: localhost:8000\r\n{head}".encode() for head in heads]


def _session(data: bytes) -> None:
    """Parse a request's headers, a name and a value on each line."""
    lines = (line.partition(b": ") for line in data.split(b"\r\n"))
    headers = Headers(raw=[(name.lower(), value) for name, _, value in lines])
    access, _ = _access()
    session = access.session_of(headers)
    access.check_csrf(session, headers.get("x-csrf-token", session.csrf))
    refuse_strangers(access.policy, headers)


def _devices(data: bytes) -> None:
    read_as_file(lambda path: PairedDevices(path, lambda: 0.0).all(), data)


def _kept_devices() -> Sequence[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "devices"
        devices = PairedDevices(path, lambda: 1.7e9)
        devices.add("Ann's phone", Role.PLAY)
        devices.add("tablet", Role.OWN)
        return [path.read_bytes()]


PARSERS = (
    Parser(
        "command socket",
        lambda: [json.dumps(command_message(each)).encode() + b"\n" for each in _SENT],
        _command,
        (CorrectionError, ValueError),
    ),
    Parser(
        "page's command",
        lambda: [json.dumps(each).encode() for each in _COMMANDS],
        _page_command,
        (ValueError, ValidationError),
    ),
    Parser(
        "MQTT command",
        lambda: [json.dumps(each).encode() for each in _COMMANDS + _LOOKS],
        _broker_command,
        (ValueError,),
    ),
    Parser("MQTT replay", lambda: [b'{"after": 3, "most": 10, "request_id": "7"}'], _replay_request, (ValueError,)),
    Parser(
        "page's form",
        lambda: [b"multipart/form-data; boundary=parts\n" + _FORM, b"application/x-www-form-urlencoded\na=1&b=%C3%A4"],
        _form,
        (HTTPException,),
    ),
    Parser("request's head", _sessions, _session, (HTTPException,)),
    Parser("paired devices", _kept_devices, _devices, (PageError,)),
)
