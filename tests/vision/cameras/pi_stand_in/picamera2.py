"""Stands in for Picamera2 where there is none: the calls that are used, with the names and defaults of version 0.3.

The variable PI_CAMERA chooses its behaviour: ``works``, ``busy``, ``freezes`` or ``dies`` after three frames, ``other
size``, ``no focus``, or ``mono``. A frame's pixels are its number; blue tells whether exposure is automatic (1), and
whether focus is (2); red is the flicker's period that exposures avoid, in 100 microseconds.
"""

import os
import signal
import threading
import time
from typing import Any

import numpy as np
from libcamera import controls

_BEHAVIOUR = os.environ["PI_CAMERA"]
_LASTS_FRAMES = 3


class Picamera2:
    def __init__(self, camera_num=0, verbose_console=None, tuning=None, allocator=None):
        if camera_num > 0:
            raise RuntimeError(f"No camera number {camera_num} found")
        if _BEHAVIOUR == "busy":
            try:
                raise RuntimeError("Failed to acquire camera: Device or resource busy")
            except RuntimeError as error:
                raise RuntimeError("Camera __init__ sequence did not complete.") from error
        settable = ["AeEnable", "ExposureTime", "AnalogueGain"]
        settable += [] if _BEHAVIOUR == "no focus" else ["AeFlickerMode", "AeFlickerPeriod"]
        settable += [] if _BEHAVIOUR == "mono" else ["AwbEnable", "ColourGains"]
        settable += [] if _BEHAVIOUR == "no focus" else ["AfMode", "LensPosition"]
        self.camera_controls = dict.fromkeys(settable, (0, 1, 0))
        self._set = {}
        self._configuration: Any = None
        self._number = 0

    def create_video_configuration(self, main={}, *, buffer_count=6, controls={}, queue=True):  # noqa: B006
        assert main["format"] == "RGB888"
        assert not queue
        return {"main": dict(main), "buffer_count": buffer_count, "controls": dict(controls)}

    def configure(self, camera_config):
        self._configuration = camera_config
        if _BEHAVIOUR == "other size":
            camera_config["main"]["size"] = (640, 480)

    def camera_configuration(self):
        return self._configuration

    def start(self, config=None, show_preview=False):
        assert self._configuration is not None

    def set_controls(self, controls):
        assert set(controls) <= set(self.camera_controls), "Picamera2 refuses controls that a camera lacks"
        self._set.update(controls)

    def capture_request(self, wait=None, signal_function=None, flush=None):
        self._number += 1
        if self._number > _LASTS_FRAMES and _BEHAVIOUR == "freezes":
            threading.Event().wait()
        if self._number > _LASTS_FRAMES and _BEHAVIOUR == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        width, height = self._configuration["main"]["size"]
        pixels = np.full((height, width, 3), self._number % 256, dtype=np.uint8)
        pixels[..., 0] = int(self._set["AeEnable"]) + 2 * (self._set.get("AfMode") == controls.AfModeEnum.Continuous)
        if self._set.get("AeFlickerMode") == 1:
            pixels[..., 2] = self._set["AeFlickerPeriod"] // 100
        return CompletedRequest(pixels, self.camera_controls)

    def stop(self):
        pass

    def close(self):
        pass


class CompletedRequest:
    def __init__(self, pixels, controls):
        self.pixels = pixels
        values = {"ExposureTime": 8000, "AnalogueGain": 2.0, "ColourGains": (1.6, 1.9), "LensPosition": 1.5}
        self._metadata = {name: value for name, value in values.items() if name in controls}
        self._metadata["SensorTimestamp"] = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def get_metadata(self):
        return self._metadata

    def release(self):
        self.pixels = None


class MappedArray:
    def __init__(self, request, stream, reshape=True, write=True):
        assert stream == "main"
        self.array = request.pixels

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, exc_traceback):
        self.array = None
