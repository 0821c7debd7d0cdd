"""The journal: every accepted event, durable before it is shown; the state of a game is a fold over it.

``Journal`` keeps events and their evidence in one SQLite file, ``BufferedJournal`` goes on in memory while that file
cannot be written, and ``fold`` gives the state back. See docs/internals/journal.md.
"""

from referee.journal.buffered import BufferedJournal
from referee.journal.fold import Folded, fold
from referee.journal.journal import EvidenceLimits, GameSummary, Journal, KeptEvidence

__all__ = ["BufferedJournal", "EvidenceLimits", "Folded", "GameSummary", "Journal", "KeptEvidence", "fold"]
