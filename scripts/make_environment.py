"""Make a virtual environment from a hash-locked requirements file, whole or not at all.

``make_environment.py VENV LOCK`` builds the environment beside VENV, then renames it. Concurrent callers wait. Standard
library only, since it runs before anything is installed.
"""

import contextlib
import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

FAILED = 70
NO_VENV_MODULE = 72
CANNOT_WRITE = 73

_LAST_LINES = 8
# Settings of the user's pip that would send packages elsewhere than into the environment.
_MISLEADING = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV", "PYTHONPATH", "PYTHONHOME")

_CLEAR_LINE = "\r\x1b[K"

_LAUNCHER = """\
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/python" -P -m app "$@"
"""


class SetUpError(Exception):
    """The environment could not be made; ``exit_code`` says which kind of failure it was."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Progress:
    """Shows progress: one changing line on a terminal, otherwise a line at the start and at the end."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream = stream
        self._total = total
        self._done = 0
        self._changes = stream.isatty()

    def start(self) -> None:
        """Announce the installation."""
        self._line("Installing what the referee needs; this happens once and takes about a minute", keep=True)

    def pip_line(self, line: str) -> None:
        """Update the progress from a line of pip's output."""
        words = line.split()
        # pip says "Processing" for a local wheel, and ignores what other machines need before it fetches the rest.
        if words[:1] == ["Ignoring"]:
            self._total -= 1
        elif words[:1] in (["Collecting"], ["Processing"]) and self._changes:
            self._done += 1
            file_name = words[1].rpartition("/")[2]
            name = file_name.partition("-" if file_name.endswith(".whl") else "==")[0]
            self._line(f"  fetching {self._done} of {self._total}: {name}")
        elif words[:1] == ["Installing"] and self._changes:
            self._line("  unpacking ...")

    def end(self) -> None:
        """Announce the end of the installation."""
        self._line("Installed.", keep=True)

    def _line(self, text: str, *, keep: bool = False) -> None:
        clear = _CLEAR_LINE if self._changes else ""
        print(clear + text, end="\n" if keep else "", file=self._stream, flush=True)


def check_modules() -> None:
    """Raise SetUpError when this Python lacks ``venv`` or ``ensurepip``, which Debian packages separately."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SetUpError(
            NO_VENV_MODULE,
            f"this Python {version} lacks the module {' and '.join(missing)}, which makes virtual environments; "
            f"install it (on Debian: apt install python3-venv) and run this again",
        )


def failed(said: str) -> SetUpError:
    """Tell that a step of the installation failed, with the last lines that it printed: those of errors, if any."""
    lines = said.strip().splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    last = "".join(f"\n  {line}" for line in (errors or lines)[-_LAST_LINES:])
    return SetUpError(
        FAILED,
        "the packages cannot be installed; check the internet connection, the clock (date) and the disk (1 GB is "
        f"needed), and run this again. The last that was said:{last or ' nothing'}",
    )


def run_quietly(command: Sequence[str], on_line: Callable[[str], None], env: Mapping[str, str]) -> tuple[int, str]:
    """Run a command, give ``on_line`` each line it prints, and return its exit code and all it said."""
    lines = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line)
                on_line(line)
            process.wait()
        finally:
            process.kill()  # does nothing to one that has ended
    return process.returncode, "".join(lines)


def build(new: Path, venv: Path, lock: Path, progress: Progress) -> None:
    """Fill the folder ``new`` with an environment that works once it is renamed to ``venv``."""
    project = venv.parent
    env = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
    # The real file, not a link such as python3: when a distribution upgrades Python, the environment's link then
    # dangles and the environment is rebuilt, instead of failing to find its packages.
    python = os.path.realpath(sys.executable)
    # A folder that may not be written is told before anything starts.
    new.mkdir()
    own = [str(new / "bin" / "python"), "-I", "-m"]
    # In two steps, because venv hides the output of a failing ensurepip.
    for command in ([python, "-I", "-m", "venv", "--without-pip", str(new)], [*own, "ensurepip", "--default-pip"]):
        code, said = run_quietly(command, lambda _line: None, env)
        if code:
            raise failed(said)
    pip = [*own, "pip", "--disable-pip-version-check", "--no-input"]
    options = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-warn-script-location", "--no-user"]
    code, said = run_quietly(
        [*pip, "install", *options, "--progress-bar", "off", "-r", str(lock)], progress.pip_line, env
    )
    if code:
        raise failed(said)
    add_project(new, project)
    move_scripts(new / "bin", new, venv)
    (new / "made-with.txt").write_text(
        f"{sys.version_info.major}.{sys.version_info.minor} {sys.base_prefix}\n", encoding="utf-8"
    )
    shutil.copyfile(lock, new / "lock.txt")
    if os.geteuid() == 0:
        give_to_owner(new, project)


def add_project(new: Path, project: Path) -> None:
    """Make the project importable in place, with its metadata and the launcher ``bin/referee``."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = new / "lib" / f"python{version}" / "site-packages"
    # Relative to site-packages, so that a moved project with its environment still works.
    (packages / "tabletop_referee.pth").write_text(os.path.relpath(new.parent, packages) + "\n", encoding="utf-8")
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = packages / f"tabletop_referee-{about['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n", encoding="utf-8"
    )
    launcher = new / "bin" / "referee"
    launcher.write_text(_LAUNCHER, encoding="utf-8")
    launcher.chmod(0o755)


def give_to_owner(new: Path, project: Path) -> None:
    """Give what root has made to the owner of the project's folder, who has to replace it one day."""
    owner = project.stat()
    with contextlib.suppress(OSError):  # in a container, root may have no right to do this
        for path in (new, *new.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def move_scripts(scripts: Path, old: Path, new: Path) -> None:
    """Replace the folder ``old`` by ``new`` in the text files of ``scripts``."""
    for script in scripts.iterdir():
        if script.is_file() and not script.is_symlink():
            content = script.read_bytes()
            if b"\0" not in content and bytes(old) in content:
                script.write_bytes(content.replace(bytes(old), bytes(new)))


@contextlib.contextmanager
def one_at_a_time(project: Path, stream: TextIO) -> Iterator[None]:
    """Lock the project's folder; a second caller says so and waits. The lock ends with its process."""
    folder = os.open(project, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another call is already installing; waiting for it ...", file=stream, flush=True)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def is_made(venv: Path, lock: Path) -> bool:
    """Whether ``venv`` was made from this lock by this Python."""
    try:
        made_with = (venv / "made-with.txt").read_text(encoding="utf-8").rstrip("\n")
        same_lock = (venv / "lock.txt").read_bytes() == lock.read_bytes()
    except OSError:
        return False
    wanted = f"{sys.version_info.major}.{sys.version_info.minor} {sys.base_prefix}"
    return same_lock and made_with == wanted and os.access(venv / "bin" / "python", os.X_OK)


def make(venv: Path, lock: Path, stream: TextIO) -> None:
    """Make ``venv`` from ``lock`` unless it exists; raises SetUpError and leaves nothing half-made."""
    project = venv.parent
    check_modules()
    try:
        with one_at_a_time(project, stream):
            if is_made(venv, lock):
                return
            if venv.is_symlink() or (venv.exists() and not venv.is_dir()):
                raise SetUpError(
                    CANNOT_WRITE, f"{venv} is a {'link' if venv.is_symlink() else 'file'}; remove it and run this again"
                )
            for left in (*project.glob(f"{venv.name}-new-*"), *project.glob(f"{venv.name}-old-*")):
                # One that root made stays.
                shutil.rmtree(left, ignore_errors=True)
            new, old = (project / f"{venv.name}-{what}-{os.getpid()}" for what in ("new", "old"))
            total = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
            progress = Progress(stream, total)
            progress.start()
            try:
                build(new, venv, lock, progress)
                if venv.exists():
                    venv.rename(old)
                new.rename(venv)
            finally:
                if old.exists() and not venv.exists():
                    old.rename(venv)
                shutil.rmtree(new, ignore_errors=True)
                shutil.rmtree(old, ignore_errors=True)
            progress.end()
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        remedy = "" if is_missing else f"; type ./run in {project} once as its owner, with 1 GB free on its disk"
        reason = f"cannot use {error.filename or project}: {error.strerror or error}{remedy}"
        raise SetUpError(CANNOT_WRITE, reason) from error


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(arguments: Sequence[str]) -> int:
    """Make the environment that the arguments name; return the exit code."""
    venv, lock = (Path(argument).absolute() for argument in arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    clear = _CLEAR_LINE if sys.stderr.isatty() else ""
    try:
        make(venv, lock, sys.stderr)
    except SetUpError as error:
        print(f"{clear}{error}", file=sys.stderr)
        return error.exit_code
    except SystemExit:
        print(f"{clear}Stopped; nothing half-made stays behind.", file=sys.stderr)
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
