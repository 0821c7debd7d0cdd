"""The whole firmware except its pins: one pass of its loop at a time, without blocking. Pure."""

import struct

from .board import Board
from .debounce import ButtonDebouncer
from .lights import LightFrame
from .packets import (
    BOARD_STATE,
    CHECKSUM_BYTES,
    HOST_STATE,
    WELCOME,
    PacketHandler,
    PacketReader,
    frame_of,
)
from .pin_map import PinMap
from .sensors import SwitchBank
from .ticks import TICKS_MASK, DeviceClock, elapsed_ms
from .version import FIRMWARE_VERSION, PROTOCOL

DEFAULT_SILENCE_MS = 3000  # without a host for so long, the lights pulse; a host may set this, and the next one
DEFAULT_DEBOUNCE_MS = 20  # set by hand; benchmarks/debounce.py shows the effect
LONGEST_DEBOUNCE_MS = 500  # longest that a host may ask for

EVERY_MS = 500  # between two states while nothing changes
UNTAKEN_MS = 100  # while a press is not taken; set by hand

LONGEST_BOARD_NAME_BYTES = 64  # longer names are cut
LONGEST_TROUBLE_BYTES = 200
MOST_TONES = 32  # set by hand for the RAM of an RP2040

HAS_WANTED, LEAVE = 1, 2  # flags of a host's state, as in the protocol
IS_LEAVING, IS_DARK = 1, 2  # flags of a board's state
NO_LIGHTS, ALL_LIGHTS, LIT_LIGHTS = 0, 1, 2  # forms of the lights

_HOST_FORM = "<BBHIBB"
_HOST_BYTES = 10
_WANTED_FORM = "<HHHBHHB"
_WANTED_BYTES = 12
_BOARD_FORM = "<BBIIHHHBB"
_BOARD_BYTES = 18
_LONGEST_MS = 0xFFFF  # the field has 16 bits

# Sending 300 lights takes 9 ms; of frames that come faster, the newest is shown.
_LIGHTS_EVERY_MS = 10
_LEAVES_AFTER_MS = 200  # time for the last state to leave; set by hand
_TONE_BYTES = 4  # frequency and length, 16 bits each


class Outbox:
    """The frame that is being written; another one is made when it is gone, so that it is up to date."""

    def __init__(self) -> None:
        self._frame = memoryview(b"")

    @property
    def is_empty(self) -> bool:
        """Whether everything was written."""
        return len(self._frame) == 0

    def put(self, packet: bytearray) -> None:
        """Write the frame of a packet that has room for its checksum; only while this is empty."""
        self._frame = memoryview(frame_of(packet))

    def write_to(self, board: Board) -> None:
        """Write as much to the board as it accepts now."""
        if len(self._frame):
            self._frame = self._frame[board.write(self._frame) :]


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


class Device(PacketHandler):
    """The firmware on a board, which drives the pins; ``pins`` gives their counts and the checksum.

    ``is_heard``: a host speaks. ``presses`` counts each button's since the start, ``taken`` those that a host has.
    """

    def __init__(self, board: Board, pins: PinMap) -> None:
        now = board.ticks_ms()
        self._board = board
        self._pins = pins
        self._clock = DeviceClock(now)
        self.lights = LightFrame(pins.lights, pins.limit_ma, pins.brightness, board.loops)
        self.lights.wait(now)
        self.switches = SwitchBank(len(pins.rows), len(pins.columns), pins.diodes, len(pins.singles))
        self._buttons = [ButtonDebouncer() for _ in pins.buttons]
        self.presses = [0] * len(pins.buttons)
        self.taken = [0] * len(pins.buttons)
        self._touched_ms = [self._clock.time_ms()] * len(pins.buttons)
        self._tones = TonePlayer()
        self._sounding_hz = 0
        self._trouble = "; ".join(pins.faults)
        self.reader = PacketReader(self)
        self.outbox = Outbox()
        self.is_heard = False
        self._heard_at = now
        self._heard = 0
        self._shown = 0
        self._sound = 0
        self._settings = b""
        self._silence_ms = DEFAULT_SILENCE_MS
        self._debounce_ms = DEFAULT_DEBOUNCE_MS
        self._is_welcome_due = False
        self._is_state_due = False
        self._told_at = now
        self._told_limit = (0, False)
        self._scanned_at = now
        self._lights_shown_at = now
        self._has_shown_lights = False
        self._leaving_since: int | None = None
        # a host that speaks with this board learns at once that it has started again
        self.outbox.put(self._state())

    def step(self) -> None:
        """Do one pass of the loop: read, scan, show, write."""
        board = self._board
        now = board.ticks_ms()
        self._clock.advance(now)
        data = board.read()
        if data:
            self.reader.feed(data, now)
        if elapsed_ms(now, self._scanned_at):
            self._scanned_at = now
            self._scan(now)
        if self.is_heard and elapsed_ms(now, self._heard_at) >= self._silence_ms:
            self._fall_silent(now)
        self._make_sound(now)
        self._show(now)
        self._tell(now)
        self.outbox.write_to(board)
        board.feed_watchdog()
        if self._leaving_since is not None:
            self._leave(elapsed_ms(now, self._leaving_since))

    def tell_trouble(self, text: str) -> None:
        """Tell the host what is wrong, now and in each welcome."""
        self._trouble = text + ("; " + self._trouble if self._trouble else "")
        self._is_welcome_due = self.is_heard

    # what the host says

    def handle_packet(self, packet: memoryview, now: int) -> None:
        """Take a host's state."""
        if packet[0] != HOST_STATE:
            return
        if packet[1] != PROTOCOL:
            # the welcome names the version of this firmware
            self._is_welcome_due = True
            return
        if len(packet) < _HOST_BYTES:
            return
        _, _, number, boot_id, flags, buttons = struct.unpack_from(_HOST_FORM, packet, 0)
        self.is_heard = True
        self._heard_at = now
        self._heard = number
        self._is_state_due = True
        at = _HOST_BYTES + 2 * buttons
        if boot_id != self._board.boot_id:
            # A host that does not know this start of the board may number its sounds and wishes anew.
            self._shown = self._sound = 0
            self._is_welcome_due = True
        elif buttons in (0, len(self.taken)) and len(packet) >= at:
            for button in range(buttons):
                (self.taken[button],) = struct.unpack_from("<H", packet, _HOST_BYTES + 2 * button)
            if flags & LEAVE and self._leaving_since is None:
                self._leaving_since = now
                self.lights.take_all(packet[at:], 0)
                self._tones.stop()
            if flags & HAS_WANTED:
                self._take_wanted(packet[at:], now)

    def _take_wanted(self, wanted: memoryview, now: int) -> None:
        if len(wanted) < _WANTED_BYTES:
            return
        number, _, _, _, _, sound, tones = struct.unpack_from(_WANTED_FORM, wanted, 0)
        at = _WANTED_BYTES + _TONE_BYTES * tones
        if tones > MOST_TONES or len(wanted) < at + 3:
            return
        form, count = wanted[at], wanted[at + 1] | wanted[at + 2] << 8
        lights = wanted[at + 3 :]
        size = 5 if form == LIT_LIGHTS else 3
        if form > LIT_LIGHTS or len(lights) < size * count or (form == LIT_LIGHTS and not are_rising(lights, count)):
            return
        self._shown = number
        self._configure(wanted[2:9])
        if sound and sound != self._sound:
            self._sound = sound
            self._tones.play(wanted[_WANTED_BYTES:], tones, now)
        if self._leaving_since is not None:
            return
        if form == ALL_LIGHTS:
            self.lights.take_all(lights, count)
        elif form == LIT_LIGHTS:
            self.lights.take_lit(lights, count)

    def _configure(self, settings: memoryview) -> None:
        if bytes(settings) == self._settings:
            return
        self._settings = bytes(settings)
        silence, debounce, brightness, limit = struct.unpack_from("<HHBH", settings, 0)
        self._silence_ms = silence or DEFAULT_SILENCE_MS
        self._debounce_ms = min(debounce or DEFAULT_DEBOUNCE_MS, LONGEST_DEBOUNCE_MS)
        self.lights.set_brightness(brightness)
        self.lights.set_limit_ma(limit)

    def _fall_silent(self, now: int) -> None:
        """Show that the host is gone; one that was only slow sees that its lights are not shown."""
        self.is_heard = False
        self._shown = 0
        self._tones.stop()
        self.lights.wait(now)

    # pins

    def _scan(self, now: int) -> None:
        if self.switches.count:
            self._board.scan(self.switches.masks)
            if self.switches.update(now, self._debounce_ms):
                self._is_state_due = True
        if self._buttons:
            closed = self._board.buttons()
            for number in range(len(self._buttons)):
                button = self._buttons[number]
                if button.update(bool(closed >> number & 1), now, self._debounce_ms):
                    self.presses[number] = (self.presses[number] + 1) & 0xFFFF
                    self._touched_ms[number] = self._clock.time_ms() - elapsed_ms(now, button.touched)
                    self._is_state_due = True

    def _make_sound(self, now: int) -> None:
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
            limited_ma = min(0xFFFF, self.lights.limited_ma)
            limit = (limited_ma, limited_ma > 0 and not any(self.lights.shown))
            if limit != self._told_limit:
                self._told_limit = limit
                self._is_state_due = True

    # what the host is told

    def _tell(self, now: int) -> None:
        if not self.outbox.is_empty:
            return
        if self._is_welcome_due:
            self._is_welcome_due = False
            self.outbox.put(self._welcome())
            return
        every_ms = EVERY_MS if self.presses == self.taken else UNTAKEN_MS
        if self.is_heard and (self._is_state_due or elapsed_ms(now, self._told_at) >= every_ms):
            self._is_state_due = False
            self._told_at = now
            self.outbox.put(self._state())

    def _welcome(self) -> bytearray:
        pins = self._pins
        name = truncated_utf8(pins.board, LONGEST_BOARD_NAME_BYTES)
        trouble = truncated_utf8(self._trouble, LONGEST_TROUBLE_BYTES)
        fields = struct.pack(
            "<BBIHHBBIB",
            WELCOME,
            PROTOCOL,
            self._board.boot_id,
            pins.lights,
            pins.switches,
            len(pins.buttons),
            pins.buzzer,
            pins.checksum,
            self._board.reset_cause,
        )
        packet = fields + bytes(FIRMWARE_VERSION) + bytes((len(name),)) + name + bytes((len(trouble),)) + trouble
        return bytearray(packet + bytes(CHECKSUM_BYTES))

    def _state(self) -> bytearray:
        buttons, switches = len(self._buttons), self.switches.count
        packet = bytearray(_BOARD_BYTES + 6 * buttons + 2 + 2 * ((switches + 7) // 8) + CHECKSUM_BYTES)
        limited_ma, is_dark = self._told_limit
        time_ms = self._clock.time_ms()
        flags = IS_LEAVING if self._leaving_since is not None else 0
        struct.pack_into(
            _BOARD_FORM,
            packet,
            0,
            BOARD_STATE,
            PROTOCOL,
            self._board.boot_id,
            time_ms & 0xFFFFFFFF,
            self._heard,
            self._shown,
            limited_ma,
            flags | IS_DARK if is_dark else flags,
            buttons,
        )
        at = _BOARD_BYTES
        for number in range(buttons):
            before_ms = min(_LONGEST_MS, time_ms - self._touched_ms[number])
            struct.pack_into("<HHH", packet, at, self.presses[number], self.taken[number], before_ms)
            at += 6
        struct.pack_into("<H", packet, at, switches)
        self.switches.write_states(packet, at + 2)
        return packet

    def _leave(self, waited_ms: int) -> None:
        """Restart once everything is sent and the lights are off, or when that takes too long."""
        is_sent = self.outbox.is_empty and not self._is_state_due and not self.lights.has_news
        if waited_ms >= _LEAVES_AFTER_MS or (waited_ms > _LIGHTS_EVERY_MS and is_sent):
            self._board.restart(True)


def are_rising(lights: memoryview, count: int) -> bool:
    """Return whether the numbers of lit lights, of five bytes each, rise."""
    last = -1
    for at in range(0, 5 * count, 5):
        light = lights[at] | lights[at + 1] << 8
        if light <= last:
            return False
        last = light
    return True


def truncated_utf8(text: str, longest: int) -> bytes:
    """Encode a text as UTF-8, cut between characters so that it fits."""
    data = text.encode()
    if len(data) <= longest:
        return data
    end = longest
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]
