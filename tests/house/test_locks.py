"""The locks hold names, versions and hashes, agree with each other, and the survey can tell which wheel is missing."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.txt", "requirements-check.txt", "requirements-lowest.txt", "requirements-mutants.txt")


@pytest.fixture(scope="module")
def survey():
    """The survey of wheels as a module."""
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "benchmarks" / "wheels.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def locked(survey, name):
    """The packages of a lock by name."""
    packages = survey.read_lock((ROOT / name).read_text(encoding="utf-8"))
    return {canonicalize_name(package.requirement.name): package for package in packages}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_and_hashed_and_no_address_is_named(survey, name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-", re.sub(r"\\\n\s*--hash", " --hash", text), re.MULTILINE)
    for package in locked(survey, name).values():
        assert [specifier.operator for specifier in package.requirement.specifier] == ["=="]
        assert package.hashes
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in package.hashes)


def test_the_check_tests_just_what_is_run(survey):
    runtime, check = locked(survey, "requirements.txt"), locked(survey, "requirements-check.txt")
    assert {name: check[name] for name in runtime} == runtime


@pytest.mark.parametrize("name", LOCKS)
def test_the_locks_fit_what_the_project_asks_for(survey, name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = locked(survey, name)
    for line in project["dependencies"]:
        wanted = Requirement(line)
        (pin,) = packages[canonicalize_name(wanted.name)].requirement.specifier
        assert pin.version in wanted.specifier


def test_the_lowest_lock_holds_the_lowest_promised_versions(survey):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = locked(survey, "requirements-lowest.txt")
    for line in project["dependencies"]:
        wanted = Requirement(line)
        (pin,) = packages[canonicalize_name(wanted.name)].requirement.specifier
        lowest = next(specifier.version for specifier in wanted.specifier if specifier.operator == ">=")
        assert f"{pin.version}.".startswith(f"{lowest}."), line


def test_targets_take_the_wheels_that_install_there(survey):
    tags = {str(tag) for tag in survey.Target((3, 12), "aarch64").tags()}
    taken = {"cp312-cp312-manylinux_2_28_aarch64", "cp37-abi3-manylinux2014_aarch64", "py3-none-any"}
    assert taken <= tags
    refused = {"cp312-cp312-manylinux_2_37_aarch64", "cp313-cp313-manylinux_2_28_aarch64", "cp312-cp312-linux_armv7l"}
    assert not refused & tags
    assert "cp312-cp312-manylinux_2_28_x86_64" not in tags


def test_a_wheel_counts_only_with_a_locked_hash_and_a_fitting_tag(survey):
    right, other = "a" * 64, "b" * 64
    (package,) = survey.read_lock(f"stone==1.0 \\\n    --hash=sha256:{right}\n# a remark\n")
    tags = survey.Target((3, 11), "x86_64").tags()
    fits, elsewhere = "stone-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", "stone-1.0-cp311-cp311-win_amd64.whl"
    assert survey.fitting(package, {elsewhere: right, fits: right}, tags) == fits
    assert survey.fitting(package, {fits: other}, tags) is None
    assert survey.fitting(package, {elsewhere: right}, tags) is None


def test_the_table_says_what_is_missing(survey, monkeypatch, tmp_path, capsys):
    lock = tmp_path / "lock.txt"
    marker = "python_full_version < '3.13' and platform_machine == 'aarch64'"
    lock.write_text(f"stone==1.0 ; {marker} \\\n    --hash=sha256:{'a' * 64}\n", encoding="utf-8")
    wheel = "stone-1.0-cp311-cp311-manylinux_2_34_aarch64.whl"
    monkeypatch.setattr(survey, "ask_index", lambda lock: {"stone==1.0": {wheel: "a" * 64}})
    assert survey.main([str(lock)]) == 1
    said = capsys.readouterr().out
    assert said.count("not needed") == 4
    assert said.splitlines()[2].split().count("wheel") == 1
    assert said.endswith("wheels missing: 1\n")


def test_wheels_are_read_from_the_indexs_answer(survey):
    answer = tomllib.loads(
        '[[packages]]\nname = "Stone.Age"\nversion = "1.0"\n'
        'wheels = [{ url = "file:///x/stone_age-1.0%2Blocal-py3-none-any.whl", hashes = { sha256 = "aa" } }]\n'
        '[[packages]]\nname = "no-wheel"\nversion = "2"\n'
    )
    assert survey.wheels_of(answer) == {
        "stone-age==1.0": {"stone_age-1.0+local-py3-none-any.whl": "aa"},
        "no-wheel==2": {},
    }


def test_the_interpreter_for_the_firmware_is_pinned_and_hashed_and_no_address_is_named():
    folder = ROOT / "tests" / "micropython"
    text = (folder / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
    locked = json.loads(text)["packages"]
    assert {f"node_modules/{name}" for name in wanted} == locked.keys() - {""}
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version
        assert locked[f"node_modules/{name}"]["integrity"].startswith("sha512-")
