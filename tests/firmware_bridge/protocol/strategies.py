"""Any message or bytes that could go over the wire."""

from hypothesis import strategies as st

from firmware_bridge.protocol.messages import (
    MOST_SWITCHES,
    BoardSettings,
    BoardState,
    ButtonState,
    HostState,
    Message,
    Tone,
    Wanted,
    Welcome,
    encode_packet,
)
from firmware_bridge.protocol.packets import encode_frame

u8 = st.integers(0, 0xFF)
u16 = st.integers(0, 0xFFFF)
u32 = st.integers(0, 0xFFFFFFFF)
texts = st.text(max_size=50).map(lambda text: text.encode("utf-8", "replace").decode())


def trimmed(colours: bytes) -> bytes:
    """Whole lights, without the dark ones at the end."""
    colours = colours[: len(colours) - len(colours) % 3]
    return colours[: 3 * ((len(colours.rstrip(b"\0")) + 2) // 3)]


colours = st.one_of(
    st.none(),
    st.binary(max_size=1020).map(trimmed),
    st.dictionaries(st.integers(0, 339), st.binary(min_size=3, max_size=3), max_size=40).map(
        lambda lit: trimmed(b"".join(lit.get(light, bytes(3)) for light in range(max(lit, default=-1) + 1)))
    ),
)
wanted = st.builds(
    Wanted,
    u16,
    st.builds(BoardSettings, u16, u16, u8, u16),
    colours,
    u16,
    st.lists(st.builds(Tone, u16, u16), max_size=32).map(tuple),
)
host_states = st.builds(
    HostState, u32, u16, st.lists(u16, max_size=8).map(tuple), st.booleans(), st.one_of(st.none(), wanted)
)


@st.composite
def board_states(draw: st.DrawFn) -> BoardState:
    """A state of 0 to 200 switches."""
    count = draw(st.integers(0, 200))
    bits = st.lists(st.booleans(), min_size=count, max_size=count).map(tuple)
    buttons = st.lists(st.builds(ButtonState, u16, u16, u16), max_size=8).map(tuple)
    flags = st.booleans()
    return draw(
        st.builds(BoardState, u32, u32, u16, u16, u16, flags, flags, buttons, st.just(draw(bits)), st.just(draw(bits)))
    )


welcomes = st.builds(
    Welcome, st.tuples(u8, u8, u8), u32, u16, st.integers(0, MOST_SWITCHES), u8, u8, u32, u8, texts, texts
)
messages: st.SearchStrategy[Message] = st.one_of(host_states, board_states(), welcomes)
packets = st.binary(min_size=2, max_size=1276)


@st.composite
def damaged_streams(draw: st.DrawFn) -> bytes:
    """Frames with what a bad cable makes of them."""
    data = bytearray()
    for message in draw(st.lists(messages, max_size=6)):
        frame = bytearray(encode_frame(encode_packet(message)))
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
