"""How a command reaches the running referee: a Unix socket beside its journal.

Only the running referee may write its journal, so `referee correct` asks it to. The socket is ``JOURNAL.ask``, which
only the same user can use: one JSON object on one line goes in, one comes back, and the connection is closed. A
request is answered only after its event is in the journal; one that is not answered was not carried out.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from referee.errors import UnreachableError

MOST_BYTES = 64 * 1024
READ_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 15.0
_LONGEST_ADDRESS = 100
_OTHERS_MAY_NOTHING = 0o177


def socket_path(journal: Path) -> Path:
    """Give the path of the socket that belongs to a journal."""
    return journal.with_name(journal.name + ".ask")


@dataclass(frozen=True)
class Request:
    """One request: what is asked, and the connection on which the answer goes back."""

    asked: Mapping[str, Any]
    connection: socket.socket

    def answer(self, said: Mapping[str, Any]) -> None:
        """Send the answer; that nobody waits for it any more is no error."""
        with self.connection, contextlib.suppress(OSError):
            self.connection.sendall(json.dumps(said, ensure_ascii=False).encode() + b"\n")


class CommandSocket:
    """Takes requests in a thread of its own and keeps them until they are asked for.

    The caller must hold the journal's lock: what an earlier referee left at that path is replaced. Raises
    UnreachableError when there can be no socket, as on a stick with a FAT file system.
    """

    def __init__(self, journal: Path) -> None:
        self._path = socket_path(journal)
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
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
                f"`referee correct` can't reach this referee: no socket {self._path} can be made ({error.strerror}); "
                "correct while it is stopped, or keep the journal on another disk"
            ) from error
        # A daemon, since a thread that waits for a connection ends only with the socket.
        self._thread = threading.Thread(target=self._listen, name="requests", daemon=True)
        self._thread.start()

    def poll(self) -> list[Request]:
        """Give the requests that came since the last time, in order; each wants an answer."""
        requests: list[Request] = []
        while not self._requests.empty():
            requests.append(self._requests.get())
        return requests

    def close(self) -> None:
        """Take no more requests; those that nobody answered are told so by the closed connection."""
        self._path.unlink(missing_ok=True)
        # Closing alone does not wake a thread that waits in accept.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(READ_TIMEOUT_S)
        for request in self.poll():
            request.connection.close()

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
            try:
                asked = _read_line(connection)
            except (OSError, ValueError):
                # Whoever asked sees the connection closed; the game is not theirs to disturb.
                connection.close()
                continue
            self._requests.put(Request(asked, connection))


def open_command_socket(
    journal: Path, stack: ExitStack, say: Callable[[str], object]
) -> Callable[[], Sequence[Request]]:
    """Open a journal's door until ``stack`` is left, and give what tells the requests; without a door there are none.

    Why there can be no door is said, since the game goes on without it.
    """
    try:
        return stack.enter_context(CommandSocket(journal)).poll
    except UnreachableError as error:
        say(str(error))
        return lambda: ()


def ask(journal: Path, asked: Mapping[str, Any], timeout_s: float = ANSWER_TIMEOUT_S) -> Mapping[str, Any]:
    """Ask the referee that has this journal, and give its answer.

    Raises UnreachableError when nobody listens, or no answer comes within ``timeout_s``.
    """
    path = socket_path(journal)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        try:
            with _address(path) as address:
                connection.connect(address)
            connection.sendall(json.dumps(dict(asked), ensure_ascii=False).encode() + b"\n")
            return _read_line(connection)
        except TimeoutError as error:
            raise UnreachableError(f"no answer on {path} within {timeout_s:g} s; see whether it was done") from error
        except OSError as error:
            raise UnreachableError(f"nobody answers on {path} ({error.strerror or error})") from error
        except ValueError as error:
            raise UnreachableError(f"the answer on {path} can't be read ({error})") from error


def _read_line(connection: socket.socket) -> Mapping[str, Any]:
    received = bytearray()
    while not received.endswith(b"\n"):
        part = connection.recv(4096)
        if not part:
            raise ConnectionError("the connection was closed")
        received += part
        if len(received) > MOST_BYTES:
            raise ValueError(f"a line of more than {MOST_BYTES} bytes")
    value = json.loads(received)
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
