"""Reads an RTSP camera's film through OpenCV's FFmpeg, for another process, which limits this one's memory.

Requests are lines of JSON on standard input, so that an address with a password is in no list of processes, each with
one reply on standard output. A picture's pixels are written into memory shared by both, blue-green-red.
"""

import argparse
import json
import mmap
import os
import queue
import sys
import threading
from typing import Any


def reply(**fields: Any) -> None:
    """Send a reply to the other process."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def listen(requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Take requests; end this process at once when the other one has ended, or wants no more."""
    for line in sys.stdin:
        requests.put(json.loads(line))
    os._exit(0)


def main() -> None:
    """Serve pictures until the other process ends."""
    import cv2
    import numpy as np

    parser = argparse.ArgumentParser()
    for name in ("memory", "bytes"):
        parser.add_argument(f"--{name}", type=int, required=True)
    arguments = parser.parse_args()
    memory = mmap.mmap(arguments.memory, arguments.bytes)
    pixels = np.frombuffer(memory, dtype=np.uint8)
    capture = cv2.VideoCapture()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(requests,), daemon=True).start()
    reply(ready=True)
    while True:
        request = requests.get()
        if request["do"] == "open":
            limits = (
                cv2.CAP_PROP_OPEN_TIMEOUT_MSEC,
                request["open_ms"],
                cv2.CAP_PROP_READ_TIMEOUT_MSEC,
                request["read_ms"],
            )
            reply(opened=capture.open(request["address"], cv2.CAP_FFMPEG, limits))
            continue
        is_read, image = capture.read()
        if not is_read or image is None:
            reply(ended=True)
        elif image.ndim != 3 or image.nbytes > arguments.bytes:
            reply(too_large=True)
        else:
            pixels[: image.nbytes] = image.reshape(-1)
            reply(height=image.shape[0], width=image.shape[1])


if __name__ == "__main__":
    main()
