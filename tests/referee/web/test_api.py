"""The API: the table as a document, its stream of changes, and commands for the session's queue."""

from __future__ import annotations

import asyncio
import gc
import json
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from engine.registry import games, load
from hardware.lights.signals import Mood, Signal
from hardware.pin_map import ButtonRole
from referee.clocks import ClockFace, ClockMode
from referee.commands.values import (
    COMMANDS,
    AgreedDraw,
    Announce,
    AnswerDraw,
    AskHint,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    OfferDraw,
    Overrule,
    PauseClock,
    Press,
    QueuedCommand,
    Reply,
    RestoreSensor,
    TakeBack,
)
from referee.journal.events import EventKind
from referee.journal.fold import FoldedStep, Intention
from referee.judge.verdict import Verdict, VerdictKind
from referee.languages import sentences
from referee.session.ports import ServiceSettings
from referee.session.table_port import SnapshotHub, VersionedSnapshot
from referee.web.access import Role
from referee.web.documents import table_document
from tests.referee.web.page_table import HOUSE, access_of, client_of, paired, port_of, snapshot_of, working
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
    asks = "rolls" if port.game.dice else "to play."
    assert ("tell the referee their faces." if name == "number-drop" else asks) in document["next"]
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
    verdict = Verdict(VerdictKind.ILLEGAL, "p2 wrote 1, but begins with a 2.", 1.0, 1, places=("p2.a1",))
    newest = replace(
        snapshot_of(game),
        states=(state,),
        to_move="p1",
        names={"p1": "Anna", "p2": "Ben"},
        last_turn=FoldedStep(EventKind.TURN, "a1=2", (), player="p2"),
        hint="Hint: p1 drops 1 on b1.",
        verdict=verdict,
    )
    document = table_document(game, VersionedSnapshot(1, newest), hints_allowed=True, say=sentences(language))
    assert document.verdict is not None
    assert document.last_turn is not None
    told = (document.next, document.last_turn.text, document.hint, document.verdict.sentence)
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
    hub = SnapshotHub()
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


GIVEN: list[tuple[dict[str, Any], Command]] = [
    ({"command": "turn", "text": "c1-c2"}, EnterTurn("c1-c2", "Ben")),
    ({"command": "turn", "text": "c1-c2", "by": "Ann", "player": "white"}, EnterTurn("c1-c2", "Ann", "white")),
    ({"command": "hint"}, AskHint("Ben")),
    ({"command": "correct", "looks": {"c3": "empty"}}, Correct("Ben", {"c3": "empty"})),
    (
        {"command": "new game", "game": "diaballik", "players": {"white": "Ann"}, "clock": "fischer 5+3"},
        NewGame("diaballik", {}, {"white": "Ann"}, clock="fischer 5+3", by="Ben"),
    ),
    ({"command": "new game", "game": "diaballik", "clock": "None"}, NewGame("diaballik", clock="None", by="Ben")),
    ({"command": "roll", "text": "4,1"}, EnterRoll("4,1", "Ben")),
    ({"command": "announce", "text": "resign"}, Announce("resign", "Ben")),
    ({"command": "offer draw"}, OfferDraw("Ben")),
    ({"command": "offer draw", "player": "white"}, OfferDraw("Ben", "white")),
    ({"command": "answer draw", "accepts": True}, AnswerDraw(by="Ben", accepts=True)),
    ({"command": "answer draw", "accepts": False}, AnswerDraw(by="Ben", accepts=False)),
    ({"command": "agreed draw"}, AgreedDraw("Ben")),
    ({"command": "take back"}, TakeBack("Ben")),
    ({"command": "overrule", "places": ["c3"]}, Overrule(("c3",), "Ben")),
    ({"command": "restore sensor", "place": "c3"}, RestoreSensor("c3", "Ben")),
    ({"command": "pause clock", "resume": True}, PauseClock("Ben", resume=True)),
    ({"command": "press", "role": "hint"}, Press(ButtonRole.HINT, "Ben")),
]


def test_the_page_can_give_every_command() -> None:
    assert {type(command) for _, command in GIVEN} == set(get_args(Command))


@pytest.mark.parametrize(("fields", "command"), GIVEN)
def test_a_command_is_answered_once_carried_out(fields: dict[str, Any], command: Command) -> None:
    port = port_of()
    told: list[Command] = []

    def work(submitted: QueuedCommand) -> None:
        told.append(submitted.command)
        port.snapshots(snapshot_of(port.game, 7))
        submitted.respond(Reply("Done."))

    client = client_of(port, access_of(HOUSE))
    csrf = paired(client, Role.OWN)
    with working(port, work):
        reply = client.post("/api/commands", json=fields, headers={"X-CSRF-Token": csrf})
        as_form = [] if any(isinstance(value, dict | list) for value in fields.values()) else [{**fields, "csrf": csrf}]
        forms = [client.post("/api/commands", data=form) for form in as_form]
    assert reply.json() == {"words": "Done.", "refused": False, "event_number": 7, "field": ""}
    assert [form.json()["words"] for form in forms] == ["Done."] * len(forms)
    assert told == [command] * (1 + len(forms))


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
