"""An evening's results as a document: how each name stands, and what each two made of their games."""

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
    """How one name stands; ``points`` is null without a game that has them."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    tally: TallyDocument
    points: int | None


class MeetingDocument(Document):
    """What one player made of the games against another."""

    one: str
    other: str
    tally: TallyDocument


class ResultsDocument(Document):
    """The best first; ``left_out`` are the numbers of the games that were not played to their end."""

    standings: tuple[StandingDocument, ...]
    meetings: tuple[MeetingDocument, ...]
    left_out: tuple[int, ...]


def results_document(results: Results) -> ResultsDocument:
    """Write results as a document; each pair of players is named once, the better one first."""
    pairs = combinations([each.name for each in results.standings], 2)
    met = [pair for pair in pairs if pair in results.against]
    return ResultsDocument(
        standings=tuple(StandingDocument.model_validate(each) for each in results.standings),
        meetings=tuple(
            MeetingDocument(one=one, other=other, tally=TallyDocument.model_validate(results.against[one, other]))
            for one, other in met
        ),
        left_out=results.left_out,
    )
