"""The API: the table as a document, its stream, commands, none lost or carried out twice, and turns to enter."""

import asyncio
import gc
import json
import threading
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from common.phrases import Phrase, joined
from engine.registry import games, load
from engine.values import Outcome, Roll
from frontends import table_port
from frontends.page.access import Access, AccessPolicy, PageSession, Role
from frontends.page.api import PageServices
from frontends.page.entering import MOST_TURNS, dice_document, turns_document
from frontends.page.shown_table import shown_table
from frontends.table_port import (
    MOST_WAITING,
    CommandError,
    CommandFault,
    CommandHandler,
    ReplyDocument,
    SnapshotHub,
    TablePort,
    VersionedSnapshot,
)
from hardware.lights.signals import Mood, Signal
from referee.clocks import ClockFace, ClockMode
from referee.commands.values import (
    COMMANDS,
    Command,
    EnterTurn,
    NewGame,
    QueuedCommand,
    Reply,
    TakeBack,
)
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import EventKind
from referee.record.fold import FoldedStep, Intention
from referee.session.ports import ServiceSettings
from tests.effort import cases
from tests.frontends.page.page_table import HOUSE, access_of, client_of, paired, port_of, snapshot_of, working
from tests.referee.given import GIVEN
from vision.frame import Frame


@pytest.mark.parametrize("name", games())
def test_the_table_of_every_game_is_a_document(name: str) -> None:
    port = port_of(name)
    client = client_of(port)
    before = client.get("/api/table").json()
    assert (before["version"], before["players"][0]["to_move"]) == (0, False)
    port.snapshots(snapshot_of(load(name)))
    document = client.get("/api/table").json()
    assert (document["version"], document["event_number"], document["game"]["name"]) == (1, 1, name)
    assert document["board"].startswith("<svg")
    assert any(player["to_move"] for player in document["players"])
    asks = "roll the" if port.game.dice else "to play."
    assert ("tell the referee their faces" if name == "number-drop" else asks) in document["next"]
    said = client.get("/api/places").json()
    assert (said["game"], len(said["places"])) == (name, len(load(name).places))


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            ("Anna and Ben play now.", "Ben a1=2", "Hint: Anna drops 1 on b1.", "Ben wrote 1, but begins with a 2."),
        ),
        ("de", ("Anna und Ben sind am Zug.", "Ben a1=2", None, "Ben hat 1 geschrieben, beginnt aber mit einer 2.")),
    ],
)
def test_whoever_gave_a_name_is_called_by_it_everywhere(language: str, said: tuple[str | None, ...]) -> None:
    game = load("number-drop")
    state = game.notation.parse_state("drop p1=1...... p2=2...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T to=p1,p2")
    verdict = Verdict(
        VerdictKind.ILLEGAL,
        Phrase("{who} wrote {cell}, but begins with a {own}.", "p2", 1, 2),
        1.0,
        1,
        places=("p2.a1",),
    )
    newest = replace(
        snapshot_of(game),
        states=(state,),
        to_move="p1",
        names={"p1": "Anna", "p2": "Ben"},
        last_turn=FoldedStep(EventKind.TURN, "a1=2", (), player="p2"),
        hint=joined(("Hint:", Phrase("{who} drops {digits}.", "p1", "1 on b1"))),
        verdict=verdict,
    )
    document = shown_table(game, VersionedSnapshot(1, newest), language, hints_allowed=True)
    assert document.verdict is not None
    assert document.last_turn is not None
    told = (document.next, document.last_turn.words, document.hint, document.verdict.sentence)
    assert all(want in (None, got) for want, got in zip(said, told, strict=True)), told
    assert document.scores[-1].startswith("Ben: ")


def test_a_viewer_gets_the_newest_state_at_once_and_each_change_it_can_keep_up_with() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game, 1))
    port.snapshots(snapshot_of(port.game, 2))
    with client_of(port) as client:
        # The client collects the whole response, so the stream must end here.
        port.snapshots.close()
        told = client.get("/api/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    event, number, data = told.text.strip().split("\n")
    assert (event, number) == ("event: table", "id: 2")
    assert json.loads(data.removeprefix("data: "))["event_number"] == 2


def test_a_viewer_who_stops_waiting_leaves_nothing_behind() -> None:
    hub = SnapshotHub(randbits=lambda bits: 0)
    hub(snapshot_of(load("diaballik"), 1))

    def waits() -> int:
        gc.collect()
        return sum(type(each) is asyncio.Future for each in gc.get_objects())

    async def give_up_often() -> int:
        loop = asyncio.get_running_loop()
        before = waits()
        for _ in range(20):
            waiting = loop.create_task(hub.after(1))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        return waits() - before

    assert asyncio.run(give_up_often()) < 3


def test_spaces_around_a_name_make_no_other_player() -> None:
    fields = {"command": "new game", "game": "diaballik", "players": {"white": " Ann  Lee ", "black": "  "}}
    command = COMMANDS.validate_python(fields)
    assert isinstance(command, NewGame)
    complete, _ = ServiceSettings().complete(load("diaballik"), command)
    assert complete.players == {"white": "Ann Lee"}


@pytest.mark.parametrize(
    ("trouble", "shown"),
    [
        ("The journal /home/ann/games/j.sqlite failed: disk full.", "The journal j.sqlite failed: disk full."),
        ("Cannot list the folder '/home/ann/in': gone.", "Cannot list the folder 'in': gone."),
        ("The reader gave 3/4 of it and/or more.", "The reader gave 3/4 of it and/or more."),
    ],
)
def test_a_fault_is_shown_without_the_machines_folders(trouble: str, shown: str) -> None:
    port = port_of()
    signal = Signal(Mood.WAITING, words=trouble)
    port.snapshots(replace(snapshot_of(port.game), trouble=trouble, signal=signal))
    document = client_of(port).get("/api/table").json()
    assert (document["trouble"], document["words"]) == (shown, shown)


def test_a_clock_is_given_as_of_the_request() -> None:
    now_s = [100.0]
    port = port_of(snapshots=SnapshotHub(lambda: now_s[0]))
    client = client_of(port)
    face = ClockFace(ClockMode.FISCHER, "fischer 5+3", 7.0, {"black": 60.0, "white": 50.0}, running=("black",))
    port.snapshots(snapshot_of(port.game, clock=face))
    assert client.get("/api/table").json()["clock"]["remaining_s"] == {"black": 60.0, "white": 50.0}
    now_s[0] += 12.5
    assert client.get("/api/table").json()["clock"]["remaining_s"] == {"black": 47.5, "white": 50.0}
    port.snapshots(snapshot_of(port.game, clock=replace(face, paused="a question")))
    now_s[0] += 12.5
    told = client.get("/api/table").json()["clock"]
    assert (told["remaining_s"]["black"], told["paused"]) == (60.0, "a question")


def test_hints_are_not_offered_in_a_game_without_them() -> None:
    port = port_of()
    client = client_of(port)
    port.snapshots(snapshot_of(port.game))
    assert client.get("/api/table").json()["game"]["hints_allowed"]
    port.snapshots(snapshot_of(port.game, without_hints=True))
    assert not client.get("/api/table").json()["game"]["hints_allowed"]


def test_the_next_step_can_be_the_programs_turn() -> None:
    port = port_of()
    meant = Intention("white", "c7-c6", "White moves c7 to c6. Please move it for white.", ("c7", "c6"))
    port.snapshots(snapshot_of(port.game, intention=meant))
    assert client_of(port).get("/api/table").json()["next"] == meant.words


def test_a_remark_before_the_set_up_leaves_what_to_do_next() -> None:
    port = port_of()
    port.snapshots(replace(snapshot_of(port.game, words="Waiting for the set-up."), states=()))
    table = client_of(port).get("/api/table").json()
    assert (table["next"], table["words"]) == ("Waiting for the set-up.", "It waits.")


def test_every_command_is_among_those_given() -> None:
    assert {type(command) for _, command in GIVEN} == set(get_args(Command))


@pytest.mark.parametrize(("fields", "command"), GIVEN)
def test_a_command_reaches_the_session_and_its_reply_comes_back(fields: dict[str, Any], command: Command) -> None:
    port = port_of()
    told: list[QueuedCommand] = []
    replies = [Reply("Done."), Reply("That can't be done.", refused=True)]

    def work(submitted: QueuedCommand) -> None:
        told.append(submitted)
        port.snapshots(snapshot_of(port.game, 7))
        submitted.respond(replies.pop(0) if replies else Reply("Done."))

    client = client_of(port, access_of(HOUSE))
    csrf = paired(client, Role.OWN)
    sent = {**fields, "seen": 6}
    with working(port, work):
        done, refused = (client.post("/api/commands", json=sent, headers={"X-CSRF-Token": csrf}) for _ in range(2))
        as_form = [] if any(isinstance(value, dict | list) for value in fields.values()) else [{**sent, "csrf": csrf}]
        forms = [client.post("/api/commands", data=form) for form in as_form]
    assert done.json() == {"words": "Done.", "refused": False, "event_number": 7, "field": ""}
    assert refused.json() == {"words": "That can't be done.", "refused": True, "event_number": 7, "field": ""}
    assert [form.json()["words"] for form in forms] == ["Done."] * len(forms)
    assert [(each.command, each.command.seen) for each in told] == [(command, 6)] * (2 + len(forms))


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not valid JSON"),
        (b"[" * 10000, 400, "not valid JSON"),
        (b"\xff", 400, "not valid JSON"),
        (b"[]", 422, "not a command"),
        (b'{"command": "dance"}', 422, "dance"),
        (b'{"command": "turn"}', 422, "text: field required"),
        (b'{"command": "turn", "text": "c1-c2", "more": 1}', 422, "more is 1: extra inputs"),
        (b'{"command": "hint", "by": "\\u0000"}', 422, "by is "),
    ],
)
def test_an_invalid_command_is_refused_with_the_reason(body: bytes, status: int, words: str) -> None:
    client = client_of(port_of())
    headers = {"X-CSRF-Token": client.get("/api/session").json()["csrf"], "Content-Type": "application/json"}
    reply = client.post("/api/commands", content=body, headers=headers)
    assert (reply.status_code, reply.json()["refused"]) == (status, True)
    assert words in reply.json()["words"]


def test_a_stopped_referee_refuses_commands() -> None:
    port = port_of()
    port.commands.close()
    client = client_of(port)
    headers = {"X-CSRF-Token": client.get("/api/session").json()["csrf"]}
    reply = client.post("/api/commands", json={"command": "hint"}, headers=headers)
    assert reply.json() == {
        "words": "The referee has stopped; nothing was done.",
        "refused": True,
        "event_number": 0,
        "field": "",
    }


def test_the_newest_camera_picture_is_encoded_once() -> None:
    drawn: list[int] = []

    def overlay(frame: Frame) -> Any:
        drawn.append(frame.sequence)
        return 255 - frame.image

    frame = Frame(np.zeros((90, 1600, 3), np.uint8), 0.0, 3)
    client = client_of(port_of(frame=lambda: frame, overlay=overlay))
    plain = client.get("/api/camera.jpg")
    assert (plain.headers["content-type"], plain.content[:2]) == ("image/jpeg", b"\xff\xd8")
    assert [client.get("/api/camera.jpg?overlay=1").status_code for _ in range(3)] == [200] * 3
    assert drawn == [3]
    nothing = client_of(port_of()).get("/api/camera.jpg")
    assert (nothing.status_code, nothing.json()["refused"]) == (404, True)


def test_the_description_names_every_endpoint_and_every_command() -> None:
    client = client_of(port_of())
    described = client.get("/api/openapi.json").json()
    assert {"/api/table", "/api/events", "/api/commands", "/api/history/{number}"} <= described["paths"].keys()
    schema = described["paths"]["/api/commands"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "take back" in schema["discriminator"]["mapping"]
    named = set(described["components"]["schemas"])
    assert {reference.rpartition("/")[2] for reference in _references(described)} <= named


def test_the_description_names_the_commands_that_only_the_owner_may_give() -> None:
    described = client_of(port_of()).get("/api/openapi.json").json()["paths"]["/api/commands"]["post"]["description"]
    names = {each.command: each.needs for each in get_args(Command)}
    assert {name for name in names if name in described} == {name for name, needs in names.items() if needs is Role.OWN}
    assert described.startswith("For devices paired to play;")
    objects = COMMANDS.json_schema()["$defs"]
    assert all("command" in objects[each.__name__]["required"] for each in get_args(Command))


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(_references(each) for each in value.values()))
    return set().union(*(_references(each) for each in value)) if isinstance(value, list) else set()


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
GIVEN_BY_PHONES = st.lists(
    st.tuples(st.sampled_from(PHONES), COMMAND, st.sampled_from(["", "one", "two"]), st.booleans()),
    min_size=1,
    max_size=12,
)


@settings(max_examples=cases(60))
@given(rounds=st.lists(GIVEN_BY_PHONES, min_size=1, max_size=3))
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


def rolled(name: str, faces: str) -> tuple[Any, Any, Any]:
    """A game, a snapshot that awaits its first roll, and one with that roll."""
    game = load(name)
    options = {} if name == "blockade" else {"players": 2}
    before = game.rules.new(options)
    assert game.dice is not None
    after = game.dice.rolled(before, Roll(tuple(faces.split(","))))
    snapshot = snapshot_of(game)
    return game, replace(snapshot, states=(before,)), replace(snapshot, states=(after,))


def test_the_first_turns_are_listed_and_the_others_counted() -> None:
    game = load("diaballik")
    snapshot = snapshot_of(game)
    every = turns_document(game, snapshot)
    in_all = len(game.rules.legal_turns(snapshot.states[0]))
    assert in_all > MOST_TURNS
    assert (len(every.turns), every.more) == (MOST_TURNS, in_all - MOST_TURNS)
    begun = turns_document(game, snapshot, "A1-A2 b1")
    assert begun.turns
    assert begun.more == 0
    assert all(turn.text.startswith("a1-a2 b1") for turn in begun.turns)
    assert turns_document(game, snapshot, "z9").turns == ()


def test_the_api_lists_the_turns_that_begin_with_a_text() -> None:
    port = port_of()
    client = client_of(port)
    assert client.get("/api/turns").status_code == 404
    port.snapshots(snapshot_of(port.game, 7))
    listed = client.get("/api/turns", params={"begins": "a1-a2 d1"}, headers={"Accept-Language": "de"}).json()
    assert listed["event_number"] == 7
    words = {turn["text"]: turn["words"] for turn in listed["turns"]}
    assert words["a1-a2 d1*e1"] == "Schwarz zieht a1 nach a2 und spielt den Ball von d1 nach e1."


def test_a_claim_is_listed_once_it_is_possible() -> None:
    port = port_of()
    client = client_of(port)
    port.snapshots(snapshot_of(port.game))
    assert client.get("/api/turns").json()["announcements"] == []
    form = client.get("/enter").text.partition('id="announcing"')[2].partition("</form>")[0]
    assert ("hidden" in form.partition(">")[0], "<option" in form) == (True, False)
    wall = port.game.notation.parse_state("......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb")
    port.snapshots(replace(snapshot_of(port.game), states=(wall,)))
    (claim,) = client.get("/api/turns", headers={"Accept-Language": "de"}).json()["announcements"]
    assert claim["text"] == "black:anti-play"
    assert claim["words"].startswith("Schwarz ")
    form = client.get("/enter").text.partition('id="announcing"')[2].partition("</form>")[0]
    assert ("hidden" in form.partition(">")[0], '<option value="black:anti-play">' in form) == (False, True)


def test_a_finished_game_and_a_game_on_sheets_list_no_turns() -> None:
    game = load("diaballik")
    over = replace(snapshot_of(game), outcome=Outcome("black", "white resigned"))
    assert turns_document(game, over).turns == ()
    assert turns_document(load("number-drop"), snapshot_of(load("number-drop"))).turns == ()


@pytest.mark.parametrize(
    ("name", "roll", "dice", "face"),
    [("blockade", "6,4", 2, "6"), ("blokus-dice", "3,6", 2, "1"), ("number-drop", "O4,I4,X5,I3,T5", 5, "T5")],
)
def test_dice_are_offered_for_an_awaited_roll_and_to_correct_a_visible_one(
    name: str, roll: str, dice: int, face: str
) -> None:
    game, awaiting, lying = rolled(name, roll)
    offered = dice_document(game, awaiting).dice
    assert len(offered) == dice
    assert all(face in die.faces and not die.shown for die in offered)
    seen = dice_document(game, lying, awaiting.states).dice
    assert [die.faces for die in seen] == [die.faces for die in offered]


def test_dice_are_not_offered_after_a_typed_roll_or_in_a_game_without_dice() -> None:
    game, awaiting, lying = rolled("blokus-dice", "3,6")
    assert dice_document(game, lying).dice == ()
    assert [die.shown for die in dice_document(game, lying, awaiting.states).dice] == ["3", "6"]
    assert dice_document(game, replace(awaiting, outcome=Outcome(None, "over"))).dice == ()
    assert dice_document(load("diaballik"), snapshot_of(load("diaballik"))).dice == ()


def test_the_api_names_distinguishable_dice() -> None:
    port = port_of("blockade")
    client = client_of(port)
    port.snapshots(snapshot_of(port.game, 3))
    told = client.get("/api/dice", headers={"Accept-Language": "de"}).json()
    assert told["event_number"] == 3
    assert [die["faces"] for die in told["dice"]] == [["1", "2", "3", "4", "5", "6"]] * 2
    assert len({die["name"] for die in told["dice"]}) == 2


def test_taps_are_answered_with_the_next_possible_taps_and_the_turn() -> None:
    port = port_of()
    client = client_of(port)
    assert client.get("/api/tapped").status_code == 404
    port.snapshots(snapshot_of(port.game, 7))
    begun = client.get("/api/tapped").json()
    assert begun["squares"] == ["a1", "b1", "c1", "d1", "e1", "f1", "g1"]
    assert (begun["turn"], begun["event_number"]) == (None, 7)
    played = client.get("/api/tapped", params={"taps": "a1,a2"}, headers={"Accept-Language": "de"}).json()
    assert played["turn"] == {"text": "a1-a2", "player": "black", "words": "Schwarz zieht a1 nach a2."}


@pytest.mark.parametrize("taps", ["a1,g7", "nowhere", "a2", "'\"<>", "a1" * 900])
def test_taps_that_begin_no_turn_are_refused_with_the_reason(taps: str) -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    refused = client_of(port).get("/api/tapped", params={"taps": taps})
    assert refused.status_code == 422
    assert "no turn begins with" in refused.json()["words"]


def test_nothing_can_be_tapped_once_the_game_is_over() -> None:
    port = port_of()
    over = replace(snapshot_of(port.game), outcome=Outcome("black", "white resigned"))
    port.snapshots(over)
    assert client_of(port).get("/api/tapped").json()["squares"] == []


def test_a_players_phone_is_offered_no_squares_in_anothers_turn() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    client = client_of(port, access_of(HOUSE))
    headers = {"X-CSRF-Token": paired(client, Role.PLAY)}
    for player, taps, may in (("white", "", False), ("white", "a1,a2", False), ("black", "", True)):
        assert client.post("/api/session", json={"player": player}, headers=headers).status_code == 200
        offered = client.get("/api/tapped", params={"taps": taps}).json()
        assert bool(offered["squares"] or offered["choices"] or offered["turn"]) is may


def test_an_unknown_symbol_is_asked_for_in_words() -> None:
    port = port_of("deblockle")
    port.snapshots(snapshot_of(port.game))
    client = client_of(port)
    first = client.get("/api/tapped").json()["squares"][0]
    rolled = client.get("/api/tapped", params={"taps": first}).json()["squares"][0]
    asked = client.get("/api/tapped", params={"taps": f"{first},{rolled}"}).json()
    assert asked["choices"] or len(asked["taps"]) == 3
