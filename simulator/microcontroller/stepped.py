"""The virtual microcontroller in virtual time, which only advances by calls. Pure."""

import heapq
import math
from random import Random

from firmware_bridge.firmware.core.device import Device
from firmware_bridge.firmware.core.pin_map import read_pin_map
from firmware_bridge.protocol.messages import ResetCause
from simulator.microcontroller.board import MOST_BOUNCE_S, BoardRestartedError, VirtualBoard
from simulator.microcontroller.wire import FaultSchedule, FaultyWire, Outage, WireFaults

BUSY_LOOP_S, IDLE_LOOP_S = 0.001, 0.005
"""Duration of a round of the firmware's loop, with and without data to transfer."""
WATCHDOG_S = 8.0
"""Time without a loop after which the watchdog resets the board, as in firmware/board/chip.py."""

_PROMPT = b'\r\nMPY: soft reboot\r\nMicroPython v1.26.0\r\nType "help()" for more information.\r\n>>> '
_MOST_STEPS = 64  # of the device at one moment
_BUSY_AFTER_MOVE_S = 0.1  # the device steps often for so long after a switch moved


class SteppedMicrocontroller:
    """The firmware's own core on a virtual board behind two faulty wires.

    All times are seconds on one clock that never goes back. The host's side is ``from_host``, ``advance`` and
    ``take_to_host``; ``next_due_s`` says when to call them next. The same seed and calls give the same bytes.
    ``pin_map`` is in the format that the firmware parses (``PinMap.device_json()``); the times of ``faults`` count from
    ``start_s``. Contacts bounce for up to ``bounce_s``; ``watchdog_s`` without a loop resets the board.
    """

    def __init__(
        self,
        pin_map: bytes,
        faults: WireFaults | None = None,
        seed: int = 0,
        *,
        start_s: float = 0.0,
        bounce_s: float = MOST_BOUNCE_S,
        watchdog_s: float = WATCHDOG_S,
    ) -> None:
        self._pins = read_pin_map(pin_map)
        self._faults = WireFaults() if faults is None else faults
        self._now_s = start_s
        self._watchdog_s = watchdog_s
        self._rng = Random(f"{seed} board")
        self.board = VirtualBoard(self._pins, lambda: self._now_s, self._rng, bounce_s)
        self.to_device = FaultyWire(self._faults, f"{seed} to device")
        self.to_host = FaultyWire(self._faults, f"{seed} to host")
        self._outages = FaultSchedule(self._faults, seed, start_s)
        self.device: Device | None = None
        """The firmware's core; ``None`` while the board has no power or is in the bare interpreter."""
        self.is_plugged = True
        """Whether the cable is plugged in."""
        self._replug_at_s: float | None = None
        self._hangs = False
        self._loop_due_s = start_s
        self._releases: list[tuple[float, int]] = []
        self.boots = 0
        self._boot(ResetCause.POWER)

    @property
    def is_in_interpreter(self) -> bool:
        """Whether the board waits at the bare interpreter's prompt."""
        return self.is_plugged and self.device is None

    def from_host(self, data: bytes, now_s: float) -> None:
        """Accept bytes written by the host; while the board is unplugged they are lost."""
        self.advance(now_s)
        if self.is_plugged:
            self.to_device.write(data, now_s)

    def take_to_host(self, now_s: float) -> list[bytes]:
        """Take the bytes that have arrived at the host by now, in pieces as they arrived."""
        return self.to_host.read(now_s) if self.is_plugged else []

    @property
    def next_due_s(self) -> float:
        """When to call ``advance`` and ``take_to_host`` next, unless the host writes earlier."""
        arrives_s = self.to_host.next_due_s if self.is_plugged else None
        due_s = self._next_event_s
        return max(self._now_s, due_s if arrives_s is None else min(due_s, arrives_s))

    def advance(self, now_s: float) -> None:
        """Process everything due up to now, in order of time."""
        while (due_s := self._next_event_s) <= now_s:
            self._now_s = max(self._now_s, due_s)
            self._process_next()
        self._now_s = max(self._now_s, now_s)

    def set_switch(self, switch: int, closed: bool, now_s: float) -> None:
        """Close or open a switch. Raises IndexError for an unknown switch."""
        self.advance(now_s)
        self.board.move_switch(switch, closed, self._now_s)

    def press(self, button: int, now_s: float, held_s: float = 0.1) -> None:
        """Press a button, and release it ``held_s`` later. Raises IndexError for an unknown button."""
        self.advance(now_s)
        self.board.move_button(button, True, self._now_s)
        heapq.heappush(self._releases, (self._now_s + held_s, button))

    def reset(self, now_s: float, cause: ResetCause = ResetCause.SOFTWARE) -> None:
        """Reset the board; ignored while it has no power."""
        self.advance(now_s)
        if self.is_plugged:
            self._boot(cause)

    def hang(self, now_s: float) -> None:
        """Make the firmware hang until the watchdog resets the board."""
        self.advance(now_s)
        self._hangs = True

    def unplug(self, now_s: float) -> None:
        """Pull the cable, which also powers the board; data in transit is lost. It stays unplugged."""
        self.advance(now_s)
        self._replug_at_s = None
        self._unplug()

    def replug(self, now_s: float) -> None:
        """Plug the cable in again: the board starts."""
        self.advance(now_s)
        if not self.is_plugged:
            self._plug_in()

    @property
    def _next_event_s(self) -> float:
        dues = []
        if self.device is not None:
            dues.append(self.board.watchdog_fed_s + self._watchdog_s if self._hangs else self._loop_due_s)
        if self._replug_at_s is not None:
            dues.append(self._replug_at_s)
        if self._releases:
            dues.append(self._releases[0][0])
        if self._outages.next_s is not None:
            dues.append(self._outages.next_s)
        if self.to_device.next_due_s is not None:
            dues.append(self.to_device.next_due_s)
        return min(dues, default=math.inf)

    def _process_next(self) -> None:
        now_s = self._now_s
        for outage in self._outages.due(now_s):
            self._apply_outage(outage)
        if self._replug_at_s is not None and self._replug_at_s <= now_s:
            self._plug_in()
        while self._releases and self._releases[0][0] <= now_s:
            self.board.move_button(heapq.heappop(self._releases)[1], False, now_s)
        arrived = self.to_device.read(now_s)
        if self.device is None:
            return
        for piece in arrived:
            self.board.receive(piece)
        if not self._hangs:
            if arrived or self._loop_due_s <= now_s:
                self._loop(self.device)
        elif now_s >= self.board.watchdog_fed_s + self._watchdog_s:
            self._boot(ResetCause.WATCHDOG)

    def _apply_outage(self, outage: Outage) -> None:
        if not self.is_plugged:
            return
        match outage:
            case Outage.SILENCE:
                for wire in (self.to_device, self.to_host):
                    wire.be_silent(self._now_s + self._faults.silence_s)
            case Outage.RESET:
                self._boot(ResetCause.WATCHDOG)
            case Outage.UNPLUG:
                self._unplug()
                self._replug_at_s = self._now_s + self._faults.unplugged_s

    def _unplug(self) -> None:
        self.is_plugged = False
        self.device = None
        self.board.lose_power()
        for wire in (self.to_device, self.to_host):
            wire.cut()

    def _plug_in(self) -> None:
        self.is_plugged = True
        self._replug_at_s = None
        self._boot(ResetCause.POWER)

    def _boot(self, cause: ResetCause) -> None:
        self.boots += 1
        self._hangs = False
        self.board.start(cause)
        # data in transit to a board that restarts is not read by anyone
        self.to_device.drop()
        self.to_host.garbage(self._faults.garbage_bytes, self._now_s)
        self.device = Device(self.board, self._pins)
        self.board.wanted_lights = self.device.lights
        self._loop_due_s = self._now_s

    def _loop(self, device: Device) -> None:
        """Run the firmware's loop once, and again while data is waiting; sooner when there is work to do."""
        is_busy = self.board.has_input or self._now_s < self.board.moved_s + _BUSY_AFTER_MOVE_S
        for _ in range(_MOST_STEPS):
            try:
                device.step()
            except BoardRestartedError as restarted:
                self._handle_restart(restarted)
                return
            if not self.board.has_input:
                break
        data = self.board.sent()
        if data:
            self.to_host.write(data, self._now_s)
        self._loop_due_s = self._now_s + (BUSY_LOOP_S if is_busy or data else IDLE_LOOP_S)

    def _handle_restart(self, restarted: BoardRestartedError) -> None:
        self.to_host.write(self.board.sent(), self._now_s)
        if restarted.into_interpreter:
            self.device = None
            self.to_host.write(_PROMPT, self._now_s)
        else:
            self._boot(ResetCause.SOFTWARE)
