from __future__ import annotations

import os
from pathlib import Path

import pytest
from gpiozero.pins import Factory
from gpiozero.pins.mock import MockFactory

from common.findings import Finding
from hardware.errors import DriverError
from hardware.pins import Computer, probe


def no_pins() -> Factory:
    raise DriverError("this computer has no usable GPIO pins (No module named 'lgpio')")


def by_subject(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings}


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/gpiochip0").touch()
    return tmp_path


def around(root: Path, factory: Factory | None, *, lgpio: bool = True, **environment: str) -> Computer:
    return Computer(
        root=root,
        working_directory=root,
        environment=environment,
        has_module=lambda name: lgpio and name == "lgpio",
        open_factory=no_pins if factory is None else lambda: factory,
    )


def test_a_pi_without_problems_has_only_ok_findings(pi: Path, plain_pins: MockFactory) -> None:
    findings = probe([("place c3", 17)], around(pi, plain_pins))
    assert {finding.severity for finding in findings} == {"ok"}
    told = by_subject(findings)
    assert told["computer"].message == "Raspberry Pi 5 Model B Rev 1.0"
    assert told["pins"].message == "MockFactory drives the pins of a Pi 4B"


def test_missing_pins_are_a_note_unless_pins_are_in_use(tmp_path: Path) -> None:
    bare = around(tmp_path, None, lgpio=False)
    assert [(note.subject, note.severity) for note in probe((), bare)] == [("computer", "note")]
    wanted = by_subject(probe([("buzzer", 18)], bare))
    assert wanted["pins"].severity == "fault"
    assert "64-bit Pi with Python 3.11 to 3.13" in wanted["lgpio"].remedy
    assert wanted["computer"].remedy == "use the terminal for lights"


def test_a_pin_that_the_board_lacks_is_named_with_its_use(pi: Path, clock) -> None:
    with MockFactory(revision="0002") as first_model_b:
        findings = probe([("place c3", 26), ("buzzer", 17)], around(pi, first_model_b))
    faults = [finding for finding in findings if finding.severity == "fault"]
    assert [finding.subject for finding in faults] == ["GPIO26"]
    assert faults[0].message.startswith("place c3: ")


def test_a_pin_library_that_was_asked_for_is_mentioned(pi: Path, plain_pins: MockFactory) -> None:
    told = by_subject(probe((), around(pi, plain_pins, GPIOZERO_PIN_FACTORY="mock")))
    assert told["pin library"].message == "GPIOZERO_PIN_FACTORY asks for mock"


@pytest.mark.parametrize(
    ("locked", "subject", "remedy"),
    [("dev/gpiochip0", "rights", "usermod -aG gpio"), (".", "working directory", "a directory you may write to")],
)
def test_missing_rights_are_found(
    pi: Path, plain_pins: MockFactory, monkeypatch: pytest.MonkeyPatch, locked: str, subject: str, remedy: str
) -> None:
    # Root may do everything, so the system's answer is replaced rather than the file's mode.
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != pi / locked and real(path, mode))
    finding = by_subject(probe((), around(pi, plain_pins)))[subject]
    assert finding.severity == "fault"
    assert remedy in finding.remedy


def test_the_probe_runs_on_the_real_computer() -> None:
    subjects = [finding.subject for finding in probe([("buzzer", 18)])]
    assert subjects[0] == "computer"
    assert "pins" in subjects
