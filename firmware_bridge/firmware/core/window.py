"""The unacknowledged packets: go-back-N with a timer that backs off. Pure."""

from .ticks import elapsed_ms

SLOTS = 4  # most unacknowledged packets; set by hand for the RAM
LARGEST_SENT = 256
"""Size of the longest payload that the device sends, in bytes."""

FIRST_WAIT_MS = 60  # before packets are sent again; doubled each time; set by hand
LONGEST_WAIT_MS = 1000  # bound of that
NO_TOKEN = -1  # of a packet that nobody asks after


class SendWindow:
    """The sequenced packets that the host hasn't acknowledged, oldest first.

    Attributes:
        resent: number of packets written again.
    """

    def __init__(self) -> None:
        self._payloads = [bytearray(LARGEST_SENT) for _ in range(SLOTS)]
        self._lengths = [0] * SLOTS
        self._kinds = [0] * SLOTS
        self._tokens = [NO_TOKEN] * SLOTS
        self.resent = 0
        self.forget()

    def forget(self) -> None:
        """Start a new session: no packets, and numbers count from 0."""
        self._oldest = 0
        self._held = 0
        self._written = 0
        self._sent_once = 0
        self._wait_ms = FIRST_WAIT_MS
        self._waiting_since = 0
        self._is_resend_done = False

    def has_room(self) -> bool:
        """Whether another packet may be added."""
        return self._held < SLOTS

    def add(self, kind: int, payload: memoryview, token: int = NO_TOKEN) -> None:
        """Add a packet, whose ``token`` is returned when it is acknowledged; only while there is room."""
        slot = (self._oldest + self._held) % SLOTS
        self._payloads[slot][: len(payload)] = payload
        self._lengths[slot] = len(payload)
        self._kinds[slot] = kind
        self._tokens[slot] = token
        self._held += 1

    def acknowledge(self, number: int, now: int) -> list[int]:
        """Process the number that the host expects next, and return the tokens of the packets that have arrived."""
        arrived = (number - self._oldest) & 0xFFFF
        if not 0 < arrived <= self._sent_once:
            return []
        tokens = [self._tokens[(self._oldest + i) % SLOTS] for i in range(arrived)]
        self._oldest = (self._oldest + arrived) & 0xFFFF
        self._held -= arrived
        self._sent_once -= arrived
        self._written = max(0, self._written - arrived)
        self._wait_ms = FIRST_WAIT_MS
        self._waiting_since = now
        self._is_resend_done = False
        return [token for token in tokens if token != NO_TOKEN]

    def resend(self) -> None:
        """Write everything again at the host's request; only once until an acknowledgement or the timer's expiry."""
        if not self._is_resend_done and self._sent_once:
            self._is_resend_done = True
            self._written = 0

    def tick(self, now: int) -> None:
        """Write everything again when the timer has expired, and double it."""
        if self._sent_once and elapsed_ms(now, self._waiting_since) >= self._wait_ms:
            self._written = 0
            self._wait_ms = min(LONGEST_WAIT_MS, 2 * self._wait_ms)
            self._waiting_since = now
            self._is_resend_done = False

    def next_unwritten(self) -> int:
        """Return the sequence number of the next packet to write, or -1."""
        return (self._oldest + self._written) & 0xFFFF if self._written < self._held else -1

    def kind_of(self, number: int) -> int:
        """Return the kind of an unacknowledged packet."""
        return self._kinds[number % SLOTS]

    def payload_of(self, number: int) -> memoryview:
        """Return the payload of an unacknowledged packet."""
        slot = number % SLOTS
        return memoryview(self._payloads[slot])[: self._lengths[slot]]

    def wrote(self, now: int) -> None:
        """Note that the next unwritten packet was written."""
        if self._written == 0:
            self._waiting_since = now
        self._written += 1
        if self._written > self._sent_once:
            self._sent_once = self._written
        else:
            self.resent += 1
