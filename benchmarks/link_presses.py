"""Buttons pressed on the virtual board, whose contacts bounce, over a bad wire, in virtual time: is each told once?

The whole firmware runs: debouncing, its queue of presses, and telling them again when a session ends unacknowledged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from benchmarks.link_exchange import wire_faults
from benchmarks.link_serial import pin_map
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.messages import ButtonReport
from firmware_bridge.protocol.states import LinkState
from simulator.microcontroller.stepped import SteppedMicrocontroller

PRESSED, RELEASED = 1, 3
_BUTTONS = 3
_SHORTEST_S, _LONGEST_S = 0.04, 0.15
_REST_S = 0.05
_FAREWELL_S = 5.0
_TOLD_EVERY = 50


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


def press_buttons(seed: int, count: int, share: float, told: Callable[[int], None] = lambda _: None) -> Pressed:
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
                until_s = now_s + _FAREWELL_S
            if len(touched_s) % _TOLD_EVERY == 0:
                told(_TOLD_EVERY)
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
