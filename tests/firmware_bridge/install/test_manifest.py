"""What belongs on a board, and how what is there differs."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.firmware.core.version import FIRMWARE_VERSION
from firmware_bridge.install.manifest import (
    MANIFEST_FILE,
    NEW_SUFFIX,
    Firmware,
    Manifest,
    ManifestError,
    difference,
    our_firmware,
)

FOLDER = Path(str(files("firmware_bridge"))) / "firmware"
PATHS = st.sampled_from(["main.py", "firmware/a.py", "firmware/b.py", "firmware/core/c.py", "firmware/core/d.py"])
DIGESTS = st.sampled_from(["1" * 64, "2" * 64])
FILES = st.dictionaries(PATHS, DIGESTS)
MANIFESTS = st.builds(Manifest, st.tuples(*[st.integers(0, 9)] * 3), FILES)


def test_every_file_of_the_firmware_has_its_place_on_the_board() -> None:
    firmware = our_firmware(FOLDER)
    sources = {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.py")}
    on_board = {path.removeprefix("firmware/") for path in firmware.files}
    assert on_board == sources
    assert "main.py" in firmware.files
    assert all(path == "main.py" or path.startswith("firmware/") for path in firmware.files)
    assert firmware.version == FIRMWARE_VERSION
    path = "firmware/core/version.py"
    assert firmware.files[path] == (FOLDER / "core" / "version.py").read_bytes()
    assert firmware.manifest.files[path] == hashlib.sha256(firmware.files[path]).hexdigest()


def test_what_python_leaves_behind_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "core" / "__pycache__").mkdir(parents=True)
    for name in ("main.py", "core/link.py", "core/__pycache__/link.cpython-311.py", "core/notes.txt"):
        (tmp_path / name).write_text("x = 1\n")
    assert sorted(our_firmware(tmp_path).files) == ["firmware/core/link.py", "main.py"]


@given(manifest=MANIFESTS)
def test_a_manifest_comes_back_as_it_was(manifest: Manifest) -> None:
    assert Manifest.from_json(manifest.to_json()) == manifest


@given(data=st.binary(max_size=40) | st.recursive(st.none() | st.integers() | st.text(max_size=3), st.lists).map(
    lambda value: json.dumps(value).encode()
))  # fmt: skip
def test_what_is_no_manifest_is_said(data: bytes) -> None:
    with pytest.raises(ManifestError, match=MANIFEST_FILE):
        Manifest.from_json(data)


@pytest.mark.parametrize(
    "form",
    [
        {"format": 2, "version": [1, 0, 0], "files": {}},
        {"format": 1, "version": [1, 0], "files": {}},
        {"format": 1, "version": [1, 0, True], "files": {}},
        {"format": 1, "version": [1, 0, -1], "files": {}},
        {"format": 1, "version": [1, 0, 0], "files": {"main.py": 3}},
        {"format": 1, "version": [1, 0, 0]},
    ],
)
def test_manifests_of_another_form_are_said(form: object) -> None:
    with pytest.raises(ManifestError, match="not of a form this program knows"):
        Manifest.from_json(json.dumps(form).encode())


@given(wanted=MANIFESTS, found=FILES, leftovers=st.sets(PATHS), installed=st.none() | MANIFESTS)
def test_writing_what_differs_and_removing_what_is_left_over_makes_the_board_right(
    wanted: Manifest, found: dict[str, str], leftovers: set[str], installed: Manifest | None
) -> None:
    there = {**found, **dict.fromkeys((path + NEW_SUFFIX for path in leftovers), "3" * 64)}
    differs = difference(wanted, there, installed)
    assert differs.is_empty == (not differs.to_write)
    after = {path: digest for path, digest in there.items() if path not in differs.left_over}
    after |= {path: wanted.files[path] for path in differs.to_write}
    assert wanted.files.items() <= after.items()
    assert not any(path.endswith(NEW_SUFFIX) for path in after)
    again = difference(wanted, after, wanted)
    assert again.is_empty
    assert not again.left_over
    # What neither the old manifest nor the new one lists is the owner's.
    known = set(wanted.files) | (set() if installed is None else set(installed.files))
    assert {path for path in found if path not in known} <= after.keys()


def test_the_same_firmware_has_the_same_manifest() -> None:
    files = {"main.py": b"1", "firmware/a.py": b"2"}
    other_order = dict(reversed(files.items()))
    assert Firmware((1, 0, 0), files).manifest.to_json() == Firmware((1, 0, 0), other_order).manifest.to_json()
