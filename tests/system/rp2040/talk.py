"""The host's own end of the protocol with an emulated Pico, by the Pico's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from firmware_bridge.protocol.link import HostLink, News, SerialLine

if TYPE_CHECKING:
    from tests.system.rp2040.emulated_pico import EmulatedPico

Kind = TypeVar("Kind")

_START_MS = 10_000.0


class PageDialogue:
    """A host, from its first greeting on. ``heard`` has what the board told, each with the chip's milliseconds."""

    def __init__(self, pico: EmulatedPico) -> None:
        self.pico = pico
        self.link = HostLink()
        self.heard: list[tuple[float, News]] = []
        pico.run_until(lambda: pico.is_connected, _START_MS)
        self.link.open(SerialLine())
        assert self.run_until(lambda: self.link.welcome is not None, _START_MS), "the board does not answer"

    def run_until(self, fits: Callable[[], bool], most_ms: float) -> bool:
        """Let both ends talk until it fits; say whether it did."""
        return self.pico.run_until(lambda: self._turn() or fits(), most_ms)

    def run_for(self, ms: float) -> None:
        """Let both ends talk for so long."""
        self.run_until(lambda: False, ms)

    def settle(self) -> None:
        """Wait until the board does as it should."""
        assert self.run_until(lambda: self.link.is_settled, 1000)

    def next(self, kind: type[Kind], fits: Callable[[Kind], bool] = lambda _: True, most_ms: float = 500) -> Kind:
        """Wait for the next news of a kind, and forget all up to it."""

        def found() -> list[Kind]:
            return [news for _, news in self.heard if isinstance(news, kind) and fits(news)]

        assert self.run_until(lambda: bool(found()), most_ms), f"never came; there is {self.heard}"
        news = found()[0]
        while self.heard.pop(0)[1] is not news:
            pass
        return news

    def _turn(self) -> bool:
        said = self.pico.read()
        now_s = self.pico.now_ns / 1e9
        if said:
            self.heard += [(now_s * 1000, news) for news in self.link.receive(said, now_s)]
        self.pico.write(self.link.outgoing(now_s))
        return False
