"""Clients that watch a table and give it orders: by page, broker and terminal."""

import http.client
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from app.runtime.command_socket import ask
from benchmarks.parts.power.ledger import Answer, PublishedEvent
from benchmarks.parts.power.served import TABLE
from frontends.mqtt.topics import PREFIX, Topics
from referee.commands.values import EnterTurn, TakeBack
from referee.errors import UnreachableError

TIMEOUT_S = 180.0
_CONNECTION_ERRORS = (OSError, http.client.HTTPException, ValueError)


@dataclass(frozen=True)
class Order:
    """A uniquely named order: a turn as text, or a take-back if ``turn`` is empty."""

    name: str
    turn: str

    @property
    def fields(self) -> dict[str, str]:
        """The order's fields for the page and the broker."""
        command = {"command": "turn", "text": self.turn} if self.turn else {"command": "take back"}
        return {**command, "by": self.name, "request_id": self.name}


class PageGuest:
    """A screen that shows the page's events, and gives orders through its API."""

    def __init__(self, port: int) -> None:
        """Connect to the page at a local port; raises OSError or HTTPException if none answers."""
        self._port = port
        self._csrf = json.loads(self._request("GET", "/api/session"))["csrf"]
        self._shown: dict[str, Any] = {}
        self._changed = threading.Condition()
        self._events = http.client.HTTPConnection("127.0.0.1", port)
        self._events.request("GET", "/api/events")
        self._response = self._events.getresponse()
        self.newest_untroubled = 0
        """The newest event that was shown while no trouble was."""
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        try:
            for line in self._response:
                if line.startswith(b"data: "):
                    self._show(json.loads(line[6:]))
        except _CONNECTION_ERRORS:
            return
        finally:
            self._response.close()
            self._events.close()

    def _show(self, document: dict[str, Any]) -> None:
        with self._changed:
            self._shown = document
            if not document["trouble"]:
                self.newest_untroubled = max(self.newest_untroubled, document["event_number"])
            self._changed.notify_all()

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> bool:
        """Wait until ``holds`` is true of what is shown; give whether it became so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._shown) and holds(self._shown), TIMEOUT_S)

    def order(self, order: Order) -> Answer | None:
        """Give an order; ``None`` if no answer comes, as when the table is killed."""
        try:
            reply = json.loads(self._request("POST", "/api/commands", json.dumps(order.fields)))
        except _CONNECTION_ERRORS:
            return None
        return Answer(reply["words"], reply["refused"])

    def read_remaining(self) -> None:
        """Process everything sent before the table was killed."""
        self._thread.join(TIMEOUT_S)
        if self._thread.is_alive():
            raise RuntimeError("the connection of a killed table is still open")

    def _request(self, method: str, path: str, body: str | None = None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_S)
        try:
            token = {} if body is None else {"X-CSRF-Token": self._csrf, "Content-Type": "application/json"}
            connection.request(method, path, body, token)
            response = connection.getresponse()
            content = response.read()
            if response.status != http.HTTPStatus.OK:
                raise ValueError(f"the page answered {response.status}: {content[:200]!r}")
            return content
        finally:
            connection.close()


@dataclass
class BrokerGuest:
    """A client that receives all of a table's messages by the broker, over any number of restarts."""

    port: int
    events: dict[int, list[PublishedEvent]] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    is_online: bool = False

    def __post_init__(self) -> None:
        """Connect."""
        self._topics = Topics(PREFIX, TABLE)
        self._changed = threading.Condition()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="guest", protocol=paho.MQTTv5)
        self._client.on_message = lambda _client, _data, message: self._receive(message)
        subscribed = threading.Event()
        self._client.on_subscribe = lambda *_: subscribed.set()
        self._client.connect("127.0.0.1", self.port)
        self._client.subscribe([(f"{self._topics.base}/#", 1)])
        self._client.loop_start()
        if not subscribed.wait(TIMEOUT_S):
            raise RuntimeError("the broker does not answer")

    def _receive(self, message: paho.MQTTMessage) -> None:
        with self._changed:
            if message.topic == self._topics.availability:
                self.is_online = message.payload == b"online"
            elif message.topic == self._topics.events:
                event = json.loads(message.payload)
                published = PublishedEvent(event["journal"], event["event_type"], event["wall_time"], event["data"])
                self.events.setdefault(event["number"], []).append(published)
            elif message.topic == self._topics.answers:
                answer = json.loads(message.payload)
                self.answers[answer["request_id"]] = Answer(answer["words"], answer["refused"])
            self._changed.notify_all()

    def until(self, holds: Callable[[], bool]) -> bool:
        """Wait until ``holds`` is true; give whether it became so in time."""
        with self._changed:
            return self._changed.wait_for(holds, TIMEOUT_S)

    def wake(self) -> None:
        """Make waiting threads check their conditions again."""
        with self._changed:
            self._changed.notify_all()

    def order(self, order: Order, is_gone: threading.Event) -> Answer | None:
        """Give an order; ``None`` if the table is gone before it answers."""
        self._client.publish(self._topics.play, json.dumps(order.fields), qos=1)
        self.until(lambda: order.name in self.answers or is_gone.is_set())
        return self.answers.get(order.name)

    def take(self) -> tuple[dict[int, list[PublishedEvent]], dict[str, Answer]]:
        """Give the events and answers received since the last call."""
        with self._changed:
            taken = self.events, self.answers
            self.events, self.answers = {}, {}
        return taken

    def close(self) -> None:
        """Leave the broker."""
        self._client.disconnect()
        self._client.loop_stop()


def order_by_terminal(journal: Path, order: Order) -> Answer | None:
    """Give an order as ``./run table`` does; ``None`` if no answer comes."""
    command = EnterTurn(order.turn, order.name) if order.turn else TakeBack(order.name)
    try:
        reply = ask(journal, command, TIMEOUT_S)
    except UnreachableError:
        return None
    return Answer(reply.words, reply.refused)
