"""A hall with its page, and either a test client or a server for a real browser."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from frontends.page.access import Access
from hall.hall import Hall
from hall.web.app import create_hall
from hall.web.support import HallServices
from tests.frontends.page.page_table import HOST, access_of
from tests.hall.halls import Clock, hall_on, settle, table

HTML = {"accept": "text/html"}
NASTY = "<script>alert(1)</script>"


class Visit:
    """A client of a hall in which one table plays and one asks for an arbiter."""

    def __init__(self, folder: Path, access: Access | None = None) -> None:
        self.clock = Clock()
        self.hall: Hall = hall_on(str(folder / "hall.db"), self.clock, listed=["table-9"])
        self.feeds = [table("table-1", 12), table("table-2", 20)]
        self.feeds[1].begin((NASTY, "Ben & Co"), 0)
        self.feeds[1]._needs_person = True
        settle(self.hall, self.clock, self.feeds)
        self.looks = 0
        chosen = access or access_of()
        services = HallServices(self.hall, chosen, self.send_now, lambda: True, self.clock.utc)
        address = HOST if chosen.policy.is_open else "http://127.0.0.1:8000"
        self.app = create_hall(services)
        self.client = TestClient(self.app, base_url=address, follow_redirects=False)

    def send_now(self) -> None:
        self.looks += 1

    def page(self, path: str) -> str:
        reply = self.client.get(path, headers=HTML)
        assert reply.status_code == 200, reply.text
        return reply.text

    def post(self, path: str, **fields: Any) -> Any:
        found = re.search(r'name="csrf" content="([^"]+)"', self.page("/"))
        assert found is not None
        return self.client.post(path, data={"csrf": found[1], **fields}, headers=HTML)


@contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """Serve an application on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
