"""The whole firmware except its pins: one pass of its loop at a time, without blocking. Pure."""

import struct

from .board import Board
from .debounce import HELD, PRESSED, ButtonDebouncer
from .events import (
    BAD_MESSAGE,
    CURRENT_LIMITED,
    LIGHT_BEYOND_STRIP,
    OVERFLOW,
    PIN_MAP,
    WATCHDOG_RESET,
    FaultQueue,
    LogQueue,
    PressQueue,
    truncated_utf8,
)
from .lights import LightFrame
from .link import LARGEST_SENT, NO_TOKEN, WINDOW, DeviceLink, LinkOwner
from .packets import (
    BUTTON,
    CONFIGURE,
    FAULT,
    LARGEST_PAYLOAD,
    LEAVE,
    LIGHTS_ALL,
    LIGHTS_LIT,
    LOG,
    PING,
    PONG,
    SENSORS,
    SNAPSHOT,
    SOUND,
)
from .pin_map import PinMap
from .sensors import SwitchBank
from .ticks import TICKS_MASK, DeviceClock, elapsed_ms
from .version import FIRMWARE_VERSION, NEWEST_PROTOCOL

DEFAULT_SILENCE_MS = 3000  # without a host for so long, the lights pulse; a host may set this, and the next two
DEFAULT_DEBOUNCE_MS = 20  # set by hand; benchmarks/debounce.py shows the effect
DEFAULT_LONG_PRESS_MS = 1000  # held for so long is a long press; set by hand
LONGEST_DEBOUNCE_MS = 500  # longest that a host may ask for

WATCHDOG_CAUSE = 1  # as in the protocol

LEVEL_ERROR = 40  # of a log line, as in Python

# Sending 300 lights takes 9 ms; of frames that come faster, the newest is shown.
_LIGHTS_EVERY_MS = 10
_LONGEST_BOARD_NAME_BYTES = 64  # of the welcome; longer names are cut
_LEAVES_AFTER_MS = 200  # time for the last acknowledgement to leave; set by hand

# Beyond the numbers of presses. A host that connects while the board starts begins several sessions, so the first
# report of a reset may be lost.
_RESET_TOKEN = 0x10000

MOST_TONES = 255  # the count has 8 bits
_TONE_BYTES = 4  # frequency and length, 16 bits each


class TonePlayer:
    """Keeps track of the tone that sounds now."""

    def __init__(self) -> None:
        self._tones = bytearray(_TONE_BYTES * MOST_TONES)
        self._count = 0
        self._at = 0
        self._began = 0

    def play(self, tones: memoryview, count: int, now: int) -> None:
        """Replace the present tones: each has two bytes of frequency in Hz and two bytes of milliseconds."""
        self._tones[: _TONE_BYTES * count] = tones[: _TONE_BYTES * count]
        self._count, self._at, self._began = count, 0, now

    def stop(self) -> None:
        """Stop playing."""
        self._count = 0

    def frequency_hz(self, now: int) -> int:
        """Return the present frequency, 0 for silence; to be called often."""
        while self._at < self._count:
            frequency, lasts_ms = struct.unpack_from("<HH", self._tones, _TONE_BYTES * self._at)
            if elapsed_ms(now, self._began) < lasts_ms:
                return int(frequency)
            self._began = (self._began + lasts_ms) & TICKS_MASK
            self._at += 1
        return 0


class Device(LinkOwner):
    """The firmware on a board, which drives the pins; ``pins`` gives their counts and the checksum."""

    def __init__(self, board: Board, pins: PinMap) -> None:
        now = board.ticks_ms()
        self._board = board
        self._pins = pins
        self._clock = DeviceClock(now)
        self._faults = FaultQueue()
        self._presses = PressQueue()
        self._lines = LogQueue()
        self.lights = LightFrame(pins.lights, pins.limit_ma, pins.brightness, board.loops)
        self.lights.wait(now)
        self.switches = SwitchBank(len(pins.rows), len(pins.columns), pins.diodes, len(pins.singles))
        self._buttons = [ButtonDebouncer() for _ in pins.buttons]
        self._tones = TonePlayer()
        self._sounding_hz = 0
        self._payload = bytearray(LARGEST_SENT)
        self._payload_view = memoryview(self._payload)
        self._silence_ms = DEFAULT_SILENCE_MS
        self._debounce_ms = DEFAULT_DEBOUNCE_MS
        self._long_press_ms = DEFAULT_LONG_PRESS_MS
        self._snapshot_every_ms = 0
        self._report_due = False
        self._reported_at = now
        self._scanned_at = now
        self._lights_shown_at = now
        self._has_shown_lights = False
        self._leaving_since: int | None = None
        self._is_reset_reported = False
        self.link = DeviceLink(self, board.boot_id, now)

    def step(self) -> None:
        """Do one pass of the loop: read, scan, show, write."""
        board = self._board
        now = board.ticks_ms()
        self._clock.advance(now)
        data = board.read()
        if data:
            self.link.receive(data, now)
        if elapsed_ms(now, self._scanned_at):
            self._scanned_at = now
            self._scan(now)
        self._check_silence(now)
        self._sound(now)
        self._show(now)
        self._report(now)
        self.link.step(now)
        self.link.outbox.write_to(board)
        board.feed_watchdog()
        if self._leaving_since is not None:
            self._leave(elapsed_ms(now, self._leaving_since))

    def log(self, level: int, text: str) -> None:
        """Send the host a line of text, as soon as one is connected."""
        self._lines.add(level, self._clock.time_ms(), text)

    def welcome_payload(self) -> bytes:
        """Return the payload of WELCOME."""
        pins = self._pins
        name = truncated_utf8(pins.board, _LONGEST_BOARD_NAME_BYTES)
        return (
            bytes((NEWEST_PROTOCOL,))
            + bytes(FIRMWARE_VERSION)
            + struct.pack(
                "<IIHBHHBBIB",
                self._board.boot_id,
                self._clock.time_ms(),
                LARGEST_PAYLOAD,
                WINDOW,
                pins.lights,
                pins.switches,
                len(pins.buttons),
                pins.buzzer,
                pins.checksum,
                self._board.reset_cause,
            )
            + bytes((len(name),))
            + name
        )

    def session_began(self, now: int) -> None:
        """Send a snapshot, unacknowledged presses, and the board's faults."""
        self.switches.forget_changes()
        self._presses.begin_session(now)
        self._faults.begin_session()
        self._send_sensors(now)
        if self._pins.faults:
            self._faults.add(PIN_MAP, len(self._pins.faults), "; ".join(self._pins.faults), now)
        if self._board.reset_cause == WATCHDOG_CAUSE and not self._is_reset_reported:
            self._faults.add(WATCHDOG_RESET, 0, "the watchdog restarted the board, whose loop had stopped", now)

    def was_acknowledged(self, token: int) -> None:
        """Note that a press, or the report of a reset, has arrived."""
        if token == _RESET_TOKEN:
            self._is_reset_reported = True
        else:
            self._presses.arrived(token)

    def take_message(self, kind: int, payload: memoryview, now: int) -> None:
        """Carry out a message of the host."""
        if kind == PING:
            if len(payload) >= 4:
                time = struct.pack("<I", self._clock.time_ms())
                self.link.send_unsequenced(PONG, bytes(payload[:4]) + time)
        elif kind == SNAPSHOT:
            self._report_due = True
        elif kind == LEAVE:
            if self._leaving_since is None:
                self._leaving_since = now
                self.lights.take_all(payload, 0)
                self._tones.stop()
        elif kind in (LIGHTS_ALL, LIGHTS_LIT, SOUND, CONFIGURE) and not self._carry_out(kind, payload, now):
            self._faults.add(BAD_MESSAGE, kind, "a message that is too short or has impossible values", now)

    def _carry_out(self, kind: int, payload: memoryview, now: int) -> bool:
        if kind == CONFIGURE:
            return self._configure(payload)
        if kind == SOUND:
            if not payload or len(payload) < 1 + 4 * payload[0]:
                return False
            self._tones.play(payload[1:], payload[0], now)
            return True
        return self._take_lights(kind, payload, now)

    def _take_lights(self, kind: int, payload: memoryview, now: int) -> bool:
        if len(payload) < 2:
            return False
        count = payload[0] | payload[1] << 8
        size = 3 if kind == LIGHTS_ALL else 5
        if len(payload) < 2 + size * count:
            return False
        if self._leaving_since is not None:
            return True
        beyond = count - 1
        if kind == LIGHTS_ALL:
            self.lights.take_all(payload[2:], count)
        else:
            beyond = last_of_rising(payload[2:], count)
            if count and beyond < 0:
                return False
            self.lights.take_lit(payload[2:], count)
        if beyond >= self.lights.count:
            text = f"light {beyond} is beyond the strip of {self.lights.count} lights, numbered from 0"
            self._faults.add(LIGHT_BEYOND_STRIP, beyond, text, now)
        return True

    def _configure(self, payload: memoryview) -> bool:
        if len(payload) < 11:
            return False
        silence, debounce, long_press, brightness, limit, every = struct.unpack_from("<HHHBHH", payload, 0)
        self._silence_ms = silence or DEFAULT_SILENCE_MS
        self._debounce_ms = min(debounce or DEFAULT_DEBOUNCE_MS, LONGEST_DEBOUNCE_MS)
        self._long_press_ms = max(long_press or DEFAULT_LONG_PRESS_MS, self._debounce_ms)
        self.lights.set_brightness(brightness)
        self.lights.set_limit_ma(limit)
        self._snapshot_every_ms = every
        return True

    def _scan(self, now: int) -> None:
        if self.switches.count:
            self._board.scan(self.switches.masks)
            if self.switches.update(now, self._debounce_ms):
                self._report_due = True
            if self.switches.changes_lost:
                self.switches.changes_lost = False
                self._faults.add(OVERFLOW, 0, "more switches changed than fit into one report", now)
        if self._buttons:
            closed = self._board.buttons()
            for number in range(len(self._buttons)):
                self._scan_button(number, bool(closed >> number & 1), now)

    def _scan_button(self, number: int, closed: bool, now: int) -> None:
        button = self._buttons[number]
        what = button.update(closed, now, self._debounce_ms, self._long_press_ms)
        if not what:
            return
        at = button.touched
        if what == HELD:
            at = (at + self._long_press_ms) & TICKS_MASK
        elif what != PRESSED:
            at = button.opened
        held_ms = min(0xFFFF, elapsed_ms(at, button.touched))
        if not self._presses.add(number, what, at, self._clock.time_of(at), held_ms):
            self._faults.add(OVERFLOW, number, "more presses than could be kept; the oldest is lost", now)

    def _check_silence(self, now: int) -> None:
        if not self.link.session or elapsed_ms(now, self.link.heard_at) < self._silence_ms:
            return
        # a host that was only slow doesn't send its lights again within a session
        self.link.end_session()
        self._tones.stop()
        self.lights.wait(now)

    def _sound(self, now: int) -> None:
        frequency = self._tones.frequency_hz(now)
        if frequency != self._sounding_hz:
            self._sounding_hz = frequency
            if self._pins.buzzer:
                self._board.tone(frequency)

    def _show(self, now: int) -> None:
        if self._has_shown_lights and elapsed_ms(now, self._lights_shown_at) < _LIGHTS_EVERY_MS:
            return
        if self.lights.count and self._board.takes_lights() and self.lights.refresh(now):
            self._has_shown_lights = True
            self._lights_shown_at = now
            self._board.show_lights(self.lights.shown)
            if self.lights.limited_ma:
                limited_ma = self.lights.limited_ma
                is_dimmed = any(self.lights.shown)
                effect = "are dimmed to stay within the limit" if is_dimmed else "stay dark: the limit is too low"
                text = f"the lights would draw {limited_ma} mA; they {effect}"
                self._faults.add(CURRENT_LIMITED, limited_ma, text, now)

    def _send_sensors(self, now: int) -> None:
        length = self.switches.write_report(self._payload, self._clock.time_ms(), now)
        if self.link.send(SENSORS, self._payload_view[:length]):
            self._report_due = False
            self._reported_at = now

    def _report(self, now: int) -> None:
        link = self.link
        if not link.session:
            return
        if self._snapshot_every_ms and elapsed_ms(now, self._reported_at) >= self._snapshot_every_ms:
            self._report_due = True
        press = self._presses.next_unsent()
        while press is not None and link.window.has_room():
            struct.pack_into(
                "<HBBIH", self._payload, 0, press.number, press.button, press.what, press.time_ms, press.held_ms
            )
            link.send(BUTTON, self._payload_view[:10], press.number)
            press.is_sent = True
            press = self._presses.next_unsent()
        fault = self._faults.first()
        while fault is not None and link.window.has_room():
            code, number, text = fault
            struct.pack_into("<BH", self._payload, 0, code, number)
            self._payload[3 : 3 + len(text)] = text
            link.send(FAULT, self._payload_view[: 3 + len(text)], _RESET_TOKEN if code == WATCHDOG_RESET else NO_TOKEN)
            self._faults.sent()
            fault = self._faults.first()
        if self._report_due and link.window.has_room():
            self._send_sensors(now)
        line = self._lines.first()
        if line is not None:
            level, counter, time_ms, text = line
            if link.send_unsequenced(LOG, struct.pack("<BHI", level, counter, time_ms) + text):
                self._lines.sent()

    def _leave(self, waited_ms: int) -> None:
        """Restart once everything is sent and the lights are off, or when that takes too long."""
        is_sent = self.link.outbox.is_empty and not self.lights.has_news
        if waited_ms >= _LEAVES_AFTER_MS or (waited_ms > _LIGHTS_EVERY_MS and is_sent):
            self._board.restart(True)


def last_of_rising(lights: memoryview, count: int) -> int:
    """Return the last light of a LIGHTS_LIT message; -1 if there is none, or if the numbers don't rise."""
    last = -1
    for at in range(0, 5 * count, 5):
        light = lights[at] | lights[at + 1] << 8
        if light <= last:
            return -1
        last = light
    return last
