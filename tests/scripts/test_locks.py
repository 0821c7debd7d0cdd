"""The locks hold names, versions and hashes, agree with each other, and the survey can tell which wheel is missing."""

import hashlib
import json
import re
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.machine.wheels import main

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.txt", "requirements-check.txt", "requirements-lowest.txt")


@dataclass(frozen=True)
class Locked:
    """One package of a lock: its requirement and the SHA-256 hashes it may have."""

    requirement: Requirement
    hashes: frozenset[str]


def locked(name):
    """The packages of a lock by name."""
    packages = {}
    for entry in re.sub(r"\\\n", " ", (ROOT / name).read_text(encoding="utf-8")).splitlines():
        if entry.strip() and not entry.lstrip().startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=sha256:", entry.strip())
            package = Locked(Requirement(requirement), frozenset(hashes))
            packages[canonicalize_name(package.requirement.name)] = package
    return packages


def asked_for():
    """What a table and a hall need, as pyproject.toml asks for it."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_and_hashed_and_no_address_is_named(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-", re.sub(r"\\\n\s*--hash", " --hash", text), re.MULTILINE)
    for package in locked(name).values():
        assert [specifier.operator for specifier in package.requirement.specifier] == ["=="]
        assert package.hashes
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in package.hashes)


def test_the_check_tests_just_what_is_run():
    runtime, check = locked("requirements.txt"), locked("requirements-check.txt")
    assert {name: check[name] for name in runtime} == runtime


@pytest.mark.parametrize("name", LOCKS)
def test_the_locks_fit_what_the_project_asks_for(name):
    packages = locked(name)
    for line in asked_for():
        wanted = Requirement(line)
        (pin,) = packages[canonicalize_name(wanted.name)].requirement.specifier
        assert pin.version in wanted.specifier


def test_the_lowest_lock_holds_the_lowest_promised_versions():
    packages = locked("requirements-lowest.txt")
    for line in asked_for():
        wanted = Requirement(line)
        (pin,) = packages[canonicalize_name(wanted.name)].requirement.specifier
        lowest = next(specifier.version for specifier in wanted.specifier if specifier.operator == ">=")
        assert f"{pin.version}.".startswith(f"{lowest}."), line


def wheel_of(folder, name, tag):
    """Put a file that is called like a wheel into a folder; give the line that locks it."""
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as wheel:
        info = f"{name}-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256((folder / f"{name}-1.0-{tag}.whl").read_bytes()).hexdigest()
    return f"{name}==1.0 --hash=sha256:{digest}\n"


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the package index."""
    pytest.importorskip("uv")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_OFFLINE", "1")
    return tmp_path


def test_the_survey_says_where_a_wheel_is_missing(offline):
    marker = "; platform_machine == 'aarch64'"
    fits = wheel_of(offline, "stone", "cp312-cp312-manylinux_2_28_aarch64").replace(" --hash", f" {marker} --hash")
    (offline / "lock.txt").write_text(wheel_of(offline, "pebble", "py3-none-any") + fits, encoding="utf-8")
    done = CliRunner().invoke(main, [str(offline / "lock.txt")])
    lines = done.stdout.splitlines()
    assert done.exit_code == 1
    assert len([line for line in lines if line.endswith("a wheel for each package")]) == 4
    assert "lock.txt on Python 3.12, aarch64: a wheel for each package" in lines
    assert "lock.txt on Python 3.13, aarch64: a wheel" not in done.stdout
    assert "stone" in done.stdout


@pytest.mark.parametrize(("glibc", "code"), [(36, 0), (37, 1)])
def test_a_wheel_counts_only_with_an_old_enough_glibc(offline, glibc, code):
    tag = f"cp37-abi3-manylinux_2_{glibc}_x86_64.manylinux_2_{glibc}_aarch64"
    (offline / "lock.txt").write_text(wheel_of(offline, "stone", tag), encoding="utf-8")
    assert CliRunner().invoke(main, [str(offline / "lock.txt")]).exit_code == code


def test_an_index_that_does_not_answer_is_another_failure(tmp_path, monkeypatch):
    pytest.importorskip("uv")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "nowhere"))
    (tmp_path / "lock.txt").write_text(f"stone==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    done = CliRunner().invoke(main, [str(tmp_path / "lock.txt")])
    assert done.exit_code == 2
    assert "cannot ask the package index about" in done.stderr


@pytest.mark.parametrize("folder", [ROOT / "tests/micropython", ROOT / "tests/system/page"], ids=lambda each: each.name)
def test_what_npm_installs_is_pinned_and_hashed_and_no_address_is_named(folder):
    text = (folder / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    locked = json.loads(text)["packages"]
    for name, version in (wanted.get("dependencies") or wanted["devDependencies"]).items():
        assert locked[f"node_modules/{name}"]["version"] == version
    assert all(each["integrity"].startswith("sha512-") for name, each in locked.items() if name)
