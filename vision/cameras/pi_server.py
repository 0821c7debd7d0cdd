"""Serves frames of the Pi's own camera to another process. Runs under the system's Python, which has Picamera2.

This script imports no other module of the project: a virtual environment's NumPy and the one that Picamera2 was built
for can't share a process. Requests are lines of JSON on standard input, each with one reply on standard output; a
frame's pixels are written into memory shared by both processes, blue-green-red.
"""

import argparse
import json
import mmap
import sys
from typing import Any

CHANNELS = 3
"""Bytes per pixel: blue, green, red."""
HELD = ("ExposureTime", "AnalogueGain", "ColourGains", "LensPosition")
"""The controls that are kept while the camera is locked. A frame's metadata lack those that the camera doesn't have."""
FLICKER_MANUAL = 1
"""libcamera's AeFlickerMode in which the period is set; older versions lack it."""
BUFFERS = 3
"""One being read, one being exposed, one between; more would only waste memory."""


def reply(**fields: Any) -> None:
    """Send a reply to the other process."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


class PiServer:
    """A running camera of the Pi; ``memory`` holds one frame."""

    def __init__(
        self, number: int, size: tuple[int, int], frames_per_second: float, mains_hz: int, memory: mmap.mmap
    ) -> None:
        import numpy
        from libcamera import controls
        from picamera2 import MappedArray, Picamera2

        self._mapped_array, self._controls = MappedArray, controls
        self._pixels = numpy.frombuffer(memory, dtype=numpy.uint8).reshape(size[1], size[0], CHANNELS)
        self._camera = Picamera2(number)
        frame_us = round(1e6 / frames_per_second)
        # Picamera2 names formats by the order in a machine word: RGB888 is blue, green, red in memory.
        # Without a queue, a request returns a frame that was exposed after it.
        configuration = self._camera.create_video_configuration(
            main={"format": "RGB888", "size": size},
            buffer_count=BUFFERS,
            queue=False,
            controls={"FrameDurationLimits": (frame_us, frame_us)},
        )
        self._camera.configure(configuration)
        actual = tuple(self._camera.camera_configuration()["main"]["size"])
        if actual != size:
            raise RuntimeError(f"it gives pictures of {actual[0]} x {actual[1]} instead of {size[0]} x {size[1]}")
        self._camera.start()
        self._metadata: dict[str, Any] = {}
        self._set({"AeEnable": True, "AwbEnable": True, "AfMode": controls.AfModeEnum.Continuous})
        # A lamp flickers twice in a period of the mains; exposures are then multiples of that.
        self._set({"AeFlickerMode": FLICKER_MANUAL, "AeFlickerPeriod": round(1e6 / (2 * mains_hz))})

    def frame(self) -> dict[str, Any]:
        """Write the next frame to the shared memory; returns when its exposure began, on the clock since boot."""
        request = self._camera.capture_request()
        try:
            with self._mapped_array(request, "main") as mapped:
                self._pixels[:] = mapped.array
            self._metadata = request.get_metadata()
        finally:
            request.release()
        return {"began_ns": self._metadata["SensorTimestamp"]}

    def lock(self, locked: bool) -> dict[str, Any]:
        """Keep exposure, gain, white balance and focus as in the newest frame, or let all but the focus adapt."""
        if not locked or not self._metadata:
            self._set({"AeEnable": True, "AwbEnable": True})
            return {"locked": False}
        now = self._metadata
        fixed = {"AeEnable": False, "AwbEnable": False} | {name: now[name] for name in HELD if name in now}
        if "LensPosition" in now:
            fixed["AfMode"] = self._controls.AfModeEnum.Manual
        self._set(fixed)
        return {"locked": True}

    def _set(self, values: dict[str, Any]) -> None:
        """Set the controls that this camera has: a monochrome one has no white balance, most have no focus."""
        known = self._camera.camera_controls
        self._camera.set_controls({name: value for name, value in values.items() if name in known})

    def close(self) -> None:
        """Stop the camera."""
        self._camera.stop()
        self._camera.close()


def main() -> int:
    """Serve frames until the other process ends."""
    parser = argparse.ArgumentParser()
    for name in ("memory", "number", "width", "height", "mains"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    arguments = parser.parse_args()
    with mmap.mmap(arguments.memory, arguments.width * arguments.height * CHANNELS) as memory:
        try:
            size = arguments.width, arguments.height
            server = PiServer(arguments.number, size, arguments.rate, arguments.mains, memory)
        except ImportError as error:
            reply(error="missing", detail=str(error))
            return 1
        except Exception as error:  # noqa: BLE001 - the other process must learn the reason
            # Picamera2 chains a camera's fault to its cause.
            reply(error="unusable", detail=f"{error}; {error.__cause__}" if error.__cause__ else str(error))
            return 1
        reply(ready=True)
        try:
            for line in sys.stdin:
                request = json.loads(line)
                reply(**(server.frame() if request["do"] == "frame" else server.lock(request["locked"])))
        finally:
            server.close()
            # The NumPy view must be deleted before the memory is closed.
            del server
    return 0


if __name__ == "__main__":
    sys.exit(main())
