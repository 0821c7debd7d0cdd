"""Access to every route: no session, another role, a forged token, a foreign origin; codes, rates and fair shares."""

import asyncio
import errno
import os
import re
import stat
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.types import Message

from frontends.page.access import (
    ALL_FREE_FAILURES,
    FREE_FAILURES,
    MOST_VIEWERS,
    PAIRING_FROM_ALL,
    PAIRING_FROM_ONE,
    READS,
    STRANGERS,
    VIEWERS_OF_DEVICE,
    Access,
    AccessPolicy,
    PageSession,
    RateLimit,
    RateLimiter,
    Role,
    Turns,
    Viewers,
    address_group,
    host_names_of,
    load_or_make_key,
    new_codes,
)
from frontends.page.devices import PAIRED_S, PairedDevices
from frontends.page.files import page_files
from frontends.page.guard import HEADERS, MOST_BODY_BYTES, PERMISSIONS, Guarded, Upload
from frontends.page.server import create_app, create_guarded_app
from tests.effort import some
from tests.frontends.page.page_table import CAMERA_CODE, CODES, HOST, HOUSE, access_of, client_of, paired, port_of

GUARDED = [
    (route, method)
    for route in create_app(port_of(), access_of()).routes
    if isinstance(route, Guarded)
    for method in sorted(route.methods or ())
    if method != "HEAD"
]
"""Every route of the application except the page's static files, which hold no data of the table."""
TODAY_S = 1_780_000_000.0
NAMES = [f"{method} {route.path}" for route, method in GUARDED]
PRIVATE = [each for each in GUARDED if each[0].role > Role.NOBODY or each[0].films]
every_route = pytest.mark.parametrize(("route", "method"), GUARDED, ids=NAMES)
every_private_route = pytest.mark.parametrize(
    ("route", "method"), PRIVATE, ids=[f"{method} {route.path}" for route, method in PRIVATE]
)


def path_of(route: Route) -> str:
    return re.sub(r"\{\w+(:\w+)?\}", "1", route.path)


def test_every_route_is_guarded() -> None:
    others = [route for route in create_app(port_of(), access_of()).routes if not isinstance(route, Guarded)]
    assert [route.path for route in others if isinstance(route, Mount)] == [page_files().address]
    assert len(others) == 1


@every_private_route
def test_without_a_session_every_request_is_refused(route: Guarded, method: str) -> None:
    client = client_of(port_of(), access_of(HOUSE))
    assert client.request(method, path_of(route)).status_code == 401
    as_page = client.request(method, path_of(route), headers={"Accept": "text/html"})
    assert as_page.status_code == (303 if method == "GET" else 401)
    assert as_page.headers.get("location", "/pair") == "/pair"


@every_private_route
@pytest.mark.parametrize("way", ["cookie", "bearer"])
def test_a_forged_or_expired_token_is_refused(route: Guarded, method: str, way: str) -> None:
    # All devices are in the list; the last one has been there for too long.
    now_s = [TODAY_S - PAIRED_S - 1]
    devices = PairedDevices(None, lambda: now_s[0])
    access = access_of(HOUSE, devices=devices)
    _, old = access.pair(CODES[Role.OWN], "Eve", Role.OWN, "")
    now_s[0] = TODAY_S
    of_others = Access(HOUSE, b"x" * 32, lambda: 0.0, lambda: 0.0, devices)
    _, theirs = of_others.pair(CODES[Role.OWN], "Eve", Role.OWN, "")
    _, good = access.pair(CODES[Role.LOOK], "Ben", Role.OWN, "")
    payload, _, signature = good.rpartition(".")
    client = client_of(port_of(), access)
    for token in some([theirs, old, f"{payload}x.{signature}", payload, "", "x", "é"]):
        given = {"Cookie": f"{access.cookie}={token}"} if way == "cookie" else {"Authorization": f"Bearer {token}"}
        headers = {name.encode(): value.encode() for name, value in given.items()}
        assert client.request(method, path_of(route), headers=headers).status_code == 401


@every_private_route
@pytest.mark.parametrize("role", [Role.LOOK, Role.PLAY])
def test_a_lesser_role_is_refused(route: Guarded, method: str, role: Role) -> None:
    client = client_of(port_of(), access_of(HOUSE))
    csrf = paired(client, role)
    if route.role > role or route.films:
        assert client.request(method, path_of(route), headers={"X-CSRF-Token": csrf}).status_code == 403


@every_route
def test_a_request_from_another_site_is_refused(route: Guarded, method: str) -> None:
    client = client_of(port_of())
    strange = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9"},
        {"Origin": "http://[bad"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ]
    for headers in some(strange):
        assert client.request(method, path_of(route), headers=headers).status_code == 403


@every_route
@pytest.mark.parametrize("policy", [AccessPolicy(host_names_of("tablepi")), HOUSE], ids=["machine", "house"])
def test_a_request_for_another_host_name_is_refused(route: Guarded, method: str, policy: AccessPolicy) -> None:
    client = client_of(port_of(), access_of(policy))
    strange = [
        "evil.example",
        "tablepi.evil.example:8000",
        "",
        "localhost.evil.example",
        "[::1",
        "127.0.0.1.evil.example",
    ]
    for host in some(strange if policy.is_open else [*strange, "192.168.1.5", "tablepi"]):
        assert client.request(method, path_of(route), headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(("route", "method"), [each for each in GUARDED if each[1] == "POST" and not each[0].by_code])
def test_every_change_needs_the_sessions_csrf_token(route: Guarded, method: str) -> None:
    access = access_of(HOUSE)
    other = client_of(port_of(), access)
    of_another = paired(other, Role.OWN)
    client = client_of(port_of(), access)
    paired(client, Role.OWN)
    for token in ("", "x", of_another):
        assert client.post(path_of(route), headers={"X-CSRF-Token": token}).status_code == 403
        assert client.post(path_of(route), data={"csrf": token, "command": "hint"}).status_code == 403
    assert client.post(path_of(route)).status_code == 403


@every_route
def test_every_response_has_the_security_headers(route: Guarded, method: str) -> None:
    if route.path == "/api/events":
        pytest.skip("the stream lasts until the referee stops; every route gets its headers in the same way")
    answer = client_of(port_of()).request(method, path_of(route))
    expected = dict(HEADERS)
    if (method, route.path) == ("GET", "/camera"):
        expected[PERMISSIONS] = expected[PERMISSIONS].replace("camera=()", "camera=(self)")
    assert {name: answer.headers.get(name) for name in HEADERS} == expected
    assert "unsafe" not in answer.headers["content-security-policy"]
    kept = {"/new/start.svg": "private, max-age=14400"}
    assert answer.headers["cache-control"] == kept.get(route.path, "no-store")


def test_an_internal_error_has_the_security_headers_too() -> None:
    async def fail(_: Request) -> Response:
        raise RuntimeError("a fault")

    app = create_guarded_app([Guarded("/", fail, Role.LOOK)], access_of())
    answer = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False).get("/")
    assert (answer.status_code, answer.json()["refused"]) == (500, True)
    assert {name: answer.headers.get(name) for name in HEADERS} == dict(HEADERS)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/history/{}", "/api/history/{}", "/api/evidence/{}/x", "/bug-report/x/{}"])
def test_a_number_with_thousands_of_digits_is_not_found(path: str) -> None:
    assert client_of(port_of()).get(path.format("9" * 5000)).status_code == 404


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST", "127.8.9.1"])
def test_the_machine_itself_needs_no_code(host: str) -> None:
    reply = client_of(port_of()).get("/api/session", headers={"Host": host})
    assert (reply.json()["role"], reply.json()["name"]) == ("own", "Ann")


def test_pairing_at_the_machine_itself_is_refused_with_the_reason() -> None:
    refused = client_of(port_of()).post("/api/pair", json={"code": "12345678"})
    assert (refused.status_code, "no device needs pairing" in refused.json()["words"]) == (403, True)


@pytest.mark.parametrize("host", ["tablepi.local:8000", "TablePi", "192.168.1.5:8000", "[fe80::1]:8000", "localhost"])
def test_the_page_answers_to_the_machines_names_and_addresses(host: str) -> None:
    assert client_of(port_of(), access_of(HOUSE)).get("/pair", headers={"Host": host}).status_code == 200


def test_the_machine_itself_needs_a_code_if_the_page_is_open_to_the_network() -> None:
    client = client_of(port_of(), access_of(HOUSE))
    assert client.get("/api/table", headers={"Host": "127.0.0.1:8000"}).status_code == 401


@pytest.mark.parametrize(
    ("code", "wanted", "got"),
    [
        (CODES[Role.OWN], "own", "own"),
        (f" {CODES[Role.PLAY][:4]} {CODES[Role.PLAY][4:]}", "own", "play"),
        (CODES[Role.OWN], "look", "look"),
        (CODES[Role.LOOK], "own", "look"),
    ],
)
def test_a_code_limits_the_role_of_a_device(code: str, wanted: str, got: str) -> None:
    access = access_of(HOUSE)
    client = client_of(port_of(), access)
    reply = client.post("/api/pair", json={"code": code, "name": "Ben", "role": wanted})
    assert reply.json()["role"] == got
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/api/session").json()["role"] == got
    program = client_of(port_of(), access)
    bearer = {"Authorization": f"Bearer {reply.json()['token']}"}
    assert program.get("/api/session", headers=bearer).json() == {
        "role": got,
        "name": "Ben",
        "csrf": reply.json()["csrf"],
        "player": None,
    }


def test_pairing_by_form_leads_to_the_table() -> None:
    client = client_of(port_of(), access_of(HOUSE))
    reply = client.post("/api/pair", data={"code": CODES[Role.PLAY], "name": ""}, headers={"Origin": HOST})
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert client.get("/").status_code == 200


def test_a_device_is_called_by_its_name_without_stray_spaces() -> None:
    client = client_of(port_of(), access_of(HOUSE))
    client.post("/api/pair", json={"code": CODES[Role.PLAY], "name": " Anna  B "})
    assert client.get("/api/session").json()["name"] == "Anna B"


def test_codes_cannot_be_guessed_by_trial() -> None:
    client = client_of(port_of(), access_of(HOUSE))
    tries = [client.post("/api/pair", json={"code": f"{number:08d}"}).status_code for number in range(8)]
    assert tries == [403] * int(PAIRING_FROM_ONE.burst) + [429] * 3
    assert client.post("/api/pair", json={"code": CODES[Role.OWN]}).status_code == 429


def test_wrong_codes_of_others_never_lock_out_an_address_that_has_not_failed() -> None:
    access = access_of(HOUSE)
    statuses = Counter(status_of_pairing(access, f"10.0.{host >> 8}.{host & 255}", "0") for host in range(3000))
    assert statuses == {403: 3000}
    assert status_of_pairing(access, "192.168.1.9", "0") == 403
    assert status_of_pairing(access, "192.168.1.9", CODES[Role.OWN]) == 200


def test_guesses_are_bounded_however_many_addresses_make_them() -> None:
    now_s = [0.0]
    access = Access(HOUSE, b"k" * 32, lambda: 0.0, lambda: now_s[0])
    tries = 2 * ALL_FREE_FAILURES + 1000
    statuses = Counter(
        status_of_pairing(access, f"10.{at >> 16}.{at >> 8 & 255}.{at & 255}", "0") for at in range(tries)
    )
    assert statuses[403] == ALL_FREE_FAILURES + PAIRING_FROM_ALL.burst
    now_s[0] = 3600.0
    later = Counter(status_of_pairing(access, f"11.0.{at >> 8}.{at & 255}", "0") for at in range(100))
    assert later[403] == PAIRING_FROM_ALL.burst, "in an hour no more than twice as many come back"


def test_an_address_that_fails_again_and_again_falls_among_the_others_that_do() -> None:
    now_s = [0.0]
    access = Access(HOUSE, b"k" * 32, lambda: 0.0, lambda: now_s[0])
    got = []
    for _ in range(FREE_FAILURES + int(PAIRING_FROM_ALL.burst) + 3):
        got.append(status_of_pairing(access, "10.0.0.1", "0"))
        now_s[0] += 0.01
        access._tries = RateLimiter(RateLimit(1, 1), lambda: 0.0)
    assert Counter(got) == {403: FREE_FAILURES + PAIRING_FROM_ALL.burst, 429: 3}
    assert status_of_pairing(access, "10.0.0.2", CODES[Role.PLAY]) == 200


def test_ipv6_addresses_of_one_network_count_as_one() -> None:
    access = access_of(HOUSE)
    got = [status_of_pairing(access, f"2001:db8::{host:x}", "0") for host in range(8)]
    assert got == [403] * int(PAIRING_FROM_ONE.burst) + [429] * 3
    assert status_of_pairing(access, "2001:db8:0:1::1", "0") == 403


def status_of_pairing(access: Access, client: str, code: str) -> int:
    try:
        access.pair(code, "Ben", Role.OWN, client)
    except HTTPException as error:
        return error.status_code
    return 200


@pytest.mark.parametrize("code", ["", "٣٠٠٠٠٠٠٠", "x" * 40, "30000001", "3000000"])
def test_a_wrong_code_is_refused(code: str) -> None:
    assert client_of(port_of(), access_of(HOUSE)).post("/api/pair", json={"code": code}).status_code == 403


def test_too_many_commands_are_refused() -> None:
    port = port_of()
    port.commands.close()
    client = client_of(port)
    headers = {"X-CSRF-Token": client.get("/api/session").json()["csrf"]}
    got = [client.post("/api/commands", json={"command": "hint"}, headers=headers).status_code for _ in range(22)]
    assert got == [200] * 20 + [429] * 2


@pytest.mark.parametrize(("role", "expected"), [(Role.PLAY, 429), (Role.LOOK, 429), (Role.OWN, 200)])
def test_what_a_device_reads_is_limited_but_not_for_the_owner(role: Role, expected: int) -> None:
    client = client_of(port_of(), access_of(HOUSE))
    paired(client, role)
    got = [client.get("/api/session").status_code for _ in range(int(READS.burst) + 1)]
    assert got == [200] * int(READS.burst) + [expected]


def test_requests_without_a_device_are_limited_by_address_and_cost_nothing_more() -> None:
    access = access_of(HOUSE)
    client = client_of(port_of(), access)
    answers = [client.get("/pair") for _ in range(int(STRANGERS.burst) + 1)]
    assert [answer.status_code for answer in answers[-2:]] == [200, 429]
    assert answers[-1].content == b""
    _, token = access.pair(CODES[Role.LOOK], "Ben", Role.LOOK, "192.168.1.9")
    assert client.get("/api/session", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_rate_limit_recovers() -> None:
    now_s = [0.0]
    rates = RateLimiter(RateLimit(2, 0.5), lambda: now_s[0])
    assert [rates.take("a"), rates.take("a"), rates.take("a"), rates.take("b")] == [True, True, False, True]
    now_s[0] = 2.0
    assert [rates.take("a"), rates.take("a")] == [True, False]


def test_the_size_of_a_request_is_limited() -> None:
    client = client_of(port_of())

    def drops() -> object:
        for _ in range(MOST_BODY_BYTES // 1000 + 1):
            yield b"x" * 1000

    assert client.post("/api/commands", content=b"x" * (MOST_BODY_BYTES + 1)).status_code == 413
    assert client.post("/api/commands", content=drops()).status_code == 413  # type: ignore[arg-type]
    many = "&".join(f"f{number}=1" for number in range(2000))
    as_form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/api/commands", content=many, headers=as_form).status_code == 400


def test_few_large_uploads_are_in_memory_one_of_each_device_and_a_slow_one_holds_up_no_other() -> None:
    access = access_of(HOUSE)
    tokens = {name: access.pair(CAMERA_CODE, name, Role.OWN, name)[1] for name in ("slow", *"abcd")}
    tokens["owner"] = access.pair(CODES[Role.OWN], "owner", Role.OWN, "")[1]

    async def work() -> None:
        released, ends = asyncio.Event(), asyncio.Event()
        read, handled, answered = list[str](), list[str](), list[int]()

        async def hold(request: Request) -> Response:
            handled.append(request.state.session.name)
            await released.wait()
            return Response()

        app = create_guarded_app(
            [Guarded("/photo", hold, Role.NOBODY, methods=["POST"], films=True)],
            access,
            {"/photo": Upload(9**6, 60.0, by_camera=True, is_alone=True)},
        )

        async def send(message: Message) -> None:
            answered.extend([message["status"]] if message["type"] == "http.response.start" else [])

        async def post(name: str) -> None:
            async def receive() -> Message:
                read.append(name)
                if name == "slow":
                    await ends.wait()
                return {"type": "http.request", "body": b"x" * 100_000, "more_body": False}

            scope = {"type": "http", "method": "POST", "path": "/photo", "query_string": b"", "raw_path": b"/photo"}
            headers = [(b"host", b"tablepi"), (b"authorization", f"Bearer {tokens[name]}".encode())]
            await app({**scope, "root_path": "", "headers": headers}, receive, send)

        posting = [asyncio.create_task(post(name)) for name in (*tokens, "slow")]
        for _ in range(40):
            await asyncio.sleep(0)
        assert read == ["slow", "a", "b", "c", "owner"]
        assert handled == ["a", "owner"]
        released.set()
        await asyncio.gather(*posting[1:])
        assert handled == ["a", "owner", "b", "c", "d"]
        # the second one of a slow device
        assert answered.count(429) == 1
        ends.set()
        await posting[0]
        assert (handled[-1], answered.count(200)) == ("slow", 6)

    asyncio.run(work())


def test_the_key_is_readable_only_by_its_owner_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "key"
    key = load_or_make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_or_make_key(path) == key
    path.chmod(0o644)
    assert load_or_make_key(path) != key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"short")
    assert len(load_or_make_key(path)) == 32
    assert load_or_make_key(None) != load_or_make_key(None)


def test_a_key_is_on_the_disk_before_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "key"
    path.write_bytes(b"short")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        load_or_make_key(path)
    assert path.read_bytes() == b"short"


def test_codes_have_eight_digits() -> None:
    assert new_codes((Role.LOOK, Role.OWN), lambda most: 7) == {Role.LOOK: "00000007", Role.OWN: "00000007"}
    assert "tablepi.local" in host_names_of("TablePi.fritz.example")


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
