"""Which programs have a serial port open, as far as Linux tells this user."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")

# proc_locks(5): number, kind, advisory or mandatory, access, process, then device and inode of what is locked.
_LOCK = re.compile(r"\d+: +\S+ +\S+ +\S+ +(?P<pid>\d+) +(?P<major>[0-9a-f]+):(?P<minor>[0-9a-f]+):(?P<inode>\d+) ")


@dataclass(frozen=True, order=True)
class Holder:
    """A running program: its process number, and its name as ``ps`` shows it, with the module that Python runs."""

    pid: int
    name: str

    def __str__(self) -> str:
        """The name and the process number, for a sentence."""
        return f"{self.name} (process {self.pid})"


def holders(device: str, proc: Path = _PROC) -> tuple[Holder, ...]:
    """List the programs that have ``device`` open or locked, by process number; this very process included.

    What other users' programs have open is hidden from an ordinary user, but their locks are not. So an empty answer
    means that it isn't known, not that nobody has the port. ``proc`` is where the kernel tells about processes.
    """
    path = os.path.realpath(device)
    pids = {*_with_it_open(path, proc), *_with_a_lock(path, proc)}
    return tuple(sorted(Holder(pid, name) for pid in pids if (name := _name(pid, proc)) is not None))


def _with_it_open(path: str, proc: Path) -> Iterable[int]:
    with suppress(OSError):
        for process in proc.iterdir():
            if process.name.isdecimal() and _has_open(process, path):
                yield int(process.name)


def _has_open(process: Path, path: str) -> bool:
    # A process may end, or close a file, at any moment while it is looked at.
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(OSError):
                if os.readlink(link) == path:  # noqa: PTH115 - Path.readlink would be slow over thousands of links
                    return True
    return False


def _with_a_lock(path: str, proc: Path) -> Iterable[int]:
    try:
        node = os.stat(path)  # noqa: PTH116 - a plain string from realpath
        locks = (proc / "locks").read_text()
    except OSError:
        return
    for line in locks.splitlines():
        if (lock := _LOCK.match(line)) is None:
            continue
        where = (int(lock["major"], 16), int(lock["minor"], 16), int(lock["inode"]))
        if where == (os.major(node.st_dev), os.minor(node.st_dev), node.st_ino):
            yield int(lock["pid"])


def _name(pid: int, proc: Path) -> str | None:
    try:
        name = (proc / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return None
    module = _module(proc / str(pid)) if name.startswith("python") else None
    return (name if module is None else f"{name} -m {module}") or None


def _module(process: Path) -> str | None:
    """The module that a Python runs, such as this very referee: "python" alone would tell its owner nothing."""
    with suppress(OSError):
        arguments = (process / "cmdline").read_text(errors="replace").split("\0")
        if "-m" in arguments[:-1]:
            return arguments[arguments.index("-m") + 1] or None
    return None
