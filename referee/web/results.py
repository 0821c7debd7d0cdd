"""The document for an evening's results: each player's standing, and each pair's results against each other."""

from __future__ import annotations

from itertools import combinations

from pydantic import ConfigDict

from referee.journal.results import Results
from referee.web.documents import Document


class TallyDocument(Document):
    """Games played, won, drawn (a shared victory is one) and lost."""

    model_config = ConfigDict(from_attributes=True)

    played: int
    won: int
    drawn: int
    lost: int


class StandingDocument(Document):
    """One player's standing; ``points`` is null if none of the games has points."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    tally: TallyDocument
    points: int | None


class MeetingDocument(Document):
    """One player's results against another."""

    one: str
    other: str
    tally: TallyDocument


class ResultsDocument(Document):
    """The standings, best player first; ``left_out`` are the numbers of unfinished games."""

    standings: tuple[StandingDocument, ...]
    meetings: tuple[MeetingDocument, ...]
    left_out: tuple[int, ...]


def results_document(results: Results) -> ResultsDocument:
    """Write results as a document. Each pair of players appears once, the better player first."""
    pairs = combinations([each.name for each in results.standings], 2)
    return ResultsDocument(
        standings=tuple(StandingDocument.model_validate(each) for each in results.standings),
        meetings=tuple(
            MeetingDocument(one=one, other=other, tally=TallyDocument.model_validate(results.against[one, other]))
            for one, other in pairs
            if (one, other) in results.against
        ),
        left_out=results.left_out,
    )
