"""Removes old games from the hall's copies, so that its database does not grow without limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from hall.copies import Copy
from hall.hall import Hall
from referee.errors import HallStoreError
from referee.journal.journal import utc_text

_DAY = timedelta(days=1)
_LOOK_EVERY_S = 60.0
"""How often, in seconds, to look at the clock, and to try again after a fault of the database."""


class Sweeper:
    """Sweeps at start and once a day: games whose last event is older than ``keep`` go.

    Results, rulings and pairings stay, and so does the last game of a table's present journal. ``now`` returns the time
    in UTC.
    """

    def __init__(self, hall: Hall, keep: timedelta, now: Callable[[], datetime], say: Callable[[str], object]) -> None:
        self._hall = hall
        self._keep = keep
        self._now = now
        self._say = say
        self._began: datetime | None = None
        self._left: list[Copy] = []

    async def run(self) -> None:
        """Sweep until this task is cancelled."""
        while True:
            try:
                while await asyncio.to_thread(self.step):
                    continue
            except HallStoreError as error:
                self._hall.database.tell_outage(error, self._say)
            await asyncio.sleep(_LOOK_EVERY_S)

    def step(self) -> bool:
        """Look at one journal and remove a few events; returns whether there is more to do now.

        Messages are stored between two steps. Raises HallStoreError; the next call tries the same step again.
        """
        now, hall = self._now(), self._hall
        with hall.lock:
            if not self._left:
                # A clock that is set back must not put off the next sweep.
                if self._began is not None and abs(now - self._began) < _DAY:
                    return False
                self._began, self._left = now, hall.copies.journals()
                return bool(self._left)
            seat, journal = copy = self._left[-1]
            there = hall.floor.seat(seat)
            in_use = there is not None and there.state is not None and there.state.journal == journal
            if not hall.copies.sweep(copy, utc_text(now - self._keep), in_use=in_use):
                self._left.pop()
            is_full = seat in hall.copies.full
            if there is not None and there.is_full != is_full:
                hall.floor.change({seat: {"is_full": is_full}})
        return True
