"""Making the environment: whole or not at all, one at a time, and every failure in one clear sentence."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.guard import GUARD_S

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_environment.py"


@pytest.fixture(scope="module")
def making():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("make_environment", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (
            "ERROR: Could not install due to an OSError: [Errno 28] No space left on device\n",
            73,
            "disk is full",
        ),
        ("OSError: [Errno 122] Disk quota exceeded: 'x'\n", 73, "disk is full"),
        (
            "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<x>: Failed to "
            "establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/click/\n"
            "ERROR: Could not find a version that satisfies the requirement click==8.5.1 (from versions: none)\n"
            "ERROR: No matching distribution found for click==8.5.1\n",
            69,
            "cannot be reached",
        ),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: pool: Read timed out.\n", 69, "cannot be reached"),
        (
            "WARNING: Retrying after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: "
            "CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate is not yet valid'))': /simple/click/\n",
            69,
            "clock",
        ),
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n",
            70,
            "not the one the lock names",
        ),
        ("ERROR: No matching distribution found for numpy==2.4.6\n", 70, "numpy==2.4.6"),
        ("Collecting x\nERROR: Something new\n", 70, "Something new"),
        ("a last word\n", 70, "a last word"),
        ("", 70, "it said nothing"),
    ],
)
def test_pips_failures_become_one_sentence(making, said, code, words):
    error = making.explain_pip(said, Path("/the/project"))
    assert error.exit_code == code
    assert words in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "disk is full"), (errno.EROFS, "cannot use /p/x: Read-only")],
)
def test_errors_of_the_file_system_become_one_sentence(making, number, words):
    error = making.explain_os_error(OSError(number, os.strerror(number), "/p/x"), Path("/p"))
    assert error.exit_code == 73
    assert words in str(error)


def test_a_build_that_fails_leaves_what_was_there(making, tmp_path, monkeypatch, capsys):
    lock = tmp_path / "lock"
    lock.write_text("new\n", encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "lock.txt").write_text("old\n", encoding="utf-8")
    (tmp_path / ".venv-new-1").mkdir()

    def half(new, venv, lock, progress):
        (new / "bin").mkdir(parents=True)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(new))

    monkeypatch.setattr(making, "build", half)
    with pytest.raises(making.SetUpError, match="disk is full"):
        making.make(tmp_path / ".venv", lock, sys.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".venv", "lock"]
    assert (tmp_path / ".venv" / "lock.txt").read_text(encoding="utf-8") == "old\n"
    assert capsys.readouterr().err.startswith("Installing")


def test_scripts_follow_the_folder_and_binaries_stay_as_they_are(making, tmp_path):
    old, new = tmp_path / "old name", tmp_path / "new"
    (old / "bin").mkdir(parents=True)
    (old / "bin" / "tool").write_text(f"#!/bin/sh\n'''exec' \"{old}/bin/python\" \"$0\"\n", encoding="utf-8")
    binary = b"\x7fELF\0" + bytes(old)
    (old / "bin" / "binary").write_bytes(binary)
    making.move_scripts(old / "bin", old, new)
    assert (old / "bin" / "tool").read_text(encoding="utf-8") == f"#!/bin/sh\n'''exec' \"{new}/bin/python\" \"$0\"\n"
    assert (old / "bin" / "binary").read_bytes() == binary


def test_a_real_environment_end_to_end(project, real_python, offline, tmp_path):
    first = project.call("run", "--seed", "7 8", env=offline)
    assert (first.returncode, first.stdout) == (0, "referee '--seed' '7 8'\n"), first.stderr
    assert first.stderr.startswith("Installing what the referee needs")
    assert project.environments() == [".venv"]

    (tmp_path / "referee").mkdir()
    (tmp_path / "referee" / "__init__.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    again = project.call("run", cwd=tmp_path, env={**offline, "PYTHONPATH": str(tmp_path)})
    assert (again.returncode, again.stdout, again.stderr) == (0, "referee\n", "")

    python = project.folder / ".venv" / "bin" / "python"
    ask = "import importlib.metadata as m, pebble; print(m.version('tabletop-referee'), pebble.VERSION)"
    assert subprocess.check_output([python, "-I", "-c", ask], text=True) == "1.2.3 1.0\n"
    command = subprocess.check_output([python.parent / "referee", "new"], text=True, cwd=tmp_path)
    assert command == "referee 'new'\n"
    assert str(project.folder / ".venv" / "bin") in (python.parent / "pebble").read_text(encoding="utf-8")

    moved = project.folder.rename(project.folder.parent / "moved")
    assert subprocess.check_output([moved / "run", "x"], text=True, env=project.environment()) == "referee 'x'\n"


@pytest.mark.long
def test_a_changed_lock_installs_again(project, real_python, offline, lock_version):
    assert project.call("run", env=offline).returncode == 0
    lock_version("2.0")
    assert project.call("run", env=offline).returncode == 0
    ask = [project.folder / ".venv" / "bin" / "python", "-I", "-c", "import pebble; print(pebble.VERSION)"]
    assert subprocess.check_output(ask, text=True) == "2.0\n"
    assert project.environments() == [".venv"]


@pytest.mark.long
def test_a_package_that_is_not_the_locked_one_is_refused(project, real_python, offline):
    lock = (project.folder / "requirements.txt").read_text(encoding="utf-8")
    project.write("requirements.txt", lock[:-3] + "00\n")
    done = project.call("run", env=offline)
    assert done.returncode == 70
    assert "not the one the lock names" in done.stderr
    assert project.environments() == []


@pytest.mark.long
def test_no_network_is_one_clear_sentence(project, real_python):
    with contextlib.closing(ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler).socket) as closed:
        port = closed.getsockname()[1]
    done = project.call("run", env={"PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple", "PIP_RETRIES": "1"})
    assert done.returncode == 69
    assert "the package index cannot be reached" in done.stderr.splitlines()[-1]
    assert len(done.stderr.splitlines()) == 2
    assert project.environments() == []


@pytest.mark.long
def test_a_full_disk_is_one_clear_sentence(project, real_python, offline):
    wheels = project.folder.parent / "wheels"
    small = project.folder.parent / "small"
    small.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        shutil.copytree(project.folder, small / "project")
        done = subprocess.run(
            [small / "project" / "run"],
            env=project.environment(**{**offline, "PIP_FIND_LINKS": str(wheels)}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 73
        assert "the disk is full" in done.stderr.splitlines()[-1]
        assert list((small / "project").glob(".venv*")) == []
    finally:
        subprocess.run(["umount", small], check=True)


class SlowIndex:
    """A package index on this machine that answers nothing before it is let go."""

    def __init__(self, wheels):
        self.asked = threading.Event()
        self.go = threading.Event()
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                index.asked.set()
                if not index.go.wait(60):
                    return
                wheel = wheels / Path(self.path).name
                body = wheel.read_bytes() if wheel.is_file() else b""
                if not body:
                    body = "".join(f'<a href="/{path.name}">{path.name}</a>' for path in wheels.iterdir()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html" if not wheel.is_file() else "application/zip")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):
                    self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self.go.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def settings(self):
        """Pip's settings that lead to this index."""
        return {"PIP_INDEX_URL": f"http://127.0.0.1:{self._server.server_port}/simple"}


@pytest.fixture
def slow_index(project):
    """An index that has the project's wheels."""
    with SlowIndex(project.folder.parent / "wheels") as index:
        yield index


@pytest.mark.long
def test_two_at_once_install_once(project, real_python, slow_index):
    with project.start("run", **slow_index.settings) as first:
        assert slow_index.asked.wait(60)
        with project.start("run", **slow_index.settings) as second:
            assert "waiting for it" in second.stderr.readline()
            slow_index.go.set()
            assert second.communicate(timeout=GUARD_S) == ("referee\n", "")
        assert first.communicate(timeout=GUARD_S)[0] == "referee\n"
    assert project.environments() == [".venv"]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopping_an_installation_leaves_nothing(project, real_python, slow_index, number):
    with project.start("run", **slow_index.settings) as call:
        assert slow_index.asked.wait(60)
        assert project.environments() != []
        os.killpg(call.pid, number)
        said = call.communicate(timeout=GUARD_S)[1]
    assert said.splitlines()[-1] == "Stopped; nothing half-made stays behind."
    assert "Traceback" not in said
    with project.start("run", **slow_index.settings) as after:
        # The next call gets the lock only when the stopped one has cleared up and gone.
        slow_index.go.set()
        assert after.communicate(timeout=GUARD_S)[0] == "referee\n"
    assert project.environments() == [".venv"]


@pytest.mark.long
def test_after_a_sudden_death_the_next_call_clears_up(project, real_python, slow_index):
    with project.start("run", **slow_index.settings) as call:
        assert slow_index.asked.wait(60)
        os.killpg(call.pid, signal.SIGKILL)
    (left,) = project.environments()
    assert left.startswith(".venv-new-")
    slow_index.go.set()
    assert project.call("run", env=slow_index.settings).returncode == 0
    assert project.environments() == [".venv"]


class Terminal(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, *, is_terminal):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


PIP_SAYS = (
    "Collecting markdown-it-py==4.3.0 (from -r lock (line 1))",
    "Processing /wheels/rich-15.0.0-py3-none-any.whl",
    "Installing collected packages: numpy, rich",
)


def test_progress_counts_on_a_terminal(making):
    stream = Terminal(is_terminal=True)
    progress = making.Progress(stream, 2)
    for line in ("", *PIP_SAYS):
        progress.pip_line(line)
    steps = stream.getvalue().split("\r\x1b[K")[1:]
    assert steps == ["  fetching 1 of 2: markdown-it-py", "  fetching 2 of 2: rich", "  unpacking ..."]


def test_progress_is_quiet_elsewhere(making):
    stream = Terminal(is_terminal=False)
    progress = making.Progress(stream, 2)
    progress.start()
    for line in PIP_SAYS:
        progress.pip_line(line)
    progress.end()
    assert len(stream.getvalue().splitlines()) == 2
    assert "\x1b" not in stream.getvalue()
