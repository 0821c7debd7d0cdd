"""The parsers of what other programs ask: over the command socket and over the page, and the devices it is kept for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from benchmarks.parts.fuzz.run import Parser
from common.json_files import parse_json
from referee.commands.command_socket import command_message, command_of, read_message
from referee.commands.orders import ORDERS, Role
from referee.commands.values import AskHint, Correct, EnterTurn, PauseClock, RestoreSensor, TakeBack
from referee.errors import CorrectionError, PageError
from referee.mqtt.inbox import look_order, parsed, request_id_of
from referee.web.devices import PairedDevices

_SENT = (
    TakeBack("Ann"),
    EnterTurn("c1-c2=hoops-a1", "Ann", "gold"),
    AskHint("Bob"),
    PauseClock("Ann", goes_on=True),
    RestoreSensor("a1", "Ann"),
    Correct("Ann", {"a1": "empty", "c3": "teal block, x up"}, why="it fell"),
)
_ORDERS = (
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
    command_of(read_message(data))


def _order(data: bytes) -> None:
    order = ORDERS.validate_python(parse_json(data))
    # What is taken is written to the journal.
    order.value("Ann")
    order.model_dump_json()


def _broker_order(data: bytes) -> None:
    fields = parsed(data)
    request_id_of(fields)
    if look_order(fields) is None:
        ORDERS.validate_python(fields).value("Ann")


def _devices(data: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=_QUICK) as folder:
        path = Path(folder) / "devices"
        path.write_bytes(data)
        PairedDevices(path, lambda: 0.0).all()


_QUICK = "/dev/shm" if Path("/dev/shm").is_dir() else None


def _kept_devices() -> Sequence[bytes]:
    with tempfile.TemporaryDirectory(dir=_QUICK) as folder:
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
        "page's order", lambda: [json.dumps(each).encode() for each in _ORDERS], _order, (ValueError, ValidationError)
    ),
    Parser(
        "MQTT order", lambda: [json.dumps(each).encode() for each in _ORDERS + _LOOKS], _broker_order, (ValueError,)
    ),
    Parser("paired devices", _kept_devices, _devices, (PageError,)),
)
