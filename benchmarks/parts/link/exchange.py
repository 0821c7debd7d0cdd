"""The whole firmware and the host's end in virtual time, over a wire that is disturbed again and again.

Buttons are pressed and lights change at random, while frames are damaged, the wire falls silent, the host is replaced
by a new one, and, if asked for, the board restarts or is unplugged. Each press must be reported once, but for those
that a board forgot in its restart before any host heard of them, or that a host took just before it was killed. The
lights must be right soon after each disturbance.
"""

import math
import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from random import Random

from benchmarks.parts.link.overhead import pin_map
from firmware_bridge.protocol.link import LATE_PRESS_MS, HostLink, Pressed, SerialLine
from simulator.microcontroller.stepped import SteppedMicrocontroller
from simulator.microcontroller.wire import FRAME_FAULTS, WireFaults

LIGHTS_RIGHT_AFTER_S = 0.5
_BUTTONS = 3
_PRESS_EVERY_S = (0.3, 1.0)  # range of the pauses
_LIGHTS_EVERY_S = (0.2, 2.0)
_DISTURBED_EVERY_S = (4.0, 8.0)
_SILENCE_S = (0.1, 4.0)
_HELD_S = 0.08
_CALM_S = 2.0
_UNTOLD_S = 0.3  # in which a board learns of a taken press, however often its host must say so
_MOST_SHOWN = 20


def wire_faults(share: float) -> WireFaults:
    """Every kind of frame fault, each at that share."""
    return replace(WireFaults.every_kind(share), delay_s=0.02, latency_s=0.001, garbage_bytes=40)


@dataclass
class Exchanged:
    """The result of an exchange.

    Attributes:
        seed: of the exchange; ``again`` holds the options that repeat it.
        pressed, reported: presses made and reported; ``excused`` were forgotten by a restarting board;
            ``twice`` were reported again, since the host was killed before the board knew that they were taken.
        wrong: violations in words; ``wrong_count`` is their number.
        lights_s: from each disturbance's end, or change of the lights, until the strip was right.
        sent, said_again: states that the hosts sent, and those of them that said lights again.
        struck: faulty frames by kind of fault, and disturbances.
        lasted_s: virtual seconds; ``took_s``: real time in seconds.
    """

    seed: int
    again: str = ""
    pressed: int = 0
    reported: int = 0
    excused: int = 0
    twice: int = 0
    wrong: list[str] = field(default_factory=list)
    wrong_count: int = 0
    lights_s: list[float] = field(default_factory=list)
    sent: int = 0
    said_again: int = 0
    struck: Counter[str] = field(default_factory=Counter)
    lasted_s: float = 0.0
    took_s: float = 0.0

    def report(self, words: str) -> None:
        """Note a violation."""
        self.wrong_count += 1
        if len(self.wrong) < _MOST_SHOWN:
            self.wrong.append(words)


class Exchange:
    """An exchange: the board, its wires, and one host after the other.

    Args:
        faults: the rates of faults.
        seed: of faults, presses, lights and disturbances.
        with_restarts: whether the board also restarts and is unplugged.
    """

    def __init__(self, faults: WireFaults, seed: int, *, with_restarts: bool = False) -> None:
        self.board = SteppedMicrocontroller(pin_map(), faults, seed)
        self.result = Exchanged(seed)
        self._rng = Random(f"{seed} exchange")
        self._kinds = ("silence", "new host", *(("restart", "unplugged") if with_restarts else ()))
        self._now_s = 0.0
        self._open: list[tuple[int, float]] = []
        self._forgotten: list[tuple[int, float]] = []
        self._taken: deque[tuple[int, float]] = deque(maxlen=_BUTTONS)
        self._untold: list[int] = []
        self._colours = b""
        self._right_from_s: float | None = None
        self._next_press_s, self._next_lights_s = 1.0, 0.5
        self._next_disturbance_s, self._ends_s = 5.0, math.inf
        self._link = self._new_host()

    def run(self, seconds: float) -> Exchanged:
        """Run for so many virtual seconds, and then without disturbances until everything should have arrived."""
        began_s = time.perf_counter()
        while self._now_s < seconds:
            self._tick(seconds)
        self._next_press_s = self._next_lights_s = self._next_disturbance_s = math.inf
        # what disturbs at the end lasts as long as it was to
        calm_s = _CALM_S + (seconds if self._ends_s == math.inf else self._ends_s)
        while self._now_s < calm_s:
            self._tick(calm_s)
        for button, pressed_s in self._open:
            self.result.report(f"button {button}, pressed at {pressed_s:.3f} s, was never reported")
        if self._right_from_s is not None:
            self.result.report(f"the lights of {self._right_from_s:.3f} s were never shown")
        for wire in (self.board.to_device, self.board.to_host):
            counts = wire.fault_counts
            self.result.struck.update({kind: count for kind, count in counts.items() if kind in FRAME_FAULTS})
        self._leave_host()
        self.result.lasted_s = self._now_s
        self.result.took_s = time.perf_counter() - began_s
        return self.result

    def _tick(self, until_s: float) -> None:
        own_s = min(self._next_press_s, self._next_lights_s, self._next_disturbance_s, self._ends_s, until_s)
        self._now_s = max(self._now_s, min(own_s, self.board.next_due_s, self._link.next_due_s(self._now_s)))
        now_s = self._now_s
        self.board.advance(now_s)
        self._watch_lights()
        if now_s >= self._ends_s:
            self._end_disturbance()
        if now_s >= self._next_press_s:
            self._press()
        if now_s >= self._next_lights_s:
            self._change_lights()
        if now_s >= self._next_disturbance_s:
            self._disturb()
        for piece in self.board.take_to_host(now_s):
            for news in self._link.receive(piece, now_s):
                if isinstance(news, Pressed):
                    self._take_press(news.button)
        data = self._link.outgoing(now_s)
        if data:
            self.board.from_host(data, now_s)

    def _new_host(self) -> HostLink:
        link = HostLink()
        link.open(SerialLine())
        if self._colours:
            link.show(self._colours)
        return link

    def _leave_host(self) -> None:
        self.result.sent += self._link.statistics.sent
        self.result.said_again += self._link.statistics.again

    def _press(self) -> None:
        self._next_press_s = self._now_s + _HELD_S + self._rng.uniform(*_PRESS_EVERY_S)
        if self.board.device is None:
            return
        button = self._rng.randrange(_BUTTONS)
        self.board.press(button, self._now_s, _HELD_S)
        self._open.append((button, self._now_s))
        self.result.pressed += 1

    def _take_press(self, button: int) -> None:
        mine = next((one for one in self._open if one[0] == button), None)
        told = next((one for one in self._forgotten if one[0] == button), None)
        if mine is None and told is None and button in self._untold:
            self._untold.remove(button)
            self.result.twice += 1
            return
        self.result.reported += 1
        if mine is None and told is not None:
            # it was on the wire when the board restarted
            self._forgotten.remove(told)
            self.result.excused -= 1
            return
        if mine is None:
            self.result.report(f"button {button} was reported at {self._now_s:.3f} s, and not pressed")
            return
        self._open.remove(mine)
        self._taken.append((button, self._now_s))
        if self._now_s - mine[1] > LATE_PRESS_MS / 1000:
            self.result.report(f"button {button}, pressed at {mine[1]:.3f} s, was reported at {self._now_s:.3f} s")

    def _change_lights(self) -> None:
        self._next_lights_s = self._now_s + self._rng.uniform(*_LIGHTS_EVERY_S)
        self._colours = bytes(1 + self._rng.randrange(255) for _ in range(30))
        self._link.show(self._colours)
        self._right_from_s = self._now_s

    def _watch_lights(self) -> None:
        shown = self.board.board.shown[-1]
        if self._right_from_s is None or shown.is_waiting or shown.colours.rstrip(b"\0") != self._colours:
            return
        if self._ends_s == math.inf:
            self.result.lights_s.append(max(0.0, shown.time_s - self._right_from_s))
            self._right_from_s = None

    def _disturb(self) -> None:
        kind = self._rng.choice(self._kinds)
        self.result.struck[kind] += 1
        self._next_disturbance_s = math.inf
        self._ends_s = self._now_s + self._rng.uniform(*_SILENCE_S)
        if kind == "silence":
            for wire in (self.board.to_device, self.board.to_host):
                wire.be_silent(self._ends_s)
        elif kind == "new host":
            self._leave_host()
            self._untold = [button for button, taken_s in self._taken if self._now_s - taken_s < _UNTOLD_S]
            self._link = self._new_host()
            self._ends_s = self._now_s
        else:
            self.result.excused += len(self._open)
            self._forgotten = [one for one in self._open if kind == "restart"]
            self._open.clear()
            if kind == "restart":
                self.board.reset(self._now_s)
                self._ends_s = self._now_s
            else:
                self.board.unplug(self._now_s)

    def _end_disturbance(self) -> None:
        if self._ends_s == math.inf:
            return
        self._ends_s = math.inf
        self._next_disturbance_s = self._now_s + self._rng.uniform(*_DISTURBED_EVERY_S)
        if not self.board.is_plugged:
            self.board.replug(self._now_s)
        if self._colours:
            self._right_from_s = self._now_s
