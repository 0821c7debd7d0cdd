"""The whole firmware in virtual time: button presses over a faulty link, light frames over a slow line.

Contacts bounce, and each press must be reported once. The slow line is a UART without faults; nothing may be
retransmitted, however slow it is.
"""

from dataclasses import dataclass, field
from random import Random

from benchmarks.parts.link.exchange import wire_faults
from benchmarks.parts.link.overhead import pin_map
from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import HostLink, LinkState
from firmware_bridge.protocol.messages import ButtonAction, ButtonReport, LightFrame, Message
from simulator.microcontroller.stepped import SteppedMicrocontroller
from simulator.microcontroller.wire import WireFaults

BAUDS = (9_600, 19_200, 38_400, 115_200)
LIGHTS = (64, 300)
_SEND_EVERY_S = 0.05
_DRAIN_S = 5.0
_BITS_A_BYTE = 10
_LATENCY_S = 0.001


@dataclass
class SlowLine:
    """The light frames on one line.

    Attributes:
        baud: bits a second, ten a byte.
        lights: lit lights in each frame.
        sent: frames sent.
        shown: frames shown; a newer frame replaces those that wait.
        took_s: from sending to showing, in virtual seconds.
        again: packets that the host retransmitted.
        sessions: sessions begun.
        is_last_shown: whether the lights show the last frame in the end.
    """

    baud: int
    lights: int
    sent: int = 0
    shown: int = 0
    took_s: list[float] = field(default_factory=list)
    again: int = 0
    sessions: int = 0
    is_last_shown: bool = False

    @property
    def met(self) -> bool:
        """Whether the newest frame is shown, in one session, without retransmission."""
        return self.is_last_shown and self.sessions == 1 and self.again == 0


def show_lights(baud: int, lights: int, seconds: float) -> SlowLine:
    """Send twenty light frames a second for so many virtual seconds, over a line of ``baud`` bits a second."""
    bytes_per_s = baud / _BITS_A_BYTE
    board = SteppedMicrocontroller(pin_map(), WireFaults(bytes_per_s=bytes_per_s, latency_s=_LATENCY_S), seed=1)
    link, result = HostLink(), SlowLine(baud, lights)
    link.use_line(SerialLine(bytes_per_s))
    sent_s: dict[bytes, float] = {}
    newest = b""
    now_s = send_at_s = 0.0
    while now_s < seconds + _DRAIN_S:
        if link.state in (LinkState.IDLE, LinkState.LOST):
            result.sessions += 1
            link.begin(now_s, result.sessions)
        now_s = _next_s(link, board, now_s, send_at_s if send_at_s < seconds else seconds + _DRAIN_S)
        if send_at_s <= now_s < seconds:
            result.sent += 1
            newest = bytes((1 + result.sent % 255, 1 + result.sent // 255, 7)) * lights
            sent_s[newest] = now_s
            link.send(LightFrame(newest))
            send_at_s += _SEND_EVERY_S
        board.advance(now_s)
        shown = board.board.shown[-1].colours[: 3 * lights]
        if (since_s := sent_s.pop(shown, None)) is not None:
            result.shown += 1
            result.took_s.append(board.board.shown[-1].time_s - since_s)
        _exchange(link, board, now_s)
    result.again = link.statistics.counts.resent
    result.is_last_shown = board.board.shown[-1].colours[: 3 * lights] == newest
    return result


_BUTTONS = 3
_SHORTEST_S, _LONGEST_S = 0.04, 0.15
_REST_S = 0.05
_PRESS_DRAIN_S = 5.0


@dataclass
class Pressed:
    """Presses and releases made and reported; ``took_s`` is from first contact to host, in virtual seconds."""

    seed: int
    pressed: list[tuple[int, int]] = field(default_factory=list)
    reported: list[tuple[int, int]] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)
    sessions: int = 0

    @property
    def met(self) -> bool:
        """Whether each press and release was reported once and in order."""
        return self.pressed == self.reported


def press_buttons(seed: int, count: int, share: float) -> Pressed:
    """Press ``count`` buttons, one after the other, with each fault at that share."""
    board = SteppedMicrocontroller(pin_map(), wire_faults(share, with_outages=False), seed)
    link, rng, result = HostLink(), Random(f"{seed} presses"), Pressed(seed)
    # A button that is down when the board starts is not reported.
    now_s, press_at_s = 0.0, 0.5
    touched_s: list[float] = []
    until_s = float("inf")
    while now_s < until_s:
        if link.state in (LinkState.IDLE, LinkState.LOST):
            result.sessions += 1
            link.begin(now_s, result.sessions)
        now_s = _next_s(link, board, now_s, press_at_s if len(touched_s) < count else until_s)
        if now_s >= press_at_s and len(touched_s) < count:
            button, held_s = rng.randrange(_BUTTONS), rng.uniform(_SHORTEST_S, _LONGEST_S)
            board.press(button, now_s, held_s)
            touched_s.append(now_s)
            result.pressed += [(button, ButtonAction.PRESSED), (button, ButtonAction.RELEASED)]
            press_at_s = now_s + held_s + _REST_S + rng.uniform(0.0, _LONGEST_S)
            if len(touched_s) == count:
                until_s = now_s + _PRESS_DRAIN_S
        board.advance(now_s)
        for message in _exchange(link, board, now_s):
            if isinstance(message, ButtonReport):
                if message.what == ButtonAction.PRESSED and len(result.reported) // 2 < len(touched_s):
                    result.took_s.append(now_s - touched_s[len(result.reported) // 2])
                result.reported.append((message.button, message.what))
    return result


def _next_s(link: HostLink, board: SteppedMicrocontroller, now_s: float, due_s: float) -> float:
    """Return when the link or the board has something to do next, at the latest ``due_s``."""
    link_due_s = link.next_due_s(now_s)
    return max(now_s, min(board.next_due_s, due_s, due_s if link_due_s is None else link_due_s))


def _exchange(link: HostLink, board: SteppedMicrocontroller, now_s: float) -> list[Message]:
    """Carry bytes both ways; return the messages that arrive at the host."""
    messages = [message for piece in board.take_to_host(now_s) for message in link.receive(piece, now_s)]
    data = link.outgoing(now_s)
    if data:
        board.from_host(data, now_s)
    return messages
