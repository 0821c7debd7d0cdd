"""The host's end against a device that says anything at all, rule by rule."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.link import WINDOW, HostLink, LinkState
from firmware_bridge.protocol.messages import Configure, Leave, LightFrame, Message, Snapshot, Sound, Welcome
from firmware_bridge.protocol.packets import Kind, Packet, PacketReader, is_sequenced, packet_frame
from tests.effort import cases
from tests.firmware_bridge.protocol import strategies

sendable = st.one_of(
    st.builds(LightFrame, st.binary(max_size=30).map(lambda raw: raw[: len(raw) - len(raw) % 3])),
    st.builds(Configure, silence_ms=strategies.u16),
    st.sampled_from([Sound(()), Snapshot(), Leave()]),
)
near = st.integers(-3, 12)


class HostLinkMachine(RuleBasedStateMachine):
    """Whatever comes: nothing raises, nothing grows, nobody is busy, and only what may be acknowledged is."""

    def __init__(self) -> None:
        super().__init__()
        self.link = HostLink()
        self.now_s = 0.0
        self.session = 0
        self.reader = PacketReader()
        self.numbers: set[int] = set()
        self.handed_on = 0

    @initialize()
    def begin_at_first(self) -> None:
        self.begin()

    @rule()
    def begin(self) -> None:
        self.session = self.session % 65_535 + 1
        self.link.begin(self.now_s, self.session)
        self.numbers.clear()
        self.handed_on = 0
        self.act()

    @precondition(lambda self: self.link.state is LinkState.HANDSHAKING)
    @rule(window=strategies.u8, boot_id=st.integers(0, 2), largest=st.sampled_from([5, 1024]))
    def welcome(self, window: int, boot_id: int, largest: int) -> None:
        welcome = Welcome(1, (0, 0, 0), boot_id, 0, largest, window, 1, 1, 1, 0, 0, 0, "")
        kind, payload = encode_message(welcome)
        assert self.take(Packet(kind, self.session, payload=payload)) == [welcome]
        assert self.link.state is LinkState.LINKED

    @rule(message=sendable)
    def send(self, message: LightFrame | Configure | Sound | Snapshot | Leave) -> None:
        self.link.send(message)

    @rule(
        kind=st.one_of(st.sampled_from(list(Kind)), strategies.u8),
        session=st.sampled_from([0, 0, 0, 1]),
        sequence=near,
        expected=near,
        payload=st.binary(max_size=12),
    )
    def any_packet(self, kind: int, session: int, sequence: int, expected: int, payload: bytes) -> None:
        packet = Packet(
            kind,
            (self.session + session) % 65_536,
            (self.handed_on + sequence) % 65_536,
            (self.link.acknowledged + expected) % 65_536,
            payload,
        )
        self.take(packet)

    @rule(message=strategies.device_messages, skipped=st.sampled_from([0, 0, 0, 1]))
    def a_message(self, message: Message, skipped: int) -> None:
        kind, payload = encode_message(message)
        self.take(Packet(kind, self.session, self.handed_on + skipped if is_sequenced(kind) else 0, 0, payload))

    @rule(data=st.binary(max_size=40))
    def garbage(self, data: bytes) -> None:
        self.link.receive(data + b"\x00", self.now_s)

    @rule(seconds=st.sampled_from([0.001, 0.01, 0.05, 0.3, 1.0, 2.5]))
    def wait(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        for _ in range(400):
            due_s = self.link.next_due_s(self.now_s)
            if due_s is None or due_s > until_s:
                break
            between_s = (self.now_s + due_s) / 2
            if self.now_s < between_s < due_s:
                assert self.link.outgoing(between_s) == b"", "it was not due, but sent something"
            self.now_s = due_s
            self.act()
            after_s = self.link.next_due_s(self.now_s)
            assert after_s is None or after_s > self.now_s, "it acted, and is due again at once"
        else:
            raise AssertionError("always due")
        self.now_s = until_s

    def take(self, packet: Packet) -> list[Message]:
        was_linked = self.link.state is LinkState.LINKED
        before = self.link.statistics.counts
        messages = self.link.receive(packet_frame(packet), self.now_s)
        after = self.link.statistics.counts
        dropped = after.repeated + after.after_gap + after.foreign + after.misdirected
        dropped -= before.repeated + before.after_gap + before.foreign + before.misdirected
        if was_linked and is_sequenced(packet.kind) and not dropped:
            self.handed_on += 1
        return messages

    def act(self) -> None:
        data = self.link.outgoing(self.now_s)
        assert len(data) <= (2 * WINDOW + 2) * 1042
        for packet in self.reader.feed(data):
            assert packet.session == self.session
            assert packet.acknowledged == self.handed_on % 65_536
            if is_sequenced(packet.kind):
                self.numbers.add(packet.sequence)
            else:
                assert packet.sequence == 0

    @invariant()
    def nothing_grows(self) -> None:
        assert self.link.undelivered <= WINDOW + 5

    @invariant()
    def only_what_was_sent_is_acknowledged(self) -> None:
        assert self.link.acknowledged <= len(self.numbers)

    @invariant()
    def due_is_never_in_the_past(self) -> None:
        due_s = self.link.next_due_s(self.now_s)
        assert due_s is None or due_s >= self.now_s


HostLinkMachine.TestCase.settings = settings(max_examples=cases(60), stateful_step_count=40, deadline=None)
TestHostLink = HostLinkMachine.TestCase


class LongHostLinkMachine(HostLinkMachine):
    """The same with many more steps."""


LongHostLinkMachine.TestCase.settings = settings(max_examples=400, stateful_step_count=120, deadline=None)
TestHostLinkForLong = pytest.mark.long(LongHostLinkMachine.TestCase)
