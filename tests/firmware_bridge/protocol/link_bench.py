"""A host's link, and a hand that plays the device: packets written one by one."""

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import LightFrame, Message, SensorReport, Welcome
from firmware_bridge.protocol.packets import Kind, Packet, PacketReader, packet_frame

SESSION = 4660
WELCOME = Welcome(1, (1, 0, 0), 7, 0, 1024, 8, 64, 64, 1, 0, 0, 0, "a board")
REPORT = SensorReport(5, (True,), (False,))
RED = LightFrame(b"\xff\x00\x00" * 3)


class Bench:
    """A link, and a hand that plays the device."""

    def __init__(self, welcome: Welcome | None = WELCOME, *, now_s: float = 50.0) -> None:
        self.link = HostLink()
        self.now_s = now_s
        self._reader = PacketReader()
        if welcome is not None:
            self.link.begin(now_s, SESSION)
            self.packets()
            assert self.device(welcome) == [welcome]

    def device(self, message: Message, sequence: int = 0, expected: int = 0, session: int = SESSION) -> list[Message]:
        """The device says something."""
        kind, payload = encode_message(message)
        return self.raw(Packet(kind, session, sequence, expected, payload))

    def raw(self, packet: Packet) -> list[Message]:
        """Any packet comes."""
        return self.link.receive(packet_frame(packet), self.now_s)

    def packets(self, wait_s: float = 0.0) -> list[Packet]:
        """What the link sends after so much time."""
        self.now_s += wait_s
        return self._reader.feed(self.link.outgoing(self.now_s))

    def kinds(self, wait_s: float = 0.0) -> list[tuple[Kind, int]]:
        """The kinds and sequence numbers of it."""
        return [(Kind(packet.kind), packet.sequence) for packet in self.packets(wait_s)]

    @property
    def due_in_s(self) -> float | None:
        due_s = self.link.next_due_s(self.now_s)
        return None if due_s is None else due_s - self.now_s
