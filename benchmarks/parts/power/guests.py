"""Whoever looks at a table and tells it things: by its page, by a broker, and from a terminal of the same machine."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from benchmarks.parts.power.ledger import Answer, Told
from benchmarks.parts.power.served import TABLE
from referee.commands.command_socket import ask
from referee.commands.values import EnterTurn, TakeBack
from referee.errors import UnreachableError
from referee.mqtt.topics import PREFIX, Topics

PATIENCE_S = 180.0
_BROKEN = (OSError, http.client.HTTPException, ValueError)


@dataclass(frozen=True)
class Order:
    """An order under a name of its own: a turn as text, or a take-back where ``turn`` is empty."""

    name: str
    turn: str

    @property
    def fields(self) -> dict[str, str]:
        """Write it as the page and the broker take it."""
        what = {"command": "turn", "text": self.turn} if self.turn else {"command": "take back"}
        return {**what, "by": self.name, "request_id": self.name}


class PageGuest:
    """A screen that shows the page's events, and gives orders through its API."""

    def __init__(self, port: int) -> None:
        """Look at the page at that port of this machine; raises OSError or HTTPException where none answers."""
        self._port = port
        self._csrf = json.loads(self._request("GET", "/api/session"))["csrf"]
        self._shown: dict[str, Any] = {}
        self._changed = threading.Condition()
        self._events = http.client.HTTPConnection("127.0.0.1", port)
        self._events.request("GET", "/api/events")
        self._response = self._events.getresponse()
        self.newest_sound = 0
        """The newest event that was shown while nothing was said to hinder the referee."""
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        try:
            for line in self._response:
                if line.startswith(b"data: "):
                    self._show(json.loads(line[6:]))
        except _BROKEN:
            return
        finally:
            self._response.close()
            self._events.close()

    def _show(self, document: dict[str, Any]) -> None:
        with self._changed:
            self._shown = document
            if not document["trouble"]:
                self.newest_sound = max(self.newest_sound, document["event_number"])
            self._changed.notify_all()

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> bool:
        """Wait until what is shown holds; gives whether it came to that."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._shown) and holds(self._shown), PATIENCE_S)

    def order(self, order: Order) -> Answer | None:
        """Give an order; ``None`` where no answer came, as when the table is killed."""
        try:
            reply = json.loads(self._request("POST", "/api/commands", json.dumps(order.fields)))
        except _BROKEN:
            return None
        return Answer(reply["words"], reply["refused"])

    def read_to_the_end(self) -> None:
        """Take what had been sent before the table was killed."""
        self._thread.join(PATIENCE_S)
        if self._thread.is_alive():
            raise RuntimeError("the connection of a killed table is still open")

    def _request(self, method: str, path: str, body: str | None = None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
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
    """A client that hears all that a table tells its broker, over any number of the table's lives."""

    port: int
    events: dict[int, list[Told]] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    is_online: bool = False

    def __post_init__(self) -> None:
        """Connect."""
        self._topics = Topics(PREFIX, TABLE)
        self._changed = threading.Condition()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="guest", protocol=paho.MQTTv5)
        self._client.on_message = lambda _client, _data, message: self._hear(message)
        subscribed = threading.Event()
        self._client.on_subscribe = lambda *_: subscribed.set()
        self._client.connect("127.0.0.1", self.port)
        self._client.subscribe([(f"{self._topics.base}/#", 1)])
        self._client.loop_start()
        if not subscribed.wait(PATIENCE_S):
            raise RuntimeError("the broker does not answer")

    def _hear(self, message: paho.MQTTMessage) -> None:
        with self._changed:
            if message.topic == self._topics.availability:
                self.is_online = message.payload == b"online"
            elif message.topic == self._topics.events:
                event = json.loads(message.payload)
                told = Told(event["journal"], event["event_type"], event["wall_time"], event["data"])
                self.events.setdefault(event["number"], []).append(told)
            elif message.topic == self._topics.answers:
                answer = json.loads(message.payload)
                self.answers[answer["request_id"]] = Answer(answer["words"], answer["refused"])
            self._changed.notify_all()

    def until(self, holds: Callable[[], bool]) -> bool:
        """Wait until what was heard holds; gives whether it came to that."""
        with self._changed:
            return self._changed.wait_for(holds, PATIENCE_S)

    def look_again(self) -> None:
        """Let whoever waits ask once more whether to go on."""
        with self._changed:
            self._changed.notify_all()

    def order(self, order: Order, is_gone: threading.Event) -> Answer | None:
        """Give an order; ``None`` where the table is gone before its answer came."""
        self._client.publish(self._topics.play, json.dumps(order.fields), qos=1)
        self.until(lambda: order.name in self.answers or is_gone.is_set())
        return self.answers.get(order.name)

    def taken(self) -> tuple[dict[int, list[Told]], dict[str, Answer]]:
        """Give the events and answers heard since the last time."""
        with self._changed:
            taken = self.events, self.answers
            self.events, self.answers = {}, {}
        return taken

    def close(self) -> None:
        """Leave the broker."""
        self._client.disconnect()
        self._client.loop_stop()


def order_by_terminal(journal: Path, order: Order) -> Answer | None:
    """Give an order as ``./run table`` does; ``None`` where no answer came."""
    command = EnterTurn(order.turn, order.name) if order.turn else TakeBack(order.name)
    try:
        reply = ask(journal, command, PATIENCE_S)
    except UnreachableError:
        return None
    return Answer(reply.words, reply.refused)
