"""The whole firmware in virtual time, with light frames over a slow line: a UART without faults.

No frame may be said again, however slow the line is.
"""

from dataclasses import dataclass, field

from benchmarks.parts.link.overhead import pin_map
from firmware_bridge.protocol.link import HostLink, SerialLine
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
        again: states that the host said again.
        is_last_shown: whether the lights show the last frame in the end.
    """

    baud: int
    lights: int
    sent: int = 0
    shown: int = 0
    took_s: list[float] = field(default_factory=list)
    again: int = 0
    is_last_shown: bool = False

    @property
    def met(self) -> bool:
        """Whether the newest frame is shown, and none was said again."""
        return self.is_last_shown and self.again == 0


def show_lights(baud: int, lights: int, seconds: float) -> SlowLine:
    """Send twenty light frames a second for so many virtual seconds, over a line of ``baud`` bits a second."""
    bytes_per_s = baud / _BITS_A_BYTE
    board = SteppedMicrocontroller(pin_map(), WireFaults(bytes_per_s=bytes_per_s, latency_s=_LATENCY_S), seed=1)
    link, result = HostLink(), SlowLine(baud, lights)
    link.open(SerialLine(bytes_per_s))
    sent_s: dict[bytes, float] = {}
    newest = b""
    now_s = send_at_s = 0.0
    while now_s < seconds + _DRAIN_S:
        now_s = _next_s(link, board, now_s, send_at_s if send_at_s < seconds else seconds + _DRAIN_S)
        if send_at_s <= now_s < seconds:
            result.sent += 1
            newest = bytes((1 + result.sent % 255, 1 + result.sent // 255, 7)) * lights
            sent_s[newest] = now_s
            link.show(newest)
            send_at_s += _SEND_EVERY_S
        board.advance(now_s)
        shown = board.board.shown[-1].colours[: 3 * lights]
        if (since_s := sent_s.pop(shown, None)) is not None:
            result.shown += 1
            result.took_s.append(board.board.shown[-1].time_s - since_s)
        _exchange(link, board, now_s)
    result.again = link.statistics.again
    result.is_last_shown = board.board.shown[-1].colours[: 3 * lights] == newest
    return result


def _next_s(link: HostLink, board: SteppedMicrocontroller, now_s: float, due_s: float) -> float:
    """Return when the link or the board has something to do next, at the latest ``due_s``."""
    return max(now_s, min(board.next_due_s, due_s, link.next_due_s(now_s)))


def _exchange(link: HostLink, board: SteppedMicrocontroller, now_s: float) -> None:
    """Carry bytes both ways."""
    for piece in board.take_to_host(now_s):
        link.receive(piece, now_s)
    data = link.outgoing(now_s)
    if data:
        board.from_host(data, now_s)
