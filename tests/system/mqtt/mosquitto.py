"""A real Mosquitto in its own process, and a test client."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.guard import GUARD_S

_SYSTEM = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
MOSQUITTO = shutil.which("mosquitto", path=_SYSTEM)
MISSING = "Mosquitto is not installed: apt install mosquitto"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class Broker:
    """Mosquitto at a port of its own; it keeps retained messages over a restart."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self.port = free_port()
        self._folder = folder
        self._settings = settings or ("allow_anonymous true",)
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        assert MOSQUITTO is not None
        config = self._folder / "mosquitto.conf"
        lines = [
            f"listener {self.port} 127.0.0.1",
            "persistence true",
            f"persistence_location {self._folder}/",
            "autosave_on_changes true",
            "autosave_interval 1",
            *self._settings,
        ]
        if os.geteuid() == 0:
            # Else it becomes a user who may not read the folder.
            lines.insert(0, "user root")
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._process = subprocess.Popen(
            [MOSQUITTO, "-c", str(config)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert self._process.stderr is not None
        said = []
        for line in self._process.stderr:
            said.append(line)
            if "running" in line:
                break
        else:
            raise AssertionError(f"Mosquitto did not start: {said}")
        self._drained = threading.Thread(target=self._process.stderr.read)
        self._drained.start()

    def kill(self, with_signal: signal.Signals = signal.SIGKILL) -> None:
        """End it at once, as a power cut would."""
        if self._process is not None:
            self._process.send_signal(with_signal)
            self._process.wait(GUARD_S)
            self._drained.join()
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process = None


@contextmanager
def broker_in(folder: Path, *settings: str) -> Iterator[Broker]:
    """A broker that runs within the context."""
    broker = Broker(folder, *settings)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()


class Heard:
    """A message: its topic, bytes, whether it was retained, and its correlation data."""

    def __init__(self, message: paho.MQTTMessage) -> None:
        self.topic = message.topic
        self.payload = message.payload
        self.retain = message.retain
        self.correlation = getattr(message.properties, "CorrelationData", None)

    @property
    def json(self) -> Any:
        return json.loads(self.payload)


class Client:
    """Subscribes to everything below the prefixes, and publishes on demand."""

    def __init__(self, broker: Broker, user: str | None = None, password: str = "", tls: ssl.SSLContext | None = None):
        self.heard: list[Heard] = []
        self._changed = threading.Condition()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        self._client.on_message = self._hear
        self._client.on_connect = self._subscribe
        self._client.on_subscribe = self._subscribed
        self._is_ready = threading.Event()
        self._client.reconnect_delay_set(1, 1)
        if user is not None:
            self._client.username_pw_set(user, password)
        if tls is not None:
            self._client.tls_set_context(tls)
        self._client.connect("127.0.0.1", broker.port)
        self._client.loop_start()
        assert self._is_ready.wait(GUARD_S)

    def _subscribe(self, client: paho.Client, *_: Any) -> None:
        client.subscribe("#", qos=1)

    def _subscribed(self, *_: Any) -> None:
        self._is_ready.set()

    def _hear(self, _client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        with self._changed:
            self.heard.append(Heard(message))
            self._changed.notify_all()

    def say(
        self, topic: str, payload: bytes | str | dict[str, Any], *, retain: bool = False, **properties: Any
    ) -> None:
        """Publish, and wait until the broker has it."""
        named = Properties(PacketTypes.PUBLISH)
        for name, value in properties.items():
            setattr(named, name, value)
        sent = json.dumps(payload) if isinstance(payload, dict) else payload
        self._client.publish(topic, sent, qos=1, retain=retain, properties=named).wait_for_publish(GUARD_S)

    def until(self, fits: Callable[[Heard], bool], first: int = 0) -> Heard:
        """Wait for a matching message among those from number ``first`` on."""

        def found() -> Heard | None:
            return next((each for each in self.heard[first:] if fits(each)), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, GUARD_S), [each.topic for each in self.heard]
            message = found()
            assert message is not None
            return message

    def answer(self, request_id: str, first: int = 0) -> Any:
        """Wait for the answer to an order."""
        return self.until(
            lambda heard: heard.topic == "referee/t1/answers" and heard.json["request_id"] == request_id, first
        ).json

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


@contextmanager
def client_of(broker: Broker, **settings: Any) -> Iterator[Client]:
    client = Client(broker, **settings)
    try:
        yield client
    finally:
        client.close()
