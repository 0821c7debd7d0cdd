"""What the connection's thread and its users share, under one lock: orders in, news out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from firmware_bridge.connection_events import BoardEvent, ConnectionState
from firmware_bridge.connection_queue import EventQueue
from firmware_bridge.connection_troubles import Trouble
from firmware_bridge.ports import SerialPort
from firmware_bridge.protocol.messages import Configure, LightFrame, Snapshot, Sound, Welcome


@dataclass(frozen=True)
class Orders:
    """What was asked for since the last time; ``None`` where nothing was. Of each only the newest counts."""

    lights: LightFrame | None = None
    settings: Configure | None = None
    sound: Sound | None = None
    snapshot: Snapshot | None = None
    leave: bool = False


@dataclass(frozen=True)
class Standing:
    """How things stand: what a user may see of the connection at one moment."""

    state: ConnectionState = ConnectionState.CLOSED
    port: SerialPort | None = None
    welcome: Welcome | None = None
    trouble: Trouble | None = None
    last_heard_s: float | None = None


class Desk:
    """Takes orders from users and hands news to them; the thread takes the orders and brings the news."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._orders = Orders()
        self._is_closing = False
        self._has_ended = False
        self._standing = Standing()
        self._events = EventQueue()

    # The users' side.

    def order(self, amend: Callable[[Orders], Orders]) -> None:
        """Amend what is asked for."""
        with self._changed:
            self._orders = amend(self._orders)

    def ask_to_close(self) -> None:
        """Ask the thread to end."""
        with self._changed:
            self._is_closing = True

    @property
    def standing(self) -> Standing:
        """How things stand."""
        with self._changed:
            return self._standing

    def take_events(self) -> tuple[BoardEvent, ...]:
        """Give the news since the last time."""
        with self._changed:
            return self._events.take()

    @property
    def has_events(self) -> bool:
        """Whether there is news."""
        with self._changed:
            return len(self._events) > 0

    def wait_for(self, fits: Callable[[], bool], timeout_s: float) -> bool:
        """Wait for news after which ``fits`` holds; say whether it does. The end of the thread ends this, too."""
        # Asked once each time, since it may take what it looks at.
        fitted = False

        def is_over() -> bool:
            nonlocal fitted
            fitted = fits()
            return fitted or self._has_ended

        with self._changed:
            self._changed.wait_for(is_over, timeout_s)
        return fitted

    # The thread's side.

    @property
    def is_closing(self) -> bool:
        """Whether the thread is to end."""
        with self._changed:
            return self._is_closing

    def take_orders(self) -> Orders:
        """Give what was asked for since the last time."""
        with self._changed:
            orders, self._orders = self._orders, Orders()
            return orders

    def tell(self, events: Iterable[BoardEvent], standing: Standing) -> None:
        """Bring news, and how things stand after it."""
        with self._changed:
            for event in events:
                self._events.put(event)
            self._standing = standing
            self._changed.notify_all()

    def end(self) -> None:
        """Say that the thread has ended."""
        with self._changed:
            self._has_ended = True
            self._standing = replace(self._standing, state=ConnectionState.CLOSED, port=None, welcome=None)
            self._changed.notify_all()
