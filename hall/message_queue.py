"""The messages that wait for the hall's database, within a limit of bytes."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable

import aiomqtt

_MIB = 1024 * 1024
MOST_WAITING_BYTES = 24 * _MIB
"""The most bytes that wait. The batch that is being stored takes up to 8 MiB and one message of up to 5 MiB more."""
_MOST_BATCH_BYTES = 8 * _MIB
_MOST_IN_BATCH = 1000
_RECORD_BYTES = 1024
"""The bytes that a message takes beside its topic and its content, rounded up."""


class MessageQueue(asyncio.Queue[aiomqtt.Message]):
    """A queue of at most ``most_bytes``: when it is full, the table with the most bytes in it loses its oldest message.

    ``table_of`` names the table that sends on a topic. ``say`` reports when the first messages are dropped.
    """

    def __init__(
        self, table_of: Callable[[str], str], say: Callable[[str], object], most_bytes: int = MOST_WAITING_BYTES
    ) -> None:
        self._table_of = table_of
        self._say = say
        self._most_bytes = most_bytes
        self.bytes_waiting = 0
        self.has_dropped = False
        super().__init__()

    def batch_from(self, first: aiomqtt.Message) -> list[aiomqtt.Message]:
        """Take messages that wait, after one that was taken, as many as may be stored at once."""
        batch, size = [first], _size(first)
        while len(batch) < _MOST_IN_BATCH and size < _MOST_BATCH_BYTES and not self.empty():
            batch.append(self.get_nowait())
            size += _size(batch[-1])
        return batch

    # The three methods that asyncio.Queue lets its subclasses replace.

    def _init(self, maxsize: int) -> None:
        del maxsize
        self._queue: OrderedDict[int, aiomqtt.Message] = OrderedDict()
        self._numbers: dict[str, deque[int]] = {}
        self._bytes: Counter[str] = Counter()
        self._arrived = 0

    def _put(self, item: aiomqtt.Message) -> None:
        table = self._table_of(str(item.topic))
        self._arrived += 1
        self._queue[self._arrived] = item
        self._numbers.setdefault(table, deque()).append(self._arrived)
        self._count(table, _size(item))
        while self.bytes_waiting > self._most_bytes:
            self._drop_oldest()

    def _get(self) -> aiomqtt.Message:
        number = next(iter(self._queue))
        return self._remove(self._table_of(str(self._queue[number].topic)))

    def _drop_oldest(self) -> None:
        """Drop the oldest message of the table with the most bytes; of equal ones, the one that waits longest."""
        self._remove(max(self._numbers, key=lambda table: (self._bytes[table], -self._numbers[table][0])))
        if not self.has_dropped:
            self._say(
                f"More than {self._most_bytes // _MIB} MiB of messages wait for the hall's store; the oldest are left "
                "out, and their tables will be asked again."
            )
        self.has_dropped = True

    def _remove(self, table: str) -> aiomqtt.Message:
        """Remove the oldest message of a table."""
        message = self._queue.pop(self._numbers[table].popleft())
        self._count(table, -_size(message))
        if not self._numbers[table]:
            del self._numbers[table], self._bytes[table]
        return message

    def _count(self, table: str, size: int) -> None:
        self._bytes[table] += size
        self.bytes_waiting += size


def _size(message: aiomqtt.Message) -> int:
    return _RECORD_BYTES + len(str(message.topic)) + len(message.payload or b"")
