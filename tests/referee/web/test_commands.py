"""Commands from the page: none is lost or carried out twice, and one for an outdated table is refused."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from referee.commands.values import EnterTurn, QueuedCommand, Reply, TakeBack
from referee.session import table_port
from referee.session.table_port import (
    MOST_WAITING,
    CommandError,
    CommandFault,
    CommandHandler,
    ReplyDocument,
    TablePort,
)
from referee.web.access import Access, AccessPolicy, PageSession, Role
from referee.web.api import PageServices
from tests.effort import cases
from tests.referee.web.page_table import access_of, port_of, snapshot_of, working

PHONES = [PageSession(name, Role.PLAY, name) for name in ("Ann", "Ben", "Cleo")]


def unhurried() -> Access:
    """An access whose rate limit is never reached."""
    now_s = [0.0]

    def later() -> float:
        now_s[0] += 100.0
        return now_s[0]

    return Access(AccessPolicy(), b"k" * 32, lambda: 0.0, later)


class FakeSession:
    """A session whose turns are any texts, and whose take-back undoes the last one."""

    def __init__(self, port: TablePort) -> None:
        self.port = port
        self.turns: list[str] = []
        self.done: list[object] = []
        self.number = 1
        port.snapshots(snapshot_of(port.game, self.number))

    def work(self, submitted: QueuedCommand) -> None:
        if submitted.command.seen not in {None, self.number}:
            submitted.respond(Reply("The table has changed.", refused=True))
            return
        self.done.append(submitted.command)
        match submitted.command:
            case EnterTurn(text=text):
                self.turns.append(text)
            case TakeBack() if self.turns:
                self.turns.pop()
            case _:
                submitted.respond(Reply("There is no turn to take back.", refused=True))
                return
        self.number += 1
        self.port.snapshots(snapshot_of(self.port.game, self.number))
        submitted.respond(Reply("Done."))


def together(*messages: Coroutine[Any, Any, ReplyDocument]) -> list[ReplyDocument]:
    async def all_of_them() -> list[ReplyDocument]:
        return list(await asyncio.gather(*messages))

    return asyncio.run(all_of_them())


COMMAND = st.one_of(
    st.fixed_dictionaries({"command": st.just("turn"), "text": st.sampled_from("abc")}),
    st.fixed_dictionaries({"command": st.just("take back")}),
)
GIVEN = st.lists(
    st.tuples(st.sampled_from(PHONES), COMMAND, st.sampled_from(["", "one", "two"]), st.booleans()),
    min_size=1,
    max_size=12,
)


@settings(max_examples=cases(60))
@given(rounds=st.lists(GIVEN, min_size=1, max_size=3))
def test_simultaneous_commands_are_each_carried_out_once(rounds: list[list[Any]]) -> None:
    port = port_of()
    session = FakeSession(port)
    services = PageServices.of(port, unhurried())
    expected: Counter[tuple[str, str, str]] = Counter()
    known: set[tuple[str, str]] = set()

    async def play() -> None:
        for given_together in rounds:
            seen = session.number
            messages = []
            for phone, message, request, looks in given_together:
                more = {"request_id": request} if request else {}
                more |= {"seen": seen} if looks else {}
                messages.append(services.carry_out(phone, {**message, **more}))
            replies = await asyncio.gather(*messages)
            for (phone, message, request, _), reply in zip(given_together, replies, strict=True):
                is_again = bool(request) and (phone.id, request) in known
                if request:
                    known.add((phone.id, request))
                reached = not reply.words.startswith("The table has changed")
                if not is_again and reached:
                    expected[(phone.name, message["command"], message.get("text", ""))] += 1

    with working(port, session.work):
        asyncio.run(play())
    carried_out = Counter(
        (command.by, "turn", command.text) if isinstance(command, EnterTurn) else (command.by, "take back", "")  # type: ignore[attr-defined]
        for command in session.done
    )
    assert carried_out == expected


def test_two_take_backs_of_the_same_turn_take_back_only_that() -> None:
    port = port_of()
    session = FakeSession(port)
    services = PageServices.of(port, unhurried())
    with working(port, session.work):
        together(*(services.carry_out(PHONES[0], {"command": "turn", "text": text}) for text in "abc"))
        seen = session.number
        replies = together(*(services.carry_out(phone, {"command": "take back", "seen": seen}) for phone in PHONES))
    assert session.turns == ["a", "b"]
    assert sorted(reply.refused for reply in replies) == [False, True, True]
    assert replies[-1].words == "The table has changed."


def test_a_repeated_request_gets_the_same_reply() -> None:
    port = port_of()
    session = FakeSession(port)
    services = PageServices.of(port, unhurried())
    message = {"command": "turn", "text": "a", "request_id": "x1"}
    with working(port, session.work):
        first, again = together(services.carry_out(PHONES[0], message), services.carry_out(PHONES[0], message))
        other = together(services.carry_out(PHONES[1], message))[0]
    assert first == again
    assert (session.turns, other.refused) == (["a", "a"], False)


def test_a_command_without_an_answer_stays_in_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_port, "ANSWER_TIMEOUT_S", 0.0)
    port = port_of()
    session = FakeSession(port)
    services = PageServices.of(port, unhurried())
    message = {"command": "turn", "text": "a", "request_id": "x1"}

    async def hurried() -> ReplyDocument:
        with pytest.raises(HTTPException) as refused:
            await services.carry_out(PHONES[0], message)
        assert refused.value.status_code == 504
        monkeypatch.setattr(table_port, "ANSWER_TIMEOUT_S", 15.0)
        for submitted in port.commands.take():
            session.work(submitted)
        return await services.carry_out(PHONES[0], message)

    assert asyncio.run(hurried()).words == "Done."
    assert session.turns == ["a"]


def test_a_command_that_waits_for_the_table_has_no_answer_until_it_is_repeated() -> None:
    port = port_of()
    replies = [Reply("It is judged later.", waits=True), Reply("Black resigns.")]
    handler = CommandHandler(port, "somebody", "no", shares_requests=True)

    async def given_twice() -> ReplyDocument:
        with pytest.raises(CommandError) as unanswered:
            await handler.take(PHONES[0], {"command": "announce", "text": "black:resign", "request_id": "x1"})
        assert unanswered.value.fault is CommandFault.UNANSWERED
        return await handler.take(PHONES[0], {"command": "announce", "text": "black:resign", "request_id": "x1"})

    with working(port, lambda submitted: submitted.respond(replies.pop(0))):
        assert asyncio.run(given_twice()).words == "Black resigns."


def test_a_command_that_failed_after_its_sender_had_left_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_port, "ANSWER_TIMEOUT_S", 0.0)
    port = port_of()
    handler = CommandHandler(port, "somebody", "no", shares_requests=True)
    message = {"command": "announce", "text": "black:resign", "request_id": "x1"}

    async def given_twice() -> ReplyDocument:
        with pytest.raises(CommandError):
            await handler.take(PHONES[0], message)
        monkeypatch.setattr(table_port, "ANSWER_TIMEOUT_S", 15.0)
        for submitted in port.commands.take():
            submitted.respond(Reply("It is judged later.", waits=True))
        await asyncio.sleep(0.05)
        with working(port, lambda submitted: submitted.respond(Reply("Black resigns."))):
            return await handler.take(PHONES[0], message)

    assert asyncio.run(given_twice()).words == "Black resigns."


def test_too_many_waiting_commands_are_refused_and_a_stop_answers_all() -> None:
    port = port_of()
    services = PageServices.of(port, unhurried())

    async def crowd() -> list[Any]:
        messages = [
            asyncio.create_task(services.carry_out(PHONES[0], {"command": "hint"})) for _ in range(MOST_WAITING + 1)
        ]
        await asyncio.wait(messages, return_when=asyncio.FIRST_COMPLETED)
        threading.Thread(target=port.commands.close).start()
        return await asyncio.gather(*messages, return_exceptions=True)

    answers = asyncio.run(crowd())
    refused = [answer for answer in answers if isinstance(answer, HTTPException)]
    assert [error.status_code for error in refused] == [503]
    assert {answer.words for answer in answers if isinstance(answer, ReplyDocument)} == {
        "The referee has stopped; nothing was done."
    }


def test_a_device_that_may_only_look_cannot_give_commands() -> None:
    services = PageServices.of(port_of(), access_of())
    for role, message in ((Role.LOOK, {"command": "hint"}), (Role.PLAY, {"command": "new game", "game": "deblockle"})):
        with pytest.raises(HTTPException) as refused:
            together(services.carry_out(PageSession("x", role), message))
        assert refused.value.status_code == 403
