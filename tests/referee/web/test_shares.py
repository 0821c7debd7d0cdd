"""Fair shares: who loses a place, whose turn it is, and how many may look."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message

from referee.web.access import MOST_VIEWERS, VIEWERS_OF_DEVICE, PageSession, Places, Role, Turns, Viewers, address_group


@pytest.mark.parametrize(
    ("host", "group"),
    [
        ("192.168.1.5", "192.168.1.5"),
        ("::ffff:192.168.1.5", "192.168.1.5"),
        ("2001:db8:0:7:1:2:3:4", "2001:db8:0:7::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_address_counts_as_its_network(host: str, group: str) -> None:
    assert address_group(host) == group


def test_a_small_group_keeps_its_places_however_many_others_come() -> None:
    places = Places[int](4)
    places.take(0, "owner", 2)
    displaced = [places.take(number, "crowd", 3) for number in range(1, 8)]
    assert displaced == [None, None, None, 1, 2, 3, 4]
    assert [places.take(8, "other", 3), places.take(9, "another", 3)] == [5, 6]
    assert len(places) == 4
    places.leave(5, "crowd")
    assert len(places) == 4, "a displaced holder has no place to give back"


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=60), st.integers(1, 8), st.integers(1, 4))
def test_there_are_never_more_than_the_places_and_the_shares(
    events: list[tuple[str, bool]], most: int, share: int
) -> None:
    places, here = Places[int](most), dict[int, str]()
    for number, (group, leaves) in enumerate(events):
        if leaves and here:
            holder = next(iter(here))
            places.leave(holder, here.pop(holder))
        else:
            displaced = places.take(number, group, share)
            here[number] = group
            if displaced is not None:
                del here[displaced]
        assert len(places) == len(here) <= most
        assert all(count <= share for count in Counter(here.values()).values())


def test_the_turns_of_one_device_leave_some_to_others() -> None:
    async def work() -> list[str]:
        turns, working, done = Turns(3, 2), asyncio.Event(), list[str]()

        async def read(device: str) -> None:
            async with turns.turn(device):
                done.append(device)
                await working.wait()

        tasks = [asyncio.create_task(read(device)) for device in ("crowd",) * 10 + ("other",)]
        for _ in range(5):
            await asyncio.sleep(0)
        began = list(done)
        working.set()
        await asyncio.gather(*tasks)
        assert len(done) == 11
        return began

    assert asyncio.run(work()) == ["crowd", "crowd", "other"]


async def _nothing() -> AsyncIterator[bytes]:
    yield b"x"


def test_viewers_are_counted_before_their_stream_begins() -> None:
    viewers = Viewers()
    for number in range(MOST_VIEWERS):
        viewers.stream(PageSession(str(number % 16), Role.LOOK), _nothing())
    with pytest.raises(HTTPException) as refused:
        viewers.stream(PageSession("another", Role.LOOK), _nothing())
    assert refused.value.status_code == 503
    viewers.stream(PageSession("owner", Role.OWN), _nothing())
    with pytest.raises(HTTPException):
        viewers.stream(PageSession("machine", Role.OWN), _nothing())


def test_one_device_has_a_share_of_the_streams_and_a_stream_that_ended_counts_no_more() -> None:
    viewers, guest = Viewers(), PageSession("guest", Role.LOOK)
    streams = [viewers.stream(guest, _nothing()) for _ in range(VIEWERS_OF_DEVICE)]
    with pytest.raises(HTTPException) as refused:
        viewers.stream(guest, _nothing())
    assert refused.value.status_code == 429

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def send(_: Message) -> None:
        raise OSError("the client went before the stream began")

    with pytest.raises(ClientDisconnect):
        asyncio.run(streams[0]({"type": "http", "asgi": {"spec_version": "2.4"}}, gone, send))
    viewers.stream(guest, _nothing())
    for _ in range(MOST_VIEWERS - VIEWERS_OF_DEVICE):
        viewers.stream(PageSession("machine", Role.OWN), _nothing())
