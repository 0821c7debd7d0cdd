"""A board at MicroPython's raw prompt: list, hash and write its files, through mpremote.

mpremote's transport is used as a library instead of its command: one connection instead of one per step, typed errors,
and progress. Its authors call that interface unstable, so only four methods are used, all in this module and unchanged
since 1.25: opening, entering the raw prompt, ``exec`` and ``fs_writefile``.
"""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import serial
from mpremote.transport import TransportError, TransportExecError
from mpremote.transport_serial import SerialTransport
from pydantic import TypeAdapter

from common.closeable import Closeable
from firmware_bridge.errors import BridgeError
from firmware_bridge.install.manifest import (
    FAULT_FILES,
    FIRMWARE_FOLDER,
    MAIN_FILE,
    MANIFEST_FILE,
    NEW_SUFFIX,
    PIN_MAP_FILE,
    STAY_FILE,
)

_ANSWER_S = 10.0
"""Maximum time for any answer: a board hashes its files in well under a second."""
_CHUNK_BYTES = 1024  # written at once; set by hand
_SHOWN_BYTES = 60
"""How much of an answer that can't be read is shown."""
T = TypeVar("T")

_SURVEY = f"""
import os, sys, hashlib, json
def _hash(path):
    sha = hashlib.sha256()
    with open(path, 'rb') as file:
        while True:
            data = file.read(512)
            if not data:
                break
            sha.update(data)
    return ''.join('%02x' % byte for byte in sha.digest())
def _walk(folder, before):
    for entry in os.ilistdir(folder):
        path = before + entry[0]
        if entry[1] == 0x4000:
            if before or entry[0] == {FIRMWARE_FOLDER!r}:
                _walk('/' + path, path + '/')
        elif before or entry[0].split({NEW_SUFFIX!r})[0] in {(MAIN_FILE, MANIFEST_FILE, PIN_MAP_FILE, *FAULT_FILES)!r}:
            print(json.dumps([path, _hash('/' + path)]))
_walk('/', '')
print(json.dumps([sys.implementation[0], list(sys.implementation[1])[:3], getattr(sys.implementation, '_machine', ''),
    os.statvfs('/')[0] * os.statvfs('/')[3]]))
"""

_READ = """
import binascii
with open({path!r}, 'rb') as file:
    print(binascii.hexlify(file.read()).decode())
"""
_HAS_LINE = """
found = False
with open({path!r}, 'rb') as file:
    while not found:
        line = file.readline(256)
        if not line:
            break
        found = line.strip().startswith({start!r})
print(int(found))
"""
# rename replaces the other file, at once on littlefs; on FAT, MicroPython removes it first
_SWAP = """
import os
for path in {paths!r}:
    os.rename('/' + path + {suffix!r}, '/' + path)
if hasattr(os, 'sync'):
    os.sync()
"""
_REMOVE = """
import os
for path in {paths!r}:
    folder, _, name = ('/' + path).rpartition('/')
    if name in os.listdir(folder or '/'):
        os.remove('/' + path)
"""
_RENAME_FREELY = """
import os
stem, _, suffix = {to!r}.rpartition('.')
name, number = {to!r}, 1
while name in os.listdir('/'):
    number += 1
    name = stem + '_' + str(number) + '.' + suffix
os.rename('/' + {path!r}, '/' + name)
print(name)
"""
_MAKE_FOLDERS = """
import os
for path in {paths!r}:
    folder, _, name = ('/' + path).rpartition('/')
    if name not in os.listdir(folder or '/'):
        os.mkdir('/' + path)
"""


# interrupt, enter the raw prompt again, run
_RESET = b"\r\x03\x03\r\x01import machine\nmachine.reset()\n\x04"


START_OVER = "unplug it, plug it in again and run the command once more"
"""Advice for a board that stopped halfway."""


class InstallError(BridgeError, OSError):
    """The firmware could not be installed; the message says how far it got and what to do."""


class BoardFullError(InstallError):
    """There is no room for the firmware on the board."""


@dataclass(frozen=True)
class Survey:
    """The contents of a board: the hashes of the firmware's files by path, and its interpreter.

    ``hashes`` are SHA-256 in hexadecimal of ``main.py``, the manifest, the pin map, the firmware's fault files, and
    everything below ``firmware``. ``implementation`` is ``micropython`` or another name; ``machine`` is the board
    according to it, such as ``Raspberry Pi Pico with RP2040``.
    """

    hashes: Mapping[str, str]
    implementation: str
    version: tuple[int, ...]
    machine: str
    free_bytes: int

    @property
    def has_firmware(self) -> bool:
        """Whether any file of the firmware is there under its own name, not only under its temporary one."""
        return any(path.startswith(f"{FIRMWARE_FOLDER}/") and not path.endswith(NEW_SUFFIX) for path in self.hashes)

    @property
    def title(self) -> str:
        """One line: ``MicroPython 1.27.0 on a Raspberry Pi Pico with RP2040``."""
        return f"MicroPython {'.'.join(map(str, self.version[:3]))} on {self.machine or 'an unnamed board'}"


_FILE = TypeAdapter(tuple[str, str])
_FACTS = TypeAdapter(tuple[str, tuple[int, ...], str, int])


def read_survey(answer: bytes) -> Survey:
    """Read a board's answer, a JSON array in each line, the last about its interpreter; raises ValueError."""
    *files, facts = answer.splitlines()
    hashes = dict(_FILE.validate_json(line, strict=True) for line in files)
    return Survey(hashes, *_FACTS.validate_json(facts, strict=True))


def read_hexadecimal(answer: bytes) -> bytes:
    """Read bytes that a board wrote as hexadecimal digits; raises ValueError."""
    return bytes.fromhex(answer.decode("ascii"))


class BareBoard(Closeable):
    """A board at its raw prompt, on an open port; to be used in ``with``.

    Raises InstallError when the board does not answer, answers something else, or is disconnected.
    """

    def __init__(self, port: str, baud: int) -> None:
        self._port = port
        with self._as_install_errors("does not come to its prompt"):
            self._transport = SerialTransport(port, baudrate=baud, timeout=_ANSWER_S)
            with contextlib.ExitStack() as unless_ready:
                unless_ready.callback(self.close)
                self._transport.enter_raw_repl(soft_reset=True, timeout_overall=_ANSWER_S)
                unless_ready.pop_all()

    def close(self) -> None:
        """Release the port."""
        # a port that was unplugged, or that is a pseudo-terminal, has no control lines to set
        with contextlib.suppress(OSError):
            self._transport.close()
        self._transport.serial.close()

    def survey(self) -> Survey:
        """Read the contents of the board."""
        return self._parse(read_survey, self._run(_SURVEY))

    def read(self, path: str) -> bytes:
        """Read a small file."""
        return self._parse(read_hexadecimal, self._run(_READ.format(path="/" + path)))

    def has_line(self, path: str, start: bytes) -> bool:
        """Return whether a line of a file of any size starts with this text, apart from spaces."""
        return self._parse(int, self._run(_HAS_LINE.format(path="/" + path, start=start))) == 1

    def make_folders(self, paths: Iterable[str]) -> None:
        """Make missing folders, outer ones first."""
        self._run(_MAKE_FOLDERS.format(paths=tuple(sorted(paths))))

    def write_new(self, path: str, data: bytes, progress: Callable[[int], None]) -> None:
        """Write a file under its temporary name; ``progress`` is called with the bytes of each chunk."""
        reported, stdout = 0, sys.stdout

        def report(written: int, _: int) -> None:
            nonlocal reported
            with contextlib.redirect_stdout(stdout):
                progress(written - reported)
            reported = written

        with self._as_install_errors(f"could not take {path}"):
            self._transport.fs_writefile(f"/{path}{NEW_SUFFIX}", data, _CHUNK_BYTES, report)

    def swap(self, paths: Iterable[str]) -> None:
        """Replace files by their new versions."""
        self._run(_SWAP.format(paths=tuple(paths), suffix=NEW_SUFFIX))

    def rename_freely(self, path: str, to: str) -> str:
        """Rename a file to ``to``, or to ``to`` with a number if that exists; returns the new name."""
        answer = self._run(_RENAME_FREELY.format(path=path, to=to))
        return self._parse(lambda name: name.decode("ascii").strip(), answer)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        self._run(_REMOVE.format(paths=tuple(paths)))

    def stay_after_reset(self) -> None:
        """Make a board with the firmware stay at its prompt after its next reset."""
        self._run(f"with open({'/' + STAY_FILE!r}, 'w'):\n pass")

    def reset(self) -> None:
        """Reset the board, as its button does, and release the port."""
        # in any state, and without waiting for an answer that the reset would swallow
        with contextlib.suppress(OSError):
            self._transport.serial.write(_RESET)
        self.close()

    def _run(self, code: str) -> bytes:
        with self._as_install_errors("did not do what it was told"):
            answer: bytes = self._transport.exec(code)
        return answer

    def _parse(self, read: Callable[[bytes], T], answer: bytes) -> T:
        try:
            return read(answer)
        except ValueError as error:
            shown = answer[-_SHOWN_BYTES:].decode("ascii", "backslashreplace")
            raise self._error("answered something else than what was asked", ascii(shown)) from error

    @contextlib.contextmanager
    def _as_install_errors(self, what: str) -> Iterator[None]:
        # mpremote prints what it received when something fails; the message here has the essentials
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                yield
            except TransportExecError as error:
                raise self._error(what, _last_line(error.error_output)) from error
            except (TransportError, serial.SerialException, OSError) as error:
                raise self._error(what, error) from error

    def _error(self, what: str, why: Any) -> InstallError:
        number = why.errno if isinstance(why, OSError) else None
        if number == errno.ENOSPC or "ENOSPC" in str(why) or str(why) == f"OSError: {errno.ENOSPC}":
            return BoardFullError(f"the board on {self._port} is full: it {what}; remove files of yours from it")
        if isinstance(why, OSError) and number is not None:
            why = os.strerror(number)
        return InstallError(f"the board on {self._port} {what} ({why}); {START_OVER}")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
