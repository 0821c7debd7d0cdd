"""Paired devices: listed, changed and unpaired by the owner on the page, by a program and at the terminal."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import re
import stat
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from itsdangerous import URLSafeSerializer
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request

from referee.errors import PageError
from referee.settings.settings import PageOptions
from referee.web import api
from referee.web.access import Role
from referee.web.api import PageServices
from referee.web.devices import MOST_DEVICES, PAIRED_S, PairedDevices
from referee.web.history import History
from referee.web.server import open_page
from tests.commands import runner_in
from tests.guard import GUARD_S
from tests.referee.web.page_table import CODES, HOUSE, access_of, client_of, paired, port_of, snapshot_of


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


def test_only_the_owner_of_the_file_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    listed(path).add("Ben", Role.PLAY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


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
    with open_page(port_of(), PageOptions("127.0.0.1"), print) as page, ExitStack() as stack:
        address = urlsplit(page.address).netloc

        def post(path: str, fields: dict[str, str], token: str = "") -> Any:
            with closing(http.client.HTTPConnection(address, timeout=GUARD_S)) as viewer:
                viewer.request("POST", path, json.dumps(fields), {"Authorization": f"Bearer {token}"})
                return json.loads(viewer.getresponse().read())

        tokens = []
        for role in ("own", *["look"] * 10):
            with monkeypatch.context() as patched:
                patched.setattr("referee.web.access.RateLimiter.take", lambda *_: True)
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
    assert len(re.findall(r"<td>\d\d\.\d\d\.\d{4}, \d\d:\d\d</td>", german)) == 2
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
    request = Request({"type": "http", "headers": [], "state": {"session": session}, "app": Starlette()})

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
