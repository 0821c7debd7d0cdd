"""Show that every locked package has a wheel for each Python and machine the project promises.

Run it as ``.venv-check/bin/python benchmarks/wheels.py [LOCK ...]``. It asks the package index (through uv, by
whatever index your settings name) which wheels exist, and compares their hashes with the lock's. Exit codes:
0 a wheel for all, 1 a package lacks one, 2 the index could not be asked.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

PYTHONS = ((3, 11), (3, 12), (3, 13))
MACHINES = ("x86_64", "aarch64")
GLIBC = (2, 36)
"""The glibc of Debian 12, the oldest Raspberry Pi OS that has Python 3.11."""

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """One Python on one machine."""

    python: tuple[int, int]
    machine: str

    @property
    def name(self) -> str:
        """How the table heads its column: ``3.11 aarch64``."""
        return f"{self.python[0]}.{self.python[1]} {self.machine}"

    def tags(self) -> frozenset[Tag]:
        """Every wheel tag that installs there (PEP 425, PEP 600)."""
        platforms = [f"manylinux_2_{minor}_{self.machine}" for minor in range(GLIBC[1], 16, -1)]
        platforms += [f"manylinux2014_{self.machine}", f"linux_{self.machine}"]
        interpreter = f"cp{self.python[0]}{self.python[1]}"
        return frozenset(
            [
                *cpython_tags(self.python, platforms=platforms),
                *compatible_tags(self.python, interpreter, platforms),
            ]
        )

    def environment(self) -> dict[str, str]:
        """The values of environment markers there (PEP 508)."""
        version = f"{self.python[0]}.{self.python[1]}"
        return {
            "python_version": version,
            "python_full_version": f"{version}.0",
            "sys_platform": "linux",
            "platform_system": "Linux",
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
        }


@dataclass(frozen=True)
class Locked:
    """One package of a lock: its requirement and the SHA-256 hashes it may have."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def name(self) -> str:
        """The package and its version: ``numpy==2.4.6``."""
        return f"{canonicalize_name(self.requirement.name)}{self.requirement.specifier}"


def read_lock(text: str) -> Iterator[Locked]:
    """Give the packages of a hash-locked requirements file."""
    for entry in re.sub(r"\\\n", " ", text).splitlines():
        if entry.strip() and not entry.lstrip().startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=sha256:", entry.strip())
            yield Locked(Requirement(requirement), frozenset(hashes))


def wheels_of(pylock: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Map ``name==version`` to its wheels' file names and hashes, from a parsed pylock.toml (PEP 751)."""
    found: dict[str, dict[str, str]] = {}
    packages = pylock.get("packages", [])
    assert isinstance(packages, list)
    for package in packages:
        wheels = found.setdefault(f"{canonicalize_name(package['name'])}=={package['version']}", {})
        for wheel in package.get("wheels", ()):
            name = wheel.get("name") or unquote(PurePosixPath(urlsplit(wheel["url"]).path).name)
            wheels[name] = wheel["hashes"]["sha256"]
    return found


def fitting(locked: Locked, wheels: Mapping[str, str], tags: Iterable[Tag]) -> str | None:
    """Name a wheel with a locked hash that installs under one of the tags, or ``None``."""
    wanted = frozenset(tags)
    for wheel, digest in wheels.items():
        if digest in locked.hashes and parse_wheel_filename(wheel)[3] & wanted:
            return wheel
    return None


def ask_index(lock: Path) -> dict[str, dict[str, str]]:
    """Ask the package index for the wheels of every locked package; raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "pylock.toml"
        uv = [sys.executable, "-m", "uv", "pip", "compile", str(lock), "--no-deps", "--universal", "--quiet"]
        options = ["--python-version", "3.11", "--format", "pylock.toml", "--output-file", str(answer)]
        subprocess.run([*uv, *options], check=True, capture_output=True, text=True)
        return wheels_of(tomllib.loads(answer.read_text(encoding="utf-8")))


def survey(lock: Path, targets: Sequence[Target]) -> int:
    """Print the table of one lock and return how many wheels are missing."""
    wheels = ask_index(lock)
    tags = {target: target.tags() for target in targets}
    packages = list(read_lock(lock.read_text(encoding="utf-8")))
    print(f"{lock.name}: {len(packages)} packages, glibc {GLIBC[0]}.{GLIBC[1]}")
    print(f"{'':34}" + "".join(f"{target.name:>15}" for target in targets))
    missing = 0
    for locked in packages:
        cells = []
        for target in targets:
            marker = locked.requirement.marker
            if marker is not None and not marker.evaluate(target.environment()):
                cells.append("not needed")
            elif fitting(locked, wheels.get(locked.name, {}), tags[target]):
                cells.append("wheel")
            else:
                cells.append("MISSING")
                missing += 1
        print(f"{locked.name:34}" + "".join(f"{cell:>15}" for cell in cells))
    return missing


def main(arguments: Sequence[str] | None = None) -> int:
    """Survey the locks that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    both = [ROOT / "requirements.txt", ROOT / "requirements-check.txt"]
    parser.add_argument("locks", nargs="*", type=Path, default=both, metavar="LOCK")
    locks = parser.parse_args(arguments).locks
    targets = [Target(python, machine) for python in PYTHONS for machine in MACHINES]
    missing = 0
    for lock in locks:
        try:
            missing += survey(lock, targets)
        except subprocess.CalledProcessError as error:
            print(f"cannot ask the package index about {lock}: {error.stderr.strip()}", file=sys.stderr)
            return 2
        print()
    print(f"wheels missing: {missing}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
