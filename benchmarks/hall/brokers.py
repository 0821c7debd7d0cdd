"""A private Mosquitto broker that can be killed and restarted."""

import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

_START_TIMEOUT_S = 30.0


class Mosquitto:
    """A local broker that persists its messages in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._settings = folder / "mosquitto.conf"
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port: int = probe.getsockname()[1]
        self._settings.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {folder}/\nmax_queued_messages 100000\nmax_inflight_messages 200\n"
            "sys_interval 1\nuser root\nlog_dest none\n"
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int:
        """The running broker's process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started, and not killed since."""
        return self._process is not None

    def start(self) -> None:
        """Start it and wait until it answers; raises RuntimeError without Mosquitto, or if it doesn't start."""
        program = shutil.which("mosquitto")
        if program is None:
            raise RuntimeError("mosquitto is not installed (apt install mosquitto)")
        self._process = subprocess.Popen([program, "-c", str(self._settings)], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + _START_TIMEOUT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1.0).close()
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError("mosquitto did not start") from None
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill it without a chance to save."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
