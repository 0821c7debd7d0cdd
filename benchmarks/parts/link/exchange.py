"""Host and device exchange messages over a faulty link in virtual time, and every message is checked.

The host's end is the service's own, the device's end is the firmware's; the wire is the virtual microcontroller's. Now
and then the wire falls silent, the device restarts, or the cable is unplugged and plugged in again.
"""

import math
import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from random import Random

from benchmarks.parts.link.ledger import Ledger, numbered_fault, numbered_lights, numbered_sound
from firmware_bridge.firmware.core.board import Board
from firmware_bridge.firmware.core.link import DeviceLink, LinkOwner
from firmware_bridge.firmware.core.ticks import TICKS_MASK
from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.link import HostLink, LinkState
from firmware_bridge.protocol.messages import ButtonReport, FaultReport, SensorReport, Welcome
from firmware_bridge.protocol.packets import FIRST_SEQUENCED, Kind
from simulator.microcontroller.wire import FRAME_FAULTS, FaultSchedule, FaultyWire, Outage, WireFaults

TO_DEVICE, TO_HOST = "to the device", "to the host"
DEVICE_LOOP_S = 0.005
_CALM_S = 20.0
_MOST_FILLER = 40
_MOST_LIGHT_BYTES = 800
_SENDS_SHARE = 0.7
_LIGHTS_SHARE = 0.3
_LONG_SHARE = 0.03
_MOST_SHOWN = 20
_WELCOME = Welcome(1, (0, 0, 0), 1, 0, 1024, 8, 300, 64, 3, 2, 0, 0, "virtual")


def wire_faults(share: float, *, with_outages: bool = True, overtakes: bool = False) -> WireFaults:
    """Every kind of frame fault, each at that share, and by default silences, resets and unplugging."""
    every = WireFaults.every_kind(share)
    faults = replace(every, delay_s=0.02, latency_s=0.001, garbage_bytes=40, overtakes=overtakes)
    if not with_outages:
        return faults
    silent = replace(faults, silence_every_s=15.0, silence_s=2.5)
    return replace(silent, reset_every_s=10.0, unplug_every_s=15.0, unplugged_s=0.3)


@dataclass
class Exchanged:
    """The result of an exchange.

    Attributes:
        seed: of the exchange; ``again`` holds the options that repeat it.
        frames: frames written in both directions, including retransmissions and acknowledgements.
        delivered: sequenced messages delivered and checked, by direction.
        sessions: sessions begun.
        losses: sessions by the reason of their end.
        struck: faulty frames by kind of fault, and interruptions.
        resent: packets retransmitted.
        wrong: violations in words; ``wrong_count`` is their number.
        latencies_s: latencies of messages, by direction, in virtual seconds; only measured with ``every_s``.
        took_s: real time in seconds; ``lasted_s``: virtual seconds.
    """

    seed: int
    again: str = ""
    frames: int = 0
    delivered: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    losses: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)
    resent: int = 0
    wrong: list[str] = field(default_factory=list)
    wrong_count: int = 0
    latencies_s: dict[str, list[float]] = field(default_factory=lambda: {TO_DEVICE: [], TO_HOST: []})
    took_s: float = 0.0
    lasted_s: float = 0.0


class _DeviceEnd(LinkOwner):
    """The device's end: reports received messages to the ledger, and sends numbered ones while the window has room."""

    def __init__(self, to_device: Ledger, rng: Random, boot_id: int, now_s: float) -> None:
        self._to_device = to_device
        self._rng = rng
        self.boot_id = boot_id
        self.acknowledged = 0
        self.link = DeviceLink(self, boot_id, _ticks(now_s))

    def welcome_payload(self) -> bytes:
        return encode_message(replace(_WELCOME, boot_id=self.boot_id))[1]

    def session_began(self, now: int) -> None:
        del now
        self._to_device.begin((self.link.session, 0), (self.link.session, self.boot_id))
        self.acknowledged = 0

    def take_message(self, kind: int, payload: memoryview, now: int) -> None:
        if kind >= FIRST_SEQUENCED:
            self._to_device.give(kind, bytes(payload))
        elif kind == Kind.PING:
            self.link.send_unsequenced(Kind.PONG, bytes(payload[:4]) + now.to_bytes(4, "little"))

    def was_acknowledged(self, token: int) -> None:
        del token
        self.acknowledged += 1

    def send_numbered(self, number: int) -> bool:
        """Send one message, if the window has room."""
        if not self.link.session or not self.link.window.has_room():
            return False
        kind, payload = encode_message(numbered_fault(number, "x" * self._rng.randrange(_MOST_FILLER)))
        return self.link.send(kind, memoryview(payload), number & 0xFFFF)


class Exchange:
    """An exchange: both ends, both wires, and the clock.

    Args:
        faults: the rates of faults.
        seed: of faults and messages.
        every_s: mean interval of messages from each end; 0: whenever there is room.
    """

    def __init__(self, faults: WireFaults, seed: int, every_s: float = 0.0) -> None:
        self._faults = faults
        self._every_s = every_s
        self._send_at_s = 0.0
        self._rng = Random(f"{seed} exchange")
        self._to_device, self._to_host = Ledger(TO_DEVICE), Ledger(TO_HOST)
        self._wire_to_device = FaultyWire(faults, f"{seed} to device")
        self._wire_to_host = FaultyWire(faults, f"{seed} to host")
        self._outages = FaultSchedule(faults, seed)
        self._now_s = 0.0
        self._host = HostLink()
        self._device: _DeviceEnd | None = None
        self._device_due_s = 0.0
        self._replug_at_s = math.inf
        self._boots = 0
        self._linked_boot = 0
        self._sessions: set[int] = set()
        self._number = 0
        self._device_number = 0
        self._newest_lights = -1
        self._in_flight: dict[str, deque[tuple[int, float]]] = {TO_DEVICE: deque(), TO_HOST: deque()}
        self._is_calm = False
        self.result = Exchanged(seed)
        self._start_device()
        self._begin_session()

    def run(self, messages: int) -> Exchanged:
        """Run until so many messages are delivered, then without faults until all have arrived; check them."""
        began_s = time.perf_counter()
        result = self.result
        while self._to_device.delivered + self._to_host.delivered < messages:
            self._tick()
        self._calm_down()
        result.wrong = (self._to_device.wrong + self._to_host.wrong)[:_MOST_SHOWN]
        result.wrong_count = self._to_device.wrong_count + self._to_host.wrong_count
        for ledger in (self._to_device, self._to_host):
            result.delivered[ledger.name] = ledger.delivered
            result.resent += ledger.resent
        for wire in (self._wire_to_device, self._wire_to_host):
            result.struck.update({kind: count for kind, count in wire.fault_counts.items() if kind in FRAME_FAULTS})
        result.lasted_s = self._now_s
        result.took_s = time.perf_counter() - began_s
        return result

    # The clock.

    def _tick(self) -> None:
        host_due_s = self._host.next_due_s(self._now_s)
        if host_due_s is not None:
            host_due_s = max(host_due_s, self._wire_to_device.free_at_s)
        dues = [self._device_due_s, self._replug_at_s]
        if self._every_s and not self._is_calm:
            dues.append(self._send_at_s)
        for due_s in (host_due_s, self._wire_to_device.next_due_s, self._wire_to_host.next_due_s):
            if due_s is not None:
                dues.append(due_s)
        if not self._is_calm and self._outages.next_s is not None:
            dues.append(self._outages.next_s)
        self._now_s = now_s = max(self._now_s, min(dues))
        if not self._is_calm:
            for outage in self._outages.due(now_s):
                self._interrupt(outage)
        if self._replug_at_s <= now_s:
            self._replug_at_s = math.inf
            self._start_device()
        if self._every_s and self._send_at_s <= now_s and not self._is_calm:
            self._send_timed()
        self._device_turn()
        self._host_turn()
        if self._every_s:
            self._note_arrivals()

    def _device_turn(self) -> None:
        pieces, device, now_s = self._wire_to_device.read(self._now_s), self._device, self._now_s
        if device is None or not (pieces or self._device_due_s <= now_s):
            return
        ticks = _ticks(now_s)
        for piece in pieces:
            device.link.receive(piece, ticks)
        if not self._is_calm and not self._every_s:
            while device.send_numbered(self._device_number):
                self._device_number += 1
        device.link.step(ticks)
        self._device_due_s = now_s + DEVICE_LOOP_S
        outbox = _Port()
        device.link.outbox.write_to(outbox)
        incarnation = (device.link.session, device.boot_id)
        self._to_host.check_acknowledged(incarnation, device.acknowledged)
        if outbox.data:
            self.result.frames += self._to_host.note_written(
                outbox.data, device.boot_id, self._to_device, device.boot_id
            )
            self._wire_to_host.write(outbox.data, now_s)

    def _host_turn(self) -> None:
        host, now_s = self._host, self._now_s
        for piece in self._wire_to_host.read(now_s):
            for message in host.receive(piece, now_s):
                if isinstance(message, Welcome):
                    self._linked_boot = message.boot_id
                    incarnation = (host.session, message.boot_id)
                    self._to_host.begin(incarnation, incarnation)
                elif isinstance(message, SensorReport | ButtonReport | FaultReport):
                    self._to_host.give(*encode_message(message))
        if host.state is LinkState.LINKED and not self._is_calm and not self._every_s:
            self._fill_link()
        # As the connection does: no new output before the last is written.
        written = host.outgoing(now_s) if self._wire_to_device.free_at_s <= now_s else b""
        self._to_device.check_acknowledged((host.session, self._linked_boot), host.acknowledged)
        if written:
            self.result.frames += self._to_device.note_written(written, 0, self._to_host, self._linked_boot)
            if self._device is not None:
                self._wire_to_device.write(written, now_s)
        if host.state is LinkState.LOST and host.lost_because is not None:
            self.result.losses[host.lost_because.value] += 1
            self._begin_session()

    def _fill_link(self) -> None:
        """Queue a sound or light frames of all sizes; only the newest of each kind waits, so this fills the link."""
        if self._host.is_settled or self._rng.random() < _SENDS_SHARE:
            self._number += 1
            self._host.send(numbered_sound(self._number))
        if self._rng.random() < _LIGHTS_SHARE:
            self._send_lights()

    def _send_lights(self) -> None:
        self._number += 1
        self._newest_lights = self._number
        length = _MOST_LIGHT_BYTES if self._rng.random() < _LONG_SHARE else _MOST_FILLER
        self._host.send(numbered_lights(self._number, self._rng.randbytes(self._rng.randrange(length))))

    def _send_timed(self) -> None:
        """Send a light frame one way and a message the other, to measure their latencies."""
        self._send_at_s = self._now_s + self._every_s * (0.5 + self._rng.random())
        if self._host.state is LinkState.LINKED:
            self._send_lights()
            self._in_flight[TO_DEVICE].append((self._newest_lights, self._now_s))
        if self._device is not None and self._device.send_numbered(self._device_number):
            self._in_flight[TO_HOST].append((self._device_number, self._now_s))
            self._device_number += 1
            self._device_due_s = self._now_s

    def _note_arrivals(self) -> None:
        """Record latencies; a light frame has arrived when it or a newer one is shown."""
        for ledger in (self._to_device, self._to_host):
            under_way = self._in_flight[ledger.name]
            while under_way and under_way[0][0] <= ledger.newest_number:
                self.result.latencies_s[ledger.name].append(self._now_s - under_way.popleft()[1])

    # Interruptions.

    def _interrupt(self, outage: Outage) -> None:
        if self._device is None:
            return
        self.result.struck[outage.value] += 1
        match outage:
            case Outage.SILENCE:
                for wire in (self._wire_to_device, self._wire_to_host):
                    wire.be_silent(self._now_s + self._faults.silence_s)
            case Outage.RESET:
                self._start_device()
            case Outage.UNPLUG:
                self._device = None
                self._device_due_s = math.inf
                self._replug_at_s = self._now_s + self._faults.unplugged_s
                for wire in (self._wire_to_device, self._wire_to_host):
                    wire.cut()

    def _start_device(self) -> None:
        self._boots += 1
        self._wire_to_device.drop()
        self._device = _DeviceEnd(self._to_device, self._rng, self._boots, self._now_s)
        self._device_due_s = self._now_s
        self._wire_to_host.garbage(self._faults.garbage_bytes, self._now_s)

    def _begin_session(self) -> None:
        session = self._rng.randrange(1, 1 << 16)
        while session in self._sessions:
            session = self._rng.randrange(1, 1 << 16)
        self._sessions.add(session)
        self._host.begin(self._now_s, session)
        self.result.sessions += 1

    def _calm_down(self) -> None:
        """Go on without faults: everything must arrive, and the newest lights must be shown."""
        self._is_calm = True
        for wire in (self._wire_to_device, self._wire_to_host):
            wire.mend()
        until_s = self._now_s + _CALM_S
        while self._now_s < until_s:
            self._tick()
        session = self._host.session
        if self._host.state is not LinkState.LINKED or self._device is None or self._device.link.session != session:
            self._to_device.report(f"no link {_CALM_S:g} s after the last fault")
            return
        incarnation = (session, self._device.boot_id)
        if self._linked_boot != self._device.boot_id:
            self._to_device.report(f"linked with boot {self._linked_boot}, the device is {incarnation}")
        self._to_device.check_everything_given((session, 0), incarnation)
        self._to_host.check_everything_given(incarnation, incarnation)
        if self._to_device.newest_number != self._newest_lights:
            shown = self._to_device.newest_number
            self._to_device.report(f"the lights show frame {shown}; the newest is {self._newest_lights}")


class _Port(Board):
    """Accepts all output of the device's link."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: memoryview) -> int:
        self.data = bytes(data)
        return len(data)


def _ticks(now_s: float) -> int:
    return round(now_s * 1000) & TICKS_MASK
