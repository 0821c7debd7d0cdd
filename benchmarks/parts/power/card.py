"""A memory card that can be slow, fail or lose power: a FUSE file system with one file for a loop device.

Run: python benchmarks/parts/power/card.py MOUNT_POINT SIZE_MIB, as root, with libfuse installed.

MOUNT_POINT/card is the card. It prints ``ready`` once it is mounted. Commands come on standard input, and each is
answered by ``done``:

    well                writes and syncs succeed at once
    slow SECONDS        each sync takes this long
    fail SHARE SEED     this share of all writes and syncs fails with EIO
    cut SEED            cuts the power: any unsynced sectors may be lost; all later writes fail
    power               restores the power: what survived can be read and written
"""

import errno
import random
import stat
import sys
import threading
import time

from mfusepy import FUSE, FuseOSError, Operations

SECTOR_BYTES = 512
NAME = "card"


class Card(Operations):  # type: ignore[misc]
    """The card's one file. Requests come one at a time from libfuse's thread, commands from another thread."""

    use_ns = True

    def __init__(self, size_bytes: int) -> None:
        """Start empty and without faults."""
        self._lock = threading.Lock()
        self._content = bytearray(size_bytes)
        self._synced = bytearray(size_bytes)
        self._unsynced: list[tuple[int, bytes]] = []
        self._fail_share = 0.0
        self._rng = random.Random()
        self._sync_s = 0.0
        self._has_power = True

    def init(self, path: str) -> None:  # noqa: ARG002 - libfuse's signature
        """Say that the card is mounted."""
        print("ready", flush=True)

    def execute(self, command: str) -> None:
        """Execute a command; raises ValueError for an unknown one."""
        match command.split():
            case ["well"]:
                self._fail_share = self._sync_s = 0.0
            case ["slow", seconds]:
                self._sync_s = float(seconds)
            case ["fail", share, seed]:
                self._rng = random.Random(seed)
                self._fail_share = float(share)
            case ["cut", seed]:
                with self._lock:
                    self._cut(random.Random(seed))
            case ["power"]:
                with self._lock:
                    self._has_power = True
            case _:
                raise ValueError(f"{command!r} is not a command; expected well, slow, fail, cut or power")

    def _cut(self, rng: random.Random) -> None:
        """Keep synced data; of the rest keep all, nothing, the first writes, or random sectors."""
        kept = rng.choice((0.0, 1.0, rng.random()))
        in_order = rng.random() < 1 / 3
        written = self._unsynced[: round(kept * len(self._unsynced))] if in_order else self._unsynced
        for offset, data in written:
            for begin in range(0, len(data), SECTOR_BYTES):
                if in_order or rng.random() < kept:
                    sector = data[begin : begin + SECTOR_BYTES]
                    self._synced[offset + begin : offset + begin + len(sector)] = sector
        self._content[:] = self._synced
        self._unsynced.clear()
        self._has_power = False

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:  # noqa: ARG002 - libfuse's signature
        """Describe the folder or the file."""
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path != f"/{NAME}":
            raise FuseOSError(errno.ENOENT)
        return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": len(self._content)}

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:  # noqa: ARG002
        """Read from the file."""
        with self._lock:
            return bytes(self._content[offset : offset + size])

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:  # noqa: ARG002
        """Write without syncing; raises EIO."""
        with self._lock:
            self._fail_by_chance()
            self._content[offset : offset + len(data)] = data
            self._unsynced.append((offset, bytes(data)))
        return len(data)

    def fsync(self, path: str, datasync: int, fh: int) -> int:  # noqa: ARG002
        """Make all writes durable; raises EIO."""
        time.sleep(self._sync_s)
        with self._lock:
            self._fail_by_chance()
            for offset, data in self._unsynced:
                self._synced[offset : offset + len(data)] = data
            self._unsynced.clear()
        return 0

    def _fail_by_chance(self) -> None:
        if not self._has_power or self._rng.random() < self._fail_share:
            raise FuseOSError(errno.EIO)


def main(mount_point: str, size_mib: int) -> None:
    """Serve a card until it is unmounted."""
    card = Card(size_mib * 1024**2)

    def listen() -> None:
        for line in sys.stdin:
            card.execute(line)
            print("done", flush=True)

    threading.Thread(target=listen, daemon=True).start()
    FUSE(card, mount_point, foreground=True, nothreads=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
