"""How a command reaches the running referee: a Unix socket beside its journal.

Only the running referee may write its journal, so ``table correct`` asks it to. The socket is ``JOURNAL.ask``, which
only the same user can use: one JSON object on one line goes in, one comes back, and the connection is closed. A
command is answered only after its event is in the journal; one that is not answered was not carried out.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from common.json_files import parse_json
from common.phrases import listed
from referee.commands.queue import CommandQueue
from referee.commands.values import (
    Announce,
    AskHint,
    Correct,
    EnterRoll,
    EnterTurn,
    Entry,
    PauseClock,
    Reply,
    RestoreSensor,
    TakeBack,
)
from referee.errors import CorrectionError, UnreachableError

MOST_BYTES = 64 * 1024
READ_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 15.0
_LONGEST_ADDRESS = 100
_OTHERS_MAY_NOTHING = 0o177


def socket_path(journal: Path) -> Path:
    """Give the path of the socket that belongs to a journal."""
    return journal.with_name(journal.name + ".ask")


class CommandSocket:
    """Takes commands in a thread of its own and submits them.

    The caller must hold the journal's lock: what an earlier referee left at that path is replaced. Raises
    UnreachableError when there can be no socket, as on a stick with a FAT file system.
    """

    def __init__(self, journal: Path, commands: CommandQueue) -> None:
        self._path = socket_path(journal)
        self._commands = commands
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._path.unlink(missing_ok=True)
            with _address(self._path) as address:
                mask = os.umask(_OTHERS_MAY_NOTHING)
                try:
                    self._socket.bind(address)
                finally:
                    os.umask(mask)
            self._socket.listen()
        except OSError as error:
            self._socket.close()
            raise UnreachableError(
                f"`./run table correct` can't reach this referee: no socket {self._path} can be made "
                f"({error.strerror}); "
                "correct while it is stopped, or keep the journal on another disk"
            ) from error
        # A daemon, since a thread that waits for a connection ends only with the socket.
        self._thread = threading.Thread(target=self._listen, name="command socket", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more commands; those that were submitted are answered all the same."""
        self._path.unlink(missing_ok=True)
        # Closing alone does not wake a thread that waits in accept.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(READ_TIMEOUT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.settimeout(READ_TIMEOUT_S)
            respond = partial(_respond, connection)
            try:
                command = command_of(read_message(_read_line(connection)))
            except CorrectionError as error:
                respond(Reply(str(error), refused=True))
            except (OSError, ValueError):
                # Whoever asked sees the connection closed; the game is not theirs to disturb.
                connection.close()
            else:
                self._commands.submit(command, respond)


def _respond(connection: socket.socket, reply: Reply | None) -> None:
    """Send the reply and hang up; that nobody waits for it any more is no error."""
    with connection, contextlib.suppress(OSError):
        if reply is not None:
            connection.sendall(json.dumps(reply_message(reply), ensure_ascii=False).encode() + b"\n")


@contextlib.contextmanager
def open_command_socket(journal: Path, commands: CommandQueue, say: Callable[[str], object]) -> Iterator[None]:
    """Open a journal's socket while this is entered. Why there can be none is said: the game goes on without it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(CommandSocket(journal, commands))
        except UnreachableError as error:
            say(str(error))
        yield


def ask(journal: Path, command: SentCommand, timeout_s: float = ANSWER_TIMEOUT_S) -> Reply:
    """Have the referee that has this journal carry a command out, and give its reply.

    Raises UnreachableError when nobody listens, or no reply comes within ``timeout_s``.
    """
    path = socket_path(journal)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        try:
            with _address(path) as address:
                connection.connect(address)
            connection.sendall(json.dumps(command_message(command), ensure_ascii=False).encode() + b"\n")
            return reply_of(read_message(_read_line(connection)))
        except TimeoutError as error:
            raise UnreachableError(f"no answer on {path} within {timeout_s:g} s; see whether it was done") from error
        except OSError as error:
            raise UnreachableError(
                f"the running referee does not answer on {path} ({error.strerror or error})"
            ) from error
        except ValueError as error:
            raise UnreachableError(f"the answer on {path} can't be read ({error})") from error


def _read_line(connection: socket.socket) -> bytearray:
    received = bytearray()
    while not received.endswith(b"\n"):
        part = connection.recv(4096)
        if not part:
            raise ConnectionError("the connection was closed")
        received += part
        if len(received) > MOST_BYTES:
            raise ValueError(f"a line of more than {MOST_BYTES} bytes")
    return received


def read_message(line: bytes | bytearray) -> Mapping[str, Any]:
    """Read the one object of a line; raises ValueError."""
    value = parse_json(line)
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__} in place of an object")
    return value


@contextlib.contextmanager
def _address(path: Path) -> Iterator[str]:
    """Give a name for the socket that is short enough: the kernel takes about a hundred bytes."""
    whole = str(path.absolute())
    if len(os.fsencode(whole)) <= _LONGEST_ADDRESS:
        yield whole
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


SentCommand = Correct | TakeBack | Entry | AskHint | RestoreSensor | PauseClock
"""What may be asked of a referee from outside its process."""

_VERBS: Mapping[type[Any], str] = MappingProxyType(
    {
        Correct: "correct",
        TakeBack: "take back",
        EnterTurn: "enter",
        EnterRoll: "enter",
        Announce: "enter",
        AskHint: "hint",
        RestoreSensor: "put back",
        PauseClock: "pause clock",
    }
)
_ENTRIES: Mapping[str, type[Entry]] = MappingProxyType({each.kind: each for each in (EnterTurn, EnterRoll, Announce)})


def command_message(command: SentCommand) -> dict[str, Any]:
    """Write a command as a JSON object."""
    message: dict[str, Any] = {"do": _VERBS[type(command)], "by": command.by}
    match command:
        case Correct():
            message |= {
                "looks": dict(command.looks),
                "position": command.position,
                "to_move": command.to_move,
                "why": command.why,
            }
        case EnterTurn() | EnterRoll() | Announce():
            message |= {"kind": command.kind.value, "text": command.text, "player": command.player or ""}
        case RestoreSensor():
            message |= {"place": command.place}
        case PauseClock():
            message |= {"goes_on": command.goes_on}
    return message


def command_of(message: Mapping[str, Any]) -> SentCommand:
    """Read a command; raises CorrectionError that says what was expected."""
    match message.get("do"):
        case "correct":
            return _correction(message)
        case "take back":
            return TakeBack(_text(message, "by"))
        case "enter":
            return _entry(message)
        case "hint":
            return AskHint(_text(message, "by"))
        case "put back":
            return RestoreSensor(_text(message, "place"), _text(message, "by"))
        case "pause clock":
            return PauseClock(_text(message, "by"), goes_on=message.get("goes_on") is True)
        case other:
            can = listed(tuple(dict.fromkeys(_VERBS.values())), "and")
            raise CorrectionError(f"this referee can't do {other!r}; it can {can}")


def reply_message(reply: Reply) -> dict[str, str]:
    """Write a reply as a JSON object."""
    return {"refused" if reply.refused else "done": reply.words}


def reply_of(message: Mapping[str, Any]) -> Reply:
    """Read a reply; one that says neither ``done`` nor ``refused`` is a refusal that quotes it."""
    if "done" in message:
        return Reply(str(message["done"]))
    return Reply(str(message.get("refused", f"the referee answered {dict(message)!r}")), refused=True)


def _entry(message: Mapping[str, Any]) -> Entry:
    kind = message.get("kind")
    entry = _ENTRIES.get(kind) if isinstance(kind, str) else None
    if entry is None:
        raise CorrectionError(f"the kind is {kind!r}; expected {listed(tuple(_ENTRIES), 'or')}")
    return entry(_text(message, "text"), _text(message, "by"), _text(message, "player") or None)


def _correction(message: Mapping[str, Any]) -> Correct:
    looks = message.get("looks", {})
    if not isinstance(looks, dict) or not all(isinstance(look, str) for look in looks.values()):
        raise CorrectionError(f"the looks are {looks!r}; expected a look by place")
    return Correct(
        by=_text(message, "by"),
        looks=looks,
        position=_text(message, "position"),
        to_move=_text(message, "to_move"),
        why=_text(message, "why"),
    )


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name, "")
    if not isinstance(value, str):
        raise CorrectionError(f"{name} is {value!r}; expected a text")
    return value
