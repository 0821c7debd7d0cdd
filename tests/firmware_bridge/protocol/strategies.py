"""Any message, packet or bytes that could go over the wire."""

from hypothesis import strategies as st

from firmware_bridge.protocol.messages import (
    ButtonReport,
    Configure,
    FaultReport,
    Hello,
    Leave,
    LightFrame,
    Log,
    Message,
    Ping,
    Pong,
    Refused,
    Restarted,
    SensorReport,
    Snapshot,
    Sound,
    SwitchChange,
    Tone,
    Welcome,
)
from firmware_bridge.protocol.packets import Kind, Packet, packet_frame

u8 = st.integers(0, 0xFF)
u16 = st.integers(0, 0xFFFF)
u32 = st.integers(0, 0xFFFFFFFF)
texts = (
    st.text(max_size=50)
    .filter(lambda text: len(text.encode("utf-8", "replace")) <= 200)
    .map(lambda text: text.encode("utf-8", "replace").decode())
)
colours = st.one_of(
    st.binary(max_size=1020).map(lambda raw: raw[: len(raw) - len(raw) % 3]),
    st.dictionaries(st.integers(0, 339), st.binary(min_size=3, max_size=3), max_size=40).map(
        lambda lit: b"".join(lit.get(light, bytes(3)) for light in range(max(lit, default=-1) + 1))
    ),
)


@st.composite
def sensor_reports(draw: st.DrawFn) -> SensorReport:
    """A report of 0 to 200 switches."""
    count = draw(st.integers(0, 200))
    bits = st.lists(st.booleans(), min_size=count, max_size=count).map(tuple)
    changes = st.builds(SwitchChange, st.integers(0, max(0, count - 1)), st.booleans(), u16)
    some = st.lists(changes, max_size=12 if count else 0).map(tuple)
    return SensorReport(draw(u32), draw(bits), draw(bits), draw(some))


device_messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Welcome, u8, st.tuples(u8, u8, u8), u32, u32, u16, u8, u16, u16, u8, u8, u32, u8, texts),
    st.builds(Refused, u8, u8, texts),
    st.builds(Restarted, u32),
    st.builds(Pong, u32, u32),
    st.builds(Log, u8, u16, u32, texts),
    sensor_reports(),
    st.builds(ButtonReport, u16, u8, u8, u32, u16),
    st.builds(FaultReport, u8, u16, texts),
)
host_messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Hello, u8, u8),
    st.builds(Ping, u32),
    st.builds(LightFrame, colours).map(LightFrame.trimmed),
    st.builds(Sound, st.lists(st.builds(Tone, u16, u16), max_size=20).map(tuple)),
    st.builds(Configure, u16, u16, u16, u8, u16, u16),
    st.just(Snapshot()),
    st.just(Leave()),
)
messages = st.one_of(device_messages, host_messages)
packets = st.builds(Packet, u8, u16, u16, u16, st.binary(max_size=1024))
zeroish = st.lists(st.sampled_from([0, 0, 0, 1, 2, 254, 255]), max_size=1035).map(bytes)


@st.composite
def chunks(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The same bytes in pieces."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def damaged_streams(draw: st.DrawFn) -> bytes:
    """Frames with what a bad cable makes of them."""
    data = bytearray()
    small = st.builds(Packet, st.sampled_from(list(Kind)), u16, u16, u16, st.binary(max_size=40))
    for packet in draw(st.lists(small, max_size=6)):
        frame = bytearray(packet_frame(packet))
        match draw(st.sampled_from(["whole", "whole", "flip", "cut", "begin", "garbage"])):
            case "flip":
                frame[draw(st.integers(0, len(frame) - 1))] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del frame[draw(st.integers(0, len(frame) - 1)) :]
            case "begin":
                del frame[: draw(st.integers(0, len(frame) - 1))]
            case "garbage":
                frame += draw(st.binary(max_size=30))
        data += frame
    return bytes(data)
