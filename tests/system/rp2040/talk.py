"""The host's own end of the protocol with an emulated Pico, by the Pico's clock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING, TypeVar

from firmware_bridge.connection.conversation import session_without_interrupt
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import Message, Welcome
from firmware_bridge.protocol.session import Sendable

if TYPE_CHECKING:
    from tests.system.rp2040.emulated_pico import EmulatedPico

Kind = TypeVar("Kind")

_START_MS = 10_000.0


class PageDialogue:
    """A session, from HELLO to WELCOME on. ``heard`` has what the board told, each with the chip's milliseconds."""

    def __init__(self, pico: EmulatedPico, seed: int) -> None:
        self.pico = pico
        self.link = HostLink()
        self.heard: list[tuple[float, Message]] = []
        random = Random(seed)
        self._sessions = iter(
            lambda: session_without_interrupt(lambda: random.randrange(1, 1 << 16), self.link.session), None
        )
        self.greet()

    def _is_welcomed_since(self, before: Welcome | None) -> bool:
        return self.link.welcome is not before

    def greet(self) -> None:
        """Begin a session, again and again until the board answers."""
        pico = self.pico
        pico.run_until(lambda: pico.is_connected, _START_MS)
        for _ in range(5):
            self.link.begin(pico.now_ns / 1e9, next(self._sessions))
            if self.run_until(partial(self._is_welcomed_since, self.link.welcome), 2000):
                return
        raise AssertionError("the board does not answer")

    def run_until(self, fits: Callable[[], bool], most_ms: float) -> bool:
        """Let both ends talk until it fits; say whether it did."""
        return self.pico.run_until(lambda: self._turn() or fits(), most_ms)

    def run_for(self, ms: float) -> None:
        """Let both ends talk for so long."""
        self.run_until(lambda: False, ms)

    def send(self, message: Sendable) -> None:
        """Send a message, and wait until the board has acknowledged it."""
        acknowledged = self.link.acknowledged
        self.link.send(message)
        assert self.run_until(lambda: self.link.acknowledged > acknowledged, 1000)

    def next(self, kind: type[Kind], fits: Callable[[Kind], bool] = lambda _: True, most_ms: float = 500) -> Kind:
        """Wait for the next message of a kind, and forget all up to it."""

        def found() -> list[Kind]:
            return [message for _, message in self.heard if isinstance(message, kind) and fits(message)]

        assert self.run_until(lambda: bool(found()), most_ms), f"never came; there is {self.heard}"
        message = found()[0]
        while self.heard.pop(0)[1] is not message:
            pass
        return message

    def _turn(self) -> bool:
        said = self.pico.read()
        now_s = self.pico.now_ns / 1e9
        if said:
            self.heard += [(now_s * 1000, message) for message in self.link.receive(said, now_s)]
        self.pico.write(self.link.outgoing(now_s))
        return False
