"""A device as simple as the protocol allows, and a bad wire, both in virtual time."""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field

from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import (
    ButtonReport,
    LightFrame,
    Message,
    Ping,
    Pong,
    Restarted,
    SensorReport,
    Welcome,
)
from firmware_bridge.protocol.packets import Kind, Packet, PacketReader, is_sequenced, packet_frame
from firmware_bridge.protocol.status import LinkState, LossCause

WINDOW = 4


@dataclass(frozen=True)
class Faults:
    """How often a frame meets what; each a probability, but the delay and the speed."""

    lose: float = 0.0
    flip: float = 0.0
    repeat: float = 0.0
    split: float = 0.0
    garbage: float = 0.0
    delay_s: float = 0.0
    bytes_per_s: float = 1e9


class Wire:
    """One direction of a wire: keeps the order, but for repeats, which come when they like."""

    def __init__(self, faults: Faults, chance: random.Random) -> None:
        self.faults = faults
        self.is_cut = False
        self._chance = chance
        self._arrivals: list[tuple[float, int, bytes]] = []
        self._number = 0
        self._last_s = 0.0

    def send(self, frames: list[bytes], now_s: float) -> None:
        """Send frames."""
        for frame in frames:
            self._send(frame, now_s)

    def _send(self, frame: bytes, now_s: float) -> None:
        chance, faults = self._chance, self.faults
        if self.is_cut:
            return
        copies = 1 + (chance.random() < faults.repeat)
        for copy in range(copies):
            if chance.random() < faults.lose:
                continue
            data = bytearray(frame)
            if chance.random() < faults.flip:
                for _ in range(chance.randrange(1, 4)):
                    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            if chance.random() < faults.garbage:
                data = bytearray(chance.randbytes(chance.randrange(1, 20))) + data
            delay_s = 0.001 + chance.random() * faults.delay_s
            takes_s = len(data) / faults.bytes_per_s
            if copy:
                self._arrive(now_s + delay_s * 5 + takes_s, bytes(data))
                continue
            self._last_s = max(self._last_s + takes_s, now_s + delay_s + takes_s)
            cut = chance.randrange(len(data)) if chance.random() < faults.split else len(data)
            self._arrive(self._last_s, bytes(data[:cut]))
            if cut < len(data):
                self._last_s += chance.random() * faults.delay_s
                self._arrive(self._last_s, bytes(data[cut:]))

    def _arrive(self, at_s: float, data: bytes) -> None:
        self._number += 1
        heapq.heappush(self._arrivals, (at_s, self._number, data))

    @property
    def due_s(self) -> float | None:
        """When something comes out."""
        return self._arrivals[0][0] if self._arrivals else None

    def read(self, now_s: float) -> bytes:
        """What came out by now."""
        data = b""
        while self._arrivals and self._arrivals[0][0] <= now_s:
            data += heapq.heappop(self._arrivals)[2]
        return data

    def drop_all(self) -> None:
        """Nothing that is on the wire arrives any more."""
        self._arrivals.clear()

    def cut(self) -> None:
        """Nothing arrives any more, until it is mended."""
        self.is_cut = True
        self.drop_all()

    def no_late_repeats(self) -> None:
        """Forget repeats that would come after what is said from now on: no wire lets a byte overtake another."""
        self._arrivals = [arrival for arrival in self._arrivals if arrival[0] <= self._last_s]
        heapq.heapify(self._arrivals)

    def mend(self) -> None:
        """It works again."""
        self.is_cut = False


@dataclass
class Waiting:
    """A message of the peer that isn't acknowledged yet."""

    kind: Kind
    payload: bytes
    message: Message


@dataclass
class ModelPeer:
    """A device: takes what is next, acknowledges it, and resends all after 60 ms."""

    boot_id: int = 1
    started_s: float = 0.0
    session: int = 0
    expected: int = 0
    base: int = 0
    outstanding: deque[Waiting] = field(default_factory=deque)
    waiting: deque[Waiting] = field(default_factory=deque)
    due_s: float | None = None
    wait_s: float = 0.06
    is_silent: bool = False
    shown: LightFrame | None = None
    delivered: dict[int, list[Message]] = field(default_factory=dict)
    acknowledged: list[Message] = field(default_factory=list)
    reader: PacketReader = field(default_factory=PacketReader)
    largest_payload: int = 1024
    window: int = 8
    versions: tuple[int, int] = (1, 1)
    out: list[Packet] = field(default_factory=list)

    def reset(self, now_s: float) -> None:
        """Start anew: everything is forgotten."""
        self.boot_id += 1
        self.started_s = now_s
        self.session = self.expected = 0
        self.outstanding.clear()
        self.waiting.clear()
        self.due_s = None
        self.shown = None
        self.reader = PacketReader()
        self.out = [Packet(Kind.RESTARTED, payload=encode_message(Restarted(self.boot_id))[1])]

    def time_ms(self, now_s: float) -> int:
        """The device's clock."""
        return round((now_s - self.started_s) * 1000) % (1 << 32)

    def tell(self, message: Message) -> None:
        """Say a sequenced message when there is room."""
        self.waiting.append(Waiting(*encode_message(message), message))

    def receive(self, data: bytes, now_s: float) -> None:
        """Take bytes."""
        for packet in self.reader.feed(data):
            if self.is_silent:
                continue
            if packet.kind == Kind.HELLO:
                self._hello(packet, now_s)
            elif packet.session != self.session or not self.session:
                self._say(Restarted(self.boot_id), session=0)
            else:
                self._take(packet, now_s)

    def _hello(self, packet: Packet, now_s: float) -> None:
        if packet.session != self.session:
            told = [one for one in (*self.outstanding, *self.waiting) if isinstance(one.message, ButtonReport)]
            self.session, self.expected, self.base = packet.session, 0, 0
            self.outstanding.clear()
            self.waiting.clear()
            self.due_s = None
            self.tell(SensorReport(self.time_ms(now_s), (False,), (False,)))
            self.waiting.extend(told)
        elif self.delivered.get(self.session):
            return
        self._say(
            Welcome(
                version=1,
                firmware=(1, 0, 0),
                boot_id=self.boot_id,
                time_ms=self.time_ms(now_s),
                largest_payload=self.largest_payload,
                window=self.window,
                lights=64,
                switches=1,
                buttons=1,
                buzzer=0,
                pin_map_checksum=0,
                reset_cause=0,
                board="model",
            )
        )

    def _take(self, packet: Packet, now_s: float) -> None:
        arrived = (packet.acknowledged - self.base) % 65_536
        if 0 < arrived <= len(self.outstanding):
            self.acknowledged += [self.outstanding.popleft().message for _ in range(arrived)]
            self.base = packet.acknowledged
            self.wait_s = 0.06
            self.due_s = now_s + self.wait_s if self.outstanding else None
        if packet.kind == Kind.MISSING:
            self._resend(now_s)
        elif packet.kind == Kind.PING:
            ping = decode_message(packet.kind, packet.payload)
            assert isinstance(ping, Ping)
            self._say(Pong(ping.token, self.time_ms(now_s)))
        elif is_sequenced(packet.kind):
            ahead = (packet.sequence - self.expected) % 65_536
            if ahead == 0:
                self.expected = (self.expected + 1) % 65_536
                message = decode_message(packet.kind, packet.payload)
                self.delivered.setdefault(self.session, []).append(message)
                if isinstance(message, LightFrame):
                    self.shown = message
            self.out.append(Packet(Kind.MISSING if 0 < ahead < 32_768 else Kind.ACKNOWLEDGED, self.session))

    def _say(self, message: Message, session: int | None = None) -> None:
        kind, payload = encode_message(message)
        self.out.append(Packet(kind, self.session if session is None else session, payload=payload))

    def _resend(self, now_s: float) -> None:
        for number, one in enumerate(self.outstanding):
            self.out.append(Packet(one.kind, self.session, (self.base + number) % 65_536, 0, one.payload))
        self.due_s = now_s + self.wait_s if self.outstanding else None

    def next_due_s(self, now_s: float) -> float | None:
        """When it has something to say."""
        if self.is_silent:
            return None
        may_send = self.session and self.waiting and len(self.outstanding) < WINDOW
        return now_s if self.out or may_send else self.due_s

    def outgoing(self, now_s: float) -> list[bytes]:
        """Frames to send."""
        if self.is_silent:
            self.out.clear()
            return []
        if self.due_s is not None and now_s >= self.due_s:
            self.wait_s = min(1.0, 2 * self.wait_s)
            self._resend(now_s)
        while self.session and self.waiting and len(self.outstanding) < WINDOW:
            one = self.waiting.popleft()
            number = (self.base + len(self.outstanding)) % 65_536
            self.outstanding.append(one)
            self.out.append(Packet(one.kind, self.session, number, 0, one.payload))
            self.due_s = self.due_s or now_s + self.wait_s
        frames = [
            packet_frame(Packet(one.kind, one.session, one.sequence, self.expected if one.session else 0, one.payload))
            for one in self.out
        ]
        self.out.clear()
        return frames


class Table:
    """A host, a device and the wire between them; whoever is due acts, and nothing else takes time."""

    def __init__(self, faults: Faults = Faults(), seed: int = 0) -> None:
        chance = random.Random(seed)
        self.now_s = 100.0
        self.host = HostLink()
        self.peer = ModelPeer(started_s=self.now_s)
        self.to_device = Wire(faults, chance)
        self.to_host = Wire(faults, chance)
        self.received: list[tuple[int, Message]] = []
        self.sent: dict[int, list[Packet]] = {}
        self.losses: list[LossCause] = []
        self._checked: dict[int, int] = {}
        self._chance = chance
        self._watch = PacketReader()

    def begin(self) -> None:
        """Begin a session, as whoever owns the port does."""
        session = self._chance.randrange(1, 65_536)
        self.host.begin(self.now_s, session + (session == self.host.session))

    def step(self, until_s: float) -> bool:
        """Let what is due at the next moment happen; ``False`` when nothing is due before ``until_s``."""
        due = [
            self.host.next_due_s(self.now_s),
            self.peer.next_due_s(self.now_s),
            self.to_host.due_s,
            self.to_device.due_s,
        ]
        next_s = min((moment for moment in due if moment is not None), default=until_s)
        if next_s >= until_s:
            self.now_s = until_s
            return False
        self.now_s = max(self.now_s, next_s)
        self._act()
        return True

    def _act(self) -> None:
        self.peer.receive(self.to_device.read(self.now_s), self.now_s)
        self.to_host.send(self.peer.outgoing(self.now_s), self.now_s)
        session = self.host.session
        messages = self.host.receive(self.to_host.read(self.now_s), self.now_s)
        self.received += [(session, message) for message in messages]
        data = self.host.outgoing(self.now_s)
        packets = self._watch.feed(data)
        for packet in packets:
            told = self.sent.setdefault(session, [])
            if is_sequenced(packet.kind) and packet.sequence == len(told) % 65_536:
                told.append(packet)
        self.to_device.send([packet_frame(packet) for packet in packets], self.now_s)
        if self.host.state is LinkState.LOST:
            assert self.host.lost_because is not None
            self.losses.append(self.host.lost_because)
            self.begin()
        self.check()

    def check(self) -> None:
        """What must hold at every moment, whatever the wire does."""
        session = self.host.session
        arrived = self.peer.delivered.get(session, [])
        sent = self.sent.get(session, [])
        for number in range(self._checked.get(session, 0), len(arrived)):
            message = decode_message(sent[number].kind, sent[number].payload)
            assert arrived[number] == message, "delivered wrong, or out of order"
        self._checked[session] = len(arrived)
        assert self.host.acknowledged <= len(arrived), "acknowledged, but not delivered"

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        until_s = self.now_s + seconds
        for _ in range(20_000):
            if not self.step(until_s):
                return
        raise AssertionError("the time does not pass: somebody is always due")
