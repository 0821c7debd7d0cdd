"""Make a virtual environment from a hash-locked requirements file, whole or not at all.

``make_environment.py VENV LOCK`` builds the environment beside VENV, then renames it. Concurrent callers wait. Standard
library only, since it runs before anything is installed.
"""

import contextlib
import fcntl
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

NO_NETWORK = 69
FAILED = 70
NO_VENV_MODULE = 72
CANNOT_WRITE = 73

_REASONS = (
    (
        ("No space left on device", "Disk quota exceeded"),
        CANNOT_WRITE,
        "the disk is full; free about 1 GB for {project} (and for temporary files) and run this again",
    ),
    (
        ("Read-only file system",),
        CANNOT_WRITE,
        "the packages cannot be installed, because {project} is read-only, as it is for a service; "
        "type ./run there once as the folder's owner",
    ),
    (
        ("Permission denied: '{project}", "Operation not permitted: '{project}"),
        CANNOT_WRITE,
        "the packages cannot be installed, because you may not write in {project}; "
        "type ./run there once as its owner (shown by: ls -ld {project})",
    ),
    (
        ("certificate is not yet valid", "certificate has expired"),
        NO_NETWORK,
        "the package index's certificate is out of date by this machine's clock; check it with: date",
    ),
    (
        ("DO NOT MATCH THE HASHES",),
        FAILED,
        "a package that was fetched does not match its hash in the lock; try again, and report it if it happens again",
    ),
    (
        (
            "Failed to establish a new connection",
            "Temporary failure in name resolution",
            "Name or service not known",
            "Failed to resolve",
            "Network is unreachable",
            "Connection refused",
            "Connection aborted",
            "Connection reset",
            "connection timed out",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "Read timed out",
            "ProxyError",
            "SSLError",
        ),
        NO_NETWORK,
        "the package index cannot be reached; connect this machine to the internet (or set pip's proxy) "
        "and run this again",
    ),
)
"""What pip and the file system say, the exit code, and what to tell about it; the first that fits counts."""
# Settings of the user's pip that would send packages elsewhere than into the environment.
_MISLEADING = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV", "PYTHONPATH", "PYTHONHOME")

_CLEAR_LINE = "\r\x1b[K"

_LAUNCHER = """\
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/python" -P -m referee "$@"
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


def explain(said: str, project: Path) -> SetUpError | None:
    """Turn a known failure, as pip or the file system says it, into one clear sentence and its exit code."""
    for words, code, sentence in _REASONS:
        if any(each.format(project=project) in said for each in words):
            return SetUpError(code, sentence.format(project=project))
    return None


def explain_pip(said: str, project: Path) -> SetUpError:
    """Turn the output of a pip that failed into one clear sentence and its exit code."""
    if (known := explain(said, project)) is not None:
        return known
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    if any("No matching distribution" in line for line in errors):
        return SetUpError(
            FAILED,
            f"a package is not available for Python {platform.python_version()} on {platform.machine()} "
            f"({errors[-1]}); Python 3.11 to 3.13 on x86-64 and aarch64 are supported",
        )
    last = errors[-1] if errors else (said.strip().splitlines() or ["it said nothing"])[-1]
    return SetUpError(FAILED, f"the installation failed: {last}")


def explain_os_error(error: OSError, project: Path) -> SetUpError:
    """Turn an error of the file system into one clear sentence and its exit code."""
    file = error.filename or project
    said = f"{os.strerror(error.errno or 0)}: '{file}'"
    return explain(said, project) or SetUpError(CANNOT_WRITE, f"cannot use {file}: {error.strerror or error}")


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
    own = [str(new / "bin" / "python"), "-I", "-m"]
    # In two steps, because venv hides the output of a failing ensurepip.
    for command in ([python, "-I", "-m", "venv", "--without-pip", str(new)], [*own, "ensurepip", "--default-pip"]):
        code, said = run_quietly(command, lambda _line: None, env)
        if code:
            raise explain_pip(said, project)
    pip = [*own, "pip", "--disable-pip-version-check", "--no-input"]
    options = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-warn-script-location", "--no-user"]
    code, said = run_quietly(
        [*pip, "install", *options, "--progress-bar", "off", "-r", str(lock)], progress.pip_line, env
    )
    if code:
        raise explain_pip(said, project)
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
        raise explain_os_error(error, project) from error


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
