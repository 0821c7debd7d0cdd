"""A container of this system's files, in which the real systemd starts the installed referee."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.systemd import UNIT
from tests.guard import GUARD_S
from tests.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[3]
PRODUCT = (
    *("run", "scripts", "requirements.txt", "pyproject.toml"),
    *ROOMS,
)
NEEDS_CONTAINER = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, ("systemd-nspawn", "nsenter", "systemctl"))),
    reason="needs root and systemd-nspawn: apt install systemd-container",
)


class Machine:
    """A container of this system's files that runs systemd; writes are discarded afterwards."""

    def __init__(self, files: Path, nspawn: int) -> None:
        self.files = files
        self._children = Path(f"/proc/{nspawn}/task/{nspawn}/children")

    def __call__(self, *command: object) -> str:
        """Run a command in it; gives what it prints."""
        # Its first process is the newest: while it begins, systemd-nspawn has another child.
        leaders = self._children.read_text().split()
        if not leaders:
            return ""
        inside = ["nsenter", f"--target={leaders[-1]}", "--mount", "--pid", "--ipc", "--uts", "--root", "--wdns=/"]
        done = subprocess.run([*inside, *map(str, command)], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def shows(self, name: str) -> str:
        """Give a property of the service."""
        return self("systemctl", "show", f"--property={name}", "--value", UNIT).strip()

    def wait_for(self, what: Callable[[], bool]) -> None:
        """Wait until something holds; fails with the service's log after long."""
        deadline_s = time.monotonic() + GUARD_S
        while not what():
            assert time.monotonic() < deadline_s, self("journalctl", "--no-pager", "-u", UNIT)
            time.sleep(0.2)


@contextmanager
def product_in(scratch: Path) -> Iterator[Path]:
    """Give this system's files with the referee in /opt/table; writes are discarded afterwards."""
    folders = {name: scratch / name for name in ("upper", "work", "root")}
    for folder in folders.values():
        folder.mkdir()
    files = folders["root"]
    layers = f"lowerdir=/,upperdir={folders['upper']},workdir={folders['work']}"
    mounted = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, files], check=False)
    if mounted.returncode != 0:
        pytest.skip("no overlay can be mounted here")
    try:
        (files / "etc/machine-id").write_text("")
        # What this system starts by itself has no business in there.
        shutil.rmtree(files / "etc/systemd/system/multi-user.target.wants", ignore_errors=True)
        table = files / "opt/table"
        table.mkdir(parents=True)
        # The first run makes the environment.
        subprocess.run([ROOT / "run", "--version"], check=True)
        for name in (*PRODUCT, ".venv"):
            subprocess.run(["cp", "-a", ROOT / name, table], check=True)
        yield files
    finally:
        subprocess.run(["umount", files], check=False)


@contextmanager
def booted(files: Path, *options: str) -> Iterator[Machine]:
    """Boot a container of these files and wait until it is up; ``options`` are systemd-nspawn's."""
    booting = subprocess.Popen(
        ["systemd-nspawn", "--quiet", f"--directory={files}", "--boot", "--register=no", "--keep-unit", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    with ExitStack() as stack:
        stack.callback(booting.wait)
        stack.callback(booting.send_signal, signal.SIGTERM)
        machine = Machine(files, booting.pid)
        machine.wait_for(lambda: machine("systemctl", "is-system-running").strip() in ("running", "degraded"))
        yield machine
