"""Whole environments, made by pip from wheels on this machine: installed, moved, stopped, and made again."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.guard import GUARD_S
from tests.scripts.conftest import Project


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
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert project.environments() == []


@pytest.mark.long
def test_no_network_is_told_with_pips_own_lines(project, real_python):
    with contextlib.closing(ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler).socket) as closed:
        port = closed.getsockname()[1]
    done = project.call("run", env={"PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple", "PIP_RETRIES": "1"})
    assert done.returncode == 70
    assert "check the internet connection" in done.stderr.splitlines()[1]
    assert "Failed to establish a new connection" in done.stderr
    assert len(done.stderr.splitlines()) <= 10
    assert project.environments() == []


@pytest.mark.long
def test_a_full_disk_is_told_with_pips_own_lines(project, real_python, offline):
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
        assert done.returncode == 70
        assert "No space left on device" in done.stderr
        assert list((small / "project").glob(".venv*")) == []
    finally:
        subprocess.run(["umount", small], check=True)


class SlowIndex:
    """A local package index that answers only after it is released."""

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
def slow_index(project: Project) -> Iterator[SlowIndex]:
    """An index that has the project's wheels."""
    with SlowIndex(project.folder.parent / "wheels") as index:
        yield index


@pytest.mark.long
def test_two_simultaneous_calls_install_once(project, real_python, slow_index):
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
def test_the_next_call_cleans_up_after_a_killed_one(project, real_python, slow_index):
    with project.start("run", **slow_index.settings) as call:
        assert slow_index.asked.wait(60)
        os.killpg(call.pid, signal.SIGKILL)
    (left,) = project.environments()
    assert left.startswith(".venv-new-")
    slow_index.go.set()
    assert project.call("run", env=slow_index.settings).returncode == 0
    assert project.environments() == [".venv"]
