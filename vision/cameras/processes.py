"""A camera in a process of its own: requests and replies are lines of JSON, pictures are in memory that both share.

What the process does with the camera can then neither hang nor end the referee, nor fill its memory.
"""

import contextlib
import json
import mmap
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vision.frame import Image

_STOP_S = 3.0
"""Time, in seconds, in which the process must end by itself before it is killed."""
_MEBIBYTE = 1 << 20
"""Maximum number of bytes read from the process at once; replies are far shorter."""
_WEIGHED_S = 0.05
"""How often, in seconds, the memory of a process is looked at. Rarer: it may grow further beyond its limit."""


class CameraProcess:
    """A running process. One that ends, or takes too long for a reply, is gone: then there are no more replies.

    ``command`` is run with ``options``, among them ``memory``, the descriptor of ``memory_bytes`` that it fills with
    pictures. It is killed if it takes more than ``most_bytes`` of memory, those included; ``is_too_large`` says so.
    Raises OSError if it can't be started.
    """

    def __init__(
        self, command: Sequence[str], options: Mapping[str, object], *, memory_bytes: int, most_bytes: int | None = None
    ) -> None:
        self._most_bytes, self.is_too_large = most_bytes, False
        self._received = bytearray()
        with os.fdopen(os.memfd_create("camera"), "r+b", buffering=0) as memory:
            memory.truncate(memory_bytes)
            self._memory = mmap.mmap(memory.fileno(), memory_bytes)
            self._pixels: Image = np.frombuffer(self._memory, dtype=np.uint8)
            words = {"memory": memory.fileno(), **options}
            self._process = subprocess.Popen(
                [*command, *(word for name, value in words.items() for word in (f"--{name}", str(value)))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=[memory.fileno()],
                bufsize=0,
                # A Ctrl-C in the terminal must only reach the referee.
                start_new_session=True,
            )

    def picture(self, width: int, height: int) -> Image:
        """Return a copy of the picture in the shared memory."""
        return self._pixels[: height * width * 3].reshape(height, width, 3).copy()

    def request(self, request: Mapping[str, object], timeout_s: float) -> dict[str, Any] | None:
        """Send a request, and wait for the reply; ``None`` when the process has ended or is silent too long."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            return None
        return self.reply(timeout_s)

    def reply(self, timeout_s: float) -> dict[str, Any] | None:
        """Wait for a reply; ``None`` when the process ended or is silent too long."""
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        readable = select.poll()
        readable.register(source, select.POLLIN)
        deadline_s = time.monotonic() + timeout_s
        while b"\n" not in self._received:
            left_s = max(deadline_s - time.monotonic(), 0.0)
            ready = readable.poll(1000 * (left_s if self._most_bytes is None else min(left_s, _WEIGHED_S)))
            self.is_too_large = self._most_bytes is not None and self._resident_bytes() > self._most_bytes
            if self.is_too_large or not (ready or left_s) or (ready and not (more := os.read(source, _MEBIBYTE))):
                self._process.kill()
                return None
            if ready:
                self._received += more
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received = bytearray(rest)
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _resident_bytes(self) -> int:
        # Linux has no limit for this, and a service may not set those that there are.
        try:
            resident_pages = int(Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1])
        except OSError:
            return 0
        return resident_pages * mmap.PAGESIZE

    def release(self) -> None:
        """End the process; it is killed if it goes on for long."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
