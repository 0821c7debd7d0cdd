"""The Pi's own camera, through Picamera2 in a process under the system's Python."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from common.phrases import Phrase
from vision.cameras.live import Capture, LiveCamera, Shot
from vision.errors import CameraError
from vision.frame import Clock, Waiting

SERVER = Path(__file__).with_name("pi_server.py")
SYSTEM_PYTHON = ("/usr/bin/python3", "-I")
DEFAULT_SIZE = (1280, 720)
"""Width and height of the pictures, in pixels, unless a size is set."""
DEFAULT_RATE = 15.0
"""Frames per second, unless a rate is set."""

_START_S = 20.0
"""Maximum time, in seconds, for the camera to start. It takes about four on a Pi 4, more from a slow card."""
_FRAME_S = 5.0
"""Time without a reply, in seconds, after which the camera counts as gone: far longer than any useful exposure."""
_STOP_S = 3.0
"""Time, in seconds, in which the process must end by itself before it is killed."""
_MEBIBYTE = 1 << 20
"""Maximum number of bytes read from the process at once; replies are far shorter."""


def _boot_clock() -> float:
    """Return the seconds since the machine started, the clock of the sensor's time stamps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class PiCapture:
    """One running camera of the Pi. A process that dies or hangs ends it; opening it again starts another.

    ``command`` runs the server's script; ``size`` is (width, height); a camera that sends nothing for ``silence_s``
    counts as gone. Raises CameraError, which says what to do, if the camera can't be used.
    """

    def __init__(
        self,
        number: int,
        size: tuple[int, int],
        frames_per_second: float,
        *,
        command: Sequence[str] = (*SYSTEM_PYTHON, str(SERVER)),
        boot_clock: Clock = _boot_clock,
        silence_s: float = _FRAME_S,
    ) -> None:
        width, height = size
        self._boot_clock, self._silence_s = boot_clock, silence_s
        self._received = bytearray()
        values = {"number": number, "width": width, "height": height, "rate": frames_per_second}
        options = [word for name, value in values.items() for word in (f"--{name}", str(value))]
        try:
            with os.fdopen(os.memfd_create("pi-camera"), "r+b", buffering=0) as memory:
                memory.truncate(width * height * 3)
                self._memory = mmap.mmap(memory.fileno(), width * height * 3)
                self._shared = np.frombuffer(self._memory, dtype=np.uint8).reshape(height, width, 3)
                self._process = subprocess.Popen(
                    [*command, "--memory", str(memory.fileno()), *options],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[memory.fileno()],
                    bufsize=0,
                    # A Ctrl-C in the terminal must only reach the referee.
                    start_new_session=True,
                )
        except OSError as error:
            raise CameraError("the Pi's camera can't be used: {error}", error) from error
        reply = self._reply(_START_S)
        if reply is None or "error" in reply:
            self.release()
            raise CameraError(_start_failure(number, reply))

    def read(self) -> Shot | None:
        """Wait for the next picture; ``None`` when the camera or its process has gone."""
        reply = self._request({"do": "frame"})
        if reply is None:
            return None
        return Shot(self._shared.copy(), max(self._boot_clock() - reply["began_ns"] / 1e9, 0.0))

    def lock(self, locked: bool) -> None:
        """Keep exposure, gain, white balance and focus, or let the camera adapt; ignored if the process has ended."""
        self._request({"do": "lock", "locked": locked})

    def release(self) -> None:
        """End the process."""
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

    def _request(self, request: dict[str, Any]) -> dict[str, Any] | None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            return None
        return self._reply(self._silence_s)

    def _reply(self, timeout_s: float) -> dict[str, Any] | None:
        """Wait for a reply; ``None`` when the process ended or is silent too long."""
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        deadline_s = time.monotonic() + timeout_s
        while b"\n" not in self._received:
            ready, _, _ = select.select([source], [], [], max(deadline_s - time.monotonic(), 0.0))
            if not ready or not (more := os.read(source, _MEBIBYTE)):
                self._process.kill()
                return None
            self._received += more
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received = bytearray(rest)
        reply: dict[str, Any] = json.loads(line)
        return reply


def _start_failure(number: int, reply: dict[str, Any] | None) -> str:
    if reply is None:
        return Phrase(
            "the Pi's camera {number} did not start; check its ribbon cable, and what `rpicam-hello "
            "--list-cameras` says",
            number,
        )
    if reply["error"] == "missing":
        return Phrase(
            "the Pi's camera needs Picamera2 for the system's Python ({reply}); install it: sudo apt "
            "install python3-picamera2",
            reply["detail"],
        )
    return Phrase(
        "the Pi's camera {number} can't be used ({reply}); check its ribbon cable, whether another "
        "program uses it, and what `rpicam-hello --list-cameras` says",
        number,
        reply["detail"],
    )


def pi_camera(
    number: int,
    *,
    clock: Clock,
    size: tuple[int, int] | None,
    frames_per_second: float | None = None,
    waiting: Waiting | None = None,
) -> LiveCamera:
    """Open a camera on the Pi's ribbon cable, by its number. Raises CameraError when it can't be used."""

    def open_capture() -> Capture:
        return PiCapture(number, size or DEFAULT_SIZE, frames_per_second or DEFAULT_RATE)

    return LiveCamera(open_capture, name=f"pi:{number}", clock=clock, waiting=waiting)
