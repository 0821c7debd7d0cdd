"""A page of a simulated table: its port, its access policy, and a session that carries out commands."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from engine.registry import load
from engine.support.players import who_plays
from frontends.page.access import Access, AccessPolicy, Role, host_names_of
from frontends.page.devices import PairedDevices
from frontends.page.server import create_app
from frontends.table_port import PhonePort, SnapshotHub, TablePort
from hardware.lights.signals import Mood, Signal
from referee.commands.values import CommandQueue, QueuedCommand
from referee.session.feed import TableSnapshot
from vision.cameras.phone import PhoneCamera

CODES = {Role.LOOK: "10000000", Role.PLAY: "20000000", Role.OWN: "30000000"}
CAMERA_CODE = "40000000"
HOUSE = AccessPolicy(host_names_of("tablepi"), CODES, camera_code=CAMERA_CODE)
HOST = "http://192.168.1.5:8000"


def port_of(name: str = "diaballik", **parts: Any) -> TablePort:
    """A table without events of its own, whose camera is a phone."""
    parts.setdefault("phone", PhonePort(PhoneCamera(time.monotonic)))
    parts.setdefault("snapshots", SnapshotHub(randbits=lambda bits: 0))
    return TablePort(load(name), commands=CommandQueue(time.monotonic), **parts)


def access_of(policy: AccessPolicy | None = None, now_s: float = 0.0, devices: PairedDevices | None = None) -> Access:
    """The page's access; without a policy for this machine alone."""
    return Access(policy or AccessPolicy(owner="Ann"), b"k" * 32, lambda: now_s, lambda: 0.0, devices)


def client_of(port: TablePort, access: Access | None = None, **settings: Any) -> TestClient:
    """A browser on this machine, or with an open policy one on the local network."""
    chosen = access or access_of()
    address = HOST if chosen.policy.is_open else "http://127.0.0.1:8000"
    return TestClient(create_app(port, chosen), base_url=address, follow_redirects=False, **settings)


def paired(client: TestClient, role: Role) -> str:
    """Pair a browser and return its CSRF token."""
    reply = client.post("/api/pair", json={"code": CODES[role], "name": "Ben"})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["csrf"])


def snapshot_of(game: Any, number: int = 1, **more: Any) -> TableSnapshot:
    """A game at its start."""
    state = game.rules.new()
    return TableSnapshot(
        1,
        number,
        Signal(Mood.WAITING, words="It waits."),
        0.0,
        states=(state,),
        appearance=game.table.appearance(state),
        to_move=state.to_move,
        playing=who_plays(game, state),
        scores={} if game.scores is None else game.scores(state),
        **more,
    )


@contextmanager
def working(port: TablePort, work: Callable[[QueuedCommand], object]) -> Iterator[None]:
    """Carry out commands in a thread, as a session does."""
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            port.commands.wait()
            for submitted in [*port.commands.take(), *port.commands.take_presses()]:
                work(submitted)

    worker = threading.Thread(target=serve)
    worker.start()
    try:
        yield
    finally:
        stopped.set()
        port.commands.wake()
        worker.join()
