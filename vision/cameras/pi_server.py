"""Gives frames of the Pi's own camera to another process. Runs under the system's Python, which alone has Picamera2.

It is a script of its own and imports nothing of ours: a virtual environment's NumPy and the one that Picamera2 was
built for can't share a process. Requests come as lines of JSON on standard input, one reply each on standard output;
a frame's pixels go into the memory that both processes share, blue-green-red.
"""

from __future__ import annotations

import argparse
import json
import mmap
import sys
from typing import Any

CHANNELS = 3
"""Bytes per pixel: blue, green, red."""
BUFFERS = 3
"""One that is read, one that is exposed, one between; more would only take memory that Pis are short of."""


def reply(**said: Any) -> None:
    """Answer the other process."""
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


class PiServer:
    """One camera of the Pi, started; ``memory`` holds one frame."""

    def __init__(self, number: int, size: tuple[int, int], frames_per_second: float, memory: mmap.mmap) -> None:
        import numpy
        from libcamera import controls
        from picamera2 import MappedArray, Picamera2

        self._mapped_array, self._controls = MappedArray, controls
        self._pixels = numpy.frombuffer(memory, dtype=numpy.uint8).reshape(size[1], size[0], CHANNELS)
        self._camera = Picamera2(number)
        frame_us = round(1e6 / frames_per_second)
        # Picamera2 names formats by the order in a machine word: RGB888 lies in memory as blue, green, red.
        # Without a queue a request gets a frame that was exposed after it, never one that waited.
        configuration = self._camera.create_video_configuration(
            main={"format": "RGB888", "size": size},
            buffer_count=BUFFERS,
            queue=False,
            controls={"FrameDurationLimits": (frame_us, frame_us)},
        )
        self._camera.configure(configuration)
        given = tuple(self._camera.camera_configuration()["main"]["size"])
        if given != size:
            raise RuntimeError(f"it gives pictures of {given[0]} x {given[1]} instead of {size[0]} x {size[1]}")
        self._camera.start()
        self._metadata: dict[str, Any] = {}
        self._leave_automatic()

    def frame(self) -> dict[str, Any]:
        """Put the next frame into the shared memory; tell when its exposure began, on the clock since boot."""
        request = self._camera.capture_request()
        try:
            with self._mapped_array(request, "main") as mapped:
                self._pixels[:] = mapped.array
            self._metadata = request.get_metadata()
        finally:
            request.release()
        return {"began_ns": self._metadata["SensorTimestamp"]}

    def lock(self, locked: bool) -> dict[str, Any]:
        """Fix exposure, gain, white balance and focus as they are in the newest frame, or let the camera adapt."""
        if not locked or not self._metadata:
            self._leave_automatic()
            return {"locked": False}
        now = self._metadata
        fixed = {
            "AeEnable": False,
            "ExposureTime": now["ExposureTime"],
            "AnalogueGain": now["AnalogueGain"],
            "AwbEnable": False,
            "ColourGains": now["ColourGains"],
        }
        if "LensPosition" in now:
            fixed |= {"AfMode": self._controls.AfModeEnum.Manual, "LensPosition": now["LensPosition"]}
        self._camera.set_controls({name: value for name, value in fixed.items() if name in self._known})
        return {"locked": True}

    def _leave_automatic(self) -> None:
        automatic = {"AeEnable": True, "AwbEnable": True, "AfMode": self._controls.AfModeEnum.Continuous}
        self._camera.set_controls({name: value for name, value in automatic.items() if name in self._known})

    @property
    def _known(self) -> Any:
        """What this camera lets be set: a monochrome one has no white balance, most have no focus."""
        return self._camera.camera_controls

    def close(self) -> None:
        """Stop the camera."""
        self._camera.stop()
        self._camera.close()


def main() -> int:
    """Serve frames until the other process goes away."""
    parser = argparse.ArgumentParser()
    for name, kind in (("memory", int), ("number", int), ("width", int), ("height", int), ("rate", float)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    asked = parser.parse_args()
    with mmap.mmap(asked.memory, asked.width * asked.height * CHANNELS) as memory:
        try:
            server = PiServer(asked.number, (asked.width, asked.height), asked.rate, memory)
        except ImportError as error:
            reply(error="missing", detail=str(error))
            return 1
        except (RuntimeError, IndexError) as error:
            # Picamera2 raises RuntimeError for all that goes wrong with a camera, with its cause behind it.
            reply(error="unusable", detail=f"{error}; {error.__cause__}" if error.__cause__ else str(error))
            return 1
        reply(ready=True)
        try:
            for line in sys.stdin:
                request = json.loads(line)
                reply(**(server.frame() if request["do"] == "frame" else server.lock(request["locked"])))
        finally:
            server.close()
            # The view of the memory must be gone before the memory.
            del server
    return 0


if __name__ == "__main__":
    sys.exit(main())
