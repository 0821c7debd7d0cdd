"""The handler that takes commands of pages and brokers: who gives them, which are repetitions, and what is replied."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.registry import load
from frontends.table_port import CommandError, CommandFault, CommandHandler, ReplyDocument, SnapshotHub, TablePort
from hardware.lights.signals import Mood, Signal
from journal.journal import Journal
from referee.commands.values import CommandQueue, OfferDraw, Reply, Role
from referee.record.events import ASKS_TAKE_BACK, REQUEST, Event, EventKind
from referee.record.fold import Offer
from referee.session.feed import TableSnapshot
from tests.guard import GUARD_S


@dataclass(frozen=True)
class Phone:
    name: str = ""
    role: Role = Role.PLAY
    id: str = "p"
    player: str | None = None


class Desk:
    """A handler whose commands are carried out at once; ``by`` are those who gave them."""

    def __init__(self, journal: Path | None = None) -> None:
        self.by: list[str] = []
        self.port = TablePort(load("diaballik"), SnapshotHub(), CommandQueue(lambda: 0.0), journal)
        self.handler = CommandHandler(self.port, "somebody", "That needs the role {needs}.")

    async def _serve(self) -> None:
        while not (submitted := self.port.commands.take()):
            await asyncio.sleep(0)
        for one in submitted:
            assert isinstance(one.command, OfferDraw)
            self.by.append(one.command.by)
            one.respond(Reply(f"Done {len(self.by)}."))

    async def give(self, phone: Phone = Phone(), **fields: str) -> ReplyDocument:
        """Give a command that may be a repetition, and return the reply."""
        serving = asyncio.ensure_future(self._serve())
        try:
            message = {"command": "announce", "text": "draw", **fields}
            return await asyncio.wait_for(self.handler.take(phone, message), GUARD_S)
        finally:
            serving.cancel()


def test_only_the_newest_500_requests_are_remembered() -> None:
    on = Desk()

    async def play() -> None:
        first = [await on.give(request_id=f"r{number}") for number in range(501)]
        assert await on.give(request_id="r1") == first[1]
        assert await on.give(request_id="r0") != first[0], "carried out again"

    asyncio.run(play())
    assert len(on.by) == 502


def test_a_command_is_by_the_person_it_names_else_by_its_sender() -> None:
    on = Desk()

    async def play() -> None:
        for phone, fields in ((Phone("Ann"), {"by": "Ben"}), (Phone("Ann"), {}), (Phone(), {})):
            await on.give(phone, **fields)

    asyncio.run(play())
    assert on.by == ["Ben", "Ann", "somebody"]


def test_a_reply_has_the_number_of_the_newest_event() -> None:
    on = Desk()
    assert asyncio.run(on.give()) == ReplyDocument(words="Done 1.", refused=False, event_number=0)
    on.port.snapshots(TableSnapshot(1, 7, Signal(Mood.WAITING), 0.0))
    assert asyncio.run(on.give()).event_number == 7


@pytest.mark.parametrize(
    ("role", "fields", "fault", "words"),
    [
        (Role.LOOK, {"command": "hint"}, CommandFault.FORBIDDEN, "That needs the role play."),
        (Role.PLAY, {"command": "agreed draw"}, CommandFault.FORBIDDEN, "That needs the role own."),
        (Role.OWN, {"command": "dance"}, CommandFault.UNREADABLE, "That is not a command: "),
    ],
)
def test_a_refused_command_says_why(role: Role, fields: Mapping[str, str], fault: CommandFault, words: str) -> None:
    with pytest.raises(CommandError, match=words) as refused:
        asyncio.run(Desk().handler.take(Phone(role=role), fields))
    assert refused.value.fault is fault


def test_a_command_that_the_journal_has_is_not_carried_out_again(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "diaballik", "options": {}, REQUEST: "p r1"}))
    on = Desk(path)

    async def play() -> list[str]:
        other = Phone(id="q")
        return [(await on.give(phone, request_id=request)).words for phone, request in ((Phone(), "r1"), (other, "r1"))]

    # Another device's requests are its own.
    assert asyncio.run(play()) == ["That was done before; it is event 1.", "Done 1."]


def test_who_offered_a_draw_cannot_accept_it() -> None:
    on = Desk()
    offering, other = Phone(id="p"), Phone(id="q")
    asked = TableSnapshot(1, 7, Signal(Mood.WAITING), 0.0, offer=Offer("black", device="p"))

    async def play() -> None:
        offer = {"request_id": "r1", "player": "black"}
        first = await on.give(offering, **offer)
        on.port.snapshots(asked)
        for message in (
            {"command": "announce", "text": "draw"},
            {"command": "announce", "text": "draw", "player": "white"},
            {"command": "answer", "accepts": "true"},
        ):
            with pytest.raises(CommandError, match="This device offered the draw"):
                await on.handler.take(offering, message)
        # A repetition gets its reply.
        assert await on.give(offering, **offer) == first
        assert not (await on.give(other, player="white")).refused
        # The offer was refused at the terminal, where the other player then made one.
        on.port.snapshots(replace(asked, offer=Offer("white")))
        assert not (await on.give(offering, player="black")).refused

    asyncio.run(play())


@pytest.mark.parametrize("role", [Role.PLAY, Role.OWN])
@pytest.mark.parametrize("message", [{"command": "answer", "accepts": "true"}, {"command": "take back"}])
def test_only_an_owners_device_answers_its_own_wish_to_take_back(role: Role, message: Mapping[str, str]) -> None:
    on = Desk()
    wish = Offer("black", ASKS_TAKE_BACK, device="p")
    on.port.snapshots(TableSnapshot(1, 7, Signal(Mood.WAITING), 0.0, offer=wish))

    class AdmittedError(Exception):
        pass

    def admit() -> None:
        raise AdmittedError

    refused = pytest.raises(CommandError, match="This device asked that")
    with refused if role is Role.PLAY else pytest.raises(AdmittedError):
        asyncio.run(on.handler.take(Phone(role=role), message, admit))
