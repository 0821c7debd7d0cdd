"""Audits the locked libraries for known vulnerabilities, and writes a bill of materials in CycloneDX's JSON.

Run: python scripts/audit.py [--bom bom.json]

Exit code 1 when a library has a known vulnerability. If the advisory index can't be reached, or knows none of the
libraries, a message says so, and the exit code is 0.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
_ANSWER_S = 15
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")

Command = Callable[[list[str]], tuple[int, str]]
"""Runs a command; gives its exit code and standard output."""


@dataclass(frozen=True)
class Audit:
    """An audit's result: number of libraries found, names of unknown ones, and a sentence for each vulnerability."""

    looked_up: int
    unknown: tuple[str, ...]
    faults: tuple[str, ...]


def run(command: list[str]) -> tuple[int, str]:
    """Run a command of this environment."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.returncode, done.stdout


def audit(lock: Path, command: Command = run) -> Audit | None:
    """Audit the libraries of a lock; ``None`` if the advisory index can't be reached."""
    asked = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--disable-pip", "--format", "json"]
    _, told = command([*asked, "--progress-spinner", "off", "--timeout", str(_ANSWER_S)])
    try:
        rows = json.loads(told)["dependencies"]
    except (ValueError, KeyError):
        return None
    known = [row for row in rows if "vulns" in row]
    faults = tuple(_sentence(row, fault) for row in known for fault in row["vulns"])
    return Audit(len(known), tuple(row["name"] for row in rows if "vulns" not in row), faults)


def _sentence(row: Mapping[str, Any], fault: Mapping[str, Any]) -> str:
    fixed = ", ".join(fault["fix_versions"]) or "no version yet"
    return f"{row['name']} {row['version']}: {fault['id']}, fixed in {fixed}"


def bill_of_materials(lock: str) -> str:
    """Write the libraries of a lock's text, with versions and SHA-256 sums, as CycloneDX 1.6."""
    # Each entry begins at the start of a line; its hashes follow on indented ones.
    bom = Bom()
    bom.metadata.component = Component(name="tabletop-referee", type=ComponentType.APPLICATION)
    for entry in re.split(r"\n(?=\S)", lock):
        locked = _LOCKED.match(entry)
        if locked is None:
            continue
        name, version = locked.groups()
        sums = [HashType(alg=HashAlgorithm.SHA_256, content=content) for content in _HASH.findall(entry)]
        purl = PackageURL("pypi", name=name.lower(), version=version)
        bom.components.add(Component(name=name, version=version, purl=purl, bom_ref=str(purl), hashes=sums))
    bom.register_dependency(bom.metadata.component, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


@click.command()
@click.option("--bom", type=click.Path(path_type=Path, dir_okay=False), help="Write the bill of materials there.")
def main(bom: Path | None) -> None:
    """Audit the libraries that the product needs."""
    text = bill_of_materials(LOCK.read_text(encoding="utf-8"))
    if bom is not None:
        bom.write_text(text, encoding="utf-8")
    click.echo(f"The bill of materials has {len(json.loads(text)['components'])} libraries.")
    found = audit(LOCK)
    if found is None or found.looked_up == 0:
        click.echo("skipped: the index of advisories can't be reached, or knows none of the libraries.")
        return
    click.echo(f"{found.looked_up} libraries were looked up; {len(found.faults)} vulnerabilities are known.")
    for name in found.unknown:
        click.echo(f"{name}: the index doesn't know it.")
    for sentence in found.faults:
        click.echo(sentence)
    sys.exit(1 if found.faults else 0)


if __name__ == "__main__":
    main()
