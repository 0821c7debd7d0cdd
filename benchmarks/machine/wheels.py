"""Check that every locked package has a wheel for each supported Python and machine.

Run it as ``.venv-check/bin/python benchmarks/machine/wheels.py [LOCK ...]``. For each of them, uv resolves
an installation from wheels only, with your configured index, and downloads nothing. Exit codes: 0 every package has a
wheel, 1 one lacks a wheel, 2 the index could not be asked.
"""

import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import click

PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
GLIBC = "2_36"
"""The glibc of Debian 12, the oldest Raspberry Pi OS that has Python 3.11."""
UNRESOLVABLE = 1
"""uv's exit code where the packages can't be installed; 2 is any other failure."""

ROOT = Path(__file__).resolve().parents[2]
LOCKS = (ROOT / "requirements.txt", ROOT / "requirements-check.txt")


def missing_wheels(lock: Path, python: str, machine: str) -> str:
    """Give uv's message if a package has no wheel, else ``""``; raises CalledProcessError for other failures."""
    with tempfile.TemporaryDirectory() as nowhere:
        uv = [sys.executable, "-m", "uv", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--require-hashes"]
        options = ["--only-binary", ":all:", "--target", nowhere, "--requirements", str(lock)]
        target = ["--python-version", python, "--python-platform", f"{machine}-manylinux_{GLIBC}"]
        done = subprocess.run([*uv, *options, *target], capture_output=True, text=True, check=False)
    if done.returncode not in (0, UNRESOLVABLE):
        done.check_returncode()
    return done.stderr.strip() if done.returncode else ""


@click.command(help=__doc__)
@click.argument("locks", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(locks: tuple[Path, ...]) -> None:
    """Check the locks."""
    missing = 0
    for lock, python, machine in product(locks or LOCKS, PYTHONS, MACHINES):
        try:
            found = missing_wheels(lock, python, machine)
        except subprocess.CalledProcessError as error:
            click.echo(f"cannot ask the package index about {lock}: {error.stderr.strip()}", err=True)
            sys.exit(2)
        missing += bool(found)
        click.echo(f"{lock.name} on Python {python}, {machine}: {found or 'a wheel for each package'}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
