"""A device's record of faults."""

from common.backoff import Backoff
from hardware.errors import Fault, FaultRecord


def test_a_fault_that_lasts_keeps_its_beginning_and_counts_attempts() -> None:
    record = FaultRecord("buzzer", Backoff(first_s=1.0))
    record.failed("no pin", 5.0)
    assert record.fault == Fault("buzzer", "no pin", 5.0, 1)
    assert record.backoff.retry_at_s == 6.0
    record.failed("busy", 6.0)
    assert record.fault == Fault("buzzer", "busy", 5.0, 2)
    assert record.backoff.retry_at_s == 8.0


def test_a_device_that_works_again_has_no_fault() -> None:
    record = FaultRecord("buzzer")
    record.failed("no pin", 5.0)
    record.worked(7.0)
    assert record.fault is None
    assert record.backoff.is_due(7.0)
    assert record.backoff.working_since_s == 7.0
