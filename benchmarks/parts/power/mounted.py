"""Disks for the journal of a table that is killed: a folder, or an ext4 file system that misbehaves.

All but the folder need root and e2fsprogs. The full disk is a small one that is filled; the others lie on a memory card
(``card.py``), which needs FUSE.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

_SIZE_MIB = 16
_BLOCK_BYTES = 4096
"""A page, so that no request is split: loop devices take one whose first part alone could be written for a success."""
_SECTORS_WRITTEN = 6
"""Which of the kernel's counts of a device this is (Documentation/block/stat.rst)."""
SECTOR_BYTES = 512
"""What the kernel counts in, whatever the disk's blocks are."""
_SLOW_SYNC_S = 0.1
_FAILING_SHARES = (1.0, 0.5, 0.2)
_PATIENCE_S = 30.0
_NEW_MOUNTS = 0x00020000
"""``CLONE_NEWNS`` of Linux's sched.h."""
_CARD = Path(__file__).with_name("card.py")


class DiskMissingError(Exception):
    """Such a disk can't be made on this machine; the message says what it lacks."""


def keep_mounts_to_oneself() -> None:
    """Hide from other programs what this thread, and what it starts from now on, mounts; raises DiskMissingError.

    A container that begins meanwhile would else have copies of the mounts, and keep unmounted disks in use.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) != 0:
        raise DiskMissingError(f"mounting a disk needs root: {os.strerror(ctypes.get_errno())}")
    _command("mount", "--make-rprivate", "/")


class PlainDisk:
    """A folder of this machine: it only holds files."""

    name = "plain"
    may_refuse = False
    """Whether the service may say that it can't write."""

    def __init__(self, scratch: Path) -> None:
        """Take a folder of one's own."""
        self.folder = scratch / "files"

    def __enter__(self) -> Self:
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the files to whoever made the scratch folder."""

    def disturb(self, rng: random.Random) -> None:
        """Let trouble begin, if this disk has any."""

    def heal(self) -> None:
        """Let the trouble end."""

    def before_kill(self, rng: random.Random) -> None:
        """Let happen what comes at the moment of a kill."""

    def after_kill(self) -> None:
        """Make the files readable again once nobody uses them."""


class Ext4Disk(PlainDisk):
    """An ext4 file system of ``size_mib`` in a file of this machine, on a loop device."""

    name = "ext4"

    def __init__(self, scratch: Path, size_mib: int = _SIZE_MIB) -> None:
        super().__init__(scratch)
        self._image = scratch / "image"
        self._size_mib = size_mib

    def __enter__(self) -> Self:
        super().__enter__()
        if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
            raise DiskMissingError(f"a disk that is {self.name} needs root and e2fsprogs")
        self._make_image()
        # Otherwise the kernel goes on making it once it is mounted.
        whole = "lazy_itable_init=0,lazy_journal_init=0"
        _command("mkfs.ext4", "-q", "-F", "-b", str(_BLOCK_BYTES), "-E", whole, str(self._image))
        self._mount()
        return self

    def __exit__(self, *_: object) -> None:
        # Where it could not be mounted again, that error is the one to show.
        if self.folder.is_mount():
            self._unmount()

    def _make_image(self) -> None:
        with self._image.open("wb") as image:
            image.truncate(self._size_mib * 1024**2)

    def written_bytes(self) -> int:
        """Return what the device was given to write since it was mounted, in bytes; nothing waits any more then."""
        _command("sync", "--file-system", str(self.folder))
        device = self.folder.stat().st_dev
        counts = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text().split()
        return int(counts[_SECTORS_WRITTEN]) * SECTOR_BYTES

    def _mount(self) -> None:
        _command("mount", "-o", "loop", str(self._image), str(self.folder))

    def _unmount(self) -> None:
        _command("umount", str(self.folder))


class FullDisk(Ext4Disk):
    """One that is filled to its last byte, and has room again once what fills it is gone."""

    name = "full"
    may_refuse = True

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def disturb(self, rng: random.Random) -> None:
        """Fill it, but for at most a few pages."""
        with self._ballast.open("wb", buffering=0) as ballast:
            try:
                for size in (64 * 1024, 4096, 512):
                    while True:
                        try:
                            ballast.write(bytes(size))
                        except OSError as error:
                            if error.errno != errno.ENOSPC:
                                raise
                            break
            finally:
                os.fsync(ballast.fileno())
                ballast.truncate(max(0, ballast.tell() - rng.choice((0, 0, 4096, 16 * 1024))))

    def heal(self) -> None:
        """Make room."""
        self._ballast.unlink(missing_ok=True)

    def after_kill(self) -> None:
        """Make room: a table does not start on a disk without any."""
        self.heal()


class CardDisk(Ext4Disk):
    """One on a memory card that does as it is told."""

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch)
        self._socket = scratch / "socket"
        self._image = self._socket / "card"

    def _make_image(self) -> None:
        self._socket.mkdir()
        self._card = subprocess.Popen(
            [sys.executable, str(_CARD), str(self._socket), str(self._size_mib)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        end_s = time.monotonic() + _PATIENCE_S
        while not self._image.exists():
            if self._card.poll() is not None or time.monotonic() > end_s:
                raise DiskMissingError(
                    f"a disk that is {self.name} needs FUSE (/dev/fuse, apt install libfuse3-3, pip install mfusepy)"
                )
            time.sleep(0.02)

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        _command("umount", str(self._socket))
        self._card.communicate(timeout=_PATIENCE_S)

    def order(self, order: str) -> None:
        """Give the card an order and wait until it is carried out."""
        assert self._card.stdin is not None
        assert self._card.stdout is not None
        self._card.stdin.write(f"{order}\n")
        self._card.stdin.flush()
        if self._card.stdout.readline() != "done\n":
            raise RuntimeError(f"the card did not take the order {order!r}")

    def heal(self) -> None:
        """Let writes and syncs succeed at once."""
        self.order("well")


class SlowDisk(CardDisk):
    """One that takes a tenth of a second for each sync."""

    name = "slow"

    def disturb(self, rng: random.Random) -> None:  # noqa: ARG002 - slow is slow
        """Let syncs take their time."""
        self.order(f"slow {_SLOW_SYNC_S}")


class FailingDisk(CardDisk):
    """One that fails a share of writes and syncs; ext4 may give it up then, until it is mounted again."""

    name = "failing"
    may_refuse = True

    def disturb(self, rng: random.Random) -> None:
        """Let writes and syncs fail."""
        self.order(f"fail {rng.choice(_FAILING_SHARES)} {rng.getrandbits(32)}")

    def after_kill(self) -> None:
        """Mount it again, as the next start of the machine would."""
        self.heal()
        self._unmount()
        _command("e2fsck", "-p", str(self._image), most=1)
        self._mount()


class CutDisk(CardDisk):
    """One whose power goes at the moment of the kill: what was not synced is lost in part."""

    name = "cut"
    may_refuse = True

    def before_kill(self, rng: random.Random) -> None:
        """Cut the power."""
        self.order(f"cut {rng.getrandbits(32)}")

    def after_kill(self) -> None:
        """Give it power and mount it, as the next start of the machine would."""
        self._unmount()
        self.order("power")
        _command("e2fsck", "-p", str(self._image), most=1)
        self._mount()


DISKS: dict[str, type[PlainDisk]] = {
    kind.name: kind for kind in (PlainDisk, Ext4Disk, FullDisk, SlowDisk, FailingDisk, CutDisk)
}


def _command(*words: str, most: int = 0) -> None:
    """Run a command; raises RuntimeError with what it said when its exit code is above ``most``."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode > most:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
