"""Sends commands to the running referee through a Unix socket beside its journal.

Only the running referee may write its journal, so ``table correct`` sends it a command. Only the same user can access
the socket ``JOURNAL.ask``. The client sends one JSON object on one line, receives one, and the connection is closed. A
command is answered only after its event is in the journal.
"""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from common.closeable import Closeable
from common.json_files import parse_json
from common.phrases import phrase_json, read_phrase
from referee.commands.values import COMMANDS, Command, CommandQueue, Reply, said_plainly
from referee.errors import CorrectionError, UnreachableError

MOST_BYTES = 64 * 1024
READ_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 15.0
"""The longest command, more than any valid one; how long a client may take to send it, and the referee to answer."""
_MOST_CLIENTS = 16
"""Clients read at once; a person has one. Further ones are closed."""
_RETRY_S = 0.1
"""The wait after a failed accept: short for a person, long enough to leave the processor alone."""
_LONGEST_ADDRESS = 100
"""The longest path, in bytes, of a Unix socket that is bound by its name: Linux takes 107."""


def socket_path(journal: Path) -> Path:
    """Return the path of the socket that belongs to a journal."""
    return journal.with_name(journal.name + ".ask")


class CommandSocket(Closeable):
    """Receives commands in threads of its own, one for each client, and submits them to the queue.

    The caller must hold the journal's lock, because a stale socket at that path is replaced. Raises UnreachableError
    if the socket can't be created, for example on a FAT file system.
    """

    def __init__(self, journal: Path, commands: CommandQueue) -> None:
        self._path = socket_path(journal)
        self._commands = commands
        self._places = threading.BoundedSemaphore(_MOST_CLIENTS)
        self._closing = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._path.unlink(missing_ok=True)
            with _address(self._path) as address:
                self._socket.bind(address)
            # Nobody can connect before ``listen``. A umask would hold for the files of other threads too.
            self._path.chmod(0o600)
            self._socket.listen()
        except OSError as error:
            self._socket.close()
            raise UnreachableError(
                "`./run table correct` can't reach this referee: no socket {path} can be made ({error}); correct while "
                "it is stopped, or keep the journal on another disk",
                *(self._path, error.strerror),
            ) from error
        # A daemon thread, because nothing but closing the socket ends its wait for a connection.
        self._thread = threading.Thread(target=self._listen, name="command socket", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Accept no more commands; those already submitted still get a reply."""
        self._closing.set()
        # On a read-only disk the socket's name stays; the next referee replaces it.
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        # Closing the socket doesn't wake a thread blocked in accept, but shutting it down does.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(READ_TIMEOUT_S)

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                # Also if the process has no file left for a connection; the wait ends at once when it closes.
                self._closing.wait(_RETRY_S)
                continue
            if self._places.acquire(blocking=False):
                threading.Thread(target=self._receive, args=(connection,), name="command", daemon=True).start()
            else:
                connection.close()

    def _receive(self, connection: socket.socket) -> None:
        """Read one command; the next client is heard meanwhile."""
        respond = partial(_respond, connection)
        try:
            command = parse_command(read_message(_read_line(connection, READ_TIMEOUT_S)))
        except CorrectionError as error:
            respond(Reply(str(error), refused=True))
        except (OSError, ValueError):
            # A bad client only loses its connection; the game goes on.
            connection.close()
        else:
            self._commands.submit(command, respond)
        finally:
            self._places.release()


def _respond(connection: socket.socket, reply: Reply | None) -> None:
    """Send the reply and close the connection; it is fine if the client has gone."""
    with connection, contextlib.suppress(OSError):
        if reply is not None:
            connection.sendall(json.dumps(reply_message(reply), ensure_ascii=False).encode() + b"\n")


@contextlib.contextmanager
def open_command_socket(journal: Path, commands: CommandQueue, say: Callable[[str], object]) -> Iterator[None]:
    """Open a journal's socket inside the context. If that fails, ``say`` gets the reason and the game goes on."""
    with ExitStack() as stack:
        try:
            stack.enter_context(CommandSocket(journal, commands))
        except UnreachableError as error:
            say(str(error))
        yield


def ask(journal: Path, command: Command, timeout_s: float = ANSWER_TIMEOUT_S) -> Reply:
    """Send a command to the referee that uses this journal, and return its reply.

    Raises UnreachableError if no referee listens, or if no reply comes within ``timeout_s``.
    """
    path = socket_path(journal)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        try:
            with _address(path) as address:
                connection.connect(address)
            connection.sendall(json.dumps(command_message(command), ensure_ascii=False).encode() + b"\n")
            return parse_reply(read_message(_read_line(connection, timeout_s)))
        except TimeoutError as error:
            raise UnreachableError("no answer on {path} within {seconds} s", path, f"{timeout_s:g}") from error
        except OSError as error:
            raise UnreachableError(
                "the running referee does not answer on {path} ({error})", path, error.strerror or error
            ) from error
        except ValueError as error:
            raise UnreachableError("the answer on {path} can't be read ({error})", path, error) from error


def _read_line(connection: socket.socket, timeout_s: float) -> bytearray:
    """Read a line, which has to come within a time; raises OSError and ValueError."""
    received, until_s = bytearray(), time.monotonic() + timeout_s
    while not received.endswith(b"\n"):
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the line takes too long")
        connection.settimeout(left_s)
        part = connection.recv(4096)
        if not part:
            raise ConnectionError("the connection was closed")
        received += part
        if len(received) > MOST_BYTES:
            raise ValueError(f"a line of more than {MOST_BYTES} bytes")
    connection.settimeout(timeout_s)
    return received


def read_message(line: bytes | bytearray) -> Mapping[str, Any]:
    """Parse the JSON object on a line; raises ValueError."""
    value = parse_json(line)
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__} in place of an object")
    return value


@contextlib.contextmanager
def _address(path: Path) -> Iterator[str]:
    """Yield an address for the socket that fits the kernel's limit of about a hundred bytes."""
    whole = str(path.absolute())
    if len(os.fsencode(whole)) <= _LONGEST_ADDRESS:
        yield whole
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def command_message(command: Command) -> dict[str, Any]:
    """Convert a command to a JSON object, without what only other channels need."""
    return {name: value for name, value in asdict(command).items() if name not in {"request_id", "seen"}}


def parse_command(message: Mapping[str, Any]) -> Command:
    """Convert a JSON object to a command; raises CorrectionError that says what was expected."""
    with said_plainly():
        return COMMANDS.validate_python(message)


def reply_message(reply: Reply) -> dict[str, Any]:
    """Convert a reply to a JSON object."""
    phrase = phrase_json(reply.words)
    return {"refused" if reply.refused else "done": reply.words, **({"phrase": phrase} if phrase else {})}


def parse_reply(message: Mapping[str, Any]) -> Reply:
    """Parse a reply. A message with neither ``done`` nor ``refused`` becomes a refusal that quotes it."""
    kind = "done" if "done" in message else "refused"
    words = str(message.get(kind, f"the referee answered {dict(message)!r}"))
    return Reply(read_phrase(words, message.get("phrase")), refused=kind == "refused")
