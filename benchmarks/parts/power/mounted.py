"""Disks for the journal of a table that is killed: a plain folder, or a faulty ext4 file system.

All but the folder need root and e2fsprogs. The full disk is a small one that gets filled; slow, failing and cut ones
are on a simulated memory card (``card.py``), which needs FUSE.
"""

import ctypes
import errno
import os
import random
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Self

_SIZE_MIB = 16
_BLOCK_BYTES = 4096
"""A page, so that no request is split: a loop device reports success if only the first part is written."""
_SECTORS_WRITTEN = 6
"""Index of the written sectors in a device's statistics (Documentation/block/stat.rst)."""
SECTOR_BYTES = 512
"""The kernel's unit for counting, whatever the disk's block size."""
_SLOW_SYNC_S = 0.1
_FAILING_SHARES = (1.0, 0.5, 0.2)
_TIMEOUT_S = 30.0
_NEW_MOUNT_NAMESPACE = 0x00020000
"""``CLONE_NEWNS`` of Linux's sched.h."""
_CARD = Path(__file__).with_name("card.py")


class DiskMissingError(Exception):
    """A disk that this machine can't make; the message says what is missing."""


def unshare_mounts() -> None:
    """Move this thread and its future children to a private mount namespace; raises DiskMissingError.

    Otherwise containers that start meanwhile would copy the mounts and keep unmounted disks in use.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNT_NAMESPACE) != 0:
        raise DiskMissingError(f"mounting a disk needs root: {os.strerror(ctypes.get_errno())}")
    _command("mount", "--make-rprivate", "/")


class PlainDisk:
    """A folder without faults."""

    name = "plain"
    may_refuse = False
    """Whether the service may report that it can't write."""

    def __init__(self, scratch: Path) -> None:
        """Use a private scratch folder."""
        self.folder = scratch / "files"

    def __enter__(self) -> Self:
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        """Keep the files; the owner of the scratch folder removes them."""

    def disturb(self, rng: random.Random) -> None:
        """Begin the disk's faults, if it has any."""

    def heal(self) -> None:
        """End the faults."""

    def before_kill(self, rng: random.Random) -> None:
        """Inject the fault that comes with a kill, if any."""

    def after_kill(self) -> None:
        """Make the files readable again, after the process has ended."""


class Ext4Disk(PlainDisk):
    """An ext4 file system of ``size_mib`` in an image file, on a loop device."""

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
        # Otherwise the kernel goes on initialising it after mounting.
        whole = "lazy_itable_init=0,lazy_journal_init=0"
        _command("mkfs.ext4", "-q", "-F", "-b", str(_BLOCK_BYTES), "-E", whole, str(self._image))
        self._mount()
        return self

    def __exit__(self, *_: object) -> None:
        # If remounting failed, that error is the one to report.
        if self.folder.is_mount():
            self._unmount()

    def _make_image(self) -> None:
        with self._image.open("wb") as image:
            image.truncate(self._size_mib * 1024**2)

    def written_bytes(self) -> int:
        """Sync, and return the bytes written to the device since it was mounted."""
        _command("sync", "--file-system", str(self.folder))
        device = self.folder.stat().st_dev
        counts = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text().split()
        return int(counts[_SECTORS_WRITTEN]) * SECTOR_BYTES

    def _mount(self) -> None:
        _command("mount", "-o", "loop", str(self._image), str(self.folder))

    def _unmount(self) -> None:
        _command("umount", str(self.folder))


class FullDisk(Ext4Disk):
    """A disk that can be filled completely, and freed again."""

    name = "full"
    may_refuse = True

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def disturb(self, rng: random.Random) -> None:
        """Fill it, leaving at most a few pages."""
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
        """Free the space."""
        self._ballast.unlink(missing_ok=True)

    def after_kill(self) -> None:
        """Free the space: a table does not start on a full disk."""
        self.heal()


class CardDisk(Ext4Disk):
    """A disk on a simulated memory card that takes commands."""

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch)
        self._mount_point = scratch / "socket"
        self._image = self._mount_point / "card"

    def __enter__(self) -> Self:
        self._mount_point.mkdir()
        with ExitStack() as undo:
            self._card = subprocess.Popen(
                [sys.executable, str(_CARD), str(self._mount_point), str(self._size_mib)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            undo.callback(self._remove_card)
            super().__enter__()
            undo.pop_all()
        return self

    def _make_image(self) -> None:
        if self._answer() != "ready":
            raise DiskMissingError(
                f"a disk that is {self.name} needs FUSE (/dev/fuse, apt install libfuse3-3, pip install mfusepy)"
            )

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        self._remove_card()

    def _remove_card(self) -> None:
        if self._mount_point.is_mount():
            _command("umount", str(self._mount_point))
        else:
            self._card.terminate()
        self._card.communicate(timeout=_TIMEOUT_S)

    def _answer(self) -> str:
        """Wait for the card's next line; empty when the card has ended."""
        assert self._card.stdout is not None
        return self._card.stdout.readline().rstrip("\n")

    def command(self, command: str) -> None:
        """Send the card a command and wait until it is executed."""
        assert self._card.stdin is not None
        self._card.stdin.write(f"{command}\n")
        self._card.stdin.flush()
        if self._answer() != "done":
            raise RuntimeError(f"the card did not accept the command {command!r}")

    def heal(self) -> None:
        """Let writes and syncs succeed at once."""
        self.command("well")


class SlowDisk(CardDisk):
    """A disk whose syncs take a tenth of a second."""

    name = "slow"

    def disturb(self, rng: random.Random) -> None:  # noqa: ARG002 - slow is slow
        """Slow the syncs down."""
        self.command(f"slow {_SLOW_SYNC_S}")


class FailingDisk(CardDisk):
    """A disk that fails a share of writes and syncs; ext4 may then become read-only until remounted."""

    name = "failing"
    may_refuse = True

    def disturb(self, rng: random.Random) -> None:
        """Let writes and syncs fail."""
        self.command(f"fail {rng.choice(_FAILING_SHARES)} {rng.getrandbits(32)}")

    def after_kill(self) -> None:
        """Check and remount it, as a reboot would."""
        self.heal()
        self._unmount()
        _command("e2fsck", "-p", str(self._image), most=1)
        self._mount()


class CutDisk(CardDisk):
    """A disk whose power is cut at the moment of a kill: unsynced data is partly lost."""

    name = "cut"
    may_refuse = True

    def before_kill(self, rng: random.Random) -> None:
        """Cut the power."""
        self.command(f"cut {rng.getrandbits(32)}")

    def after_kill(self) -> None:
        """Restore the power, check and remount it, as a reboot would."""
        self._unmount()
        self.command("power")
        _command("e2fsck", "-p", str(self._image), most=1)
        self._mount()


DISKS: dict[str, type[PlainDisk]] = {
    kind.name: kind for kind in (PlainDisk, Ext4Disk, FullDisk, SlowDisk, FailingDisk, CutDisk)
}


def _command(*words: str, most: int = 0) -> None:
    """Run a command; raises RuntimeError with its output if its exit code is above ``most``."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode > most:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
