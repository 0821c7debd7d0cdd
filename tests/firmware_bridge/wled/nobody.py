"""Where nobody listens."""

import os
import random
import socket
from contextlib import suppress
from pathlib import Path


def port_of_nobody() -> int:
    """A UDP port on which nobody listens, and which the system gives to nobody who doesn't ask for it by number."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.Random(os.getpid()).sample(range(1024, lowest), k=100):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"each of 100 ports below {lowest} is taken")
