"""Taking a game up where its journal ends, and writing again once a full disk has room."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import StateT, TurnT
from referee.journal import BufferedJournal, Folded, fold
from referee.journal.events import Event, EventKind
from referee.judge import Belief, Bench, believe_person
from referee.session import event_records


def belief_from(
    bench: Bench[StateT, TurnT], recorded: Sequence[tuple[int, Event]], folded: Folded[StateT]
) -> Belief[StateT, TurnT]:
    """Give what is believed of a game as its (number, event) pairs leave it, with what a person said last."""
    fault = event_records.fault_of(folded.fault)
    last = event_records.last_word([event for _, event in recorded])
    if last is None:
        return Belief.of(folded.states, fault)
    before = fold(bench.game, recorded[:last])
    word = recorded[last][1]
    return believe_person(
        bench,
        Belief.of(before.states),
        folded.states,
        event_records.places_of(word),
        undone=event_records.undone(before) if word.kind == EventKind.TAKE_BACK else (),
        fault=fault,
    )


EVERY_S = 5.0


class CatchUp:
    """Lets a journal that keeps events in memory try to write them, every few seconds of frame time."""

    def __init__(self, journal: object, every_s: float = EVERY_S) -> None:
        """Take the service's journal; only a BufferedJournal ever falls behind."""
        self._journal = journal if isinstance(journal, BufferedJournal) else None
        self._every_s = every_s
        self._behind_since_s: float | None = None

    def caught_up(self, time_s: float) -> bool:
        """Try if it is time to; tells whether the trouble is over just now."""
        if self._journal is None or self._journal.trouble is None:
            self._behind_since_s = None
            return False
        # Frame time begins anew when the machine does, so an earlier time is no reason to wait.
        if self._behind_since_s is None or time_s < self._behind_since_s:
            self._behind_since_s = time_s
        if time_s - self._behind_since_s < self._every_s:
            return False
        self._behind_since_s = time_s
        return self._journal.retry()
