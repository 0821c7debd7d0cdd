"""Teaching a handwriting improves reading it."""

from __future__ import annotations

from benchmarks.handwriting import right_in, sheets, taught_by
from vision.readers.ink.network import InkNetwork, shipped


def test_a_taught_sheet_is_read_better_than_before() -> None:
    written = list(sheets([7, 1], 0.15, 2))
    taught = taught_by(written)
    (before, total, sure), (after, same, surer) = (
        right_in(network, written) for network in (shipped(), InkNetwork(taught=taught))
    )
    assert total == same == len(taught.signs)
    assert after >= before
    assert surer > sure
