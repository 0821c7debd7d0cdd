"""Findings and their severity."""

from common.findings import Finding, Severity, worst


def test_the_worst_finding_decides_the_severity() -> None:
    assert worst([]) is Severity.OK
    assert worst([Finding.ok("a", ""), Finding.fault("b", ""), Finding.note("c", "")]) is Severity.FAULT
    assert worst([Finding.note("a", ""), Finding.ok("b", "")]) is Severity.NOTE


def test_each_severity_has_its_own_constructor() -> None:
    assert Finding.ok("pins", "there") == Finding("pins", Severity.OK, "there", "")
    assert Finding.note("pins", "slow", "wait") == Finding("pins", Severity.NOTE, "slow", "wait")
    assert Finding.fault("pins", "gone", "buy some") == Finding("pins", Severity.FAULT, "gone", "buy some")
