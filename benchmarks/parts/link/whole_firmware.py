"""The whole firmware in virtual time: button presses over a bad wire, light frames on a slow line.

Buttons' contacts bounce, and each press must be told once. The slow line is a UART of a known rate on which nothing
goes wrong; then nothing needs to be sent again, however long the line takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from benchmarks.parts.link.exchange import wire_faults
from benchmarks.parts.link.overhead import pin_map
from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import ButtonReport, LightFrame
from firmware_bridge.protocol.status import LinkState
from simulator.microcontroller.faults import WireFaults
from simulator.microcontroller.stepped import SteppedMicrocontroller

BAUDS = (9_600, 19_200, 38_400, 115_200)
LIGHTS = (64, 300)
_SAYS_EVERY_S = 0.05
_FAREWELL_S = 5.0
_BITS_A_BYTE = 10
_LATENCY_S = 0.001


@dataclass
class SlowLine:
    """What became of light frames on one line.

    Attributes:
        baud: bits a second, ten a byte.
        lights: lit ones in each frame.
        said: frames that were to be shown.
        shown: frames that were; the newest takes the place of those that wait.
        took_s: from being said to being shown, in virtual seconds.
        again: packets that the host sent again.
        sessions: how many were begun.
        is_last_shown: whether the last frame is what the lights show in the end.
    """

    baud: int
    lights: int
    said: int = 0
    shown: int = 0
    took_s: list[float] = field(default_factory=list)
    again: int = 0
    sessions: int = 0
    is_last_shown: bool = False

    @property
    def met(self) -> bool:
        """Whether the newest frame came, in one session, with nothing sent again."""
        return self.is_last_shown and self.sessions == 1 and self.again == 0


def show_lights(baud: int, lights: int, seconds: float, seed: int = 1) -> SlowLine:
    """Say twenty light frames a second for so many virtual seconds, over a line of ``baud`` bits a second."""
    bytes_per_s = baud / _BITS_A_BYTE
    board = SteppedMicrocontroller(pin_map(), WireFaults(bytes_per_s=bytes_per_s, latency_s=_LATENCY_S), seed)
    link, result = HostLink(), SlowLine(baud, lights)
    link.use_line(SerialLine(bytes_per_s))
    said_s: dict[bytes, float] = {}
    newest = b""
    now_s = says_at_s = 0.0
    while now_s < seconds + _FAREWELL_S:
        if link.state in (LinkState.IDLE, LinkState.LOST):
            result.sessions += 1
            link.begin(now_s, result.sessions)
        link_due_s = link.next_due_s(now_s)
        dues = [board.next_due_s, seconds + _FAREWELL_S, says_at_s if says_at_s < seconds else seconds + _FAREWELL_S]
        now_s = max(now_s, min([*dues, link_due_s] if link_due_s is not None else dues))
        if says_at_s <= now_s < seconds:
            result.said += 1
            newest = bytes((1 + result.said % 255, 1 + result.said // 255, 7)) * lights
            said_s[newest] = now_s
            link.send(LightFrame(newest))
            says_at_s += _SAYS_EVERY_S
        board.advance(now_s)
        shown = board.board.shown[-1].colours[: 3 * lights]
        if (since_s := said_s.pop(shown, None)) is not None:
            result.shown += 1
            result.took_s.append(board.board.shown[-1].time_s - since_s)
        for piece in board.take_to_host(now_s):
            link.receive(piece, now_s)
        data = link.outgoing(now_s)
        if data:
            board.from_host(data, now_s)
    result.again = link.statistics.counts.resent
    result.is_last_shown = board.board.shown[-1].colours[: 3 * lights] == newest
    return result


PRESSED, RELEASED = 1, 3
_BUTTONS = 3
_SHORTEST_S, _LONGEST_S = 0.04, 0.15
_REST_S = 0.05
_PRESS_FAREWELL_S = 5.0


@dataclass
class Pressed:
    """What became of presses; ``took_s`` is from the first touch to the host, debouncing included, in virtual s."""

    seed: int
    pressed: list[tuple[int, int]] = field(default_factory=list)
    told: list[tuple[int, int]] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)
    sessions: int = 0

    @property
    def met(self) -> bool:
        """Whether each press and release was told once and in order."""
        return self.pressed == self.told


def press_buttons(seed: int, count: int, share: float) -> Pressed:
    """Press buttons that many times, one after the other, with each fault at that share."""
    board = SteppedMicrocontroller(pin_map(), wire_faults(share, with_troubles=False), seed)
    link, rng, result = HostLink(), Random(f"{seed} presses"), Pressed(seed)
    # A button that is down when the board starts counts for nothing.
    now_s, press_at_s = 0.0, 0.5
    touched_s: list[float] = []
    until_s = float("inf")
    while now_s < until_s:
        if link.state in (LinkState.IDLE, LinkState.LOST):
            result.sessions += 1
            link.begin(now_s, result.sessions)
        link_due_s = link.next_due_s(now_s)
        dues = [board.next_due_s, press_at_s if len(touched_s) < count else until_s]
        now_s = max(now_s, min([*dues, link_due_s] if link_due_s is not None else dues))
        if now_s >= press_at_s and len(touched_s) < count:
            button, held_s = rng.randrange(_BUTTONS), rng.uniform(_SHORTEST_S, _LONGEST_S)
            board.press(button, now_s, held_s)
            touched_s.append(now_s)
            result.pressed += [(button, PRESSED), (button, RELEASED)]
            press_at_s = now_s + held_s + _REST_S + rng.uniform(0.0, _LONGEST_S)
            if len(touched_s) == count:
                until_s = now_s + _PRESS_FAREWELL_S
        board.advance(now_s)
        for piece in board.take_to_host(now_s):
            for message in link.receive(piece, now_s):
                if isinstance(message, ButtonReport):
                    if message.what == PRESSED and len(result.told) // 2 < len(touched_s):
                        result.took_s.append(now_s - touched_s[len(result.told) // 2])
                    result.told.append((message.button, message.what))
        data = link.outgoing(now_s)
        if data:
            board.from_host(data, now_s)
    return result
