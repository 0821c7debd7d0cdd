"""The messages that wait for the hall's database stay within a limit, at the cost of the largest sender."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import aiomqtt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hall.broker import MessageQueue
from tests.hall.halls import hall_on

RECORD = 1024


def message(table: str, number: int, size: int) -> aiomqtt.Message:
    return aiomqtt.Message(f"club/{table}/events", b"x" * size, 1, False, number, None)


def table_of(topic: str) -> str:
    return topic.split("/")[1]


def size_of(each: aiomqtt.Message) -> int:
    assert isinstance(each.payload, bytes)
    return RECORD + len(str(each.topic)) + len(each.payload)


def numbers(queue: MessageQueue) -> list[int]:
    """The numbers of all waiting messages, which are taken."""
    found = []
    while not queue.empty():
        found.append(queue.get_nowait().mid)
    return found


def test_messages_leave_in_order() -> None:
    queue = MessageQueue(table_of, print)
    for number in range(20):
        queue.put_nowait(message(f"t{number % 3}", number, 10))
    assert [each.mid for each in queue.batch_from(queue.get_nowait())] == list(range(20))
    assert (queue.bytes_waiting, queue.has_dropped) == (0, False)


def test_the_largest_sender_loses_its_oldest_messages_which_is_reported_once() -> None:
    said: list[str] = []
    queue = MessageQueue(table_of, said.append, most_bytes=10 * 1100)
    queue.put_nowait(message("quiet", 100, 10))
    for number in range(50):
        queue.put_nowait(message("loud", number, 10))
    left = numbers(queue)
    assert left == [100, *range(50 - (len(left) - 1), 50)]
    assert queue.has_dropped
    assert len(said) == 1
    assert "the oldest are left out, and their tables will be asked again" in said[0]


def test_a_batch_stays_below_its_limit() -> None:
    queue = MessageQueue(table_of, print)
    for number in range(2000):
        queue.put_nowait(message("t", number, 10))
    for number in range(5):
        queue.put_nowait(message("t", 2000 + number, 3 * 1024 * 1024))
    sizes = []
    while not queue.empty():
        sizes.append(len(queue.batch_from(queue.get_nowait())))
    assert sizes == [1000, 1000, 3, 2]


@given(
    st.lists(st.none() | st.tuples(st.sampled_from("abc"), st.integers(0, 3000)), max_size=60), st.integers(1000, 20000)
)
@example([("a", 0), ("b", 2), ("a", 2)], 2076)
def test_the_limit_holds_for_any_messages(steps: list[tuple[str, int] | None], most_bytes: int) -> None:
    queue, waiting = MessageQueue(table_of, lambda _: None, most_bytes), list[aiomqtt.Message]()
    for number, step in enumerate(steps):
        if step is None:
            if waiting:
                assert queue.get_nowait() is waiting.pop(0)
        else:
            waiting.append(message(step[0], number, step[1]))
            queue.put_nowait(waiting[-1])
            while sum(map(size_of, waiting)) > most_bytes:
                taken = Counter[str]()
                for each in waiting:
                    taken[table_of(str(each.topic))] += size_of(each)
                most = taken.most_common(1)[0][0]
                waiting.remove(next(each for each in waiting if table_of(str(each.topic)) == most))
        assert queue.bytes_waiting == sum(map(size_of, waiting)) <= most_bytes
    assert numbers(queue) == [each.mid for each in waiting]


def test_a_message_over_the_limit_is_dropped_and_wakes_nobody() -> None:
    async def wait() -> int:
        queue = MessageQueue(table_of, print, most_bytes=5000)
        taking = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        queue.put_nowait(message("t", 1, 6000))
        await asyncio.sleep(0)
        assert not taking.done()
        queue.put_nowait(message("t", 2, 60))
        return (await taking).mid

    assert asyncio.run(wait()) == 2


@pytest.mark.parametrize("topic", ["club/t1/events", "club/t1/evidence/5/a.jpg", "club/answers/one/t1"])
def test_a_hall_knows_the_table_of_a_message(topic: str, tmp_path: Path) -> None:
    assert hall_on(str(tmp_path / "hall.db")).seat_of(topic) == "t1"
