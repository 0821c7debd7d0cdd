"""From the settings to what a journal keeps."""

from __future__ import annotations

from referee.config_values import JournalSettings
from referee.journal import EvidenceLimits

_KIB = 1024
_MIB = 1024 * 1024


def evidence_limits(journal: JournalSettings) -> EvidenceLimits:
    """Give how many bytes of pictures a journal keeps."""
    return EvidenceLimits(
        picture_bytes=journal.evidence_picture_kib * _KIB, total_bytes=journal.evidence_total_mib * _MIB
    )
