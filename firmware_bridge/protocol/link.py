"""The host's end of the link: what to say when, and what of a board's packets is news. Pure: time is passed in.

Each end says its whole state when it changes, and every half second; nothing is queued and nothing acknowledged but by
the other's state. So a lost packet only costs time. Buttons are counters: the host remembers for each start of a board
how many presses it has, and the board tells a new host how many the one before had.

The owner of the port calls ``receive`` with the bytes that arrived, then ``outgoing`` for those to write, and again at
``next_due_s`` at the latest. ``outgoing`` is only called when all earlier bytes are written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from firmware_bridge.errors import MessageError
from firmware_bridge.protocol.messages import (
    PROTOCOL,
    BoardSettings,
    BoardState,
    HostState,
    Kind,
    Tone,
    Wanted,
    Welcome,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import DroppedFrames, PacketReader, encode_frame

EVERY_S = 0.5
"""Seconds between two states while nothing changes."""
GREET_EVERY_S = 0.25
"""Seconds between two greetings. Set by hand: a board that has just started is soon welcome."""
AGAIN_S = 0.1
"""Seconds after which a state that the board's doesn't confirm is said again."""
QUIET_AFTER_S = 0.6
"""Seconds without the board's state after which it is only greeted: it may be starting."""
LATE_PRESS_MS = 5000
"""A press that may be older when it arrives is not carried out. Set by hand: longer than any silence that a link
survives, short enough that nobody has given up on the button."""
MOST_NEW_PRESSES = 16
"""Most presses of a button between two states; more can't come from a finger."""

_NUMBERS = 1 << 16  # numbers and counters have 16 bits (protocol)
_TIMES_MS = 1 << 32  # the board's clock wraps here (protocol)
_INTERRUPT = 0x03  # Ctrl-C, which would stop a board that is just starting
_OLDER_KINDS = frozenset(range(0x01, 0x0A)) | frozenset(range(0x20, 0x23))  # of a board with version 1
_SMOOTHING = 0.125  # of the round trip, as in RFC 6298


@dataclass(frozen=True)
class Exchange:
    """A state of the host that the board answered: its clock showed ``device_ms`` between the two times, in seconds."""

    sent_s: float
    received_s: float
    device_ms: int


@dataclass(frozen=True)
class Pressed:
    """A button was pressed at ``time_ms`` of the board's clock."""

    button: int
    time_ms: int


@dataclass(frozen=True)
class PressesLost:
    """So many presses came too late, or may have, or came faster than a finger, and are not carried out."""

    count: int


News = Welcome | BoardState | Pressed | PressesLost


@dataclass(frozen=True)
class LinkStatistics:
    """A link's figures at one moment.

    ``packets`` are valid ones, of which ``invalid`` had impossible contents; ``dropped`` are frames that were none.
    ``again`` are states said again because the board had not confirmed them, ``shown`` counts what it began to do as it
    should, ``welcomes`` new descriptions of a board.
    ``round_trip_s`` is smoothed; ``None`` before the first measurement.
    """

    packets: int = 0
    invalid: int = 0
    dropped: DroppedFrames = field(default_factory=DroppedFrames)
    sent: int = 0
    again: int = 0
    shown: int = 0
    welcomes: int = 0
    round_trip_s: float | None = None


class SerialLine:
    """The line behind a port, which carries ``bytes_per_s``; ``None`` is faster than it matters.

    ``free_s`` is when it has carried everything written so far: until then it lies in the port's buffer.
    """

    def __init__(self, bytes_per_s: float | None = None) -> None:
        self._bytes_per_s = bytes_per_s
        self.free_s = 0.0

    def write(self, count: int, now_s: float) -> None:
        """Note that so many bytes were written."""
        self.free_s = max(self.free_s, now_s) + (count / self._bytes_per_s if self._bytes_per_s else 0.0)


class HostLink:
    """The host's end of a link to one board after another.

    ``welcome`` is the description of the board that the host knows, ``None`` before the first answer on a port;
    ``heard_s`` is when its last packet arrived. ``other_version`` is the version of a board that speaks another one.
    """

    def __init__(self) -> None:
        self.welcome: Welcome | None = None
        self.heard_s = 0.0
        self.other_version: int | None = None
        self.last_exchange: Exchange | None = None
        self._reader = PacketReader()
        self._invalid = self._sent = self._again = self._shown = self._welcomes = 0
        self._round_trip_s: float | None = None
        self._presses = _Presses()
        self._line = SerialLine()
        self._wanted: Wanted | None = None
        self._leaves = False
        self.has_told_to_leave = False
        """Whether the board was told to leave."""
        self._board: BoardState | None = None
        self._is_strange = False
        self._welcomed_s = 0.0
        self._told: _Told | None = None
        self._number = 0
        self._timed_number = 0
        self._said_s: float | None = None
        self._is_answered = True

    def open(self, line: SerialLine) -> None:
        """Begin on a newly opened port: what the board should do is kept, and which board it is has to be told."""
        self._line = line
        self._reader.start_again()
        self._said_s = None
        self.forget()

    def forget(self) -> None:
        """Greet whatever is there, as if nothing was known of it."""
        self.welcome = None
        self.other_version = None
        self._board = None
        self._is_strange = False
        self._told = None
        self.has_told_to_leave = False
        self.last_exchange = None

    @property
    def statistics(self) -> LinkStatistics:
        """The statistics so far."""
        return LinkStatistics(
            self._reader.packets,
            self._invalid,
            self._reader.dropped,
            self._sent,
            self._again,
            self._shown,
            self._welcomes,
            self._round_trip_s,
        )

    def show(self, colours: bytes) -> None:
        """Show these colours from now on; raises MessageError for those that no packet holds."""
        self._want(replace(self._wanted or Wanted(), colours=colours))

    def configure(self, settings: BoardSettings) -> None:
        """Configure the board from now on; raises MessageError for a setting out of range."""
        self._want(replace(self._wanted or Wanted(), settings=settings))

    def play(self, tones: tuple[Tone, ...]) -> None:
        """Play these tones once, in place of the present ones; raises MessageError for those that no packet holds."""
        wanted = self._wanted or Wanted()
        self._want(replace(wanted, sound=wanted.number, tones=tones))

    def leave(self) -> None:
        """Switch the board to its bare interpreter as soon as it answers."""
        self._leaves = True

    @property
    def is_settled(self) -> bool:
        """Whether the board does what it should, and knows which presses the host has, as its last state tells."""
        board = self._board
        if board is None or not self._presses.are_taken(board):
            return False
        return (self._wanted is None or self._shows(self._wanted)) and board.is_leaving >= self._leaves

    @property
    def is_leaving(self) -> bool:
        """Whether the board has said that it leaves."""
        return self._board is not None and self._board.is_leaving

    def receive(self, data: bytes, now_s: float) -> list[News]:
        """Process bytes that arrived, and return what is news."""
        return [news for packet in self._reader.feed(data) for news in self._take(packet, now_s)]

    def outgoing(self, now_s: float) -> bytes:
        """Return the bytes to write now, none before ``next_due_s``."""
        if now_s < self.next_due_s(now_s):
            return b""
        self._number = self._number % (_NUMBERS - 1) + 1
        if self.welcome is not None and self._is_known(now_s):
            told = self._to_tell
            wanted = None if self._wanted is None or self._shows(self._wanted) else self._wanted
            state = HostState(self.welcome.boot_id, self._number, told.taken, told.leaves, wanted)
            frame = encode_frame(encode_packet(state))
            self._again += wanted is not None and told == self._told
            self._told = told
            self.has_told_to_leave = self._leaves
        else:
            frame = self._greeting()
            self._told = None
            # the board plays any sound after a greeting, so this one would come late, or twice
            self._drop_sound()
        self._sent += 1
        self._line.write(len(frame), now_s)
        self._said_s = self._line.free_s
        self._is_answered = False
        return frame

    def next_due_s(self, now_s: float) -> float:
        """Return when ``outgoing`` is due, unless something else happens before."""
        if self._said_s is None:
            return now_s
        if not self._is_known(now_s):
            return self._said_s + (AGAIN_S if self._is_strange else GREET_EVERY_S)
        if self._told != self._to_tell:
            return max(now_s, self._line.free_s) if self._is_answered else self._said_s + AGAIN_S
        return self._said_s + (EVERY_S if self.is_settled else AGAIN_S)

    def _is_known(self, now_s: float) -> bool:
        return self.welcome is not None and not self._is_strange and now_s < self.heard_s + QUIET_AFTER_S

    @property
    def _to_tell(self) -> _Told:
        wanted = 0 if self._wanted is None else self._wanted.number
        # what of the board's presses was taken is known once it has said so itself
        return _Told(wanted, () if self._board is None else self._presses.taken, self._leaves)

    def _shows(self, wanted: Wanted) -> bool:
        return self._board is not None and self._board.shown == wanted.number

    def _greeting(self) -> bytes:
        """Return a greeting without Ctrl-C, to which a board listens for two seconds after its start."""
        while _INTERRUPT in (frame := encode_frame(encode_packet(HostState(0, self._number)))):
            self._number = self._number % (_NUMBERS - 1) + 1
        return frame

    def _want(self, wanted: Wanted) -> None:
        number = wanted.number % (_NUMBERS - 1) + 1
        wanted = replace(wanted, number=number)
        encode_packet(HostState(0, 0, wanted=wanted))
        self._wanted = wanted

    def _drop_sound(self) -> None:
        """Forget a sound that was played, or that would come late."""
        if self._wanted is not None and self._wanted.sound:
            self._wanted = replace(self._wanted, sound=0, tones=())

    # what the board says

    def _take(self, packet: bytes, now_s: float) -> list[News]:
        kind, version = packet[0], packet[1]
        if kind in _OLDER_KINDS or (kind in (Kind.BOARD_STATE, Kind.WELCOME) and version != PROTOCOL):
            self.other_version = 1 if kind in _OLDER_KINDS else version
            return []
        try:
            message = decode_packet(packet)
        except MessageError:
            self._invalid += 1
            return []
        match message:
            case Welcome():
                return self._take_welcome(message, now_s)
            case BoardState():
                return self._take_state(message, now_s)
        # an echo
        return []

    def _take_welcome(self, welcome: Welcome, now_s: float) -> list[News]:
        is_other = self.welcome is None or welcome.boot_id != self.welcome.boot_id
        if is_other and self.welcome is not None and now_s < self._welcomed_s + AGAIN_S:
            # no board starts so fast
            return []
        self.heard_s = now_s
        self._is_answered = True
        self._is_strange = False
        if welcome == self.welcome:
            return []
        if is_other:
            self._board = None
            self._told = None
            self.last_exchange = None
            self._drop_sound()
        self.welcome = welcome
        self._welcomed_s = now_s
        self._welcomes += 1
        return [welcome]

    def _take_state(self, state: BoardState, now_s: float) -> list[News]:
        welcome = self.welcome
        if welcome is None or state.boot_id != welcome.boot_id:
            self._is_strange = welcome is not None
            return []
        if (len(state.buttons), len(state.closed)) != (welcome.buttons, welcome.switches):
            self._invalid += 1
            return []
        self.heard_s = now_s
        self._is_strange = False
        was_shown = self._wanted is not None and self._shows(self._wanted)
        self._board = state
        if self._wanted is not None and self._shows(self._wanted):
            self._shown += not was_shown
            self._drop_sound()
        if state.heard == self._number != self._timed_number and self._said_s is not None:
            self._answered(Exchange(min(self._said_s, now_s), now_s, state.time_ms))
        return [state, *self._presses.take(state, self._longest_ms_since(state, now_s))]

    def _longest_ms_since(self, state: BoardState, now_s: float) -> int:
        """Return how long ago the board can have made a state: it made the answer when it was asked, or later."""
        exchange = self.last_exchange
        if exchange is None:
            return 0
        later_ms = (state.time_ms - exchange.device_ms + _TIMES_MS // 2) % _TIMES_MS - _TIMES_MS // 2
        return max(0, round((now_s - exchange.sent_s) * 1000) - later_ms)

    def _answered(self, exchange: Exchange) -> None:
        self._timed_number = self._number
        self._is_answered = True
        self.last_exchange = exchange
        took_s = exchange.received_s - exchange.sent_s
        known_s = self._round_trip_s
        self._round_trip_s = took_s if known_s is None else known_s + _SMOOTHING * (took_s - known_s)


@dataclass(frozen=True)
class _Told:
    """What a host's state has told: the number of what is wanted, the presses taken, and whether to leave."""

    wanted: int
    taken: tuple[int, ...]
    leaves: bool


class _Presses:
    """The presses that the host has of each button, since the last start of the board."""

    def __init__(self) -> None:
        self.taken: tuple[int, ...] = ()
        self._boot_id: int | None = None
        self._time_ms = 0

    def take(self, state: BoardState, age_ms: int) -> list[News]:
        """Return the presses that no host has, oldest first, of a state that may be ``age_ms`` old.

        They came after the state before, or after the board's start. If that is too long ago, only the newest of a
        button is known to be in time.
        """
        is_first_board = self._boot_id is None
        if state.boot_id != self._boot_id or len(state.buttons) != len(self.taken):
            self._boot_id = state.boot_id
            self._time_ms = 0
            self.taken = tuple(button.taken for button in state.buttons)
        is_known_since = (state.time_ms - self._time_ms) % _TIMES_MS + age_ms <= LATE_PRESS_MS
        self._time_ms = state.time_ms
        pressed: list[Pressed] = []
        lost = 0
        taken = list(self.taken)
        for number, button in enumerate(state.buttons):
            if (button.presses - taken[number]) % _NUMBERS >= _NUMBERS // 2:
                # an older state: something on the way said it again
                continue
            # another host may have taken them meanwhile, or the board may not know yet that this one has
            new = min((button.presses - other) % _NUMBERS for other in (taken[number], button.taken))
            taken[number] = button.presses
            in_time = 0
            if button.before_ms + age_ms <= LATE_PRESS_MS:
                in_time = min(new, MOST_NEW_PRESSES if is_known_since else 1)
            pressed += [Pressed(number, (state.time_ms - button.before_ms) % _TIMES_MS)] * in_time
            # nobody played while an earlier press waited for its first host
            lost += new - in_time if in_time or not is_first_board else 0
        self.taken = tuple(taken)
        pressed.sort(key=lambda press: (state.time_ms - press.time_ms) % _TIMES_MS, reverse=True)
        return [*pressed, *([PressesLost(lost)] if lost else [])]

    def are_taken(self, state: BoardState) -> bool:
        """Return whether the board knows which presses the host has."""
        return tuple(button.taken for button in state.buttons) == self.taken
