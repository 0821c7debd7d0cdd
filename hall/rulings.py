"""Arbiters' rulings: stored before they are sent, and sent until the table answers."""

import enum
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from frontends.mqtt.topics import Answer
from hall.database import Database, stored_text, text_to_store
from journal.journal import utc_text


class Status(enum.StrEnum):
    """The status of a ruling."""

    WAITING = "waiting"
    DONE = "done"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class ArbiterRuling:
    """A command to a table. ``words`` are the table's answer, ``event_number`` its newest event by then."""

    request_id: str
    seat: str
    command: Mapping[str, Any]
    given_by: str
    given_at: str
    status: Status = Status.WAITING
    words: str = ""
    event_number: int | None = None


_COLUMNS = "request_id, seat, content, given_by, given_at, status, words, event_number"


class Rulings:
    """Stores rulings. ``new_id`` makes unique ids; ``now`` returns the time in UTC."""

    def __init__(self, database: Database, new_id: Callable[[], str], now: Callable[[], datetime]) -> None:
        self._database = database
        self._new_id = new_id
        self.now = now
        unanswered = self._read("WHERE status = ? ORDER BY given_at", Status.WAITING.value)
        self._waiting = {ruling.request_id: ruling for ruling in unanswered}

    def give(self, seat: str, command: Mapping[str, Any], by: str) -> ArbiterRuling:
        """Store a ruling, durably on return, and return it."""
        request_id = self._new_id()
        content = {**command, "by": by, "request_id": request_id}
        ruling = ArbiterRuling(request_id, seat, content, by, utc_text(self.now()))
        with self._database.transaction() as work:
            row = (request_id, seat, json.dumps(content), by, ruling.given_at, ruling.status.value)
            work.run(f"INSERT INTO ruling ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, '', NULL)", *row)
        self._waiting = {**self._waiting, request_id: ruling}
        return ruling

    def record_answer(self, answer: Answer) -> bool:
        """Store a table's answer, durably on return; returns whether it is the first answer to one of the rulings.

        An answer to a ruling that was withdrawn counts too: the table may have had it already.
        """
        unanswered = "WHERE request_id = ? AND seat = ? AND status IN (?, ?)"
        statuses = (Status.WAITING.value, Status.WITHDRAWN.value)
        if not self._read(unanswered, answer.request_id, answer.table, *statuses):
            return False
        self._settle(
            answer.request_id,
            Status.REFUSED if answer.refused else Status.DONE,
            text_to_store(answer.words),
            answer.event_number,
        )
        return True

    def withdraw(self, request_id: str) -> ArbiterRuling | None:
        """Stop sending a ruling and return it, ``None`` if none waits. The table may have carried it out anyway."""
        ruling = self._waiting.get(request_id)
        if ruling is not None:
            self._settle(request_id, Status.WITHDRAWN, "", None)
        return ruling

    def waiting(self) -> list[ArbiterRuling]:
        """Return the unanswered rulings, in the order they were given."""
        return list(self._waiting.values())

    def newest(self, seat: str, most: int) -> list[ArbiterRuling]:
        """Return a table's latest rulings, the newest first."""
        return self._read("WHERE seat = ? ORDER BY given_at DESC LIMIT ?", seat, most)

    def _settle(self, request_id: str, status: Status, words: str, event_number: int | None) -> None:
        update = "UPDATE ruling SET status = ?, words = ?, event_number = ? WHERE request_id = ?"
        with self._database.transaction() as work:
            work.run(update, status.value, words, event_number, request_id)
        self._waiting = {key: ruling for key, ruling in self._waiting.items() if key != request_id}

    def _read(self, where: str, *parameters: object) -> list[ArbiterRuling]:
        with self._database.transaction() as work:
            found = work.rows(f"SELECT {_COLUMNS} FROM ruling {where}", *parameters)
        return [
            ArbiterRuling(request_id, seat, json.loads(content), by, at, Status(status), stored_text(words), number)
            for request_id, seat, content, by, at, status, words, number in found
        ]
