"""Paired devices, the journal on the page, the doctor and the bug report."""

import asyncio
import errno
import fcntl
import http.client
import io
import json
import os
import re
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from itsdangerous import URLSafeSerializer
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

from app.cli.page import maintenance
from app.doctor import examine, machine_in_use
from app.settings.configuration import Configuration
from app.settings.configuration import load as load_settings
from common.findings import Finding, Severity
from engine import records
from engine.registry import load
from engine.values import Outcome
from frontends.page import api
from frontends.page.access import PageSession, Role
from frontends.page.api import PageServices
from frontends.page.devices import MOST_DEVICES, PAIRED_S, Claim, Device, PairedDevices
from frontends.page.history import History
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.page.shown_table import Rendered
from frontends.table_port import Maintenance, ReportFile, SnapshotHub, TablePort
from journal.journal import Journal
from journal.reader import JournalReader
from referee.commands.values import Announce, Correct, EnterTurn, NewGame, TakeBack
from referee.errors import DevicesBusyError, PageError
from referee.record.events import STOPPED, Event, EventKind
from referee.session.recording import end_event
from tests.commands import runner_in
from tests.frontends.page.page_table import (
    CAMERA_CODE,
    CODES,
    HOUSE,
    access_of,
    client_of,
    paired,
    port_of,
    snapshot_of,
)
from tests.guard import GUARD_S
from tests.referee.by_text import by_text
from tests.referee.service_table import wall_clock


def listed(path: Path | None = None, now_s: float = 0.0) -> PairedDevices:
    return PairedDevices(path, lambda: now_s)


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_device_is_kept_changed_and_unpaired(is_kept: bool, tmp_path: Path) -> None:
    path = tmp_path / "devices" if is_kept else None
    devices = listed(path)
    ben = devices.add("Ben", Role.PLAY)
    other = listed(path) if is_kept else devices
    assert other.all() == (ben,)
    assert other.change(ben.id, Role.LOOK) == ben
    found = devices.find(ben.id)
    assert found is not None
    assert found.role is Role.LOOK
    assert other.change(ben.id, Role.NOBODY) is not None
    assert devices.find(ben.id) is None
    assert devices.change(ben.id, Role.OWN) is None


def test_a_device_keeps_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    ben = listed(path).add("Ben", Role.PLAY)
    listed(path).claim(ben.id, Claim("white", "Ben"))
    found = listed(path).find(ben.id)
    assert found == replace(ben, claim=Claim("white", "Ben"))
    listed(path).claim(ben.id, None)
    assert listed(path).find(ben.id) == ben
    listed(path).claim("nobody", Claim("white"))


@pytest.mark.parametrize(
    ("claim", "names", "player"),
    [
        (Claim("white", "Ben"), {"white": "Ben", "black": "Anna"}, "white"),
        # The next game, with the sides swapped.
        (Claim("white", "Ben"), {"white": "Anna", "black": "ben"}, "black"),
        (Claim("white", "Ben"), {"white": "Clara"}, None),
        (Claim("white", "Ben"), {}, None),
        (Claim("white"), {}, "white"),
        (Claim("white"), {"black": "Anna"}, "white"),
        # The side is somebody else's now.
        (Claim("white"), {"white": "Clara"}, None),
        (Claim("p3", "Cleo"), {"p3": "Cleo"}, None),
    ],
)
def test_a_claim_goes_with_the_name_into_the_next_game(claim: Claim, names: dict[str, str], player: str | None) -> None:
    assert claim.player_in(names, ("white", "black")) == player


def claimed(client: TestClient, csrf: str, player: str) -> Any:
    return client.post("/api/session", json={"player": player}, headers={"X-CSRF-Token": csrf})


def test_a_paired_device_becomes_a_players_and_everybodys_again(tmp_path: Path) -> None:
    devices = listed(tmp_path / "devices")
    port, access = port_of(), access_of(HOUSE, devices=devices)
    phone, owner = client_of(port, access), client_of(port, access)
    csrf, own = paired(phone, Role.PLAY), paired(owner, Role.OWN)
    assert claimed(phone, csrf, "white").status_code == 422, "no game yet"
    port.snapshots(snapshot_of(port.game, names={"white": "Anna"}))
    assert claimed(phone, csrf, "white").json()["player"] == "white"
    assert claimed(phone, csrf, "p3").status_code == 422
    assert [phone.get(path).json()[key] for path, key in (("/api/session", "player"), ("/api/table", "you"))] == [
        "white",
        "white",
    ]
    assert owner.get("/api/table").json()["you"] is None
    listing = owner.get("/api/devices").json()["devices"]
    assert [each["player"] for each in listing] == ["Anna", ""]
    freed = {"id": listing[0]["id"], "player": ""}
    assert owner.post("/api/devices", json=freed, headers={"X-CSRF-Token": own}).status_code == 200
    assert phone.get("/api/session").json()["player"] is None
    form = {"csrf": csrf, "player": "black"}
    assert phone.post("/api/session", data=form).headers["location"] == "/"
    assert phone.get("/api/session").json()["player"] == "black"
    assert claimed(phone, csrf, "").json()["player"] is None


def test_a_device_that_only_looks_and_the_programs_side_belong_to_nobody() -> None:
    port, access = port_of(), access_of(HOUSE)
    port.snapshots(snapshot_of(port.game, names={"white": "program (fair)"}))
    looking, playing = client_of(port, access), client_of(port, access)
    assert claimed(looking, paired(looking, Role.LOOK), "black").status_code == 403
    assert claimed(playing, paired(playing, Role.PLAY), "white").status_code == 422
    page = playing.get("/").text
    assert 'name="player" value="black"' in page
    assert 'name="player" value="white"' not in page
    assert 'id="whose"' not in looking.get("/").text


def test_a_device_that_may_only_look_now_is_no_players(tmp_path: Path) -> None:
    devices = listed(tmp_path / "devices")
    port, access = port_of(), access_of(HOUSE, devices=devices)
    port.snapshots(snapshot_of(port.game))
    phone = client_of(port, access)
    claimed(phone, paired(phone, Role.PLAY), "white")
    devices.change(devices.all()[0].id, Role.LOOK)
    assert phone.get("/api/table").json()["you"] is None
    devices.change(devices.all()[0].id, Role.PLAY)
    assert phone.get("/api/table").json()["you"] == "white"


def test_a_device_says_whose_it_is_no_more_often_than_a_person_can() -> None:
    port, access = port_of(), access_of(HOUSE)
    port.snapshots(snapshot_of(port.game))
    phone = client_of(port, access)
    csrf = paired(phone, Role.PLAY)
    answers = [claimed(phone, csrf, "white").status_code for _ in range(30)]
    assert set(answers) == {200, 429}


def test_a_browser_at_the_machine_becomes_a_device_of_its_own(tmp_path: Path) -> None:
    port, access = port_of(), access_of(devices=listed(tmp_path / "devices"))
    port.snapshots(snapshot_of(port.game))
    anna, ben = client_of(port, access), client_of(port, access)
    csrf = anna.get("/api/session").json()["csrf"]
    assert claimed(anna, csrf, "").json() == anna.get("/api/session").json(), "it is everybody's already"
    mine = claimed(anna, csrf, "white").json()
    assert mine == {**anna.get("/api/session").json(), "role": "own", "name": "Ann", "player": "white"}
    assert ben.get("/api/session").json()["player"] is None
    assert len(access.devices.all()) == 1
    assert claimed(anna, mine["csrf"], "black").json()["player"] == "black"
    assert len(access.devices.all()) == 1


def test_a_stream_tells_whose_device_it_has_become(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LOOK_AGAIN_S", 0.01)
    port, access = port_of(), access_of(HOUSE)
    port.snapshots(snapshot_of(port.game))
    session, _ = access.pair(CODES[Role.PLAY], "Ben", Role.PLAY, "")
    services = PageServices.of(port, access)
    access.player_of = services.documents.player_of

    async def you(rendered: Rendered, _: PageSession) -> bytes:
        return str(rendered.document.you).encode()

    changes = api.Api(services)._changes(session, "en", you)

    async def watch() -> list[bytes]:
        told = [await anext(changes)]
        access.devices.claim(session.id, Claim("white"))
        return [*told, await anext(changes)]

    assert asyncio.run(watch()) == [b"None", b"white"]


def test_only_the_owner_of_the_file_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    listed(path).add("Ben", Role.PLAY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_whoever_only_looks_for_a_device_does_not_wait_for_another_process_that_changes_the_list(
    tmp_path: Path,
) -> None:
    path, tries = tmp_path / "devices", []
    ben = listed(path).add("Ben", Role.PLAY)

    def look(_: float) -> None:
        # A request comes while this process waits for the other one.
        found: list[Device | None] = []
        asking = threading.Thread(target=lambda: found.append(devices.find(ben.id)), daemon=True)
        asking.start()
        asking.join(GUARD_S)
        tries.append(found)

    devices = PairedDevices(path, lambda: 0.0, look)
    with path.with_name("devices.lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DevicesBusyError, match="try again"):
            devices.change(ben.id, Role.OWN)
        assert len(tries) > 10
        assert all(found == [ben] for found in tries)
        # It is only put off.
        devices.note_seen(ben.id)
        devices.save_seen_times()
        refused = client_of(port_of(), access_of(HOUSE, devices=devices)).post(
            "/api/pair", json={"code": CODES[Role.OWN]}
        )
        assert (refused.status_code, "try again" in refused.json()["words"]) == (503, True)
    assert devices.change(ben.id, Role.OWN) == ben


def test_nobody_else_may_lock_the_list(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    lock = path.with_name("devices.lock")
    lock.touch()
    lock.chmod(0o666)
    # A lock on the folder, which others may read, is none on the list.
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    pairing = threading.Thread(target=lambda: listed(path).add("Ben", Role.PLAY), daemon=True)
    pairing.start()
    pairing.join(GUARD_S)
    assert not pairing.is_alive()
    os.close(folder)
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {
        "devices": 0o600,
        "devices.lock": 0o600,
    }


def test_two_processes_keep_each_others_changes(tmp_path: Path) -> None:
    path = tmp_path / "devices"

    def pair(name: str) -> None:
        devices = listed(path)
        for number in range(10):
            devices.add(f"{name}{number}", Role.LOOK)

    threads = [threading.Thread(target=pair, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(listed(path).all()) == 30


def test_the_last_use_of_a_device_is_saved_from_time_to_time(tmp_path: Path) -> None:
    path, now_s = tmp_path / "devices", [0.0]
    devices = PairedDevices(path, lambda: now_s[0])
    ben = devices.add("Ben", Role.LOOK)
    now_s[0] = 500.0
    devices.note_seen(ben.id)
    assert ([device.seen_s for device in devices.all()], devices.is_due) == ([500.0], False)
    now_s[0] = 1000.0
    assert devices.is_due
    devices.save_seen_times()
    assert [device.seen_s for device in listed(path).all()] == [500.0]
    assert not devices.is_due


def test_a_last_use_that_cannot_be_saved_is_saved_the_next_time(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    folder.mkdir()
    now_s = [0.0]
    devices = PairedDevices(folder / "devices", lambda: now_s[0])
    ben = devices.add("Ben", Role.LOOK)
    now_s[0] = 500.0
    devices.note_seen(ben.id)
    folder.rename(elsewhere)
    devices.save_seen_times()
    elsewhere.rename(folder)
    devices.save_seen_times()
    assert [device.seen_s for device in listed(folder / "devices").all()] == [500.0]


def test_a_damaged_list_admits_nobody(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    access = access_of(HOUSE, devices=listed(path))
    client = client_of(port_of(), access)
    paired(client, Role.OWN)
    path.write_text("{")
    assert client.get("/api/table").status_code == 401
    with pytest.raises(PageError, match="delete the file"):
        listed(path)
    with pytest.raises(PageError, match="delete the file"):
        access.devices.add("Ben", Role.LOOK)


def test_a_list_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "forbidden")

    devices = listed(tmp_path / "devices")
    monkeypatch.setattr(Path, "stat", forbid)
    with pytest.raises(PageError, match=r"devices can't be read \(.*forbidden"):
        devices.all()


def test_the_number_of_devices_is_limited() -> None:
    devices = listed()
    for number in range(MOST_DEVICES + 3):
        devices.add(str(number), Role.LOOK)
    assert len(devices.all()) == MOST_DEVICES


def test_a_new_device_never_takes_the_place_of_an_owners() -> None:
    now_s = [0.0]
    devices = PairedDevices(None, lambda: now_s[0])
    owner = devices.add("Ann", Role.OWN)
    for number in range(MOST_DEVICES + 3):
        now_s[0] += 1
        devices.add(str(number), Role.PLAY)
    assert (devices.find(owner.id), len(devices.all())) == (owner, MOST_DEVICES)


def test_a_device_is_not_paired_if_every_place_is_an_owners() -> None:
    devices = listed()
    for number in range(MOST_DEVICES):
        devices.add(str(number), Role.OWN)
    client = client_of(port_of(), access_of(HOUSE, devices=devices))
    refused = client.post("/api/pair", json={"code": CODES[Role.OWN]})
    assert (refused.status_code, "unpair one" in refused.json()["words"]) == (503, True)


@pytest.mark.parametrize("restarts", [True, False])
def test_a_clock_that_jumps_from_1970_to_now_unpairs_nobody(restarts: bool, tmp_path: Path) -> None:
    path, now_s = tmp_path / "devices", [40.0]
    devices = PairedDevices(path, lambda: now_s[0])
    ben = devices.add("Ben", Role.LOOK)
    now_s[0] = 1_780_000_000.0
    if restarts:
        devices = PairedDevices(path, lambda: now_s[0])
    assert devices.find(ben.id) is not None
    devices.note_seen(ben.id)
    devices.save_seen_times()
    assert [device.paired_s for device in devices.all()] == [now_s[0]]
    now_s[0] += PAIRED_S + 1
    assert devices.find(ben.id) is None


def test_the_reason_why_a_device_cannot_be_kept_names_no_path(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    access = access_of(HOUSE, devices=listed(folder / "devices"))
    folder.rmdir()
    refused = client_of(port_of(), access).post("/api/pair", json={"code": CODES[Role.LOOK]})
    assert (refused.status_code, str(tmp_path) in refused.text) == (503, False)


def test_the_owner_unpairs_however_many_devices_keep_the_page_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    released, busy, working = threading.Event(), threading.Semaphore(0), list[str]()

    def hold(_: History) -> None:
        working.append("reads")
        busy.release()
        released.wait(GUARD_S)
        raise HTTPException(404, "nothing")

    monkeypatch.setattr(History, "games", hold)
    with open_page(port_of(), PageOptions(address="127.0.0.1"), print) as page, ExitStack() as stack:
        address = urlsplit(page.address).netloc

        def post(path: str, fields: dict[str, str], token: str = "") -> Any:
            with closing(http.client.HTTPConnection(address, timeout=GUARD_S)) as viewer:
                viewer.request("POST", path, json.dumps(fields), {"Authorization": f"Bearer {token}"})
                return json.loads(viewer.getresponse().read())

        tokens = []
        for role in ("own", *["look"] * 10):
            with monkeypatch.context() as patched:
                patched.setattr("frontends.page.access.RateLimiter.take", lambda *_: True)
                tokens.append(post("/api/pair", {"code": page.codes[Role.OWN], "role": role})["token"])
        for token in tokens[1:] * 6:
            viewer = stack.enter_context(closing(http.client.HTTPConnection(address, timeout=GUARD_S)))
            viewer.request("GET", "/api/games", headers={"Authorization": f"Bearer {token}"})
        for _ in range(16):
            assert busy.acquire(timeout=GUARD_S)
        device = URLSafeSerializer(b"", salt="").loads_unsafe(tokens[1])[1][0]
        left = post("/api/devices", {"id": device, "role": "none"}, tokens[0])["devices"]
        assert len(left) == 10
        assert len(working) == 16
        released.set()


def test_the_owner_changes_a_role_and_unpairs_on_the_page() -> None:
    access = access_of(HOUSE)
    owner, guest = (client_of(port_of(), access) for _ in range(2))
    paired(owner, Role.OWN)
    csrf = paired(guest, Role.PLAY)
    page = owner.get("/owner").text
    assert page.count('<option value="play" selected>') == 1
    german = owner.get("/owner", headers={"accept-language": "de"}).text
    assert len(re.findall(r"Zuletzt da: \d\d\.\d\d\.\d{4}, \d\d:\d\d", german)) == 2
    guests = [each.id for each in access.devices.all() if each.role is Role.PLAY]
    assert f'name="id" value="{guests[0]}"' in page
    token = re.findall(r'name="csrf" value="([^"]+)"', page)[0]
    change = {"csrf": token, "id": guests[0], "role": "look"}
    assert owner.post("/owner/devices", data=change).headers["location"] == "/owner"
    assert guest.get("/api/session").json()["role"] == "look"
    command = guest.post("/api/commands", json={"command": "hint"}, headers={"X-CSRF-Token": csrf})
    assert command.status_code == 403
    owner.post("/owner/devices", data={**change, "role": "none"})
    assert guest.get("/api/table").status_code == 401
    assert owner.post("/owner/devices", data=change).status_code == 404
    assert owner.post("/owner/devices", data={**change, "role": "king"}).status_code == 422


def test_the_owner_shows_codes_to_play_and_to_look_but_never_ones_own() -> None:
    client = client_of(port_of(), access_of(HOUSE))
    paired(client, Role.OWN)
    page = client.get("/owner").text
    codes = [*CODES.values(), CAMERA_CODE]
    shown = [code for code in codes if f"{code[:4]} {code[4:]}" in page]
    assert shown == [code for code in codes if code != CODES[Role.OWN]]
    assert page.partition("<main")[2].count("<svg") == len(shown)
    at_the_machine = client_of(port_of())
    assert "Only this machine" in at_the_machine.get("/owner").text


def test_a_program_of_the_owner_lists_and_unpairs() -> None:
    access = access_of(HOUSE)
    client = client_of(port_of(), access)
    headers = {"X-CSRF-Token": paired(client, Role.OWN)}
    (device,) = client.get("/api/devices").json()["devices"]
    assert (device["name"], device["role"]) == ("Ben", "own")
    done = client.post("/api/devices", json={"id": device["id"], "role": "none"}, headers=headers)
    assert done.json() == {"devices": []}
    assert client.get("/api/devices").status_code == 401


def test_an_unpaired_devices_stream_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LOOK_AGAIN_S", 0.05)
    port = port_of(journal=tmp_path / "journal.sqlite")
    port.snapshots(snapshot_of(port.game))
    with open_page(port, PageOptions(address="127.0.0.1"), print) as page:
        connection = http.client.HTTPConnection(page.address.removeprefix("http://").rstrip("/"), timeout=60)
        body = json.dumps({"code": page.codes[Role.PLAY], "name": "Ben"})
        connection.request("POST", "/api/pair", body)
        token = json.loads(connection.getresponse().read())["token"]
        bearer = {"Authorization": f"Bearer {token}"}
        connection.request("GET", "/api/events", headers=bearer)
        stream = connection.getresponse()
        assert stream.readline() == b"event: table\n"
        # From another process, as the terminal does.
        devices = listed(tmp_path / "journal.sqlite.page-devices")
        devices.change(devices.all()[0].id, Role.NOBODY)
        assert stream.read().count(b"event: table") == 0
        connection.close()
        connection.request("GET", "/api/table", headers=bearer)
        assert connection.getresponse().status == 401
        connection.close()


def test_a_device_is_seen_as_long_as_it_follows_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, now_s = tmp_path / "devices", [0.0]
    access = access_of(HOUSE, devices=PairedDevices(path, lambda: now_s[0]))
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    session, _ = access.pair(CODES[Role.LOOK], "wall", Role.OWN, "")
    (changes,) = [
        each.answer for each in api.Api(PageServices.of(port, access)).endpoints if each.path == "/api/events"
    ]
    scope = {"type": "http", "headers": [], "query_string": b"", "state": {"session": session}, "app": Starlette()}
    request = Request(scope)

    async def follow() -> None:
        stream = aiter((await changes(request)).body_iterator)
        await anext(stream)
        now_s[0] = 1000.0
        port.snapshots(snapshot_of(port.game, 2))
        await anext(stream)
        await stream.aclose()

    asyncio.run(follow())
    assert [device.seen_s for device in listed(path).all()] == [1000.0]


def test_the_terminal_lists_and_unpairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "referee.toml").write_text('[journal]\npath = "game.sqlite"\n')
    run = runner_in(tmp_path, monkeypatch)
    assert "No device is paired" in run("tools", "devices").stdout
    devices = listed(tmp_path / "game.sqlite.page-devices")
    for name in ("Ben", "Cem", "Cem"):
        devices.add(name, Role.PLAY)
    assert [line.split()[:3] for line in run("tools", "devices").stdout.splitlines()[1:]] == [
        ["1", "Ben", "play"],
        ["2", "Cem", "play"],
        ["3", "Cem", "play"],
    ]
    assert run("tools", "devices", "ben", "--may", "look").stdout == "Ben now has the role look.\n"
    assert run("tools", "devices", "3", "--unpair").stdout == "Cem is no longer paired.\n"
    assert [(device.name, device.role) for device in devices.all()] == [("Ben", Role.LOOK), ("Cem", Role.PLAY)]
    assert "no device is called 'Eve'" in run("tools", "devices", "Eve", "--unpair").stderr
    devices.add("Ben", Role.PLAY)
    assert "2 devices are called 'Ben'" in run("tools", "devices", "Ben", "--unpair").stderr
    for wrong in (("Ben",), ("--unpair",), ("--unpair", "--may", "own"), ("Ben", "--unpair", "--may", "own")):
        assert "name a device, and either" in run("tools", "devices", *wrong).stderr


def test_neither_codes_nor_tokens_are_in_the_list(tmp_path: Path) -> None:
    access = access_of(HOUSE, devices=listed(tmp_path / "devices"))
    _, token = access.pair(CODES[Role.OWN], "Ben", Role.OWN, "")
    kept = (tmp_path / "devices").read_text()
    assert CODES[Role.OWN] not in kept
    assert token not in kept


@pytest.fixture
def played(table_set_up: Any, start: Any, tmp_path: Path) -> Iterator[tuple[Any, TestClient]]:
    """A game of Deblockle: the set-up, a turn seen by the camera, a fault, and a typed turn that was taken back."""
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table_set_up(journal)
        _, after = on.play(start="c1", top="hoops")
        on.show(after, 2)
        on.show({**after, "e5": "empty", "a4": start["e5"]}, 3)
        on.tell(Correct("Ann", {"e5": "empty", "a4": start["e5"]}))
        typed = on.game.rules.legal_turns(on.service.belief[0])[0]
        on.tell(EnterTurn(on.game.notation.format_turn(typed), "Ben"))
        on.tell(TakeBack("Ben"))
        yield on, client_of(port_of("deblockle", journal=path))


def test_events_are_listed_with_their_authors_and_pictures(played: tuple[Any, TestClient]) -> None:
    on, client = played
    history = client.get("/api/history").json()
    events = history["events"]
    assert (history["game"], history["number"]) == ("deblockle", 1)
    assert [event["kind"] for event in events] == [event.kind.value for _, event in on.journal.events()]
    assert [event["by"] for event in events][-3:] == ["Ann", "Ben", "Ben"]
    turn = next(event for event in events if event["kind"] == "turn")
    assert (turn["player"], "after-c1" in turn["evidence"]) == ("gold", True)
    picture = client.get(f"/api/evidence/{turn['number']}/after-c1")
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    on.tell(Correct("Ann", to_move="gold"))
    assert len(client.get("/api/history?game=1").json()["events"]) == len(events) + 1


def test_the_table_after_each_event_agrees_with_the_fold_of_the_journal(played: tuple[Any, TestClient]) -> None:
    on, client = played
    numbers = [number for number, _ in on.journal.events()]
    positions = [client.get(f"/api/history/{number}").json() for number in numbers]
    assert [position["before"] for position in positions] == [None, *numbers[:-1]]
    assert [position["after"] for position in positions] == [*numbers[1:], None]
    assert [position["table"]["turns"] for position in positions] == [0, 0, 1, 1, 1, 2, 1]
    assert positions[-1]["table"]["board"] == positions[-3]["table"]["board"]
    assert positions[-1]["table"]["next"] == "Teal to play."
    assert positions[0]["table"]["next"] == "Before the set-up."


def test_events_that_only_keep_the_clock_running_are_left_out(tmp_path: Path) -> None:
    game = load("diaballik")
    with Journal.open(tmp_path / "journal.sqlite", wall_clock=wall_clock) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": game.name}))
        journal.append(Event(EventKind.CLOCK, {"change": "restarted"}))
        journal.append(Event(EventKind.SET_UP, {"state": game.notation.format_state(game.rules.new())}))
        client = client_of(port_of(game.name, journal=journal.path))
        assert [event["number"] for event in client.get("/api/history").json()["events"]] == [1, 3]
        assert client.get("/api/history/3").json()["before"] == 1
        assert client.get("/api/history/1").json()["after"] == 3
        assert client.get("/api/history/2").status_code == 404
        journal.append(Event(EventKind.CLOCK, {"change": "ran"}))
        assert len(client.get("/api/history").json()["events"]) == 2


def test_games_are_listed_and_their_records_exported(played: tuple[Any, TestClient]) -> None:
    on, client = played
    (game,) = client.get("/api/games").json()["games"]
    assert (game["number"], game["name"], game["title"], game["ended"]) == (1, "deblockle", "Deblockle", False)
    written = client.get("/api/record?game=1")
    assert written.headers["content-disposition"] == 'attachment; filename="deblockle-1.txt"'
    assert records.replay(records.read(written.text)).states[-1] == on.service.belief[0]


def test_a_stopped_game_is_not_listed_as_over(played: tuple[Any, TestClient]) -> None:
    on, client = played
    assert "goes on</p>" in client.get("/games").text
    on.journal.append(end_event(Outcome(None, STOPPED), None))
    assert "stopped</p>" in client.get("/games").text


def test_a_history_is_only_read_again_after_a_new_event(
    played: tuple[Any, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    on, client = played
    read: list[int | None] = []
    events = JournalReader.events

    def counted_events(journal: JournalReader, game: int | None = None) -> list[tuple[int, Event]]:
        read.append(game)
        return events(journal, game)

    monkeypatch.setattr(JournalReader, "events", counted_events)
    first, again = (client.get("/api/history").json() for _ in range(2))
    assert (again, read) == (first, [1])
    on.tell(Correct("Ann", to_move="gold"))
    read.clear()
    assert client.get("/api/history").json() != first
    assert read == [1]


def test_an_older_games_positions_lead_back_to_its_own_events(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "diaballik")
        session.begin(NewGame("diaballik"))
        session.carry_out_or_raise(Announce("black:resign", "the clock"))
        session.begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    assert '<a href="/history?game=1">All turns</a>' in client.get("/history/3").text
    german = {"accept-language": "de"}
    history = client.get("/history?game=1", headers=german).text
    assert ">Schwarz verliert durch Zeitüberschreitung.\n" in history
    assert "Eingegeben: die Uhr" in history
    listed = client.get("/games").text
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", listed)
    assert 'value="resume"' not in listed
    assert re.search(r"\d\d\.\d\d\.\d{4}, \d\d:\d\d", client.get("/games", headers=german).text)


def test_an_older_game_of_another_kind_keeps_its_name(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "number-drop")
        session.begin(NewGame("number-drop"))
        session.carry_out_or_raise(Announce("p1:resign", "Ann"))
        by_text(journal, "diaballik").begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    saved = client.get("/api/record?game=1").headers["content-disposition"]
    assert saved == 'attachment; filename="number-drop-1.txt"'
    for view in ("/history?game=1", "/history/1"):
        assert "– Number Drop</title>" in client.get(view).text
    # Its sheets can be scrolled by keys.
    assert 'id="board" class="drawn" tabindex="0"' in client.get("/history/1").text


def test_an_evenings_results_are_added_up_by_name(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "diaballik")
        for loser in ("black:resign", "white:resign", "black:resign"):
            session.begin(NewGame("diaballik", players={"black": "Ann", "white": "<Ben>"}))
            session.carry_out_or_raise(Announce(loser, "Ann"))
        session.begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    results = client.get("/api/results").json()
    assert [each["name"] for each in results["standings"]] == ["<Ben>", "Ann"]
    ben = {"played": 3, "won": 2, "drawn": 0, "lost": 1}
    assert results["meetings"] == [{"one": "<Ben>", "other": "Ann", "tally": ben, "is_side": False}]
    assert results["left_out"] == [4]
    assert client.get("/api/results?first=3").json()["standings"][0]["tally"]["played"] == 1
    page = client.get("/results").text
    assert "&lt;Ben&gt; – Ann <b>2 : 1</b>" in page
    assert "1 game was not played to its end and isn't counted." in page
    assert "No game with names was played to its end." in client.get("/results?first=4").text


LACKING = {
    "/api/history?game=9": 404,
    "/api/history?game=x": 422,
    "/api/history?game=99999999999999999999999": 404,
    "/api/history/99999999999999999999999": 404,
    "/api/evidence/3/nothing": 404,
    "/api/evidence/99/after-c1": 404,
    "/api/record?game=9": 404,
}


def test_a_request_for_something_the_journal_lacks_is_refused(played: tuple[Any, TestClient]) -> None:
    _, client = played
    replies = {path: client.get(path) for path in LACKING}
    assert {path: reply.status_code for path, reply in replies.items()} == LACKING
    assert all(reply.json()["refused"] for reply in replies.values())


def test_without_a_journal_or_a_game_there_is_no_history(tmp_path: Path) -> None:
    assert client_of(port_of()).get("/api/history").json()["words"] == "This game is not kept in a journal."
    assert client_of(port_of(journal=tmp_path / "none")).get("/api/games").status_code == 404
    with Journal.open(tmp_path / "empty", wall_clock=wall_clock):
        client = client_of(port_of(journal=tmp_path / "empty"))
        assert client.get("/api/history").json()["words"] == "No game has begun yet."
        assert client.get("/api/games").json() == {"games": []}
    (tmp_path / "wrong").write_bytes(b"x" * 5000)
    assert client_of(port_of(journal=tmp_path / "wrong")).get("/api/games").status_code == 503


@pytest.mark.parametrize("path", ["/api/history?game=9", "/api/history/99", "/api/record?game=9", "/api/games"])
def test_an_answer_names_no_path_of_the_machine(played: tuple[Any, TestClient], path: str) -> None:
    on, client = played
    on.journal.path.rename(on.journal.path.with_name("elsewhere.sqlite")) if path == "/api/games" else None
    answer = client.get(path)
    assert (answer.status_code, "sqlite" in answer.text) == (404, False)


def test_games_and_results_are_read_again_only_after_a_new_event(
    played: tuple[Any, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    on, client = played
    read: list[int | None] = []
    events = JournalReader.events

    def count(self: JournalReader, game: int | None = None) -> list[tuple[int, Event]]:
        read.append(game)
        return events(self, game)

    monkeypatch.setattr(JournalReader, "events", count)
    before = [client.get(path).json() for path in ("/api/games", "/api/results")]
    read.clear()
    assert [client.get(path).json() for path in ("/api/games", "/api/results")] == before
    assert read == []
    on.tell(Correct("Ann", to_move="gold"))
    read.clear()
    assert client.get("/api/games").json() != before[0]
    client.get("/api/results")
    # The games are listed without reading all their events.
    assert read == [1]


FILES = (
    ReportFile("versions.txt", "text/plain", b"Python <3.11>"),
    ReportFile("said.txt", "text/plain", b"Ann resigns."),
    ReportFile("pictures/0001-0.png", "image/png", b"picture"),
)


def zipped(files: Sequence[ReportFile]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as bundle:
        for file in files:
            bundle.writestr(file.name, file.content)
    return written.getvalue()


def port_with_maintenance(looked: list[int] | None = None, clock: Callable[[], float] = lambda: 0.0) -> TablePort:
    def found() -> list[Finding]:
        if looked is not None:
            looked.append(1)
        return [Finding.ok("Python", "3.11"), Finding.fault("camera", "it is <gone>", "plug it in")]

    return port_of(maintenance=Maintenance(found, lambda: FILES, zipped), snapshots=SnapshotHub(clock))


def fields_in(page: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))


def test_the_doctor_runs_on_request_and_its_findings_stay_for_a_minute() -> None:
    looked: list[int] = []
    now_s = [5.0]
    client = client_of(port_with_maintenance(looked, lambda: now_s[0]))
    for _ in range(2):
        page = client.get("/doctor").text
        assert "it is &lt;gone&gt;" in page
        assert "plug it in" in page
    assert len(looked) == 1
    assert client.post("/doctor", data=fields_in(page)).headers["location"] == "/doctor"
    assert len(looked) == 2
    for now_s[0], times in ((64.0, 2), (65.0, 3), (66.0, 3)):
        client.get("/doctor")
        assert len(looked) == times


def test_the_page_answers_others_while_the_doctor_runs() -> None:
    began, may_end = threading.Event(), threading.Event()

    def slow() -> list[Finding]:
        began.set()
        assert may_end.wait(GUARD_S)
        return []

    port = port_of(maintenance=Maintenance(slow, lambda: (), zipped))
    with client_of(port) as client:
        asking = threading.Thread(target=lambda: client.get("/doctor"))
        asking.start()
        assert began.wait(GUARD_S)
        assert client.get("/api/table").status_code == 200
        may_end.set()
        asking.join(GUARD_S)


def test_the_saved_report_is_the_one_shown_without_the_omitted_files() -> None:
    client = client_of(port_with_maintenance())
    page = client.get("/bug-report").text
    assert "Python &lt;3.11&gt;" in page
    assert "Ann resigns." in page
    (source,) = re.findall(r'<img src="([^"]+)"', page)
    assert client.get(source).content == b"picture"
    fields: dict[str, Any] = fields_in(page)
    saved = client.post("/bug-report", data={**fields, "keep": ["0", "2"]})
    assert "attachment" in saved.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(saved.content)) as bundle:
        assert bundle.namelist() == ["versions.txt", "pictures/0001-0.png"]
    client.get("/bug-report")
    assert client.post("/bug-report", data={**fields, "keep": ["0"]}).status_code == 409
    assert client.get(source).status_code == 409


def test_a_table_without_maintenance_says_so() -> None:
    client = client_of(port_of())
    assert "/doctor" not in client.get("/owner").text
    for path in ("/doctor", "/bug-report"):
        assert client.get(path).status_code == 404


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "referee.toml").write_text(
        '[journal]\npath = "game.sqlite"\n[lights]\ndrivers = ["board"]\nbutton_pins = {hint = 24}\n'
    )
    return load_settings(None, environment={"HOME": str(tmp_path)}, folder=tmp_path)


def test_the_doctor_does_not_touch_the_devices_of_a_running_referee(configuration: Configuration) -> None:
    found = {each.subject: each for each in examine(lambda: configuration, machine_in_use())}
    assert found["board"].severity is Severity.NOTE
    assert "running referee uses the board" in found["board"].message
    assert not {"computer", "lgpio", "pins"} & set(found)


def test_the_report_of_a_running_referee_has_its_output_and_its_journal(
    configuration: Configuration, tmp_path: Path
) -> None:
    house = maintenance(configuration)(lambda: ["the camera is back"], tmp_path / "other.sqlite")
    assert any(each.subject == "journal" and "other.sqlite" in each.message for each in house.examine())
    files = {file.name: file.text for file in house.gather()}
    assert files["said.txt"] == "the camera is back"
    assert files["game.jsonl"] == "There is no journal."
    assert "other.sqlite" not in str(files)


def test_the_terminal_shows_the_report_omits_files_and_saves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "referee.toml").write_text('[journal]\npath = "game.sqlite"\n')
    run = runner_in(tmp_path, monkeypatch)
    run("games", "new", "deblockle", "--player", "gold=Sandrine")
    listed = run("tools", "bug-report").stdout
    assert "game.jsonl" in listed
    assert not list(tmp_path.glob("*.zip"))
    shown = run("tools", "bug-report", "--show", "game.jsonl").stdout
    assert "person 1" in shown
    assert "Sandrine" not in shown
    run("tools", "bug-report", "--leave-out", "doctor.txt", "--out", "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as bundle:
        assert bundle.namelist() == ["versions.txt", "settings.txt", "game.jsonl"]
    named = re.findall(r"--(?:leave-out|show) ([\w.]+\.\w+)", run("tools", "bug-report", "--help").stdout)
    assert named
    assert all(name in listed for name in named), "the examples of the help work"
    assert "there is no file 'x'" in run("tools", "bug-report", "--leave-out", "x").stderr
