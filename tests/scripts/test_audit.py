"""The audit names unknown libraries, and the bill of materials has every library of the lock."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("cyclonedx", reason="of ./check's own environment")
from scripts.audit import LOCK, Audit, audit, bill_of_materials

FAULT = {"id": "PYSEC-2026-1", "fix_versions": ["2.1"], "aliases": [], "description": "bad"}


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("", None),
        ("Traceback", None),
        ('{"dependencies": []}', Audit(0, (), ())),
        (
            json.dumps(
                {
                    "dependencies": [
                        {"name": "click", "version": "8", "vulns": []},
                        {"name": "rich", "version": "2.0", "vulns": [FAULT, {**FAULT, "fix_versions": []}]},
                        {"name": "cobs", "skip_reason": "Dependency not found on PyPI"},
                    ]
                }
            ),
            Audit(
                2,
                ("cobs",),
                (
                    "rich 2.0: PYSEC-2026-1, fixed in 2.1",
                    "rich 2.0: PYSEC-2026-1, fixed in no version yet",
                ),
            ),
        ),
    ],
)
def test_the_answer_of_the_index_is_parsed(told: str, found: Audit | None) -> None:
    asked: list[list[str]] = []

    def command(words: list[str]) -> tuple[int, str]:
        asked.append(words)
        return 1, told

    assert audit(Path("lock.txt"), command) == found
    assert asked[0][1:5] == ["-m", "pip_audit", "--requirement", "lock.txt"]


def test_the_bill_has_every_library_with_its_version_and_sums() -> None:
    lock = LOCK.read_text(encoding="utf-8")
    bill = json.loads(bill_of_materials(lock))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    listed = {(each["name"], each["version"]): each for each in bill["components"]}
    assert set(listed) == set(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    assert sum(len(each["hashes"]) for each in bill["components"]) == lock.count("--hash=sha256:")
    (of_the_whole,) = (each for each in bill["dependencies"] if "dependsOn" in each)
    assert len(of_the_whole["dependsOn"]) == len(listed)
