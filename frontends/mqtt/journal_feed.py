"""Reads the journal's events for the broker, in order, and saves which ones it has, so that a restart loses none."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from common.durable import open_private
from common.json_files import parse_json
from common.whole_files import read_text
from engine import registry
from engine.errors import EngineError
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.payloads import table_event
from frontends.mqtt.topics import TableEvent
from journal.reader import JournalReader, read_journal
from referee.errors import FoldError
from referee.record.events import Event, EventKind
from referee.record.results import EventDescriber

_AT_ONCE = 200
"""How many events are read at a time, so that a long journal takes little memory."""


@dataclass(frozen=True)
class Cursor:
    """The newest event that the broker has, and the journal it belongs to.

    ``wall_time`` is the event's, by which it is recognized; empty if unknown, as in cursors of older versions.
    """

    journal: str
    number: int
    wall_time: str = ""


def cursor_path(journal: Path) -> Path:
    """Return the path of the file for a journal's cursor."""
    return journal.with_name(f"{journal.name}.mqtt")


class JournalFeed:
    """Reads a journal's events for the broker; the journal is opened for each call.

    Any thread may call its methods, but ``after`` only one at a time. They raise JournalError if the journal can't be
    read.
    """

    def __init__(self, path: Path, options: MqttOptions) -> None:
        self._path = path
        self._options = options
        self._cursor_path = cursor_path(path)
        self._journal = ""
        self._describer: EventDescriber | None = None

    def identity(self) -> str:
        """Return the wall time of the journal's first event, which identifies it; empty before there is one."""
        if not self._journal:
            with self._opened() as journal:
                first = journal.events_after(0, 1)
            self._journal = first[0][2].wall_time if first else ""
        return self._journal

    def start(self) -> int:
        """Return the number of the newest event that the broker has.

        Without a cursor for this journal, these are the events before the latest game. If the cursor's event is no
        longer in the journal, an older copy was restored; then every event is sent again, because subscribers ask for
        the events they miss but not for those that have changed.
        """
        kept = self._kept_cursor()
        identity = self.identity()
        with self._opened() as journal:
            last, latest = journal.last_number, journal.latest_game()
            if kept is not None and kept.journal == identity:
                if not kept.wall_time:
                    return min(kept.number, last)
                is_there = kept.number <= last and journal.wall_time_of(kept.number) == kept.wall_time
                return kept.number if is_there else 0
            return 0 if latest is None else journal.events(latest)[0][0] - 1

    def after(self, number: int, most: int = _AT_ONCE) -> list[TableEvent]:
        """Return the events after a number, in order, up to a limit."""
        identity = self.identity()
        with self._opened() as journal:
            messages = []
            pictures: dict[int, dict[int, tuple[str, ...]]] = {}
            for event_number, game, event in journal.events_after(number, min(most, _AT_ONCE)):
                if game not in pictures:
                    pictures[game] = journal.pictures(game)
                name, sentence = self._name_and_sentence(journal, game, event_number, event)
                shown = pictures[game].get(event_number, ())
                messages.append(
                    table_event(self._options, identity, (game, name), (event_number, event), sentence, shown)
                )
            return messages

    def pictures(self, number: int) -> list[tuple[str, str, bytes]]:
        """Return the name, media type and bytes of each picture that the journal still has of an event."""
        with self._opened() as journal:
            return [
                (kept.evidence.name, kept.evidence.media_type, kept.evidence.content)
                for kept in journal.evidence(number)
                if not kept.left_out
            ]

    def keep_cursor(self, number: int) -> None:
        """Save that the broker has this event; raises OSError if that can't be written, or JournalError.

        The file isn't synced. After a power cut, some events may be sent again; subscribers recognize them by their
        numbers.
        """
        with self._opened() as journal:
            cursor = Cursor(self._journal, number, journal.wall_time_of(number))
        draft = self._cursor_path.with_name(f".{self._cursor_path.name}.draft")
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as opened:
            json.dump(asdict(cursor), opened)
        draft.replace(self._cursor_path)

    def _kept_cursor(self) -> Cursor | None:
        try:
            kept = parse_json(read_text(self._cursor_path))
            return Cursor(str(kept["journal"]), int(kept["number"]), str(kept.get("wall_time", "")))
        except (OSError, ValueError, OverflowError, KeyError, TypeError):
            # Without a cursor, some events are only sent again.
            return None

    def _name_and_sentence(self, journal: JournalReader, game: int, number: int, event: Event) -> tuple[str, str]:
        """Return the name of an event's game, and the event in a sentence; empty where its game can't be followed."""
        describer, self._describer = self._describer, None
        name = "" if describer is None else describer.game
        try:
            if describer is None or describer.last_event != number - 1 or event.kind == EventKind.NEW_GAME:
                earlier = [each for each in journal.events(game) if each[0] < number]
                name = str((earlier[0][1] if earlier else event).data["game"])
                describer = EventDescriber(registry.load(name))
                for each in earlier:
                    describer.describe(*each)
            sentence = describer.describe(number, event).sentence
        except (FoldError, EngineError):
            return name, ""
        self._describer = describer
        return name, sentence

    @contextmanager
    def _opened(self) -> Iterator[JournalReader]:
        # The clock is not used, because nothing is written.
        with read_journal(self._path) as journal:
            yield journal
